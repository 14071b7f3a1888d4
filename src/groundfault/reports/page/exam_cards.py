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

from groundfault.benchmarks.reactbench import LETTERS, is_twin
from groundfault.judges import by_item, expected
from groundfault.judges.causes import CAUSES, LABELS
from groundfault.records import MODES, Case, Item, Outcome, Prediction
from groundfault.registry import BASELINES
from groundfault.reports.exams import TASK_TITLES
from groundfault.reports.page.exam_answers import Answers, Material
from groundfault.reports.page.exam_sections import TYPE_WORDS
from groundfault.reports.page.inputs import Chapter
from groundfault.reports.page.pictures import Pictures

__all__ = [
    "AnswerCard",
    "Cards",
    "Seen",
    "ShownAnswer",
    "ShownQuestion",
    "answers_to",
    "make_cards",
    "seen_in",
    "shown_questions",
]

TEXT_LETTERS = 3_000_000
"""For the words of all answers together."""
LETTERS_EACH = (4000, 2000, 1000, 500, 250)
"""Tried in turn until the answers fit."""
NO_VERDICT = "none"


class ShownAnswer(msgspec.Struct, frozen=True, kw_only=True):
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
    said: tuple[ShownAnswer, ...]
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


class ShownQuestion(msgspec.Struct, frozen=True):
    """A question that may be shown, with what was answered to it."""

    slot: tuple[str, ...]
    answers: tuple[tuple[str, int, Prediction], ...]
    """Run, its colour, answer."""
    make: Callable[[Pictures, tuple[ShownAnswer, ...], float], AnswerCard]
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


def make_cards(
    asked: Sequence[Sequence[ShownQuestion]], *, max_cases: int, pictures: Pictures
) -> Cards:
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


def answers_to(
    chapter: Chapter, answers: Sequence[Answers], item_id: str
) -> tuple[tuple[str, int, Prediction], ...]:
    """What every run answered to a question: Std before CoT."""
    return tuple(
        (run.name, series, answer)
        for series, run in enumerate(chapter.runs)
        for mode in MODES
        if (answer := answers[series].get((item_id, mode))) is not None
    )


def shown_questions(chapter: Chapter, material: Material) -> list[ShownQuestion]:
    """The questions that somebody answered; none where the benchmark is not at hand. A slot is a
    task and the number of a question, or a dimension and what is true in it."""
    if material.benchmark is None:
        return []
    title = material.benchmark.card.title.partition(":")[0]
    listed = []
    for case, item in by_item(material.benchmark).values():
        answers = answers_to(chapter, material.answers, item.id)
        if not answers or item.answer is None:
            continue
        task = case.intervention or material.benchmark.card.name
        slot: tuple[str, ...] = (task, str(item.answer.number))
        if not item.answer.number:
            slot = (task, item.answer.dimension, item.answer.reference)
        titles = (cause for cause, _ in CAUSES.get(case.intervention, ()))
        make = partial(_question_card, case, item, task, title, material.images)
        causes = dict(zip(LABELS, titles, strict=False))
        listed.append(ShownQuestion(slot, answers, make, causes, is_twin(case)))
    return listed


def _severity(answers: Sequence[Prediction]) -> float:
    return sum(map(_badness, answers)) / len(answers) if answers else 0.0


def _badness(answer: Prediction) -> float:
    """A wrong answer is worse than one that cannot be read, that worse than none at all."""
    if answer.outcome is Outcome.FAILED or answer.verdict == "unjudged":
        return 0.1
    if answer.outcome is Outcome.UNPARSED:
        return 0.6
    return float(answer.verdict == "wrong")


def _in_turn(questions: Sequence[ShownQuestion], quota: int) -> list[ShownQuestion]:
    """Up to `quota` questions: the worst of each slot, then the second of each, and so on."""
    heaps: dict[tuple[str, ...], list[ShownQuestion]] = {}
    for each in sorted(questions, key=lambda each: each.rank):
        heaps.setdefault(each.slot, []).append(each)
    chosen: list[ShownQuestion] = []
    depth = 0
    while len(chosen) < min(quota, len(questions)):
        chosen += [heap[depth] for heap in heaps.values() if depth < len(heap)]
        depth += 1
    return chosen[:quota]


def _longest(chosen: Iterable[ShownQuestion]) -> int:
    """How many letters of each answer are shown."""
    lengths = [
        len(_words(answer)) + len(answer.judge_text) + len(answer.cause_text)
        for each in chosen
        for *_, answer in each.answers
    ]
    for most in LETTERS_EACH:
        if sum(min(length, most) for length in lengths) <= TEXT_LETTERS:
            break
    return most


def _card(each: ShownQuestion, pictures: Pictures, longest: int) -> AnswerCard:
    said = tuple(_shown(*one, each.causes, longest) for one in each.answers)
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


def _question_card(
    case: Case,
    item: Item,
    task: str,
    title: str,
    images: Path | None,
    pictures: Pictures,
    said: tuple[ShownAnswer, ...],
    severity: float,
) -> AnswerCard:
    wanted = expected(item)
    options = tuple(
        (letter, words, letter == wanted.reference)
        for letter, words in zip(LETTERS, wanted.options, strict=False)
    )
    numbered = bool(wanted.number)
    return AnswerCard(
        item_id=item.id if numbered else f"{item.image} {item.id}",
        task=task,
        task_title=TASK_TITLES.get(task, title),
        number=wanted.number or _last_number(item.id),
        type=wanted.type,
        type_words=TYPE_WORDS[wanted.type],
        dimension=wanted.dimension,
        control=is_twin(case),
        question=item.query,
        options=options,
        truth="" if options else wanted.reference,
        rubric=wanted.rubric,
        facts=tuple(case.facts.items()),
        seen=seen_in(pictures, images, item.images, record=f"item {item.id}"),
        said=said,
        severity=severity,
    )


def _last_number(item_id: str) -> int:
    """
    >>> _last_number("random:17"), _last_number("mine")
    (17, 0)
    """
    last = item_id.rpartition(":")[2]
    return int(last) if last.isdecimal() else 0


def _shown(
    run: str, series: int, answer: Prediction, causes: Mapping[str, str], longest: int
) -> ShownAnswer:
    text, left_out = _cut(_words(answer), longest)
    reading = answer.parsed or ""
    same = reading.strip(" .").casefold() == _words(answer).strip(" .\n").casefold()
    return ShownAnswer(
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


def _words(answer: Prediction) -> str:
    """What a model said, its thoughts first where they came beside its words."""
    return f"{answer.reasoning.strip()}\n\n{answer.text.strip()}".strip()


def _cut(text: str, longest: int) -> tuple[str, int]:
    """The end of a long text too: that is where answers are.

    >>> _cut("0123456789", 6)
    ('01 … 6789', 4)
    """
    if len(text) <= longest:
        return text, 0
    start, end = longest // 3, longest - longest // 3
    return f"{text[:start]} … {text[-end:]}", len(text) - longest


def _cause(causes: Mapping[str, str], answer: Prediction) -> str:
    if not answer.cause_by:
        return ""
    if answer.cause is None:
        return "no cause was named"
    return f"{answer.cause} {causes.get(answer.cause, '')}".strip()
