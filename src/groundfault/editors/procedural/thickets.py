"""Places that are all around a thing: a jungle, fallen leaves, hay. What is in front of it grows
over its outline by some pixels, so that it lies or stands in them, and neither a foot nor a rim is
seen."""

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

__all__ = ["OVER_PX", "THICKETS", "TONES", "among"]

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
    """Their length as a share of the picture's longer side."""
    slim: tuple[float, float] | None
    blur_px: float
    bright: float
    sparse: bool = False


class Thicket(NamedTuple):
    """A place of leaves."""

    leaf: str
    layers: tuple[Layer, ...]
    lying: bool = False
    """Whether they lie on a ground that is seen from above."""


THICKETS = {
    "jungle": Thicket(
        "green",
        (
            Layer(0.016, None, 1.6, 0.8),
            Layer(0.024, None, 0.7, 1.3),
            Layer(0.05, (0.16, 0.28), 0.0, 1.6, sparse=True),
        ),
    ),
    "autumn leaves": Thicket(
        "autumn", (Layer(0.05, None, 0.0, 0.8), Layer(0.055, None, 0.0, 1.0)), lying=True
    ),
    "ivy": Thicket(
        "green", (Layer(0.04, (0.45, 0.65), 0.0, 0.8), Layer(0.045, (0.45, 0.65), 0.0, 1.2)), True
    ),
    "hay": Thicket(
        "straw", (Layer(0.10, None, 0.0, 0.85), Layer(0.12, None, 0.0, 1.0)), lying=True
    ),
}


def among(photo: Floats, edge: Matte, place: str, *, seed: int, covered: bool) -> Floats:
    """The object of a photograph among leaves; more than some pixels inside its outline its pixels
    keep their values. Leaves lie over the outline of what is `covered`, and of other things, whose
    straight edges would look gnawed at, over their lowest part."""
    mask = edge.alpha > 0.5
    lamp = lamp_of(photo, mask)
    lamp = lamp._replace(white=max(lamp.white, LEAST_WHITE))
    thicket = THICKETS[place]
    scene = _scene(thicket, mask.shape, lamp, seed) * _shaded(mask)[..., None]
    own = edge.alpha[..., None]
    picture = np.where(own >= 1, photo, edge.fore * own + scene * (1 - own))
    layer = thicket.layers[-1] if thicket.lying else thicket.layers[1]
    leaf, leaf_px = _leaf(thicket, layer, mask.shape)
    ring = around(mask, 1, max(round(0.35 * leaf_px), 3))
    flat = np.zeros(mask.shape, np.float32)
    spots = coat(ring, flat, leaf, leaf_px, seed + 5, OVER)
    slant = SLANT if thicket.lying else 1.0
    colours, share = drawn(spots, leaf, leaf_px, mask.shape, lamp, seed, slant)
    share = share * np.clip(OVER_PX + 1 - depth_inside(mask), 0, 1)
    if not covered:
        rows, _ = box_of(mask)
        share[: rows.stop - round(LOWEST * (rows.stop - rows.start))] = 0
    return floats(picture * (1 - share[..., None]) + colours * share[..., None])


def _shaded(mask: Mask) -> Floats:
    """How much light a place gets beside an object: less below it."""
    reach = REACH * max(mask.shape)
    below = np.roll(mask, round(0.6 * reach), 0).astype(np.float32)
    return floats(1 - SHADE * cv2.GaussianBlur(below, (0, 0), reach))


def _leaf(thicket: Thicket, layer: Layer, shape: tuple[int, ...]) -> tuple[Leaf, float]:
    """The leaves of a layer, and how long they are."""
    leaf = LEAVES[thicket.leaf]
    leaf = leaf if layer.slim is None else leaf._replace(slim=layer.slim)
    return leaf, layer.long * max(shape)


def _scene(thicket: Thicket, shape: tuple[int, ...], lamp: Lamp, seed: int) -> Floats:
    scene = np.broadcast_to(film(linear(GROUND) * lamp.white), (*shape, 3)).astype(np.float32)
    for number, layer in enumerate(thicket.layers):
        leaf, leaf_px = _leaf(thicket, layer, shape)
        pad = round(leaf_px)
        room = np.ones((shape[0] + 2 * pad, shape[1] + 2 * pad), bool)
        spots = _spots(thicket, layer, room, leaf, leaf_px, seed + number)
        flat = SLANT if thicket.lying else 1.0
        colours, share = drawn(spots, leaf, leaf_px, room.shape, lamp, seed + number, flat)
        both = np.dstack([linear(colours) * layer.bright, share])[pad:-pad, pad:-pad]
        if layer.blur_px:
            both = cv2.GaussianBlur(both, (0, 0), layer.blur_px)
        scene = film(both[..., :3]) * both[..., 3:] + scene * (1 - both[..., 3:])
    return floats(scene)


def _spots(
    thicket: Thicket, layer: Layer, room: Mask, leaf: Leaf, leaf_px: float, seed: int
) -> Spots:
    side = max(room.shape)
    if thicket.lying:
        rng = np.random.default_rng(seed)
        waves = cv2.GaussianBlur(floats(rng.standard_normal(room.shape)), (0, 0), 0.03 * side)
        waves *= 0.02 * side / max(float(waves.std()), 1e-6)
        near, far = SCALES
        spots = coat(room, floats(waves), leaf, far * leaf_px, seed, 3.0 / SLANT)
        scale = far + (near - far) * spots.y / room.shape[0]
        spots = spots._replace(scale=scale)
        return spots.those(rng.uniform(size=len(scale)) < (far / scale) ** 2)
    spots = clumps(room, leaf, leaf_px, seed, CLUMP * side)
    if not layer.sparse:
        return spots
    rng = np.random.default_rng(seed + 5)
    middles = rng.uniform(size=(SPRAYS, 2)) * room.shape[::-1]
    away = np.hypot(*(np.stack([spots.x, spots.y], 1)[:, None] - middles[None]).transpose(2, 0, 1))
    near = (away.min(1) < SPRAY * side) & (rng.uniform(size=len(away)) < OF_SPRAY)
    return spots.those(near)
