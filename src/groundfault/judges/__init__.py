"""Judging: from what a model said to right or wrong.

Yes/no, options, numbers and ranges are parsed by rule and compared with the truth. Short answers in
words go to a judge, the whole final answer of the model: `rule.RuleJudge`, without a model, or
`llm.LlmJudge`. What cannot be parsed becomes `unparsed`; what the judge cannot decide or refuses to
judge is `unjudged`, no fault of the model. Failed predictions pass through as they are.

Everything is worked out anew from the stored text, so a run can be judged again by another judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from groundfault.benchmarks.reactbench import MOST_IN_RANGE, span
from groundfault.errors import DataError
from groundfault.judges.refusals import declines_to_look
from groundfault.parsing.choices import parse_choice
from groundfault.parsing.numbers import parse_number, parse_range
from groundfault.parsing.passages import CUT_OFF, passage
from groundfault.parsing.wording import is_refusal, split_sentences
from groundfault.parsing.yes_no import parse_yes_no
from groundfault.protocols.words import expected
from groundfault.records import (
    Answer,
    Benchmark,
    Case,
    Item,
    Mode,
    Outcome,
    Prediction,
    Verdict,
)

__all__ = [
    "BY_RULE",
    "AnswerJudge",
    "Judgement",
    "ShortAnswer",
    "by_item",
    "expected",
    "for_judge",
    "grade",
    "is_judged_in_words",
    "parse_prediction",
    "verdict_by_rule",
]

BY_RULE = "rule"
COUNTING = "counting"
"""The task whose short answers are numbers."""


class ShortAnswer(msgspec.Struct, frozen=True):
    """What a judge is shown. The pictures are not: their facts and the rubric stand for them."""

    case: Case
    item: Item
    text: str
    """The whole final answer."""
    reasoned: bool = False
    """Whether it may begin with reasoning, as the model was told to: its conclusion comes last."""

    @property
    def expected(self) -> Answer:
        """What the question expects."""
        return expected(self.item)


class Judgement(msgspec.Struct, frozen=True):
    """What a judge says; None if it could not decide, which leaves the answer unjudged."""

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


def grade(
    benchmark: Benchmark, predictions: Iterable[Prediction], judge: AnswerJudge
) -> list[Prediction]:
    """The predictions with `parsed`, `verdict` and `judge`, in their order."""
    known = by_item(benchmark)
    judged: list[Prediction] = []
    asked: dict[tuple[str, str, bool], ShortAnswer] = {}
    waiting: dict[tuple[str, str, bool], list[int]] = {}
    for prediction in predictions:
        if prediction.item_id not in known:
            raise DataError(
                "answers",
                "the benchmark has no such question",
                record=f"item {prediction.item_id}",
                remedy="give the benchmark that the run was made with",
            )
        case, item = known[prediction.item_id]
        prediction = _parsed(prediction, case, item)
        if prediction.outcome is Outcome.OK and is_judged_in_words(case, item):
            shown = for_judge(case, item, prediction.text, prediction.mode)
            assert shown is not None  # it was parsed
            key = (item.id, shown.text, shown.reasoned)  # the same words are judged once
            asked[key] = shown
            waiting.setdefault(key, []).append(len(judged))
        judged.append(prediction)
    judgements = judge.judge_all(list(asked.values())) if asked else ()
    for key, judgement in zip(asked, judgements, strict=True):
        for place in waiting[key]:
            judged[place] = _judged(judged[place], judgement, judge.name)
    return judged


def by_item(benchmark: Benchmark) -> Mapping[str, tuple[Case, Item]]:
    """Item id → case and item."""
    cases = {case.id: case for case in benchmark.cases}
    return {item.id: (cases[item.case_id], item) for item in benchmark.items}


def for_judge(case: Case, item: Item, text: str, mode: Mode) -> ShortAnswer | None:
    """What a judge is shown of a model's words, in a run and for its card alike; None where there
    is nothing to judge."""
    said = parse_prediction(case, item, _final_answer(case, item, text, mode))
    if said is None:
        return None
    reasoned = mode == "cot" and len(split_sentences(said)) > 1
    return ShortAnswer(case, item, said, reasoned=reasoned)


def _final_answer(case: Case, item: Item, text: str, mode: Mode) -> str:
    """The part of a model's words that is read. A judge gets the whole final answer: its last
    sentence alone may be a mere remark ("Nothing else changed.")."""
    return passage(text, "std" if is_judged_in_words(case, item) else mode)


def is_judged_in_words(case: Case, item: Item) -> bool:
    """Whether a question is for a judge; numbers and ranges are not."""
    return expected(item).type == "SA" and case.intervention != COUNTING


def parse_prediction(case: Case, item: Item, text: str) -> str | None:
    """What a passage answers to a question, in the form of `Prediction.parsed`."""
    wanted = expected(item)
    if wanted.type == "YN":
        negated = wanted.polarity == "negated" if wanted.polarity else None
        return parse_yes_no(text, question=item.query, negated=negated)
    if wanted.type == "MC":
        return parse_choice(text, wanted.options)
    if case.intervention != COUNTING:
        return None if declines_to_look(text) or not text.strip() else text
    number = parse_number(text, question=item.query)
    if wanted.dimension == "exact" or number is not None:
        return None if number is None else str(number)
    found = parse_range(text)
    return None if found is None else f"{found[0]}-{found[1]}"


def verdict_by_rule(case: Case, item: Item, parsed: str) -> Verdict:
    """Of a question that needs no judge. A range holds several numbers, at most MOST_IN_RANGE."""
    wanted = expected(item)
    if case.intervention != COUNTING or wanted.type != "SA":
        return "right" if parsed == wanted.reference else "wrong"
    count, found = _count(case), span(parsed)
    if found is None:
        return "wrong"
    low, high = found
    fits = low == high if wanted.dimension == "exact" else 0 < high - low < MOST_IN_RANGE
    return "right" if fits and low <= count <= high else "wrong"


def _count(case: Case) -> int:
    """How many things there are, by the facts of a case."""
    found = span(case.facts.get("count", ""))
    if found is None or found[0] != found[1]:
        raise DataError(
            "the benchmark",
            "it is about counting, and its facts do not give the 'count', a whole number",
            record=f"case {case.id}",
            remedy="give every case of counting its count",
        )
    return found[0]


def _parsed(row: Prediction, case: Case, item: Item) -> Prediction:
    if row.outcome is Outcome.FAILED:
        return row
    problem = _unreadable(row)
    said = "" if problem else _final_answer(case, item, row.text, row.mode)
    parsed = None if problem else parse_prediction(case, item, said)
    if parsed is None:
        return msgspec.structs.replace(
            row,
            outcome=Outcome.UNPARSED,
            reason=problem or _why_not(said, case, item),
            parsed=None,
            verdict=None,
            judge="",
            judge_text="",
        )
    by_rule = not is_judged_in_words(case, item)
    return msgspec.structs.replace(
        row,
        outcome=Outcome.OK,
        reason="",
        parsed=parsed,
        verdict=verdict_by_rule(case, item, parsed) if by_rule else None,
        judge=BY_RULE if by_rule else "",
        judge_text="",
    )


def _unreadable(row: Prediction) -> str:
    """Why there is nothing to read."""
    if row.finish in CUT_OFF:
        return "cut off before its end"
    if not row.text.strip():
        return row.reason or "empty answer"
    return ""


def _why_not(said: str, case: Case, item: Item) -> str:
    if not said:
        return "no answer after its reasoning"
    if is_judged_in_words(case, item) or is_refusal(said):
        return "a refusal"
    if expected(item).type == "YN":
        return "says neither yes nor no"
    return "says nothing that can be read as an answer"


def _judged(row: Prediction, judgement: Judgement, name: str) -> Prediction:
    verdict: Verdict = judgement.verdict or "unjudged"
    if judgement.refused:
        verdict = "unjudged"
    return msgspec.structs.replace(
        row, verdict=verdict, judge=name, judge_text=judgement.refused or judgement.text
    )
