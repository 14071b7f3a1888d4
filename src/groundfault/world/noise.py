"""Cloudy noise: the grain of sand, stone and rust.

One tile, the same for everybody, laid side by side. It is drawn as an image, not through a
shader: skia-python copies a shader by writing its image out, which takes 17 ms each time.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from groundfault.world.canvas import Canvas, Rgb, paint, skia
from groundfault.world.forms import between

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["draw_noise", "noise_tile"]

TILE_PX = 256


@cache
def noise_tile(seed: int) -> NDArray[np.uint8]:
    """(256, 256) soft noise in six octaves that repeats without a seam."""
    rng = np.random.default_rng(seed)
    total = np.zeros((TILE_PX, TILE_PX))
    for octave in range(6):
        cells = 4 << octave
        grid = rng.random((cells, cells))
        at = np.arange(TILE_PX) * cells / TILE_PX
        low = at.astype(int)
        part = at - low
        part = part * part * (3 - 2 * part)
        rows = grid[low % cells] * (1 - part)[:, None] + grid[(low + 1) % cells] * part[:, None]
        total += (
            rows[:, low % cells] * (1 - part) + rows[:, (low + 1) % cells] * part
        ) * 0.55**octave
    total = (total - total.min()) / (total.max() - total.min())
    tile: NDArray[np.uint8] = (total * 255).astype(np.uint8)
    return tile


@cache
def _image(seed: int, contrast: float) -> Any:
    share = (noise_tile(seed).astype(np.float64) / 255 - 0.5) * contrast + 0.5
    pixels = np.ascontiguousarray((np.clip(share, 0, 1) * 255).astype(np.uint8))
    return skia.Image.fromarray(pixels, skia.ColorType.kAlpha_8_ColorType, copy=True)


def draw_noise(
    canvas: Canvas,
    rng: np.random.Generator,
    area: tuple[float, float, float, float],
    colour: Rgb,
    period: float | tuple[float, float],
    *,
    alpha: float = 1.0,
    contrast: float = 2.0,
    seed: int = 7,
) -> None:
    """Spots of a colour over an area (left, top, right, bottom), clear in between.

    `period` is the side of a tile, or its width and height, in the canvas's units.
    """
    wide, high = (period, period) if isinstance(period, float) else period
    left, top, right, bottom = area
    image, brush = _image(seed, contrast), paint(colour, alpha)
    smooth = skia.SamplingOptions(skia.FilterMode.kLinear)
    y = top - between(rng, 0, high)
    shift = between(rng, 0, wide)
    while y < bottom:
        x = left - shift
        while x < right:
            place = skia.Rect.MakeXYWH(x, y, wide, high)
            if not canvas.quickReject(place):
                canvas.drawImageRect(image, place, smooth, brush)
            x += wide
        y += high
