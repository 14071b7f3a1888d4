"""Several workers, each with the model: who gets what, and what happens when one dies.

A worker has two batches at a time, so that it decodes one while it asks the other. When it dies,
another is hired; the images it had are asked again one at a time, each alone on its worker, and
an image on which a second worker dies has failed. The same for processes and for Ray.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

from groundfault.errors import GroundfaultError
from groundfault.records import Outcome
from groundfault.runner.probe import SKIPPED, ProbeFailed, probe
from groundfault.runner.segmenting import Asker, Model, load_model
from groundfault.runner.work import Batch, Task
from groundfault.runs.identity import library_versions
from groundfault.runs.run import Answer

__all__ = [
    "IN_FLIGHT",
    "READY",
    "Crew",
    "Equipment",
    "Fleet",
    "Ready",
    "Report",
    "equip",
    "ready_report",
]

IN_FLIGHT = 2
READY = -1
"""The ticket of a worker's first report: it has loaded the model, or could not."""
MOST_FALSE_STARTS = 3
DIED = "WorkerDied: the worker process ended while it was on this image, twice"


class Equipment(NamedTuple):
    """What a worker needs."""

    load: Callable[[], Model]
    name: str
    folder: Path
    """Of the run, for the words of a model that runs outside its worker."""
    images: str | PathLike[str] | None
    batch: int
    probe: bool


class Ready(msgspec.Struct, frozen=True):
    """What a worker says of itself once it has loaded the model."""

    probe: str
    """How the check of its coordinate frame ended."""
    at_once: int
    """How many images the model takes at once."""
    any_sizes: bool = False
    """Whether those may be of different sizes."""
    checkpoints: str = ""
    """What exactly was loaded, where the model says so."""
    placement: str = ""
    """The device and number format that it computes with, where the model says so."""
    versions: dict[str, str] = {}
    """Of the libraries that it runs with."""
    looks: bool = True
    """Whether it looks at pictures."""


class Report(msgspec.Struct):
    """What a worker says about one batch."""

    ticket: int
    answers: list[Answer] = []
    ready: Ready | None = None
    refusal: str = ""
    """Why the run has to end."""
    picture: bytes = b""

    def check(self) -> None:
        """Raise what the worker could not go on with."""
        if self.picture:
            raise ProbeFailed(self.refusal, self.picture)
        if self.refusal:
            raise GroundfaultError(self.refusal)


class Crew(Protocol):
    """How workers are started and talked to."""

    size: int
    """How many there should be."""

    def hire(self) -> int:
        """Start a worker, whose first report has the ticket READY; its number."""
        ...

    def send(self, worker: int, ticket: int, batch: Batch) -> None:
        """Give it a batch."""
        ...

    def wait(self) -> list[tuple[int, Report | None]]:
        """Reports as they come, at least one; None is a worker that died."""
        ...

    def close(self) -> None:
        """Dismiss everybody."""
        ...


def equip(equipment: Equipment) -> tuple[Asker, Ready]:
    """Load the model and check its frame."""
    model = load_model(equipment.load, equipment.name, equipment.folder)
    asker = Asker(model, equipment.images, batch=equipment.batch)
    return asker, Ready(
        probe=probe(model) if equipment.probe and asker.segmenter else SKIPPED,
        at_once=asker.at_once,
        any_sizes=asker.any_sizes,
        checkpoints=", ".join(getattr(model, "checkpoints", ())),
        placement=_placement(model),
        versions={**library_versions(), **getattr(model, "worker_versions", {})},
        looks=asker.segmenter is not None,
    )


def _placement(model: Model) -> str:
    """Which of several devices of a kind it is makes no difference."""
    placement = getattr(model, "placement", None)
    if placement is None:
        return ""
    return f"{placement.device.partition(':')[0]} {placement.dtype}"


def ready_report(equipped: Callable[[], tuple[Asker, Ready]]) -> Report:
    """A worker's first report."""
    try:
        return Report(READY, ready=equipped()[1])
    except ProbeFailed as problem:
        return Report(READY, refusal=str(problem), picture=problem.picture)
    except (GroundfaultError, OSError) as problem:
        return Report(READY, refusal=str(problem))


class Fleet:
    """Hands out work and takes answers."""

    def __init__(self, crew: Crew, work: Callable[[Ready], Iterator[Batch]]) -> None:
        self.crew = crew
        self.work = work
        """Makes the batches, once a worker says which images it takes at once."""
        self.todo: Iterator[Batch] | None = None
        self.exhausted = False
        self.suspects: deque[Task] = deque()
        self.sent: dict[int, dict[int, Batch]] = {}
        """Worker → ticket → batch, of workers that are ready."""
        self.starting: set[int] = set()
        self.alone: set[int] = set()
        """Workers that were given a suspect."""
        self.false_starts = self.tickets = 0

    def answers(self, ready: Callable[[Ready], None]) -> Iterator[tuple[Batch, list[Answer]]]:
        """Batches with their answers as they come; `ready` is told about each worker."""
        self.starting = {self.crew.hire() for _ in range(self.crew.size)}
        while self.starting or any(self.sent.values()):
            for worker, report in self.crew.wait():
                if report is None:
                    yield from self._bury(worker)
                    continue
                report.check()
                if report.ready is not None:
                    ready(report.ready)
                    self._welcome(worker, report.ready)
                    continue
                self.false_starts = 0
                self.alone.discard(worker)
                yield self.sent[worker].pop(report.ticket), report.answers
            for worker in self.sent:
                self._feed(worker)
            if self.exhausted and not any(self.sent.values()) and not self.suspects:
                return  # workers may still be starting: there is nothing left for them

    def _welcome(self, worker: int, ready: Ready) -> None:
        self.starting.discard(worker)
        self.sent[worker] = {}
        if self.todo is None:
            self.todo = self.work(ready)

    def _feed(self, worker: int) -> None:
        sent = self.sent[worker]
        while worker not in self.alone and len(sent) < IN_FLIGHT:
            if self.suspects:
                if sent:
                    return
                self.alone.add(worker)
                batch: Batch | None = (self.suspects.popleft(),)
            else:
                assert self.todo is not None
                batch = next(self.todo, None)
                self.exhausted = batch is None
            if batch is None:
                return
            self.tickets += 1
            sent[self.tickets] = batch
            self.crew.send(worker, self.tickets, batch)

    def _bury(self, worker: int) -> Iterator[tuple[Batch, list[Answer]]]:
        """Replace a dead worker; what it had is suspect."""
        self.starting.discard(worker)
        lost = [task for batch in self.sent.pop(worker, {}).values() for task in batch]
        self.false_starts += not lost
        if self.false_starts > MOST_FALSE_STARTS:
            raise GroundfaultError(
                f"{self.false_starts} workers died before they could answer anything: is there "
                "enough memory for the model? Try fewer --workers"
            )
        if worker in self.alone:
            self.alone.discard(worker)
            yield tuple(lost), [_died(item.id) for task in lost for item in task.items]
        else:
            self.suspects.extend(lost)
        self.starting.add(self.crew.hire())


def _died(item_id: str) -> Answer:
    return Answer(item_id=item_id, outcome=Outcome.FAILED, reason=DIED)
