"""What is reviewed, by its id: records on the disk with an index in memory, and their pictures."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

import msgspec

from groundfault.building.review import ReviewItem, items_file, read_items
from groundfault.errors import DataError
from groundfault.io.foreign import decode_json, within

__all__ = ["Items", "Known"]


class Known(msgspec.Struct, frozen=True):
    """What is kept in memory of an item."""

    place: int
    """Its line in the file, 0 being the first; pictures are asked for by it."""
    protocol: str
    kind: str
    gold: str | None
    digest: str
    """Of the whole record: decisions are about what was seen."""


class Items(Mapping[str, Known]):
    """The items of a build."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[str, Known] = {}
        self._records: list[bytes] = []
        path = items_file(folder)
        for place, item in enumerate(read_items(folder)):
            self._check(path, place, item)
            record = msgspec.json.encode(item)
            digest = hashlib.blake2b(record, digest_size=8).hexdigest()
            self._known[item.id] = Known(place, item.protocol, item.kind, item.gold, digest)
            self._records.append(record)
        if not self._records:
            raise DataError(path, "nothing awaits review", remedy="build more candidates first")

    def __getitem__(self, item_id: str) -> Known:
        return self._known[item_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    @property
    def protocols(self) -> set[str]:
        """The protocols that they are reviewed by."""
        return {known.protocol for known in self._known.values()}

    def record(self, item_id: str) -> ReviewItem:
        """The whole item."""
        return decode_json(self._records[self._known[item_id].place], ReviewItem)

    def picture(self, place: str, side: str) -> Path | None:
        """The file of a picture; None where there is none such. Links that lead out of the build's
        folder are not followed."""
        if not (place.isascii() and place.isdecimal() and len(place) < 9):
            return None
        if side not in ("before", "after") or int(place) >= len(self._records):
            return None
        item = decode_json(self._records[int(place)], ReviewItem)
        name = item.before if side == "before" else item.after
        try:
            return within(self.folder, name, file=items_file(self.folder), record=item.id)
        except DataError:
            return None

    def _check(self, path: Path, place: int, item: ReviewItem) -> None:
        for name in {item.before, item.after}:
            parts = PurePosixPath(name).parts
            if "\0" in name or not name or name.startswith("/") or ".." in parts:
                problem, remedy = f"{name!r} is no path inside", f"use paths inside {self.folder}"
            elif not (self.folder / name).is_file():
                problem, remedy = f"there is no picture {name}", "build the candidate again"
            else:
                continue
            raise DataError(path, problem, record=f"line {place + 1} ({item.id})", remedy=remedy)
