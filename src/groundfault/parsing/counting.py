"""Counts among other numbers: what is counted aloud, and which of several things was asked for."""

from __future__ import annotations

import re

from groundfault.parsing.vocabulary import listed
from groundfault.parsing.wording import noun, tokens

__all__ = ["counted_aloud", "is_bare_list", "is_of_another", "of_the_thing", "roman"]

_RUN = re.compile(
    r"(?<![\w.,])\d{1,3}(?:(?:\s*(?:,|…|\.{2,})\s*(?:and )?|\s+and\s+)\d{1,3}){2,}(?![\w%])"
)


def is_bare_list(text: str, n: int) -> bool:
    """Whether n numbers stand side by side with nothing between them that says what they are."""
    found = _RUN.search(text)
    return found is not None and len(re.findall(r"\d+", found[0])) == n


def counted_aloud(text: str) -> str:
    """A text in which things that are counted one by one are their number.

    >>> counted_aloud("Let me see: 1, 2, 3, 4."), counted_aloud("Rows of 5, 6, 7.")
    ('Let me see: 4.', 'Rows of 5, 6, 7.')
    """
    return _RUN.sub(_last, text)


_APART = re.compile(r"\b(?:per|each|respectively|numbers|counts)\b", re.IGNORECASE)
"""Says that numbers are counts of several places."""


def _last(run: re.Match[str]) -> str:
    numbers = [int(figure) for figure in re.findall(r"\d+", run[0])]
    if _APART.search(run.string):
        return run[0]
    return str(numbers[-1]) if numbers == list(range(1, len(numbers) + 1)) else run[0]


_HOW_MANY = re.compile(
    r"\bhow many ((?:[a-z-]+ ){0,3}?[a-z-]+)(?= (?:are|is|can|do|does|did|were|was|have|has|in|on|"
    r"at|you|that|there)\b|\W*\?|\W*$)"
)
_SMALL = listed("of the on in at with each per and or more other others ones them which are is to")


def of_the_thing(text: str, question: str) -> int | None:
    """The number of what was asked for, where an answer counts other things beside it; each of
    those must be named as one, as in "3 plates and 5 cups".

    >>> of_the_thing("There are 3 plates and 5 cups.", "How many cups are there?")
    5
    >>> of_the_thing("3 red and 4 blue cups", "How many cups are there?") is None
    True
    """
    asked = _HOW_MANY.search(question.casefold())
    if asked is None:
        return None
    wanted = {noun(word) for word in tokens(asked[1])}
    head = noun(tokens(asked[1])[-1])
    values: set[int] = set()
    for found in re.finditer(r"(?<![\w.,-])(\d{1,6})\b((?: [a-z-]+)*)", text.casefold()):
        words = _named(found[2].split())
        if not words:
            return None
        if noun(words[-1]) == head:
            if {noun(word) for word in words} >= wanted:
                values.add(int(found[1]))
        elif not words[-1].endswith("s") and found[1] != "1":
            return None
    return values.pop() if len(values) == 1 else None


def _named(words: list[str]) -> list[str]:
    """The words of the thing that a number stands before, up to "and" or "but"; none if others
    follow."""
    for k, word in enumerate(words):
        if word in ("and", "but", "or"):
            return words[:k]
        if word in _SMALL:
            return []
    return words


def is_of_another(number: int, text: str, question: str) -> bool:
    """Whether a number counts another thing, while what was asked for has one of its own: the 3 of
    "3 trees with 4 birds each", where birds were asked for."""
    asked = _HOW_MANY.search(question.casefold())
    if asked is None:
        return False
    head = noun(tokens(asked[1])[-1])
    after = {
        (int(figure), noun(word))
        for figure, word in re.findall(r"(?<![\w.,-])(\d{1,6}) ([a-z-]+s)\b", text.casefold())
    }
    others = {value for value, thing in after if thing == head} - {number}
    return bool(others) and number in {value for value, thing in after if thing != head}


_ROMAN = re.compile(r"(M{0,3})(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def roman(text: str) -> int | None:
    """The value of a Roman number of two letters or more that is all that is said.

    >>> roman("XII."), roman("IX"), roman("I"), roman("MILD")
    (12, 9, None, None)
    """
    letters = text.strip(" .!\n")
    if len(letters) < 2 or not _ROMAN.fullmatch(letters):
        return None
    values = [_ROMAN_VALUES[letter] for letter in letters]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return sum(-value if value < after else value for value, after in pairs)
