"""Masks as pictures, the way models and data sets write them: a PNG whose object is above zero.

8-bit grey files, which is what models write, go straight to run lengths (0.2 ms for 640x480, six
times faster than Pillow or OpenCV; it keeps Python's lock, so threads help the other kinds and
slow disks only). Everything else goes through Pillow.
"""

from __future__ import annotations

import os
import stat
import struct
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from groundfault.errors import DataError
from groundfault.io.masks import MAX_PIXELS, RLEMask
from groundfault.io.png import is_intact

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["in_order", "read_mask", "read_mask_and_hash"]

T = TypeVar("T")
R = TypeVar("R")

MAX_FILE_BYTES = 1 << 28
MAX_PIXELS_PILLOW = MAX_PIXELS // 4
"""Below the size at which Pillow warns of a bomb."""
_GREY = 0
_AS_GREY = "write it again as an 8-bit grey PNG, 0 for background and 255 for object"
_OPENCV_GREY = np.array([9797, 19234, 3737], np.uint32)
"""What OpenCV 5 weighs red, green and blue with, in 1/32768 and rounded down; checked in tests."""
_ALL_BUT_ALPHA = np.frombuffer(b"\xff\xff\xff\x00", np.uint32)[0]
_AHEAD = 4


def in_order(
    function: Callable[[T], R], things: Iterable[T], *, workers: int | None = None
) -> Iterator[R]:
    """`map` on threads that runs only a few things ahead; the first error in order ends it.

    >>> list(in_order(abs, [-2, 1, -3]))
    [2, 1, 3]
    """
    workers = workers or max(2, min(4, os.cpu_count() or 2))
    waiting: deque[Future[R]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for thing in things:
                waiting.append(pool.submit(function, thing))
                if len(waiting) >= _AHEAD * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def read_mask(path: Path, record: str, *, variant: str = "exact") -> RLEMask | None:
    """A mask picture as run lengths; None where there is no such file."""
    return read_mask_and_hash(path, record, variant=variant)[0]


def read_mask_and_hash(
    path: Path, record: str, *, variant: str = "exact"
) -> tuple[RLEMask | None, bytes]:
    """The same with the SHA-256 of the file's bytes, of nothing where there is no file."""
    content = _content(path, record)
    mask = None if content is None else _decoded(path, content, record, variant)
    return mask, sha256(content or b"").digest()


def _content(path: Path, record: str) -> bytes | None:
    """The bytes of a mask file, which must be an ordinary one of ordinary size."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise DataError(path, "it is not a file", record=record, remedy="give a PNG")
        if status.st_size > MAX_FILE_BYTES:
            raise DataError(
                path,
                f"it has {status.st_size >> 20} MB, too many for a mask",
                record=record,
                remedy="give a PNG of the image's size",
            )
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as problem:
        raise DataError(
            path,
            f"it cannot be read ({problem})",
            record=record,
            remedy="check the file's name and permissions",
        ) from None


def _decoded(path: Path, content: bytes, record: str, variant: str) -> RLEMask:
    """Any value above zero is object. `parity` takes the grey value that OpenCV would see."""
    header = _header(path, content, record)
    if header.depth == 8 and header.colour == _GREY and b"eXIf" not in content:
        try:
            return RLEMask.from_png(data=content)
        except ValueError:
            pass  # interlaced, or unsound: the thorough reader decides
    if header.width_px * header.height_px > MAX_PIXELS_PILLOW:
        raise _claims_too_much(path, header, record)
    try:
        return RLEMask.from_array(_above_zero(path, as_opencv=variant == "parity"))
    except Exception as problem:  # on damaged files Pillow also asserts and fails to index
        raise DataError(
            path, f"not a readable mask picture ({problem})", record=record, remedy=_AS_GREY
        ) from None


def _above_zero(path: Path, *, as_opencv: bool) -> NDArray[np.bool_]:
    """Where any channel but alpha is above zero. OpenCV sees less as it reads grey: 16 bits lose
    their lower eight, colours are weighted and rounded down, so that (2, 0, 0) is background."""
    from PIL import Image, ImageOps

    with Image.open(path, formats=("PNG",)) as opened:
        opened.load()
        picture = ImageOps.exif_transpose(opened) if "exif" in opened.info else opened
        if picture.mode in ("1", "L", "LA"):
            return np.asarray(picture.getchannel(0)) > 0
        if picture.mode.startswith("I"):
            return np.asarray(picture) > (255 if as_opencv else 0)
        if picture.mode != "P":
            return _coloured(np.asarray(picture.convert("RGBA")), as_opencv)
        entries = np.array(picture.getpalette("RGB"), np.uint8).reshape(-1, 3)
        palette = np.zeros((256, 4), np.uint8)
        palette[: len(entries), :3] = entries
        return np.asarray(_coloured(palette, as_opencv)[np.asarray(picture)])


def _coloured(rgba: NDArray[np.uint8], as_opencv: bool) -> NDArray[np.bool_]:
    """Which of (…, 4) colours are object."""
    found = np.asarray(rgba.view(np.uint32)[..., 0] & _ALL_BUT_ALPHA > 0)
    surely = rgba[..., 1] >= 2  # this green alone is grey enough, and most masks are white
    if as_opencv and np.count_nonzero(surely) < np.count_nonzero(found):
        found[found] = rgba[found, :3] @ _OPENCV_GREY >= 1 << 15
    return found


class _Header(NamedTuple):
    width_px: int
    height_px: int
    depth: int
    """Bits per channel."""
    colour: int


def _header(path: Path, content: bytes, record: str) -> _Header:
    """The header of a PNG of sane size and kind."""
    if content[12:16] != b"IHDR" or len(content) < 33 or not is_intact(BytesIO(content)):
        raise DataError(path, "not a PNG, or a damaged one", record=record, remedy=_AS_GREY)
    header = _Header(*struct.unpack(">IIBB", content[16:26]))
    if not 0 < header.width_px * header.height_px <= MAX_PIXELS:
        raise _claims_too_much(path, header, record)
    if header.depth == 16 and header.colour != _GREY:
        raise DataError(
            path, "16-bit colour, whose lower bits Pillow drops", record=record, remedy=_AS_GREY
        )
    return header


def _claims_too_much(path: Path, header: _Header, record: str) -> DataError:
    return DataError(
        path,
        f"the picture claims {header.width_px}x{header.height_px} pixels",
        record=record,
        remedy="give a mask of the image's size",
    )
