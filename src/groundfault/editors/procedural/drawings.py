"""Surroundings of an object that become a drawing of themselves, in pencil on paper or in white on
a blueprint. The object lies in it as a photograph; every line of the drawing is where an edge was,
so that size and view fit whatever the scene is."""

from __future__ import annotations

import math
from collections.abc import Callable

import cv2
import numpy as np

from groundfault.editors.procedural.edges import Floats, Mask, Matte, floats, grown
from groundfault.editors.procedural.relief import luma
from groundfault.editors.procedural.vegetation import ramp

__all__ = ["INKS", "PAPERS", "drawn", "legibility"]

PAPERS = {
    "pencil drawing": (0.97, 0.96, 0.93),
    "blueprint": (0.08, 0.23, 0.50),
}
"""The colour of what is drawn on."""
INKS = {
    "pencil drawing": (0.10, 0.10, 0.10),
    "blueprint": (0.88, 0.94, 1.0),
}
"""The colour of what is drawn with."""
USUAL_INK = 0.1
"""How much of a drawing lines have; of faint scenes they are drawn more firmly."""
GRID = 24
"""The squares that a blueprint's longer side has."""
USUAL_TONE = 0.62
"""The tone that half of a scene is lighter than; darker ones would be hatched all over."""
FIRM = 0.25
"""The ink from which on a line is seen."""
LONG = 0.06
"""How far lines go at least that show something, as a share of the picture's longer side: shorter
ones are flecks."""


def legibility(photo: Floats, mask: Mask) -> float:
    """The share of a drawing's ink that is in long lines, 0 to 1: sand, lawns and blurred
    backgrounds have none."""
    inked = (_lines(_tones(photo)) > FIRM) & ~grown(mask, 4)
    _, _, sizes, _ = cv2.connectedComponentsWithStats(inked.astype(np.uint8), connectivity=8)
    lines = sizes[1:]
    sides = np.maximum(lines[:, cv2.CC_STAT_WIDTH], lines[:, cv2.CC_STAT_HEIGHT])
    areas = lines[:, cv2.CC_STAT_AREA]
    return float(areas[sides >= LONG * max(mask.shape)].sum() / max(int(areas.sum()), 1))


def drawn(photo: Floats, edge: Matte, place: str, *, seed: int) -> Floats:
    """The photograph with everything but the object drawn; pixels that are wholly the object's
    keep their values."""
    behind = np.where((edge.alpha > 0.02)[..., None], edge.back, photo)
    sheet = _STYLES[place](_tones(floats(behind)), seed)
    own = edge.alpha[..., None]
    return floats(np.where(own >= 1, photo, edge.fore * own + sheet * (1 - own)))


def _tones(picture: Floats) -> Floats:
    """The lightness of a scene, spread over all tones, without noise, (h, w)."""
    grey = luma(picture)
    low, high = np.percentile(grey, [1, 99])
    grey = floats(np.clip((grey - low) / max(high - low, 0.2), 0.02, 1))
    power = math.log(USUAL_TONE) / math.log(float(np.clip(np.median(grey), 0.05, 0.95)))
    return floats(cv2.bilateralFilter(grey ** float(np.clip(power, 0.5, 1.5)), 5, 0.08, 2))


def _lines(tones: Floats) -> Floats:
    """How much ink the lines of a drawing have: along edges, on their darker side (each tone
    divided by those around it)."""
    lifted = 0.15 + 0.85 * tones
    around = cv2.GaussianBlur(lifted, (0, 0), max(tones.shape) / 110)
    ink = 1 - ramp(lifted / around, 0.3, 0.96)
    return floats(ink * np.clip(USUAL_INK / max(float(ink.mean()), 1e-3), 1, 2))


def _hatching(tones: Floats, seed: int) -> Floats:
    """How much ink the strokes have that shade what is dark: one way, and across it in deep
    shade."""
    dark = 1 - cv2.GaussianBlur(tones, (0, 0), max(tones.shape) / 250)
    first = np.clip(0.9 * dark - 0.16 + 0.14 * _strokes(tones.shape, -0.9, seed), 0, 1)
    across = np.clip(dark - 0.62 + 0.16 * _strokes(tones.shape, 0.7, seed + 1), 0, 1)
    return floats(1 - (1 - 0.55 * first) * (1 - 0.6 * across))


def _strokes(shape: tuple[int, ...], angle: float, seed: int) -> Floats:
    """Noise of mean 0 and deviation 1, drawn out along an angle."""
    grains = np.random.default_rng(seed).standard_normal(shape[:2]).astype(np.float32)
    half = max(max(shape) // 56, 4)
    along = np.zeros((2 * half + 1,) * 2, np.float32)
    ends = [
        (round(half + way * half * math.cos(angle)), round(half + way * half * math.sin(angle)))
        for way in (-1, 1)
    ]
    cv2.line(along, *ends, 1.0, 1)
    found = cv2.filter2D(cv2.GaussianBlur(grains, (0, 0), 0.8), -1, along)
    return floats((found - found.mean()) / found.std())


def _grain(shape: tuple[int, ...], seed: int) -> Floats:
    """The roughness of paper, of mean 0."""
    grains = np.random.default_rng(seed).standard_normal(shape[:2]).astype(np.float32)
    return floats(cv2.GaussianBlur(grains, (0, 0), 0.7))


def _pencil(tones: Floats, seed: int) -> Floats:
    ink = 1 - (1 - np.minimum(_lines(tones), 1)) * (1 - _hatching(tones, seed))
    return _on("pencil drawing", ink * (1 + 0.04 * _grain(tones.shape, seed)), 0.01, seed)


def _blueprint(tones: Floats, seed: int) -> Floats:
    ink = np.maximum(np.clip(1.4 * _lines(tones), 0, 0.95), 0.16 * _grid(tones.shape))
    return _on("blueprint", ink * (1 + 0.1 * _grain(tones.shape, seed)), 0.05, seed)


def _grid(shape: tuple[int, ...]) -> Floats:
    """The thin lines of squared paper."""
    found = np.zeros(shape[:2], np.float32)
    step = max(max(shape) // GRID, 8)
    found[step // 2 :: step], found[:, step // 2 :: step] = 1, 1
    return found


def _on(place: str, ink: Floats, uneven: float, seed: int) -> Floats:
    """Ink on a sheet that is a little uneven."""
    cloudy = cv2.GaussianBlur(_grain(ink.shape, seed + 2), (0, 0), max(ink.shape) / 25)
    sheet = floats(PAPERS[place]) * (1 + uneven * cloudy / (cloudy.std() + 1e-6))[..., None]
    drawing = sheet + (floats(INKS[place]) - sheet) * np.clip(ink, 0, 1)[..., None]
    return floats(np.clip(drawing, 0, 1))


_STYLES: dict[str, Callable[[Floats, int], Floats]] = {
    "pencil drawing": _pencil,
    "blueprint": _blueprint,
}
