"""What is a kind of what: a small table of things that can be seen in photographs.

It answers one question of the linter: do two phrases name different things, or is one of them
another word for the other, a kind of it, or what it is a kind of? WordNet would know more words,
but takes 10 MB and more of data, and calls a hot dog a dog's cousin.
"""

from __future__ import annotations

from functools import cache, lru_cache
from importlib import resources
from itertools import pairwise
from typing import Literal

from groundfault.building.denied import Denied, denied_word
from groundfault.building.proposals.words import head, plain, singular

__all__ = [
    "ABSTRACT",
    "NOBODY",
    "SCENES",
    "ancestors",
    "is_known",
    "is_vague",
    "kin",
    "named",
    "named_denied",
    "names_one_of",
    "other_names",
    "wider_kind",
]

NOBODY = Denied()
"""What is denied by default: people, and what is sensitive."""
Kinship = Literal["same", "synonym", "hypernym", "hyponym", ""]


def _set(names: str) -> frozenset[str]:
    return frozenset(" ".join(name.split()) for name in names.split(","))


ABSTRACT = _set("""
thing, object, item, animal, vehicle, food, fruit, vegetable, furniture, equipment, stuff,
material, device, tool, creature, plant life, appliance, product, goods, snack, toy, container,
utensil, machine, gear, clothing, mammal, dessert, dish, wildlife, livestock, something,
accessory, decoration, instrument, supplies, meal, produce, apparel, kitchenware, drink,
beverage
""")
"""Words for many kinds of things: too vague for a phrase that a model is to find."""

SCENES = _set("""
stadium, beach, street, kitchen, forest, desert, sea, ocean, mountain, sky, snow, field, meadow,
city, room, bedroom, bathroom, garden, park, road, river, lake, jungle, zoo, farm, office,
airport, harbour, harbor, underwater, savanna, iceberg, background, landscape, weather, night,
water, sand, grass, ice, fog, cloud, sunset, pool, library, market, museum, pasture, runway,
living room, dining room, autumn forest, drawing, deep sea, space, outer space
""")
"""Places and stuff: they have no shape that a mask could have."""


def _lines(file: str) -> list[str]:
    text = resources.files(__package__).joinpath(file).read_text("utf-8")
    return text.replace("\n  ", " ").splitlines()[1:]


@cache
def _parents() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for line in _lines("kinds.txt"):
        parent, _, children = line.partition(":")
        for child in children.split(","):
            found.setdefault(child.strip(), set()).add(parent.strip())
    return found


@cache
def _synonyms() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in _lines("synonyms.txt"):
        group = {word.strip() for word in line.split(",")}
        whole = frozenset(group.union(*(found.get(word, frozenset()) for word in group)))
        found.update(dict.fromkeys(whole, whole))
    return found


@lru_cache(maxsize=4096)
def _known(name: str) -> str:
    """The name under which the tables have a phrase: all of it, or its last words; "" if none."""
    words = plain(name).split()
    for start in range(len(words)):
        rest = " ".join([*words[start:-1], singular(words[-1])])
        for tried in (rest, " ".join(words[start:])):
            if tried in _parents() or tried in _synonyms():
                return tried
    return ""


def named(phrase: str) -> str:
    """What the head of a phrase is in the table, under the longest name that is there; "" if it is
    not.

    >>> named("tall coffee machine"), named("fresh fruit"), named("flurb")
    ('coffee machine', 'fruit', '')
    """
    return _known(head(phrase))


def is_vague(phrase: str) -> bool:
    """Whether a phrase names a class of many kinds of things.

    >>> is_vague("ripe fruit"), is_vague("coffee machine"), is_vague("beach equipment")
    (True, False, True)
    """
    *_, last = plain(head(phrase)).split() or [""]
    return (named(phrase) or singular(last)) in ABSTRACT


def named_denied(phrase: str, denied: Denied = NOBODY) -> str:
    """The denied word that is in the head of a phrase: a lady, but not a bench beside a lady; "" if
    none is.

    >>> named_denied("old lady"), named_denied("bench by a lady"), named_denied("baby elephant")
    ('lady', '', '')
    """
    return denied_word(head(phrase), denied)


def is_known(phrase: str) -> bool:
    """Whether the head of a phrase is a thing of the table.

    >>> is_known("blue scarves"), is_known("ceramic teapot"), is_known("flurb")
    (True, True, False)
    """
    return bool(_known(head(phrase)))


@cache
def ancestors(name: str) -> frozenset[str]:
    """A thing, its other names, and all that it is a kind of; empty if the table has it not.

    >>> sorted(ancestors("sofa"))
    ['couch', 'furniture', 'settee', 'sofa', 'thing']
    """
    found: set[str] = set()
    left = [_known(head(name))]
    while left:
        word = left.pop()
        if word and word not in found:
            found.add(word)
            left.extend(_parents().get(word, ()))
            if word == _known(head(name)):
                left.extend(_synonyms().get(word, ()))
    return frozenset(found)


def other_names(name: str) -> tuple[str, ...]:
    """Other words for a thing, in order; none if the table has none.

    >>> other_names("sofa"), other_names("flurb")
    (('couch', 'settee'), ())
    """
    known = _known(head(name))
    return tuple(sorted(_synonyms().get(known, frozenset()) - {known, plain(name)}))


def wider_kind(name: str) -> str:
    """What a thing is a kind of, as the table has it first by name; "" if it has nothing but
    "thing".

    >>> wider_kind("dog"), wider_kind("sofa"), wider_kind("flurb")
    ('mammal', 'furniture', '')
    """
    known = _known(head(name))
    names = {known, *_synonyms().get(known, ())}
    parents = {parent for each in names for parent in _parents().get(each, ())}
    return min(parents - names - {"thing"}, default="")


@lru_cache(maxsize=1 << 14)  # what is drawn is compared with the same few things
def kin(first: str, second: str) -> Kinship:
    """How what a phrase names is related to what another names: `hypernym` if the first is what
    the second is a kind of; "" if they are different things, or nothing is known of them.

    >>> kin("sofa", "couch"), kin("bird", "duck"), kin("taxi", "car"), kin("zebra", "horse")
    ('synonym', 'hypernym', 'hyponym', '')
    """
    one, other = plain(head(first)), plain(head(second))
    if singular(one) == singular(other):
        return "same"
    one, other = _known(one), _known(other)
    if not one or not other:
        return ""
    if one == other:
        return "same"
    if other in _synonyms().get(one, ()):
        return "synonym"
    if one in ancestors(other):
        return "hypernym"
    return "hyponym" if other in ancestors(one) else ""


def names_one_of(phrase: str, words: frozenset[str]) -> str:
    """The word of a set that a phrase has among its words; "" if none.

    >>> names_one_of("snowy streets", SCENES), names_one_of("streetcar", SCENES)
    ('streets', '')
    """
    given = plain(phrase).split()
    for word in given:
        if word in words or singular(word) in words:
            return word
    pairs = map(" ".join, pairwise(given))
    return next((pair for pair in pairs if pair in words), "")
