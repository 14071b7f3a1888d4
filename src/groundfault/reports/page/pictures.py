"""The pictures of a page: each stored once, all together as large as the page's budget allows."""

from __future__ import annotations

import base64
import io
from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING

from groundfault.errors import DataError
from groundfault.io.foreign import within
from groundfault.io.pictures import open_picture

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["Pictures"]

PICTURE_BYTES = 9_000_000
"""For all pictures together; a third more in the page."""
LONG_SIDES_PX = (420, 320, 240, 160)
"""Tried in turn until the pictures fit."""
JPEG_QUALITY = 74


class Pictures:
    """Pictures that are shown, by number."""

    def __init__(self, side_px: int = LONG_SIDES_PX[0]) -> None:
        self.side_px = side_px
        """The long side of the largest size."""
        self.number: dict[Hashable, int | None] = {}
        self.thumbnails: list[Image.Image] = []
        self.sizes: list[tuple[int, int]] = []
        """(width, height) in pixels at the largest size."""
        self.unreadable = 0

    def add(
        self, images: Path, name: str, *, record: str, size_px: tuple[int, int] | None = None
    ) -> int | None:
        """The number of a file below a folder; None where there is none. `size_px` is (height,
        width) by the annotations, where masks are drawn on it."""
        try:
            path = within(images, name, file=images, record=record)
        except DataError:
            return None
        if path not in self.number:
            self.number[path] = self._open(path, size_px) if path.is_file() else None
        return self.number[path]

    def add_content(self, key: Hashable, content: bytes) -> int | None:
        """The number of a picture that is at hand already; `key` tells it from others."""
        if key not in self.number:
            self.number[key] = self._open(io.BytesIO(content))
        return self.number[key]

    def _open(
        self, source: Path | io.BytesIO, size_px: tuple[int, int] | None = None
    ) -> int | None:
        from PIL import Image

        try:
            picture = open_picture(source, size_px=size_px, draft_px=self.side_px)
        except Exception:  # on damaged files Pillow also asserts and fails to index
            self.unreadable += 1
            return None
        picture.thumbnail((self.side_px, self.side_px), Image.Resampling.LANCZOS)
        self.thumbnails.append(picture)
        self.sizes.append(picture.size)
        return len(self.thumbnails) - 1

    def encoded(self, room: int | None = None) -> list[str]:
        """Data URLs of all pictures, as large as the budget allows, or `room`, in letters."""
        most = PICTURE_BYTES if room is None else min(PICTURE_BYTES, room * 3 // 4)
        contents: list[bytes] = []
        for side_px in LONG_SIDES_PX:
            contents = [_jpeg(picture, side_px) for picture in self.thumbnails]
            if sum(map(len, contents)) <= most:
                break
        return [
            "data:image/jpeg;base64," + base64.b64encode(content).decode() for content in contents
        ]


def _jpeg(picture: Image.Image, side_px: int) -> bytes:
    small = picture.copy()
    small.thumbnail((side_px, side_px))
    out = io.BytesIO()
    small.save(out, "JPEG", quality=JPEG_QUALITY, optimize=True)
    return out.getvalue()
