"""JSON objects of the COCO family: every record of every part."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path, PureWindowsPath
from typing import Any

import msgspec

from groundfault.errors import GroundfaultError
from groundfault.io import convert
from groundfault.io.coco import EDIT_TYPES, NEGATIVE_OFFSET
from groundfault.io.foreign import decode_json
from groundfault.io.inputs import Layout
from groundfault.io.inspection.benchmarks import inspect_benchmark
from groundfault.io.inspection.lists import Refs, malformation
from groundfault.io.inspection.regions import (
    BoxUnits,
    box_problem,
    is_id,
    mask_problem,
    rle_size,
)
from groundfault.io.inspection.report import EXAMPLES, Draft, Report, unknown
from groundfault.io.masks import MAX_PIXELS
from groundfault.registry import load

__all__ = ["inspect_object"]

PARTS = ("images", "annotations", "categories", "refs")
Records = list[dict[str, Any]]


def inspect_object(path: Path) -> Report:
    """An annotation file, read at once."""
    draft = Draft(path, "unknown")
    content = path.read_bytes()
    try:
        document = decode_json(content)
    except msgspec.DecodeError:
        text = content.decode("utf-8-sig", "replace")
        try:
            document = json.loads(text)
        except (json.JSONDecodeError, RecursionError) as problem:
            if isinstance(problem, json.JSONDecodeError) and problem.msg == "Extra data":
                return unknown(path, "several JSON documents one after the other (JSON Lines?)")
            draft.add(malformation(problem, text), str(problem))
            return draft.report()
        draft.add("a number is NaN or infinite, or text is not UTF-8", str(path))
    parts = {name: _records(draft, name, document.get(name)) for name in PARTS}
    draft.format = _format(draft, document, parts) or "unknown"
    if draft.format == "unknown":
        keys = ", ".join(map(str, list(document)[:EXAMPLES]))
        return unknown(path, f"a JSON object with {keys}" if keys else "an empty JSON object")
    layout: Layout | None = getattr(load("benchmarks", draft.format), "LAYOUT", None)
    if layout is None:
        return inspect_benchmark(draft)
    _Annotations(draft, parts, layout).check()
    if not draft.any_error and parts["images"]:
        try:  # what a reader refuses is never called sound
            convert.read_any(path, draft.format)
        except GroundfaultError as problem:
            draft.add_refusal(problem)
    return draft.report()


def _records(draft: Draft, part: str, records: Any) -> Records:
    """The objects of one part; everything else is a finding."""
    if records is not None and not isinstance(records, list):
        draft.add("a part is not a list", part)
    found = []
    for number, record in enumerate(records if isinstance(records, list) else ()):
        if isinstance(record, dict):
            draft.saw_fields(part, {k: v for k, v in record.items() if v is not None})
            found.append(record)
        else:
            draft.add("a record is not an object", f"{part}[{number}]")
    return found


def _format(draft: Draft, document: dict[str, Any], parts: dict[str, Records]) -> str | None:
    info = document.get("info")
    fields = {
        *draft.fields.get("images", ()),
        *(f"annotations.{name}" for name in draft.fields.get("annotations", ())),
        *(["refs"] if parts["refs"] else []),
    }
    return convert.format_of_object(fields, info.get("format") if isinstance(info, dict) else None)


class _Annotations:
    """All checks of one file."""

    def __init__(self, draft: Draft, parts: dict[str, Records], layout: Layout) -> None:
        self.draft = draft
        self.layout = layout
        self.images, self.annotations, self.categories, self.refs = (parts[p] for p in PARTS)
        self.phrases = layout.phrases and not self.refs
        self.image_by_id: dict[str, dict[str, Any]] = {}
        self.n_objects: Counter[str] = Counter()
        """Annotations per image id."""

    def check(self) -> None:
        self._check_images()
        self._check_categories()
        self._check_annotations()
        if self.phrases:
            self._check_pairs()
        if self.layout.federated:
            self._check_federation()
        if self.refs:
            image_of = {str(a.get("id")): str(a.get("image_id")) for a in self.annotations}
            refs = Refs(self.draft, self.image_by_id if self.images else None, image_of)
            for number, ref in enumerate(self.refs):
                refs.add(number, ref)
            refs.finish()

    def _check_images(self) -> None:
        self.draft.counts["image–phrase pairs" if self.phrases else "images"] = len(self.images)
        for number, image in enumerate(self.images):
            image_id, name = image.get("id"), image.get("file_name")
            where = f"images[{number}] (id {image_id})"
            if not is_id(image_id):
                self.draft.add("an image has no id", where)
            elif str(image_id) in self.image_by_id:
                self.draft.add("an image id occurs twice", where)
            self.image_by_id.setdefault(str(image_id), image)
            self._check_size(where, image)
            if isinstance(name, str) and _leads_out(name):
                self.draft.add("a file_name leads out of its folder", f"{where}: {name}")
            if self.phrases and not str(image.get("text_input") or "").strip():
                self.draft.add("a pair has no text_input", where)
        if self.phrases:
            self.draft.counts["images"] = len({str(i.get("file_name")) for i in self.images})

    def _check_size(self, where: str, image: dict[str, Any]) -> None:
        size = _size(image)
        if size is None:
            self.draft.add("an image has no height and width", where)
        elif min(size) < 0 or size[0] * size[1] > MAX_PIXELS:
            self.draft.add("an image claims an impossible size", f"{where}: {size[0]}x{size[1]}")
        else:
            self.draft.saw_value("image height_px", size[0])
            self.draft.saw_value("image width_px", size[1])

    def _check_categories(self) -> None:
        ids = [str(category.get("id")) for category in self.categories]
        self.draft.counts["categories"] = len(ids)
        for category_id, n in Counter(ids).items():
            if n > 1:
                self.draft.add("a category id occurs twice", f"category {category_id}")
        if self.phrases and len(ids) > 1:
            problem = "an image–phrase file declares several categories"
            self.draft.add(problem, ", ".join(ids[:EXAMPLES]))

    def _check_annotations(self) -> None:
        self.draft.counts["annotations"] = len(self.annotations)
        declared = {str(category.get("id")) for category in self.categories}
        by_category = self.layout.by_category
        seen: set[str] = set()
        boxes = BoxUnits()
        for number, annotation in enumerate(self.annotations):
            own_id, image_id = annotation.get("id"), str(annotation.get("image_id"))
            where = f"annotations[{number}] (id {own_id}, image_id {image_id})"
            if own_id is not None and str(own_id) in seen:
                self.draft.add("an annotation id occurs twice", where)
            seen.add(str(own_id))
            self.n_objects[image_id] += 1
            category = annotation.get("category_id")
            if by_category and str(category) not in declared:
                self.draft.add("an annotation has an unknown category", f"{where}: {category}")
            if annotation.get("iscrowd"):
                self.draft.count("crowds")
            self._check_region(where, annotation, boxes)
        larger = any((_size(image) or (0, 0))[1] > 1 for image in self.images)
        self.draft.boxes = boxes.name(images_are_larger=larger)

    def _check_region(self, where: str, annotation: dict[str, Any], boxes: BoxUnits) -> None:
        segmentation, box = annotation.get("segmentation"), annotation.get("bbox")
        if box:
            problem = box_problem(box)
            if problem:
                self.draft.add("unsound bbox", f"{where}: {problem}")
            else:
                boxes.add(box)
        image = self.image_by_id.get(str(annotation.get("image_id")))
        if image is None:
            self.draft.add("an annotation is of an unknown image", where)
            return
        if not segmentation:
            if not box:
                self.draft.add("neither mask nor box", where)
            return
        size = _size(image) or rle_size(segmentation) or (1, 1)
        if min(size) < 0 or size[0] * size[1] > MAX_PIXELS:
            return
        problem = mask_problem(segmentation, *size)
        if problem:
            other_size = rle_size(segmentation) not in (None, size)
            kind = "a mask of another size than its image" if other_size else "unsound mask"
            self.draft.add(kind, f"{where}: {problem}")

    def _check_pairs(self) -> None:
        """Positives, negatives, edit types."""
        asked: Counter[str] = Counter()
        for number, image in enumerate(self.images):
            image_id, edit, source = (
                str(image.get("id")),
                image.get("edit_type"),
                self._source(image),
            )
            where = f"images[{number}] (id {image_id})"
            self.draft.count("present" if self.n_objects[image_id] else "absent")
            if edit is not None and edit not in (*EDIT_TYPES, *EDIT_TYPES.values()):
                self.draft.add("an unknown edit_type", f"{where}: {edit}")
            if source is None:
                continue
            asked[source] += 1
            self.draft.count("pairs")
            self.draft.count(f"pairs of {edit or 'no edit type'}")
            if source not in self.image_by_id or source == image_id:
                self.draft.add("a negative without its positive", f"{where}: {source}")
            if self.n_objects[image_id]:
                self.draft.add("a negative has masks", where)
        for source in asked if self.layout.targets else ():
            n = self.n_objects[source]
            if n > 1:
                self.draft.add("a positive has several masks", f"image {source}: {n}")
            elif not n and source in self.image_by_id:
                self.draft.add("a positive has no mask", f"image {source}")

    def _source(self, image: dict[str, Any]) -> str | None:
        """The id of the positive that an entry is the negative of."""
        image_id, source = image.get("id"), image.get("fp_source_id")
        if source is not None:
            return str(source)
        if isinstance(image_id, int) and str(image_id - NEGATIVE_OFFSET) in self.image_by_id:
            return str(image_id - NEGATIVE_OFFSET)
        return None

    def _check_federation(self) -> None:
        """LVIS: categories that are verified to be absent, or not annotated exhaustively."""
        declared = {str(category.get("id")) for category in self.categories}
        present = {(str(a.get("image_id")), str(a.get("category_id"))) for a in self.annotations}
        for number, image in enumerate(self.images):
            where = f"images[{number}] (id {image.get('id')})"
            absent, not_exhaustive = (
                self._category_ids(where, image, name)
                for name in ("neg_category_ids", "not_exhaustive_category_ids")
            )
            self.draft.count("absent categories", len(absent))
            self.draft.count("not exhaustive categories", len(not_exhaustive))
            for category in absent:
                if category not in declared:
                    problem = "an unknown category in neg_category_ids"
                    self.draft.add(problem, f"{where}: {category}")
                if (str(image.get("id")), category) in present:
                    problem = "a category is annotated and listed as absent"
                    self.draft.add(problem, f"{where}: {category}")

    def _category_ids(self, where: str, image: dict[str, Any], name: str) -> list[str]:
        ids = image.get(name, [])
        if isinstance(ids, list):
            return [str(category) for category in ids]
        self.draft.add("a part is not a list", f"{where}: {name}")
        return []


def _size(image: dict[str, Any]) -> tuple[int, int] | None:
    height_px, width_px = image.get("height"), image.get("width")
    if isinstance(height_px, int) and isinstance(width_px, int) and height_px and width_px:
        return height_px, width_px
    return None


def _leads_out(name: str) -> bool:
    path = PureWindowsPath(name)
    return bool(path.drive or path.root or ".." in path.parts)
