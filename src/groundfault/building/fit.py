"""Photographs to an editor's canvas and back: one affine map for picture and masks.

A canvas is what an editor takes: one of a few sizes, or any with sides divisible by 16. The map is
stored as a 2x3 matrix from the photograph's to the canvas's coordinates, where pixel (0, 0) reaches
from 0 to 1; its inverse is exact. Pictures are resampled by area and Lanczos, masks by the nearest
pixel, both by the same map.

    letterbox   the whole photograph, its last rows or columns repeated beside it
    crop        as much of it as fills the canvas, around the target; the rest stays as it was
    stretch     the whole photograph, its shape changed
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np

from groundfault.errors import UnknownName, UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]
    Mask = NDArray[np.bool_]

__all__ = [
    "BUCKETS",
    "MIN_IOU",
    "Fit",
    "fit_to",
    "free_canvas",
    "nearest_bucket",
    "paste_back",
    "round_trip_iou",
    "survives",
]

Size = tuple[int, int]
"""(height, width) in pixels."""
Matrix = tuple[tuple[float, float, float], tuple[float, float, float]]
Mode = Literal["letterbox", "crop", "stretch"]
MODES = ("letterbox", "crop", "stretch")
MULTIPLE = 16
MIN_IOU = 0.99
"""A mask that comes back with less was lost on the way."""
MOST_RATIO = 3.0
"""Services take no picture that is longer than three times its height, or the reverse."""

BUCKETS: dict[str, tuple[Size, ...]] = {
    "gpt-image-1": ((1024, 1024), (1024, 1536), (1536, 1024)),
    "gemini": (
        (1024, 1024), (1248, 832), (832, 1248), (1184, 864), (864, 1184),
        (1152, 896), (896, 1152), (1344, 768), (768, 1344), (672, 1536),
    ),
}  # fmt: skip
"""Sizes that editors take which do not take any."""


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """How one photograph lies on a canvas."""

    size_px: Size
    canvas_px: Size
    mode: str
    crop: tuple[int, int, int, int]
    """(top, left, bottom, right) of the part of the photograph that is shown."""
    place: tuple[int, int, int, int]
    """The same of where it is shown on the canvas."""

    @property
    def matrix(self) -> Matrix:
        """From the photograph's (x, y) to the canvas's."""
        top, left, bottom, right = self.crop
        to_top, to_left, to_bottom, to_right = self.place
        x_scale = (to_right - to_left) / (right - left)
        y_scale = (to_bottom - to_top) / (bottom - top)
        return (
            (x_scale, 0.0, to_left - left * x_scale),
            (0.0, y_scale, to_top - top * y_scale),
        )

    @property
    def inverse(self) -> Matrix:
        """From the canvas's (x, y) to the photograph's."""
        swapped = msgspec.structs.replace(self, crop=self.place, place=self.crop)
        return swapped.matrix

    @property
    def covered(self) -> Mask:
        """Which pixels of the photograph are on the canvas."""
        shown = np.zeros(self.size_px, bool)
        top, left, bottom, right = self.crop
        shown[top:bottom, left:right] = True
        return shown

    def picture(self, pixels: Pixels) -> Pixels:
        """A photograph on the canvas."""
        _check_size(pixels, self.size_px, "the photograph")
        top, left, bottom, right = self.crop
        to_top, to_left, to_bottom, to_right = self.place
        size = to_bottom - to_top, to_right - to_left
        shown = _resized(pixels[top:bottom, left:right], size)
        around = (
            (to_top, self.canvas_px[0] - to_bottom),
            (to_left, self.canvas_px[1] - to_right),
            (0, 0),
        )
        return np.pad(shown, around, mode="edge")

    def mask(self, pixels: Mask) -> Mask:
        """A photograph's mask on the canvas; beside the photograph it is empty."""
        _check_size(pixels, self.size_px, "the mask")
        found = np.zeros(self.canvas_px, bool)
        _move(pixels, self.crop, found, self.place)
        return found

    def picture_back(self, pixels: Pixels, original: Pixels) -> Pixels:
        """An edited canvas as the photograph; what the canvas does not show is the original's."""
        _check_size(pixels, self.canvas_px, "the canvas")
        _check_size(original, self.size_px, "the photograph")
        top, left, bottom, right = self.crop
        to_top, to_left, to_bottom, to_right = self.place
        found = original.copy()
        shown = pixels[to_top:to_bottom, to_left:to_right]
        found[top:bottom, left:right] = _resized(shown, (bottom - top, right - left))
        return found

    def mask_back(self, pixels: Mask) -> Mask:
        """A mask on the canvas as the photograph's."""
        _check_size(pixels, self.canvas_px, "the canvas")
        found = np.zeros(self.size_px, bool)
        _move(pixels, self.place, found, self.crop)
        return found


def fit_to(
    size_px: Size,
    canvas_px: Size,
    mode: str = "letterbox",
    *,
    around: tuple[float, float] | None = None,
) -> Fit:
    """How a photograph of one size is put on a canvas of another. Where it is cropped, the crop is
    centred at `around`, (x, y), as far as the photograph goes.

    >>> fit_to((480, 640), (1024, 1024)).matrix
    ((1.6, 0.0, 0.0), (0.0, 1.6, 128.0))
    """
    if mode not in MODES:
        raise UnknownName("way to fit", mode, MODES)
    if min(*size_px, *canvas_px) < 1:
        raise UsageError(f"a picture of {size_px} on a canvas of {canvas_px}: give sizes above 0")
    whole = (0, 0, *size_px)
    if mode == "crop":
        crop, place = _crop(size_px, canvas_px, around), (0, 0, *canvas_px)
    elif mode == "stretch":
        crop, place = whole, (0, 0, *canvas_px)
    else:
        crop, place = whole, _letterbox(size_px, canvas_px)
    return Fit(size_px=size_px, canvas_px=canvas_px, mode=mode, crop=crop, place=place)


def _letterbox(size_px: Size, canvas_px: Size) -> tuple[int, int, int, int]:
    scale = min(canvas_px[0] / size_px[0], canvas_px[1] / size_px[1])
    height, width = (
        min(most, max(1, round(side * scale)))
        for side, most in zip(size_px, canvas_px, strict=True)
    )
    top, left = (canvas_px[0] - height) // 2, (canvas_px[1] - width) // 2
    return top, left, top + height, left + width


def _crop(
    size_px: Size, canvas_px: Size, around: tuple[float, float] | None
) -> tuple[int, int, int, int]:
    scale = max(canvas_px[0] / size_px[0], canvas_px[1] / size_px[1])
    sides = [
        min(most, max(1, round(side / scale)))
        for side, most in zip(canvas_px, size_px, strict=True)
    ]
    middle = (around[1], around[0]) if around else (size_px[0] / 2, size_px[1] / 2)
    top, left = (
        min(max(0, round(at - side / 2)), most - side)
        for at, side, most in zip(middle, sides, size_px, strict=True)
    )
    return top, left, top + sides[0], left + sides[1]


def free_canvas(
    size_px: Size, *, multiple: int = MULTIPLE, least_px: int = 256, most_px: int = 2048
) -> Size:
    """The canvas for an editor that takes any size: the photograph's own, scaled so that its sides
    lie between `least_px` and `most_px`, rounded up to a multiple, no longer than 3:1.

    >>> free_canvas((480, 640)), free_canvas((427, 640)), free_canvas((100, 1000))
    ((480, 640), (432, 640), (688, 2048))
    """
    short, long = min(size_px), max(size_px)
    scale = min(max(1.0, least_px / short), most_px / long)
    height, width = (max(least_px, _rounded_up(side * scale, multiple)) for side in size_px)
    least = _rounded_up(max(height, width) / MOST_RATIO, multiple)
    longest = math.floor(most_px / multiple) * multiple
    return min(max(height, least), longest), min(max(width, least), longest)


def _rounded_up(side: float, multiple: int) -> int:
    return math.ceil(round(side, 6) / multiple) * multiple


def nearest_bucket(size_px: Size, buckets: Sequence[Size]) -> Size:
    """The size whose shape is nearest to the photograph's; of equal ones the first.

    >>> nearest_bucket((480, 640), BUCKETS["gpt-image-1"])
    (1024, 1536)
    """
    if not buckets:
        raise UsageError("an editor's sizes: give at least one")
    shape = math.log(size_px[1] / size_px[0])
    return min(buckets, key=lambda size: abs(math.log(size[1] / size[0]) - shape))


def round_trip_iou(fit: Fit, mask: Mask) -> float:
    """How much of a mask comes back from the canvas, as an overlap; 1 for an empty one."""
    again = fit.mask_back(fit.mask(mask))
    both, either = np.count_nonzero(mask & again), np.count_nonzero(mask | again)
    return both / either if either else 1.0


def survives(fit: Fit, mask: Mask) -> bool:
    """Whether a mask comes back from the canvas as it went."""
    return round_trip_iou(fit, mask) >= MIN_IOU


def paste_back(
    original: Pixels, edited: Pixels, touchable: Mask, feather_px: float = 4.0
) -> Pixels:
    """The edited picture where it may be touched, the original everywhere else, to the last bit.

    Within the region, the edit fades in over `feather_px` pixels from its border; 0 pastes hard.
    Where the target must stay and everything else may change (context conflicts), give everything
    but the target.
    """
    _check_size(edited, original.shape[:2], "the edited picture")
    _check_size(touchable, original.shape[:2], "the mask")
    weight = _depth(touchable, feather_px)[..., None]
    mixed = original + weight * (edited.astype(np.float32) - original)
    pasted = np.clip(np.rint(mixed), 0, 255).astype(np.uint8)
    return np.where(touchable[..., None], pasted, original)


def _depth(region: Mask, feather_px: float) -> NDArray[np.float32]:
    """0 outside, rising to 1 at `feather_px` inside; the picture's own edges are no border."""
    if feather_px <= 0 or not region.any() or region.all():
        return region.astype(np.float32)
    from scipy import ndimage

    distance = ndimage.distance_transform_edt(region)
    return np.asarray(np.clip(distance / (feather_px + 1), 0, 1), np.float32)


def _resized(pixels: Pixels, size_px: Size) -> Pixels:
    """Lanczos, which averages where it shrinks."""
    if pixels.shape[:2] == size_px:
        return pixels
    from PIL import Image

    picture = Image.fromarray(np.ascontiguousarray(pixels))
    return np.asarray(picture.resize((size_px[1], size_px[0]), Image.Resampling.LANCZOS))


def _move(source: Mask, crop: Sequence[int], target: Mask, place: Sequence[int]) -> None:
    """Fill a part of one mask from a part of another: each pixel from the one at its centre."""
    rows = _centres(crop[0], crop[2], place[2] - place[0])
    columns = _centres(crop[1], crop[3], place[3] - place[1])
    target[place[0] : place[2], place[1] : place[3]] = source[np.ix_(rows, columns)]


def _centres(start: int, stop: int, count: int) -> Any:
    """For each of `count` pixels, the one of start…stop that its centre falls into."""
    places = start + (np.arange(count) + 0.5) * (stop - start) / count
    return np.minimum(places.astype(np.intp), stop - 1)


def _check_size(pixels: Any, size_px: Sequence[int], name: str) -> None:
    if tuple(pixels.shape[:2]) != tuple(size_px):
        found, expected = pixels.shape[:2], tuple(size_px)
        raise ValueError(f"{name} is {found[0]}x{found[1]}, not {expected[0]}x{expected[1]}")
