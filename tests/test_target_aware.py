"""The target-aware cells against their definition, pair by pair."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundfault.matching.intake import FAILED, OK, UNPARSED
from groundfault.matching.overlaps import Overlaps, Truth
from groundfault.metrics import target_aware

LEVELS = st.sampled_from([0.0, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0])
answers = st.lists(st.tuples(LEVELS, LEVELS), max_size=4)
sets = st.lists(st.tuples(answers, answers), min_size=1, max_size=8)


def overlaps_of(
    drawn: Any, outcome: list[int] | None = None
) -> tuple[Overlaps, target_aware.Pairs]:
    rows = [
        (2 * pair + side, score, iou)
        for pair, sides in enumerate(drawn)
        for side, answered in enumerate(sides)
        for score, iou in answered
    ]
    n_items, n = 2 * len(drawn), len(rows)
    truth = Truth(np.ones(n_items, bool), np.zeros(n_items, int), np.empty(0), np.zeros(n + 1, int))
    overlaps = Overlaps(
        n_items=n_items,
        item=np.array([row[0] for row in rows], int),
        score=np.array([row[1] for row in rows], float),
        declared=np.ones(n, bool),
        target_iou=np.array([row[2] for row in rows], float),
        truths=(truth,),
        outcome=np.array(outcome or [OK] * n_items, np.int8),
        n_silent=0,
    )
    index = np.arange(len(drawn))
    return overlaps, target_aware.Pairs(2 * index, 2 * index + 1)


def cells(positive: Any, negative: Any, t: float, tau: float) -> tuple[str, str, bool]:
    def some(answered: Any, test: Any) -> bool:
        return any(test(score >= t, iou >= tau) for score, iou in answered)

    if some(positive, lambda accepted, aligned: accepted and aligned):
        first = "TA-TP"
    elif some(positive, lambda accepted, _: accepted):
        first = "UA-P"
    else:
        first = "TA-FN" if some(positive, lambda _, aligned: aligned) else "UA-FN"
    if some(negative, lambda accepted, aligned: accepted and aligned):
        second = "TA-FP"
    else:
        second = "UA-FP" if some(negative, lambda accepted, _: accepted) else "TN"
    highest = [max((score for score, _ in side), default=0.0) for side in (positive, negative)]
    return first, second, highest[1] > highest[0]


@settings(max_examples=200, deadline=None)
@given(sets, st.sampled_from([0.2, 0.5, 0.9]), st.sampled_from([0.3, 0.5, 0.9]))
def test_cells_and_rates(drawn: Any, t: float, tau: float) -> None:
    overlaps, pairs = overlaps_of(drawn)
    scores = target_aware.score(overlaps, pairs, t=t, tau=tau)
    expected = [cells(*sides, t, tau) for sides in drawn]
    for number, (first, second, swapped) in enumerate(expected):
        assert target_aware.POSITIVE_CELLS[scores.positive_cell[number]] == first
        assert target_aware.NEGATIVE_CELLS[scores.negative_cell[number]] == second
        assert scores.soft_swap[number] == swapped
    n = len(drawn)
    values = target_aware.metrics(target_aware.contributions(scores).sum(axis=0))
    lost_and = [second for first, second, _ in expected if first != "TA-TP"]
    assert values["AFPR"] == sum(cell[1] == "TA-FP" for cell in expected) / n
    assert values["IL-FPR"] == pytest.approx(values["AFPR"] + values["UFPR"], abs=0)
    assert values["ACSR"] == lost_and.count("TA-FP") / n
    assert values["UCSR"] == lost_and.count("UA-FP") / n
    assert values["CSR"] == pytest.approx(values["ACSR"] + values["UCSR"], abs=0)
    assert values["ACSR"] <= values["AFPR"] and values["UCSR"] <= values["UFPR"]
    assert values["lost"] == sum(first != "TA-TP" for first, _, _ in expected)
    assert sum(values[cell] for cell in target_aware.POSITIVE_CELLS) == n
    assert sum(values[cell] for cell in target_aware.NEGATIVE_CELLS) == n


@settings(max_examples=50, deadline=None)
@given(sets)
def test_raising_a_threshold_never_adds_aligned_false_positives(drawn: Any) -> None:
    overlaps, pairs = overlaps_of(drawn)

    def afpr(t: float, tau: float) -> float:
        scores = target_aware.score(overlaps, pairs, t=t, tau=tau)
        return float(target_aware.metrics(target_aware.contributions(scores).sum(axis=0))["AFPR"])

    assert afpr(0.7, 0.3) <= afpr(0.5, 0.3)
    assert afpr(0.5, 0.5) <= afpr(0.5, 0.3)


def test_no_pairs_is_undefined() -> None:
    values = target_aware.metrics(np.zeros(len(target_aware.COLUMNS)))
    assert all(np.isnan(value) for value in values.values())


@pytest.mark.parametrize(
    ("target_iou", "own_iou", "cell"),
    [(0.0, 0.9, "TN"), (0.0, 0.1, "UA-FP"), (0.9, 0.0, "TA-FP"), (0.4, 0.4, "TA-FP")],
)
def test_a_mask_on_what_the_misleading_phrase_is_true_of_is_no_false_positive(
    target_iou: float, own_iou: float, cell: str
) -> None:
    overlaps, pairs = overlaps_of([([(0.6, 0.9)], [(0.8, target_iou)])])
    (truth,) = overlaps.truths
    truth = msgspec.structs.replace(
        truth,
        n_objects=np.array([0, 2]),
        iou=np.array([0.0, own_iou]),
        row_start=np.array([0, 0, 2]),
    )
    overlaps = msgspec.structs.replace(overlaps, truths=(truth,))
    scores = target_aware.score(overlaps, pairs, t=0.5, tau=0.3)
    assert target_aware.NEGATIVE_CELLS[scores.negative_cell[0]] == cell
    assert scores.soft_swap[0] == (cell != "TN")


def test_unparsed_is_never_a_true_negative() -> None:
    overlaps, pairs = overlaps_of([([], [])], outcome=[UNPARSED, UNPARSED])
    scores = target_aware.score(overlaps, pairs, t=0.5, tau=0.3)
    assert target_aware.POSITIVE_CELLS[scores.positive_cell[0]] == "UA-FN"
    assert target_aware.NEGATIVE_CELLS[scores.negative_cell[0]] == "UA-FP"
    assert scores.soft_swap[0]


def test_failed_pair_is_left_out_and_imputed() -> None:
    right = ([(0.9, 0.9)], [])
    overlaps, pairs = overlaps_of([right, right], outcome=[OK, OK, OK, FAILED])
    scores = target_aware.score(overlaps, pairs, t=0.5, tau=0.3)
    assert target_aware.contributions(scores)[:, 0].tolist() == [1.0, 0.0]
    failed = overlaps.outcome == FAILED
    rates = {}
    for how in ("right", "wrong", "astray"):
        imputed = target_aware.impute(scores, failed[pairs.positive], failed[pairs.negative], how)
        sums = target_aware.contributions(imputed).sum(axis=0)
        rates[how] = [float(target_aware.metrics(sums)[name]) for name in ("AFPR", "UFPR")]
    assert rates == {"right": [0.0, 0.0], "wrong": [0.5, 0.0], "astray": [0.0, 0.5]}


def test_parity_reads_no_mask_of_a_negative() -> None:
    """Two pairs whose p⁻ is true of something else, accepted there: the published script counts
    both as false positives elsewhere, and their scores against p⁺; `exact` excuses them. A third
    is accepted on the target, which nothing excuses."""
    beside, on_target = [(0.9, 0.0)], [(0.9, 0.8)]
    found = [(0.7, 0.9)]
    overlaps, pairs = overlaps_of([(found, beside), (found, beside), (found, on_target)])
    n_objects = np.array([1, 1, 1, 1, 1, 1])
    own = np.array([0.9, 0.95, 0.9, 0.95, 0.9, 0.1])  # of each prediction with its phrase's object
    truth = Truth(np.ones(6, bool), n_objects, own, np.arange(7))
    overlaps = msgspec.structs.replace(overlaps, truths=(truth,))
    values = {
        variant: target_aware.metrics(
            target_aware.contributions(
                target_aware.score(overlaps, pairs, t=0.5, tau=0.3, variant=variant)
            ).sum(axis=0)
        )
        for variant in ("parity", "exact")
    }
    assert values["parity"]["UFPR"] == pytest.approx(2 / 3) and values["exact"]["UFPR"] == 0
    assert values["parity"]["SoftSwap"] == 1 and values["exact"]["SoftSwap"] == pytest.approx(1 / 3)
    for variant in values:
        assert values[variant]["AFPR"] == pytest.approx(1 / 3)
