"""Pictures from files, as models see them."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundfault.io.masks import MAX_PIXELS

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["read_image"]

WHITE = {"I": 65535.0, "I;16": 65535.0, "I;16B": 65535.0, "I;16L": 65535.0, "I;16N": 65535.0}
"""The value of white in Pillow's modes of deep grey. 32-bit integers hold 16-bit pictures too."""


def read_image(path: str | PathLike[str]) -> NDArray[np.uint8]:
    """A picture as (height, width, 3) RGB, upright as its camera meant it."""
    from PIL import Image, ImageOps

    try:
        picture = Image.open(path)
    except Image.DecompressionBombError:  # beyond Pillow's own limit, which is below ours
        most = min(MAX_PIXELS, 2 * (Image.MAX_IMAGE_PIXELS or MAX_PIXELS))
        raise _too_large(path, f"more than {most / 1e6:.0f} megapixels") from None
    with picture:
        if picture.width * picture.height > MAX_PIXELS:
            raise _too_large(path, f"{picture.width}x{picture.height} pixels")
        upright = ImageOps.exif_transpose(picture)
        if upright.mode[0] in "IF":
            return _deep_grey(np.asarray(upright), upright.mode)
        return np.asarray(upright.convert("RGB"))


def _too_large(path: str | PathLike[str], claim: str) -> ValueError:
    return ValueError(
        f"'{Path(path).name}' claims {claim}. Remedy: shrink the picture and its masks, or leave "
        "it out"
    )


def _deep_grey(values: NDArray[Any], mode: str) -> NDArray[np.uint8]:
    """Grey of more than 8 bits, which Pillow would cut off at 255: a white picture.

    Integers are scaled by what the file can hold, however dark the picture is. Floating point has
    no such limit: white is the first of 1, 255 and 65535 that nothing exceeds.
    """
    brightest = float(values.max(initial=0))
    white = WHITE.get(mode) or next((w for w in (1.0, 255.0) if brightest <= w), 65535.0)
    grey = np.clip(np.rint(values * (255.0 / white)), 0, 255).astype(np.uint8)
    return np.repeat(grey[..., None], 3, axis=2)
