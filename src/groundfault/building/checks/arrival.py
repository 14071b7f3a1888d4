"""Is the new thing there, in the place and size of the old one?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groundfault.building.checks.check import Check, Seen, share
from groundfault.io.colours import VISIBLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    BinaryMask = NDArray[np.bool_]

__all__ = ["BOX_OVERLAP", "NEW_CHANGED", "OVERLAP", "SIZE", "STRAY"]

NEW = ("replace", "add", "move")


def _overlap(seen: Seen) -> float | None:
    if seen.new is None:
        return None
    union = (seen.region | seen.new).sum()
    return float((seen.region & seen.new).sum() / union) if union else 0.0


def _box_overlap(seen: Seen) -> float | None:
    if seen.new is None:
        return None
    if not seen.region.any() or not seen.new.any():
        return 0.0
    boxes = np.array([_box(seen.region), _box(seen.new)], float)
    low, high = boxes[:, :2], boxes[:, 2:]
    common = np.prod(np.maximum(high.min(0) - low.max(0), 0))
    return float(common / (np.prod(high - low, axis=1).sum() - common))


def _box(mask: BinaryMask) -> tuple[int, int, int, int]:
    """First row and column, and those after the last."""
    rows, columns = np.nonzero(mask)
    return rows.min(), columns.min(), rows.max() + 1, columns.max() + 1


def _size(seen: Seen) -> float | None:
    if seen.new is None or seen.is_boxed:
        return None
    return float(seen.new.sum() / seen.region.sum()) if seen.region.any() else 0.0


def _new_changed(seen: Seen) -> float | None:
    return None if seen.new is None else share(seen.difference[seen.new] > VISIBLE)


def _stray(seen: Seen) -> float | None:
    return None if seen.new is None else share(~seen.touched[seen.new])


OVERLAP = Check(
    "mask_overlap",
    "The new thing fills the old one's outline, as far as their shapes allow.",
    "IoU of both masks",
    _overlap,
    kinds=("replace",),
)
BOX_OVERLAP = Check(
    "box_overlap",
    "The new thing is where the old one was.",
    "IoU of both boxes",
    _box_overlap,
    kinds=("replace",),
    setting="min_overlap",
    reason="another place",
)
SIZE = Check(
    "size_ratio",
    "The new thing is about as large as the old one.",
    "area of the new mask by that of the old one",
    _size,
    kinds=("replace",),
    setting="max_size_ratio",
    wants="about 1",
    reason="another size",
)
NEW_CHANGED = Check(
    "new_changed",
    "Something new is to be seen where the new thing is said to be.",
    "share of the new mask's pixels with a visible change",
    _new_changed,
    kinds=NEW,
    setting="min_new_changed",
    reason="nothing new",
)
STRAY = Check(
    "mask_stray",
    "The new thing's mask lies where the picture may have changed.",
    "share of the new mask outside of it",
    _stray,
    kinds=NEW,
    setting="max_mask_stray",
    wants="most",
    reason="mask elsewhere",
)
