"""What every part of a chapter is made of, and how it writes numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import msgspec

from groundfault.analysis.compare import Comparison
from groundfault.records import Estimate
from groundfault.registry import BASELINES
from groundfault.report.page.drawing import Figure
from groundfault.report.page.inputs import Chapter, RunData
from groundfault.report.page.words import family, short_name
from groundfault.report.summaries import (
    FRACTION_BENCHMARKS,
    LOWER_IS_BETTER,
    NEITHER_IS_BETTER,
    PLAIN,
    estimate_cell,
)

__all__ = ["Context", "Panel", "Section", "few", "is_ranked", "plain_name", "quoted", "share"]

UNRANKED = NEITHER_IS_BETTER | {"cot_effect"}
"""What has no better side, or is no merit of its own."""


class Panel(msgspec.Struct, frozen=True, kw_only=True):
    """Figures that are seen together; several panels of a section are tabs."""

    label: str
    figures: tuple[Figure, ...]
    reading: str
    wide: bool = False
    """Its figures take the whole width, one below another."""


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """One question and the figures that answer it."""

    id: str
    nav: str
    """Its name in the list of sections."""
    title: str
    about: str
    panels: tuple[Panel, ...]
    points: tuple[str, ...] = ()
    """Findings as a list."""


class Context(msgspec.Struct, frozen=True, eq=False):
    """What the sections of one chapter share."""

    chapter: Chapter
    number: int
    comparisons: Mapping[str, Comparison]
    """By row."""

    @property
    def runs(self) -> tuple[RunData, ...]:
        """In the order of their colours."""
        return self.chapter.runs

    @property
    def models(self) -> tuple[RunData, ...]:
        """The runs that are told about: baselines only if there is nothing else."""
        found = (run for run in self.runs if run.name.partition(":")[0] not in BASELINES)
        return tuple(found) or self.runs

    @property
    def family(self) -> str:
        """The benchmark in whose way this one is scored."""
        return family(self.chapter.benchmark, self.runs[0].summary.rows["Overall"].metrics)

    @property
    def percent(self) -> bool:
        """Whether its paper prints percent."""
        return self.family not in FRACTION_BENCHMARKS

    def text(self, metric: str) -> Callable[[float], str]:
        """How a value of the metric is written."""

        def write(value: float) -> str:
            return str(estimate_cell(metric, Estimate(value), percent=self.percent))

        return write

    def heading(self, metric: str) -> str:
        """Short name, unit and better side."""
        name = "p⁺ found" if metric == "found" else short_name(metric)
        unit = " (%)" if self.percent and metric not in PLAIN else ""
        better = "lower" if metric in LOWER_IS_BETTER else "higher"
        return f"{name}{unit}, {better} is better" if is_ranked(metric) else f"{name}{unit}"

    def figure_name(self, *parts: str) -> str:
        """A name for a figure or a place in the page: letters, digits and few signs."""
        words = (self.chapter.benchmark, *([str(self.number)] if self.number else []), *parts)
        return re.sub(r"[^\w.+-]", "_", "-".join(words))[:120]


def is_ranked(metric: str) -> bool:
    return metric not in UNRANKED


def plain_name(metric: str) -> str:
    return "p⁺ found" if metric == "found" else metric


def share(value: float) -> str:
    return f"{100 * value:.0f}\u202f%"


def quoted(context: Context, metric: str, estimate: Estimate) -> tuple[str, str]:
    """The value with its unit, and the interval."""
    unit = "\u202f%" if context.percent and metric not in PLAIN and metric != "cgF1" else ""
    text = context.text(metric)
    value = text(estimate.value or 0.0) + unit
    if estimate.low is None or estimate.high is None:
        return value, ""
    return value, f"[{text(estimate.low)},\u00a0{text(estimate.high)}]"


def few(parts: Sequence[str], between: str = ", ") -> str:
    """The first four of what is said about each run.

    >>> few(["a 1", "b 2"]), few(list("abcdef"))
    ('a 1, b 2', 'a, b, c, d and 2 more')
    """
    return between.join(parts[:4]) + (f" and {len(parts) - 4} more" if len(parts) > 4 else "")
