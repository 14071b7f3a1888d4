"""Notes and tags of one's own, beside the runs: a file that only grows, one JSON object per line.

    {"at": "2026-11-16T21:00:00+00:00", "data": …, "case": …, "text": "…"}
    {"at": …, "data": …, "case": …, "tag": "glass", "on": false}

Nothing is overwritten: a tag that was taken off, or a note that was withdrawn, is a further line.
A line is written at once and is on the disk before it is acknowledged; one that was cut short by a
crash is left out when the file is read.
"""

from __future__ import annotations

import os
import threading
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec

from groundfault.errors import UsageError
from groundfault.io.foreign import decode_json
from groundfault.web.explore.selection import Marked

__all__ = ["FILE", "Event", "Note", "Notes"]

FILE = "groundfault-notes.jsonl"
MOST_LETTERS = 4000
MOST_TAG = 60


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the file."""

    at: str
    data: str
    """Which set of cases."""
    case: str
    text: str = ""
    tag: str = ""
    on: bool = True
    """False: the tag is taken off, or the note of this `id` withdrawn."""
    id: str = ""
    by: str = ""


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """A note that holds."""

    id: str
    at: str
    text: str
    by: str = ""


class _Case(msgspec.Struct):
    notes: dict[str, Note] = msgspec.field(default_factory=dict)
    tags: dict[str, None] = msgspec.field(default_factory=dict)


class Notes:
    """The notes of one file. Several programs may write to it; what others wrote is seen when the
    file is next looked at."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        self.unread = 0
        """Lines that are not whole."""
        self._lock = threading.Lock()
        self._cases: dict[tuple[str, str], _Case] = {}
        self._read_bytes = 0
        self.refresh()

    def refresh(self) -> None:
        """Read what was added since."""
        with self._lock:
            self._refresh()

    def _refresh(self) -> None:
        try:
            with self.path.open("rb") as file:
                file.seek(self._read_bytes)
                content = file.read()
        except FileNotFoundError:
            return
        except OSError as problem:
            raise UsageError(f"{self.path}: cannot be read ({problem.strerror})") from None
        whole = content[: content.rfind(b"\n") + 1]
        self._read_bytes += len(whole)
        for line in whole.splitlines():
            self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            event = decode_json(line, Event)
        except (msgspec.DecodeError, UnicodeDecodeError):
            self.unread += bool(line.strip())
            return
        case = self._cases.setdefault((event.data, event.case), _Case())
        if event.tag and event.on:
            case.tags[event.tag] = None
        elif event.tag:
            case.tags.pop(event.tag, None)
        elif event.on:
            case.notes[event.id] = Note(id=event.id, at=event.at, text=event.text, by=event.by)
        else:
            case.notes.pop(event.id, None)

    def add(self, data: str, case: str, text: str, *, by: str = "") -> None:
        """Note some words about a case."""
        words = text.strip()
        if not words or len(words) > MOST_LETTERS:
            raise UsageError(f"a note has 1 to {MOST_LETTERS:,} letters")
        self._append(data=data, case=case, text=words, id=os.urandom(8).hex(), by=by)

    def withdraw(self, data: str, case: str, note_id: str, *, by: str = "") -> None:
        """Take a note back."""
        if note_id not in self.of(data, case)["ids"]:
            raise UsageError("there is no such note")
        self._append(data=data, case=case, id=note_id, on=False, by=by)

    def tag(self, data: str, case: str, tag: str, *, on: bool = True, by: str = "") -> None:
        """Put a tag on a case, or take it off."""
        words = " ".join(tag.split())
        if not words or len(words) > MOST_TAG:
            raise UsageError(f"a tag has 1 to {MOST_TAG} letters")
        self._append(data=data, case=case, tag=words, on=on, by=by)

    def _append(self, **fields: Any) -> None:
        event = Event(at=datetime.now(UTC).isoformat(timespec="seconds"), **fields)
        line = msgspec.json.encode(event) + b"\n"
        with self._lock:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                place = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
                try:
                    os.write(place, _after_a_cut(place) + line)
                    os.fsync(place)
                finally:
                    os.close(place)
            except OSError as problem:
                raise UsageError(f"{self.path}: cannot be written ({problem.strerror})") from None
            self._refresh()

    def of(self, data: str, case: str) -> dict[str, Any]:
        """The notes and tags of a case."""
        found = self._cases.get((data, case), _Case())
        return {"notes": [*found.notes.values()], "tags": [*found.tags], "ids": [*found.notes]}

    def all(self, data: str) -> dict[str, dict[str, Any]]:
        """How many notes, and which tags, every case has that has any."""
        return {
            case: {"notes": len(found.notes), "tags": [*found.tags]}
            for (of, case), found in self._cases.items()
            if of == data and (found.notes or found.tags)
        }

    def marked(self, data: str) -> Marked:
        """The cases of each tag, and those with notes."""
        tags: dict[str, set[str]] = {}
        everything = self.all(data)
        for case, found in everything.items():
            for tag in found["tags"]:
                tags.setdefault(tag, set()).add(case)
        return Marked(
            {tag: frozenset(cases) for tag, cases in sorted(tags.items())},
            frozenset(case for case, found in everything.items() if found["notes"]),
        )


def _after_a_cut(place: int) -> bytes:
    """A line end, where the last line has none: whoever wrote it was killed."""
    size = os.fstat(place).st_size
    return b"" if not size or os.pread(place, 1, size - 1) == b"\n" else b"\n"
