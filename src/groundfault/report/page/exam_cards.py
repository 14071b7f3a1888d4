"""Answers beside their pictures: one card per question, with what every run said to it.

A few of every question slot rather than many of one: questions are drawn in turn from every task
and number, the worst first. Worst is what most runs got wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from groundfault.answers import Answered
from groundfault.benchmarks.reactbench import LETTERS, Exam, Question, Sample
from groundfault.judges.causes import CAUSES, LABELS
from groundfault.records import Outcome
from groundfault.report.exams import TASK_TITLES
from groundfault.report.page.exam_answers import ExamMaterial
from groundfault.report.page.exam_sections import TYPE_WORDS
from groundfault.report.page.inputs import Chapter
from groundfault.report.page.pictures import Pictures

__all__ = ["AnswerCard", "Cards", "Said", "make_cards"]

TEXT_LETTERS = 3_000_000
"""For the words of all answers together."""
LETTERS_EACH = (4000, 2000, 1000, 500, 250)
"""Tried in turn until the answers fit."""
NO_VERDICT = "none"


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """What one run answered in one mode."""

    run: str
    series: int
    mode: str
    outcome: str
    verdict: str
    """right, wrong or none"""
    text: str
    left_out: int = 0
    """Letters of the text that are not shown."""
    reading: str = ""
    """What was read in it; "" where that is the text itself or nothing."""
    reason: str = ""
    judge: str = ""
    judge_text: str = ""
    cause: str = ""
    cause_text: str = ""


class Seen(msgspec.Struct, frozen=True):
    """A picture of a question."""

    number: int
    width_px: int
    height_px: int
    label: str


class AnswerCard(msgspec.Struct, frozen=True, kw_only=True):
    """One question and all answers to it."""

    item_id: str
    task: str
    task_title: str
    number: int
    type: str
    type_words: str
    dimension: str
    control: bool
    question: str
    options: tuple[tuple[str, str, bool], ...]
    """Letter, words, whether it is the truth."""
    truth: str
    rubric: str
    facts: tuple[tuple[str, str], ...]
    seen: tuple[Seen, ...]
    said: tuple[Said, ...]
    severity: float

    @property
    def searchable(self) -> str:
        """What the search looks through."""
        words = [self.item_id, self.question, self.truth, *(text for _, text, _ in self.options)]
        words += [value for _, value in self.facts]
        words += [f"{said.text} {said.reading}" for said in self.said if len(said.text) < 400]
        return " ".join(words).casefold()


class Cards(msgspec.Struct, frozen=True, kw_only=True):
    """The chosen questions."""

    cards: tuple[AnswerCard, ...]
    n_wrong: int
    """Questions that at least one run did not get right."""
    n_asked: int

    def choices(self, name: str) -> list[str]:
        """What a filter offers, in the order of the page."""
        if name in ("run", "mode", "verdict", "outcome"):
            return list(dict.fromkeys(getattr(s, name) for card in self.cards for s in card.said))
        return list(dict.fromkeys(getattr(card, name) for card in self.cards))


class _Asked(msgspec.Struct, frozen=True):
    sample: Sample
    question: Question
    said: tuple[tuple[str, int, Answered], ...]
    """Run, its colour, answer."""
    severity: float


def make_cards(
    found: Sequence[tuple[Chapter, ExamMaterial]], *, max_cases: int, pictures: Pictures
) -> Cards:
    """The worst questions of all exams."""
    asked = [
        _asked(chapter, material, material.exam) for chapter, material in found if material.exam
    ]
    wrong = [[each for each in listed if each.severity > 0] for listed in asked]
    quota = max(1, max_cases // max(len(found), 1))
    chosen = [(k, each) for k, listed in enumerate(wrong) for each in _in_turn(listed, quota)]
    with_exam = [material for _, material in found if material.exam]
    chosen.sort(key=lambda pair: -pair[1].severity)
    longest = _longest(each for _, each in chosen)
    cards = tuple(_card(each, with_exam[k], pictures, longest) for k, each in chosen)
    return Cards(cards=cards, n_wrong=sum(map(len, wrong)), n_asked=sum(map(len, asked)))


def _asked(chapter: Chapter, material: ExamMaterial, exam: Exam) -> list[_Asked]:
    samples = {sample.id: sample for sample in exam.samples}
    modes = list(dict.fromkeys(mode for answers in material.answers for _, mode in answers))
    modes.sort(key=lambda mode: mode != "std")
    listed = []
    for question in exam.questions:
        said = tuple(
            (run.name, series, answer)
            for series, run in enumerate(chapter.runs)
            for mode in modes
            if (answer := material.answers[series].get((question.id, mode))) is not None
        )
        if said:
            bad = [_badness(answer) for *_, answer in said]
            listed.append(_Asked(samples[question.sample_id], question, said, sum(bad) / len(bad)))
    return listed


def _badness(answer: Answered) -> float:
    """A wrong answer is worse than one that cannot be read, that worse than none at all."""
    if answer.outcome is Outcome.FAILED:
        return 0.1
    if answer.outcome is Outcome.UNPARSED:
        return 0.6
    return float(answer.verdict == "wrong")


def _in_turn(questions: Sequence[_Asked], quota: int) -> list[_Asked]:
    """Up to `quota` questions: the worst of each slot, then the second of each, and so on."""
    heaps: dict[tuple[str, int], list[_Asked]] = {}
    for each in sorted(questions, key=lambda each: -each.severity):
        heaps.setdefault((each.sample.task, each.question.number), []).append(each)
    chosen: list[_Asked] = []
    depth = 0
    while len(chosen) < min(quota, len(questions)):
        chosen += [heap[depth] for heap in heaps.values() if depth < len(heap)]
        depth += 1
    return chosen[:quota]


def _longest(chosen: Iterable[_Asked]) -> int:
    """How many letters of each answer are shown."""
    lengths = [
        len(answer.text) + len(answer.judge_text) + len(answer.cause_text)
        for each in chosen
        for *_, answer in each.said
    ]
    for most in LETTERS_EACH:
        if sum(min(length, most) for length in lengths) <= TEXT_LETTERS:
            break
    return most


def _card(each: _Asked, material: ExamMaterial, pictures: Pictures, longest: int) -> AnswerCard:
    sample, question = each.sample, each.question
    seen = []
    labels = ("first picture", "second picture") if len(sample.images) == 2 else ("",)
    for name, label in zip(sample.images, labels, strict=False):
        if material.images is None:
            break
        number = pictures.add(material.images, name, record=f"sample {sample.id}")
        if number is not None:
            seen.append(Seen(number, *pictures.sizes[number], label))
    options = tuple(
        (letter, words, letter == question.answer)
        for letter, words in zip(LETTERS, question.options, strict=False)
    )
    return AnswerCard(
        item_id=question.id,
        task=sample.task,
        task_title=TASK_TITLES[sample.task],
        number=question.number,
        type=question.type,
        type_words=TYPE_WORDS[question.type],
        dimension=question.dimension,
        control="control" in sample.facts,
        question=question.text,
        options=options,
        truth="" if options else question.answer,
        rubric=question.rubric,
        facts=tuple(sample.facts.items()),
        seen=tuple(seen),
        said=tuple(_said(run, k, answer, sample, longest) for run, k, answer in each.said),
        severity=each.severity,
    )


def _said(run: str, series: int, answer: Answered, sample: Sample, longest: int) -> Said:
    text, left_out = _cut(answer.text.strip(), longest)
    reading = answer.parsed or ""
    same = reading.strip(" .").casefold() == answer.text.strip(" .\n").casefold()
    return Said(
        run=run,
        series=series,
        mode=answer.mode,
        outcome=answer.outcome.value,
        verdict=answer.verdict or NO_VERDICT,
        text=text,
        left_out=left_out,
        reading="" if same else _cut(reading, longest)[0],
        reason=answer.reason,
        judge=answer.judge,
        judge_text=_cut(answer.judge_text.strip(), longest)[0],
        cause=_cause(sample, answer),
        cause_text=_cut(answer.cause_text.strip(), longest)[0],
    )


def _cut(text: str, longest: int) -> tuple[str, int]:
    """The end of a long text too: that is where answers are.

    >>> _cut("0123456789", 6)
    ('01 … 6789', 4)
    """
    if len(text) <= longest:
        return text, 0
    start, end = longest // 3, longest - longest // 3
    return f"{text[:start]} … {text[-end:]}", len(text) - longest


def _cause(sample: Sample, answer: Answered) -> str:
    if not answer.cause_by:
        return ""
    if answer.cause is None:
        return "no cause was named"
    named = dict(zip(LABELS, (title for title, _ in CAUSES[sample.task]), strict=False))
    return f"{answer.cause} {named.get(answer.cause, '')}".strip()
