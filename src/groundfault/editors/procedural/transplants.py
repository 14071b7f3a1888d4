"""Things put into a photograph: another one's in the place of its own, a second one beside it, or
its own somewhere else. The new mask is exact."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

import cv2
import numpy as np

from groundfault.editors.procedural.donors import Donor, Donors
from groundfault.editors.procedural.edges import (
    Floats,
    Mask,
    around,
    box_of,
    floats,
    grown,
    matte,
    snap,
)
from groundfault.editors.procedural.fitness import (
    SMALLEST_PX,
    Measures,
    is_whole,
    measure,
    solidity_of,
    tallness_of,
)
from groundfault.editors.procedural.relief import blur_px
from groundfault.editors.procedural.relocation import shadowed
from groundfault.editors.procedural.repertoire import COMPANY

__all__ = ["Cutting", "Place", "best_donor", "cutting_of", "free_place", "pasted"]

SIDE = 40
"""Silhouettes are compared on a square of this side."""
CLOSER_LOOKS = 4
"""Donors whose pictures are opened, the most similar silhouettes first."""
MOST_ENLARGED = 1.7
MOST_CROWDED = 1.65
"""How unlike the ground and how busy a place beside an object may be."""
MOST_UNLIKE = 0.9
"""In outline, light and sharpness together; no donor is used that is more so."""


class Cutting(NamedTuple):
    """A thing cut out of a photograph, in a box of its own."""

    fore: Floats
    alpha: Floats
    surroundings: Floats
    """Mean Lab colour around it, in its own photograph."""
    contrast: float
    """The deviation of lightness there."""


class Place(NamedTuple):
    """Where a thing goes: the column of its middle, the row of its foot, its height."""

    middle_px: float
    foot_px: float
    tall_px: float
    flipped: bool = False


# ---- which donor


class _Silhouette(NamedTuple):
    shape: Mask
    tall_px: int
    wide_px: int


def _silhouette(mask: Mask) -> _Silhouette:
    rows, columns = box_of(mask)
    tall, wide = rows.stop - rows.start, columns.stop - columns.start
    small = cv2.resize(
        mask[rows, columns].astype(np.uint8), (SIDE, SIDE), interpolation=cv2.INTER_AREA
    )
    return _Silhouette(np.asarray(small > 0), tall, wide)


@functools.lru_cache(maxsize=4096)
def _whole_silhouette(donor: Donor) -> _Silhouette | None:
    """A donor's silhouette; None if something of it is hidden or beyond the picture."""
    mask = donor.mask()
    cut = mask[:2].any() or mask[-2:].any() or mask[:, [0, 1, -1, -2]].any()
    if cut or int(mask.sum()) < SMALLEST_PX:
        return None
    whole = is_whole(donor.category, solidity_of(mask), tallness_of(mask))
    return _silhouette(mask) if whole else None


def best_donor(
    photo: Floats, mask: Mask, category: str, wanted: str, donors: Donors
) -> tuple[Donor, Cutting, Place] | None:
    """The donor that suits an object's place best, cut out, and where it goes; None if none
    does."""
    target = _silhouette(mask)
    near = sorted(_similar(target, category, wanted, donors), key=lambda found: found[0])
    best: tuple[float, Donor, Floats, Mask, Place] | None = None
    here = _surroundings(photo, mask)
    blur = blur_px(photo, grown(mask, 2))
    for unlike, donor, flipped, scale in near[:CLOSER_LOOKS]:
        picture = floats(floats(donor.image()) / 255)
        outline = donor.mask()
        if picture.shape == photo.shape and float(np.abs(picture - photo).mean()) < 0.01:
            continue  # the same photograph
        found = measure(picture, outline)
        problem = _problem(found)
        if problem:
            continue
        there = _surroundings(picture, outline)
        soft = max(blur_px(picture, outline) * scale - max(blur, 0.6), 0)
        cost = unlike + 0.015 * float(np.abs(here - there) @ (1.0, 0.7, 0.7)) + 0.5 * soft
        if best is None or cost < best[0]:
            place = _instead(mask, target, _silhouette(outline), scale, flipped)
            best = cost, donor, picture, outline, place
    if best is None or best[0] > MOST_UNLIKE:
        return None
    _, donor, picture, outline, place = best
    return donor, cutting_of(picture, outline), place


def _similar(
    target: _Silhouette, category: str, wanted: str, donors: Donors
) -> Iterator[tuple[float, Donor, bool, float]]:
    """How unlike donors are in outline, with whether they are to be flipped, and their scale."""
    for donor in donors.of(wanted):
        if donor.category == category or donor.category == "person":
            continue
        if not wanted and not any({category, donor.category} <= some for some in COMPANY):
            continue
        own = _whole_silhouette(donor)
        if own is None:
            continue
        scale = float(np.sqrt(target.tall_px * target.wide_px / (own.tall_px * own.wide_px)))
        stretch = abs(np.log((target.tall_px / target.wide_px) / (own.tall_px / own.wide_px)))
        if scale > MOST_ENLARGED or stretch > 0.5:
            continue
        for flipped in (False, True):
            shape = own.shape[:, ::-1] if flipped else own.shape
            overlap = (shape & target.shape).sum() / (shape | target.shape).sum()
            yield float(1 - overlap + stretch + 0.3 * max(scale - 1, 0)), donor, flipped, scale


def _problem(found: Measures) -> str:
    if found.pieces > 0.04 or found.contrast < 0.6 or found.blur_px > 2.0 or found.burnt > 0.3:
        return "unfit"
    return ""


def _surroundings(photo: Floats, mask: Mask) -> Floats:
    lab = cv2.cvtColor(photo, cv2.COLOR_RGB2LAB)
    ring = around(mask, 5, 60)
    return floats(lab[ring].mean(0) if ring.any() else lab.reshape(-1, 3).mean(0))


def _instead(
    mask: Mask, target: _Silhouette, own: _Silhouette, scale: float, flipped: bool
) -> Place:
    rows, columns = box_of(mask)
    return Place((columns.start + columns.stop) / 2, rows.stop, own.tall_px * scale, flipped)


# ---- cutting and pasting


def cutting_of(photo: Floats, mask: Mask) -> Cutting:
    """A thing with its soft edge, cut out."""
    mask = snap(photo, mask)
    edge = matte(photo, mask)
    box = box_of(edge.alpha > 0, 2)
    lab = cv2.cvtColor(photo, cv2.COLOR_RGB2LAB)
    ring = around(mask, 5, 60)
    lightness = lab[..., 0][ring] if ring.any() else lab[..., 0]
    return Cutting(
        edge.fore[box], edge.alpha[box], _surroundings(photo, mask), float(lightness.std())
    )


def pasted(
    photo: Floats, cutting: Cutting, place: Place, *, harmonise: float = 0.5, blur: float = 0.0
) -> tuple[Floats, Mask, Mask]:
    """A thing put into a photograph: the picture, the thing's mask, and all that changed."""
    alpha, fore = _fitted(cutting, place, blur)
    rows, columns, part = _landing(photo.shape, alpha.shape, place)
    share = np.zeros(photo.shape[:2], np.float32)
    colours = photo.copy()
    share[rows, columns] = alpha[part]
    mask = share > 0.5
    if not mask.any():
        return photo, mask, mask
    if harmonise:
        fore = _harmonised(fore, cutting, photo, mask, harmonise)
    colours[rows, columns] = fore[part]
    ground = shadowed(photo, mask, 0.38)
    out = colours * share[..., None] + ground * (1 - share[..., None])
    touched = (np.abs(out - photo) > 0.5 / 255).any(-1) | (share > 0)
    return floats(out), mask, touched


def _fitted(cutting: Cutting, place: Place, blur: float) -> tuple[Floats, Floats]:
    """A cutting at the size of its place, turned as it wants it."""
    solid = cutting.alpha > 0.5
    rows, _ = box_of(solid)
    scale = place.tall_px / (rows.stop - rows.start)
    size = tuple(max(round(side * scale), 1) for side in cutting.alpha.shape[::-1])
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    alpha = np.clip(cv2.resize(floats(cutting.alpha), size, interpolation=how), 0, 1)
    fore = np.clip(cv2.resize(floats(cutting.fore), size, interpolation=how), 0, 1)
    if blur > 0.3:
        fore = cv2.GaussianBlur(fore, (0, 0), blur)
    if place.flipped:
        alpha, fore = alpha[:, ::-1], fore[:, ::-1]
    return floats(np.ascontiguousarray(alpha)), floats(np.ascontiguousarray(fore))


def _landing(
    size: tuple[int, ...], shape: tuple[int, ...], place: Place
) -> tuple[slice, slice, tuple[slice, slice]]:
    """Rows and columns of the photograph, and the part of a cutting that lands there."""
    top = round(place.foot_px - shape[0] + 2)
    left = round(place.middle_px - shape[1] / 2)
    rows = slice(max(top, 0), min(top + shape[0], size[0]))
    columns = slice(max(left, 0), min(left + shape[1], size[1]))
    part = (
        slice(rows.start - top, rows.stop - top),
        slice(columns.start - left, columns.stop - left),
    )
    return rows, columns, part


def _harmonised(fore: Floats, cutting: Cutting, photo: Floats, mask: Mask, share: float) -> Floats:
    """A thing's colours moved, part of the way, as its surroundings differ from the new ones."""
    lab = cv2.cvtColor(fore, cv2.COLOR_RGB2LAB)
    here = cv2.cvtColor(photo, cv2.COLOR_RGB2LAB)[around(mask, 5, 60)]
    if not len(here):
        return fore
    limits = floats([20, 7, 9])
    move = np.clip((here.mean(0) - cutting.surroundings) * share, -limits, limits)
    gain = np.clip(here[:, 0].std() / max(cutting.contrast, 1.0), 0.8, 1.25) ** share
    middle = lab[..., 0].mean()
    lab[..., 0] = (lab[..., 0] - middle) * gain + middle
    return floats(np.clip(cv2.cvtColor(floats(lab + move), cv2.COLOR_LAB2RGB), 0, 1))


# ---- where there is room


def free_place(photo: Floats, mask: Mask, *, apart: float, flipped: bool) -> Place | None:
    """A place beside an object, on the same line, where another of its size can stand: the ground
    goes on there and nothing else is in the way. None if there is none."""
    rows, columns = box_of(mask)
    tall, wide = rows.stop - rows.start, columns.stop - columns.start
    lab = cv2.GaussianBlur(cv2.cvtColor(photo, cv2.COLOR_RGB2LAB), (0, 0), 2.0)
    steps = _steps(lab)
    foot = _strip(rows, columns, tall)
    usual = _beside(lab, mask, rows, columns, tall)
    if usual is None:
        return None
    best: tuple[float, int] | None = None
    for side in (-1, 1):
        for share in np.arange(apart, 3.2, 0.12):
            shift = round(side * share * wide)
            if columns.start + shift < 3 or columns.stop + shift > mask.shape[1] - 3:
                break
            moved = slice(columns.start + shift, columns.stop + shift)
            ground = lab[foot, moved].reshape(-1, 3)
            unlike = float(np.linalg.norm(ground.mean(0) - usual))
            rough = float(ground.std(0).sum())
            busy = float(steps[rows, moved].mean())
            cost = 0.05 * unlike + 0.025 * rough + 0.35 * busy + 0.1 * share
            if best is None or cost < best[0]:
                best = cost, shift
    if best is None or best[0] > MOST_CROWDED:
        return None
    middle = (columns.start + columns.stop) / 2 + best[1]
    return Place(middle, rows.stop, float(tall), flipped)


def _strip(rows: slice, columns: slice, tall: int) -> slice:
    """The rows in which a thing stands on the ground."""
    return slice(rows.stop - max(int(0.15 * tall), 3), rows.stop + max(int(0.06 * tall), 2))


def _beside(lab: Floats, mask: Mask, rows: slice, columns: slice, tall: int) -> Floats | None:
    """The ground's colour left and right of an object's foot."""
    strip = np.zeros_like(mask)
    reach = max((columns.stop - columns.start) // 3, 4)
    strip[_strip(rows, columns, tall), max(columns.start - reach, 0) : columns.stop + reach] = True
    strip &= ~grown(mask, 5)
    return floats(np.median(lab[strip], 0)) if strip.sum() > 20 else None


def _steps(lab: Floats) -> Floats:
    gx = cv2.Sobel(lab, cv2.CV_32F, 1, 0, scale=0.125)
    gy = cv2.Sobel(lab, cv2.CV_32F, 0, 1, scale=0.125)
    return floats(np.sqrt((gx**2 + gy**2).sum(2)))
