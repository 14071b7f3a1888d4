"""What a thing can still be known by after its surface or material has changed.

An edit whose result a careful person would call by the wrong name is no test of a model: these
rules keep such edits from being made.
"""

from __future__ import annotations

from functools import cache

from groundfault.world.materials import MATERIALS
from groundfault.world.objects import CATEGORIES
from groundfault.world.replacements import fitted, overlap
from groundfault.world.scene import Thing

__all__ = ["UNKNOWABLE", "materials_for", "too_alike"]

UNKNOWABLE = frozenset(("watermelon", "soccer ball", "brick wall", "book"))
"""Categories that nobody knows by their outline alone: under another surface they are that."""
TOO_ALIKE = 0.65
"""Of two shapes of one class that overlap more, one in the other's surface is the other."""
COLOUR_OF_MATERIAL: dict[str, tuple[str, ...]] = {
    "wood": ("brown",),
    "clay": ("brown",),
    "marble": ("white",),
    "ice": ("white",),
    "cloud": ("white",),
    "wax": ("white", "yellow", "tan"),
}
"""A category that has such a colour by nature may be taken for a real one in the material."""
ALWAYS: dict[str, tuple[str, ...]] = {
    "wood": ("tree", "guitar", "sailboat"),
}
"""Categories that are made of a material anyway."""


@cache
def too_alike(category: str, other: str) -> bool:
    """Whether a category in another's surface has nothing left to tell them apart by."""
    if CATEGORIES[category].shape != CATEGORIES[other].shape:
        return False
    thing = Thing(category=category, seed=1, x=0.5, y=0.9, scale=0.4)
    return overlap(thing, fitted(thing, other, 2)) >= TOO_ALIKE


def materials_for(category: str) -> tuple[str, ...]:
    """Materials in which a category is no longer itself, and looks it.

    A clay mug is a mug, and one of cloud may be; a marble polar bear may be taken for a living one,
    a wooden guitar is one, and a clay melon could be any ball.

    >>> materials_for("mug"), "marble" in materials_for("polar bear"), len(materials_for("bus"))
    ((), False, 7)
    """
    entry = CATEGORIES[category]
    if entry.survives or category in UNKNOWABLE:
        return ()
    return tuple(
        name
        for name in MATERIALS
        if category not in ALWAYS.get(name, ())
        and not {*entry.colours} & {*COLOUR_OF_MATERIAL.get(name, ())}
    )
