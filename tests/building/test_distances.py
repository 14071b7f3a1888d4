"""Distances from a mask's edge are those of a distance transform of the whole picture."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import distance_transform_edt, gaussian_filter

from groundfault.building.distances import STAMPED_PX, grown, shrunk, signed_depth


def masks() -> list[np.ndarray]:
    """Blobs, dust, full and empty ones, some at the picture's edges, some a single row high."""
    rng = np.random.default_rng(5)
    found = []
    for number in range(40):
        size = rng.integers(1, 50, 2)
        noise = rng.standard_normal(size)
        found.append(gaussian_filter(noise, 3) > 0.05 if number % 2 else noise > 1)
    return [*found, np.zeros((9, 7), bool), np.ones((9, 7), bool), np.eye(1, 30, 4, dtype=bool)]


@pytest.mark.parametrize("by_px", [0, 1, 2, 3, 6, STAMPED_PX, STAMPED_PX + 1, 80])
def test_grown_and_shrunk_are_distances_compared(by_px: int) -> None:
    for mask in masks():
        far = distance_transform_edt(~mask) if mask.any() else np.full(mask.shape, np.inf)
        deep = np.full(mask.shape, np.inf) if mask.all() else distance_transform_edt(mask)
        assert (grown(mask, by_px) == (far <= by_px)).all()
        assert (shrunk(mask, by_px) == (mask & (deep > by_px))).all()


def test_signed_depth_leaves_out_only_what_is_far() -> None:
    for mask in masks():
        found = signed_depth(mask, 4)
        if not mask.any() or mask.all():
            assert found is None
            continue
        assert found is not None
        depth, window = found
        whole = distance_transform_edt(mask) - distance_transform_edt(~mask)
        assert (whole[window] == depth).all()
        whole[window] = -5
        assert (whole < -4).all()
