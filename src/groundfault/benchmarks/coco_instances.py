"""COCO instance annotations as questions: for every image, each category that is in it (Lin et
al., "Microsoft COCO: Common Objects in Context").

COCO annotates all of its categories in every image, so any category without an annotation is
absent; `negatives_per_image` asks for some of those too. The image is the case: its categories
are resampled together. All items have the role of a plain query; `Item.present` tells them apart.

A detector's results name image and category; `coco.address_to_categories` turns them into
results for these items. Those for categories that an image is not asked for are not used.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from groundfault.errors import UsageError
from groundfault.io.coco import Id, Image, read_annotations, read_coco_results
from groundfault.io.coco_categories import (
    address_to_categories,
    category_extras,
    category_items,
    category_names,
)
from groundfault.io.coco_writing import WrittenObject, write_annotations, written_id
from groundfault.io.inputs import Input, Layout, Outline
from groundfault.records import Benchmark, Card, Item, Prediction

__all__ = [
    "ABOUT",
    "CARD",
    "INPUTS",
    "LAYOUT",
    "RUN_BY_US",
    "keys",
    "obstacle",
    "read",
    "read_predictions",
    "recognise",
    "write",
]

AnyPath = str | PathLike[str]

CARD = Card(
    name="coco",
    protocol="concepts",
    title="COCO, one query per category",
    source="cocodataset.org, instances_*.json",
    licence="annotations CC BY 4.0; images under the Flickr terms",
    citation="Lin et al., Microsoft COCO: Common Objects in Context, ECCV 2014",
    main_metric="cgF1",
)
ABOUT = "COCO instance annotations"
INPUTS = (
    Input("annotations", "Instance annotations as JSON."),
    Input("images", "Folder of the pictures.", "folder", required=False, pictures=True),
)
RUN_BY_US = (
    "COCO's own annotations: excerpts of val2014 and val2017 with their photographs, with the "
    "baselines and with tiny random networks."
)
LAYOUT = Layout(by_category=True)
_OTHERS = frozenset(
    {"refs", "edit_type", "text_input", "neg_category_ids", "not_exhaustive_category_ids"}
)


def recognise(outline: Outline) -> bool:
    """Whether a file has annotations by category and nothing that other formats add to them."""
    fields = outline.fields
    by_category = "annotations.category_id" in fields
    return outline.kind == "object" and by_category and not fields & _OTHERS


def read(
    annotations: AnyPath,
    images: AnyPath | None = None,
    *,
    negatives_per_image: int = 0,
    seed: int = 0,
    verify: bool = True,
    keep: bool = False,
) -> Benchmark:
    """Read instance annotations; which absent categories an image is asked for depends only on
    its id and the seed. `keep` keeps what else the file says, so that it can be written again."""
    path = annotations
    if negatives_per_image < 0:
        raise UsageError(f"negatives_per_image is {negatives_per_image}; give 0 or more")
    data = read_annotations(path)
    names = category_names(path, data)

    def absent(image: Image, present: Collection[int]) -> Sequence[int]:
        candidates = sorted(set(names) - set(present))
        rng = np.random.default_rng([seed, zlib.crc32(str(image.id).encode())])
        count = min(negatives_per_image, len(candidates))
        return sorted(rng.choice(candidates, count, replace=False).tolist()) if count else []

    cases, items, notes = category_items(
        path, data, names, lambda image: image.file_name, absent, verify=verify
    )
    return Benchmark(
        card=CARD,
        cases=tuple(cases),
        items=tuple(items),
        categories=tuple(names),
        notes=tuple(notes),
        extras=category_extras(path) if keep else {},
    )


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


def keys(benchmark: Benchmark) -> list[Any]:
    """Items are known by their image and words: ids may change."""
    return [(item.image, item.query) for item in benchmark.items]


def obstacle(benchmark: Benchmark) -> str | None:
    """Why a benchmark cannot be written as COCO: a query has no words to name a category."""
    wordless = next((item for item in benchmark.items if not item.query), None)
    return f"query {wordless.id} has no words to name a category" if wordless else None


def write(benchmark: Benchmark, path: AnyPath) -> tuple[Path, ...]:
    """Write the objects of every item, its query as their category.

    Image and category ids stay where the items are of COCO's kind ("{image}:{category}", one case
    per image); then what else their source says stays too: annotation ids, areas, licences,
    supercategories, images and categories without any object. Otherwise all are numbered from 1 in
    order of appearance.
    """
    own = _own_ids(benchmark)
    image_ids, category_ids = own or _new_ids(benchmark)
    extras: Mapping[str, Any] = benchmark.extras if own else {}
    fields: Mapping[str, Sequence[Mapping[str, Any]]] = extras.get("annotations", {})
    images = {image["id"]: _plain(image) for image in extras.get("images", ())}
    objects: list[WrittenObject] = []
    for item in benchmark.items:
        image_id = image_ids[_picture(item)]
        ours = {"file_name": item.image, "height": item.height_px, "width": item.width_px}
        images[image_id] = {**images.get(image_id, {}), "id": image_id, **ours}
        known = fields.get(item.id, ())
        objects += [
            (image_id, category_ids[item.query], region, known[k] if k < len(known) else {})
            for k, region in enumerate(item.regions)
        ]
    categories = {each["id"]: dict(each) for each in extras.get("categories", ())}
    for name, number in category_ids.items():
        categories[number] = {**categories.get(number, {}), "id": number, "name": name}
    write_annotations(
        path,
        list(images.values()),
        objects,
        [categories[number] for number in sorted(categories)],
        format_name="coco",
        more={name: extras[name] for name in ("info", "licenses") if extras.get(name)},
    )
    return (Path(path),)


def _plain(image: Mapping[str, Any]) -> dict[str, Any]:
    """An image's entry without what only LVIS has."""
    of_lvis = ("neg_category_ids", "not_exhaustive_category_ids")
    return {name: value for name, value in image.items() if name not in of_lvis}


Picture = tuple[str, int, int]
Numbering = tuple[dict[Picture, Id], dict[str, int]]


def _picture(item: Item) -> Picture:
    """What makes an image one: its name (or its case, without a name) and its size."""
    return item.image or f"case {item.case_id}", item.height_px, item.width_px


def _own_ids(benchmark: Benchmark) -> Numbering | None:
    """The ids that the items carry, if all of them agree."""
    images: dict[Picture, Id] = {}
    categories: dict[str, int] = {}
    for item in benchmark.items:
        _, _, category = item.id.rpartition(":")
        if item.id != f"{item.case_id}:{category}" or not category.isdecimal():
            return None
        if images.setdefault(_picture(item), written_id(item.case_id)) != written_id(item.case_id):
            return None
        if categories.setdefault(item.query, int(category)) != int(category):
            return None
    if len(set(images.values())) < len(images) or len(set(categories.values())) < len(categories):
        return None
    return images, categories


def _new_ids(benchmark: Benchmark) -> Numbering:
    pictures = dict.fromkeys(_picture(item) for item in benchmark.items)
    queries = dict.fromkeys(item.query for item in benchmark.items)
    return (
        {picture: number for number, picture in enumerate(pictures, start=1)},
        {query: number for number, query in enumerate(queries, start=1)},
    )
