"""How the questions of an exam are worded: shared by rendered scenes and edited photographs.

One file per task of ReactBench. Each takes what is known about a sample as a struct (`Erased`,
`Changed`, `Traced`, `Counted`) and gives the questions of the paper's layout in our own words, from
Q1 on, each with its answer, and with the answer that its unedited twin has.

Two layouts:

    twins   every question has another answer about the twin (the unedited picture; the same picture
            twice; a picture with another count), in the same words with the same options: whoever
            does not look cannot be right about both
    paper   what the paper asks: nothing is asked about an unedited picture
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import msgspec

from groundfault.benchmarks.reactbench import LAYOUT, Question
from groundfault.exams.wording import WordedQuestion

__all__ = ["LAYOUTS", "Layout", "rows", "twin_rows"]

Layout = Literal["twins", "paper"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)


def rows(task: str, sample_id: str, asked: Sequence[WordedQuestion]) -> tuple[Question, ...]:
    """The questions of a sample, each in its place of the layout."""
    return tuple(
        Question(
            id=f"{sample_id}:Q{number}",
            sample_id=sample_id,
            number=number,
            type=type_,
            dimension=dimension,
            text=question.text,
            answer=question.answer,
            options=question.options,
            rubric=question.rubric,
            polarity=question.polarity,
        )
        for number, ((type_, dimension), question) in enumerate(
            zip(LAYOUT[task], asked, strict=True), start=1
        )
    )


def twin_rows(task: str, twin_id: str, asked: Sequence[WordedQuestion]) -> tuple[Question, ...]:
    """The same questions about the twin: other answers, not one word else."""
    turned = [
        msgspec.structs.replace(each, answer=each.twin_answer, rubric=each.twin_rubric)
        for each in asked
    ]
    return rows(task, twin_id, turned)
