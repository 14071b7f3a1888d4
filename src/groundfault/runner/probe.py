"""Does an adapter return masks where they belong? Checked with rendered squares before a run.

A bright square on a dark ground goes through the adapter's own preprocessing; the pixels that the
network would have seen stand in for what it would have answered, and go through the adapter's own
postprocessing back to the image. Resizing, letterboxing, transposed axes and swapped coordinates
show up as a square in the wrong place, without the network and whatever it believes.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from groundfault.errors import RAISED, GroundfaultError
from groundfault.interfaces import Probeable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Box = tuple[int, int, int, int]  # left, top, right, bottom; right and bottom are outside

__all__ = ["NOT_OFFERED", "PASSED", "SKIPPED", "TOLERANCE_PX", "ProbeFailed", "probe"]

TOLERANCE_PX = 2
SIZES_PX = ((96, 96), (64, 200), (200, 64), (240, 320), (320, 480), (480, 320))
"""(height, width). No larger: an input of 160 pixels across is only exact to half a pixel of its
own, which is 1.5 pixels of these."""
SQUARES = ((0.15, 0.10), (0.55, 0.60))
"""Left and top corner in parts of the picture: off the centre and off the diagonal."""
SIDE = 0.35
"""Of the shorter side of the picture."""
DARK, BRIGHT = 16, 240
PASSED, NOT_OFFERED, SKIPPED = "passed", "not offered by the model", "skipped"


class ProbeFailed(GroundfaultError):
    """A square came back elsewhere; `picture` is a PNG that shows it."""

    def __init__(self, message: str, picture: bytes) -> None:
        super().__init__(message)
        self.picture = picture


class _Square(NamedTuple):
    image: NDArray[np.uint8]
    box: Box


def probe(model: object) -> str:
    """Check an adapter's frame; a disagreement of more than 2 pixels raises `ProbeFailed`."""
    if not isinstance(model, Probeable):
        return NOT_OFFERED
    for image, box in _squares(SIZES_PX):
        height_px, width_px = image.shape[:2]
        mask = np.zeros((height_px, width_px), bool)
        try:
            mask = np.asarray(model.frame_probe(image), bool)
            problem = _disagreement(mask, box, (height_px, width_px))
        except RAISED as raised:  # whatever an adapter may raise
            problem = f"did not come back ({type(raised).__name__}: {raised})"
        if problem:
            raise ProbeFailed(
                f"the model's coordinate frame is off: on a picture of {height_px}x{width_px} "
                f"pixels (height x width) a square at {box} (left, top, right, bottom) {problem}. "
                "Masks would land in the wrong place: correct the adapter, or skip this check with "
                "--no-probe",
                _drawn(image, box, mask),
            )
    return PASSED


def _squares(sizes_px: Sequence[tuple[int, int]]) -> Iterator[_Square]:
    for height_px, width_px in sizes_px:
        side_px = round(SIDE * min(height_px, width_px))
        for across, down in SQUARES:
            left = min(round(across * width_px), width_px - side_px)
            top = min(round(down * height_px), height_px - side_px)
            image = np.full((height_px, width_px, 3), DARK, np.uint8)
            image[top : top + side_px, left : left + side_px] = BRIGHT
            yield _Square(image, (left, top, left + side_px, top + side_px))


def _disagreement(mask: NDArray[np.bool_], box: Box, size_px: tuple[int, int]) -> str:
    """What is wrong with where a square came back; "" if nothing is."""
    if mask.shape != size_px:
        return f"came back in a mask of shape {mask.shape}"
    found = _box_of(mask)
    if found is None:
        return "came back as nothing"
    if max(abs(a - b) for a, b in zip(found, box, strict=True)) > TOLERANCE_PX:
        return f"came back at {found}"
    return ""


def _box_of(mask: NDArray[np.bool_]) -> Box | None:
    """
    >>> _box_of(np.array([[False, False, False], [False, True, True]]))
    (1, 1, 3, 2)
    """
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return None
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def _drawn(image: NDArray[np.uint8], box: Box, mask: NDArray[np.bool_]) -> bytes:
    """The picture as PNG: what came back in red, where it belongs outlined in green."""
    from PIL import Image, ImageDraw

    shown = image.copy()
    if mask.shape == shown.shape[:2]:
        shown[mask] = (shown[mask] // 2) + np.array([110, 0, 0], np.uint8)
    picture = Image.fromarray(shown)
    left, top, right, bottom = box
    ImageDraw.Draw(picture).rectangle((left, top, right - 1, bottom - 1), outline=(0, 220, 0))
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()
