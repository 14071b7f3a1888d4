"""The ground that an object stands on, and where on it there is room for another.

Everything is sought in a small picture: a place need not be known to the pixel.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import cv2
import numpy as np

from groundfault.editors.procedural.edges import Floats, Mask, box_of, floats, grown
from groundfault.editors.procedural.neighbours import Company, foot_of
from groundfault.editors.procedural.repertoire import FLAT, HEIGHTS_M

__all__ = ["Place", "free_place", "ground_of", "is_collage"]

SMALL_PX = 240
"""The longer side of the picture in which places are sought."""
MOST_SPREAD = (24.0, 12.0, 12.0)
"""How much a plain ground's colours may spread, in Lab."""
LEAST_FOOTING = 0.75
"""The share of a thing's foot that must be on the ground."""
LEAST_LYING = 0.7
"""The share of a flat thing that must be on the ground that it lies on."""
SEAM = 5.0
"""The step of lightness that 90 % of a seam between two pictures exceed."""
MOST_HIDDEN = 0.4
"""The share of a new thing that others may hide."""
DEPTHS = (0.0, -0.07, 0.07, -0.14, -0.24, -0.36, 0.14)
"""How much lower than an object another may stand, as shares of its height; negative is behind. One
that leaves its place stays within the first three."""


class Place(NamedTuple):
    """Where a thing goes: the column of its middle, the row of its foot, its height."""

    middle_px: float
    foot_px: float
    tall_px: float
    flipped: bool = False


class _Room(NamedTuple):
    """What is to be known of a photograph to judge places in it, at a small size."""

    mask: Mask
    ground: Mask
    steps: Floats
    obstacles: tuple[Mask, ...]
    least_below: float
    """The share of what is behind a thing's lower half that must be ground."""
    lying: bool
    """Whether the thing is flat: all of it is on the ground."""


class _Tried(NamedTuple):
    cost: float
    left: int
    foot: int
    scale: float


def ground_of(photo: Floats, mask: Mask, company: Company) -> Mask | None:
    """Where the ground goes on that an object stands on: connected, and of the colours around its
    foot. None where those are of many kinds, or nothing of it can be seen."""
    lab = cv2.GaussianBlur(cv2.cvtColor(photo, cv2.COLOR_RGB2LAB), (0, 0), 1.0)
    rows, columns = box_of(mask)
    tall, wide = rows.stop - rows.start, columns.stop - columns.start
    free = ~grown(mask, 1)
    if company.blocked is not None:
        free &= ~company.blocked
    zone = grown(mask, max(round(0.12 * max(tall, wide)), 3)) & free
    zone[: rows.stop - max(round(0.1 * tall), 2)] = False
    if zone.sum() < 12:
        return None
    usual = np.median(lab[zone], 0)
    spread = 1.48 * np.median(np.abs(lab[zone] - usual), 0)
    if (spread > MOST_SPREAD).any():
        return None
    may = np.maximum(2.8 * spread, (11.0, 5.0, 5.0))
    alike = (np.abs(lab - usual) < may).all(2) & free
    square = np.ones((3, 3), np.uint8)
    smooth = cv2.morphologyEx(alike.astype(np.uint8), cv2.MORPH_CLOSE, square)
    smooth = cv2.morphologyEx(smooth, cv2.MORPH_OPEN, square) * free
    if company.carrier is not None and (company.carrier & zone).sum() > 0.5 * zone.sum():
        smooth = smooth * company.carrier
    labels = cv2.connectedComponents(smooth.astype(np.uint8))[1]
    reached = np.unique(labels[zone & (smooth > 0)])
    return np.asarray(np.isin(labels, reached[reached > 0])) if reached.any() else None


def is_collage(photo: Floats) -> bool:
    """Whether a straight seam goes all the way across or down a picture: it is made of several, and
    a thing must not stand across the seam."""
    small = cv2.resize(photo, (SMALL_PX, SMALL_PX), interpolation=cv2.INTER_AREA)
    light = cv2.cvtColor(floats(small), cv2.COLOR_RGB2LAB)[..., 0]
    return any(
        float(np.percentile(np.abs(np.diff(values, axis=1)), 10, axis=0).max()) > SEAM
        for values in (light, light.T)
    )


def free_place(
    photo: Floats,
    mask: Mask,
    company: Company,
    *,
    category: str,
    flipped: bool,
    leaves: bool = False,
) -> Place | None:
    """A place on the ground for another thing of an object's size, or for the object itself if it
    leaves its own. None if there is none."""
    shrink = min(1.0, SMALL_PX / max(mask.shape))
    room = _room(photo, mask, company, shrink, leaves, category in FLAT)
    if room is None:
        return None
    rows, columns = box_of(room.mask)
    shape = room.mask[rows, columns]
    shape = shape[:, ::-1] if flipped else shape
    horizon = _horizon(room.mask, category)
    best: _Tried | None = None
    for depth in DEPTHS[:3] if leaves else DEPTHS:
        foot = rows.stop + round(depth * len(shape))
        scale = 1.0
        if horizon is not None and horizon < rows.stop - 0.2 * len(shape):
            scale = (foot - horizon) / (rows.stop - horizon)
        scale = float(np.clip(scale, 0.5, 1.15)) if depth else 1.0
        for found in _tried(room, shape, foot, scale, leaves):
            if best is None or found.cost < best.cost:
                best = found
    if best is None:
        return None
    wide = shape.shape[1] * best.scale
    own = box_of(mask)[0]
    return Place(
        (best.left + wide / 2) / shrink,
        own.stop + (best.foot - rows.stop) / shrink,
        (own.stop - own.start) * best.scale,
        flipped,
    )


def _horizon(mask: Mask, category: str) -> float | None:
    """The row at a standing photographer's eyes, by how tall such things are; of small things the
    photographer sits. None where that is unknown."""
    tall_m = HEIGHTS_M.get(category)
    if tall_m is None:
        return None
    foot, tall_px = foot_of(mask), box_of(mask)[0].stop - box_of(mask)[0].start
    away_m = 0.95 * max(mask.shape) * tall_m / tall_px
    eyes_m = min(1.5 if tall_m > 0.3 else 0.45, max(1.1 * away_m, 0.3))
    return float(foot - eyes_m / tall_m * tall_px)


def _room(
    photo: Floats, mask: Mask, company: Company, shrink: float, leaves: bool, lying: bool
) -> _Room | None:
    size = (max(round(mask.shape[1] * shrink), 8), max(round(mask.shape[0] * shrink), 8))

    def small(wide: Mask) -> Mask:
        return np.asarray(cv2.resize(wide.astype(np.uint8), size, interpolation=cv2.INTER_AREA) > 0)

    picture = floats(cv2.resize(photo, size, interpolation=cv2.INTER_AREA))
    here = small(mask)
    if here.all() or not here.any():
        return None
    around = company._replace(
        carrier=None if company.carrier is None else small(company.carrier),
        obstacles=tuple(other for other in map(small, company.obstacles) if other.any()),
    )
    ground = ground_of(picture, here, around)
    if ground is None:
        return None
    beside = _beside(here)
    below = float(ground[beside].mean()) if beside.any() else 0.0
    if leaves:
        ground = ground | here
    lab = cv2.cvtColor(picture, cv2.COLOR_RGB2LAB)
    steps = np.sqrt(
        (cv2.Sobel(lab, cv2.CV_32F, 1, 0, scale=0.125) ** 2).sum(2)
        + (cv2.Sobel(lab, cv2.CV_32F, 0, 1, scale=0.125) ** 2).sum(2)
    )
    return _Room(here, ground, floats(steps), around.obstacles, below, lying)


def _beside(mask: Mask) -> Mask:
    """What is left and right of an object's lower half."""
    rows, columns = box_of(mask)
    wide = columns.stop - columns.start
    reach = np.asarray(cv2.dilate(mask.astype(np.uint8), np.ones((1, wide | 1), np.uint8)) > 0)
    reach &= ~grown(mask, 1)
    reach[: (rows.start + rows.stop) // 2] = False
    reach[rows.stop :] = False
    return reach


def _foot(shape: Mask) -> Mask:
    """Where a silhouette, with two rows below it, touches the ground."""
    tall = len(shape)
    padded = np.pad(shape, ((0, 2), (0, 0)))
    low = tall - 1 - np.argmax(shape[::-1], 0)
    contact = shape.any(0) & (low >= tall - 1 - 0.22 * tall)
    row = np.arange(tall + 2)[:, None]
    return np.asarray(
        contact & (row > low - max(0.06 * tall, 2)) & (row <= low + 2) & (padded | (row > low))
    )


def _tried(room: _Room, shape: Mask, foot_row: int, scale: float, leaves: bool) -> Iterator[_Tried]:
    """Places on one line, with what speaks against each; impossible ones are left out."""
    size = (max(round(shape.shape[1] * scale), 2), max(round(shape.shape[0] * scale), 3))
    thing = cv2.resize(shape.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST) > 0
    tall, wide = thing.shape
    top, height = foot_row - tall, room.mask.shape[0]
    if top < 1 or foot_row + 2 > height:
        return
    foot, low = _foot(np.asarray(thing)), np.asarray(thing).copy()
    low[: tall // 2] = False
    rows, columns = box_of(room.mask)
    own_middle = (columns.start + columns.stop) / 2
    in_front = [other for other in room.obstacles if foot_of(other) > foot_row]
    behind = [other for other in room.obstacles if foot_of(other) <= foot_row]
    for left in range(2, room.mask.shape[1] - wide - 1, max(wide // 16, 1)):
        apart = abs(left + wide / 2 - own_middle) / wide
        if apart < (0.55 if leaves else 0.5) or apart > 6:
            continue
        box = slice(top, foot_row), slice(left, left + wide)
        footing = float(room.ground[top : foot_row + 2, box[1]][foot].mean())
        below = float(room.ground[box][low].mean())
        if footing < LEAST_FOOTING or below < 0.6 * room.least_below:
            continue
        if room.lying and float(room.ground[box][thing].mean()) < LEAST_LYING:
            continue
        overlap = float((room.mask[box] & thing).sum() / thing.sum())
        if not leaves and overlap > (0.55 if foot_row < rows.stop else 0.0):
            continue
        hidden = sum(float((other[box] & thing).sum()) for other in in_front) / thing.sum()
        if hidden > MOST_HIDDEN:
            continue
        covered = sum(float((other[box] & thing).sum() / other.sum()) for other in behind)
        busy = float(room.steps[box][thing].mean())
        near = abs(apart - (0.8 if leaves else 1.2))
        cost = 3 * (1 - footing) + 0.5 * hidden + 0.5 * covered + 0.05 * busy + 0.25 * near
        yield _Tried(float(cost + 0.5 * (0 if leaves else overlap)), left, foot_row, scale)
