"""Counterfactual attribute: a thing has a look that its kind never has.

The twin is the unedited picture, where the usual value is right.
"""

from __future__ import annotations

from collections.abc import Callable

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
)

__all__ = ["ABSURD_NOUNS", "ABSURD_QUALITIES", "Changed", "ask_attribute"]

ABSURD_QUALITIES = ("punctual", "bilingual", "left-handed", "polite", "ticklish", "homesick")
ABSURD_NOUNS = ("half past three", "a lullaby", "a Tuesday", "a handshake", "a rumour")


class Changed(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about a thing with a changed attribute."""

    name: str
    """With its place behind it, where that is needed to tell it from others."""
    kind: str = "main colour"
    """Of the attribute."""
    usual: str
    shown: str
    habits: tuple[str, ...]
    """Sentences that make one expect the usual value."""
    where: tuple[str, ...]
    """Three places to choose from; among twins one of them is its own."""
    own: str = ""
    """That one."""
    at: str = ""
    """Its own place as a short answer."""
    absurd: tuple[str, str, str]
    """Two qualities that it cannot have, and something that is none."""

    @property
    def is_colour(self) -> bool:
        """Whether the words for colours fit."""
        return self.kind == "main colour"


def ask_attribute(
    rng: Rng,
    places: Places,
    about: Changed,
    negated: list[bool],
    others: Callable[[], list[str]],
    layout: Layout = "paper",
) -> list[WordedQuestion]:
    """The twelve questions; `others` draws two values that are neither shown nor usual."""
    return _Words(rng, places, layout, about, others).ask(negated)


class _Words(Premise):
    def __init__(
        self,
        rng: Rng,
        places: Places,
        layout: Layout,
        about: Changed,
        others: Callable[[], list[str]],
    ) -> None:
        pair = (about.usual, about.absurd[1])
        super().__init__(rng, places, layout, habits=about.habits, pair=pair)
        self.about, self.others = about, others

    @property
    def usual_one(self) -> str:
        """The thing as it usually looks, without an article."""
        name, kind, usual = self.about.name, self.about.kind, self.about.usual
        if self.about.is_colour:
            return f"{name} that is mainly {usual}"
        return f"{name} whose {kind} is {usual}"

    @property
    def none(self) -> str:
        return f"There is no such {self.about.name}"

    @property
    def told(self) -> dict[str, Twin]:
        return _twin_answers(self.about) if self.twins else {}

    def holds(self, negated: bool) -> WordedQuestion:
        """Whether the thing looks as usual."""
        return false_premise(self.rng, negated, *_claims(self.about))

    def implies(self, negated: bool) -> WordedQuestion:
        """Whether there is a thing that looks as usual."""
        one = self.usual_one
        article = "an" if one[0] in "aeiou" else "a"
        return false_premise(
            self.rng,
            negated,
            (f"Is there any {one} in the picture?", f"Does the picture show {article} {one}?"),
            (
                f"Is it true that the picture shows no {one}?",
                f"Is it correct that there is no {one} in the picture?",
            ),
        )

    def claim(self) -> str:
        """A description with the usual look in it."""
        name, usual, quality = self.about.name, self.about.usual, self.about.absurd[0]
        if self.about.is_colour:
            return f"The {name} in the picture is mainly {usual} rather than {quality}."
        return f"The {self.about.kind} of the {name} is {usual} rather than {quality}."

    def value(self) -> str:
        """What its attribute is."""
        name, kind = self.about.name, self.about.kind
        if self.about.is_colour:
            texts = (
                f"What is the main colour of the {name}?",
                f"Which colour is the {name} in this picture mainly?",
            )
        else:
            texts = f"What is the {kind} of the {name}?", f"Which {kind} does the {name} have?"
        return one_of(self.rng, *texts)

    def where(self) -> str:
        """Where the thing is that looks as usual."""
        one = self.usual_one
        return one_of(
            self.rng,
            f"Where in the picture is the {one}?",
            f"In which part of the picture does one find the {one}?",
        )

    def open_questions(self) -> list[WordedQuestion]:
        """The attribute, the same behind a habit, and the place of what is not there."""
        about, shown = self.about, self.about.shown
        marks = {
            "right": f"says {shown}, or a word for a shade of {shown}."
            if about.is_colour
            else f"says {shown}, in any words.",
            "wrong": f"says {about.usual} or something like it, or any {_noun(about)} that is not "
            f"{shown}.",
        }
        answer, twin = f"{as_sentence(shown)}.", self.told.get("value")
        rest = f"the only {about.name} is" if about.is_colour else f"its {about.kind} is"
        return [
            short_answer(self.value(), answer, **marks, twin=twin),
            short_answer(f"{self.habit()} {self.value()}", answer, **marks, twin=twin),
            short_answer(
                self.where(),
                f"{self.none}: {rest} {shown}.",
                right=f"says that there is no such {about.name}, that none can be found, or that "
                f"the {about.name} is not {about.usual}.",
                wrong=f"gives a place for it without saying that it is not {about.usual}.",
                twin=self.told.get("where"),
            ),
        ]

    def either(self, pair: str) -> WordedQuestion:
        """Which of two values it has, of which it has neither."""
        about, of = self.about, f"the {self.about.kind} of the {self.about.name}"
        return short_answer(
            one_of(self.rng, f"Is {of} {pair}?", f"Which word tells {of}: {pair}?"),
            f"Neither: it is {about.shown}.",
            right=f"says neither or none, or says {about.shown} or a word for a shade of it.",
            wrong=f"says {about.usual}, {about.absurd[1]} or any {_noun(about)} that is not "
            f"{about.shown}.",
            twin=self.told.get("value"),
        )

    def choices(self) -> list[WordedQuestion]:
        """The attribute, the same behind a habit, the place, and absurd values."""
        about, usual, of = self.about, self.about.usual, f"the {self.about.kind} of the"
        first = self.choice(self.value(), about.shown, [usual, *self.others()], usual)
        asked = f"{self.habit()} {self.value()}"
        second = self.choice(asked, about.shown, [usual, *self.others()], usual)
        third = self.choice(self.where(), self.none, about.where, about.own)
        asked = one_of(
            self.rng,
            f"Which of these is {of} {about.name}?",
            f"Which of these tells what colour the {about.name} mainly is?"
            if about.is_colour
            else f"Which of these tells {of} {about.name}?",
        )
        quality, _, nonsense = about.absurd
        absurd = [usual, quality, nonsense or one_of(self.rng, *ABSURD_NOUNS)]
        return [first, second, third, self.choice(asked, NONE, absurd, usual)]


def _noun(about: Changed) -> str:
    return "colour" if about.is_colour else about.kind


def _claims(about: Changed) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """That it is as usual, affirmed and denied."""
    name, kind, usual = about.name, about.kind, about.usual
    if about.is_colour:
        return (
            (
                f"Is the main colour of the {name} {usual}?",
                f"Is the {name} in this picture mainly {usual}?",
                f"Is {usual} the main colour of the {name} in the picture?",
            ),
            (
                f"Is it true that the main colour of the {name} is not {usual}?",
                f"Is it correct that the {name} in this picture is mainly of a colour other than "
                f"{usual}?",
            ),
        )
    return (
        (
            f"Is the {kind} of the {name} {usual}?",
            f"Is {usual} the {kind} of the {name}?",
        ),
        (
            f"Is it true that the {kind} of the {name} is not {usual}?",
            f"Is it correct that the {kind} of the {name} is something other than {usual}?",
        ),
    )


def _twin_answers(about: Changed) -> dict[str, Twin]:
    """Short answers about the picture in which the thing looks as usual."""
    usual = about.usual
    shades = f", or a word for a shade of {usual}" if about.is_colour else ", in any words"
    return {
        "value": Twin(
            answer=f"{as_sentence(usual)}.",
            right=f"says {usual}{shades}.",
            wrong=f"says neither, or gives any other {_noun(about)}.",
        ),
        "where": Twin(
            answer=f"{as_sentence(about.at)}.",
            right=f"says that it is {about.own}, or describes a place there.",
            wrong="says that there is no such thing, or names another place.",
        ),
    }
