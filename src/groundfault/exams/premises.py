"""Twelve questions about something that is not so: what erased things and changed looks share.

Four yes/no questions, four short answers and four choices, as the paper lays them out: plain,
behind a sentence that makes one expect the usual, about what the premise implies, and with an
absurd alternative.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from groundfault.exams import Layout
from groundfault.exams.wording import (
    Places,
    Rng,
    WordedQuestion,
    as_sentence,
    choice,
    false_premise,
    guided,
    one_of,
    some_of,
)

__all__ = ["Premise"]


class Premise(ABC):
    """The wordings of one sample; each call draws another one."""

    def __init__(
        self,
        rng: Rng,
        places: Places,
        layout: Layout,
        *,
        habits: tuple[str, ...],
        pair: tuple[str, str],
    ) -> None:
        self.rng, self.places, self.twins = rng, places, layout == "twins"
        self.habits, self.pair = habits, pair

    def ask(self, negated: Sequence[bool]) -> list[WordedQuestion]:
        """The twelve questions; `negated` says which of the four yes/no questions deny."""
        expected = self.holds(negated[1])
        pair = " or ".join(some_of(self.rng, self.pair, 2))
        return [
            self.holds(negated[0]),
            guided(self.habit(), expected),
            self.implies(negated[2]),
            self._fits(negated[3]),
            *self.open_questions(),
            self.either(pair),
            *self.choices(),
        ]

    def habit(self) -> str:
        """A sentence that makes one expect the usual."""
        return as_sentence(one_of(self.rng, *self.habits))

    @abstractmethod
    def holds(self, negated: bool) -> WordedQuestion:
        """Whether the premise is so."""

    @abstractmethod
    def implies(self, negated: bool) -> WordedQuestion:
        """Whether something is so that the premise implies."""

    @abstractmethod
    def claim(self) -> str:
        """A description with the premise in it, rather than something absurd."""

    @abstractmethod
    def open_questions(self) -> list[WordedQuestion]:
        """Three to be answered in own words."""

    @abstractmethod
    def either(self, pair: str) -> WordedQuestion:
        """Which of two it is, of which it is neither."""

    @abstractmethod
    def choices(self) -> list[WordedQuestion]:
        """Four with options."""

    def choice(self, text: str, right: str, wrong: Sequence[str], twin: str) -> WordedQuestion:
        """A question with options; `twin` is that of the wrong ones which is right of the twin."""
        return choice(self.rng, self.places, text, right, wrong, twin=twin if self.twins else "")

    def _fits(self, negated: bool) -> WordedQuestion:
        claim = self.claim()
        return false_premise(
            self.rng,
            negated,
            (f"{claim} Is this description right?", f"{claim} Does this fit the picture?"),
            (f"{claim} Is this description wrong?", f"{claim} Does this contradict the picture?"),
        )
