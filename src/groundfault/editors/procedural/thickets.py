"""Places that are all around a thing: a jungle, fallen leaves, ivy, hay. What is in front of it
grows over its outline by some pixels, so that it lies or stands in them, and neither a foot nor a
rim is seen."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np

from groundfault.editors.procedural.edges import (
    Floats,
    Mask,
    Matte,
    around,
    box_of,
    depth_inside,
    floats,
)
from groundfault.editors.procedural.foliage import LEAVES, Leaf, Spots, clumps, coat, drawn
from groundfault.editors.procedural.relief import film, linear
from groundfault.editors.procedural.rendering import Lamp, lamp_of

__all__ = ["OVER_PX", "THICKETS", "TONES", "among", "is_far"]

TONES = {
    "jungle": ((0.24, 0.34, 0.11), (0.14, 0.20, 0.07), (0.33, 0.43, 0.16)),
    "ivy": ((0.24, 0.34, 0.11), (0.14, 0.20, 0.07), (0.33, 0.43, 0.16)),
    "autumn leaves": ((0.60, 0.33, 0.09), (0.45, 0.20, 0.06), (0.78, 0.56, 0.16)),
    "hay": ((0.62, 0.47, 0.22), (0.78, 0.66, 0.38), (0.42, 0.32, 0.15)),
}
"""The colours that a place mostly has."""
LEAST_WHITE = 0.55
"""The least light of a place: what is dark in a dark room was lit by a flash."""
GROUND = floats([0.05, 0.06, 0.03])
"""What is seen between leaves."""
CLUMP = 0.06
"""The radius of a clump of leaves, as a share of the picture's longer side."""
SPRAYS, SPRAY, OF_SPRAY = 14, 0.09, 0.5
"""How many sprays of long leaves there are, how large, as a share of the picture's longer side, and
how many of the leaves there would be room for."""
SHORTEST, LONGEST, MOST = 0.012, 0.055, 9_000
"""Limits of the length of leaves, as shares of the picture's longer side, and of their number."""
LINE = 0.22
"""How far above the foot of a thing the ground ends that it stands on, as a share of its
height."""
OVER_PX, OVER = 3, 0.9
"""How far leaves may lie over an object, and how many there are over each pixel beside it."""
LOWEST = 0.12
"""How much of a thing's height leaves lie before its foot."""
SLANT, SCALES = 0.6, (1.25, 0.6)
"""How flat leaves look that lie on a ground, and how much longer than usual they are where it is
nearest and farthest."""
SHADE, REACH = 0.55, 0.03
"""How much darker the place is right beside an object, and how far, as a share of the picture's
longer side."""


class Layer(NamedTuple):
    """Leaves at one distance."""

    long: float
    """Their length, beside that of the thicket's."""
    bright: float
    blur_px: float = 0.0
    slim: tuple[float, float] | None = None
    sparse: bool = False


class Thicket(NamedTuple):
    """A place of leaves."""

    leaf: str
    long_m: float
    """How long they are."""
    layers: tuple[Layer, ...]
    ground: str = ""
    """What lies on the ground before them; "" where they lie on it themselves, seen from above."""


THICKETS = {
    "jungle": Thicket(
        "green",
        0.22,
        (
            Layer(0.8, 0.8, 1.6),
            Layer(1.0, 1.3, 0.6),
            Layer(2.1, 1.6, slim=(0.16, 0.28), sparse=True),
        ),
        ground="ivy",
    ),
    "autumn leaves": Thicket("autumn", 0.1, (Layer(0.9, 0.8), Layer(1.0, 1.0))),
    "ivy": Thicket("ivy", 0.09, (Layer(0.9, 0.8), Layer(1.0, 1.2))),
    "hay": Thicket("straw", 0.3, (Layer(0.85, 0.85), Layer(1.0, 1.0))),
}


def among(
    photo: Floats, edge: Matte, place: str, *, tall_m: float, seed: int, covered: bool
) -> Floats:
    """An object of a photograph, `tall_m` tall, among leaves; more than some pixels inside its
    outline its pixels keep their values. Leaves lie over the outline of what is `covered`, and of
    other things, whose straight edges would look gnawed at, over their lowest part."""
    mask = edge.alpha > 0.5
    lamp = lamp_of(photo, mask)
    lamp = lamp._replace(white=max(lamp.white, LEAST_WHITE))
    rows, _ = box_of(mask)
    tall = rows.stop - rows.start
    scale = tall / tall_m
    scene = _scene(THICKETS[place], mask.shape, scale, lamp, seed)
    lying = THICKETS[THICKETS[place].ground or place]
    if THICKETS[place].ground:
        ground = _scene(lying, mask.shape, scale, lamp, seed + 7)
        share = _before(mask.shape, rows.stop - LINE * tall, seed)[..., None]
        scene = ground * share + scene * (1 - share)
    scene = scene * _shaded(mask)[..., None]
    own = edge.alpha[..., None]
    picture = np.where(own >= 1, photo, edge.fore * own + scene * (1 - own))
    leaf_px = _leaf_px(lying, mask.shape, scale)
    leaf, ring = LEAVES[lying.leaf], around(mask, 1, max(round(0.35 * leaf_px), 3))
    spots = coat(ring, np.zeros(mask.shape, np.float32), leaf, leaf_px, seed + 5, OVER)
    colours, share = drawn(spots, leaf, leaf_px, mask.shape, lamp, seed, SLANT)
    share = share * np.clip(OVER_PX + 1 - depth_inside(mask), 0, 1)
    if not covered:
        share[: rows.stop - round(LOWEST * tall)] = 0
    return floats(picture * (1 - share[..., None]) + colours * share[..., None])


def is_far(mask: Mask, place: str, tall_m: float) -> bool:
    """Whether an object that is so tall is so small in its picture that leaves, which are drawn no
    smaller than some pixels, would be too large for it."""
    rows, _ = box_of(mask)
    scale = (rows.stop - rows.start) / tall_m
    return bool(THICKETS[place].long_m * scale < SHORTEST * max(mask.shape))


def _before(shape: tuple[int, ...], line: float, seed: int) -> Floats:
    """How much of each pixel is ground before a wall of leaves that begins at a row."""
    side = max(shape)
    grains = floats(np.random.default_rng(seed + 11).standard_normal((1, shape[1])))
    waves = cv2.GaussianBlur(grains, (0, 0), 0.02 * side)[0]
    waves *= 0.012 * side / max(float(waves.std()), 1e-6)
    below = np.arange(shape[0])[:, None] - line - waves[None]
    return floats(np.clip(below / (0.02 * side) + 0.5, 0, 1))


def _shaded(mask: Mask) -> Floats:
    """How much light a place gets beside an object: less below it."""
    reach = REACH * max(mask.shape)
    below = np.roll(mask, round(0.6 * reach), 0).astype(np.float32)
    return floats(1 - SHADE * cv2.GaussianBlur(below, (0, 0), reach))


def _leaf_px(thicket: Thicket, shape: tuple[int, ...], scale: float) -> float:
    """How long leaves are where a metre is `scale` pixels."""
    side = max(shape)
    return float(np.clip(thicket.long_m * scale, SHORTEST * side, LONGEST * side))


def _scene(thicket: Thicket, shape: tuple[int, ...], scale: float, lamp: Lamp, seed: int) -> Floats:
    scene = np.broadcast_to(film(linear(GROUND) * lamp.white), (*shape, 3)).astype(np.float32)
    usual_px = _leaf_px(thicket, shape, scale)
    flat = 1.0 if thicket.ground else SLANT
    for number, layer in enumerate(thicket.layers):
        leaf, leaf_px = LEAVES[thicket.leaf], layer.long * usual_px
        leaf = leaf if layer.slim is None else leaf._replace(slim=layer.slim)
        pad = round(leaf_px) + 1
        room = np.ones((shape[0] + 2 * pad, shape[1] + 2 * pad), bool)
        spots = _spots(thicket, layer, room, leaf, leaf_px, seed + number)
        colours, share = drawn(spots, leaf, leaf_px, room.shape, lamp, seed + number, flat, MOST)
        both = np.dstack([linear(colours) * layer.bright, share])[pad:-pad, pad:-pad]
        if layer.blur_px:
            both = cv2.GaussianBlur(both, (0, 0), layer.blur_px)
        scene = film(both[..., :3]) * both[..., 3:] + scene * (1 - both[..., 3:])
    return floats(scene)


def _spots(
    thicket: Thicket, layer: Layer, room: Mask, leaf: Leaf, leaf_px: float, seed: int
) -> Spots:
    side, rng = max(room.shape), np.random.default_rng(seed)
    if not thicket.ground:
        waves = cv2.GaussianBlur(floats(rng.standard_normal(room.shape)), (0, 0), 0.03 * side)
        waves *= 0.02 * side / max(float(waves.std()), 1e-6)
        near, far = SCALES
        spots = coat(room, floats(waves), leaf, far * leaf_px, seed, 3.0 / SLANT)
        scale = far + (near - far) * spots.y / room.shape[0]
        spots = spots._replace(scale=scale)
        return spots.those(rng.uniform(size=len(scale)) < (far / scale) ** 2)
    spots = clumps(room, leaf, leaf_px, seed, max(CLUMP * side, 2 * leaf_px))
    if not layer.sparse:
        return spots
    middles = rng.uniform(size=(SPRAYS, 2)) * room.shape[::-1]
    away = np.hypot(*(np.stack([spots.x, spots.y], 1)[:, None] - middles[None]).transpose(2, 0, 1))
    near_one = (away.min(1) < SPRAY * side) & (rng.uniform(size=len(away)) < OF_SPRAY)
    return spots.those(near_one)
