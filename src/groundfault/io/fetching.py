"""Published sets by name: fetched from the hub once, into a cache of our own, and checked.

    CACHE/data/teemosliang--CAFE/pinned              the commit that the plain name means here
    CACHE/data/teemosliang--CAFE/COMMIT/…            its files, as the hub has them
    CACHE/data/teemosliang--CAFE/COMMIT/manifest.json   sizes and checksums: all of it is there

CACHE is $GROUNDFAULT_CACHE, else groundfault/ in $XDG_CACHE_HOME or ~/.cache. A set that is there
is read without asking anybody.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo

import msgspec

from groundfault.errors import DataError, GroundfaultError, UsageError
from groundfault.io import hub
from groundfault.io.inputs import Published
from groundfault.io.store import cache_folder, read_json, write_bytes, write_json
from groundfault.registry import load

__all__ = ["LARGE_BYTES", "PICTURES", "Fetched", "Offer", "cache_folder", "fetch", "unpack"]

LARGE_BYTES = 100_000_000
"""A larger download is asked about."""
MAIN = "main"
MANIFEST = "manifest.json"
PICTURES = (".jpg", ".jpeg", ".png", ".webp")
MOST_TIMES_LARGER = 20
"""Pictures hardly shrink in an archive: one that grows more than this is a bomb."""
_COMMIT = re.compile(r"[0-9a-f]{40,64}")


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """What would be fetched."""

    name: str
    repo: str
    commit: str
    licence: str
    n_files: int
    size_bytes: int
    folder: Path

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.n_files:,} file{'s' * (self.n_files != 1)}, "
            f"{_size(self.size_bytes)}, from {self.repo} at {self.commit[:12]} into {self.folder}\n"
            f"licence: {self.licence}"
        )


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """What a fetched set is read from."""

    inputs: dict[str, Any]
    """By the names that its benchmark declares."""
    origin: str
    """repo@commit"""


def fetch(
    name: str,
    revision: str = "",
    *,
    agree: Callable[[Offer], None],
    offline: bool = False,
    progress: hub.Progress | None = None,
) -> Fetched:
    """The files of a published set; what is not there yet is fetched, if `agree` does not raise.

    `revision` is a commit, branch or tag. Without one it is the commit that was fetched first
    (or last as `main`), so that a later upload does not change numbers unnoticed.
    """
    benchmark = load("benchmarks", name)
    published: Published | None = getattr(benchmark, "HUB", None)
    if published is None:
        raise UsageError(f"{name} is not on the hub; give its files as options")
    place = cache_folder() / "data" / published.repo.replace("/", "--")
    with _one_at_a_time(place):
        wanted = revision or published.revision or _pinned(place) or MAIN
        snapshot = _known(place, wanted)
        if snapshot is None or hub.absent(snapshot, place / snapshot.commit):
            snapshot = _fetched(
                name, published, place, wanted, snapshot, agree, offline=offline, progress=progress
            )
        if wanted == MAIN:
            write_bytes(place / "pinned", f"{snapshot.commit}\n".encode())
        return Fetched(
            inputs=benchmark.fetched(place / snapshot.commit),
            origin=f"{snapshot.repo}@{snapshot.commit}",
        )


def _fetched(
    name: str,
    published: Published,
    place: Path,
    revision: str,
    known: hub.Snapshot | None,
    agree: Callable[[Offer], None],
    *,
    offline: bool,
    progress: hub.Progress | None,
) -> hub.Snapshot:
    if offline or hub.is_offline():
        raise GroundfaultError(_what_is_missing(name, published, place, revision, known))
    snapshot = known or hub.listing(published.repo, revision, published.wanted)
    folder = place / snapshot.commit
    left = hub.absent(snapshot, folder)
    size = sum(file.size_bytes for file in left)
    if left:
        agree(
            Offer(
                name=name,
                repo=snapshot.repo,
                commit=snapshot.commit,
                licence=_licence(name, snapshot),
                n_files=len(left),
                size_bytes=size,
                folder=folder,
            )
        )
    free = shutil.disk_usage(place).free
    if size > free:
        raise UsageError(
            f"{place}: {_size(size)} are to be fetched and {_size(free)} are free; make room, or "
            "name another folder in GROUNDFAULT_CACHE"
        )
    if revision == MAIN:  # a download that is cut short goes on with this commit
        write_bytes(place / "pinned", f"{snapshot.commit}\n".encode())
    hub.download(snapshot, folder, progress)
    write_json(folder / MANIFEST, snapshot)
    return snapshot


def _licence(name: str, snapshot: hub.Snapshot) -> str:
    ours: str = load("benchmarks", name).CARD.licence
    return f"{snapshot.licence} by its card; {ours}" if snapshot.licence else ours


def _what_is_missing(
    name: str, published: Published, place: Path, revision: str, known: hub.Snapshot | None
) -> str:
    start = f"{name} ({published.repo} at {revision}) is not in {place}, and offline was asked for"
    if known is not None:
        left = hub.absent(known, place / known.commit)
        start = (
            f"{name}: {len(left)} of {len(known.files)} files of {known.repo} are missing in "
            f"{place / known.commit}, e.g. {left[0].path}, and offline was asked for"
        )
    return f"{start}. Run it once online, or give its files as options"


def _pinned(place: Path) -> str:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        commit = (place / "pinned").read_text().strip()
        return commit if _COMMIT.fullmatch(commit) else ""
    return ""


def _known(place: Path, revision: str) -> hub.Snapshot | None:
    """What an earlier fetch of a commit has left."""
    manifest = place / revision / MANIFEST
    if not _COMMIT.fullmatch(revision) or not manifest.is_file():
        return None
    return read_json(manifest, hub.Snapshot)


def unpack(archive: Path, folder: Path) -> None:
    """Pictures and lists of an archive. What has a strange name is refused, nothing is skipped
    silently but files of other kinds."""
    try:
        with ZipFile(archive) as content:
            wanted = [
                member
                for member in content.infolist()
                if member.filename.lower().endswith((".json", *PICTURES))
                and not member.filename.startswith("__MACOSX/")
            ]
            for member in wanted:
                _refuse_tricks(archive, member)
            size, packed = sum(member.file_size for member in wanted), archive.stat().st_size
            if size > MOST_TIMES_LARGER * packed:
                raise DataError(
                    archive,
                    f"it claims to unpack to {_size(size)} from {_size(packed)}",
                    remedy="delete it and fetch it again; if it stays so, do not trust it",
                )
            for member in wanted:
                content.extract(member, folder)
    except (BadZipFile, NotImplementedError, EOFError, ValueError) as problem:
        raise DataError(
            archive, f"not a readable archive ({problem})", remedy="delete it and run again"
        ) from None


def _refuse_tricks(archive: Path, member: ZipInfo) -> None:
    name = member.filename
    link = stat.S_ISLNK(member.external_attr >> 16)
    if link or name.startswith("/") or ".." in PurePosixPath(name).parts or set("\\:") & set(name):
        raise DataError(
            archive,
            "it is a link" if link else "its path leads outside the archive",
            record=f"member {name!r}",
            remedy="nothing was unpacked; do not trust this archive",
        )


@contextlib.contextmanager
def _one_at_a_time(place: Path) -> Iterator[None]:
    """Who comes second waits, and then finds what the first has fetched."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        handle = os.open(place / "lock", os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as problem:
        raise UsageError(
            f"{place}: cannot be written ({problem.strerror}); name another folder in "
            "GROUNDFAULT_CACHE"
        ) from None
    try:
        with contextlib.suppress(ImportError, OSError):  # Windows, or a file system without locks
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _size(n_bytes: float) -> str:
    """
    >>> _size(1_234_567_890), _size(950)
    ('1.2 GB', '950 bytes')
    """
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= factor:
            return f"{n_bytes / factor:.1f} {unit}"
    return f"{n_bytes:.0f} bytes"
