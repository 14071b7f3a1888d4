"""The COCO family of JSON, as CAFE, SA-Co, COCO, LVIS and referring sets write it.

One typed reader for annotations and one for results. Everything a record may get wrong is
checked here, once, so that what comes out can be trusted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict

import msgspec

from groundfault.errors import DataError
from groundfault.io.foreign import read_json_object, stream_json_list
from groundfault.io.masks import CONTINUES, MAX_PIXELS, parse_mask, to_rle
from groundfault.records import Outcome, Prediction, Region, Rle

__all__ = [
    "ANNOTATIONS",
    "EDIT_TYPES",
    "NEGATIVE_OFFSET",
    "Annotation",
    "AnnotationFile",
    "FileRecord",
    "Id",
    "Image",
    "Ref",
    "Result",
    "annotation_error",
    "annotator_regions",
    "file_records",
    "image_name",
    "image_size",
    "index_images",
    "is_compressed",
    "is_in_unit_square",
    "read_annotations",
    "read_coco_results",
    "read_phrases",
    "region_of",
    "regions_by_image",
]

AnyPath = str | PathLike[str]
Id = int | str

EDIT_TYPES = {
    "Superficial Mimicry": "SM",
    "Context Conflict": "CC",
    "Ontological Conflict": "OC",
}
"""What `edit_type` may say, and what it is called here."""
NEGATIVE_OFFSET = 1_000_000_000
"""By how much the id of a misleading negative may exceed its positive's."""

ANNOTATIONS = "a COCO-like JSON object with images, annotations and categories"
RESULTS = "a JSON list of COCO results: [{image_id, category_id, segmentation, score}, …]"


class LooseRle(TypedDict):
    """A mask as files hold it: run lengths coded or plain."""

    size: tuple[int, int]
    counts: str | list[int]


Segmentation = LooseRle | list[list[float]] | None


class Image(msgspec.Struct, gc=False):
    """One entry of `images`: in CAFE and SA-Co an (image, phrase) pair."""

    id: Id
    """Unique in the file; predictions name it."""
    file_name: str = ""
    """Below the folder of the pictures."""
    height: int = 0
    """Pixels."""
    width: int = 0
    """Pixels."""
    text_input: str = ""
    """CAFE, SA-Co, FP-RefCOCO: the phrase that is asked."""
    edit_type: str | None = None
    """CAFE: the kind of edit."""
    fp_source_id: Id | None = None
    """Of a misleading phrase: the id of its positive."""
    gt_sent: str | None = None
    """FP-RefCOCO, of a false premise: what is there instead."""
    is_instance_exhaustive: int | bool = 1
    """0 where not every instance is annotated: instance metrics leave it out."""
    coco_url: str = ""
    """Where LVIS names its pictures."""
    neg_category_ids: tuple[int, ...] = ()
    """LVIS: categories that were verified to be absent."""
    not_exhaustive_category_ids: tuple[int, ...] = ()
    """LVIS: categories of which not every instance is annotated."""


class Annotation(msgspec.Struct, gc=False):
    """One entry of `annotations`."""

    image_id: Id
    """The entry of `images`."""
    id: Id | None = None
    """Unique in the file."""
    segmentation: Segmentation = None
    """Compressed run lengths, plain ones, or polygons."""
    bbox: list[float] | None = None
    """x, y, width, height: pixels, or 0–1 if every box of the file lies in the unit square."""
    iscrowd: int | bool = 0
    """1 where it stands for several things."""
    category_id: int = 0
    """The entry of `categories`."""


class Category(msgspec.Struct):
    id: int
    """Unique in the file."""
    name: str = ""
    """Asked as a phrase; of LVIS with spaces for underscores."""


class Sentence(msgspec.Struct):
    """One wording of a referring expression, with FP-RefCOCO's two ways to mark a false one."""

    sent: str
    """The words."""
    sent_id: Id | None = None
    """The query's id, if every sentence has one of its own."""
    is_false_premise: bool | None = None
    """true where what it speaks of is not there."""
    exist: bool | None = None
    """The same the other way round: false where it is not there."""
    gt_sent: str | None = None
    """Of a false one: what is there instead."""


class Ref(msgspec.Struct):
    """One entry of a REFER-style `refs` list."""

    ref_id: Id
    """Unique in the file; it is the case."""
    image_id: Id
    """The entry of `images`."""
    sentences: list[Sentence]
    """Its wordings, one query each."""
    ann_id: Id | list[Id] = -1
    """The annotation that it points to, several, or −1 for none."""
    split: str = ""
    """train, val, testA, testB, test."""


class AnnotationFile(msgspec.Struct):
    images: list[Image] = []
    annotations: list[Annotation] = []
    categories: list[Category] = []
    refs: list[Ref] = []


class Result(msgspec.Struct, gc=False):
    """One entry of a results file. `outcome` and `reason` are ours: a dump may say that an item
    failed, was unreadable, or that the model abstained."""

    image_id: Id
    """The id of the image–phrase pair; text that spells the same number is the same id."""
    score: float | None = None
    """Accepted where score ≥ t."""
    segmentation: Segmentation = None
    """Compressed run lengths, plain ones, or polygons."""
    bbox: list[float] | None = None
    """x, y, width, height in pixels; it wins over the mask's own box for `--iou bbox`."""
    category_id: int | None = None
    """Of detectors' results on COCO and LVIS."""
    outcome: Outcome | None = None
    """Ours: ok, abstained, unparsed or failed. A record without a mask may have only this."""
    reason: str = ""
    """Ours: why it failed or could not be read."""
    text: str = ""
    """Ours: what the model said; FP-RefCOCO's Say reads it."""


def read_annotations(path: AnyPath) -> AnnotationFile:
    """Decode an annotation file and check its ids."""
    data = read_json_object(path, AnnotationFile, expected=ANNOTATIONS)
    if not data.images:
        raise DataError(path, "it has no images", remedy=f"give {ANNOTATIONS}")
    seen: set[str] = set()
    for number, annotation in enumerate(data.annotations):
        if annotation.id is None:
            continue
        if str(annotation.id) in seen:
            raise DataError(
                path,
                f"annotation id {annotation.id} occurs twice",
                record=f"annotations[{number}]",
                remedy="give every annotation its own id",
            )
        seen.add(str(annotation.id))
    return data


def read_phrases(path: AnyPath) -> AnnotationFile:
    """The same for a file whose images are (image, phrase) pairs: each has its phrase."""
    data = read_annotations(path)
    silent = [n for n, image in enumerate(data.images) if not image.text_input.strip()]
    if not silent:
        return data
    if len(silent) == len(data.images) and _is_by_category(data):
        is_lvis = any(image.neg_category_ids for image in data.images)
        raise DataError(
            path,
            f"this is a plain {'LVIS' if is_lvis else 'COCO'} file: its objects have categories, "
            "and no image has a phrase (text_input)",
            record=_image_record(data, silent[0]),
            remedy="make pairs of present and absent categories with `groundfault build pairs`, "
            "or a query per category with `groundfault convert FILE --to folder`",
        )
    more = f" (and {len(silent) - 1} more)" if len(silent) > 1 else ""
    raise DataError(
        path,
        f"its text_input is missing or empty{more}, so there is nothing to ask",
        record=_image_record(data, silent[0]),
        remedy="give it its phrase, or drop the entry with its annotations",
    )


def _is_by_category(data: AnnotationFile) -> bool:
    """Whether objects have named categories, and nothing says that images come in pairs."""
    named = {category.id for category in data.categories if category.name}
    paired = any(i.edit_type is not None or i.fp_source_id is not None for i in data.images)
    return not paired and any(a.category_id in named for a in data.annotations)


def _image_record(data: AnnotationFile, number: int) -> str:
    return f"images[{number}] (id {data.images[number].id})"


def index_images(path: AnyPath, data: AnnotationFile) -> dict[str, int]:
    """Position of every image by its id, as text; ids must be unique."""
    position = {str(image.id): number for number, image in enumerate(data.images)}
    if len(position) == len(data.images):
        return position
    seen: set[str] = set()
    for number, image in enumerate(data.images):
        if str(image.id) in seen:
            raise DataError(
                path,
                f"image id {image.id} occurs twice",
                record=f"images[{number}]",
                remedy="give every image its own id",
            )
        seen.add(str(image.id))
    raise AssertionError("unreachable: a smaller index means a duplicate")


def regions_by_image(
    path: AnyPath, data: AnnotationFile, position: dict[str, int], *, verify: bool = True
) -> tuple[list[tuple[Region, ...]], bool]:
    """The regions of every image, in file order, and whether boxes were normalised (0–1).

    Masks come out as compressed run lengths, boxes in pixels. Without `verify`, run lengths that
    are already compressed are taken as they are: comparing them with predictions checks them.
    """
    normalised = _boxes_are_normalised(data)
    regions: list[list[Region]] = [[] for _ in data.images]
    for number, annotation in enumerate(data.annotations):
        place = position.get(str(annotation.image_id))
        if place is None:
            raise annotation_error(
                path,
                number,
                annotation,
                "its image_id is not among the images",
                "add the image or drop the annotation",
            )
        image = data.images[place]
        region = region_of(path, number, annotation, image, normalised=normalised, verify=verify)
        regions[place].append(region)
    return [tuple(found) for found in regions], normalised


def region_of(
    path: AnyPath,
    number: int,
    annotation: Annotation,
    image: Image,
    *,
    normalised: bool = False,
    verify: bool = True,
) -> Region:
    """The region of the annotation that has this number in its file; see `regions_by_image`."""
    try:
        box = _pixel_box(annotation.bbox, image if normalised else None)
        mask = _region_mask(annotation, image, verify)
    except ValueError as problem:
        raise annotation_error(
            path, number, annotation, str(problem), "correct the annotation or drop it"
        ) from None
    return Region(mask, box, bool(annotation.iscrowd))


def annotation_error(
    path: AnyPath, number: int, annotation: Annotation, problem: str, remedy: str
) -> DataError:
    """The error of one entry of `annotations`."""
    record = f"annotations[{number}] (id {annotation.id}, image_id {annotation.image_id})"
    return DataError(path, problem, record=record, remedy=remedy)


def _region_mask(annotation: Annotation, image: Image, verify: bool) -> Rle | None:
    segmentation = annotation.segmentation
    if not segmentation:
        if not annotation.bbox:
            raise ValueError("it has neither segmentation nor bbox")
        return None
    height_px, width_px = _size(image, segmentation)
    if not verify and is_compressed(segmentation, height_px, width_px):
        return segmentation  # type: ignore[return-value]
    mask = parse_mask(segmentation, height_px, width_px)
    if is_compressed(segmentation, height_px, width_px):
        return segmentation  # type: ignore[return-value]
    return to_rle(mask)


def is_compressed(segmentation: Segmentation, height_px: int, width_px: int) -> bool:
    """Whether a mask is compressed run lengths of this size that do not end in mid-number.

    Whether the runs add up is for the parser to find.
    """
    return (
        isinstance(segmentation, dict)
        and isinstance(segmentation["counts"], str)
        and segmentation["counts"][-1:] < CONTINUES
        and segmentation["size"] == (height_px, width_px)
    )


def _size(image: Image, segmentation: Any) -> tuple[int, int]:
    height_px, width_px = image.height, image.width
    if not (height_px and width_px) and isinstance(segmentation, dict):
        height_px, width_px = segmentation["size"]
    if height_px <= 0 or width_px <= 0 or height_px * width_px > MAX_PIXELS:
        raise ValueError(f"its image claims {height_px}x{width_px} pixels (height x width)")
    return height_px, width_px


def _boxes_are_normalised(data: AnnotationFile) -> bool:
    """SA-Co writes boxes in 0–1: true if every box lies in the unit square and images do not."""
    boxes = [a.bbox for a in data.annotations if a.bbox and len(a.bbox) == 4]
    if not boxes or all(image.width <= 1 for image in data.images):
        return False
    return all(map(is_in_unit_square, boxes))


def is_in_unit_square(box: Sequence[float]) -> bool:
    """Whether x, y, width, height may be shares of an image.

    >>> is_in_unit_square([0.25, 0, 0.75, 1]), is_in_unit_square([0.5, 0, 0.75, 1])
    (True, False)
    """
    x, y, width, height = box
    return min(x, y) >= -1e-6 and x + width <= 1.000001 and y + height <= 1.000001


def _pixel_box(
    box: Sequence[float] | None, scale_to: Image | None
) -> tuple[float, float, float, float] | None:
    if not box:
        return None
    if len(box) != 4 or not all(map(math.isfinite, box)) or box[2] < 0 or box[3] < 0:
        raise ValueError(f"its bbox {list(box)} is not x, y, width, height in finite numbers")
    x, y, width, height = box
    if scale_to is None:
        return x, y, width, height
    return x * scale_to.width, y * scale_to.height, width * scale_to.width, height * scale_to.height


class FileRecord(Prediction, frozen=True, kw_only=True, gc=False):
    """One record of a results file as a prediction, or a part of one: an item may have several.

    Its mask is in whatever form the file has it, its box in whatever length; without a score
    `scores` is empty. Whoever compares it checks it, and names it by its number.
    """

    file: str
    number: int
    """Place in the file."""


def read_coco_results(
    path: AnyPath, *, progress: Callable[[int, int], None] | None = None
) -> Iterator[FileRecord]:
    """The predictions of a results file of any size, record by record.

    `progress` is told (bytes read, bytes in all).
    """
    batches = stream_json_list(path, Result, expected=RESULTS, progress=progress)
    return file_records(batches, path)


def file_records(
    batches: Iterable[tuple[int, Sequence[Result]]], path: AnyPath
) -> Iterator[FileRecord]:
    """Predictions from (index of the first record, records)."""
    file, ok = str(path), Outcome.OK
    for first, records in batches:
        for number, record in enumerate(records, first):
            mask, score, box = record.segmentation, record.score, record.bbox
            found = FileRecord(
                item_id=str(record.image_id),
                outcome=ok,
                masks=() if mask is None else (mask,),  # type: ignore[arg-type]
                scores=() if score is None else (score,),
                category_ids=(record.category_id,),
                boxes_xywh=(box,) if box else (),  # type: ignore[arg-type]
                file=file,
                number=number,
            )
            if record.outcome is None:
                yield found
            else:
                yield msgspec.structs.replace(
                    found, outcome=record.outcome, text=record.text, reason=record.reason
                )


def annotator_regions(
    path: AnyPath, reference: AnnotationFile, *, verify: bool = True
) -> list[tuple[tuple[Region, ...] | None, bool]]:
    """(regions, exhaustive) of a further annotator's file, in the order of the first file.

    Regions are None where this annotator did not see the image.
    """
    data = read_annotations(path)
    position = index_images(path, data)
    regions, _ = regions_by_image(path, data, position, verify=verify)
    found: list[tuple[tuple[Region, ...] | None, bool]] = []
    for image in reference.images:
        place = position.get(str(image.id))
        if place is None:
            found.append((None, True))
            continue
        other = data.images[place]
        if (other.file_name, other.text_input) != (image.file_name, image.text_input):
            raise DataError(
                path,
                f"it is '{other.text_input}' in {other.file_name} here and '{image.text_input}' in "
                f"{image.file_name} in the first file, while other images are in both",
                record=f"images[{place}] (id {other.id})",
                remedy="give annotators of the same images, or parts that share none",
            )
        if (other.height, other.width) != (image.height, image.width):
            raise DataError(
                path,
                f"it is {other.height}x{other.width} here and {image.height}x{image.width} in the "
                "first annotator's file (height x width)",
                record=f"images[{place}] (id {other.id})",
                remedy="give files of the same images",
            )
        found.append((regions[place], bool(other.is_instance_exhaustive)))
    return found


def image_size(path: AnyPath, image: Image, regions: Sequence[Region]) -> tuple[int, int]:
    """(height, width) in pixels, from the entry or else from its masks."""
    if image.height > 0 and image.width > 0:
        if image.height * image.width > MAX_PIXELS:
            raise DataError(
                path,
                f"it claims {image.height}x{image.width} pixels (height x width)",
                record=f"image {image.id}",
                remedy="give every image its size in pixels",
            )
        return image.height, image.width
    for region in regions:
        if region.mask is not None:
            return region.mask["size"]
    raise DataError(
        path,
        "it has no height and width",
        record=f"image {image.id}",
        remedy="give every image its size in pixels",
    )


def image_name(image: Image, folder: AnyPath | None = None) -> str:
    """The name of an entry's picture in its folder. LVIS v1 has no file names, and its validation
    set holds images of two COCO folders; v0.5 has names that COCO gave up. Where the folder is
    known, the name is one that is there.

    >>> image_name(Image(1, coco_url="http://images.cocodataset.org/val2017/000000397133.jpg"))
    'val2017/000000397133.jpg'
    """
    parts = image.coco_url.split("/")
    names = [name for name in (image.file_name, "/".join(parts[-2:]), parts[-1]) if name]
    there = [] if folder is None else [name for name in names if (Path(folder) / name).is_file()]
    if there:
        return there[0]
    return names[0] if names else ""
