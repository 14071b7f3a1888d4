"""Where things are in a photograph, in words: told from the boxes of what is annotated around
them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from groundfault.building.proposals.kinds import named_denied
from groundfault.building.proposals.tables import usual
from groundfault.building.proposals.words import plain
from groundfault.building.records import Candidate
from groundfault.io.masks import decode, mask_box, parse_mask
from groundfault.io.photographs import Photograph, Thing

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "Box",
    "area_of",
    "areas_beside",
    "box_of",
    "landmarks",
    "locative",
    "placed",
    "region_of",
    "room_beside",
    "sector",
    "told_apart",
    "underneath",
]

SMALLEST_SHARE = 0.004
"""Of the picture: a smaller thing is no landmark."""
CONTAINED = 0.6
SURFACES = frozenset({"dining table", "table", "desk", "bed", "couch", "bench", "sofa", "shelf"})
"""Things that others stand or lie on."""
SMALL = frozenset({"food", "kitchenware", "container", "device", "tool", "toy", "plant"})
"""Natures of what lies on them."""


class Box(NamedTuple):
    """Pixels from the upper left corner."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def centre(self) -> tuple[float, float]:
        """x and y."""
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    @property
    def area(self) -> float:
        """In pixels."""
        return max(self.right - self.left, 0.0) * max(self.bottom - self.top, 0.0)

    def shared(self, other: Box) -> float:
        """The area that both have."""
        return Box(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        ).area


def box_of(thing: Thing) -> Box:
    """A thing's box: its own, or its mask's."""
    if thing.box_xywh is not None:
        x, y, width, height = thing.box_xywh
    elif thing.mask is not None:
        x, y, width, height = mask_box(parse_mask(thing.mask, *thing.mask["size"]))
    else:
        x = y = width = height = 0.0
    return Box(x, y, x + width, y + height)


def region_of(thing: Thing, size_px: tuple[int, int]) -> NDArray[np.bool_]:
    """A thing's pixels in a picture of this height and width; those of its box where it has no
    mask (Visual Genome), or none of this size."""
    if thing.mask is not None and tuple(thing.mask["size"]) == size_px:
        return decode(thing.mask)
    box, found = box_of(thing), np.zeros(size_px, bool)
    rows = slice(max(0, int(box.top)), int(box.bottom) + 1)
    found[rows, max(0, int(box.left)) : int(box.right) + 1] = True
    return found


def sector(photograph: Photograph, box: Box) -> str:
    """The ninth of the picture that a box has its centre in, as a noun phrase.

    >>> picture = Photograph(id="1", source="coco", file="1.jpg", height_px=90, width_px=90)
    >>> sector(picture, Box(0, 60, 20, 90)), sector(picture, Box(40, 40, 50, 50))
    ('the lower left of the picture', 'the centre of the picture')
    """
    x, y = box.centre
    column = ("left", "", "right")[_third(x, photograph.width_px)]
    row = ("upper", "", "lower")[_third(y, photograph.height_px)]
    if row and column:
        return f"the {row} {column} of the picture"
    if column:
        return f"the {column} side of the picture"
    return f"the {row} part of the picture" if row else "the centre of the picture"


def _third(at: float, length: int) -> int:
    return min(2, max(0, int(3 * at / max(length, 1))))


def landmarks(candidate: Candidate) -> list[Thing]:
    """Things that a place can be told by: the only ones of their category in the picture, large
    enough, no people, not of the target's category; the nearest first."""
    photograph, target = candidate.photograph, candidate.target
    often = Counter(plain(thing.category) for thing in photograph.things)
    smallest = SMALLEST_SHARE * photograph.height_px * photograph.width_px
    x, y = box_of(target).centre

    def fits(thing: Thing) -> bool:
        own = plain(thing.category)
        clear = own and own != plain(target.category) and often[own] == 1 and not thing.crowd
        return bool(clear) and not named_denied(own) and box_of(thing).area >= smallest

    def distance(thing: Thing) -> float:
        at = box_of(thing).centre
        return (at[0] - x) ** 2 + (at[1] - y) ** 2

    return sorted(filter(fits, photograph.things), key=lambda thing: (distance(thing), thing.id))


def area_of(candidate: Candidate) -> str:
    """Where the target is, without naming it: beside its nearest landmark, or a part of the
    picture."""
    near = landmarks(candidate)
    box = box_of(candidate.target)
    if not near or _hides(box, near[0]):
        return sector(candidate.photograph, box)
    if _lies_on(candidate, near[0]):
        return f"the top of the {near[0].category}"
    return f"the area {_direction(box, box_of(near[0]))} the {near[0].category}"


def areas_beside(candidate: Candidate) -> list[str]:
    """The same for each landmark that does not hide it, the nearest first."""
    box = box_of(candidate.target)
    clear = [mark for mark in landmarks(candidate) if not _hides(box, mark)]
    return [
        f"the area {_direction(box, box_of(mark))} the {mark.category}"
        for mark in clear
        if not _lies_on(candidate, mark)
    ]


def _lies_on(candidate: Candidate, landmark: Thing) -> bool:
    """Whether the target is small and within something that small things lie on."""
    of = usual(candidate.target.category)
    box = box_of(candidate.target)
    within = box.shared(box_of(landmark)) > CONTAINED * box.area
    return within and landmark.category in SURFACES and of is not None and of.nature in SMALL


def _hides(box: Box, landmark: Thing) -> bool:
    """Whether two boxes overlap too much to say on which side of one the other is."""
    mark = box_of(landmark)
    return landmark.category not in SURFACES and box.shared(mark) > 0.4 * min(box.area, mark.area)


def placed(place: str) -> str:
    """A place with its preposition.

    >>> placed("the left side of the picture"), placed("the area left of the chair")
    ('on the left side of the picture', 'in the area left of the chair')
    """
    on = place.startswith(("the left side", "the right side", "the top of"))
    return f"{'on' if on else 'in'} {place}"


def _direction(box: Box, mark: Box) -> str:
    (x, y), (at_x, at_y) = box.centre, mark.centre
    if abs(x - at_x) >= abs(y - at_y):
        return "left of" if x < at_x else "right of"
    return "above" if y < at_y else "below"


def locative(candidate: Candidate) -> str:
    """Where the target is, as it stands behind a noun: "left of the chair", "in the lower left of
    the picture"."""
    near = landmarks(candidate)
    box = box_of(candidate.target)
    if not near or _hides(box, near[0]):
        return placed(sector(candidate.photograph, box))
    if _lies_on(candidate, near[0]):
        return f"on the {near[0].category}"
    return f"{_direction(box, box_of(near[0]))} the {near[0].category}"


def underneath(candidate: Candidate) -> list[Thing]:
    """Landmarks that the target lies upon: what is seen when it goes."""
    return [thing for thing in landmarks(candidate) if _lies_on(candidate, thing)]


def told_apart(candidate: Candidate) -> str:
    """A phrase that only the target fits: its category, with a side where it is the outermost of
    several; "" if none can be told."""
    name = candidate.target.category
    others = [
        thing
        for thing in candidate.photograph.things
        if thing.id != candidate.target.id and thing.category == name
    ]
    if not others:
        return name
    box, boxes = box_of(candidate.target), [box_of(thing) for thing in others]
    if any(thing.crowd for thing in others):
        return ""
    if all(box.centre[0] + 0.5 * (box.right - box.left) < b.centre[0] for b in boxes):
        return f"left {name}"
    if all(box.centre[0] - 0.5 * (box.right - box.left) > b.centre[0] for b in boxes):
        return f"right {name}"
    return f"largest {name}" if all(box.area > 2 * b.area for b in boxes) else ""


def room_beside(candidate: Candidate) -> str:
    """The side, left or right, on which the picture has free room for as large a thing; "" if
    neither has."""
    photograph, target = candidate.photograph, candidate.target
    box = box_of(target)
    width = box.right - box.left
    for side, shift in (("right", width * 1.1), ("left", -width * 1.1)):
        moved = Box(box.left + shift, box.top, box.right + shift, box.bottom)
        if moved.left < 0 or moved.right > photograph.width_px:
            continue
        taken = [
            moved.shared(box_of(thing))
            for thing in photograph.things
            if thing.id != target.id and thing.category not in SURFACES
        ]
        if sum(taken) < 0.15 * box.area:
            return side
    return ""
