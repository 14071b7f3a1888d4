"""SA-Co: does a promptable segmenter find every instance of a noun phrase, and nothing where there
is none? (Carion et al., "SAM 3: Segment Anything with Concepts")

One `images` entry is an (image, phrase) pair, and a case of its own; without annotations the
phrase names nothing in the image. SA-Co/Gold has three files, one per annotator: the first decides
which pairs there are, the others are alternatives. Boxes are normalised to 0–1.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from groundfault.errors import UsageError
from groundfault.io.coco import (
    annotator_regions,
    image_size,
    index_images,
    read_phrases,
    regions_by_image,
)
from groundfault.io.coco_files import read_files
from groundfault.io.coco_writing import phrase_ids, write_phrases
from groundfault.io.inputs import Input, Layout, Outline
from groundfault.records import Benchmark, Card, Case, Item, Role

__all__ = [
    "ABOUT",
    "CARD",
    "INPUTS",
    "LAYOUT",
    "RUN_BY_US",
    "SETTINGS",
    "keys",
    "obstacle",
    "read",
    "recognise",
    "write",
]

AnyPath = str | PathLike[str]

CARD = Card(
    name="saco",
    protocol="concepts",
    title="SA-Co",
    source="hub datasets facebook/SACo-Gold and facebook/SACo-Silver",
    licence="see the dataset cards; images under their own terms",
    citation="Carion et al., SAM 3: Segment Anything with Concepts",
    main_metric="cgF1",
)
ABOUT = "SA-Co annotations: image–phrase pairs"
INPUTS = (
    Input("annotations", "Annotation JSON; repeat for parts or annotators.", "files"),
    Input("images", "Folder of the pictures.", "folder", required=False, pictures=True),
)
RUN_BY_US = (
    "SAM 3's evaluator, on stored inputs and outputs (equal within 1e-9), with one and with "
    "three annotators. Not SA-Co itself."
)
SETTINGS: dict[str, object] = {"variant": "parity"}
"""Its files are scored as published unless told."""
LAYOUT = Layout(phrases=True)
_OTHERS = frozenset(
    {"refs", "edit_type", "fp_source_id", "neg_category_ids", "not_exhaustive_category_ids"}
)


def recognise(outline: Outline) -> bool:
    """Whether a file has image–phrase pairs and nothing that other formats add to them."""
    fields = outline.fields
    return outline.kind == "object" and "text_input" in fields and not fields & _OTHERS


def read(
    annotations: Sequence[AnyPath], images: AnyPath | None = None, *, verify: bool = True
) -> Benchmark:
    """Read SA-Co annotations: one file per annotator or, if no image is in two files, per part."""
    if not annotations:
        raise UsageError("SA-Co: give at least one annotation file")
    return read_files(annotations, lambda paths: _read(paths, verify=verify))


def _read(paths: Sequence[AnyPath], *, verify: bool) -> Benchmark:
    path, data = paths[0], read_phrases(paths[0])
    regions, normalised = regions_by_image(path, data, index_images(path, data), verify=verify)
    others = [annotator_regions(other, data, verify=verify) for other in paths[1:]]
    cases, items = [], []
    for number, image in enumerate(data.images):
        height_px, width_px = image_size(path, image, regions[number])
        case = Case(id=str(image.id))
        cases.append(case)
        items.append(
            Item(
                id=case.id,
                case_id=case.id,
                role=Role.POSITIVE,
                images=(image.file_name,),
                height_px=height_px,
                width_px=width_px,
                query=image.text_input,
                regions=regions[number],
                alternatives=tuple(other[number][0] for other in others),
                exhaustive=bool(image.is_instance_exhaustive)
                and all(other[number][1] for other in others),
            )
        )
    scaled = f"The boxes of {path} are normalised (0–1) and were scaled to pixels."
    return Benchmark(
        card=CARD,
        cases=tuple(cases),
        items=tuple(items),
        categories=tuple(category.id for category in data.categories),
        notes=(scaled,) if normalised else (),
        settings=SETTINGS,
    )


def obstacle(benchmark: Benchmark) -> str | None:
    """Nothing: every query is an (image, phrase) pair."""
    return None


def write(benchmark: Benchmark, path: AnyPath) -> tuple[Path, ...]:
    """Write every item as an (image, phrase) pair; one file per annotator, as NAME.json,
    NAME_b.json, NAME_c.json …"""
    return write_phrases(benchmark, path, format_name="saco", normalised=True)


def keys(benchmark: Benchmark) -> list[Any]:
    """Items are known by the numbers that they are written under."""
    ids = phrase_ids(benchmark)
    return [ids[item.id] for item in benchmark.items]
