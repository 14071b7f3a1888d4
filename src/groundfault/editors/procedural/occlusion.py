"""Whether an object is whole, by what else is annotated in its picture: things that stand nearer
hide a part of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from groundfault.editors.procedural.edges import Mask, box_of, grown
from groundfault.interfaces import Neighbour

__all__ = ["Contact", "contact_with"]

NEAR_PX = 3
"""Outlines of two things that touch are drawn this far apart."""
SAME = 0.6
"""Masks with a greater IoU are of the same thing, under two names."""
LOW = 0.25
"""The lowest part of an object's height, where it stands."""


class Contact(NamedTuple):
    """How much of an object's outline other things touch, as shares of 0 to 1."""

    any: float
    front: float
    """By things that stand nearer: they reach lower in the picture."""
    low: float
    """Of the outline's lowest part, by anything."""
    people: float
    gap: float = 0.0
    """What others have of the hollows of its outline, as a share of the object: who stands in them
    hides some of it, or is seen through it."""


def contact_with(mask: Mask, others: Sequence[Neighbour], *, on: Collection[str] = ()) -> Contact:
    """Measure where an object touches others. It may stand `on` things of some categories: they
    hide nothing of it."""
    box = box_of(mask, 2 * NEAR_PX)
    inside = mask[box].astype(np.uint8)
    outline = (inside - cv2.erode(inside, np.ones((3, 3), np.uint8))) > 0
    rows = np.flatnonzero(inside.any(1))
    lowest = np.arange(inside.shape[0])[:, None] > rows[-1] - LOW * (rows[-1] - rows[0])
    foot = box[0].start + int(rows[-1])
    touched, front, people, there = (np.zeros_like(outline) for _ in range(4))
    for other in others:
        theirs = np.asarray(other.mask, bool)
        if other.category in on:
            continue
        if theirs.shape != mask.shape or not theirs[box].any():
            continue
        if (theirs & mask).sum() > SAME * (theirs | mask).sum():
            continue
        there |= theirs[box]
        at = outline & grown(theirs[box], NEAR_PX)
        touched |= at
        if int(np.flatnonzero(theirs.any(1))[-1]) > foot + 2:
            front |= at
        if other.category == "person":
            people |= at
    total = max(int(outline.sum()), 1)
    low = outline & lowest
    return Contact(
        any=float(touched.sum() / total),
        front=float(front.sum() / total),
        low=float((touched & low).sum() / max(int(low.sum()), 1)),
        people=float(people.sum() / total),
        gap=float((there & _hollows(inside)).sum() / max(int(inside.sum()), 1)),
    )


def _hollows(inside: NDArray[np.uint8]) -> Mask:
    """What a mask's convex hull has and the mask has not."""
    hull = np.zeros(inside.shape, np.uint8)
    cv2.fillConvexPoly(hull, cv2.convexHull(cv2.findNonZero(inside)), 1)
    return np.asarray((hull > 0) & (inside == 0))
