"""Masks and boxes of raw records: what is wrong with one, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from groundfault.io.masks import parse_mask

__all__ = ["BoxUnits", "box_problem", "is_id", "is_number", "mask_problem", "rle_size"]


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_id(value: Any) -> bool:
    return isinstance(value, (int, str)) and not isinstance(value, bool)


def mask_problem(segmentation: Any, height_px: int, width_px: int) -> str:
    """Why a mask is unsound; empty where it is not.

    >>> mask_problem([[0, 0, 1, 1]], 4, 4)
    'a polygon needs at least three finite x, y points'
    """
    try:
        parse_mask(segmentation, height_px, width_px)
    except ValueError as problem:
        return str(problem)
    except (KeyError, TypeError, IndexError):
        return "it is neither run lengths with size and counts nor a list of polygons"
    return ""


def rle_size(segmentation: Any) -> tuple[int, int] | None:
    """(height, width) that a mask claims; None where it does not."""
    size = segmentation.get("size") if isinstance(segmentation, dict) else None
    if isinstance(size, list) and len(size) == 2 and all(isinstance(side, int) for side in size):
        return size[0], size[1]
    return None


def box_problem(box: Any) -> str:
    """Why a box is unsound; empty where it is not.

    >>> box_problem([0, 0, -1, 5])
    '[0, 0, -1, 5] is not x, y, width, height in finite numbers'
    """
    if not isinstance(box, list) or len(box) != 4 or not all(map(is_number, box)):
        return f"{box} is not four numbers"
    if not all(map(math.isfinite, box)) or box[2] < 0 or box[3] < 0:
        return f"{box} is not x, y, width, height in finite numbers"
    return ""


class BoxUnits:
    """Whether all boxes seen lie in the unit square."""

    def __init__(self) -> None:
        self.n = self.n_unit = 0

    def add(self, box: Sequence[float]) -> None:
        self.n += 1
        self.n_unit += box[0] + box[2] <= 1.000001 and box[1] + box[3] <= 1.000001

    def name(self, *, images_are_larger: bool = True) -> str:
        """ "pixels" or "normalised"; empty without boxes."""
        if not self.n:
            return ""
        return "normalised" if self.n == self.n_unit and images_are_larger else "pixels"
