"""Harmless changes of a photograph: who looks gives the same answers before and after."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from groundfault.errors import UnknownName

if TYPE_CHECKING:
    from groundfault.interfaces import Image

__all__ = ["CHANGES", "Changed", "changed", "check_changes", "png"]

JPEG_QUALITY = 75
SCALE = 0.75
CROP = 0.04
"""Of each side."""
BRIGHTER = 1.15
SMALLEST_PX = 32
"""Of a side: smaller pictures are neither scaled nor cropped."""


class Changed(NamedTuple):
    """A changed picture as a file."""

    content: bytes
    ending: str
    height_px: int
    width_px: int
    frame_xywh: tuple[int, int, int, int] | None = None
    """The part of the photograph that it shows."""


def png(pixels: Image) -> bytes:
    """A picture without loss."""
    from PIL import Image as Pillow

    out = BytesIO()
    Pillow.fromarray(pixels).save(out, "PNG", compress_level=1)
    return out.getvalue()


def _re_encoded(pixels: Image) -> Changed:
    from PIL import Image as Pillow

    out = BytesIO()
    Pillow.fromarray(pixels).save(out, "JPEG", quality=JPEG_QUALITY)
    return Changed(out.getvalue(), ".jpg", *pixels.shape[:2])


def _mirrored(pixels: Image) -> Changed:
    return Changed(png(np.ascontiguousarray(pixels[:, ::-1])), ".png", *pixels.shape[:2])


def _scaled(pixels: Image) -> Changed:
    from PIL import Image as Pillow

    height_px, width_px = (round(side * SCALE) for side in pixels.shape[:2])
    small = Pillow.fromarray(pixels).resize((width_px, height_px), Pillow.Resampling.LANCZOS)
    return Changed(png(np.asarray(small)), ".png", height_px, width_px)


def _cropped(pixels: Image) -> Changed:
    y, x = (max(1, round(side * CROP)) for side in pixels.shape[:2])
    part = np.ascontiguousarray(pixels[y:-y, x:-x])
    height_px, width_px = part.shape[:2]
    return Changed(png(part), ".png", height_px, width_px, (x, y, width_px, height_px))


def _brightened(pixels: Image) -> Changed:
    brighter = np.minimum(pixels * np.float32(BRIGHTER) + 0.5, 255).astype(np.uint8)
    return Changed(png(brighter), ".png", *pixels.shape[:2])


CHANGES: Mapping[str, Callable[[Image], Changed]] = {
    "re-encoded": _re_encoded,
    "mirrored": _mirrored,
    "scaled": _scaled,
    "cropped": _cropped,
    "brightened": _brightened,
}
SIZED = ("scaled", "cropped")


def check_changes(names: Sequence[str]) -> tuple[str, ...]:
    """The names of changes, each once; unknown ones are refused."""
    for name in names:
        if name not in CHANGES:
            raise UnknownName("change", name, CHANGES)
    return tuple(dict.fromkeys(names))


def changed(pixels: Image, name: str) -> Changed | None:
    """A photograph changed; None where it is too small for that."""
    if name in SIZED and min(pixels.shape[:2]) < SMALLEST_PX:
        return None
    return CHANGES[name](pixels)
