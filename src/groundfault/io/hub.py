"""Files of a hub dataset at one commit: listed, fetched into a folder, every one checked.

Tokens, gated sets, proxies, redirects and the variables HF_* are `huggingface_hub`'s business, and
so is every request. Its `snapshot_download` is not used: it keeps nothing of a download that was
cut short (2.4), compares no content with its checksum, and its cache is made of links that lead
outside the folder that a benchmark may read from. Here a part stays beside its place until it is
whole, and gets its name only when its checksum is right.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import msgspec

from groundfault.errors import DataError, GroundfaultError, MissingExtra, UsageError

__all__ = ["Listed", "Snapshot", "absent", "download", "is_offline", "listing"]

AT_ONCE = 8
"""Files that are fetched at the same time."""
PAUSES_S = (1.0, 4.0)
"""Before a request that the hub could not serve (5xx) is made again."""
LOOK_EVERY_S = 0.5
PART = ".part"
UNWRITABLE = (
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENAMETOOLONG,
)
Progress = Callable[[int, int], None]


class Listed(msgspec.Struct, frozen=True):
    """A file as the hub lists it."""

    path: str
    """Relative, with forward slashes, inside the folder it is fetched to."""
    size_bytes: int
    checksum: str
    """sha256:… of a large file's content, git:… of a small file as git names it."""


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The wanted files of a dataset at one commit."""

    repo: str
    commit: str
    licence: str
    """As its card says; empty where it says nothing."""
    files: tuple[Listed, ...]


def is_offline() -> bool:
    """Whether HF_HUB_OFFLINE forbids to ask the hub."""
    hub = _library()
    return bool(hub.constants.HF_HUB_OFFLINE)


def listing(repo: str, revision: str, wanted: Sequence[str]) -> Snapshot:
    """Ask the hub for the commit of a revision and those of its files that fit a pattern."""
    hub = _library()
    with _in_words(repo, revision):
        info = _patiently(
            lambda: hub.HfApi(endpoint=_endpoint()).dataset_info(
                repo, revision=revision, files_metadata=True
            )
        )
    found = [
        _listed(repo, file)
        for file in info.siblings or ()
        if any(fnmatchcase(file.rfilename, pattern) for pattern in wanted)
    ]
    if not found:
        raise GroundfaultError(
            f"{repo} at {info.sha} has no file like {', '.join(wanted)}: its layout has changed. "
            "Fetch it by hand and give its files as options"
        )
    return Snapshot(
        repo=repo,
        commit=_commit(repo, info.sha),
        licence=_licence(info.card_data),
        files=tuple(sorted(found, key=lambda file: file.path)),
    )


def absent(snapshot: Snapshot, folder: Path) -> list[Listed]:
    """The files that are not in a folder yet, or not whole."""
    return [file for file in snapshot.files if not _is_there(folder / file.path, file)]


def download(snapshot: Snapshot, folder: Path, progress: Progress | None = None) -> None:
    """Fetch what is absent; `progress` is told (bytes there, bytes in all)."""
    hub = _library()
    headers = hub.utils.build_hf_headers()
    left = absent(snapshot, folder)
    whole = sum(file.size_bytes for file in snapshot.files)
    kept = whole - sum(file.size_bytes for file in left)
    stop = threading.Event()
    with (
        _in_words(snapshot.repo, snapshot.commit),
        _silent(hub),
        ThreadPoolExecutor(AT_ONCE, "fetch") as pool,
    ):
        running: set[Future[None]] = set()
        for file in left:
            url = hub.hf_hub_url(
                snapshot.repo,
                file.path,
                repo_type="dataset",
                revision=snapshot.commit,
                endpoint=_endpoint(),
            )
            running.add(pool.submit(_fetch_file, url, file, folder / file.path, headers, stop))
        try:
            while running:
                done, running = wait(running, LOOK_EVERY_S, FIRST_EXCEPTION)
                for one in done:
                    one.result()
                if progress is not None:
                    progress(kept + sum(_bytes_of(folder / file.path) for file in left), whole)
        finally:  # one that failed, or Ctrl-C, does not wait for gigabytes
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)


def _library() -> Any:
    try:
        import huggingface_hub
        import huggingface_hub.errors
        import huggingface_hub.file_download
    except ModuleNotFoundError:
        raise MissingExtra("huggingface_hub", "hub") from None
    return huggingface_hub


def _endpoint() -> str | None:
    return os.environ.get("HF_ENDPOINT") or None


def _listed(repo: str, file: Any) -> Listed:
    path, lfs = str(file.rfilename), file.lfs
    parts = PurePosixPath(path).parts
    if (
        not parts
        or path != "/".join(parts)
        or path.startswith("/")
        or any(part in (".", "..") or part.endswith(PART) for part in parts)
        or any(sign in path for sign in "\\:\0")
    ):
        raise GroundfaultError(
            f"{repo} lists a file named {path!r}, which could lead outside the folder it is "
            "fetched to. Nothing was fetched; tell the owners of the dataset"
        )
    size = lfs.size if lfs is not None else file.size
    checksum = f"sha256:{lfs.sha256}" if lfs is not None else f"git:{file.blob_id}"
    if size is None or (lfs is None and not file.blob_id):
        raise GroundfaultError(f"{repo} lists {path} without size or checksum; it can't be checked")
    return Listed(path, int(size), checksum)


def _commit(repo: str, commit: Any) -> str:
    """It names a folder of ours."""
    if isinstance(commit, str) and commit.isalnum() and len(commit) >= 40:
        return commit
    raise GroundfaultError(f"{repo}: the hub names no commit ({commit!r}); try again")


def _licence(card: Any) -> str:
    found = getattr(card, "license_name", None) or getattr(card, "license", None) or ""
    return ", ".join(map(str, found)) if isinstance(found, list) else str(found)


def _is_there(path: Path, file: Listed) -> bool:
    return path.is_file() and path.stat().st_size == file.size_bytes


def _bytes_of(path: Path) -> int:
    """Of a file, or of what there is of it."""
    for place in (path, _part(path)):
        with contextlib.suppress(OSError):
            return place.stat().st_size
    return 0


def _part(path: Path) -> Path:
    return path.with_name(path.name + PART)


def _fetch_file(
    url: str, file: Listed, target: Path, headers: dict[str, str], stop: threading.Event
) -> None:
    """Fetch a file, going on where an earlier try ended."""
    part = _part(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    while True:
        if part.exists() and part.stat().st_size > file.size_bytes:
            part.unlink()
        begun = part.stat().st_size if part.exists() else 0
        _patiently(lambda: _append(url, file, part, headers, stop))
        if _checksum(part, file.checksum.partition(":")[0]) == file.checksum:
            part.replace(target)
            return
        part.unlink()
        if not begun:  # else the part may have been the bad one: once more, from the start
            raise DataError(
                target,
                "what the hub sent does not have the checksum that it lists",
                remedy="run the command again; if it stays so, the dataset is damaged",
            )


class _Stopped(Exception):
    """Nobody waits for this file any more."""


class _Part(io.FileIO):
    """A part that grows until nobody waits for it."""

    def __init__(self, path: Path, stop: threading.Event) -> None:
        super().__init__(path, "r+" if path.exists() else "w+")
        self.stop = stop
        self.seek(0, os.SEEK_END)

    def write(self, block: Any) -> int:
        """All of a block: the system may take it in several goes."""
        if self.stop.is_set():
            raise _Stopped
        left = memoryview(block)
        while left:
            left = left[super().write(left) :]
        return len(block)


def _append(
    url: str, file: Listed, part: Path, headers: dict[str, str], stop: threading.Event
) -> None:
    with _Part(part, stop) as content:
        _library().file_download.http_get(
            url,
            content,
            resume_size=content.tell(),
            headers=headers,
            expected_size=file.size_bytes,
        )


def _checksum(path: Path, kind: str) -> str:
    if kind == "sha256":
        digest: Any = hashlib.sha256()
    else:
        digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as content:
        while block := content.read(1 << 20):
            digest.update(block)
    return f"{kind}:{digest.hexdigest()}"


def _patiently(request: Callable[[], Any]) -> Any:
    """What a request gives; one that the hub could not serve is made again."""
    failed = _library().errors.HfHubHTTPError
    for pause_s in PAUSES_S:
        try:
            return request()
        except failed as problem:
            if problem.response.status_code < 500:
                raise
            time.sleep(pause_s)
    return request()


@contextlib.contextmanager
def _silent(hub: Any) -> Iterator[None]:
    """Without a bar for every file."""
    were_off = hub.utils.are_progress_bars_disabled()
    hub.utils.disable_progress_bars()
    try:
        yield
    finally:
        if not were_off:
            hub.utils.enable_progress_bars()


class _Kinds(NamedTuple):
    """What the hub's library raises."""

    gated: type[Exception]
    revision: type[Exception]
    repository: type[Exception]
    any: type[Exception]
    """Of its HTTP library too: which one that is has changed twice."""


def _kinds() -> _Kinds:
    errors = _library().errors
    base: Any = errors.HfHubHTTPError.__mro__[1]
    return _Kinds(
        errors.GatedRepoError, errors.RevisionNotFoundError, errors.RepositoryNotFoundError, base
    )


@contextlib.contextmanager
def _in_words(repo: str, revision: str) -> Iterator[None]:
    """What can go wrong at the hub, with the next step."""
    page = f"{_endpoint() or 'https://huggingface.co'}/datasets/{repo}"
    kinds = _kinds()
    try:
        yield
    except kinds.gated:
        raise GroundfaultError(
            f"{repo} is gated. Accept its terms at {page}, log in with `hf auth login`, then run "
            "again"
        ) from None
    except kinds.revision:
        raise GroundfaultError(f"{repo} has no revision '{revision}'. See {page}/commits") from None
    except kinds.repository:
        raise GroundfaultError(
            f"the hub shows you no dataset {repo}. If it is private, log in with `hf auth login`; "
            "if it has moved, fetch it by hand and give its files as options"
        ) from None
    except (OSError, kinds.any) as problem:
        if isinstance(problem, OSError) and problem.errno in UNWRITABLE:
            where = problem.filename or "the folder for fetched files"
            raise UsageError(f"{where}: cannot be written ({problem.strerror})") from None
        raise GroundfaultError(
            f"{repo} could not be fetched from {page}: {str(problem).splitlines()[0]}. What has "
            "arrived is kept: run the same command again"
        ) from problem
