"""The drawing surface: Skia's software rasteriser on numpy arrays.

Everything that draws takes its `skia` from here, so that what happens where the library is
missing is said once. No window, no GPU: surfaces are plain arrays of bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from groundfault.errors import MissingExtra
from groundfault.world.standins import import_skia

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]

__all__ = [
    "Canvas",
    "Path",
    "Rgb",
    "fade",
    "gradient",
    "mix",
    "paint",
    "radial",
    "shade",
    "skia",
    "surface",
]


class _Skia:
    """The library, loaded when something is first drawn: scenes can be made without it."""

    def __getattr__(self, name: str) -> Any:
        try:
            found = getattr(import_skia(), name)
        except ModuleNotFoundError:
            raise MissingExtra("skia-python", "world") from None
        setattr(self, name, found)
        return found


skia: Any = _Skia()

Rgb = tuple[float, float, float]
"""Red, green, blue, each 0…1."""
Canvas = Any
Path = Any


def surface(height_px: int, width_px: int) -> tuple[Bytes, Any, Canvas]:
    """A transparent (height, width, 4) array of premultiplied RGBA bytes, its surface, its canvas.

    The surface must outlive the drawing: the canvas writes through it into the array.
    """
    pixels = np.zeros((height_px, width_px, 4), np.uint8)
    info = skia.ImageInfo.Make(
        width_px, height_px, skia.ColorType.kRGBA_8888_ColorType, skia.AlphaType.kPremul_AlphaType
    )
    board = skia.Surface.MakeRasterDirect(info, pixels, width_px * 4)
    return pixels, board, board.getCanvas()


def paint(
    colour: Rgb = (0.0, 0.0, 0.0),
    alpha: float = 1.0,
    *,
    stroke: float = 0.0,
    blur: float = 0.0,
    shader: Any = None,
    mode: Any = None,
) -> Any:
    """A brush: filled, or a round line of width `stroke`; `blur` is a standard deviation.

    Lengths are in the canvas's own units and grow with it.
    """
    red, green, blue = colour
    brush = skia.Paint(skia.Color4f(red, green, blue, alpha))
    brush.setAntiAlias(True)
    if stroke:
        brush.setStyle(skia.Paint.kStroke_Style)
        brush.setStrokeWidth(stroke)
        brush.setStrokeCap(skia.Paint.kRound_Cap)
        brush.setStrokeJoin(skia.Paint.kRound_Join)
    if blur:
        brush.setMaskFilter(skia.MaskFilter.MakeBlur(skia.BlurStyle.kNormal_BlurStyle, blur, True))
    if shader is not None:
        brush.setShader(shader)
    if mode is not None:
        brush.setBlendMode(mode)
    return brush


def _packed(colour: Sequence[float]) -> int:
    red, green, blue = (min(255, max(0, round(255 * part))) for part in colour[:3])
    alpha = min(255, max(0, round(255 * (colour[3] if len(colour) > 3 else 1.0))))
    return (alpha << 24) | (red << 16) | (green << 8) | blue


def gradient(
    start: tuple[float, float],
    end: tuple[float, float],
    colours: Sequence[Sequence[float]],
    stops: Sequence[float] | None = None,
) -> Any:
    """A linear gradient; colours have three parts, or four with their opacity."""
    return skia.GradientShader.MakeLinear(
        [skia.Point(*start), skia.Point(*end)],
        [_packed(colour) for colour in colours],
        list(stops) if stops is not None else None,
    )


def radial(
    centre: tuple[float, float],
    radius: float,
    colours: Sequence[Sequence[float]],
    stops: Sequence[float] | None = None,
) -> Any:
    """A gradient from a centre outwards."""
    return skia.GradientShader.MakeRadial(
        skia.Point(*centre),
        radius,
        [_packed(colour) for colour in colours],
        list(stops) if stops is not None else None,
    )


def mix(one: Rgb, other: Rgb, share: float) -> Rgb:
    """`one` with a share of `other`."""
    return (
        one[0] + (other[0] - one[0]) * share,
        one[1] + (other[1] - one[1]) * share,
        one[2] + (other[2] - one[2]) * share,
    )


def shade(colour: Rgb, factor: float) -> Rgb:
    """Darker below 1; above, towards white."""
    if factor <= 1.0:
        return (colour[0] * factor, colour[1] * factor, colour[2] * factor)
    return mix(colour, (1.0, 1.0, 1.0), min(1.0, factor - 1.0))


def fade(colour: Rgb, alpha: float) -> tuple[float, float, float, float]:
    """A colour with its opacity, for gradients."""
    return (*colour, alpha)
