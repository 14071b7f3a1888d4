"""The checksums of PNG files, which decoders do not look at: a damaged file gives other pixels."""

from __future__ import annotations

from typing import BinaryIO
from zlib import crc32

__all__ = ["SIGNATURE", "is_intact"]

SIGNATURE = b"\x89PNG\r\n\x1a\n"
PIECE_BYTES = 1 << 20
_ANCILLARY = 0x20
"""Set in the name of a chunk that is not needed for the pixels."""


def is_intact(file: BinaryIO) -> bool:
    """Whether everything that makes the pixels of a PNG is as it was written; read from the start.

    >>> from io import BytesIO
    >>> end = b"\\x00\\x00\\x00\\x00IEND\\xaeB`\\x82"
    >>> is_intact(BytesIO(SIGNATURE + end)), is_intact(BytesIO(SIGNATURE + end[:-1] + b"."))
    (True, False)
    """
    if file.read(len(SIGNATURE)) != SIGNATURE:
        return False
    while len(head := file.read(8)) == 8:
        found, name = crc32(head[4:]), head[4:]
        left = int.from_bytes(head[:4])
        while left:
            piece = file.read(min(left, PIECE_BYTES))
            if not piece:
                return False
            found, left = crc32(piece, found), left - len(piece)
        written = file.read(4)
        if not name[0] & _ANCILLARY and written != found.to_bytes(4):
            return False
        if name == b"IEND":
            return True
    return not head
