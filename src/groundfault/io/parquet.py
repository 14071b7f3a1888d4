"""Small Parquet files without Arrow, whose import costs as much CPU as scoring 1,000 cases.

One row group, one gzipped page of plain values with its checksum per column. Columns are numbers,
texts (None where there is none), or lists of either. Every reader of Parquet reads them. Larger
tables and other columns are left to Arrow, which packs them better.

The format is described at github.com/apache/parquet-format; its headers and its footer are structs
in Thrift's compact protocol.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["MOST_ROWS", "encode_table"]

MOST_ROWS = 20_000
MAGIC = b"PAR1"
INT64, DOUBLE, TEXT = 2, 5, 6
KINDS = {"i": INT64, "f": DOUBLE}
OPTIONAL, REPEATED = 1, 2
PLAIN, RLE = 0, 3
GZIP = 2
WITH_HEADER = 31
"""What zlib calls gzip."""


class _Column(NamedTuple):
    """The content of a page."""

    kind: int
    n_values: int
    """The entries of all lists; an empty list counts as one."""
    levels: bytes
    values: bytes
    in_lists: bool = False


def encode_table(columns: Mapping[str, Any], metadata: Mapping[str, str]) -> bytes | None:
    """A file's content; None where Arrow has to write it."""
    if not all(isinstance(values, list) or hasattr(values, "flat") for values in columns.values()):
        return None
    lengths = set(map(len, columns.values()))
    if len(lengths) != 1 or not 0 < max(lengths) <= MOST_ROWS:
        return None
    [n_rows] = lengths
    pages, chunks, schema = [MAGIC], [], [_struct({4: _bytes(b"schema"), 5: _int(len(columns))})]
    offset, plain_bytes, rows = len(MAGIC), 0, _long(n_rows)
    for name, values in columns.items():
        column = _column(values)
        if column is None:
            return None
        page, chunk = _page(name.encode(), column, offset)
        pages.append(page)
        chunks.append(chunk)
        schema += _schema(name.encode(), column)
        offset += len(page)
        plain_bytes += len(column.levels) + len(column.values)
    pairs = [
        _struct({1: _bytes(key.encode()), 2: _bytes(value.encode())})
        for key, value in metadata.items()
    ]
    footer = _struct(
        {
            1: _int(2),  # version
            2: _list(schema),
            3: rows,
            4: _list([_struct({1: _list(chunks), 2: _long(plain_bytes), 3: rows})]),
            **({5: _list(pairs)} if pairs else {}),
            6: _bytes(b"groundfault"),
        }
    )[1]
    return b"".join([*pages, footer, len(footer).to_bytes(4, "little"), MAGIC])


def _column(values: Any) -> _Column | None:
    """Levels and values of a column; None if it is of another kind."""
    if isinstance(values, np.ndarray):
        if values.ndim != 1 or values.dtype.itemsize != 8 or values.dtype.kind not in KINDS:
            return None
        kind = KINDS[values.dtype.kind]
        return _Column(kind, len(values), _same_level(1, len(values)), values.tobytes())
    if hasattr(values, "flat"):
        numbers, lengths = values.flat()
        flat = _column(numbers)
        return flat and _lists(flat, lengths)
    kinds = set(map(type, values))
    if kinds <= {str, type(None)}:
        return _texts(values)
    if kinds == {list} and {type(entry) for entries in values for entry in entries} == {str}:
        flat = _texts([entry for entries in values for entry in entries])
        return _lists(flat, np.fromiter(map(len, values), np.int64, len(values)))
    return None


def _texts(values: Sequence[str | None]) -> _Column:
    coded: dict[str | None, bytes] = {None: b""}
    for text in {text for text in values if text is not None}:
        content = text.encode()
        coded[text] = len(content).to_bytes(4, "little") + content
    levels = _same_level(1, len(values))
    if None in values:
        levels = _levels(np.array([text is not None for text in values], np.uint8), 1)
    return _Column(TEXT, len(values), levels, b"".join([coded[text] for text in values]))


def _lists(flat: _Column, lengths: Any) -> _Column:
    """Repetition 0 begins a list; definition 1 stands for an empty one, 3 for an entry."""
    slots = np.maximum(lengths, 1)
    starts = np.cumsum(slots) - slots
    repetition = np.ones(int(slots.sum()), np.uint8)
    repetition[starts] = 0
    definition = np.full(len(repetition), 3, np.uint8)
    definition[starts[lengths == 0]] = 1
    levels = _levels(repetition, 1) + _levels(definition, 2)
    return _Column(flat.kind, len(repetition), levels, flat.values, in_lists=True)


def _same_level(level: int, n: int) -> bytes:
    run = _varint(n << 1) + bytes([level])
    return len(run).to_bytes(4, "little") + run


def _levels(levels: Any, bits: int) -> bytes:
    """Bit-packed in groups of eight."""
    n_groups = -(-len(levels) // 8)
    unpacked = np.zeros((n_groups * 8, bits), np.uint8)
    unpacked[: len(levels)] = levels[:, None] >> np.arange(bits, dtype=np.uint8) & 1
    packed = np.packbits(unpacked, bitorder="little").tobytes()
    run = _varint(n_groups << 1 | 1) + packed
    return len(run).to_bytes(4, "little") + run


def _page(name: bytes, column: _Column, offset: int) -> tuple[bytes, _Coded]:
    """A column's only page, and what the footer says about it."""
    plain = column.levels + column.values
    gzip = zlib.compressobj(1, zlib.DEFLATED, WITH_HEADER)
    packed = gzip.compress(plain) + gzip.flush()
    about = {1: _int(column.n_values), 2: _int(PLAIN), 3: _int(RLE), 4: _int(RLE)}
    sizes = {2: _int(len(plain)), 3: _int(len(packed)), 4: _int(_signed(zlib.crc32(packed)))}
    header = _struct({1: _int(0), **sizes, 5: _struct(about)})[1]
    path = [name, b"list", b"element"] if column.in_lists else [name]
    chunk = {
        1: _int(column.kind),
        2: _list([_int(PLAIN), _int(RLE)]),
        3: _list([_bytes(part) for part in path]),
        4: _int(GZIP),
        5: _long(column.n_values),
        6: _long(len(header) + len(plain)),
        7: _long(len(header) + len(packed)),
        9: _long(offset),
    }
    return header + packed, _struct({2: _long(0), 3: _struct(chunk)})


def _schema(name: bytes, column: _Column) -> list[_Coded]:
    """The schema elements of a column: one, or list, its repeated group and the entry."""
    nothing = _struct({})
    text = {6: _int(0), 10: _struct({1: nothing})} if column.kind == TEXT else {}
    leaf = {1: _int(column.kind), 3: _int(OPTIONAL)}
    if not column.in_lists:
        return [_struct({**leaf, 4: _bytes(name), **text})]
    one = _int(1)
    outer = {3: _int(OPTIONAL), 4: _bytes(name), 5: one, 6: _int(3), 10: _struct({3: nothing})}
    return [
        _struct(outer),
        _struct({3: _int(REPEATED), 4: _bytes(b"list"), 5: one}),
        _struct({**leaf, 4: _bytes(b"element"), **text}),
    ]


_Coded = tuple[int, bytes]
"""A value in Thrift's compact protocol: the number of its type, and its bytes."""


def _varint(value: int) -> bytes:
    """
    >>> _varint(300).hex()
    'ac02'
    """
    low = value & 0x7F
    return bytes([low]) if value == low else bytes([low | 0x80]) + _varint(value >> 7)


def _int(value: int) -> _Coded:
    return 5, _varint(value << 1 if value >= 0 else ~value << 1 | 1)  # zigzag


def _signed(checksum: int) -> int:
    """The 32 bits of a checksum as Thrift's integers have them."""
    return checksum - (1 << 32) if checksum >> 31 else checksum


def _long(value: int) -> _Coded:
    return 6, _varint(value << 1)


def _bytes(value: bytes) -> _Coded:
    return 8, _varint(len(value)) + value


def _list(values: Sequence[_Coded]) -> _Coded:
    kind, n = values[0][0], len(values)
    head = bytes([n << 4 | kind]) if n < 15 else bytes([0xF0 | kind]) + _varint(n)
    return 9, head + b"".join([content for _, content in values])


def _struct(fields: Mapping[int, _Coded]) -> _Coded:
    """Fields by their number, in order; each is preceded by its distance from the one before."""
    parts, before = [], 0
    for number, (kind, content) in fields.items():
        parts += [bytes([number - before << 4 | kind]), content]
        before = number
    return 12, b"".join([*parts, b"\0"])
