"""Answers beside their pictures: one card per question, with what every run said to it.

A few of every slot rather than many of one: questions are drawn in turn from every task and number
(of POPE from every split and truth), the worst first. Worst is what most models got wrong; what
baselines did decides only between equals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from groundfault.benchmarks.reactbench import LETTERS, Question, Sample
from groundfault.judges.causes import CAUSES, LABELS
from groundfault.parsing.answers import MODES, Answered
from groundfault.records import Outcome
from groundfault.registry import BASELINES
from groundfault.report.exams import TASK_TITLES
from groundfault.report.page.exam_answers import Answers, ExamMaterial
from groundfault.report.page.exam_sections import TYPE_WORDS
from groundfault.report.page.inputs import Chapter
from groundfault.report.page.pictures import Pictures

__all__ = [
    "AnswerCard",
    "Asked",
    "Cards",
    "Said",
    "Seen",
    "answered",
    "exam_asked",
    "make_cards",
    "seen_in",
]

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
    def yes_no(self) -> str:
        """The truth of a yes/no question, else nothing."""
        return self.truth if self.type == "YN" else ""

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
        found = (getattr(card, name) for card in self.cards)
        return list(dict.fromkeys(value for value in found if value))


class Asked(msgspec.Struct, frozen=True):
    """A question that may be shown, with what was answered to it."""

    slot: tuple[str, ...]
    answers: tuple[tuple[str, int, Answered], ...]
    """Run, its colour, answer."""
    make: Callable[[Pictures, tuple[Said, ...], float], AnswerCard]
    """The card of a question that is chosen, with pictures, answers and severity."""
    causes: Mapping[str, str] = {}
    """Sub-causes by label."""
    control: bool = False
    """About an unedited picture, which comes after edited ones."""

    @property
    def severity(self) -> float:
        """From 0, all right, to 1, all wrong."""
        return _severity([answer for *_, answer in self.answers])

    @property
    def rank(self) -> tuple[float, bool, float]:
        """For sorting, the worst first: by what models answered, then by what all did."""
        models = [
            answer for run, _, answer in self.answers if run.partition(":")[0] not in BASELINES
        ]
        return -_severity(models), self.control, -self.severity


def make_cards(asked: Sequence[Sequence[Asked]], *, max_cases: int, pictures: Pictures) -> Cards:
    """The worst questions of all chapters."""
    wrong = [[each for each in listed if each.severity > 0] for listed in asked]
    quota = max(1, max_cases // max(len(asked), 1))
    chosen = [each for listed in wrong for each in _in_turn(listed, quota)]
    chosen.sort(key=lambda each: each.rank)
    longest = _longest(chosen)
    return Cards(
        cards=tuple(_card(each, pictures, longest) for each in chosen),
        n_wrong=sum(map(len, wrong)),
        n_asked=sum(map(len, asked)),
    )


def answered(
    chapter: Chapter, answers: Sequence[Answers], item_id: str
) -> tuple[tuple[str, int, Answered], ...]:
    """What every run answered to a question: Std before CoT."""
    return tuple(
        (run.name, series, answer)
        for series, run in enumerate(chapter.runs)
        for mode in MODES
        if (answer := answers[series].get((item_id, mode))) is not None
    )


def exam_asked(chapter: Chapter, material: ExamMaterial) -> list[Asked]:
    """The questions of an exam that somebody answered; none where the exam is not at hand."""
    exam = material.exam
    if exam is None:
        return []
    samples = {sample.id: sample for sample in exam.samples}
    listed = []
    for question in exam.questions:
        sample = samples[question.sample_id]
        if said := answered(chapter, material.answers, question.id):
            make = partial(_exam_card, sample, question, material.images)
            titles = (title for title, _ in CAUSES[sample.task])
            causes = dict(zip(LABELS, titles, strict=False))
            slot, control = (sample.task, str(question.number)), "control" in sample.facts
            listed.append(Asked(slot, said, make, causes, control))
    return listed


def _severity(answers: Sequence[Answered]) -> float:
    return sum(map(_badness, answers)) / len(answers) if answers else 0.0


def _badness(answer: Answered) -> float:
    """A wrong answer is worse than one that cannot be read, that worse than none at all."""
    if answer.outcome is Outcome.FAILED or answer.verdict == "unjudged":
        return 0.1
    if answer.outcome is Outcome.UNPARSED:
        return 0.6
    return float(answer.verdict == "wrong")


def _in_turn(questions: Sequence[Asked], quota: int) -> list[Asked]:
    """Up to `quota` questions: the worst of each slot, then the second of each, and so on."""
    heaps: dict[tuple[str, ...], list[Asked]] = {}
    for each in sorted(questions, key=lambda each: each.rank):
        heaps.setdefault(each.slot, []).append(each)
    chosen: list[Asked] = []
    depth = 0
    while len(chosen) < min(quota, len(questions)):
        chosen += [heap[depth] for heap in heaps.values() if depth < len(heap)]
        depth += 1
    return chosen[:quota]


def _longest(chosen: Iterable[Asked]) -> int:
    """How many letters of each answer are shown."""
    lengths = [
        len(answer.text) + len(answer.judge_text) + len(answer.cause_text)
        for each in chosen
        for *_, answer in each.answers
    ]
    for most in LETTERS_EACH:
        if sum(min(length, most) for length in lengths) <= TEXT_LETTERS:
            break
    return most


def _card(each: Asked, pictures: Pictures, longest: int) -> AnswerCard:
    said = tuple(_said(*one, each.causes, longest) for one in each.answers)
    return each.make(pictures, said, each.severity)


def seen_in(
    pictures: Pictures, images: Path | None, names: Sequence[str], *, record: str
) -> tuple[Seen, ...]:
    """The pictures of a question, those that are there."""
    if images is None:
        return ()
    labels = ("first picture", "second picture") if len(names) == 2 else ("",)
    found = [
        (pictures.add(images, name, record=record), label)
        for name, label in zip(names, labels, strict=False)
    ]
    return tuple(Seen(n, *pictures.sizes[n], label) for n, label in found if n is not None)


def _exam_card(
    sample: Sample,
    question: Question,
    images: Path | None,
    pictures: Pictures,
    said: tuple[Said, ...],
    severity: float,
) -> AnswerCard:
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
        seen=seen_in(pictures, images, sample.images, record=f"sample {sample.id}"),
        said=said,
        severity=severity,
    )


def _said(run: str, series: int, answer: Answered, causes: Mapping[str, str], longest: int) -> Said:
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
        cause=_cause(causes, answer),
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


def _cause(causes: Mapping[str, str], answer: Answered) -> str:
    if not answer.cause_by:
        return ""
    if answer.cause is None:
        return "no cause was named"
    return f"{answer.cause} {causes.get(answer.cause, '')}".strip()
