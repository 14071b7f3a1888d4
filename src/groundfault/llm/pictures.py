"""Pictures as requests carry them: the file's own bytes in base64, encoded once per picture.

A file is sent as it is if servers read its type, every decoder sees the same in it, and it is small
enough; otherwise it is written again as our own decoder sees it (upright, 8 bits, RGB), without
loss where that suffices. Types are told by content, not by name.
"""

from __future__ import annotations

import hashlib
from binascii import b2a_base64
from collections import OrderedDict
from io import BytesIO
from pathlib import Path

from groundfault.errors import DataError
from groundfault.io.pictures import is_plain, open_picture
from groundfault.records import Picture

__all__ = ["PictureCache", "make_picture", "picture_bytes"]

LARGEST_BYTES = 15 << 20
"""Of a file that is sent as it is: 20 MB in base64, which the common servers take."""
KEPT_BYTES = 32 << 20
"""Of encoded pictures; the questions about a picture stand together, so few are needed."""
QUALITY = 95


def make_picture(mime: str, content: bytes) -> Picture:
    """A picture from the bytes of its file."""
    digest = hashlib.sha256(content).hexdigest()
    return Picture(mime, b2a_base64(content, newline=False), digest)


class PictureCache:
    """Pictures read from files; the latest ones are kept."""

    def __init__(self, *, kept_bytes: int = KEPT_BYTES) -> None:
        self.kept_bytes, self.size = kept_bytes, 0
        self.known: OrderedDict[Path, Picture] = OrderedDict()
        self.rewritten = 0
        """Pictures that could not be sent as they are."""

    def load(self, path: Path) -> Picture:
        """A picture, read and encoded the first time that it is asked for."""
        found = self.known.get(path)
        if found is not None:
            self.known.move_to_end(path)
            return found
        mime, content, rewritten = picture_bytes(path)
        self.rewritten += rewritten
        found = self.known[path] = make_picture(mime, content)
        self.size += len(found.base64)
        while self.size > self.kept_bytes and len(self.known) > 1:
            _, dropped = self.known.popitem(last=False)
            self.size -= len(dropped.base64)
        return found


def picture_bytes(path: Path, *, largest: int = LARGEST_BYTES) -> tuple[str, bytes, bool]:
    """MIME type, content, and whether it had to be written again."""
    try:
        content = path.read_bytes()
    except OSError as problem:
        raise DataError(
            path, f"the picture cannot be read ({problem.strerror})", remedy="get the exam again"
        ) from None
    try:
        mime = _mime(content) if is_plain(content) else None
        if mime is not None and len(content) <= largest:
            return mime, content, False
        return _rewritten(content, mime, largest)
    except (OSError, ValueError, SyntaxError) as problem:  # what Pillow raises on damaged files
        raise DataError(
            path, f"no readable picture ({problem})", remedy="get the exam again"
        ) from None


def _mime(content: bytes) -> str | None:
    """The types that OpenAI's, Google's and vLLM's servers read."""
    if content.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return "image/webp"
    return None


def _rewritten(content: bytes, mime: str | None, largest: int) -> tuple[str, bytes, bool]:
    """As PNG if only the form was wrong and it fits, else as JPEG, halved until it fits."""
    image = open_picture(BytesIO(content))
    if mime is None:
        encoded = _encoded(image, "PNG")
        if len(encoded) <= largest:
            return "image/png", encoded, True
    encoded = _encoded(image, "JPEG", quality=QUALITY)
    while len(encoded) > largest:
        image = image.resize((max(1, image.width // 2), max(1, image.height // 2)))
        encoded = _encoded(image, "JPEG", quality=QUALITY)
    return "image/jpeg", encoded, True


def _encoded(image: object, form: str, **options: int) -> bytes:
    target = BytesIO()
    image.save(target, form, **options)  # type: ignore[attr-defined]
    return target.getvalue()
