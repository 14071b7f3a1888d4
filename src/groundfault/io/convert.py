"""Any format into any other, through Benchmark. What a format cannot hold is said, never dropped
in silence; what makes no sense in a format is refused.

    read:    cafe saco coco lvis halluseg fprefcoco folder
    written: cafe saco coco halluseg fprefcoco folder; only folder holds everything
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec

from groundfault.benchmarks import cafe, coco_instances, folder, fprefcoco, lvis, saco
from groundfault.errors import DataError, UnknownName, UsageError
from groundfault.io.foreign import open_file, read_json_object, stream_json_list
from groundfault.records import Benchmark, Item, Region, Role

__all__ = [
    "READABLE",
    "WRITABLE",
    "data_folder",
    "detect",
    "format_of_object",
    "format_of_record",
    "read_any",
    "targets",
    "write_any",
]

AnyPath = str | PathLike[str]

READABLE = ("cafe", "saco", "coco", "lvis", "halluseg", "fprefcoco", "folder")
WRITABLE = ("folder", "cafe", "saco", "halluseg", "fprefcoco", "coco")
KNOWN = (
    "a CAFE, SA-Co, COCO, LVIS or FP-RefCOCO annotation file, HalluSegBench's results.json, a COCO "
    "results file, or a groundfault benchmark folder"
)
_CORNERS = frozenset({Role.FACTUAL, Role.TEXTUAL, Role.VISUAL, Role.COUNTERFACTUAL})


def detect(path: AnyPath) -> str:
    """The format of a file or folder: one of READABLE, or "results" for predictions."""
    path = Path(path)
    if path.is_dir():
        found = _format_of_folder(path)
    else:
        with open_file(path) as file:
            head = file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
        found = _format_of_list(path) if head.startswith(b"[") else _format_of_json_object(path)
    if found is None:
        raise DataError(path, "this is not a format we know", remedy=f"give {KNOWN}")
    return found


def _format_of_folder(path: Path) -> str | None:
    if (path / folder.HEADER).is_file():
        return "folder"
    if (path / "results.json").is_file():
        return _format_of_list(path / "results.json")
    if (path / "summary.json").is_file():
        raise UsageError(
            f"{path}: holds scores, not a benchmark; look at it with: groundfault inspect"
        )
    return None


def _format_of_list(path: Path) -> str | None:
    for _, records in stream_json_list(path, dict[str, msgspec.Raw], expected=KNOWN):
        return format_of_record(records[0]) if records else "results"
    return None


class _Outline(msgspec.Struct):
    """The fields that tell formats apart, undecoded."""

    info: Any = None
    images: list[dict[str, msgspec.Raw]] = []
    annotations: list[msgspec.Raw] = []
    refs: list[msgspec.Raw] = []


def _format_of_json_object(path: Path) -> str | None:
    outline = read_json_object(path, _Outline, expected=KNOWN)
    declared = outline.info.get("format") if isinstance(outline.info, dict) else None
    fields = {
        name for image in outline.images for name, raw in image.items() if bytes(raw) != b"null"
    }
    if outline.refs:
        fields.add("refs")
    for annotation in outline.annotations[:1]:
        fields |= {f"annotations.{name}" for name in msgspec.json.decode(annotation, type=dict)}
    return format_of_object(fields, declared)


def format_of_object(fields: Iterable[str], declared: object = None) -> str | None:
    """The format of an annotation file from the fields of its `images`, "refs" if it has those,
    and "annotations.…" for the fields of its annotations; `declared` is what our writers note.

    >>> format_of_object({"id", "text_input", "edit_type"})
    'cafe'
    >>> format_of_object({"id", "annotations.category_id"})
    'coco'
    """
    fields = set(fields)
    if declared in READABLE:
        return str(declared)
    if "refs" in fields:
        return "fprefcoco"
    if "edit_type" in fields:
        return "cafe"
    if fields & {"neg_category_ids", "not_exhaustive_category_ids"}:
        return "lvis"
    if "text_input" in fields:
        return "fprefcoco" if "fp_source_id" in fields else "saco"
    return "coco" if "annotations.category_id" in fields else None


def format_of_record(fields: Iterable[str]) -> str | None:
    """The format of a JSON list from the fields of a record.

    >>> format_of_record({"image_id", "score", "segmentation"})
    'results'
    """
    fields = set(fields)
    if {"ref_id", "sentences"} <= fields:
        return "fprefcoco"
    if "ann_id" in fields and fields & {"factual_image_path", "image_file", "factual_mask_path"}:
        return "halluseg"
    if "image_id" in fields and fields & {"segmentation", "bbox", "score", "outcome"}:
        return "results"
    return None


def read_any(
    paths: AnyPath | Sequence[AnyPath],
    format: str | None = None,
    data_dir: AnyPath | None = None,
) -> Benchmark:
    """Read a benchmark of any format, detected from its first file unless given.

    Several files are several annotators (saco, cafe), refs and instances (fprefcoco), or, where
    no image is in two of them, CAFE's subsets. `data_dir` is where HalluSegBench's masks are; by
    default the folder `data` beside the list, or the list's own.
    """
    paths = [paths] if isinstance(paths, (str, PathLike)) else list(paths)
    if not paths:
        raise UsageError(f"nothing to read; give {KNOWN}")
    name = detect(paths[0]) if format is None else format
    if name == "results":
        raise UsageError(f"{paths[0]}: holds predictions; give the benchmark they were made for")
    if name == "cafe":
        return _read_cafe(paths)
    if name == "saco":
        return saco.read(paths)
    if name == "fprefcoco":
        return fprefcoco.read(paths)
    if name not in READABLE:
        raise UnknownName("format", name, READABLE)
    if len(paths) > 1:
        raise UsageError(f"{name} is read from one file or folder, not from {len(paths)}")
    if name == "coco":
        return coco_instances.read(paths[0])
    if name == "lvis":
        return lvis.read(paths[0])
    if name == "halluseg":
        return _read_halluseg(Path(paths[0]), data_dir)
    return folder.read(paths[0])


def _read_halluseg(path: Path, data_dir: AnyPath | None) -> Benchmark:
    from groundfault.benchmarks import halluseg  # reads pictures: Pillow only when needed

    cases_json = path / "results.json" if path.is_dir() else path
    return halluseg.read(cases_json, data_dir or data_folder(cases_json))


def data_folder(cases_json: Path) -> Path:
    """Where HalluSegBench's masks are unless told: `data` beside the list, or the list's folder."""
    beside = cases_json.parent / "data"
    return beside if beside.is_dir() else cases_json.parent


def _read_cafe(paths: Sequence[AnyPath]) -> Benchmark:
    """Annotators' files together, or subsets one after the other."""
    ids = [_image_ids(path) for path in paths] if len(paths) > 1 else []
    if len(paths) == 1 or len(set().union(*ids)) < sum(map(len, ids)):
        return cafe.read(paths)
    parts = [cafe.read([path]) for path in paths]
    return Benchmark(
        card=parts[0].card,
        cases=tuple(case for part in parts for case in part.cases),
        items=tuple(item for part in parts for item in part.items),
        categories=tuple(dict.fromkeys(c for part in parts for c in part.categories)),
        notes=(
            f"{len(paths)} files with no image in common were joined as subsets of one benchmark.",
            *(note for part in parts for note in part.notes),
        ),
    )


def _image_ids(path: AnyPath) -> set[str]:
    images = read_json_object(path, _Outline, expected=KNOWN).images
    return {str(msgspec.json.decode(image["id"])) for image in images if "id" in image}


def targets(benchmark: Benchmark) -> tuple[str, ...]:
    """The formats that a benchmark can be written in."""
    return tuple(name for name in WRITABLE if _obstacle(benchmark, name) is None)


def write_any(
    benchmark: Benchmark,
    format: str,
    out: AnyPath,
    *,
    split: bool = False,
    images_from: AnyPath | None = None,
) -> tuple[str, ...]:
    """Write a benchmark and return what the format could not hold, one note each: what was
    written is read again and compared.

    `out` is a JSON file, or a folder for folder and halluseg. `split` adds CAFE's file per
    subset; `images_from` has the pictures copied into a folder.
    """
    if format not in WRITABLE:
        raise UnknownName("format to write", format, WRITABLE)
    if split and format != "cafe":
        raise UsageError(f"only cafe has a file per subset; leave split out for {format}")
    if images_from is not None and format != "folder":
        raise UsageError(f"only folder holds images; leave images_from out for {format}")
    obstacle = _obstacle(benchmark, format)
    if obstacle is not None:
        possible = ", ".join(targets(benchmark))
        raise UsageError(f"it cannot be written as {format}: {obstacle}. Possible: {possible}.")
    if format == "folder":
        folder.write(benchmark, out, images_from=images_from)
        return ()
    after = _write_and_read(benchmark, format, out, split)
    return tuple(_differences(benchmark, after, format))


def _write_and_read(benchmark: Benchmark, format: str, out: AnyPath, split: bool) -> Benchmark:
    if format == "cafe":
        return cafe.read(cafe.write(benchmark, out, split=split))
    if format == "saco":
        return saco.read(saco.write(benchmark, out))
    if format == "fprefcoco":
        return fprefcoco.read(fprefcoco.write(benchmark, out))
    if format == "coco":
        return coco_instances.read(*coco_instances.write(benchmark, out))
    from groundfault.benchmarks import halluseg

    halluseg.write(benchmark, out)
    return _read_halluseg(Path(out), None)


def _obstacle(benchmark: Benchmark, format: str) -> str | None:
    """Why a benchmark makes no sense in a format; None where it does."""
    if format == "folder":
        return None
    if not benchmark.items:
        return "it has no queries"
    if format == "halluseg":
        return _no_quads(benchmark)
    if format in ("cafe", "fprefcoco") and any(item.role in _CORNERS for item in benchmark.items):
        return "its cases are about two images each"
    wordless = next((item for item in benchmark.items if not item.query), None)
    if format == "coco" and wordless is not None:
        return f"query {wordless.id} has no words to name a category"
    return _no_pairs(benchmark) if format == "cafe" else None


def _no_quads(benchmark: Benchmark) -> str | None:
    for case_id, items in _by_case(benchmark).items():
        if len(items) != len(_CORNERS) or {item.role for item in items} != _CORNERS:
            return f"case {case_id} is not a quad of two images and two queries"
    return None


def _no_pairs(benchmark: Benchmark) -> str | None:
    known = {*cafe.EDIT_TYPES.values(), ""}
    for case in benchmark.cases:
        if case.intervention not in known:
            return f"'{case.intervention}' (case {case.id}) is none of CAFE's edit types"
    cases = _by_case(benchmark)
    for case_id, items in cases.items():
        roles = [item.role for item in items]
        if roles[0] is not Role.POSITIVE or Role.POSITIVE in roles[1:]:
            return f"case {case_id} is not one positive followed by its negatives"
        if len({item.image for item in items}) > 1:
            return f"case {case_id} is about several images"
    if all(len(items) == 1 for items in cases.values()):
        return "no case has a misleading negative"
    return None


def _by_case(benchmark: Benchmark) -> dict[str, list[Item]]:
    cases: dict[str, list[Item]] = {}
    for item in benchmark.items:
        cases.setdefault(item.case_id, []).append(item)
    return cases


def _differences(before: Benchmark, after: Benchmark, format: str) -> Iterator[str]:
    """What is not the same after writing and reading again, each with a count and an example."""
    keys = _keys(before, format)
    found = dict(zip(_keys(after, format), after.items, strict=True))
    times = Counter(keys)
    lost = [item for item, key in zip(before.items, keys, strict=True) if key not in found]
    kept = [
        (item, found[key])
        for item, key in zip(before.items, keys, strict=True)
        if key in found and times[key] == 1
    ]
    for name, items in (
        (" for what is not in the image", [item for item in lost if not item.present]),
        ("", [item for item in lost if item.present]),
    ):
        if items:
            yield f"Dropped: {_some(items)}{name}."
    joined = [item for item, key in zip(before.items, keys, strict=True) if times[key] > 1]
    if joined:
        yield f"Changed: {_some(joined)} are joined, being of the same image and words."
    renamed = [old for old, new in kept if old.id != new.id]
    if renamed:
        yield f"Changed: the ids of {_some(renamed)}; predictions made for them do not fit."
    other_role = [old for old, new in kept if old.role is not new.role]
    if other_role:
        yield f"Changed: the role of {_some(other_role)}."
    for what, same in _SAME.items():
        changed = [old for old, new in kept if not same(old, new)]
        if changed:
            yield f"Dropped: {what} of {_some(changed)}."
    yield from _case_differences(before, after, kept)


_SAME: dict[str, Callable[[Item, Item], bool]] = {
    "the regions": lambda a, b: _same_masks(a.regions, b.regions),
    "the boxes": lambda a, b: _same_boxes(a, b),
    "the target region": lambda a, b: (
        a.target is None or _same_masks(_one(a.target), _one(b.target))
    ),
    "the further annotators' regions": lambda a, b: (
        len(a.alternatives) == len(b.alternatives)
        and all(map(_same_masks, a.alternatives, b.alternatives))
    ),
    "the mark as not exhaustively annotated": lambda a, b: a.exhaustive == b.exhaustive,
    "the image name or size": lambda a, b: (
        (a.image, a.height_px, a.width_px) == (b.image, b.height_px, b.width_px)
    ),
    "the words": lambda a, b: a.query == b.query,
}


def _keys(benchmark: Benchmark, format: str) -> list[Any]:
    """What an item is recognised by when a file is read again."""
    if format == "halluseg":
        number = {case.id: k for k, case in enumerate(benchmark.cases)}
        return [(number[item.case_id], item.role) for item in benchmark.items]
    if format == "coco":
        return [(item.image, item.query) for item in benchmark.items]
    return [item.id for item in benchmark.items]


def _one(region: Region | None) -> tuple[Region, ...]:
    return () if region is None else (region,)


def _same_masks(a: Sequence[Region] | None, b: Sequence[Region] | None) -> bool:
    if a is None or b is None:
        return a is b
    return [(r.mask, r.crowd) for r in a] == [(r.mask, r.crowd) for r in b]


def _same_boxes(a: Item, b: Item) -> bool:
    """Within a thousandth of a pixel; a box that was not given is the mask's own."""
    return len(a.regions) != len(b.regions) or all(
        old.box_xywh is None
        or (
            new.box_xywh is not None
            and all(abs(x - y) < 1e-3 for x, y in zip(old.box_xywh, new.box_xywh, strict=True))
        )
        for old, new in zip(a.regions, b.regions, strict=True)
    )


def _case_differences(
    before: Benchmark, after: Benchmark, kept: Sequence[tuple[Item, Item]]
) -> Iterator[str]:
    """Grouping, ids, interventions and tags of the cases whose queries are still there."""
    partners: dict[str, set[str]] = {}
    origins: dict[str, set[str]] = {}
    for old, new in kept:
        partners.setdefault(old.case_id, set()).add(new.case_id)
        origins.setdefault(new.case_id, set()).add(old.case_id)
    apart = [case_id for case_id, found in partners.items() if len(found) > 1]
    if apart:
        yield f"Dropped: which queries belong together, in {len(apart)} cases (e.g. {apart[0]})."
    joined = [found for found in origins.values() if len(found) > 1]
    if joined:
        yield f"Changed: {sum(map(len, joined))} cases are joined into {len(joined)}."
    cases = {case.id: case for case in after.cases}
    same = [(c, cases[next(iter(partners[c.id]))]) for c in before.cases if c.id in partners]
    renamed = [old for old, new in same if old.id != new.id and old.id not in apart]
    if renamed:
        yield f"Changed: the ids of {len(renamed)} cases (e.g. {renamed[0].id})."
    edits = [
        old.intervention for old, new in same if old.intervention not in ("", new.intervention)
    ]
    if edits:
        names = ", ".join(sorted(set(edits)))
        yield f"Dropped: the intervention of {len(edits)} cases ({names})."
    tags = [set(old.tags.items()) - set(new.tags.items()) for old, new in same]
    if any(tags):
        names = ", ".join(sorted({name for lost in tags for name, _ in lost}))
        yield f"Dropped: tags of {sum(map(bool, tags))} cases ({names})."


def _some(items: Sequence[Item]) -> str:
    return f"{len(items)} {'query' if len(items) == 1 else 'queries'} (e.g. {items[0].id})"
