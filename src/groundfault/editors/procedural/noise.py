"""Random fields that patterns and grounds are made of. The same seed gives the same field."""

from __future__ import annotations

from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import map_coordinates

from groundfault.editors.procedural.edges import Floats

__all__ = ["Cells", "cells", "cloud", "grains", "ramp", "stripes"]

Shape = tuple[int, int]
Colour = tuple[float, float, float]
LATTICE = 32
"""The side of the cube of numbers that noise in space is made of; it goes on where it began."""


def cloud(
    shape: Shape,
    scale_px: float,
    seed: int,
    octaves: int = 4,
    stretch: tuple[float, float] = (1, 1),
) -> Floats:
    """Smooth noise of mean 0 and deviation 1, in several sizes; stretched where the first number
    (down) or the second (right) is below 1."""
    rng = np.random.default_rng(seed)
    total, strength = np.zeros(shape, np.float32), 1.0
    for octave in range(octaves):
        size = max(scale_px / 2**octave, 1.0)
        rows, columns = (max(int(n / size * s) + 4, 4) for n, s in zip(shape, stretch, strict=True))
        rows, columns = min(rows, 4 * shape[0] + 4), min(columns, 4 * shape[1] + 4)
        small = rng.standard_normal((rows, columns)).astype(np.float32)
        total += strength * cv2.resize(small, shape[::-1], interpolation=cv2.INTER_CUBIC)
        strength *= 0.5
    return np.asarray((total - total.mean()) / (total.std() + 1e-6), np.float32)


def grains(points: NDArray[Any], size: float, seed: int, octaves: int = 4) -> NDArray[Any]:
    """Smooth noise in space at points, (n, 3), of mean 0 and deviation about 1, in several sizes
    from one down."""
    lattice = np.random.default_rng(seed).standard_normal((LATTICE,) * 3).astype(np.float32)
    total, strength = np.zeros(len(points), np.float32), 1.0
    for octave in range(octaves):
        where = points.T * (2**octave / size) + 7.3 * octave
        whole = np.floor(where)
        part = where - whole
        where = whole + part * part * (3 - 2 * part)  # or the lattice would be seen
        total += strength * map_coordinates(lattice, where, order=1, mode="grid-wrap")
        strength *= 0.55
    return np.asarray(total * 1.3)


def ramp(values: NDArray[Any], *stops: tuple[float, Colour]) -> Floats:
    """Colours along a value: each stop is a position and a colour."""
    at = [stop[0] for stop in stops]
    return np.dstack([np.interp(values, at, [s[1][c] for s in stops]) for c in range(3)]).astype(
        np.float32
    )


def stripes(
    shape: Shape,
    period_px: float,
    angle: float,
    seed: int,
    *,
    spread: float = 0.28,
    band: float = 0.22,
) -> Floats:
    """Band-passed, oriented noise: stripes that fork and merge as a zebra's do."""
    rng = np.random.default_rng(seed)
    fy, fx = np.meshgrid(np.fft.fftfreq(shape[0]), np.fft.fftfreq(shape[1]), indexing="ij")
    cycles, turn = np.hypot(fx, fy) * period_px, np.arctan2(fy, fx) - angle
    turn = np.abs((turn + np.pi / 2) % np.pi - np.pi / 2)
    passed = np.exp(-(((cycles - 1) / band) ** 2)) * np.exp(-((turn / spread) ** 2))
    field = np.fft.ifft2(np.fft.fft2(rng.standard_normal(shape)) * passed).real
    return np.asarray(field / (field.std() + 1e-9), np.float32)


class Cells(NamedTuple):
    """A Voronoi diagram: the distance to the nearest seed in steps, how much farther the next one
    is, and which is nearest."""

    near: Floats
    gap: Floats
    which: NDArray[np.int64]


def cells(
    shape: Shape, step_px: float, seed: int, *, jitter: float = 0.45, warp: float = 0.18
) -> Cells:
    """Cells of about one size around jittered points, their borders a little wavy."""
    step_px = max(step_px, 2.0)
    wave = step_px * warp * 0.5
    y, x = np.mgrid[: shape[0], : shape[1]].astype(np.float32)
    x = (x + cloud(shape, step_px * 0.6, seed + 1) * wave) / step_px
    y = (y + cloud(shape, step_px * 0.6, seed + 2) * wave) / step_px
    column, row = np.floor(x).astype(int), np.floor(y).astype(int)
    side = int(max(shape) / step_px) + 8
    points = np.random.default_rng(seed).uniform(0.5 - jitter, 0.5 + jitter, (side, side, 2))
    points = points.astype(np.float32)
    near, next_ = np.full(shape, 1e9, np.float32), np.full(shape, 1e9, np.float32)
    which = np.zeros(shape, np.int64)
    for down in (-1, 0, 1):
        for right in (-1, 0, 1):
            i, j = (row + down) % side, (column + right) % side
            away = np.hypot(column + right + points[i, j, 0] - x, row + down + points[i, j, 1] - y)
            nearer = away < near
            next_ = np.where(nearer, near, np.minimum(next_, away))
            which = np.where(nearer, i * side + j, which)
            near = np.where(nearer, away, near)
    return Cells(near.astype(np.float32), (next_ - near).astype(np.float32), which)
