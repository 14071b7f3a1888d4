"""A coarse mask that takes the edges of its picture."""

from __future__ import annotations

import numpy as np

from groundfault.models.guided_filter import LEAST_VARIANCE, RADIUS, _fitted, guided_enlarge


def _disc(side: int) -> np.ndarray:
    row, column = (np.indices((side, side)) + 0.5) / side
    return (row - 0.47) ** 2 + (column - 0.55) ** 2 < 0.3**2


def test_fits_are_those_of_the_formula_window_by_window() -> None:
    rng = np.random.default_rng(0)
    side = 14
    mask, colour = rng.normal(size=(side, side)), rng.random((3, side, side))
    slopes, offset = _fitted(mask, colour)
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
    row, column = 6, 7
    inner = np.s_[:, row - RADIUS : row + RADIUS + 1, column - RADIUS : column + RADIUS + 1]
    expected = each[inner].mean((1, 2))
    np.testing.assert_allclose([*slopes[:, row, column], offset[row, column]], expected, rtol=1e-6)


def test_an_outline_follows_the_picture() -> None:
    truth = _disc(240)
    image = np.where(truth[..., None], (200, 60, 40), (40, 90, 160)).astype(np.uint8)
    small = image.reshape(40, 6, 40, 6, 3).mean((1, 3), dtype=np.float32)
    coarse = np.where(truth.reshape(40, 6, 40, 6).mean((1, 3)) > 0.5, 1.0, -1.0).astype(np.float32)
    blocks = np.kron(coarse, np.ones((6, 6))) > 0
    guided = guided_enlarge(coarse, small, image) > 0

    def iou(found: np.ndarray) -> float:
        return float((found & truth).sum() / (found | truth).sum())

    assert iou(guided) > 0.99 > iou(blocks)


def test_a_picture_of_one_colour_leaves_the_mask_where_it_is() -> None:
    image = np.full((80, 120, 3), 90, np.uint8)
    small = np.full((40, 40, 3), 90, np.float32)
    mask = np.where(_disc(40), 1.0, -1.0).astype(np.float32)
    large = guided_enlarge(mask, small, image)
    assert large.shape == (80, 120)
    np.testing.assert_allclose(large.mean(), mask.mean(), atol=0.03)
    assert (large[::2, ::3] > 0)[_disc(40)].mean() > 0.9
