"""How far people agree beyond chance: Fleiss' κ and Krippendorff's α for nominal values.

A unit is what was judged: an item, with the values that its observers gave. Intervals come from
resampling units, which are the independent things here; observers are not.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from groundfault.analysis.statistics import percentile_interval
from groundfault.records import Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Measure = Callable[[Floats, Floats], Floats]

__all__ = ["agreement_estimate", "fleiss_kappa", "krippendorff_alpha", "value_counts"]

Unit = Sequence[Hashable | None]
RESAMPLES = 1000


def fleiss_kappa(units: Sequence[Unit]) -> float | None:
    """Fleiss' κ = (P̄ − P̄ₑ) / (1 − P̄ₑ) over units that all have the same number of values, at
    least two; P̄ is the mean share of agreeing pairs within a unit, P̄ₑ = Σ pⱼ² over values. None
    where everybody always says one thing, or nothing can be compared.

    >>> round(fleiss_kappa(["aab", "abb", "aaa", "bbb"]), 4)
    0.3333
    """
    counts = value_counts(units)
    if len(set(counts.sum(1))) > 1:
        raise ValueError("Fleiss' κ needs the same number of values in every unit")
    return _value(_kappa, counts)


def krippendorff_alpha(units: Sequence[Unit]) -> float | None:
    """Krippendorff's α = 1 − Dₒ / Dₑ for nominal values; None among a unit's values is a missing
    one, and units with fewer than two values do not count.

    >>> round(krippendorff_alpha(["aa", "ab", "bb", "bb"]), 3)
    0.533
    """
    return _value(_alpha, value_counts(units))


def agreement_estimate(
    measure: Literal["kappa", "alpha"],
    units: Sequence[Unit],
    rng: np.random.Generator,
    *,
    resamples: int = RESAMPLES,
) -> Estimate:
    """κ or α with its 95 % bootstrap interval over units. For κ the units with the most frequent
    number of values count."""
    counts = value_counts(units)
    if measure == "kappa" and len(counts):
        sizes, frequency = np.unique(counts.sum(1), return_counts=True)
        counts = counts[counts.sum(1) == sizes[frequency.argmax()]]
    function, n = _MEASURES[measure], len(counts)
    value = _value(function, counts)
    if value is None or n < 2:
        return Estimate(value, n=n)
    patterns, times = np.unique(counts, axis=0, return_counts=True)  # few, of any number of units
    drawn = rng.multinomial(n, times / n, size=resamples).astype(np.float64)
    low, high = percentile_interval(function(patterns, drawn))
    return Estimate(value, low, high, n)


def value_counts(units: Sequence[Unit]) -> Floats:
    """(units, values): how often each value was given, of units with at least two."""
    present = [[value for value in unit if value is not None] for unit in units]
    compared = [values for values in present if len(values) > 1]
    columns = {value: k for k, value in enumerate(dict.fromkeys(v for u in compared for v in u))}
    counts = np.zeros((len(compared), len(columns)))
    for row, values in enumerate(compared):
        for value in values:
            counts[row, columns[value]] += 1
    return counts


def _value(function: Measure, counts: Floats) -> float | None:
    if not len(counts):
        return None
    value = function(counts, np.ones((1, len(counts))))[0]
    return None if np.isnan(value) else float(value)


def _kappa(counts: Floats, times: Floats) -> Floats:
    """Fleiss' κ of (units, values) taken so many times, (samples, units)."""
    sizes = counts.sum(1)
    agreeing = ((counts**2).sum(1) - sizes) / (sizes * (sizes - 1))
    shares = times @ counts / (times @ sizes)[:, None]
    by_chance = (shares**2).sum(1)
    return _ratio(times @ agreeing / times.sum(1) - by_chance, 1 - by_chance)


def _alpha(counts: Floats, times: Floats) -> Floats:
    """Krippendorff's α of (units, values) taken so many times, (samples, units)."""
    sizes = counts.sum(1)
    disagreed = times @ ((sizes**2 - (counts**2).sum(1)) / (sizes - 1))
    totals = times @ counts
    n = totals.sum(1)
    alpha: Floats = 1 - (n - 1) * _ratio(disagreed, n**2 - (totals**2).sum(1))
    return alpha


_MEASURES: dict[str, Measure] = {"kappa": _kappa, "alpha": _alpha}


def _ratio(part: Floats, whole: Floats) -> Floats:
    """NaN where there is nothing to divide by."""
    undefined = np.full_like(part, np.nan)
    result: Floats = np.divide(part, whole, out=undefined, where=whole > 1e-12)
    return result
