"""The ground that an object stands on, and where on it there is room for another.

Everything is sought in a small picture: a place need not be known to the pixel.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import cv2
import numpy as np
from scipy.spatial import cKDTree

from groundfault.editors.procedural.edges import Floats, Mask, box_of, colour_steps, floats, grown
from groundfault.editors.procedural.neighbours import Company, foot_of
from groundfault.editors.procedural.repertoire import AIRBORNE, FLAT, HEIGHTS_M, VARIED

__all__ = [
    "USUAL_M",
    "Place",
    "eyes_above",
    "footing",
    "free_place",
    "ground_of",
    "in_front",
    "is_collage",
]

SMALL_PX = 240
"""The longer side of the picture in which places are sought."""
ALIKE = 8.0
"""Colours nearer than this to those of a ground are the ground's, in Lab."""
CHROMA = floats([0.7, 1.3, 1.3])
"""Light falls unevenly on a ground; its hue tells more."""
SAMPLES, RARE = 400, 0.03
"""How many pixels of a ground are compared with, and the share of them that may be something
else."""
LEAST_FOOTING = 0.75
"""The share of a thing's foot that must be on the ground."""
ALL_FOOTING = 0.93
"""The same for what stands alone."""
LEAST_OF_A_FOOT = 0.6
"""The same of each half of it: else it stands with two legs in the air."""
SHELTERED, LEAST_SHELTER = 0.85, 0.15
"""What is asked of the ground under a thing, as a share of the usual, that stands right behind the
object, which hides some of it: nobody sees how it stands."""
LEAST_BEFORE = 0.7
"""The share of what is below a thing that stands farther away, down to the object's own foot, that
must be ground: else it hangs on a wall."""
LEAST_LYING = 0.85
"""The share of a flat thing that must be on the ground that it lies on, or before the sky."""
SEAM = 5.0
"""The step of lightness that 90 % of a seam between two pictures exceed."""
MOST_HIDDEN, MOST_OVERLAP = 0.25, 0.12
"""The share of a new thing that others may hide, and that the object itself may: more looks like
one thing with two heads."""
MOST_COVERED = 0.35
"""The share of another thing that a new one may hide: beyond, it takes that one's place."""
MOST_BEHIND = 0.3
"""The same where the object's outline is known so well that another can stand right behind it."""
DEPTHS = (0.0, -0.07, 0.07, 0.14, 0.24, -0.14, -0.24)
"""How much lower than an object another may stand, as shares of its height; negative is behind.
What leaves its place and things below `LOW_M` stay within the first five: behind them a table or a
floor soon ends."""
BEHIND = -0.05
"""How far behind an object nothing stands alone: there often is a wall or a cupboard of the colours
of the ground, before which it would float."""
LOW_M = 1.0
LOWEST = 0.12
"""How far up from its foot the ground is looked at beside a thing, as a share of its height."""
LENS = 0.95
"""The usual distance between a lens and its picture, as a share of the picture's longer side."""
USUAL_M = 0.5
"""How tall things are of which nobody knows it."""
DEEP = -0.1
"""How far behind the object such a thing may be where the object does not hide some of it."""
NEARER = 0.15
"""What speaks against a place before the object: there all of a foot is seen."""
SIZES = (1.0, 0.8)
"""How large another may be beside the object, where there is no room for one of its size and things
of its category are not all of one."""
LEAST_SCALE, MOST_LARGER = 0.65, (1.15, 1.06)
"""Smaller ones look as if they were far away, where the ground is another; nearer ones are larger,
but what is moved stays much as large as it was."""
HEIGHTS = (0.0, -0.35, 0.35, -0.7, 0.7, -1.15, 1.15)
"""The same for what lies flat or is in the air: it may as well be above or below."""


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
    free: Mask
    """Ground that no other thing has."""
    seen: Mask
    """Ground, or something that stands before it."""
    lying: bool
    """Whether the thing is flat or in the air: all of it is before the ground."""
    most_overlap: float
    """The share of a thing behind the object that the object may hide."""
    alone: bool = False
    """Whether a thing has to stand free of all others, with all of its foot on the ground."""


class _Tried(NamedTuple):
    cost: float
    left: int
    foot: int
    scale: float
    overlap: float
    """The share of it that the object hides."""


def ground_of(photo: Floats, mask: Mask, company: Company, *, lying: bool = False) -> Mask | None:
    """Where the ground goes on that an object stands on: connected, and of the colours around its
    foot, or around all of it if it is `lying` or in the air. None where nothing of it can be
    seen."""
    lab = cv2.GaussianBlur(cv2.cvtColor(photo, cv2.COLOR_RGB2LAB), (0, 0), 1.0)
    rows, columns = box_of(mask)
    tall, wide = rows.stop - rows.start, columns.stop - columns.start
    free = ~grown(mask, 1)
    if company.blocked is not None:
        free &= ~company.blocked
    zone = grown(mask, max(round(0.12 * max(tall, wide)), 3)) & free
    if not lying:
        zone[: rows.stop - max(round(0.1 * tall), 2)] = False
    if zone.sum() < 12:
        return None
    alike = (_apart(lab, lab[zone]) < ALIKE) & free
    square = np.ones((3, 3), np.uint8)
    smooth = cv2.morphologyEx(alike.astype(np.uint8), cv2.MORPH_CLOSE, square)
    smooth = cv2.morphologyEx(smooth, cv2.MORPH_OPEN, square) * free
    if company.carrier is not None and (company.carrier & zone).sum() > 0.5 * zone.sum():
        smooth = smooth * company.carrier
    labels = cv2.connectedComponents(smooth.astype(np.uint8))[1]
    reached = np.unique(labels[zone & (smooth > 0)])
    return np.asarray(np.isin(labels, reached[reached > 0])) if reached.any() else None


def _apart(lab: Floats, colours: Floats) -> Floats:
    """How far each pixel's colour is from the nearest ones of some, but for the rarest of these."""
    few = colours[:: max(len(colours) // SAMPLES, 1)]
    tree = cKDTree(few * CHROMA)
    rank = max(round(RARE * len(few)), 1)
    near = tree.query(lab.reshape(-1, 3) * CHROMA, k=[rank], distance_upper_bound=4 * ALIKE)[0]
    return floats(near.reshape(lab.shape[:2]))


def footing(photo: Floats, mask: Mask, there: Mask, company: Company) -> float:
    """How much of what is around the foot of a thing that stands `there`, in the place of an
    object, is the ground that the object stands on: little where it is held, hangs, or sits on
    something uneven."""
    shrink = min(1.0, SMALL_PX / max(mask.shape))
    room = _room(photo, mask, company, shrink, leaves=True, lying=False)
    if room is None:
        return 0.0
    size = room.mask.shape[::-1]
    own = cv2.resize(there.astype(np.uint8), size, interpolation=cv2.INTER_AREA) > 0
    if not own.any():
        return 0.0
    rows, _ = box_of(own)
    tall = rows.stop - rows.start
    beside = grown(own, max(round(0.1 * tall), 3)) & ~own & ~room.mask
    beside[: rows.stop - max(round(LOWEST * tall), 2)] = False
    return float(room.ground[beside].mean()) if beside.any() else 0.0


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
    most_overlap: float = MOST_OVERLAP,
    figure: Mask | None = None,
) -> Place | None:
    """A place on the ground for another thing of an object's size or with a `figure` of its own, or
    for the object itself if it leaves its own. None if there is none. What stands behind the object
    may be hidden by it up to `most_overlap`."""
    shrink = min(1.0, SMALL_PX / max(mask.shape))
    lying = category in FLAT | AIRBORNE
    room = _room(photo, mask, company, shrink, leaves, lying)
    if room is None:
        return None
    alone = figure is not None
    room = room._replace(most_overlap=0.0 if alone else most_overlap, alone=alone)
    rows, columns = box_of(room.mask)
    own = box_of(mask)[0]
    shape, tall_px = room.mask[rows, columns], own.stop - own.start
    if figure is not None:
        wide, tall = (max(round(side * shrink), 2) for side in figure.shape[::-1])
        small = cv2.resize(figure.astype(np.uint8), (wide, tall), interpolation=cv2.INTER_AREA)
        shape, tall_px = np.asarray(small > 0), len(figure)
    shape = shape[:, ::-1] if flipped else shape
    horizon = _horizon(room.mask, category)
    low = HEIGHTS_M.get(category, LOW_M) < LOW_M
    best: _Tried | None = None
    shallow = leaves or (low and most_overlap <= MOST_OVERLAP)
    for depth in HEIGHTS if lying else DEPTHS[: 5 if shallow else None]:
        if alone and depth < BEHIND:
            continue
        foot = rows.stop + round(depth * len(shape))
        scale = 1.0
        if not lying and horizon is not None and horizon < rows.stop - 0.2 * len(shape):
            scale = (foot - horizon) / (rows.stop - horizon)
        scale = min(scale, MOST_LARGER[leaves]) if depth else 1.0
        if scale < LEAST_SCALE:
            continue
        one_size = leaves or category not in VARIED or (depth > 0 and not lying)
        for size in SIZES[: 1 if one_size else None]:
            for found in _tried(room, shape, foot, size * scale, leaves):
                if low and depth < DEEP and not lying and found.overlap < LEAST_SHELTER:
                    continue
                cost = found.cost + (1 - size) + (NEARER if depth > 0 else 0)
                if best is None or cost < best.cost:
                    best = found._replace(cost=cost)
    if best is None:
        return None
    across = shape.shape[1] * best.scale
    return Place(
        (best.left + across / 2) / shrink,
        own.stop + (best.foot - rows.stop) / shrink,
        tall_px * best.scale,
        flipped,
    )


def _horizon(mask: Mask, category: str) -> float | None:
    """The row at a standing photographer's eyes, by how tall such things are; of small things the
    photographer sits. None where that is unknown."""
    tall_m = HEIGHTS_M.get(category)
    if tall_m is None:
        return None
    tall_px = box_of(mask)[0].stop - box_of(mask)[0].start
    eyes_m, _ = _camera_m(mask, tall_m)
    return float(foot_of(mask) - eyes_m / tall_m * tall_px)


def _camera_m(mask: Mask, tall_m: float) -> tuple[float, float]:
    """How high above a thing's foot a camera is, and how far away, by how tall it is."""
    tall_px = box_of(mask)[0].stop - box_of(mask)[0].start
    away_m = LENS * max(mask.shape) * tall_m / tall_px
    return min(1.5 if tall_m > 0.3 else 0.45, max(1.1 * away_m, 0.3)), away_m


def eyes_above(mask: Mask, category: str) -> tuple[float, float]:
    """How far the camera looks down on a thing, in radians, and how far away it is, in heights of
    the thing."""
    tall_m = HEIGHTS_M.get(category, USUAL_M)
    eyes_m, away_m = _camera_m(mask, tall_m)
    return float(np.arctan2(eyes_m - tall_m / 2, away_m)), away_m / tall_m


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
    ground = ground_of(picture, here, around, lying=lying)
    if ground is None:
        return None
    beside = _beside(here)
    below = float(ground[beside].mean()) if beside.any() else 0.0
    if leaves:
        ground = ground | here
    lab = cv2.cvtColor(picture, cv2.COLOR_RGB2LAB)
    steps = colour_steps(lab)
    others = np.zeros_like(here) if around.blocked is None else around.blocked
    free, seen = ground & ~others, ground | here | others
    return _Room(here, ground, steps, around.obstacles, below, free, seen, lying, MOST_OVERLAP)


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
        if room.lying:
            apart = max(apart, abs(foot_row - rows.stop) / tall)
        in_back = foot_row < rows.stop and not room.lying
        if apart < (0.55 if leaves else 0.3 if in_back else 0.5) or apart > 6:
            continue
        box = slice(top, foot_row), slice(left, left + wide)
        footing, below = _grounded(room, (top, left), foot, low, in_back and not leaves)
        if not room.lying and not _stands(room, (top, left), foot, in_back and not leaves):
            continue
        overlap = float((room.mask[box] & thing).sum() / thing.sum())
        firm = SHELTERED if in_back and overlap > LEAST_SHELTER else 1.0
        if not room.lying and footing < firm * (ALL_FOOTING if room.alone else LEAST_FOOTING):
            continue
        if room.alone and any((other[box] & thing).any() for other in room.obstacles):
            continue
        if not room.lying and below < 0.6 * firm * room.least_below:
            continue
        before = room.seen[foot_row : rows.stop, box[1]]
        if before.size and not room.lying and float(before.mean()) < firm * LEAST_BEFORE:
            continue
        if room.lying and float(room.free[box][thing].mean()) < LEAST_LYING:
            continue
        if not leaves and overlap > (room.most_overlap if in_back else 0.0):
            continue
        hidden = sum(float((other[box] & thing).sum()) for other in in_front) / thing.sum()
        if hidden + (0 if leaves else overlap) > max(MOST_HIDDEN, room.most_overlap):
            continue
        shares = [float((other[box] & thing).sum() / other.sum()) for other in behind]
        if shares and max(shares) > MOST_COVERED:
            continue
        covered = sum(shares)
        busy = float(room.steps[box][thing].mean())
        near = abs(apart - (0.65 if leaves else 1.2))  # what leaves hides some of its hole
        cost = 3 * (1 - footing) + 0.5 * hidden + 0.5 * covered + 0.05 * busy + 0.25 * near
        cost += 0.5 * (0 if leaves else overlap)
        yield _Tried(float(cost), left, foot_row, scale, overlap)


def _grounded(
    room: _Room, corner: tuple[int, int], foot: Mask, low: Mask, in_back: bool
) -> tuple[float, float]:
    """The shares of a thing's foot and of its lower half that are on the ground; behind the object,
    of what the object does not hide of them."""
    top, left = corner
    columns = slice(left, left + low.shape[1])
    found = []
    for part in (foot, low):
        box = slice(top, top + len(part)), columns
        seen = part & ~room.mask[box] if in_back else part
        found.append(float(room.ground[box][seen].mean()) if seen.any() else 1.0)
    return found[0], found[1]


def _stands(room: _Room, corner: tuple[int, int], foot: Mask, in_back: bool) -> bool:
    """Whether both halves of a thing's foot are on the ground, as far as they are seen."""
    top, left = corner
    box = slice(top, top + len(foot)), slice(left, left + foot.shape[1])
    seen = foot & ~room.mask[box] if in_back else foot
    columns = np.flatnonzero(foot.any(0))
    middle = int(columns[0] + columns[-1] + 1) // 2 if columns.size else 0
    halves = (
        (seen[:, :middle], room.ground[box][:, :middle]),
        (
            seen[:, middle:],
            room.ground[box][:, middle:],
        ),
    )
    return all(
        not part.any() or float(ground[part].mean()) >= LEAST_OF_A_FOOT for part, ground in halves
    )


def in_front(
    place: Place, company: Company, own: Mask | None = None, alpha: Floats | None = None
) -> Floats | None:
    """How much of each pixel belongs to things that stand before a place: their feet are lower. The
    object's `own` share is `alpha` where that is known."""
    standing = [other for other in company.obstacles if foot_of(other) > place.foot_px]
    is_own = own is not None and foot_of(own) > place.foot_px
    if own is not None and is_own and alpha is None:
        standing.append(own)
    found = alpha if is_own else None
    if not standing:
        return found
    mask = np.logical_or.reduce(standing).astype(np.float32)
    soft = floats(cv2.GaussianBlur(mask, (0, 0), 0.8))
    return soft if found is None else np.maximum(soft, found)
