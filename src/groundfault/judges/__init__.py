"""Judging: from what a model said to right or wrong.

Yes/no, options, numbers and ranges are read by rule (`answers`) and compared with the truth. Short
answers in words go to a judge: `rule.RuleJudge`, without a model, or `llm.LlmJudge`. What cannot be
read, or what the judge cannot decide, becomes `unparsed`; what it refuses to judge is `unjudged`.
Failed rows pass through as they are.

Everything is worked out anew from the stored text, so a run can be judged again by another judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from groundfault.benchmarks.reactbench import MOST_IN_RANGE, Exam, Question, Sample, span
from groundfault.errors import DataError
from groundfault.parsing.answers import (
    CUT_OFF,
    Answered,
    Verdict,
    is_refusal,
    passage,
    read_number,
    read_option,
    read_range,
    read_yes_no,
)
from groundfault.records import Outcome

__all__ = [
    "BY_RULE",
    "AnswerJudge",
    "Judgement",
    "ShortAnswer",
    "by_item",
    "is_judged_in_words",
    "judge_answers",
    "read_answer",
    "verdict_by_rule",
]

BY_RULE = "rule"


class ShortAnswer(msgspec.Struct, frozen=True):
    """What a judge is shown. The pictures are not: their facts and the rubric stand for them."""

    sample: Sample
    question: Question
    text: str


class Judgement(msgspec.Struct, frozen=True):
    """What a judge says; None if it could not decide."""

    verdict: Verdict | None
    text: str = ""
    """In its own words."""
    refused: str = ""
    """Why it will not judge this answer, which is no fault of the answer."""


class AnswerJudge(Protocol):
    """Decides about short answers, many at a time."""

    @property
    def name(self) -> str:
        """What a run calls it."""
        ...

    def judge_all(self, answers: Sequence[ShortAnswer]) -> Sequence[Judgement]:
        """One judgement per answer, in order. A judge that is down raises."""
        ...


def judge_answers(exam: Exam, rows: Iterable[Answered], judge: AnswerJudge) -> list[Answered]:
    """The rows with `parsed`, `verdict` and `judge`, in their order."""
    known = by_item(exam)
    judged: list[Answered] = []
    asked: dict[tuple[str, str], ShortAnswer] = {}
    waiting: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        if row.item_id not in known:
            raise DataError(
                "answers",
                "the exam has no such question",
                record=f"item {row.item_id}",
                remedy="give the exam that the run was made with",
            )
        sample, question = known[row.item_id]
        row = _read(row, sample, question)
        if row.outcome is Outcome.OK and is_judged_in_words(sample, question):
            key = (question.id, row.parsed or "")  # the same words are judged once
            asked[key] = ShortAnswer(sample, question, key[1])
            waiting.setdefault(key, []).append(len(judged))
        judged.append(row)
    judgements = judge.judge_all(list(asked.values())) if asked else ()
    for key, judgement in zip(asked, judgements, strict=True):
        for place in waiting[key]:
            judged[place] = _judged(judged[place], judgement, judge.name)
    return judged


def by_item(exam: Exam) -> Mapping[str, tuple[Sample, Question]]:
    """Item id → sample and question."""
    samples = {sample.id: sample for sample in exam.samples}
    return {question.id: (samples[question.sample_id], question) for question in exam.questions}


def is_judged_in_words(sample: Sample, question: Question) -> bool:
    """Whether a question is for a judge; numbers and ranges are not."""
    return question.type == "SA" and sample.task != "counting"


def read_answer(sample: Sample, question: Question, text: str) -> str | None:
    """What a passage answers to a question, in the form of `Answered.parsed`."""
    if question.type == "YN":
        return read_yes_no(text, negated=question.polarity == "negated")
    if question.type == "MC":
        return read_option(text, question.options)
    if sample.task != "counting":
        return None if is_refusal(text) or not text.strip() else text
    number = read_number(text)
    if question.dimension == "exact" or number is not None:
        return None if number is None else str(number)
    found = read_range(text)
    return None if found is None else f"{found[0]}-{found[1]}"


def verdict_by_rule(sample: Sample, question: Question, parsed: str) -> Verdict:
    """Of a question that needs no judge. A range holds several numbers, at most MOST_IN_RANGE."""
    if sample.task != "counting" or question.type != "SA":
        return "right" if parsed == question.answer else "wrong"
    count, found = int(sample.facts["count"]), span(parsed)
    if found is None:
        return "wrong"
    low, high = found
    fits = low == high if question.dimension == "exact" else 0 < high - low < MOST_IN_RANGE
    return "right" if fits and low <= count <= high else "wrong"


def _read(row: Answered, sample: Sample, question: Question) -> Answered:
    if row.outcome is Outcome.FAILED:
        return row
    problem = _unreadable(row)
    said = "" if problem else passage(row.text, row.mode)
    parsed = None if problem else read_answer(sample, question, said)
    if parsed is None:
        return msgspec.structs.replace(
            row,
            outcome=Outcome.UNPARSED,
            reason=problem or _why_not(said),
            parsed=None,
            verdict=None,
            judge="",
            judge_text="",
        )
    by_rule = not is_judged_in_words(sample, question)
    return msgspec.structs.replace(
        row,
        outcome=Outcome.OK,
        reason="",
        parsed=parsed,
        verdict=verdict_by_rule(sample, question, parsed) if by_rule else None,
        judge=BY_RULE if by_rule else "",
        judge_text="",
    )


def _unreadable(row: Answered) -> str:
    """Why there is nothing to read."""
    if row.finish in CUT_OFF:
        return "cut off before its end"
    if not row.text.strip():
        return row.reason or "empty answer"
    return ""


def _why_not(said: str) -> str:
    if not said:
        return "no answer after its reasoning"
    return "a refusal" if is_refusal(said) else "says nothing that can be read as an answer"


def _judged(row: Answered, judgement: Judgement, name: str) -> Answered:
    if judgement.refused:
        return msgspec.structs.replace(
            row, verdict="unjudged", judge=name, judge_text=judgement.refused
        )
    if judgement.verdict is None:
        return msgspec.structs.replace(
            row,
            outcome=Outcome.UNPARSED,
            reason="the judge could not decide",
            judge=name,
            judge_text=judgement.text,
        )
    return msgspec.structs.replace(
        row, verdict=judgement.verdict, judge=name, judge_text=judgement.text
    )
