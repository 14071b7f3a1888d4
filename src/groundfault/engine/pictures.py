"""Pictures from files, as models see them."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from groundfault.masks import MAX_PIXELS

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["read_image"]


def read_image(path: str | PathLike[str]) -> NDArray[np.uint8]:
    """A picture as (height, width, 3) RGB, upright as its camera meant it."""
    from PIL import Image, ImageOps

    with Image.open(path) as picture:
        if picture.width * picture.height > MAX_PIXELS:
            raise ValueError(f"the picture claims {picture.width}x{picture.height} pixels")
        upright = ImageOps.exif_transpose(picture)
        if upright.mode[0] in "IF":
            return _deep_grey(np.asarray(upright))
        return np.asarray(upright.convert("RGB"))


def _deep_grey(values: NDArray[Any]) -> NDArray[np.uint8]:
    """Grey of more than 8 bits. Pillow would cut it off at 255: a white picture."""
    if values.max(initial=0) > 255:
        values = values / 257  # 65535 is white
    grey = np.clip(np.rint(values), 0, 255).astype(np.uint8)
    return np.repeat(grey[..., None], 3, axis=2)
