"""Predictions of a run as tables: predictions-00000.parquet, one row per prediction.

A column is there if any prediction of the shard has it, so that a run in masks and a run in words
are the same format.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from groundfault.errors import DataError
from groundfault.io.store import read_columns, read_table, write_table
from groundfault.records import Outcome, Prediction

__all__ = [
    "SHARD",
    "Ended",
    "old_shards",
    "prediction_of",
    "read_outcomes",
    "read_rows",
    "read_shard",
    "shard_number",
    "shards",
    "write_shard",
]

AnyPath = str | PathLike[str]
SHARD = "predictions-{:05d}.parquet"
_MASKS = ("masks", "scores")
_OPTIONAL = (
    "boxes_xywh", "category_ids", "presence", "qualities", "finish", "verdict", "judge",
    "judge_text",
)  # fmt: skip
_WORDS = (
    "mode", "finish", "parsed", "verdict", "judge", "judge_text", "cause", "cause_by", "cause_text",
    "tokens_in", "tokens_out", "cost",
)  # fmt: skip


def shards(folder: AnyPath) -> list[Path]:
    """The shards of a run, in order."""
    return [*old_shards(folder), *sorted(Path(folder).glob("predictions-*.parquet"))]


def old_shards(folder: AnyPath) -> list[Path]:
    """Those that version 0.1.0 wrote of answers in words and that were not rewritten since."""
    return [
        path
        for path in sorted(Path(folder).glob("answers-*.parquet"))
        if not path.with_name(SHARD.format(shard_number(path))).exists()
    ]


def shard_number(path: Path) -> int:
    """
    >>> shard_number(Path("run/predictions-00012.parquet"))
    12
    """
    return int(path.stem.rpartition("-")[2])


def write_shard(folder: AnyPath, number: int, predictions: Sequence[Prediction]) -> Path:
    """Write one shard."""
    path = Path(folder) / SHARD.format(number)
    names = ["item_id", "outcome", "text", "reason", "seconds"]
    if any(not prediction.mode for prediction in predictions):
        names += _MASKS
    if any(prediction.mode for prediction in predictions):
        names += _WORDS
    names += [
        name
        for name in _OPTIONAL
        if name not in names
        and any(getattr(prediction, name) not in ((), None, "") for prediction in predictions)
    ]
    write_table(path, {name: _Column(name, predictions) for name in names})
    return path


class Ended(NamedTuple):
    """How a stored prediction ended."""

    key: tuple[str, str]
    outcome: Outcome
    reason: str
    finish: str


def read_outcomes(path: Path) -> Iterator[Ended]:
    """How every prediction in a shard ended; nothing else is read."""
    for row in read_rows(path, ("item_id", "mode", "outcome", "reason", "finish")):
        key = (row["item_id"], row.get("mode") or "")
        finish = row.get("finish") or ""
        yield Ended(key, Outcome(row["outcome"]), row["reason"] or "", finish)


def read_rows(path: Path, names: Sequence[str]) -> list[dict[str, Any]]:
    """Those columns of a shard that it has."""
    there = read_columns(path)
    rows: list[dict[str, Any]] = read_table(path, [n for n in names if n in there]).to_pylist()
    return rows


def read_shard(path: Path) -> Iterator[Prediction]:
    """The predictions of one shard."""
    for row in read_table(path).to_pylist():
        try:
            yield prediction_of(row)
        except (ValueError, TypeError, KeyError) as problem:
            raise DataError(
                path,
                f"a prediction cannot be read ({problem})",
                record=f"item {row.get('item_id')}",
                remedy="delete the shard and run again",
            ) from None


def prediction_of(row: dict[str, Any]) -> Prediction:
    """A stored row as a prediction; version 0.1.0 said `latency_s` for `seconds` in words."""
    if "latency_s" in row:
        row["seconds"] = row.pop("latency_s")
    if row.get("masks"):
        row["masks"] = [_rle(mask) for mask in row["masks"]]
    given = {name: value for name, value in row.items() if value is not None}
    return msgspec.convert(given, Prediction)


def _rle(mask: dict[str, Any]) -> dict[str, Any]:
    if "size" in mask:
        return mask
    return {"size": (mask["height_px"], mask["width_px"]), "counts": mask["counts"]}


class _Column:
    """One field of predictions, typed even where all are empty."""

    def __init__(self, name: str, predictions: Iterable[Prediction]) -> None:
        self.name, self.predictions = name, predictions

    def to_arrow(self) -> Any:
        import pyarrow as pa

        kinds = {
            "masks": pa.list_(
                pa.struct(
                    [("height_px", pa.int32()), ("width_px", pa.int32()), ("counts", pa.string())]
                )
            ),
            "scores": pa.list_(pa.float64()),
            "boxes_xywh": pa.list_(pa.list_(pa.float64())),
            "category_ids": pa.list_(pa.int64()),
            "qualities": pa.list_(pa.float64()),
            "tokens_in": pa.int64(),
            "tokens_out": pa.int64(),
            **dict.fromkeys(("presence", "seconds", "cost"), pa.float64()),
        }
        values: list[Any] = [getattr(prediction, self.name) for prediction in self.predictions]
        if self.name == "masks":
            values = [
                [
                    {"height_px": m["size"][0], "width_px": m["size"][1], "counts": m["counts"]}
                    for m in masks
                ]
                for masks in values
            ]
        return pa.array(values, kinds.get(self.name, pa.string()))
