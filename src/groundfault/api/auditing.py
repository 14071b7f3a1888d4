"""Photographs of one's own and phrases, no labels: does a segmenter contradict itself?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import msgspec

from groundfault.analysis.calibration import usual_point
from groundfault.analysis.gates import check_gate, parse_gate
from groundfault.analysis.scoring import match_predictions
from groundfault.analysis.sweep import T_GRID, sweep
from groundfault.api.comparing import compare
from groundfault.api.evaluating import Asked, Evaluation, run_folders
from groundfault.api.options import EvaluateOptions, Options
from groundfault.api.reporting import report
from groundfault.benchmarks.audit import (
    CARD,
    IMAGES,
    AuditPicture,
    AuditSet,
    as_benchmark,
    write_set,
)
from groundfault.building.auditing.changes import CHANGES, check_changes
from groundfault.building.auditing.counterfactuals import (
    EDITS,
    Mark,
    check_edits,
    edit_marked,
    marks_of,
)
from groundfault.building.auditing.intake import change_some, take_in
from groundfault.config import convert_settings
from groundfault.errors import GroundfaultError, MissingExtra, UsageError
from groundfault.io.phrases import Phrases, read_phrases, sound_phrases
from groundfault.io.sources import load
from groundfault.io.store import write_json
from groundfault.protocols import find
from groundfault.records import Benchmark
from groundfault.reports.events import RunReporter
from groundfault.reports.page.along_t import SWEEP
from groundfault.reports.progress import progress
from groundfault.runs.recorder import read_predictions

if TYPE_CHECKING:
    from groundfault.api.comparing import Compared
    from groundfault.api.result import Result

__all__ = ["PAGE", "Audit", "audit"]

AnyPath = str | PathLike[str]
Agree = Callable[[str, bool], None]
SET, RUNS, MASKS = "set", "runs", "masks"
PAGE, COMPARISON = "audit.html", "compare.json"
SWEEP_RESAMPLES = 500
STABILITY = 50
"""Photographs that are changed harmlessly, unless told."""
COUNTERFACTUALS = 20
"""Photographs in which a thing is edited, unless told."""


class Audit:
    """What an audit gives: a result per model, paired tests between them, and a page."""

    def __init__(
        self, folder: Path, results: Mapping[str, Result], comparison: Compared | None, page: Path
    ) -> None:
        self.folder, self.results = folder, results
        self.comparison = comparison
        """None of one model."""
        self.page = page

    def table(self, metrics: Sequence[str] | None = None) -> Any:
        """The result table of the only model, or of each by its name."""
        tables = {name: result.table(metrics) for name, result in self.results.items()}
        return next(iter(tables.values())) if len(tables) == 1 else tables

    def check(self, condition: str) -> bool:
        """Whether a condition such as "contradiction_rate>5%" holds of any model."""
        return any(result.check(condition) for result in self.results.values())

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self.results.values()))

    def _repr_html_(self) -> str:
        return "".join(result._repr_html_() for result in self.results.values())


def audit(
    images: AnyPath,
    phrases: Phrases | Mapping[str, Any] | AnyPath,
    models: Any,
    out: AnyPath,
    *,
    stability: int = STABILITY,
    changes: Sequence[str] = tuple(CHANGES),
    counterfactuals: int | None = None,
    edits: Sequence[str] = tuple(EDITS),
    masks: str = "",
    fail_if: Sequence[str] = (),
    page: bool = True,
    agree: Agree = lambda question, free: None,
    reporter: Callable[[str], RunReporter] = lambda name: RunReporter(name, quiet=True),
    **options: Unpack[EvaluateOptions],
) -> Audit:
    """Ask models every phrase about every photograph below a folder and hold the answers against
    each other and against what is known about the phrases; nothing has to be labelled.

    `phrases` is a TOML file, or its content. `models` is one or several: names as on the command
    line, or objects with .segment(image, phrases). `stability` photographs are asked again after
    each of the `changes`, `counterfactuals` of them after each of the `edits` of a thing in them:
    the first model marks it, or another that `masks` names. [20, where OpenCV is installed]
    `options` are those of `evaluate`; `limit` is a number of photographs.
    The same call goes on where an earlier one ended, and asks only what is new.
    """
    auditing = _Auditing(
        images, phrases, models, Path(out), Options.of(options), agree=agree, reporter=reporter
    )
    auditing.check(fail_if, masks)
    auditing.make_set(stability, check_changes(changes))
    auditing.add_counterfactuals(counterfactuals, check_edits(edits), masks)
    return auditing.finish(with_page=page)


class _Auditing:
    """An audit on its way."""

    def __init__(
        self,
        images: AnyPath,
        phrases: Phrases | Mapping[str, Any] | AnyPath,
        models: Any,
        out: Path,
        options: Options,
        *,
        agree: Agree,
        reporter: Callable[[str], RunReporter],
    ) -> None:
        self.images, self.out, self.agree, self.reporter = images, out, agree, reporter
        self.phrases = _phrases(phrases)
        self.limit = options.limit
        self.options = msgspec.structs.replace(options, limit=None)
        several = models if isinstance(models, (list, tuple)) else [models]
        self.asked = [each if isinstance(each, Asked) else Asked.of(each) for each in several]
        if not self.asked:
            raise UsageError("give at least one model")
        self.folders = run_folders(self.asked, out / RUNS)
        self.place = out / SET

    def check(self, fail_if: Sequence[str], masks: str) -> None:
        """Refuse what cannot work before anything is read or written."""
        self.options.scoring  # noqa: B018 - refuses wrong thresholds
        protocol = find(CARD.protocol)
        for text in fail_if:
            check_gate(parse_gate(text), protocol, protocol.metrics())
        nothing = Benchmark(card=CARD, cases=(), items=())
        evaluation = Evaluation(nothing, self.options)
        for each in (*self.asked, *([Asked.of(masks)] if masks else [])):
            evaluation.check(each)

    def make_set(self, stability: int, changes: Sequence[str]) -> None:
        """Take photographs in, change some of them, and write what is asked."""
        if stability < 0:
            raise UsageError(f"--stability {stability}: give 0 or more photographs")
        with progress("taking photographs in") as advance:
            taken = take_in(self.images, self.place, limit=self.limit, progress=advance)
        with progress("changing photographs") as advance:
            made = change_some(taken.photographs, self.place, changes, stability, progress=advance)
        self.set = AuditSet(
            phrases=self.phrases,
            pictures=tuple(_together(taken.photographs, made)),
            notes=(*taken.notes, *_scope(len(taken.photographs), len(made), self.phrases)),
        )
        write_set(self.place, self.set)

    def add_counterfactuals(self, n: int | None, edits: Sequence[str], masks: str) -> None:
        """Ask who marks things about the photographs, edit what was marked, and write what is asked
        anew."""
        wanted = self._n_edited(n)
        if not wanted or not edits:
            return
        photographs = [each for each in self.set.pictures if each.is_photograph]
        asked, marks = self._marks(photographs, masks)
        with progress("editing photographs") as advance:
            found = edit_marked(
                photographs, marks, self.phrases, self.place,
                n=wanted, kinds=edits, masked_by=asked.name, progress=advance,
            )  # fmt: skip
        own = " itself" if len(self.asked) == 1 and asked in self.asked else ""
        told = f"Edited regions were marked by {asked.name}{own}; nobody has checked them."
        self._rewrite(
            pictures=tuple(_together(self.set.pictures, found.made)),
            about=told if found.made else "",
            notes=(*self.set.notes, *found.notes),
        )

    def _n_edited(self, n: int | None) -> int:
        """How many photographs are edited. Where OpenCV is missing and nobody said how many, none,
        which is said."""
        is_there = find_spec("cv2") is not None
        if n is None and not is_there:
            note = "No counterfactuals: pip install 'groundfault[photo]' brings what edits them."
            self._rewrite(notes=(*self.set.notes, note))
            return 0
        wanted = COUNTERFACTUALS if n is None else n
        if wanted < 0:
            raise UsageError(f"--counterfactuals {wanted}: give 0 or more photographs")
        if wanted and not is_there:
            raise MissingExtra("OpenCV", "photo")
        return wanted

    def _rewrite(self, **changes: Any) -> None:
        """Change what is asked, also on the disk."""
        self.set = msgspec.structs.replace(self.set, **changes)
        write_set(self.place, self.set)

    def _marks(
        self, photographs: Sequence[AuditPicture], masks: str
    ) -> tuple[Asked, dict[str, Mark]]:
        """Who marks things, and what they marked. One of the models that are audited is asked in
        its own run, which goes on afterwards."""
        asked = Asked.of(masks) if masks else self.asked[0]
        folder = self.folders.get(asked)
        found = self.set
        if folder is None:
            folder = self.out / MASKS / asked.folder_name
            found = msgspec.structs.replace(found, pictures=tuple(photographs))
        evaluation = Evaluation(self._benchmark(found), self.options, agree=self.agree)
        reporter = self.reporter(asked.name)
        with reporter.asking():
            run = evaluation.ask(asked, folder, reporter, evaluation.graders([asked]))
        t = self.scoring_t(run.model)
        return asked, marks_of(photographs, self.phrases, read_predictions(folder), t)

    def scoring_t(self, model: str) -> float:
        """From which score on a mask is accepted."""
        return self.options.t if self.options.t is not None else usual_point(model)[0]

    def _benchmark(self, found: AuditSet) -> Benchmark:
        """What is asked, with where it can be read again."""
        made = as_benchmark(found, self.place / IMAGES)
        source = {"format": CARD.name, "set": str(self.place.resolve())}
        return msgspec.structs.replace(made, source=source)

    def finish(self, *, with_page: bool) -> Audit:
        """Ask what is left, score, compare, and write the page."""
        results = self._evaluate()
        comparison = None
        if len(results) > 1:
            comparison = compare(*results.values(), bootstrap=self.options.bootstrap)
            write_json(self.out / COMPARISON, comparison.comparison)
        page = self.out / PAGE
        if with_page:
            report(list(results.values()), page)
        return Audit(self.out, results, comparison, page)

    def _evaluate(self) -> dict[str, Result]:
        evaluation = Evaluation(load("audit", set=self.place), self.options, agree=self.agree)
        graders = evaluation.graders(self.asked)
        results: dict[str, Result] = {}
        for asked, folder in self.folders.items():
            found = evaluation.run(asked, folder, self.reporter(asked.name), graders)
            if found is None:
                raise GroundfaultError(
                    f"{asked.name}: not one question was answered; {folder / 'run.json'} says why, "
                    "and the same command goes on"
                )
            results[asked.name] = found
            self._sweep(evaluation.benchmark, folder, found)
        return results

    def _sweep(self, benchmark: Benchmark, folder: Path, found: Result) -> None:
        """Keep every measure along t beside the run; where all scores are alike there is none."""
        settings = found.summary.settings
        matched = match_predictions(benchmark, folder, settings)
        if len(set(matched.matched.score.tolist())) < 2:
            return
        with progress("scoring at every threshold") as advance:
            points = sweep(
                matched.protocol,
                matched.benchmark,
                matched.matched,
                settings=settings,
                t_values=T_GRID,
                tau_values=(float(str(settings["tau"])),),
                bootstrap=min(SWEEP_RESAMPLES, int(str(settings["bootstrap"]))),
                seed=int(str(settings["seed"])),
                rows=("Overall",),
                progress=advance,
            )
        write_json(folder / SWEEP, points)


def _phrases(given: Phrases | Mapping[str, Any] | AnyPath) -> Phrases:
    if isinstance(given, Phrases):
        return sound_phrases(given)
    if isinstance(given, Mapping):
        return sound_phrases(convert_settings(given, Phrases))
    return read_phrases(given)


def _together(
    photographs: Sequence[AuditPicture], *made: Mapping[str, Sequence[AuditPicture]]
) -> Iterator[AuditPicture]:
    """Every photograph with what was made of it before, followed by what was made of it."""
    groups: dict[str, list[AuditPicture]] = {}
    for picture in photographs:
        groups.setdefault(picture.photograph, []).append(picture)
    for group in groups.values():
        yield from group
        for each in made:
            yield from each.get(group[0].file, ())


def _scope(n: int, n_changed: int, phrases: Phrases) -> Iterator[str]:
    yield (
        f"{n:,} photographs, {len(phrases.asked()):,} phrases, {len(phrases.relations()):,} "
        f"relations; harmless changes of {n_changed:,} photographs."
    )
    if not phrases.relations():
        yield "No relation between phrases is known: only stability can be judged."
