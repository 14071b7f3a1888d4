"""Several workers, each with the model: who gets what, and what happens when one dies.

A worker has two batches at a time, so that it decodes one while it asks the other. When it dies,
another is started; the images it had are asked again one at a time, each alone on its worker, and
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
from groundfault.interfaces import Checkpointed, Placed, Versioned
from groundfault.records import Outcome, Prediction
from groundfault.runner.probe import SKIPPED, ProbeFailed, probe
from groundfault.runner.segmenting import Model, Predictor, load_model
from groundfault.runner.work import Batch, Task
from groundfault.runs.identity import library_versions

__all__ = [
    "IN_FLIGHT",
    "READY",
    "Loaded",
    "Report",
    "WorkerPool",
    "WorkerSetup",
    "Workers",
    "ready_report",
    "set_up",
]

IN_FLIGHT = 2
READY = -1
"""The ticket of a worker's first report: it has loaded the model, or could not."""
MOST_FALSE_STARTS = 3
DIED = "WorkerDied: the worker process ended while it was on this image, twice"


class WorkerSetup(NamedTuple):
    """What a worker needs."""

    load: Callable[[], Model]
    name: str
    folder: Path
    """Of the run, for the words of a model that runs outside its worker."""
    images: str | PathLike[str] | None
    batch: int
    probe: bool


class Loaded(msgspec.Struct, frozen=True):
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
    predictions: list[Prediction] = []
    ready: Loaded | None = None
    refusal: str = ""
    """Why the run has to end."""
    picture: bytes = b""
    stopped: str = ""
    """Why its model answers nothing any more, where it says so."""

    def check(self) -> None:
        """Raise what the worker could not go on with."""
        if self.picture:
            raise ProbeFailed(self.refusal, self.picture)
        if self.refusal:
            raise GroundfaultError(self.refusal)


class Workers(Protocol):
    """How workers are started and talked to."""

    size: int
    """How many there should be."""

    def start(self) -> int:
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


def set_up(setup: WorkerSetup) -> tuple[Predictor, Loaded]:
    """Load the model and check its frame."""
    model = load_model(setup.load, setup.name, setup.folder)
    predictor = Predictor(model, setup.images, name=setup.name, batch=setup.batch)
    return predictor, Loaded(
        probe=probe(model) if setup.probe and predictor.segmenter else SKIPPED,
        at_once=predictor.at_once,
        any_sizes=predictor.any_sizes,
        checkpoints=", ".join(model.checkpoints) if isinstance(model, Checkpointed) else "",
        placement=_placement(model),
        versions={
            **library_versions(),
            **(model.worker_versions if isinstance(model, Versioned) else {}),
        },
        looks=predictor.segmenter is not None,
    )


def _placement(model: Model) -> str:
    """Which of several devices of a kind it is makes no difference."""
    if not isinstance(model, Placed):
        return ""
    return f"{model.placement.device.partition(':')[0]} {model.placement.dtype}"


def ready_report(loaded: Callable[[], tuple[Predictor, Loaded]]) -> Report:
    """A worker's first report."""
    try:
        return Report(READY, ready=loaded()[1])
    except ProbeFailed as problem:
        return Report(READY, refusal=str(problem), picture=problem.picture)
    except (GroundfaultError, OSError) as problem:
        return Report(READY, refusal=str(problem))


class WorkerPool:
    """Hands out work and takes predictions."""

    def __init__(self, workers: Workers, work: Callable[[Loaded], Iterator[Batch]]) -> None:
        self.workers = workers
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
        self.stopped = ""
        """Why a worker's model answers nothing any more."""

    def predictions(
        self, ready: Callable[[Loaded], None]
    ) -> Iterator[tuple[Batch, list[Prediction]]]:
        """Batches with their predictions as they come; `ready` hears about each worker."""
        self.starting = {self.workers.start() for _ in range(self.workers.size)}
        while self.starting or any(self.sent.values()):
            for worker, report in self.workers.wait():
                if report is None:
                    yield from self._replace(worker)
                    continue
                report.check()
                if report.ready is not None:
                    ready(report.ready)
                    self._admit(worker, report.ready)
                    continue
                self.false_starts = 0
                self.alone.discard(worker)
                self.stopped = report.stopped or self.stopped
                yield self.sent[worker].pop(report.ticket), report.predictions
            for worker in self.sent:
                self._feed(worker)
            if self.exhausted and not any(self.sent.values()) and not self.suspects:
                return  # workers may still be starting: there is nothing left for them

    def _admit(self, worker: int, ready: Loaded) -> None:
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
            self.workers.send(worker, self.tickets, batch)

    def _replace(self, worker: int) -> Iterator[tuple[Batch, list[Prediction]]]:
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
        self.starting.add(self.workers.start())


def _died(item_id: str) -> Prediction:
    return Prediction(item_id=item_id, outcome=Outcome.FAILED, reason=DIED)
