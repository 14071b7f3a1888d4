"""Is the old thing gone?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groundfault.building.checks.check import Check, Seen, brightness
from groundfault.building.distances import bounds, shrunk, signed_depth

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["OUTLINE", "REMAINS"]

REACH_PX = 8
"""How far a blur of 2 px looks (four times as far); what is farther makes no difference."""
FLAT = 0.5
"""Standard deviation of detail, in levels, below which there is nothing to recognise."""


def _remains(seen: Seen) -> float | None:
    if seen.is_boxed:
        return None  # what was around the thing is in the box, too, and stays
    where = shrunk(seen.region, 2)
    window = bounds(where, REACH_PX)
    if window is None or where.sum() < 64:
        return None
    near = where[window]
    old, new = (_detail(image[window])[near] for image in (seen.before, seen.after))
    if old.std() < FLAT:
        return None
    if new.std() < FLAT:
        return 0.0
    return float(np.corrcoef(old, new)[0, 1])


def _detail(image: NDArray[np.uint8]) -> Floats:
    from scipy.ndimage import gaussian_filter

    light = brightness(image)
    return np.asarray(light - gaussian_filter(light, 2.0))


def _outline(seen: Seen) -> float | None:
    from scipy.ndimage import gaussian_gradient_magnitude

    found = None if seen.is_boxed else signed_depth(seen.region, REACH_PX)
    if found is None:
        return None
    depth, window = found
    edge = np.abs(depth) <= 1.5
    old, new = (
        float(gaussian_gradient_magnitude(brightness(image[window]), 1.5)[edge].mean())
        for image in (seen.before, seen.after)
    )
    return new / old if old > FLAT else None


REMAINS = Check(
    "remains",
    "Nothing of the old thing's look is left where it was.",
    "correlation of fine detail (brightness less its blur of 2 px) before and after in its mask",
    _remains,
    kinds=("erase", "replace"),
    setting="max_remains",
    wants="most",
    reason="old thing left",
)
OUTLINE = Check(
    "outline",
    "The old thing's silhouette does not show in what fills its place.",
    "brightness gradient along its outline after, by that before",
    _outline,
    kinds=("erase",),
    setting="max_outline",
    wants="most",
    reason="outline left",
)
