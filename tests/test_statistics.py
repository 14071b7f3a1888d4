"""Resampling, tests and corrections against independent references."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from groundfault.analysis import statistics
from groundfault.metrics import Share
from groundfault.protocols.replacement import normal_halfwidth


def mean_metric(sums: np.ndarray) -> dict[str, np.ndarray]:
    return {"mean": sums[..., 0] / sums[..., 1]}


def test_resampled_sums_are_sums_of_drawn_rows() -> None:
    rows = np.arange(12.0).reshape(4, 3)
    sums = statistics.bootstrap_sums(rows, 50, np.random.default_rng(1))
    draws = np.random.default_rng(1).integers(0, 4, size=(50, 4), dtype=np.int32)
    np.testing.assert_allclose(sums, rows[draws].sum(axis=1))


def test_patterns_have_the_same_distribution_as_cases() -> None:
    """Above the limit, equal cases are drawn by multiplicity; mean and spread must not change."""
    rng = np.random.default_rng(5)
    rows = (rng.random((6000, 1)) < 0.3).astype(float)
    drawn = statistics.bootstrap_sums(rows, 4000, np.random.default_rng(2)).ravel() / 6000
    p = rows.mean()
    assert drawn.mean() == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 6000 / 4000))
    assert drawn.std() == pytest.approx(np.sqrt(p * (1 - p) / 6000), rel=0.06)


def test_chunks_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(0).random((40, 2))
    whole = statistics.bootstrap_sums(rows, 100, np.random.default_rng(3))
    monkeypatch.setattr(statistics, "_CHUNK_DRAWS", 40 * 7)
    np.testing.assert_allclose(
        statistics.bootstrap_sums(rows, 100, np.random.default_rng(3)), whole
    )


def test_interval_covers_as_often_as_it_says() -> None:
    """95 % intervals of a mean of 100 coin flips, 300 times: coverage near 95 %."""
    rng = np.random.default_rng(11)
    covered = 0
    for trial in range(300):
        flips = np.stack([rng.random(100) < 0.3, np.ones(100)], axis=1).astype(float)
        found = statistics.estimates(flips, mean_metric, {"mean": 100}, resamples=400, seed=trial)
        covered += found["mean"].low <= 0.3 <= found["mean"].high
    assert 0.90 <= covered / 300 <= 0.98


def test_estimates_are_reproducible_and_undefined_is_none() -> None:
    rows = np.stack([np.arange(10.0), np.ones(10)], axis=1)
    first, second = (
        statistics.estimates(rows, mean_metric, {"mean": 10}, resamples=200, seed=4)
        for _ in range(2)
    )
    assert first == second
    assert first["mean"].low < first["mean"].value < first["mean"].high
    with np.errstate(invalid="ignore", divide="ignore"):
        nothing = statistics.estimates(
            np.zeros((3, 2)), mean_metric, {"mean": 0}, resamples=50, seed=0
        )
    assert nothing["mean"].value is None and nothing["mean"].low is None
    without = statistics.estimates(rows, mean_metric, {"mean": 10}, resamples=0, seed=0)
    assert without["mean"].low is None and without["mean"].value == 4.5


def test_paired_difference_sees_what_pairing_gives() -> None:
    """A constant gain hidden in large common noise: paired, it is certain."""
    rng = np.random.default_rng(7)
    common = rng.normal(0, 10, 200)
    ones = np.ones(200)
    a, b = np.stack([common + 0.5, ones], axis=1), np.stack([common, ones], axis=1)
    found = statistics.paired_difference(a, b, mean_metric, resamples=2000, seed=1)["mean"]
    assert found.value == pytest.approx(0.5)
    assert (found.low, found.high) == (None, None)  # every resample repeats it
    assert found.p_value == pytest.approx(2.0**-199) and found.method == "t"
    same = statistics.paired_difference(a, a, mean_metric, resamples=500, seed=1)["mean"]
    assert (same.value, same.p_value) == (0.0, 1.0)
    with pytest.raises(ValueError, match="same cases"):
        statistics.paired_difference(a, b[:-1], mean_metric)


def test_a_p_value_is_not_limited_by_resamples() -> None:
    """A gain of 0.8 standard deviations in 120 cases, told by 1,000 resamples: as Student's t."""
    rng = np.random.default_rng(3)
    common, gain = rng.normal(0, 10, 120), rng.normal(0.8, 1, 120)
    ones = np.ones(120)
    a, b = np.stack([common + gain, ones], axis=1), np.stack([common, ones], axis=1)
    found = statistics.paired_difference(a, b, mean_metric, resamples=1000, seed=1)["mean"]
    expected = scipy.stats.ttest_1samp(gain, 0).pvalue
    assert found.method == "t" and expected < 1e-10
    assert np.log10(found.p_value) == pytest.approx(np.log10(expected), abs=1.5)
    weak = np.stack([common + gain / 8 + rng.normal(0, 1, 120), ones], axis=1)
    within = statistics.paired_difference(weak, b, mean_metric, resamples=1000, seed=1)["mean"]
    assert within.method == "bootstrap" and within.p_value > 0.02


def test_shares_are_tested_by_counting() -> None:
    """30 cases that A alone has right, 2 that B alone has: McNemar's, and no resample is needed."""
    right_a = np.array([True] * 30 + [False] * 2 + [True] * 28)
    right_b = np.array([False] * 30 + [True] * 2 + [True] * 28)
    a, b = (np.stack([right, np.ones(60)], axis=1).astype(float) for right in (right_a, right_b))
    share = {"mean": Share((0,), (1,), is_count=False)}
    for resamples in (0, 300):
        found = statistics.paired_difference(
            a, b, mean_metric, shares=share, resamples=resamples, seed=1
        )["mean"]
        assert found.p_value == statistics.mcnemar(30, 2) and found.method == "McNemar"
        assert (found.low is None) == (resamples == 0)
    # a case that failed in one of them is no pair
    a[0] = 0
    found = statistics.paired_difference(a, b, mean_metric, shares=share, resamples=300)["mean"]
    assert found.p_value == statistics.mcnemar(29, 2)


def test_few_cases_never_say_much() -> None:
    """Five cases that all say the same are no more than five tosses of a coin."""
    ones = np.ones(5)
    a, b = np.stack([ones * 0.9, ones], axis=1), np.stack([ones * 0.2, ones], axis=1)
    found = statistics.paired_difference(a, b, mean_metric, resamples=1000, seed=1)["mean"]
    assert found.p_value == 2.0**-4


def test_no_p_value_is_0() -> None:
    assert 0 < statistics.mcnemar(5000, 0) < 1e-300


def test_identical_models_may_still_differ() -> None:
    same = np.stack([np.zeros(60), np.ones(60)], axis=1)
    share = {"mean": Share((0,), (1,), is_count=False)}
    found = statistics.paired_difference(same, same, mean_metric, shares=share, resamples=100)
    assert found["mean"].p_value == 1
    assert found["mean"].high == pytest.approx(0.0602, abs=1e-4) == -found["mean"].low


def test_a_number_that_every_resample_repeats_has_no_interval() -> None:
    rows = np.stack([np.full(40, 0.25), np.ones(40)], axis=1)
    found = statistics.estimates(rows, mean_metric, {"mean": 40}, resamples=100, seed=0)["mean"]
    assert (found.value, found.low, found.high) == (0.25, None, None)


@given(st.integers(0, 60), st.integers(0, 60))
@settings(max_examples=60, deadline=None)
def test_mcnemar_is_the_exact_binomial_test(only_a: int, only_b: int) -> None:
    expected = 1.0
    if only_a + only_b:
        expected = scipy.stats.binomtest(only_a, only_a + only_b, 0.5).pvalue
    assert statistics.mcnemar(only_a, only_b) == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_against_its_definition(p_values: list[float]) -> None:
    adjusted = statistics.holm(dict(enumerate(p_values)))
    order = sorted(range(len(p_values)), key=lambda k: p_values[k])
    for rank, k in enumerate(order):
        steps = [min(1.0, p_values[order[j]] * (len(p_values) - j)) for j in range(rank + 1)]
        assert adjusted[k] == pytest.approx(max(steps))
    assert all(adjusted[k] >= p for k, p in enumerate(p_values))


def test_normal_halfwidth() -> None:
    values = np.array([0.2, 0.4, 0.9, np.nan])
    s = np.std([0.2, 0.4, 0.9], ddof=1)
    assert normal_halfwidth(values) == pytest.approx(1.96 * s / np.sqrt(3))
    assert normal_halfwidth(np.array([1.0])) is None


def test_ties_share_ranks() -> None:
    ranks = statistics.shared_ranks(
        {"a": 0.1, "b": 0.11, "c": 0.5}, lambda x, y: "c" in (x, y), higher_is_better=False
    )
    assert ranks == {"a": 1, "b": 1, "c": 3}


def test_two_ties_in_a_row_are_no_tie() -> None:
    """Of 4, 11, 26 and 50, only 11 and 26, and 26 and 50, cannot be told apart."""
    values = {"a": 4.0, "b": 11.0, "c": 26.0, "d": 50.0}
    ties = ({"b", "c"}, {"c", "d"})
    ranks = statistics.shared_ranks(values, lambda x, y: {x, y} not in ties, higher_is_better=False)
    assert ranks == {"a": 1, "b": 2, "c": 2, "d": 3}
    told = statistics.shared_ranks(values, lambda x, y: {x, y} == {"b", "d"}, higher_is_better=True)
    assert told == {"a": 1, "b": 2, "c": 1, "d": 1}
