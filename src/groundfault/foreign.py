"""Reading other people's files. Each is taken as hostile: cut short, of another type or shape,
a hundred times larger than expected, pointing outside its folder.

JSON lists are streamed: blocks are cut at record boundaries and decoded into typed structs, so
that memory does not grow with the file. A cut that is not a boundary (inside a string, say)
cannot decode, so a decoded block is always whole records.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import msgspec

from groundfault.errors import DataError, UsageError

__all__ = ["open_file", "read_json_object", "sha256", "stream_json_list", "within"]

T = TypeVar("T")
AnyPath = str | PathLike[str]

BLOCK_BYTES = 2 << 20
MAX_RECORD_BYTES = 256 << 20
_BOUNDARY = re.compile(rb"\}\s*,\s*(?=\{)")
_RECORD_INDEX = re.compile(r"`?\$\[(\d+)\]([^`]*)`?")
_MALFORMED_AT = re.compile(r"\(byte (\d+)\)")


def open_file(path: AnyPath) -> Any:
    """Open for reading in binary, with errors in words."""
    path = Path(path)
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise UsageError(f"{path}: is a folder; give the JSON file inside it") from None
    except OSError as problem:
        raise UsageError(f"{path}: cannot be read ({problem.strerror})") from None


def sha256(path: AnyPath) -> str:
    """Hex digest of a file's bytes."""
    import hashlib

    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def within(folder: AnyPath, relative: str, *, file: AnyPath, record: str) -> Path:
    """A path named by a foreign record, which must stay inside the folder given by the user."""
    root = Path(folder).resolve()
    if "\0" in relative:
        raise DataError(file, "a path holds a NUL byte", record=record, remedy="correct the path")
    resolved = (root / relative).resolve()
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
        _check_first_byte(file, path, b"{", expected)
        content = file.read()
    try:
        return msgspec.json.decode(content, type=type_)
    except msgspec.ValidationError as problem:
        raise DataError(
            path, _plain(str(problem)), remedy=f"compare with the format: {expected}"
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        _refuse_malformed(path, content, problem)


def stream_json_list(
    path: AnyPath, type_: type[T], *, expected: str, block_bytes: int = BLOCK_BYTES
) -> Iterator[tuple[int, list[T]]]:
    """Yield (index of the first record, records) until the list ends."""
    decoder = msgspec.json.Decoder(list[type_])  # type: ignore[valid-type]
    with open_file(path) as file:
        _check_first_byte(file, path, b"[", expected)
        pending = file.read(block_bytes)
        pending = pending[pending.index(b"[") + 1 :]
        first = 0
        while True:
            more = file.read(block_bytes)
            if not more:
                yield first, _decode_records(path, decoder, b"[" + pending, first)
                return
            pending += more
            if len(pending) > MAX_RECORD_BYTES:
                raise DataError(
                    path,
                    f"one record is larger than {MAX_RECORD_BYTES >> 20} MB",
                    record=f"record {first}",
                    remedy=f"give {expected}",
                )
            cut = _last_boundary(pending)
            if cut is None:
                continue
            records = _decode_records(path, decoder, b"[" + pending[:cut] + b"]", first, cut=True)
            if records is None:
                continue
            yield first, records
            first += len(records)
            pending = pending[cut:].lstrip()[1:]


def _last_boundary(block: bytes) -> int | None:
    """End of the last `}` that is followed by `, {`, looking back over a few records."""
    position = len(block)
    for _ in range(64):
        position = block.rfind(b"}", 0, position)
        if position < 0:
            return None
        if _BOUNDARY.match(block, position):
            return position + 1
    return None


def _decode_records(
    path: AnyPath,
    decoder: msgspec.json.Decoder[list[T]],
    content: bytes,
    first: int,
    *,
    cut: bool = False,
) -> Any:
    """Decoded records; None where a `cut` block turns out not to end at a record boundary."""
    try:
        return decoder.decode(content)
    except msgspec.ValidationError as problem:
        index, field = _locate(str(problem))
        raise DataError(
            path,
            _plain(str(problem)) + (f" in {field}" if field else ""),
            record=_name_record(content, index, first),
            remedy="correct the record or leave it out",
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        whole, incomplete = _count_whole_records(content[: -1 if cut else None])
        if cut and incomplete:
            return None
        _refuse_malformed(path, content, problem, record=f"record {first + whole}")


def _count_whole_records(content: bytes) -> tuple[int, bool]:
    """How many leading records are sound, and whether the next one is merely incomplete."""
    text = content.decode("utf-8", "replace")
    scanner = json.JSONDecoder(parse_constant=_refuse_constant)
    position, whole = 1, 0
    while True:
        while position < len(text) and text[position] in " \t\r\n,":
            position += 1
        try:
            _, position = scanner.raw_decode(text, position)
        except json.JSONDecodeError as problem:
            return whole, problem.pos >= len(text) or problem.msg.startswith("Unterminated")
        except (ValueError, RecursionError):
            return whole, False
        whole += 1


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _refuse_malformed(
    path: AnyPath, content: bytes, problem: Exception, record: str | None = None
) -> NoReturn:
    match = _MALFORMED_AT.search(str(problem))
    if "truncated" in str(problem) or (match and int(match[1]) >= len(content.rstrip())):
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


def _check_first_byte(file: Any, path: AnyPath, wanted: bytes, expected: str) -> None:
    head = file.read(4096)
    if head.startswith(b"\xef\xbb\xbf"):
        start = 3
    else:
        start = 0
    stripped = head[start:].lstrip()
    if not head:
        raise DataError(path, "the file is empty", remedy=f"give {expected}")
    if not stripped.startswith(wanted):
        raise DataError(path, f"it holds {_kind(stripped)}", remedy=f"give {expected}")
    file.seek(start)


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
    """"record 7 (image_id 12)" where the record has such an id."""
    try:
        raw = msgspec.json.decode(content, type=list[msgspec.Raw])[index]
        image_id = msgspec.json.decode(raw).get("image_id")
    except (msgspec.DecodeError, IndexError, AttributeError):
        image_id = None
    return f"record {first + index}" + (f" (image_id {image_id})" if image_id is not None else "")
