"""POPE's questions beside their pictures: is such a thing there, and what did every run say?

Answers are in the run folders; questions and pictures are where the runs say that they were. If
they are gone, the numbers stay, and the page says what is missing.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import msgspec

from groundfault.benchmarks import pope
from groundfault.benchmarks.pope import PopeQuestion
from groundfault.errors import GroundfaultError
from groundfault.report.page.exam_answers import Answers
from groundfault.report.page.exam_cards import AnswerCard, Asked, Said, answered, seen_in
from groundfault.report.page.exam_sections import TYPE_WORDS
from groundfault.report.page.inputs import Chapter, RunData
from groundfault.report.page.pictures import Pictures
from groundfault.runner.exam_papers import PopePaper, read_paper
from groundfault.runner.exams import ExamRun
from groundfault.runs.answers import read_answers

__all__ = ["POPE_TITLE", "PopeMaterial", "is_pope", "pope_asked", "pope_material"]

POPE_TITLE = "POPE"
AGAIN = "Give the folder of its pictures with --images to see questions, pictures and answers."


class PopeMaterial(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The single answers of a chapter about POPE."""

    questions: tuple[PopeQuestion, ...] = ()
    """Empty where they are not at hand."""
    images: Path | None = None
    answers: tuple[Answers, ...] = ()
    """Of each run."""
    notes: tuple[str, ...] = ()


def is_pope(run: RunData) -> bool:
    """Whether a run answered POPE's questions."""
    return run.protocol.name == "yes-no"


def pope_material(chapter: Chapter, images_from: Path | None = None) -> PopeMaterial:
    """The questions of a chapter and the answers of all its runs; `images_from` is where the
    pictures are, if not where they were."""
    made = next((run.run for run in chapter.runs if run.run is not None), None)
    if made is None:
        return PopeMaterial(notes=("No single answers: these runs store scores only.",))
    try:
        paper = _paper(made, images_from)
        answers = tuple(
            {(row.item_id, row.mode): row for row in read_answers(run.folder)}
            for run in chapter.runs
        )
    except GroundfaultError as problem:
        return PopeMaterial(notes=(f"No single answers: {problem}. {AGAIN}",))
    if paper.hashes["benchmark"] != made.content_hash:
        other = f"No single answers: {paper.files[0].parent} holds other questions by now."
        return PopeMaterial(notes=(other,))
    return PopeMaterial(questions=paper.pope.questions, images=paper.images, answers=answers)


def _paper(made: ExamRun, images_from: Path | None) -> PopePaper:
    """What a run was asked, by what its settings say about it."""
    place, limit = made.settings, made.settings.get("limit")
    found = read_paper(
        pope.CARD.name,
        data=str(place.get("data", "")),
        images=images_from or str(place.get("images", "")),
        limit=limit if isinstance(limit, int) else None,
    )
    assert isinstance(found, PopePaper)  # which that name stands for
    return found


def pope_asked(chapter: Chapter, material: PopeMaterial) -> list[Asked]:
    """The questions that somebody answered; a slot is a split and what is true in it."""
    return [
        Asked((pope.CARD.name, question.setting, question.label), said, make)
        for question in material.questions
        if (said := answered(chapter, material.answers, question.id))
        for make in (partial(_card, question, material.images),)
    ]


def _card(
    question: PopeQuestion,
    images: Path | None,
    pictures: Pictures,
    said: tuple[Said, ...],
    severity: float,
) -> AnswerCard:
    return AnswerCard(
        item_id=f"{question.image} {question.id}",
        task=pope.CARD.name,
        task_title=POPE_TITLE,
        number=question.question_id,
        type="YN",
        type_words=TYPE_WORDS["YN"],
        dimension=question.setting,
        control=False,
        question=question.text,
        options=(),
        truth=question.label,
        rubric="",
        facts=(),
        seen=seen_in(pictures, images, (question.image,), record=f"question {question.id}"),
        said=said,
        severity=severity,
    )
