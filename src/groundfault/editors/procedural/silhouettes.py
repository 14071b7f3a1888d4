"""What of a drawn mask is the object, by its colours: polygons take grass between legs and water in
a loop of a tail along, and forget ears and paws."""

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
    core,
    disc,
    floats,
    grown,
)
from groundfault.editors.procedural.gaps import foreignness
from groundfault.editors.procedural.relief import extent_px

__all__ = ["MOST_WRONG", "Silhouette", "mended", "silhouette_of"]

MOST_WRONG = 0.12
"""Beyond this colours and drawn mask contradict each other, and nobody knows who is right."""
REACH_PX = 5
"""How far beside its mask a forgotten part of an object may be: builds promise that nothing farther
away changes than some pixels."""

INWARDS, OUTWARDS = 0.10, 0.03
"""How far from its outline a mask may be wrong, as shares of the object's extent."""
THIN = 0.03
"""Half the width of tails and legs, which colours alone never take away."""
LARGEST_PX = 90_000
"""Pixels that are looked at; larger objects are seen at a smaller scale."""
SMALLEST_SHARE = 0.003
"""Of the object: smaller holes are its own."""


class Silhouette(NamedTuple):
    """The shape that an object's colours suggest, and how far its drawn mask is from it."""

    mask: Mask
    taken: float
    """The share of the drawn mask that has the colours of what is around it."""
    forgotten: float
    """How much beside the mask has the object's colours, as a share of it."""

    @property
    def wrong(self) -> float:
        return self.taken + self.forgotten

    @property
    def is_trusted(self) -> bool:
        """Whether colours and drawn mask are near enough for colours to correct it."""
        return self.wrong <= MOST_WRONG


def silhouette_of(photo: Floats, mask: Mask) -> Silhouette:
    """Cut an object out by its colours (GrabCut), near its drawn outline; thin parts stay."""
    box = box_of(mask, max(int(0.25 * extent_px(mask)), 16))
    picture, drawn = photo[box], mask[box]
    scale = min(1.0, float(np.sqrt(LARGEST_PX / drawn.size)))
    size = max(round(drawn.shape[1] * scale), 8), max(round(drawn.shape[0] * scale), 8)
    small = cv2.resize(floats(picture), size, interpolation=cv2.INTER_AREA)
    found = _cut_out(small, cv2.resize(floats(drawn), size, interpolation=cv2.INTER_AREA) > 0.5)
    shape = np.zeros_like(mask)
    shape[box] = cv2.resize(floats(found), drawn.shape[::-1], interpolation=cv2.INTER_LINEAR) > 0.5
    area = max(int(mask.sum()), 1)
    return Silhouette(shape, int((mask & ~shape).sum()) / area, int((shape & ~mask).sum()) / area)


def _cut_out(picture: Floats, drawn: Mask) -> Mask:
    size_px = extent_px(drawn) if drawn.any() else 0.0
    inwards, outwards = max(int(INWARDS * size_px), 3), max(int(OUTWARDS * size_px), 2)
    ring = around(drawn, 2, max(2 * inwards, 8))
    maybe = grown(drawn, outwards)
    if ring.sum() < 100 or maybe.all():
        return drawn
    lab = floats(cv2.GaussianBlur(cv2.cvtColor(picture, cv2.COLOR_RGB2LAB), (0, 0), 0.8))
    foreign = cv2.GaussianBlur(foreignness(lab, drawn, ring), (0, 0), 1.0)
    thick = cv2.morphologyEx(
        drawn.astype(np.uint8), cv2.MORPH_OPEN, disc(max(round(THIN * size_px), 1))
    )
    sure = core(drawn, inwards) & ((foreign < 1) | (thick == 0))
    if sure.sum() < 50:
        return drawn
    likely = (drawn & (foreign < 0.8)) | (maybe & ~drawn & (foreign < -1.5))
    marks = np.where(likely, cv2.GC_PR_FGD, cv2.GC_PR_BGD)
    marks = np.where(sure, cv2.GC_FGD, np.where(maybe, marks, cv2.GC_BGD)).astype(np.uint8)
    cv2.setRNGSeed(0)
    models = np.zeros((1, 65)), np.zeros((1, 65))
    image = np.ascontiguousarray((picture * 255).astype(np.uint8))
    cv2.grabCut(image, marks, None, *models, 3, cv2.GC_INIT_WITH_MASK)
    found = (marks == cv2.GC_FGD) | (marks == cv2.GC_PR_FGD)
    found = ndi.binary_opening(found) | sure
    pieces, _ = ndi.label(found)
    found = np.isin(pieces, np.unique(pieces[sure]))
    holes, count = ndi.label(~found)
    sizes = ndi.sum_labels(~found, holes, np.arange(count + 1))
    return np.asarray(found | (sizes[holes] < SMALLEST_SHARE * drawn.sum()) & (holes > 0))


def mended(found: Mask, drawn: Mask, shape: Silhouette) -> Mask:
    """A mask whose outline was `found` near the `drawn` one, with what colours add close to that.
    Nothing is taken away: a face or a leg that has the colours of what is around it would be."""
    added = ndi.binary_opening(shape.mask & ~drawn) & grown(drawn, REACH_PX)
    return np.asarray(found | added)
