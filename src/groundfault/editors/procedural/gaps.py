"""What is seen through an object: handles, gaps between slats, corners that an outline cuts. Drawn
masks cover them, and whatever is laid over the object fills them."""

from __future__ import annotations

import cv2
import numpy as np
import scipy.ndimage as ndi
from numpy.typing import NDArray

from groundfault.editors.procedural.edges import (
    Floats,
    Mask,
    around,
    box_of,
    colour_steps,
    floats,
    grown,
)
from groundfault.editors.procedural.relief import extent_px

__all__ = ["foreignness", "gaps_of"]

LEAST_FOREIGN = 1.2
"""How much more often a colour is found around an object than in it, as a logarithm, to be seen
through it."""
SMALLEST_SHARE, SMALLEST_PX = 0.004, 40
LEAST_STEP = 4.0
"""The median step of colour at the rim of a gap, in Lab: a patch of a like colour has no rim."""
NEAR = 0.08
"""How far from the outline a gap begins, as a share of the object's extent: farther inside there
are cushions and labels."""
MOST_SHARE = 0.3
"""Where more of an object has the colours of its surroundings, these don't tell."""
LITTLE = 1e-5


def foreignness(lab: Floats, inside: Mask, outside: Mask) -> Floats:
    """How much more often each pixel's colour is found outside than inside, as a logarithm."""
    bins = np.clip((lab / floats([8, 6, 6]) + floats([0, 16, 16])).astype(int), 0, 31)
    code = bins @ np.array([1024, 32, 1])
    within, without = (_frequency(code[where]) for where in (inside, outside))
    return floats((np.log(without + LITTLE) - np.log(within + LITTLE))[code])


def _frequency(codes: NDArray[np.int64]) -> Floats:
    counts = np.bincount(codes, minlength=32**3).reshape(32, 32, 32).astype(np.float32)
    return floats(ndi.gaussian_filter(counts, 0.8).ravel() / max(len(codes), 1))


def gaps_of(photo: Floats, mask: Mask) -> Mask:
    """Pieces of a mask that have the colours of what is around the object, and a rim."""
    reach = max(int(0.15 * extent_px(mask)), 8)
    box = box_of(mask, reach + 2)
    inside, found = mask[box], np.zeros_like(mask)
    ring = around(inside, 3, reach)
    if ring.sum() < 200:
        return found
    lab = floats(cv2.GaussianBlur(cv2.cvtColor(photo[box], cv2.COLOR_RGB2LAB), (0, 0), 1.0))
    foreign = cv2.GaussianBlur(foreignness(lab, inside, ring), (0, 0), 1.5) > LEAST_FOREIGN
    labels, count = ndi.label(ndi.binary_opening(foreign & inside, iterations=2))
    steps = colour_steps(lab)
    least_px = max(SMALLEST_SHARE * float(inside.sum()), SMALLEST_PX)
    edge = grown(~inside, max(int(NEAR * extent_px(mask)), 4))
    gaps = np.zeros_like(inside)
    for number in range(1, count + 1):
        piece = labels == number
        rim = grown(piece, 2) & ~piece & inside
        if piece.sum() < least_px or not rim.any() or not (piece & edge).any():
            continue
        if np.median(steps[rim]) >= LEAST_STEP:
            gaps |= piece
    if gaps.sum() <= MOST_SHARE * inside.sum():
        found[box] = grown(gaps, 1) & inside
    return found
