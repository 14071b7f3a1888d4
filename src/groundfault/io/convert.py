"""Any format into any other, through Benchmark. What a format cannot hold is said, never dropped
in silence; what makes no sense in a format is refused.

Which formats there are, what tells them apart and how they are read and written, the benchmarks
declare (`io.inputs`); only our own folder holds everything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from inspect import Parameter, signature
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec

from groundfault.errors import DataError, UnknownName, UsageError
from groundfault.io.coco_writing import pooled_categories
from groundfault.io.foreign import decode_json, open_file, read_json_object, stream_json_list
from groundfault.io.inputs import Outline
from groundfault.records import Benchmark, Item, Region
from groundfault.registry import KINDS, load, plugins

__all__ = [
    "KNOWN",
    "RESULTS",
    "detect",
    "format_of",
    "format_of_object",
    "format_of_record",
    "read_any",
    "readable",
    "targets",
    "writable",
    "write_any",
]

AnyPath = str | PathLike[str]

NOWHERE = Path()
RESULTS = "results"
"""The format of predictions: a COCO results file."""
KNOWN = (
    "a CAFE, SA-Co, COCO, LVIS or FP-RefCOCO annotation file, HalluSegBench's results.json, a COCO "
    "results file, or a groundfault benchmark folder"
)


def readable() -> tuple[str, ...]:
    """The formats that can be told from others, ours first."""
    known = (*KINDS["benchmarks"], *plugins("benchmarks"))
    return tuple(name for name in known if hasattr(load("benchmarks", name), "recognise"))


def writable() -> tuple[str, ...]:
    """The formats that can be written, those first that hold everything."""
    found = [name for name in readable() if hasattr(load("benchmarks", name), "write")]
    return tuple(sorted(found, key=lambda name: not _is_lossless(name)))


def _is_lossless(name: str) -> bool:
    return bool(getattr(load("benchmarks", name), "LOSSLESS", False))


def detect(path: AnyPath) -> str:
    """The format of a file or folder: one of `readable`, or RESULTS for predictions."""
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


def format_of(outline: Outline) -> str | None:
    """The format that recognises what is known about a file; ours are asked first."""
    formats = readable()
    if outline.declared in formats:
        return outline.declared
    return next((name for name in formats if load("benchmarks", name).recognise(outline)), None)


def _format_of_folder(path: Path) -> str | None:
    files = frozenset(entry.name for entry in path.iterdir())
    found = format_of(Outline(path, "folder", files))
    if found is not None:
        return found
    if "results.json" in files:
        return _format_of_list(path / "results.json")
    if "summary.json" in files:
        raise UsageError(
            f"{path}: holds scores, not a benchmark; look at it with: groundfault inspect"
        )
    return None


def _format_of_list(path: Path) -> str | None:
    for _, records in stream_json_list(path, dict[str, msgspec.Raw], expected=KNOWN):
        return format_of_record(records[0], path) if records else RESULTS
    return None


class _Parts(msgspec.Struct):
    """The fields that tell formats apart, undecoded."""

    info: Any = None
    images: list[dict[str, msgspec.Raw]] = []
    annotations: list[msgspec.Raw] = []
    refs: list[msgspec.Raw] = []


def _format_of_json_object(path: Path) -> str | None:
    parts = read_json_object(path, _Parts, expected=KNOWN)
    declared = parts.info.get("format") if isinstance(parts.info, dict) else None
    fields = {
        name for image in parts.images for name, raw in image.items() if bytes(raw) != b"null"
    }
    if parts.refs:
        fields.add("refs")
    for annotation in parts.annotations[:1]:
        fields |= {f"annotations.{name}" for name in _fields(annotation)}
    return format_of_object(fields, declared, path)


def _fields(record: msgspec.Raw) -> Iterable[str]:
    """The names in an object; none where it is something else, which whoever reads it refuses."""
    try:
        return decode_json(record, dict[str, msgspec.Raw])
    except msgspec.DecodeError:
        return ()


def format_of_object(
    fields: Iterable[str], declared: object = None, path: Path = NOWHERE
) -> str | None:
    """The format of an annotation file from the fields of its `images`, "refs" if it has those,
    and "annotations.…" for the fields of its annotations; `declared` is what our writers note.

    >>> format_of_object({"id", "text_input", "edit_type"})
    'cafe'
    >>> format_of_object({"id", "annotations.category_id"})
    'coco'
    """
    noted = declared if isinstance(declared, str) else ""
    return format_of(Outline(path, "object", frozenset(fields), noted))


def format_of_record(fields: Iterable[str], path: Path = NOWHERE) -> str | None:
    """The format of a JSON list from the fields of a record.

    >>> format_of_record({"image_id", "score", "segmentation"})
    'results'
    """
    fields = frozenset(fields)
    if "image_id" in fields and fields & {"segmentation", "bbox", "score", "outcome"}:
        return RESULTS
    return format_of(Outline(path, "list", fields))


def read_any(
    paths: AnyPath | Sequence[AnyPath],
    format: str | None = None,
    data_dir: AnyPath | None = None,
    *,
    images: AnyPath | None = None,
) -> Benchmark:
    """Read a benchmark of any format, detected from its first file unless given.

    The files are the first input that the format declares; `data_dir` is its input `data`, where
    it has one, and `images` where the pictures of a folder are that has none of its own.
    """
    paths = [paths] if isinstance(paths, (str, PathLike)) else list(paths)
    if not paths:
        raise UsageError(f"nothing to read; give {KNOWN}")
    name = detect(paths[0]) if format is None else format
    if name == RESULTS:
        raise UsageError(f"{paths[0]}: holds predictions; give the benchmark they were made for")
    if name not in readable():
        raise UnknownName("format", name, readable())
    module = load("benchmarks", name)
    first, *others = module.INPUTS
    if first.kind != "files" and len(paths) > 1:
        raise UsageError(f"{name} is read from one file or folder, not from {len(paths)}")
    inputs: dict[str, Any] = {first.name: paths if first.kind == "files" else paths[0]}
    if data_dir is not None and any(each.name == "data" for each in others):
        inputs["data"] = data_dir
    if images is not None and first.kind == "folder" and any(each.pictures for each in others):
        inputs["images"] = images
    taken = signature(module.read).parameters
    missing = [
        each.option
        for each in others
        if each.name not in inputs and taken[each.name].default is Parameter.empty
    ]
    if missing:
        raise UsageError(f"{paths[0]}: {name} is also read from {' and '.join(missing)}")
    if "keep" in taken:
        inputs["keep"] = True
    benchmark: Benchmark = module.read(**inputs)
    return benchmark


def targets(benchmark: Benchmark) -> tuple[str, ...]:
    """The formats that a benchmark can be written in, ours first."""
    return tuple(name for name in writable() if _obstacle(benchmark, name) is None)


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

    `out` is a file or a folder, as the format has it. `split` adds a file per subset, where the
    format has such; `images_from` has the pictures copied, where it holds them.
    """
    if format not in writable():
        raise UnknownName("format to write", format, writable())
    options: dict[str, Any] = {"split": True} if split else {}
    if images_from is not None:
        options["images_from"] = images_from
    for option, what in (("split", "has a file per subset"), ("images_from", "holds images")):
        able = [
            n for n in writable() if option in signature(load("benchmarks", n).write).parameters
        ]
        if option in options and format not in able:
            raise UsageError(f"only {', '.join(able)} {what}; leave {option} out for {format}")
    obstacle = _obstacle(benchmark, format)
    if obstacle is not None:
        possible_targets = ", ".join(targets(benchmark))
        raise UsageError(
            f"it cannot be written as {format}: {obstacle}. Possible: {possible_targets}."
        )
    written = load("benchmarks", format).write(benchmark, out, **options)
    if _is_lossless(format):
        return ()
    return tuple(_differences(benchmark, read_any(list(written), format), format))


def _obstacle(benchmark: Benchmark, format: str) -> str | None:
    """Why a benchmark makes no sense in a format; None where it does."""
    module = load("benchmarks", format)
    if not benchmark.items and not _is_lossless(format):
        return "it has no queries"
    found: str | None = module.obstacle(benchmark) if hasattr(module, "obstacle") else None
    return found


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
    pooled = pooled_categories(before)
    if pooled > 1 and format in ("cafe", "saco"):  # whose published evaluators look at them
        yield (
            f"Changed: {pooled} declared categories are pooled into one: results must name "
            f"category {after.categories[0]}."
        )
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
    own: Callable[[Benchmark], list[Any]] | None
    own = getattr(load("benchmarks", format), "keys", None)
    return [item.id for item in benchmark.items] if own is None else own(benchmark)


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
