"""HalluSegBench: does a segmenter still find an object that was replaced, in the picture or in the
words? (Li et al., "Counterfactual Segmentation Reasoning: Diagnosing and Mitigating
Pixel-Grounding Hallucination".)

A JSON list of cases, ground-truth masks as PNG, and predictions as PNG in four folders named by
label and image: `orgl` is c, `edtl` its replacement c', `orgi` is I, `edti` the edited I'. Two
releases name their fields differently; both are read. Scores that the published scripts leave in
the list are ignored. The task of a case is what its `task` (or `type`) says; the release has
neither, and asks in `question` where it is reasoning.

Paths in the list never lead outside the folders given. A prediction path that is absolute, or
would lead outside, is replaced by `{orgl_orgi|…}/` and its file name, or, without one, by
`{image stem}_{ann_id}_mask.png`.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
import numpy as np

from groundfault.errors import DataError, UnknownName, UsageError
from groundfault.io.foreign import decode_json, open_file, stream_json_list, within
from groundfault.io.inputs import Input, Outline, Published
from groundfault.io.mask_pictures import in_order, read_mask, read_mask_and_hash
from groundfault.io.masks import RLEMask, to_rle, union
from groundfault.io.store import new_folder, write_json
from groundfault.records import Benchmark, Card, Case, Item, Outcome, Prediction, Region, Role

__all__ = [
    "ABOUT",
    "CARD",
    "CORNERS",
    "HUB",
    "INPUTS",
    "PUBLISHED_CASES",
    "RUN_BY_US",
    "Entry",
    "data_folder",
    "fetched",
    "find_predictions",
    "inspector",
    "keys",
    "obstacle",
    "read",
    "read_entries",
    "read_predictions",
    "recognise",
    "write",
    "write_predictions",
]

AnyPath = str | PathLike[str]

CORNERS = {
    Role.FACTUAL: "orgl_orgi",
    Role.TEXTUAL: "edtl_orgi",
    Role.VISUAL: "orgl_edti",
    Role.COUNTERFACTUAL: "edtl_edti",
}
"""Folder of each prediction: label, image."""
ROLES = tuple(CORNERS)
EXACT = "exact"
CASES = "HalluSegBench's list of cases: [{factual_image_path, ann_id, factual_mask_path, …}, …]"

CARD = Card(
    name="halluseg",
    protocol="replacement-quads",
    title="HalluSegBench",
    source="hub dataset PLAN-Lab/HalluSegBench",
    licence="OSL-3.0; images from COCO and ReasonSeg under their own terms",
    citation="Li et al., Counterfactual Segmentation Reasoning: Diagnosing and Mitigating "
    "Pixel-Grounding Hallucination",
    main_metric="dIoU_visual",
)
ABOUT = "HalluSegBench's list of cases"
INPUTS = (
    Input("cases", "HalluSegBench's JSON list of cases.", hashed=False),  # it names predictions
    Input("data", "Folder that mask and image paths are relative to.", "folder", pictures=True),
)
RUN_BY_US = (
    "The authors' scripts, on stored inputs and outputs of theirs (equal within 1e-9 before "
    "they round); rendered sets and sets built from photographs in its format, with nano and "
    "the baselines. Not the published set: no hub can be reached where the tests run."
)
HUB = Published("PLAN-Lab/HalluSegBench", ("test.zip",))
PUBLISHED_CASES = {"referring": 1340}
"""Cases in the released test set: what published rows are about. Later releases add reasoning."""
UNPACKED, LIST = "unpacked", "cases.json"
PICTURES = (".jpg", ".jpeg", ".png", ".webp")


def recognise(outline: Outline) -> bool:
    """Whether it is a list of cases, or a folder that holds one."""
    if outline.kind == "folder":
        return False  # its results.json is looked at instead
    masks = outline.fields & {"factual_image_path", "image_file", "factual_mask_path"}
    return outline.kind == "list" and "ann_id" in outline.fields and bool(masks)


def inspector(draft: Any) -> Any:
    """Looks through a list of cases and their masks."""
    from groundfault.io.inspection.lists import Replacements

    return Replacements(draft, data_folder(draft.path), lambda record: _told_task(**record))


class Record(msgspec.Struct, gc=False):
    """One entry of the list, in the names of either release."""

    ann_id: int | str | None = None
    """Id of the object in COCO's annotations; with the picture's stem, the id of the case."""
    label: str | None = None
    """The category; where nothing else names the object, also its query."""
    factual_image_path: str | None = None
    """Picture I; its stem begins the names of the prediction files."""
    counterfactual_image_path: str | None = None
    """The edited picture I′."""
    factual_mask_path: str | None = None
    """M_c, the object c in I: a PNG, every value above 0 is object."""
    counterfactual_mask_path: str | None = None
    """M′_c′, its replacement in I′."""
    counterfactual_mask: str | None = None
    """The same, as some files call it."""
    factual_label: str | None = None
    """c, the referring expression that is asked."""
    counterfactual_label: str | None = None
    """c′, the same for the replacement."""
    edited_label: str | None = None
    """The same, as some files call it."""
    question: str | None = None
    """Reasoning cases: asked instead of c."""
    counterfactual_question: str | None = None
    """Reasoning cases: asked instead of c′."""
    image_file: str | None = None
    """Older release: factual_image_path."""
    edited_image_path: str | None = None
    """Older release: counterfactual_image_path."""
    mask_file: str | None = None
    """Older release: factual_mask_path."""
    new_mask_path: str | None = None
    """Older release: counterfactual_mask_path."""
    original_label: str | None = None
    """Older release: factual_label."""
    new_label: str | None = None
    """Older release: counterfactual_label."""
    mask_orgl_orgi: str | None = None
    """Prediction file for (I, c); all four or none."""
    mask_edtl_orgi: str | None = None
    """Prediction file for (I, c′)."""
    mask_orgl_edti: str | None = None
    """Prediction file for (I′, c)."""
    mask_edtl_edti: str | None = None
    """Prediction file for (I′, c′)."""
    task: Any = None
    """Ours: referring or reasoning, or a folder of the release (refer_seg, reason_seg_val).
    Without it a case with `question` is reasoning, any other referring; "" says that it is
    neither."""
    type: Any = None
    """The same, as some files call it."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One case as its list describes it."""

    number: int
    """Place in the list."""
    id: str
    """`{image stem}_{ann_id}`, which also names its prediction files."""
    image: str
    edited_image: str
    ann_id: str
    label: str
    query: str
    """c"""
    edited_query: str
    """c'"""
    task: str
    masks: tuple[str, str]
    """M_c and M'_c'."""
    predictions: tuple[str, ...]
    """As the list gives them, in the order of ROLES; empty where it gives none."""

    @property
    def record(self) -> str:
        """What messages call the case."""
        return f"record {self.number} (image {self.image}, ann_id {self.ann_id})"


def read_entries(cases_json: AnyPath) -> list[Entry]:
    """Read and check the list of cases; no mask is opened."""
    entries: list[Entry] = []
    first_place: dict[str, int] = {}
    for first, records in stream_json_list(cases_json, Record, expected=CASES):
        for number, record in enumerate(records, first):
            entry = _entry(cases_json, number, record)
            earlier = first_place.setdefault(entry.id, number)
            if earlier != number:
                raise DataError(
                    cases_json,
                    f"record {earlier} is of the same image and ann_id, so their predictions "
                    "cannot be told apart",
                    record=entry.record,
                    remedy="keep one of them",
                )
            entries.append(entry)
    if not entries:
        raise DataError(cases_json, "the list has no cases", remedy=f"give {CASES}")
    return entries


def _entry(file: AnyPath, number: int, record: Record) -> Entry:
    image = _required(file, number, record, "factual_image_path", "image_file")
    ann_id = _required(file, number, record, "ann_id")
    given = [getattr(record, f"mask_{CORNERS[role]}") or "" for role in ROLES]
    if any(given) and not all(given):
        absent = f"mask_{CORNERS[ROLES[given.index('')]]}"
        raise DataError(
            file,
            f"{absent} is missing while other predictions are named",
            record=f"record {number} (image {image}, ann_id {ann_id})",
            remedy="name all four predictions, or none to have their names made",
        )
    return Entry(
        number=number,
        id=f"{_stem(image)}_{ann_id}",
        image=image,
        edited_image=_first(record, "counterfactual_image_path", "edited_image_path"),
        ann_id=ann_id,
        label=_first(record, "label"),
        query=_first(record, "question", "factual_label", "original_label", "label"),
        edited_query=_first(
            record, "counterfactual_question", "counterfactual_label", "new_label", "edited_label"
        ),
        task=_task(record),
        masks=(
            _required(file, number, record, "factual_mask_path", "mask_file"),
            _required(
                file,
                number,
                record,
                "counterfactual_mask_path",
                "counterfactual_mask",
                "new_mask_path",
            ),
        ),
        predictions=tuple(given),
    )


def _first(record: Record, *names: str) -> str:
    """The first of several fields that says something."""
    for name in names:
        value = getattr(record, name)
        if value is not None and value != "":
            return str(value)
    return ""


def _required(file: AnyPath, number: int, record: Record, *names: str) -> str:
    value = _first(record, *names)
    if value:
        return value
    image = _first(record, "factual_image_path", "image_file")
    raise DataError(
        file,
        f"it has no {' (or '.join(names)}{')' * (len(names) - 1)}",
        record=f"record {number}" + (f" (image {image})" if image else ""),
        remedy="add the field or leave the record out",
    )


def _task(record: Record) -> str:
    return _told_task(task=record.task, type=record.type, question=record.question)


def _told_task(
    *, task: object = None, type: object = None, question: object = None, **_: object
) -> str:
    """What a field says, in one spelling; "refer_seg" and the like are the release's folders. The
    release itself says nothing: its reasoning cases have a question, its referring ones do not."""
    told = [value for value in (task, type) if isinstance(value, str)]
    if not told:
        return "reasoning" if question else "referring"
    value = next(filter(None, told), "")
    folded = value.casefold()
    if folded.startswith("refer"):
        return "referring"
    return "reasoning" if folded.startswith("reason") else value


def _file_name(path: str) -> str:
    """Last part of a path of any system; empty where it is no name."""
    name = re.split(r"[\\/]", path)[-1]
    return "" if name in (".", "..") or "\0" in name else name


def _stem(path: str) -> str:
    return os.path.splitext(_file_name(path))[0]  # noqa: PTH122 - as published


def find_predictions(
    entries: Sequence[Entry], cases_json: AnyPath, predictions_dir: AnyPath
) -> Iterator[tuple[Path, ...]]:
    """Where the predictions of each case are inside a folder, in the order of ROLES."""
    folder = _Folder(predictions_dir, cases_json, "--predictions")
    return (
        tuple(
            _prediction_path(folder, entry, given, CORNERS[role])
            for role, given in zip(ROLES, entry.predictions, strict=True)
        )
        for entry in entries
    )


def _prediction_path(folder: _Folder, entry: Entry, given: str, corner: str) -> Path:
    """As the list says if that lies inside the folder, else by folder and file name."""
    name = _file_name(given)
    usual = folder.path(f"{corner}/{name or f'{entry.id}_mask.png'}", entry.record)
    if not name:
        return usual
    try:
        literal = folder.path(given, entry.record)
    except DataError:
        return usual
    if literal != usual and not os.path.exists(literal) and os.path.exists(usual):  # noqa: PTH110
        return usual
    return literal


class _Folder:
    """Paths of foreign records inside one folder; each parent folder is resolved once."""

    def __init__(self, folder: AnyPath, file: AnyPath, option: str) -> None:
        if not Path(folder).is_dir():
            raise UsageError(f"{folder}: no such folder; give an existing one with {option}")
        self.folder, self.file = folder, file
        self.parents: dict[str, Path] = {}

    def path(self, relative: str, record: str) -> Path:
        """`within` for many files: only links are resolved one by one."""
        above, _, name = relative.rpartition("/")
        if name in ("", ".", "..") or "\0" in name or relative.startswith("/"):
            return within(self.folder, relative, file=self.file, record=record)
        if above not in self.parents:
            self.parents[above] = within(self.folder, above, file=self.file, record=record)
        path = self.parents[above] / name
        if os.path.islink(path):  # noqa: PTH114 - no error for names that cannot be
            return within(self.folder, relative, file=self.file, record=record)
        return path


def data_folder(cases_json: Path) -> Path:
    """Where the masks are unless told: `data` beside the list, or the list's folder."""
    beside = cases_json.parent / "data"
    return beside if beside.is_dir() else cases_json.parent


def read(
    cases: AnyPath, data: AnyPath | None = None, *, verify: bool = True, variant: str = EXACT
) -> Benchmark:
    """Read the cases with their masks. Pictures are not opened: an image has its mask's size.

    Without `verify` it is read for scoring only: pictures and queries may be missing, absent masks
    are for `read_predictions` to refuse, and `variant` says how grey values are taken.
    """
    cases_json = Path(cases) / "results.json" if Path(cases).is_dir() else Path(cases)
    entries = read_entries(cases_json)
    for entry in entries if verify else ():
        _check_askable(cases_json, entry)
    folder = _Folder(data or data_folder(cases_json), cases_json, "--data")

    def mask(wanted: tuple[Entry, int]) -> tuple[RLEMask | None, bytes]:
        entry, which = wanted
        path = folder.path(entry.masks[which], entry.record)
        found, digest = read_mask_and_hash(path, entry.record, variant=variant)
        if found is None and verify:
            raise _no_truth(path, entry.record)
        return found, digest

    masks = in_order(mask, ((entry, which) for entry in entries for which in (0, 1)))
    found_cases: list[Case] = []
    items: list[Item] = []
    empty: list[str] = []
    for entry in entries:
        truths = [next(masks) for _ in (0, 1)]
        regions = [None if found is None else Region(to_rle(found)) for found, _ in truths]
        there = [found is not None and bool(found.any()) for found, _ in truths]
        digest = sha256(b"".join(each for _, each in truths)).hexdigest()
        found_cases.append(_case(entry, {} if verify else {"truth_sha256": digest}))
        items += _items(entry, regions, there)
        if verify and not all(there):
            empty.append(entry.id)
    notes = []
    if empty:
        notes.append(
            f"{len(empty)} cases have an empty ground-truth mask, e.g. {empty[0]}: CMS is not "
            "defined there."
        )
    return Benchmark(card=CARD, cases=tuple(found_cases), items=tuple(items), notes=tuple(notes))


def _case(entry: Entry, facts: dict[str, str]) -> Case:
    tags = {"task": entry.task, "label": entry.label}
    return Case(
        id=entry.id,
        intervention="replacement",
        tags={name: value for name, value in tags.items() if value},
        facts=facts and {"ann_id": entry.ann_id, **facts},
    )


def _no_truth(path: Path, record: str) -> DataError:
    return DataError(
        path,
        "this ground truth is not there",
        record=record,
        remedy="check --data, or leave the case out of the list",
    )


def read_predictions(
    path: AnyPath,
    benchmark: Benchmark,
    *,
    cases: AnyPath,
    data: AnyPath | None = None,
    settings: Mapping[str, object],
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Prediction]:
    """The PNGs of a folder as predictions for a benchmark that was read from a list.

    By the setting `variant`, `parity` leaves out absent files and reads colours as OpenCV does;
    `exact` refuses an absent ground truth and, unless the setting `missing` is "empty", an absent
    prediction. `progress` is told (cases done, cases in all).
    """
    cases_json = Path(cases) / "results.json" if Path(cases).is_dir() else Path(cases)
    entries = read_entries(cases_json)
    variant = str(settings.get("variant", EXACT))
    folder = _Folder(data or data_folder(cases_json), cases_json, "--data")
    files = find_predictions(entries, cases_json, path)
    there = {item.id: item.target is not None for item in benchmark.items}

    def masks(wanted: tuple[Entry, tuple[Path, ...]]) -> list[RLEMask | None]:
        entry, paths = wanted
        found = [read_mask(each, entry.record, variant=variant) for each in paths]
        if variant == EXACT:
            for role, truth in ((Role.FACTUAL, 0), (Role.COUNTERFACTUAL, 1)):
                if not there[_item_id(entry, role)]:
                    raise _no_truth(folder.path(entry.masks[truth], entry.record), entry.record)
            if None in found and settings.get("missing") != "empty":
                raise DataError(
                    paths[found.index(None)],
                    "this prediction is not there",
                    record=entry.record,
                    remedy="write it, or say with --missing empty that an absent file is an "
                    "abstention",
                )
        return found

    n_found = 0
    pairs = zip(entries, files, strict=True)
    for done, (entry, found) in enumerate(zip(entries, in_order(masks, pairs), strict=True), 1):
        for role, mask in zip(ROLES, found, strict=True):
            if mask is not None:
                n_found += 1
                yield Prediction(
                    item_id=_item_id(entry, role),
                    outcome=Outcome.OK,
                    masks=(to_rle(mask),),
                    scores=(1.0,),
                )
        if progress is not None:
            progress(done, len(entries))
    if variant == EXACT and not n_found:
        _refuse_wrong_folder(path)


def _refuse_wrong_folder(folder: AnyPath) -> None:
    """A mistyped folder must not look like a model that abstains everywhere."""
    if not any((Path(folder) / name).is_dir() for name in CORNERS.values()):
        raise DataError(
            folder,
            "none of the predictions is in this folder",
            remedy="give the folder that holds orgl_orgi, edtl_orgi, orgl_edti and edtl_edti",
        )


def _item_id(entry: Entry, role: Role) -> str:
    return f"{entry.id}/{CORNERS[role]}"


def _check_askable(file: AnyPath, entry: Entry) -> None:
    """Scoring needs only masks; a benchmark needs pictures and queries too."""
    for value, names in (
        (entry.edited_image, "counterfactual_image_path (or edited_image_path)"),
        (entry.query, "factual_label (or question, original_label, label)"),
        (entry.edited_query, "counterfactual_label (or counterfactual_question, new_label)"),
    ):
        if not value:
            raise DataError(
                file,
                f"it has no {names}",
                record=entry.record,
                remedy="add the field or leave the record out",
            )


def _items(entry: Entry, regions: Sequence[Region | None], there: Sequence[bool]) -> Iterator[Item]:
    """The four corners; `there` says whether M_c and M'_c' have a pixel."""
    for role in ROLES:
        edited_image = role in (Role.VISUAL, Role.COUNTERFACTUAL)
        edited_query = role in (Role.TEXTUAL, Role.COUNTERFACTUAL)
        region = regions[edited_image]
        size = region.mask["size"] if region is not None and region.mask else (0, 0)
        meant = edited_image == edited_query and there[edited_image]
        yield Item(
            id=_item_id(entry, role),
            case_id=entry.id,
            role=role,
            images=(entry.edited_image if edited_image else entry.image,),
            height_px=size[0],
            width_px=size[1],
            query=entry.edited_query if edited_query else entry.query,
            regions=(region,) if region is not None and meant else (),
            target=region,
        )


def keys(benchmark: Benchmark) -> list[Any]:
    """Items are known by the place of their case and their role: ids may change."""
    number = {case.id: k for k, case in enumerate(benchmark.cases)}
    return [(number[item.case_id], item.role) for item in benchmark.items]


def obstacle(benchmark: Benchmark) -> str | None:
    """Why a benchmark cannot be written so: every case must be a quad."""
    cases: dict[str, list[Role]] = {}
    for item in benchmark.items:
        cases.setdefault(item.case_id, []).append(item.role)
    for case_id, roles in cases.items():
        if sorted(roles) != sorted(ROLES):
            return f"case {case_id} is not a quad of two images and two queries"
    return None


def write(benchmark: Benchmark, folder: AnyPath) -> tuple[Path, ...]:
    """Write `results.json` and, under `data/`, the masks as PNG, in the newer release's names.

    `read(folder / "results.json", folder / "data")` gives the benchmark back if its case ids are
    `{image stem}_{ann_id}`; any other id becomes the ann_id. Images are named, not copied.
    """
    quads = _quads(benchmark)
    with new_folder(folder) as temporary:
        _write_list(benchmark.cases, quads, temporary)
    return (Path(folder) / "results.json",)


def _quads(benchmark: Benchmark) -> dict[str, dict[Role, Item]]:
    quads: dict[str, dict[Role, Item]] = {case.id: {} for case in benchmark.cases}
    for item in benchmark.items:
        quads[item.case_id][item.role] = item
    return quads


def _write_list(
    cases: Iterable[Case], quads: Mapping[str, dict[Role, Item]], folder: Path
) -> list[dict[str, Any]]:
    """Write results.json and the ground truths of some cases; the records that were written."""
    data = folder / "data"
    for name in ("factual", "counterfactual"):
        (data / "masks" / name).mkdir(parents=True)
    records = [_record(case, quads[case.id], data) for case in cases]
    write_json(folder / "results.json", records)
    return records


def write_predictions(
    benchmark: Benchmark,
    predictions: Iterable[Prediction],
    folder: AnyPath,
    *,
    t: float | None = None,
    abstentions: str = "empty",
) -> tuple[str, ...]:
    """Write predictions as `read_predictions` and the authors' scripts read them: a PNG per case in
    each of the four folders, beside what `write` writes. Returns what could not be written.

    A PNG is the union of the masks with score ≥ t, or of all where t is None. Where there is none,
    the model abstained: `abstentions` says whether that is an "empty" mask or an "absent" file. A
    picture cannot say that an answer failed or could not be read: those cases are not in the list.
    """
    if abstentions not in ("empty", "absent"):
        raise UnknownName("way to write an abstention", abstentions, ("empty", "absent"))
    reason = obstacle(benchmark)
    if reason is not None:
        raise UsageError(f"its predictions cannot be written as HalluSegBench's PNGs: {reason}")
    quads, answers = _quads(benchmark), {each.item_id: each for each in predictions}

    def answered(case: Case) -> bool:
        found = [answers.get(item.id) for item in quads[case.id].values()]
        return all(a is not None and a.outcome in (Outcome.OK, Outcome.ABSTAINED) for a in found)

    cases = [case for case in benchmark.cases if answered(case)]
    if not cases:
        raise UsageError("no case has four answers that could be written")
    with new_folder(folder) as temporary:
        records = _write_list(cases, quads, temporary)
        for corner in CORNERS.values():
            (temporary / corner).mkdir()
        for case, record in zip(cases, records, strict=True):
            for role, item in quads[case.id].items():
                path = temporary / record[f"mask_{CORNERS[role]}"]
                _write_answer(path, item, answers[item.id], t, absent=abstentions == "absent")
    left_out = [case.id for case in benchmark.cases if not answered(case)]
    if not left_out:
        return ()
    return (
        f"Dropped: {len(left_out)} of {len(benchmark.cases)} cases (e.g. {left_out[0]}), of which "
        "an answer failed, could not be read, or is not there: a picture cannot say that.",
    )


def _write_answer(
    path: Path, item: Item, answer: Prediction, t: float | None, *, absent: bool
) -> None:
    pairs = zip(answer.masks, answer.scores, strict=True)
    kept = [RLEMask.from_dict({**mask}) for mask, score in pairs if t is None or score >= t]
    if kept or not absent:
        _write_png(path, union(kept) if kept else RLEMask.zeros((item.height_px, item.width_px)))


def _record(case: Case, quad: dict[Role, Item], data: Path) -> dict[str, object]:
    """One entry of the list; its masks are written."""
    if set(quad) != set(ROLES):
        raise UsageError(
            f"case {case.id} is not a quad of {', '.join(ROLES)} items; HalluSegBench's format "
            "holds object replacements only"
        )
    factual, counterfactual = quad[Role.FACTUAL], quad[Role.COUNTERFACTUAL]
    stem = _stem(factual.image)
    ann_id = case.id.removeprefix(f"{stem}_")
    name = f"{stem}_{ann_id}"
    if _file_name(name) != name:
        raise UsageError(f"case id {case.id!r} cannot be part of a file name")
    record: dict[str, object] = {
        "factual_image_path": factual.image,
        "counterfactual_image_path": counterfactual.image,
        "ann_id": int(ann_id) if re.fullmatch(r"0|[1-9]\d{0,14}", ann_id, re.ASCII) else ann_id,
        "label": case.tags.get("label", ""),
        "factual_label": factual.query,
        "counterfactual_label": counterfactual.query,
    }
    record["task"] = case.tags.get("task", "")  # an empty one says that it is not known
    for side, item in (("factual", factual), ("counterfactual", counterfactual)):
        path = f"masks/{side}/{name}.png"
        _write_mask(data / path, item)
        record[f"{side}_mask_path"] = path
    for role in ROLES:
        record[f"mask_{CORNERS[role]}"] = f"{CORNERS[role]}/{name}_mask.png"
    return record


def _write_mask(path: Path, item: Item) -> None:
    regions = [item.target] if item.target else list(item.regions)
    masks = [RLEMask.from_dict({**region.mask}) for region in regions if region.mask]
    if not masks:
        masks = [RLEMask.zeros((item.height_px, item.width_px))]
    _write_png(path, union(masks))


def _write_png(path: Path, mask: RLEMask) -> None:
    from PIL import Image

    Image.fromarray(np.asarray(mask.to_array(), dtype=np.uint8) * 255).save(path)


# As it is on the hub.


def fetched(folder: Path) -> dict[str, Any]:
    """The inputs in the folder that the set was fetched into; its archive is unpacked once."""
    from groundfault.io.fetching import unpack

    unpacked = folder / UNPACKED
    if not (unpacked / LIST).is_file():
        shutil.rmtree(unpacked, ignore_errors=True)
        with new_folder(unpacked) as temporary:
            unpack(folder / "test.zip", temporary)
            _write_cases(folder / "test.zip", temporary)
    return {"cases": unpacked / LIST, "data": unpacked}


def _write_cases(archive: Path, folder: Path) -> None:
    """One list of the cases of every part (refer_seg, reason_seg_val, reason_seg_test), whose
    paths are relative to it; a part's name is the task of cases that state none."""
    merged: list[dict[str, Any]] = []
    for path in sorted(folder.rglob("data.json")):
        part = path.parent.relative_to(folder).as_posix()
        with open_file(path) as content:
            try:
                records = decode_json(content.read(), list[dict[str, Any]])
            except msgspec.DecodeError as problem:
                raise DataError(
                    path, f"not a list of cases ({problem})", remedy="delete it and run again"
                ) from None
        merged += (_moved(record, folder, part) for record in records)
    if not merged:
        raise DataError(
            archive,
            "no data.json with cases is in it: its layout has changed",
            remedy="unpack it by hand and give --cases and --data",
        )
    write_json(folder / LIST, merged)


def _moved(record: dict[str, Any], folder: Path, part: str) -> dict[str, Any]:
    """A record of one part as a record of the whole."""
    moved = {
        name: f"{part}/{value}" if _is_file(folder / part, value) else value
        for name, value in record.items()
    }
    if not any(isinstance(record.get(name), str) for name in ("task", "type")):
        moved["task"] = PurePosixPath(part).name
    return moved


def _is_file(folder: Path, value: object) -> bool:
    if not isinstance(value, str) or not value.lower().endswith(PICTURES):
        return False
    with contextlib.suppress(OSError, ValueError):
        return (folder / value).is_file()
    return False
