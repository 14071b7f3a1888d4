"""LVIS as questions: for every image, each category that is in it and each that was verified to be
absent (Gupta et al., "LVIS: A Dataset for Large Vocabulary Instance Segmentation").

LVIS is federated: of its categories, only some were looked for in an image. Those verified to be
absent are its `neg_category_ids`, so they make the absent items; every other category is unknown
and not asked for. Where a category is in `not_exhaustive_category_ids`, not every instance is
annotated, and instance metrics leave the item out. Names like "baseball_bat" become phrases.

The image is the case, as for COCO; a detector's results are addressed to the items with
`coco.address_to_categories`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any

from groundfault.errors import DataError
from groundfault.io.coco import Image, image_name, read_annotations, read_coco_results
from groundfault.io.coco_categories import (
    address_to_categories,
    category_extras,
    category_items,
    category_names,
)
from groundfault.io.inputs import Input, Layout, Outline
from groundfault.records import Benchmark, Card, Prediction

__all__ = [
    "ABOUT",
    "CARD",
    "INPUTS",
    "LAYOUT",
    "RUN_BY_US",
    "read",
    "read_predictions",
    "recognise",
]

AnyPath = str | PathLike[str]

CARD = Card(
    name="lvis",
    protocol="concepts",
    title="LVIS, one query per category",
    source="lvisdataset.org, lvis_v1_*.json",
    licence="annotations CC BY 4.0; images from COCO under the Flickr terms",
    citation="Gupta et al., LVIS: A Dataset for Large Vocabulary Instance Segmentation, CVPR 2019",
    main_metric="cgF1",
)
ABOUT = "LVIS annotations"
INPUTS = (
    Input("annotations", "LVIS annotations as JSON."),
    Input("images", "Folder of the pictures.", "folder", required=False, pictures=True),
)
RUN_BY_US = "An excerpt of LVIS val annotations, and files of ours. Not its photographs."
LAYOUT = Layout(by_category=True, federated=True)


def recognise(outline: Outline) -> bool:
    """Whether images list categories that were verified to be absent."""
    fields = outline.fields
    federated = fields & {"neg_category_ids", "not_exhaustive_category_ids"}
    return outline.kind == "object" and bool(federated) and not fields & {"refs", "edit_type"}


def read_predictions(
    path: AnyPath,
    benchmark: Benchmark,
    *,
    settings: Mapping[str, object],
    progress: Callable[[int, int], None] | None = None,
    **inputs: object,
) -> Iterator[Prediction]:
    """A detector's results, each addressed to the query for its image and category."""
    return address_to_categories(read_coco_results(path, progress=progress))


def read(
    annotations: AnyPath,
    images: AnyPath | None = None,
    *,
    verify: bool = True,
    keep: bool = False,
) -> Benchmark:
    """Read LVIS annotations. `keep` keeps what else the file says, so that it can be written as
    COCO."""
    path = annotations
    data = read_annotations(path)
    names = category_names(path, data)
    contradictions: list[str] = []

    def absent(image: Image, present: Collection[int]) -> Sequence[int]:
        for category in image.neg_category_ids:
            if category not in names:
                raise DataError(
                    path,
                    f"its neg_category_ids name {category}, which is not among the categories",
                    record=f"image {image.id}",
                    remedy="add the category or drop it from the list",
                )
            if category in present:
                contradictions.append(f"image {image.id}, {names[category]}")
        return sorted(set(image.neg_category_ids) - set(present))

    queries = {category: name.replace("_", " ") for category, name in names.items()}
    cases, items, notes = category_items(
        path, data, queries, lambda image: image_name(image, images), absent, verify=verify
    )
    if not any(i.neg_category_ids or i.not_exhaustive_category_ids for i in data.images):
        raise DataError(
            path,
            "no image says which categories are absent (neg_category_ids), as LVIS does",
            remedy="read it as COCO (groundfault eval coco …), or make a set that asks for absent "
            "things: groundfault build pairs",
        )
    if contradictions:
        notes.append(
            f"{len(contradictions)} categories are annotated in an image that lists them as "
            f"absent, e.g. {contradictions[0]}: the annotation decides."
        )
    return Benchmark(
        card=CARD,
        cases=tuple(cases),
        items=tuple(items),
        categories=tuple(names),
        notes=tuple(notes),
        extras=_extras(path) if keep else {},
    )


def _extras(path: AnyPath) -> dict[str, Any]:
    """What else the file says, its categories under the names that are asked for."""
    found = category_extras(path)
    for category in found["categories"]:
        category["name"] = category["name"].replace("_", " ")
    return found
