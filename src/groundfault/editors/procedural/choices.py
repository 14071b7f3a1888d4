"""Which of the places that suit a category suit this photograph: scenes need enough of what they
are made from, grass, leaves or dry ground, around the object and at its foot; in a drawing it must
stand out by its colours."""

from __future__ import annotations

import cv2
import numpy as np

from groundfault.editors.procedural.drawings import INKS, PAPERS, legibility
from groundfault.editors.procedural.edges import Floats, Mask, Matte, core, floats
from groundfault.editors.procedural.relief import extent_px
from groundfault.editors.procedural.seasons import COVERED, change_to
from groundfault.editors.procedural.suited import suited_places
from groundfault.editors.procedural.vegetation import Scenery, scenery_of

__all__ = ["chosen_places", "objection_to_drawing", "objection_to_scene"]

LEAST_SHARE = 0.6
"""The share of the surroundings that must become another place."""
LEAST_AT_FOOT = {"savanna": 0.55, "snow": 0.55, "autumn forest": 0.0}
"""The same, of what is around the object's foot; leaves turn above any ground."""
LEAST_TEXTURE = 2.5
"""Walls, sofas and carpets are smoother than what grows."""
LEAST_CHROMA = 14.0
"""Pavements are greyer."""
LEAST_CHANGE = {"savanna": 9.0, "snow": 18.0, "autumn forest": 12.0}
"""The mean colour distance in Lab that must lie between the surroundings and a place."""
LEAST_LIGHT = 18.0
MOST_INSIDE = 0.015
"""How much grass may seem to be inside of an object's outline, where it stays as it is."""
LEAST_APART = 12.0
"""The distance in Lab between an object's rim and any tone of a drawing below which it seems to be
drawn, too."""
LEAST_LEGIBLE = 0.2
"""The least `legibility` of a drawing: of 12 with less two reviewers accepted 3 and 2, of 76 others
39 and 40."""


def chosen_places(photo: Floats, mask: Mask, category: str) -> tuple[str, ...]:
    """The places that suit an object in its photograph, the best first; () where none does. It is
    put into drawings where its surroundings can't become another landscape."""
    places = suited_places(category)
    landscapes = [place for place in places if place in COVERED]
    hard = Matte(floats(mask), photo, photo)
    covers = {COVERED[place] for place in landscapes}
    scenes = {cover: scenery_of(photo, mask, hard, (), cover) for cover in covers}
    found = tuple(
        place for place in landscapes if not objection_to_scene(place, scenes[COVERED[place]], mask)
    )
    if found:
        return found
    if legibility(photo, mask) < LEAST_LEGIBLE:
        return ()
    papers = [place for place in places if place in PAPERS]
    return tuple(place for place in papers if apart_from(place, photo, mask) >= LEAST_APART)


def objection_to_scene(place: str, scene: Scenery, mask: Mask) -> str:
    """Why an object's surroundings can't become a landscape; "" where they can."""
    if scene.share < LEAST_SHARE:
        return "too little grows there"
    if scene.texture < LEAST_TEXTURE or scene.chroma < LEAST_CHROMA:
        return "nothing grows there"
    if scene.light < LEAST_LIGHT:
        return "too dark"
    if scene.foot < LEAST_AT_FOOT[place]:
        return "ground does not suit"
    if change_to(place, scene, mask) < LEAST_CHANGE[place]:
        return "looks like the place"
    return "grass inside its outline" if scene.inside > MOST_INSIDE else ""


def objection_to_drawing(place: str, photo: Floats, mask: Mask) -> str:
    """Why an object would be lost in a drawing, or nobody would see that it is one; "" where it
    can be left there."""
    if apart_from(place, photo, mask) < LEAST_APART:
        return "looks like the place"
    return "" if legibility(photo, mask) >= LEAST_LEGIBLE else "nothing to draw"


def apart_from(place: str, photo: Floats, mask: Mask) -> float:
    """How far the colours of an object's rim are from the tones of a drawing, in Lab: the median
    distance to those between its paper and its ink."""
    depth = max(int(0.08 * extent_px(mask)), 6)
    rim = core(mask, 2) & ~core(mask, depth)
    lab = cv2.cvtColor(floats(photo[rim if rim.any() else mask])[None], cv2.COLOR_RGB2LAB)[0]
    paper, ink = (floats(colour[place]) for colour in (PAPERS, INKS))
    mixed = floats([paper + (ink - paper) * share for share in np.linspace(0, 1, 9)])
    tones = cv2.cvtColor(mixed[None], cv2.COLOR_RGB2LAB)[0]
    away = np.linalg.norm(lab[::5, None] - tones[None], axis=2).min(1)
    return float(np.median(away))
