"""What mining gives, written as it comes.

    DIR/stages/mine.jsonl           the candidates, in order
    DIR/stages/mine.dropped.jsonl   what went no further, each with its reason

Most things of a source are dropped here, so they have a file of their own, which no stage reads.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from typing import IO

import msgspec

from groundfault.building.records import Candidate, Dropped
from groundfault.building.stages import Count, Record, read_lines, stage_file
from groundfault.io.store import atomic_file

__all__ = ["Mined", "mined_into", "read_dropped"]

EVERY = 512
"""Results after which whoever watches is told."""


class Mined:
    """Takes what mining gives, and counts it."""

    def __init__(
        self, kept: IO[bytes], dropped: IO[bytes], on_progress: Callable[[Count], None]
    ) -> None:
        self._kept, self._dropped, self._on_progress = kept, dropped, on_progress
        self._encode = msgspec.json.Encoder().encode
        self._given, self._seen = 0, 0
        self._reasons: dict[str, int] = {}

    def keep(self, candidate: Candidate) -> None:
        """A candidate that goes on."""
        self._kept.write(self._encode(Record(id=candidate.id, candidate=candidate)) + b"\n")
        self._given += 1
        self._told()

    def drop(self, name: str, why: Dropped) -> None:
        """What goes no further."""
        record = Record(id=name, reason=why.reason, details=why.details)
        self._dropped.write(self._encode(record) + b"\n")
        self._reasons[why.reason] = self._reasons.get(why.reason, 0) + 1
        self._told()

    def count(self) -> Count:
        """How far it is."""
        entered = self._given + sum(self._reasons.values())
        return Count.of("mine", entered, self._given, self._reasons)

    def _told(self) -> None:
        self._seen += 1
        if self._seen % EVERY == 0:
            self._on_progress(self.count())


@contextlib.contextmanager
def mined_into(
    folder: str | PathLike[str], on_progress: Callable[[Count], None]
) -> Iterator[Mined]:
    """Where mining writes; both files are there once all of it is."""
    path = stage_file(folder, "mine")
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        atomic_file(_dropped_file(folder)) as left,
        atomic_file(path) as temporary,
        left.open("wb") as dropped,
        temporary.open("wb") as kept,
    ):
        yield Mined(kept, dropped, on_progress)


def read_dropped(folder: str | PathLike[str]) -> Iterator[Record]:
    """What mining dropped, line by line; nothing of a build that does not say."""
    path = _dropped_file(folder)
    return read_lines(path) if path.is_file() else iter(())


def _dropped_file(folder: str | PathLike[str]) -> Path:
    return stage_file(folder, "mine.dropped")
