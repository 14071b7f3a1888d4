"""The surroundings of an object under water: they stay where they are, so that it stands as it did,
and are seen through water, more of it the farther away they are."""

from __future__ import annotations

import cv2
import numpy as np

from groundfault.editors.procedural.edges import Floats, Mask, Matte, box_of, floats
from groundfault.editors.procedural.noise import cloud
from groundfault.editors.procedural.relief import LUMA, linear

__all__ = ["submerged"]

ABSORBED = floats([2.6, 0.9, 0.75])
"""How much of red, green and blue light water takes, per unit of its depth."""
GLOW = floats([0.010, 0.16, 0.27])
"""The light of water itself."""
NEAR, FAR = 0.75, 3.2
"""How much water lies before the ground at an object's foot, and before what is highest."""
BRIGHTEST = 0.5
"""What a photograph's bright parts become: snow would shine through the water."""
RAYS, SPECKS = 90, 60


def submerged(photo: Floats, mask: Mask, edge: Matte, *, seed: int) -> Floats:
    """The photograph with everything but the object under water; pixels that are wholly the
    object's keep their values."""
    behind = np.where((edge.alpha > 0.02)[..., None], edge.back, photo)
    height, width = mask.shape
    side = max(height, width)
    y, x = np.mgrid[:height, :width].astype(np.float32)
    near, far = (cv2.GaussianBlur(floats(behind), (0, 0), side / part) for part in (300, 70))
    away = np.clip((box_of(mask)[0].stop - y) / (0.7 * height), 0, 1)[..., None]
    light = linear(near * (1 - away) + far * away)
    light = light * min(1.0, BRIGHTEST / max(float(np.percentile(light @ LUMA, 90)), 1e-3))
    passed = np.exp(-ABSORBED * (NEAR + (FAR - NEAR) * away))
    glow = GLOW * (0.55 + 0.9 * (1 - y / height))[..., None]
    water = 1.35 * light * passed + glow * (1 - passed)
    water = water * (1 + 0.9 * _caustics((height, width), seed) * _below(y, height))[..., None]
    water = water + _rays(x, y, seed)[..., None] * floats([0.05, 0.22, 0.26])
    water = water + _specks((height, width), seed)[..., None] * floats([0.18, 0.3, 0.3])
    seen = np.clip(water, 0, 1) ** (1 / 2.2)
    share = edge.alpha[..., None]
    return np.where(share >= 1, photo, edge.fore * share + seen * (1 - share)).astype(np.float32)


def _below(y: Floats, height: int) -> Floats:
    """Where the ground is, which is lit from above: the lower half."""
    return floats(np.clip((y - 0.35 * height) / (0.3 * height), 0, 1))


def _caustics(shape: tuple[int, int], seed: int) -> Floats:
    """The net of light that waves throw on a ground, 0 to 1."""
    net = np.exp(-5 * np.abs(cloud(shape, max(shape) / 22, seed, 3, stretch=(1, 2.2))))
    return floats(cv2.GaussianBlur(floats(net), (0, 0), 1.2))


def _rays(x: Floats, y: Floats, seed: int) -> Floats:
    """Shafts of light that fan out from above the picture and fade."""
    height, width = x.shape
    slope = (x - 0.6 * width) / (y + 0.7 * height)
    strength = np.random.default_rng(seed).random(RAYS)
    fan = np.interp(slope, np.linspace(slope.min(), slope.max(), RAYS), strength)
    soft = cv2.GaussianBlur(floats(fan), (0, 0), max(x.shape) / 128)
    return floats(np.clip(soft - 0.5, 0, 1) * np.clip(1 - y / (0.8 * height), 0, 1))


def _specks(shape: tuple[int, int], seed: int) -> Floats:
    """What floats in the water."""
    rng = np.random.default_rng(seed + 1)
    found = np.zeros(shape, np.float32)
    for _ in range(SPECKS):
        row, column, radius = rng.integers(shape[0]), rng.integers(shape[1]), rng.integers(1, 3)
        shine = float(rng.uniform(0.1, 0.5))
        cv2.circle(found, (int(column), int(row)), int(radius), shine, -1, cv2.LINE_AA)
    return floats(cv2.GaussianBlur(found, (0, 0), 0.8))
