"""Relational erasure: one of two things that go together is gone.

The twin is the unedited picture, where the thing is. There Q12 offers it in the place of one of the
paper's three absurd things, so that "none of these" is not always right.
"""

from __future__ import annotations

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
    """Three values that it does not have."""
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
    name, a_name, place = about.name, about.a_name, about.place
    twins, be = layout == "twins", "are" if about.many else "is"

    def habit() -> str:
        return as_sentence(one_of(rng, *about.habits))

    def is_there(negate: bool) -> WordedQuestion:
        return false_premise(
            rng,
            negate,
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

    def what() -> str:
        if about.area:
            return one_of(
                rng, f"Which things can be seen {place}?", f"What does the picture show {place}?"
            )
        if about.part:
            return one_of(rng, f"What is there {place}?", f"What can be seen {place}?")
        return one_of(rng, f"What is {place}?", f"What can be seen {place}?")

    def value_question() -> str:
        if about.kind != "colour":
            return f"What is the {about.kind} of the {name} {place}?"
        has = "have" if about.many else "has"
        return one_of(
            rng,
            f"What colour {be} the {name} {place}?",
            f"The {name} {place} {has} which colour?",
        )

    has_value = (
        f"the {name} {place} {be} {about.value}"
        if about.kind == "colour"
        else f"the {about.kind} of the {name} {place} is {about.value}"
    )
    guided = is_there(negated[1])
    claim = f"The thing {place} is {a_name}, not {about.absurd[0]}."
    if about.area:
        claim = f"One of the things {place} is {a_name}; {about.absurd[0]} is not among them."
    elif about.part:
        claim = f"There {be} {a_name} {place}, but not {about.absurd[0]}."
    which = f"Which of these is {place}?" if about.area else ""
    pair = " or ".join(some_of(rng, [a_name, about.absurd[1]], 2))
    described = {
        "right": f"says that nothing is there or that there {be} no {name}, or describes what the "
        f"picture does show around there ({about.around}).",
        "wrong": f"mentions {a_name} as being {place}, whatever its look and whatever word is used "
        "for it.",
    }
    none = f"There {be} no {name} {place}"
    told = _twin_answers(about) if twins else {}
    seen = about.seen if twins else ""
    return [
        is_there(negated[0]),
        msgspec.structs.replace(guided, text=f"{habit()} {guided.text}"),
        false_premise(
            rng,
            negated[2],
            (
                f"Is it true that {has_value}?",
                f"Is the {name} {place} {about.value}?"
                if about.kind == "colour" and not about.many
                else f"Is it correct that {has_value}?",
            ),
            (
                f"Is it wrong to say that {has_value}?",
                f'"{as_sentence(has_value)}." Is this statement false?',
            ),
        ),
        false_premise(
            rng,
            negated[3],
            (f"{claim} Is this description right?", f"{claim} Does this fit the picture?"),
            (f"{claim} Is this description wrong?", f"{claim} Does this contradict the picture?"),
        ),
        short_answer(
            f"{what()} {_how(about)}",
            f"{as_sentence(about.empty)}.",
            **described,
            twin=told.get("what"),
        ),
        short_answer(
            f"{habit()} {what()} Describe what this picture shows.",
            f"{none}.",
            **described,
            twin=told.get("what"),
        ),
        short_answer(
            value_question(),
            f"{none}.",
            right=f"says that there {be} no {name} there, or that its {about.kind} cannot be told "
            "because it is not there.",
            wrong=f"gives a {about.kind} or any other property of the {name}, even with doubts.",
            twin=told.get("value"),
        ),
        short_answer(
            one_of(
                rng,
                f"{as_sentence(place)}, {be} there {pair}?",
                f"{as_sentence(be)} there {pair} {place}?",
            ),
            "Neither.",
            right="says neither, none or nothing, or describes only what the picture does show "
            f"there ({about.present}).",
            wrong=f"says that {a_name} or {about.absurd[1]} is there.",
            twin=told.get("which"),
        ),
        choice(
            rng,
            places,
            which or what(),
            about.empty,
            [about.seen, *some_of(rng, about.variants, 2)],
            twin=seen,
        ),
        choice(
            rng,
            places,
            f"{habit()} {which or what()}",
            about.empty,
            [about.seen, *some_of(rng, about.variants, 2)]
            if twins
            else some_of(rng, about.variants, 3),
            twin=seen,
        ),
        choice(
            rng,
            places,
            value_question(),
            none,
            [about.value, about.others[0], about.others[2]],
            twin=about.value if twins else "",
        ),
        choice(
            rng,
            places,
            one_of(rng, f"Which of these can be seen {place}?", f"Which of these is there {place}?")
            if about.part
            else one_of(rng, f"Which of these is {place}?", f"Which of these can be seen {place}?"),
            NONE,
            [a_name, *about.absurd[:2]] if twins else about.absurd,  # all, as in Figure 13
            twin=a_name if twins else "",
        ),
    ]


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
