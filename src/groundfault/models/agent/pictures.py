"""What the model is shown: all masks at once, numbered; and single regions from close up.

The overlay tints each mask, outlines it, and puts its number where nothing else stands: inside the
mask if there is room, else beside it with a line that leads to it. Colours are chosen against what
lies under them and near them; the number is black or white, whichever can be read on its colour.
A close-up leaves the pixels of the mask alone: only fine dots run along its edge, outside.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from groundfault.llm.pictures import make_picture
from groundfault.records import Picture

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]  # (height, width, 3) RGB
    BinaryMask = NDArray[np.bool_]  # (height, width)

Box = tuple[int, int, int, int]
"""Left, top, right, bottom."""

__all__ = [
    "Label",
    "close_up",
    "close_up_picture",
    "compressed",
    "contrast",
    "encoded",
    "font",
    "grown",
    "mask_bounds",
    "numbered",
    "place_labels",
]

SHORT_SIDE_PX = 512
"""Of a close-up, at least: textures need room."""
LEAST_SIDE_PX = 384
"""Of the overlay: on smaller pictures numbers would hide too much …"""
CROWD = 12
CROWD_PX = 8
"""… and so much more for each mask beyond these few, whose numbers are no larger than …"""
CROWD_FONT_PX = 20
LONG_SIDE_PX = 1568
"""Larger ones are reduced, as multimodal models do anyway, but not below SHORT_SIDE_PX."""
LONGEST_PX = 4096
MARGIN = 0.2
"""Of the mask's box, on each of its four sides."""
SLIMMEST = 4
"""A close-up of a slimmer region shows more of its surroundings instead of becoming a ribbon."""
TINT = 0.28
"""Of a mask's colour over what it covers."""
QUALITY = 90
LINEAR_FROM = 2.0
"""Scale from which a close-up is enlarged linearly: half the time, and it looks the same."""
THINNED_FROM = 2.5
"""Scale from which 4:2:0 is used: a quarter of the enlarged colours is more than there was."""
PALETTE = (
    (230, 25, 75), (0, 210, 255), (255, 225, 25), (145, 30, 235), (60, 220, 60), (255, 120, 0),
    (240, 50, 230), (0, 80, 255), (190, 255, 0), (0, 150, 136), (255, 170, 190), (150, 75, 0),
)  # fmt: skip
DISTINCT = 220.0
"""How far a mask's colour is from what it covers, at least; black and white are 765 apart."""
SMALLEST_FONT_PX = 8
MAP_PX = 72
"""Longer side of the map on which places for numbers are looked for."""


class Label(NamedTuple):
    """Where a number stands: a box (left, top, right, bottom), and the point in its mask."""

    number: int
    box: Box
    anchor: tuple[int, int]
    outside: bool


def encoded(
    picture: Image.Image | Pixels, *, quality: int = QUALITY, thinned: bool = False
) -> Picture:
    """A picture as it is sent, as JPEG; reduced if it is very large. `thinned` keeps a quarter of
    its colours (4:2:0)."""
    if not isinstance(picture, Image.Image):
        picture = Image.fromarray(picture)
    if max(picture.size) > LONG_SIDE_PX and min(picture.size) > SHORT_SIDE_PX:
        scale = max(LONG_SIDE_PX / max(picture.size), SHORT_SIDE_PX / min(picture.size))
        picture = picture.resize(_scaled(picture.size, scale), Image.Resampling.LANCZOS)
    content = compressed(picture, "JPEG", quality=quality, subsampling=2 if thinned else 0)
    return make_picture("image/jpeg", content)


def compressed(picture: Image.Image, kind: str, **how: int) -> bytes:
    """The bytes of a picture's file. Pillow lets other threads run while it compresses into a file,
    but not into a BytesIO: so the file is one in memory, where the system has those."""
    if not hasattr(os, "memfd_create"):
        out = io.BytesIO()
        picture.save(out, kind, **how)
        return out.getvalue()
    with os.fdopen(os.memfd_create("picture"), "r+b") as file:
        picture.save(file, kind, **how)
        file.seek(0)
        return file.read()


def numbered(image: Pixels, masks: Sequence[BinaryMask]) -> Image.Image:
    """The picture with its masks outlined and numbered from 1."""
    height_px, width_px = image.shape[:2]
    least_px = LEAST_SIDE_PX + CROWD_PX * max(0, len(masks) - CROWD)
    scale = max(1.0, least_px / min(height_px, width_px))
    scale = min(scale, max(LONG_SIDE_PX / max(height_px, width_px), 1.0))
    picture = _resized(image, _scaled((width_px, height_px), scale))
    line_px = max(2, round(min(picture.size) / 220))
    boxes = [mask_bounds(mask) for mask in masks]
    colours = _colours(image, masks, boxes)
    areas_px = [np.count_nonzero(mask) for mask in masks]
    for index in sorted(range(len(masks)), key=lambda i: -areas_px[i]):
        _draw_mask(picture, masks[index], boxes[index], colours[index], scale, line_px)
    labels = place_labels(masks, picture.size, boxes)
    draw = ImageDraw.Draw(picture)
    for label in labels:
        if label.outside:
            _draw_leader(draw, label, colours[label.number - 1], line_px)
    for label in labels:
        _draw_label(draw, label, colours[label.number - 1])
    return picture


def close_up_picture(image: Pixels, mask: BinaryMask) -> Picture:
    """A close-up as it is sent. What is enlarged a lot has no detail between its pixels, so its
    colours are thinned: a third off the file and off the time."""
    picture, scale = _close_up(image, mask)
    return encoded(picture, thinned=scale >= THINNED_FROM)


def close_up(image: Pixels, mask: BinaryMask) -> Image.Image:
    """The region of a mask, enlarged so that its shorter side has at least 512 pixels."""
    return _close_up(image, mask)[0]


def _close_up(image: Pixels, mask: BinaryMask) -> tuple[Image.Image, float]:
    """The same with its scale."""
    left, top, right, bottom = _with_margin(mask_bounds(mask), image.shape[1], image.shape[0])
    part, inside = image[top:bottom, left:right], mask[top:bottom, left:right]
    sides = (right - left, bottom - top)
    scale = SHORT_SIDE_PX / min(sides)
    if scale < 1:
        scale = max(scale, min(1.0, LONG_SIDE_PX / max(sides)))
    scale = min(scale, LONGEST_PX / max(sides))
    size = _scaled(sides, scale)
    how = Image.Resampling.BILINEAR if scale >= LINEAR_FROM else Image.Resampling.BICUBIC
    picture = Image.fromarray(part).resize(size, how)
    rows, columns = np.nonzero(grown(inside, 1) & ~inside)
    x, y = ((columns + 0.5) * scale).astype(int), ((rows + 0.5) * scale).astype(int)
    points = np.stack([x, y], axis=1)
    draw = ImageDraw.Draw(picture)
    for first, grey in ((0, 235), (1, 60)):  # by turns light and dark: one of them is seen
        dots = points[first::2]
        if scale >= 2:  # two by two pixels, still inside the enlarged one
            dots = np.concatenate([dots - shift for shift in ((0, 0), (1, 0), (0, 1), (1, 1))])
        draw.point(dots.ravel().tolist(), fill=(grey, grey, grey))
    return picture, scale


# Colours.


def contrast(one: Sequence[float], other: Sequence[float]) -> float:
    """WCAG's contrast of two colours, from 1 to 21.

    >>> round(contrast((0, 0, 0), (255, 255, 255)), 3)
    21.0
    """
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: Sequence[float] | NDArray[np.float64]) -> float:
    red, green, blue = (_linear(value / 255) for value in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(value: float) -> float:
    return float(value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4)


def _ink(colour: tuple[int, int, int]) -> tuple[int, int, int]:
    """Black or white: whichever can be read better; one of them always has a contrast over 4.5."""
    white, black = (255, 255, 255), (0, 0, 0)
    return white if contrast(colour, white) >= contrast(colour, black) else black


def _colours(
    image: Pixels, masks: Sequence[BinaryMask], boxes: Sequence[Box]
) -> list[tuple[int, int, int]]:
    """One per mask: far from what it covers, and from the colours of its neighbours."""
    palette = np.array(PALETTE, float)
    step = max(1, math.isqrt(image.shape[0] * image.shape[1] // 16384))
    small, reach = image[::step, ::step], math.hypot(*image.shape[:2])
    chosen: list[int] = []
    middles: list[tuple[float, float]] = []
    for mask, (left, top, right, bottom) in zip(masks, boxes, strict=True):
        under = _mean(small, mask[::step, ::step])
        uses = np.bincount(chosen, minlength=len(palette))
        score = _distance(palette, under)
        good = score >= DISTINCT
        good &= uses == uses[good].min()
        middle = ((left + right) / 2, (top + bottom) / 2)
        for other, place in zip(chosen, middles, strict=True):
            near = 1 - min(1.0, math.dist(middle, place) / (0.6 * reach))
            score -= near * np.maximum(0.0, 300.0 - _distance(palette, palette[other]))
        chosen.append(int(np.where(good, score, -np.inf).argmax()))
        middles.append(middle)
    return [PALETTE[index] for index in chosen]


def _distance(colours: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """How different colours look, roughly ("redmean")."""
    red = (colours[:, 0] + other[0]) / 2
    squares = (colours - other) ** 2
    weights = np.stack([2 + red / 256, np.full_like(red, 4.0), 2 + (255 - red) / 256], axis=1)
    distance: NDArray[np.float64] = np.sqrt((weights * squares).sum(axis=1))
    return distance


# Places for numbers.


def place_labels(
    masks: Sequence[BinaryMask], size: tuple[int, int], boxes: Sequence[Box] | None = None
) -> list[Label]:
    """A place for each number on a picture of this (width, height); no two boxes meet."""
    around = [mask_bounds(mask) for mask in masks] if boxes is None else boxes
    poles = [_pole(mask, box, size) for mask, box in zip(masks, around, strict=True)]
    largest_px = max(14, round(min(size) / 24))
    if len(masks) > CROWD:
        largest_px = min(largest_px, CROWD_FONT_PX)
    for font_px in range(largest_px, SMALLEST_FONT_PX - 1, -1):
        for spared in (True, False):
            labels = _placed(poles, font_px, size, spared=spared)
            if labels is not None:
                return labels
    raise ValueError(f"{len(masks)} numbers do not fit on {size[0]}x{size[1]} pixels")


def _placed(
    poles: Sequence[_Pole], font_px: int, size: tuple[int, int], *, spared: bool
) -> list[Label] | None:
    """Places in one size of letters; `spared` keeps numbers off the hearts of small masks."""
    taken: list[Box] = []
    labels: dict[int, Label] = {}
    sizes = [_label_size(index + 1, font_px) for index in range(len(poles))]
    small = {k for k, pole in enumerate(poles) if pole.room < 0.45 * math.hypot(*sizes[k])}
    hearts = {k: poles[k].heart() for k in small} if spared else {}
    for index in sorted(range(len(poles)), key=lambda k: poles[k].room):  # no choice: first
        for middle in _around(poles[index].point, step=max(3, font_px // 4), size=size):
            box = _boxed(middle, sizes[index], size)
            if any(_meet(box, other) for other in (*taken, *hearts.values())):
                continue
            taken.append(box)
            outside = index in small or not _holds(box, poles[index].point)
            labels[index] = Label(index + 1, box, poles[index].point, outside)
            break
        else:
            return None
    return [labels[index] for index in range(len(poles))]


def _around(
    point: tuple[int, int], *, step: int, size: tuple[int, int]
) -> Iterator[tuple[int, int]]:
    """Points ever further away, ring by ring, until the whole picture was walked through."""
    yield point
    for away in range(step, math.ceil(math.hypot(*size)), step):
        n = max(8, int(4 * away / step))
        for k in range(n):
            angle = -math.pi / 2 + 2 * math.pi * k / n
            x, y = point[0] + away * math.cos(angle), point[1] + away * math.sin(angle)
            if 0 <= x < size[0] and 0 <= y < size[1]:
                yield round(x), round(y)


def _holds(box: Box, point: tuple[int, int]) -> bool:
    return box[0] <= point[0] <= box[2] and box[1] <= point[1] <= box[3]


def _boxed(middle: tuple[int, int], label: tuple[int, int], size: tuple[int, int]) -> Box:
    width, height = label
    left = min(max(1, middle[0] - width // 2), max(1, size[0] - width - 2))
    top = min(max(1, middle[1] - height // 2), max(1, size[1] - height - 2))
    return left, top, left + width, top + height


def _meet(one: Box, other: Box) -> bool:
    gap = 2
    return (
        one[0] - gap < other[2]
        and other[0] - gap < one[2]
        and one[1] - gap < other[3]
        and other[1] - gap < one[3]
    )


class _Pole(NamedTuple):
    """The point of a mask furthest from its edge and that distance, in pixels of the picture."""

    point: tuple[int, int]
    room: float

    def heart(self) -> Box:
        """A box around the point that shows that there is a mask."""
        (x, y), reach = self.point, math.ceil(min(self.room, 8.0))
        return x - reach, y - reach, x + reach, y + reach


def _pole(mask: BinaryMask, box: Box, size: tuple[int, int]) -> _Pole:
    from scipy.ndimage import distance_transform_edt

    left, top, right, bottom = box
    step = max(1, math.ceil(max(right - left, bottom - top) / MAP_PX))
    part = np.pad(mask[top:bottom:step, left:right:step], 1)
    deep = distance_transform_edt(part)
    row, column = np.unravel_index(int(deep.argmax()), deep.shape)
    scale = size[0] / mask.shape[1]
    x = (left + (int(column) - 0.5) * step) * scale
    y = (top + (int(row) - 0.5) * step) * scale
    return _Pole((round(x), round(y)), float(deep[row, column]) * step * scale)


# Drawing.


@lru_cache(32)
def font(size_px: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size_px)


def _label_size(number: int, font_px: int) -> tuple[int, int]:
    left, _, right, _ = font(font_px).getbbox(str(number))
    return max(round(right - left) + font_px // 2 + 2, font_px), round(font_px * 1.25)


def _draw_mask(
    picture: Image.Image,
    mask: BinaryMask,
    around: Box,
    colour: tuple[int, int, int],
    scale: float,
    line_px: int,
) -> None:
    """Tint and outline, in the mask's own box only."""
    left, top, right, bottom = around
    if right <= left:
        return
    room = math.ceil((line_px + 2) / scale)  # for the line around it
    x0, x1 = max(0, left - room), min(mask.shape[1], right + room)
    y0, y1 = max(0, top - room), min(mask.shape[0], bottom + room)
    box = (
        round(x0 * scale),
        round(y0 * scale),
        min(picture.width, round(x1 * scale)),
        min(picture.height, round(y1 * scale)),
    )
    inside = _enlarged(mask[y0:y1, x0:x1], (box[2] - box[0], box[3] - box[1]))
    outer = grown(inside, line_px // 2)
    line = outer & grown(~inside, (line_px + 1) // 2)
    picture.paste(colour, box, _opacity(inside, TINT))
    picture.paste(_ink(colour), box, _opacity(grown(outer, 1) & ~outer, 0.5))
    picture.paste(colour, box, _opacity(line, 1.0))


def _opacity(where: BinaryMask, share: float) -> Image.Image:
    return Image.fromarray(where.astype(np.uint8) * np.uint8(round(255 * share)))


def grown(inside: BinaryMask, reach: int) -> BinaryMask:
    """A mask with everything that is at most so many pixels away, in rows and columns.

    >>> grown(np.array([[False, False, False, True]]), 2).tolist()
    [[False, True, True, True]]
    """
    wide = inside.copy()
    for away in range(1, reach + 1):
        wide[:, away:] |= inside[:, :-away]
        wide[:, :-away] |= inside[:, away:]
    found = wide.copy()
    for away in range(1, reach + 1):
        found[away:] |= wide[:-away]
        found[:-away] |= wide[away:]
    return found


def _draw_leader(
    draw: ImageDraw.ImageDraw, label: Label, colour: tuple[int, int, int], line_px: int
) -> None:
    left, top, right, bottom = label.box
    line = [((left + right) // 2, (top + bottom) // 2), label.anchor]
    draw.line(line, fill=_ink(colour), width=line_px + 2)
    draw.line(line, fill=colour, width=line_px)
    x, y = label.anchor
    dot = line_px + 1
    draw.ellipse((x - dot, y - dot, x + dot, y + dot), fill=colour, outline=_ink(colour))


def _draw_label(draw: ImageDraw.ImageDraw, label: Label, colour: tuple[int, int, int]) -> None:
    ink = _ink(colour)
    left, top, right, bottom = label.box
    draw.rounded_rectangle(label.box, radius=3, fill=colour, outline=ink)
    draw.text(
        ((left + right + 1) / 2, (top + bottom) / 2),
        str(label.number),
        fill=ink,
        font=font(round((bottom - top) / 1.25)),
        anchor="mm",
    )


# Geometry.


def _mean(image: Pixels, inside: BinaryMask) -> NDArray[np.float64]:
    """Colour of a part, from some of its pixels."""
    step = max(1, math.isqrt(inside.size // 4096))
    some = image[::step, ::step][inside[::step, ::step]]
    mean: NDArray[np.float64] = (some if len(some) else image.reshape(-1, 3)).mean(axis=0)
    return mean


def mask_bounds(mask: BinaryMask) -> Box:
    """Left, top, right, bottom; right and bottom are outside. All zero for an empty mask."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return 0, 0, 0, 0
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def _with_margin(box: Box, width_px: int, height_px: int) -> Box:
    """A box with a fifth more on each side, not slimmer than 1 : 4 if the picture allows it."""
    left, top, right, bottom = box
    across, down = MARGIN * (right - left), MARGIN * (bottom - top)
    wide, high = right - left + 2 * across, bottom - top + 2 * down
    across += max(0.0, high / SLIMMEST - wide) / 2
    down += max(0.0, wide / SLIMMEST - high) / 2
    x0, x1 = _span(left - across, right + across, width_px)
    y0, y1 = _span(top - down, bottom + down, height_px)
    return x0, y0, x1, y1


def _span(low: float, high: float, limit: int) -> tuple[int, int]:
    """
    >>> _span(-2.0, 3.0, 10), _span(4.2, 4.8, 10)
    ((0, 3), (4, 5))
    """
    return max(0, math.floor(low)), min(limit, math.ceil(high))


def _scaled(size: tuple[int, int], scale: float) -> tuple[int, int]:
    return max(1, math.ceil(size[0] * scale - 1e-6)), max(1, math.ceil(size[1] * scale - 1e-6))


def _resized(image: Pixels, size: tuple[int, int]) -> Image.Image:
    picture = Image.fromarray(image)
    return picture if picture.size == size else picture.resize(size, Image.Resampling.BICUBIC)


def _enlarged(mask: BinaryMask, size: tuple[int, int]) -> BinaryMask:
    """A mask at this (width, height), with smooth edges between its pixels."""
    if (mask.shape[1], mask.shape[0]) == size:
        return mask
    soft = Image.fromarray(mask.astype(np.uint8) * np.uint8(255))
    large: BinaryMask = np.asarray(soft.resize(size, Image.Resampling.BILINEAR)) > 127
    return large
