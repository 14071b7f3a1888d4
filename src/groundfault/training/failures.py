"""Where a model failed, so that more is learnt of that kind, from other pictures.

An item is failed if something is shown that is not there, or if what is there is not found (its
overlap is below one half). Rates are shrunk towards the run's own: one failure of one question says
little.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import NamedTuple, TypeVar

from groundfault.errors import UsageError
from groundfault.io.masks import RLEMask, intersection_and_union, parse_mask, union
from groundfault.io.store import read_json
from groundfault.models.segvlm.prompts import bare
from groundfault.records import Benchmark, Item, Outcome, Prediction, Summary
from groundfault.runs.benchmark import read_again
from groundfault.runs.recorder import read_predictions
from groundfault.runs.run import read_run

__all__ = ["Failures", "Seen", "is_failed", "read_failures"]

K = TypeVar("K")
FOUND = 0.5
"""Overlap from which on a thing counts as found."""
PRIOR = 2.0
"""Questions that the run's own rate counts for beside a kind's."""


class Seen(NamedTuple):
    """How one question ended."""

    intervention: str
    role: str
    query: str
    failed: bool


class Failures:
    """Rates of failure by what was asked."""

    def __init__(
        self, seen: Iterable[Seen], pictures: Iterable[Path] = (), source: str = ""
    ) -> None:
        self.seen = list(seen)
        self.pictures = list(pictures)
        """What was shown: it stays held out."""
        self.source = source
        """The benchmark's own words about where it comes from."""
        if not self.seen:
            raise UsageError("the run answered nothing, so nobody knows where it fails")
        self.rate = sum(one.failed for one in self.seen) / len(self.seen)
        self._of_query = self._rates(lambda one: (one.role, bare(one.query).lower()))
        self._of_role = self._rates(lambda one: one.role)
        self._of_intervention = self._rates(lambda one: one.intervention)

    def of_question(self, role: str, query: str) -> float:
        """How often such a question fails: this one, or else those of its role, or else any."""
        near = self._of_role.get(role, self.rate)
        return self._of_query.get((role, bare(query).lower()), near)

    def of_intervention(self, name: str) -> float | None:
        """How often cases of an intervention fail; None where none was asked."""
        return self._of_intervention.get(name)

    def _rates(self, key: Callable[[Seen], K]) -> dict[K, float]:
        counts: dict[K, list[int]] = defaultdict(lambda: [0, 0])
        for one in self.seen:
            counts[key(one)][0] += one.failed
            counts[key(one)][1] += 1
        return {k: (n + PRIOR * self.rate) / (total + PRIOR) for k, (n, total) in counts.items()}


def read_failures(folder: str | PathLike[str]) -> Failures:
    """What failed in a run, whose benchmark is read again from where it was."""
    run = read_run(folder)
    benchmark = read_again(run)
    answers = {answer.item_id: answer for answer in read_predictions(folder)}
    t = _threshold(Path(folder))
    interventions = {case.id: case.intervention for case in benchmark.cases}
    seen = [
        Seen(interventions[item.case_id], item.role.value, item.query, failed)
        for item in benchmark.items
        if item.id in answers and (failed := is_failed(item, answers[item.id], t)) is not None
    ]
    return Failures(seen, _pictures(benchmark), benchmark.card.source)


def _threshold(folder: Path) -> float:
    """The score from which on a mask counts, as the run was scored; any mask if it was not."""
    path = folder / "summary.json"
    found = read_json(path, Summary).settings.get("t") if path.is_file() else None
    return float(found) if isinstance(found, (int, float)) else 0.0


def is_failed(item: Item, answer: Prediction, t: float = 0.0) -> bool | None:
    """Whether an answer is wrong; None where there is no answer to judge. Masks with lower scores
    than t do not count."""
    if answer.outcome == Outcome.FAILED:
        return None
    if answer.outcome == Outcome.UNPARSED:
        return True
    size = item.height_px, item.width_px
    masks = [
        parse_mask(mask, *size)
        for mask, score in zip(answer.masks, answer.scores, strict=True)
        if score >= t
    ]
    shown = union(masks) if masks else None
    if not item.present:
        return shown is not None and shown.area() > 0
    truth = [parse_mask(region.mask, *size) for region in item.regions if region.mask is not None]
    return shown is None or not truth or _overlap(shown, union(truth)) < FOUND


def _overlap(mask: RLEMask, truth: RLEMask) -> float:
    shared, both = intersection_and_union(mask, truth)
    return shared / both if both else 0.0


def _pictures(benchmark: Benchmark) -> list[Path]:
    names = dict.fromkeys(name for item in benchmark.items for name in item.images)
    return [Path(benchmark.images, name) for name in names]
