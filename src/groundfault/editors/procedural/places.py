"""Places rendered around an object that stays as it is: a flat ground in perspective, seen from
where the camera must have been for the object to have its size."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from groundfault.editors.procedural.edges import Floats, floats
from groundfault.editors.procedural.grass import with_blades
from groundfault.editors.procedural.noise import Colour, cells, cloud, ramp
from groundfault.editors.procedural.perspective import (
    Ground,
    View,
    bumps,
    fibre,
    grains,
    ground_of,
    ripples,
    spots,
    visible,
)
from groundfault.editors.procedural.relief import film
from groundfault.editors.procedural.skies import sky_over, with_ridge, with_trees

__all__ = ["GROUNDS", "STONE_M", "View", "rendered"]

JOINTS = 0.03
"""How wide the joints between tiles are, by the tiles."""
STONE_M = 0.008
"""How large the stones in asphalt are."""


def _hazed(ground: Ground, colours: Floats, haze: Colour, far_m: float) -> Floats:
    clear = np.exp(-ground.away_m / far_m)[..., None]
    return np.asarray(colours * clear + floats(haze) * (1 - clear), np.float32)


def _over(sky: Floats, ground: Ground, colours: Floats) -> Floats:
    return np.asarray(np.where(ground.seen[..., None], colours, sky), np.float32)


def _sand_colours(ground: Ground, seed: int, base: Colour, wind: float = 0.0) -> Floats:
    """Sand, trodden or rippled by the `wind`."""
    lit = 1 + 0.08 * bumps(ground, 6.0, seed) + 0.09 * (1 - wind) * bumps(ground, 1.4, seed + 1)
    lit = lit + 0.09 * (1 - wind) * bumps(ground, 0.35, seed + 2, 0.45)
    lit = lit + (1 - 0.6 * wind) * (
        0.06 * bumps(ground, 0.11, seed + 3) + 0.05 * bumps(ground, 0.03, seed + 4)
    )
    if wind:
        lit = lit + wind * 0.16 * (
            ripples(ground, 0.09, seed + 5) + 0.7 * ripples(ground, 0.4, seed + 8)
        )
    lit = lit + grains(ground, seed + 50, (0.012, 0.006, 0.003, 0.0016), 0.07)
    return np.asarray(floats(base) * np.maximum(lit, 0.2)[..., None], np.float32)


def _desert(view: View, seed: int) -> Floats:
    """Sand that the wind has rippled, dunes behind."""
    ground = ground_of(view)
    haze = (0.66, 0.60, 0.50)
    sky = sky_over(view, seed, low=(0.62, 0.68, 0.72), high=(0.16, 0.32, 0.60), clouds=0.12)
    sky = with_ridge(sky, view, seed + 1, tall=0.13, rough=1.5, colour=(0.55, 0.43, 0.30))
    sky = with_ridge(sky, view, seed + 2, tall=0.07, rough=1.3, colour=(0.56, 0.40, 0.23))
    sand = _sand_colours(ground, seed, (0.56, 0.39, 0.215), 0.85)
    return _over(sky, ground, _hazed(ground, sand, haze, 260))


def _beach(view: View, seed: int) -> Floats:
    """Sand as far as some metres behind the object, then wet sand, surf, and the sea."""
    ground = ground_of(view)
    shore = view.object_m + 2.5 + 0.8 * view.object_m
    line = shore + 0.10 * shore * _shoreline(ground, seed)
    sand = _sand_colours(ground, seed, (0.56, 0.47, 0.35))
    wet = np.clip((ground.away_m - line * 0.80) / (0.16 * line), 0, 1)[..., None]
    sand = floats(sand * (1 - 0.5 * wet))
    waves = bumps(ground, 1.2, seed + 7, 0.3) + 0.8 * bumps(ground, 5.0, seed + 8, 0.25)
    sea: Floats = floats([0.09, 0.20, 0.25]) * (1 + 0.22 * waves)[..., None]
    sea = _hazed(ground, sea, (0.34, 0.47, 0.55), 300)
    out = ground.away_m > line
    foam = np.exp(-(((ground.away_m - line * 1.05) / (0.05 * line)) ** 2))
    rows = np.abs(np.sin(ground.away_m / (0.30 * line) * np.pi + _shoreline(ground, seed + 1)))
    surf = np.clip(foam + 0.55 * (rows > 0.94) * (ground.away_m < 3 * line), 0, 1)
    surf = surf * np.clip(0.75 + 0.4 * spots(ground, 0.5, seed + 9), 0, 1)
    sea = sea * (1 - surf[..., None]) + 0.78 * surf[..., None]
    sky = sky_over(view, seed, low=(0.62, 0.70, 0.76), high=(0.20, 0.38, 0.64), clouds=0.35)
    return _over(sky, ground, np.where(out[..., None], sea, sand))


def _shoreline(ground: Ground, seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    along = ground.right_m / np.maximum(ground.away_m, 0.5)
    return np.asarray(
        0.6 * np.sin(3.1 * along + rng.random() * 6) + 0.4 * np.sin(7.7 * along + rng.random() * 6)
    )


def _snow(view: View, seed: int) -> Floats:
    ground = ground_of(view)
    lit = 0.07 * bumps(ground, 5.0, seed) + 0.08 * bumps(ground, 1.1, seed + 1)
    lit = lit + 0.06 * bumps(ground, 0.25, seed + 2) + 0.05 * bumps(ground, 0.07, seed + 3)
    lit = lit + 0.03 * bumps(ground, 0.02, seed + 4)
    lit = lit + grains(ground, seed + 50, (0.012, 0.005, 0.0025), 0.03)
    snow = ramp(lit, (-0.6, (0.40, 0.49, 0.64)), (0, (0.68, 0.72, 0.79)), (0.5, (0.88, 0.88, 0.89)))
    snow = _hazed(ground, snow, (0.74, 0.78, 0.83), 260)
    sky = sky_over(view, seed, low=(0.72, 0.76, 0.81), high=(0.42, 0.55, 0.72), clouds=0.45)
    sky = with_ridge(sky, view, seed + 1, tall=0.16, rough=1.2, colour=(0.50, 0.56, 0.65))
    sky = with_trees(sky, view, seed + 2, colour=(0.05, 0.08, 0.07), pointed=True)
    return _over(sky, ground, snow)


def _lake(view: View, seed: int) -> Floats:
    """Shallow water without wind: the sky upside down, ruffled."""
    ground = ground_of(view)
    low, high = (0.70, 0.72, 0.74), (0.25, 0.40, 0.62)
    sky = sky_over(view, seed, low=low, high=high, clouds=0.5)
    sky = with_ridge(sky, view, seed + 1, tall=0.08, rough=1.2, colour=(0.30, 0.36, 0.42))
    y = np.arange(view.shape[0], dtype=np.float32)[:, None]
    ruffle = bumps(ground, 0.5, seed + 2, 0.3) + 0.8 * bumps(ground, 2.0, seed + 3, 0.3)
    mirrored = 2 * view.horizon_px - y + ruffle * 0.012 * view.shape[0]
    at = np.clip((view.horizon_px - mirrored) / (0.9 * view.shape[0]), 0, 1) ** 0.7
    water = floats(low) * (1 - at[..., None]) + floats(high) * at[..., None]
    steep = np.clip((y - view.horizon_px) / view.shape[0], 0, 1)[..., None]
    bed = floats([0.16, 0.19, 0.17]) * (1 + 0.15 * spots(ground, 0.4, seed + 5))[..., None]
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


def _room(view: View, seed: int) -> Floats:
    """A parquet floor, a skirting board and a painted wall."""
    ground = ground_of(view)
    board_m, long_m = 0.11, 0.95
    column = np.floor(ground.right_m / board_m)
    rng = np.random.default_rng(seed)
    start = rng.random(4096)[(column % 4096).astype(int)]
    row = np.floor(ground.away_m / long_m + start)
    tone = rng.normal(0, 1, 4096)[((column * 37 + row * 101) % 4096).astype(int)]
    grain = 0.5 * fibre(ground, 0.05, seed + 5) + 0.4 * fibre(ground, 0.012, seed + 6)
    grain = grain + 0.35 * fibre(ground, 0.004, seed + 7)
    wood = ramp(
        0.8 * tone * visible(ground, board_m) + grain,
        (-2.5, (0.20, 0.105, 0.050)),
        (0, (0.30, 0.170, 0.085)),
        (2.5, (0.40, 0.245, 0.135)),
    )
    across = np.abs(ground.right_m / board_m % 1 - 0.5) * board_m
    along = np.abs((ground.away_m / long_m + start) % 1 - 0.5) * long_m
    joint = np.maximum(across - (board_m / 2 - 0.0006), (along - (long_m / 2 - 0.0006)))
    dark = np.clip(1 - np.abs(np.minimum(joint, 0)) / np.maximum(ground.footprint_m, 0.001), 0, 1)
    wood = wood * (1 - 0.55 * (dark * visible(ground, board_m))[..., None])
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
) -> tuple[Floats, Floats, Floats]:
    """Tones of square tiles, which of two colours each has on a chessboard, and how much of each
    pixel is joint."""
    column, row = np.floor(right / side_m), np.floor(along / side_m)
    which = ((column * 61 + row * 17) % 4096).astype(int)
    tone = np.random.default_rng(seed).normal(0, 1, 4096)[which]
    edge = np.maximum(np.abs(right / side_m % 1 - 0.5), np.abs(along / side_m % 1 - 0.5)) * side_m
    wide_m = JOINTS * side_m
    joint = np.clip((edge - (side_m - wide_m) / 2) / np.maximum(footprint_m, 1e-4) + 0.5, 0, 1)
    seen = np.clip(2.0 - 3.0 * footprint_m / side_m, 0, 1)
    joint = joint * seen * np.clip(1.4 * wide_m / footprint_m, 0, 1)
    dark = (column + row) % 2 * seen + 0.5 * (1 - seen)
    return floats(tone), floats(dark), floats(joint)


def _bathroom(view: View, seed: int) -> Floats:
    """A floor of blue and white tiles, white ones on the wall with a blue border."""
    ground = ground_of(view)
    side_m = 0.10 if _is_from_above(view) else 0.30  # what is small is beside small tiles
    tone, dark, joint = _tiles(ground.right_m, ground.away_m, side_m, ground.footprint_m, seed)
    stone = floats([0.56, 0.58, 0.58]) * (1 - dark[..., None]) + (
        floats([0.10, 0.20, 0.30]) * dark[..., None]
    )
    speckle = 0.05 * tone + 0.03 * spots(ground, 0.08, seed + 1)
    speckle = speckle + grains(ground, seed + 50, (0.012, 0.005), 0.02)
    floor = stone * (1 + speckle)[..., None]
    floor = floor * (1 - joint[..., None]) + 0.22 * joint[..., None]
    away = view.object_m + 1.2 + 0.5 * view.object_m
    wall, is_wall, metres = _wall(view, ground, seed, (0.72, 0.75, 0.75), away)
    step_m = np.full(view.shape, away / view.focal_px, np.float32)
    x = (np.arange(view.shape[1], dtype=np.float32) - view.shape[1] / 2) * away / view.focal_px
    tone, _, joint = _tiles(np.broadcast_to(x, view.shape), metres, 0.15, step_m, seed + 2)
    border = ((metres > 0.60) & (metres < 0.75)) | ((metres > 1.50) & (metres < 1.65))
    wall = np.where(border[..., None], wall * floats([0.22, 0.42, 0.72]), wall)
    wall = wall * (1 + 0.03 * tone - 0.45 * joint)[..., None]
    gloss = np.exp(-np.clip(away - ground.away_m, 0, None) / (0.4 * away))[..., None]
    floor = floor * (1 - 0.3 * gloss) + 0.3 * gloss * floats([0.60, 0.64, 0.64])
    shade = np.clip(np.abs(metres) / 0.20, 0, 1)[..., None] * 0.22 + 0.78
    return np.asarray(np.where(is_wall[..., None], wall, floor * shade), np.float32)


def _stones(view: View, ground: Ground, seed: int) -> Floats:
    """The tones of the stones in asphalt: each of its own where they are seen singly."""
    near_px = STONE_M / float(ground.footprint_m[-1].min())
    if near_px < 3:
        return grains(ground, seed + 50, (0.03, 0.016, 0.009, 0.005, 0.0028), 0.14)
    found = cells(view.shape, near_px, seed)
    tones = np.random.default_rng(seed).normal(0, 0.28, 8192)[found.which % 8192]
    joint = np.clip(found.gap / 0.16, 0, 1)
    fine = grains(ground, seed + 50, (0.004, 0.002), 0.10)
    return np.asarray((tones + 0.12) * joint - 0.45 * (1 - joint) + fine, np.float32)


def _is_from_above(view: View) -> bool:
    return view.horizon_px < -0.5 * view.shape[0]


def _painted(view: View, ground: Ground, seed: int) -> Floats:
    """How much of each pixel is white paint: lots behind the object, or one line across a ground
    that is seen from above, where nothing else tells what it is."""
    rng = np.random.default_rng(seed)
    soft = np.maximum(ground.footprint_m, 0.002)
    if _is_from_above(view):
        wide_m = view.shape[1] * view.object_m / view.focal_px
        middle = rng.choice([-0.32, 0.32]) * wide_m + 0.15 * (ground.away_m - view.object_m)
        return floats(np.clip((0.05 - np.abs(ground.right_m - middle)) / soft + 0.5, 0, 1))
    across = np.abs((ground.right_m + 1.25 + 0.4 * rng.random()) / 2.5 % 1 - 0.5) * 2.5
    near, far = view.object_m + 1.0, view.object_m + 6.0
    line = np.clip((0.05 - (1.25 - across)) / np.maximum(soft, 0.01) + 0.5, 0, 1)
    return floats(line * ((ground.away_m > near) & (ground.away_m < far)))


def _meadow(view: View, seed: int) -> Floats:
    """Short grass with flowers, hills and trees behind."""
    ground = ground_of(view)
    sky = sky_over(view, seed, low=(0.64, 0.72, 0.78), high=(0.17, 0.36, 0.66), clouds=0.33)
    sky = with_ridge(sky, view, seed + 1, tall=0.12, rough=1.5, colour=(0.30, 0.38, 0.40))
    sky = with_trees(sky, view, seed + 2, colour=(0.045, 0.08, 0.02), pointed=False)
    tone = 1 + 0.16 * spots(ground, 2.5, seed + 3) + 0.14 * spots(ground, 0.7, seed + 4)
    tone = tone + 0.16 * spots(ground, 0.15, seed + 5) + 0.2 * fibre(ground, 0.03, seed + 6)
    far = floats([0.135, 0.20, 0.045]) * np.maximum(tone, 0.3)[..., None]
    far = _hazed(ground, far, (0.34, 0.42, 0.36), 240)
    return with_blades(_over(sky, ground, far), view, seed + 7, tone)


def _parking_lot(view: View, seed: int) -> Floats:
    """Asphalt with white lines, a wood far behind."""
    ground = ground_of(view)
    stones = _stones(view, ground, seed)
    rough = 0.07 * bumps(ground, 0.02, seed + 1) + 0.05 * bumps(ground, 0.008, seed + 4)
    patches = 0.07 * spots(ground, 1.5, seed + 2) + 0.06 * spots(ground, 6.0, seed + 3)
    tone = np.maximum(1 + stones + rough + patches, 0.25)
    asphalt = floats([0.165, 0.165, 0.170]) * tone[..., None]
    line = _painted(view, ground, seed) * np.clip(0.85 + 0.25 * spots(ground, 0.1, seed + 4), 0, 1)
    asphalt = asphalt * (1 - line[..., None]) + 0.55 * line[..., None]
    sky = sky_over(view, seed, low=(0.70, 0.73, 0.76), high=(0.36, 0.50, 0.70), clouds=0.45)
    sky = with_trees(sky, view, seed + 6, colour=(0.05, 0.085, 0.03), pointed=False)
    return _over(sky, ground, _hazed(ground, asphalt, (0.42, 0.44, 0.46), 250))


GROUNDS: dict[str, Callable[[View, int], Floats]] = {
    "desert": _desert,
    "beach": _beach,
    "snow": _snow,
    "lake": _lake,
    "room": _room,
    "bathroom": _bathroom,
    "parking lot": _parking_lot,
    "meadow": _meadow,
}


def rendered(place: str, view: View, seed: int, *, white: float, tint: Floats) -> Floats:
    """A place as the camera of a photograph sees it, in that photograph's light."""
    return film(GROUNDS[place](view, seed) * white * 1.1 * tint)
