"""Answers on their way to disk: a journal after every batch, a shard when there are enough.

Whoever kills the process loses what the model is working on and nothing else. One process at a
time writes to a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from groundfault.records import Outcome
from groundfault.runs.run import (
    Answer,
    append_journal,
    journals,
    read_journal,
    read_outcomes,
    read_shard,
    shard_number,
    shards,
    write_predictions,
)

__all__ = ["Recorder", "Tally", "clear", "settle", "tally"]

SHARD_ITEMS = 2048


class Tally(msgspec.Struct):
    """How many items ended how, and which ones need not be asked again."""

    answered: set[str] = msgspec.field(default_factory=set)
    outcomes: dict[str, int] = msgspec.field(
        default_factory=lambda: dict.fromkeys((outcome.value for outcome in Outcome), 0)
    )
    failures: dict[str, int] = msgspec.field(default_factory=dict)

    def add(self, item_id: str, outcome: Outcome, reason: str) -> None:
        """Count one item."""
        self.outcomes[outcome.value] += 1
        if outcome is Outcome.FAILED:
            self.failures[reason] = self.failures.get(reason, 0) + 1
        else:
            self.answered.add(item_id)


class Recorder:
    """Writes answers as they come."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.number = 1 + max(map(shard_number, shards(folder)), default=-1)
        self.pending: list[Answer] = []

    def add(self, answers: Sequence[Answer]) -> bool:
        """Keep the answers to a batch; True if they filled a shard."""
        append_journal(self.folder, self.number, answers)
        self.pending += answers
        full = len(self.pending) >= SHARD_ITEMS
        if full:
            self.finish()
        return full

    def finish(self) -> None:
        """Turn the journal into a shard."""
        if not self.pending:
            return
        _write_shard(self.folder, self.number, self.pending)
        self.pending, self.number = [], self.number + 1


def _write_shard(folder: Path, number: int, answers: Sequence[Answer]) -> None:
    shard = write_predictions(folder, number, answers, [answer.seconds for answer in answers])
    shard.with_suffix(".journal").unlink(missing_ok=True)


def settle(folder: Path) -> None:
    """Bring a run that was cut short in order: its journal becomes a shard, what failed is
    dropped so that it is asked again, and every item is stored once."""
    for path in journals(folder):
        kept = [answer for answer in read_journal(path) if answer.outcome is not Outcome.FAILED]
        if kept:
            _write_shard(folder, shard_number(path), kept)
    for path in Path(folder).glob("predictions-*.journal"):
        path.unlink()
    for path in Path(folder).glob(".predictions-*"):  # a shard that was being written
        path.unlink()
    for path in shards(folder):
        if any(outcome is Outcome.FAILED for _, outcome, _ in read_outcomes(path)):
            _drop_failed(path)


def _drop_failed(path: Path) -> None:
    kept = [a for a in read_shard(path) if a.outcome is not Outcome.FAILED]
    if kept:
        _write_shard(path.parent, shard_number(path), kept)
    else:
        path.unlink()


def tally(folder: Path, wanted: Iterable[str]) -> Tally:
    """How the wanted items of a settled run ended so far."""
    names, found = set(wanted), Tally()
    for path in shards(folder):
        for name, outcome, reason in read_outcomes(path):
            if name in names:
                found.add(name, outcome, reason)
    return found


def clear(folder: Path) -> None:
    """Remove a run's answers, scores and logs."""
    stale = ("predictions-*", ".predictions-*", "summary.json", "cases.parquet", "worker-*.log")
    for pattern in stale:
        for path in Path(folder).glob(pattern):
            path.unlink()
