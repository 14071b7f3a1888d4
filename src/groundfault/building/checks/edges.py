"""Does the edit end where the target ends?

Change is compared in three bands along the edge: 1 to 3 px inside it, 3 to 10 px inside, and 1 to
4 px outside. The pixel at the edge itself is left out, as it is a mixture. Twelve directions around
the target are looked at apart, so that a shift, which fits on two sides, shows on the other two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from groundfault.building.checks.check import SURFACES, Check, Seen
from groundfault.building.distances import signed_depth
from groundfault.io.colours import VISIBLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["EDGE", "HALO"]

DIRECTIONS = 12
FEWEST_PX = 12
"""Of a band in one direction; with fewer it says nothing."""
FEWEST_DIRECTIONS = 3


class _Bands(NamedTuple):
    """Mean ΔE in each direction; NaN where there are too few pixels."""

    rim: Floats
    deep: Floats
    beyond: Floats


def _bands(seen: Seen) -> _Bands:
    found = signed_depth(seen.region, 10)
    assert found is not None  # `_edge` and `_halo` have looked
    depth, window = found
    if seen.kind == "context":
        depth = -depth
    rows, columns = np.nonzero(seen.region[window])
    y, x = np.nonzero((depth > -4) & (depth <= 10))
    angle = np.arctan2(y - rows.mean(), x - columns.mean())
    direction = ((angle + np.pi) / (2 * np.pi) * DIRECTIONS).astype(int) % DIRECTIONS
    near, change = depth[y, x], seen.difference[window][y, x]
    bands = ((near > 1) & (near <= 3), near > 3, (near < -1) & (near > -4))
    return _Bands(*(_means(direction[band], change[band]) for band in bands))


def _means(direction: NDArray[np.int_], change: Floats) -> Floats:
    counts = np.bincount(direction, minlength=DIRECTIONS)
    sums = np.bincount(direction, change, minlength=DIRECTIONS)
    return np.where(counts >= FEWEST_PX, sums / np.maximum(counts, 1), np.nan)


def _ratios(part: Floats, deep: Floats) -> Floats | None:
    """Change in a band by that further inside, in the directions where both are known."""
    known = np.isfinite(part) & (np.nan_to_num(deep) > VISIBLE)
    return part[known] / deep[known] if known.sum() >= FEWEST_DIRECTIONS else None


def _edge(seen: Seen) -> float | None:
    if seen.is_boxed or not seen.region.any() or seen.region.all():
        return None
    bands = seen.once("bands", lambda: _bands(seen))
    found = _ratios(bands.rim, bands.deep)
    return None if found is None else float(found.min())


def _halo(seen: Seen) -> float | None:
    if seen.is_boxed or not seen.region.any() or seen.region.all():
        return None
    bands = seen.once("bands", lambda: _bands(seen))
    found = _ratios(bands.beyond, bands.deep)
    return None if found is None else float(found.max())


EDGE = Check(
    "edge",
    "The edit reaches the target's edge in every direction.",
    "change 1 to 3 px inside the edge by that 3 to 10 px inside; the worst of 12 directions",
    _edge,
    kinds=SURFACES,
    setting="min_edge",
    reason="edge not reached",
)
HALO = Check(
    "halo",
    "The edit does not show beyond the target's edge.",
    "change 1 to 4 px outside the edge by that 3 to 10 px inside; the worst of 12 directions",
    _halo,
    kinds=SURFACES,
    setting="max_halo",
    wants="most",
    reason="halo",
)
