"""Predictions on their way to disk: a journal as they come, a shard when there are enough.

Whoever kills the process loses what the model is working on and nothing else. The journal grows by
one record per batch. One process at a time writes to a run.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec

from groundfault.records import MOST, Outcome, Prediction
from groundfault.runs.journal import Journal
from groundfault.runs.run import RUN
from groundfault.runs.shards import (
    SHARD,
    old_shards,
    prediction_of,
    read_outcomes,
    read_rows,
    read_shard,
    shard_number,
    shards,
    write_shard,
)

__all__ = [
    "SCORES",
    "Recorder",
    "Tally",
    "clear",
    "has_answers",
    "journals",
    "read_journal",
    "read_predictions",
    "replace_predictions",
    "settle",
    "tally",
    "totals",
]

AnyPath = str | PathLike[str]
SHARD_ITEMS = 2048
SCORES = ("summary.json", "cases.parquet", "corrected.json", "sub-causes.svg", "sweep.json")
"""What is made of a run's predictions."""


class Recorder:
    """Writes predictions as they come. `with` turns what is left into a shard."""

    def __init__(self, folder: AnyPath) -> None:
        self.folder = Path(folder)
        self.number = 1 + max(map(shard_number, shards(folder)), default=-1)
        self.pending: list[Prediction] = []
        self._journal = self._next_journal()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        self.finish()

    def _next_journal(self) -> Journal:
        return Journal((self.folder / SHARD.format(self.number)).with_suffix(".journal"))

    def add(self, predictions: Sequence[Prediction]) -> bool:
        """Keep predictions; True if they filled a shard."""
        self._journal.append(predictions)
        self.pending += predictions
        full = len(self.pending) >= SHARD_ITEMS
        if full:
            self.finish()
        return full

    def finish(self) -> None:
        """Turn the journal into a shard."""
        self._journal.close()
        if not self.pending:
            return
        _finish_shard(self.folder, self.number, self.pending)
        self.pending, self.number = [], self.number + 1
        self._journal = self._next_journal()


def _finish_shard(folder: Path, number: int, predictions: Sequence[Prediction]) -> None:
    write_shard(folder, number, predictions).with_suffix(".journal").unlink(missing_ok=True)


def journals(folder: AnyPath) -> list[Journal]:
    """Journals whose shard was not written yet: one, unless the run is finished."""
    found = [*_glob(folder, "answers-*.journal"), *_glob(folder, "predictions-*.journal")]
    return [Journal(path) for path in found if not _has_shard(path)]


def read_journal(journal: Journal) -> Iterator[Prediction]:
    """The predictions of all whole records; those of version 0.1.0 hold one each."""
    for record in journal.read():
        for row in record if isinstance(record, list) else [record]:
            yield prediction_of(row)


def _has_shard(journal: Path) -> bool:
    name = SHARD.format(shard_number(journal))
    return journal.with_suffix(".parquet").exists() or journal.with_name(name).exists()


def _glob(folder: AnyPath, pattern: str) -> list[Path]:
    return sorted(Path(folder).glob(pattern))


def read_predictions(folder: AnyPath) -> Iterator[Prediction]:
    """Every stored prediction, shard by shard, then those of the journal."""
    for path in shards(folder):
        yield from read_shard(path)
    for journal in journals(folder):
        yield from read_journal(journal)


def replace_predictions(folder: AnyPath, predictions: Iterable[Prediction]) -> None:
    """Put graded predictions in the place of the stored ones, shard by shard; others stay."""
    new = {prediction.key: prediction for prediction in predictions}
    _rewrite(folder, lambda found: [new.get(each.key, each) for each in found])


def _rewrite(
    folder: AnyPath, change: Callable[[list[Prediction]], list[Prediction]], *, only: str = ""
) -> None:
    """Write every shard anew as `change` makes it, where it holds an outcome `only`, if that is
    given; shards of version 0.1.0 in any case."""
    old_ones = set(old_shards(folder))
    for path in shards(folder):
        old = path in old_ones
        if only and not old and all(found.outcome != only for found in read_outcomes(path)):
            continue
        kept = change(list(read_shard(path)))
        if kept:
            write_shard(folder, shard_number(path), kept)
        if old or not kept:
            path.unlink()


def settle(folder: AnyPath, again: Collection[str] = ()) -> None:
    """Bring a run that was cut short in order: its journal becomes a shard, what failed or has a
    `finish` of those in `again` is dropped so that it is asked again, and every prediction is
    stored once."""
    folder = Path(folder)

    def answered(predictions: Iterable[Prediction]) -> list[Prediction]:
        return [
            each
            for each in predictions
            if each.outcome is not Outcome.FAILED and each.finish not in again
        ]

    _rewrite(folder, answered, only="" if again else Outcome.FAILED.value)
    known = {found.key for path in shards(folder) for found in read_outcomes(path)}
    for journal in journals(folder):
        kept = [each for each in answered(read_journal(journal)) if each.key not in known]
        if kept:
            _finish_shard(folder, shard_number(journal.path), kept)
    left = ("answers-*.parquet", "answers-*.journal", "predictions-*.journal")
    for pattern in (*left, ".answers-*", ".predictions-*"):  # with a dot: shards in the making
        for path in _glob(folder, pattern):
            path.unlink()


def has_answers(folder: AnyPath) -> bool:
    """Whether any stored prediction is an answer: not everything failed."""
    stored = (found.outcome for path in shards(folder) for found in read_outcomes(path))
    begun = (found.outcome for journal in journals(folder) for found in read_journal(journal))
    return any(outcome is not Outcome.FAILED for outcome in itertools.chain(stored, begun))


class Tally(msgspec.Struct):
    """How many predictions ended how, and what need not be asked again."""

    answered: set[tuple[str, str]] = msgspec.field(default_factory=set)
    outcomes: dict[str, int] = msgspec.field(
        default_factory=lambda: dict.fromkeys((outcome.value for outcome in Outcome), 0)
    )
    failures: dict[str, int] = msgspec.field(default_factory=dict)

    def add(self, key: tuple[str, str], outcome: Outcome, reason: str) -> None:
        """Count one prediction."""
        self.outcomes[outcome.value] += 1
        if outcome is Outcome.FAILED:
            self.failures[reason] = self.failures.get(reason, 0) + 1
        else:
            self.answered.add(key)

    @property
    def total(self) -> int:
        """All that were counted."""
        return sum(self.outcomes.values())


def tally(folder: AnyPath, wanted: Iterable[tuple[str, str]], again: Collection[str] = ()) -> Tally:
    """How what is wanted of a settled run ended so far, without those with a `finish` in `again`:
    they are asked again."""
    names, found = set(wanted), Tally()
    for path in shards(folder):
        for ended in read_outcomes(path):
            if ended.key in names and ended.finish not in again:
                found.add(ended.key, ended.outcome, ended.reason)
    return found


def totals(folder: AnyPath) -> dict[str, Any]:
    """Tokens, cost and quantiles of latency over the predictions of a settled run in words."""
    import numpy as np

    tokens_in = tokens_out = 0
    cost: float | None = 0.0
    seconds: list[float] = []
    for path in shards(folder):
        for row in read_rows(path, ("outcome", "tokens_in", "tokens_out", "cost", "seconds")):
            if row["outcome"] == Outcome.FAILED.value:
                continue
            tokens_in, tokens_out = tokens_in + row["tokens_in"], tokens_out + row["tokens_out"]
            cost = None if cost is None or row["cost"] is None else cost + row["cost"]
            seconds.append(row["seconds"])
    quantiles = np.quantile(seconds, (0.5, 0.95, 1.0)) if seconds else ()
    names = ("median", "p95", "most")
    return {
        "tokens_in": min(tokens_in, MOST),
        "tokens_out": min(tokens_out, MOST),
        "cost": cost,
        "latency_s": {n: round(float(q), 4) for n, q in zip(names, quantiles, strict=False)},
    }


def clear(folder: AnyPath) -> None:
    """Remove a run: its predictions, scores and logs, and last its run.json, which says whose they
    are."""
    stale = (*SCORES, "worker-*.log", "progress.json", RUN)
    shards_of = [f"{dot}{name}-*" for name in ("answers", "predictions") for dot in ("", ".")]
    for pattern in (*shards_of, *stale):
        for path in _glob(folder, pattern):
            path.unlink()
