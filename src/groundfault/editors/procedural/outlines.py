"""Outlines that follow what is seen: drawn polygons are off by several pixels, and whatever is laid
over an object shows that."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
import scipy.ndimage as ndi

from groundfault.editors.procedural.edges import Floats, Mask, depth_inside, floats
from groundfault.editors.procedural.relief import extent_px

__all__ = ["followed"]

STEP_PX = 2.0
"""How far apart an outline's points are."""
MOST_PX = 8
"""Farther inwards a point of an outline never moves."""
MOST_OUT_PX = 5
"""And outwards: builds promise that nothing farther from a mask changes than some pixels."""
BEND = 0.35
"""What it costs that neighbouring points move differently, per squared pixel."""
FAR = 0.25
"""What a move costs, as a share of the farthest."""
CALM_POINTS = 21
"""How many points of a stiff outline agree on how far they move."""
LEAST_IOU = 0.8
AT_BORDER_PX = 6
"""Drawn outlines end some pixels before the picture's border where things go on beyond it."""
LEAST_AT_BORDER_PX = 12
"""How much of a border a thing that goes on beyond it has."""


class _Path(NamedTuple):
    """A closed outline: points (n, 2) as x and y, and what points outwards from them."""

    points: Floats
    outwards: Floats


def followed(photo: Floats, mask: Mask, *, stiff: bool = False) -> Mask:
    """The mask, each of its outlines moved along its normals to where the colours change, all
    points together (dynamic programming): a smooth outline on the strongest edge that separates
    what is inside from what is outside. What is `stiff`, as made things are, keeps straight lines
    straight. Where that would change the mask much it stays as it is."""
    lab = cv2.GaussianBlur(cv2.cvtColor(floats(photo), cv2.COLOR_RGB2LAB), (0, 0), 0.8)
    reach = int(np.clip(round(0.035 * extent_px(mask)), 4, MOST_PX))
    contours, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    depth = depth_inside(mask)
    outer, holes = np.zeros(mask.shape, np.uint8), np.zeros(mask.shape, np.uint8)
    for contour in contours:
        if len(contour) < 24:
            continue
        path = _path(floats(contour[:, 0]), mask)
        shifts = _shifts(lab, path, reach, depth)
        if stiff:
            shifts = _calm(shifts)
        moved = path.points + shifts[:, None] * path.outwards
        is_hole = cv2.contourArea(contour, oriented=True) > 0
        cv2.fillPoly(
            holes if is_hole else outer, [np.round(moved * 16).astype(np.int32)], 1, shift=4
        )
    found = (outer > 0) & ~(holes > 0)
    both = int((found | mask).sum())
    if not both or int((found & mask).sum()) < LEAST_IOU * both:
        found = mask
    return _up_to_border(found, mask)


def _up_to_border(found: Mask, drawn: Mask) -> Mask:
    """A mask that goes up to each of the picture's borders to which a drawn one almost does."""
    for turns in range(4):  # the left border of the picture, turned
        turned, near = np.rot90(found, turns).copy(), np.rot90(drawn, turns)
        rows = np.asarray(near[:, :AT_BORDER_PX].any(1))
        if int(rows.sum()) >= LEAST_AT_BORDER_PX:
            reached = turned[:, : AT_BORDER_PX + MOST_PX]
            first = np.asarray(np.where(reached.any(1), reached.argmax(1), 0))
            columns = np.arange(reached.shape[1])[None]
            turned[:, : reached.shape[1]] |= rows[:, None] & (columns < first[:, None])
        found = np.rot90(turned, -turns)
    return np.ascontiguousarray(found)


def _path(points: Floats, mask: Mask) -> _Path:
    """An outline's points at even distances, smoothed as far as a drawn outline is exact."""
    steps = np.linalg.norm(np.diff(points, axis=0, append=points[:1]), axis=1)
    along = np.concatenate([[0], np.cumsum(steps)])
    count = max(int(along[-1] / STEP_PX), 8)
    at = np.linspace(0, along[-1], count, endpoint=False)
    closed = np.concatenate([points, points[:1]])
    even = np.stack([np.interp(at, along, closed[:, axis]) for axis in (0, 1)], 1)
    even = _round(even, 1.0)
    tangent = _round(np.roll(even, -1, 0) - np.roll(even, 1, 0), 2.0)
    normal = np.stack([tangent[:, 1], -tangent[:, 0]], 1)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True) + 1e-6
    inside = _at(mask.astype(np.float32), even + 2 * normal)
    outside = _at(mask.astype(np.float32), even - 2 * normal)
    return _Path(floats(even), floats(normal if inside.mean() < outside.mean() else -normal))


def _calm(shifts: Floats) -> Floats:
    """Shifts along an outline without those that a short piece makes alone."""
    usual = ndi.median_filter(shifts, CALM_POINTS, mode="wrap")
    return _round(floats(usual), CALM_POINTS / 5)


def _round(values: Floats, sigma: float) -> Floats:
    """Values along a closed path, smoothed."""
    return floats(ndi.gaussian_filter1d(values, sigma, axis=0, mode="wrap"))


def _at(picture: Floats, points: Floats) -> Floats:
    x, y = floats(points[:, 0])[:, None], floats(points[:, 1])[:, None]
    found = cv2.remap(picture, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return floats(found[:, 0])


def _shifts(lab: Floats, path: _Path, reach: int, depth: Floats) -> Floats:
    """How far each point moves outwards, in pixels."""
    margin = 5
    offsets = np.arange(-reach - margin, reach + margin + 1)
    profile = np.stack([_at(lab, path.points + k * path.outwards) for k in offsets], 1)
    cost = _cost(profile, reach, margin)
    room = cv2.dilate(depth, np.ones((2 * reach + 1,) * 2, np.uint8))
    thick = _at(room, path.points)  # legs and poles must not vanish
    inwards = -np.arange(-reach, reach + 1)[None]
    cost = cost + 1e3 * (inwards > np.maximum(0.4 * thick, 1)[:, None])
    cost = cost + 1e3 * (inwards < -MOST_OUT_PX)
    return _round(floats(_cheapest(cost) - reach), 1.0)


def _cost(profile: Floats, reach: int, margin: int) -> Floats:
    """What each shift of each point costs, (n, 2 reach + 1): little on a strong edge, and where
    what is inside of it is like the object beside it and what is outside is not."""
    count = 2 * reach + 1
    sums = np.cumsum(np.concatenate([np.zeros_like(profile[:, :1]), profile], 1), 1)
    middle = margin + np.arange(count)
    wide = 3
    inner = (sums[:, middle] - sums[:, middle - wide]) / wide
    outer = (sums[:, middle + 1 + wide] - sums[:, middle + 1]) / wide
    edge = np.linalg.norm(inner - outer, axis=2)
    strength = edge / (edge + 12)
    within = _round(profile[:, : margin - 1].mean(1), 3.0)[:, None]
    without = _round(profile[:, -margin + 1 :].mean(1), 3.0)[:, None]
    here = profile[:, margin : margin + count]
    to_in, to_out = (np.linalg.norm(here - c, axis=2) for c in (within, without))
    alien = (to_in - to_out) / (to_in + to_out + 10)  # above 0 where a pixel is not the object's
    run = np.cumsum(np.concatenate([np.zeros_like(alien[:, :1]), alien], 1), 1)
    region = 2 * run[:, :-1] - run[:, -1:] + alien  # what is inside is alien, or outside is not
    away = np.abs(np.arange(count) - reach) / reach
    return floats(-3.0 * strength + 0.35 * region + FAR * away)


def _cheapest(cost: Floats) -> Floats:
    """The closed path of least cost through the columns, by Viterbi twice around."""
    count, width = cost.shape
    step = np.arange(width)
    bend = BEND * (step[:, None] - step[None]) ** 2
    total = np.zeros(width)
    came = np.zeros((2 * count, width), np.int64)
    for number in range(2 * count):
        ways = total[None] + bend
        came[number] = ways.argmin(1)
        total = ways[step, came[number]] + cost[number % count]
    chosen = np.zeros(2 * count, np.int64)
    chosen[-1] = int(total.argmin())
    for number in range(2 * count - 1, 0, -1):
        chosen[number - 1] = came[number, chosen[number]]
    half = count // 2
    return np.roll(chosen[half : half + count], half)
