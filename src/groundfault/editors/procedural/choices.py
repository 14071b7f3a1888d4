"""Which of the places suit this photograph: the object must stand out by its colours."""

from __future__ import annotations

import cv2
import numpy as np

from groundfault.editors.procedural.edges import Floats, Mask, core, floats
from groundfault.editors.procedural.immersion import tone_of
from groundfault.editors.procedural.relief import extent_px
from groundfault.editors.procedural.repertoire import PLACES

__all__ = ["LEAST_APART", "apart_from", "chosen_places"]

LEAST_APART = 12.0
"""The distance in Lab between an object's rim and the tone of a place below which it is lost in
it."""


def chosen_places(photo: Floats, mask: Mask) -> tuple[str, ...]:
    """The places that an object stands out from, in their order; () where there are none."""
    return tuple(place for place in PLACES if apart_from(place, photo, mask) >= LEAST_APART)


def apart_from(place: str, photo: Floats, mask: Mask) -> float:
    """How far the colours of an object's rim are from that of a place, in Lab: the median
    distance."""
    depth = max(int(0.08 * extent_px(mask)), 6)
    rim = core(mask, 2) & ~core(mask, depth)
    lab = cv2.cvtColor(floats(photo[rim if rim.any() else mask])[None], cv2.COLOR_RGB2LAB)[0]
    tone = cv2.cvtColor(tone_of(place)[None, None], cv2.COLOR_RGB2LAB)[0, 0]
    return float(np.median(np.linalg.norm(lab[::5] - tone, axis=1)))
