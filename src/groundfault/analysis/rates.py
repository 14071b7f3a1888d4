"""Intervals of shares near 0 and 1, where resampling says that nothing can ever happen.

0 of 60 resampled is 0 of 60 every time. Clopper and Pearson's limits ask which true shares would
give so few, or so many, in one of 40 samples: they cover at least 95 %, whatever n and the share.
Wilson's are narrower and cover 95 % on average, but at single shares as little as 91 %. Tango's
score limits are Wilson's for the difference of two shares of the same cases.

Items of one case are alike, so n items are worth fewer: the effective n (Korn and Graubard) is what
independent items would give the same variance. No case shows how alike they are if all items went
one way, so one more case is thought of in which all went the other way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = [
    "clopper_pearson",
    "edge_interval",
    "effective_n",
    "paired_edge_interval",
    "tango",
    "wilson",
]

Z = 1.959963984540054
"""Of a 95 % interval."""
TAIL = 0.025
FEW = 10.0
"""Fewer than so many items on one side of a share are too few to resample."""
_STEPS = 50


def wilson(k: float, n: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share.

    >>> [round(end, 3) for end in wilson(5, 10)]
    [0.237, 0.763]
    """
    share, z2 = k / n, Z**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(0.0, centre - half), min(1.0, centre + half)


@lru_cache(maxsize=4096)
def clopper_pearson(k: int, n: int) -> tuple[float, float]:
    """Clopper and Pearson's exact 95 % interval of k of n. (Without scipy, whose import takes
    longer than to score a benchmark.)

    >>> [round(end, 4) for end in clopper_pearson(0, 60)], clopper_pearson(60, 60)[1]
    ([0.0, 0.0596], 1.0)
    """
    if 2 * k > n:
        low, high = clopper_pearson(n - k, n)
        return 1 - high, 1 - low
    ways = tuple(
        math.lgamma(n + 1) - math.lgamma(j + 1) - math.lgamma(n - j + 1) for j in range(k + 1)
    )
    low = _root(lambda p: TAIL - 1 + _at_most(ways[:-1], n, p)) if k else 0.0
    return low, _root(lambda p: _at_most(ways, n, p) - TAIL)


def _at_most(ways: Sequence[float], n: int, p: float) -> float:
    """The probability of fewer of n than there are `ways`: logarithms of binomial coefficients."""
    yes, no = math.log(p), math.log1p(-p)
    return math.fsum(math.exp(way + j * yes + (n - j) * no) for j, way in enumerate(ways))


def _root(falling: Callable[[float], float], low: float = 0.0, high: float = 1.0) -> float:
    """Where a function that is positive at first crosses zero."""
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return (low + high) / 2


def tango(only_a: float, only_b: float, n: float) -> tuple[float, float]:
    """Tango's 95 % score interval of (only_a − only_b)/n, the difference of two shares of the same
    n things. (Tango, "Equivalence test and confidence interval for the difference in proportions
    for the paired-sample design", 1998.)

    >>> [round(end, 4) for end in tango(0, 0, 60)]
    [-0.0602, 0.0602]
    """

    def score(difference: float) -> float:
        """Standard errors by which the counts lie above a true difference."""
        of_b = 2 * n - only_a + only_b
        linear = of_b * difference - only_a - only_b
        rest = -only_b * difference * (1 - difference)
        nuisance = (math.sqrt(max(linear**2 - 8 * n * rest, 0.0)) - linear) / (4 * n)
        variance = n * (2 * nuisance + difference * (1 - difference))
        above = only_a - only_b - n * difference
        return above / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, above)

    observed = (only_a - only_b) / n
    low = -1.0 if observed <= -1 else _root(lambda d: score(d) - Z, -1.0, observed)
    high = 1.0 if observed >= 1 else _root(lambda d: score(d) + Z, observed, 1.0)
    return low, high


def effective_n(part: Floats, whole: Floats) -> float:
    """How many independent things the items of (cases,) are worth, of which `part` of `whole` went
    one way in each case.

    >>> effective_n(np.array([0.0, 1, 0]), np.ones(3))
    3.0
    >>> round(effective_n(np.zeros(5), np.full(5, 4.0)), 9)
    5.0
    """
    k, n = float(part.sum()), float(whole.sum())
    more = n / int(np.count_nonzero(whole))
    other = more if 2 * k <= n else 0.0
    share = (k + other) / (n + more)
    spread = float(((part - share * whole) ** 2).sum()) + (other - share * more) ** 2
    return n / max(1.0, spread / (share * (1 - share) * (n + more)))


def edge_interval(part: Floats, whole: Floats) -> tuple[float, float] | None:
    """The exact interval of Σ part / Σ whole over (cases,), if it is near 0 or 1; else None.

    A fractional effective count is rounded outwards.

    >>> edge_interval(np.zeros(60), np.ones(60)) == clopper_pearson(0, 60)
    True
    """
    k, n = float(part.sum()), float(whole.sum())
    if n <= 0 or min(k, n - k) >= 2 * FEW * float(whole.max()):  # a case weighs twice its items
        return None
    worth = effective_n(part, whole)
    share = min(1.0, k / n)
    if min(share, 1 - share) * worth >= FEW - 1e-9:
        return None
    rounded = max(1, math.floor(worth + 1e-9))
    few, many = math.floor(share * rounded + 1e-9), math.ceil(share * rounded - 1e-9)
    return clopper_pearson(few, rounded)[0], clopper_pearson(min(rounded, many), rounded)[1]


def paired_edge_interval(
    part_a: Floats, part_b: Floats, whole: Floats
) -> tuple[float, float] | None:
    """Tango's interval of the difference of two shares of the same (cases,), if they differ in few
    of them, or in all but few and the same way; else None. It is widened to what McNemar's exact
    test leaves open, so that it has 0 in it wherever that test cannot tell them apart."""
    n, ahead = float(whole.sum()), part_a - part_b
    others = min(np.count_nonzero(ahead < whole), np.count_nonzero(ahead > -whole))
    if n <= 0 or min(np.count_nonzero(ahead), others) >= FEW:
        return None
    worth = effective_n(np.abs(ahead), whole)
    only_a, only_b = (float(np.maximum(side, 0).sum()) * worth / n for side in (ahead, -ahead))
    low, high = tango(only_a, only_b, worth)
    differing = round(only_a + only_b)
    if differing:
        ends = clopper_pearson(min(round(only_a), differing), differing)
        least, most = ((2 * end - 1) * differing / worth for end in ends)
        low, high = max(-1.0, min(low, least)), min(1.0, max(high, most))
    return low, high
