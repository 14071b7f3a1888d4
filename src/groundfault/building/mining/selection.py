"""What selecting targets has in common: sizes, edges, crowds, caps, ids and seeds.

A candidate's id depends on its photograph, its target and its task alone; its seed on these and the
user's seed. So nothing about a candidate depends on which others there are.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

import msgspec

from groundfault.building.denied import Denied, denied_word, denied_word_of
from groundfault.building.mining.exclusions import Exclusions
from groundfault.building.records import Candidate, Dropped, Task
from groundfault.errors import UsageError
from groundfault.io.masks import RLEMask, mask_box
from groundfault.io.photographs import Photograph, Thing

__all__ = [
    "SEVERAL",
    "Common",
    "OnDrop",
    "Target",
    "Targets",
    "candidate_id",
    "check",
    "draw",
    "measure",
    "seed_of",
    "trouble_with",
]

OnDrop = Callable[[str, Dropped], None]
"""Told the id of what is turned away, and why."""
SEVERAL = "several of its category"
"""The reason of what is dropped for that."""
EDGE_PX = 1.5
"""A mask this near to an edge of the picture touches it."""
_PLAIN = re.compile(r"[A-Za-z0-9._]+-[A-Za-z0-9._]+-[A-Za-z0-9._]+")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
S = TypeVar("S", bound="Common")


class Common(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every way of selecting can be told. None of it is said in the papers: a build records
    what it used."""

    seed: int = 0
    """Which of several are drawn."""
    limit: int | None = None
    """Candidates in all, spread over photographs: a build takes them from what mining gives
    (`spread`)."""
    share: float = 1.0
    """Of photographs, drawn by their ids and the seed: a sample of a large set, in its order."""
    min_area_share: float = 0.02
    """Of the picture's area; smaller targets are dropped."""
    max_area_share: float = 0.5
    """Of the picture's area; larger targets are dropped."""
    crowd: bool = False
    """Take masks that stand for several things, too."""
    max_edges: int = 1
    """How many edges of the picture a target may touch."""
    min_whole_share: float = 0.9
    """Of a mask's area in its largest connected part: less means that the target is cut in pieces
    by what is before it. 0 takes all."""
    several: bool = False
    """Take targets beside others of their category, too."""
    per_image: int | None = 3
    """Targets of one photograph; which of them is drawn."""
    per_class: int | None = None
    """Targets of one category, the first that come."""
    denied: Denied = Denied()
    """Words that keep a thing out of the build."""
    without_people: bool = False
    """Drop photographs with people anywhere, not only people as targets."""
    exclusions: Exclusions = Exclusions()
    """Photographs that are not to be used: ids, files, look-alikes."""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A thing with what was measured of it."""

    thing: Thing
    area_share: float
    edges: int
    same_category: int
    """Things of its category in the photograph, itself among them."""

    @property
    def facts(self) -> dict[str, str]:
        """For `Candidate.facts`."""
        return {
            "area_share": f"{self.area_share:.4f}",
            "edges": str(self.edges),
            "same_category": str(self.same_category),
        }


def check(settings: Common) -> None:
    """Refuse settings that cannot be meant."""
    if not 0 <= settings.min_area_share <= settings.max_area_share <= 1:
        raise UsageError(
            f"min_area_share {settings.min_area_share} and max_area_share "
            f"{settings.max_area_share}: give shares from 0 to 1, the first not above the second"
        )
    if not 0 < settings.share <= 1:
        raise UsageError(f"share {settings.share}: give more than 0, at most 1")
    if settings.seed < 0:
        raise UsageError(f"seed {settings.seed}: give 0 or more")
    for name in ("limit", "per_image", "per_class"):
        value = getattr(settings, name)
        if value is not None and value < 1:
            raise UsageError(f"{name} {value}: give 1 or more")


def candidate_id(photograph: Photograph, target: str, task: str) -> str:
    """A name that is safe as a file's; what had to be changed in it is told apart by a hash.

    >>> plain = Photograph(id="139", source="coco", file="a.jpg", height_px=1, width_px=1)
    >>> candidate_id(plain, "7", "SM")
    'coco-139-7-SM'
    >>> candidate_id(msgspec.structs.replace(plain, id="../a b"), "7", "SM")
    'coco-.._a_b-7-SM-f13d9b13'
    """
    name = f"{photograph.id}-{target}-{task}"
    if _PLAIN.fullmatch(name) and len(name) <= 100:
        return f"{photograph.source}-{name}"
    safe = _UNSAFE.sub("_", f"{photograph.source}-{name}")[:100]
    whole = "\x1f".join((photograph.source, photograph.id, target, task))
    return f"{safe}-{hashlib.sha256(whole.encode()).hexdigest()[:8]}"


def seed_of(candidate: str, seed: int) -> int:
    """31 bits that depend on a candidate's id and the user's seed."""
    return draw(candidate, seed, "seed") & 0x7FFF_FFFF


def draw(name: str, seed: int, purpose: str) -> int:
    """64 bits that depend on nothing else, equal on every machine."""
    content = f"{seed}\x1f{purpose}\x1f{name}".encode()
    return int.from_bytes(hashlib.sha256(content).digest()[:8])


def measure(photograph: Photograph, thing: Thing) -> Target:
    """A thing's share of the area, by its mask or else its box, and the edges that it touches."""
    same = sum(each.category == thing.category for each in photograph.things)
    height, width = photograph.height_px, photograph.width_px
    if thing.mask is not None:
        mask = RLEMask.from_dict({**thing.mask})
        area, (x, y, w, h) = float(mask.area()), mask_box(mask)
    elif thing.box_xywh is not None:
        x, y, w, h = thing.box_xywh
        area = w * h
    else:
        return Target(thing=thing, area_share=0.0, edges=0, same_category=same)
    edges = (x <= EDGE_PX, y <= EDGE_PX, x + w >= width - EDGE_PX, y + h >= height - EDGE_PX)
    share = area / (height * width)
    return Target(thing=thing, area_share=share, edges=sum(edges), same_category=same)


def trouble_with(target: Target, settings: Common, *, masked: bool = True) -> Dropped | None:
    """Why a target does not fit; None if it does. `masked` says that it needs a mask."""
    thing = target.thing
    word = denied_word_of(thing, settings.denied)
    if word:
        return Dropped(reason="denied", details=f"'{word}'")
    if masked and thing.mask is None:
        return Dropped(reason="no mask")
    if thing.crowd and not settings.crowd:
        return Dropped(reason="crowd")
    if target.area_share < settings.min_area_share:
        return Dropped(reason="too small", details=f"{target.area_share:.2%}")
    if target.area_share > settings.max_area_share:
        return Dropped(reason="too large", details=f"{target.area_share:.2%}")
    if target.edges > settings.max_edges:
        return Dropped(reason="cut by the edge", details=f"{target.edges} edges")
    if target.same_category > 1 and not settings.several:
        return Dropped(reason=SEVERAL, details=str(target.same_category))
    return _in_pieces(thing, settings)


def _in_pieces(thing: Thing, settings: Common) -> Dropped | None:
    if thing.mask is None or settings.min_whole_share <= 0:
        return None
    mask = RLEMask.from_dict({**thing.mask})
    share = mask.largest_connected_component().area() / max(1, mask.area())
    if share >= settings.min_whole_share:
        return None
    return Dropped(reason="in pieces", details=f"{share:.0%} in the largest")


class Targets(Generic[S]):
    """Which photographs and targets are taken, with the caps that hold over all of them."""

    def __init__(self, settings: S, on_drop: OnDrop) -> None:
        check(settings)
        self.settings, self._on_drop = settings, on_drop
        self._exclusions = settings.exclusions.opened()
        self._of_class: Counter[str] = Counter()

    def drop(self, ids: Iterable[str], why: Dropped) -> None:
        """Tell that candidates go no further."""
        for each in ids:
            self._on_drop(each, why)

    def unused(self, photograph: Photograph) -> Dropped | None:
        """Why a photograph is not used at all; None if it is."""
        settings = self.settings
        chance = draw(f"{photograph.source} {photograph.id}", settings.seed, "share") / 2**64
        if chance >= settings.share:
            return Dropped(reason="not drawn")
        if settings.without_people:
            people = Denied(groups=("people",))
            for thing in photograph.things:
                if denied_word(thing.category, people):
                    return Dropped(reason="people in the picture", details=thing.category)
        return self._exclusions.why(photograph)

    def shuffled(self, photograph: Photograph, things: Iterable[Thing]) -> list[Thing]:
        """Things in an order that is drawn for this photograph."""
        name = f"{photograph.source} {photograph.id}"
        seed = self.settings.seed
        return sorted(things, key=lambda each: (draw(f"{name} {each.id}", seed, "order"), each.id))

    def capped(self, category: str) -> Dropped | None:
        """Why no more targets of a category are taken; None counts this one in."""
        most = self.settings.per_class
        if most is not None and self._of_class[category] >= most:
            return Dropped(reason="enough of its category", details=category)
        self._of_class[category] += 1
        return None

    def give_several(
        self, photograph: Photograph, target: Thing, task: Task, facts: dict[str, str], times: int
    ) -> Iterator[Candidate]:
        """A candidate for each of several edits of one target. Their facts say which of how many it
        is, and what all of them draw from, so that no two are given the same."""
        first = candidate_id(photograph, target.id, task)
        shared = f"{seed_of(first, self.settings.seed)} {first}"
        for number in range(1, times + 1):
            part = target.id if number == 1 else f"{target.id}.{number}"
            told = {"edit": str(number), "edits": str(times), "draw": shared} if times > 1 else {}
            yield self.give(photograph, target, task, {**facts, **told}, part)

    def give(
        self,
        photograph: Photograph,
        target: Thing,
        task: Task,
        facts: dict[str, str],
        part: str = "",
    ) -> Candidate:
        """The candidate; `part` is what its id names, where that is not the target alone."""
        name = candidate_id(photograph, part or target.id, task)
        return Candidate(
            id=name,
            task=task,
            photograph=photograph,
            target=target,
            seed=seed_of(name, self.settings.seed),
            facts=facts,
        )
