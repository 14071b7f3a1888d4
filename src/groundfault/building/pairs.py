"""Pairs of a true and a false phrase from COCO or LVIS, without editing a picture.

p⁺ names a category with one object in the picture, p⁻ a category that is known to be absent: of
COCO any that is not annotated there, as its annotators looked for all of them; of LVIS only those
that were verified to be absent (`neg_category_ids`). How absent ones are chosen is POPE's idea
(Li et al., "Evaluating Object Hallucination in Large Vision-Language Models"):

    random        any of them
    popular       those that are in most pictures
    adversarial   those that are most often together with what p⁺ names

What is drawn for a picture depends on its id and the seed alone.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from os import PathLike
from pathlib import Path

import msgspec
import numpy as np

from groundfault.errors import DataError, UnknownName, UsageError
from groundfault.io.coco import ANNOTATIONS
from groundfault.io.convert import detect
from groundfault.io.foreign import read_json_object
from groundfault.records import Benchmark, Card, Case, Item, Role
from groundfault.registry import load

__all__ = ["CHOICES", "SOURCES", "PairSettings", "make_pairs", "vocabulary_of"]

AnyPath = str | PathLike[str]
SOURCES = ("coco", "lvis")
CHOICES = ("random", "popular", "adversarial")


class PairSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How pairs are drawn."""

    n: int | None = None
    """Cases in all; None for as many as there are."""
    per_image: int = 1
    """Cases of one picture at most."""
    negatives: str = "random"
    """One of `CHOICES`."""
    several: bool = False
    """Also categories with several objects: target-aware metrics take the first of them."""
    seed: int = 0


class _Category(msgspec.Struct):
    name: str = ""


class _Vocabulary(msgspec.Struct):
    categories: list[_Category] = []


def make_pairs(
    annotations: AnyPath, images: AnyPath | None = None, settings: PairSettings | None = None
) -> Benchmark:
    """Cases of p⁺ and p⁻ from a COCO or LVIS file; `images` is the folder of its pictures."""
    chosen = settings or PairSettings()
    _check(chosen)
    source = _source(annotations)
    module = load("benchmarks", source)
    whole: Benchmark = module.read(annotations, images)
    asked: dict[str, list[Item]] = {}
    for item in whole.items:
        asked.setdefault(item.case_id, []).append(item)
    habits = _Habits.of(asked.values())
    vocabulary = (
        sorted({*vocabulary_of(annotations), *habits.images_with}) if source == "coco" else ()
    )
    drawn = {
        case_id: list(_drawn(items, vocabulary, habits, chosen)) for case_id, items in asked.items()
    }
    kept = _spread(drawn, chosen)
    if not kept:
        raise DataError(
            annotations,
            "no picture has a category with one whole object and another that is surely absent",
            remedy="give a file with masks and several categories"
            + ("" if chosen.several else ", or allow several objects with --several"),
        )
    return Benchmark(
        card=_card(source, Path(annotations).name, module.CARD),
        cases=tuple(Case(id=pair[0].case_id) for pair in kept),
        items=tuple(item for pair in kept for item in pair),
        notes=tuple(_notes(asked, drawn, kept, source, chosen)),
        images="" if images is None else str(images),
    )


def _check(settings: PairSettings) -> None:
    if settings.negatives not in CHOICES:
        raise UnknownName("choice of negatives", settings.negatives, CHOICES)
    if settings.n is not None and settings.n < 1:
        raise UsageError(f"--n {settings.n}: give 1 or more cases")
    if settings.per_image < 1:
        raise UsageError(f"--per-image {settings.per_image}: give 1 or more")
    if settings.seed < 0:
        raise UsageError(f"--seed {settings.seed}: give 0 or more")


def _source(path: AnyPath) -> str:
    found = detect(path)
    if found not in SOURCES:
        raise DataError(
            path,
            f"it is read as {found}, whose categories say nothing about what is absent",
            remedy="give COCO instances or LVIS annotations",
        )
    return found


def vocabulary_of(path: AnyPath) -> Iterator[str]:
    """The names of all declared categories, also of those without any object."""
    found = read_json_object(path, _Vocabulary, expected=ANNOTATIONS)
    return (category.name for category in found.categories)


class _Habits(msgspec.Struct, frozen=True):
    """How many pictures a category is in, and how many it shares with another."""

    images_with: Mapping[str, int]
    images_with_both: Mapping[tuple[str, str], int]

    @classmethod
    def of(cls, pictures: Iterable[Sequence[Item]]) -> _Habits:
        alone: Counter[str] = Counter()
        both: Counter[tuple[str, str]] = Counter()
        for items in pictures:
            present = [item.query for item in items if item.present]
            alone.update(present)
            both.update(permutations(present, 2))
        return cls(alone, both)


def _drawn(
    items: Sequence[Item], vocabulary: Sequence[str], habits: _Habits, settings: PairSettings
) -> Iterator[tuple[Item, Item]]:
    """The pairs of one picture."""
    present = {item.query for item in items if item.present}
    absent = sorted({item.query for item in items if not item.present} | {*vocabulary} - present)
    fitting = [item for item in items if _is_fitting(item, settings)]
    case_id = items[0].case_id
    rng = np.random.default_rng([settings.seed, zlib.crc32(case_id.encode())])
    rng.shuffle(fitting)
    for number, positive in enumerate(fitting[: settings.per_image], start=1):
        if not absent:
            return
        shuffled = [absent[k] for k in rng.permutation(len(absent))]
        name = min(shuffled, key=lambda query: _rank(query, positive.query, habits, settings))
        absent.remove(name)  # no two pairs of a picture ask for the same thing
        yield _pair(positive, name, f"{case_id}-{number}")


def _is_fitting(item: Item, settings: PairSettings) -> bool:
    """Whether all objects of a category are annotated, with masks, and as many as are wanted."""
    if not item.regions or not item.exhaustive or any(region.crowd for region in item.regions):
        return False
    if any(region.mask is None for region in item.regions):
        return False
    return len(item.regions) == 1 or settings.several


def _rank(query: str, positive: str, habits: _Habits, settings: PairSettings) -> tuple[int, ...]:
    """What comes first is taken; equal ones as they were shuffled."""
    if settings.negatives == "random":
        return ()
    frequency = -habits.images_with.get(query, 0)
    if settings.negatives == "popular":
        return (frequency,)
    return -habits.images_with_both.get((positive, query), 0), frequency


def _pair(positive: Item, absent: str, case_id: str) -> tuple[Item, Item]:
    change = msgspec.structs.replace
    first = change(
        positive,
        id=f"{case_id}:positive",
        case_id=case_id,
        role=Role.POSITIVE,
        target=positive.regions[0],
    )
    second = change(first, id=f"{case_id}:negative", role=Role.NEGATIVE, query=absent, regions=())
    return first, second


def _spread(
    drawn: Mapping[str, Sequence[tuple[Item, Item]]], settings: PairSettings
) -> list[tuple[Item, Item]]:
    """The pairs of all pictures in the file's order or, of n, those of pictures drawn by the seed:
    first one of each, then the second of each, and so on."""
    pairs = [pair for found in drawn.values() for pair in found]
    if settings.n is None or settings.n >= len(pairs):
        return pairs
    order = sorted(drawn, key=lambda name: zlib.crc32(f"{settings.seed} {name}".encode()))
    in_turn = [
        drawn[name][k] for k in range(settings.per_image) for name in order if k < len(drawn[name])
    ]
    chosen = {pair[0].case_id for pair in in_turn[: settings.n]}
    return [pair for pair in pairs if pair[0].case_id in chosen]


def _card(source: str, file: str, of: Card) -> Card:
    return Card(
        name=f"pairs-{source}",
        protocol="concept-pairs",
        title=f"Pairs from {source.upper()}",
        source=f"{file}, by groundfault build pairs",
        licence=of.licence,
        citation=of.citation,
        main_metric="cgF1",
        about="Unedited photographs: p⁻ names a category that is absent, not one that the object "
        "was made to look like. Numbers do not compare with CAFE's.",
    )


def _notes(
    asked: Mapping[str, Sequence[Item]],
    drawn: Mapping[str, Sequence[tuple[Item, Item]]],
    kept: Sequence[tuple[Item, Item]],
    source: str,
    settings: PairSettings,
) -> Iterator[str]:
    pictures = len({pair[0].image for pair in kept})
    yield f"{len(kept)} pairs from {pictures} of {len(asked)} pictures that have annotations."
    unfit = sum(not found for found in drawn.values())
    if unfit:
        objects = "whole objects" if settings.several else "one whole object"
        yield (
            f"{unfit} pictures have no category with {objects}, or none that is known to be absent."
        )
    if settings.n is not None and settings.n > len(kept):
        yield f"{settings.n} were asked for: there are no more."
    known = (
        "any category that is not annotated in the picture"
        if source == "coco"
        else "the categories that were verified to be absent"
    )
    yield f"p⁻ is drawn from {known}; choice: {settings.negatives}, seed {settings.seed}."
