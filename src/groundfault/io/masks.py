"""Pixels, each fact once: run-length masks, boxes, mask files, overlap.

Run-length work goes through rlemasklib, an extension of the COCO mask code that checks what it
parses: pycocotools loops for ever on a truncated code and reads past the end of a corrupt one.
Its results are pinned to pycocotools in the tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rlemasklib import RLEMask
from rlemasklib.oop_cython import RLECy

from groundfault.records import Outcome, Prediction, Rle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    BinaryMask = NDArray[np.bool_]

__all__ = [
    "CONTINUES",
    "MAX_PIXELS",
    "RLEMask",
    "as_prediction",
    "box_iou",
    "decode",
    "encode",
    "intersection_and_union",
    "iou_matrix",
    "mask_box",
    "parse_mask",
    "resize_nearest",
    "to_rle",
    "union",
]

MAX_PIXELS = 1 << 28
"""Larger images are refused: 268 megapixels, five times the largest camera, is a bomb."""

CONTINUES = "P"
"""From this letter on, a compressed run length goes on in the next letter."""


def parse_mask(segmentation: Any, height_px: int, width_px: int) -> RLEMask:
    """A mask from any COCO form: compressed or plain run lengths, or polygons.

    Raises ValueError with a reason where the code is corrupt or of another size.

    >>> parse_mask({"size": [2, 2], "counts": [1, 2, 1]}, 2, 2).area()
    2
    >>> parse_mask([[0, 0, 2, 0, 2, 2, 0, 2]], 2, 2).area()
    4
    >>> parse_mask({"size": [2, 2], "counts": "1"}, 2, 2)
    Traceback (most recent call last):
    ...
    ValueError: its run lengths do not add up to 2x2 pixels (corrupt or truncated code)
    """
    if isinstance(segmentation, list):
        return _from_polygons(segmentation, height_px, width_px)
    size = segmentation["size"]
    if size[0] != height_px or size[1] != width_px:
        raise ValueError(
            f"it is {size[0]}x{size[1]}, its image {height_px}x{width_px} (height x width)"
        )
    counts = segmentation["counts"]
    key = "counts" if isinstance(counts, (str, bytes)) else "ucounts"
    try:
        if isinstance(counts, str) and counts[-1:] >= CONTINUES:
            raise ValueError
        return RLEMask.from_dict({"size": size, key: counts})
    except (ValueError, OverflowError):
        raise ValueError(
            f"its run lengths do not add up to {height_px}x{width_px} pixels "
            "(corrupt or truncated code)"
        ) from None


def _from_polygons(polygons: list[Any], height_px: int, width_px: int) -> RLEMask:
    if not polygons:
        raise ValueError("its list of polygons is empty")
    parts = []
    for polygon in polygons:
        points = np.asarray(polygon, dtype=np.float64)
        if points.ndim != 1 or points.size < 6 or points.size % 2 or not np.isfinite(points).all():
            raise ValueError("a polygon needs at least three finite x, y points")
        if np.abs(points).max() > 4 * max(height_px, width_px) + 1000:
            raise ValueError("a polygon lies far outside its image")
        parts.append(RLEMask.from_polygon(points.reshape(-1, 2), imshape=(height_px, width_px)))
    return union(parts)


def to_rle(mask: RLEMask) -> Rle:
    """The record form of a mask."""
    coded = mask.to_dict()
    height_px, width_px = mask.shape
    return Rle(size=(int(height_px), int(width_px)), counts=coded["counts"].decode("ascii"))


def encode(pixels: BinaryMask) -> Rle:
    """The record form of a (height, width) array.

    >>> encode(np.eye(2, dtype=bool))
    {'size': (2, 2), 'counts': '0120'}
    """
    return to_rle(RLEMask.from_array(np.array(pixels, dtype=bool)))


def as_prediction(masks: Sequence[Any], scores: Sequence[float]) -> Prediction:
    """What a segmenter found for one phrase, from (height, width) arrays of booleans; without a
    mask it says that the thing is not there.

    >>> as_prediction([np.eye(2, dtype=bool)], [0.9]).outcome
    <Outcome.OK: 'ok'>
    """
    if len(masks) != len(scores):
        raise ValueError(f"{len(masks)} masks with {len(scores)} scores: each mask has one")
    for mask in masks:
        if np.ndim(mask) != 2:
            raise ValueError(f"a mask is (height, width), not {np.shape(mask)}")
    return Prediction(
        item_id="",
        outcome=Outcome.OK if len(masks) else Outcome.ABSTAINED,
        masks=tuple(encode(np.asarray(mask)) for mask in masks),
        scores=tuple(map(float, scores)),
    )


def decode(rle: Rle) -> BinaryMask:
    """The (height, width) boolean array of a record."""
    return np.asarray(RLEMask.from_dict({**rle}).to_array(), dtype=bool)


def union(masks: Sequence[RLEMask]) -> RLEMask:
    """All pixels of any of the masks, which have one size."""
    return masks[0] if len(masks) == 1 else RLEMask.union(list(masks))


def iou_matrix(masks: Sequence[RLEMask], references: Sequence[RLEMask]) -> Floats:
    """Intersection over union of every mask with every reference; empty with anything is 0.

    All have one size: RLEMask.iou_matrix would check that again, for a tenth of the time.
    """
    found: Floats = RLECy.iou_matrix([mask.cy for mask in masks], [mask.cy for mask in references])
    return found


def intersection_and_union(mask: RLEMask, reference: RLEMask) -> tuple[int, int]:
    """Sizes of both in pixels."""
    shared = int((mask & reference).area())
    return shared, int(mask.area()) + int(reference.area()) - shared


def mask_box(mask: RLEMask) -> tuple[float, float, float, float]:
    """The tight box (x, y, width, height) in pixels; all zero for an empty mask."""
    x, y, width, height = mask.bbox()
    return float(x), float(y), float(width), float(height)


def box_iou(boxes_xywh: Floats, references_xywh: Floats) -> Floats:
    """Element-wise IoU of two (n, 4) arrays of boxes, by COCO's continuous rule.

    >>> box_iou(np.array([[0, 0, 2, 2.0]]), np.array([[1, 0, 2, 2.0]])).round(3).tolist()
    [0.333]
    """
    low = np.maximum(boxes_xywh[:, :2], references_xywh[:, :2])
    high = np.minimum(
        boxes_xywh[:, :2] + boxes_xywh[:, 2:], references_xywh[:, :2] + references_xywh[:, 2:]
    )
    sides = np.clip(high - low, 0.0, None)
    shared = sides[:, 0] * sides[:, 1]
    total = (
        boxes_xywh[:, 2] * boxes_xywh[:, 3] + references_xywh[:, 2] * references_xywh[:, 3] - shared
    )
    overlap: Floats = np.divide(shared, total, out=np.zeros_like(shared), where=shared > 0)
    return overlap


def resize_nearest(pixels: BinaryMask, height_px: int, width_px: int) -> BinaryMask:
    """Nearest-neighbour resize by OpenCV's rule: source index = floor(target index · scale).

    >>> resize_nearest(np.array([[True, False, True]]), 1, 2).tolist()
    [[True, False]]
    """
    if pixels.shape == (height_px, width_px):
        return pixels
    rows = _source_indices(height_px, pixels.shape[0])
    columns = _source_indices(width_px, pixels.shape[1])
    return pixels[np.ix_(rows, columns)]


def _source_indices(target_size: int, source_size: int) -> NDArray[np.intp]:
    scale = 1.0 / (target_size / source_size)  # OpenCV inverts its inverse: same rounding
    indices = np.minimum(np.floor(np.arange(target_size) * scale), source_size - 1)
    return np.asarray(indices, dtype=np.intp)
