"""A folder of photographs becomes the pictures of an audit.

A photograph is linked, or copied, under the hash of its content, so copies of one are asked about
once. What is no readable picture is left out and said. Some photographs are changed harmlessly;
which ones depends on their content alone.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from groundfault.benchmarks.audit import IMAGES, AuditPicture
from groundfault.building.auditing.changes import changed
from groundfault.errors import DataError, UsageError
from groundfault.io.foreign import sha256, within
from groundfault.io.picture_folder import names_below
from groundfault.io.pictures import picture_size, read_image
from groundfault.io.store import atomic_file, write_bytes

__all__ = ["TakenIn", "change_some", "is_under", "take_in"]

AnyPath = str | PathLike[str]
Progress = Callable[[int, int], None]
HASH_LETTERS = 16
MOST_TOLD = 3


class TakenIn(NamedTuple):
    """Photographs that can be asked about, and what is to be said about the others."""

    photographs: tuple[AuditPicture, ...]
    notes: tuple[str, ...]


def take_in(
    folder: AnyPath, place: Path, *, limit: int | None = None, progress: Progress
) -> TakenIn:
    """Put the photographs below a folder into the audit's own, the first `limit` of them by
    name."""
    root = Path(folder)
    _refuse_inside(root, place)
    names = names_below(root)
    known: dict[str, AuditPicture] = {}
    broken: list[str] = []
    copies = 0
    for done, name in enumerate(names, start=1):
        if limit is not None and len(known) == limit:
            break
        try:
            digest, found = _photograph(root, name)
        except (OSError, ValueError, SyntaxError, DataError) as problem:
            broken.append(f"{_plain(name)} ({problem})")
            continue
        if digest in known:
            copies += 1
            continue
        known[digest] = found
        _put(root / name, place / IMAGES / found.file)
        progress(done, len(names))
    if not known:
        raise UsageError(f"{folder}: not one picture in it can be read: {'; '.join(broken[:3])}")
    return TakenIn(tuple(known.values()), tuple(_notes(broken, copies)))


def _refuse_inside(root: Path, place: Path) -> None:
    """An audit inside of the photographs would ask about its own pictures the next time."""
    if is_under(place, root):
        raise UsageError(f"{place}: lies inside of the photographs; give another --out")


def is_under(place: Path, root: Path) -> bool:
    """Whether a path is a folder, or lies in it."""
    return place.resolve().is_relative_to(root.resolve())


def _plain(name: str) -> str:
    """A file name as text, whatever bytes it is made of."""
    return name.encode("utf-8", "backslashreplace").decode()


def _photograph(root: Path, name: str) -> tuple[str, AuditPicture]:
    path = within(root, name, file=root, record=_plain(name))
    height_px, width_px = picture_size(path)
    if min(height_px, width_px) < 1:
        raise ValueError("it has no pixels")
    digest = sha256(path)[:HASH_LETTERS]
    found = AuditPicture(
        file=f"{digest}{path.suffix.lower()}",
        photograph=_plain(name),
        height_px=height_px,
        width_px=width_px,
    )
    return digest, found


def _put(source: Path, target: Path) -> None:
    """Link a photograph into the audit; copy it where that cannot be done."""
    if target.is_file() and target.stat().st_size == source.stat().st_size:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source.resolve(), target)
    except OSError:  # another disk, somebody else's file, or a part of an earlier copy
        with atomic_file(target, durable=False) as temporary:
            shutil.copyfile(source, temporary)


def _notes(broken: Sequence[str], copies: int) -> Iterator[str]:
    if broken:
        more = f" and {len(broken) - MOST_TOLD} more" if len(broken) > MOST_TOLD else ""
        listed = "; ".join(broken[:MOST_TOLD])
        what = (
            "file is no readable picture" if len(broken) == 1 else "files are no readable pictures"
        )
        yield f"{len(broken)} {what}, left out: {listed}{more}."
    if copies:
        what = "file is a copy of another" if copies == 1 else "files are copies of others"
        yield f"{copies} {what}: each picture is asked about once."


def change_some(
    photographs: Sequence[AuditPicture],
    place: Path,
    changes: Sequence[str],
    n: int,
    *,
    progress: Progress,
) -> dict[str, list[AuditPicture]]:
    """Change n photographs harmlessly: file → what was made of it. What is there already is not
    made again; one that cannot be read has nothing made of it, and asking it says why."""
    chosen = sorted(photographs, key=lambda picture: picture.file)[: n if changes else 0]
    made: dict[str, list[AuditPicture]] = {}
    for done, picture in enumerate(chosen, start=1):
        made[picture.file] = list(_changes_of(picture, place / IMAGES, changes))
        progress(done, len(chosen))
    return made


def _changes_of(
    picture: AuditPicture, images: Path, changes: Sequence[str]
) -> Iterator[AuditPicture]:
    try:
        pixels = read_image(images / picture.file)
    except Exception:  # on damaged files Pillow also asserts and fails to index
        return
    stem = Path(picture.file).stem
    for name in changes:
        found = changed(pixels, name)
        if found is None:
            continue
        target = images / f"{stem}-{name}{found.ending}"
        if not target.is_file():
            write_bytes(target, found.content)
        yield AuditPicture(
            file=target.name,
            photograph=picture.photograph,
            height_px=found.height_px,
            width_px=found.width_px,
            change=name,
            frame_xywh=found.frame_xywh,
        )
