"""Intervals of shares near 0 and 1: exact coverage, over every outcome of the binomial."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
import scipy.stats

from groundfault.analysis import rates, statistics
from groundfault.metrics import Share

SIZES, SHARES = (9, 20, 60), (0.0, 0.01, 0.05)
Interval = Callable[[int, int], tuple[float, float]]


def coverage(interval: Interval, n: int, p: float) -> float:
    """How often an interval has the true share in it: the sum over all outcomes, not a draw."""
    return math.fsum(
        scipy.stats.binom.pmf(k, n, p)
        for k in range(n + 1)
        for low, high in [interval(k, n)]
        if low <= p <= high
    )


def as_reported(k: int, n: int) -> tuple[float, float]:
    """The interval that a summary gives k of n cases."""
    flags = np.stack([np.arange(n) < k, np.ones(n)], axis=1).astype(float)
    found = statistics.estimates(
        flags,
        lambda sums: {"share": sums[..., 0] / sums[..., 1]},
        {"share": n},
        shares={"share": Share((0,), (1,), is_count=False)},
        resamples=200,
        seed=1,
    )["share"]
    assert found.low is not None and found.high is not None
    assert found.value is not None and found.low <= found.value <= found.high
    return found.low, found.high


@pytest.mark.parametrize(("n", "p"), [*product(SIZES, SHARES)])
def test_clopper_pearson_covers_at_least_95_percent(n: int, p: float) -> None:
    assert coverage(rates.clopper_pearson, n, p) >= 0.95
    assert coverage(rates.clopper_pearson, n, 1 - p) >= 0.95


@pytest.mark.parametrize(("n", "p"), [*product(SIZES, SHARES)])
def test_wilson_covers_at_least_91_percent(n: int, p: float) -> None:
    assert coverage(rates.wilson, n, p) >= 0.91


@pytest.mark.parametrize(("n", "p"), [*product(SIZES, SHARES)])
def test_what_is_reported_covers_at_least_95_percent(n: int, p: float) -> None:
    """Clopper–Pearson near the edges and the bootstrap elsewhere, as summaries have them."""
    assert coverage(as_reported, n, p) >= 0.95


def test_nothing_of_60_is_not_nothing_for_sure() -> None:
    low, high = as_reported(0, 60)
    assert low == 0 and high == pytest.approx(1 - 0.025 ** (1 / 60))
    low, high = as_reported(60, 60)
    assert high == 1 and low == pytest.approx(0.025 ** (1 / 60))


@pytest.mark.parametrize("n", [1, 2, 9, 37, 2146])
def test_against_scipy(n: int) -> None:
    for k in sorted({0, 1, n // 3, n // 2, n - 1, n}):
        exact = scipy.stats.binomtest(k, n).proportion_ci(method="exact")
        assert rates.clopper_pearson(k, n) == pytest.approx(tuple(exact), abs=1e-9)
        wilson = scipy.stats.binomtest(k, n).proportion_ci(method="wilson")
        assert rates.wilson(k, n) == pytest.approx(tuple(wilson), abs=1e-9)


@pytest.mark.parametrize("n", SIZES)
def test_paired_differences_cover_at_least_95_percent(n: int) -> None:
    """Over every number of cases in which only A, or only B, is right."""
    for only_a, only_b in product(SHARES, SHARES):
        covered = 0.0
        for a in range(n + 1):
            for b in range(n + 1 - a):
                weight = scipy.stats.multinomial.pmf(
                    [a, b, n - a - b], n, [only_a, only_b, 1 - only_a - only_b]
                )
                if weight < 1e-7:
                    continue
                low, high = rates.tango(a, b, n)
                covered += weight * (low <= only_a - only_b + 1e-12 and only_a - only_b <= high)
        assert covered >= 0.95


def test_a_paired_interval_has_0_in_it_where_mcnemar_cannot_tell() -> None:
    """Tango's own leaves it out for 0 against 4, where McNemar's exact p is 0.125."""
    n = 60
    for a, b in product(range(8), range(8)):
        if a + b >= rates.FEW:
            continue
        part_a, part_b = np.zeros(n), np.zeros(n)
        part_a[:a], part_b[a : a + b] = 1, 1
        found = rates.paired_edge_interval(part_a, part_b, np.ones(n))
        assert found is not None
        if statistics.mcnemar(a, b) > 0.05:
            assert found[0] <= 0 <= found[1]
    assert rates.tango(0, 4, 60)[1] < 0


@pytest.mark.parametrize("n", [9, 20, 60])
@pytest.mark.parametrize("against", [0, 1])
def test_a_paired_difference_near_100_percent_has_an_interval(n: int, against: int) -> None:
    """One model right everywhere, the other nowhere (or once the other way round): resampling says
    that it could not have been otherwise."""
    for sign in (1, -1):
        part_a, part_b = np.ones(n), np.zeros(n)
        part_a[:against], part_b[:against] = 0, 1
        if sign < 0:
            part_a, part_b = part_b, part_a
        found = rates.paired_edge_interval(part_a, part_b, np.ones(n))
        assert found is not None
        nearer, farther = sorted((sign * found[0], sign * found[1]))
        assert 0 < nearer < 1 - 2 * against / n <= farther <= 1
    half = np.repeat([1.0, 0.0], 30)
    assert rates.paired_edge_interval(half, 1 - half, np.ones(60)) is None


def test_items_of_one_case_are_worth_fewer() -> None:
    """60 questions about 10 pictures, all right: no better than 10 of 10, for all one knows."""
    per_case = np.full(10, 6.0)
    assert rates.effective_n(per_case, per_case) == pytest.approx(10)
    assert rates.edge_interval(per_case, per_case) == rates.clopper_pearson(10, 10)
    # where cases are all right or all wrong, only cases count
    heaps = np.repeat([6.0, 0.0], 20)
    assert rates.effective_n(heaps, np.full(40, 6.0)) == pytest.approx(40)
    # where right and wrong stand mixed in every case, all items do
    mixed = np.tile([3.0, 3.0], 400)
    assert rates.effective_n(mixed, np.full(800, 6.0)) == pytest.approx(4800)


def test_clusters_cover_too() -> None:
    """40 cases of 5 items that all go one way: 95 % for a share of 3 %, where 200 independent
    items are believed to give a quarter of the width. Exact over the number of cases."""
    n, size, p = 40, 5, 0.03
    covered = naive = 0.0
    for k in range(n + 1):
        part = np.where(np.arange(n) < k, float(size), 0.0)
        weight = scipy.stats.binom.pmf(k, n, p)
        ends = rates.edge_interval(part, np.full(n, float(size)))
        if ends is not None:
            covered += weight * (ends[0] <= p <= ends[1])
        low, high = rates.clopper_pearson(k * size, n * size)
        naive += weight * (low <= p <= high)
    assert covered >= 0.95 > 0.75 > naive


def test_far_from_the_edges_cases_are_resampled() -> None:
    assert rates.edge_interval((np.arange(100) < 10).astype(float), np.ones(100)) is None
    assert rates.edge_interval((np.arange(100) < 9).astype(float), np.ones(100)) is not None
    assert rates.edge_interval(np.zeros(3), np.zeros(3)) is None


def test_the_parts_of_every_share_are_columns_of_its_family() -> None:
    """And give the metric's value, with whatever sums."""
    from groundfault.metrics import columns_of, compose, family, shares
    from groundfault.registry import KINDS

    for name in KINDS["metrics"]:
        each = family(name)
        columns = columns_of(each)
        found = shares(columns)
        if name in ("exam", "pcs"):
            assert len(found) > 15
        sums = np.ones((1, len(columns)))
        if name == "target":
            sums[0, 0] = 4  # pairs: one in each cell of p⁺
        values = compose(columns, {"variant": "exact"})(sums)
        for metric, share in found.items():
            part = sums[0, list(share.part)].sum()
            whole = sums[0, list(share.whole)].sum()
            expected = part if share.is_count else part / whole
            assert values[metric][0] == pytest.approx(expected), (name, metric)
