"""What computed things are coated with: colours, gloss and relief by where a point is on a body."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundfault.editors.procedural.edges import Floats, floats
from groundfault.editors.procedural.noise import Colour, grains, ramp

__all__ = ["SKINS", "Finish", "Shown", "Skin"]

Numbers = NDArray[Any]


class Shown(NamedTuple):
    """All points of a body that are seen."""

    points: Numbers
    """(n, 3), in the body's own coordinates: x to the right, y away, z upwards from its foot."""
    own: Numbers
    """The surface's direction there, (n, 3)."""
    extents: tuple[float, float, float]
    """The body's width, depth and height."""
    seed: int
    pixel: float
    """How large a pixel of the picture is, in the body's units."""

    def noise(self, size: float, number: int, octaves: int = 4) -> Numbers:
        return grains(self.points, size, self.seed + number, octaves)

    def stretched(self, size: float, by: tuple[float, float, float], number: int) -> Numbers:
        return grains(self.points * floats(by), size, self.seed + number, 4)

    def faces(self) -> tuple[Numbers, Numbers, Numbers]:
        """Which points are on a box's ends, on its front or back, and on its top."""
        ends, fronts, tops = (np.abs(self.own).argmax(1) == axis for axis in range(3))
        return ends, fronts, tops


class Finish(NamedTuple):
    """How points of a body look."""

    colours: Floats
    """Display values in white light, (n, 3)."""
    gloss: Numbers | float = 0.0
    relief: Numbers | float = 0.0
    """How far each point stands out, in the body's units."""


Skin = Callable[[Shown], Finish]


def _blend(base: Floats, colour: Colour | Floats, share: Numbers) -> Floats:
    return floats(base + (floats(colour) - base) * np.clip(share, 0, 1)[:, None])


def _toned(colour: Colour, lighter: Numbers) -> Floats:
    """A colour that is lighter by a share at each point."""
    return floats(np.clip(floats(colour) * (1 + lighter)[:, None], 0, 1))


def _line(values: Numbers, at: Numbers | float, half: Numbers | float, soft: float) -> Numbers:
    """1 on a line, 0 beside it."""
    return np.clip((half - np.abs(values - at)) / soft + 0.5, 0, 1)


def _joints(along: Numbers, half: Numbers | float, soft: float) -> Numbers:
    """1 where pieces of length 1 meet, 0 on them."""
    return _line((along + 0.5) % 1, 0.5, half, soft)


def _cardboard(shown: Shown) -> Finish:
    wide, deep, tall = shown.extents
    x, y, z = shown.points.T
    ends, fronts, top = shown.faces()
    colours = ramp(
        0.6 * shown.noise(0.8, 1) + 0.35 * shown.noise(0.03, 2, 2),
        (-2, (0.58, 0.43, 0.28)),
        (2, (0.72, 0.57, 0.40)),
    )[0]
    soft = 0.006 * tall
    half = 0.055 * min(wide, deep)
    tape = np.where(top, _line(y, 0, half, soft), 0)
    hanging = ends & (z > 0.80 * tall)
    tape = np.where(hanging, _line(y, 0, half, soft), tape)
    seam = np.where(top, _line(y, 0, 0.004 * tall, soft), 0)
    colours = _blend(colours, (0.74, 0.62, 0.45), 0.75 * tape)
    colours = _blend(colours, (0.30, 0.21, 0.13), 0.55 * seam)
    inside = [np.abs(v) > s / 2 - 0.02 * tall for v, s in ((x, wide), (y, deep))]
    worn = (inside[0] & ~ends) | (inside[1] & ~fronts) | ((z > 0.98 * tall) & ~top)
    colours = _blend(colours, (0.50, 0.36, 0.23), 0.35 * worn)
    rng = np.random.default_rng(shown.seed)
    left = rng.uniform(-0.28, 0.12) * wide
    label = fronts & (x > left) & (x < left + 0.26 * wide) & (z > 0.45 * tall) & (z < 0.72 * tall)
    colours = _blend(colours, (0.86, 0.85, 0.82), 0.95 * label)
    lines = label & (np.sin(z / tall * 170) > 0.3) & (x > left + 0.03 * wide)
    lines &= x < left + (0.14 + 0.08 * np.sin(9 * np.floor(z / tall * 27))) * wide
    colours = _blend(colours, (0.25, 0.25, 0.27), 0.8 * lines)
    return Finish(colours, 0.03 + 0.25 * tape)


def _planks(shown: Shown) -> Finish:
    wide, deep, tall = shown.extents
    x, y, z = shown.points.T
    ends, _, top = shown.faces()
    across = np.where(top, y / deep + 0.5, z / tall)
    count = np.where(top, 5, 4)
    which = np.floor(across * count)
    gap = _joints(across * count, 0.035, 0.02)
    along = np.where(ends, y, x)
    fibre = grains(
        np.stack([along * 0.6, across * count * 1.3, which * 3.7 + shown.seed], -1),
        0.09,
        shown.seed,
        4,
    )
    tone = np.random.default_rng(shown.seed).normal(0, 0.5, 16)[which.astype(int) % 16]
    colours = ramp(
        0.55 * fibre + tone,
        (-2.2, (0.42, 0.29, 0.17)),
        (0, (0.60, 0.44, 0.27)),
        (2.2, (0.74, 0.59, 0.40)),
    )[0]
    half = np.where(ends, deep, wide) / 2
    batten = ~top & (np.abs(along) > half - 0.11 * tall)
    upright = grains(np.stack([along * 6, z * 0.6, 0 * z], -1), 0.35, shown.seed + 5, 4)
    batten_colours = ramp(0.7 * upright, (-2, (0.44, 0.31, 0.18)), (2, (0.72, 0.57, 0.38)))[0]
    colours = np.where(batten[:, None], batten_colours, colours)
    colours = _blend(colours, (0.10, 0.07, 0.05), np.where(batten, 0, gap))
    rim = _line(np.abs(along), half - 0.11 * tall, 0.008 * tall, 0.006 * tall) * ~top
    colours = _blend(colours, (0.20, 0.14, 0.09), 0.7 * rim)
    nails = batten & (
        np.hypot(np.abs(along) - (half - 0.055 * tall), ((z / tall * 4) % 1 - 0.5) * tall / 4)
        < 0.010 * tall
    )
    colours = _blend(colours, (0.16, 0.15, 0.15), 0.8 * nails)
    return Finish(colours, 0.04, np.where(batten, 0.02, 0.0) * tall)


PAINTS: tuple[Colour, ...] = (
    (0.12, 0.27, 0.48),
    (0.55, 0.17, 0.12),
    (0.16, 0.36, 0.24),
    (0.66, 0.33, 0.12),
)


def _stone(shown: Shown) -> Finish:
    tone = 0.25 * shown.noise(0.9, 1, 3) + 0.3 * shown.noise(min(0.1, 9 * shown.pixel), 2, 3)
    tone = tone + 0.5 * shown.noise(min(0.02, 3 * shown.pixel), 3, 2)
    tone = tone + 0.4 * shown.noise(1.6 * shown.pixel, 6, 1)
    warm = np.random.default_rng(shown.seed).uniform(-0.02, 0.05)
    colours = ramp(
        tone,
        (-2.2, (0.30 + warm, 0.29, 0.27 - warm)),
        (0, (0.53 + warm, 0.51, 0.48 - warm)),
        (2.2, (0.77 + warm, 0.75, 0.71 - warm)),
    )[0]
    cracks = np.exp(-np.abs(shown.noise(0.7, 4, 5)) * 16) * (shown.noise(0.9, 5, 2) > 0.1)
    colours = _blend(colours, (0.15, 0.14, 0.13), 0.75 * cracks)
    lichen = np.clip(shown.noise(0.35, 7, 5) - 1.3, 0, 1)
    colours = _blend(colours, (0.56, 0.56, 0.44), 0.6 * lichen)
    bumps = 0.024 * shown.noise(0.22, 8, 5) + 0.008 * shown.noise(0.04, 9, 3)
    bumps = bumps + 0.7 * shown.pixel * shown.noise(3 * shown.pixel, 10, 1)
    return Finish(colours, 0.0, bumps - 0.03 * cracks)


def _staves(shown: Shown) -> Finish:
    wide, _, tall = shown.extents
    x, y, z = shown.points.T
    lid = shown.own[:, 2] > 0.7
    around = np.where(lid, 7 * (x / wide + 0.5), 22 * (np.arctan2(y, x) / (2 * np.pi) + 0.5))
    which = np.floor(around)
    along = np.where(lid, y, z) / tall
    fibre = grains(np.stack([around * 2.7, along * 2, which], -1), 1.0, shown.seed, 4)
    tone = (
        0.5 * fibre + np.random.default_rng(shown.seed).normal(0, 0.6, 24)[which.astype(int) % 24]
    )
    colours = ramp(
        tone, (-2.2, (0.28, 0.17, 0.09)), (0, (0.46, 0.30, 0.17)), (2.2, (0.62, 0.44, 0.27))
    )[0]
    gap = _joints(around, np.where(lid, 0.02, 0.05), 0.05)
    colours = _blend(colours, (0.07, 0.05, 0.04), 0.8 * gap)
    rim = lid & (np.hypot(x, y) > 0.36 * wide)
    colours = _blend(colours, (0.36, 0.23, 0.13), 0.8 * rim)
    up = z / tall
    hoops = np.max([_line(up, at, 0.028, 0.006) for at in (0.07, 0.27, 0.73, 0.93)], 0) * ~lid
    steel = _toned((0.33, 0.33, 0.34), 0.12 * shown.noise(0.2, 3))
    colours = _blend(colours, steel, hoops)
    return Finish(colours, 0.05 + 0.35 * hoops, 0.012 * tall * hoops)


def _pumpkin(shown: Shown) -> Finish:
    _, _, tall = shown.extents
    x, y, z = shown.points.T
    wave = np.abs(np.sin(5 * np.arctan2(y, x)))
    tone = 0.5 * shown.noise(0.5, 1) + 0.25 * shown.noise(0.05, 2, 3) + 1.2 * (wave - 0.6)
    colours = ramp(
        tone, (-2, (0.58, 0.24, 0.04)), (0, (0.80, 0.42, 0.09)), (1.5, (0.90, 0.55, 0.18))
    )[0]
    stem = z > 0.86 * tall
    bark = ramp(
        shown.stretched(0.1, (4, 4, 0.4), 4), (-2, (0.24, 0.22, 0.10)), (2, (0.50, 0.47, 0.28))
    )[0]
    colours = np.where(stem[:, None], bark, colours)
    return Finish(floats(colours), np.where(stem, 0.02, 0.22))


def _melon(shown: Shown) -> Finish:
    _, y, z = shown.points.T
    angle = np.arctan2(z - shown.extents[2] / 2, y)
    jag = 0.20 * shown.noise(0.3, 1, 5)
    field = np.cos(11 * (angle + jag)) + 0.4 * shown.noise(0.08, 2, 3)
    colours = ramp(
        field,
        (-1.2, (0.10, 0.22, 0.09)),
        (-0.1, (0.15, 0.31, 0.12)),
        (0.25, (0.38, 0.52, 0.25)),
        (1.3, (0.55, 0.66, 0.38)),
    )[0]
    return Finish(colours, 0.3)


BALLS: tuple[tuple[Colour, ...], ...] = (
    (
        (0.88, 0.88, 0.86),
        (0.76, 0.13, 0.11),
        (0.88, 0.88, 0.86),
        (0.12, 0.32, 0.64),
        (0.88, 0.88, 0.86),
        (0.90, 0.72, 0.14),
    ),
    ((0.80, 0.16, 0.13), (0.90, 0.89, 0.86)) * 3,
    ((0.12, 0.42, 0.66), (0.90, 0.89, 0.86)) * 3,
)


def _gores(shown: Shown) -> Finish:
    """A ball of coloured gores between two caps, its axis aslant."""
    _, _, tall = shown.extents
    x, y, z = shown.points.T
    z = z - tall / 2
    lean = 0.5 + 0.15 * (shown.seed % 5)
    up = z * np.cos(lean) + (0.75 * x - 0.66 * y) * np.sin(lean)
    aside = -z * np.sin(lean) + (0.75 * x - 0.66 * y) * np.cos(lean)
    angle = (np.arctan2(0.66 * x + 0.75 * y, aside) / (2 * np.pi)) % 1
    palette = floats(BALLS[shown.seed % len(BALLS)])
    share = angle * len(palette)
    which = np.floor(share).astype(int) % len(palette)
    colours = palette[which]
    seam = _joints(share, 0.02, 0.02)
    colours = _blend(colours, (0.55, 0.55, 0.55), 0.35 * seam)
    cap = np.clip((np.abs(up) / (tall / 2) - 0.955) / 0.01, 0, 1)
    colours = _blend(colours, (0.88, 0.88, 0.86), cap)
    return Finish(colours, 0.45)


GLAZES: tuple[Colour, ...] = (
    (0.16, 0.36, 0.50),
    (0.86, 0.84, 0.79),
    (0.24, 0.44, 0.36),
    (0.62, 0.33, 0.22),
)


def _glazed(shown: Shown) -> Finish:
    _, _, tall = shown.extents
    up = shown.points[:, 2] / tall
    glaze = GLAZES[shown.seed % len(GLAZES)]
    runs = 0.06 * shown.stretched(0.4, (3, 3, 0.6), 1) + 0.05 * shown.noise(0.6, 2)
    colours = _toned(glaze, runs)
    bands = np.max([_line(up, at, 0.012, 0.006) for at in (0.36, 0.41, 0.80)], 0)
    colours = _blend(colours, floats(glaze) * 0.45, 0.8 * bands)
    mouth = (shown.own[:, 2] > 0.8) & (up > 0.95)
    colours = _blend(colours, floats(glaze) * 0.18, 0.9 * mouth)
    return Finish(colours, np.where(mouth, 0, 0.6))


def _fired(shown: Shown) -> Finish:
    colours = ramp(
        0.7 * shown.noise(0.5, 1) + 0.4 * shown.noise(0.05, 2, 2),
        (-2, (0.55, 0.29, 0.18)),
        (0, (0.66, 0.37, 0.24)),
        (2, (0.76, 0.49, 0.34)),
    )[0]
    return Finish(colours, 0.04)


def _cone(shown: Shown) -> Finish:
    _, _, tall = shown.extents
    up = shown.points[:, 2] / tall
    colours = _toned((0.84, 0.29, 0.08), 0.06 * shown.noise(0.4, 1))
    white = _line(up, 0.52, 0.09, 0.01) + _line(up, 0.78, 0.06, 0.01)
    colours = _blend(colours, (0.88, 0.88, 0.87), white)
    dirt = np.clip(0.5 * shown.noise(0.3, 2, 5) - 0.2 + 0.6 * (up < 0.08), 0, 1)
    colours = _blend(colours, (0.30, 0.22, 0.17), 0.35 * dirt)
    return Finish(colours, 0.12)


def _galvanised(shown: Shown) -> Finish:
    _, _, tall = shown.extents
    x, y, z = shown.points.T
    spangle = grains(np.floor(shown.points * 40) / 40, 0.03, shown.seed, 1)
    colours = _toned((0.50, 0.52, 0.54), 0.05 * spangle + 0.08 * shown.noise(0.5, 1))
    up = z / tall
    wave = np.sin(np.arctan2(y, x) * 30) * (up > 0.12) * (up < 0.80) * (shown.own[:, 2] < 0.5)
    rims = _line(up, 0.86, 0.012, 0.008) + _line(up, 0.05, 0.02, 0.01)
    colours = _blend(colours, (0.25, 0.26, 0.27), 0.5 * rims)
    return Finish(colours, 0.45, 0.008 * tall * wave)


def _tin(shown: Shown) -> Finish:
    _, _, tall = shown.extents
    up = shown.points[:, 2] / tall
    paint = PAINTS[(shown.seed + 1) % len(PAINTS)]
    colours = _toned(paint, 0 * up)
    band = _line(up, 0.5, 0.16, 0.01)
    colours = _blend(colours, (0.90, 0.86, 0.76), band)
    metal = (up < 0.05) | (up > 0.95) | (shown.own[:, 2] > 0.7)
    colours = np.where(metal[:, None], floats([0.62, 0.62, 0.62]), colours)
    return Finish(floats(colours), np.where(metal, 0.6, 0.3))


SKINS: dict[str, Skin] = {
    "cardboard box": _cardboard,
    "wooden crate": _planks,
    "boulder": _stone,
    "barrel": _staves,
    "pumpkin": _pumpkin,
    "watermelon": _melon,
    "beach ball": _gores,
    "vase": _glazed,
    "traffic cone": _cone,
    "flower pot": _fired,
    "dustbin": _galvanised,
    "tin can": _tin,
}
"""The skin of each prop, by its name."""
