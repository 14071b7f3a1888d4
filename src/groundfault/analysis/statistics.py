"""Numbers with their uncertainty. The unit of resampling is the counterfactual case.

Every metric here is a function of sums over cases, so a bootstrap needs only resampled sums:
one matrix product for all metrics at once. Cases with equal contributions are interchangeable,
so large sets are resampled by how often each distinct contribution occurs; that is the same
distribution at a fraction of the work.

Where resampling says nothing, it is not used. A share near 0 or 1 has an exact interval; a number
that every resample repeats has none. A test of two shares is McNemar's, which counts; any other is
the bootstrap's as far as its resamples reach, and Student's t with the bootstrap's standard error
beyond: no p-value is limited by how often one resampled.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from groundfault.analysis.rates import edge_interval, paired_edge_interval
from groundfault.metrics import Share
from groundfault.records import Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Metrics = Callable[[Floats], Mapping[str, Floats]]

__all__ = [
    "DEFAULT_RESAMPLES",
    "Difference",
    "Drawn",
    "bootstrap_sums",
    "difference",
    "distinct_rows",
    "draw",
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
_REACH = 10
"""A p-value from fewer resamples than this on the far side of zero is not read off them."""
_SMALLEST = sys.float_info.min
"""No p-value is 0."""
_ALIKE = 1e-3
"""The published evaluator's ε moves a share by less."""
_NO_SHARES: Mapping[str, Share] = MappingProxyType({})


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
        distinct, number = distinct_rows(contributions)
        if len(distinct) * 4 <= n:
            patterns, weights = distinct, np.bincount(number, minlength=len(distinct)) / n
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


def distinct_rows(rows: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """The distinct rows in order, and which of them each row is: what np.unique gives, twenty times
    faster where few differ. Rows are told apart by a random projection first; should that take two
    for one, it is noticed.

    >>> distinct_rows(np.array([[2.0, 1], [0, 5], [2, 1]]))[1].tolist()
    [1, 0, 1]
    """
    weights = np.random.default_rng(0).random(rows.shape[1])
    _, first, number = np.unique(rows @ weights, return_index=True, return_inverse=True)
    found, rank = np.unique(rows[first], axis=0, return_inverse=True)
    number = rank.reshape(-1)[number.reshape(-1)]
    if not np.array_equal(found[number], rows):
        found, number = np.unique(rows, axis=0, return_inverse=True)
    return found, number.reshape(-1).astype(np.int64)


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
    shares: Mapping[str, Share] = _NO_SHARES,
    undefined: Collection[str] = (),
    resamples: int,
    seed: int | Sequence[int],
) -> dict[str, Estimate]:
    """Every metric of the summed contributions with its interval.

    `metrics` maps (…, k) sums to (…) values, NaN where undefined; `support` gives n per metric;
    `shares` says where those that are shares have their parts; those in `undefined` have a value by
    convention only.
    """
    values = metrics(contributions.sum(axis=0, keepdims=True))
    samples: Mapping[str, Floats] = {}
    parts: Mapping[str, _Parts] = {}
    if resamples and len(contributions):
        rng = np.random.default_rng(seed)
        samples = metrics(bootstrap_sums(contributions, resamples, rng))
        parts = _parts(contributions, shares)
    result = {}
    for name, found in values.items():
        value, n = float(found[0]), support[name]
        if not len(contributions) or math.isnan(value):
            result[name] = Estimate(None, n=n)
        elif name in undefined:
            result[name] = Estimate(value, n=n, undefined=True)
        elif name not in samples:
            result[name] = Estimate(value, n=n)
        else:
            exact = _exact_interval(parts[name], value) if name in parts else None
            result[name] = Estimate(value, *(exact or _resampled_interval(samples[name])), n=n)
    return result


class _Parts(NamedTuple):
    """(cases,) what each adds to a share, above and below the line."""

    part: Floats
    whole: Floats
    is_count: bool

    @property
    def times(self) -> float:
        """What the share is multiplied with to give the metric."""
        return float(self.whole.sum()) if self.is_count else 1.0


def _parts(contributions: Floats, shares: Mapping[str, Share]) -> dict[str, _Parts]:
    """The parts of all shares, as one matrix product."""
    weights = np.zeros((contributions.shape[1], 2 * len(shares)))
    for k, share in enumerate(shares.values()):
        np.add.at(weights[:, 2 * k], list(share.part), 1.0)
        np.add.at(weights[:, 2 * k + 1], list(share.whole), 1.0)
    both = np.asfortranarray(contributions @ weights)
    return {
        name: _Parts(both[:, 2 * k], both[:, 2 * k + 1], share.is_count)
        for k, (name, share) in enumerate(shares.items())
    }


def _exact_interval(of: _Parts, value: float) -> tuple[float, float] | None:
    """The interval of a share near 0 or 1; None for others, and where the value is not quite that
    share (accuracies are means over modes, which may have been asked unequally)."""
    n = float(of.whole.sum())
    if not n or abs(float(of.part.sum()) / n - value / of.times) > _ALIKE:
        return None
    ends = edge_interval(of.part, of.whole)
    return ends and (min(ends[0] * of.times, value), max(ends[1] * of.times, value))


def _resampled_interval(samples: Floats) -> tuple[float | None, float | None]:
    """The percentile interval; none where all resamples agree, for then they say nothing."""
    low, high = percentile_interval(samples)
    if low is None or high is None or high - low <= 1e-12 * max(1.0, abs(high)):
        return None, None
    return low, high


class Difference(Estimate, frozen=True, kw_only=True, gc=False):
    """Model A minus model B on the same cases, with a two-sided p-value."""

    p_value: float | None
    method: str = ""
    """What the p-value is from: "McNemar", "bootstrap" or "t"."""


class Drawn(msgspec.Struct, frozen=True, eq=False):
    """A model's metrics, and what they are in resamples that all models share."""

    contributions: Floats
    """(cases, k)"""
    values: Mapping[str, float]
    samples: Mapping[str, Floats]
    """(resamples,) each; empty where there are none."""
    parts: Mapping[str, _Parts]
    """Of metrics that are shares."""


def draw(
    models: Sequence[Floats],
    metrics: Metrics,
    names: Collection[str] | None = None,
    *,
    shares: Mapping[str, Share] = _NO_SHARES,
    resamples: int,
    seed: int | Sequence[int],
) -> list[Drawn]:
    """Resample the cases once for all models, whose contributions have to be of the same cases.
    `names` are the metrics that are wanted, else all; `shares` says which of them are shares."""
    if len({model.shape for model in models}) > 1:
        raise ValueError("both models need contributions of the same cases")
    width, found = models[0].shape[1], []
    sums = bootstrap_sums(np.hstack(models), resamples, np.random.default_rng(seed))
    for k, model in enumerate(models):
        values = metrics(model.sum(axis=0, keepdims=True))
        samples = metrics(sums[:, k * width : (k + 1) * width]) if resamples else {}
        wanted = values if names is None else names
        found.append(
            Drawn(
                model,
                {name: float(values[name][0]) for name in wanted},
                {name: samples[name] for name in wanted if name in samples},
                _parts(model, {name: shares[name] for name in wanted if name in shares}),
            )
        )
    return found


def difference(a: Drawn, b: Drawn, name: str) -> Difference:
    """A minus B in one metric.

    The interval is Tango's for shares that differ in few cases, else the bootstrap's. The p-value
    is that of McNemar's exact test where a case is right or wrong, else the bootstrap's, or
    Student's t beyond its reach.
    """
    value, n = a.values[name] - b.values[name], len(a.contributions)
    if math.isnan(value):
        return Difference(None, n=n, p_value=None)
    apart = a.samples[name] - b.samples[name] if name in a.samples else np.empty(0)
    both = _both(a.parts[name], b.parts[name]) if name in a.parts else None
    low, high = _difference_interval(both, apart)
    if both is not None and both.is_right_or_wrong:
        ahead = both.part_a - both.part_b
        p_value: float | None = mcnemar(int((ahead > 0).sum()), int((ahead < 0).sum()))
        return Difference(value, low, high, n, p_value=p_value, method="McNemar")
    differing = int((a.contributions != b.contributions).any(axis=1).sum())
    p_value, method = _resampled_p(apart, value, n, differing)
    return Difference(value, low, high, n, p_value=p_value, method=method)


class _Both(NamedTuple):
    """A share of two models in the (cases,) that count for both, item for item."""

    part_a: Floats
    part_b: Floats
    whole: Floats
    times: float
    is_all: bool
    """No case counts for one of them only."""

    @property
    def is_right_or_wrong(self) -> bool:
        """Whether a case is one thing that is so or not."""
        single = bool((self.whole == 1).all())
        return single and all(bool(((p == 0) | (p == 1)).all()) for p in (self.part_a, self.part_b))


def _both(a: _Parts, b: _Parts) -> _Both | None:
    """None where the models' shares are of different things: of what each of them predicted."""
    common = (a.whole > 0) & (b.whole > 0)
    if not np.array_equal(a.whole[common], b.whole[common]):
        return None
    lone = (a.whole > 0) ^ (b.whole > 0)
    return _Both(
        a.part[common], b.part[common], a.whole[common], a.times, is_all=not bool(lone.any())
    )


def _difference_interval(both: _Both | None, apart: Floats) -> tuple[float | None, float | None]:
    if both is not None and both.is_all and len(apart):
        ends = paired_edge_interval(both.part_a, both.part_b, both.whole)
        if ends is not None:
            return ends[0] * both.times, ends[1] * both.times
    return _resampled_interval(apart)


def _resampled_p(apart: Floats, value: float, n: int, differing: int) -> tuple[float | None, str]:
    """The two-sided p-value of a difference from its resamples, and where it is from.

    It is never smaller than what exchanging the models' answers case by case could give.
    """
    if not differing:
        return 1.0, "bootstrap"
    drawn = apart[~np.isnan(apart)]
    if len(drawn) < 2:
        return None, ""
    tail = int(min((drawn <= 0).sum(), (drawn >= 0).sum()))
    if tail >= _REACH:
        return float(min(1.0, 2 * (tail + 1) / (len(drawn) + 1))), "bootstrap"
    from scipy.special import stdtr

    error = float(drawn.std(ddof=1)) * math.sqrt(n / max(n - 1, 1))
    p_value = 2 * float(stdtr(max(n - 1, 1), -abs(value) / error)) if error > 0 else 0.0
    return min(1.0, max(p_value, 2.0 ** max(1 - differing, -1000), _SMALLEST)), "t"


def paired_difference(
    contributions_a: Floats,
    contributions_b: Floats,
    metrics: Metrics,
    *,
    shares: Mapping[str, Share] = _NO_SHARES,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int | Sequence[int] = 0,
) -> dict[str, Difference]:
    """Every metric's difference; both models keep the same drawn cases."""
    models = (contributions_a, contributions_b)
    a, b = draw(models, metrics, shares=shares, resamples=resamples, seed=seed)
    return {name: difference(a, b, name) for name in a.values}


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

    return float(min(1.0, max(2 * bdtr(min(only_a_right, only_b_right), n, 0.5), _SMALLEST)))


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
