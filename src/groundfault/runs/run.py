"""A run on disk: one model × one benchmark × one resolved configuration.

    RUN/run.json                  model, benchmark, settings, hashes, versions, counts per outcome
    RUN/predictions-00000.parquet a row per item: outcome, masks, scores, text, reason, seconds
    RUN/predictions-00001.journal answers that no shard holds yet, while the run goes on
    RUN/summary.json, cases.parquet   as `score` writes them

Shards are written whole. The journal grows by one record per batch; a record that was cut short
does not match its checksum and is left out, with everything after it.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec

from groundfault.errors import DataError
from groundfault.io.store import read_json, read_table, write_json, write_table
from groundfault.records import Outcome, Prediction, Rle

__all__ = [
    "SILENT",
    "Answer",
    "Run",
    "append_journal",
    "journals",
    "read_journal",
    "read_outcomes",
    "read_predictions",
    "read_run",
    "read_shard",
    "shard_number",
    "shards",
    "write_predictions",
    "write_run",
]

AnyPath = str | PathLike[str]
SHARD = "predictions-{:05d}.parquet"
JOURNAL = "predictions-{:05d}.journal"
SILENT = "the results file has no record of it"
"""Why an item of a replayed results file counts as an abstention."""
_HEAD = struct.Struct("<II")
"""Of a journal's record: its length in bytes and its checksum."""


class Answer(Prediction, frozen=True, kw_only=True):
    """A prediction as a run keeps it."""

    seconds: float = 0.0
    """What it took; an image's time is shared by its phrases."""
    category_ids: tuple[int | None, ...] = ()
    """Of each mask, where it comes from a results file that says so."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What made a run; the content of run.json."""

    model: str
    benchmark: str
    benchmark_folder: str = ""
    """Where the benchmark was, for reports that show its pictures; may be gone."""
    content_hash: str = ""
    """Of the benchmark; only runs on the same content are compared."""
    identity: dict[str, str] = msgspec.field(default_factory=dict)
    """What the answers depend on; answers of two identities are never mixed."""
    settings: dict[str, object] = msgspec.field(default_factory=dict)
    """How the run was carried out."""
    versions: dict[str, str] = msgspec.field(default_factory=dict)
    outcomes: dict[str, int] = msgspec.field(default_factory=dict)
    failures: dict[str, int] = msgspec.field(default_factory=dict)
    """Reason → number of items."""
    n_items: int = 0
    n_images: int = 0
    state: str = "finished"
    """"running" until every item has an answer or a reason why it has none."""
    probe: str = ""
    """How the check of the coordinate frame ended."""
    seconds: float = 0.0
    """Of all sessions together, up to the last one's latest shard."""


def write_run(folder: AnyPath, run: Run) -> None:
    """Write run.json."""
    write_json(Path(folder) / "run.json", run)


def read_run(folder: AnyPath) -> Run:
    """Read run.json."""
    return read_json(Path(folder) / "run.json", Run)


def shards(folder: AnyPath) -> list[Path]:
    """The shards of predictions in a run, in order."""
    return sorted(Path(folder).glob("predictions-*.parquet"))


def journals(folder: AnyPath) -> list[Path]:
    """Journals whose shard was not written yet: one, unless the run is finished."""
    found = sorted(Path(folder).glob("predictions-*.journal"))
    return [path for path in found if not path.with_suffix(".parquet").exists()]


def shard_number(path: Path) -> int:
    """
    >>> shard_number(Path("run/predictions-00012.parquet"))
    12
    """
    return int(path.stem.rpartition("-")[2])


def write_predictions(
    folder: AnyPath, number: int, predictions: Sequence[Prediction], seconds: Sequence[float]
) -> Path:
    """Write one shard; `seconds` is what each prediction took."""
    path = Path(folder) / SHARD.format(number)
    columns: dict[str, Any] = {
        "item_id": [p.item_id for p in predictions],
        "outcome": [p.outcome.value for p in predictions],
        "masks": _Masks([p.masks for p in predictions]),
        "scores": _Lists([p.scores for p in predictions], "float64"),
        "text": [p.text for p in predictions],
        "reason": [p.reason for p in predictions],
        "seconds": list(map(float, seconds)),
    }
    if any(p.boxes_xywh for p in predictions):
        boxes = [[box and list(box) for box in p.boxes_xywh] for p in predictions]
        columns["boxes_xywh"] = _Lists(boxes, "float64", depth=2)
    if any(p.presence is not None for p in predictions):
        columns["presence"] = [p.presence for p in predictions]
    categories = [p.category_ids if isinstance(p, Answer) else () for p in predictions]
    if any(categories):
        columns["category_ids"] = _Lists(categories, "int64")
    write_table(path, columns)
    return path


def append_journal(folder: AnyPath, number: int, answers: Sequence[Answer]) -> None:
    """Add a record to the journal of the shard to come. The system has it when this returns."""
    content = msgspec.msgpack.encode(answers)
    record = _HEAD.pack(len(content), crc32(content)) + content
    place = os.open(
        Path(folder) / JOURNAL.format(number), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666
    )
    try:
        while record:
            record = record[os.write(place, record) :]
    finally:
        os.close(place)


def read_journal(path: AnyPath) -> list[Answer]:
    """The answers of all whole records."""
    content, answers, start = Path(path).read_bytes(), list[Answer](), 0
    while start + _HEAD.size <= len(content):
        length, checksum = _HEAD.unpack_from(content, start)
        record = content[start + _HEAD.size : start + _HEAD.size + length]
        if len(record) < length or crc32(record) != checksum:
            break
        answers += msgspec.msgpack.decode(record, type=list[Answer])
        start += _HEAD.size + length
    return answers


def read_outcomes(path: Path) -> Iterator[tuple[str, Outcome, str]]:
    """Item, outcome and reason of every prediction in a shard; masks are not read."""
    table = read_table(path, ("item_id", "outcome", "reason"))
    for name, outcome, reason in zip(*(column.to_pylist() for column in table), strict=True):
        yield name, Outcome(outcome), reason or ""


def read_predictions(folder: AnyPath) -> Iterator[Answer]:
    """Every stored prediction, shard by shard, then those of the journal."""
    for path in shards(folder):
        yield from read_shard(path)
    for path in journals(folder):
        yield from read_journal(path)


def read_shard(path: Path) -> Iterator[Answer]:
    """The predictions of one shard."""
    for row in read_table(path).to_pylist():
        try:
            yield Answer(
                item_id=row["item_id"],
                outcome=Outcome(row["outcome"]),
                masks=tuple(_rle(mask) for mask in row["masks"] or ()),
                scores=tuple(row["scores"] or ()),
                boxes_xywh=tuple(_box(box) for box in row.get("boxes_xywh") or ()),
                text=row["text"] or "",
                reason=row["reason"] or "",
                seconds=row["seconds"],
                category_ids=tuple(row.get("category_ids") or ()),
                presence=row.get("presence"),
            )
        except (ValueError, TypeError, KeyError) as problem:
            raise DataError(
                path,
                f"a prediction cannot be read ({problem})",
                record=f"item {row.get('item_id')}",
                remedy="delete the shard and run again",
            ) from None


def _box(values: Sequence[float] | None) -> tuple[float, float, float, float] | None:
    if values is None:
        return None
    x, y, width, height = values
    return x, y, width, height


def _rle(mask: dict[str, Any]) -> Rle:
    return Rle(size=(mask["height_px"], mask["width_px"]), counts=mask["counts"])


class _Masks:
    """A column of lists of masks."""

    def __init__(self, rows: Iterable[Sequence[Rle]]) -> None:
        self.rows = rows

    def to_arrow(self) -> Any:
        import pyarrow as pa

        mask = pa.struct(
            [("height_px", pa.int32()), ("width_px", pa.int32()), ("counts", pa.string())]
        )
        return pa.array(
            [
                [
                    {"height_px": m["size"][0], "width_px": m["size"][1], "counts": m["counts"]}
                    for m in masks
                ]
                for masks in self.rows
            ],
            pa.list_(mask),
        )


class _Lists:
    """A column of lists (of lists) of numbers, typed even where all are empty."""

    def __init__(self, rows: Iterable[Sequence[Any]], number: str, *, depth: int = 1) -> None:
        self.rows, self.number, self.depth = rows, number, depth

    def to_arrow(self) -> Any:
        import pyarrow as pa

        kind = getattr(pa, self.number)()
        for _ in range(self.depth):
            kind = pa.list_(kind)
        return pa.array([list(row) for row in self.rows], kind)
