"""A run on disk: one model × one benchmark × one resolved configuration.

    RUN/run.json                  model, benchmark, settings, hashes, versions, counts per outcome
    RUN/predictions-00000.parquet a row per item: outcome, masks, scores, text, reason, seconds
    RUN/summary.json, cases.parquet   as `score` writes them

Shards are written whole; a run that was cut short has the shards before the cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec

from groundfault.errors import DataError
from groundfault.records import Outcome, Prediction, Rle
from groundfault.store import read_json, read_table, write_json, write_table

__all__ = [
    "Run",
    "read_predictions",
    "read_run",
    "shards",
    "write_predictions",
    "write_run",
]

AnyPath = str | PathLike[str]
SHARD = "predictions-{:05d}.parquet"
_COLUMNS = ("item_id", "outcome", "masks", "scores", "text", "reason", "seconds")


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What made a run; the content of run.json."""

    model: str
    benchmark: str
    benchmark_folder: str = ""
    """Where the benchmark was, for reports that show its pictures; may be gone."""
    content_hash: str = ""
    """Of the benchmark; only runs on the same content are compared."""
    settings: dict[str, object] = msgspec.field(default_factory=dict)
    versions: dict[str, str] = msgspec.field(default_factory=dict)
    outcomes: dict[str, int] = msgspec.field(default_factory=dict)
    n_items: int = 0
    seconds: float = 0.0


def write_run(folder: AnyPath, run: Run) -> None:
    """Write run.json."""
    write_json(Path(folder) / "run.json", run)


def read_run(folder: AnyPath) -> Run:
    """Read run.json."""
    return read_json(Path(folder) / "run.json", Run)


def shards(folder: AnyPath) -> list[Path]:
    """The shards of predictions in a run, in order."""
    return sorted(Path(folder).glob("predictions-*.parquet"))


def write_predictions(
    folder: AnyPath, number: int, predictions: Sequence[Prediction], seconds: Sequence[float]
) -> Path:
    """Write one shard; `seconds` is what each prediction took."""
    path = Path(folder) / SHARD.format(number)
    write_table(
        path,
        {
            "item_id": [p.item_id for p in predictions],
            "outcome": [p.outcome.value for p in predictions],
            "masks": _Masks([p.masks for p in predictions]),
            "scores": _Scores([p.scores for p in predictions]),
            "text": [p.text for p in predictions],
            "reason": [p.reason for p in predictions],
            "seconds": list(map(float, seconds)),
        },
    )
    return path


def read_predictions(folder: AnyPath) -> Iterator[Prediction]:
    """Every stored prediction, shard by shard."""
    for path in shards(folder):
        table = read_table(path, _COLUMNS)
        for row in table.to_pylist():
            try:
                yield Prediction(
                    item_id=row["item_id"],
                    outcome=Outcome(row["outcome"]),
                    masks=tuple(_rle(mask) for mask in row["masks"] or ()),
                    scores=tuple(row["scores"] or ()),
                    text=row["text"] or "",
                    reason=row["reason"] or "",
                )
            except (ValueError, TypeError, KeyError) as problem:
                raise DataError(
                    path,
                    f"a prediction cannot be read ({problem})",
                    record=f"item {row.get('item_id')}",
                    remedy="delete the shard and run again",
                ) from None


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


class _Scores:
    """A column of lists of numbers, typed even where all lists are empty."""

    def __init__(self, rows: Iterable[Sequence[float]]) -> None:
        self.rows = rows

    def to_arrow(self) -> Any:
        import pyarrow as pa

        return pa.array([list(scores) for scores in self.rows], pa.list_(pa.float64()))
