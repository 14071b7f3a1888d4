"""Which of the places that suit a category suit this photograph: it needs enough of what a place
is made from, grass, leaves or dry ground, around the object and at its foot."""

from __future__ import annotations

from groundfault.editors.procedural.edges import Floats, Mask, Matte, floats
from groundfault.editors.procedural.repertoire import PLACES
from groundfault.editors.procedural.seasons import COVERED, change_to
from groundfault.editors.procedural.suited import suited_places
from groundfault.editors.procedural.vegetation import Scenery, scenery_of

__all__ = ["chosen_places", "objection_to_scene"]

LEAST_SHARE = 0.4
"""The share of the surroundings that must become another place."""
LEAST_AT_FOOT = 0.55
LEAST_TEXTURE = {False: 1.6, True: 2.2}
"""Walls, sofas and carpets are smoother than what grows, and more of them are brown than green."""
LEAST_CHANGE = {"savanna": 9.0, "snow": 18.0, "autumn forest": 12.0, "meadow": 10.0}
"""The mean colour distance in Lab that must lie between the surroundings and a place."""
LEAST_LIGHT = 18.0
MOST_INSIDE = 0.06
"""How much grass may seem to be inside of an object's outline, where it stays as it is."""


def chosen_places(photo: Floats, mask: Mask, category: str) -> tuple[str, ...]:
    """The places that suit an object in its photograph, the best first; () where none does."""
    hard = Matte(floats(mask), photo, photo)
    scenes = {dry: scenery_of(photo, mask, hard, (), dry=dry) for dry in (False, True)}
    found = [
        place
        for place in suited_places(category)
        if not objection_to_scene(place, scenes[COVERED[place]], mask)
    ]
    return tuple(sorted(found, key=PLACES.index))


def objection_to_scene(place: str, scene: Scenery, mask: Mask) -> str:
    """Why an object's surroundings can't become a place; "" where they can."""
    if scene.share < LEAST_SHARE:
        return "too little grows there"
    if scene.texture < LEAST_TEXTURE[COVERED[place]]:
        return "nothing grows there"
    if scene.light < LEAST_LIGHT:
        return "too dark"
    if scene.foot < LEAST_AT_FOOT:
        return "ground does not suit"
    if change_to(place, scene, mask) < LEAST_CHANGE[place]:
        return "looks like the place"
    return "outline unclear" if scene.inside > MOST_INSIDE else ""
