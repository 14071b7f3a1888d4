"""A run from its definition to its last prediction, in masks or in words: what is left to ask is
asked, and every prediction is kept.

How a model meets what is left is a `Way`: in this process, in a pool of workers, on Ray, or by
requests to a server (`ways`). A session does not care.
"""

from __future__ import annotations

import contextlib
import functools
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from groundfault import registry
from groundfault.benchmarks.folder import content_hash
from groundfault.errors import GroundfaultError, UsageError
from groundfault.interfaces import RunNamed
from groundfault.io.addresses import refuse_credentials
from groundfault.io.interrupts import Interrupted
from groundfault.io.restoring import way_to_restore
from groundfault.io.store import locked, write_bytes
from groundfault.records import Benchmark, Item, Mode, Outcome, Prediction
from groundfault.runner.probe import ProbeFailed
from groundfault.runner.work import Plan
from groundfault.runs.identity import library_versions, picture_sizes
from groundfault.runs.recorder import SCORES, Recorder, Tally, clear, settle, tally, totals
from groundfault.runs.resume import PICTURES, RETRIES, check_identity, resumed
from groundfault.runs.run import NOT_ASKED, RUN, Run, State, failure_kind, write_run
from groundfault.runs.status import Heartbeat

__all__ = ["Pending", "Progress", "Ready", "Session", "Way", "folder_name", "predict"]

LONGEST_NAME = 100
MASKS: tuple[Mode, ...] = ("",)
Pending = Sequence[tuple[Item, Mode]]
"""What is left to ask; the items of one image stand together."""


class Progress(NamedTuple):
    """How far a run is."""

    done: int
    """Items with a prediction, this session's and earlier ones'."""
    n_items: int
    failed: int
    per_s: float
    eta_s: float
    images_per_s: float = 0.0
    tokens: int = 0
    """Of this session."""
    cost: float | None = None


class Ready(NamedTuple):
    """What is known of a model once it is loaded or reached."""

    identity: Mapping[str, str] = {}
    """The late parts of the run's identity."""
    versions: Mapping[str, str] = {}
    probe: str = ""
    looks: bool = True
    """Whether it looks at pictures."""


class Way(Protocol):
    """How a model is asked what is left."""

    def run(self, pending: Pending, session: Session) -> None:
        """Load or reach the model, say `session.ready`, and give `session.keep` everything as it
        comes."""
        ...


def folder_name(spec: str) -> str:
    """A model's spec as the name of its folder; of its argument, what the registered callable's own
    `run_name(argument)` keeps, if it has one.

    >>> folder_name("sam3:facebook/sam3")
    'sam3-facebook-sam3'
    """
    refuse_credentials(spec)
    name, _, argument = spec.partition(":")
    factory = registry.load("models", name) if name in registry.names("models") else None
    if isinstance(factory, RunNamed):
        spec = f"{name}:{factory.run_name(argument)}"
    return re.sub(r"[^\w.+-]+", "-", spec).strip("-.")[-LONGEST_NAME:] or "model"


def predict(
    benchmark: Benchmark,
    way: Way,
    folder: str | PathLike[str],
    *,
    name: str,
    label: str = "",
    modes: tuple[Mode, ...] = (),
    identity: Mapping[str, str] | None = None,
    settings: Mapping[str, object] | None = None,
    asked: Benchmark | None = None,
    plan: Plan | None = None,
    started: Callable[[Run], None] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Ask a model what is left to ask of a benchmark and keep its predictions in a run folder.

    `modes` are how questions in words are asked. `identity` is what predictions depend on besides
    benchmark and name, or its own "data" where that says more than the benchmark's content: a
    folder with predictions of another identity is refused. `asked` is the
    part of the benchmark to ask, if not all of it. The model is loaded only if there is something
    to ask it.
    """
    folder, plan, asked = Path(folder), plan or Plan(), asked or benchmark
    digest = benchmark.card.content_hash or content_hash(benchmark)
    run = Run(
        model=name,
        label=label,
        benchmark=benchmark.card.name,
        protocol=benchmark.card.protocol,
        benchmark_folder=benchmark.folder,
        content_hash=digest,
        identity={"model": name, "data": digest, **(identity or {})},
        settings={**(settings or {}), **plan.noted(), "source": benchmark.source},
        modes=modes,
        n_items=len(asked.items) * len(modes or MASKS),
        n_images=len({image for item in asked.items for image in item.images}),
        state="running",
    )
    with _left_as_it_was(folder), locked(folder):
        run, anew = resumed(folder, run, resume=plan.resume, fresh=plan.fresh)
        if started is not None:
            started(run)
        session = Session(
            folder,
            run,
            asked,
            benchmark.images,
            progress,
            again=RETRIES[plan.ask_again],
            most_failures=plan.max_failures,
            anew=anew,
        )
        session.benchmark = benchmark
        return session.carry_out(way)


@contextlib.contextmanager
def _left_as_it_was(folder: Path) -> Iterator[None]:
    """Where a run ends before anything was written, its new folder goes too."""
    is_new = not folder.exists()
    try:
        yield
    except BaseException:
        if is_new:
            with contextlib.suppress(OSError):  # something was written
                folder.rmdir()
        raise


class _Streak:
    """Failures in a row that say the same but for names and numbers. A single picture may be to
    blame for as many as it is asked about, so they count on three pictures or more."""

    PICTURES = 3

    def __init__(self, most: int) -> None:
        self.most = most
        """0: any number is fine."""
        self.n, self.kind, self.first = 0, "", ""
        self.images: set[str] = set()

    def is_too_long(self, prediction: Prediction, image: str) -> bool:
        """Whether a prediction makes one too many."""
        reason = prediction.reason
        if prediction.outcome is not Outcome.FAILED or reason.startswith(NOT_ASKED):
            self.n = 0
            return False
        kind = failure_kind(reason)
        if not self.n or kind != self.kind:
            self.n, self.kind, self.first = 0, kind, reason
            self.images.clear()
        self.n += 1
        self.images.add(image)
        enough = min(self.PICTURES, self.most)
        return 0 < self.most <= self.n and len(self.images) >= enough

    def told(self) -> str:
        """Why nobody is asked any more."""
        return f"{self.n} failures in a row, all alike: {self.first} (--max-failures)"


class Session:
    """One go at a run."""

    def __init__(
        self,
        folder: Path,
        run: Run,
        asked: Benchmark,
        images: str | PathLike[str],
        progress: Callable[[Progress], None] | None,
        *,
        again: Sequence[str] = (),
        most_failures: int = 0,
        anew: bool = False,
    ) -> None:
        self.folder, self.run, self.images = folder, run, images
        self.items = asked.items
        self.benchmark = asked
        """All of it, where only a part is asked."""
        self._anew = anew
        """Whether what an earlier session left is still to be removed."""
        self._image = {item.id: item.image for item in asked.items}
        keys = [(item.id, mode) for item in asked.items for mode in run.modes or MASKS]
        self.tally: Tally = Tally() if anew else tally(folder, keys, again)
        self.pending: Pending = [
            (item, mode)
            for item in asked.items
            for mode in run.modes or MASKS
            if (item.id, mode) not in self.tally.answered
        ]
        self.stopped = ""
        """Why not everything is asked; said by the way, which ends where it is."""
        self._streak = _Streak(most_failures)
        self._kept: set[tuple[str, str]] = set()
        self.usage: Callable[[], tuple[int, float | None]] = lambda: (0, None)
        """Tokens and cost of this session so far; set by a way that counts them."""
        self.last_session: dict[str, int] = {}
        self._again = tuple(again)
        self._progress = progress
        self._recorder: Recorder | None = None
        self._heartbeat = Heartbeat(folder, run.model, run.benchmark)
        self._earlier = self.tally.total
        self._n_images = 0
        self._started = time.perf_counter()
        self._earlier_s = run.seconds

    def carry_out(self, way: Way) -> Run:
        """Ask what is left, and note how it ended."""
        self._check_pictures()
        try:
            if self.pending:
                failed = self.tally.outcomes[Outcome.FAILED.value]
                self._heartbeat.beat(self.tally.total, self.run.n_items, failed)
                try:
                    way.run(self.pending, self)
                    self._keep_unasked()
                finally:
                    if self._recorder is not None:
                        self._recorder.finish()
                    self._heartbeat.end()
            missing = self.run.n_items - self.tally.total
            if missing:
                raise GroundfaultError(
                    f"{self.folder}: {missing} items have no answer; run the same command again"
                )
        except ProbeFailed as problem:
            self._note_end(problem)
            path = self.folder / "probe.png"
            write_bytes(path, problem.picture)
            raise ProbeFailed(f"{problem}. Picture: {path}", problem.picture) from None
        except BaseException as problem:
            self._note_end(problem)
            raise
        self._note("stopped" if self.stopped else "finished")
        return self.run

    def _keep_unasked(self) -> None:
        """Where the run was given up, what nobody was asked has that for a reason."""
        rest = [(item, mode) for item, mode in self.pending if (item.id, mode) not in self._kept]
        if not self.stopped or not rest:
            return
        reason = f"{NOT_ASKED}{self.stopped}"
        self.keep(
            [
                Prediction(item_id=item.id, mode=mode, outcome=Outcome.FAILED, reason=reason)
                for item, mode in rest
            ]
        )

    def _note_end(self, problem: BaseException) -> None:
        """Note what ended the run; one that has not begun leaves nothing behind."""
        if self._anew or not (self.folder / RUN).is_file():
            return
        by_an_error = isinstance(problem, Exception)
        named = f" by {problem}" if isinstance(problem, Interrupted) else ""
        self.stopped = str(problem) if by_an_error else f"interrupted{named}"
        with contextlib.suppress(OSError):  # a full disk is told by the problem itself
            self._note("failed" if by_an_error else "interrupted")

    def ready(self, ready: Ready) -> None:
        """The model is loaded, or a worker of several has it: what it says of itself is checked and
        noted, and scores of fewer predictions are removed."""
        if ready.looks:
            self._check_folder()
        else:
            self._streak.most = 0  # a file that is replayed may lack a thousand answers in a row
        if self.tally.total == self._earlier:
            self._started = time.perf_counter()  # loading is not asking
        known = self.run.identity
        new = {name: value for name, value in ready.identity.items() if value or name in known}
        check_identity(
            self.folder, known, {**known, **{k: v for k, v in new.items() if k in known}}
        )
        self.run = msgspec.structs.replace(
            self.run,
            identity={**known, **new},
            settings={**self.run.settings, PICTURES: self.picture_sizes if ready.looks else {}},
            versions={**self.run.versions, **ready.versions},
            probe=ready.probe,
        )
        self.give_up_earlier()
        if self._again:  # not before: a model that cannot be loaded answers nothing in their place
            settle(self.folder, self._again)
            self._again = ()
        for stale in SCORES:
            (self.folder / stale).unlink(missing_ok=True)
        self._recorder = self._recorder or Recorder(self.folder)
        self._note("running")

    def give_up_earlier(self) -> None:
        """Remove what an earlier session left of a run that starts anew. Where somebody pays, not
        before they have agreed."""
        if self._anew:
            clear(self.folder)
            self._anew = False

    def note_settings(self, **settings: object) -> None:
        """Note how the run was carried out, where that is known only afterwards."""
        self.run = msgspec.structs.replace(self.run, settings={**self.run.settings, **settings})

    def keep(self, predictions: Sequence[Prediction], *, n_images: int = 0) -> None:
        """Keep what came in."""
        assert self._recorder is not None
        filled = self._recorder.add(predictions)
        for prediction in predictions:
            self.tally.add(prediction.key, prediction.outcome, prediction.reason)
            self._kept.add(prediction.key)
            if self._streak.is_too_long(prediction, self._image[prediction.item_id]):
                self.stopped = self.stopped or self._streak.told()
        self._n_images += n_images
        if filled:
            self._note("running")
        now = self._how_far()
        self._heartbeat.beat(now.done, now.n_items, now.failed, now.per_s, now.eta_s)
        if self._progress is not None:
            self._progress(now)

    @functools.cached_property
    def picture_sizes(self) -> dict[str, int]:
        """Sizes of a few pictures, earlier sessions' too."""
        return self._known_sizes() | picture_sizes(self.items, self.images or None)

    def _known_sizes(self) -> dict[str, int]:
        return msgspec.convert(self.run.settings.get(PICTURES) or {}, dict[str, int])

    def _check_pictures(self) -> None:
        """Refuse pictures that are not those of the predictions that are there; one that could not
        be asked about may have been mended."""
        there = self._known_sizes()
        answered = {name for name, _ in self.tally.answered}
        items = [item for item in self.items if item.image in there and item.id in answered]
        for name, size in picture_sizes(items, self.images or None).items():
            if size != there.get(name, size):
                raise UsageError(
                    f"{self.folder}: holds answers about another picture '{name}', of "
                    f"{there[name]:,} bytes; it has {size:,} now. They are not mixed: give another "
                    "--out, or --no-resume to start anew"
                )

    def _check_folder(self) -> None:
        """Refuse a folder that has not one of the pictures: that is one message, not one for every
        item."""
        names = list(dict.fromkeys(name for item, _ in self.pending for name in item.images))
        folder = Path(self.images)
        known = bool(names) and bool(self.images) and folder.is_dir()
        if not known or any((folder / name).is_file() for name in names):
            return
        near = [folder.parent, *sorted(each for each in folder.iterdir() if each.is_dir())]
        found = next((each for each in near if (each / names[0]).is_file()), None)
        restored = way_to_restore(self.run.benchmark_folder)
        hint = f"did you mean --images {found}?" if found else restored
        hint = hint or "give their folder with --images"
        several = (
            f"none of the {len(names)} pictures is" if len(names) > 1 else "the picture is not"
        )
        raise UsageError(f"{folder}: {several} in this folder, e.g. '{names[0]}'; {hint}")

    def _how_far(self) -> Progress:
        seconds = max(time.perf_counter() - self._started, 1e-9)
        done = self.tally.total - self._earlier
        tokens, cost = self.usage()
        return Progress(
            done=self.tally.total,
            n_items=self.run.n_items,
            failed=self.tally.outcomes[Outcome.FAILED.value],
            per_s=done / seconds,
            eta_s=(len(self.pending) - done) * seconds / max(done, 1),
            images_per_s=self._n_images / seconds,
            tokens=tokens,
            cost=cost,
        )

    def _note(self, state: State) -> None:
        seconds = self._earlier_s + time.perf_counter() - self._started
        changes: dict[str, Any] = {}
        if state != "running" and self.run.modes:
            spent = self.usage()[1] if self.last_session else 0.0
            changes = {**totals(self.folder), "spent": spent, "last_session": self.last_session}
        self.run = msgspec.structs.replace(
            self.run,
            state=state,
            stopped=self.stopped,
            reused=self._earlier,
            versions={**self.run.versions, **library_versions()},
            outcomes=dict(self.tally.outcomes),
            failures=dict(self.tally.failures),
            seconds=round(seconds if self.pending else self._earlier_s, 3),
            **changes,
        )
        write_run(self.folder, self.run)
