"""Where an object ends: a mask that follows its colours, and the soft edge along it.

Pictures are (h, w, 3) float32 RGB in [0, 1], masks (h, w) bool.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import cv2
import numpy as np
import scipy.ndimage as ndi
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import spsolve

__all__ = [
    "Matte",
    "around",
    "band_px",
    "box_of",
    "colour_steps",
    "core",
    "crisp",
    "disc",
    "evened",
    "floats",
    "grown",
    "matte",
    "snap",
    "steadied",
]

Floats = NDArray[np.floating[Any]]
"""float32, unless said otherwise."""
Mask = NDArray[np.bool_]
LARGE_PX = 20
BAND_PX = 4
"""The soft edge is never wider to either side."""


LARGEST_MATTED_PX = 260.0
"""The extent up to which an object is matted in the photograph itself."""
LONGEST_HAIR_PX = 7.0
"""How far hair is looked for outside of a mask, in the picture that is matted."""


class Matte(NamedTuple):
    """An object's soft edge."""

    alpha: Floats
    """How much of a pixel is the object's, (h, w)."""
    fore: Floats
    """The object's own colours, also where they are mixed with what is behind it."""
    back: Floats
    """The colours behind it along the edge."""


def floats(values: Any) -> Floats:
    """Numbers as a float32 array."""
    return np.asarray(values, np.float32)


def disc(radius_px: int) -> NDArray[np.uint8]:
    """A round structuring element."""
    side = 2 * radius_px + 1
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side)), np.uint8)


def grown(mask: Mask, radius_px: int) -> Mask:
    """A mask with everything within a radius of it."""
    if radius_px < 1:
        return mask
    if radius_px > LARGE_PX and mask.any():  # far quicker than a large disc
        away = cv2.distanceTransform((~mask).astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
        return np.asarray(away <= radius_px + 0.25)
    return np.asarray(cv2.dilate(mask.astype(np.uint8), disc(radius_px)) > 0)


def box_of(mask: Mask, pad_px: int = 0) -> tuple[slice, slice]:
    """The rows and columns that a mask spans, with a margin as far as the picture goes."""
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    return (
        slice(max(int(rows[0]) - pad_px, 0), int(rows[-1]) + 1 + pad_px),
        slice(max(int(columns[0]) - pad_px, 0), int(columns[-1]) + 1 + pad_px),
    )


def around(mask: Mask, near_px: int, far_px: int) -> Mask:
    """The ring around a mask between two distances."""
    return grown(mask, far_px) & ~grown(mask, near_px)


def depth_inside(mask: Mask) -> Floats:
    """How far each pixel of a mask is from its outline; the picture's border is none."""
    return np.asarray(
        cv2.distanceTransform(mask.astype(np.uint8), cv2.DIST_L2, 5)
        if not mask.all()
        else np.full(mask.shape, max(mask.shape)),
        np.float32,
    )


def colour_steps(lab: Floats) -> Floats:
    """How much the colour changes from each pixel to the next, in Lab."""
    right = cv2.Sobel(lab, cv2.CV_32F, 1, 0, scale=0.125)
    down = cv2.Sobel(lab, cv2.CV_32F, 0, 1, scale=0.125)
    return floats(np.sqrt((right**2 + down**2).sum(2)))


def core(mask: Mask, depth_px: int) -> Mask:
    """What surely belongs to the object: some pixels inside its outline, fewer where it is thin
    (legs, tails, poles)."""
    depth = depth_inside(mask)
    ridge = ndi.maximum_filter(depth, 2 * depth_px + 3)
    return np.asarray(mask & (depth > np.minimum(depth_px, 0.45 * ridge)))


def band_px(mask: Mask) -> int:
    """How far an outline may be off, and how wide its soft edge is."""
    return int(np.clip(round(np.sqrt(int(mask.sum())) * 0.025), 1, BAND_PX))


def snap(photo: Floats, mask: Mask, least_iou: float = 0.88) -> Mask:
    """The mask, its outline moved within a narrow band to where the colours change (GrabCut): drawn
    polygons are off by several pixels. Where colours would change it much it stays as it is."""
    band = band_px(mask)
    sure, maybe = core(mask, band), grown(mask, band)
    if int(sure.sum()) < 200 or maybe.all():
        return mask
    likely = np.where(mask, cv2.GC_PR_FGD, cv2.GC_PR_BGD)
    trimap = np.where(sure, cv2.GC_FGD, np.where(maybe, likely, cv2.GC_BGD)).astype(np.uint8)
    box = box_of(maybe, 60)
    image = np.ascontiguousarray((photo[box] * 255).astype(np.uint8))
    marks = np.ascontiguousarray(trimap[box])
    if not (marks == cv2.GC_BGD).any():
        return mask
    cv2.setRNGSeed(0)
    models = np.zeros((1, 65)), np.zeros((1, 65))
    cv2.grabCut(image, marks, None, *models, 3, cv2.GC_INIT_WITH_MASK)
    found = np.zeros_like(mask)
    found[box] = (marks == cv2.GC_FGD) | (marks == cv2.GC_PR_FGD)
    found = cv2.medianBlur(found.astype(np.uint8), 3).astype(bool) | sure
    iou = (found & mask).sum() / (found | mask).sum()
    return np.asarray(found) if iou >= least_iou else mask


def evened(mask: Mask, radius_px: float) -> Mask:
    """A mask without the teeth and dents of its outline that are smaller than a radius; what is
    thin (legs, poles, handles) stays."""
    smooth = cv2.GaussianBlur(mask.astype(np.float32), (0, 0), radius_px) > 0.5
    thick = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, disc(round(1.2 * radius_px)))
    thin = ndi.binary_opening(mask & (thick == 0), iterations=1)
    return np.asarray(smooth | (grown(thin, 1) & mask))


def steadied(edge: Matte, mask: Mask) -> Matte:
    """A soft edge that follows the mask where the colours to both sides of it are alike: there they
    do not tell where the object ends, and the edge that they give is ragged."""
    even = cv2.GaussianBlur(mask.astype(np.float32), (0, 0), 0.9)
    even = np.clip((even - 0.05) / 0.9, 0, 1)
    sides = cv2.blur(edge.fore, (9, 9)) - cv2.blur(edge.back, (9, 9))
    trust = np.clip((np.abs(sides).max(2) - 0.05) / 0.15, 0, 1)
    unsure = (edge.alpha > 0) & (edge.alpha < 1) | (even > 0) & (even < 1)
    mixed = trust * edge.alpha + (1 - trust) * even
    return edge._replace(alpha=floats(np.where(unsure, mixed, edge.alpha)))


def matte(photo: Floats, mask: Mask, *, hair: float = 0.0) -> Matte:
    """Closed-form matting within a narrow band along the outline; elsewhere the mask decides. Of
    what has `hair`, this share of its extent, the band is wider outside. Large objects are matted
    in a smaller picture."""
    extent = float(np.sqrt(int(mask.sum())))
    scale = min(LARGEST_MATTED_PX / max(extent, 1.0), 1.0)
    band = min(band_px(mask), 3)
    far = max(round(min(hair * extent, LONGEST_HAIR_PX / scale)), band)
    sure, maybe = core(mask, band), grown(mask, far)
    box = box_of(maybe, 24)
    trimap = np.where(sure, 1.0, np.where(maybe, 0.5, 0.0))[box]
    mixed = _alpha_at(photo[box].astype(np.float64), trimap, scale)
    share = np.clip((mixed - 0.08) / 0.84, 0, 1).astype(np.float32)
    alpha = np.zeros(mask.shape, np.float32)
    alpha[box] = share
    fore, back = photo.copy(), photo.copy()
    fore[box], back[box] = _sides(photo[box], share)
    return Matte(alpha, fore, back)


def _alpha_at(image: NDArray[np.float64], trimap: NDArray[np.float64], scale: float) -> Any:
    """The matting of a picture, worked out in one that is smaller by a factor."""
    if scale >= 1:
        return _alpha(image, trimap)
    tall, wide = trimap.shape
    small = max(round(wide * scale), 3), max(round(tall * scale), 3)
    less = cv2.resize(image, small, interpolation=cv2.INTER_AREA)
    marks = cv2.resize(trimap, small, interpolation=cv2.INTER_AREA)
    found = _alpha(less, np.where(marks > 0.99, 1.0, np.where(marks < 0.01, 0.0, 0.5)))
    enlarged = cv2.resize(found, (wide, tall), interpolation=cv2.INTER_LINEAR)
    return np.where(trimap == 0.5, np.clip(enlarged, 0, 1), trimap)


def crisp(photo: Floats, mask: Mask, blur_px: float = 0.0) -> Matte:
    """The edge of a thing without hair or fur: as sharp as the photograph is. Matting makes a haze
    of it wherever a thing and what is behind it look alike."""
    alpha = cv2.GaussianBlur(mask.astype(np.float32), (0, 0), float(np.clip(blur_px, 0.7, 1.6)))
    alpha = np.clip((alpha - 0.08) / 0.84, 0, 1)
    return Matte(alpha, *_sides(photo, alpha))


def _alpha(image: NDArray[np.float64], trimap: NDArray[np.float64], eps: float = 1e-5) -> Any:
    """Levin's closed-form matting of the unknown pixels (0.5) alone: windows that touch none of
    them say nothing."""
    height, width = trimap.shape
    unknown = trimap == 0.5
    if not unknown.any() or min(height, width) < 3:
        return np.where(unknown, 0.5, trimap)
    centre = grown(unknown, 1)
    centre[[0, -1]] = centre[:, [0, -1]] = False
    rows, columns = np.nonzero(centre)
    if not rows.size:
        return trimap
    down, right = np.repeat([-1, 0, 1], 3), np.tile([-1, 0, 1], 3)
    windows = (rows[:, None] + down) * width + columns[:, None] + right
    off = image.reshape(-1, 3)[windows]
    off = off - off.mean(1, keepdims=True)
    spread = np.einsum("nki,nkj->nij", off, off) / 9 + eps / 9 * np.eye(3)
    alike = np.einsum("nki,nij,nlj->nkl", off, np.linalg.inv(spread), off)
    values = np.eye(9)[None] - (1 + alike) / 9
    used, number = np.unique(windows, return_inverse=True)
    number = number.reshape(windows.shape)
    ends = np.repeat(number, 9, 1).ravel(), np.tile(number, (1, 9)).ravel()
    laplacian = sp.csr_matrix((values.ravel(), ends), shape=(len(used),) * 2)
    given = trimap.ravel()[used]
    free = given == 0.5
    system = laplacian[free][:, free].tocsc() + 1e-9 * sp.identity(int(free.sum()))
    found = trimap.copy().ravel()
    found[used[free]] = spsolve(system, -laplacian[free][:, ~free] @ given[~free])
    return np.clip(found.reshape(height, width), 0, 1)


def _sides(image: Floats, alpha: Floats) -> tuple[Floats, Floats]:
    """Colours of the object and of what is behind it where both mix (blurred fusion, twice)."""
    share = alpha[..., None]
    fore, back = image, image
    for radius in (9, 3):
        side = (2 * radius + 1,) * 2
        weight = cv2.blur(alpha, side)[..., None], cv2.blur(1 - alpha, side)[..., None]
        smooth = cv2.blur(fore * share, side) / (weight[0] + 1e-4)
        behind = cv2.blur(back * (1 - share), side) / (weight[1] + 1e-4)
        left = image - share * smooth - (1 - share) * behind
        fore = np.clip(smooth + share * left, 0, 1)
        back = np.clip(behind, 0, 1)
    return fore.astype(np.float32), back.astype(np.float32)
