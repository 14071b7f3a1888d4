"""What questions need to know of a candidate's pictures and of the things around its target."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np

from groundfault.building.pictures import read_kept
from groundfault.building.proposals.layout import (
    Box,
    area_of,
    areas_beside,
    box_of,
    sector,
)
from groundfault.building.questions.looks import Look, look_of
from groundfault.building.questions.validators import NotAsked
from groundfault.building.records import Candidate
from groundfault.io.masks import decode, mask_box, parse_mask
from groundfault.io.photographs import Photograph, Thing

__all__ = [
    "after_look",
    "before_look",
    "new_box",
    "others_of_its_kind",
    "place_apart",
    "reaches",
    "retargeted",
    "third",
    "told_name",
]

CLEAR = 0.05
"""Share of the picture's width that a thing's middle is away from the border of its third."""


def others_of_its_kind(candidate: Candidate) -> list[Thing]:
    """Other things of the target's category."""
    name = candidate.target.category
    return [
        thing
        for thing in candidate.photograph.things
        if thing.category == name and thing.id != candidate.target.id
    ]


ORDINALS = ("", "second", "third", "fourth", "fifth", "sixth", "seventh")
LEAST_GAP = 0.03
"""Share of the picture's width between the middles of things that are counted from the left."""


def told_name(candidate: Candidate, name: str) -> str:
    """A name that only the target fits: the only one of its kind, the outermost, or one that is
    counted from the left (Q-several)."""
    others = others_of_its_kind(candidate)
    if not others:
        return name
    own = box_of(candidate.target).centre[0]
    row = sorted([own, *(box_of(other).centre[0] for other in others)])
    near = [abs(x - y) for x, y in pairwise(row) if own in (x, y)]
    clear = min(near) >= LEAST_GAP * candidate.photograph.width_px
    place = row.index(own)
    if not clear or any(other.crowd for other in others):
        raise NotAsked("Q-several", f"more than one {name}")
    if place in (0, len(row) - 1):
        return f"{'rightmost' if place else 'leftmost'} {name}"
    if place >= len(ORDINALS):
        raise NotAsked("Q-several", f"{len(row)} of the kind {name}")
    return f"{ORDINALS[place]} {name} from the left"


def reaches(photograph: Photograph, thing: Thing, part: str) -> bool:
    """Whether a thing is seen in a ninth of the picture: its middle is, or a good part of it."""
    box = box_of(thing)
    if sector(photograph, box) == part:
        return True
    width, height = photograph.width_px / 3, photograph.height_px / 3
    ninths = [
        Box(c * width, r * height, (c + 1) * width, (r + 1) * height)
        for r in range(3)
        for c in range(3)
    ]
    own = next(ninth for ninth in ninths if sector(photograph, ninth) == part)
    return box.shared(own) > INTRUDES * max(box.area, 1.0)


def place_apart(candidate: Candidate) -> str:
    """A place with the target and none of its kind, as a noun phrase: beside one of the nearest
    landmarks, or a part of the picture (Q-elsewhere)."""
    photograph, others = candidate.photograph, others_of_its_kind(candidate)
    part = sector(photograph, box_of(candidate.target))
    for place in (area_of(candidate), *areas_beside(candidate)[:4]):
        if place == part:
            continue
        if not any(o.crowd or _may_be_there(retargeted(candidate, o), place) for o in others):
            return place
    if any(other.crowd or reaches(photograph, other, part) for other in others):
        raise NotAsked("Q-elsewhere", f"another {candidate.target.category} is in {part}")
    return part


def _may_be_there(candidate: Candidate, place: str) -> bool:
    return place in (area_of(candidate), *areas_beside(candidate))


INTRUDES = 0.15
"""Share of a thing's box by which it is seen in another part of the picture, too."""


def retargeted(candidate: Candidate, thing: Thing) -> Candidate:
    """The same photograph, seen from another of its things."""
    return msgspec.structs.replace(candidate, target=thing)


def before_look(candidate: Candidate, build: Path) -> Look:
    """How the target is coloured in the photograph."""
    return _look(candidate, build, after=False)


def after_look(candidate: Candidate, build: Path) -> Look:
    """How it is coloured in the edited picture."""
    return _look(candidate, build, after=True)


def _look(candidate: Candidate, build: Path, *, after: bool) -> Look:
    edited, mask = candidate.edited, candidate.target.mask
    if edited is None or mask is None:
        raise NotAsked("Q-colour", "its colour cannot be measured without a mask")
    image = read_kept(build, edited.after if after else edited.before)
    found = look_of(image, decode(mask))
    light = look_of(image, np.ones(image.shape[:2], bool)).shares
    if found.colour not in ("", "black", "white", "grey") and light[found.colour] > CAST:
        return Look("", found.shares)  # in such light everything has this colour
    return found


CAST = 0.35
"""Share of a picture's pixels of one hue from which its light is taken to be coloured."""


def new_box(candidate: Candidate) -> Box:
    """Where what was added is; the target's own box where nobody says."""
    mask = candidate.edited.mask if candidate.edited else None
    if mask is None:
        return box_of(candidate.target)
    x, y, width, height = mask_box(parse_mask(mask, *mask["size"]))
    return Box(x, y, x + width, y + height)


def third(candidate: Candidate) -> tuple[str, tuple[str, ...]]:
    """Where the target is, and three places to choose from: thirds of the picture, or halves where
    it stands between two thirds (Q-where)."""
    photograph, box = candidate.photograph, box_of(candidate.target)
    at = 3 * box.centre[0] / photograph.width_px
    wide = (box.right - box.left) / photograph.width_px
    if not (abs(at - round(at)) < 3 * CLEAR and 0.5 < at < 2.5) and wide <= WIDEST:
        return THIRDS[max(0, min(2, int(at)))], THIRDS
    height = photograph.height_px
    edges = [("upper", box.top > 0.12 * height), ("lower", box.bottom < 0.88 * height)]
    free = [name for name, is_free in edges if is_free]
    if abs(at - 1.5) < 0.25 or wide > WIDEST / 1.25 or not free:
        raise NotAsked("Q-where", "it stands between two parts of the picture")
    return HALVES[at > 1.5], (*HALVES, f"along the {free[0]} edge of the picture")


THIRDS = ("on the left", "in the middle", "on the right")
HALVES = ("in the left half of the picture", "in the right half of the picture")
WIDEST = 0.75
"""Share of the picture's width: a wider thing is everywhere."""
