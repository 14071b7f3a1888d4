"""Phrases and what is known about them, as one TOML file: no picture has to be labelled.

    phrases = ["bicycle"]                    # asked too, though nothing is known about them
    exclusive = [["person with helmet", "person without helmet"]]   # never true of one region
    absent = ["zebra"]                       # in none of the pictures
    same = [["sofa", "couch", "Sofas"]]      # wordings of one thing
    part_of = [["wheel", "car"]]             # the first lies inside the second
    kind_of = [["dachshund", "dog"]]         # whatever is the first is the second

A file that contradicts itself is refused: two phrases cannot be exclusive and the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from os import PathLike
from typing import Literal

import msgspec

from groundfault.config import load_toml
from groundfault.errors import DataError

__all__ = ["KINDS", "PhraseRelation", "Phrases", "phrases_toml", "read_phrases", "sound_phrases"]

AnyPath = str | PathLike[str]
Kind = Literal["exclusive", "absent", "same", "part_of", "kind_of"]
KINDS: tuple[Kind, ...] = ("exclusive", "absent", "same", "part_of", "kind_of")
MOST_PHRASES = 1000
LONGEST_PHRASE = 200
BETWEEN: Mapping[Kind, str] = {
    "exclusive": " / ",
    "same": " ~ ",
    "part_of": " in ",
    "kind_of": " is ",
}


class PhraseRelation(msgspec.Struct, frozen=True):
    """What is known about one phrase, or about two."""

    kind: Kind
    first: str
    second: str = ""
    """The other phrase; "" of one that is absent."""

    @property
    def name(self) -> str:
        """What tables call it.

        >>> PhraseRelation("exclusive", "dog", "cat").name, PhraseRelation("absent", "zebra").name
        ('dog / cat', 'no zebra')
        """
        if self.kind == "absent":
            return f"no {self.first}"
        return f"{self.first}{BETWEEN[self.kind]}{self.second}"


class Phrases(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of a phrases file."""

    title: str = ""
    """What reports call the pictures."""
    phrases: tuple[str, ...] = ()
    """Asked too, though nothing is said about them."""
    exclusive: tuple[tuple[str, ...], ...] = ()
    """Groups of two phrases or more of which no two are true of one region."""
    absent: tuple[str, ...] = ()
    """Phrases for what is in none of the pictures."""
    same: tuple[tuple[str, ...], ...] = ()
    """Groups of two wordings or more of one thing."""
    part_of: tuple[tuple[str, ...], ...] = ()
    """Pairs of a part and its whole: the first lies inside the second."""
    kind_of: tuple[tuple[str, ...], ...] = ()
    """Pairs of a kind and a wider kind: whatever is the first is the second."""

    def asked(self) -> tuple[str, ...]:
        """Every phrase once, in the order of the file."""
        groups = (*self.exclusive, self.absent, *self.same, *self.part_of, *self.kind_of)
        return tuple(dict.fromkeys((*self.phrases, *(each for group in groups for each in group))))

    def relations(self) -> tuple[PhraseRelation, ...]:
        """Every relation once; a group of several phrases is one between any two of them."""
        found: list[PhraseRelation] = []
        for kind in ("exclusive", "same"):
            groups: tuple[tuple[str, ...], ...] = getattr(self, kind)
            found += [
                PhraseRelation(kind, *sorted(pair))
                for group in groups
                for pair in combinations(group, 2)
            ]
        found += [PhraseRelation("absent", phrase) for phrase in self.absent]
        found += [PhraseRelation("part_of", *pair) for pair in self.part_of]
        found += [PhraseRelation("kind_of", *pair) for pair in self.kind_of]
        return tuple(dict.fromkeys(found))


def read_phrases(path: AnyPath) -> Phrases:
    """Read a phrases file; unknown keys, and what contradicts itself, are refused."""
    return sound_phrases(load_toml(path, Phrases), path)


def sound_phrases(given: Phrases, file: AnyPath = "phrases") -> Phrases:
    """The same phrases with single spaces; `file` is what errors name."""
    found = _tidy(given, file)
    _check_groups(found, file)
    _check_contradictions(found, file)
    return found


def _tidy(given: Phrases, file: AnyPath) -> Phrases:
    def one(key: str, text: str) -> str:
        words = " ".join(text.split())
        problem = ""
        if not words:
            problem = "a phrase is empty"
        elif len(words) > LONGEST_PHRASE:
            problem = f"a phrase has {len(words)} characters; {LONGEST_PHRASE} are possible"
        elif not words.isprintable():
            problem = f"the phrase {words!r} holds characters that cannot be seen"
        if problem:
            raise DataError(file, problem, record=key, remedy="give a few plain words")
        return words

    found: dict[str, tuple[str, ...] | tuple[tuple[str, ...], ...]] = {
        key: tuple(dict.fromkeys(one(key, text) for text in getattr(given, key)))
        for key in ("phrases", "absent")
    }
    for key in ("exclusive", "same", "part_of", "kind_of"):
        groups: tuple[tuple[str, ...], ...] = getattr(given, key)
        found[key] = tuple(tuple(one(key, text) for text in group) for group in groups)
    tidy = msgspec.structs.replace(given, **found)
    n = len(tidy.asked())
    if not 0 < n <= MOST_PHRASES:
        said = f"it has {n} phrases" if n else "it has no phrase"
        raise DataError(file, said, remedy=f"give 1 to {MOST_PHRASES}")
    return tidy


def _check_groups(found: Phrases, file: AnyPath) -> None:
    for key in ("exclusive", "same", "part_of", "kind_of"):
        for number, group in enumerate(getattr(found, key), start=1):
            record = f"{key}, group {number}"
            pair = key in ("part_of", "kind_of")
            if len(group) < 2 or (pair and len(group) != 2):
                wanted = "exactly two phrases" if pair else "two phrases or more"
                raise DataError(
                    file, f"it has {len(group)}", record=record, remedy=f"give {wanted}"
                )
            twice = next((each for each in group if group.count(each) > 1), "")
            if twice:
                raise DataError(
                    file, f"'{twice}' is there twice", record=record, remedy="name it once"
                )


def _check_contradictions(found: Phrases, file: AnyPath) -> None:
    """Refuse relations that cannot hold together, also by way of others."""
    thing = _things(found.same)

    def of(phrase: str) -> str:
        return thing.get(phrase, phrase)

    kinds = _closed((of(a), of(b)) for a, b in found.kind_of)
    parts = _closed((of(a), of(b)) for a, b in found.part_of)
    for key, closed in (("kind_of", kinds), ("part_of", parts)):
        for first, wider in closed.items():
            if first in wider:
                raise _contradiction(file, f"by {key}, '{first}' comes back to itself")
    for group in found.exclusive:
        for first, second in combinations(group, 2):
            a, b = of(first), of(second)
            if a == b:
                raise _contradiction(file, f"'{first}' and '{second}' are exclusive and the same")
            if b in kinds.get(a, ()) or a in kinds.get(b, ()):
                raise _contradiction(
                    file, f"'{first}' and '{second}' are exclusive, and one is a kind of the other"
                )


def _contradiction(file: AnyPath, problem: str) -> DataError:
    return DataError(file, f"it contradicts itself: {problem}", remedy="drop one of the relations")


def _things(groups: Iterable[tuple[str, ...]]) -> dict[str, str]:
    """Phrase → the first of all wordings of the same thing."""
    thing: dict[str, str] = {}
    for group in groups:
        known = {thing[each] for each in group if each in thing}
        name = min(known, default=group[0])
        thing = {each: name if of in known else of for each, of in thing.items()}
        thing.update(dict.fromkeys(group, name))
    return thing


def _closed(pairs: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """Of each first, everything that is reached from it."""
    steps: dict[str, set[str]] = {}
    for first, second in pairs:
        steps.setdefault(first, set()).add(second)

    def reached(start: str) -> set[str]:
        found: set[str] = set()
        left = [*steps[start]]
        while left:
            at = left.pop()
            if at not in found:
                found.add(at)
                left += steps.get(at, ())
        return found

    return {first: reached(first) for first in steps}


ABOUT: Mapping[str, str] = {
    "phrases": "asked too, though nothing is said about them",
    "exclusive": "never true of one and the same region",
    "absent": "in none of the pictures: strike out what is in one",
    "same": "wordings of one thing: synonyms, plurals, other languages",
    "part_of": "the first lies inside the second",
    "kind_of": "whatever is the first is the second too",
}


def phrases_toml(found: Phrases, *, heading: str = "") -> str:
    """A phrases file, with a comment before each list."""
    return "\n".join(_lines(found, heading)) + "\n"


def _lines(found: Phrases, heading: str) -> Iterator[str]:
    for line in heading.splitlines():
        yield f"# {line}".rstrip()
    if found.title:
        yield f"title = {_quoted(found.title)}"
    for key, about in ABOUT.items():
        yield f"\n# {about}"
        entries = getattr(found, key)
        if not entries:
            yield f"{key} = []"
            continue
        yield f"{key} = ["
        for entry in entries:
            plain = isinstance(entry, str)
            listed = _quoted(entry) if plain else f"[{', '.join(map(_quoted, entry))}]"
            yield f"  {listed},"
        yield "]"


def _quoted(text: str) -> str:
    """A basic string of TOML: JSON's, but for DEL."""
    return msgspec.json.encode(text).decode().replace("\x7f", "\\u007f")
