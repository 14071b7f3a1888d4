"""What the model is shown by the agent that the CAFE authors published (`style=published`).

Their measures, drawn with our means: the overlay tints a mask by 0.15 and has its number in the
middle; a close-up tints it by 0.08, in the complement of what it covers. Outlines are equal up to
some corners (theirs are OpenCV's), numbers stand in another font. Everything is PNG, and nothing is
reduced.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageDraw

from groundfault.llm.pictures import make_picture
from groundfault.models.agent.pictures import compressed, font, grown, mask_bounds
from groundfault.records import Picture

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]  # (height, width, 3) RGB
    BinaryMask = NDArray[np.bool_]  # (height, width)

__all__ = ["close_up", "encoded", "numbered"]

OVERLAY_TINT = 0.15
CLOSE_UP_TINT = 0.08
MARGIN, LEAST_MARGIN_PX = 0.2, 16
"""Around a mask's box, on each side."""
SHORT_SIDE_PX = 512
"""Of a close-up, at least."""
LONGEST_PX = 1 << 15
"""Theirs has no bound; a region of a few pixels by thousands would not fit into memory."""
COLOURS = (
    (0, 255, 255), (255, 0, 255), (0, 255, 0), (255, 165, 0),
    (0, 128, 255), (255, 0, 0), (128, 0, 255), (255, 255, 0),
)  # fmt: skip
"""By turns, whatever they cover."""


def encoded(picture: Image.Image | Pixels) -> Picture:
    """A picture as it is sent."""
    if not isinstance(picture, Image.Image):
        picture = Image.fromarray(picture)
    return make_picture("image/png", compressed(picture, "PNG"))


def numbered(image: Pixels, masks: Sequence[BinaryMask]) -> Image.Image:
    """The picture with its masks outlined and numbered from 1, each over those before it."""
    pixels = image.copy()
    for number, mask in enumerate(masks, 1):
        colour = COLOURS[(number - 1) % len(COLOURS)]
        _draw_mask(pixels, mask, colour, OVERLAY_TINT)
        _draw_number(pixels, number, _middle(mask), colour)
    return Image.fromarray(pixels)


def close_up(image: Pixels, mask: BinaryMask) -> Image.Image:
    """The region of a mask, enlarged so that its shorter side has at least 512 pixels."""
    height_px, width_px = mask.shape
    left, top, right, bottom = mask_bounds(mask)
    mean = image[top:bottom, left:right].mean(axis=(0, 1))
    colour = (255 - mean).astype(np.uint8)
    pixels = image.copy()
    _draw_mask(pixels, mask, (int(colour[0]), int(colour[1]), int(colour[2])), CLOSE_UP_TINT)
    across = max(int(MARGIN * (right - left)), LEAST_MARGIN_PX)
    down = max(int(MARGIN * (bottom - top)), LEAST_MARGIN_PX)
    rows = slice(max(0, top - down), min(height_px, bottom + down))
    columns = slice(max(0, left - across), min(width_px, right + across))
    region = Image.fromarray(pixels[rows, columns])
    if min(region.size) >= SHORT_SIDE_PX:
        return region
    scale = min(SHORT_SIDE_PX / min(region.size), LONGEST_PX / max(region.size))
    size = int(region.width * scale), int(region.height * scale)
    return region.resize(size, Image.Resampling.LANCZOS)


def _draw_mask(pixels: Pixels, mask: BinaryMask, colour: tuple[int, int, int], tint: float) -> None:
    """Tint a mask and outline it from outside; its holes have no line."""
    from scipy.ndimage import binary_erosion, binary_fill_holes

    pixels[mask] = (tint * np.array(colour) + (1 - tint) * pixels[mask]).astype(np.uint8)
    left, top, right, bottom = mask_bounds(mask)  # elsewhere nothing is drawn
    whole = binary_fill_holes(mask[top:bottom, left:right])
    line = grown(np.pad(whole & ~binary_erosion(whole), 1), 1)
    rows, columns = np.nonzero(line)
    y, x = rows + top - 1, columns + left - 1
    inside = (y >= 0) & (y < mask.shape[0]) & (x >= 0) & (x < mask.shape[1])
    pixels[y[inside], x[inside]] = colour


def _middle(mask: BinaryMask) -> tuple[int, int]:
    """The centre of its mass, which may lie outside."""
    rows, columns = np.nonzero(mask)
    return int(columns.mean()), int(rows.mean())


def _draw_number(
    pixels: Pixels, number: int, middle: tuple[int, int], colour: tuple[int, int, int]
) -> None:
    """White on a box of the mask's colour."""
    scale = max(0.8, min(pixels.shape[:2]) / 500)
    letters = font(round(30 * scale))
    left, top, right, bottom = letters.getbbox(str(number))
    x, y = middle
    across, down = round((right - left) / 2) + 4, round((bottom - top) / 2) + 4
    picture = Image.fromarray(pixels)
    draw = ImageDraw.Draw(picture)
    draw.rectangle((x - across, y - down, x + across, y + down), fill=colour)
    white = (255, 255, 255)
    draw.text((x, y), str(number), white, letters, "mm", stroke_width=1, stroke_fill=white)
    pixels[:] = np.asarray(picture)
