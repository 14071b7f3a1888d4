"""Which things usually go together, and how things usually look, counted over a whole set.

    pairs        undirected: "A–r1–B" and "B–r2–A" both count. C(A) is the number of images with A,
                 C(A∩B) the number with A and B related; P(B|A) = C(A∩B) / C(A)
                 kept iff C(A∩B) ≥ N and max(P(B|A), P(A|B)) ≥ θ
    attributes   C(o) is the number of instances of o, C(o∩a) of those with the attribute a;
                 P(a|o) = C(o∩a) / C(o)
                 kept iff a is among the 3 of o with the highest P, C(o∩a) ≥ N and P(a|o) ≥ θ

(ReactBench, appendix B.2, with N = 50 and θ = 0.2.) The paper counts C(A∩B) by relations in one
place, which lets P exceed 1: `count = "relations"` does that.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np

from groundfault.building.denied import Denied, denied_word
from groundfault.io.photographs import Photograph, Thing
from groundfault.parsing.vocabulary import listed

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "AttributeCount",
    "Names",
    "PairCount",
    "Statistics",
    "StatisticsSettings",
    "count",
    "write_tables",
]

AnyPath = str | PathLike[str]
_SHIFT = 32
_LOW = (1 << _SHIFT) - 1


class Names(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How names are made alike. The paper does not say that they are."""

    singular: bool = False
    """Take "trees" for "tree", by the rules of English spelling and a few exceptions."""
    aliases: dict[str, str] = {}
    """Name → the name that it is counted as."""
    merge_iou: float | None = None
    """From this overlap on, two boxes of one name are one instance; None counts all."""

    def of(self, category: str) -> str:
        """The name that a category is counted as."""
        name = self.aliases.get(category, category)
        if self.singular:
            name = singular(name)
        return self.aliases.get(name, name)

    def things(self, photograph: Photograph) -> list[tuple[Thing, str]]:
        """Things with their names, merged ones left out, nameless ones too."""
        named = [(thing, self.of(thing.category)) for thing in photograph.things if thing.category]
        if self.merge_iou is None:
            return named
        kept: list[tuple[Thing, str]] = []
        for thing, name in named:
            if not any(name == other and _iou(thing, one) >= self.merge_iou for one, other in kept):
                kept.append((thing, name))
        return kept


class StatisticsSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is counted, and from where on it is kept."""

    min_count: int = 50
    min_probability: float = 0.2
    top: int = 3
    """Attributes of an object that are looked at, by P; equal ones in alphabetical order."""
    count: Literal["images", "relations"] = "images"
    names: Names = Names()
    denied: Denied = Denied()
    """Pairs and objects with these words are counted and not kept."""


class PairCount(msgspec.Struct, frozen=True, kw_only=True):
    """How often two things are related."""

    a: str
    b: str
    count: int
    a_count: int
    b_count: int
    kept: bool
    why_not: str
    verbs: dict[str, int] = {}

    @property
    def b_given_a(self) -> float:
        """P(B|A)."""
        return self.count / self.a_count

    @property
    def a_given_b(self) -> float:
        """P(A|B)."""
        return self.count / self.b_count


class AttributeCount(msgspec.Struct, frozen=True, kw_only=True):
    """How often a thing has an attribute."""

    name: str
    attribute: str
    count: int
    name_count: int
    rank: int
    """Among the attributes of its object; 1 is the most probable."""
    kept: bool
    why_not: str

    @property
    def probability(self) -> float:
        """P(a|o)."""
        return self.count / self.name_count


class Statistics:
    """Counts over a whole set, held as numbers: 2.3 million relations take 40 MB."""

    def __init__(self, settings: StatisticsSettings) -> None:
        self.settings = settings
        self.n_images = 0
        self._words: dict[str, int] = {}
        self._image_ids: list[str] = []
        self._images_with: Counter[int] = Counter()
        self._instances: Counter[int] = Counter()
        self._pairs, self._verbs, self._images = array("q"), array("i"), array("i")
        self._attributes = array("q")
        self._spelled: list[str] = []
        self._kept_pairs: dict[tuple[str, str], PairCount] | None = None
        self._kept_attributes: dict[str, list[AttributeCount]] | None = None

    def add(self, photograph: Photograph) -> None:
        """Count one photograph in."""
        names = self.settings.names
        named = {thing.id: name for thing, name in names.things(photograph)}
        self._images_with.update(map(self._number, set(named.values())))
        self._instances.update(map(self._number, named.values()))
        for thing in photograph.things:
            if thing.id in named and thing.attributes:
                high = self._number(named[thing.id]) << _SHIFT
                self._attributes.extend(high | self._number(each) for each in set(thing.attributes))
        for relation in photograph.relations:
            pair = {named.get(relation.subject_id), named.get(relation.object_id)} - {None, ""}
            if len(pair) == 2:
                low, high = sorted(self._number(str(name)) for name in pair)
                self._pairs.append(low << _SHIFT | high)
                self._verbs.append(self._number(relation.predicate))
                self._images.append(self.n_images)
        self._image_ids.append(photograph.id)
        self.n_images += 1

    def _number(self, word: str) -> int:
        number = self._words.setdefault(word, len(self._words))
        if number == len(self._spelled):
            self._spelled.append(word)
        return number

    def pairs(self) -> Iterator[PairCount]:
        """All pairs, those with the highest count first, equal ones by their names."""
        codes, order, starts = self._grouped_pairs()
        counts = self._pair_counts(codes, order, starts)
        for place in sorted(range(len(codes)), key=lambda k: self._by_count(codes, counts, k)):
            rows = order[starts[place] : starts[place + 1]]
            verbs = Counter(self._spelled[k] for k in np.asarray(self._verbs)[rows].tolist())
            yield self._pair(int(codes[place]), int(counts[place]), dict(verbs.most_common()))

    def _by_count(self, codes: Any, counts: Any, k: int) -> tuple[int, str, str]:
        low, high = self._spelled_pair(int(codes[k]))
        return -int(counts[k]), low, high

    def _spelled_pair(self, code: int) -> tuple[str, str]:
        one, two = sorted((self._spelled[code >> _SHIFT], self._spelled[code & _LOW]))
        return one, two

    def _grouped_pairs(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Distinct pairs, the rows sorted by pair, and where each pair's rows begin."""
        codes = np.asarray(self._pairs, np.int64)
        order = np.argsort(codes, kind="stable")
        distinct, starts = np.unique(codes[order], return_index=True)
        return distinct, order, np.append(starts, len(codes))

    def _pair_counts(self, codes: Any, order: Any, starts: Any) -> NDArray[Any]:
        if self.settings.count == "relations":
            return np.diff(starts)
        images = np.asarray(self._images, np.int32)[order]
        of_pair = np.repeat(np.arange(len(codes)), np.diff(starts))
        new = np.ones(len(images), bool)  # an image's rows of one pair stand next to each other
        new[1:] = (images[1:] != images[:-1]) | (of_pair[1:] != of_pair[:-1])
        return np.bincount(of_pair[new], minlength=len(codes))

    def _pair(self, code: int, found: int, verbs: dict[str, int]) -> PairCount:
        a, b = self._spelled_pair(code)
        a_count, b_count = (self._images_with[self._words[name]] for name in (a, b))
        why = self._why_not(found, max(found / a_count, found / b_count), a, b)
        return PairCount(
            a=a, b=b, count=found, a_count=a_count, b_count=b_count,
            kept=not why, why_not=why, verbs=verbs,
        )  # fmt: skip

    def _why_not(self, found: int, probability: float, *names: str) -> str:
        settings = self.settings
        if found < settings.min_count:
            return f"C < {settings.min_count}"
        if probability < settings.min_probability:
            return f"P < {settings.min_probability:g}"
        return "denied" if any(denied_word(name, settings.denied) for name in names) else ""

    def attributes(self) -> Iterator[AttributeCount]:
        """All attributes of all objects, objects by name, their attributes by rank."""
        codes, counts = np.unique(np.asarray(self._attributes, np.int64), return_counts=True)
        by_object: dict[str, list[tuple[int, str]]] = {}
        for code, found in zip(codes.tolist(), counts.tolist(), strict=True):
            attribute = self._spelled[code & _LOW]
            by_object.setdefault(self._spelled[code >> _SHIFT], []).append((-found, attribute))
        for name in sorted(by_object):
            total = self._instances[self._words[name]]
            for rank, (negative, attribute) in enumerate(sorted(by_object[name]), start=1):
                why = self._why_not(-negative, -negative / total, name)
                why = why or (f"not in the top {self.settings.top}" if self._is_low(rank) else "")
                yield AttributeCount(
                    name=name, attribute=attribute, count=-negative, name_count=total,
                    rank=rank, kept=not why, why_not=why,
                )  # fmt: skip

    def _is_low(self, rank: int) -> bool:
        return rank > self.settings.top

    @property
    def kept_pairs(self) -> dict[tuple[str, str], PairCount]:
        """The pairs that are kept, by their names in alphabetical order."""
        if self._kept_pairs is None:
            self._kept_pairs = {(each.a, each.b): each for each in self.pairs() if each.kept}
        return self._kept_pairs

    @property
    def kept_attributes(self) -> dict[str, list[AttributeCount]]:
        """The attributes that are kept, by object, the most probable first."""
        if self._kept_attributes is None:
            found: dict[str, list[AttributeCount]] = {}
            for each in self.attributes():
                if each.kept:
                    found.setdefault(each.name, []).append(each)
            self._kept_attributes = found
        return self._kept_attributes

    def images_of_pairs(self) -> dict[tuple[str, str], list[str]]:
        """The ids of the images in which the things of each pair are related."""
        codes, order, starts = self._grouped_pairs()
        images = np.asarray(self._images, np.int32)
        return {
            self._spelled_pair(int(code)): [
                self._image_ids[k]
                for k in dict.fromkeys(images[order[starts[n] : starts[n + 1]]].tolist())
            ]
            for n, code in enumerate(codes)
        }


def count(photographs: Iterable[Photograph], settings: StatisticsSettings) -> Statistics:
    """Count over all photographs."""
    found = Statistics(settings)
    for photograph in photographs:
        found.add(photograph)
    return found


def write_tables(statistics: Statistics, pairs: AnyPath, attributes: AnyPath) -> None:
    """Write every pair and every attribute with its counts, probabilities, and whether it is kept
    or why not, as two Parquet tables; of pairs also the verbs and the images."""
    from groundfault.io.store import write_table

    metadata = {"settings": msgspec.json.encode(statistics.settings).decode()}
    metadata["images"] = str(statistics.n_images)
    images = statistics.images_of_pairs()
    found = list(statistics.pairs())
    more = {
        "verbs": [[f"{verb}: {n}" for verb, n in each.verbs.items()] for each in found],
        "images": [images[each.a, each.b] for each in found],
    }
    write_table(pairs, _columns(found, _PAIRS) | more, metadata=metadata)
    write_table(attributes, _columns(list(statistics.attributes()), _ATTRIBUTES), metadata=metadata)


_KEPT = {"kept": ("kept", None), "why_not": ("why_not", None)}
_PAIRS: dict[str, tuple[str, type | None]] = {
    "a": ("a", None),
    "b": ("b", None),
    "count": ("count", np.int64),
    "a_count": ("a_count", np.int64),
    "b_count": ("b_count", np.int64),
    "p_b_given_a": ("b_given_a", np.float64),
    "p_a_given_b": ("a_given_b", np.float64),
    **_KEPT,
}
_ATTRIBUTES: dict[str, tuple[str, type | None]] = {
    "object": ("name", None),
    "attribute": ("attribute", None),
    "count": ("count", np.int64),
    "object_count": ("name_count", np.int64),
    "p": ("probability", np.float64),
    "rank": ("rank", np.int64),
    **_KEPT,
}
"""Column → the field it is taken from, and the type of its numbers."""


def _columns(
    rows: Sequence[PairCount] | Sequence[AttributeCount], wanted: dict[str, tuple[str, type | None]]
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for column, (field, kind) in wanted.items():
        values = [getattr(row, field) for row in rows]
        found[column] = values if kind is None else np.array(values, kind)
    return found


_SINGULARS = {
    "men": "man", "women": "woman", "children": "child", "people": "person", "feet": "foot",
    "teeth": "tooth", "mice": "mouse", "geese": "goose", "leaves": "leaf", "shelves": "shelf",
    "knives": "knife", "loaves": "loaf", "wolves": "wolf", "calves": "calf", "halves": "half",
    "scarves": "scarf",
}  # fmt: skip
_ALWAYS_PLURAL = listed(
    "glasses sunglasses pants jeans shorts scissors skis goggles headphones binoculars tongs "
    "pliers stairs clothes grass glass dress bus cactus lens gas moss bass tennis cross series"
)


def singular(name: str) -> str:
    """The last word of a name in the singular.

    >>> [singular(name) for name in ("trees", "wine glass", "dishes", "men", "berries", "buses")]
    ['tree', 'wine glass', 'dish', 'man', 'berry', 'bus']
    """
    before, blank, word = name.rpartition(" ")
    if word in _SINGULARS:
        return before + blank + _SINGULARS[word]
    if word in _ALWAYS_PLURAL or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return name
    if word.endswith("ies") and len(word) > 4:
        return f"{before}{blank}{word[:-3]}y"
    if word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
        return before + blank + word[:-2]
    return before + blank + word[:-1]


def _iou(one: Thing, other: Thing) -> float:
    if one.box_xywh is None or other.box_xywh is None:
        return 0.0
    (x, y, w, h), (u, v, s, t) = one.box_xywh, other.box_xywh
    shared = max(0.0, min(x + w, u + s) - max(x, u)) * max(0.0, min(y + h, v + t) - max(y, v))
    return shared / (w * h + s * t - shared) if shared else 0.0
