"""The funnel of a build: how many candidates each stage got, let through and dropped, and why.

    DIR/funnel.json   {"stages": [{"name", "in", "out", "dropped": {reason: n}, "waiting"}]}

It is written while a stage runs, so that others can watch it, and adds up at any time: what comes
into a stage is what the stage before let through.
"""

from __future__ import annotations

import time
from os import PathLike
from pathlib import Path

import msgspec

from groundfault.building.stages import Count
from groundfault.errors import UsageError
from groundfault.io.store import read_json, write_json

__all__ = ["FUNNEL", "Funnel", "FunnelWriter", "read_funnel"]

FUNNEL = "funnel.json"
EVERY_S = 0.5


class Funnel(msgspec.Struct, frozen=True, kw_only=True):
    """All stages that a build has come to."""

    benchmark: str = ""
    """What is built: cafe, halluseg or reactbench."""
    stages: tuple[Count, ...] = ()
    """In the order in which candidates pass them."""

    @property
    def problem(self) -> str:
        """Why the numbers do not add up; "" if they do."""
        for before, after in zip(self.stages, self.stages[1:], strict=False):
            if before.kept != after.entered:
                return f"{before.name} let {before.kept} through, {after.name} got {after.entered}"
        for count in self.stages:
            if count.entered != count.kept + sum(count.dropped.values()) + count.waiting:
                return f"{count.name} does not add up"
        return ""


class FunnelWriter:
    """Keeps funnel.json up to date while a build runs."""

    def __init__(self, folder: str | PathLike[str], benchmark: str) -> None:
        self.path = Path(folder) / FUNNEL
        self.benchmark = benchmark
        self.stages: dict[str, Count] = {}
        self._written = 0.0

    def update(self, count: Count, *, done: bool = False) -> None:
        """Take in how far a stage is; what is done is on disk when this returns."""
        self.stages[count.name] = count
        clock = time.monotonic()
        if done or clock - self._written >= EVERY_S:
            self._written = clock
            funnel = Funnel(benchmark=self.benchmark, stages=tuple(self.stages.values()))
            write_json(self.path, funnel, durable=done)


def read_funnel(folder: str | PathLike[str]) -> Funnel:
    """The funnel of a build, finished or under way."""
    path = Path(folder) / FUNNEL
    if not path.is_file():
        raise UsageError(f"{folder}: has no {FUNNEL}; give the folder of a build (its --out)")
    return read_json(path, Funnel)
