"""English noun phrases, as far as rules about proposals need them: words, heads, articles."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = [
    "ARTICLES",
    "CONNECTING",
    "QUANTITIES",
    "article",
    "head",
    "joined",
    "plain",
    "singular",
    "with_article",
    "without_article",
]

ARTICLES = frozenset({"a", "an", "the"})
QUANTITIES = frozenset({"two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "several", "some", "many", "few", "multiple", "pair", "couple", "dozen", "various", "both",
    "numerous", "lots", "pairs", "couples", "dozens", "another", "one"})  # fmt: skip
CONNECTING = frozenset({"of", "on", "in", "at", "with", "under", "beside", "behind", "near", "by",
    "from", "that", "which", "for", "to", "above", "below", "between", "inside", "over", "against",
    "next", "resting", "sitting", "standing", "lying", "and", "or", "perched", "covered", "w",
    "without", "into", "onto", "around", "facing", "wearing", "holding", "left of"})  # fmt: skip
"""Words that end the part of a phrase that has its head."""
_IRREGULAR = {"men": "man", "women": "woman", "children": "child", "people": "person",
    "mice": "mouse", "geese": "goose", "knives": "knife", "scarves": "scarf", "loaves": "loaf",
    "shelves": "shelf", "leaves": "leaf", "wolves": "wolf", "feet": "foot", "teeth": "tooth",
    "oxen": "ox", "calves": "calf", "cherries": "cherry", "skis": "skis", "scissors": "scissors",
    "glasses": "glass", "cookies": "cookie", "pies": "pie", "ties": "tie", "movies": "movie",
    "brownies": "brownie", "bookies": "bookie", "zombies": "zombie", "hoodies": "hoodie",
    "calories": "calorie", "shoes": "shoe", "toes": "toe", "canoes": "canoe", "horses": "horse",
    "houses": "house", "buses": "bus", "vases": "vase", "roses": "rose", "cheeses": "cheese",
    "oranges": "orange", "axes": "axe", "purses": "purse", "suitcases": "suitcase"}  # fmt: skip
_NO_PLURAL = ("ss", "us", "is")


@lru_cache(maxsize=4096)  # rules ask about the same few phrases again and again
def plain(phrase: str) -> str:
    """Lower case, single blanks, no marks but hyphens and apostrophes inside words.

    >>> plain('  a "Bus  stop" sign. ')
    'a bus stop sign'
    """
    kept = re.sub(r"[^\w\s'’-]+", " ", phrase.casefold())
    return " ".join(word for part in kept.split() if (word := part.strip("'’-_")))


def singular(word: str) -> str:
    """A noun's singular, by ending.

    >>> [singular(word) for word in ("zebras", "buses", "glass", "knives", "cherries", "tv")]
    ['zebra', 'bus', 'glass', 'knife', 'cherry', 'tv']
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or not word.endswith("s") or word.endswith(_NO_PLURAL):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses", "toes")):
        return word[:-2]
    return word[:-1]


def article(phrase: str) -> str:
    """The article that a phrase begins with, marks aside; "" if none.

    >>> article('"The left bear"'), article("another bear"), article("a squirrel")
    ('the', '', 'a')
    """
    first = plain(phrase).partition(" ")[0]
    return first if first in ARTICLES else ""


def without_article(phrase: str) -> str:
    """A phrase in single blanks, without quotation marks around it or an article before it.

    >>> without_article(' The "left bear"')
    '"left bear"'
    """
    kept = " ".join(phrase.split())
    return kept.partition(" ")[2] if article(kept) and " " in kept else kept


@lru_cache(maxsize=4096)
def head(phrase: str) -> str:
    """The words of a phrase that say what it names, last word last: what stands before a
    preposition or a relative clause, without an article.

    >>> head("bowl of fruit"), head("the dog on left"), head("red fire truck")
    ('bowl', 'dog', 'red fire truck')
    """
    kept: list[str] = []
    for word in plain(without_article(phrase)).split():
        if word in CONNECTING and kept:
            break
        kept.append(word)
    return " ".join(kept)


@lru_cache(maxsize=4096)
def with_article(phrase: str) -> str:
    """A phrase with "a" or "an" before it.

    >>> with_article("orange"), with_article("unicycle"), with_article("skis")
    ('an orange', 'a unicycle', 'skis')
    """
    word = phrase.split()[-1] if phrase.split() else ""
    if word in ("skis", "scissors", "headphones"):
        return phrase
    vowel = phrase[:1].casefold() in "aeio" or phrase.casefold().startswith(("um", "ur"))
    return f"{'an' if vowel else 'a'} {phrase}"


def joined(names: list[str] | tuple[str, ...]) -> str:
    """Names as English lists them.

    >>> joined(["the cup"]), joined(["the cup", "the table", "the wall"])
    ('the cup', 'the cup, the table and the wall')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
