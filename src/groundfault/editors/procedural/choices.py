"""Which of the places that suit a category suit this photograph: an object is seen best before a
ground of other colours than its own, and a place is noticed where it differs from the old one."""

from __future__ import annotations

import cv2
import numpy as np

from groundfault.editors.procedural.edges import Floats, Mask, around, box_of, core, floats
from groundfault.editors.procedural.noise import Colour
from groundfault.editors.procedural.places import STONE_M
from groundfault.editors.procedural.relief import exposure, extent_px, film, illuminant
from groundfault.editors.procedural.repertoire import LENGTHS_M, STANCES
from groundfault.editors.procedural.suited import suited_places

__all__ = ["LEAST_APART", "apart_from", "chosen_places", "is_too_close", "is_wet"]

LEAST_APART = 9.0
"""The distance in Lab between an object's rim and a ground below which it sinks into it."""
ENOUGH_APART = 30.0
"""Beyond this distance more makes no difference."""

MOST_LIKE_WATER = 14.0
"""The distance in hue, in Lab, from water below which surroundings are wet already."""
LARGEST_STONES_PX = 8.0
"""Asphalt of larger stones looks like a mosaic."""

_GROUNDS: dict[str, Colour] = {
    "desert": (0.56, 0.39, 0.215),
    "beach": (0.56, 0.47, 0.35),
    "snow": (0.68, 0.72, 0.79),
    "lake": (0.40, 0.48, 0.58),
    "room": (0.30, 0.17, 0.085),
    "bathroom": (0.32, 0.38, 0.43),
    "parking lot": (0.165, 0.165, 0.170),
    "meadow": (0.13, 0.19, 0.045),
    "underwater": (0.02, 0.15, 0.20),
}
"""The usual colour of each place's ground, as an amount of light."""


def chosen_places(photo: Floats, mask: Mask, category: str) -> tuple[str, ...]:
    """The places that suit an object in its photograph, the best first; () where none does. Under
    water comes first: things stand as they did."""
    places = [one for one in suited_places(category) if not is_too_close(mask, category, one)]
    if not places:
        return ()
    old, rim, light = _lab(_surroundings(photo, mask)), _rim(photo, mask), _light(photo, mask)
    found = []
    for place in places:
        ground = _ground(place, light)
        apart = _apart(rim, ground)
        if apart < LEAST_APART:
            continue
        change = min(float(np.linalg.norm(ground - old)), ENOUGH_APART)
        found.append((place != "underwater", -(min(apart, ENOUGH_APART) + change), place))
    return tuple(place for *_, place in sorted(found))


def is_wet(photo: Floats, mask: Mask) -> bool:
    """Whether an object's surroundings look like water already."""
    around_it = _lab(floats(np.median(photo[~mask], axis=0)))
    return bool(
        np.linalg.norm((around_it - _ground("underwater", floats(1.0)))[1:]) < MOST_LIKE_WATER
    )


def is_too_close(mask: Mask, category: str, place: str) -> bool:
    """Whether the ground below what lies on it would be seen so closely that nobody knows it."""
    if place != "parking lot" or STANCES.get(category) != "lying":
        return False
    rows, columns = box_of(mask)
    long_px = max(rows.stop - rows.start, columns.stop - columns.start)
    return bool(long_px / LENGTHS_M[category] * STONE_M > LARGEST_STONES_PX)


def apart_from(photo: Floats, mask: Mask, place: str) -> float:
    """How much an object's rim differs from a place's ground, in Lab."""
    return _apart(_rim(photo, mask), _ground(place, _light(photo, mask)))


def _light(photo: Floats, mask: Mask) -> Floats:
    """The light in which a place is rendered."""
    return floats(max(exposure(photo, mask), 0.45) ** 0.65 * 1.1 * illuminant(photo))


def _ground(place: str, light: Floats) -> Floats:
    """The colour of a place's ground, in Lab."""
    return _lab(film(floats(_GROUNDS[place]) * light))


def _rim(photo: Floats, mask: Mask) -> Floats:
    """The colours along the inside of an object's outline, (n, 3) in Lab."""
    depth = max(int(0.05 * extent_px(mask)), 4)
    rim = core(mask, 2) & ~core(mask, depth)
    colours = photo[rim if rim.any() else mask]
    return floats(cv2.cvtColor(np.ascontiguousarray(colours[None]), cv2.COLOR_RGB2LAB)[0])


def _apart(rim: Floats, ground: Floats) -> float:
    """The median distance: half of the rim is nearer."""
    return float(np.median(np.linalg.norm(rim - ground, axis=1)))


def _lab(colour: Floats) -> Floats:
    return floats(cv2.cvtColor(floats(colour).reshape(1, 1, 3), cv2.COLOR_RGB2LAB)[0, 0])


def _surroundings(photo: Floats, mask: Mask) -> Floats:
    """The usual colour of what is around an object now, below its middle where there is any."""
    rows, _ = box_of(mask)
    ring = around(mask, 4, max(int(0.3 * extent_px(mask)), 12))
    low = ring & (np.arange(mask.shape[0])[:, None] > (rows.start + rows.stop) / 2)
    where = low if low.any() else ring if ring.any() else ~mask
    return floats(np.median(photo[where], axis=0))
