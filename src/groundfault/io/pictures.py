"""Pictures from files: the one place that decodes them."""

from __future__ import annotations

import math
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from groundfault.io.masks import MAX_PIXELS
from groundfault.io.png import SIGNATURE, is_intact

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL import Image

__all__ = ["is_about_stored_pixels", "is_plain", "open_picture", "picture_size", "read_image"]

Source = str | PathLike[str] | BytesIO
ORIENTATION = 274
"""EXIF's tag: how a picture is to be turned; 1 or nothing for not at all."""
LYING = (5, 6, 7, 8)
"""Its values that exchange height and width."""
MOST_TIMES = 64
"""The pixels that annotations say: a picture of more is not decoded, a small file may hold 3 GB."""

WHITE = {"I": 65535.0, "I;16": 65535.0, "I;16B": 65535.0, "I;16L": 65535.0, "I;16N": 65535.0}
"""The value of white in Pillow's modes of deep grey. 32-bit integers hold 16-bit pictures too."""


def read_image(
    source: Source, *, size_px: tuple[int, int] | None = None, exact: bool = False
) -> NDArray[np.uint8]:
    """A picture as (height, width, 3) RGB; see `open_picture`."""
    return np.asarray(open_picture(source, size_px=size_px, exact=exact))


def open_picture(
    source: Source,
    *,
    size_px: tuple[int, int] | None = None,
    draft_px: int | None = None,
    exact: bool = False,
) -> Image.Image:
    """A picture from a file or its content, 8-bit RGB, as everybody who looks at it sees it: models
    here and behind servers, reports, exports.

    It is upright, as its camera meant it (EXIF). Only where annotations are about the stored pixels
    it stays as it is stored: where `size_px`, (height, width) by the annotations, is the stored
    size and not the upright one. With `draft_px` a JPEG may come smaller, its sides no shorter.
    A picture of another size than `size_px` is refused before it is decoded if that is `exact`.
    """
    from PIL import Image, ImageOps

    name = "the picture" if isinstance(source, BytesIO) else f"'{Path(source).name}'"
    if not isinstance(source, BytesIO) and Path(source).exists() and not Path(source).is_file():
        raise ValueError(f"{name} is no regular file")  # a pipe would be waited for without end
    _check_intact(source, name)
    try:
        picture = Image.open(source)
    except Image.DecompressionBombError:  # beyond Pillow's own limit, which is below ours
        most = min(MAX_PIXELS, 2 * (Image.MAX_IMAGE_PIXELS or MAX_PIXELS))
        raise _too_large(name, f"more than {most / 1e6:.0f} megapixels") from None
    with picture:
        if picture.width * picture.height > MAX_PIXELS:
            raise _too_large(name, f"{picture.width}x{picture.height} pixels")
        expected_px = math.prod(size_px or ())  # 1 or 0 where nobody says how large it is
        if size_px and 0 < expected_px * MOST_TIMES < picture.width * picture.height:
            claim = f"{picture.width}x{picture.height} pixels, {size_px[1]}x{size_px[0]}"
            raise _too_large(name, f"{claim} by the annotations")
        as_stored = size_px is not None and is_about_stored_pixels(picture, size_px)
        if exact and size_px is not None:
            _check_size(picture, size_px, as_stored)
        if draft_px is not None:
            picture.draft("RGB", (draft_px, draft_px))
        if not as_stored:
            ImageOps.exif_transpose(picture, in_place=True)
        if picture.mode[0] in "IF":
            return Image.fromarray(_deep_grey(np.asarray(picture), picture.mode))
        return picture.convert("RGB")


def picture_size(source: Source) -> tuple[int, int]:
    """(height, width) of a picture held upright, from its header alone."""
    from PIL import Image

    if not isinstance(source, BytesIO) and not Path(source).is_file():
        raise ValueError(f"'{Path(source).name}' is no regular file")
    try:
        with Image.open(source) as picture:
            lying = picture.getexif().get(ORIENTATION, 1) in LYING
            width_px, height_px = picture.size
    except Image.DecompressionBombError:
        raise _too_large("the picture", f"more than {MAX_PIXELS / 1e6:.0f} megapixels") from None
    return (width_px, height_px) if lying else (height_px, width_px)


def _check_size(picture: Image.Image, size_px: tuple[int, int], as_stored: bool) -> None:
    turned = not as_stored and picture.getexif().get(ORIENTATION, 1) in LYING
    there = (picture.width, picture.height) if turned else (picture.height, picture.width)
    if there != size_px:
        raise ValueError(
            f"the picture is {there[0]}x{there[1]}, its annotation {size_px[0]}x{size_px[1]} "
            "(height x width)"
        )


def is_about_stored_pixels(picture: Image.Image, size_px: tuple[int, int]) -> bool:
    """Whether annotations of this size, (height, width), mean the pixels as they are stored, though
    the picture lies on its side. A picture that is turned by 180°, mirrored or square has one size
    both ways and is taken upright."""
    lying = picture.getexif().get(ORIENTATION, 1) in LYING
    stored = (picture.height, picture.width)
    return lying and size_px == stored and stored[0] != stored[1]


def is_plain(content: bytes) -> bool:
    """Whether the content of a file is a picture that every decoder reads alike: 8 bits, grey or
    RGB, no palette, no transparency, upright as it is stored."""
    from PIL import Image

    _check_intact(BytesIO(content), "the picture")
    with Image.open(BytesIO(content)) as picture:
        is_deep = (
            content.startswith(SIGNATURE) and content[24] > 8
        )  # Pillow says RGB of 16 bits too
        turned = picture.getexif().get(ORIENTATION, 1) not in (0, 1)
        return picture.mode in ("L", "RGB") and not (
            is_deep or turned or "transparency" in picture.info
        )


def _check_intact(source: Source, name: str) -> None:
    """Refuse a PNG whose checksums say that its pixels are not those that were written."""
    if isinstance(source, BytesIO):
        damaged = _is_damaged(source)
    else:
        with Path(source).open("rb") as file:
            damaged = _is_damaged(file)
    if damaged:
        raise ValueError(f"{name} is damaged (a checksum is wrong). Remedy: get the file again")


def _is_damaged(file: BinaryIO) -> bool:
    """Whether it is a PNG and not as it was written; its start is next to be read."""
    is_png = file.read(len(SIGNATURE)) == SIGNATURE
    file.seek(0)
    damaged = is_png and not is_intact(file)
    file.seek(0)
    return damaged


def _too_large(name: str, claim: str) -> ValueError:
    return ValueError(
        f"{name} claims {claim}. Remedy: shrink the picture and its masks, or leave it out"
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
