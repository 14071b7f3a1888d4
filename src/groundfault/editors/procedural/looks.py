"""Whether a new place or colour can look right on an object: measured before it is made. Reasons
are short and stable, so that a funnel can count them."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np

from groundfault.editors.procedural.edges import Floats, Mask, core, floats
from groundfault.editors.procedural.fitness import LARGEST_SHARE, Measures, is_whole
from groundfault.editors.procedural.occlusion import Contact
from groundfault.editors.procedural.repertoire import (
    BOXES,
    LIVING,
    SLATTED,
    STANCES,
)

__all__ = [
    "KINDS",
    "Skin",
    "objection",
    "objection_to_contact",
    "objection_to_water",
    "skin_of",
]

KINDS = ("recolour", "context")
UPRIGHT = ("bottle", "cup")
"""What stands on a table: of flat things others hide less."""
IN_BOWLS = ("apple", "banana", "donut", "orange")
"""What lies among others, and is recognised there."""
MOST_RISE = 0.4
"""Farther up the lower edge of a box does not go that is seen from a standing person's height."""
REACH_PX = 8
"""How far along its normals an outline is compared with the photograph's edges."""
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


def objection(kind: str, category: str, found: Measures, skin: Skin) -> str:
    """Why an object doesn't suit a kind of edit; "" where it does."""
    if found.share > LARGEST_SHARE:
        return "too large"
    if found.pieces > 0.06:
        return "occluded"
    if kind == "context" and not is_whole(category, found.solidity, found.tallness, alone=True):
        return "occluded"
    if _is_seen_through(kind, category, found):
        return "seen through"
    to = {"recolour": _to_recolour, "context": _to_relocate}
    return to[kind](category, found, skin)


def objection_to_water(category: str, found: Measures, skin: Skin, touched: Contact) -> str:
    """Why the surroundings of an object can't be put under water: who rides or holds it, and what
    of the old light shows through it or at its outline."""
    if found.share > LARGEST_SHARE:
        return "too large"
    if found.pieces > 0.06 or touched.people > 0.08 or touched.front > 0.25:
        return "occluded"
    if _is_seen_through("context", category, found):
        return "seen through"
    if found.blur_px > 2.2:
        return "blurred"
    if found.lit < 0.12:
        return "too dark"
    clear = found.contrast >= 0.5 and skin.fit >= 0.58 and skin.weak <= 0.2
    return "" if clear and found.through <= 0.4 else "outline unclear"


def _is_seen_through(kind: str, category: str, found: Measures) -> bool:
    """Whether what is behind an object shows: slats may go to another place with it, glass may
    not."""
    if kind == "context" and category in ("bench", "chair"):
        return False
    return found.through > SLATTED.get(category, 1.0)


def _to_recolour(category: str, found: Measures, skin: Skin) -> str:
    if found.lit < 0.2:
        return "too dark"
    if skin.motley > 0.45:
        return "many colours"
    if found.pattern > 0.6:
        return "patterned already"
    if found.contrast < 0.55 or skin.fit < 0.48 or skin.weak > 0.3:
        return "outline unclear"
    return ""


def _to_relocate(category: str, found: Measures, skin: Skin) -> str:
    if category in BOXES and found.rise > _most_rise(category):
        return "seen from above"
    if STANCES.get(category) == "flying" and not _flies(category, found):
        return "does not fly"
    if found.cut_low > (0.15 if STANCES.get(category) == "lying" else 0.02):
        return "cut off below"
    if found.cut_side > (0.05 if category in LIVING else 0.1):
        return "cut off"
    if found.thickness < 0.10:
        return "too thin"
    if found.blur_px > 2.2:
        return "blurred"
    if found.brightness < _least_bright(category, found, skin):
        return "too dark"
    if category in _SHAGGY and found.rise > 0.85:
        return "occluded"  # by what nobody annotated: it has no legs
    return "" if _is_distinct(category, found, skin) else "outline unclear"


def _flies(category: str, found: Measures) -> bool:
    """Whether there is nothing but sky around it. Birds that do not spread their wings sit."""
    sky = found.unrest < 1.6 and found.mixture < 14
    return sky and not (category == "bird" and found.solidity > 0.75)


def _most_rise(category: str) -> float:
    """How far the lower edge of a box may rise: ovens are photographed from nearby, where it does
    more."""
    return 0.8 if category == "oven" else MOST_RISE


def _least_bright(category: str, found: Measures, skin: Skin) -> float:
    """How bright an object must be. Built-in ovens in dark kitchens have neither an outline nor a
    side."""
    if category == "oven":
        return 0.1
    clear = skin.fit >= 0.85 or _is_sharp(found, skin)
    return 0.07 if category in LIVING or not clear else 0.0


def _is_sharp(found: Measures, skin: Skin) -> bool:
    """Whether colours change all along an outline, though stronger edges inside, as letters have
    them, mislead its fit."""
    return skin.weak <= 0.05 and found.contrast >= 0.95


def _is_distinct(category: str, found: Measures, skin: Skin) -> bool:
    """Whether an outline is clear enough for another background."""
    if found.contrast < 0.53:
        return False
    if category in _CRISP:
        return skin.fit >= 0.7 and skin.weak <= 0.1 and found.through <= 0.35
    if category in _PATTERNED:  # their patterns mislead the fit
        return skin.fit >= 0.45 and skin.weak <= 0.085 and found.through <= 0.35
    if category == "toilet" and skin.fit >= 0.75:  # white before white tiles
        return skin.weak <= 0.32 and found.through <= 0.35
    if category in LIVING:  # between legs the old ground is seen, and through fur
        least, most = (0.7, 0.155) if category in _SHAGGY else (0.6, 0.125)
        return skin.fit >= least and skin.weak <= most and found.through <= 0.35
    if _is_sharp(found, skin):
        return found.through <= 0.35
    through = 0.46 if STANCES[category] == "lying" else 0.35
    return skin.fit >= 0.5 and skin.weak <= 0.25 and found.through <= through


_PATTERNED = ("giraffe", "zebra")
_SHAGGY = ("bear", "cat", "dog", "sheep", "teddy bear")
_CRISP = (
    *("banana", "bed", "bottle", "broccoli", "carrot", "microwave", "potted plant"),
    "vase",
)
"""Categories that are among others of their colours: their outlines must be clear all around."""


def objection_to_contact(kind: str, category: str, found: Contact) -> str:
    """Why an object that touches others doesn't suit a kind of edit."""
    if kind == "recolour":
        return "occluded" if found.front > 0.45 and category not in IN_BOWLS else ""
    if STANCES.get(category) == "lying":
        return _hindered_lying(category, found)
    return _hindered(category, found)


def _hindered_lying(category: str, found: Contact) -> str:
    """Why what lies among others does not suit another place."""
    if found.people > 0.06 or found.low > 0.25 or (found.front > 0.1 and found.gap > 0.08):
        return "occluded"
    most = 0.24 if category in UPRIGHT else 0.3
    if found.any > most and not (found.any < 0.5 and found.gap < 0.03 and found.front < 0.02):
        return "touches others"
    return ""


def _hindered(category: str, found: Contact) -> str:
    """Why what stands among others does not suit another place: what is nearer hides some of it;
    what is behind does not, unless it fills the hollows of the outline."""
    living = category in LIVING
    if found.people > (0.25 if category == "motorcycle" else 0.12):  # who stands behind it
        return "occluded"
    whole = found.gap < 0.03 and not living
    if found.front > (0.1 if whole else 0.05) or found.low > (0.22 if whole else 0.2):
        return "occluded"
    if living and found.gap > 0.15:
        return "occluded"
    most = 0.5 if found.gap < 0.04 else 0.18 if living else 0.3
    return "touches others" if found.any > most else ""
