"""A coarse mask that takes the edges of its picture."""

from __future__ import annotations

import numpy as np
import pytest

from groundfault.models.guided_filter import LEAST_VARIANCE, RADIUS, Guide


def _whole(guide: Guide, mask: np.ndarray) -> np.ndarray:
    """The mask at the picture's size; 0 is what nothing is known of."""
    large = np.zeros(guide.image.shape[:2], np.float32)
    at, own = guide.enlarged(mask.astype(np.float32))
    large[at] = own
    return large


def _disc(side: int) -> np.ndarray:
    row, column = (np.indices((side, side)) + 0.5) / side
    return (row - 0.47) ** 2 + (column - 0.55) ** 2 < 0.3**2


def test_fits_are_those_of_the_formula_window_by_window() -> None:
    rng = np.random.default_rng(0)
    side = 18
    mask, colour = rng.normal(size=(side, side)), rng.random((3, side, side))
    small = (colour.transpose(1, 2, 0) * 255).astype(np.float32)
    colour = small.transpose(2, 0, 1).astype(np.float64) / 255
    guide = Guide(small, np.zeros((side, side, 3), np.uint8))
    found = guide._fitted(mask, np.s_[0:side, 0:side])
    each = np.zeros((4, side, side))
    for row in range(side):
        for column in range(side):
            at = np.arange(-RADIUS, RADIUS + 1)
            window = np.ix_((row + at).clip(0, side - 1), (column + at).clip(0, side - 1))
            seen = np.stack([plane[window].ravel() for plane in colour])
            level = mask[window].ravel()
            spread = np.cov(seen, bias=True) + LEAST_VARIANCE * np.eye(3)
            along = ((seen - seen.mean(1, keepdims=True)) * (level - level.mean())).mean(1)
            each[:3, row, column] = np.linalg.solve(spread, along)
            each[3, row, column] = level.mean() - each[:3, row, column] @ seen.mean(1)
    row, column = 8, 9
    inner = np.s_[:, row - RADIUS : row + RADIUS + 1, column - RADIUS : column + RADIUS + 1]
    expected = each[inner].mean((1, 2))
    np.testing.assert_allclose(found[:, row, column], expected, rtol=1e-6)


def test_an_outline_follows_the_picture() -> None:
    truth = _disc(240)
    image = np.where(truth[..., None], (200, 60, 40), (40, 90, 160)).astype(np.uint8)
    small = image.reshape(40, 6, 40, 6, 3).mean((1, 3), dtype=np.float32)
    coarse = np.where(truth.reshape(40, 6, 40, 6).mean((1, 3)) > 0.5, 1.0, -1.0).astype(np.float32)
    blocks = np.kron(coarse, np.ones((6, 6))) > 0
    guided = _whole(Guide(small, image), coarse + 1) > 1

    def iou(found: np.ndarray) -> float:
        return float((found & truth).sum() / (found | truth).sum())

    assert iou(guided) > 0.99 > iou(blocks)


def test_a_picture_of_one_colour_leaves_the_mask_where_it_is() -> None:
    image = np.full((80, 120, 3), 90, np.uint8)
    small = np.full((40, 40, 3), 90, np.float32)
    mask = np.where(_disc(40), 1.0, -1.0).astype(np.float32)
    large = _whole(Guide(small, image), mask + 1) - 1
    np.testing.assert_allclose(large.mean(), mask.mean(), atol=0.03)
    assert (large[::2, ::3] > 0)[_disc(40)].mean() > 0.9


@pytest.mark.parametrize("shape", [(200, 140), (61, 43), (30, 500)])
@pytest.mark.parametrize("corner", [(0, 0), (17, 20), (33, 36)])
def test_a_part_of_the_picture_is_what_the_whole_says(
    shape: tuple[int, int], corner: tuple[int, int]
) -> None:
    """A small mask is worked out around itself only: nothing else of it is lost or added."""
    rng = np.random.default_rng(1)
    image = rng.integers(0, 256, (*shape, 3), np.uint8)
    small = rng.uniform(0, 255, (40, 40, 3)).astype(np.float32)
    mask = np.zeros((40, 40), np.float32)
    mask[corner[0] : corner[0] + 7, corner[1] : corner[1] + 4] = rng.uniform(1, 8, (7, 4))
    guide = Guide(small, image)
    near = _whole(guide, mask)
    guide._near = lambda mask: np.s_[0:40, 0:40]  # type: ignore[method-assign]
    np.testing.assert_allclose(near, _whole(guide, mask), atol=2e-3)


def test_a_mask_of_nothing_is_nothing() -> None:
    guide = Guide(np.zeros((40, 40, 3), np.float32), np.zeros((50, 60, 3), np.uint8))
    assert not _whole(guide, np.zeros((40, 40))).any()
