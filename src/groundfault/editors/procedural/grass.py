"""Grass, blade by blade, with flowers in it."""

from __future__ import annotations

import cv2
import numpy as np

from groundfault.editors.procedural.edges import Floats, Mask, floats
from groundfault.editors.procedural.perspective import View

__all__ = ["with_blades"]

TALL_M, WIDE_M = 0.055, 0.0035
SHORTEST_PX = 3.5
"""Shorter blades can't be told apart: there the ground's own colours do."""
LAYERS = 2.2
"""How many blades lie above each other on average."""
MOST = 24_000
FLOWERS_PER_M2 = 20.0
FLOWER_M = 0.012


def with_blades(picture: Floats, view: View, seed: int, tone: Floats) -> Floats:
    """A ground with grass on it, in amounts of light; `tone` is how bright it is where."""
    rng = np.random.default_rng(seed)
    feet = _feet(view, rng)
    if not len(feet):
        return picture
    canvas = np.array(picture, np.float32, order="C")
    per_m = (feet[:, 1] - view.horizon_px) / view.camera_m
    steep = min(float(np.median(per_m)) * view.camera_m / view.focal_px, 0.95)
    flat = np.sqrt(1 - steep**2)
    long = TALL_M * per_m * rng.uniform(0.5, 1.3, len(feet))
    lean = rng.normal(0, 0.35 + 0.5 * steep, (len(feet), 2))
    tips = feet + long[:, None] * np.stack([lean[:, 0], -flat + steep * lean[:, 1]], 1)
    wide = np.maximum(WIDE_M * per_m * rng.uniform(0.6, 1.2, len(feet)), 0.5)
    at = np.clip(feet.astype(int), 0, np.array(view.shape[::-1]) - 1)
    light = tone[at[:, 1], at[:, 0]] * rng.uniform(0.45, 1.35, len(feet))
    yellow = rng.uniform(0, 1, (len(feet), 1)) ** 2
    green = floats([0.105, 0.185, 0.030]) * (1 - yellow) + floats([0.24, 0.26, 0.075]) * yellow
    colours = green * np.maximum(light, 0.2)[:, None]
    flowers = _flowers(feet, per_m, view, rng)
    for index in range(len(feet)):
        _blade(canvas, feet[index], tips[index], float(wide[index]), colours[index])
        if flowers[index]:
            _flower(canvas, tips[index], FLOWER_M * float(per_m[index]), flat, index)
    return canvas


def _feet(view: View, rng: np.random.Generator) -> Floats:
    """Where blades grow, (n, 2) as x and y, those farthest away first."""
    height, width = view.shape
    rows = np.arange(height + 60, dtype=np.float64)
    per_m = (rows - view.horizon_px) / view.camera_m
    tall = TALL_M * per_m
    seen = np.clip((tall - SHORTEST_PX) / SHORTEST_PX, 0, 1)  # they begin gradually
    each = seen * LAYERS * width / (np.maximum(WIDE_M * per_m, 0.9) * tall.clip(1))
    each = each * min(MOST / max(each.sum(), 1), 1.0)
    count = rng.poisson(each)
    y = np.repeat(rows, count) + rng.uniform(0, 1, int(count.sum()))
    x = rng.uniform(-20, width + 20, len(y))
    return floats(np.stack([x, y], 1))


def _flowers(feet: Floats, per_m: Floats, view: View, rng: np.random.Generator) -> Mask:
    """Which blades bear a flower: as many as stand on a square metre."""
    rows, in_row = np.unique(feet[:, 1].astype(int), return_counts=True)
    blades = in_row[np.searchsorted(rows, feet[:, 1].astype(int))]
    across_m = view.shape[1] / per_m
    deep_m = view.focal_px / (view.camera_m * per_m**2)
    share = FLOWERS_PER_M2 * across_m * np.maximum(deep_m, 1 / per_m) / blades
    return np.asarray(rng.uniform(0, 1, len(feet)) < np.minimum(share, 0.05))


def _blade(canvas: Floats, foot: Floats, tip: Floats, wide: float, colour: Floats) -> None:
    paint = (float(colour[0]), float(colour[1]), float(colour[2]))
    if wide < 1.4:
        ends = (int(foot[0]), int(foot[1])), (int(tip[0]), int(tip[1]))
        cv2.line(canvas, *ends, paint, 1)
        return
    bend = 0.55 * foot + 0.45 * tip + floats([0.0, -0.06 * abs(float(foot[1] - tip[1]))])
    half = floats([wide / 2, 0])
    points = np.stack([foot - half, bend - 0.8 * half, tip, bend + 0.8 * half, foot + half])
    cv2.fillPoly(canvas, [points.round().astype(np.int32)], paint)


def _flower(canvas: Floats, at: Floats, radius: float, flat: float, number: int) -> None:
    """A daisy or a buttercup, seen from the side as an ellipse."""
    petals, middle = (
        ((0.80, 0.80, 0.78), (0.75, 0.50, 0.05))
        if number % 3
        else ((0.80, 0.62, 0.04), (0.62, 0.42, 0.02))
    )
    centre = (int(at[0]), int(at[1]))
    axes = (max(int(radius), 1), max(int(radius * (1 - 0.5 * flat)), 1))
    cv2.ellipse(canvas, centre, axes, 0, 0, 360, petals, -1)
    if radius >= 2.5:
        inner = (max(int(0.4 * radius), 1), max(int(0.4 * radius * (1 - 0.5 * flat)), 1))
        cv2.ellipse(canvas, centre, inner, 0, 0, 360, middle, -1)
