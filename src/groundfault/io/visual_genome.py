"""Visual Genome (Krishna et al., "Visual Genome: Connecting Language and Vision Using Crowdsourced
Dense Image Annotations"): things by their boxes, what they are like, and how they are related.

objects.json, attributes.json and relationships.json are lists of one record per image. They are
read beside each other, so that only images that not all of them have reached yet are in memory:
2.3 million relationships take no more of it than a thousand, if the files have one order.
Things have `name` where they are subjects and `names` elsewhere; both are read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Literal

import msgspec

from groundfault.errors import DataError, UsageError
from groundfault.io.coco import Id, Image, image_name
from groundfault.io.foreign import stream_json_list
from groundfault.io.masks import MAX_PIXELS
from groundfault.io.photographs import Photograph, Relation, Thing

__all__ = ["FILES", "read"]

AnyPath = str | PathLike[str]
FILES = ("objects.json", "attributes.json", "relationships.json")
IMAGES = "image_data.json"
MAX_NAME = 200
"""Characters of a name; longer ones are cut."""


class _Object(msgspec.Struct, gc=False):
    object_id: int
    x: float = 0.0
    y: float = 0.0
    w: float = 0.0
    h: float = 0.0
    names: list[str] = []
    name: str = ""
    synsets: list[str] = []
    merged_object_ids: list[int] = []
    attributes: list[str] | None = None


class _Relationship(msgspec.Struct, gc=False):
    predicate: str
    subject: _Object
    object: _Object


class _Record(msgspec.Struct, gc=False):
    """What one of the files says of one image."""

    image_id: int = 0
    id: int = 0
    objects: list[_Object] = []
    attributes: list[_Object] = []
    relationships: list[_Relationship] = []


class _ImageData(msgspec.Struct, gc=False):
    image_id: int
    width: int
    height: int
    url: str = ""
    coco_id: Id | None = None


def read(
    folder: AnyPath,
    images: AnyPath | None = None,
    *,
    names: Literal["name", "synset"] = "name",
    partial: bool = False,
) -> Iterator[Photograph]:
    """The photographs of Visual Genome's folder, one at a time, in the order of its files.

    `partial` reads a folder without some of objects.json, attributes.json and relationships.json;
    image_data.json is needed always. A thing's category is the first of its names or, by "synset",
    the lemma of its synset where it has one ("trees" and "tree" are then one). Objects that were
    merged are one thing.
    """
    root = Path(folder)
    if not root.is_dir():
        raise UsageError(f"{folder}: is no folder; give the one that has {', '.join(FILES)}")
    paths = [root / name for name in FILES if (root / name).is_file()]
    if not paths:
        raise UsageError(f"{folder}: has none of {', '.join(FILES)}")
    missing = [name for name in FILES if root / name not in paths]
    if missing and not partial:
        raise UsageError(
            f"{folder}: has no {', '.join(missing)}; get it, or read what is there with "
            "partial = true"
        )
    return _photographs(root / IMAGES, paths, images, names)


def _photographs(
    data: Path, paths: Sequence[Path], images: AnyPath | None, names: str
) -> Iterator[Photograph]:
    known: dict[int, _ImageData] = {}
    for _, batch in stream_json_list(data, _ImageData, expected="a list of images with sizes"):
        known |= {image.image_id: image for image in batch}
    for image_id, records in _together(paths):
        image = known.get(image_id)
        if image is None or not _is_sound(image):
            raise DataError(
                data,
                f"it {'has no sound size for' if image else 'does not have'} image {image_id}",
                remedy="give the image_data.json that belongs to the other files",
            )
        yield _photograph(image, records, images, names)


def _is_sound(image: _ImageData) -> bool:
    return min(image.height, image.width) > 0 and image.height * image.width <= MAX_PIXELS


def _together(paths: Sequence[Path]) -> Iterator[tuple[int, list[_Record]]]:
    """(image, what each file says of it) as soon as all files have said it; the rest at the end."""
    streams = [_records(path) for path in paths]
    reached = [0] * len(streams)
    waiting: dict[int, list[_Record]] = {}
    while streams:
        behind = reached.index(min(reached))
        found = next(streams[behind], None)
        if found is None:
            del streams[behind], reached[behind]
            continue
        reached[behind] += 1
        image_id = found.image_id or found.id
        together = waiting.setdefault(image_id, [])
        together.append(found)
        if len(together) == len(paths):
            yield image_id, waiting.pop(image_id)
    yield from waiting.items()


def _records(path: Path) -> Iterator[_Record]:
    expected = "a JSON list of Visual Genome's records: [{image_id, …}, …]"
    for _, batch in stream_json_list(path, _Record, expected=expected):
        yield from batch


def _photograph(
    image: _ImageData, records: Sequence[_Record], images: AnyPath | None, names: str
) -> Photograph:
    objects = _Objects()
    for record in records:
        for each in record.objects:
            objects.add(each)
    for record in records:
        for each in record.attributes:
            objects.add(each)
        for relation in record.relationships:
            objects.add(relation.subject)
            objects.add(relation.object)
    relations = (
        Relation(objects.id_of(each.subject), _clean(each.predicate), objects.id_of(each.object))
        for record in records
        for each in record.relationships
    )
    name = Image(id=image.image_id, file_name=f"{image.image_id}.jpg", coco_url=image.url)
    return Photograph(
        id=str(image.image_id),
        source="visual-genome",
        file=image_name(name, images),
        height_px=image.height,
        width_px=image.width,
        things=tuple(objects.things(image, names)),
        relations=tuple(dict.fromkeys(relations)),
        exhaustive=False,
        url=image.url,
        coco_id="" if image.coco_id is None else str(image.coco_id),
    )


class _Objects:
    """The things of one image, each once, whichever files name them."""

    def __init__(self) -> None:
        self._found: dict[int, _Object] = {}
        self._attributes: dict[int, dict[str, None]] = {}
        self._merged: dict[int, int] = {}

    def add(self, found: _Object) -> None:
        """Take in an object, or what else is said of one that is known."""
        own = self._merged.get(found.object_id, found.object_id)
        self._found.setdefault(own, found)
        for merged in found.merged_object_ids:
            if merged not in self._found:
                self._merged.setdefault(merged, own)
        if found.attributes:
            attributes = self._attributes.setdefault(own, {})
            attributes |= dict.fromkeys(filter(None, map(_clean, found.attributes)))

    def id_of(self, found: _Object) -> str:
        """The id of the thing that an object is."""
        return str(self._merged.get(found.object_id, found.object_id))

    def things(self, image: _ImageData, names: str) -> Iterator[Thing]:
        """All of them, in the order in which they were named first."""
        for own, found in self._found.items():
            yield Thing(
                id=str(own),
                category=_category(found, names),
                box_xywh=_box(found, image),
                attributes=tuple(self._attributes.get(own, ())),
            )


def _category(found: _Object, names: str) -> str:
    """
    >>> _category(_Object(1, names=["Trees "], synsets=["tree.n.01"]), "name")
    'trees'
    >>> _category(_Object(1, name="trees", synsets=["tree.n.01"]), "synset")
    'tree'
    """
    if names == "synset" and found.synsets:
        return _clean(found.synsets[0].partition(".")[0].replace("_", " "))
    return _clean(found.names[0] if found.names else found.name)


def _clean(words: str) -> str:
    """Lower case, single blanks, no full stop at the end."""
    return " ".join(words[:MAX_NAME].casefold().split()).rstrip(" .")


def _box(found: _Object, image: _ImageData) -> tuple[float, float, float, float] | None:
    """The box within its image; None where there is none."""
    if not all(map(math.isfinite, (found.x, found.y, found.w, found.h))):
        return None
    left, top = max(0.0, found.x), max(0.0, found.y)
    right = min(float(image.width), found.x + found.w)
    bottom = min(float(image.height), found.y + found.h)
    return (left, top, right - left, bottom - top) if right > left and bottom > top else None
