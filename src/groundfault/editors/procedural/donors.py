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
    from groundfault.records import Rle

__all__ = ["Donor", "Donors", "ListedDonors", "is_clear", "read_list"]

COARSE_PX = 4
"""Whether things touch is judged on every fourth pixel."""
MOST_TOUCHED = 0.15
"""The share of a donor's surroundings that other things may have: more of them hide some of it, or
have been drawn as part of it."""
CARRIERS = ("dining table", "bed", "couch")
"""Categories that others stand on, which hide nothing of them."""


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
                if thing.mask is None or thing.crowd or not thing.category:
                    continue
                if is_clear(photograph, thing):
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


def is_clear(photograph: Photograph, thing: Thing) -> bool:
    """Whether a thing with a mask stands free of the others that are annotated."""
    assert thing.mask is not None
    near = [
        other.mask
        for other in photograph.things
        if other.id != thing.id
        and other.mask is not None
        and other.category not in CARRIERS
        and _meet(thing, other)
    ]
    if not near:
        return True
    own = _coarse(thing.mask)
    ring = _widened(own) & ~own
    taken = np.logical_or.reduce([_coarse(mask) for mask in near])
    return bool((taken & ring).sum() <= MOST_TOUCHED * ring.sum())


def _meet(one: Thing, other: Thing) -> bool:
    """Whether two boxes overlap or nearly do; True where there are none."""
    if one.box_xywh is None or other.box_xywh is None:
        return True
    return all(
        one.box_xywh[side] - 8 < other.box_xywh[side] + other.box_xywh[side + 2]
        and other.box_xywh[side] - 8 < one.box_xywh[side] + one.box_xywh[side + 2]
        for side in (0, 1)
    )


def _coarse(mask: Rle) -> BinaryMask:
    return np.asarray(decode(mask)[::COARSE_PX, ::COARSE_PX], bool)


def _widened(mask: BinaryMask) -> BinaryMask:
    """A mask with the pixels within two steps of it."""
    for _ in range(2):
        wide = np.pad(mask, 1)
        mask = (
            wide[1:-1, 1:-1] | wide[2:, 1:-1] | wide[:-2, 1:-1] | wide[1:-1, 2:] | wide[1:-1, :-2]
        )
    return mask


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
