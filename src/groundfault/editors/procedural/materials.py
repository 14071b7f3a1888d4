"""Substances that an object is recast in: its outline and relief stay, the rest is theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import cv2
import numpy as np
import scipy.ndimage as ndi

from groundfault.editors.procedural.edges import Floats, Mask, floats
from groundfault.editors.procedural.noise import Colour, cloud, ramp
from groundfault.editors.procedural.relief import (
    drawing_of,
    extent_px,
    inflate,
    light_of,
    luma,
    normals,
)

__all__ = ["SUBSTANCES", "recast"]

SUN = floats([-0.40, -0.62, 0.68])
HALF = floats([-0.35, -0.60, 0.72])
"""Between the sun and the eye: what faces this way shines."""


DRAWN = 0.14
"""How strongly an object's own features are seen in its new substance, as a share of its light."""


class Body(NamedTuple):
    """An object to be rendered: all fields are (h, w) but the normals and what is behind."""

    normal: Floats
    value: Floats
    """How brightly it is lit, 0 to 1."""
    cavity: Floats
    """How deep a crease is, 0 to 1."""
    height: Floats
    size_px: float
    seed: int
    behind: Floats | None

    def noise(self, scale_px: float, number: int, octaves: int = 4) -> Floats:
        return cloud(self.value.shape, scale_px, self.seed + number, octaves)

    def shine(self, power: float) -> Floats:
        return np.asarray(np.maximum(self.normal @ HALF, 0) ** power, np.float32)


def _metal(*stops: tuple[float, Colour]) -> Callable[[Body], Floats]:
    def render(body: Body) -> Floats:
        n = body.normal
        sky = np.clip(0.5 - 0.6 * n[..., 1] - 0.25 * n[..., 0], 0, 1)
        wavy = 0.05 * body.noise(body.size_px * 0.3, 11, 3)
        mirrored = 0.5 + 0.5 * np.sin(6.2 * (sky + 0.32 * body.value + wavy) - 1.5)
        bright = 0.55 * body.value + 0.38 * mirrored - 0.30 * body.cavity - 0.02
        bright = bright + 0.75 * body.shine(24) + 0.12 * body.shine(6)
        return ramp(np.clip(bright, 0, 1.15), *stops)

    return render


_bronze = _metal(
    (0, (0.035, 0.022, 0.015)),
    (0.3, (0.24, 0.135, 0.06)),
    (0.6, (0.56, 0.35, 0.16)),
    (0.85, (0.86, 0.64, 0.36)),
    (1.1, (1.0, 0.93, 0.76)),
)


def _marble(body: Body) -> Floats:
    size = body.size_px
    y, x = np.mgrid[: body.value.shape[0], : body.value.shape[1]].astype(np.float32)
    along = (x * 0.7 + y * 0.5 + body.height * 0.8) / (size * 0.25)
    along = along + 1.1 * body.noise(size * 0.4, 0, 6)
    vein = np.exp(-np.abs(np.sin(along)) * 6)
    vein = 0.85 * vein * np.clip(0.7 + body.noise(size * 0.3, 4), 0.2, 1)
    clouded = 1 - 0.07 * np.clip(body.noise(size * 0.25, 2, 5), -1, 1.5)
    stone = floats([0.92, 0.905, 0.88]) * clouded[..., None]
    stone = stone * (1 - vein[..., None]) + floats([0.27, 0.30, 0.36]) * vein[..., None]
    lit = 0.38 + 0.70 * np.clip(body.value, 0, 1.1) - 0.25 * body.cavity
    return np.asarray(stone * lit[..., None] + 0.28 * body.shine(40)[..., None], np.float32)


def _granite(body: Body) -> Floats:
    speckle = 0.42 * body.noise(3.0, 1, 2) + 0.30 * body.noise(9, 2, 2)
    stone = ramp(
        speckle,
        (-1.6, (0.20, 0.19, 0.19)),
        (-0.3, (0.47, 0.46, 0.45)),
        (0.6, (0.60, 0.58, 0.56)),
        (1.7, (0.76, 0.72, 0.70)),
    )
    lit = 0.24 + 0.92 * np.clip(body.value, 0, 1.1) - 0.32 * body.cavity
    return np.asarray(stone * lit[..., None], np.float32)


def _terracotta(body: Body) -> Floats:
    clay = ramp(
        body.noise(body.size_px * 0.3, 1, 5) + 0.25 * body.noise(3, 2, 2),
        (-2, (0.58, 0.29, 0.19)),
        (2, (0.76, 0.44, 0.30)),
    )
    lit = 0.24 + 0.95 * np.clip(body.value, 0, 1.1) - 0.35 * body.cavity
    return np.asarray(clay * lit[..., None], np.float32)


def _chocolate(body: Body) -> Floats:
    lit = 0.55 * np.clip(body.value, 0, 1.1) ** 1.2 - 0.25 * body.cavity + 0.10
    brown = ramp(
        lit, (0, (0.09, 0.045, 0.028)), (0.35, (0.29, 0.155, 0.095)), (0.8, (0.50, 0.31, 0.21))
    )
    return np.asarray(brown + (0.42 * body.shine(18))[..., None] * floats([1, 0.93, 0.86]))


def _wood(body: Body) -> Floats:
    size = body.size_px
    y, x = np.mgrid[: body.value.shape[0], : body.value.shape[1]].astype(np.float32)
    wave = body.noise(size * 0.5, 0, 3) * size * 0.05
    away = np.hypot(
        (y - y.mean()) * 0.9 + wave, body.height * 1.6 + size * 0.25 + 0.25 * (x - x.mean())
    )
    ring = (away / max(size * 0.032, 6.0)) % 1  # narrower rings would be a grid of pixels
    fibre = cloud(body.value.shape, 40, body.seed + 2, 5, stretch=(6, 0.5))
    timber = ramp(
        ring + 0.14 * fibre,
        (0, (0.64, 0.45, 0.28)),
        (0.5, (0.58, 0.39, 0.23)),
        (0.8, (0.46, 0.29, 0.16)),
        (1.05, (0.64, 0.45, 0.28)),
    )
    lit = 0.20 + 1.05 * body.value - 0.40 * body.cavity
    return np.asarray(timber * lit[..., None] + 0.06 * body.shine(16)[..., None], np.float32)


def _ice(body: Body) -> Floats:
    """Ice lets through what is behind it, bent by its relief."""
    n, value = body.normal, body.value
    y, x = np.mgrid[: value.shape[0], : value.shape[1]].astype(np.float32)
    bend = body.size_px * 0.16
    behind = cv2.GaussianBlur(body.behind, (0, 0), 1.5)
    seen = cv2.remap(
        behind,
        x + n[..., 0] * bend,
        y + n[..., 1] * bend,
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REFLECT,
    )
    rim = (1 - n[..., 2]) ** 1.6
    cracks = np.exp(-np.abs(body.noise(body.size_px * 0.3, 0, 6)) * 14) * 0.22
    glints = body.shine(60) + 0.7 * np.maximum(n @ floats([0.45, -0.3, 0.84]), 0) ** 80
    milk = (0.10 + 0.40 * value + 0.08 * body.cavity)[..., None]
    through = seen * 0.60 * floats([0.80, 0.93, 1.0]) + milk * floats([0.74, 0.90, 1.0])
    over = (0.42 * rim + 0.85 * glints + cracks)[..., None] * floats([0.86, 0.95, 1.0])
    return np.asarray(through + over - 0.12 * body.cavity[..., None], np.float32)


SUBSTANCES: dict[str, Callable[[Body], Floats]] = {
    "bronze": _bronze,
    "gold": _metal(
        (0, (0.10, 0.055, 0.012)),
        (0.3, (0.42, 0.26, 0.06)),
        (0.6, (0.76, 0.55, 0.18)),
        (0.85, (0.95, 0.80, 0.42)),
        (1.1, (1.0, 0.97, 0.80)),
    ),
    "silver": _metal(
        (0, (0.045, 0.045, 0.05)),
        (0.3, (0.27, 0.275, 0.285)),
        (0.6, (0.56, 0.565, 0.575)),
        (0.85, (0.82, 0.825, 0.83)),
        (1.1, (1.0, 1.0, 1.0)),
    ),
    "marble": _marble,
    "granite": _granite,
    "terracotta": _terracotta,
    "wood": _wood,
    "chocolate": _chocolate,
    "ice": _ice,
}


def recast(
    photo: Floats,
    fore: Floats,
    mask: Mask,
    material: str,
    *,
    tint: Floats,
    seed: int,
    behind: Floats | None = None,
    roundness: float = 0.8,
) -> Floats:
    """An object's colours as if it were made of a substance; ice needs what is `behind` it. A body
    of full `roundness` bulges as its outline suggests; a box that did would be a pillow."""
    height = inflate(mask)
    light = light_of(photo, mask, chroma=0.025)
    shade = np.clip(light.shade / max(float(light.shade[mask].std()) * 2.2, 0.35), -1, 1)
    size_px = extent_px(mask)
    crease = ndi.gaussian_filter(light.detail, float(np.clip(size_px / 330, 0.7, 1.4)))
    crease = crease * min(1.0, 0.14 / (crease[mask].std() + 1e-4))  # fur must not become gravel
    relief = ndi.gaussian_filter(height, 1.5) * roundness + shade * size_px * 0.026 + crease * 2.6
    relief = relief + cloud(mask.shape, 7, seed + 8) * 0.10
    n = normals(relief.astype(np.float32))
    lit = np.clip(n @ SUN, 0, 1)
    drawn = np.clip(DRAWN * drawing_of(photo, mask), -0.4, 0.25)
    value = np.clip(0.50 * (0.5 + 0.5 * shade) + 0.56 * lit + 0.35 * crease + drawn, 0, 1.1)
    cavity = np.clip(-crease * 1.6 - 0.5 * drawn, 0, 1)
    body = Body(n, value, cavity, height, size_px, seed, behind)
    brightness = np.clip(float(np.median(luma(fore)[mask])) / 0.42, 0.6, 1.35) ** 0.5
    light_of_scene = brightness * (0.5 + 0.5 * tint)  # pink marble would be no marble
    return np.asarray(np.clip(SUBSTANCES[material](body) * light_of_scene, 0, 1), np.float32)
