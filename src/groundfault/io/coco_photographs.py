"""Photographs from COCO-format files of any size: COCO, LVIS, and whatever writes such files.

A file is read twice: first where each image's annotations stand (16 bytes for each of them), then
one image after the other. A million annotations need no more memory than a thousand.
"""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any, TypeVar

import msgspec
import numpy as np

from groundfault.errors import DataError
from groundfault.io.coco import (
    ANNOTATIONS,
    Annotation,
    Id,
    Image,
    annotation_error,
    image_name,
    image_size,
    is_in_unit_square,
    region_of,
)
from groundfault.io.foreign import open_file, refuse_record
from groundfault.io.json_sections import Batch, record_places, stream_sections
from groundfault.io.photographs import Photograph, Thing
from groundfault.records import Region

__all__ = ["CocoFile", "Entry", "coco_id", "photograph_of", "read"]

AnyPath = str | PathLike[str]
T = TypeVar("T")
_COCO_NAME = re.compile(r"(?:^|/|COCO_(?:train|val|test)20\d\d_)(\d{12})(?:\.|_|$)")


class Entry(Image, gc=False):
    """One entry of `images`, with where its picture comes from."""

    license: Id | None = None
    """The id of an entry of `licenses` or, where tools write it so, its name or address itself."""
    flickr_url: str = ""
    url: Any = None
    """Where other tools name their pictures; what is no text is passed over."""

    @property
    def address(self) -> str:
        """Where its picture comes from; "" where the file does not say."""
        other = self.url.strip() if isinstance(self.url, str) else ""
        return self.coco_url or self.flickr_url or other


class _Licence(msgspec.Struct):
    id: Id
    name: str = ""
    url: str = ""

    @property
    def words(self) -> str:
        """Its name and where its text is; tiny copies of COCO have its slashes escaped twice."""
        url = self.url.replace("\\/", "/")
        return f"{self.name} ({url})" if self.name and url else self.name or url


class _Category(msgspec.Struct):
    id: int
    name: str = ""


class _Head(msgspec.Struct, gc=False):
    """What has to be known of an annotation before it is read."""

    image_id: Id
    bbox: list[float] | None = None


class CocoFile:
    """A COCO-format file, open for reading image by image. `with` closes it."""

    def __init__(self, path: AnyPath) -> None:
        self.path = path
        self.images: list[Entry] = []
        self.categories: dict[int, str] = {}
        self.licences: dict[str, str] = {}
        self.normalised = False
        """Boxes are shares of the image (SA-Co)."""
        self._index = _Index()
        self._read_heads()
        self._file = open_file(path)

    def __enter__(self) -> CocoFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def annotated(self, image: Entry) -> list[tuple[Annotation, Region]]:
        """An image's annotations with their regions, in file order; their ids are unique, and those
        without one are given "n" and their number in the file."""
        found = []
        seen: set[str] = set()
        for number, offset, length in self._index.places(str(image.id)):
            annotation = self._annotation(number, offset, length)
            if annotation.id is None:
                annotation.id = f"n{number}"
            if str(annotation.id) in seen:
                raise annotation_error(
                    self.path, number, annotation,
                    "its id occurs twice in its image", "give every annotation its own id",
                )  # fmt: skip
            seen.add(str(annotation.id))
            region = region_of(self.path, number, annotation, image, normalised=self.normalised)
            found.append((annotation, region))
        return found

    def category(self, annotation: Annotation) -> str:
        """The name of an annotation's category."""
        name = self.categories.get(annotation.category_id)
        if name is None:
            raise DataError(
                self.path,
                f"its category_id {annotation.category_id} is not among the categories",
                record=f"annotation {annotation.id} of image {annotation.image_id}",
                remedy="add the category or drop the annotation",
            )
        return name

    def licence(self, image: Entry) -> str:
        """The words for an image's licence; "" where the file has none. A text that is no id of
        the file's licences is the licence itself; a number says nothing then."""
        words = self.licences.get(str(image.license), "")
        if words or not isinstance(image.license, str):
            return words
        said = image.license.strip()
        return "" if said.isdecimal() else said

    def _annotation(self, number: int, offset: int, length: int) -> Annotation:
        content = os.pread(self._file.fileno(), length, offset)
        return _decoded(self.path, Batch("annotations", number, 0, b"[" + content + b"]"), _ALL)[0]

    def _read_heads(self) -> None:
        boxes_are_shares, has_boxes = True, False
        for batch in stream_sections(self.path, expected=ANNOTATIONS):
            if batch.section == "images":
                self.images += _decoded(self.path, batch, _IMAGES)
            elif batch.section == "categories":
                self._add_categories(batch)
            elif batch.section == "licenses":
                found = _decoded(self.path, batch, _LICENCES)
                self.licences |= {str(each.id): each.words for each in found}
            elif batch.section == "annotations":
                heads = _decoded(self.path, batch, _HEADS)
                self._index.add(heads, record_places(batch))
                boxes = [head.bbox for head in heads if head.bbox and len(head.bbox) == 4]
                has_boxes = has_boxes or bool(boxes)
                boxes_are_shares = boxes_are_shares and all(map(is_in_unit_square, boxes))
        self.normalised = has_boxes and boxes_are_shares and any(i.width > 1 for i in self.images)
        self._check_ids()
        self._index.close()

    def _add_categories(self, batch: Batch) -> None:
        for number, each in enumerate(_decoded(self.path, batch, _CATEGORIES), batch.first):
            if each.id in self.categories or not each.name:
                raise DataError(
                    self.path,
                    f"its id {each.id} occurs twice" if each.name else "it has no name",
                    record=f"categories[{number}]",
                    remedy="give every category its own id and a name",
                )
            self.categories[each.id] = each.name

    def _check_ids(self) -> None:
        if not self.images:
            raise DataError(self.path, "it has no images", remedy=f"give {ANNOTATIONS}")
        known: set[str] = set()
        for number, image in enumerate(self.images):
            if str(image.id) in known:
                raise DataError(
                    self.path,
                    f"image id {image.id} occurs twice",
                    record=f"images[{number}]",
                    remedy="give every image its own id",
                )
            known.add(str(image.id))
        stray = self._index.unknown(known)
        if stray is not None:
            raise DataError(
                self.path,
                f"its image_id {stray[1]} is not among the images",
                record=f"annotations[{stray[0]}]",
                remedy="add the image or drop the annotation",
            )


class _Index:
    """Where the annotations of every image stand in their file."""

    def __init__(self) -> None:
        self._images: dict[str, int] = {}
        self._of_image, self._offsets, self._lengths = array("i"), array("q"), array("i")
        self._order: Any = None
        self._starts: Any = None

    def add(self, heads: Sequence[_Head], places: Iterator[tuple[int, int]]) -> None:
        """Take in the annotations of a batch."""
        images = self._images
        for head, (offset, length) in zip(heads, places, strict=True):
            self._of_image.append(images.setdefault(str(head.image_id), len(images)))
            self._offsets.append(offset)
            self._lengths.append(length)

    def close(self) -> None:
        """Sort by image, each image's annotations in file order."""
        of_image = np.asarray(self._of_image)
        self._order = np.argsort(of_image, kind="stable").astype(np.int32)
        self._starts = np.searchsorted(of_image[self._order], np.arange(len(self._images) + 1))

    def unknown(self, known: set[str]) -> tuple[int, str] | None:
        """(number of an annotation, its image) where the image is not known."""
        stray = next((name for name in self._images if name not in known), None)
        return None if stray is None else (self._of_image.index(self._images[stray]), stray)

    def places(self, image_id: str) -> Iterator[tuple[int, int, int]]:
        """(number, offset, length) of an image's annotations."""
        place = self._images.get(image_id)
        if place is None:
            return
        for number in self._order[self._starts[place] : self._starts[place + 1]].tolist():
            yield number, self._offsets[number], self._lengths[number]


_ALL = msgspec.json.Decoder(list[Annotation])
_IMAGES = msgspec.json.Decoder(list[Entry])
_CATEGORIES = msgspec.json.Decoder(list[_Category])
_LICENCES = msgspec.json.Decoder(list[_Licence])
_HEADS = msgspec.json.Decoder(list[_Head])


def _decoded(path: AnyPath, batch: Batch, decoder: msgspec.json.Decoder[list[T]]) -> list[T]:
    try:
        return decoder.decode(batch.content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        refuse_record(path, batch.content, batch.first, problem, list_name=batch.section)


def read(
    path: AnyPath,
    images: AnyPath | None = None,
    *,
    source: str = "",
    split: str = "",
) -> Iterator[Photograph]:
    """The photographs of a COCO-format file, one at a time, in the file's order.

    `images` is the folder of the pictures: with it, names are those that are there (LVIS has two
    kinds). A file whose images list absent categories is LVIS: these become `absent`, what is not
    exhaustively annotated `partial`, and names lose their underscores. `source` is "coco" or
    "lvis" unless given.
    """
    with CocoFile(path) as file:
        federated = any(i.neg_category_ids or i.not_exhaustive_category_ids for i in file.images)
        if federated:
            file.categories = {k: name.replace("_", " ") for k, name in file.categories.items()}
        name = source or ("lvis" if federated else "coco")
        for image in file.images:
            yield photograph_of(file, image, images, name, split)


def photograph_of(
    file: CocoFile, image: Entry, folder: AnyPath | None, source: str, split: str = ""
) -> Photograph:
    """One image of an open file as a photograph."""
    annotated = file.annotated(image)
    height_px, width_px = image_size(file.path, image, [region for _, region in annotated])
    partial = _names(file, image, image.not_exhaustive_category_ids)
    present = {annotation.category_id for annotation, _ in annotated}
    absent = [k for k in image.neg_category_ids if k not in present]
    return Photograph(
        id=str(image.id),
        source=source,
        file=image_name(image, folder),
        height_px=height_px,
        width_px=width_px,
        things=tuple(_things(file, annotated)),
        absent=_names(file, image, absent),
        exhaustive=not partial and bool(image.is_instance_exhaustive),
        partial=partial,
        split=split,
        licence=file.licence(image),
        url=image.address,
        coco_id=coco_id(image.file_name) or coco_id(image.coco_url),
    )


def coco_id(name: str) -> str:
    """The id that COCO gives the picture of this name; "" where the name is none of COCO's.

    >>> coco_id("COCO_train2014_000000581857.jpg"), coco_id("val2017/000000000139.jpg")
    ('581857', '139')
    >>> coco_id("holiday_12.jpg")
    ''
    """
    found = _COCO_NAME.search(name)
    return str(int(found[1])) if found else ""


def _things(file: CocoFile, annotated: Sequence[tuple[Annotation, Region]]) -> Iterator[Thing]:
    """The annotated things of one image."""
    for annotation, region in annotated:
        yield Thing(
            id=str(annotation.id),
            category=file.category(annotation),
            mask=region.mask,
            box_xywh=region.box_xywh,
            crowd=region.crowd,
        )


def _names(file: CocoFile, image: Entry, categories: Sequence[int]) -> tuple[str, ...]:
    for category in categories:
        if category not in file.categories:
            raise DataError(
                file.path,
                f"it names the category {category}, which is not among the categories",
                record=f"image {image.id}",
                remedy="add the category or drop it from the list",
            )
    return tuple(dict.fromkeys(file.categories[category] for category in categories))
