"""The worst cases, with pictures where the benchmark's folder is at hand.

A few of every kind of failure rather than many of one: for each run, cases are drawn in turn from
every cell and intervention, the worst first. A picture is stored once, however many runs and
queries it shows; masks lie over it as outlines, which stay sharp and cost little.
"""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from groundfault.benchmarks import folder as benchmark_folder
from groundfault.errors import DataError, GroundfaultError
from groundfault.foreign import within
from groundfault.masks import decode
from groundfault.records import Benchmark, Item, Outcome, Prediction, Role
from groundfault.report.page.inputs import RunData
from groundfault.report.page.outlines import outline, shrink
from groundfault.report.page.words import CELLS
from groundfault.runs import read_predictions, shards

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["Example", "Gallery", "View", "make_gallery"]

PICTURE_BYTES = 9_000_000
"""For all pictures together; a third more in the page, which has to stay below 15 MB."""
LONG_SIDES_PX = (420, 320, 240, 160)
"""Tried in turn until the pictures fit."""
JPEG_QUALITY = 74
MOST_MASKS = 6
"""Answers drawn on one picture, the surest first."""
POOR_IOU = 0.5


class View(msgspec.Struct, frozen=True, kw_only=True):
    """One question of a case: the picture, what was asked, what came back."""

    role: str
    query: str
    verdict: str
    right: bool | None
    detail: str = ""
    picture: int | None = None
    """Index into the gallery's pictures."""
    width_px: int = 0
    height_px: int = 0
    target: str = ""
    """Outline of the edited or described object."""
    answers: tuple[str, ...] = ()
    """Outlines of the accepted masks."""


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """One case as one run answered it."""

    run: str
    series: int
    benchmark: str
    case_id: str
    kind: str
    """The intervention, task or size that it can be filtered by."""
    cells: tuple[str, ...]
    severity: float
    views: tuple[View, ...]

    @property
    def searchable(self) -> str:
        """What the search looks through."""
        queries = " ".join(view.query for view in self.views)
        return f"{self.case_id} {queries} {self.run}".casefold()


class Gallery(msgspec.Struct, frozen=True, kw_only=True):
    """The chosen cases and their pictures."""

    examples: tuple[Example, ...]
    pictures: tuple[str, ...]
    """Data URLs."""
    notes: tuple[str, ...]
    n_wrong: int
    """How many cases of all runs went wrong."""

    @property
    def with_pictures(self) -> bool:
        """Whether there is anything to look at."""
        return bool(self.pictures)


class _Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """A row of a case table, before pictures."""

    run: RunData
    series: int
    row: Mapping[str, Any]
    kind: str
    cells: tuple[str, ...]
    severity: float


def make_gallery(
    runs: Sequence[tuple[RunData, int]], *, images_from: Path | None, max_cases: int
) -> Gallery:
    """The worst cases of all runs, each given with the number of its colour."""
    wrong = [_wrong(run, series) for run, series in runs]
    quota = max(1, max_cases // max(len(runs), 1))
    chosen = [case for found in wrong for case in _in_turn(found, quota)][:max_cases]
    chosen.sort(key=lambda case: -case.severity)
    notes: list[str] = []
    sources: dict[Path, _Source | None] = {}
    examples = []
    pictures = _Pictures()
    answers = {run.folder: _answers(run, chosen, notes) for run, _ in runs if shards(run.folder)}
    for case in chosen:
        source = _source(case.run, images_from, sources, notes)
        views = _views(case, source, answers.get(case.run.folder), pictures)
        examples.append(
            Example(
                run=case.run.name,
                series=case.series,
                benchmark=case.run.summary.benchmark,
                case_id=str(case.row["case_id"]),
                kind=case.kind,
                cells=case.cells,
                severity=case.severity,
                views=tuple(views),
            )
        )
    encoded = pictures.encoded()
    if pictures.unreadable:
        notes.append(f"{pictures.unreadable} pictures could not be read.")
    if encoded and not answers:
        notes.append("The runs store scores only, so the answered masks cannot be drawn.")
    return Gallery(
        examples=tuple(examples),
        pictures=tuple(encoded),
        notes=tuple(dict.fromkeys(notes)),
        n_wrong=sum(map(len, wrong)),
    )


# ── which cases ────────────────────────────────────────────────────────────────────────────────


def _wrong(run: RunData, series: int) -> list[_Chosen]:
    """Every case that went wrong, the worst first."""
    light = [
        field.name
        for field in run.table.schema
        if "." not in field.name and field.name not in ("rows",)
    ]
    found = []
    for row in run.table.select(light).to_pylist():
        judged = _judge(row)
        if judged is None:
            continue
        cells, severity = judged
        kind = row.get("intervention") or row.get("task") or row.get("premise") or row.get("size")
        found.append(
            _Chosen(
                run=run, series=series, row=row, kind=kind or "", cells=cells, severity=severity
            )
        )
    return sorted(found, key=lambda case: -case.severity)


def _judge(row: Mapping[str, Any]) -> tuple[tuple[str, ...], float] | None:
    """The cells of a case and how bad it is; None where nothing is wrong or nothing is known."""
    if row.get("positive_cell") and row.get("negative_cell"):
        return _judge_pair(row)
    if "IoU_textual" in row:
        return _judge_quad(row)
    if "existence_correct" in row:
        return _judge_query(row)
    if row.get("n_objects") is not None and "positive_n_accepted" in row:
        there, accepted = row["n_objects"] > 0, row["positive_n_accepted"] > 0
        if there == accepted or row.get("positive_outcome") == "failed":
            return None
        highest = max(row["positive_scores"] or (0.0,))
        return (("missed",), 1 - highest) if there else (("false alarm",), 1 + highest)
    return None


def _judge_pair(row: Mapping[str, Any]) -> tuple[tuple[str, ...], float] | None:
    """A swap is worse than a false answer on the object, that than one elsewhere, and that than
    a miss; among like cases the surer answer is worse."""
    positive, negative = row["positive_cell"], row["negative_cell"]
    lost = positive != "TA-TP"
    sure = max(row["negative_scores"] or (0.0,))
    worse = {"TA-FP": 3.0 if lost else 2.0, "UA-FP": 1.5 if lost else 1.0}
    if negative in worse:
        return (positive, negative), worse[negative] + min(max(sure, 0.0), 0.99)
    if lost:
        return (positive, negative), 0.5 - 0.5 * max(row["positive_scores"] or (0.0,))
    return None


def _judge_quad(row: Mapping[str, Any]) -> tuple[tuple[str, ...], float] | None:
    """A mask that should have gone is worse than one that is missing."""
    stays = {
        "words ignored": row["IoU_textual"] or 0.0,
        "picture ignored": row["IoU_visual"] or 0.0,
    }
    cells = [cell for cell, overlap in stays.items() if overlap >= POOR_IOU]
    known = [value for value in (row["IoU_fact"], row["IoU_cf"]) if value is not None]
    weakest = min(known, default=1.0)
    if weakest < POOR_IOU:
        cells.append("object missed")
    if not cells:
        return None
    return tuple(cells), (len(cells) + max(stays.values()) if cells[0] in stays else 1 - weakest)


def _judge_query(row: Mapping[str, Any]) -> tuple[tuple[str, ...], float] | None:
    if row["existence_correct"] is None:
        return None
    if not row["existence_correct"]:
        accepted = row.get("premise") == "false"
        cell = "false premise accepted" if accepted else "true premise rejected"
        return (cell,), 1.0 + (row.get("score") or 0.0)
    overlap = row.get("iou")
    return None if overlap is None or overlap >= POOR_IOU else (("poor mask",), 1 - overlap)


def _in_turn(cases: Sequence[_Chosen], quota: int) -> list[_Chosen]:
    """Up to `quota` cases: the worst of each cell and kind, then the second of each, and so on."""
    heaps: dict[tuple[str, ...], list[_Chosen]] = {}
    for case in cases:
        heaps.setdefault((*case.cells, case.kind), []).append(case)
    chosen: list[_Chosen] = []
    depth = 0
    while len(chosen) < min(quota, len(cases)):
        chosen += [heap[depth] for heap in heaps.values() if depth < len(heap)]
        depth += 1
    return chosen[:quota]


# ── where pictures and masks come from ─────────────────────────────────────────────────────────


class _Source(msgspec.Struct, frozen=True, eq=False):
    """A benchmark folder with pictures."""

    folder: Path
    items: Mapping[str, Item]
    by_case: Mapping[str, Mapping[Role, Item]]


def _source(
    run: RunData,
    images_from: Path | None,
    known: dict[Path, _Source | None],
    notes: list[str],
) -> _Source | None:
    """The benchmark folder of a run, read once."""
    stored = run.run.benchmark_folder if run.run else ""
    folder = images_from or (Path(stored) if stored else None)
    if folder is None:
        notes.append(
            "No pictures: these runs do not say where their benchmark folder is. Give it with "
            "--images to see them."
        )
        return None
    if folder not in known:
        known[folder] = _read_source(folder, run, notes, given=images_from is not None)
    return known[folder]


def _read_source(folder: Path, run: RunData, notes: list[str], *, given: bool) -> _Source | None:
    if not folder.is_dir():
        notes.append(f"No pictures: the benchmark folder {folder} is not there any more.")
        return None
    try:
        benchmark = benchmark_folder.read(folder)
    except GroundfaultError as problem:
        if given:
            raise
        notes.append(f"No pictures: {problem}")
        return None
    expected = run.run.content_hash if run.run else ""
    if expected and expected != benchmark.card.content_hash:
        notes.append(f"No pictures: {folder} holds other content than {run.name} was run on.")
        return None
    if not (folder / benchmark_folder.IMAGES).is_dir():
        notes.append(f"No pictures: {folder} was written without its images.")
    return _indexed(folder, benchmark)


def _indexed(folder: Path, benchmark: Benchmark) -> _Source:
    by_case: dict[str, dict[Role, Item]] = {}
    for item in benchmark.items:
        by_case.setdefault(item.case_id, {})[item.role] = item
    return _Source(folder, {item.id: item for item in benchmark.items}, by_case)


def _answers(run: RunData, chosen: Sequence[_Chosen], notes: list[str]) -> dict[str, Prediction]:
    """The stored predictions of the chosen cases."""
    cases = {str(case.row["case_id"]) for case in chosen if case.run is run}
    items = {
        str(case.row[name])
        for case in chosen
        if case.run is run
        for name in ("positive_id", "negative_id", "query_id")
        if case.row.get(name)
    }
    quads = "IoU_textual" in run.columns  # its table names no items: keep them all
    if not cases:
        return {}
    try:
        return {
            prediction.item_id: prediction
            for prediction in read_predictions(run.folder)
            if quads or prediction.item_id in items
        }
    except DataError as problem:
        notes.append(f"Answers of {run.name} are not drawn: {problem}")
        return {}


# ── what is seen ───────────────────────────────────────────────────────────────────────────────


def _views(
    case: _Chosen,
    source: _Source | None,
    answers: Mapping[str, Prediction] | None,
    pictures: _Pictures,
) -> Iterable[View]:
    for role, query, verdict, right, detail, item_id in _questions(case, source):
        view = View(role=role, query=query, verdict=verdict, right=right, detail=detail)
        item = source.items.get(item_id) if source else None
        if source is None or item is None:
            yield view
            continue
        prediction = (answers or {}).get(item_id)
        yield _with_picture(view, item, source, prediction, case.run.t, pictures)


def _questions(
    case: _Chosen, source: _Source | None
) -> Iterable[tuple[str, str, str, bool | None, str, str]]:
    """Role, query, verdict, whether it is right, scores, item id: for each question of a case."""
    row = case.row
    if row.get("positive_cell"):
        for side, sign, good in (("positive", "p⁺", "TA-TP"), ("negative", "p⁻", "TN")):
            cell = row[f"{side}_cell"]
            verdict = f"{cell}: {CELLS[cell].removeprefix(sign).strip()}"
            query, item = row[f"{side}_query"] or "", str(row[f"{side}_id"])
            yield sign, query, verdict, cell == good, _scores(row, side, case.run.t), item
        return
    if "IoU_textual" in row:
        yield from _quad(row, source)
        return
    if "existence_correct" in row:
        overlap = row.get("iou")
        detail = "" if overlap is None else f"IoU {overlap:.2f}"
        words = CELLS[case.cells[0]]
        premise = f"{row.get('premise')} premise"
        yield premise, row["query"] or "", words, False, detail, str(row["query_id"])
        return
    words = CELLS[case.cells[0]]
    detail = _scores(row, "positive", case.run.t)
    yield "query", row["positive_query"] or "", words, False, detail, str(row["positive_id"])


def _scores(row: Mapping[str, Any], side: str, t: float | None) -> str:
    outcome = str(row.get(f"{side}_outcome"))
    if outcome in ("abstained", "unparsed", "failed"):
        return outcome
    scores, overlaps = row[f"{side}_scores"] or [], row[f"{side}_target_ious"] or []
    if not scores:
        return "no prediction"
    best = max(range(len(scores)), key=lambda k: scores[k])
    words = f"best score {scores[best]:.3f}, overlap {overlaps[best]:.2f}"
    accepted = sum(score >= (t if t is not None else -math.inf) for score in scores)
    return f"{words}, {accepted} of {len(scores)} accepted" if len(scores) > 1 else words


def _quad(
    row: Mapping[str, Any], source: _Source | None
) -> Iterable[tuple[str, str, str, bool | None, str, str]]:
    quad = source.by_case.get(str(row["case_id"]), {}) if source else {}
    words, other = row.get("query") or "", row.get("counterfactual_query") or ""
    for role, name, query, overlap, wanted in (
        (Role.FACTUAL, "(I, c)", words, row["IoU_fact"], True),
        (Role.TEXTUAL, "(I, c′)", other, row["IoU_textual"], False),
        (Role.VISUAL, "(I′, c)", words, row["IoU_visual"], False),
        (Role.COUNTERFACTUAL, "(I′, c′)", other, row["IoU_cf"], True),
    ):
        item = quad.get(role)
        right = None if overlap is None else (overlap >= POOR_IOU) == wanted
        verdict = "should be marked" if wanted else "should be empty"
        detail = "" if overlap is None else f"IoU {overlap:.2f}"
        yield name, query, verdict, right, detail, item.id if item else ""


def _with_picture(
    view: View,
    item: Item,
    source: _Source,
    prediction: Prediction | None,
    t: float | None,
    pictures: _Pictures,
) -> View:
    """The view with picture and outlines, in pixels of the largest size that is tried."""
    number = pictures.add(source.folder, item)
    if number is None:
        return view
    width, height = pictures.sizes[number]
    regions = [item.target] if item.target else list(item.regions)
    target = "".join(
        outline(shrink(decode(region.mask), height, width)) for region in regions if region.mask
    )
    kept = []
    if prediction is not None and prediction.outcome is Outcome.OK:
        ranked = sorted(
            zip(prediction.scores, prediction.masks, strict=False), key=lambda pair: -pair[0]
        )
        kept = [mask for score, mask in ranked if t is None or score >= t][:MOST_MASKS]
    return msgspec.structs.replace(
        view,
        picture=number,
        width_px=width,
        height_px=height,
        target=target,
        answers=tuple(
            path for mask in kept if (path := outline(shrink(decode(mask), height, width)))
        ),
    )


class _Pictures:
    """Pictures that are shown, each once."""

    def __init__(self) -> None:
        self.number: dict[Path, int | None] = {}
        self.thumbnails: list[Image.Image] = []
        self.sizes: list[tuple[int, int]] = []
        """(width, height) in pixels at the largest size."""
        self.unreadable = 0

    def add(self, folder: Path, item: Item) -> int | None:
        """The number of an item's picture; None where there is none."""
        images = folder / benchmark_folder.IMAGES
        try:
            path = within(images, item.image, file=folder, record=f"item {item.id}")
        except DataError:
            return None
        if path not in self.number:
            self.number[path] = self._open(path)
        return self.number[path]

    def _open(self, path: Path) -> int | None:
        from PIL import Image, ImageOps

        if not path.is_file():
            return None
        try:
            with Image.open(path) as opened:
                opened.draft("RGB", (LONG_SIDES_PX[0], LONG_SIDES_PX[0]))
                picture = ImageOps.exif_transpose(opened).convert("RGB")  # as models see it
        except Exception:  # on damaged files Pillow also asserts and fails to index
            self.unreadable += 1
            return None
        picture.thumbnail((LONG_SIDES_PX[0], LONG_SIDES_PX[0]), Image.Resampling.LANCZOS)
        self.thumbnails.append(picture)
        self.sizes.append(picture.size)
        return len(self.thumbnails) - 1

    def encoded(self) -> list[str]:
        """Data URLs of all pictures, as large as the budget allows."""
        contents: list[bytes] = []
        for side_px in LONG_SIDES_PX:
            contents = [_jpeg(picture, side_px) for picture in self.thumbnails]
            if sum(map(len, contents)) <= PICTURE_BYTES:
                break
        return [
            "data:image/jpeg;base64," + base64.b64encode(content).decode() for content in contents
        ]


def _jpeg(picture: Image.Image, side_px: int) -> bytes:
    small = picture.copy()
    small.thumbnail((side_px, side_px))
    out = io.BytesIO()
    small.save(out, "JPEG", quality=JPEG_QUALITY, optimize=True)
    return out.getvalue()
