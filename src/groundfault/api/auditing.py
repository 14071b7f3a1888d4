"""Photographs of one's own and phrases, no labels: does a segmenter contradict itself?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import msgspec

from groundfault.analysis.gates import check_gate, parse_gate
from groundfault.api.comparing import compare
from groundfault.api.evaluating import Asked, Evaluation, run_folders
from groundfault.api.options import EvaluateOptions, Options
from groundfault.api.reporting import report
from groundfault.benchmarks.audit import (
    CARD,
    AuditPicture,
    AuditSet,
    write_set,
)
from groundfault.building.auditing.changes import CHANGES, check_changes
from groundfault.building.auditing.intake import change_some, take_in
from groundfault.config import convert_settings
from groundfault.errors import GroundfaultError, UsageError
from groundfault.io.phrases import Phrases, read_phrases, sound_phrases
from groundfault.io.sources import load
from groundfault.io.store import write_json
from groundfault.protocols import find
from groundfault.records import Benchmark
from groundfault.reports.events import RunReporter
from groundfault.reports.progress import progress

if TYPE_CHECKING:
    from groundfault.api.comparing import Compared
    from groundfault.api.result import Result

__all__ = ["PAGE", "Audit", "audit"]

AnyPath = str | PathLike[str]
Agree = Callable[[str, bool], None]
SET, RUNS, PAGE, COMPARISON = "set", "runs", "audit.html", "compare.json"
STABILITY = 50
"""Photographs that are changed harmlessly, unless told."""


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
    each of the `changes`. `options` are those of `evaluate`; `limit` is a number of photographs.
    The same call goes on where an earlier one ended, and asks only what is new.
    """
    auditing = _Auditing(
        images, phrases, models, Path(out), Options.of(options), agree=agree, reporter=reporter
    )
    auditing.check(fail_if)
    auditing.make_set(stability, check_changes(changes))
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

    def check(self, fail_if: Sequence[str]) -> None:
        """Refuse what cannot work before anything is read or written."""
        self.options.scoring  # noqa: B018 - refuses wrong thresholds
        protocol = find(CARD.protocol)
        for text in fail_if:
            check_gate(parse_gate(text), protocol, protocol.metrics())
        nothing = Benchmark(card=CARD, cases=(), items=())
        evaluation = Evaluation(nothing, self.options)
        for each in self.asked:
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
        return results


def _phrases(given: Phrases | Mapping[str, Any] | AnyPath) -> Phrases:
    if isinstance(given, Phrases):
        return sound_phrases(given)
    if isinstance(given, Mapping):
        return sound_phrases(convert_settings(given, Phrases))
    return read_phrases(given)


def _together(
    photographs: Sequence[AuditPicture], *made: Mapping[str, Sequence[AuditPicture]]
) -> Iterator[AuditPicture]:
    """Every photograph, followed by what was made of it."""
    for photograph in photographs:
        yield photograph
        for each in made:
            yield from each.get(photograph.file, ())


def _scope(n: int, n_changed: int, phrases: Phrases) -> Iterator[str]:
    yield (
        f"{n:,} photographs, {len(phrases.asked()):,} phrases, {len(phrases.relations()):,} "
        f"relations; harmless changes of {n_changed:,} photographs."
    )
    if not phrases.relations():
        yield "No relation between phrases is known: only stability can be judged."
