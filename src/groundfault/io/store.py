"""Records on disk. Whatever is written appears whole or not at all, even under kill -9.

Files are written beside their place and renamed into it; folders likewise. Tables are Parquet,
everything else JSON.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from groundfault.errors import DataError, UsageError
from groundfault.io.foreign import decode_json, read_bytes

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "arrow_table",
    "atomic_file",
    "cache_folder",
    "check_vacant",
    "is_held",
    "is_there",
    "link",
    "locked",
    "new_folder",
    "note_of",
    "read_columns",
    "read_json",
    "read_table",
    "write_bytes",
    "write_json",
    "write_table",
]

AnyPath = str | PathLike[str]
T = TypeVar("T")
STDOUT = ("-", "/dev/stdout")
TEMPORARY = ".groundfault"
"""How the names of files in the making end."""
LEFT_S = 60.0
"""Younger ones are left alone."""
LOOKS, LOOK_S = 3, 0.02
"""How often, and after how long, a run that is held is tried for."""


def cache_folder() -> Path:
    """Where fetched things, and what need not be worked out again, are kept."""
    own, shared = os.environ.get("GROUNDFAULT_CACHE"), os.environ.get("XDG_CACHE_HOME")
    if own:
        return Path(own).expanduser()
    return (Path(shared) if shared else Path.home() / ".cache") / "groundfault"


@contextlib.contextmanager
def atomic_file(path: AnyPath, *, durable: bool = True) -> Iterator[Path]:
    """A temporary path beside `path` that takes its place when the block ends well, and is on the
    disk then if it is to be `durable`; in a new folder, with that folder. `-` and /dev/stdout are
    written to; what is neither a file nor new is refused."""
    path = Path(path)
    if str(path) in STDOUT:
        with _for_stdout() as temporary:
            yield temporary
        return
    _check_place(path)
    durable = durable and not _in_the_making(path)
    temporary = _beside(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _sweep(path.parent)
        place = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as problem:
        raise UsageError(f"{path}: cannot be written ({problem.strerror})") from None
    try:
        _hold(place)
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        if durable:
            _to_disk(temporary)
        temporary.replace(path)
        if durable:
            _to_disk(path.parent)
    except OSError as problem:  # Arrow's have a message, but no number and strerror
        reason = problem.strerror or problem
        raise UsageError(f"{path}: cannot be written ({reason})") from None
    finally:
        os.close(place)
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def new_folder(path: AnyPath) -> Iterator[Path]:
    """A temporary folder that becomes `path`, which must not exist or be empty."""
    import shutil

    path = Path(path)
    temporary = _beside(path)
    check_vacant(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _sweep(path.parent)
        temporary.mkdir(0o700)
        place = os.open(temporary, os.O_RDONLY)
    except OSError as problem:
        raise UsageError(f"{path}: cannot be written ({problem.strerror})") from None
    try:
        _hold(place)
        yield temporary
        temporary.chmod(0o777 & ~_umask())
        if _in_the_making(path):
            temporary.replace(path)
            return
        _folder_to_disk(temporary)
        temporary.replace(path)
        _to_disk(path.parent)
    finally:
        os.close(place)
        shutil.rmtree(temporary, ignore_errors=True)


def _in_the_making(path: Path) -> bool:
    """Whether a path is in a folder that `new_folder` still makes, and syncs as a whole."""
    return any(name.startswith(".") and name.endswith(TEMPORARY) for name in path.parts[:-1])


def _check_place(path: Path) -> None:
    """Refuse to put a file in the place of a device, a pipe or a link, which somebody needs."""
    if path.parts[:1] == ("-",):
        raise UsageError(f"{path}: '-' stands for the terminal's output, which holds no folder")
    try:
        mode = path.lstat().st_mode
    except (OSError, ValueError):
        return  # it is new, or opening it says what is wrong
    if stat.S_ISREG(mode):
        return
    kind = "a folder" if stat.S_ISDIR(mode) else "no regular file"
    if stat.S_ISLNK(mode):
        kind = f"a link to {path.readlink()}"
    raise UsageError(f"{path}: is {kind}, which is not replaced; name a file")


@contextlib.contextmanager
def _for_stdout() -> Iterator[Path]:
    """A temporary path whose content is written to stdout when the block ends well."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="groundfault-") as folder:
        yield Path(folder) / "out"
        sys.stdout.flush()
        content = (Path(folder) / "out").read_bytes()
        sys.stdout.buffer.write(content)
        sys.stdout.flush()


def _to_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, would survive a power cut."""
    try:
        place = os.open(path, os.O_RDONLY)
    except PermissionError:
        return  # a folder that may be written to, not read
    try:
        os.fsync(place)
    except OSError as problem:  # EINVAL: a file system that cannot
        if problem.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
    finally:
        os.close(place)


def _folder_to_disk(folder: Path) -> None:
    """Wait for everything in a folder, and once for a file that has several names in it."""
    seen = set[int]()
    for place, _, names in os.walk(folder):
        for path in (Path(place, name) for name in names):
            number = path.lstat().st_ino
            if number not in seen:
                _to_disk(path)
            seen.add(number)
        _to_disk(Path(place))


def _hold(place: int) -> None:
    """Show others that a temporary file is being written; the system lets go of it however the
    process ends."""
    with contextlib.suppress(ImportError, OSError):
        import fcntl

        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)


_swept: set[Path] = set()
"""Folders that this process has looked through."""


def _sweep(folder: Path) -> None:
    """Remove what killed processes left in a folder; what somebody still writes is held."""
    if folder in _swept:
        return
    _swept.add(folder)
    try:
        import fcntl
    except ImportError:
        return
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith(".") or not entry.name.endswith(TEMPORARY):
                continue
            with contextlib.suppress(OSError):
                _remove_if_left(Path(entry.path), fcntl)


def _remove_if_left(path: Path, fcntl: Any) -> None:
    if time.time() - path.stat().st_mtime < LEFT_S:
        return  # between its making and its holding
    place = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.is_dir():
            import shutil

            shutil.rmtree(path)
        else:
            path.unlink()
    finally:
        os.close(place)


def link(file: AnyPath, name: AnyPath) -> None:
    """Give a file another name, without its bytes twice where the system can do that."""
    try:
        os.link(file, name)
    except OSError:
        import shutil

        shutil.copyfile(file, name)


def is_there(path: AnyPath) -> bool:
    """Whether a name is taken, by a file or by what is none: reading it says what is wrong."""
    return os.path.lexists(path)


def check_vacant(path: AnyPath) -> None:
    """Refuse a place for a new folder that is taken; long work asks before it begins."""
    path = Path(path)
    taken = path.is_symlink() or not path.is_dir() or any(path.iterdir())
    if (path.exists() or path.is_symlink()) and taken:
        raise UsageError(f"{path}: exists and is not an empty folder; name another one")


@contextlib.contextmanager
def locked(folder: AnyPath) -> Iterator[None]:
    """Hold a run for this process; the system lets go of it however the process ends. Whoever
    holds it may ask for it again."""
    folder = Path(folder)
    held = folder.resolve()
    if held in _held:
        yield
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise UsageError(f"{folder}: cannot be written ({problem.strerror})") from None
    try:
        import fcntl
    except ImportError:  # Windows: nobody keeps two processes apart
        yield
        return
    place = os.open(folder, os.O_RDONLY)
    try:
        for tries_left in reversed(range(LOOKS)):
            try:
                fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not tries_left:
                    raise UsageError(
                        f"{folder}: another process is working on this run; wait for it or give "
                        "another --out"
                    ) from None
                time.sleep(LOOK_S)  # somebody may only be looking (`is_held`)
            except OSError:
                break  # a file system without locks
        _held.add(held)
        yield
    finally:
        _held.discard(held)
        os.close(place)


def is_held(folder: AnyPath) -> bool | None:
    """Whether a process works on a run; None where the system cannot say."""
    try:
        import fcntl

        place = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(place, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(place)
    return False


_held: set[Path] = set()
"""The runs of this process."""


def _beside(path: Path) -> Path:
    """A name that nobody else has; the module tempfile would find one for 2 ms of imports."""
    return path.parent / f".{path.name[:40]}.{os.urandom(6).hex()}{TEMPORARY}"


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_bytes(path: AnyPath, content: bytes, *, durable: bool = True) -> None:
    """Write a file in one piece."""
    with atomic_file(path, durable=durable) as temporary:
        temporary.write_bytes(content)


def write_json(path: AnyPath, value: object, *, durable: bool = True) -> None:
    """Write a value as indented JSON; undefined numbers are null."""
    content = msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"
    write_bytes(path, content, durable=durable)


def read_json(path: AnyPath, type_: type[T]) -> T:
    """Read what `write_json` wrote."""
    path = Path(path)
    try:
        return decode_json(read_bytes(path), type_)
    except msgspec.DecodeError as problem:
        raise DataError(
            path, f"not readable ({problem})", remedy="make it again with the command that wrote it"
        ) from None


def write_table(
    path: AnyPath, columns: Mapping[str, Any], *, metadata: Mapping[str, str] | None = None
) -> None:
    """Write equally long columns as Parquet: arrays, lists, or anything with `to_arrow`. Lists of
    numbers may offer `flat` beside it: all their entries, and how many each has."""
    from groundfault.io.parquet import encode_table

    content = encode_table(columns, metadata or {})
    if content is not None:
        write_bytes(path, content)
    else:
        _write_with_arrow(path, columns, metadata)


def _write_with_arrow(
    path: AnyPath, columns: Mapping[str, Any], metadata: Mapping[str, str] | None
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = arrow_table(columns)
    if metadata:
        table = table.replace_schema_metadata(dict(metadata))
    with atomic_file(path) as temporary:
        strings = [field.name for field in table.schema if pa.types.is_string(field.type)]
        pq.write_table(
            table, temporary, compression="zstd", use_dictionary=strings, write_page_checksum=True
        )


def arrow_table(columns: Mapping[str, Any]) -> pa.Table:
    """Equally long columns (arrays, lists, or anything with `to_arrow`) as one table."""
    import pyarrow as pa

    return pa.table({name: _arrow_array(column) for name, column in columns.items()})


def _arrow_array(column: Any) -> pa.Array:
    import pyarrow as pa

    if hasattr(column, "to_arrow"):
        return column.to_arrow()
    kind = getattr(column, "dtype", None)
    if kind is not None and kind.kind in "fi" and column.ndim == 1:
        buffer = pa.py_buffer(column.tobytes())  # pa.array would import numpy.ma for this
        return pa.Array.from_buffers(pa.from_numpy_dtype(kind), len(column), [None, buffer])
    return pa.array(column)


def read_table(path: AnyPath, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a Parquet table."""
    import pyarrow.parquet as pq

    with _reading(Path(path)):
        names = None if columns is None else list(columns)
        table = pq.read_table(path, columns=names, page_checksum_verification=True)
        table.validate(full=True)  # text that is no text is found here, not where it is used
        return table


def note_of(table: pa.Table, name: str) -> str:
    """What a table that `write_table` wrote notes under a name; "" if nothing."""
    content: bytes = (table.schema.metadata or {}).get(name.encode(), b"")
    return content.decode("utf-8", "replace")


def read_columns(path: AnyPath) -> list[str]:
    """The names of a Parquet table's columns."""
    import pyarrow.parquet as pq

    with _reading(Path(path)):
        names: list[str] = pq.read_schema(path).names
        return names


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file") from None
    except (pa.ArrowException, OSError, KeyError, UnicodeDecodeError) as problem:
        raise DataError(
            path,
            f"not a readable table ({str(problem).splitlines()[0]})",
            remedy="make it again with the command that wrote it",
        ) from None
