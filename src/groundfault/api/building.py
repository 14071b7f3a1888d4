"""Make benchmarks from other data sets."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from groundfault.build.pairs import PairSettings, make_pairs
from groundfault.errors import UnknownName, UsageError
from groundfault.io.convert import write_any
from groundfault.io.store import check_vacant
from groundfault.records import Benchmark

__all__ = ["build_pairs"]

AnyPath = str | PathLike[str]


def build_pairs(
    annotations: AnyPath,
    out: AnyPath | Sequence[AnyPath] = (),
    *,
    images: AnyPath | None = None,
    **settings: Any,
) -> Benchmark:
    """Make pairs of a true and a false phrase from COCO or LVIS by absent categories.

    `out` is a folder of ours, which gets a copy of the pictures in `images`, or a file NAME.json in
    CAFE's format, or several of them. `settings` are those of `PairSettings`: n, per_image,
    negatives ("random", "popular", "adversarial"), several, seed.
    """
    for name in settings:
        if name not in PairSettings.__struct_fields__:
            raise UnknownName("option", name, PairSettings.__struct_fields__)
    places = [Path(out)] if isinstance(out, (str, PathLike)) else [Path(each) for each in out]
    for place in places:
        if _is_folder(place):
            check_vacant(place)
        elif place.is_dir():
            raise UsageError(f"{place}: is a folder; name a file, or a folder without .json")
    made = make_pairs(annotations, images, PairSettings(**settings))
    for place in sorted(places, key=_is_folder, reverse=True):  # copying pictures may fail
        if _is_folder(place):
            write_any(made, "folder", place, images_from=images)
        else:
            write_any(made, "cafe", place)
    return made


def _is_folder(place: Path) -> bool:
    return place.suffix.lower() != ".json"
