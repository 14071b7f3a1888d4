"""Where the leaves of a bush are: in clumps, as on the ends of branches, that shade each other."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from groundfault.editors.procedural.edges import Floats, Mask, depth_inside, floats
from groundfault.editors.procedural.foliage import Leaf, Spots, coat
from groundfault.editors.procedural.relief import extent_px, normals

__all__ = ["crown"]

Numbers = NDArray[Any]
CLUMP, LEAST_CLUMP = 0.11, 2.2
"""The radius of a clump of leaves, as a share of the extent of a bush, and at least in leaves."""
LEAVES_OVER = 3.2
"""How many leaves are over each pixel of a clump."""
STRAY = 0.25
"""The share of the leaves beyond a silhouette that are kept: twigs that stand out of it."""
INNER = 0.4
"""How much light gets to the leaves behind the clumps."""
CELL = 1.5
"""How wide the column of leaves is through which light comes to one, in leaves."""
THROUGH = 0.72
"""How much of the light a leaf in full cover of its column lets through, past its sides."""
OF_LAMP, DEEPEST = 0.55, 0.15
"""How much of a leaf's light is the lamp's, the other being the sky's; and how much the deepest
leaves get."""
SKY = ((0.0, -1.0, 0.25), (-0.7, -0.6, 0.45), (0.7, -0.6, 0.45), (0.0, -0.3, 1.0))
"""Where the light of the sky comes from: to the right, down, towards the camera."""
TONES = 0.22
"""How much clumps differ in brightness, as a logarithm: some are younger than others."""


def crown(shape: Mask, leaf: Leaf, leaf_px: float, lit_from: Numbers, seed: int) -> Spots:
    """The leaves of a bush with a silhouette: on balls that fill it, the darker the more leaves are
    between them and the light; between the balls others are seen farther behind."""
    rng = np.random.default_rng(seed)
    extent, depth = extent_px(shape), depth_inside(shape)
    deepest = float(depth.max())
    radius = max(CLUMP * extent, LEAST_CLUMP * leaf_px)
    rows, columns = np.nonzero(shape)
    picked = rng.integers(len(rows), size=max(int(6 * len(rows) / (np.pi * radius**2)), 8))
    x, y = columns[picked].astype(float), rows[picked].astype(float)
    inside = depth[rows[picked], columns[picked]]
    own = np.minimum(radius * rng.uniform(0.5, 1.2, len(picked)), inside + 0.4 * leaf_px)
    kept = inside > 0.35 * own
    x, y, inside, own = x[kept], y[kept], inside[kept], own[kept]
    near = np.sqrt(np.maximum(inside * (2 * deepest - inside), 0)) * rng.uniform(0.3, 1, len(x))
    count = np.maximum((LEAVES_OVER * np.pi * own**2 / leaf.area(leaf_px)).astype(int), 6)
    ball = np.repeat(np.arange(len(x)), count)
    out = _directions(rng, len(ball))
    out[:, 2] = np.abs(out[:, 2])
    far = own[ball] * rng.uniform(0.7, 1.12, len(ball))
    tones = np.exp(TONES * rng.standard_normal(len(x)))[ball]
    spots = Spots(
        x[ball] + out[:, 0] * far,
        y[ball] + out[:, 1] * far,
        near[ball] + out[:, 2] * far,
        out,
        tones,
        np.ones(len(ball)),
    )
    height = _height(depth, deepest, 0.03 * extent)
    row, column = spots.pixels(shape.shape)
    out = 0.55 * spots.out + 0.45 * normals(height)[row, column]
    light = _sheltered(spots, lit_from, CELL * leaf_px, leaf.area(leaf_px))
    spots = spots._replace(
        out=out / np.linalg.norm(out, axis=1, keepdims=True), open=spots.open * light
    )
    return _joined(
        coat(shape, height, leaf, leaf_px, seed + 2, 1.6, INNER),
        spots.those(shape[row, column] | (rng.uniform(size=len(row)) < STRAY)),
    )


def _sheltered(spots: Spots, lit_from: Numbers, cell_px: float, area_px: float) -> Numbers:
    """How much of the light of the lamp and of the sky gets to each leaf past the others."""
    places = np.stack([spots.x, spots.y, spots.near], 1)
    lamp = _past_others(places, lit_from, cell_px, area_px)
    sky = np.mean([_past_others(places, np.array(one), cell_px, area_px) for one in SKY], axis=0)
    return np.asarray(DEEPEST + (1 - DEEPEST) * (OF_LAMP * lamp + (1 - OF_LAMP) * sky))


def _past_others(places: Numbers, lit_from: Numbers, cell_px: float, area_px: float) -> Numbers:
    """How much light from one side gets to each place, past those before it in its column."""
    axis = lit_from / np.linalg.norm(lit_from)
    right = np.cross(axis, (0.0, 0.0, 1.0) if abs(axis[2]) < 0.9 else (1.0, 0.0, 0.0))
    right /= np.linalg.norm(right)
    flat = places @ np.stack([right, np.cross(axis, right)], 1)
    depth = places @ axis
    found = np.zeros(len(places))
    for shift in (0.0, 0.5):
        cell = np.floor(flat / cell_px + shift).astype(int)
        cell -= cell.min(0)
        column = cell[:, 0] * (cell[:, 1].max() + 1) + cell[:, 1]
        order = np.lexsort((-depth, column))
        first = np.r_[0, np.flatnonzero(np.diff(column[order])) + 1]
        rank = np.arange(len(order)) - np.repeat(first, np.diff(np.r_[first, len(order)]))
        found[order] += 0.5 * THROUGH ** (rank * area_px / cell_px**2 * 4)
    return found


def _height(depth: Floats, deepest: float, smooth_px: float) -> Floats:
    """A round relief over a silhouette, by how deep inside its pixels are."""
    height = floats(np.sqrt(np.maximum(depth * (2 * deepest - depth), 0)))
    return floats(cv2.GaussianBlur(height, (0, 0), max(smooth_px, 0.5)))


def _joined(*parts: Spots) -> Spots:
    return Spots(*(np.concatenate(values) for values in zip(*parts, strict=True)))


def _directions(rng: np.random.Generator, count: int) -> Numbers:
    found = rng.standard_normal((count, 3))
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True))
