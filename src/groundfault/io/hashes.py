"""Hashes of large files, which are read once and not at every command."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Collection
from os import PathLike
from pathlib import Path

import msgspec

from groundfault.errors import UsageError
from groundfault.io.foreign import decode_json, sha256
from groundfault.io.store import cache_folder, write_json

__all__ = ["KnownHashes", "folder_hash"]

LARGE_FILE_BYTES = 4 << 20
"""Smaller ones are read in a few milliseconds."""
SETTLED_NS = 2_000_000_000
"""Coarser than the clock of any file system."""
_Known = dict[str, tuple[int, int, str]]
"""Path → size, time of change, SHA-256."""


class KnownHashes:
    """Hashes of large files, remembered in the user's cache by size and time of change: weights are
    read once, not at every command. `with` writes what is new.

    A file that was changed a moment ago is not remembered: it may change again within one tick of
    the file system's clock.
    """

    def __init__(self) -> None:
        self.place = cache_folder() / "hashes.json"
        self._known: _Known | None = None
        self._is_new = False

    def __enter__(self) -> KnownHashes:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_new and self._known is not None:
            with contextlib.suppress(OSError, UsageError):  # a cache that cannot be written
                write_json(self.place, self._known)

    def sha256(self, path: str | PathLike[str]) -> str:
        """Hex digest of a file's bytes."""
        found = Path(path).stat()
        if found.st_size < LARGE_FILE_BYTES:
            return sha256(path)
        if self._known is None:
            self._known = self._read()
        name, state = str(Path(path).resolve()), (found.st_size, found.st_mtime_ns)
        if self._known.get(name, ())[:2] == state:
            return self._known[name][2]
        digest = sha256(path)
        if time.time_ns() - found.st_mtime_ns > SETTLED_NS:
            self._known[name] = (*state, digest)
            self._is_new = True
        return digest

    def _read(self) -> _Known:
        try:
            return decode_json(self.place.read_bytes(), _Known)
        except (OSError, msgspec.DecodeError):
            return {}


def folder_hash(
    folder: str | PathLike[str], known: KnownHashes, *, without: Collection[str] = ()
) -> str:
    """Hex digest of the names and bytes of all files below a folder, but of those that end as
    `without` says; hidden ones are left out."""
    root, digest = Path(folder), hashlib.sha256()
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root)
        hidden = any(part.startswith(".") for part in name.parts)
        if hidden or path.suffix.lower() in without or not path.is_file():
            continue
        digest.update(f"{name.as_posix()}\0{known.sha256(path)}\n".encode())
    return digest.hexdigest()
