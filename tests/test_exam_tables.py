"""Exam tables: the paper's layouts, ours beside the published rows."""

from __future__ import annotations

from groundfault.analysis.exam import cot_effects, hallucination_rates, position_bias
from groundfault.analysis.summary import summarise
from groundfault.benchmarks.reactbench import LAYOUT, Question, Sample, benchmark_of, rows_of
from groundfault.judges.card import Agreement, JudgeCard, agreement
from groundfault.protocols.exam import score
from groundfault.records import MODES, Benchmark, Outcome, Prediction, Summary
from groundfault.reports.exams import (
    cause_bars,
    cause_table,
    cause_tables,
    cot_table,
    dimension_tables,
    heat_map,
    judge_table,
    overall_table,
    position_table,
    question_tables,
    yes_table,
)
from groundfault.reports.tables import FORMATS, Table, render


def small_exam() -> Benchmark:
    samples, questions = [], []
    for task, layout in LAYOUT.items():
        for copy in range(3):
            name = f"{task}{copy}"
            samples.append(
                Sample(
                    id=name, task=task, images=(f"{name}.png",), height_px=9, width_px=9, facts={}
                )
            )
            questions += [
                Question(
                    id=f"{name}:Q{number}",
                    sample_id=name,
                    number=number,
                    type=type_,
                    dimension=dimension,
                    text="?",
                    options=("one", "two") if type_ == "MC" else (),
                    answer={"YN": "yes", "MC": "A", "SA": "x"}[type_],
                )
                for number, (type_, dimension) in enumerate(layout, start=1)
            ]
    return benchmark_of(samples, questions)


EXAM = small_exam()
ROWS = [
    Prediction(
        item_id=question.id,
        mode=mode,
        outcome=Outcome.OK,
        parsed=question.answer if right else {"YN": "no", "MC": "B", "SA": "y"}[question.type],
        verdict="right" if right else "wrong",
        judge="rule",
    )
    for question in rows_of(EXAM)[1]
    for mode in MODES
    for right in [not (mode == "cot" and question.number == 1)]
]
CAUSES = {"mine": {"erasure": {"SC1": 3, "SC2": 0, "SC3": 1, "Other": 0, "unparsed": 2}}}


def summaries() -> dict[str, Summary]:
    return {"mine": summarise(score(EXAM, ROWS), bootstrap=50, seed=0)}


def line(table: Table, *start: str) -> list[str]:
    """The one row that starts so, as text."""
    found = [row for row in table.rows if list(map(str, row[: len(start)])) == list(start)]
    assert len(found) == 1, start
    return [str(cell) for cell in found[0]]


def every_table() -> list[Table]:
    return [
        overall_table(summaries()),
        *dimension_tables(summaries()),
        cot_table({"mine": cot_effects(EXAM, ROWS, resamples=50)}),
        *question_tables({"mine": hallucination_rates(EXAM, ROWS)}),
        cause_table(CAUSES),
        *cause_tables(CAUSES),
        yes_table(summaries()),
        position_table({"mine": position_bias(EXAM, ROWS)}),
        judge_table(card()),
    ]


def card() -> JudgeCard:
    found: Agreement = agreement([("right", "right"), ("wrong", "wrong"), ("wrong", None)])
    return JudgeCard(judge="rule", labels="by hand", tasks={"Overall": found})


def test_every_table_prints_in_every_format() -> None:
    for table in every_table():
        widths = {len(row) for row in table.rows}
        assert widths == {len(table.columns)}, table.title
        for format_ in FORMATS:
            assert render(table, format_)


def test_table_3_has_our_rows_and_the_papers() -> None:
    table = overall_table(summaries())
    mine = line(table, "measured", "mine")
    assert mine[2].startswith("100.0") and mine[3].startswith("91.7") and mine[4] == "−8.3"
    paper = line(table, "published", "Qwen3.5-27B")
    assert paper[2:5] == ["48.0", "46.4", "−1.6"]
    assert paper[-2:] == ["59.5", "—"]
    assert line(table, "published", "Qwen3VL-32B-Thinking")[2] == "—"


def test_table_4_splits_by_the_tasks_dimensions() -> None:
    tables = dimension_tables(summaries())
    assert [len(table.columns) for table in tables] == [9, 8, 7]
    assert line(tables[0], "Relational Erasure", "published, all models")[2:5] == [
        "50.4",
        "22.1",
        "61.5",
    ]


def test_table_10_gives_the_change_of_the_hallucination_rate() -> None:
    table = cot_table({"mine": cot_effects(EXAM, ROWS, resamples=50)})
    # nothing but one of twelve answers changed, in one sample
    assert line(table, "measured", "mine")[2] == "+8.3 [−44.1, +56.4] p 1.000, McNemar 0.250"
    assert line(table, "published", "LLaVA-v1.6-7B")[2] == "−14.5"


def test_tables_11_to_14_have_every_question() -> None:
    rates = {"mine": hallucination_rates(EXAM, ROWS), "other": hallucination_rates(EXAM, ROWS)}
    tables = question_tables(rates)
    assert [len(table.columns) - 3 for table in tables] == [12, 12, 12, 8]
    assert line(tables[3], "measured", "mine", "cot")[3:5] == ["100.0", "0.0"]
    assert line(tables[0], "published", "Qwen3.5-9B", "std")[3] == "61.2"  # (29.0 + 93.4) / 2
    assert len(heat_map(rates)) == 2 * 2 * (12 + 12 + 12 + 8)


def test_tables_5_to_9_and_bars() -> None:
    table = cause_table(CAUSES)
    assert line(table, "Relational Erasure", "SC1 Part-Whole Completion")[2:] == [
        "75.0",
        "3",
        "26.9",
    ]
    assert line(table, "Dense Counting", "Other")[2:4] == ["—", "0"]
    assert "2 wrong answers got no label" in table.notes[0]
    by_model = cause_tables(CAUSES)
    assert line(by_model[0], "measured", "mine")[2:] == ["3", "0", "1", "0", "4"]
    assert line(by_model[0], "published", "Qwen3.5-27B")[-1] == "11123"
    bars = cause_bars(CAUSES)
    assert len(bars) == 16 and bars[0]["share"] == 0.75 and bars[-1]["share"] is None


def test_habits_and_the_judge() -> None:
    yes = line(yes_table(summaries()), "mine", "Overall")
    assert yes[2].startswith("88.9") and yes[3] == yes[2]  # 96 of 108
    assert yes[4] == "—"  # every truth is yes
    place = line(position_table({"mine": position_bias(EXAM, ROWS)}), "mine", "std", "A")
    assert place[3:6] == ["100.0", "100.0", "100.0"]
    judged = line(judge_table(card()), "Overall")
    assert judged[1:3] == ["2", "100.0"] and judged[-1] == "1"  # one is undecided
