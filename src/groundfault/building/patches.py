"""Releases without pictures, for photographs that may not be passed on: what was changed in each of
them, and how to make the pictures again from the photographs, byte by byte.

    DIR/release/restore.json   of each picture, the photograph it is made from and its own hash
    DIR/release/patches/       the changed pixels alone, transparent elsewhere

`groundfault build restore DIR/release --images PHOTOGRAPHS` writes DIR/release/images.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path

import msgspec
import numpy as np

from groundfault.building.pictures import Packing, png_content, read_kept
from groundfault.building.records import Candidate
from groundfault.errors import DataError, UsageError
from groundfault.io.colours import differing
from groundfault.io.foreign import within
from groundfault.io.pictures import read_image
from groundfault.io.restoring import RESTORE
from groundfault.io.store import new_folder, read_json, write_bytes, write_json

__all__ = ["Restorable", "restore", "write_patches"]

PATCHES = "patches"


class Restorable(msgspec.Struct, frozen=True, kw_only=True):
    """A picture of a release, and how it is made."""

    name: str
    photograph: str
    """The file's name in its source."""
    source: str
    source_id: str
    height_px: int
    width_px: int
    patch: str = ""
    """"" of the photograph itself."""
    comment: str
    """What its metadata say."""
    sha256: str
    packing: Packing = "deflate"
    """How its bytes are made; releases of before do not say it."""


def write_patches(
    place: Path,
    candidates: Iterable[Candidate],
    pictures: dict[str, str],
    build: Path,
    comment: str,
) -> None:
    """Write what is needed to make the pictures below place/images; `pictures` are their kept
    files, `comment` is what their metadata say."""
    (place / PATCHES).mkdir(parents=True)
    owner: dict[str, Candidate] = {}
    for candidate in candidates:
        assert candidate.edited is not None
        owner |= {candidate.edited.before: candidate, candidate.edited.after: candidate}
    found = [
        _restorable(place, owner[kept], name, kept, build, comment)
        for name, kept in pictures.items()
    ]
    write_json(place / RESTORE, found)


def _restorable(
    place: Path, candidate: Candidate, name: str, kept: str, build: Path, comment: str
) -> Restorable:
    edited, photograph = candidate.edited, candidate.photograph
    assert edited is not None
    patch = ""
    if kept == edited.after != edited.before:
        before, after = read_kept(build, edited.before), read_kept(build, kept)
        patch = f"{PATCHES}/{Path(name).stem}.png"
        _write_patch(place / patch, before, after)
    return Restorable(
        name=name,
        photograph=photograph.file,
        source=photograph.source,
        source_id=photograph.id,
        height_px=photograph.height_px,
        width_px=photograph.width_px,
        patch=patch,
        comment=comment,
        sha256=hashlib.sha256((place / "images" / name).read_bytes()).hexdigest(),
        packing="runs",
    )


def _write_patch(path: Path, before: np.ndarray, after: np.ndarray) -> None:
    from PIL import Image

    changed = differing(before, after)
    pixels = np.dstack([np.where(changed[..., None], after, 0), changed * np.uint8(255)])
    Image.fromarray(pixels.astype(np.uint8), "RGBA").save(path)


def restore(release: str | PathLike[str], images: Sequence[str | PathLike[str]]) -> int:
    """Make the pictures of a release from the photographs; how many there are. A photograph that is
    not the one the release was made from is refused."""
    folder = Path(release)
    if not (folder / RESTORE).is_file():
        raise UsageError(f"{folder}: has no {RESTORE}: its pictures are in it, or it is no release")
    wanted = read_json(folder / RESTORE, list[Restorable])
    with new_folder(folder / "images") as temporary:
        for picture in wanted:
            content = _made(folder, picture, images)
            if hashlib.sha256(content).hexdigest() != picture.sha256:
                raise DataError(
                    folder / RESTORE,
                    "the picture does not come out as it was",
                    record=f"picture {picture.name}",
                    remedy=f"get {picture.photograph} of {picture.source} as it was published",
                )
            place = within(temporary, picture.name, file=RESTORE, record=f"picture {picture.name}")
            write_bytes(place, content, durable=False)
    return len(wanted)


def _made(folder: Path, picture: Restorable, images: Sequence[str | PathLike[str]]) -> bytes:
    record = f"picture {picture.name}"
    places = [within(f, picture.photograph, file=RESTORE, record=record) for f in images]
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        remedy = "give the folder of the photographs with --images"
        raise DataError(
            places[0] if places else folder, "no such photograph", record=record, remedy=remedy
        )
    image = read_image(path, size_px=(picture.height_px, picture.width_px))
    if not picture.patch:
        return png_content(image, picture.comment, picture.packing)
    from PIL import Image

    place = within(folder, picture.patch, file=RESTORE, record=record)
    with Image.open(place) as opened:
        patch = np.asarray(opened.convert("RGBA"))
    if patch.shape[:2] != image.shape[:2]:
        raise DataError(path, "another size than its patch", record=record, remedy="get it again")
    whole = np.where(patch[..., 3:] > 0, patch[..., :3], image)
    return png_content(whole, picture.comment, picture.packing)
