"""Which of the places suit this photograph: there must be something to draw around the object, and
it must stand out by its colours."""

from __future__ import annotations

import cv2
import numpy as np

from groundfault.editors.procedural.drawings import INKS, PAPERS, legibility
from groundfault.editors.procedural.edges import Floats, Mask, core, floats
from groundfault.editors.procedural.floating import FLOATING, TONES
from groundfault.editors.procedural.relief import extent_px
from groundfault.editors.procedural.repertoire import PLACES

__all__ = ["chosen_places", "objection_to_place"]

LEAST_APART = 12.0
"""The distance in Lab between an object's rim and any tone of a drawing below which it seems to be
drawn, too."""
LEAST_LEGIBLE = 0.2
"""The least `legibility` of a drawing: of 12 with less two reviewers accepted 3 and 2, of 76 others
39 and 40."""


def chosen_places(photo: Floats, mask: Mask) -> tuple[str, ...]:
    """The places that suit an object in its photograph, the best first; () where none does."""
    return tuple(place for place in PLACES if not objection_to_place(place, photo, mask))


def objection_to_place(place: str, photo: Floats, mask: Mask) -> str:
    """Why an object would be lost in a place, or nobody would see that it is a drawing; "" where it
    can be left there."""
    if apart_from(place, photo, mask) < LEAST_APART:
        return "looks like the place"
    return (
        "" if place in FLOATING or legibility(photo, mask) >= LEAST_LEGIBLE else "nothing to draw"
    )


def apart_from(place: str, photo: Floats, mask: Mask) -> float:
    """How far the colours of an object's rim are from those of a place, in Lab: the median distance
    to the nearest; those of a drawing lie between its paper and its ink."""
    depth = max(int(0.08 * extent_px(mask)), 6)
    rim = core(mask, 2) & ~core(mask, depth)
    lab = cv2.cvtColor(floats(photo[rim if rim.any() else mask])[None], cv2.COLOR_RGB2LAB)[0]
    tones = cv2.cvtColor(_tones_of(place)[None], cv2.COLOR_RGB2LAB)[0]
    away = np.linalg.norm(lab[::5, None] - tones[None], axis=2).min(1)
    return float(np.median(away))


def _tones_of(place: str) -> Floats:
    if place in FLOATING:
        return floats(TONES[place])
    paper, ink = (floats(colour[place]) for colour in (PAPERS, INKS))
    return floats([paper + (ink - paper) * share for share in np.linspace(0, 1, 9)])
