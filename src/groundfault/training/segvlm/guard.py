"""No picture that is measured on is learnt from: by its COCO number, by its content, and by how it
looks. Test pictures of RefCOCO(+) occur in RefCOCOg and the other way round, so names of splits say
little."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from groundfault.errors import DataError, UsageError
from groundfault.io.foreign import open_file, sha256
from groundfault.io.phash import BITS, hash_file, near
from groundfault.io.store import cache_folder, read_json, write_json

if TYPE_CHECKING:
    from groundfault.training.segvlm.mixture import Source

__all__ = ["Leak", "coco_id", "find_leaks", "read_ids", "refuse_leaks", "without"]

_COCO = re.compile(r"(?<!\d)(\d{12})(?!\d)")
MOST_NAMED = 5
REMEMBERED = "perceptual-hashes.json"
_Known = dict[str, tuple[int, int, str]]
"""Path → size, time of change, hash in hexadecimal."""


class Leak(NamedTuple):
    """A picture that is in both."""

    learnt: Path
    measured: str
    how: str


def coco_id(name: str) -> int | None:
    """The COCO number in the name of a picture, of edited copies too.

    >>> coco_id("COCO_train2014_000000581857.jpg"), coco_id("000000000139_12_edited.png")
    (581857, 139)
    >>> coco_id("000003-factual.png") is None
    True
    """
    found = _COCO.search(name)
    return int(found[1]) if found else None


def read_ids(path: str) -> set[int]:
    """COCO numbers, one a line."""
    with open_file(path) as file:
        lines = file.read().decode("utf-8", "replace").split()
    found = set()
    for number, line in enumerate(lines, start=1):
        known = int(line) if line.isdigit() else coco_id(line)
        if known is None:
            raise DataError(
                path, f"'{line[:40]}' is no COCO number", record=f"line {number}",
                remedy="give one number or file name a line",
            )  # fmt: skip
        found.add(known)
    return found


def find_leaks(
    learnt: Sequence[Path],
    measured: Sequence[Path],
    ids: Iterable[int] = (),
    *,
    bits: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Leak]:
    """Pictures that are in both, each once, for the strongest reason."""
    by_id: dict[int, str] = dict.fromkeys(ids, "a list of ids")
    for path in measured:
        number = coco_id(path.name)
        if number is not None:
            by_id.setdefault(number, str(path))
    found: dict[Path, Leak] = {}
    for path in learnt:
        number = coco_id(path.name)
        if number in by_id:
            found[path] = Leak(path, by_id[number], f"COCO image {number}")
    if not measured:
        return list(found.values())
    rest = [path for path in learnt if path not in found]
    total = len(rest) + len(measured)
    prints = _prints(measured, lambda done: progress(done, total))
    own = _prints(rest, lambda done: progress(len(measured) + done, total))
    for row, column, apart in near(own, prints, most_bits=bits):
        path, other = rest[row], measured[column]
        if path not in found or apart == 0:
            same = apart == 0 and sha256(path) == sha256(other)
            how = "the same file" if same else f"looks the same ({apart} of {BITS} bits apart)"
            found[path] = Leak(path, str(other), how)
    return list(found.values())


def refuse_leaks(leaks: Sequence[Leak]) -> None:
    """Refuse to learn from what is measured on, and say which."""
    if not leaks:
        return
    some = "; ".join(f"{leak.learnt} is in {leak.measured}: {leak.how}"
                     for leak in leaks[:MOST_NAMED])  # fmt: skip
    more = f"; and {len(leaks) - MOST_NAMED} more" if len(leaks) > MOST_NAMED else ""
    raise UsageError(
        f"{len(leaks)} pictures are learnt from and measured on: {some}{more}. Leave them out of "
        "the sources (guard.leave_out = true), or out of evaluation and guard"
    )


def without(source: Source, leaks: Sequence[Leak]) -> Source:
    """A source without the groups that have one of these pictures."""
    gone = {str(leak.learnt) for leak in leaks}
    strata = {
        name: [group for group in groups if not any(one.image in gone for one in group)]
        for name, groups in source.strata.items()
    }
    return source._replace(strata=strata)


def _prints(paths: Sequence[Path], progress: Callable[[int], None]) -> np.ndarray:
    """Perceptual hashes, a row for each file; those of unchanged files are remembered."""
    place = cache_folder() / REMEMBERED
    known = _remembered(place)
    rows = np.zeros((len(paths), BITS // 64), np.uint64)
    fresh: _Known = {}
    for row, path in enumerate(paths):
        try:
            found = path.stat()
            state = (found.st_size, found.st_mtime_ns)
            name = str(path.resolve())
            if known.get(name, ())[:2] == state:
                rows[row] = np.frombuffer(bytes.fromhex(known[name][2]), np.uint64)
            else:
                rows[row] = hash_file(path)
                fresh[name] = (*state, rows[row].tobytes().hex())
        except (OSError, ValueError) as problem:
            raise DataError(
                path, f"cannot be read as a picture ({problem})", remedy="fetch it again"
            ) from None
        progress(row + 1)
    if fresh:
        with contextlib.suppress(OSError, UsageError):  # a cache that cannot be written
            write_json(place, known | fresh)
    return rows


def _remembered(place: Path) -> _Known:
    try:
        return read_json(place, _Known) if place.is_file() else {}
    except DataError:  # of a version with other hashes, or cut off
        return {}
