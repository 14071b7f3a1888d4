"""How one thing is laid over another so that it covers it, by their figures alone; and which
figures are only a piece of a thing."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np

from groundfault.editors.procedural.edges import Mask, box_of, floats
from groundfault.editors.procedural.repertoire import LIVING

__all__ = ["LARGER", "Figure", "Fit", "covering", "figure_of", "is_alike_upright", "is_cut"]

SIDE = 40
"""Figures are compared on a square of this side."""
LARGER = (0.95, 1.05, 1.15, 1.25, 1.35)
"""How many times larger than an object a donor is tried: the larger, the more it covers."""
SHIFTS = (-0.1, 0.0, 0.1)
"""How far beside an object's middle a donor is tried, as a share of its width; the last is the
farthest."""
MOST_STRETCHED = 0.6
"""How much more upright or flat than an object a donor may be, as a logarithm."""
UNCOVERED = 1.5
"""What an uncovered share of an object weighs beside unlike outlines."""
BORDER = 0.012
"""How near to the picture's border a donor may be, as a share of the shorter side."""
FLAT_BELOW, MOST_LEVEL = 0.025, 0.6
"""From which share of its height on an outline is as low as it gets, and how much of a thing's
width may be."""


class Figure(NamedTuple):
    """A thing's outline in its box."""

    shape: Mask
    """The box as a square, (SIDE, SIDE)."""
    tall_px: int
    wide_px: int


class Fit(NamedTuple):
    """How a donor is put over an object."""

    scale: float
    tall_px: float
    wide_px: float
    """Its size there."""
    shift_px: float
    """How far its middle is to the right of the object's."""
    flipped: bool


def figure_of(mask: Mask) -> Figure:
    """The figure of a mask that has at least one pixel."""
    rows, columns = box_of(mask)
    tall, wide = rows.stop - rows.start, columns.stop - columns.start
    small = cv2.resize(
        mask[rows, columns].astype(np.uint8), (SIDE, SIDE), interpolation=cv2.INTER_AREA
    )
    return Figure(np.asarray(small > 0), tall, wide)


def is_cut(mask: Mask, category: str) -> bool:
    """Whether the picture's border cuts a thing, near which masks end some pixels before it, or
    something straight cuts an animal below: what is seen then is its head."""
    margin = max(round(BORDER * min(mask.shape)), 2)
    inner = np.zeros_like(mask)
    inner[margin:-margin, margin:-margin] = True
    if (mask & ~inner).any():
        return True
    rows, columns = box_of(mask)
    own = mask[rows, columns]
    lowest = np.argmax(own[::-1], axis=0)  # from below
    level = (lowest <= FLAT_BELOW * own.shape[0]) & own.any(0)
    return category in LIVING and bool(level.mean() > MOST_LEVEL)


def is_alike_upright(one: Figure, other: Figure) -> bool:
    """Whether two things are about as tall for their width."""
    ratio = (one.tall_px / one.wide_px) / (other.tall_px / other.wide_px)
    return bool(abs(np.log(ratio)) <= MOST_STRETCHED)


def covering(
    target: Figure, own: Figure, flipped: bool, uncovered: float = UNCOVERED
) -> tuple[float, Fit]:
    """How unlike an object a donor is that is laid over it, and the size and place at which it
    covers it best, its foot on the same line: what it leaves uncovered has to be invented, and
    counts most, `uncovered` times."""
    cell_px = max(target.tall_px, target.wide_px) / SIDE
    tall, wide = (max(round(side / cell_px), 1) for side in (target.tall_px, target.wide_px))
    canvas = np.zeros((2 * SIDE, 2 * SIDE), bool)
    left = SIDE - wide // 2
    canvas[-tall:, left : left + wide] = _resized(target.shape, tall, wide)
    area = max(int(canvas.sum()), 1)
    alike = float(np.sqrt(target.tall_px * target.wide_px / (own.tall_px * own.wide_px)))
    shape = own.shape[:, ::-1] if flipped else own.shape
    best, scale, shifted = float("inf"), alike, 0.0
    for larger in LARGER:
        rows, columns = (
            max(round(side * alike * larger / cell_px), 1) for side in (own.tall_px, own.wide_px)
        )
        if rows > 2 * SIDE or columns > 2 * SIDE - 2 * SHIFTS[-1] * SIDE:
            continue
        small = _resized(shape, rows, columns)
        for shift in SHIFTS:
            start = SIDE - columns // 2 + round(shift * wide)
            both = int((canvas[-rows:, start : start + columns] & small).sum())
            overlap = both / (area + int(small.sum()) - both)
            unlike = uncovered * (1 - both / area) + 0.5 * (1 - overlap)
            if unlike < best:
                best, scale, shifted = unlike, alike * larger, shift * target.wide_px
    return best, Fit(scale, own.tall_px * scale, own.wide_px * scale, shifted, flipped)


def _resized(shape: Mask, tall: int, wide: int) -> Mask:
    return np.asarray(cv2.resize(floats(shape), (wide, tall), interpolation=cv2.INTER_AREA) > 0.5)
