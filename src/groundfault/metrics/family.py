"""What a metric is, and a family of metrics that are made from the same sums.

A family declares itself once: the columns that a case adds to the sums, the metrics that follow
from the sums, and of each metric which way is better, in which unit it is printed and what it
means. Tables, comparisons, reports, gates and the documentation read all of it from here.

A family in another package is an entry point `groundfault.metrics` whose name is the family's. It
names the protocols that it extends and makes its columns from their table of cases:

    wordy = my_package:FAMILY

    FAMILY = Family(
        name="wordy",
        about="how long the phrases are that mislead",
        metrics=(Metric(name="fooled_words", about="Words in p⁻.", unit="plain", high=None),),
        columns=("words", "pairs"),
        values=lambda sums, settings: {"fooled_words": sums[..., 0] / sums[..., 1]},
        extends=("concept-pairs",),
        contributions=lambda table, settings: ...,  # (entries, 2) from the Arrow table
    )
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from groundfault.errors import GroundfaultError
from groundfault.registry import load, plugins

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Settings = Mapping[str, object]
    Values = Callable[[Floats], Mapping[str, Floats]]

__all__ = [
    "Family",
    "Metric",
    "Share",
    "columns_of",
    "compose",
    "count",
    "extensions",
    "family",
    "shares",
    "undefined",
]

Better = Literal["higher", "lower", "neither"]
Unit = Literal["percent", "fraction", "plain", "count"]
DIGITS: dict[Unit, int] = {"percent": 1, "fraction": 4, "plain": 3, "count": 0}


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """One number about a set of cases."""

    name: str
    """As summary.json has it."""
    about: str = ""
    """What it says, in a sentence for someone who has not read the paper."""
    label: str = ""
    """What tables print, where that is another than the name."""
    title: str = ""
    """What a page prints, where that is another than the label."""
    better: Better = "higher"
    """"neither" is for ratios and habits: they are shown, but no run is the better for them."""
    unit: Unit = "percent"
    """How it is printed: a fraction in percent or as it is, a plain number, or a count."""
    is_share: bool = True
    """Whether a percent sign fits it in a sentence: "a cgF1 of 53.0", but "53.0 % of pairs"."""
    low: float | None = 0.0
    """The lowest possible value; None where there is none."""
    high: float | None = 1.0
    part: tuple[str, ...] = ()
    """Of a share of things, the columns of its family whose sum is divided by that of `whole`; a
    case never adds more to it than to `whole`. Near 0 and 1 its intervals are then exact."""
    whole: tuple[str, ...] = ()

    @property
    def short(self) -> str:
        """What tables print above its column."""
        return self.label or self.name

    @property
    def heading(self) -> str:
        """What a page prints above its column."""
        return self.title or self.short

    @property
    def arrow(self) -> str:
        """Which way is better, as a sign."""
        return {"higher": "↑", "lower": "↓", "neither": ""}[self.better]

    @property
    def is_ranked(self) -> bool:
        """Whether a run can be the better for it."""
        return self.better != "neither"

    def text(self, value: float) -> str:
        """A value as its paper prints it.

        >>> Metric(name="AFPR").text(0.205), Metric(name="IL_MCC", unit="plain").text(-0.25)
        ('20.5', '−0.250')
        """
        digits = DIGITS[self.unit]
        scaled = value * 100 if self.unit == "percent" else value
        return f"{round(scaled, digits) + 0.0:.{digits}f}".replace("-", "−")  # −0.0 is 0

    def is_called(self, text: str) -> bool:
        """Whether somebody who writes this means it: the name, or what is printed for it."""
        return text in (self.name, self.label, self.title)


class Share(msgspec.Struct, frozen=True):
    """Where a metric that is a share of things has its numbers among the columns of a result."""

    part: tuple[int, ...]
    whole: tuple[int, ...]
    is_count: bool
    """The value is the sum of `part` itself."""


class Family(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Metrics that are functions of the same summed columns."""

    name: str
    """In cases.parquet it stands before the names of its columns, with a dot."""
    about: str
    metrics: tuple[Metric, ...]
    columns: tuple[str, ...]
    """What an entry of the case table adds to the sums."""
    values: Callable[[Floats, Settings], Mapping[str, Floats]]
    """(…, columns) sums and the settings of the run → (…) values by metric, NaN where undefined."""
    support: Callable[[Floats], Mapping[str, int]] | None = None
    """(columns,) sums → how many things each metric is about; else it is the number of entries."""
    undefined: Callable[[Floats, Settings], Collection[str]] | None = None
    """(columns,) sums and settings → metrics that have a value by convention only: their definition
    divides by nothing."""
    extends: tuple[str, ...] = ()
    """Protocols whose results get these metrics too; for families of other packages."""
    contributions: Callable[[Any, Settings], Floats] | None = None
    """The Arrow table of cases and the settings → (entries, columns); goes with `extends`."""


def family(name: str) -> Family:
    """The family that writes columns under a name."""
    found = load("metrics", name)
    if not isinstance(found, Family):
        raise GroundfaultError(f"metric '{name}' is a {type(found).__name__}, not a Family")
    if found.name != name:
        raise GroundfaultError(
            f"metric '{name}' calls itself '{found.name}'; name the entry point like the family"
        )
    return found


def extensions(protocol: str) -> tuple[Family, ...]:
    """The families of other packages that a protocol's results get."""
    found = (family(name) for name in sorted(plugins("metrics")))
    return tuple(each for each in found if protocol in each.extends)


def columns_of(each: Family) -> tuple[str, ...]:
    """The names of its columns in cases.parquet."""
    return tuple(f"{each.name}.{column}" for column in each.columns)


def compose(columns: Sequence[str], settings: Settings) -> Values:
    """The metrics of all families whose columns are there, as one function of (…, k) sums."""
    parts = [(each.values, start, stop) for each, start, stop in _families(columns)]

    def values(sums: Floats) -> dict[str, Floats]:
        found: dict[str, Floats] = {}
        for of, start, stop in parts:
            found |= of(sums[..., start:stop], settings)
        return found

    return values


def count(columns: Sequence[str], sums: Floats, n_entries: int) -> dict[str, int]:
    """How many things each metric is about, from (k,) sums of `n_entries` entries."""
    found: dict[str, int] = {}
    for each, start, stop in _families(columns):
        if each.support is None:
            found |= dict.fromkeys((metric.name for metric in each.metrics), n_entries)
        else:
            found |= each.support(sums[start:stop])
    return found


def shares(columns: Sequence[str]) -> dict[str, Share]:
    """The metrics of all families that are shares of things."""
    found: dict[str, Share] = {}
    for each, start, _ in _families(columns):
        place = {column: start + k for k, column in enumerate(each.columns)}
        for metric in each.metrics:
            if metric.part:
                found[metric.name] = Share(
                    tuple(place[column] for column in metric.part),
                    tuple(place[column] for column in metric.whole),
                    is_count=metric.unit == "count",
                )
    return found


def undefined(columns: Sequence[str], sums: Floats, settings: Settings) -> frozenset[str]:
    """The metrics that have a value by convention only, from (k,) sums."""
    found: set[str] = set()
    for each, start, stop in _families(columns):
        if each.undefined is not None:
            found.update(each.undefined(sums[start:stop], settings))
    return frozenset(found)


def _families(columns: Sequence[str]) -> list[tuple[Family, int, int]]:
    """Each family with the place of its columns."""
    found, start = [], 0
    while start < len(columns):
        name = columns[start].partition(".")[0]
        each = family(name)
        stop = start + len(each.columns)
        if tuple(columns[start:stop]) != columns_of(each):
            raise GroundfaultError(
                f"the columns of metric family '{name}' are not those that this version makes; "
                "score again"
            )
        found.append((each, start, stop))
        start = stop
    return found
