"""Things put into a photograph: another one's in the place of its own, a second one beside it, or
its own somewhere else. The new mask is exact."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

import cv2
import numpy as np

from groundfault.editors.procedural.covering import (
    Figure,
    Fit,
    covering,
    figure_of,
    is_alike_upright,
    is_cut,
)
from groundfault.editors.procedural.cutouts import cut_out
from groundfault.editors.procedural.donors import Donor, Donors
from groundfault.editors.procedural.edges import (
    Floats,
    Mask,
    Matte,
    around,
    box_of,
    floats,
    grown,
    matte,
    snap,
)
from groundfault.editors.procedural.fitness import (
    SMALLEST_PX,
    can_be_cut_out,
    is_whole,
    solidity_of,
    tallness_of,
)
from groundfault.editors.procedural.grounds import Place
from groundfault.editors.procedural.relief import blur_px, greyness, luma
from groundfault.editors.procedural.repertoire import (
    FEET_HIDDEN,
    HEIGHTS_M,
    LENGTHS_M,
    LIVING,
    TURNABLE,
)
from groundfault.editors.procedural.shadows import shadow_of, shadowed

__all__ = [
    "Cutting",
    "best_donor",
    "cutting_of",
    "instead_of",
    "is_inside",
    "is_seen",
    "landing",
    "mask_at",
    "pasted",
]

SEEN_PX = 70
"""How much of its surroundings is looked at around a donor."""
CLOSER_LOOKS = 40
"""Donors whose pictures are opened, the most similar silhouettes first."""
MOST_CUT_OUT = 4
"""Donors that are cut out, the most suited first, until one is seen clearly."""
SAME_PHOTO = 0.01
"""Small copies of two photographs that differ by less are of the same one."""
MOST_ENLARGED = 2.0
"""How many times larger than in its photograph a donor may become."""
MOST_TALLER, MOST_LONGER = 2.6, 2.6
"""How many times taller or longer than the object's kind a donor's may be, or less so."""
OF_ALL_SIZES = frozenset({"cat", "dog"})
"""Categories that replace each other whatever their usual sizes: there are small dogs."""
FOOT = 0.25
"""The lowest share of a thing's height, beside which its shadow is carried along: what is dark
farther up is something else."""
MOST_SHADOW = 0.25
"""The largest share of a thing's area that its shadow may have to be carried along."""
BURNT = 0.9
"""From here on ground is burnt out, up to white, and takes ever less of a shadow, which would be a
grey stain there."""
LEAST_SEEN, LEAST_UNLIKE = 0.012, 12.0
"""The share of the picture that a new thing must have, and its mean colour distance from what was
there: a flower among flowers is not found."""
MOST_OTHER_GROUND = 25.0
"""How much the surroundings of what stands in grass may differ from its new ones, in Lab: its feet
are hidden by them."""
GREY = 0.5
"""From which greyness on a photograph is black and white: its things stay in such ones."""
MOST_LIGHTER = 40.0
"""How much lighter or darker than an object a donor may be, in Lab: a white couch glares in a dim
room."""
MOST_UNLIKE = 1.15
"""In outline, light and sharpness together; no donor is used that is more so."""


class Cutting(NamedTuple):
    """A thing cut out of a photograph, in a box of its own."""

    fore: Floats
    alpha: Floats
    surroundings: Floats
    """Mean Lab colour around it, in its own photograph."""
    contrast: float
    """The deviation of lightness there."""
    shade: Floats
    """How much of its light the ground beside it gets, up to 1: less in the thing's shadow."""


# ---- which donor


@functools.lru_cache(maxsize=4096)
def _whole_figure(donor: Donor) -> Figure | None:
    """A donor's figure; None if something of it is hidden or beyond the picture."""
    mask = donor.mask()
    if is_cut(mask, donor.category) or int(mask.sum()) < SMALLEST_PX:
        return None
    whole = is_whole(donor.category, solidity_of(mask), tallness_of(mask))
    return figure_of(mask) if whole else None


class _Looks(NamedTuple):
    """What is measured of a donor's photograph, once."""

    box: tuple[slice, slice]
    surroundings: Floats
    light: float
    """The donor's own median lightness, in Lab."""
    grey: bool
    blur_px: float
    thumbnail: Floats


@functools.lru_cache(maxsize=4096)
def _looks(donor: Donor) -> _Looks | None:
    """How a donor looks; None if it can't be cut out."""
    whole, outline = donor.image(), donor.mask()
    box = box_of(outline, SEEN_PX)
    picture, outline = floats(whole[box] / 255), outline[box]
    if not can_be_cut_out(picture, outline):
        return None
    return _Looks(
        box,
        _surroundings(picture, outline),
        _light(picture, outline),
        greyness(picture) > GREY,
        blur_px(picture, outline),
        _thumbnail(whole / 255),
    )


def _light(photo: Floats, mask: Mask) -> float:
    return float(np.median(cv2.cvtColor(photo, cv2.COLOR_RGB2LAB)[..., 0][mask]))


def _thumbnail(photo: Floats) -> Floats:
    return floats(cv2.resize(floats(photo), (16, 16), interpolation=cv2.INTER_AREA))


def best_donor(
    photo: Floats, mask: Mask, category: str, wanted: str, donors: Donors, sam2: str = ""
) -> tuple[Donor, Cutting, Place] | None:
    """The donor of a wanted category that suits an object's place best, cut out, and where it goes;
    None if none does. Where SAM 2 is given it cuts donors out, and those that it sees otherwise
    than their masks say are passed over."""
    target = figure_of(mask)
    near = sorted(_similar(target, category, wanted, donors), key=lambda found: found[0])
    suited: list[tuple[float, Donor, _Looks, Place]] = []
    here, own = _surroundings(photo, mask), _thumbnail(photo)
    blur, light = blur_px(photo, grown(mask, 2)), _light(photo, mask)
    grey = greyness(photo) > GREY
    for unlike, donor, fit in near[:CLOSER_LOOKS]:
        looks = _looks(donor)
        if looks is None or float(np.abs(looks.thumbnail - own).mean()) < SAME_PHOTO:
            continue
        soft = max(looks.blur_px * fit.scale - max(blur, 0.6), 0)
        apart = float(np.abs(here - looks.surroundings) @ (1.0, 0.7, 0.7))
        lighter = abs(light - looks.light)
        if donor.category in FEET_HIDDEN and apart > MOST_OTHER_GROUND:
            continue
        if looks.grey and not grey:
            continue
        cost = unlike + 0.015 * apart + 0.5 * soft + 0.006 * lighter
        place = instead_of(mask, fit)
        if cost <= MOST_UNLIKE and lighter <= MOST_LIGHTER and is_inside(photo.shape, fit, place):
            suited.append((cost, donor, looks, place))
    for _, donor, looks, place in sorted(suited, key=lambda found: found[0])[:MOST_CUT_OUT]:
        alone = _cut_from(donor, looks, sam2)
        if alone is not None:  # another ground's shadow stays there
            return donor, alone._replace(shade=np.ones_like(alone.shade)), place
    return None


def _cut_from(donor: Donor, looks: _Looks, sam2: str) -> Cutting | None:
    """A donor, cut out of its photograph; None where the network does not see it so."""
    picture, outline = floats(donor.image()[looks.box] / 255), donor.mask()[looks.box]
    if not sam2:
        return cutting_of(picture, outline)
    cut = cut_out(picture, outline, sam2)
    if not cut.is_trusted:
        return None
    return cutting_of(picture, cut.mask, edge=cut.edge(picture, furred=donor.category in LIVING))


def _similar(
    target: Figure, category: str, wanted: str, donors: Donors
) -> Iterator[tuple[float, Donor, Fit]]:
    """How unlike donors are in outline, and how they are put over the object. What has letters or a
    side of its own is not flipped."""
    for donor in donors.of(wanted):
        if donor.category == category or donor.category == "person":
            continue
        if not _of_a_size(category, donor.category):
            continue
        own = _whole_figure(donor)
        if own is None:
            continue
        if not is_alike_upright(target, own):
            continue
        for flipped in (False, True) if donor.category in TURNABLE else (False,):
            unlike, fit = covering(target, own, flipped)
            if fit.scale <= MOST_ENLARGED:
                yield unlike + 0.3 * max(fit.scale - 1, 0), donor, fit


def _of_a_size(one: str, other: str) -> bool:
    """Whether things of two categories are about as tall and as long; True where nobody knows."""
    if {one, other} <= OF_ALL_SIZES:
        return True
    limits = (HEIGHTS_M, MOST_TALLER), (LENGTHS_M, MOST_LONGER)
    return all(
        one not in sizes or other not in sizes or 1 / most < sizes[one] / sizes[other] < most
        for sizes, most in limits
    )


def _surroundings(photo: Floats, mask: Mask) -> Floats:
    lab = cv2.cvtColor(photo, cv2.COLOR_RGB2LAB)
    ring = around(mask, 5, 60)
    return floats(lab[ring].mean(0) if ring.any() else lab.reshape(-1, 3).mean(0))


def instead_of(mask: Mask, fit: Fit) -> Place:
    """Where a thing goes that is put over an object."""
    rows, columns = box_of(mask)
    middle = (columns.start + columns.stop) / 2 + fit.shift_px
    return Place(middle, rows.stop, fit.tall_px, fit.flipped)


def is_inside(size: tuple[int, ...], fit: Fit, place: Place) -> bool:
    """Whether a donor would be in the picture with all of itself."""
    half = 0.5 * fit.wide_px
    within = half + 1 <= place.middle_px <= size[1] - half - 1
    return within and place.tall_px + 1 <= place.foot_px <= size[0]


# ---- cutting and pasting


def cutting_of(
    photo: Floats, mask: Mask, others: Mask | None = None, edge: Matte | None = None
) -> Cutting:
    """A thing with its soft edge and its shadow, cut out. Other things are no shadow of it. Where
    no `edge` is known, colours give it."""
    if edge is None:
        mask = snap(photo, mask)
        edge = matte(photo, mask)
    shade = _shade(photo, mask, others)
    box = box_of((edge.alpha > 0) | (shade < 0.99), 2)
    lab = cv2.cvtColor(photo, cv2.COLOR_RGB2LAB)
    ring = around(mask, 5, 60)
    lightness = lab[..., 0][ring] if ring.any() else lab[..., 0]
    return Cutting(
        edge.fore[box],
        edge.alpha[box],
        _surroundings(photo, mask),
        float(lightness.std()),
        shade[box],
    )


def _shade(photo: Floats, mask: Mask, others: Mask | None) -> Floats:
    """How much darker the ground is in an object's shadow, softened towards its edge."""
    rows, _ = box_of(mask)
    shadow = shadow_of(photo, mask)
    shadow[: rows.stop - round(FOOT * (rows.stop - rows.start))] = False
    if others is not None:
        shadow = shadow & ~grown(others, 4)
    if shadow.sum() > MOST_SHADOW * mask.sum():
        return np.ones(mask.shape, np.float32)
    ring = around(mask | shadow, 3, 24) & _beside_rows(mask)
    if not shadow.any() or ring.sum() < 20:
        return np.ones(mask.shape, np.float32)
    light = luma(photo)
    usual = float(np.median(light[ring]))
    weight = cv2.GaussianBlur((shadow & ~grown(mask, 2)).astype(np.float32), (0, 0), 2.5)
    mean = cv2.GaussianBlur(light * (shadow & ~grown(mask, 2)), (0, 0), 2.5) / (weight + 1e-3)
    dark = np.clip(mean / max(usual, 0.02), 0.5, 1)
    share = np.clip(
        cv2.GaussianBlur((shadow | mask).astype(np.float32), (0, 0), 3.0) * 1.4 - 0.4, 0, 1
    )
    return floats(1 - share * (1 - dark) * (weight > 1e-3))


def _beside_rows(mask: Mask) -> Mask:
    """The rows of an object's lower half, and what is below."""
    rows, _ = box_of(mask)
    found = np.zeros_like(mask)
    found[(rows.start + rows.stop) // 2 :] = True
    return found


def mask_at(size: tuple[int, ...], cutting: Cutting, place: Place) -> Mask:
    """Where a thing would be in a photograph."""
    alpha = _fitted(cutting, place)[0]
    rows, columns, part = landing(size, alpha, place)
    found = np.zeros(size[:2], bool)
    found[rows, columns] = alpha[part] > 0.5
    return found


def pasted(
    photo: Floats,
    cutting: Cutting,
    place: Place,
    *,
    harmonise: float = 0.5,
    front: Floats | None = None,
    ahead: Floats | None = None,
    standing: bool = True,
    shaded: bool = False,
) -> tuple[Floats, Mask, Mask]:
    """A thing put into a photograph: the picture, the thing's mask, and all that changed. `front`
    is how much of each pixel belongs to what stands before it, whose own colours are `ahead`, or
    the photograph's; under what is `standing` the ground is darker. What is `shaded` has a shade
    that was made for this ground, and not another's."""
    alpha, fore, shade = _fitted(cutting, place)
    rows, columns, part = landing(photo.shape, alpha, place)
    share = np.zeros(photo.shape[:2], np.float32)
    light = np.ones(photo.shape[:2], np.float32)
    colours = photo.copy()
    share[rows, columns] = alpha[part]
    light[rows, columns] = shade[part]
    mask = share > 0.5
    if not mask.any():
        return photo, mask, mask
    if harmonise:
        fore = _harmonised(fore, cutting, photo, mask, harmonise)
    colours[rows, columns] = fore[part]
    takes = np.clip((1 - photo.max(-1)) / (1 - BURNT), 0, 1)
    takes = np.ones_like(takes) if shaded else takes
    ground = photo * (1 - (1 - light) * takes)[..., None]
    if standing:
        ground = shadowed(ground, mask, 0.16 if (shade < 0.9).any() else 0.3, thrown=0.0)
    out = colours * share[..., None] + ground * (1 - share[..., None])
    if front is not None:
        own = photo if ahead is None else photo + (ahead - photo) * share[..., None]
        out += (own - out) * front[..., None]
        mask &= front < 0.5
    touched = (np.abs(out - photo) > 0.5 / 255).any(-1) | mask
    return floats(out), mask, touched


def is_seen(photo: Floats, picture: Floats, mask: Mask) -> bool:
    """Whether a thing that was put into a photograph is large enough, and unlike what was there."""
    if mask.mean() < LEAST_SEEN:
        return False
    box, wide = box_of(mask, 8), 0.06 * float(np.sqrt(int(mask.sum())))
    here, before = (
        cv2.cvtColor(cv2.GaussianBlur(floats(one[box]), (0, 0), wide), cv2.COLOR_RGB2LAB)
        for one in (picture, photo)
    )
    return bool(np.linalg.norm(here - before, axis=2)[mask[box]].mean() > LEAST_UNLIKE)


def _fitted(cutting: Cutting, place: Place) -> tuple[Floats, Floats, Floats]:
    """A cutting at the size of its place, turned as it wants it: its share of each pixel, its
    colours, and the light on the ground."""
    rows, _ = box_of(cutting.alpha > 0.5)
    scale = place.tall_px / (rows.stop - rows.start)
    size = tuple(max(round(side * scale), 1) for side in cutting.alpha.shape[::-1])
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    turn = -1 if place.flipped else 1

    def fitted(values: Floats) -> Floats:
        if size == values.shape[1::-1]:
            return floats(values[:, ::turn])
        resized = cv2.resize(floats(values), size, interpolation=how)
        return floats(np.clip(resized, 0, 1)[:, ::turn])

    return fitted(cutting.alpha), fitted(cutting.fore), fitted(cutting.shade)


def landing(
    size: tuple[int, ...], alpha: Floats, place: Place
) -> tuple[slice, slice, tuple[slice, slice]]:
    """Rows and columns of the photograph, and the part of a cutting that lands there."""
    solid = alpha > 0.5
    own = box_of(solid) if solid.any() else (slice(0, alpha.shape[0]), slice(0, alpha.shape[1]))
    top = round(place.foot_px - own[0].stop)
    left = round(place.middle_px - (own[1].start + own[1].stop) / 2)
    rows = slice(max(top, 0), min(top + alpha.shape[0], size[0]))
    columns = slice(max(left, 0), min(left + alpha.shape[1], size[1]))
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
