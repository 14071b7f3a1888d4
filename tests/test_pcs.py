"""The cgF1 family against an independent reference: plain loops over pixel arrays."""

from __future__ import annotations

import itertools
import math
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from groundfault.analysis.summary import summarise
from groundfault.io.coco import Result, file_records
from groundfault.io.masks import encode
from groundfault.matching.overlaps import Overlaps, compare_predictions
from groundfault.metrics import pcs
from groundfault.protocols import concepts
from groundfault.records import Benchmark, Card, Case, Estimate, Item, Outcome, Region, Role

CARD = Card(name="saco", title="", source="", licence="", citation="", main_metric="cgF1")
SIZE = (6, 6)
THETAS = [0.5 + 0.05 * k for k in range(10)]

boxes = st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 6), st.integers(1, 6))
pairs = st.lists(
    st.tuples(
        st.lists(boxes, max_size=3),
        st.lists(st.tuples(boxes, st.sampled_from([0.1, 0.5, 0.7, 0.9])), max_size=3),
    ),
    min_size=1,
    max_size=6,
)


def pixels(box: tuple[int, int, int, int]) -> Any:
    x, y, width, height = box
    mask = np.zeros(SIZE, bool)
    mask[y : y + height, x : x + width] = True
    return mask


def make(drawn: Any) -> tuple[Benchmark, list[Result]]:
    cases, items, results = [], [], []
    for number, (objects, predictions) in enumerate(drawn):
        cases.append(Case(id=str(number)))
        items.append(
            Item(
                id=str(number),
                case_id=str(number),
                role=Role.POSITIVE,
                images=("",),
                height_px=SIZE[0],
                width_px=SIZE[1],
                query="",
                regions=tuple(Region(encode(pixels(box))) for box in objects),
            )
        )
        results += [
            Result(image_id=number, score=score, segmentation={**encode(pixels(box))})
            for box, score in predictions
        ]
    return Benchmark(card=CARD, cases=tuple(cases), items=tuple(items)), results


def overlaps_of(benchmark: Benchmark, results: list[Result]) -> Overlaps:
    return compare_predictions(benchmark, file_records([(0, results)], "p"), need_target=False)


def metrics_of(
    benchmark: Benchmark, results: list[Result], variant: str, t: float = 0.5
) -> dict[str, Estimate]:
    scored = concepts.score(
        benchmark, overlaps_of(benchmark, results), t=t, tau=None, iou="segm", variant=variant
    )
    return summarise(scored, bootstrap=0, seed=0).rows["Overall"].metrics


def reference(drawn: Any, t: float) -> dict[str, float | None]:
    """`exact`, by the definitions: best assignment by trying all, no ε, undefined is None."""
    tp, fp, fn, positive_fp = ([0] * 10 for _ in range(4))
    f1_sums, n_positive = [0.0] * 10, 0
    il = {"tp": 0, "fp": 0, "tn": 0, "fn": 0}
    for objects, predictions in drawn:
        truth = [pixels(box) for box in objects]
        accepted = [pixels(box) for box, score in predictions if score >= t]
        il[("t" if bool(truth) == bool(accepted) else "f") + ("p" if accepted else "n")] += 1
        matched = best_assignment(accepted, truth)
        n_positive += bool(truth)
        for k, theta in enumerate(THETAS):
            hits = sum(iou >= theta - 1e-12 for iou in matched)
            tp[k] += hits
            fp[k] += len(accepted) - hits
            fn[k] += len(truth) - hits
            if truth:
                positive_fp[k] += len(accepted) - hits
                f1_sums[k] += 2 * hits / (len(accepted) + len(truth))

    def ratio(a: float, b: float) -> float | None:
        return a / b if b else None

    def mean(values: list[float | None]) -> float | None:
        return None if None in values else sum(values) / len(values)  # type: ignore[arg-type]

    micro = [ratio(2 * tp[k], 2 * tp[k] + positive_fp[k] + fn[k]) for k in range(10)]
    root = math.sqrt(
        (il["tp"] + il["fp"])
        * (il["tp"] + il["fn"])
        * (il["tn"] + il["fp"])
        * (il["tn"] + il["fn"])
    )
    mcc = ratio(il["tp"] * il["tn"] - il["fp"] * il["fn"], root)
    return {
        "precision": mean([ratio(tp[k], tp[k] + fp[k]) for k in range(10)]),
        "recall": mean([ratio(tp[k], tp[k] + fn[k]) for k in range(10)]),
        "positive_micro_F1": mean(micro),
        "positive_macro_F1": mean([ratio(total, n_positive) for total in f1_sums]),
        "IL_MCC": mcc,
        "IL_FPR": ratio(il["fp"], il["fp"] + il["tn"]),
        "cgF1": None if mcc is None or mean(micro) is None else mcc * mean(micro),  # type: ignore[operator]
        "cgF1@0.75": None if mcc is None or micro[5] is None else mcc * micro[5],
    }


def best_assignment(accepted: list[Any], truth: list[Any]) -> list[float]:
    """IoU of the assigned pairs. Where two assignments have the same sum but other pairs, the
    definition leaves the choice open (ours is scipy's, as published): such draws are left out."""
    if not accepted or not truth:
        return []
    iou = [[(a & b).sum() / (a | b).sum() for b in truth] for a in accepted]
    few, many = sorted((len(accepted), len(truth)))
    candidates = []
    for chosen in itertools.permutations(range(many), few):
        pairs = enumerate(chosen)
        values = (
            [iou[i][j] for i, j in pairs] if few == len(accepted) else [iou[j][i] for i, j in pairs]
        )
        candidates.append(sorted(values))
    highest = max(map(sum, candidates))
    best = [values for values in candidates if sum(values) > highest - 1e-9]
    assume(all(np.allclose(values, best[0]) for values in best))
    return best[0]


@settings(max_examples=150, deadline=None)
@given(pairs)
@example([([(3, 1, 1, 2), (3, 0, 3, 3)], [((3, 0, 2, 3), 0.5), ((3, 0, 3, 1), 0.5)])])
def test_exact_equals_reference(drawn: Any) -> None:
    ours = metrics_of(*make(drawn), "exact")
    for name, expected in reference(drawn, 0.5).items():
        if expected is None:
            assert ours[name].value is None, name
        elif name != "positive_macro_F1" or ours[name].value is not None:
            assert ours[name].value == pytest.approx(expected, abs=1e-9), name


@settings(max_examples=60, deadline=None)
@given(pairs)
def test_bounds_and_identities(drawn: Any) -> None:
    for variant in ("parity", "exact"):
        values = {name: e.value for name, e in metrics_of(*make(drawn), variant).items()}
        for name, value in values.items():
            low = -1 if name.startswith(("cgF1", "IL_MCC")) else 0
            assert value is None or low <= value <= 1
        if values["cgF1"] is not None and values["IL_MCC"] != -1:
            product = values["positive_micro_F1"] * values["IL_MCC"]
            assert values["cgF1"] == pytest.approx(product, abs=1e-12)


def test_variants_differ_by_epsilon_only_where_all_positives_answer() -> None:
    drawn = [([(0, 0, 3, 3)], [((0, 0, 3, 3), 0.9)]), ([], [])]
    parity, exact = (metrics_of(*make(drawn), v)["cgF1"].value for v in ("parity", "exact"))
    assert exact == 1.0
    assert parity == pytest.approx(1.0, abs=1e-3) and parity != exact


def test_macro_denominator_is_the_difference() -> None:
    """One positive found, one missed: parity averages over the answered, exact over all."""
    drawn = [([(0, 0, 3, 3)], [((0, 0, 3, 3), 0.9)]), ([(0, 0, 3, 3)], [])]
    assert metrics_of(*make(drawn), "parity")["positive_macro_F1"].value == pytest.approx(
        1, abs=1e-3
    )
    assert metrics_of(*make(drawn), "exact")["positive_macro_F1"].value == 0.5


def test_nothing_asked_is_undefined() -> None:
    benchmark, results = make([([(0, 0, 3, 3)], [])])
    items = tuple(msgspec.structs.replace(item, exhaustive=False) for item in benchmark.items)
    left_out = msgspec.structs.replace(benchmark, items=items)
    ours = metrics_of(left_out, results, "parity")
    assert all(estimate.value is None and estimate.n == 0 for estimate in ours.values())


def test_unparsed_is_wrong_on_both_sides() -> None:
    """Never a rejection: on an absent concept an unreadable answer is a false alarm."""
    drawn = [([(0, 0, 3, 3)], []), ([], [])]
    benchmark, _ = make(drawn)
    unreadable = [Result(image_id=k, outcome=Outcome.UNPARSED) for k in range(2)]
    ours = metrics_of(benchmark, unreadable, "exact")
    assert (ours["IL_recall"].value, ours["IL_FPR"].value) == (0.0, 1.0)
    silent = metrics_of(benchmark, [], "exact")
    assert (silent["IL_recall"].value, silent["IL_FPR"].value) == (0.0, 0.0)


def test_failed_items_are_bounded_not_scored() -> None:
    drawn = [([(0, 0, 3, 3)], [((0, 0, 3, 3), 0.9)]), ([], []), ([(0, 0, 3, 3)], []), ([], [])]
    benchmark, results = make(drawn)
    failures = [Result(image_id=k, outcome=Outcome.FAILED) for k in (2, 3)]
    scored = concepts.score(
        benchmark,
        overlaps_of(benchmark, results + failures),
        t=0.5,
        tau=None,
        iou="segm",
        variant="exact",
    )
    summary = summarise(scored, bootstrap=0, seed=0)
    metrics = summary.rows["Overall"].metrics
    assert metrics["IL_recall"].value == 1.0 and metrics["IL_recall"].n == 1
    assert summary.bounds["Overall"]["IL_recall"] == (0.5, 1.0)
    assert summary.bounds["Overall"]["IL_FPR"] == (0.0, 0.5)
    assert summary.outcomes["failed"] == 2
    assert any("2 of 4 items failed" in note for note in summary.notes)


def test_contributions_add_up() -> None:
    """Summing any split of the items gives what all of them give."""
    rng = np.random.default_rng(3)
    drawn = [
        ([(0, 0, 3, 3)] * int(rng.integers(0, 3)), [((0, 0, 3, 2), float(rng.random()))] * 2)
        for _ in range(20)
    ]
    benchmark, results = make(drawn)
    counts = pcs.count(overlaps_of(benchmark, results), np.ones(20, bool), t=0.5, variant="parity")
    rows = pcs.contributions(counts, variant="parity")
    whole = pcs.metrics(rows.sum(axis=0), variant="parity")
    halves = rows[:7].sum(axis=0) + rows[7:].sum(axis=0)
    assert pcs.metrics(halves, variant="parity")["cgF1"] == whole["cgF1"]
