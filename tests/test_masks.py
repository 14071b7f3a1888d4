"""Masks against pycocotools and OpenCV, the tools that the published evaluators use."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from pycocotools import mask as coco_mask

from groundfault.io import masks

shapes = st.tuples(st.integers(1, 24), st.integers(1, 24))
arrays = shapes.flatmap(lambda shape: hnp.arrays(bool, shape))
pairs_of_arrays = shapes.flatmap(
    lambda shape: st.tuples(hnp.arrays(bool, shape), hnp.arrays(bool, shape))
)


def reference_rle(pixels: Any) -> dict[str, Any]:
    return coco_mask.encode(np.asfortranarray(pixels, dtype=np.uint8))


@given(arrays)
def test_codes_are_those_of_pycocotools(pixels: Any) -> None:
    ours = masks.encode(pixels)
    assert ours["counts"].encode() == reference_rle(pixels)["counts"]
    np.testing.assert_array_equal(masks.decode(ours), pixels)


@given(pairs_of_arrays)
def test_overlap_and_boxes_are_those_of_pycocotools(drawn: Any) -> None:
    a, b = (masks.parse_mask({**masks.encode(p)}, *p.shape) for p in drawn)
    expected = coco_mask.iou([reference_rle(drawn[0])], [reference_rle(drawn[1])], [0])
    assert masks.iou_matrix([a], [b])[0, 0] == expected[0, 0]
    assert masks.mask_box(a) == tuple(coco_mask.toBbox(reference_rle(drawn[0])))
    shared, union = (drawn[0] & drawn[1]).sum(), (drawn[0] | drawn[1]).sum()
    assert masks.intersection_and_union(a, b) == (shared, union)
    np.testing.assert_array_equal(masks.union([a, b]).to_array() > 0, drawn[0] | drawn[1])


coordinates = st.floats(-4, 30, allow_nan=False).map(lambda value: round(value, 2))


@given(shapes, st.lists(st.lists(coordinates, min_size=6, max_size=12), min_size=1, max_size=3))
@settings(max_examples=200)
def test_polygons_are_those_of_pycocotools(shape: tuple[int, int], polygons: Any) -> None:
    polygons = [points[: len(points) // 2 * 2] for points in polygons]
    expected = coco_mask.merge(coco_mask.frPyObjects(polygons, *shape))
    ours = masks.to_rle(masks.parse_mask(polygons, *shape))
    assert ours["counts"].encode() == expected["counts"]


def test_plain_run_lengths() -> None:
    pixels = np.array([[0, 1], [1, 0]], bool)
    plain = masks.parse_mask({"size": [2, 2], "counts": [1, 2, 1]}, 2, 2)
    np.testing.assert_array_equal(plain.to_array() > 0, pixels)


@pytest.mark.parametrize(
    "counts", ["", "1", "\x01\x02", "~~~~~", "04P", "o", [5], [-1, 5], [1, 2, 3, 4], [2**40]]
)
def test_corrupt_codes_are_refused(counts: Any) -> None:
    with pytest.raises(ValueError, match="do not add up"):
        masks.parse_mask({"size": [2, 2], "counts": counts}, 2, 2)


@pytest.mark.parametrize(
    "polygons", [[], [[0, 0, 1, 1]], [[0, 0, 1, 1, 2]], [[0, 0, 1, 1, float("nan"), 2]]]
)
def test_polygons_that_are_none(polygons: Any) -> None:
    with pytest.raises(ValueError, match="polygon"):
        masks.parse_mask(polygons, 4, 4)


def test_wrong_size_is_named() -> None:
    with pytest.raises(ValueError, match="it is 2x2, its image 3x4"):
        masks.parse_mask({"size": [2, 2], "counts": "4"}, 3, 4)


box = st.tuples(*[st.floats(0, 50, allow_nan=False)] * 4)


@given(st.lists(st.tuples(box, box), min_size=1, max_size=5))
def test_box_overlap_is_that_of_pycocotools(drawn: Any) -> None:
    a, b = (np.array([pair[k] for pair in drawn]) for k in range(2))
    expected = [coco_mask.iou(a[k : k + 1], b[k : k + 1], [0])[0, 0] for k in range(len(a))]
    np.testing.assert_allclose(masks.box_iou(a, b), np.nan_to_num(expected), atol=1e-12)


@given(arrays, shapes)
@settings(max_examples=200)
def test_resize_is_that_of_opencv(pixels: Any, target: tuple[int, int]) -> None:
    expected = cv2.resize(
        pixels.astype(np.uint8), (target[1], target[0]), interpolation=cv2.INTER_NEAREST
    )
    np.testing.assert_array_equal(masks.resize_nearest(pixels, *target), expected > 0)
