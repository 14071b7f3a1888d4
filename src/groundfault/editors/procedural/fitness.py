"""Whether an edit of an object can look right at all: measured before it is made. Reasons are short
and stable, so that a funnel can count them."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
import scipy.ndimage as ndi

from groundfault.editors.procedural.edges import (
    Floats,
    Mask,
    around,
    box_of,
    colour_steps,
    core,
    depth_inside,
    grown,
)
from groundfault.editors.procedural.gaps import foreignness
from groundfault.editors.procedural.relief import blur_px, extent_px, luma
from groundfault.editors.procedural.repertoire import (
    MOST_SOLID,
    PROPORTIONS,
)

__all__ = [
    "LARGEST_SHARE",
    "LOOSER",
    "Measures",
    "can_be_cut_out",
    "is_whole",
    "lit_of",
    "measure",
    "objection",
    "sides_of",
    "solidity_of",
    "tallness_of",
]

SMALLEST_PX = 400
BORDER_PX = 5
LOOSER = 1.3
LARGEST_SHARE = 0.6
MOST_AT_BORDER = 0.1
"""The share of its width or height that may lie at the picture's border of what is put elsewhere:
there it would end in a straight line."""


class Measures(NamedTuple):
    """What is measured of an object in its photograph."""

    share: float
    """Of the picture."""
    pieces: float
    """The share of the mask outside of its largest piece."""
    thickness: float
    """The radius of the largest disc inside, as a share of its extent: 0.5 for a disc."""
    brightness: float
    """The median display value, 0 to 1."""
    lit: float
    """What its brighter third exceeds: of a zebra, its white."""
    burnt: float
    """The share of its pixels that are white or black without detail."""
    blur_px: float
    contrast: float
    """How much of the outline separates two colours, 0 to 1."""
    unrest: float
    """How busy the surroundings are: the mean step of colour between neighbours."""
    mixture: float
    """How much the surroundings differ among themselves at a distance."""
    sides: float
    """How much the colours left and right of it differ, row by row."""
    pattern: float
    """How strongly its own surface is patterned: the deviation of its log brightness within some
    pixels."""
    solidity: float
    """Its share of its convex hull."""
    tallness: float
    """Its height over its width."""
    cut_low: float
    """The share of its width that lies at the picture's lower border, where drawn outlines end some
    pixels early."""
    cut: float
    """The share of the outline on the picture's border."""
    cut_side: float
    """The share of its height that lies at the picture's left or right border, or of its width at
    the upper one."""
    through: float
    """The share of its pixels whose colours are rather those of its surroundings."""


def measure(photo: Floats, mask: Mask, *, to_fill: bool = True) -> Measures:
    """Measure an object; the mask has at least one pixel and not all. How its surroundings go on
    behind it is looked at where that is `to_fill`; else `bands` and `sides` are 0."""
    labels, count = ndi.label(mask)
    sizes = np.bincount(labels.ravel(), minlength=count + 1)[1:]
    size = extent_px(mask)
    lab = cv2.cvtColor(photo, cv2.COLOR_RGB2LAB)
    values = luma(photo)[mask]
    inner = core(mask, 3)
    ring = around(mask, 4, max(int(0.18 * size), 8))
    return Measures(
        share=float(mask.mean()),
        pieces=float(1 - sizes.max() / sizes.sum()),
        thickness=float(depth_inside(mask).max() / size),
        brightness=float(np.median(values)),
        lit=lit_of(values),
        burnt=float(((values < 0.03) | (values > 0.985)).mean()),
        blur_px=blur_px(photo, grown(inner if inner.any() else mask, 2)),
        contrast=_contrast(lab, mask),
        unrest=_unrest(lab, ring),
        mixture=_mixture(lab, ring),
        sides=sides_of(photo, mask) if to_fill else 0.0,
        pattern=_pattern(photo, inner if inner.any() else mask),
        solidity=solidity_of(mask),
        tallness=tallness_of(mask),
        cut_low=_cut_low(mask),
        cut=_cut(mask),
        cut_side=_cut_side(mask),
        through=_through(lab, inner if inner.any() else mask, ring),
    )


def lit_of(greys: Floats) -> float:
    """How brightly the brighter third of an object is lit at least, by the greys of its pixels."""
    return float(np.percentile(greys, 65))


def can_be_cut_out(photo: Floats, mask: Mask) -> bool:
    """Whether an object is sharp and in one piece, its outline distinct and its light kept."""
    labels, count = ndi.label(mask)
    sizes = np.bincount(labels.ravel(), minlength=count + 1)[1:]
    values = luma(photo)[mask]
    burnt = ((values < 0.03) | (values > 0.985)).mean()
    if sizes.max() < 0.96 * sizes.sum() or burnt > 0.3 or blur_px(photo, grown(mask, 2)) > 2.0:
        return False
    return _contrast(cv2.cvtColor(photo, cv2.COLOR_RGB2LAB), mask) >= 0.5


def _contrast(lab: Floats, mask: Mask) -> float:
    """The share of the outline at which the colours some pixels inside and outside differ, and
    change most at the outline itself."""
    depth = cv2.distanceTransform(mask.astype(np.uint8), cv2.DIST_L2, 5)
    height = cv2.distanceTransform((~mask).astype(np.uint8), cv2.DIST_L2, 5)
    smooth = cv2.GaussianBlur(lab, (0, 0), 1.0)
    outline = mask & (depth <= 1.5)
    outline[[0, -1]] = outline[:, [0, -1]] = False
    rows, columns = np.nonzero(outline)
    if not rows.size:
        return 0.0
    away = depth - height
    gy, gx = np.gradient(cv2.GaussianBlur(away.astype(np.float32), (0, 0), 2.0))
    length = np.hypot(gx, gy) + 1e-6
    step = 4.0
    up, right = gy[outline] / length[outline] * step, gx[outline] / length[outline] * step
    top, side = lab.shape[0] - 1, lab.shape[1] - 1
    inside = smooth[
        np.clip(rows + up, 0, top).astype(int), np.clip(columns + right, 0, side).astype(int)
    ]
    outside = smooth[
        np.clip(rows - up, 0, top).astype(int), np.clip(columns - right, 0, side).astype(int)
    ]
    return float((np.linalg.norm(inside - outside, axis=1) > 9).mean())


def _unrest(lab: Floats, ring: Mask) -> float:
    """The mean colour step between neighbours in a slightly smoothed ring."""
    if ring.sum() < 20:
        return 100.0
    return float(colour_steps(cv2.GaussianBlur(lab, (0, 0), 1.5))[ring].mean())


def _mixture(lab: Floats, ring: Mask) -> float:
    """How far apart the ring's colours are: their deviation, after much smoothing."""
    if ring.sum() < 20:
        return 100.0
    weight = cv2.GaussianBlur(ring.astype(np.float32), (0, 0), 6)[..., None] + 1e-4
    smooth = cv2.GaussianBlur(lab * ring[..., None], (0, 0), 6) / weight
    return float(np.linalg.norm(smooth[ring].std(0)))


def sides_of(photo: Floats, mask: Mask) -> float:
    """The mean colour distance between what is left and right of an object in the same row."""
    lab = cv2.cvtColor(photo, cv2.COLOR_RGB2LAB)
    apart = []
    margin, wide = 6, 14
    for row in np.flatnonzero(mask.any(1))[::4]:
        columns = np.flatnonzero(mask[row])
        start = max(int(columns[0]) - margin, 0)
        left = lab[row, max(start - wide, 0) : start]
        right = lab[row, columns[-1] + margin : columns[-1] + margin + wide]
        if len(left) > 3 and len(right) > 3:
            apart.append(float(np.linalg.norm(left.mean(0) - right.mean(0))))
    return float(np.mean(apart)) if apart else 50.0


def _pattern(photo: Floats, inner: Mask) -> float:
    """Detail of a size between 1 and 8 pixels, its strongest left out."""
    values = np.log(np.maximum(luma(photo), 0.03))
    detail = cv2.GaussianBlur(values, (0, 0), 1.0) - cv2.GaussianBlur(values, (0, 0), 8.0)
    return float(np.percentile(np.abs(detail[inner]), 75))


def solidity_of(mask: Mask) -> float:
    """A mask's share of its convex hull."""
    points = cv2.findNonZero(mask.astype(np.uint8))
    return float(min(mask.sum() / max(cv2.contourArea(cv2.convexHull(points)), 1.0), 1.0))


def tallness_of(mask: Mask) -> float:
    """A mask's height over its width."""
    rows, columns = box_of(mask)
    return float((rows.stop - rows.start) / (columns.stop - columns.start))


def _cut_low(mask: Mask) -> float:
    _, columns = box_of(mask)
    return float(mask[-BORDER_PX:, columns].any(0).mean())


def _cut(mask: Mask) -> float:
    border = int(mask[0].sum() + mask[-1].sum() + mask[:, 0].sum() + mask[:, -1].sum())
    outline = int((mask & ~ndi.binary_erosion(mask, border_value=1)).sum())
    return float(border / max(border + outline, 1))


def _through(lab: Floats, inner: Mask, ring: Mask) -> float:
    if not ring.any():
        return 0.0
    return float((foreignness(lab, inner, ring)[inner] > 0).mean())


def _cut_side(mask: Mask) -> float:
    rows, columns = box_of(mask)
    left, right = mask[rows, :BORDER_PX].any(1).mean(), mask[rows, -BORDER_PX:].any(1).mean()
    return float(max(left, right, mask[:BORDER_PX, columns].any(0).mean()))


def objection(kind: str, category: str, found: Measures) -> str:
    """Why an object doesn't suit being taken away, doubled, moved or replaced; "" where it does."""
    general = _general(found)
    if general or kind == "none":
        return general
    loose = {"add": LOOSER, "move": 1.0}.get(kind)  # of 8 pieces that were moved none was accepted
    if loose and not is_whole(category, found.solidity, found.tallness, loose):
        return "occluded"
    return {
        "erase": _to_erase,
        "replace": _to_replace,
        "move": _to_move,
        "add": _to_add,
    }[kind](found)


def is_whole(category: str, solidity: float, tallness: float, loose: float = 1.0) -> bool:
    """Whether a silhouette is one that a whole thing of its category has: of what others hide,
    hulls are hollow and proportions odd. `loose` widens what is usual."""
    least, low, high = PROPORTIONS.get(category, (0.55, 0.1, 10.0))
    most = min(MOST_SOLID.get(category, 1.0) * (0.97 + 0.03 * loose), 1.0)
    return least / loose <= solidity <= most and low / loose <= tallness <= high * loose


def _general(found: Measures) -> str:
    if found.share > LARGEST_SHARE:
        return "too large"
    if found.pieces > 0.06:
        return "occluded"
    return ""


def _to_erase(found: Measures) -> str:
    if found.share > 0.2:
        return "too large"
    if found.cut > 0.15:
        return "cut off"
    return ""


def _to_move(found: Measures) -> str:
    return "too large" if found.share > 0.2 else _to_add(found)


def _to_replace(found: Measures) -> str:
    """The new thing hides most of the hole."""
    if found.brightness < 0.08:
        return "too dark"
    if found.share > 0.3:
        return "too large"
    if found.blur_px > 2.2:
        return "blurred"
    return "cut off" if found.cut > 0.05 else ""


def _to_add(found: Measures) -> str:
    if found.share > 0.35:
        return "too large"
    if found.cut > 0.02 or max(found.cut_low, found.cut_side) > MOST_AT_BORDER:
        return "cut off"
    if found.contrast < 0.42:
        return "outline unclear"
    return ""
