"""Whether a new place or colour can look right on an object: measured before it is made. Reasons
are short and stable, so that a funnel can count them."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np

from groundfault.editors.procedural.edges import Floats, Mask, core, floats
from groundfault.editors.procedural.fitness import LARGEST_SHARE, LOOSER, Measures, is_whole
from groundfault.editors.procedural.occlusion import Contact
from groundfault.editors.procedural.repertoire import SLATTED

__all__ = [
    "KINDS",
    "SEEN_THROUGH",
    "Skin",
    "objection",
    "objection_to_contact",
    "objection_to_place",
    "skin_of",
]

KINDS = ("recolour", "context")
IN_BOWLS = ("apple", "banana", "donut", "orange")
"""What lies among others, and is recognised there."""
SEEN_THROUGH = ("boat", "vase", "wine glass")
"""What shows the old surroundings through it: glass, masts and railings."""
REACH_PX = 8
"""How far along its normals an outline is compared with the photograph's edges."""
LEAST_CONTRAST, MOST_TOUCHED = 0.7, 0.2
"""How much of its outline separates two colours of what is put into another place, where no network
cuts it out, and how much of it touches others. Of edits with up to 0.12 a reviewer, at the size of
a sheet, kept 64 of 76, whether or not others of the category are there, of 27 with more 18."""
OTHER_HUE = 14.0
"""The distance in Lab from its usual hue at which a pixel of an object has another."""


class Skin(NamedTuple):
    """How well an object's outline is drawn, and how many colours it has."""

    fit: float
    """The share of the outline at which the photograph's strongest edge lies, and not beside
    it."""
    weak: float
    """The share of the outline at which the colours to both sides are alike."""
    motley: float
    """The share of its pixels that have another hue than most."""


def skin_of(photo: Floats, mask: Mask) -> Skin:
    """Measure an object's outline and colours; the mask has at least one pixel."""
    smooth = cv2.GaussianBlur(cv2.cvtColor(photo, cv2.COLOR_RGB2LAB), (0, 0), 1.0)
    inner = core(mask, 3)
    hues = smooth[inner if inner.any() else mask][:, 1:]
    away = np.linalg.norm(hues - np.median(hues, axis=0), axis=1)
    return Skin(*_outline(smooth, mask), float((away > OTHER_HUE).mean()))


def _outline(smooth: Floats, mask: Mask) -> tuple[float, float]:
    """The share of the outline that lies on an edge, and that separates nothing."""
    contours, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    points = floats(max(contours, key=len)[:, 0])
    along = np.roll(points, -3, 0) - np.roll(points, 3, 0)
    count = len(points)
    along = cv2.blur(np.concatenate([along] * 3)[:, None], (1, 9))[count : 2 * count, 0]
    normal = np.stack([along[:, 1], -along[:, 0]], 1)
    normal = normal / (np.linalg.norm(normal, axis=1, keepdims=True) + 1e-6)
    height, width = mask.shape

    def at(step: float) -> Floats:
        x, y = (points + step * normal).round().astype(int).T
        return floats(smooth[np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)])

    profile = np.stack([at(step) for step in range(-REACH_PX, REACH_PX + 1)], 1)
    steps = np.linalg.norm(profile[:, 2:] - profile[:, :-2], axis=2)
    peak = np.abs(steps.argmax(1) - (REACH_PX - 1))
    apart = np.linalg.norm(profile[:, REACH_PX + 4] - profile[:, REACH_PX - 4], axis=1)
    return float(((peak <= 2) & (steps.max(1) > 5)).mean()), float((apart < 8).mean())


def objection(category: str, found: Measures, skin: Skin) -> str:
    """Why an object doesn't suit a new colour; "" where it does."""
    if found.share > LARGEST_SHARE:
        return "too large"
    if found.pieces > 0.06:
        return "occluded"
    if found.through > SLATTED.get(category, 1.0):
        return "seen through"
    return _to_recolour(found, skin)


def objection_to_place(category: str, found: Measures, touched: Contact, *, cut_out: bool) -> str:
    """Why the surroundings of an object can't become another place, in which the old ones would be
    seen through it or along its outline. What was `cut_out` by a network ends where it sees it end,
    however alike the colours are; else what touches it is taken for a part."""
    if found.share > LARGEST_SHARE:
        return "too large"
    if category in SEEN_THROUGH or found.through > SLATTED.get(category, 1.0):
        return "seen through"
    if found.blur_px > 2.2:
        return "blurred"
    if not is_whole(category, found.solidity, found.tallness, LOOSER):
        return "occluded"
    if cut_out:
        return ""
    if touched.any > MOST_TOUCHED:
        return "touches others"
    clear = found.contrast >= LEAST_CONTRAST and found.through <= 0.4
    return "" if clear else "outline unclear"


def _to_recolour(found: Measures, skin: Skin) -> str:
    if found.lit < 0.2:
        return "too dark"
    if skin.motley > 0.45:
        return "many colours"
    if found.pattern > 0.6:
        return "patterned already"
    if found.contrast < 0.55 or skin.fit < 0.48 or skin.weak > 0.3:
        return "outline unclear"
    return ""


def objection_to_contact(category: str, found: Contact) -> str:
    """Why an object that touches others doesn't suit a new colour."""
    return "occluded" if found.front > 0.45 and category not in IN_BOWLS else ""
