"""Counterfactual attribute: a thing has a look that its kind never has.

The twin is the unedited picture, where the usual value is right.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from groundfault.exams import Layout
from groundfault.exams.wording import (
    NONE,
    Places,
    Rng,
    Twin,
    WordedQuestion,
    as_sentence,
    choice,
    false_premise,
    one_of,
    short_answer,
    some_of,
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
    name, kind, usual, shown = about.name, about.kind, about.usual, about.shown
    twins = layout == "twins"
    usual_one = (
        f"{name} that is mainly {usual}" if about.is_colour else f"{name} whose {kind} is {usual}"
    )
    a_usual_one = f"{'an' if usual_one[0] in 'aeiou' else 'a'} {usual_one}"
    quality, other_quality, nonsense = about.absurd

    def habit() -> str:
        return as_sentence(one_of(rng, *about.habits))

    def is_usual(negate: bool) -> WordedQuestion:
        return false_premise(rng, negate, *_claims(about))

    def value_question() -> str:
        if not about.is_colour:
            return one_of(
                rng, f"What is the {kind} of the {name}?", f"Which {kind} does the {name} have?"
            )
        return one_of(
            rng,
            f"What is the main colour of the {name}?",
            f"Which colour is the {name} in this picture mainly?",
        )

    def where() -> str:
        return one_of(
            rng,
            f"Where in the picture is the {usual_one}?",
            f"In which part of the picture does one find the {usual_one}?",
        )

    guided = is_usual(negated[1])
    claim = (
        f"The {name} in the picture is mainly {usual} rather than {quality}."
        if about.is_colour
        else f"The {kind} of the {name} is {usual} rather than {quality}."
    )
    pair = " or ".join(some_of(rng, [usual, other_quality], 2))
    shades = f"says {shown}, or a word for a shade of {shown}."
    valued = {
        "right": shades if about.is_colour else f"says {shown}, in any words.",
        "wrong": f"says {usual} or something like it, or any {_noun(about)} that is not {shown}.",
    }
    no_such = f"There is no such {name}"
    told = _twin_answers(about) if twins else {}
    as_before = usual if twins else ""
    return [
        is_usual(negated[0]),
        msgspec.structs.replace(guided, text=f"{habit()} {guided.text}"),
        false_premise(
            rng,
            negated[2],
            (
                f"Is there any {usual_one} in the picture?",
                f"Does the picture show {a_usual_one}?",
            ),
            (
                f"Is it true that the picture shows no {usual_one}?",
                f"Is it correct that there is no {usual_one} in the picture?",
            ),
        ),
        false_premise(
            rng,
            negated[3],
            (f"{claim} Is this description right?", f"{claim} Does this fit the picture?"),
            (f"{claim} Is this description wrong?", f"{claim} Does this contradict the picture?"),
        ),
        short_answer(value_question(), f"{as_sentence(shown)}.", **valued, twin=told.get("value")),
        short_answer(
            f"{habit()} {value_question()}",
            f"{as_sentence(shown)}.",
            **valued,
            twin=told.get("value"),
        ),
        short_answer(
            where(),
            f"{no_such}: the only {name} is {shown}."
            if about.is_colour
            else f"{no_such}: its {kind} is {shown}.",
            right=f"says that there is no such {name}, that none can be found, or that the {name} "
            f"is not {usual}.",
            wrong=f"gives a place for it without saying that it is not {usual}.",
            twin=told.get("where"),
        ),
        short_answer(
            one_of(
                rng,
                f"Is the {kind} of the {name} {pair}?",
                f"Which word tells the {kind} of the {name}: {pair}?",
            ),
            f"Neither: it is {shown}.",
            right=f"says neither or none, or says {shown} or a word for a shade of it.",
            wrong=f"says {usual}, {other_quality} or any {_noun(about)} that is not {shown}.",
            twin=told.get("value"),
        ),
        choice(rng, places, value_question(), shown, [usual, *others()], twin=as_before),
        choice(
            rng,
            places,
            f"{habit()} {value_question()}",
            shown,
            [usual, *others()],
            twin=as_before,
        ),
        choice(rng, places, where(), no_such, about.where, twin=about.own if twins else ""),
        choice(
            rng,
            places,
            one_of(
                rng,
                f"Which of these is the {kind} of the {name}?",
                f"Which of these tells what colour the {name} mainly is?"
                if about.is_colour
                else f"Which of these tells the {kind} of the {name}?",
            ),
            NONE,
            [usual, quality, nonsense or one_of(rng, *ABSURD_NOUNS)],
            twin=as_before,
        ),
    ]


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
            f"Is it true that the {name} has {usual} as its {kind}?",
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
