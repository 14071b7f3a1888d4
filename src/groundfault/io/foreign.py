"""Reading other people's files. Each is taken as hostile: cut short, of another type or shape,
a hundred times larger than expected, pointing outside its folder.

JSON lists are streamed: blocks are cut at record boundaries and decoded into typed structs, so
that memory does not grow with the file. A cut that is not a boundary (inside a string, say)
cannot decode, so a decoded block is always whole records.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn, TypeVar, overload

import msgspec

from groundfault.errors import DataError, UsageError

__all__ = [
    "check_first_byte",
    "decode_json",
    "first_key",
    "last_boundary",
    "open_file",
    "read_bytes",
    "read_json_object",
    "refuse_malformed",
    "refuse_record",
    "scan_records",
    "sha256",
    "stream_json_list",
    "within",
]

T = TypeVar("T")
AnyPath = str | PathLike[str]

BLOCK_BYTES = 256 << 10
"""Memory of this size is used again and again; larger blocks come from the system each time, which
makes comparing a fifth slower."""
MAX_RECORD_BYTES = 256 << 20
MAX_FILE_BYTES = 4 << 30
"""Of a file that is read as a whole."""
MAX_GAP_BYTES = 256
"""Between two records there is no more white space than this where blocks are cut."""
_BOUNDARY = re.compile(rb"\}\s*,\s*(?=\{)")
_BOUNDARY_END = re.compile(rb"\}\s*,\s*\{\s*$")
_FIRST_KEY = re.compile(rb'\s*\{\s*("(?:[^"\\]|\\.){1,64}")\s*:')
_SEPARATOR = re.compile(r"[ \t\r\n]*(,?)[ \t\r\n]*")
_RECORD_INDEX = re.compile(r"`?\$\[(\d+)\]([^`]*)`?")
_MALFORMED_AT = re.compile(r"\(byte (\d+)\)")


def open_file(path: AnyPath) -> Any:
    """Open for reading in binary, with errors in words."""
    path = Path(path)
    try:
        if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
            raise UsageError(f"{path}: is a device or a pipe; give a file")  # may never end
        return path.open("rb")
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise UsageError(f"{path}: is a folder; give the JSON file inside it") from None
    except OSError as problem:
        raise UsageError(f"{path}: cannot be read ({problem.strerror})") from None


def read_bytes(path: AnyPath, *, most_bytes: int = MAX_FILE_BYTES) -> bytes:
    """The content of a file, which must be an ordinary one of ordinary size."""
    with open_file(path) as file:
        content: bytes = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise UsageError(f"{path}: is larger than {most_bytes >> 20} MB")
    return content


@overload
def decode_json(content: bytes | str | msgspec.Raw) -> Any: ...


@overload
def decode_json(content: bytes | str | msgspec.Raw, type_: type[T]) -> T: ...


def decode_json(content: bytes | str | msgspec.Raw, type_: Any = Any) -> Any:
    """Decode foreign JSON: whatever is wrong with it, also in fields that nobody reads, is one kind
    of error, msgspec.DecodeError.

    >>> decode_json(b"[" * 100_000)
    Traceback (most recent call last):
    ...
    msgspec.DecodeError: it is nested too deeply
    """
    return _decode(msgspec.json.Decoder(type_), content)


def _decode(decoder: msgspec.json.Decoder[T], content: bytes | str | msgspec.Raw) -> T:
    raw = bytes(content) if isinstance(content, msgspec.Raw) else content
    try:
        found = decoder.decode(raw)
        if isinstance(raw, bytes) and not raw.isascii():
            raw.decode()  # msgspec looks at nothing that it does not need
        return found
    except UnicodeError as problem:
        raise msgspec.DecodeError(f"it is not UTF-8 text ({problem})") from None
    except RecursionError:
        raise msgspec.DecodeError("it is nested too deeply") from None


def sha256(path: AnyPath) -> str:
    """Hex digest of a file's bytes."""
    import hashlib

    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def within(folder: AnyPath, relative: str, *, file: AnyPath, record: str) -> Path:
    """A path named by a foreign record, which must stay inside the folder given by the user."""
    root = Path(folder).resolve()
    try:
        if "\0" in relative:
            raise ValueError("it holds a NUL byte")
        resolved = (root / relative).resolve()
    except (ValueError, OSError, RuntimeError) as problem:  # not Unicode, or a link to itself
        raise DataError(
            file, f"{relative!r} is no path ({problem})", record=record, remedy="correct the path"
        ) from None
    if not resolved.is_relative_to(root):
        raise DataError(
            file,
            f"the path {relative!r} leads outside the folder {folder}",
            record=record,
            remedy="use paths relative to that folder",
        )
    return resolved


def read_json_object(path: AnyPath, type_: type[T], *, expected: str) -> T:
    """Decode a file that is one JSON object; `expected` says what it should be, for messages."""
    with open_file(path) as file:
        check_first_byte(file, path, b"{", expected)
        content = file.read()
    try:
        return decode_json(content, type_)
    except msgspec.ValidationError as problem:
        raise DataError(
            path, _plain(str(problem)), remedy=f"compare with the format: {expected}"
        ) from None
    except msgspec.DecodeError as problem:
        refuse_malformed(path, content, problem)


def stream_json_list(
    path: AnyPath,
    type_: type[T],
    *,
    expected: str,
    block_bytes: int = BLOCK_BYTES,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[tuple[int, list[T]]]:
    """Yield (index of the first record, records) until the list ends.

    `progress` is told (bytes read, bytes in all).
    """
    decoder = msgspec.json.Decoder(list[type_])  # type: ignore[valid-type]
    with open_file(path) as file:
        check_first_byte(file, path, b"[", expected)
        pending = file.read(block_bytes)[1:]
        key = first_key(pending)
        first, total_bytes = 0, Path(path).stat().st_size
        while True:
            more = file.read(max(block_bytes, len(pending)))
            if not more:
                yield first, _decode_records(path, decoder, b"[" + pending, first)
                return
            pending += more
            records, cut = _decode_block(path, decoder, pending, first, key)
            if not records:
                if len(pending) > MAX_RECORD_BYTES:
                    raise DataError(
                        path,
                        f"one record is larger than {MAX_RECORD_BYTES >> 20} MB",
                        record=f"record {first}",
                        remedy=f"give {expected}",
                    )
                continue
            yield first, records
            if progress is not None:
                progress(file.tell(), total_bytes)
            first += len(records)
            pending = pending[cut:].lstrip()[1:]


def _decode_block(
    path: AnyPath, decoder: msgspec.json.Decoder[list[T]], block: bytes, first: int, key: bytes
) -> tuple[list[T], int]:
    """The whole records at the head of a block and where they end."""
    cut = last_boundary(block, key)
    if cut is None:
        return [], 0
    content = b"[" + block[:cut] + b"]"
    try:
        return _decode(decoder, content), cut
    except msgspec.ValidationError as problem:
        refuse_record(path, content, first, problem)
    except msgspec.DecodeError as problem:
        whole, end, incomplete = scan_records(content[:-1])
        if not incomplete:
            refuse_malformed(path, content, problem, f"record {first + whole}", cut=True)
        if not whole:
            return [], 0
        # the boundary was inside a record: take those before it
        return _decode_records(path, decoder, content[:end] + b"]", first), end - 1


def first_key(block: bytes) -> bytes:
    """The key that the first record of a list begins with, in its quotes; empty if none does.

    >>> first_key(b' {"image_id": 1, "objects": [')
    b'"image_id"'
    """
    found = _FIRST_KEY.match(block)
    return found[1] if found else b""


def last_boundary(block: bytes, key: bytes = b"") -> int | None:
    """End of the last `}` that is followed by `, {` and the key that records begin with, looking
    back over a few records. Where no record begins with it, any `}, {` will do: one inside a record
    does not decode, and is found out.

    >>> last_boundary(b'{"id": 1, "x": [{}, {}]}, {"id": 2, "x": [{}, {}', b'"id"')
    24
    """
    return (_cut_before(block, key) if key else None) or _cut_after_brace(block)


def _cut_before(block: bytes, key: bytes) -> int | None:
    position = len(block)
    for _ in range(64):
        position = block.rfind(key, 0, position)
        if position < 0:
            return None
        before = max(0, position - MAX_GAP_BYTES)
        found = _BOUNDARY_END.search(block, before, position)
        if found:
            return found.start() + 1
    return None


def _cut_after_brace(block: bytes) -> int | None:
    position = len(block)
    for _ in range(64):
        position = block.rfind(b"}", 0, position)
        if position < 0:
            return None
        if _BOUNDARY.match(block, position):
            return position + 1
    return None


def _decode_records(
    path: AnyPath, decoder: msgspec.json.Decoder[list[T]], content: bytes, first: int
) -> list[T]:
    try:
        return _decode(decoder, content)
    except msgspec.ValidationError as problem:
        refuse_record(path, content, first, problem)
    except msgspec.DecodeError as problem:
        whole, _, _ = scan_records(content)
        refuse_malformed(path, content, problem, f"record {first + whole}")


def scan_records(content: bytes, *, slack: int = 0) -> tuple[int, int, bool]:
    """How many leading records are sound, where they end, and whether the next one is merely
    incomplete: what is wrong with it is only that it ends, or wrong in its last `slack` bytes, as
    a word that is cut in two is."""
    import json

    text = content.decode("latin-1")  # a character per byte: positions stay the same
    scanner = json.JSONDecoder(parse_constant=_refuse_constant)
    whole, end = 0, 1
    while True:
        gap = _SEPARATOR.match(text, end)
        start = gap.end() if gap else end
        if whole and start < len(text) and not (gap and gap[1]):
            return whole, end, False
        try:
            _, stop = scanner.raw_decode(text, start)
            decode_json(content[start:stop])  # refuses what is not Unicode
        except json.JSONDecodeError as problem:
            incomplete = problem.pos >= len(text) - slack or problem.msg.startswith("Unterminated")
            return whole, end, incomplete
        except (ValueError, RecursionError):
            return whole, end, False
        whole, end = whole + 1, stop


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def refuse_record(
    path: AnyPath, content: bytes, first: int, problem: Exception, *, list_name: str = ""
) -> NoReturn:
    """Say which record of a list that stands in `content` is unsound; `first` is the number of the
    first of them, `list_name` the list's where the file has several."""
    index, field = _locate(str(problem))
    record = f"{list_name}[{first + index}]" if list_name else _name_record(content, index, first)
    raise DataError(
        path,
        _plain(str(problem)) + (f" in {field}" if field else ""),
        record=record,
        remedy="correct the record or leave it out",
    ) from None


def refuse_malformed(
    path: AnyPath,
    content: bytes,
    problem: Exception,
    record: str | None = None,
    *,
    cut: bool = False,
) -> NoReturn:
    """Say what is wrong with JSON that does not decode; a `cut` block does not end the file."""
    match = _MALFORMED_AT.search(str(problem))
    ended = "truncated" in str(problem) or (match and int(match[1]) >= len(content.rstrip()))
    if ended and not cut:
        raise DataError(
            path,
            "the file ends in the middle of its JSON",
            record=record,
            remedy="the file is incomplete: write or download it again",
        ) from None
    around = content[max(0, int(match[1]) - 20) : int(match[1]) + 20] if match else b""
    if re.search(rb"NaN|Infinity", around):
        raise DataError(
            path,
            "a number is NaN or infinite, which JSON does not have",
            record=record,
            remedy="drop the record, or write the real number",
        ) from None
    detail = f" near {around.decode('utf-8', 'replace')!r}" if around else f" ({problem})"
    raise DataError(
        path, f"not valid JSON{detail}", record=record, remedy="write the file again as UTF-8 JSON"
    ) from None


def check_first_byte(file: Any, path: AnyPath, wanted: bytes, expected: str) -> None:
    head = file.read(4096)
    stripped = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not head:
        raise DataError(path, "the file is empty", remedy=f"give {expected}")
    if not stripped.startswith(wanted):
        raise DataError(path, f"it holds {_kind(stripped)}", remedy=f"give {expected}")
    file.seek(len(head) - len(stripped))


def _kind(head: bytes) -> str:
    if head.startswith(b"\x1f\x8b"):
        return "gzip data: unpack it first"
    if head.startswith(b"PK"):
        return "a zip archive: unpack it first"
    if head.startswith(b"["):
        return "a JSON list, not an object"
    if head.startswith(b"{"):
        return "a JSON object, not a list"
    return "no JSON list or object"


def _locate(message: str) -> tuple[int, str]:
    match = _RECORD_INDEX.search(message)
    return (int(match[1]), match[2].lstrip(".")) if match else (0, "")


def _plain(message: str) -> str:
    return re.sub(r" - at `\$\[?(\d+)?\]?[^`]*`$", "", message) if "$[" in message else message


def _name_record(content: bytes, index: int, first: int) -> str:
    """ "record 7 (image_id 12)" where the record has such an id."""
    try:
        raw = decode_json(content, list[msgspec.Raw])[index]
        image_id = decode_json(raw).get("image_id")
    except (msgspec.DecodeError, IndexError, AttributeError):
        image_id = None
    return f"record {first + index}" + (f" (image_id {image_id})" if image_id is not None else "")
