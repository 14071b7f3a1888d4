"""How strange each pixel of a filled hole is: how far its colour is from those that were there
before. A network that fills a hole now and then invents a thing in it, which is found by this."""

from __future__ import annotations

import cv2
import numpy as np
import scipy.ndimage as ndi
from scipy.spatial import cKDTree

from groundfault.editors.procedural.edges import Floats, Mask, box_of, floats, grown

__all__ = ["invented", "strangeness"]

SMALL_PX = 96
"""The longer side of the picture in which colours are compared."""
AWAY = 0.25
"""How much colour distance a step of one pixel in the small picture is worth: what is far away does
not explain a colour."""
STRANGE, RATHER = 10.0, 5.0
"""Colour distances that no other pixel explains, and those that belong to a thing that is strange
somewhere."""
MOST_INVENTED = 0.3
"""The largest share of a hole that is taken for an invention; more is how the fill is."""


def strangeness(filled: Floats, hole: Mask) -> tuple[tuple[slice, slice], Floats]:
    """A box around a hole, and for each pixel in it how far its colour is from the third nearest
    that is known, nearness in the picture counted in; 0 outside of the hole."""
    rows, columns = box_of(hole)
    box = box_of(hole, max(rows.stop - rows.start, columns.stop - columns.start) // 2 + 8)
    gap = hole[box]
    shrink = SMALL_PX / max(gap.shape)
    size = (max(int(gap.shape[1] * shrink), 8), max(int(gap.shape[0] * shrink), 8))
    lab = cv2.cvtColor(floats(filled[box]), cv2.COLOR_RGB2LAB)
    small = cv2.resize(lab, size, interpolation=cv2.INTER_AREA)
    share = cv2.resize(gap.astype(np.float32), size, interpolation=cv2.INTER_AREA)
    inside, known = share > 0.3, share < 0.02
    found = np.zeros(share.shape, np.float32)
    if known.sum() >= 3 and inside.any():
        tree = cKDTree(np.hstack([small[known], AWAY * np.argwhere(known)]))
        near = tree.query(np.hstack([small[inside], AWAY * np.argwhere(inside)]), k=3)[0]
        found[inside] = near[:, 2]
    return box, floats(cv2.resize(found, gap.shape[::-1]) * gap)


def invented(filled: Floats, hole: Mask) -> Mask:
    """Small things in a filled hole that are strange to it, with a margin; empty where there are
    none, or too much is strange."""
    box, strange = strangeness(filled, hole)
    usual = float(np.median(strange[hole[box]]))
    labels = ndi.label(strange > max(RATHER, 1.6 * usual), np.ones((3, 3)))[0]
    seeds = np.unique(labels[strange > max(STRANGE, 2.5 * usual)])
    found = np.zeros_like(hole)
    found[box] = np.isin(labels, seeds[seeds > 0])
    found = grown(found, max(int(0.03 * np.sqrt(int(hole.sum()))), 4)) & hole
    return found if found.sum() <= MOST_INVENTED * hole.sum() else np.zeros_like(hole)
