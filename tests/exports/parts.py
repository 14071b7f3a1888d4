"""Answers of every kind, and what our own scoring makes of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from groundfault.runner.exam_papers import Paper

from groundfault.analysis.summary import summarise
from groundfault.judges.rule import RuleJudge
from groundfault.records import Mode, Outcome, Prediction
from groundfault.runner.prompts import Asked


def said(number: int, asked: Asked) -> str:
    """Right, yes, unreadable, empty, or right after some reasoning."""
    reasoned = f"I look at the picture closely. Final answer: {asked.reference}"
    return (asked.reference, "Yes.", "I cannot tell.", "", reasoned)[number % 5]


def answers_to(paper: Paper, modes: Sequence[Mode]) -> list[Prediction]:
    """An answer to every question, not judged yet."""
    return [
        Prediction(item_id=one.item_id, mode=one.mode, outcome=Outcome.OK, text=said(k, one))
        for k, one in enumerate(paper.questions(modes).asked())
    ]


def own_scores(paper: Paper, rows: Iterable[Prediction], modes: Sequence[Mode]) -> dict[str, float]:
    """As `groundfault eval` writes them into summary.json, under the names of an export."""
    judged = paper.judge(rows, RuleJudge())
    summary = summarise(paper.score(judged, modes), bootstrap=0, seed=0)
    return {
        metric if name == "Overall" else f"{name}_{metric}": estimate.value
        for name, row in summary.rows.items()
        for metric, estimate in row.metrics.items()
        if estimate.value is not None
    }
