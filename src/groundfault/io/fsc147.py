"""FSC147 (Ranjan et al., "Learning To Count Everything"): photographs whose things of one kind are
counted, with a point on each and boxes around a few.

annotation_FSC147_384.json has the points by picture, ImageClasses_FSC147.txt what is counted,
Train_Test_Val_FSC_147.json the splits. The published pictures are shrunk to a height of 384 pixels;
their annotations also say the original size, and by what it was multiplied.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path

import msgspec

from groundfault.errors import DataError, UsageError
from groundfault.io.foreign import open_file, read_json_object, within
from groundfault.io.masks import MAX_PIXELS
from groundfault.io.photographs import Photograph, Thing
from groundfault.io.pictures import picture_size

__all__ = ["ANNOTATIONS", "CLASSES", "SPLITS", "read"]

AnyPath = str | PathLike[str]
ANNOTATIONS = "annotation_FSC147_384.json"
CLASSES = "ImageClasses_FSC147.txt"
SPLITS = "Train_Test_Val_FSC_147.json"
MAX_RATIO = 8.0
"""Pictures were shrunk; none was made this much larger."""
_Point = tuple[float, float]


class _Annotation(msgspec.Struct):
    H: int
    W: int
    points: list[_Point]
    box_examples_coordinates: list[list[_Point]] = []
    ratio_h: float = 1.0
    ratio_w: float = 1.0


def read(
    folder: AnyPath, images: AnyPath | None = None, *, split: str | None = None
) -> Iterator[Photograph]:
    """The photographs of FSC147, in the file's order: `counts` has how many there are of what is
    counted, `things` the boxes that are given as examples.

    Sizes are those of the pictures in `images`; without it, those of the published, shrunk ones,
    unless annotations lie outside of them. `split` keeps "train", "val" or "test".
    """
    root = Path(folder)
    if not root.is_dir():
        raise UsageError(f"{folder}: is no folder; give the one that has {ANNOTATIONS}")
    path = root / ANNOTATIONS
    expected = f"{ANNOTATIONS}: {{picture: {{H, W, points, box_examples_coordinates, …}}}}"
    annotations = read_json_object(path, dict[str, _Annotation], expected=expected)
    classes, splits = _classes(root / CLASSES), _splits(root / SPLITS)
    if split is not None and split not in splits.values():
        known = ", ".join(sorted(set(splits.values())))
        raise UsageError(f"{folder}: no picture is of the split '{split}'. Known: {known}.")
    return (
        _photograph(path, name, annotation, classes, splits.get(name, ""), images)
        for name, annotation in annotations.items()
        if split is None or splits.get(name) == split
    )


def _classes(path: Path) -> dict[str, str]:
    """What is counted in each picture."""
    with open_file(path) as file:
        lines = file.read().decode("utf-8", "replace").splitlines()
    found = {}
    for number, line in enumerate(lines, start=1):
        name, _, words = line.partition("\t")
        if line.strip() and not words.strip():
            raise DataError(
                path,
                "it names no class",
                record=f"line {number}",
                remedy="give picture, tab, class",
            )
        found[name.strip()] = words.strip()
    return found


def _splits(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    listed = read_json_object(path, dict[str, list[str]], expected="{split: [picture, …]}")
    return {name: split for split, names in listed.items() for name in names}


def _photograph(
    path: Path,
    name: str,
    annotation: _Annotation,
    classes: Mapping[str, str],
    split: str,
    images: AnyPath | None,
) -> Photograph:
    counted = classes.get(name)
    if not counted:
        raise DataError(
            path, f"{CLASSES} does not say what is counted", record=name, remedy="add its class"
        )
    _check(path, name, annotation)
    height_px, width_px = _size(path, name, annotation, images)
    boxes = [_box(corners) for corners in annotation.box_examples_coordinates if corners]
    return Photograph(
        id=name,
        source="fsc147",
        file=name,
        height_px=height_px,
        width_px=width_px,
        things=tuple(
            Thing(id=f"example-{number}", category=counted, box_xywh=box)
            for number, box in enumerate(boxes, start=1)
        ),
        exhaustive=False,
        counts={counted: len(annotation.points)},
        split=split,
    )


def _check(path: Path, name: str, annotation: _Annotation) -> None:
    numbers = [value for point in _points(annotation) for value in point]
    sized = annotation.H > 0 and 0 < annotation.W * annotation.H <= MAX_PIXELS
    ratios = (annotation.ratio_h, annotation.ratio_w)
    scaled = all(0 < ratio <= MAX_RATIO for ratio in ratios)
    if not (sized and scaled and all(map(math.isfinite, numbers))):
        raise DataError(
            path, "its size or its points are no sound numbers", record=name, remedy="correct it"
        )


def _points(annotation: _Annotation) -> list[_Point]:
    corners = (corner for box in annotation.box_examples_coordinates for corner in box)
    return [*annotation.points, *corners]


def _size(
    path: Path, name: str, annotation: _Annotation, images: AnyPath | None
) -> tuple[int, int]:
    """(height, width) of the picture, or what it must be by its annotations."""
    if images is not None:
        place = within(images, name, file=path, record=name)
        if place.is_file():
            try:
                return picture_size(place)
            except (OSError, ValueError, SyntaxError) as problem:
                raise DataError(
                    place, f"it is no readable picture ({problem})", remedy="download it again"
                ) from None
    shrunk = round(annotation.H * annotation.ratio_h), round(annotation.W * annotation.ratio_w)
    fits = all(x <= shrunk[1] + 1 and y <= shrunk[0] + 1 for x, y in _points(annotation))
    return shrunk if fits else (annotation.H, annotation.W)


def _box(corners: Sequence[_Point]) -> tuple[float, float, float, float]:
    """x, y, width, height of a box given by its corners, wherever they begin.

    >>> _box([(5, 9), (5, 2), (8, 2), (8, 9)])
    (5, 2, 3, 7)
    """
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)
