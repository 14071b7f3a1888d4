"""Answers on their way to disk, as a run keeps them.

    RUN/answers-00000.parquet  a row per question and mode
    RUN/answers-00001.journal  answers that no shard holds yet, while the run goes on

An answer is in the journal, which the system has, before the next question takes its place: who
kills the process loses what was under way and nothing else. A record that was cut short does not
match its checksum and is left out.
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
from groundfault.io.store import locked, read_table, write_table
from groundfault.parsing.answers import Answered
from groundfault.records import Outcome

__all__ = [
    "Recorder",
    "clear",
    "locked",
    "outcomes",
    "read_answers",
    "replace_answers",
    "settle",
    "shards",
    "totals",
    "write_answers",
]

AnyPath = str | PathLike[str]
SHARD_ANSWERS = 2048
_HEAD = struct.Struct("<II")
"""Of a journal's record: its length in bytes and its checksum."""
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Answered).decode


class Recorder:
    """Writes answers as they come. `with` turns what is left into a shard."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.number = 1 + max(map(_number, shards(folder)), default=-1)
        self.pending: list[Answered] = []
        self._journal: int | None = None

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        self.finish()

    def add(self, answer: Answered) -> None:
        """Keep an answer."""
        if self._journal is None:
            path = self.folder / f"answers-{self.number:05d}.journal"
            self._journal = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        content = _encode(answer)
        record = _HEAD.pack(len(content), crc32(content)) + content
        while record:
            record = record[os.write(self._journal, record) :]
        self.pending.append(answer)
        if len(self.pending) >= SHARD_ANSWERS:
            self.finish()

    def finish(self) -> None:
        """Turn the journal into a shard."""
        if self._journal is None:
            return
        os.close(self._journal)
        self._journal = None
        _write_shard(self.folder, self.number, self.pending)
        self.pending, self.number = [], self.number + 1


def shards(folder: AnyPath) -> list[Path]:
    """The shards of answers in a run, in order."""
    return sorted(Path(folder).glob("answers-*.parquet"))


def write_answers(path: AnyPath, answers: Sequence[Answered]) -> None:
    """Write a shard."""
    write_table(path, {name: _Column(name, answers) for name in Answered.__struct_fields__})


def read_answers(folder: AnyPath) -> Iterator[Answered]:
    """Every stored answer, shard by shard, then those of the journal."""
    for path in shards(folder):
        yield from _read_shard(path)
    for path in _journals(folder):
        yield from _read_journal(path)


def outcomes(folder: AnyPath) -> Iterator[tuple[str, str, Outcome, str]]:
    """Item, mode, outcome and reason of every answer of a settled run; texts are not read."""
    for path in shards(folder):
        table = read_table(path, ("item_id", "mode", "outcome", "reason"))
        for item, mode, outcome, reason in zip(*(c.to_pylist() for c in table), strict=True):
            yield item, mode, Outcome(outcome), reason


def replace_answers(folder: AnyPath, answers: Iterable[Answered]) -> None:
    """Put judged answers in the place of the stored ones, shard by shard; others stay."""
    new = {(answer.item_id, answer.mode): answer for answer in answers}
    for path in shards(folder):
        write_answers(path, [new.get((a.item_id, a.mode), a) for a in _read_shard(path)])


def settle(folder: AnyPath) -> None:
    """Bring a run that was cut short in order: its journal becomes a shard, what failed is dropped
    so that it is asked again, and every answer is stored once."""
    folder, known = Path(folder), set[tuple[str, str]]()
    for path in shards(folder):
        rows = read_table(path, ("item_id", "mode", "outcome"))
        items, modes, ends = (column.to_pylist() for column in rows)
        if Outcome.FAILED.value in ends:
            _rewrite(path)
            items, modes = (
                [value for value, end in zip(values, ends, strict=True) if end != "failed"]
                for values in (items, modes)
            )
        known.update(zip(items, modes, strict=True))
    for path in _journals(folder):
        kept = [a for a in _read_journal(path) if (a.item_id, a.mode) not in known]
        kept = [answer for answer in kept if answer.outcome is not Outcome.FAILED]
        if kept:
            _write_shard(folder, _number(path), kept)
    for pattern in ("answers-*.journal", ".answers-*"):  # the second: shards being written
        for path in folder.glob(pattern):
            path.unlink()


def totals(folder: AnyPath) -> dict[str, Any]:
    """Tokens, cost and quantiles of latency over the answers of a settled run."""
    import numpy as np

    tokens_in = tokens_out = 0
    cost: float | None = 0.0
    latencies: list[float] = []
    for path in shards(folder):
        table = read_table(path, ("outcome", "tokens_in", "tokens_out", "cost", "latency_s"))
        for outcome, given, written, price, seconds in zip(
            *(column.to_pylist() for column in table), strict=True
        ):
            if outcome == Outcome.FAILED.value:
                continue
            tokens_in, tokens_out = tokens_in + given, tokens_out + written
            cost = None if cost is None or price is None else cost + price
            latencies.append(seconds)
    quantiles = np.quantile(latencies, (0.5, 0.95, 1.0)) if latencies else ()
    names = ("median", "p95", "most")
    return {
        "tokens_in": tokens_in,
        "tokens_out": tokens_out,
        "cost": cost,
        "latency_s": {n: round(float(q), 4) for n, q in zip(names, quantiles, strict=False)},
    }


def clear(folder: AnyPath) -> None:
    """Remove a run's answers and scores."""
    for pattern in ("answers-*", ".answers-*", "summary.json", "cases.parquet"):
        for path in Path(folder).glob(pattern):
            path.unlink()


def _rewrite(path: Path) -> None:
    """A shard without what failed."""
    kept = [answer for answer in _read_shard(path) if answer.outcome is not Outcome.FAILED]
    if kept:
        write_answers(path, kept)
    else:
        path.unlink()


def _write_shard(folder: Path, number: int, answers: Sequence[Answered]) -> None:
    path = folder / f"answers-{number:05d}.parquet"
    write_answers(path, answers)
    path.with_suffix(".journal").unlink(missing_ok=True)


def _number(path: Path) -> int:
    return int(path.stem.rpartition("-")[2])


def _journals(folder: AnyPath) -> list[Path]:
    """Those whose shard was not written yet."""
    found = sorted(Path(folder).glob("answers-*.journal"))
    return [path for path in found if not path.with_suffix(".parquet").exists()]


def _read_journal(path: Path) -> Iterator[Answered]:
    content, start = path.read_bytes(), 0
    while start + _HEAD.size <= len(content):
        length, checksum = _HEAD.unpack_from(content, start)
        record = content[start + _HEAD.size : start + _HEAD.size + length]
        if len(record) < length or crc32(record) != checksum:
            return
        yield _decode(record)
        start += _HEAD.size + length


def _read_shard(path: Path) -> Iterator[Answered]:
    for row in read_table(path).to_pylist():
        try:
            yield msgspec.convert(row, Answered)
        except msgspec.ValidationError as problem:
            raise DataError(
                path,
                f"an answer cannot be read ({problem})",
                record=f"item {row.get('item_id')}",
                remedy="delete the shard and run again",
            ) from None


class _Column:
    """A field of answers, typed even where all are None."""

    def __init__(self, name: str, answers: Iterable[Answered]) -> None:
        self.name, self.answers = name, answers

    def to_arrow(self) -> Any:
        import pyarrow as pa

        kinds = {
            "tokens_in": pa.int64(),
            "tokens_out": pa.int64(),
            "latency_s": pa.float64(),
            "cost": pa.float64(),
        }
        values = [getattr(answer, self.name) for answer in self.answers]
        return pa.array(values, kinds.get(self.name, pa.string()))
