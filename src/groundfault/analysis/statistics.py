"""Numbers with their uncertainty. The unit of resampling is the counterfactual case.

Every metric here is a function of sums over cases, so a bootstrap needs only resampled sums:
one matrix product for all metrics at once. Cases with equal contributions are interchangeable,
so large sets are resampled by how often each distinct contribution occurs; that is the same
distribution at a fraction of the work.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from groundfault.records import Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Metrics = Callable[[Floats], Mapping[str, Floats]]

__all__ = [
    "DEFAULT_RESAMPLES",
    "Difference",
    "bootstrap_sums",
    "estimates",
    "holm",
    "mcnemar",
    "paired_difference",
    "percentile_interval",
    "shared_ranks",
]

DEFAULT_RESAMPLES = 10_000
LEVEL = 0.95
_CHUNK_DRAWS = 1 << 21
_PATTERNS_FROM = 4096


def bootstrap_sums(contributions: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """(resamples, k) sums of the rows of (n, k) contributions drawn with replacement.

    >>> sums = bootstrap_sums(np.ones((5, 1)), 3, np.random.default_rng(0))
    >>> sums.ravel().tolist()
    [5.0, 5.0, 5.0]
    """
    n = len(contributions)
    sums = np.empty((resamples, contributions.shape[1]))
    patterns, weights = contributions, None
    if n >= _PATTERNS_FROM:
        distinct, counts = np.unique(contributions, axis=0, return_counts=True)
        if len(distinct) * 4 <= n:
            patterns, weights = distinct, counts / n
    chunk = max(1, _CHUNK_DRAWS // max(1, len(patterns)))
    for start in range(0, resamples, chunk):
        size = min(chunk, resamples - start)
        if weights is None:
            draws = rng.integers(0, n, size=(size, n), dtype=np.int32)
            draws += np.arange(0, size * n, n, dtype=np.int32)[:, None]
            times = np.bincount(draws.ravel(), minlength=size * n).reshape(size, n)
        else:
            times = rng.multinomial(n, weights, size=size)
        sums[start : start + size] = times.astype(np.float64) @ patterns
    return sums


def percentile_interval(samples: Floats, level: float = LEVEL) -> tuple[float | None, float | None]:
    """The central interval of the defined samples; (None, None) where none is defined.

    >>> [round(end, 6) for end in percentile_interval(np.arange(101.0))]
    [2.5, 97.5]
    """
    defined = samples[~np.isnan(samples)]
    if not len(defined):
        return None, None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def estimates(
    contributions: Floats,
    metrics: Metrics,
    support: Mapping[str, int],
    *,
    resamples: int,
    seed: int | Sequence[int],
) -> dict[str, Estimate]:
    """Every metric of the summed contributions with its bootstrap interval.

    `metrics` maps (…, k) sums to (…) values, NaN where undefined; `support` gives n per metric.
    """
    values = metrics(contributions.sum(axis=0, keepdims=True))
    samples: Mapping[str, Floats] = {}
    if resamples and len(contributions):
        rng = np.random.default_rng(seed)
        samples = metrics(bootstrap_sums(contributions, resamples, rng))
    result = {}
    for name, value in values.items():
        defined = len(contributions) > 0 and not math.isnan(value[0])
        interval = (
            percentile_interval(samples[name]) if name in samples and defined else (None, None)
        )
        result[name] = Estimate(float(value[0]) if defined else None, *interval, n=support[name])
    return result


class Difference(Estimate, frozen=True, kw_only=True, gc=False):
    """Model A minus model B on the same cases, with a two-sided bootstrap p-value."""

    p_value: float | None


def paired_difference(
    contributions_a: Floats,
    contributions_b: Floats,
    metrics: Metrics,
    *,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int | Sequence[int] = 0,
) -> dict[str, Difference]:
    """Paired bootstrap of every metric's difference; both models keep the same drawn cases."""
    if contributions_a.shape != contributions_b.shape:
        raise ValueError("both models need contributions of the same cases")
    width = contributions_a.shape[1]
    both = np.hstack([contributions_a, contributions_b])
    total = both.sum(axis=0, keepdims=True)
    sums = bootstrap_sums(both, resamples, np.random.default_rng(seed))
    a, b = metrics(total[:, :width]), metrics(total[:, width:])
    drawn_a, drawn_b = metrics(sums[:, :width]), metrics(sums[:, width:])
    result = {}
    for name in a:
        value = float(a[name][0] - b[name][0])
        if math.isnan(value):
            result[name] = Difference(None, n=len(both), p_value=None)
            continue
        drawn = drawn_a[name] - drawn_b[name]
        result[name] = Difference(
            value, *percentile_interval(drawn), n=len(both), p_value=_two_sided(drawn)
        )
    return result


def _two_sided(differences: Floats) -> float | None:
    """Share of resamples on the far side of zero, doubled, never exactly 0."""
    defined = differences[~np.isnan(differences)]
    if not len(defined):
        return None
    tail = min((defined <= 0).sum(), (defined >= 0).sum())
    return float(min(1.0, 2 * (tail + 1) / (len(defined) + 1)))


def mcnemar(only_a_right: int, only_b_right: int) -> float:
    """Exact two-sided McNemar p-value from the two discordant counts.

    >>> mcnemar(5, 5)
    1.0
    >>> mcnemar(10, 0)
    0.001953125
    """
    n = only_a_right + only_b_right
    if n == 0:
        return 1.0
    from scipy.special import bdtr

    return float(min(1.0, 2 * bdtr(min(only_a_right, only_b_right), n, 0.5)))


def holm(p_values: Mapping[Any, float]) -> dict[Any, float]:
    """Holm's step-down adjustment over a table of tests.

    >>> {name: round(p, 3) for name, p in holm({"a": 0.01, "b": 0.04, "c": 0.03}).items()}
    {'a': 0.03, 'c': 0.06, 'b': 0.06}
    """
    adjusted: dict[Any, float] = {}
    worst = 0.0
    for rank, (name, p) in enumerate(sorted(p_values.items(), key=lambda entry: entry[1])):
        worst = max(worst, min(1.0, p * (len(p_values) - rank)))
        adjusted[name] = worst
    return adjusted


def shared_ranks(
    values: Mapping[str, float], told_apart: Callable[[str, str], bool], *, higher_is_better: bool
) -> dict[str, int]:
    """Rank of each model: one more than how many are better and can be told apart from it.

    Those in the first rank cannot be told apart; further down, each stands by what is above it.

    >>> shared_ranks({"a": 3, "b": 2.9, "c": 1}, lambda x, y: "c" in (x, y), higher_is_better=True)
    {'a': 1, 'b': 1, 'c': 3}
    """
    sign = 1 if higher_is_better else -1

    def beats(other: str, name: str) -> bool:
        return sign * values[other] > sign * values[name] and told_apart(other, name)

    return {name: 1 + sum(beats(other, name) for other in values) for name in values}
