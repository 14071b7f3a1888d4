"""What fields must fulfil before questions are made from them. Each check has an id, which is the
reason of the candidates that it drops."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from groundfault.building.proposals.kinds import kin
from groundfault.building.proposals.words import article, plain
from groundfault.building.records import Candidate, Dropped
from groundfault.exams.wording import WordedQuestion

__all__ = ["NotAsked", "check_key", "differ", "mentions", "required", "short", "told"]

MOST_WORDS = {"B_name": 12, "A_location": 14, "D_location": 10}
LONGEST_OPTION = 30
"""Words."""


class NotAsked(Exception):
    """No questions can be made: the validator's id, and what it found."""

    def __init__(self, rule: str, found: str) -> None:
        super().__init__(f"{rule}: {found}")
        self.dropped = Dropped(reason=rule, details=found)


def required(fields: Mapping[str, str], names: Iterable[str]) -> None:
    """Q-blank: a field is there and says something."""
    for name in names:
        if not fields.get(name, "").strip():
            raise NotAsked("Q-blank", name)


def short(fields: Mapping[str, str]) -> None:
    """Q-words: names and places are phrases, not stories; names have no article."""
    for name, most in MOST_WORDS.items():
        words = len(fields.get(name, "").split())
        if words > most:
            raise NotAsked("Q-words", f"{name} has {words}")
    for name in ("B_name", "B", "A_object"):
        if article(fields.get(name, "")):
            raise NotAsked("Q-article", f"{name}: '{fields[name]}'")


def mentions(place: str, names: Iterable[str], rule: str) -> None:
    """Q-location, Q-self: a place does not name what it is the place of."""
    words = re.findall(r"\w+", place.casefold())
    for name in names:
        for word in plain(name).split():
            if word in words or f"{word}s" in words:
                raise NotAsked(rule, f"'{place}' names '{name}'")


def differ(values: Sequence[str], rule: str) -> None:
    """Q-differ: no two of the options mean the same."""
    seen: list[str] = []
    for value in filter(None, map(plain, values)):
        if value in seen:
            raise NotAsked(rule, f"'{value}' twice")
        seen.append(value)


def told(candidate: Candidate, names: Iterable[str]) -> None:
    """Q-absurd: things that are offered as absent are in no picture."""
    there = [thing.category for thing in candidate.photograph.things]
    for name in names:
        near = next((other for other in there if other and kin(name, other)), "")
        if near:
            raise NotAsked("Q-absurd", f"'{name}' and '{near}'")


def check_key(asked: Sequence[WordedQuestion], twins: bool) -> None:
    """Q-key, Q-length: one option is right, of twins each another one, and none is a story."""
    for number, question in enumerate(asked, start=1):
        if twins and question.answer == question.twin_answer and question.options:
            raise NotAsked("Q-key", f"Q{number} has one answer for both pictures")
        folded = [option.strip().casefold() for option in question.options]
        if len({*folded}) < len(folded):
            raise NotAsked("Q-key", f"Q{number} has an option twice")
        if any(len(option.split()) > LONGEST_OPTION for option in question.options):
            raise NotAsked("Q-length", f"an option of Q{number}")
        if "  " in question.text or not question.text.endswith((".", "?")):
            raise NotAsked("Q-form", f"Q{number}: '{question.text}'")
