"""Skies, and what stands on the horizon below them: hills and woods. In amounts of light."""

from __future__ import annotations

import numpy as np

from groundfault.editors.procedural.edges import Floats, floats
from groundfault.editors.procedural.noise import Colour, cloud
from groundfault.editors.procedural.perspective import View, ground_of, spots

__all__ = ["sky_over", "with_ridge", "with_trees"]

CLOUDS_M = 1.0
"""The height of the clouds; only how large they are beside it matters."""


def sky_over(view: View, seed: int, *, low: Colour, high: Colour, clouds: float) -> Floats:
    """A sky that darkens upwards, with clouds that shrink towards the horizon; `clouds` is about
    how much of it they cover."""
    rows = np.arange(view.shape[0], dtype=np.float32)
    up = np.clip((view.horizon_px - rows) / (0.9 * view.shape[0]), 0, 1) ** 0.7
    sky = floats(low) * (1 - up[:, None]) + floats(high) * up[:, None]
    sky = np.array(np.broadcast_to(sky[:, None], (*view.shape, 3)), np.float32)
    seen = int(np.clip(view.horizon_px, 0, view.shape[0]))
    if seen < 2:
        return sky
    cover, shade = _clouds(view, seen, seed, clouds)
    white = floats([0.90, 0.90, 0.90]) * (1 - 0.28 * shade[..., None])
    hazed = np.clip(1.6 * up[:seen, None], 0.25, 1)[..., None]
    white = white * hazed + floats(low) * (1 - hazed)
    sky[:seen] = sky[:seen] * (1 - cover[..., None]) + white * cover[..., None]
    return sky


def _clouds(view: View, seen: int, seed: int, clouds: float) -> tuple[Floats, Floats]:
    """How much of each pixel is cloud, and how much of that is in the shade, in the upper `seen`
    rows: on a plane above the camera, which is seen as the ground is, upside down."""
    shape = (seen, view.shape[1])
    plane = ground_of(View(shape, seen - view.horizon_px, view.focal_px, CLOUDS_M, 1.0))
    field = np.zeros(shape, np.float32)
    for octave, size in enumerate((1.6, 0.8, 0.4, 0.2, 0.1, 0.05)):
        field += 0.62**octave * spots(plane, size, seed + 40 + octave)
    field = field[::-1] / 1.25
    least = 1.1 - 1.5 * clouds
    cover = np.clip((field - least) / 0.9, 0, 1)
    return floats(cover * cover * (3 - 2 * cover)), floats(np.clip(field - least - 0.7, 0, 1))


def with_ridge(
    picture: Floats, view: View, seed: int, *, tall: float, rough: float, colour: Colour
) -> Floats:
    """A line of hills or dunes on the horizon, as a share of the picture's height: lit from the
    left, paler towards their feet."""
    rng = np.random.default_rng(seed)
    height, width = view.shape
    at = np.arange(width) / max(view.shape)
    line = np.zeros(width)
    for k in range(1, 24):
        line += rng.normal() / k**rough * np.sin(2 * np.pi * (k * 0.7 * at + rng.random()))
    line = (line - line.min()) / (np.ptp(line) + 1e-6)
    top = view.horizon_px - tall * height * (0.25 + 0.75 * line)
    rows = np.arange(height, dtype=np.float32)[:, None]
    share = np.clip(rows - top[None] + 0.5, 0, 1) * (rows < view.horizon_px + 1)
    slope = np.clip(np.gradient(line) * width * 0.10, -1, 1)
    down = np.clip((rows - top[None]) / (tall * height), 0, 1)
    lit = 1 + 0.22 * slope[None] * (1 - down) + 0.04 * cloud(view.shape, 14, seed, 3)
    body = floats(colour) * lit[..., None]
    body = body + (floats([0.62, 0.62, 0.62]) - body) * (0.12 * down[..., None])
    return floats(picture * (1 - share[..., None]) + body * share[..., None])


def with_trees(picture: Floats, view: View, seed: int, *, colour: Colour, pointed: bool) -> Floats:
    """A wood on the horizon in two rows, the farther one paler: firs, or round crowns."""
    haze = floats([0.60, 0.65, 0.72])
    for row, (tall, clear) in enumerate(((0.085, 0.45), (0.055, 0.75))):
        line = _tops(view, seed + row, tall * view.shape[0], pointed)
        rows = np.arange(view.shape[0], dtype=np.float32)[:, None]
        share = np.clip(rows - (view.horizon_px - line)[None] + 0.5, 0, 1)
        share = (share * (rows < view.horizon_px + 1))[..., None]
        size = max(0.012 * view.shape[0], 4.0)
        tone = 1 + 0.35 * cloud(view.shape, size, seed + 3 + row, 3)
        wood = floats(colour) * np.clip(tone, 0.3, 1.8)[..., None]
        wood = wood * clear + haze * (1 - clear)
        picture = floats(picture * (1 - share) + wood * share)
    return picture


def _tops(view: View, seed: int, tall_px: float, pointed: bool) -> Floats:
    """The heights of a wood's outline above the horizon, per column, in pixels."""
    rng = np.random.default_rng(seed)
    x = np.arange(view.shape[1], dtype=np.float32)
    stand = cloud((1, view.shape[1]), 0.3 * view.shape[1], seed, 3)[0]
    line = np.zeros_like(x)
    for at in np.arange(-tall_px, view.shape[1] + tall_px, tall_px * (0.13 if pointed else 0.3)):
        middle, high = at + rng.uniform(-0.5, 0.5) * tall_px * 0.3, tall_px * rng.uniform(0.55, 1)
        away = np.abs(x - middle)
        if pointed:
            line = np.maximum(line, high - away * rng.uniform(3.0, 4.5))
        else:
            wide = tall_px * rng.uniform(0.25, 0.5)
            line = np.maximum(line, high * np.sqrt(np.clip(1 - (away / wide) ** 2, 0, 1)))
    ragged = 0.05 * tall_px * rng.standard_normal(len(x)).astype(np.float32)
    return floats(np.maximum(line * (0.85 + 0.12 * np.clip(stand, -2, 2)) + ragged, 0))
