"""A file that grows by whole records, for whatever must survive kill -9 as it comes.

A record that was cut short does not match its checksum and is left out, with everything after it.
One process at a time writes to a journal.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec

__all__ = ["HEAD_BYTES", "Journal"]

_HEAD = struct.Struct("<II")
"""Of a record: its length in bytes and its checksum."""
HEAD_BYTES = _HEAD.size
_encode = msgspec.msgpack.Encoder().encode


class Journal:
    """Records one after another; what `append` was given is the system's when it returns."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        self._file: int | None = None

    def append(self, record: Any) -> int:
        """Add one record: anything that msgspec can encode. Returns its content's length."""
        if self._file is None:
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        content = _encode(record)
        written = _HEAD.pack(len(content), crc32(content)) + content
        while written:
            written = written[os.write(self._file, written) :]
        return len(content)

    def flush(self) -> None:
        """Wait until what was added would survive a power cut."""
        if self._file is not None:
            os.fsync(self._file)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def read(self) -> Iterator[Any]:
        """Every whole record, in plain types."""
        for _, content in self.scan():
            yield msgspec.msgpack.decode(content)

    def scan(self) -> Iterator[tuple[int, bytes]]:
        """Where each whole record ends, and its content in MessagePack; memory does not grow with
        the file."""
        end = 0
        with self.path.open("rb") as file:
            while head := file.read(_HEAD.size):
                if len(head) < _HEAD.size:
                    return
                length, checksum = _HEAD.unpack(head)
                content = file.read(length)
                if len(content) < length or crc32(content) != checksum:
                    return
                end += _HEAD.size + length
                yield end, content

    def mend(self) -> None:
        """Cut off a record that is not whole, so that what is added next can be read."""
        if self.path.exists():
            end = max((end for end, _ in self.scan()), default=0)
            if end < self.path.stat().st_size:
                os.truncate(self.path, end)
