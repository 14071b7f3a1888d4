"""CAFE: does a promptable segmenter accept a misleading concept after surface, context or
material was changed? (Liang et al., "From Pixels to Concepts: Do Segmentation Models Understand
What They Segment?")

One `images` entry is an (image, phrase) pair. A misleading negative names its positive in
`fp_source_id`; in the release its id is also the positive's plus 1,000,000,000, which is taken
where the field is absent. Several files are parts of one set or, if they share images, annotators.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec

from groundfault.errors import DataError, UnknownName
from groundfault.io.coco import (
    EDIT_TYPES,
    NEGATIVE_OFFSET,
    AnnotationFile,
    Image,
    annotator_regions,
    image_size,
    index_images,
    read_phrases,
    regions_by_image,
)
from groundfault.io.coco_files import read_files
from groundfault.io.coco_writing import phrase_ids, write_phrases
from groundfault.io.inputs import Input, Layout, Outline, Published
from groundfault.records import Benchmark, Card, Case, Item, Region, Role

__all__ = [
    "ABOUT",
    "CARD",
    "EDIT_TYPES",
    "HUB",
    "INPUTS",
    "LAYOUT",
    "PUBLISHED_CASES",
    "RUN_BY_US",
    "SETTINGS",
    "fetched",
    "keys",
    "obstacle",
    "read",
    "recognise",
    "write",
]

AnyPath = str | PathLike[str]

CARD = Card(
    name="cafe",
    protocol="concept-pairs",
    title="CAFE",
    source="hub dataset teemosliang/CAFE (CAFEval2026)",
    licence="see the dataset card; images from COCO, LVIS and SA-Co under their own terms",
    citation=(
        "Liang et al., From Pixels to Concepts: Do Segmentation Models Understand What They "
        "Segment?"
    ),
    main_metric="cgF1",
)
ABOUT = "CAFE annotations"
INPUTS = (
    Input("annotations", "Annotation JSON; repeat for parts or annotators.", "files"),
    Input("images", "Folder of the pictures.", "folder", required=False, pictures=True),
)
RUN_BY_US = (
    "The evaluators of CAFE and SAM 3, on stored inputs and outputs of theirs (equal within "
    "1e-9); rendered sets and sets built from photographs in its format, with nano and the "
    "baselines. Not the published set: no hub can be reached where the tests run."
)
SETTINGS: dict[str, object] = {"variant": "parity"}
"""Its files are scored as published unless told."""
LAYOUT = Layout(phrases=True, targets=True)
HUB = Published("teemosliang/CAFE", ("CAFEval2026*.json", "CAFEval2026_imgs/*"))
PUBLISHED_CASES = {"SM": 1111, "CC": 593, "OC": 442}
"""Pairs per edit type in the paper (section 4.1), together 2,146: what published rows are about."""


def recognise(outline: Outline) -> bool:
    """Whether a file has edit types."""
    fields = outline.fields
    return outline.kind == "object" and "edit_type" in fields and "refs" not in fields


def fetched(folder: Path) -> dict[str, Any]:
    """The inputs in the folder that the set was fetched into."""
    return {
        "annotations": [folder / "CAFEval2026_annotations.json"],
        "images": folder / "CAFEval2026_imgs",
    }


def read(
    annotations: Sequence[AnyPath], images: AnyPath | None = None, *, verify: bool = True
) -> Benchmark:
    """Read CAFE annotations. Several files are parts of one set (its subsets, say) where no image
    is in two of them, else annotators of the same images."""
    return read_files(annotations, lambda paths: _read(paths, verify=verify))


def _read(paths: Sequence[AnyPath], *, verify: bool) -> Benchmark:
    path, data = paths[0], read_phrases(paths[0])
    position = index_images(path, data)
    regions, normalised = regions_by_image(path, data, position, verify=verify)
    notes = (
        [f"The boxes of {path} are normalised (0–1) and were scaled to pixels."]
        if normalised
        else []
    )
    source = [_source(path, data, position, number) for number in range(len(data.images))]
    others = [annotator_regions(other, data, verify=verify) for other in paths[1:]]

    negatives: dict[int, list[int]] = {}
    for number, origin in enumerate(source):
        if origin is not None:
            negatives.setdefault(origin, []).append(number)
    _note_oddities(data, regions, source, notes)

    cases, items = [], []
    for number, image in enumerate(data.images):
        if source[number] is not None:
            continue
        asked = negatives.get(number, [])
        edit = data.images[asked[0]].edit_type if asked else image.edit_type
        case = Case(id=str(image.id), intervention=_abbreviation(path, image, edit))
        cases.append(case)
        target = regions[number][0] if regions[number] else None
        for place in [number, *asked]:
            role = Role.POSITIVE if place == number else Role.NEGATIVE
            entry = data.images[place]
            items.append(_item(path, entry, case, role, target, regions[place], others, place))
    return Benchmark(
        card=CARD,
        cases=tuple(cases),
        items=tuple(items),
        categories=tuple(category.id for category in data.categories),
        notes=tuple(notes),
        settings=SETTINGS,
    )


def _source(
    path: AnyPath, data: AnnotationFile, position: dict[str, int], number: int
) -> int | None:
    """The positive that an entry is the misleading negative of; None for positives."""
    image = data.images[number]
    if image.fp_source_id is not None:
        origin = position.get(str(image.fp_source_id))
        if origin is None or origin == number:
            raise DataError(
                path,
                f"its fp_source_id {image.fp_source_id} is not the id of a positive",
                record=f"images[{number}] (id {image.id})",
                remedy="add the positive, or drop this negative",
            )
        return origin
    if isinstance(image.id, int) and image.id > NEGATIVE_OFFSET:
        origin = position.get(str(image.id - NEGATIVE_OFFSET))
        if origin is not None and data.images[origin].file_name == image.file_name:
            return origin
    return None


def _abbreviation(path: AnyPath, image: Image, edit_type: str | None) -> str:
    if edit_type is None:
        return ""
    if edit_type in EDIT_TYPES:
        return EDIT_TYPES[edit_type]
    if edit_type in EDIT_TYPES.values():
        return edit_type
    raise DataError(
        path,
        str(UnknownName("edit_type", edit_type, EDIT_TYPES)).rstrip("."),
        record=f"image {image.id}",
        remedy="use one of the three edit types, or score without them: groundfault score saco",
    )


def _item(
    path: AnyPath,
    image: Image,
    case: Case,
    role: Role,
    target: Region | None,
    regions: tuple[Region, ...],
    others: Sequence[Sequence[tuple[tuple[Region, ...] | None, bool]]],
    number: int,
) -> Item:
    height_px, width_px = image.height, image.width
    if height_px <= 0 or width_px <= 0:
        height_px, width_px = image_size(path, image, (target,) if target is not None else ())
    return Item(
        id=str(image.id),
        case_id=case.id,
        role=role,
        images=(image.file_name,),
        height_px=height_px,
        width_px=width_px,
        query=image.text_input,
        regions=regions,
        target=target,
        alternatives=tuple([other[number][0] for other in others]) if others else (),
        exhaustive=bool(image.is_instance_exhaustive)
        and (not others or all(other[number][1] for other in others)),
    )


def _note_oddities(
    data: AnnotationFile,
    regions: Sequence[tuple[Region, ...]],
    source: Sequence[int | None],
    notes: list[str],
) -> None:
    """Say what is unusual, with an example of each."""
    positives = [number for number, origin in enumerate(source) if origin is None]
    asked = {origin for origin in source if origin is not None}
    several = [n for n in positives if len(regions[n]) > 1]
    if several:
        notes.append(
            f"{len(several)} positives have more than one mask, e.g. image "
            f"{data.images[several[0]].id}: target-aware metrics take the first, the cgF1 family "
            "all."
        )
    bare = [n for n in asked if not regions[n]]
    if bare:
        notes.append(
            f"{len(bare)} positives of a pair have no mask, e.g. image {data.images[bare[0]].id}: "
            "their pairs are left out of target-aware metrics; the cgF1 family counts them as "
            "negatives."
        )
    annotated = [n for n, origin in enumerate(source) if origin is not None and regions[n]]
    if annotated:
        notes.append(
            f"{len(annotated)} negatives have masks of their own, e.g. image "
            f"{data.images[annotated[0]].id}: the cgF1 family counts them as positives."
        )
    mixed = [
        n
        for n, origin in enumerate(source)
        if origin is not None and data.images[n].edit_type != data.images[origin].edit_type
    ]
    if mixed:
        notes.append(
            f"{len(mixed)} pairs mix edit types, e.g. image {data.images[mixed[0]].id}: the "
            "negative's decides."
        )


def obstacle(benchmark: Benchmark) -> str | None:
    """Why a benchmark cannot be written as CAFE: it is no set of positives with misleading
    negatives, or edits them in other ways."""
    if any(item.role not in (Role.POSITIVE, Role.NEGATIVE) for item in benchmark.items):
        return "its cases are about two images each"
    for case in benchmark.cases:
        if case.intervention not in (*EDIT_TYPES.values(), ""):
            return f"'{case.intervention}' (case {case.id}) is none of CAFE's edit types"
    cases: dict[str, list[Item]] = {}
    for item in benchmark.items:
        cases.setdefault(item.case_id, []).append(item)
    for case_id, items in cases.items():
        roles = [item.role for item in items]
        if roles[0] is not Role.POSITIVE or Role.POSITIVE in roles[1:]:
            return (
                f"case {case_id} is not one positive followed by its negatives (`groundfault build "
                "pairs` makes such cases from COCO and LVIS)"
            )
        if len({item.image for item in items}) > 1:
            return f"case {case_id} is about several images"
    if all(len(items) == 1 for items in cases.values()):
        return "no case has a misleading negative"
    return None


def write(benchmark: Benchmark, path: AnyPath, *, split: bool = False) -> tuple[Path, ...]:
    """Write cases of one positive and its negatives; returns the files, one per annotator
    (NAME.json, NAME_b.json …). `split` adds a file per subset that has cases: NAME_SM.json …"""
    intervention = {case.id: case.intervention for case in benchmark.cases}
    positive = {item.case_id: item.id for item in benchmark.items if item.role is Role.POSITIVE}
    full_name = {short: name for name, short in EDIT_TYPES.items()}
    ids = phrase_ids(benchmark, paired=True)

    def fields(item: Item) -> dict[str, Any]:
        edit = intervention[item.case_id]
        found: dict[str, Any] = {"edit_type": full_name[edit]} if edit else {}
        if item.role is Role.NEGATIVE:
            found["fp_source_id"] = ids[positive[item.case_id]]
        return found

    path = Path(path)
    written = write_phrases(benchmark, path, format_name="cafe", ids=ids, fields=fields)
    for subset in EDIT_TYPES.values() if split else ():
        items = tuple(item for item in benchmark.items if intervention[item.case_id] == subset)
        if items:
            part = msgspec.structs.replace(benchmark, items=items)
            file = path.with_stem(f"{path.stem}_{subset}")
            write_phrases(part, file, format_name="cafe", ids=ids, fields=fields)
    return written


def keys(benchmark: Benchmark) -> list[Any]:
    """Items are known by the numbers that they are written under."""
    ids = phrase_ids(benchmark, paired=True)
    return [ids[item.id] for item in benchmark.items]
