"""Things and places that may be put into other photographs: a list of what a source has.

    DIR/stages/donors.jsonl   photographs with the things that can be taken out of them

It is written while photographs pass by on their way to mining. Of each category a bounded number
is kept, chosen by the photographs' own names, so that it stays small whatever the source's size.
"""

from __future__ import annotations

import bisect
import contextlib
import hashlib
from collections.abc import Iterable, Iterator
from os import PathLike

import msgspec

from groundfault.editors.procedural.donors import is_clear
from groundfault.io.masks import decode
from groundfault.io.photographs import Photograph, Thing
from groundfault.io.store import atomic_file

__all__ = ["write_donors"]

MOST = 60
"""Things of a category that are kept."""
SMALLEST, LARGEST = 0.002, 0.6
"""Shares of a photograph that a thing must have."""


@contextlib.contextmanager
def write_donors(
    path: str | PathLike[str], photographs: Iterable[Photograph]
) -> Iterator[Iterator[Photograph]]:
    """The same photographs; once they have passed, the list of donors is written."""
    kept: dict[str, list[tuple[str, Photograph]]] = {}

    def passing() -> Iterator[Photograph]:
        for photograph in photographs:
            for thing in photograph.things:
                if _is_donor(thing, photograph):
                    _offer(kept.setdefault(thing.category, []), photograph, thing)
            yield photograph

    yield passing()
    with atomic_file(path) as temporary, temporary.open("wb") as file:
        for category in sorted(kept):
            for _, donor in kept[category]:
                file.write(msgspec.json.encode(donor) + b"\n")


def _is_donor(thing: Thing, photograph: Photograph) -> bool:
    """Whether a thing is whole enough to be taken out."""
    if thing.mask is None or thing.crowd or not thing.category:
        return False
    height, width = photograph.height_px, photograph.width_px
    if thing.box_xywh is not None:
        left, top, wide, high = thing.box_xywh
        share = wide * high / (height * width)
        inside = left > 1 and top > 1 and left + wide < width - 1 and top + high < height - 1
        return inside and share > SMALLEST
    share = float(decode(thing.mask).mean())
    return SMALLEST < share < LARGEST


def _offer(kept: list[tuple[str, Photograph]], photograph: Photograph, thing: Thing) -> None:
    """Keep the donors whose hashes come first, of those that no other thing hides: the same ones in
    whatever order they pass."""
    name = f"{photograph.source} {photograph.id} {thing.id}"
    digest = hashlib.sha256(name.encode()).hexdigest()
    if len(kept) == MOST and digest >= kept[-1][0]:
        return
    if is_clear(photograph, thing):
        alone = msgspec.structs.replace(photograph, things=(thing,), relations=())
        bisect.insort(kept, (digest, alone), key=lambda pair: pair[0])
        del kept[MOST:]
