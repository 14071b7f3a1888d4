"""Several workers, each with the model: who gets what, and what happens when one dies.

A worker has two batches at a time, so that it decodes one while it asks the other. When it dies,
another is started; the tasks it had are given out again one at a time, each alone on its worker,
and a task on which a second worker dies has failed. The same for processes and for Ray.

What a worker does is its `Job`: a segmenter that is asked about pictures (`SegmentingJob`), or
whatever else has tasks and results that can be sent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import msgspec

from groundfault.errors import GroundfaultError
from groundfault.interfaces import Checkpointed, Placed, Versioned
from groundfault.records import Outcome, Prediction
from groundfault.runner.probe import SKIPPED, ProbeFailed, probe
from groundfault.runner.segmenting import Model, Predictor, load_model
from groundfault.runner.work import Plan, Task
from groundfault.runs.identity import library_versions

__all__ = [
    "IN_FLIGHT",
    "READY",
    "Doer",
    "Job",
    "Loaded",
    "Report",
    "SegmentingJob",
    "WorkerPool",
    "Workers",
    "ready_report",
    "start_workers",
]

T = TypeVar("T")
R = TypeVar("R")

IN_FLIGHT = 2
READY = -1
"""The ticket of a worker's first report: it has loaded the model, or could not."""
MOST_FALSE_STARTS = 3
DIED = "WorkerDied: the worker process ended while it was on this image, twice"


class Doer(Protocol):
    """Who does the work inside a worker."""

    @property
    def stopped(self) -> str:
        """Why it does nothing any more; "" while it does."""
        ...

    def prepare(self, batch: Any) -> Any:
        """Begin what can be done ahead, on another thread."""
        ...

    def predict(self, prepared: Any) -> Sequence[Any]:
        """The results of a batch."""
        ...


class Job(Protocol[T, R]):
    """What workers do. It is sent to each of them."""

    @property
    def task(self) -> type[T]:
        """What is sent to workers."""
        ...

    @property
    def result(self) -> type[R]:
        """What comes back."""
        ...

    def set_up(self) -> tuple[Doer, Loaded]:
        """Inside a worker: load what is needed."""
        ...

    def died(self, task: T) -> list[R]:
        """The results of a task on which two workers died."""
        ...


class SegmentingJob(NamedTuple):
    """A model is loaded, its frame is checked, and it is asked image by image."""

    load: Callable[[], Model]
    name: str
    folder: Path
    """Of the run, for the words of a model that runs outside its worker."""
    images: str | PathLike[str] | None
    batch: int
    probe: bool
    task: type[Task] = Task
    result: type[Prediction] = Prediction

    def set_up(self) -> tuple[Predictor, Loaded]:
        """Load the model and check its frame."""
        model = load_model(self.load, self.name, self.folder)
        predictor = Predictor(model, self.images, name=self.name, batch=self.batch)
        return predictor, Loaded(
            probe=probe(model) if self.probe and predictor.segmenter else SKIPPED,
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

    def died(self, task: Task) -> list[Prediction]:
        """Every item of the image has failed."""
        failed = Outcome.FAILED
        return [Prediction(item_id=item.id, outcome=failed, reason=DIED) for item in task.items]


class Loaded(msgspec.Struct, frozen=True):
    """What a worker says of itself once it has loaded the model."""

    probe: str = ""
    """How the check of its coordinate frame ended."""
    at_once: int = 1
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


class Report(msgspec.Struct, Generic[R]):
    """What a worker says about one batch."""

    ticket: int
    results: list[R] = []
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

    def send(self, worker: int, ticket: int, batch: Sequence[Any]) -> None:
        """Give it a batch."""
        ...

    def wait(self) -> list[tuple[int, Report[Any] | None]]:
        """Reports as they come, at least one; None is a worker that died."""
        ...

    def close(self) -> None:
        """Dismiss everybody."""
        ...


def _placement(model: Model) -> str:
    """Which of several devices of a kind it is makes no difference."""
    if not isinstance(model, Placed):
        return ""
    return f"{model.placement.device.partition(':')[0]} {model.placement.dtype}"


def ready_report(loaded: Callable[[], tuple[Doer, Loaded]]) -> Report[Any]:
    """A worker's first report."""
    try:
        return Report(READY, ready=loaded()[1])
    except ProbeFailed as problem:
        return Report(READY, refusal=str(problem), picture=problem.picture)
    except (GroundfaultError, OSError) as problem:
        return Report(READY, refusal=str(problem))


class WorkerPool(Generic[T, R]):
    """Hands out work and takes results."""

    def __init__(
        self,
        job: Job[T, R],
        workers: Workers,
        work: Callable[[Loaded], Iterator[tuple[T, ...]]],
    ) -> None:
        self.job, self.workers = job, workers
        self.work = work
        """Makes the batches, once a worker says which images it takes at once."""
        self.todo: Iterator[tuple[T, ...]] | None = None
        self.exhausted = False
        self.suspects: deque[T] = deque()
        self.sent: dict[int, dict[int, tuple[T, ...]]] = {}
        """Worker → ticket → batch, of workers that are ready."""
        self.starting: set[int] = set()
        self.alone: set[int] = set()
        """Workers that were given a suspect."""
        self.false_starts = self.tickets = 0
        self.stopped = ""
        """Why a worker's model answers nothing any more."""

    def results(self, ready: Callable[[Loaded], None]) -> Iterator[tuple[tuple[T, ...], list[R]]]:
        """Batches with their results as they come; `ready` hears about each worker."""
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
                yield self.sent[worker].pop(report.ticket), report.results
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
                batch: tuple[T, ...] | None = (self.suspects.popleft(),)
            else:
                assert self.todo is not None
                batch = next(self.todo, None)
                self.exhausted = batch is None
            if batch is None:
                return
            self.tickets += 1
            sent[self.tickets] = batch
            self.workers.send(worker, self.tickets, batch)

    def _replace(self, worker: int) -> Iterator[tuple[tuple[T, ...], list[R]]]:
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
            yield tuple(lost), [result for task in lost for result in self.job.died(task)]
        else:
            self.suspects.extend(lost)
        self.starting.add(self.workers.start())


def start_workers(plan: Plan, job: Job[Any, Any], *, most: int) -> Workers:
    """Workers as the plan says, but no more than there are tasks."""
    if plan.engine == "ray":
        from groundfault.runner.ray_pool import RayWorkers

        return RayWorkers(job, plan, most=most)
    from groundfault.runner.processes import ProcessWorkers

    return ProcessWorkers(job, min(plan.workers, most))
