"""Places without a ground: outer space above the earth, the deep sea, the sky. A thing
floats there in whatever posture and size it has, so that no foot has to stand and no view has
to fit. Every scene is computed, and looks like a photograph of one."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from groundfault.editors.procedural.edges import Floats, Matte, floats
from groundfault.editors.procedural.noise import cloud, ramp

__all__ = ["TONES", "afloat"]

Shape = tuple[int, int]
TONES = {
    "outer space": ((0.01, 0.01, 0.02),),
    "deep sea": ((0.13, 0.52, 0.66), (0.04, 0.30, 0.46), (0.015, 0.15, 0.28)),
    "sky": ((0.18, 0.40, 0.72), (0.42, 0.63, 0.87), (0.66, 0.80, 0.93), (0.97, 0.97, 0.98)),
}
"""The colours that a scene mostly has."""
STARS_PER_MPX = 1100
"""Stars in a million pixels; most of them are faint."""
EARTH_RADIUS = 1.7
"""The radius of the earth in the picture, in its diagonals."""
EARTH_SEEN = (0.2, 0.3)
"""How much of the picture's height the earth has at least and at most, in its middle."""
AIR = 0.012
"""How far the air is seen to glow above the earth, in the picture's diagonals."""
SPECKS_PER_MPX = 260
"""Specks that drift in a million pixels of the sea."""
FIELD_PX = 512
"""The side of the noise that clouds are made of."""
GRAIN = 0.008
"""The noise of a camera, as a deviation."""


def afloat(photo: Floats, edge: Matte, place: str, *, seed: int) -> Floats:
    """The object of a photograph in a place without a ground; pixels that are wholly the object's
    keep their values."""
    scene = _SCENES[place]((photo.shape[0], photo.shape[1]), seed)
    grains = np.random.default_rng(seed + 9).standard_normal(photo.shape[:2]).astype(np.float32)
    scene = np.clip(scene + GRAIN * grains[..., None], 0, 1)
    own = edge.alpha[..., None]
    return floats(np.where(own >= 1, photo, edge.fore * own + scene * (1 - own)))


def _space(shape: Shape, seed: int) -> Floats:
    """Stars, a faint nebula, and the lit limb of the earth below."""
    diagonal = float(np.hypot(*shape))
    veil = np.clip(cloud(shape, 0.45 * diagonal, seed, octaves=6) - 0.2, 0, 3)
    hue = cloud(shape, 0.5 * diagonal, seed + 1, octaves=3)
    glow = ramp(hue, (-1.2, (0.020, 0.028, 0.060)), (0.0, (0.030, 0.024, 0.052)),
                (1.2, (0.050, 0.026, 0.040)))  # fmt: skip
    sky = floats([0.006, 0.007, 0.012]) + glow * veil[..., None] * 0.55 + _stars(shape, seed + 2)
    return _with_earth(floats(sky), shape, seed + 3)


def _stars(shape: Shape, seed: int) -> Floats:
    """Points of light, their brightness by a power law, the brightest with a soft glow."""
    rng = np.random.default_rng(seed)
    count = int(STARS_PER_MPX * shape[0] * shape[1] / 1e6)
    rows, columns = (rng.integers(0, side, count) for side in shape)
    bright = np.minimum(0.05 * rng.pareto(1.3, count) + 0.05, 1.0)
    warm = rng.uniform(0, 1, count)[:, None]
    tints = floats([0.78, 0.88, 1.0]) * (1 - warm) + floats([1.0, 0.90, 0.75]) * warm
    points = np.zeros((*shape, 3), np.float32)
    np.add.at(points, (rows, columns), floats(bright[:, None] * tints))
    small = max(shape) / 900
    strong = np.where(points.max(2, keepdims=True) > 0.5, points, 0)
    sharp = cv2.GaussianBlur(points, (0, 0), max(0.55 * small, 0.5))
    return floats(2.6 * sharp + 9.0 * cv2.GaussianBlur(strong, (0, 0), 2.2 * small))


def _with_earth(sky: Floats, shape: Shape, seed: int) -> Floats:
    """A sky with the earth's limb rising into it from below, lit from one side."""
    rng = np.random.default_rng(seed)
    diagonal = float(np.hypot(*shape))
    radius = EARTH_RADIUS * diagonal
    top = shape[0] * (1 - rng.uniform(*EARTH_SEEN))
    middle = shape[1] * rng.uniform(0.3, 0.7)
    y, x = np.mgrid[: shape[0], : shape[1]].astype(np.float32)
    height = (np.hypot(x - middle, y - (top + radius)) - radius) / diagonal  # above the limb
    lit_from = 1 if rng.random() < 0.5 else -1
    day = np.clip(0.62 + lit_from * 0.55 * (x / shape[1] - 0.5), 0.15, 1)
    # seen at a slant: what is near the limb is squeezed
    depth = np.sqrt(np.clip(-height, 0, None) + 1e-6)
    ground = _globe(x / diagonal, 1.9 * depth, seed + 1)
    haze = np.exp(height / 0.035)[..., None] * (height < 0)[..., None]
    air = floats([0.42, 0.66, 0.98])
    ground = ground * (1 - 0.75 * haze) + air * 0.9 * 0.75 * haze
    above = np.exp(-np.clip(height, 0, None) / AIR)[..., None]
    rim = floats([0.25, 0.52, 1.0]) * above * 0.85 + floats([0.5, 0.35, 0.2]) * above**6 * 0.6
    edge = np.clip(0.5 - height * diagonal / 1.6, 0, 1)[..., None]
    light = day[..., None]
    return floats(
        np.clip(sky * (1 - above) + rim * light, 0, 1) * (1 - edge) + ground * light * edge
    )


def _globe(along: Floats, deep: Floats, seed: int) -> Floats:
    """Sea, some land and swirled clouds, by where they are along the limb and how deep below it."""
    sea, land, swirl, clouds, wisps = (
        _field(waves, seed + number) for number, waves in enumerate((3.0, 5.0, 2.5, 9.0, 22.0))
    )

    def at(field: Floats, scale: float, bend: Floats | float = 0.0) -> Floats:
        u = ((along * scale + bend) % 1) * (FIELD_PX - 1)
        v = ((deep * scale + 0.5 * np.asarray(bend)) % 1) * (FIELD_PX - 1)
        return floats(cv2.remap(field, floats(u), floats(v), cv2.INTER_LINEAR))

    bend = 0.10 * at(swirl, 0.7)
    blue = ramp(at(sea, 0.8), (-1.5, (0.02, 0.09, 0.24)), (1.5, (0.05, 0.20, 0.42)))
    brown = ramp(at(land, 1.1), (-1.0, (0.20, 0.26, 0.14)), (1.5, (0.46, 0.38, 0.25)))
    is_land = np.clip((at(land, 0.5) + 0.25 * at(wisps, 0.9) - 0.9) / 0.25, 0, 1)[..., None]
    ground = blue * (1 - is_land) + brown * is_land
    cover = at(clouds, 0.8, bend) + 0.55 * at(wisps, 0.8, bend) + 0.5 * at(swirl, 0.9)
    white = np.clip((cover - 0.15) / 1.5, 0, 1)[..., None] ** 0.8
    return floats(ground * (1 - 0.92 * white) + floats([0.94, 0.96, 0.98]) * 0.92 * white)


def _field(waves: float, seed: int, side: int = FIELD_PX) -> Floats:
    """Noise of mean 0 and deviation 1 that goes on at its borders where it begins, and in which
    waves up to that number across are strongest."""
    fy, fx = np.meshgrid(np.fft.fftfreq(side) * side, np.fft.rfftfreq(side) * side, indexing="ij")
    cycles = np.hypot(fx, fy)
    power = np.where(cycles < 1, 0, 1 / (1 + (cycles / waves) ** 1.9))
    grains = np.random.default_rng(seed).standard_normal((side, side))
    found = np.fft.irfft2(np.fft.rfft2(grains) * power, s=(side, side))
    return floats((found - found.mean()) / found.std())


def _sea(shape: Shape, seed: int) -> Floats:
    """Open water: bright above, dark below, shafts of sunlight, and specks that drift in it."""
    rng = np.random.default_rng(seed)
    tall, wide = shape
    y, x = np.mgrid[:tall, :wide].astype(np.float32)
    down, right = y / tall, x / wide
    uneven = 0.035 * cloud(shape, 0.6 * wide, seed, octaves=3)
    water = ramp(
        down + uneven,
        (-0.05, (0.36, 0.72, 0.80)),
        (0.18, (0.13, 0.52, 0.66)),
        (0.5, (0.04, 0.30, 0.46)),
        (0.8, (0.015, 0.15, 0.28)),
        (1.05, (0.008, 0.08, 0.17)),
    )
    source = rng.uniform(0.3, 0.7)
    angle = np.arctan2(right - source, down + 0.55)
    rays = _along(angle, seed + 1)
    near = np.exp(-(((right - source) / 0.38) ** 2)) * np.exp(-down / 0.42)
    water = water + (near * np.clip(0.5 + 0.5 * rays, 0, 2) * 0.33)[..., None] * floats(
        [0.75, 1.0, 0.95]
    )
    return floats(np.clip(water + _specks(shape, seed + 2), 0, 1))


def _along(angle: Floats, seed: int) -> Floats:
    """Noise that depends on an angle alone, in several widths: mean 0, deviation 1."""
    rng = np.random.default_rng(seed)
    at = np.linspace(float(angle.min()), float(angle.max()), 720)
    line = np.zeros(720)
    for count, strength in ((9, 0.6), (24, 1.0), (60, 0.5)):
        line += strength * np.interp(
            np.linspace(0, count, 720), np.arange(count + 1), rng.standard_normal(count + 1)
        )
    line = cv2.GaussianBlur(floats(line)[None], (0, 0), 5)[0]
    return floats(np.interp(angle, at, (line - line.mean()) / line.std()))


def _specks(shape: Shape, seed: int) -> Floats:
    """Bright specks, few of them large and out of focus."""
    rng = np.random.default_rng(seed)
    found = np.zeros(shape, np.float32)
    small = max(shape) / 640
    for size, share, strength in ((0.7, 1.0, 0.9), (1.6, 0.35, 2.4), (3.5, 0.06, 5.0)):
        count = int(SPECKS_PER_MPX * share * shape[0] * shape[1] / 1e6)
        layer = np.zeros(shape, np.float32)
        rows, columns = (rng.integers(0, side, count) for side in shape)
        np.add.at(layer, (rows, columns), floats(rng.uniform(0.2, 1, count)))
        found += strength * cv2.GaussianBlur(layer, (0, 0), size * small)
    return floats(found[..., None] * floats([0.7, 0.95, 0.95]) * 0.5)


def _sky(shape: Shape, seed: int) -> Floats:
    """A blue sky, paler below, with soft clouds that are lit from above."""
    tall, wide = shape
    down = np.repeat((np.arange(tall, dtype=np.float32) / tall)[:, None], wide, 1)
    sky = ramp(
        down, (0.0, (0.18, 0.40, 0.72)), (0.6, (0.42, 0.63, 0.87)), (1.0, (0.66, 0.80, 0.93))
    )
    side = 2 * FIELD_PX  # nothing comes twice
    puffs = _field(4.4, seed, side) + 0.06 * _field(60.0, seed + 1, side)
    y, x = np.mgrid[:tall, :wide].astype(np.float32) * (0.39 * side / max(shape))
    squeezed = 1.0 + 0.9 * down  # clouds farther down are farther away, and flatter

    def at(up: float) -> Floats:
        v = (squeezed * 1.3 * (y - up * FIELD_PX)) % (side - 1)
        return floats(cv2.remap(puffs, x, floats(v), cv2.INTER_LINEAR))

    here = at(0.0)
    cover = np.clip((here - 0.25) / 1.5, 0, 1)
    thick = np.clip((cv2.GaussianBlur(at(0.018), (0, 0), 0.008 * wide) - 0.1) / 2.2, 0, 1)
    white = floats([1.0, 1.0, 1.0]) - 0.30 * thick[..., None] * floats([1.0, 0.85, 0.65])
    share = (cover**0.75)[..., None]
    return floats(sky * (1 - share) + white * share)


_SCENES: dict[str, Callable[[Shape, int], Floats]] = {
    "outer space": _space,
    "deep sea": _sea,
    "sky": _sky,
}
