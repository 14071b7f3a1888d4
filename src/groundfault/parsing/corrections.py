"""Corrections of a false premise, read by rule: does an answer say what is there instead?

Asked for "the left cat" where the left animal is a dog, a good answer denies the cat and names the
dog. The rule, about the words in which the two descriptions differ:

- named: every word that only the true description has ("dog") is said of something as being there,
  in the same or another word for it, in any number. Where the true description has no word of its
  own, all its words must be said, and none that only the false one has.
- exact: the true description itself is said so, word for word.

Small words and punctuation do not count, mentions that are denied ("nor a dog") do not either.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from groundfault.parsing.assertions import CLAUSE, asserts
from groundfault.parsing.segmenter_replies import denies_presence

__all__ = ["Correction", "read_correction"]

LONGEST = 4000
"""Characters of an answer that are looked at."""

_SMALL = {
    "a", "an", "the", "of", "in", "on", "at", "to", "by", "with", "and", "or", "is", "are",
    "was", "were", "be", "been", "being", "am", "has", "have", "had", "do", "does", "did",
    "it", "its", "he", "his", "him", "she", "her", "hers", "they", "their", "them", "this",
    "that", "these", "those", "there", "here", "who", "which", "what", "i", "you", "your",
    "we", "as", "for", "from", "into", "out", "off", "up", "very", "so", "just", "only",
    "also", "yes", "no", "not", "nor", "next", "near", "side", "one", "thing", "wearing",
    "wears", "wear", "picture", "image", "photo", "photograph", "pic",
}  # fmt: skip
"""Words that tell no description from another."""
_SAME = [
    group.split()
    for group in (
        "man guy gentleman dude fellow",
        "woman lady",
        "child kid toddler",
        "person human",
        "dog puppy",
        "cat kitten",
        "couch sofa",
        "tv television",
        "bike bicycle",
        "motorbike motorcycle",
        "plane airplane aeroplane aircraft",
        "phone cellphone smartphone",
        "cup mug",
        "fridge refrigerator",
        "truck lorry",
        "gray grey",
        "blond blonde",
        "middle center centre",
        "top upper",
        "bottom lower",
        *(
            f"{word} {number}"
            for number, word in enumerate(
                ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), start=2
            )
        ),
    )
]
_SAME_WORD = {word: group[0] for group in _SAME for word in group}
_SINGULAR = {
    "men": "man",
    "women": "woman",
    "children": "child",
    "people": "person",
    "feet": "foot",
    "teeth": "tooth",
    "sheep": "sheep",
    "knives": "knife",
    "leaves": "leaf",
    "shelves": "shelf",
}
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_BREAK = re.compile(
    r"\b(?:yet|instead(?! of)|so|because|only|just|whereas)\b|\band (?=not\b)|"
    r"(?= not (?:an?|the|any)\b)"
)
"""Where one clause ends and another begins, besides those that `assertions` knows."""
_NOT_LACKING = re.compile(
    r"(\b(?:lacks?|lacking|missing|absent)\b[^.;]*\bbut) not\b|"
    r"\b(?:don't|do not) (?:miss|overlook)\b"
)
"""A "not" that denies nothing: "the picture lacks a cat, but not a dog"."""


class Correction(NamedTuple):
    """How well an answer says what is there."""

    named: bool
    exact: bool


def read_correction(text: str, false: str, true: str) -> Correction:
    """Whether an answer to a false description names what fits the true one.

    >>> read_correction("No cat there, but a puppy on the left.", "the left cat", "the left dog")
    Correction(named=True, exact=False)
    >>> read_correction("There is only the left dog.", "the left cat", "the left dog")
    Correction(named=True, exact=True)
    >>> read_correction("There is no cat and no dog.", "the left cat", "the left dog")
    Correction(named=False, exact=False)
    """
    said = _NOT_LACKING.sub(lambda found: found[1] or "", _plain(text[:LONGEST]))
    told = _WORD.sub(lambda word: _same(word[0]), _BREAK.sub("; ", said))
    wanted, unwanted = _content(true), _content(false)
    own = [word for word in wanted if word not in unwanted]
    if own:
        exact = _is_said(said, _plain(true))
        return Correction(exact or all(_mentioned(told, word) for word in own), exact)
    # what a denial repeats of the false description may be all of the true one
    said, told = _affirmed(said), _affirmed(told)
    if any(_mentioned(told, word) for word in unwanted if word not in wanted):
        return Correction(named=False, exact=False)
    exact = _is_said(said, _plain(true))
    return Correction(exact or (bool(wanted) and all(_mentioned(told, w) for w in wanted)), exact)


def _affirmed(said: str) -> str:
    """What is said without denying anything."""
    clauses = CLAUSE.split(_BREAK.sub("; ", said))
    return "; ".join(clause for clause in clauses if not denies_presence(clause.strip()))


def _plain(text: str) -> str:
    return " ".join(text.replace("’", "'").casefold().split())


def _is_said(said: str, description: str) -> bool:
    """Whether a description stands there word for word, and is not denied. It is taken for one
    word, so that a comma or a "no" of its own divides and denies nothing."""
    bare = re.sub(r"^(?:an?|the) ", "", description.strip(" .!?"))
    if not bare:
        return False
    marked = re.sub(rf"(?<!\w){re.escape(bare)}(?!\w)", "⟦it⟧", said)
    return asserts(_BREAK.sub("; ", marked), re.compile("⟦it⟧"), supposing=True)


def _mentioned(told: str, word: str) -> bool:
    return asserts(told, re.compile(rf"(?<!\w){re.escape(word)}(?!\w)"), supposing=True)


def _content(description: str) -> list[str]:
    """The words that tell a description from others, each in the form that stands for all."""
    words = [word for word in _WORD.findall(_plain(description)) if word not in _SMALL]
    return list(dict.fromkeys(_same(word) for word in words))


def _same(word: str) -> str:
    """One form for all numbers and names of a thing.

    >>> _same("guys"), _same("buses"), _same("ponies"), _same("dress"), _same("3"), _same("was")
    ('man', 'bus', 'pony', 'dress', 'three', 'was')
    """
    if word in _SMALL or "'" in word:
        return word
    one = _SINGULAR.get(word, word)
    if len(one) > 3 and one.endswith("ies"):
        one = f"{one[:-3]}y"
    elif one.endswith(("sses", "shes", "ches", "xes", "uses")):
        one = one[:-2]
    elif len(one) > 2 and one.endswith("s") and not one.endswith(("ss", "us", "is")):
        one = one[:-1]
    return _SAME_WORD.get(one, one)
