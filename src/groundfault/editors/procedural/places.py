"""Places rendered around an object that stays as it is: a flat ground in perspective, seen from
where the camera must have been for the object to have its size."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from groundfault.editors.procedural.edges import Floats, floats
from groundfault.editors.procedural.noise import Colour, cloud, ramp
from groundfault.editors.procedural.relief import film

__all__ = ["GROUNDS", "View", "rendered"]

TILE = 512
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


def _visible(ground: Ground, wavelength_m: float) -> Floats:
    return np.asarray(np.clip(2.0 - 3.0 * ground.footprint_m / wavelength_m, 0, 1))


def _sampled(tile: Floats, ground: Ground, wavelength_m: float) -> Floats:
    scale = TILE / WAVES / wavelength_m
    x, y = (ground.right_m * scale) % TILE, (ground.away_m * scale) % TILE
    found = cv2.remap(
        tile,
        x.astype(np.float32),
        y.astype(np.float32),
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_WRAP,
    )
    return np.asarray(found * _visible(ground, wavelength_m), np.float32)


def _bumps(ground: Ground, wavelength_m: float, seed: int, stretch: float = 1.0) -> Floats:
    """How a bumpy ground of one size of bumps is lit from the left and front."""
    tile = _tile(seed, stretch)
    slope = np.roll(tile, 2, 1) - np.roll(tile, -2, 1) + 0.6 * (np.roll(tile, -2, 0) - tile)
    return _sampled(np.asarray(slope / slope.std(), np.float32), ground, wavelength_m)


def _spots(ground: Ground, wavelength_m: float, seed: int) -> Floats:
    return _sampled(_tile(seed, 1.0), ground, wavelength_m)


def _sky(view: View, seed: int, *, low: Colour, high: Colour, clouds: float) -> Floats:
    """A sky that darkens upwards, with clouds that flatten towards the horizon, in amounts of
    light."""
    rows = np.arange(view.shape[0], dtype=np.float32)
    up = np.clip((view.horizon_px - rows) / (0.9 * view.shape[0]), 0, 1) ** 0.7
    sky = floats(low) * (1 - up[:, None]) + floats(high) * up[:, None]
    sky = np.broadcast_to(sky[:, None], (*view.shape, 3))
    if not clouds:
        return np.asarray(sky, np.float32)
    scale = 0.35 * max(view.shape)
    cover = cloud(view.shape, scale, seed + 40, 6, stretch=(2.6, 0.8))
    cover = np.clip((cover + 0.1) / 1.6, 0, 1) * clouds * (0.3 + 0.7 * up[:, None])
    return np.asarray(sky * (1 - cover[..., None]) + 0.88 * cover[..., None], np.float32)


def _ridge(
    picture: Floats, view: View, seed: int, *, tall: float, rough: float, colour: Floats | Colour
) -> Floats:
    """A line of hills, dunes or trees on the horizon, as a share of the picture's height."""
    rng = np.random.default_rng(seed)
    width = view.shape[1]
    at = np.linspace(0, 1, width)
    line = np.zeros(width)
    for k in range(1, 9):
        line += rng.normal() / k**rough * np.sin(2 * np.pi * (k * 0.7 * at + rng.random()))
    line = (line - line.min()) / (np.ptp(line) + 1e-6)
    top = view.horizon_px - tall * view.shape[0] * (0.25 + 0.75 * line)
    share = np.clip(np.arange(view.shape[0])[:, None] - top[None], 0, 1)[..., None]
    share = share * (np.arange(view.shape[0])[:, None, None] < view.horizon_px + 1)
    return np.asarray(picture * (1 - share) + floats(colour) * share, np.float32)


def _hazed(ground: Ground, colours: Floats, haze: Colour, far_m: float) -> Floats:
    clear = np.exp(-ground.away_m / far_m)[..., None]
    return np.asarray(colours * clear + floats(haze) * (1 - clear), np.float32)


def _over(sky: Floats, ground: Ground, colours: Floats) -> Floats:
    return np.asarray(np.where(ground.seen[..., None], colours, sky), np.float32)


def _grains(ground: Ground, seed: int, sizes_m: tuple[float, ...], strength: float) -> Floats:
    """Speckles of several sizes; those that no pixel could show cost nothing."""
    total = np.zeros(ground.away_m.shape, np.float32)
    finest = float(ground.footprint_m[ground.seen].min()) if ground.seen.any() else 1.0
    for number, size_m in enumerate(sizes_m):
        if 1.5 * finest < size_m:
            total += strength * _spots(ground, size_m, seed + number)
    return total


def _sand_colours(ground: Ground, seed: int, base: Colour) -> Floats:
    lit = 1 + 0.10 * _bumps(ground, 6.0, seed) + 0.10 * _bumps(ground, 1.4, seed + 1)
    lit = lit + 0.09 * _bumps(ground, 0.35, seed + 2, 0.45) + 0.06 * _bumps(ground, 0.11, seed + 3)
    lit = lit + 0.05 * _bumps(ground, 0.03, seed + 4)
    lit = lit + _grains(ground, seed + 50, (0.012, 0.006, 0.003, 0.0016), 0.07)
    return np.asarray(floats(base) * np.maximum(lit, 0.2)[..., None], np.float32)


def _desert(view: View, seed: int) -> Floats:
    ground = ground_of(view)
    haze = (0.66, 0.62, 0.55)
    sky = _sky(view, seed, low=(0.66, 0.68, 0.70), high=(0.22, 0.36, 0.58), clouds=0.25)
    sky = _ridge(sky, view, seed + 1, tall=0.10, rough=1.6, colour=(0.50, 0.42, 0.33))
    sky = _ridge(sky, view, seed + 2, tall=0.05, rough=1.3, colour=(0.48, 0.38, 0.26))
    sand = _hazed(ground, _sand_colours(ground, seed, (0.52, 0.385, 0.235)), haze, 220)
    return _over(sky, ground, sand)


def _beach(view: View, seed: int) -> Floats:
    """Sand as far as some metres behind the object, then wet sand, surf, and the sea."""
    ground = ground_of(view)
    shore = view.object_m + 2.5 + 0.8 * view.object_m
    line = shore + 0.10 * shore * _shoreline(ground, seed)
    sand = _sand_colours(ground, seed, (0.56, 0.47, 0.35))
    wet = np.clip((ground.away_m - line * 0.80) / (0.16 * line), 0, 1)[..., None]
    sand = floats(sand * (1 - 0.5 * wet))
    waves = _bumps(ground, 1.2, seed + 7, 0.3) + 0.8 * _bumps(ground, 5.0, seed + 8, 0.25)
    sea: Floats = floats([0.09, 0.20, 0.25]) * (1 + 0.22 * waves)[..., None]
    sea = _hazed(ground, sea, (0.34, 0.47, 0.55), 300)
    out = ground.away_m > line
    foam = np.exp(-(((ground.away_m - line * 1.05) / (0.05 * line)) ** 2))
    rows = np.abs(np.sin(ground.away_m / (0.30 * line) * np.pi + _shoreline(ground, seed + 1)))
    surf = np.clip(foam + 0.55 * (rows > 0.94) * (ground.away_m < 3 * line), 0, 1)
    surf = surf * np.clip(0.75 + 0.4 * _spots(ground, 0.5, seed + 9), 0, 1)
    sea = sea * (1 - surf[..., None]) + 0.78 * surf[..., None]
    sky = _sky(view, seed, low=(0.62, 0.70, 0.76), high=(0.20, 0.38, 0.64), clouds=0.55)
    return _over(sky, ground, np.where(out[..., None], sea, sand))


def _shoreline(ground: Ground, seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    along = ground.right_m / np.maximum(ground.away_m, 0.5)
    return np.asarray(
        0.6 * np.sin(3.1 * along + rng.random() * 6) + 0.4 * np.sin(7.7 * along + rng.random() * 6)
    )


def _snow(view: View, seed: int) -> Floats:
    ground = ground_of(view)
    lit = 0.07 * _bumps(ground, 5.0, seed) + 0.08 * _bumps(ground, 1.1, seed + 1)
    lit = lit + 0.06 * _bumps(ground, 0.25, seed + 2) + 0.05 * _bumps(ground, 0.07, seed + 3)
    lit = lit + 0.03 * _bumps(ground, 0.02, seed + 4)
    lit = lit + _grains(ground, seed + 50, (0.012, 0.005, 0.0025), 0.03)
    snow = ramp(lit, (-0.6, (0.40, 0.49, 0.64)), (0, (0.68, 0.72, 0.79)), (0.5, (0.88, 0.88, 0.89)))
    snow = _hazed(ground, snow, (0.74, 0.78, 0.83), 260)
    sky = _sky(view, seed, low=(0.72, 0.76, 0.81), high=(0.42, 0.55, 0.72), clouds=0.6)
    sky = _ridge(sky, view, seed + 1, tall=0.16, rough=1.2, colour=(0.50, 0.56, 0.65))
    sky = _trees(sky, view, seed + 2, colour=(0.10, 0.13, 0.13))
    return _over(sky, ground, snow)


def _trees(picture: Floats, view: View, seed: int, *, colour: Colour) -> Floats:
    """A wood on the horizon: pointed tops of many heights, hazed."""
    rng = np.random.default_rng(seed)
    height, width = view.shape
    x = np.arange(width, dtype=np.float32)
    line = np.zeros(width, np.float32)
    tall = 0.055 * height
    for _ in range(int(width / max(tall * 0.16, 1.5))):
        at, high = rng.uniform(0, width), tall * rng.uniform(0.45, 1.0)
        line = np.maximum(line, high - np.abs(x - at) * 3.2)
    share = np.clip(np.arange(height)[:, None] - (view.horizon_px - line)[None] + 0.5, 0, 1)
    share = share * (np.arange(height)[:, None] < view.horizon_px + 1)
    tone = 0.75 + 0.25 * cloud(view.shape, 9, seed, 3)
    wood = (floats(colour) * tone[..., None]) * 0.7 + 0.3 * floats([0.60, 0.65, 0.72])
    return np.asarray(picture * (1 - share[..., None]) + wood * share[..., None], np.float32)


def _lake(view: View, seed: int) -> Floats:
    """Shallow water without wind: the sky upside down, ruffled."""
    ground = ground_of(view)
    low, high = (0.70, 0.72, 0.74), (0.25, 0.40, 0.62)
    sky = _sky(view, seed, low=low, high=high, clouds=0.8)
    sky = _ridge(sky, view, seed + 1, tall=0.08, rough=1.2, colour=(0.30, 0.36, 0.42))
    y = np.arange(view.shape[0], dtype=np.float32)[:, None]
    ruffle = _bumps(ground, 0.5, seed + 2, 0.3) + 0.8 * _bumps(ground, 2.0, seed + 3, 0.3)
    mirrored = 2 * view.horizon_px - y + ruffle * 0.012 * view.shape[0]
    at = np.clip((view.horizon_px - mirrored) / (0.9 * view.shape[0]), 0, 1) ** 0.7
    water = floats(low) * (1 - at[..., None]) + floats(high) * at[..., None]
    steep = np.clip((y - view.horizon_px) / view.shape[0], 0, 1)[..., None]
    bed = floats([0.16, 0.19, 0.17]) * (1 + 0.15 * _spots(ground, 0.4, seed + 5))[..., None]
    water = water * (0.85 - 0.45 * steep) + bed * (0.10 + 0.45 * steep)
    return _over(sky, ground, water * (1 + 0.10 * ruffle)[..., None])


def _wall(
    view: View, ground: Ground, seed: int, colour: Colour, away_m: float
) -> tuple[Floats, NDArray[np.bool_], Floats]:
    """A wall behind the object: its light, where it is, and heights on it in metres."""
    foot = view.row_of(away_m)
    y, x = np.mgrid[: view.shape[0], : view.shape[1]].astype(np.float32)
    metres = (foot - y) * away_m / view.focal_px
    glow = 1.06 - 0.32 * (x / view.shape[1]) - 0.10 * np.clip(metres / 3, -1, 1)
    glow = glow + 0.03 * cloud(view.shape, 0.6 * max(view.shape), seed + 3, 2)
    return floats(colour) * glow[..., None].astype(np.float32), y < foot, metres


def _fibre(ground: Ground, wide_m: float, seed: int) -> Floats:
    """Noise in long streaks that run away from the eye."""
    return _sampled(_tile(seed, 0.12), ground, wide_m)


def _room(view: View, seed: int) -> Floats:
    """A parquet floor, a skirting board and a painted wall."""
    ground = ground_of(view)
    board_m, long_m = 0.11, 0.95
    column = np.floor(ground.right_m / board_m)
    rng = np.random.default_rng(seed)
    start = rng.random(4096)[(column % 4096).astype(int)]
    row = np.floor(ground.away_m / long_m + start)
    tone = rng.normal(0, 1, 4096)[((column * 37 + row * 101) % 4096).astype(int)]
    fibre = 0.5 * _fibre(ground, 0.05, seed + 5) + 0.4 * _fibre(ground, 0.012, seed + 6)
    fibre = fibre + 0.35 * _fibre(ground, 0.004, seed + 7)
    wood = ramp(
        0.8 * tone * _visible(ground, board_m) + fibre,
        (-2.5, (0.20, 0.105, 0.050)),
        (0, (0.30, 0.170, 0.085)),
        (2.5, (0.40, 0.245, 0.135)),
    )
    across = np.abs(ground.right_m / board_m % 1 - 0.5) * board_m
    along = np.abs((ground.away_m / long_m + start) % 1 - 0.5) * long_m
    joint = np.maximum(across - (board_m / 2 - 0.0006), (along - (long_m / 2 - 0.0006)))
    dark = np.clip(1 - np.abs(np.minimum(joint, 0)) / np.maximum(ground.footprint_m, 0.001), 0, 1)
    wood = wood * (1 - 0.55 * (dark * _visible(ground, board_m))[..., None])
    away = view.object_m + 1.2 + 0.5 * view.object_m
    wall, is_wall, metres = _wall(view, ground, seed, (0.62, 0.60, 0.54), away)
    board = (metres > 0) & (metres < 0.10)
    wall = np.where(board[..., None], wall * floats([1.25, 1.27, 1.34]), wall)
    wall = np.where(((metres >= 0.10) & (metres < 0.112))[..., None], wall * 0.7, wall)
    gloss = np.exp(-np.clip(away - ground.away_m, 0, None) / (0.35 * away))[..., None]
    floor = wood * (1.05 - 0.25 * (np.arange(view.shape[1]) / view.shape[1])[None, :, None])
    floor = floor * (1 - 0.25 * gloss) + 0.25 * gloss * floats([0.60, 0.57, 0.50])
    shade = np.clip(np.abs(metres) / 0.25, 0, 1)[..., None] * 0.25 + 0.75
    return np.asarray(np.where(is_wall[..., None], wall, floor * shade), np.float32)


def _tiles(
    right: Floats, along: Floats, side_m: float, footprint_m: Floats, seed: int
) -> tuple[Floats, Floats]:
    """Tones of square tiles, and how much of each pixel is joint."""
    which = ((np.floor(right / side_m) * 61 + np.floor(along / side_m) * 17) % 4096).astype(int)
    tone = np.random.default_rng(seed).normal(0, 1, 4096)[which]
    edge = np.maximum(np.abs(right / side_m % 1 - 0.5), np.abs(along / side_m % 1 - 0.5)) * side_m
    half = 0.0025
    joint = np.clip((edge - (side_m / 2 - half)) / np.maximum(footprint_m, 1e-4) + 0.5, 0, 1)
    fade = np.clip(2.0 - 3.0 * footprint_m / side_m, 0, 1) * np.clip(2 * half / footprint_m, 0, 1)
    return tone.astype(np.float32), np.asarray(joint * fade, np.float32)


def _bathroom(view: View, seed: int) -> Floats:
    """Tiles on the floor and on the wall."""
    ground = ground_of(view)
    tone, joint = _tiles(ground.right_m, ground.away_m, 0.30, ground.footprint_m, seed)
    stone = (
        floats([0.42, 0.43, 0.43])
        * (1 + 0.04 * tone + 0.02 * _spots(ground, 0.08, seed + 1))[..., None]
    )
    speckle = _grains(ground, seed + 50, (0.012, 0.005), 0.02)
    stone = stone * (1 + speckle)[..., None]
    floor = stone * (1 - 0.45 * joint[..., None])
    away = view.object_m + 1.2 + 0.5 * view.object_m
    wall, is_wall, metres = _wall(view, ground, seed, (0.70, 0.74, 0.74), away)
    step_m = np.full(view.shape, away / view.focal_px, np.float32)
    x = (np.arange(view.shape[1], dtype=np.float32) - view.shape[1] / 2) * away / view.focal_px
    right = np.broadcast_to(x, view.shape)
    tone, joint = _tiles(right, metres, 0.15, step_m, seed + 2)
    wall = wall * (1 + 0.02 * tone - 0.28 * joint)[..., None]
    gloss = np.exp(-np.clip(away - ground.away_m, 0, None) / (0.4 * away))[..., None]
    floor = floor * (1 - 0.3 * gloss) + 0.3 * gloss * floats([0.66, 0.70, 0.70])
    shade = np.clip(np.abs(metres) / 0.20, 0, 1)[..., None] * 0.22 + 0.78
    return np.asarray(np.where(is_wall[..., None], wall, floor * shade), np.float32)


def _parking_lot(view: View, seed: int) -> Floats:
    """Asphalt with white lines, a wood far behind."""
    ground = ground_of(view)
    stones = _grains(ground, seed + 50, (0.03, 0.016, 0.009, 0.005, 0.0028), 0.14)
    rough = 0.10 * _bumps(ground, 0.02, seed + 1) + 0.10 * _bumps(ground, 0.008, seed + 4)
    patches = 0.07 * _spots(ground, 1.5, seed + 2) + 0.06 * _spots(ground, 6.0, seed + 3)
    tone = np.maximum(1 + stones + rough + patches, 0.25)
    asphalt = floats([0.165, 0.165, 0.170]) * tone[..., None]
    shift = 1.25 + 0.4 * np.random.default_rng(seed).random()
    across = np.abs((ground.right_m + shift) / 2.5 % 1 - 0.5) * 2.5
    near, far = view.object_m + 1.0, view.object_m + 6.0
    line = np.clip((0.05 - (1.25 - across)) / np.maximum(ground.footprint_m, 0.01) + 0.5, 0, 1)
    line = line * ((ground.away_m > near) & (ground.away_m < far))
    line = line * np.clip(0.8 + 0.25 * _spots(ground, 0.1, seed + 4), 0, 1)
    asphalt = asphalt * (1 - line[..., None]) + 0.55 * line[..., None]
    sky = _sky(view, seed, low=(0.70, 0.73, 0.76), high=(0.36, 0.50, 0.70), clouds=0.7)
    sky = _trees(sky, view, seed + 6, colour=(0.09, 0.13, 0.06))
    return _over(sky, ground, _hazed(ground, asphalt, (0.42, 0.44, 0.46), 250))


GROUNDS: dict[str, Callable[[View, int], Floats]] = {
    "desert": _desert,
    "beach": _beach,
    "snow": _snow,
    "lake": _lake,
    "room": _room,
    "bathroom": _bathroom,
    "parking lot": _parking_lot,
}


def rendered(place: str, view: View, seed: int, *, white: float, tint: Floats) -> Floats:
    """A place as the camera of a photograph sees it, in that photograph's light."""
    return film(GROUNDS[place](view, seed) * white * 1.1 * tint)
