"""Writing the COCO family of JSON: what the CAFE, SA-Co, COCO and referring writers share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec

from groundfault.io.coco import NEGATIVE_OFFSET, Id
from groundfault.io.inputs import Layout
from groundfault.io.masks import RLEMask, mask_box
from groundfault.io.store import write_bytes
from groundfault.records import Benchmark, Item, Region, Role
from groundfault.registry import KINDS, load

__all__ = [
    "WrittenObject",
    "phrase_category",
    "phrase_ids",
    "pooled_categories",
    "write_annotations",
    "write_phrases",
    "written_id",
]

AnyPath = str | PathLike[str]
WrittenObject = tuple[Id, int, Region, Mapping[str, Any]]
"""Image id, category id, region, and further fields of an annotation."""


def written_id(text: str) -> Id:
    """An id as files hold it: a number where it spells one.

    >>> written_id("12"), written_id("012"), written_id("12:0")
    (12, '012', '12:0')
    """
    return int(text) if text.removeprefix("-").isdecimal() and str(int(text)) == text else text


def phrase_ids(benchmark: Benchmark, *, paired: bool = False) -> dict[str, int]:
    """The number of every item in a file of image–phrase pairs, by the item's own id: evaluators of
    the COCO family look for integers, and find nothing under other ids.

    Ids that are integers stay. Otherwise queries are numbered from 1 and the k-th negative of a
    case has the number of its positive plus k · 1,000,000,000, as CAFE has it. `paired` asks for
    CAFE's numbers, so that integers stay only where they are such.
    """
    own = _integers(item.id for item in benchmark.items)
    if own is not None and not paired:
        return own
    leads: dict[str, str] = {}
    """Item → the query that it is the negative of, or itself."""
    latest: dict[str, str] = {}
    for item in benchmark.items:
        if item.role is not Role.NEGATIVE:
            latest[item.case_id] = item.id
        leads[item.id] = latest.get(item.case_id, item.id)
    first = dict.fromkeys(leads.values())
    numbers = {lead: number for number, lead in enumerate(first, start=1)}
    if own is not None and all(0 <= own[lead] < NEGATIVE_OFFSET for lead in first):
        numbers = {lead: own[lead] for lead in first}
    times = dict.fromkeys(first, 0)
    for item_id, lead in leads.items():
        if item_id != lead:
            times[lead] += 1
            numbers[item_id] = numbers[lead] + times[lead] * NEGATIVE_OFFSET
    return numbers


def _integers(ids: Iterable[str]) -> dict[str, int] | None:
    found: dict[str, int] = {}
    for text in ids:
        number = written_id(text)
        if not isinstance(number, int):
            return None
        found[text] = number
    return found


def write_annotations(
    path: AnyPath,
    images: Sequence[Mapping[str, Any]],
    objects: Iterable[WrittenObject],
    categories: Sequence[Mapping[str, Any]],
    *,
    format_name: str,
    normalised: bool = False,
    more: Mapping[str, Any] | None = None,
) -> None:
    """Write a COCO-like file of `images` entries and objects, with `more` beside them.

    Every annotation gets area and bbox, which evaluators look for, unless its own fields say
    otherwise; `normalised` writes boxes in 0–1, as SA-Co does. Boxes that a reader could not tell
    from normalised ones (all of them in the first pixel) are left to the masks.
    """
    sizes = {image["id"]: (image["height"], image["width"]) for image in images}
    annotations: list[dict[str, Any]] = []
    for image_id, category_id, region, fields in objects:
        mask = None if region.mask is None else RLEMask.from_dict({**region.mask})
        box = region.box_xywh or (mask_box(mask) if mask is not None else (0.0, 0.0, 0.0, 0.0))
        entry: dict[str, Any] = {
            "id": len(annotations) + 1,
            "image_id": image_id,
            "category_id": category_id,
            "bbox": _unit_box(box, *sizes[image_id]) if normalised else box,
            "area": int(mask.area()) if mask is not None else box[2] * box[3],
            "iscrowd": int(region.crowd),
            **fields,
        }
        if region.mask is not None:
            entry["segmentation"] = region.mask
        annotations.append(entry)
    if not normalised and all(_in_unit_square(entry["bbox"]) for entry in annotations):
        for entry in annotations:
            if "segmentation" in entry:
                del entry["bbox"]
    info = (more or {}).get("info")
    told = info if isinstance(info, dict) else {"description": "written by groundfault"}
    content = {
        **(more or {}),
        "info": {**told, "format": format_name},
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
    ids: Mapping[str, Id] | None = None,
    fields: Callable[[Item], Mapping[str, Any]] = lambda _: {},
) -> tuple[Path, ...]:
    """Write every item as an (image, phrase) pair with the `fields` it has besides; one file per
    annotator, as NAME.json, NAME_b.json, NAME_c.json …

    `ids` are the items' numbers, by default those of `phrase_ids`. There is one category: phrases
    say what is meant.
    """
    numbers: Mapping[str, Id] = phrase_ids(benchmark) if ids is None else ids
    category = phrase_category(benchmark)
    path = Path(path)
    n_annotators = 1 + max((len(item.alternatives) for item in benchmark.items), default=0)
    written = []
    for annotator in range(n_annotators):
        images: list[dict[str, Any]] = []
        objects: list[WrittenObject] = []
        for item in benchmark.items:
            regions = item.annotated_by(annotator)
            if regions is None:
                continue
            images.append(
                {
                    "id": numbers[item.id],
                    "file_name": item.image,
                    "height": item.height_px,
                    "width": item.width_px,
                    "text_input": item.query,
                    "is_instance_exhaustive": int(item.exhaustive),
                    **fields(item),
                }
            )
            objects += [(numbers[item.id], category, region, {}) for region in regions]
        if not images:  # an annotator who saw nothing
            continue
        file = path if annotator == 0 else path.with_stem(f"{path.stem}_{_letter(annotator)}")
        write_annotations(
            file,
            images,
            objects,
            [{"id": category, "name": "object"}],
            format_name=format_name,
            normalised=normalised,
        )
        written.append(file)
    return tuple(written)


def phrase_category(benchmark: Benchmark) -> int:
    """The one category of a file of image–phrase pairs: the one that such a file declares, else
    1."""
    declared = benchmark.categories
    return declared[0] if len(declared) == 1 and _are_of_phrases(benchmark) else 1


def pooled_categories(benchmark: Benchmark) -> int:
    """How many declared categories of image–phrase pairs become one when they are written."""
    return len(benchmark.categories) if _are_of_phrases(benchmark) else 0


def _are_of_phrases(benchmark: Benchmark) -> bool:
    """Whether declared categories say nothing about the queries, as in image–phrase files."""
    name = benchmark.card.name
    if name not in KINDS["benchmarks"]:
        return len(benchmark.categories) < 2
    layout = getattr(load("benchmarks", name), "LAYOUT", None)  # an exam's is of another kind
    return isinstance(layout, Layout) and layout.phrases


def _letter(annotator: int) -> str:
    """b for the second annotator, and so on.

    >>> _letter(1), _letter(25), _letter(26)
    ('b', 'z', '27')
    """
    return chr(ord("a") + annotator) if annotator < 26 else str(annotator + 1)
