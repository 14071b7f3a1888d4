"""A run from its definition to its last answer: what is left to ask is asked, and kept."""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Callable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import msgspec

from groundfault import registry
from groundfault.benchmarks.folder import content_hash
from groundfault.errors import GroundfaultError, UsageError
from groundfault.io.store import locked, write_bytes
from groundfault.records import Benchmark, Outcome
from groundfault.runner.in_process import ask_here
from groundfault.runner.pool import Crew, Equipment, Fleet, Ready, equip
from groundfault.runner.probe import ProbeFailed
from groundfault.runner.segmenting import Model
from groundfault.runner.work import Batch, Plan, batches, tasks
from groundfault.runs.identity import library_versions, picture_sizes
from groundfault.runs.recording import Recorder, clear, settle, tally
from groundfault.runs.run import Answer, Run, read_run, shards, write_run

__all__ = ["Progress", "folder_name", "predict"]

LONGEST_NAME = 100
CHECKPOINTS = "checkpoints"
PLACEMENT = "placement"
LATE = (CHECKPOINTS, PLACEMENT)
"""The parts of a run's identity that are known when the model is loaded."""
PICTURES = "pictures"
"""The setting that holds the sizes of a few pictures: answers about others are not mixed."""


class Progress(NamedTuple):
    """How far a run is."""

    done: int
    """Items with an answer, this session's and earlier ones'."""
    n_items: int
    failed: int
    images_per_s: float
    eta_s: float


def folder_name(spec: str) -> str:
    """A model's spec as the name of its folder; of its argument, what the registered callable's own
    `run_name(argument)` keeps, if it has one.

    >>> folder_name("sam3:facebook/sam3")
    'sam3-facebook-sam3'
    """
    name, _, argument = spec.partition(":")
    factory = registry.load("models", name) if name in registry.names("models") else None
    kept = getattr(factory, "run_name", None)
    if callable(kept):
        spec = f"{name}:{kept(argument)}"
    return re.sub(r"[^\w.+-]+", "-", spec).strip("-.")[-LONGEST_NAME:] or "model"


def predict(
    benchmark: Benchmark,
    load: Callable[[], Model],
    folder: str | PathLike[str],
    *,
    name: str,
    images: str | PathLike[str] | None,
    identity: Mapping[str, str] | None = None,
    settings: Mapping[str, object] | None = None,
    benchmark_folder: str = "",
    asked: Benchmark | None = None,
    plan: Plan | None = None,
    started: Callable[[Run], None] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Ask a model what is left to ask of a benchmark and keep its answers in a run folder.

    `identity` is what the answers depend on besides benchmark and name: a folder with answers of
    another identity is refused. `asked` is the part of the benchmark to ask, if not all of it.
    The model is loaded only if there is something to ask it.
    """
    folder, plan, asked = Path(folder), plan or Plan(), asked or benchmark
    digest = benchmark.card.content_hash or content_hash(benchmark)
    run = Run(
        model=name,
        benchmark=benchmark.card.name,
        benchmark_folder=benchmark_folder,
        content_hash=digest,
        identity={"model": name, **(identity or {}), "data": digest},
        settings={**(settings or {}), **msgspec.to_builtins(plan)},
        n_items=len(asked.items),
        n_images=len({item.image for item in asked.items}),
        state="running",
    )
    equipment = Equipment(
        load=load,
        name=name,
        folder=folder.resolve(),
        images=images,
        batch=plan.batch,
        probe=plan.probe,
    )
    with locked(folder):
        run = _resumed(folder, run, resume=plan.resume)
        if started is not None:
            started(run)
        return _Session(folder, run, asked, plan, equipment, progress).carry_out()


def _resumed(folder: Path, run: Run, *, resume: bool) -> Run:
    """The run with what an earlier session left; answers that do not belong to it are refused."""
    before = read_run(folder) if (folder / "run.json").is_file() else None
    if not resume or before is None or not before.identity:  # an older version's has none
        if resume and before is None and shards(folder):
            raise UsageError(
                f"{folder}: has predictions but no run.json to say whose; give another --out, or "
                "--no-resume to start anew"
            )
        clear(folder)
        return run
    known = {name: value for name, value in before.identity.items() if name in LATE}
    identity = known | run.identity
    _check_identity(folder, before.identity, identity)
    settle(folder)
    return msgspec.structs.replace(
        run,
        identity=identity,
        settings={**run.settings, PICTURES: before.settings.get(PICTURES, {})},
        versions=before.versions,
        seconds=before.seconds,
        probe=before.probe,
    )


def _check_identity(folder: Path, there: Mapping[str, str], now: Mapping[str, str]) -> None:
    for what in {**there, **now}:
        was, given = there.get(what, ""), now.get(what, "")
        if was != given:
            raise UsageError(
                f"{folder}: holds answers with another {what}: {_short(was)} there, "
                f"{_short(given)} now. They are not mixed: give another --out, or --no-resume to "
                "start anew"
            )


def _short(value: str) -> str:
    return f"{value[:12]}…" if re.fullmatch("[0-9a-f]{32,}", value) else f"'{value}'"


class _Session:
    """One go at a run."""

    def __init__(
        self,
        folder: Path,
        run: Run,
        asked: Benchmark,
        plan: Plan,
        equipment: Equipment,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.folder, self.run, self.plan, self.equipment = folder, run, plan, equipment
        self.tell = progress
        self.items = asked.items
        self.tally = tally(folder, (item.id for item in asked.items))
        self.pending = tasks(asked.items, self.tally.answered)
        self.images_done = 0
        self.started = time.perf_counter()
        self.earlier_s = run.seconds

    def carry_out(self) -> Run:
        """Ask what is left, and say how it ended."""
        self._check_pictures()
        if self.pending:
            for stale in ("summary.json", "cases.parquet"):  # of fewer answers
                (self.folder / stale).unlink(missing_ok=True)
            self._note("running")
            try:
                self._ask()
            except ProbeFailed as problem:
                path = self.folder / "probe.png"
                write_bytes(path, problem.picture)
                raise ProbeFailed(f"{problem}. Picture: {path}", problem.picture) from None
        unasked = self.run.n_items - sum(self.tally.outcomes.values())
        if unasked:
            raise GroundfaultError(
                f"{self.folder}: {unasked} items have no answer; run the same command again"
            )
        self._note("finished")
        return self.run

    def _ask(self) -> None:
        recorder = Recorder(self.folder)
        for batch, answers in self._answers():
            filled = recorder.add(answers)
            for answer in answers:
                self.tally.add(answer.item_id, answer.outcome, answer.reason)
            self.images_done += len(batch)
            if filled:
                self._note("running")
            self._report()
        recorder.finish()

    def _answers(self) -> Iterator[tuple[Batch, list[Answer]]]:
        if self.plan.engine == "local" and self.plan.workers <= 1:
            asker, ready = equip(self.equipment)
            self._ready(ready)
            try:
                yield from ask_here(asker, self._batches(ready))
            finally:
                asker.close()
            return
        crew = _crew(self.plan, self.equipment, most=len(self.pending))
        try:
            yield from Fleet(crew, self._batches).answers(self._ready)
        finally:
            crew.close()

    def _batches(self, ready: Ready) -> Iterator[Batch]:
        return batches(self.pending, ready.at_once, any_sizes=ready.any_sizes)

    def _ready(self, ready: Ready) -> None:
        if not self.images_done:
            self.started = time.perf_counter()  # loading is not asking
        found = {CHECKPOINTS: ready.checkpoints}
        if ready.placement:
            found[PLACEMENT] = ready.placement
        known = self.run.identity
        _check_identity(self.folder, known, {**known, **{k: found[k] for k in found if k in known}})
        self.run = msgspec.structs.replace(
            self.run,
            identity={**known, **found},
            settings={**self.run.settings, PICTURES: self.pictures if ready.looks else {}},
            versions={**self.run.versions, **ready.versions},
            probe=ready.probe,
        )
        self._note("running")

    @functools.cached_property
    def pictures(self) -> dict[str, int]:
        """Sizes of a few pictures, earlier sessions' too."""
        known = msgspec.convert(self.run.settings.get(PICTURES) or {}, dict[str, int])
        return known | picture_sizes(self.items, self.equipment.images)

    def _check_pictures(self) -> None:
        """Refuse pictures that are not those of the answers that are there; one that could not be
        answered may have been mended."""
        there = msgspec.convert(self.run.settings.get(PICTURES) or {}, dict[str, int])
        answered = [
            item for item in self.items if item.image in there and item.id in self.tally.answered
        ]
        for name, size in picture_sizes(answered, self.equipment.images).items():
            if size != there[name]:
                raise UsageError(
                    f"{self.folder}: holds answers about another picture '{name}', of "
                    f"{there[name]:,} bytes; it has {size:,} now. They are not mixed: give another "
                    "--out, or --no-resume to start anew"
                )

    def _report(self) -> None:
        if self.tell is None:
            return
        seconds = time.perf_counter() - self.started
        left = len(self.pending) - self.images_done
        self.tell(
            Progress(
                done=sum(self.tally.outcomes.values()),
                n_items=self.run.n_items,
                failed=self.tally.outcomes[Outcome.FAILED.value],
                images_per_s=self.images_done / seconds,
                eta_s=left * seconds / self.images_done,
            )
        )

    def _note(self, state: str) -> None:
        seconds = self.earlier_s + time.perf_counter() - self.started
        self.run = msgspec.structs.replace(
            self.run,
            state=state,
            versions={**self.run.versions, **library_versions()},
            outcomes=dict(self.tally.outcomes),
            failures=dict(self.tally.failures),
            seconds=round(seconds if self.pending else self.earlier_s, 3),
        )
        write_run(self.folder, self.run)


def _crew(plan: Plan, equipment: Equipment, *, most: int) -> Crew:
    """Workers as the plan says, but no more than there are images."""
    if plan.engine == "ray":
        from groundfault.runner.ray_pool import RayCrew

        return RayCrew(equipment, plan, most=most)
    from groundfault.runner.processes import ProcessCrew

    return ProcessCrew(equipment, min(plan.workers, most))
