"""Masks as SVG paths: their outline along pixel edges, with few corners."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    BinaryMask = NDArray[np.bool_]

__all__ = ["outline", "shrink"]

TOLERANCE_PX = 1.0
SMALLEST_PX = 6.0
"""Specks below this area are dropped if there is anything larger."""


def shrink(pixels: BinaryMask, height_px: int, width_px: int) -> BinaryMask:
    """The mask at a smaller size: a pixel is set where at least half of it was covered."""
    from PIL import Image

    if pixels.shape == (height_px, width_px):
        return pixels
    picture = Image.fromarray(pixels.astype(np.uint8) * 255)
    covered = np.asarray(picture.resize((width_px, height_px), Image.Resampling.BOX))
    small: BinaryMask = covered >= 128
    return small if small.any() else covered > 0


def outline(pixels: BinaryMask, tolerance_px: float = TOLERANCE_PX) -> str:
    """The `d` of a path around all parts and holes (fill rule evenodd); empty for no pixel.

    >>> outline(np.array([[0, 0, 0], [0, 1, 1], [0, 1, 1]], bool))
    'M1 1L3 1L3 3L1 3Z'
    """
    rings = _rings(pixels)
    large = [ring for ring in rings if abs(_area(ring)) >= SMALLEST_PX]
    parts = [_simplified(ring, tolerance_px) for ring in large or rings]
    return "".join(
        "M" + "L".join(f"{_short(x)} {_short(y)}" for x, y in ring.tolist()) + "Z"
        for ring in parts
        if len(ring) > 2
    )


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _rings(pixels: BinaryMask) -> list[Floats]:
    """Closed (corners, 2) x, y rings along pixel edges, the inside at the right hand."""
    padded = np.pad(pixels, 1).astype(np.int8)
    across = np.diff(padded, axis=0)[:, 1:-1]  # +1: inside below the edge
    down = np.diff(padded, axis=1)[1:-1]  # +1: inside right of the edge
    follows: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for y, x in np.argwhere(across > 0).tolist():
        follows.setdefault((x, y), []).append((x + 1, y))
    for y, x in np.argwhere(across < 0).tolist():
        follows.setdefault((x + 1, y), []).append((x, y))
    for y, x in np.argwhere(down > 0).tolist():
        follows.setdefault((x, y + 1), []).append((x, y))
    for y, x in np.argwhere(down < 0).tolist():
        follows.setdefault((x, y), []).append((x, y + 1))
    rings = []
    while follows:
        start = next(iter(follows))
        ring, place = [start], start
        while True:
            ends = follows[place]
            after = ends.pop()
            if not ends:
                del follows[place]
            if after == start:
                break
            ring.append(after)
            place = after
        rings.append(_corners(np.array(ring, np.float64)))
    return rings


def _corners(ring: Floats) -> Floats:
    """Only the points where the direction changes."""
    before, after = ring - np.roll(ring, 1, axis=0), np.roll(ring, -1, axis=0) - ring
    turns = before[:, 0] * after[:, 1] != before[:, 1] * after[:, 0]
    corners: Floats = ring[turns]
    return corners


def _area(ring: Floats) -> float:
    x, y = ring.T
    return float(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2


def _simplified(ring: Floats, tolerance_px: float) -> Floats:
    """Ramer's and Douglas and Peucker's choice of corners, from two far ones onward."""
    if len(ring) <= 4:
        return ring
    far = int(np.argmax(((ring - ring[0]) ** 2).sum(axis=1)))
    closed = np.vstack([ring, ring[:1]])
    keep = np.zeros(len(closed), bool)
    keep[[0, far]] = True
    open_spans = [(0, far), (far, len(closed) - 1)]
    while open_spans:
        first, last = open_spans.pop()
        if last - first < 2:
            continue
        a, b = closed[first], closed[last]
        between = closed[first + 1 : last]
        length = float(np.hypot(*(b - a))) or 1.0
        offset = between - a
        distance = np.abs((b - a)[0] * offset[:, 1] - (b - a)[1] * offset[:, 0]) / length
        worst = int(distance.argmax())
        if distance[worst] > tolerance_px:
            middle = first + 1 + worst
            keep[middle] = True
            open_spans += [(first, middle), (middle, last)]
    return ring[keep[:-1]]
