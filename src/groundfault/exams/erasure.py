"""Relational erasure: one of two things that go together is gone.

The twin is the unedited picture, where the thing is. There Q12 offers it in the place of one of the
paper's three absurd things, so that "none of these" is not always right.
"""

from __future__ import annotations

import msgspec

from groundfault.exams import Layout
from groundfault.exams.premises import Premise
from groundfault.exams.wording import (
    NONE,
    Places,
    Rng,
    Twin,
    WordedQuestion,
    as_sentence,
    false_premise,
    one_of,
    short_answer,
    some_of,
)

__all__ = ["Erased", "ask_erasure"]


class Erased(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about a thing that was erased."""

    name: str
    """Without an article."""
    a_name: str
    """As it stands behind "there is": "a lamp"."""
    place: str
    """Where it was, with a preposition, told by what remains: "on the left table"."""
    habits: tuple[str, ...]
    """Sentences that make one expect it."""
    kind: str = "colour"
    """Of the attribute that is asked for."""
    value: str
    """The attribute of the thing in the unedited picture."""
    others: tuple[str, ...]
    """Two or three values that it does not have."""
    absurd: tuple[str, ...]
    """Three things that are in neither picture, with articles."""
    seen: str
    """What the unedited picture shows there: "a red lamp"."""
    variants: tuple[str, ...]
    """Three or more things like it that neither picture shows there."""
    empty: str
    """What there is now, as an option: "Nothing at all: the table is bare"."""
    around: str
    """What the edited picture does show around there, for the judge."""
    present: str
    """The things among it."""
    many: bool = False
    """The name is a plural."""
    area: bool = False
    """The place is an area in which other things may be, and were."""
    part: bool = False
    """It is a part of what remains, or in or on it: asked for as such."""


def ask_erasure(
    rng: Rng, places: Places, about: Erased, negated: list[bool], layout: Layout = "paper"
) -> list[WordedQuestion]:
    """The twelve questions; `negated` says which of the four yes/no questions deny."""
    return _Words(rng, places, layout, about).ask(negated)


class _Words(Premise):
    def __init__(self, rng: Rng, places: Places, layout: Layout, about: Erased) -> None:
        pair = (about.a_name, about.absurd[1])
        super().__init__(rng, places, layout, habits=about.habits, pair=pair)
        self.about = about

    @property
    def be(self) -> str:
        return "are" if self.about.many else "is"

    @property
    def none(self) -> str:
        return f"There {self.be} no {self.about.name} {self.about.place}"

    @property
    def told(self) -> dict[str, Twin]:
        return _twin_answers(self.about) if self.twins else {}

    def holds(self, negated: bool) -> WordedQuestion:
        """Whether the thing is in its place."""
        name, a_name, place, be = self.about.name, self.about.a_name, self.about.place, self.be
        return false_premise(
            self.rng,
            negated,
            (
                f"{as_sentence(be)} there {a_name} {place}?",
                f"Can one see {a_name} {place}?",
                f"Does the picture show {a_name} {place}?",
            ),
            (
                f"Is it true that there {be} no {name} {place}?",
                f"Is it correct that the picture shows no {name} {place}?",
                f"Is it right to say that no {name} can be seen {place}?",
            ),
        )

    def implies(self, negated: bool) -> WordedQuestion:
        """Whether the thing has the attribute that it had."""
        about, the_one = self.about, f"the {self.about.name} {self.about.place}"
        is_colour = about.kind == "colour"
        said = f"{the_one} {self.be}" if is_colour else f"the {about.kind} of {the_one} is"
        said = f"{said} {about.value}"
        asked = (
            f"Is {the_one} {about.value}?"
            if is_colour and not about.many
            else f"Is it correct that {said}?"
        )
        return false_premise(
            self.rng,
            negated,
            (f"Is it true that {said}?", asked),
            (
                f"Is it wrong to say that {said}?",
                f'"{as_sentence(said)}." Is this statement false?',
            ),
        )

    def claim(self) -> str:
        """A description with the thing in it."""
        place, a_name, absurd = self.about.place, self.about.a_name, self.about.absurd[0]
        if self.about.area:
            return f"One of the things {place} is {a_name}; {absurd} is not among them."
        if self.about.part:
            return f"There {self.be} {a_name} {place}, but not {absurd}."
        return f"The thing {place} is {a_name}, not {absurd}."

    def what(self) -> str:
        """What there is in its place."""
        place = self.about.place
        if self.about.area:
            texts = f"Which things can be seen {place}?", f"What does the picture show {place}?"
        elif self.about.part:
            texts = f"What is there {place}?", f"What can be seen {place}?"
        else:
            texts = f"What is {place}?", f"What can be seen {place}?"
        return one_of(self.rng, *texts)

    def value(self) -> str:
        """What its attribute is."""
        about = self.about
        the_one = f"the {about.name} {about.place}"
        if about.kind != "colour":
            return f"What is the {about.kind} of {the_one}?"
        has = "have" if about.many else "has"
        texts = f"What colour {self.be} {the_one}?", f"{as_sentence(the_one)} {has} which colour?"
        return one_of(self.rng, *texts)

    def open_questions(self) -> list[WordedQuestion]:
        """What is there, the same behind a habit, and the attribute of what is not there."""
        about, none = self.about, f"{self.none}."
        marks = {
            "right": f"says that nothing is there or that there {self.be} no {about.name}, or "
            f"describes what the picture does show around there ({about.around}).",
            "wrong": f"mentions {about.a_name} as being {about.place}, whatever its look and "
            "whatever word is used for it.",
        }
        told = self.told
        plain = f"{self.what()} {_how(about)}"
        expecting = f"{self.habit()} {self.what()} Describe what this picture shows."
        return [
            short_answer(plain, f"{as_sentence(about.empty)}.", **marks, twin=told.get("what")),
            short_answer(expecting, none, **marks, twin=told.get("what")),
            short_answer(
                self.value(),
                none,
                right=f"says that there {self.be} no {about.name} there, or that its {about.kind} "
                "cannot be told because it is not there.",
                wrong=f"gives a {about.kind} or any other property of the {about.name}, even with "
                "doubts.",
                twin=told.get("value"),
            ),
        ]

    def either(self, pair: str) -> WordedQuestion:
        """Which of two things is there, of which neither is."""
        about, be = self.about, self.be
        return short_answer(
            one_of(
                self.rng,
                f"{as_sentence(about.place)}, {be} there {pair}?",
                f"{as_sentence(be)} there {pair} {about.place}?",
            ),
            "Neither.",
            right="says neither, none or nothing, or describes only what the picture does show "
            f"there ({about.present}).",
            wrong=f"says that {about.a_name} or {about.absurd[1]} is there.",
            twin=self.told.get("which"),
        )

    def choices(self) -> list[WordedQuestion]:
        """What is there, the same behind a habit, its attribute, and absurd things."""
        about, place = self.about, self.about.place
        which = f"Which of these is {place}?"
        asked = which if about.area else self.what()
        first = self.choice(asked, about.empty, self._descriptions(with_seen=True), about.seen)
        asked = f"{self.habit()} {which if about.area else self.what()}"
        wrong = self._descriptions(with_seen=self.twins)
        second = self.choice(asked, about.empty, wrong, about.seen)
        values = [about.value, about.others[0], about.others[-1]]
        third = self.choice(self.value(), self.none, values, about.value)
        is_one = f"Which of these is there {place}?" if about.part else which
        asked = one_of(self.rng, is_one, f"Which of these can be seen {place}?")
        absurd = [about.a_name, *about.absurd[:2]] if self.twins else about.absurd  # Figure 13
        return [first, second, third, self.choice(asked, NONE, absurd, about.a_name)]

    def _descriptions(self, *, with_seen: bool) -> list[str]:
        if not with_seen:
            return some_of(self.rng, self.about.variants, 3)
        return [self.about.seen, *some_of(self.rng, self.about.variants, 2)]


def _how(about: Erased) -> str:
    if about.area:
        return "Name them all."
    return "Describe what you see there." if about.part else "Describe it."


def _twin_answers(about: Erased) -> dict[str, Twin]:
    """Short answers about the picture that still has the thing."""
    name = about.name
    be = "are" if about.many else "is"
    return {
        "what": Twin(
            answer=f"{as_sentence(about.seen)}.",
            right=f"mentions {about.a_name} there, whatever word is used for it.",
            wrong=f"says that nothing is there, or does not mention the {name}.",
        ),
        "value": Twin(
            answer=f"{as_sentence(about.value)}.",
            right=f"says {about.value}, or a word for a shade of {about.value}."
            if about.kind == "colour"
            else f"says {about.value}, in any words.",
            wrong=f"says that there {be} no {name}, or gives any other {about.kind}.",
        ),
        "which": Twin(
            answer=f"{as_sentence(about.a_name)}.",
            right=f"says {name}.",
            wrong="says neither, none, or the other one.",
        ),
    }
