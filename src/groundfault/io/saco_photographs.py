"""Photographs from SA-Co/Gold (Carion et al., "SAM 3: Segment Anything with Concepts"): one file
per annotator, in each of them (image, phrase) pairs.

All pairs of a picture make one photograph. A phrase with masks gives things of that name; a phrase
without, by every annotator, is `absent`. Boxes are shares of the picture in the files, pixels here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from os import PathLike

from groundfault.errors import DataError, UsageError
from groundfault.io.coco import image_size
from groundfault.io.coco_files import are_parts
from groundfault.io.coco_photographs import CocoFile, Entry
from groundfault.io.masks import RLEMask, iou_matrix
from groundfault.io.photographs import Photograph, Thing
from groundfault.records import Region, Rle

__all__ = ["SAME_IOU", "read"]

AnyPath = str | PathLike[str]
SAME_IOU = 0.5
"""From this overlap on, masks of two annotators are of one thing."""


def read(paths: Sequence[AnyPath], *, source: str = "saco") -> Iterator[Photograph]:
    """The photographs of SA-Co files, one at a time, in the order of their first pair.

    Several files are annotators of the same pairs, the first being the one whose masks things have;
    the others' are `alternatives`, where they overlap by at least `SAME_IOU`. Files that share no
    pair are parts of one set.
    """
    if not paths:
        raise UsageError("SA-Co: give at least one annotation file")
    if len(paths) > 1 and are_parts(paths):
        return (found for path in paths for found in _read([path], source))
    return _read(paths, source)


def _read(paths: Sequence[AnyPath], source: str) -> Iterator[Photograph]:
    with ExitStack() as stack:
        files = [stack.enter_context(CocoFile(path)) for path in paths]
        others = [{str(image.id): image for image in file.images} for file in files[1:]]
        for pairs in _by_picture(files[0]).values():
            yield _photograph(files, others, pairs, source)


def _by_picture(file: CocoFile) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for number, image in enumerate(file.images):
        if not image.text_input.strip():
            raise DataError(
                file.path,
                "its text_input is missing or empty, so nobody knows what was looked for",
                record=f"images[{number}] (id {image.id})",
                remedy="give SA-Co annotations; a file by categories is read as coco",
            )
        found.setdefault(image.file_name, []).append(image)
    return found


def _photograph(
    files: Sequence[CocoFile],
    others: Sequence[dict[str, Entry]],
    pairs: Sequence[Entry],
    source: str,
) -> Photograph:
    things: list[Thing] = []
    absent, partial, regions = [], [], []
    for pair in pairs:
        annotators = [_regions(files[0], pair)]
        for file, known in zip(files[1:], others, strict=True):
            same = known.get(str(pair.id))
            annotators.append([] if same is None else _regions(file, same))
        if not any(annotators):
            absent.append(pair.text_input)
        if not pair.is_instance_exhaustive:
            partial.append(pair.text_input)
        regions += [region for _, region in annotators[0]]
        things += _things(pair, annotators)
    first = pairs[0]
    height_px, width_px = image_size(files[0].path, first, regions)
    return Photograph(
        id=str(first.id),
        source=source,
        file=first.file_name,
        height_px=height_px,
        width_px=width_px,
        things=tuple(things),
        absent=tuple(dict.fromkeys(absent)),
        exhaustive=not partial,
        partial=tuple(dict.fromkeys(partial)),
        licence=files[0].licence(first),
        url=first.address,
    )


def _regions(file: CocoFile, pair: Entry) -> list[tuple[str, Region]]:
    """(id, region) of each mask of a pair."""
    return [(str(annotation.id), region) for annotation, region in file.annotated(pair)]


def _things(pair: Entry, annotators: Sequence[Sequence[tuple[str, Region]]]) -> Iterator[Thing]:
    own = [region.mask for _, region in annotators[0]]
    further = [
        _matched(own, [region.mask for _, region in found]) for found in annotators[1:] if found
    ]
    for number, (name, region) in enumerate(annotators[0]):
        yield Thing(
            id=f"{pair.id}:{name}",
            category=pair.text_input,
            mask=region.mask,
            box_xywh=region.box_xywh,
            crowd=region.crowd,
            alternatives=tuple(mask for each in further if (mask := each[number]) is not None),
        )


def _matched(masks: Sequence[Rle | None], others: Sequence[Rle | None]) -> list[Rle | None]:
    """The mask of another annotator for each mask, None where none overlaps it enough."""
    known = [mask for mask in others if mask is not None]
    if not known:
        return [None] * len(masks)
    coded = [RLEMask.from_dict({**mask}) for mask in known]
    found: list[Rle | None] = []
    for mask in masks:
        if mask is None or mask["size"] != known[0]["size"]:
            found.append(None)
            continue
        overlaps = iou_matrix([RLEMask.from_dict({**mask})], coded)[0]
        best = int(overlaps.argmax())
        found.append(known[best] if overlaps[best] >= SAME_IOU else None)
    return found
