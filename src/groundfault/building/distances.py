"""How far pixels are from a mask's edge, worked out only where it matters: near the mask."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    BinaryMask = NDArray[np.bool_]
    Window = tuple[slice, slice]

__all__ = ["bounds", "grown", "shrunk", "signed_depth"]

STAMPED_PX = 12
"""Up to here a disc is stamped row by row; farther, a distance transform is faster."""


def grown(mask: BinaryMask, by_px: int) -> BinaryMask:
    """The mask and everything within a distance of it.

    >>> grown(np.array([[False, False, True, False]]), 1).tolist()
    [[False, True, True, True]]
    """
    if by_px <= 0:
        return mask
    window = bounds(mask, by_px)
    if window is None:
        return mask
    found = np.zeros_like(mask)
    part = mask[window]
    found[window] = _stamped(part, by_px) if by_px <= STAMPED_PX else _distance(~part) <= by_px
    return found


def shrunk(mask: BinaryMask, by_px: int) -> BinaryMask:
    """The mask without what is within a distance of its edge; edges of the picture are none.

    >>> shrunk(np.array([[True, True, True, False]]), 1).tolist()
    [[True, True, False, False]]
    """
    if by_px <= 0 or mask.all():
        return mask
    window = bounds(mask, 1)
    if window is None:
        return mask
    found = np.zeros_like(mask)
    found[window] = ~grown(~mask[window], by_px)
    return found


def signed_depth(mask: BinaryMask, out_to_px: int) -> tuple[Floats, Window] | None:
    """How deep inside a mask each pixel is, in pixels, negative outside; within a window that holds
    everything up to a distance of it. None for an empty mask, or one without an outside."""
    window = bounds(mask, out_to_px + 1)
    if window is None or mask.all():
        return None
    part = mask[window]
    return _distance(part) - _distance(~part), window


def bounds(mask: BinaryMask, margin_px: int) -> Window | None:
    """The rows and columns of a mask with a margin around them, within the picture; None for an
    empty one."""
    rows, columns = (np.flatnonzero(mask.any(axis=axis)) for axis in (1, 0))
    if not len(rows):
        return None
    first, last = (rows[0], columns[0]), (rows[-1], columns[-1])
    low = [max(0, int(place) - margin_px) for place in first]
    high = [int(place) + margin_px + 1 for place in last]
    return slice(low[0], high[0]), slice(low[1], high[1])


def _distance(mask: BinaryMask) -> Floats:
    """Of each pixel of a mask, how far the nearest is that is not in it."""
    from scipy.ndimage import distance_transform_edt

    return np.asarray(distance_transform_edt(mask))


def _stamped(mask: BinaryMask, by_px: int) -> BinaryMask:
    """The union of discs around every pixel: each row of the disc is a run of pixels, so the mask
    is widened step by step and laid over itself at the heights that a width reaches."""
    found = mask.copy()
    wide = mask.copy()
    width = 0
    for height in range(by_px, -1, -1):
        reach = int((by_px * by_px - height * height) ** 0.5)
        while width < reach:
            width += 1
            wide[:, width:] |= mask[:, :-width]
            wide[:, :-width] |= mask[:, width:]
        if height:
            found[height:] |= wide[:-height]
            found[:-height] |= wide[height:]
        else:
            found |= wide
    return found
