"""A camera above a flat ground, and noise that lies on that ground."""

from __future__ import annotations

import functools
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from groundfault.editors.procedural.edges import Floats

__all__ = ["Ground", "View", "bumps", "fibre", "grains", "ground_of", "ripples", "spots", "visible"]

TILE = 512
TILES = 5
WAVES = 16
"""How many wavelengths of noise a tile holds; it repeats after that."""


class View(NamedTuple):
    """A camera above a flat ground, looking along it."""

    shape: tuple[int, int]
    horizon_px: float
    """The row of the horizon; it may lie outside of the picture."""
    focal_px: float
    camera_m: float
    object_m: float
    """How far away the object stands."""

    def row_of(self, away_m: float) -> float:
        """The row in which the ground is this far away."""
        return self.horizon_px + self.focal_px * self.camera_m / away_m


class Ground(NamedTuple):
    """Where each pixel's ray meets the ground, (h, w): metres to the right and away."""

    right_m: Floats
    away_m: Floats
    seen: NDArray[np.bool_]
    """Below the horizon."""
    footprint_m: Floats
    """How much ground one pixel covers: finer detail can't be seen."""


def ground_of(view: View) -> Ground:
    """The ground as the camera sees it."""
    y, x = np.mgrid[: view.shape[0], : view.shape[1]].astype(np.float32)
    below = y - view.horizon_px
    seen = below > 0.25
    away = view.focal_px * view.camera_m / np.maximum(below, 0.25)
    right = (x - view.shape[1] / 2) * away / view.focal_px
    footprint = np.sqrt(away / view.focal_px * away**2 / (view.focal_px * view.camera_m))
    return Ground(right, away.astype(np.float32), seen, footprint.astype(np.float32))


@functools.lru_cache(maxsize=32)
def _tile(seed: int, stretch: float) -> Floats:
    """Band-limited noise that continues at its borders, and of deviation 1."""
    rng = np.random.default_rng(seed)
    fy, fx = np.meshgrid(np.fft.fftfreq(TILE), np.fft.fftfreq(TILE), indexing="ij")
    cycles = np.hypot(fx * stretch, fy) * TILE / WAVES
    passed = cycles * np.exp(-(cycles**2))
    field = np.fft.ifft2(np.fft.fft2(rng.standard_normal((TILE, TILE))) * passed).real
    return np.asarray(field / field.std(), np.float32)


def visible(ground: Ground, wavelength_m: float) -> Floats:
    """How much of a pattern can be seen: none where a pixel covers more than its waves."""
    return np.asarray(np.clip(2.0 - 3.0 * ground.footprint_m / wavelength_m, 0, 1))


def _noise(seed: int, stretch: float) -> tuple[Floats, tuple[float, float]]:
    """One of a few tiles, and where it begins: computing one for every seed would take longer than
    all the rest."""
    begin = np.random.default_rng(seed).uniform(0, TILE, 2)
    return _tile(seed % TILES, stretch), (float(begin[0]), float(begin[1]))


def _sampled(
    field: Floats, begin: tuple[float, float], ground: Ground, wavelength_m: float
) -> Floats:
    scale = TILE / WAVES / wavelength_m
    x = (ground.right_m * scale + begin[0]) % TILE
    y = (ground.away_m * scale + begin[1]) % TILE
    found = cv2.remap(
        field,
        x.astype(np.float32),
        y.astype(np.float32),
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_WRAP,
    )
    return np.asarray(found * visible(ground, wavelength_m), np.float32)


@functools.lru_cache(maxsize=32)
def _slopes(seed: int, stretch: float) -> Floats:
    field = _tile(seed, stretch)
    slope = np.roll(field, 2, 1) - np.roll(field, -2, 1) + 0.6 * (np.roll(field, -2, 0) - field)
    return np.asarray(slope / slope.std(), np.float32)


def bumps(ground: Ground, wavelength_m: float, seed: int, stretch: float = 1.0) -> Floats:
    """How a bumpy ground of one size of bumps is lit from the left and front."""
    _, begin = _noise(seed, stretch)
    return _sampled(_slopes(seed % TILES, stretch), begin, ground, wavelength_m)


def spots(ground: Ground, wavelength_m: float, seed: int, stretch: float = 1.0) -> Floats:
    """Soft spots of one size, of deviation 1."""
    return _sampled(*_noise(seed, stretch), ground, wavelength_m)


def grains(ground: Ground, seed: int, sizes_m: tuple[float, ...], strength: float) -> Floats:
    """Speckles of several sizes; those that no pixel could show cost nothing."""
    total = np.zeros(ground.away_m.shape, np.float32)
    finest = float(ground.footprint_m[ground.seen].min()) if ground.seen.any() else 1.0
    for number, size_m in enumerate(sizes_m):
        if 1.5 * finest < size_m:
            total += strength * spots(ground, size_m, seed + number)
    return total


def fibre(ground: Ground, wide_m: float, seed: int) -> Floats:
    """Noise in long streaks that run away from the eye."""
    return spots(ground, wide_m, seed, 0.12)


def ripples(ground: Ground, long_m: float, seed: int) -> Floats:
    """Ridges that the wind makes in sand, across the view, that wander and end; from -1 to 1."""
    wander = 1.1 * spots(ground, 24 * long_m, seed) + 0.12 * spots(ground, 5 * long_m, seed + 1)
    phase = (ground.away_m + 0.25 * ground.right_m) / long_m + wander
    strength = np.clip(0.75 + 0.35 * spots(ground, 14 * long_m, seed + 2), 0, 1)
    steep = np.sin(2 * np.pi * phase) + 0.35 * np.sin(4 * np.pi * phase + 0.9)
    return np.asarray(steep / 1.2 * strength * visible(ground, long_m), np.float32)
