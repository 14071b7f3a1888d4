"""How a published number is held against one derived from other published numbers.

A printed number stands for every number that rounds to it: 53.0 is 53.0 ± 0.05. `Rounded` carries
that error through sums, products and ratios, so the tolerance of a check follows from the printed
digits alone. Checks work in the units that the paper prints, because the digits do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from groundfault.published import PublishedRow

Verdict = Literal["agrees", "disagrees", "undecidable"]

# Binary floats miss decimal ties by less than this; a tie counts as agreement.
FLOAT_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class Rounded:
    """A number known up to `error`, the largest distance to what was rounded.

    >>> Rounded.parse("0.3080") / Rounded.parse("0.7317")
    Rounded(value=0.420938, error=9.7e-05)
    """

    value: float
    error: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Rounded:
        """Half a unit in the last printed place; a number without a point is an exact count."""
        decimals = len(text.partition(".")[2])
        return cls(float(text), 0.5 * 10.0**-decimals if decimals else 0.0)

    def __add__(self, other: Rounded) -> Rounded:
        return Rounded(self.value + other.value, self.error + other.error)

    def __sub__(self, other: Rounded) -> Rounded:
        return Rounded(self.value - other.value, self.error + other.error)

    def __mul__(self, other: Rounded) -> Rounded:
        error = abs(self.value) * other.error + abs(other.value) * self.error
        return Rounded(self.value * other.value, error + self.error * other.error)

    def __truediv__(self, other: Rounded) -> Rounded:
        ratio = self.value / other.value
        error = (self.error + abs(ratio) * other.error) / (abs(other.value) - other.error)
        return Rounded(ratio, error)

    def times(self, factor: float) -> Rounded:
        return Rounded(self.value * factor, self.error * abs(factor))

    def __repr__(self) -> str:
        return f"Rounded(value={self.value:.6g}, error={self.error:.2g})"


def weighted_mean(numbers: Sequence[Rounded], weights: Sequence[float] | None = None) -> Rounded:
    """Mean of the values; its error is at most the same mean of the errors.

    >>> weighted_mean([Rounded.parse("1.0"), Rounded.parse("4.0")], [2, 1])
    Rounded(value=2, error=0.05)
    """
    weights = [1.0] * len(numbers) if weights is None else weights
    whole = math.fsum(weights)
    return Rounded(
        math.fsum(w * n.value for w, n in zip(weights, numbers, strict=True)) / whole,
        math.fsum(w * n.error for w, n in zip(weights, numbers, strict=True)) / whole,
    )


def total(numbers: Iterable[Rounded]) -> Rounded:
    return sum(numbers, Rounded(0.0))


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of one table; `number` is None where nothing is printed."""

    table: str
    model: str
    row: str
    setting: str
    metric: str
    number: Rounded | None


class Cells:
    """The cells of all tables, found by their names."""

    def __init__(self, rows: Iterable[PublishedRow]) -> None:
        self._printed: dict[tuple[str, str, str, str], dict[str, str]] = {
            (row.source.table, row.model, row.row, row.setting): dict(row.printed) for row in rows
        }

    def get(self, table: str, model: str, row: str, metric: str, setting: str = "") -> Cell:
        text = self._printed.get((table, model, row, setting), {}).get(metric, "")
        return Cell(table, model, row, setting, metric, Rounded.parse(text) if text else None)

    def line(self, table: str, model: str, row: str, setting: str = "") -> tuple[Rounded, ...]:
        """All numbers of one line in the order of the columns; empty if there is no such line."""
        printed = self._printed.get((table, model, row, setting), {})
        return tuple(Rounded.parse(text) for text in printed.values() if text)

    def addresses(self, table: str) -> list[tuple[str, str, str]]:
        """Model, row and setting of each line of a table."""
        return [key[1:] for key in self._printed if key[0] == table]

    def models(self, table: str) -> list[str]:
        return list(dict.fromkeys(model for model, _, _ in self.addresses(table)))


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that should hold between published numbers."""

    name: str
    rule: str
    """How the derived number is made, for the reader of the page."""
    finding: str = ""
    """What the disagreements have in common, in one plain sentence."""


@dataclass(frozen=True, slots=True)
class Check:
    """One claim at one cell, in the units that the paper prints."""

    claim: str
    source_table: str
    model: str
    row: str
    setting: str
    metric: str
    published: float | None
    derived: float | None
    tolerance: float | None
    verdict: Verdict
    note: str = ""
    off: float | None = None
    """How far the published number is from what the claim allows; 0 where a bound holds."""


def derive(formula: Callable[..., Rounded], *cells: Cell) -> Rounded | None:
    """The formula applied to the cells' numbers; None if a cell is empty."""
    numbers = [cell.number for cell in cells]
    return None if None in numbers else formula(*numbers)


def equal(claim: Claim, cell: Cell, derived: Rounded | None, note: str = "") -> Check:
    """The cell is the derived number."""
    return _check(claim, cell, derived, abs, note)


def at_most(claim: Claim, cell: Cell, bound: Rounded | None, note: str = "") -> Check:
    """The cell is no larger than the bound."""
    return _check(claim, cell, bound, lambda gap: max(0.0, gap), note)


def at_least(claim: Claim, cell: Cell, bound: Rounded | None, note: str = "") -> Check:
    """The cell is no smaller than the bound."""
    return _check(claim, cell, bound, lambda gap: max(0.0, -gap), note)


def between(claim: Claim, cell: Cell, ends: Sequence[Rounded], note: str = "") -> Check:
    """The cell lies between the smallest and the largest of `ends`; derived is the nearest end
    or, inside, the cell itself."""
    if cell.number is None or not ends:
        return equal(claim, cell, None, note)
    low, high = min(ends, key=lambda n: n.value), max(ends, key=lambda n: n.value)
    nearest = min(max(cell.number.value, low.value), high.value)
    return equal(claim, cell, Rounded(nearest, max(low.error, high.error)), note)


def _check(
    claim: Claim,
    cell: Cell,
    derived: Rounded | None,
    off_by: Callable[[float], float],
    note: str,
) -> Check:
    published = cell.number
    tolerance: float | None = None
    off: float | None = None
    verdict: Verdict = "undecidable"
    if published is not None and derived is not None:
        tolerance = published.error + derived.error
        off = off_by(published.value - derived.value)
        verdict = "agrees" if off <= tolerance + FLOAT_SLACK else "disagrees"
    return Check(
        claim=claim.name,
        source_table=cell.table,
        model=cell.model,
        row=cell.row,
        setting=cell.setting,
        metric=cell.metric,
        published=None if published is None else published.value,
        derived=None if derived is None else derived.value,
        tolerance=tolerance,
        verdict=verdict,
        note=note,
        off=off,
    )
