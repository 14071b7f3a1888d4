"""Where a drawn mask and a network disagree about an object: its colours decide, piece by piece.
What looks like the object beside it is a part that one of them forgot, what looks like its
surroundings is seen through it or beside it; where colours can't tell, nobody knows."""

from __future__ import annotations

import functools
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from groundfault.editors.procedural.edges import Floats, Mask, box_of, core, disc, floats, grown
from groundfault.editors.procedural.relief import extent_px

__all__ = ["Settled", "settled"]

SMALLEST_SHARE, SMALLEST_PX = 0.004, 30
"""Smaller pieces are not asked about: outlines differ by that much."""
LARGEST_EYE = 0.008
"""What a network leaves out in the middle of an object is an eye or a label up to this share of
it, if it doesn't look like the surroundings, or is far from them."""
FAR_INSIDE = 0.05
"""As a share of the object's extent."""
ENCLOSED = 0.9
"""The share of a piece's rim that has the object beside it if it lies in its middle."""
FORGOTTEN, SEEN_THROUGH = 0.4, -0.5
"""How much more a piece that the network left out looks like the object, or like what is around:
from here on it is a part of it, or a gap."""
RIGHT, FOREIGN = 0.2, -0.8
"""The same of a piece that the network added: a part of it, or another thing."""
PROTRUDING = 0.42
"""The share of a piece's rim that has the object beside it, below which it sticks out: a drawn mask
has a tail for some reason, whatever it looks like."""
MOST_COLOURS, LEAST_COLOURS = 1500, 50
NEIGHBOURS = 5
"""How many colours nearest to a pixel's tell how much it looks like a side."""
LIGHTNESS = 0.5
"""What lightness weighs beside hue: shade changes it."""


class Settled(NamedTuple):
    """An object, as colours decided."""

    alpha: Floats
    """How much of a pixel is the object's, (h, w)."""
    unsettled: float
    """The pieces about which colours can't decide, as a share of the drawn mask."""


def settled(photo: Floats, drawn: Mask, alpha: Floats) -> Settled:
    """The network's shares, with pieces added or taken away where its mask and the drawn one
    disagree and colours tell who is right."""
    seen = alpha > 0.5
    area = max(int(drawn.sum()), 1)
    box = box_of(drawn | seen, 40)
    sides = _Sides(photo[box], drawn[box] & seen[box], ~(drawn[box] | seen[box]))
    found, unsettled = alpha[box].copy(), 0
    missed, added = drawn[box] & ~seen[box], seen[box] & ~drawn[box]
    least_px = max(int(SMALLEST_SHARE * area), SMALLEST_PX)
    for piece in _pieces(missed, least_px, disc(2)):
        likeness = sides.likeness(piece)
        if likeness >= FORGOTTEN:
            found = np.maximum(found, _soft(grown(piece, 2) & missed))
        elif likeness > SEEN_THROUGH or sides.beside(piece) < PROTRUDING:
            unsettled += int(piece.sum())
    for piece in _pieces(missed, 1, None):
        small = piece.sum() <= LARGEST_EYE * area and sides.beside(piece) >= ENCLOSED
        if small and (sides.depth(piece) > FAR_INSIDE or sides.likeness(piece) > SEEN_THROUGH):
            found = np.maximum(found, _soft(grown(piece, 2)))
    for piece in _pieces(added, least_px, disc(2)):
        likeness = sides.likeness(piece)
        if likeness <= FOREIGN:
            found = np.minimum(found, 1 - _soft(grown(piece, 2) & added))
        elif likeness < RIGHT:
            unsettled += int(piece.sum())
    whole = alpha.copy()
    whole[box] = found
    return Settled(floats(whole), unsettled / area)


class _Sides:
    """What is surely an object, and what surely is not."""

    def __init__(self, photo: Floats, inside: Mask, outside: Mask) -> None:
        self.inside, self.outside = inside, outside
        self._sure = core(inside, 2), core(outside, 2)
        lab = cv2.cvtColor(photo, cv2.COLOR_RGB2LAB) * floats([LIGHTNESS, 1, 1])
        self._lab = floats(cv2.GaussianBlur(lab, (0, 0), 1.0))

    def likeness(self, piece: Mask) -> float:
        """How much more a piece looks like the object near it than like what is around it there, as
        a logarithm of colour distances; 0 where nobody knows."""
        rows, columns = box_of(piece)
        reach = max((rows.stop - rows.start) // 2, (columns.stop - columns.start) // 2, 12)
        own = _some(self._lab[piece])
        away = []
        for sure, side in zip(self._sure, (self.inside, self.outside), strict=True):
            near = self._lab[sure & grown(piece, reach)]
            if len(near) < LEAST_COLOURS:
                near = self._lab[side & grown(piece, 3 * reach)]
            if len(near) < LEAST_COLOURS:
                return 0.0
            away.append(cKDTree(_some(near)).query(own, k=NEIGHBOURS)[0].mean(1) + 1)
        return float(np.log(away[1] / away[0]).mean())

    def depth(self, piece: Mask) -> float:
        """How far a piece is from the surroundings, as a share of the object's extent."""
        return float(self._depths[piece].min())

    @functools.cached_property
    def _depths(self) -> Floats:
        away = cv2.distanceTransform((~self.outside).astype(np.uint8), cv2.DIST_L2, 3)
        return floats(away / extent_px(self.inside))

    def beside(self, piece: Mask) -> float:
        """The share of a piece's rim that has the object beside it."""
        rim = grown(piece, 3) & ~grown(piece, 1)
        return float(self.inside[rim].mean()) if rim.any() else 0.0


def _pieces(contested: Mask, least_px: int, thick: NDArray[np.uint8] | None) -> list[Mask]:
    """Connected pieces of at least some pixels, without what is thinner than a disc."""
    found = contested.astype(np.uint8)
    if thick is not None:
        found = cv2.morphologyEx(found, cv2.MORPH_OPEN, thick)
    count, pieces, sizes, _ = cv2.connectedComponentsWithStats(found)
    large = [number for number in range(1, count) if sizes[number, cv2.CC_STAT_AREA] >= least_px]
    return [np.asarray(pieces == number) for number in large]


def _some(colours: Floats) -> Floats:
    """At most so many of some colours, evenly."""
    return colours[:: max(-(-len(colours) // MOST_COLOURS), 1)]


def _soft(piece: Mask) -> Floats:
    return floats(cv2.GaussianBlur(piece.astype(np.float32), (0, 0), 0.8))
