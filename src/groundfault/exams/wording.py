"""How one question is made: yes/no, short answer, choice; and where right options stand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Literal

import msgspec
import numpy as np

from groundfault.benchmarks.reactbench import LETTERS

__all__ = [
    "NONE",
    "Places",
    "Rng",
    "Twin",
    "WordedQuestion",
    "as_sentence",
    "choice",
    "false_premise",
    "guided",
    "judged",
    "one_of",
    "short_answer",
    "some_of",
    "yes_no",
]

NONE = "none of these"
Rng = np.random.Generator


class WordedQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A question before it has its place in the layout, with both answers."""

    text: str
    answer: str
    options: tuple[str, ...] = ()
    rubric: str = ""
    polarity: Literal["", "affirmed", "negated"] = ""
    twin_answer: str = ""
    """The answer that the twin has; "" where there is no twin."""
    twin_rubric: str = ""


class Twin(msgspec.Struct, frozen=True, kw_only=True):
    """A short answer about the twin, and how to mark it."""

    answer: str
    right: str
    wrong: str


def one_of(rng: Rng, *choices: str) -> str:
    return choices[int(rng.integers(len(choices)))]


def some_of(rng: Rng, choices: Sequence[str], count: int) -> list[str]:
    """Different ones, in random order."""
    distinct = list(dict.fromkeys(choices))
    return [distinct[int(k)] for k in rng.permutation(len(distinct))[:count]]


def as_sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def yes_no(text: str, *, true: bool, negated: bool = False) -> WordedQuestion:
    """`true` is about what the text states, with its negation. The twin has the other answer."""
    answers = ("yes", "no") if true else ("no", "yes")
    return WordedQuestion(
        text=text,
        answer=answers[0],
        twin_answer=answers[1],
        polarity="negated" if negated else "affirmed",
    )


def false_premise(
    rng: Rng, negated: bool, affirmations: Sequence[str], negations: Sequence[str]
) -> WordedQuestion:
    """A yes/no question about something that is not so."""
    if negated:
        return yes_no(one_of(rng, *negations), true=True, negated=True)
    return yes_no(one_of(rng, *affirmations), true=False)


def guided(habit: str, question: WordedQuestion) -> WordedQuestion:
    """The same question behind a sentence that makes one expect the usual."""
    return msgspec.structs.replace(question, text=f"{habit} {question.text}")


def judged(right: str, wrong: str) -> str:
    """What a judge is told."""
    return f"Right: {right} Wrong: {wrong}"


def short_answer(
    text: str, answer: str, *, right: str, wrong: str, twin: Twin | None = None
) -> WordedQuestion:
    return WordedQuestion(
        text=text,
        answer=answer,
        rubric=judged(right, wrong),
        twin_answer=twin.answer if twin else "",
        twin_rubric=judged(twin.right, twin.wrong) if twin else "",
    )


class Places:
    """Where the right options of one sample stand, and which questions are negated.

    Of n samples in turn, a question with n options has the right one in each place once, and the
    twin's as well. The order is drawn for every question alone, so no answer of a sample tells
    another.
    """

    def __init__(self, seed: int, task: int, turn: int) -> None:
        self.seed, self.task, self.turn = seed, task, turn
        self.drawn = 0

    def _rng(self, round_: int, *purpose: int) -> Rng:
        return np.random.default_rng(
            np.random.SeedSequence((self.seed, round_, self.task, *purpose))
        )

    def next(self, n: int) -> int:
        """Among n options, for the next question."""
        self.drawn += 1
        round_, at = divmod(self.turn, n)
        return int(self._rng(round_, self.drawn, 4).permutation(n)[at])

    def beside(self, place: int, n: int) -> int:
        """The place of the twin's right option, for the question whose own was drawn last."""
        offset = 1 + int(self._rng(self.turn // n, self.drawn, 5).integers(n - 1))
        return (place + offset) % n

    def pair(self, n: int) -> tuple[int, int]:
        """Two different places among n, the lower first, for the next question."""
        self.drawn += 1
        pairs = list(combinations(range(n), 2))
        round_, at = divmod(self.turn, len(pairs))
        return pairs[int(self._rng(round_, self.drawn, 6).permutation(len(pairs))[at])]

    def half(self, purpose: int, every: int = 1) -> list[bool]:
        """Two of four; the other two so many samples later."""
        round_, at = divmod(self.turn, 2 * every)
        drawn = self._rng(round_, purpose, 7).permutation(4) < 2
        return [bool(each) != (at >= every) for each in drawn]


def choice(
    rng: Rng, places: Places, text: str, right: str, wrong: Sequence[str], twin: str = ""
) -> WordedQuestion:
    """A question with options; `twin` is that of the wrong ones which is right of the twin."""
    options = some_of(rng, [right, *wrong], len(wrong) + 1)
    place = places.next(len(options))
    options.remove(right)
    options.insert(place, right)
    if not twin:
        return WordedQuestion(text=text, answer=LETTERS[place], options=tuple(options))
    wanted, there = places.beside(place, len(options)), options.index(twin)
    options[there], options[wanted] = options[wanted], options[there]
    return WordedQuestion(
        text=text,
        answer=LETTERS[place],
        options=tuple(options),
        twin_answer=LETTERS[wanted],
    )
