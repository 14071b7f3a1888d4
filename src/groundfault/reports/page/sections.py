"""What every part of a chapter is made of, and how it writes numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import msgspec

from groundfault.analysis.compare import Comparison
from groundfault.metrics import Metric
from groundfault.protocols import Protocol
from groundfault.records import Estimate
from groundfault.reports.page.drawing import Figure
from groundfault.reports.page.inputs import Chapter, RunData
from groundfault.reports.page.words import data_title, slice_name
from groundfault.reports.summaries import estimate_cell

__all__ = ["FOUND", "Context", "Panel", "Section", "few", "quoted", "share"]

FOUND = Metric(
    name="found",
    label="p⁺ found",
    about="Share of pairs whose p⁺ is found on the edited object (TA-TP).",
)
"""What figures show beside a protocol's own metrics."""


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
        """The runs that figures and words are about; they come first."""
        return self.chapter.models

    @property
    def protocol(self) -> Protocol:
        """How the runs were scored."""
        return self.chapter.protocol

    @property
    def title(self) -> str:
        """What the data is called."""
        return data_title(self.runs[0].summary, self.protocol)

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that the cases are of."""
        return self.runs[0].splits

    @property
    def known(self) -> Mapping[str, Estimate]:
        """The metrics that the runs have."""
        return self.runs[0].summary.rows["Overall"].metrics

    def metric(self, name: str) -> Metric:
        """What is known about a metric."""
        return FOUND if name == FOUND.name else self.protocol.metric(name)

    def text(self, metric: str) -> Callable[[float], str]:
        """How a value of the metric is written."""
        return self.metric(metric).text

    def heading(self, metric: str) -> str:
        """Short name, unit and better side."""
        declared = self.metric(metric)
        unit = " (%)" if declared.unit == "percent" else ""
        better = f", {declared.better} is better" if declared.is_ranked else ""
        return f"{declared.heading}{unit}{better}"

    def slice_name(self, row: str) -> str:
        """A table row with what it stands for."""
        return slice_name(row, self.protocol.slices)

    def figure_name(self, *parts: str) -> str:
        """A name for a figure or a place in the page: letters, digits and few signs."""
        words = (self.chapter.benchmark, *([str(self.number)] if self.number else []), *parts)
        return re.sub(r"[^\w.+-]", "_", "-".join(words))[:120]


def share(value: float) -> str:
    return f"{100 * value:.0f}\u202f%"


def quoted(context: Context, metric: str, estimate: Estimate) -> tuple[str, str]:
    """The value with its unit, and the interval."""
    declared = context.metric(metric)
    unit = "\u202f%" if declared.unit == "percent" and declared.is_share else ""
    text = declared.text
    value = estimate_cell(declared, estimate).text + unit
    if estimate.low is None or estimate.high is None:
        return value, ""
    return value, f"[{text(estimate.low)},\u00a0{text(estimate.high)}]"


def few(parts: Sequence[str], between: str = ", ") -> str:
    """The first four of what is said about each run.

    >>> few(["a 1", "b 2"]), few(list("abcdef"))
    ('a 1, b 2', 'a, b, c, d and 2 more')
    """
    return between.join(parts[:4]) + (f" and {len(parts) - 4} more" if len(parts) > 4 else "")
