"""The pictures that a model is shown with a question about an edit."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundfault.building.checks.check import Seen
from groundfault.building.checks.questions import View
from groundfault.building.distances import grown
from groundfault.building.proposals.showing import COLOUR, MARGIN, encoded_picture
from groundfault.building.records import Candidate
from groundfault.records import Picture

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]
    BinaryMask = NDArray[np.bool_]

__all__ = ["show"]


def show(candidate: Candidate, folder: Path, view: View, side_px: int) -> tuple[Picture, ...]:
    """The pictures of a view. The same candidate always gives the same bytes."""
    seen = Seen(candidate, folder)
    return tuple(_encoded(image, side_px) for image in _images(seen, view))


def _images(seen: Seen, view: View) -> tuple[Image, ...]:
    place = seen.region if seen.new is None else seen.new
    if view == "before":
        return (seen.before,)
    if view == "plain":
        return seen.after, _near(seen.after, place)
    if view == "overlay":
        shaded = _shaded(seen.after, place)
        return shaded, _near(shaded, place)
    if view == "after":
        return _outlined(seen.after, place), _near(seen.after, place)
    both = [_outlined(image, seen.region | place) for image in (seen.before, seen.after)]
    random.Random(f"pair {seen.candidate.seed} {seen.candidate.id}").shuffle(both)
    return tuple(both)


def _outlined(image: Image, place: BinaryMask) -> Image:
    width = max(2, round(max(image.shape) / 340))
    marked = image.copy()
    marked[grown(place, 2 * width) & ~grown(place, width)] = COLOUR
    return marked


def _shaded(image: Image, place: BinaryMask) -> Image:
    marked = image.copy()
    marked[place] = (0.5 * image[place] + 0.5 * np.array(COLOUR)).astype(np.uint8)
    return marked


def _near(image: Image, place: BinaryMask) -> Image:
    """The part of a picture around a place; all of it where the place is empty."""
    if not place.any():
        return image
    slices = []
    for axis in (0, 1):
        where = np.flatnonzero(place.any(axis=1 - axis))
        margin = round(MARGIN * float(np.ptp(where) + 1))
        slices.append(slice(max(0, int(where[0]) - margin), int(where[-1]) + 1 + margin))
    return image[tuple(slices)]


def _encoded(image: Image, side_px: int) -> Picture:
    from PIL import Image as Pictures

    return encoded_picture(Pictures.fromarray(np.ascontiguousarray(image)), side_px)
