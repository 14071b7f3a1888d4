"""Places that are all around a thing: fallen leaves, ivy, hay, on a ground that is seen from above.
Some of it lies over the thing's outline by some pixels, so that it lies or stands in it, and no
foot is seen."""

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
from groundfault.editors.procedural.foliage import LEAVES, Spots, coat, drawn
from groundfault.editors.procedural.relief import film, linear
from groundfault.editors.procedural.rendering import Lamp, lamp_of

__all__ = ["LITTER", "OVER_PX", "TONES", "among", "is_far"]

TONES = {
    "autumn leaves": ((0.60, 0.33, 0.09), (0.45, 0.20, 0.06), (0.78, 0.56, 0.16)),
    "hay": ((0.62, 0.47, 0.22), (0.78, 0.66, 0.38), (0.42, 0.32, 0.15)),
    "ivy": ((0.24, 0.34, 0.11), (0.14, 0.20, 0.07), (0.33, 0.43, 0.16)),
}
"""The colours that a place mostly has."""
LEAST_WHITE = 0.55
"""The least light of a place: what is dark in a dark room was lit by a flash."""
GROUND = floats([0.05, 0.06, 0.03])
"""What is seen between leaves."""
LAYERS = ((0.9, 0.8), (1.0, 1.1))
"""How long leaves are, beside the usual, and how bright, those below first."""
SHORTEST, LONGEST, MOST = 0.012, 0.055, 9_000
"""Limits of the length of leaves, as shares of the picture's longer side, and of their number."""
SLANT, SCALES = 0.6, (1.25, 0.6)
"""How flat leaves look that lie on a ground, and how much longer than usual they are where it is
nearest and farthest."""
OVER_PX, OVER, LOWEST = 3, 0.9, 0.12
"""How far leaves may lie over an object, how many there are over each pixel beside it, and how much
of a thing's height they lie before its foot."""
SHADE, REACH = 0.55, 0.03
"""How much darker the place is right beside an object, and how far, as a share of the picture's
longer side."""


class Thicket(NamedTuple):
    """A place of leaves or straw."""

    leaf: str
    long_m: float
    """How long they are."""


LITTER = {
    "autumn leaves": Thicket("autumn", 0.1),
    "hay": Thicket("straw", 0.3),
    "ivy": Thicket("ivy", 0.09),
}
"""What lies on the ground of a place."""


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
    thicket, tall = LITTER[place], rows.stop - rows.start
    leaf_px = _leaf_px(thicket, mask.shape, tall / tall_m)
    scene = _scene(thicket, mask.shape, leaf_px, lamp, seed) * _shaded(mask)[..., None]
    own = edge.alpha[..., None]
    picture = np.where(own >= 1, photo, edge.fore * own + scene * (1 - own))
    leaf, ring = LEAVES[thicket.leaf], around(mask, 1, max(round(0.35 * leaf_px), 3))
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
    return bool(LITTER[place].long_m * scale < SHORTEST * max(mask.shape))


def _shaded(mask: Mask) -> Floats:
    """How much light a place gets beside an object: less below it."""
    reach = REACH * max(mask.shape)
    below = np.roll(mask, round(0.6 * reach), 0).astype(np.float32)
    return floats(1 - SHADE * cv2.GaussianBlur(below, (0, 0), reach))


def _leaf_px(thicket: Thicket, shape: tuple[int, ...], scale: float) -> float:
    """How long leaves are where a metre is `scale` pixels."""
    side = max(shape)
    return float(np.clip(thicket.long_m * scale, SHORTEST * side, LONGEST * side))


def _scene(
    thicket: Thicket, shape: tuple[int, ...], usual_px: float, lamp: Lamp, seed: int
) -> Floats:
    """The place, with nothing in it."""
    scene = np.broadcast_to(film(linear(GROUND) * lamp.white), (*shape, 3)).astype(np.float32)
    leaf = LEAVES[thicket.leaf]
    for number, (long, bright) in enumerate(LAYERS):
        leaf_px = long * usual_px
        pad = round(leaf_px) + 1
        room = (shape[0] + 2 * pad, shape[1] + 2 * pad)
        spots = _lying(thicket, room, leaf_px, seed + number)
        colours, share = drawn(spots, leaf, leaf_px, room, lamp, seed + number, SLANT, MOST)
        light = film(linear(colours) * bright)[pad:-pad, pad:-pad]
        part = share[pad:-pad, pad:-pad, None]
        scene = floats(light * part + scene * (1 - part))
    return scene


def _lying(thicket: Thicket, room: tuple[int, int], leaf_px: float, seed: int) -> Spots:
    """Leaves on a ground with low waves, the larger the nearer."""
    side, rng = max(room), np.random.default_rng(seed)
    waves = cv2.GaussianBlur(floats(rng.standard_normal(room)), (0, 0), 0.03 * side)
    waves *= 0.02 * side / max(float(waves.std()), 1e-6)
    near, far = SCALES
    everywhere = np.ones(room, bool)
    spots = coat(everywhere, floats(waves), LEAVES[thicket.leaf], far * leaf_px, seed, 3.0 / SLANT)
    scale = far + (near - far) * spots.y / room[0]
    return spots._replace(scale=scale).those(rng.uniform(size=len(scale)) < (far / scale) ** 2)
