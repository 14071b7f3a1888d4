"""Leaves, one by one, in the light of a photograph: of bushes, on what is grown over with them, and
on the ground. A leaf hides what is behind it and has no outline that anybody knows, so that it
covers the rim of what was there, too."""

from __future__ import annotations

from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from groundfault.editors.procedural.edges import Floats, Mask, floats
from groundfault.editors.procedural.relief import film, linear, normals
from groundfault.editors.procedural.rendering import Lamp

__all__ = ["LEAVES", "Leaf", "Spots", "coat", "drawn", "towards"]

Numbers = NDArray[Any]
FINER = 2
"""How many times finer than the photograph leaves are drawn."""
MOST_LEAVES = 14_000
"""Where more would grow, leaves are larger."""
ALONG = floats([0, 0.18, 0.45, 0.75, 1.0])
"""Where the width of a leaf is known, from its stalk to its tip."""
PETALS = 5
"""How many petals a blossom has."""
BITS = 4
"""The bits of a pixel's fraction that OpenCV draws with."""
SKY, KEY, THROUGH = 0.30, 0.95, 0.35
"""The light of the sky and of the lamp on a leaf, and how much of the lamp's comes through it."""
SCATTER = 0.45
"""How far leaves are turned from what they grow on."""
LIT = 2.1
"""How many times brighter than its colour says a leaf in full light is: half of them are not."""
SOFT = (0.35, 1.2)
"""How far leaves are blurred, at least and at most: half as much as the photograph, of whose edges
more blur is measured than there is."""


class Leaf(NamedTuple):
    """A kind of leaf, petal or blade."""

    colours: tuple[tuple[float, float, float], ...]
    """The colours that leaves of it have."""
    slim: tuple[float, float] = (0.28, 0.5)
    """Its width for its length, at least and at most."""
    shape: tuple[float, float, float, float, float] = (0, 0.75, 1.0, 0.62, 0.0)
    """Its width from its stalk to its tip, as shares of the largest."""
    gloss: float = 0.1
    heart: tuple[float, float, float] | None = None
    """The colour of the middle of a blossom; None for leaves."""

    def area(self, long_px: float) -> float:
        """How much a leaf of a length covers."""
        return 0.65 * float(np.mean(self.slim)) * long_px**2


_GREENS = ((0.20, 0.30, 0.09), (0.27, 0.38, 0.12), (0.34, 0.43, 0.16), (0.22, 0.33, 0.13))
LEAVES = {
    "green": Leaf(_GREENS),
    "ivy": Leaf(_GREENS, slim=(0.45, 0.65)),
    "broad": Leaf(
        ((0.15, 0.26, 0.09), (0.20, 0.32, 0.11), (0.25, 0.36, 0.13), (0.18, 0.28, 0.12)),
        slim=(0.48, 0.6),
        gloss=0.22,
    ),
    "slender": Leaf(
        ((0.24, 0.34, 0.12), (0.32, 0.42, 0.16), (0.38, 0.45, 0.20), (0.27, 0.36, 0.14)),
        slim=(0.10, 0.16),
        shape=(0.5, 0.9, 1.0, 0.7, 0.0),
        gloss=0.12,
    ),
    "autumn": Leaf(
        ((0.72, 0.40, 0.10), (0.66, 0.27, 0.08), (0.78, 0.56, 0.16), (0.50, 0.29, 0.12)),
        slim=(0.5, 0.75),
        gloss=0.04,
    ),
    "blossoms": Leaf(
        ((0.70, 0.20, 0.33), (0.78, 0.36, 0.48), (0.80, 0.52, 0.60), (0.62, 0.12, 0.25)),
        slim=(0.9, 1.0),
        gloss=0.03,
        heart=(0.80, 0.64, 0.16),
    ),
    "straw": Leaf(
        ((0.70, 0.56, 0.28), (0.78, 0.66, 0.38), (0.62, 0.47, 0.22), (0.84, 0.74, 0.48)),
        slim=(0.05, 0.08),
        shape=(0.9, 1.0, 1.0, 1.0, 0.8),
        gloss=0.05,
    ),
}


class Spots(NamedTuple):
    """Where leaves grow: columns, rows, how near they are, and where they look to."""

    x: Numbers
    y: Numbers
    near: Numbers
    """The larger, the nearer to the camera, in pixels."""
    out: Numbers
    """To the right, down, towards the camera; (n, 3), of length 1."""
    open: Numbers
    """How much of the light gets there."""
    scale: Numbers
    """How much longer than others a leaf is."""

    def those(self, which: Numbers) -> Spots:
        return Spots(*(values[which] for values in self))

    def pixels(self, size: tuple[int, ...]) -> tuple[Numbers, Numbers]:
        """The nearest rows and columns of a picture."""
        row = np.clip(self.y.round().astype(int), 0, size[0] - 1)
        return row, np.clip(self.x.round().astype(int), 0, size[1] - 1)


def coat(
    shape: Mask,
    height: Floats,
    leaf: Leaf,
    leaf_px: float,
    seed: int,
    layers: float = 4.0,
    lit: float = 1.0,
) -> Spots:
    """Leaves that lie on a relief, as on a clipped hedge: `layers` of them over each pixel, `lit`
    as much as those of others."""
    rng = np.random.default_rng(seed)
    rows, columns = np.nonzero(shape)
    count = int(layers * len(rows) / leaf.area(leaf_px))
    picked = rng.integers(len(rows), size=max(count, 8))
    row, column = rows[picked], columns[picked]
    layer = rng.uniform(0, 1, len(picked))
    return Spots(
        column + rng.uniform(-0.5, 0.5, len(picked)),
        row + rng.uniform(-0.5, 0.5, len(picked)),
        layer * leaf_px,
        normals(height)[row, column].astype(float),
        lit * (0.3 + 0.7 * layer),
        np.ones(len(picked)),
    )


def drawn(
    spots: Spots,
    leaf: Leaf,
    leaf_px: float,
    size: tuple[int, int],
    lamp: Lamp,
    seed: int,
    flat: float = 1.0,
    most: int = MOST_LEAVES,
) -> tuple[Floats, Floats]:
    """Leaves at their spots, the nearest last: their colours, and how much of each pixel of a
    picture of `size`, rows and columns, they are. What lies on a ground that is seen at a slant
    looks `flat`ter; of more than the `most` some are left out, and the others larger."""
    rng = np.random.default_rng(seed + 1)
    if len(spots.x) > most:
        leaf_px *= float(np.sqrt(len(spots.x) / most))
        spots = spots.those(rng.permutation(len(spots.x))[:most])
    spots = spots.those(np.argsort(spots.near + 0.3 * leaf_px * rng.standard_normal(len(spots.x))))
    faces = spots.out + SCATTER * rng.standard_normal(spots.out.shape)
    faces /= np.linalg.norm(faces, axis=1, keepdims=True)
    light = _light(spots, faces, leaf, lamp, rng)
    corners = _outlines(spots, faces, leaf, leaf_px, flat, rng)
    tall, wide = size
    canvas = np.zeros((tall * FINER, wide * FINER, 4), np.float32)
    for parts, shades in zip(corners, _shades(light, spots, faces, leaf, lamp, rng), strict=True):
        for part, colour in zip(parts, shades, strict=True):
            cv2.fillConvexPoly(canvas, part, (*colour, 1.0), cv2.LINE_8, BITS)
    small = cv2.resize(canvas, (wide, tall), interpolation=cv2.INTER_AREA)
    small = cv2.GaussianBlur(small, (0, 0), float(np.clip(lamp.blur_px / 2, *SOFT)))
    colours = film(small[..., :3] / np.maximum(small[..., 3:], 1e-3))
    noise = cv2.GaussianBlur(floats(rng.standard_normal(size)), (0, 0), 0.6)
    return floats(colours + 2 * lamp.grain * noise[..., None]), floats(small[..., 3])


def towards(lamp: Lamp) -> Numbers:
    """Where the light comes from: to the right, down, towards the camera; of length 1."""
    found = np.array([0.75 * lamp.side, -0.85, 0.55])
    return np.asarray(found / np.linalg.norm(found))


def _light(
    spots: Spots, faces: Numbers, leaf: Leaf, lamp: Lamp, rng: np.random.Generator
) -> Numbers:
    """The light that comes from each leaf, (n, 3)."""
    lit_from = towards(lamp)
    facing = faces @ lit_from
    direct = np.maximum(facing, 0) + THROUGH * np.maximum(-facing, 0)
    turned_to = np.clip(0.5 + 0.5 * (spots.out @ lit_from), 0, 1)
    amount = (
        SKY * (0.55 - 0.45 * faces[:, 1]) + KEY * direct * (0.35 + 0.65 * turned_to)
    ) * spots.open
    colours = floats(leaf.colours)[rng.integers(len(leaf.colours), size=len(faces))]
    colours = colours * rng.uniform(0.85, 1.15, (len(faces), 1))
    half = lit_from + floats([0, 0, 1])
    half /= np.linalg.norm(half)
    shine = leaf.gloss * np.maximum(faces @ half, 0) ** 18 * spots.open
    tint = lamp.tint * lamp.white
    light = linear(np.clip(colours, 0, 1)) * LIT * amount[:, None] + shine[:, None]
    return np.asarray(light * tint)


def _shades(
    light: Numbers, spots: Spots, faces: Numbers, leaf: Leaf, lamp: Lamp, rng: np.random.Generator
) -> Numbers:
    """The light of the parts of each leaf, (n, parts, 3): both its halves, or petals and the middle
    of a blossom."""
    if leaf.heart is None:
        return np.stack([light, light * rng.uniform(0.72, 0.95, (len(light), 1))], 1)
    petals = light[:, None] * rng.uniform(0.85, 1.1, (len(light), PETALS, 1))
    heart = _light(spots, faces, leaf._replace(colours=(leaf.heart,)), lamp, rng)
    return np.concatenate([petals, heart[:, None]], 1)


def _outlines(
    spots: Spots,
    faces: Numbers,
    leaf: Leaf,
    leaf_px: float,
    flat: float,
    rng: np.random.Generator,
) -> NDArray[np.int32]:
    """The parts of each leaf as corners, (n, parts, corners, 2), with OpenCV's fractions. Leaves
    hang outwards and a little down."""
    count = len(spots.x)
    angle = rng.uniform(0, 2 * np.pi, count)
    long = leaf_px * spots.scale * rng.uniform(0.7, 1.25, count)
    if leaf.heart is not None:
        found = _blossoms(angle, long)
    else:
        axis = np.stack([np.cos(angle), np.sin(angle)], 1) + 0.8 * spots.out[:, :2]
        axis[:, 1] += 0.3
        axis /= np.maximum(np.linalg.norm(axis, axis=1, keepdims=True), 1e-6)
        wide = long * rng.uniform(*leaf.slim, count) * np.clip(0.35 + np.abs(faces[:, 2]), 0.4, 1)
        middle = (ALONG - 0.5)[None, :, None] * (axis * long[:, None])[:, None]
        across = np.stack([-axis[:, 1], axis[:, 0]], 1) * (wide / 2)[:, None]
        off = floats(leaf.shape)[None, :, None] * across[:, None]
        halves = [np.concatenate([middle, (middle + side * off)[:, ::-1]], 1) for side in (1, -1)]
        found = np.stack(halves, 1)
    corners = found * floats([1, flat]) + np.stack([spots.x, spots.y], 1)[:, None, None]
    return np.asarray(np.round(corners * (FINER << BITS)), np.int32)


def _blossoms(angle: Numbers, long: Numbers) -> Numbers:
    """The petals of blossoms, turned by an angle, and then their middles, around the origin."""
    turns = np.arange(PETALS) * 2 * np.pi / PETALS
    round_ = np.linspace(0, 2 * np.pi, 8, endpoint=False)
    petal = np.stack([0.30 + 0.24 * np.cos(round_), 0.17 * np.sin(round_)], 1)
    heart = 0.13 * np.stack([np.cos(round_), np.sin(round_)], 1)

    def turned(shape: Numbers, by: Numbers) -> Numbers:
        x, y = shape[None].transpose(2, 0, 1)
        sine, cosine = np.sin(by)[:, None], np.cos(by)[:, None]
        return np.stack([x * cosine - y * sine, x * sine + y * cosine], -1)

    parts = [turned(petal, angle + turn) for turn in turns] + [turned(heart, angle)]
    return np.stack(parts, 1) * long[:, None, None, None]
