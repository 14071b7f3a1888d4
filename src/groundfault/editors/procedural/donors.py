"""Things of other photographs that may be put into one: who has them, and which suits best.

A collection of donors is whatever has `of(category)`; `ListedDonors` is one from photographs as
sources give them. Pictures are opened when a donor is looked at more closely, not before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec
import numpy as np

from groundfault.errors import DataError
from groundfault.io.foreign import decode_json, within
from groundfault.io.masks import decode
from groundfault.io.photographs import Photograph, Thing
from groundfault.io.pictures import read_image

if TYPE_CHECKING:
    from groundfault.interfaces import BinaryMask, Image

__all__ = ["Donor", "Donors", "ListedDonors", "read_list"]


class Donor(NamedTuple):
    """A thing in a photograph that may be taken out of it."""

    category: str
    name: str
    """The photograph's and the thing's own names, for the record."""
    licence: str
    mask: Callable[[], BinaryMask]
    image: Callable[[], Image]


class Donors(Protocol):
    """A collection of donors."""

    def of(self, category: str) -> Sequence[Donor]:
        """Donors of a category, always in the same order; of all where it is ""."""
        ...


class ListedDonors:
    """The things of some photographs, whose files are below some folders."""

    def __init__(
        self, photographs: Iterable[Photograph], folders: Sequence[str | PathLike[str]]
    ) -> None:
        self.folders = [Path(folder) for folder in folders]
        self.found: dict[str, list[Donor]] = {}
        for photograph in photographs:
            for thing in photograph.things:
                if thing.mask is not None and thing.category and not thing.crowd:
                    donor = self._donor(photograph, thing)
                    self.found.setdefault(thing.category, []).append(donor)

    def of(self, category: str) -> Sequence[Donor]:
        """Donors of a category, in the photographs' order; of all where it is ""."""
        if category:
            return self.found.get(category, [])
        return [donor for some in self.found.values() for donor in some]

    def _donor(self, photograph: Photograph, thing: Thing) -> Donor:
        def mask() -> BinaryMask:
            assert thing.mask is not None
            return np.asarray(decode(thing.mask), bool)

        return Donor(
            thing.category,
            f"{photograph.source} {photograph.id} {thing.id}",
            photograph.licence,
            mask,
            lambda: self._picture(photograph),
        )

    def _picture(self, photograph: Photograph) -> Image:
        record = f"photograph {photograph.id}"
        for folder in self.folders:
            path = within(folder, photograph.file, file=folder, record=record)
            if path.exists():
                size = (photograph.height_px, photograph.width_px)
                return read_image(path, size_px=size)
        raise DataError(
            photograph.file, "the donor's picture is missing", record=record, remedy="give --images"
        )


def read_list(path: str | PathLike[str], folders: Sequence[str | PathLike[str]]) -> ListedDonors:
    """Donors from a list of photographs, one JSON record per line."""
    found = []
    for number, line in enumerate(Path(path).read_bytes().splitlines(), 1):
        try:
            found.append(decode_json(line, Photograph))
        except msgspec.MsgspecError as problem:
            raise DataError(
                path, f"{problem}", record=f"line {number}", remedy="let the build write it anew"
            ) from None
    return ListedDonors(found, folders)
