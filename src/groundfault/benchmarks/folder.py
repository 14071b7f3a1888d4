"""Our own form of a benchmark: a folder that holds any of them without loss.

    DIR/benchmark.json   what it is: format version, card with content hash, counts, notes
    DIR/cases.parquet    id, intervention, tags, facts (version 2)
    DIR/items.parquet    one row per query; regions as list<struct>, answer as struct (version 2)
    DIR/images/          the pictures, if they were copied
    DIR/extras.json      what else a COCO file said, if it was one

Version 2 has columns for what is asked in words: the facts of a case, several images of an item,
and the answer that is expected. A benchmark without these is written as version 1, byte for byte as
it always was.

The content hash is the SHA-256 of the rows in a canonical form (JSON, fields in a fixed order,
shortest exact numbers), so it does not depend on Parquet's encoding, its version or the machine.
It is checked on reading. Notes, card and pictures are not part of it.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from os import PathLike
from pathlib import Path, PurePosixPath, PureWindowsPath
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from groundfault.errors import DataError, UsageError
from groundfault.io.foreign import read_json_object, within
from groundfault.io.inputs import Input, Outline
from groundfault.io.store import new_folder, read_json, write_json
from groundfault.records import Answer, Benchmark, Card, Case, Item, Region, Rle, Role

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "ABOUT",
    "FORMAT_VERSION",
    "INPUTS",
    "LOSSLESS",
    "RUN_BY_US",
    "content_hash",
    "obstacle",
    "read",
    "recognise",
    "write",
]

AnyPath = str | PathLike[str]
T = TypeVar("T")

FORMAT = "groundfault benchmark"
FORMAT_VERSION = 2
"""The newest; benchmarks that fit into version 1 are written as that."""
HEADER, CASES, ITEMS, IMAGES = "benchmark.json", "cases.parquet", "items.parquet", "images"
EXTRAS = "extras.json"
_BATCH_ROWS = 4096
"""Rows held as Arrow arrays at a time: 20 MB at 5 kB per row."""
_EXPECTED = "the benchmark.json of a groundfault benchmark folder"


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The content of benchmark.json."""

    format: str
    """Always "groundfault benchmark"."""
    version: int
    """1, or 2 where questions in words are in it, which 0.1.0 does not read."""
    card: Card
    """Source, licence, citation, protocol and content hash."""
    counts: dict[str, int]
    """How many cases, items, regions and images there are."""
    images_included: bool
    """Whether the pictures are in images/."""
    categories: tuple[int, ...] = ()
    """Ids of the categories that the source declares."""
    notes: tuple[str, ...] = ()
    """What the reader of the source noticed."""


class _Version(msgspec.Struct):
    format: str = ""
    version: int = 0


def write(
    benchmark: Benchmark,
    folder: AnyPath,
    *,
    images_from: AnyPath | None = None,
    copy: Callable[[Path, Path], object] = shutil.copyfile,
) -> Card:
    """Write a folder that must not exist yet; it appears whole or not at all.

    With `images_from`, the pictures that items name are copied from there; `copy` does that.
    Returns the card with its content hash.
    """
    _check_names(benchmark)
    for item in benchmark.items:
        _check_item(item, benchmark.card.name)
    version = _needed_version(benchmark)
    with new_folder(folder) as temporary:
        digest = _Digest(benchmark.categories, version)
        _write_rows(temporary / CASES, _case_schema(version), benchmark.cases, _case_batch, digest)
        _write_rows(temporary / ITEMS, _item_schema(version), benchmark.items, _item_batch, digest)
        if images_from is not None:
            _copy_images(benchmark, Path(images_from), temporary / IMAGES, copy)
        card = msgspec.structs.replace(benchmark.card, content_hash=digest.hexdigest())
        header = Header(
            format=FORMAT,
            version=version,
            card=card,
            counts={
                "cases": len(benchmark.cases),
                "items": len(benchmark.items),
                "regions": sum(len(item.regions) for item in benchmark.items),
                "images": len({name for item in benchmark.items for name in item.images}),
            },
            images_included=images_from is not None,
            categories=benchmark.categories,
            notes=benchmark.notes,
        )
        if benchmark.extras:
            write_json(temporary / EXTRAS, benchmark.extras)
        write_json(temporary / HEADER, header)
    return card


INPUTS = (
    Input("folder", "Benchmark folder.", "folder"),
    Input(
        "images", "Folder of the pictures, if not its own.", "folder", required=False, pictures=True
    ),
)
RUN_BY_US = "Every rendered set and every set built from photographs is such a folder."
ABOUT = "a groundfault benchmark folder"
LOSSLESS = True
"""It holds everything that a benchmark has."""


def recognise(outline: Outline) -> bool:
    """Whether it is a folder with our header."""
    return outline.kind == "folder" and HEADER in outline.fields


def obstacle(benchmark: Benchmark) -> str | None:
    """Nothing, unless how it is scored is more than a few values: an audit's phrases and what is
    known about them."""
    records = [
        name for name, value in benchmark.settings.items() if isinstance(value, msgspec.Struct)
    ]
    if records:
        return f"how it is scored is in its own folder ({', '.join(records)}); share that one"
    return None


def read(folder: AnyPath, images: AnyPath | None = None, *, keep: bool = False) -> Benchmark:
    """Read a folder that `write` made, and check that nobody changed it. `keep` reads also what the
    source of its content said besides, so that it can be written as such again."""
    folder = Path(folder)
    header = _read_header(folder)
    cases = _read_table(folder / CASES, _case_schema(header.version), _cases)
    items = _read_table(folder / ITEMS, _item_schema(header.version), _items)
    benchmark = Benchmark(
        card=header.card,
        cases=cases,
        items=items,
        categories=header.categories,
        notes=header.notes,
        extras=read_json(folder / EXTRAS, dict[str, Any])
        if keep and (folder / EXTRAS).is_file()
        else {},
    )
    try:
        _check_names(benchmark)
    except UsageError as problem:
        raise _changed(folder, str(problem)) from None
    for item in items:
        _check_item(item, folder / ITEMS)
    found = content_hash(benchmark)
    if found != header.card.content_hash:
        raise _changed(
            folder,
            f"its rows have the content hash {found[:12]}…, benchmark.json says "
            f"{header.card.content_hash[:12] or 'nothing'}…",
        )
    return benchmark


def content_hash(benchmark: Benchmark) -> str:
    """SHA-256 of the rows in canonical form.

    >>> card = Card(name="x", title="", source="", licence="", citation="", main_metric="")
    >>> content_hash(Benchmark(card=card, cases=(), items=()))[:12]
    'a0ee1b7953d4'
    """
    digest = _Digest(benchmark.categories, _needed_version(benchmark))
    digest.add(benchmark.cases)
    digest.add(benchmark.items)
    return digest.hexdigest()


def _needed_version(benchmark: Benchmark) -> int:
    """The oldest version that holds a benchmark without loss."""
    in_words = any(case.facts for case in benchmark.cases) or any(
        item.answer is not None or len(item.images) != 1 for item in benchmark.items
    )
    return 2 if in_words else 1


class _Digest:
    """The hash of rows as they pass."""

    def __init__(self, categories: Sequence[int], version: int) -> None:
        self.sha256 = hashlib.sha256()
        self.version = version
        self.encode = msgspec.json.Encoder(order="deterministic").encode
        self.sha256.update(self.encode([FORMAT, version, list(categories)]))

    def add(self, rows: Iterable[Case | Item]) -> None:
        for row in rows:
            canonical = _canonical_item(row) if isinstance(row, Item) else _canonical_case(row)
            if self.version > 1:
                canonical += _canonical_words(row)
            self.sha256.update(b"\n" + self.encode(canonical))

    def hexdigest(self) -> str:
        return self.sha256.hexdigest()


def _canonical_case(case: Case) -> list[Any]:
    return ["case", case.id, case.intervention, case.tags]


def _canonical_item(item: Item) -> list[Any]:
    return [
        "item",
        item.id,
        item.case_id,
        item.role,
        next(iter(item.images), ""),
        item.height_px,
        item.width_px,
        item.query,
        [_canonical_region(region) for region in item.regions],
        None if item.target is None else _canonical_region(item.target),
        [
            None if regions is None else [_canonical_region(region) for region in regions]
            for regions in item.alternatives
        ],
        item.exhaustive,
    ]


def _canonical_words(row: Case | Item) -> list[Any]:
    """What version 2 adds."""
    if isinstance(row, Case):
        return [row.facts]
    answer = row.answer
    return [row.images, None if answer is None else [getattr(answer, name) for name in _ANSWER]]


_ANSWER = ("type", "reference", "options", "rubric", "dimension", "number", "polarity")


def _canonical_region(region: Region) -> list[Any]:
    """Numbers of a box as floats; −0 as 0, which compares equal."""
    mask, box = region.mask, region.box_xywh
    return [
        None if mask is None else [*mask["size"], mask["counts"]],
        None if box is None else [value + 0.0 for value in box],
        region.crowd,
    ]


def _check_names(benchmark: Benchmark) -> None:
    """Ids are unique, every item has its case, and items of one case stand together."""
    for kind, ids in (
        ("case", [case.id for case in benchmark.cases]),
        ("item", [item.id for item in benchmark.items]),
    ):
        known: set[str] = set()
        for found in ids:
            if found in known:
                raise UsageError(f"{kind} id '{found}' occurs twice; give every {kind} its own")
            known.add(found)
    cases = {case.id for case in benchmark.cases}
    done: set[str] = set()
    current = None
    for item in benchmark.items:
        if item.case_id == current:
            continue
        if item.case_id not in cases:
            raise UsageError(f"item '{item.id}' is of case '{item.case_id}', which does not exist")
        if item.case_id in done:
            raise UsageError(
                f"item '{item.id}' stands apart from the other items of case '{item.case_id}'"
            )
        current = item.case_id
        done.add(item.case_id)


def _check_item(item: Item, file: AnyPath) -> None:
    """Refuse image names that would lead out of an image folder, on any system, and references that
    no answer could match."""
    problem = "" if item.images else "it has no image"
    remedy = "use names relative to the image folder"
    for name in item.images:
        windows = PureWindowsPath(name)
        if windows.drive or windows.root or ".." in windows.parts or "\0" in name:
            problem = f"the image name {name!r} leads outside of an image folder"
    if item.answer is not None and not problem:
        problem = _unsound(item.answer)
        remedy = "give yes or no, an option's letter, or a short answer, as its type says"
    if problem:
        raise DataError(file, problem, record=f"item {item.id}", remedy=remedy)


def _unsound(answer: Answer) -> str:
    """Why an answer does not fit its type; "" if it does."""
    letters = ascii_uppercase[: len(answer.options)]
    if answer.type == "MC" and not 2 <= len(answer.options) <= len(ascii_uppercase):
        return f"it has {len(answer.options)} options; 2 to {len(ascii_uppercase)} are possible"
    if answer.type == "MC" and (len(answer.reference) != 1 or answer.reference not in letters):
        return f"its answer '{answer.reference}' is the letter of no option"
    if answer.type != "MC" and answer.options:
        return "it has options, which only multiple-choice questions have"
    if answer.type == "YN" and answer.reference not in ("yes", "no"):
        return f"its answer is '{answer.reference}', neither yes nor no"
    return ""


def _copy_images(
    benchmark: Benchmark, source: Path, target: Path, copy: Callable[[Path, Path], object]
) -> None:
    if not source.is_dir():
        raise UsageError(f"{source}: no such folder; give the one that the images are in")
    first_use = {name: item.id for item in reversed(benchmark.items) for name in item.images}
    for name, item_id in first_use.items():
        record = f"item {item_id}"
        path = within(source, name, file=benchmark.card.name, record=record)
        if not path.is_file():
            raise DataError(
                path,
                "no such image",
                record=record,
                remedy=f"add it to {source}, or write the folder without images",
            )
        place = target / PurePosixPath(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        copy(path, place)


def _changed(folder: Path, detail: str) -> DataError:
    return DataError(
        folder,
        f"the folder was changed by hand or is damaged: {detail.rstrip('.')}",
        remedy="get or write the folder again; to change a benchmark, read it and write a new one",
    )


def _read_header(folder: Path) -> Header:
    path = folder / HEADER
    if not path.is_file():
        raise UsageError(f"{folder}: is not a groundfault benchmark folder: it has no {HEADER}")
    version = read_json_object(path, _Version, expected=_EXPECTED)
    if version.format != FORMAT:
        raise DataError(path, f"its format is '{version.format}'", remedy=f"give {_EXPECTED}")
    if not 1 <= version.version <= FORMAT_VERSION:
        raise DataError(
            path,
            f"it has format version {version.version}; this groundfault reads 1 to "
            f"{FORMAT_VERSION}",
            remedy="use the version of groundfault that wrote it, or a newer one",
        )
    return read_json_object(path, Header, expected=_EXPECTED)


def _region_type() -> pa.DataType:
    import pyarrow as pa

    return pa.struct(
        [
            ("mask_height_px", pa.int64()),
            ("mask_width_px", pa.int64()),
            ("mask_counts", pa.string()),
            ("x", pa.float64()),
            ("y", pa.float64()),
            ("width", pa.float64()),
            ("height", pa.float64()),
            ("crowd", pa.bool_()),
        ]
    )


def _answer_type() -> pa.DataType:
    import pyarrow as pa

    kinds = {"options": pa.list_(pa.string()), "number": pa.int64()}
    return pa.struct([(name, kinds.get(name, pa.string())) for name in _ANSWER])


def _case_schema(version: int) -> pa.Schema:
    import pyarrow as pa

    words = pa.map_(pa.string(), pa.string())
    return pa.schema(
        [
            ("id", pa.string()),
            ("intervention", pa.string()),
            ("tags", words),
            *([("facts", words)] if version > 1 else []),
        ]
    )


def _item_schema(version: int) -> pa.Schema:
    import pyarrow as pa

    return pa.schema(
        [
            ("id", pa.string()),
            ("case_id", pa.string()),
            ("role", pa.string()),
            ("images", pa.list_(pa.string())) if version > 1 else ("image", pa.string()),
            ("height_px", pa.int64()),
            ("width_px", pa.int64()),
            ("query", pa.string()),
            ("exhaustive", pa.bool_()),
            ("regions", pa.list_(_region_type())),
            ("target", _region_type()),
            ("alternatives", pa.list_(pa.list_(_region_type()))),
            *([("answer", _answer_type())] if version > 1 else []),
        ]
    )


def _write_rows(
    path: Path, schema: pa.Schema, rows: Sequence[Any], to_batch: Any, digest: _Digest
) -> None:
    """Write rows in batches, each passing through the digest."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for first in range(0, len(rows), _BATCH_ROWS):
            some = rows[first : first + _BATCH_ROWS]
            try:
                batch = to_batch(some, schema)
            except (pa.ArrowException, ValueError, OverflowError, TypeError) as problem:
                raise UsageError(
                    f"a record among {some[0].id} … {some[-1].id} cannot be stored: {problem}"
                ) from None
            writer.write_batch(batch)
            digest.add(some)


def _case_batch(cases: Sequence[Case], schema: pa.Schema) -> pa.RecordBatch:
    import pyarrow as pa

    rows = [
        {"id": case.id, "intervention": case.intervention}
        | {"tags": list(case.tags.items()), "facts": list(case.facts.items())}
        for case in cases
    ]
    return pa.record_batch(
        [pa.array([row[field.name] for row in rows], field.type) for field in schema],
        schema=schema,
    )


def _item_batch(items: Sequence[Item], schema: pa.Schema) -> pa.RecordBatch:
    import pyarrow as pa

    columns = {
        name: pa.array([getattr(item, name) for item in items], schema.field(name).type)
        for name in schema.names
        if name in _PLAIN
    }
    alternatives = [regions for item in items for regions in item.alternatives]
    columns |= {
        "regions": _lists([item.regions for item in items]),
        "target": _region_array([item.target for item in items]),
        "alternatives": pa.ListArray.from_arrays(
            _offsets([len(item.alternatives) for item in items]), _lists(alternatives)
        ),
    }
    if "answer" in schema.names:
        answers = msgspec.to_builtins([item.answer for item in items])
        columns["answer"] = pa.array(answers, _answer_type())
    return pa.record_batch([columns[name] for name in schema.names], schema=schema)


_PLAIN = (
    "id", "case_id", "role", "image", "images", "height_px", "width_px", "query", "exhaustive",
)  # fmt: skip


def _offsets(lengths: Iterable[int]) -> pa.Array:
    import pyarrow as pa

    return pa.array(list(accumulate(lengths, initial=0)), pa.int32())


def _lists(rows: Sequence[Sequence[Region] | None]) -> pa.Array:
    """list<region>, null where a row is None."""
    import pyarrow as pa

    return pa.ListArray.from_arrays(
        _offsets(len(row or ()) for row in rows),
        _region_array([region for row in rows for region in row or ()]),
        mask=pa.array([row is None for row in rows], pa.bool_()),
    )


def _region_array(regions: Sequence[Region | None]) -> pa.Array:
    import pyarrow as pa

    masks = [None if region is None else region.mask for region in regions]
    boxes = [None if region is None else region.box_xywh for region in regions]
    columns: list[list[Any]] = [
        [None if mask is None else mask["size"][0] for mask in masks],
        [None if mask is None else mask["size"][1] for mask in masks],
        [None if mask is None else mask["counts"] for mask in masks],
        *([None if box is None else box[k] for box in boxes] for k in range(4)),
        [None if region is None else region.crowd for region in regions],
    ]
    kind = _region_type()
    return pa.StructArray.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, kind, strict=True)],
        fields=list(kind),
        mask=pa.array([region is None for region in regions], pa.bool_()),
    )


def _read_table(
    path: Path, schema: pa.Schema, to_records: Callable[[Iterable[pa.RecordBatch]], Iterable[T]]
) -> tuple[T, ...]:
    """The records of a table, whose columns must be those that `write` gives it."""
    import pyarrow as pa

    if not path.is_file():
        raise _changed(path.parent, f"{path.name} is missing")
    try:
        return tuple(to_records(_batches(path, schema)))
    except (pa.ArrowException, OSError) as problem:
        detail = (str(problem).splitlines() or [type(problem).__name__])[0]
        raise _changed(path.parent, f"{path.name} is not a readable table ({detail})") from None
    except (ValueError, TypeError, KeyError) as problem:
        raise _changed(path.parent, f"{path.name} holds what it should not ({problem})") from None


def _batches(path: Path, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        if not file.schema_arrow.equals(schema):
            raise _changed(path.parent, f"the columns of {path.name} are not those of the format")
        for batch in file.iter_batches(batch_size=_BATCH_ROWS, use_threads=False):
            for name, column in zip(schema.names, batch.columns, strict=True):
                if column.null_count and name not in ("target", "answer"):
                    raise _changed(path.parent, f"{path.name} has an empty {name}")
            yield batch


def _cases(batches: Iterable[pa.RecordBatch]) -> Iterator[Case]:
    for batch in batches:
        columns = [column.to_pylist() for column in batch.columns]
        for case_id, intervention, tags, *facts in zip(*columns, strict=True):
            known = msgspec.convert(dict(*facts), dict[str, str])
            yield Case(id=case_id, intervention=intervention, tags=dict(tags), facts=known)


def _items(batches: Iterable[pa.RecordBatch]) -> Iterator[Item]:
    """Items in which equal regions are one object: scoring compares those of a case at once."""
    for batch in batches:
        known: dict[Any, Region] = {}
        columns = {
            name: batch.column(name).to_pylist() for name in batch.schema.names if name in _PLAIN
        }
        columns["role"] = [_ROLES[role] for role in columns["role"]]
        if "image" in columns:
            columns["images"] = [(name,) for name in columns.pop("image")]
        else:
            answers = batch.column("answer").to_pylist()
            columns["images"] = msgspec.convert(columns["images"], list[tuple[str, ...]])
            columns["answer"] = msgspec.convert(answers, list[Answer | None])
        columns["regions"] = _region_tuples(batch.column("regions"), known)
        columns["target"] = _regions(batch.column("target"), known)
        alternatives = batch.column("alternatives")
        further = _region_tuples(alternatives.values, known)
        columns["alternatives"] = [further[a:b] for a, b in _spans(alternatives)]
        for row in zip(*columns.values(), strict=True):
            yield Item(**dict(zip(columns, row, strict=True)))


_ROLES = {role.value: role for role in Role}


def _spans(lists: pa.Array) -> Iterator[tuple[int, int]]:
    """Where each list begins and ends in `lists.values`."""
    return pairwise(lists.offsets.to_pylist())


def _region_tuples(lists: pa.Array, known: dict[Any, Region]) -> tuple[Any, ...]:
    """A tuple of regions for each list; None where it is null."""
    regions = _regions(lists.values, known)
    is_null = lists.is_null().to_pylist()
    return tuple(
        None if null else regions[a:b] for (a, b), null in zip(_spans(lists), is_null, strict=True)
    )


def _regions(structs: pa.Array, known: dict[Any, Region]) -> tuple[Any, ...]:
    """A region for each struct; None where it is null."""
    fields = [column.to_pylist() for column in structs.flatten()]
    is_null = structs.is_null().to_pylist()
    found = []
    for null, key in zip(is_null, zip(*fields, strict=True), strict=True):
        region = None if null else known.get(key)
        if region is None and not null:
            known[key] = region = _region(*key)
        found.append(region)
    return tuple(found)


def _region(
    mask_height_px: int | None,
    mask_width_px: int | None,
    mask_counts: str | None,
    x: float | None,
    y: float | None,
    width: float | None,
    height: float | None,
    crowd: bool | None,
) -> Region:
    mask = box = None
    if mask_counts is not None and mask_height_px is not None and mask_width_px is not None:
        mask = Rle(size=(mask_height_px, mask_width_px), counts=mask_counts)
    if x is not None and y is not None and width is not None and height is not None:
        box = (x, y, width, height)
    if crowd is None:
        raise ValueError("a region does not say whether it is a crowd")
    return Region(mask, box, crowd)
