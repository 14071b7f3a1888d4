"""The lists of a JSON object of any size, as COCO files have them, block by block.

Nothing but one block is in memory. Where a record stands in its file is told too, so that records
can be read again in another order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from os import PathLike
from typing import Any, NamedTuple, NoReturn

import msgspec

from groundfault.errors import DataError
from groundfault.io.foreign import (
    MAX_RECORD_BYTES,
    check_first_byte,
    first_key,
    last_boundary,
    open_file,
    refuse_malformed,
    scan_records,
)

__all__ = ["Batch", "record_places", "stream_sections"]

AnyPath = str | PathLike[str]
BLOCK_BYTES = 1 << 20
LONGEST_WORD = 12
"""Bytes of the longest escape of a character, longer than `false` and `-1e-5`'s beginning."""
_KEY = re.compile(rb'[\s,]*(?:(\})|"((?:[^"\\]|\\.)*)"\s*:\s*(?=\S))')
_LIST_OF_OBJECTS = re.compile(rb"\[\s*(?=\{)")
_EMPTY_OR_OTHER_LIST = re.compile(rb"\[\s*[^\s{]")
_AFTER_RECORD = re.compile(rb"\s*(?:,\s*(?=[^\s,\]])|(\]))")
_PART_OF_KEY = re.compile(rb'[\s,]*("((?:[^"\\]|\\.)*("\s*:?\s*|\\)?)?)?')
_PART_OF_NUMBER = re.compile(rb"\.?|[eE][+-]?")
_GAP = re.compile(rb"[\s,]*")
_RAW = msgspec.json.Decoder(list[msgspec.Raw])


class Batch(NamedTuple):
    """Some neighbouring records of one list."""

    section: str
    first: int
    """Place of the first of them in its list."""
    offset: int
    """Where in the file the bytes behind `content`'s opening bracket stand."""
    content: bytes
    """The records as a JSON list."""


def stream_sections(
    path: AnyPath, *, expected: str, block_bytes: int = BLOCK_BYTES
) -> Iterator[Batch]:
    """The records of every list of objects in a file that is one JSON object, in file order; all
    other values are passed over. `expected` says what the file should be, for messages."""
    with open_file(path) as file:
        check_first_byte(file, path, b"{", expected)
        window = _Window(path, file, block_bytes)
        window.take(1)
        while (section := window.next_key()) is not None:
            if window.at_objects():
                yield from _batches(window, section)
            else:
                window.skip_value()


def record_places(batch: Batch) -> Iterator[tuple[int, int]]:
    """(offset, length) of each record of a batch in its file."""
    end = 1
    for raw in _RAW.decode(batch.content):
        start = _GAP.match(batch.content, end).end()  # type: ignore[union-attr]  # matches nothing
        length = len(memoryview(raw))
        end = start + length
        yield batch.offset + start - 1, length


class _Window:
    """The part of a file that is looked at, which grows at its end and is taken from its head."""

    def __init__(self, path: AnyPath, file: Any, block_bytes: int) -> None:
        self.path, self._file, self._block_bytes = path, file, block_bytes
        self.offset = file.tell()
        self.bytes = file.read(block_bytes)

    def take(self, count: int) -> None:
        """Pass over this many bytes."""
        self.bytes = self.bytes[count:]
        self.offset += count

    def grow(self) -> None:
        """Read on; the file must not end here."""
        if len(self.bytes) > MAX_RECORD_BYTES:
            raise DataError(
                self.path,
                f"one record or value is larger than {MAX_RECORD_BYTES >> 20} MB",
                remedy="give smaller records",
            )
        more = self._file.read(max(self._block_bytes, len(self.bytes)))
        if not more:
            self.refuse(ended=True)
        self.bytes += more

    def refuse(self, *, ended: bool = False, record: str | None = None) -> NoReturn:
        """Say that the file is no JSON from here on, or that it is cut short."""
        problem = ValueError("truncated" if ended else "(byte 0)")
        refuse_malformed(self.path, self.bytes[:40] or b" ", problem, record)

    def next_key(self) -> str | None:
        """The next key of the object, whose value is then at the head; None at the object's end."""
        while not (found := _KEY.match(self.bytes)):
            if not _PART_OF_KEY.fullmatch(self.bytes[:4096]):
                self.refuse()
            self.grow()
        self.take(found.end())
        return None if found[1] else found[2].decode("utf-8", "replace")

    def at_objects(self) -> bool:
        """Whether a list of objects begins here; then its bracket is passed over."""
        while True:
            if found := _LIST_OF_OBJECTS.match(self.bytes):
                self.take(found.end())
                return True
            if self.bytes[:1] != b"[" or _EMPTY_OR_OTHER_LIST.match(self.bytes):
                return False
            self.grow()

    def list_ends(self, record: str) -> bool:
        """Pass over what follows a record: a comma, or the end of its list."""
        while not (found := _AFTER_RECORD.match(self.bytes)):
            if self.bytes.strip() not in (b"", b","):
                self.refuse(record=record)
            self.grow()
        self.take(found.end())
        return bool(found[1])

    def skip_value(self) -> None:
        """Pass over one value that is no list of objects."""
        while True:
            whole, end, incomplete = scan_records(b"[" + self.bytes, slack=LONGEST_WORD)
            rest = self.bytes[end - 1 :].lstrip()
            if whole and rest and not _PART_OF_NUMBER.fullmatch(rest):  # which may go on
                break
            if not whole and not incomplete:
                self.refuse()
            self.grow()
        text = self.bytes.decode("latin-1")
        self.take(json.JSONDecoder().raw_decode(text)[1])


def _batches(window: _Window, section: str) -> Iterator[Batch]:
    """The records of one list, whose first is at the window's head."""
    first, key = 0, first_key(window.bytes)
    while True:
        end, count = _whole_records(window, f"{section}[{first}]", key)
        if not count:
            window.grow()
            continue
        yield Batch(section, first, window.offset, b"[" + window.bytes[:end] + b"]")
        first += count
        window.take(end)
        if window.list_ends(f"{section}[{first}]"):
            return


def _whole_records(window: _Window, record: str, key: bytes) -> tuple[int, int]:
    """Where the whole records at the head end, and how many they are."""
    cut = last_boundary(window.bytes, key)
    if cut is not None:
        try:
            return cut, len(_RAW.decode(b"[" + window.bytes[:cut] + b"]"))
        except (msgspec.DecodeError, RecursionError):
            pass  # the list ends before it, or it is inside a record
    whole, end, incomplete = scan_records(b"[" + window.bytes, slack=LONGEST_WORD)
    if not whole and not incomplete:
        window.refuse(record=record)
    rest = window.bytes[end - 1 :]
    if window.bytes[end - 2 : end - 1].isdigit() and _PART_OF_NUMBER.fullmatch(rest):
        return 0, 0  # a number may go on
    return end - 1, whole
