"""Alteration tracing: two pictures, one change.

The twin is the first picture twice: nothing changed, and every question has an option that says so.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from groundfault.exams import Layout
from groundfault.exams.wording import (
    Places,
    Rng,
    Twin,
    WordedQuestion,
    as_sentence,
    choice,
    one_of,
    short_answer,
    yes_no,
)

__all__ = ["DONE", "SAME", "Options", "Traced", "ask_tracing"]

DONE = {
    "move": "moved",
    "remove": "removed",
    "add": "added",
    "replace": "replaced by something else",
}
_SHORT = {
    "move": "moved to another place",
    "remove": "removed",
    "add": "added",
    "replace": "replaced by another thing",
}
SAME = "Nothing: the two pictures show the same"
"""The option that is right of two equal pictures."""
SAME_THERE = "Nothing changed there"
_COMPARE = ("Compare the two pictures.", "Look at both pictures.", "There are two pictures.")

Options = Callable[[], list[str]]
"""Draws three wrong options."""


class Traced(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about an alteration."""

    kind: str
    """move, remove, add or replace."""
    name: str
    """Of what was altered."""
    spot: str
    """Where, with a preposition: "in the lower left part of the picture"."""
    everywhere: str
    """The change as a sentence with its place, without a full stop."""
    here: str
    """The same with "there" for the place."""
    by: str = ""
    """Of a replacement: the new thing, with an article."""

    @property
    def the_one(self) -> str:
        """The thing in its place."""
        return f"the {self.name} {self.spot}"


def ask_tracing(
    rng: Rng,
    places: Places,
    about: Traced,
    elsewhere: Options,
    there: Options,
    things: Options,
    layout: Layout = "paper",
) -> list[WordedQuestion]:
    """The twelve questions. Wrong options are drawn: changes anywhere, changes in the right place,
    and other things in their places."""
    kind, name, spot, done = about.kind, about.name, about.spot, DONE[about.kind]
    twins = layout == "twins"

    def asks(*texts: str) -> str:
        text = one_of(rng, *texts)
        return f"{one_of(rng, *_COMPARE)} {text}" if rng.random() < 0.5 else text

    def what_there() -> str:
        return asks(
            f"Between the first picture and the second, what changed {spot}?",
            f"From the first picture to the second, what happened {spot}?",
        )

    def what_differs() -> str:
        return asks(
            "What is different in the second picture?",
            "What changed from the first picture to the second?",
            "In what does the second picture differ from the first?",
        )

    def which() -> str:
        then = "where is it in the second picture" if kind == "add" else "where was it at first"
        return asks(
            f"Which object was {done} between the first picture and the second, and {then}?",
            f"From the first picture to the second, what was {done}, and {then}?",
        )

    def chosen(text: str, right: str, wrong: list[str], same: str) -> WordedQuestion:
        if not twins:
            return choice(rng, places, text, right, wrong)
        return choice(rng, places, text, right, [same, *wrong[:2]], twin=same)

    traced = {
        "right": f"names the {name} and this kind of change ({_SHORT[kind]}), in any words; "
        f"{_same_change(about)}.",
        "wrong": "says that nothing changed, or names another thing or another kind of change "
        "instead.",
    }
    same = _same(SAME) if twins else None
    location = spot.partition(" ")[2]
    return [
        *_yes_no(asks, spot, done),
        short_answer(what_differs(), f"{about.everywhere}.", **traced, twin=same),
        short_answer(what_there(), f"{about.here}.", **traced, twin=same),
        short_answer(
            which(),
            f"{as_sentence(about.the_one)}.",
            right=f"names the {name}; its place, if given, is about right ({location}).",
            wrong=f"names another thing, says that nothing was {done}, or puts the {name} at quite "
            "another place.",
            twin=_same(_none(done)) if twins else None,
        ),
        chosen(what_differs(), about.everywhere, elsewhere(), SAME),
        chosen(what_there(), about.here, there(), SAME_THERE),
        chosen(which(), about.the_one, things(), _none(done)),
    ]


def _none(done: str) -> str:
    return f"none: nothing was {done}"


def _same(answer: str) -> Twin:
    return Twin(
        answer=f"{as_sentence(answer)}.",
        right="says that nothing changed, that there is no difference, or that no such change can "
        "be found.",
        wrong="names any change, or any object that was changed.",
    )


def _same_change(about: Traced) -> str:
    name = about.name
    return {
        "move": f"that the {name} is gone from one place and now stands at another is the same "
        "change",
        "replace": f"that the {name} is gone and {about.by} stands there now is the same change",
        "add": f"that there was no such {name} at first is the same change",
        "remove": f"that the {name} is missing in the second picture is the same change",
    }[about.kind]


def _yes_no(asks: Callable[..., str], spot: str, done: str) -> list[WordedQuestion]:
    """Six questions: none, location and operation hints, each affirmed and denied."""
    return [
        yes_no(
            asks(
                "Does anything differ between the first picture and the second?",
                "Is there any change from the first picture to the second?",
                "Is the second picture in any way different from the first?",
            ),
            true=True,
        ),
        yes_no(
            asks(
                "Is it true that the second picture shows exactly the same as the first?",
                "Is it correct that nothing at all changed from the first picture to the second?",
            ),
            true=False,
            negated=True,
        ),
        yes_no(
            asks(
                f"From the first picture to the second, did anything change {spot}?",
                f"Between the two pictures, is there any difference {spot}?",
            ),
            true=True,
        ),
        yes_no(
            asks(
                f"Is it true that, from the first picture to the second, nothing changed {spot}?",
                f"Is it correct that, between the two pictures, there is no difference {spot}?",
            ),
            true=False,
            negated=True,
        ),
        yes_no(
            asks(
                f"Was anything {done} between the first picture and the second?",
                f"From the first picture to the second, was any object {done}?",
            ),
            true=True,
        ),
        yes_no(
            asks(
                f"Is it true that nothing was {done} between the first picture and the second?",
                f"Is it correct that no object was {done} from the first picture to the second?",
            ),
            true=False,
            negated=True,
        ),
    ]
