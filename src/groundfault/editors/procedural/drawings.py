"""Surroundings of an object that become a drawing of themselves: in pencil on paper, in white on a
blueprint, in chalk on a board or as an etching. The object lies in it as a photograph; every line
of the drawing is where an edge was, so that size and view fit whatever the scene is."""

from __future__ import annotations

import math
from collections.abc import Callable

import cv2
import numpy as np

from groundfault.editors.procedural.edges import Floats, Mask, Matte, floats, grown
from groundfault.editors.procedural.relief import luma

__all__ = ["INKS", "PAPERS", "drawn", "legibility"]

PAPERS = {
    "pencil drawing": (0.97, 0.96, 0.93),
    "blueprint": (0.08, 0.23, 0.50),
    "chalkboard": (0.14, 0.21, 0.18),
    "etching": (0.91, 0.83, 0.67),
}
"""The colour of what is drawn on."""
INKS = {
    "pencil drawing": (0.10, 0.10, 0.10),
    "blueprint": (0.88, 0.94, 1.0),
    "chalkboard": (0.94, 0.94, 0.89),
    "etching": (0.22, 0.12, 0.05),
}
"""The colour of what is drawn with."""
USUAL_INK = 0.1
"""How much of a drawing lines have; of faint scenes they are drawn more firmly."""
GRID = 24
"""The squares that a blueprint's longer side has."""
USUAL_TONE = 0.62
"""The tone that half of a scene is lighter than; darker ones would be hatched all over."""
HATCHED = {-0.75: 0.80, 0.7: 0.46, 0.05: 0.24}
"""The angles of an etching's hatching, in radians, and the tone below which there are lines so."""
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


def ramp(values: Floats, low: float, high: float) -> Floats:
    """0 below a value, 1 above another one, straight between them."""
    return floats(np.clip((values - low) / (high - low), 0, 1))


def _lines(tones: Floats, fine: float = 110) -> Floats:
    """How much ink the lines of a drawing have: along edges, on their darker side (each tone
    divided by those around it); the larger `fine`, the thinner they are."""
    lifted = 0.15 + 0.85 * tones
    around = cv2.GaussianBlur(lifted, (0, 0), max(tones.shape) / fine)
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


def _chalk(tones: Floats, seed: int) -> Floats:
    """Lines, and the side of the chalk rubbed over what is light, on a rough board with dust."""
    side = max(tones.shape)
    rough = ramp(_grain(tones.shape, seed), -0.55, 0.4)
    lines = cv2.GaussianBlur(np.minimum(2.4 * _lines(tones, 170), 1), (0, 0), side / 900)
    light = ramp(cv2.GaussianBlur(tones, (0, 0), side / 250), 0.42, 1.0)
    strokes = cv2.GaussianBlur(_strokes(tones.shape, -0.6, seed), (0, 0), side / 600)
    rubbed = (0.05 + 0.65 * light) * np.clip(0.7 + 0.16 * strokes, 0.3, 1)
    ink = 1 - (1 - lines * (0.6 + 0.4 * rough)) * (1 - rubbed * (0.35 + 0.65 * rough))
    return _on("chalkboard", floats(ink), 0.12, seed)


def _etching(tones: Floats, seed: int) -> Floats:
    """Thin lines, and parallel ones in the shade, the darker it is in the more directions."""
    side = max(tones.shape)
    soft = cv2.GaussianBlur(tones, (0, 0), side / 350)
    waver = cv2.GaussianBlur(_grain(tones.shape, seed), (0, 0), side / 60)
    waver = floats(0.2 * waver / waver.std())
    bare = 1 - 0.95 * ramp(_lines(tones, 150), 0.08, 0.5)
    for angle, begins in HATCHED.items():
        bare = bare * (1 - 0.85 * _parallels(soft, waver, angle, begins))
    return _on("etching", 1 - bare, 0.03, seed)


def _parallels(tones: Floats, waver: Floats, angle: float, begins: float) -> Floats:
    """The ink of parallel lines that waver a little, at an angle, where it is darker than the tone
    at which they begin; they are the broader the darker it is."""
    step_px = max(max(tones.shape) / 170, 3)
    rows, columns = (np.arange(length, dtype=np.float32) / step_px for length in tones.shape)
    across = rows[:, None] * math.cos(angle) + columns * math.sin(angle) + waver
    away = np.abs(across % 1 - 0.5) * 2
    broad = 0.1 + 0.5 * ramp(-tones, -begins, 0.4 - begins)
    return ramp(broad - away, -1 / step_px, 1 / step_px) * ramp(-tones, -begins, 0.08 - begins)


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
    "chalkboard": _chalk,
    "etching": _etching,
}
