"""Answers of every kind, and what our own scoring makes of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from groundfault.analysis.summary import summarise
from groundfault.judges import expected, grade
from groundfault.judges.rule import RuleJudge
from groundfault.protocols import of_benchmark
from groundfault.records import Benchmark, Item, Mode, Outcome, Prediction


def said(number: int, item: Item) -> str:
    """Right, yes, unreadable, empty, or right after some reasoning."""
    reference = expected(item).reference
    reasoned = f"I look at the picture closely. Final answer: {reference}"
    return (reference, "Yes.", "I cannot tell.", "", reasoned)[number % 5]


def answers_to(benchmark: Benchmark, modes: Sequence[Mode]) -> list[Prediction]:
    """An answer to every question, not judged yet."""
    asked = [(item, mode) for item in benchmark.items for mode in modes]
    return [
        Prediction(item_id=item.id, mode=mode, outcome=Outcome.OK, text=said(k, item))
        for k, (item, mode) in enumerate(asked)
    ]


def own_scores(benchmark: Benchmark, rows: Iterable[Prediction]) -> dict[str, float]:
    """As `groundfault eval` writes them into summary.json, under the names of an export."""
    graded = grade(benchmark, rows, RuleJudge())
    summary = summarise(of_benchmark(benchmark).score(benchmark, graded), bootstrap=0, seed=0)
    return {
        metric if name == "Overall" else f"{name.replace(' ', '_')}_{metric}": estimate.value
        for name, row in summary.rows.items()
        for metric, estimate in row.metrics.items()
        if estimate.value is not None
    }
