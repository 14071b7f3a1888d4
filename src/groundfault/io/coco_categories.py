"""Objects by category as questions: what COCO and LVIS annotations share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any

import msgspec

from groundfault.errors import DataError
from groundfault.io.coco import (
    ANNOTATIONS,
    Annotation,
    AnnotationFile,
    FileRecord,
    Id,
    Image,
    annotation_error,
    image_size,
    index_images,
    regions_by_image,
)
from groundfault.io.foreign import read_json_object
from groundfault.records import Case, Item, Region, Role

__all__ = [
    "address_to_categories",
    "annotated_regions",
    "category_extras",
    "category_items",
    "category_names",
]

AnyPath = str | PathLike[str]


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
            raise annotation_error(
                path,
                number,
                annotation,
                f"its category_id {annotation.category_id} is not among the categories",
                "add the category or drop the annotation",
            )
    found, normalised = annotated_regions(path, data, index_images(path, data), verify=verify)
    cases, items = [], []
    for image, annotated in zip(data.images, found, strict=True):
        regions: dict[int, list[Region]] = {}
        for annotation, region in annotated:
            regions.setdefault(annotation.category_id, []).append(region)
        asked = [*sorted(regions), *absent(image, regions)]
        if not asked:
            continue
        height_px, width_px = image_size(path, image, [region for _, region in annotated])
        case = Case(id=str(image.id))
        cases.append(case)
        for category in asked:
            objects = tuple(regions.get(category, ()))
            items.append(
                Item(
                    id=_category_item(image.id, category),
                    case_id=case.id,
                    role=Role.POSITIVE,
                    images=(image_name(image),),
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


def address_to_categories(predictions: Iterable[FileRecord]) -> Iterator[FileRecord]:
    """A detector's results, which name image and category, addressed to the items of
    `category_items`.

    >>> from groundfault.records import Outcome
    >>> one = FileRecord(item_id="7", outcome=Outcome.OK, category_ids=(3,), file="", number=0)
    >>> [found] = address_to_categories([one])
    >>> found.item_id
    '7:3'
    """
    for each in predictions:
        category = each.category_ids[0] if each.category_ids else None
        yield msgspec.structs.replace(each, item_id=_category_item(each.item_id, category))


class _WholeFile(msgspec.Struct):
    """An annotation file with every field of every record."""

    info: Any = None
    licenses: list[Any] = []
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    categories: list[dict[str, Any]] = []


OURS = frozenset({"image_id", "category_id", "segmentation", "bbox", "iscrowd"})
"""Fields of an annotation that items and regions hold."""


def category_extras(path: AnyPath) -> dict[str, Any]:
    """What a file of objects by category says beyond the items of `category_items`, for
    `Benchmark.extras`: info, licences, images and categories as they are, and by item the further
    fields of its annotations, in the order of its regions."""
    whole = read_json_object(path, _WholeFile, expected=ANNOTATIONS)
    by_item: dict[str, list[dict[str, Any]]] = {}
    for record in whole.annotations:
        item = _category_item(record["image_id"], record["category_id"])
        kept = {name: value for name, value in record.items() if name not in OURS}
        by_item.setdefault(item, []).append(kept)
    return {
        "info": whole.info,
        "licenses": whole.licenses,
        "images": whole.images,
        "categories": whole.categories,
        "annotations": by_item,
    }
