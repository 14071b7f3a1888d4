"""Alteration tracing: two pictures, one change.

The twin is the first picture twice: nothing changed, and every question has an option that says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

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
    words = _Words(rng, about.kind, about.spot)
    name, done, twins = about.name, DONE[about.kind], layout == "twins"

    def chosen(text: str, right: str, wrong: list[str], same: str) -> WordedQuestion:
        if not twins:
            return choice(rng, places, text, right, wrong)
        return choice(rng, places, text, right, [same, *wrong[:2]], twin=same)

    traced = {
        "right": f"names the {name} and this kind of change ({_SHORT[about.kind]}), in any words; "
        f"{_same_change(about)}.",
        "wrong": "says that nothing changed, or names another thing or another kind of change "
        "instead.",
    }
    same = _same(SAME) if twins else None
    location = about.spot.partition(" ")[2]
    return [
        *_yes_no(words.asks, about.spot, done),
        short_answer(words.what_differs(), f"{about.everywhere}.", **traced, twin=same),
        short_answer(words.what_there(), f"{about.here}.", **traced, twin=same),
        short_answer(
            words.which(),
            f"{as_sentence(about.the_one)}.",
            right=f"names the {name}; its place, if given, is about right ({location}).",
            wrong=f"names another thing, says that nothing was {done}, or puts the {name} at quite "
            "another place.",
            twin=_same(_none(done)) if twins else None,
        ),
        chosen(words.what_differs(), about.everywhere, elsewhere(), SAME),
        chosen(words.what_there(), about.here, there(), SAME_THERE),
        chosen(words.which(), about.the_one, things(), _none(done)),
    ]


class _Words(NamedTuple):
    """The wordings of one sample; each call draws another one."""

    rng: Rng
    kind: str
    spot: str

    def asks(self, *texts: str) -> str:
        """One of these texts, half of the time after a sentence about the two pictures."""
        text = one_of(self.rng, *texts)
        return f"{one_of(self.rng, *_COMPARE)} {text}" if self.rng.random() < 0.5 else text

    def what_there(self) -> str:
        """What changed in this place."""
        return self.asks(
            f"Between the first picture and the second, what changed {self.spot}?",
            f"From the first picture to the second, what happened {self.spot}?",
        )

    def what_differs(self) -> str:
        """What changed anywhere."""
        return self.asks(
            "What is different in the second picture?",
            "What changed from the first picture to the second?",
            "In what does the second picture differ from the first?",
        )

    def which(self) -> str:
        """To what a change of this kind was done."""
        is_new = self.kind == "add"
        then = "where is it in the second picture" if is_new else "where was it at first"
        done = DONE[self.kind]
        return self.asks(
            f"Which object was {done} between the first picture and the second, and {then}?",
            f"From the first picture to the second, what was {done}, and {then}?",
        )


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
