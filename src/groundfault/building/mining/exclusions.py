"""Photographs that must not be used: those of test sets, by id or by look, and those seen already.

Several sets are made of COCO's photographs, so COCO's ids tell them all apart; where there is no
id, perceptual hashes do.
"""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from groundfault.building.records import Dropped
from groundfault.errors import DataError, UsageError
from groundfault.io.coco_photographs import coco_id
from groundfault.io.foreign import decode_json, open_file, read_json_object, within
from groundfault.io.phash import ALIKE, hash_file, near
from groundfault.io.photographs import Photograph
from groundfault.io.picture_folder import ENDINGS

if TYPE_CHECKING:
    from groundfault.io.phash import Bits

__all__ = ["Excluder", "Exclusions", "ids_of"]

AnyPath = str | PathLike[str]


class Exclusions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is not to be used, and how look-alikes are found."""

    ids: tuple[str, ...] = ()
    """COCO ids, or a set's own ids."""
    files: dict[str, str] = {}
    """Name of a set → a file of its ids: text with one per line, a JSON list, or anything with
    COCO's `images` or REFER's refs. Its name is told as the reason."""
    pictures: dict[str, str] = {}
    """Name of a set → a folder of its pictures, which are compared by look."""
    images: str = ""
    """The folder of the photographs themselves; without it nothing is compared by look."""
    duplicates: bool = True
    """Drop a photograph that is one of those before it by COCO's id or, with `images`, by look."""
    most_bits: int = ALIKE
    """Of 256, that hashes of one picture differ in at most."""

    def opened(self) -> Excluder:
        """Ready to be asked."""
        return Excluder(self)


class Excluder:
    """Says of photographs, one after the other, whether they are excluded."""

    def __init__(self, exclusions: Exclusions) -> None:
        self._settings = exclusions
        self._sets = {"excluded": frozenset(exclusions.ids)}
        self._sets |= {name: ids_of(path) for name, path in exclusions.files.items()}
        if exclusions.pictures and not exclusions.images:
            raise UsageError("exclusions by look need `images`, the folder of the photographs")
        self._looks = {name: _Hashes.of(path) for name, path in exclusions.pictures.items()}
        self._seen_ids: set[str] = set()
        self._seen = _Hashes()

    def why(self, photograph: Photograph) -> Dropped | None:
        """Why a photograph is excluded; None if it is not, and then it counts as seen."""
        own = {photograph.id, photograph.coco_id} - {""}
        for name, ids in self._sets.items():
            if own & ids:
                reason = "excluded" if name == "excluded" else f"in {name}"
                return Dropped(reason=reason, details=min(own & ids))
        return self._duplicate(photograph) or self._looks_like(photograph)

    def _duplicate(self, photograph: Photograph) -> Dropped | None:
        if not (self._settings.duplicates and photograph.coco_id):
            return None
        if photograph.coco_id in self._seen_ids:
            return Dropped(reason="duplicate", details=f"COCO {photograph.coco_id}")
        self._seen_ids.add(photograph.coco_id)
        return None

    def _looks_like(self, photograph: Photograph) -> Dropped | None:
        settings = self._settings
        if not settings.images or not (settings.duplicates or self._looks):
            return None
        path = within(
            settings.images, photograph.file, file=photograph.source, record=photograph.id
        )
        try:
            found = hash_file(path)
        except (OSError, ValueError, SyntaxError) as problem:
            return Dropped(reason="unreadable picture", details=str(problem))
        for name, hashes in self._looks.items():
            if hashes.has(found, settings.most_bits):
                return Dropped(reason=f"looks like one in {name}")
        if settings.duplicates and self._seen.has(found, settings.most_bits):
            return Dropped(reason="near-duplicate")
        self._seen.add(found)
        return None


class _Hashes:
    """Hashes that can be added to; 32 bytes each."""

    def __init__(self, rows: Bits | None = None) -> None:
        self._rows = np.zeros((256, 4), np.uint64) if rows is None else rows
        self._count = 0 if rows is None else len(rows)

    @classmethod
    def of(cls, folder: AnyPath) -> _Hashes:
        root = Path(folder)
        if not root.is_dir():
            raise UsageError(f"{folder}: is no folder of pictures")
        paths = sorted(path for path in root.rglob("*") if path.suffix.lower() in ENDINGS)
        found = cls()
        for path in paths:
            try:
                found.add(hash_file(path))
            except (OSError, ValueError, SyntaxError) as problem:
                raise DataError(
                    path,
                    f"it is no readable picture ({problem})",
                    remedy="repair it or take it away",
                ) from None
        return found

    def has(self, one: Bits, most_bits: int) -> bool:
        """Whether one of them is near."""
        known = self._rows[: self._count]
        return bool(len(known)) and bool(near(one[None], known, most_bits=most_bits))

    def add(self, one: Bits) -> None:
        """Remember one more."""
        if self._count == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._rows[self._count] = one
        self._count += 1


class _Image(msgspec.Struct):
    id: int | str = ""
    image_id: int | str = ""
    file_name: str = ""


class _Listed(msgspec.Struct):
    images: list[_Image] = []
    refs: list[_Image] = []


def ids_of(path: AnyPath) -> frozenset[str]:
    """The ids in a file: one per line (or COCO file names), a JSON list of them or of refs, or a
    JSON object with `images` or `refs`; of file names of COCO's, COCO's id."""
    from groundfault.io.refer import is_pickle, read_refs

    if is_pickle(path):
        return frozenset(str(ref.image_id) for ref in read_refs(path))
    with open_file(path) as file:
        head = file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if head == b"{":
        expected = "an object with `images` or `refs`"
        listed = read_json_object(path, _Listed, expected=expected)
        return frozenset(_names([*listed.images, *listed.refs]))
    with open_file(path) as file:
        content = file.read()
    if head == b"[":
        return _from_list(path, content)
    lines = content.decode("utf-8", "replace").splitlines()
    return frozenset(coco_id(line.strip()) or line.strip() for line in lines if line.strip())


def _from_list(path: AnyPath, content: bytes) -> frozenset[str]:
    try:
        plain = decode_json(content, list[int | str])
        return frozenset(coco_id(str(each)) or str(each) for each in plain)
    except msgspec.DecodeError:
        pass
    try:
        return frozenset(_names(decode_json(content, list[_Image])))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise DataError(
            path, f"it holds no ids ({problem})", remedy="give ids, or records with image_id"
        ) from None


def _names(images: Iterable[_Image]) -> Iterable[str]:
    for image in images:
        known = {coco_id(image.file_name), str(image.image_id), str(image.id)} - {""}
        yield from known if image.image_id == "" else {str(image.image_id)}
