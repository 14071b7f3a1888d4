"""The COCO family of JSON, as CAFE, SA-Co, COCO, LVIS and referring sets write it.

One typed reader for annotations and one for results. Everything a record may get wrong is
checked here, once, so that what comes out can be trusted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict

import msgspec

from groundfault.errors import DataError
from groundfault.foreign import read_json_object, stream_json_list
from groundfault.masks import CONTINUES, MAX_PIXELS, RLEMask, mask_box, parse_mask, to_rle
from groundfault.records import Benchmark, Case, Item, Outcome, Region, Rle, Role
from groundfault.store import write_bytes

__all__ = [
    "Annotation",
    "AnnotationFile",
    "Image",
    "Result",
    "address_to_categories",
    "annotated_regions",
    "annotator_regions",
    "category_items",
    "category_names",
    "image_size",
    "index_images",
    "read_annotations",
    "regions_by_image",
    "stream_results",
    "write_annotations",
    "write_phrases",
    "written_id",
]

AnyPath = str | PathLike[str]
Id = int | str

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
    file_name: str = ""
    height: int = 0
    width: int = 0
    text_input: str = ""
    edit_type: str | None = None
    fp_source_id: Id | None = None
    is_instance_exhaustive: int | bool = 1
    coco_url: str = ""
    neg_category_ids: list[int] = []
    not_exhaustive_category_ids: list[int] = []


class Annotation(msgspec.Struct, gc=False):
    """One entry of `annotations`."""

    image_id: Id
    id: Id | None = None
    segmentation: Segmentation = None
    bbox: list[float] | None = None
    iscrowd: int | bool = 0
    category_id: int = 0


class Category(msgspec.Struct):
    id: int
    name: str = ""


class Sentence(msgspec.Struct):
    """One wording of a referring expression, with FP-RefCOCO's two ways to mark a false one."""

    sent: str
    sent_id: Id | None = None
    is_false_premise: bool | None = None
    exist: bool | None = None


class Ref(msgspec.Struct):
    """One entry of a REFER-style `refs` list."""

    ref_id: Id
    image_id: Id
    sentences: list[Sentence]
    ann_id: Id | list[Id] = -1
    split: str = ""


class AnnotationFile(msgspec.Struct):
    images: list[Image] = []
    annotations: list[Annotation] = []
    categories: list[Category] = []
    refs: list[Ref] = []


class Result(msgspec.Struct, gc=False):
    """One entry of a results file. `outcome` and `reason` are ours: a dump may say that an item
    failed, was unreadable, or that the model abstained."""

    image_id: Id
    score: float | None = None
    segmentation: Segmentation = None
    bbox: list[float] | None = None
    category_id: int | None = None
    outcome: Outcome | None = None
    reason: str = ""
    text: str = ""


def read_annotations(path: AnyPath) -> AnnotationFile:
    """Decode an annotation file and check its ids."""
    data = read_json_object(path, AnnotationFile, expected=ANNOTATIONS)
    if not data.images:
        raise DataError(path, "it has no images", remedy=f"give {ANNOTATIONS}")
    seen: set[Id] = set()
    for number, annotation in enumerate(data.annotations):
        if annotation.id is None:
            continue
        if annotation.id in seen:
            raise DataError(
                path,
                f"annotation id {annotation.id} occurs twice",
                record=f"annotations[{number}]",
                remedy="give every annotation its own id",
            )
        seen.add(annotation.id)
    return data


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
            raise _annotation_error(
                path,
                number,
                annotation,
                "its image_id is not among the images",
                "add the image or drop the annotation",
            )
        image = data.images[place]
        try:
            box = _pixel_box(annotation.bbox, image if normalised else None)
            mask = _region_mask(annotation, image, verify)
        except ValueError as problem:
            raise _annotation_error(
                path, number, annotation, str(problem), "correct the annotation or drop it"
            ) from None
        regions[place].append(Region(mask, box, bool(annotation.iscrowd)))
    return [tuple(found) for found in regions], normalised


def _annotation_error(
    path: AnyPath, number: int, annotation: Annotation, problem: str, remedy: str
) -> DataError:
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
    return all(x + w <= 1.000001 and y + h <= 1.000001 for x, y, w, h in boxes)


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


def stream_results(
    path: AnyPath, *, progress: Callable[[int, int], None] | None = None
) -> Iterator[tuple[int, list[Result]]]:
    """Yield (index of the first record, records) of a results file of any size.

    `progress` is told (bytes read, bytes in all).
    """
    yield from stream_json_list(path, Result, expected=RESULTS, progress=progress)


def annotated_regions(
    path: AnyPath, data: AnnotationFile, position: dict[str, int], *, verify: bool = True
) -> tuple[list[list[tuple[Annotation, Region]]], bool]:
    """Every image's annotations with the regions they became, in file order, and whether boxes
    were normalised (0–1)."""
    regions, normalised = regions_by_image(path, data, position, verify=verify)
    found: list[list[tuple[Annotation, Region]]] = [[] for _ in data.images]
    for annotation in data.annotations:
        place = position[str(annotation.image_id)]
        found[place].append((annotation, regions[place][len(found[place])]))
    return found, normalised


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


def image_size(
    path: AnyPath, number: int, image: Image, regions: Sequence[Region]
) -> tuple[int, int]:
    """(height, width) in pixels, from the entry or else from its masks."""
    if image.height > 0 and image.width > 0:
        return image.height, image.width
    for region in regions:
        if region.mask is not None:
            return region.mask["size"]
    raise DataError(
        path,
        "it has no height and width",
        record=f"images[{number}] (id {image.id})",
        remedy="give every image its size in pixels",
    )


def category_names(path: AnyPath, data: AnnotationFile) -> dict[int, str]:
    """Name of every category by its id; both must be there, ids once."""
    names: dict[int, str] = {}
    for number, category in enumerate(data.categories):
        if category.id in names or not category.name:
            raise DataError(
                path,
                f"its id {category.id} occurs twice" if category.name else "it has no name",
                record=f"categories[{number}]",
                remedy="give every category its own id and a name",
            )
        names[category.id] = category.name
    return names


def category_items(
    path: AnyPath,
    data: AnnotationFile,
    queries: Mapping[int, str],
    image_name: Callable[[Image], str],
    absent: Callable[[Image, Collection[int]], Sequence[int]],
    *,
    verify: bool = True,
) -> tuple[list[Case], list[Item], list[str]]:
    """Cases, items and notes of a file of objects by category: one case per image; in it, one
    item per category present and one per category that `absent(image, categories present)`
    names. An item's id is "{image id}:{category id}".

    A crowd stands for objects that were not told apart, so an item with one is not exhaustive.
    """
    for number, annotation in enumerate(data.annotations):
        if annotation.category_id not in queries:
            raise _annotation_error(
                path,
                number,
                annotation,
                f"its category_id {annotation.category_id} is not among the categories",
                "add the category or drop the annotation",
            )
    found, normalised = annotated_regions(path, data, index_images(path, data), verify=verify)
    cases, items = [], []
    for number, (image, annotated) in enumerate(zip(data.images, found, strict=True)):
        regions: dict[int, list[Region]] = {}
        for annotation, region in annotated:
            regions.setdefault(annotation.category_id, []).append(region)
        asked = [*sorted(regions), *absent(image, regions)]
        if not asked:
            continue
        height_px, width_px = image_size(path, number, image, [region for _, region in annotated])
        case = Case(id=str(image.id))
        cases.append(case)
        for category in asked:
            objects = tuple(regions.get(category, ()))
            items.append(
                Item(
                    id=_category_item(image.id, category),
                    case_id=case.id,
                    role=Role.POSITIVE,
                    image=image_name(image),
                    height_px=height_px,
                    width_px=width_px,
                    query=queries[category],
                    regions=objects,
                    exhaustive=category not in image.not_exhaustive_category_ids
                    and not any(region.crowd for region in objects),
                )
            )
    return cases, items, list(_category_notes(path, data, cases, items, normalised))


def _category_notes(
    path: AnyPath,
    data: AnnotationFile,
    cases: Sequence[Case],
    items: Sequence[Item],
    normalised: bool,
) -> Iterator[str]:
    if normalised:
        yield f"The boxes of {path} are normalised (0–1) and were scaled to pixels."
    if len(cases) < len(data.images):
        yield (
            f"{len(data.images) - len(cases)} of {len(data.images)} images have no query: nothing "
            "is annotated in them and no absent category is asked for."
        )
    crowded = sum(any(region.crowd for region in item.regions) for item in items)
    if crowded:
        yield (
            f"{crowded} of {len(items)} queries have a crowd region, whose objects are not told "
            "apart: they count as not exhaustively annotated."
        )


def _category_item(image_id: Id, category_id: int | None) -> str:
    return f"{image_id}:{category_id}"


def address_to_categories(
    batches: Iterable[tuple[int, Sequence[Result]]],
) -> Iterator[tuple[int, list[Result]]]:
    """A detector's results, which name image and category, addressed to the items of
    `category_items`.

    >>> [(_, [result])] = address_to_categories([(0, [Result(image_id=7, category_id=3)])])
    >>> result.image_id
    '7:3'
    """
    for first, records in batches:
        yield (
            first,
            [
                msgspec.structs.replace(
                    record, image_id=_category_item(record.image_id, record.category_id)
                )
                for record in records
            ],
        )


def written_id(text: str) -> Id:
    """An id as files hold it: a number where it spells one.

    >>> written_id("12"), written_id("012"), written_id("12:0")
    (12, '012', '12:0')
    """
    return int(text) if text.removeprefix("-").isdecimal() and str(int(text)) == text else text


def write_annotations(
    path: AnyPath,
    images: Sequence[Mapping[str, Any]],
    objects: Iterable[tuple[Id, int, Region]],
    categories: Sequence[Mapping[str, Any]],
    *,
    format_name: str,
    normalised: bool = False,
) -> None:
    """Write a COCO-like file of `images` entries and (image id, category id, region) objects.

    Every annotation gets area and bbox, which evaluators look for; `normalised` writes boxes in
    0–1, as SA-Co does. Boxes that a reader could not tell from normalised ones (all of them in
    the first pixel) are left to the masks.
    """
    sizes = {image["id"]: (image["height"], image["width"]) for image in images}
    annotations: list[dict[str, Any]] = []
    for image_id, category_id, region in objects:
        mask = None if region.mask is None else RLEMask.from_dict({**region.mask})
        box = region.box_xywh or (mask_box(mask) if mask is not None else (0.0, 0.0, 0.0, 0.0))
        entry: dict[str, Any] = {
            "id": len(annotations) + 1,
            "image_id": image_id,
            "category_id": category_id,
            "bbox": _unit_box(box, *sizes[image_id]) if normalised else box,
            "area": int(mask.area()) if mask is not None else box[2] * box[3],
            "iscrowd": int(region.crowd),
        }
        if region.mask is not None:
            entry["segmentation"] = region.mask
        annotations.append(entry)
    if not normalised and all(_in_unit_square(entry["bbox"]) for entry in annotations):
        for entry in annotations:
            if "segmentation" in entry:
                del entry["bbox"]
    content = {
        "info": {"description": "written by groundfault", "format": format_name},
        "images": images,
        "annotations": annotations,
        "categories": categories,
    }
    write_bytes(path, msgspec.json.encode(content))


def _in_unit_square(box: Sequence[float]) -> bool:
    x, y, width, height = box
    return x + width <= 1.000001 and y + height <= 1.000001


def _unit_box(
    box: tuple[float, float, float, float], height_px: int, width_px: int
) -> tuple[float, float, float, float]:
    """The part of a box inside its image, in 0–1."""
    x, y, width, height = box
    left, top = max(0.0, x / width_px), max(0.0, y / height_px)
    right, bottom = min(1.0, (x + width) / width_px), min(1.0, (y + height) / height_px)
    return left, top, max(0.0, right - left), max(0.0, bottom - top)


def write_phrases(
    benchmark: Benchmark,
    path: AnyPath,
    *,
    format_name: str,
    normalised: bool = False,
    fields: Callable[[Item], Mapping[str, Any]] = lambda _: {},
) -> tuple[Path, ...]:
    """Write every item as an (image, phrase) pair with the `fields` it has besides; one file per
    annotator, as NAME.json, NAME_b.json, NAME_c.json …

    Declared categories are kept where they are those of phrases, else there is the one that
    SA-Co has.
    """
    of_phrases = benchmark.card.name in ("cafe", "saco", "fprefcoco")
    categories = benchmark.categories if of_phrases else (1,)
    category = categories[0] if categories else 1
    path = Path(path)
    n_annotators = 1 + max((len(item.alternatives) for item in benchmark.items), default=0)
    written = []
    for annotator in range(n_annotators):
        images: list[dict[str, Any]] = []
        objects: list[tuple[Id, int, Region]] = []
        for item in benchmark.items:
            regions = annotated_by(item, annotator)
            if regions is None:
                continue
            image_id = written_id(item.id)
            images.append(
                {
                    "id": image_id,
                    "file_name": item.image,
                    "height": item.height_px,
                    "width": item.width_px,
                    "text_input": item.query,
                    "is_instance_exhaustive": int(item.exhaustive),
                    **fields(item),
                }
            )
            objects += [(image_id, category, region) for region in regions]
        if not images:  # an annotator who saw nothing
            continue
        file = path if annotator == 0 else path.with_stem(f"{path.stem}_{_letter(annotator)}")
        write_annotations(
            file,
            images,
            objects,
            [{"id": declared, "name": "object"} for declared in categories],
            format_name=format_name,
            normalised=normalised,
        )
        written.append(file)
    return tuple(written)


def annotated_by(item: Item, annotator: int) -> tuple[Region, ...] | None:
    """The regions of an item by annotator (0 is the first); None where one did not see it."""
    if annotator == 0:
        return item.regions
    return item.alternatives[annotator - 1] if annotator <= len(item.alternatives) else None


def _letter(annotator: int) -> str:
    """b for the second annotator, and so on.

    >>> _letter(1), _letter(25), _letter(26)
    ('b', 'z', '27')
    """
    return chr(ord("a") + annotator) if annotator < 26 else str(annotator + 1)
