"""Exams scored: against sums done by hand, over hostile rows, and with what failed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundfault.analysis.exam import cot_effects, hallucination_rates, position_bias
from groundfault.analysis.summary import summarise
from groundfault.benchmarks import reactbench
from groundfault.benchmarks.reactbench import LAYOUT, LETTERS, Question, Sample, Task
from groundfault.errors import DataError
from groundfault.metrics import exam as metric
from groundfault.protocols.exam import score
from groundfault.published import published_rows
from groundfault.records import MODES, Benchmark, Mode, Outcome, Prediction, Summary, Verdict

FACTS: dict[Task, dict[str, str]] = {
    "erasure": {"erased": "lamp", "relation": "on", "kept": "table"},
    "attribute": {"object": "apple", "usual": "red", "shown": "blue"},
    "tracing": {"operation": "remove", "object": "dog", "location": "the left part"},
    "counting": {"object": "bee", "count": "20"},
}


def exam(
    per_task: int = 2, tasks: tuple[Task, ...] = tuple(LAYOUT), *, controls: int = 0
) -> Benchmark:
    """An exam without pictures: every task in turn, its YN answers yes and no in turn."""
    samples, questions = [], []
    for number, task in product(range(per_task), tasks):
        ids = [f"{task}{number}"]
        if number < controls and task in ("erasure", "attribute"):
            ids.append(f"{task}{number}-control")
        for name in ids:
            facts = FACTS[task] | ({"control": "unedited"} if "control" in name else {})
            samples.append(
                Sample(
                    id=name,
                    task=task,
                    images=(f"{name}.png",),
                    height_px=9,
                    width_px=9,
                    facts=facts,
                )
            )
            for k, (type_, dimension) in enumerate(LAYOUT[task], start=1):
                answer = {"YN": ("no", "yes")[k % 2], "SA": "Nothing.", "MC": LETTERS[k % 4]}[type_]
                questions.append(
                    Question(
                        id=f"{name}:Q{k}",
                        sample_id=name,
                        number=k,
                        type=type_,
                        dimension=dimension,
                        text="?",
                        answer=answer,
                        options=("one", "two", "three", "four") if type_ == "MC" else (),
                    )
                )
    return reactbench.benchmark_of(samples, questions)


def questions_of(exam: Benchmark) -> list[Question]:
    return reactbench.rows_of(exam)[1]


def rows_of(
    exam: Benchmark,
    right: Callable[[Question, Mode], bool] = lambda question, mode: True,
    modes: tuple[Mode, ...] = MODES,
) -> list[Prediction]:
    return [
        answer(question, mode, right(question, mode))
        for question in questions_of(exam)
        for mode in modes
    ]


def answer(question: Question, mode: Mode, right: bool) -> Prediction:
    other = {"yes": "no", "no": "yes", "A": "B"}.get(question.answer, "A")
    verdict: Verdict = "right" if right else "wrong"
    return Prediction(
        item_id=question.id,
        mode=mode,
        outcome=Outcome.OK,
        text="…",
        parsed=question.answer if right else other,
        verdict=verdict,
        judge="rule",
    )


def summary_of(exam: Benchmark, rows: list[Prediction], bootstrap: int = 0) -> Summary:
    return summarise(score(exam, rows), bootstrap=bootstrap, seed=0)


def values_of(summary: Summary, row: str = "Overall") -> dict[str, float | None]:
    return {name: estimate.value for name, estimate in summary.rows[row].metrics.items()}


def test_names_are_those_of_the_benchmark() -> None:
    assert tuple(LAYOUT) == metric.TASKS
    slots = [slot for layout in LAYOUT.values() for slot in layout]
    assert set(metric.TYPES) == {type_ for type_, _ in slots}
    assert set(metric.DIMENSIONS) == {dimension for _, dimension in slots}
    assert metric.MODES == MODES
    assert sum(metric.TASK_WEIGHTS) == sum(metric.TYPE_WEIGHTS) == 1


def test_a_perfect_and_a_hopeless_model() -> None:
    perfect = values_of(summary_of(exam(), rows_of(exam())))
    assert {
        perfect[m]
        for m in (
            "accuracy_std",
            "accuracy_cot",
            "YN",
            "SA",
            "MC",
            "react_score",
            "react_score_plain",
            *metric.DIMENSIONS,
        )
    } == {1.0}
    assert perfect["cot_effect"] == perfect["unparsed_rate"] == 0
    assert (perfect["yes_rate_true"], perfect["yes_rate_false"]) == (1, 0)
    hopeless = values_of(summary_of(exam(), rows_of(exam(), lambda question, mode: False)))
    assert hopeless["react_score"] == hopeless["react_score_plain"] == hopeless["SA"] == 0
    assert (hopeless["yes_rate_true"], hopeless["yes_rate_false"]) == (0, 1)


def by_hand(exam: Benchmark, rows: list[Prediction]) -> tuple[float, float]:
    """React-Score by formula and plain, in plain Python."""
    task_of = {case.id: case.intervention for case in exam.cases}
    questions = {question.id: question for question in questions_of(exam)}
    tally: dict[tuple[str, str, str], list[bool]] = {}
    for row in rows:
        question = questions[row.item_id]
        task = task_of[question.sample_id]
        tally.setdefault((task, row.mode, question.type), []).append(row.verdict == "right")
    formula = plain = 0.0
    for task, weight in zip(LAYOUT, (0.3, 0.2, 0.2, 0.3), strict=True):
        weighted, simple = [], []
        for mode in {row.mode for row in rows}:
            accuracy = {
                t: sum(tally[task, mode, t]) / len(tally[task, mode, t]) for t in metric.TYPES
            }
            weighted.append(0.5 * accuracy["SA"] + 0.25 * accuracy["MC"] + 0.25 * accuracy["YN"])
            flat = [right for t in metric.TYPES for right in tally[task, mode, t]]
            simple.append(sum(flat) / len(flat))
        formula += weight * sum(weighted) / len(weighted)
        plain += weight * sum(simple) / len(simple)
    return formula, plain


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([MODES, ("std",), ("cot",)]))
def test_react_score_is_the_formula(seed: int, modes: tuple[Mode, ...]) -> None:
    rng = np.random.default_rng(seed)
    asked = exam(1)
    rows = rows_of(asked, lambda question, mode: bool(rng.random() < 0.6), modes)
    values = values_of(summary_of(asked, rows))
    assert (values["react_score"], values["react_score_plain"]) == pytest.approx(
        by_hand(asked, rows)
    )


def test_the_papers_rates_give_the_score_of_the_formula_and_not_the_published_one() -> None:
    """PROTOCOLS' example, Qwen3VL-32B-Thinking, has one mode."""
    sums = dict.fromkeys(metric.COLUMNS, 0.0)
    s_task = {}
    for number, task in enumerate(LAYOUT, start=11):
        row = next(
            row
            for row in published_rows(table=f"reactbench/table{number}")
            if row.model == "Qwen3VL-32B-Thinking" and row.setting == "cot"
        )
        rates = {name.removeprefix("hallucination_Q"): rate for name, rate in row.metrics.items()}
        if "1a" in rates:
            rates["1"] = ((rates["1a"] or 0) + (rates["1b"] or 0)) / 2
        accuracy: dict[str, list[float]] = {}
        for k, (type_, _) in enumerate(LAYOUT[task], start=1):
            rate = rates[str(k)]
            assert rate is not None
            accuracy.setdefault(type_, []).append(1 - rate)
            sums[f"cot.{task}.{type_}.right"] += 1000 * (1 - rate)
            sums[f"cot.{task}.{type_}.n"] += 1000
        mean = {type_: sum(values) / len(values) for type_, values in accuracy.items()}
        s_task[task] = 0.5 * mean["SA"] + 0.25 * mean["MC"] + 0.25 * mean["YN"]
    values = metric.metrics(np.array([list(sums.values())]))
    expected = 0.3 * s_task["erasure"] + 0.2 * s_task["attribute"]
    expected += 0.2 * s_task["tracing"] + 0.3 * s_task["counting"]
    assert values["react_score"][0] == pytest.approx(expected)
    assert abs(values["react_score"][0] - 0.653) > 0.02
    assert abs(values["react_score_plain"][0] - 0.653) < 0.01


def test_a_row_of_one_task_has_its_own_score_and_a_lacking_task_leaves_none() -> None:
    asked = exam(1)
    rows = rows_of(asked, lambda question, mode: question.type != "SA")
    summary = summary_of(asked, rows)
    assert values_of(summary, "erasure")["react_score"] == 0.5
    assert values_of(summary)["react_score"] == 0.5
    partial = exam(1, ("erasure", "counting"))
    assert values_of(summary_of(partial, rows_of(partial)))["react_score"] is None
    assert values_of(summary_of(partial, rows_of(partial)), "tracing")["accuracy_std"] is None
    assert summary.rows["erasure"].metrics["none-hint"].value is None
    assert summary.rows["erasure"].metrics["none-hint"].n == 0


def test_a_thinking_model_has_one_mode() -> None:
    asked = exam(1)
    summary = summary_of(asked, rows_of(asked, modes=("cot",)))
    values = values_of(summary)
    assert values["accuracy_std"] is None and values["cot_effect"] is None
    assert values["react_score"] == 1
    assert any("one mode" in note for note in summary.notes)


def with_outcome(row: Prediction, outcome: Outcome) -> Prediction:
    return msgspec.structs.replace(row, outcome=outcome, parsed=None, verdict=None)


def test_unparsed_is_wrong_and_neither_yes_nor_no() -> None:
    asked = exam(1, ("erasure",))
    rows = [
        with_outcome(row, Outcome.UNPARSED) if row.item_id.endswith((":Q1", ":Q2")) else row
        for row in rows_of(asked, modes=("std",))
    ]
    summary = summary_of(asked, rows)
    values = values_of(summary)
    assert values["accuracy_std"] == pytest.approx(10 / 12)
    assert values["unparsed_rate"] == pytest.approx(2 / 12)
    assert summary.rows["Overall"].metrics["yes_rate"].n == 2
    assert values["YN"] == 0.5


def test_failed_is_not_scored_and_bounded() -> None:
    asked = exam(1)
    rows = rows_of(asked)
    rows[0] = with_outcome(rows[0], Outcome.FAILED)
    summary = summary_of(asked, rows)
    assert values_of(summary)["accuracy_std"] == 1
    assert summary.outcomes["failed"] == 1
    n = len(asked.items)
    assert summary.bounds["Overall"]["accuracy_std"] == pytest.approx(((n - 1) / n, 1))
    assert summary.bounds["Overall"]["cot_effect"] == pytest.approx((0, 1 / n))
    low, high = summary.bounds["Overall"]["unparsed_rate"]
    assert low == 0 and high == pytest.approx(1 / (2 * n))
    assert any(f"of {2 * n - 1} of {2 * n}" in note for note in summary.notes)


def test_a_question_that_was_never_asked_counts_as_failed() -> None:
    asked = exam(1)
    rows = rows_of(asked)[:-2]
    summary = summary_of(asked, rows)
    assert summary.outcomes["failed"] == 2
    assert values_of(summary)["accuracy_std"] == 1
    assert summary.bounds["counting"]["accuracy_std"][0] == pytest.approx(7 / 8)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_no_ending_of_the_failed_leaves_the_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    asked = exam(1)
    rows = rows_of(asked, lambda question, mode: bool(rng.random() < 0.5))
    lost = rng.random(len(rows)) < 0.2
    failed = [with_outcome(r, Outcome.FAILED) if f else r for r, f in zip(rows, lost, strict=True)]
    bounds = summary_of(asked, failed).bounds
    if not lost.any():
        return
    for name, value in values_of(summary_of(asked, rows)).items():
        low, high = bounds["Overall"][name]
        if value is not None:
            assert low is not None and high is not None
            assert low - 1e-9 <= value <= high + 1e-9, name


def test_controls_have_a_row_of_their_own_and_are_resampled_with_their_sample() -> None:
    asked = exam(2, controls=2)
    rows = rows_of(asked, lambda question, mode: "control" not in question.id)
    scored = score(asked, rows)
    summary = summarise(scored, bootstrap=0, seed=0)
    assert values_of(summary)["react_score"] == 1
    assert values_of(summary, "control")["accuracy_std"] == 0
    assert len(set(scored.case.tolist())) == 8 and len(scored.case) == 12


def with_twins(per_task: int = 2) -> Benchmark:
    """An exam in which every sample has a twin with other answers."""
    plain = exam(per_task)
    samples, questions = reactbench.rows_of(plain)
    asked: list[Question] = []
    both: list[Sample] = []
    for sample in samples:
        twin = f"{sample.id}-twin"
        facts = sample.facts | {"twin_of": sample.id}
        both += [sample, msgspec.structs.replace(sample, id=twin, facts=facts)]
        own = [question for question in questions if question.sample_id == sample.id]
        asked += own
        for question in own:
            other = {"yes": "no", "no": "yes"}.get(question.answer, "D")
            other = "C" if question.answer == "D" else other
            answer = question.answer if question.type == "SA" else other
            name = f"{twin}:Q{question.number}"
            asked.append(msgspec.structs.replace(question, id=name, sample_id=twin, answer=answer))
    return reactbench.benchmark_of(both, asked)


def test_a_pair_is_right_where_both_twins_are() -> None:
    """By hand: about the twins, the first two questions are answered rightly."""
    asked = with_twins()
    rows = rows_of(asked, lambda question, mode: "twin" not in question.id or question.number < 3)
    summary = summary_of(asked, rows)
    assert values_of(summary)["react_score"] == 1
    assert values_of(summary)["paired_accuracy"] == pytest.approx(8 / 44)
    for task, questions in (("erasure", 12), ("counting", 8)):
        assert values_of(summary, task)["paired_accuracy"] == pytest.approx(2 / questions)
    assert values_of(summary, "twin")["paired_accuracy"] is None
    assert summary.rows["Overall"].metrics["paired_accuracy"].n == 2 * 2 * 44
    assert "paired_accuracy" not in values_of(summary_of(exam(), rows_of(exam())))


def test_unread_pairs_are_wrong_and_failed_ones_are_out() -> None:
    asked = with_twins(1)
    rows = rows_of(asked)

    def ended(outcome: Outcome) -> Summary:
        name = asked.items[-1].id
        changed = [
            msgspec.structs.replace(row, outcome=outcome, verdict=None, parsed=None)
            if row.item_id == name
            else row
            for row in rows
        ]
        return summary_of(asked, changed)

    assert values_of(ended(Outcome.UNPARSED))["paired_accuracy"] == pytest.approx(43 / 44)
    failed = ended(Outcome.FAILED)
    found = failed.rows["Overall"].metrics["paired_accuracy"]
    assert found.value == 1 and found.n == 2 * 43
    assert failed.bounds["Overall"]["paired_accuracy"] == pytest.approx((43 / 44, 1.0))


def test_intervals_are_clustered_by_sample() -> None:
    """All questions of a sample end alike: the interval is that of 8 samples, not 88 answers."""
    asked = exam(4, ("erasure", "attribute"))
    lucky = {case.id for case in asked.cases[::2]}
    rows = rows_of(asked, lambda question, mode: question.sample_id in lucky, ("std",))
    estimate = summary_of(asked, rows, bootstrap=2000).rows["Overall"].metrics["accuracy_std"]
    assert estimate.value == 0.5 and estimate.n == 96
    assert estimate.low is not None and estimate.high is not None
    assert estimate.high - estimate.low > 0.5


def test_what_is_stored_is_enough_to_score_again() -> None:
    scored = score(exam(), rows_of(exam()))
    assert len(scored.contribution_names) == scored.contributions.shape[1]
    again = scored.metrics(scored.contributions.sum(axis=0, keepdims=True))
    assert again["react_score"][0] == 1
    columns = scored.columns()
    assert columns["std_verdicts"][0].split(" ") == ["right"] * 12
    assert {len(column) for column in columns.values()} == {len(scored.case)}


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda rows: [*rows, rows[0]], "twice"),
        (lambda rows: [msgspec.structs.replace(rows[0], verdict=None), *rows[1:]], "no verdict"),
        (lambda rows: [msgspec.structs.replace(rows[0], item_id="x"), *rows[1:]], "no such"),
        (lambda rows: [], "not one answer"),
    ],
)
def test_unsound_rows_are_refused(
    spoil: Callable[[list[Prediction]], list[Prediction]], words: str
) -> None:
    with pytest.raises(DataError, match=words):
        score(exam(1), spoil(rows_of(exam(1))))


def test_questions_of_another_kind_are_refused() -> None:
    asked = exam(1)
    rows, first = rows_of(asked), asked.items[0]
    masks = msgspec.structs.replace(first, answer=None)
    odd = msgspec.structs.replace(
        first, answer=msgspec.structs.replace(first.answer, dimension="odd")
    )
    for item, words in ((masks, "asks for masks"), (odd, "its dimension is 'odd'")):
        changed = msgspec.structs.replace(asked, items=(item, *asked.items[1:]))
        with pytest.raises(DataError, match=words):
            score(changed, rows)
    renamed = msgspec.structs.replace(asked.cases[0], intervention="sorting")
    changed = msgspec.structs.replace(asked, cases=(renamed, *asked.cases[1:]))
    with pytest.raises(DataError, match="its task is 'sorting'"):
        score(changed, rows)


def test_the_effect_of_reasoning_is_tested_on_the_same_questions() -> None:
    asked = exam(6)
    rows = rows_of(asked, lambda question, mode: mode == "std" or question.number > 3)
    effects = cot_effects(asked, rows, resamples=500)
    erasure = effects["erasure"]
    assert (erasure.std, erasure.cot) == (1, 0.75)
    assert erasure.difference.value == -0.25
    assert (erasure.only_std_right, erasure.only_cot_right) == (18, 0)
    assert erasure.p_mcnemar < 0.001
    assert erasure.p_bootstrap is not None and erasure.p_holm is not None
    assert erasure.p_holm >= erasure.p_bootstrap
    assert set(effects) == {"Overall", *metric.TASKS}
    assert cot_effects(asked, rows_of(asked, modes=("cot",))) == {}


def test_no_effect_is_no_effect() -> None:
    asked = exam(4)
    effects = cot_effects(asked, rows_of(asked), resamples=200)
    assert effects["Overall"].difference.value == 0
    assert effects["Overall"].p_mcnemar == effects["Overall"].p_bootstrap == 1


def test_rates_per_question() -> None:
    asked = exam(2)
    rows = rows_of(asked, lambda question, mode: not (question.number == 3 and mode == "cot"))
    rates = hallucination_rates(asked, rows)
    wrong = {name: rate.value for name, rate in rates["counting"]["cot"].items()}
    assert wrong == {f"Q{k}": float(k == 3) for k in range(1, 9)}
    assert [rate.n for rate in rates["tracing"]["std"].values()] == [2] * 12
    assert {rate.value for rate in rates["tracing"]["std"].values()} == {0}


def test_position_bias_of_a_model_that_always_says_a() -> None:
    asked = exam(10)
    rows = [
        msgspec.structs.replace(row, parsed="A", verdict="right" if row.parsed == "A" else "wrong")
        if row.parsed in tuple("ABCD")
        else row
        for row in rows_of(asked, modes=("std",))
    ]
    bias = position_bias(asked, rows)["std"]
    offered, right, chosen, hit = bias.letters["A"]
    assert chosen == offered and hit == right
    assert bias.letters["B"][2] == 0
    assert bias.p_value is not None and bias.p_value < 1e-6
    fair = position_bias(asked, rows_of(asked, modes=("std",)))["std"]
    assert fair.p_value == 1
