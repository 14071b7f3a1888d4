"""Responses that were paid for, by request: the same request is never paid for twice.

A SQLite file in WAL mode, readable by its owner alone. Responses that come together are written
together: one is on the disk when `flush` returns, and then neither kill -9 nor a power cut loses
it. Several processes, and several models of one process, may use one file: whoever is going to ask
a request holds the byte of a lock file that the request's key names, and the system lets go of it
however the process ends. Without such locks (Windows), two processes that ask the same at the same
moment both pay.

Measured for 20,000 responses of 800 bytes, look-up and write, a commit each: 47 µs of CPU with one
process, 84 µs with four. An append-only file takes 9 µs, but has to be read whole at every start
and held as an index in memory; a request takes ten times the difference.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import threading
import time
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import ClassVar, NamedTuple

from groundfault.errors import GroundfaultError, UsageError
from groundfault.llm.server import Server, Tool
from groundfault.records import Conversation, Message, Picture

__all__ = ["ResponseStore", "StoredResponse", "default_place", "request_key"]

BUSY_S = 60.0
LONGEST_S = 1e9
_BROKEN = (sqlite3.Error, UnicodeDecodeError)
"""What a damaged file leads to: SQLite repeats its bytes in messages, which need not be text."""
CHECKPOINT_PAGES = 8000
"""Of 4 kB; each checkpoint waits for the disk."""


class StoredResponse(NamedTuple):
    """A response as it came."""

    body: bytes
    seconds: float


def request_key(server: Server, conversation: Conversation, tools: Sequence[Tool] = ()) -> bytes:
    """SHA-256 of where a request goes and of its body, with pictures by their hashes.

    A picture is hashed once, not with every request that shows it.
    """
    digest = hashlib.sha256(server.url.encode() + b"\n")
    digest.update(server.body(tuple(map(_by_hash, conversation)), tools))
    return digest.digest()


def _by_hash(message: Message) -> Message:
    if not any(isinstance(part, Picture) for part in message.parts):
        return message
    return Message(
        message.role,
        tuple(
            Picture(part.mime, (part.sha256 or _sha256(part)).encode())
            if isinstance(part, Picture)
            else part
            for part in message.parts
        ),
    )


def _sha256(picture: Picture) -> str:
    return hashlib.sha256(picture.content).hexdigest()


def default_place() -> Path:
    """GROUNDFAULT_RESPONSES, or a file in the user's cache folder."""
    given = os.environ.get("GROUNDFAULT_RESPONSES", "").strip()
    if given:
        return Path(given)
    cache = os.environ.get("XDG_CACHE_HOME", "").strip() or Path.home() / ".cache"
    return Path(cache) / "groundfault" / "responses.sqlite"


class ResponseStore:
    """A file of responses by request; `with` closes it."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            _keep_private(self.path)
            self._database = sqlite3.connect(
                self.path,
                isolation_level=None,
                timeout=BUSY_S,
                check_same_thread=False,  # one at a time: in a notebook, the loop has its own
            )
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("PRAGMA synchronous=FULL")
            self._database.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}")
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS responses (key BLOB PRIMARY KEY, body BLOB NOT NULL, "
                "latency_s REAL NOT NULL, at REAL NOT NULL) WITHOUT ROWID"
            )
            self._claims = _Claims.of(Path(f"{self.path}.lock"))
        except (OSError, *_BROKEN) as problem:
            raise UsageError(
                f"{self.path}: responses cannot be kept there ({problem}). Remedy: name another "
                "file in GROUNDFAULT_RESPONSES"
            ) from None
        self._new: dict[bytes, tuple[bytes, bytes, float, float]] = {}
        self._answered: list[bytes] = []
        """Claims that end when what is new is written."""

    def __enter__(self) -> ResponseStore:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._new:
                self.flush()
        finally:
            self._database.close()
            self._claims.leave()

    def get(self, key: bytes) -> StoredResponse | None:
        """The response to a request; None where there is none, or it is damaged: it is asked for
        again."""
        if key in self._new:
            return StoredResponse(*self._new[key][1:3])
        try:
            found = self._database.execute(
                "SELECT body, latency_s FROM responses WHERE key = ?", (key,)
            ).fetchone()
        except sqlite3.OperationalError as problem:
            raise self._unusable("read", problem) from None
        except _BROKEN:  # a damaged page
            return None
        match found:
            case (bytes() as body, int() | float() as seconds) if 0 <= seconds < LONGEST_S:
                return StoredResponse(body, seconds)
        return None

    def put(self, key: bytes, body: bytes, seconds: float) -> bool:
        """Keep a response, in place of an earlier one; True if it is the first since `flush`."""
        self._new[key] = (key, body, seconds, time.time())
        return len(self._new) == 1

    def flush(self) -> None:
        """Write what is new, all of it or nothing."""
        new, self._new = self._new, {}
        answered, self._answered = self._answered, []
        try:
            with self._database:
                self._database.execute("BEGIN IMMEDIATE")
                self._database.executemany(
                    "INSERT OR REPLACE INTO responses VALUES (?, ?, ?, ?)", new.values()
                )
        except _BROKEN as problem:
            raise self._unusable("written", problem) from None
        finally:
            for key in answered:
                self._claims.let_go(_place(key))

    def _unusable(self, how: str, problem: Exception) -> GroundfaultError:
        full = isinstance(problem, sqlite3.OperationalError)
        remedy = "make room on the disk" if full else "it is damaged: move it away"
        return GroundfaultError(
            f"{self.path}: responses cannot be {how} ({problem}). Remedy: {remedy}, or name "
            "another file in GROUNDFAULT_RESPONSES"
        )

    def claim(self, key: bytes) -> bool:
        """Whether this process may ask a request: no other one is asking it now."""
        return self._claims.take(_place(key))

    def release(self, key: bytes) -> None:
        """Others may ask it, or see its response."""
        if key in self._new:
            self._answered.append(key)
        else:
            self._claims.let_go(_place(key))


class _Claims:
    """The bytes of a lock file that this process holds. One for all stores of the process on a
    file: the system knows processes only, and lets go of all bytes when any of them closes it."""

    opened: ClassVar[dict[tuple[int, int, int], _Claims]] = {}
    changing: ClassVar[threading.Lock] = threading.Lock()

    @classmethod
    def of(cls, path: Path) -> _Claims:
        """Those on a file, for one more store."""
        with cls.changing:
            there = path.stat() if path.exists() else None
            found = there and cls.opened.get((os.getpid(), there.st_dev, there.st_ino))
            if not found:
                found = cls(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
                cls.opened[found.key] = found
            found.stores += 1
            return found

    def __init__(self, place: int) -> None:
        about = os.fstat(place)
        self.place, self.key = place, (os.getpid(), about.st_dev, about.st_ino)
        self.taken: set[int] = set()
        self.stores = 0

    def leave(self) -> None:
        """One store less."""
        with self.changing:
            self.stores -= 1
            if not self.stores:
                del self.opened[self.key]
                os.close(self.place)

    def take(self, start: int) -> bool:
        """Hold a byte, if nobody does."""
        with self.changing:
            if start in self.taken:
                return False
            try:
                import fcntl

                fcntl.lockf(self.place, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, start)
            except (BlockingIOError, PermissionError):
                return False
            except (ImportError, OSError):
                pass  # Windows, or a file system without locks
            self.taken.add(start)
            return True

    def let_go(self, start: int) -> None:
        """Leave a byte to others."""
        with self.changing, contextlib.suppress(ImportError, OSError):
            self.taken.discard(start)
            import fcntl

            fcntl.lockf(self.place, fcntl.LOCK_UN, 1, start)


def _keep_private(path: Path) -> None:
    """Make a store for its owner's eyes, also one of an earlier version: it holds what was asked
    and answered. SQLite gives its journal the same rights."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    with contextlib.suppress(PermissionError):  # somebody else's, who shares it
        path.chmod(0o600)


def _place(key: bytes) -> int:
    return int.from_bytes(key[:8], "big") >> 2
