"""JSON lists of records: results, HalluSegBench's cases, refs. They are streamed."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path, PureWindowsPath
from statistics import median
from typing import Any, Protocol

from groundfault.errors import DataError
from groundfault.io import convert
from groundfault.io.foreign import stream_json_list, within
from groundfault.io.inspection.benchmarks import inspect_benchmark
from groundfault.io.inspection.regions import (
    BoxUnits,
    box_problem,
    is_id,
    is_number,
    mask_problem,
    rle_size,
)
from groundfault.io.inspection.report import EXAMPLES, Draft, Report, unknown
from groundfault.io.mask_pictures import read_mask
from groundfault.io.masks import MAX_PIXELS
from groundfault.records import Outcome
from groundfault.registry import load

__all__ = ["Refs", "Replacements", "inspect_list"]

_CHUNK_CHARACTERS = 1 << 20


def inspect_list(path: Path) -> Report:
    """Strictly first, as that is faster; laxly where that fails."""
    strict = (
        record
        for _, records in stream_json_list(path, dict[str, Any], expected=convert.KNOWN)
        for record in records
    )
    try:
        return _inspect_records(path, strict, Draft(path, "unknown"))
    except DataError as problem:
        draft = Draft(path, "unknown")
        report = _inspect_records(path, _lax_records(path, draft), draft)
        if not report.sound:
            return report
        draft.add_refusal(problem)  # what a reader refuses is never called sound
        return draft.report()


def _lax_records(path: Path, draft: Draft) -> Iterator[Any]:
    """The records of a JSON list as far as they can be read, NaN and all."""
    decode = json.JSONDecoder().raw_decode
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        text, position, number = file.read(_CHUNK_CHARACTERS).lstrip()[1:], 0, 0
        while True:
            while position < len(text) and text[position] in " \t\r\n,":
                position += 1
            if text[position : position + 1] == "]":
                return
            try:
                record, position = decode(text, position)
            except (json.JSONDecodeError, RecursionError) as problem:
                more = file.read(_CHUNK_CHARACTERS)
                if not more:
                    draft.add(malformation(problem, text), f"record {number}")
                    return
                text, position = text[position:] + more, 0
                continue
            yield record
            number += 1


def malformation(problem: Exception, text: str) -> str:
    """Whether JSON is cut off or something else is wrong with it."""
    if not isinstance(problem, json.JSONDecodeError):
        return "not valid JSON"
    cut_off = problem.msg.startswith("Unterminated") or problem.pos >= len(text.rstrip()) - 1
    return "the file ends in the middle of its JSON" if cut_off else "not valid JSON"


class _Inspector(Protocol):
    def add(self, number: int, record: dict[str, Any]) -> None: ...
    def finish(self) -> None: ...


def _inspect_records(path: Path, records: Iterable[Any], draft: Draft) -> Report:
    stream = iter(records)
    first = next(stream, None)
    if first is None:
        name = None if draft.findings else convert.RESULTS
    else:
        name = convert.format_of_record(first, path) if isinstance(first, dict) else None
    if name is None:
        if draft.findings:
            return draft.report()
        return unknown(path, "a JSON list whose records are of no kind that we know")
    draft.format = name
    make: Callable[[Draft], _Inspector] | None = (
        Results if name == convert.RESULTS else getattr(load("benchmarks", name), "inspector", None)
    )
    if make is None:
        return inspect_benchmark(draft)
    inspector = make(draft)
    for number, record in enumerate(() if first is None else chain([first], stream)):
        draft.count("records")
        if not isinstance(record, dict):
            draft.add("a record is not an object", f"record {number}")
            continue
        draft.saw_fields("records", record)
        inspector.add(number, record)
    inspector.finish()
    return draft.report()


class Results:
    """COCO results, record by record."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.per_image: Counter[str] = Counter()
        self.sizes: dict[str, tuple[int, int]] = {}
        self.categories: dict[str, None] = {}
        self.boxes = BoxUnits()

    def add(self, number: int, record: dict[str, Any]) -> None:
        image_id = record.get("image_id")
        where = f"record {number} (image_id {image_id})"
        if not is_id(image_id):
            self.draft.add("no image_id", where)
            return
        outcome = record.get("outcome")
        if outcome is not None and outcome not in [known.value for known in Outcome]:
            self.draft.add("unknown outcome", f"{where}: {outcome}")
        elif outcome not in (None, Outcome.OK):
            self.draft.count(f"{outcome} items")
            return
        self.per_image[str(image_id)] += 1
        if record.get("category_id") is not None:
            self.categories[str(record["category_id"])] = None
        self._check_score(where, record.get("score"))
        self._check_region(where, str(image_id), record)

    def _check_score(self, where: str, score: Any) -> None:
        if not is_number(score):
            self.draft.add("no score", where)
        elif not math.isfinite(score):
            self.draft.add("the score is NaN or infinite", where)
        else:
            self.draft.saw_value("score", float(score))
            if not 0 <= score <= 1:
                self.draft.add("the score is outside 0–1", f"{where}: {score}")

    def _check_region(self, where: str, image_id: str, record: dict[str, Any]) -> None:
        segmentation, box = record.get("segmentation"), record.get("bbox")
        if box:
            problem = box_problem(box)
            if problem:
                self.draft.add("unsound bbox", f"{where}: {problem}")
            else:
                self.boxes.add(box)
        if segmentation is None:
            self.draft.add("only a box, no mask" if box else "neither mask nor box", where)
            return
        height_px, width_px = rle_size(segmentation) or (1, 1)  # polygons have no size to check
        if min(height_px, width_px) <= 0 or height_px * width_px > MAX_PIXELS:
            problem = f"it claims {height_px}x{width_px} pixels (height x width)"
        else:
            problem = mask_problem(segmentation, height_px, width_px)
        if problem:
            self.draft.add("unsound mask", f"{where}: {problem}")
        elif isinstance(segmentation, dict):
            self._check_size(where, image_id, (height_px, width_px))

    def _check_size(self, where: str, image_id: str, size: tuple[int, int]) -> None:
        self.draft.saw_value("mask height_px", size[0])
        self.draft.saw_value("mask width_px", size[1])
        before = self.sizes.setdefault(image_id, size)
        if before != size:
            self.draft.add(
                "masks of one image have different sizes",
                f"{where}: {size[0]}x{size[1]}, before {before[0]}x{before[1]}",
            )

    def finish(self) -> None:
        draft, counts = self.draft, sorted(self.per_image.values())
        draft.counts |= {
            "predictions": sum(counts),
            "images": len(counts),
            "categories": len(self.categories),
        }
        draft.boxes = self.boxes.name()
        if len(self.categories) > 1:
            names = list(self.categories)
            more = " …" if len(names) > EXAMPLES else ""
            draft.add("predictions have several categories", ", ".join(names[:EXAMPLES]) + more)
        if counts:
            draft.predictions_per_image = {
                "lowest": counts[0],
                "median": float(median(counts)),
                "mean": sum(counts) / len(counts),
                "highest": counts[-1],
            }
        elif not any(name.endswith(" items") for name in draft.counts):
            draft.add("there is no prediction", str(draft.path))


class Replacements:
    """HalluSegBench's cases, in the field names of either release."""

    REQUIRED = (
        ("ann_id",),
        ("factual_image_path", "image_file"),
        ("factual_mask_path", "mask_file"),
        ("counterfactual_mask_path", "counterfactual_mask", "new_mask_path"),
    )

    def __init__(self, draft: Draft, data: Path, task_of: Callable[[dict[str, Any]], str]) -> None:
        self.draft = draft
        self.data = data
        self.task_of = task_of
        self.seen: set[str] = set()

    def add(self, number: int, record: dict[str, Any]) -> None:
        values = [
            next((record[name] for name in names if record.get(name) not in (None, "")), None)
            for names in self.REQUIRED
        ]
        ann_id, image, *masks = values
        where = f"record {number} (image {image}, ann_id {ann_id})"
        for names, value in zip(self.REQUIRED, values, strict=True):
            if value is None:
                self.draft.add("a field is missing", f"{where}: {' or '.join(names)}")
        key = f"{PureWindowsPath(str(image)).stem}_{ann_id}"
        if key in self.seen:
            self.draft.add("the same image and ann_id twice", where)
        self.seen.add(key)
        self.draft.count(f"cases of task {self.task_of(record) or 'not said'}")
        for mask in masks:
            if mask is not None:
                self._check_mask_file(where, str(mask))

    def _check_mask_file(self, where: str, name: str) -> None:
        self.draft.count("masks")
        try:
            path = within(self.data, name, file=self.draft.path, record=where)
            mask = read_mask(path, where)
        except DataError as problem:
            self.draft.add("a mask cannot be read", f"{where}: {problem.problem}")
            return
        if mask is None:
            self.draft.add("a mask is not there", f"{where}: {name} in {self.data}")
            return
        self.draft.saw_value("mask height_px", mask.shape[0])
        self.draft.saw_value("mask width_px", mask.shape[1])
        if not mask.area():
            self.draft.add("a mask is empty", f"{where}: {name}")

    def finish(self) -> None:
        pass


class Refs:
    """REFER-style refs; `image_of` maps annotation id to image id, and `images` are their ids,
    where the instances are known."""

    def __init__(
        self,
        draft: Draft,
        images: Iterable[str] | None = None,
        image_of: dict[str, str] | None = None,
    ) -> None:
        self.draft = draft
        self.images = None if images is None else set(images)
        self.image_of = image_of or {}
        self.ref_ids: set[str] = set()
        self.sentence_ids: list[str | None] = []

    def add(self, number: int, record: dict[str, Any]) -> None:
        ref_id = str(record.get("ref_id"))
        where = f"refs[{number}] (ref_id {ref_id})"
        if ref_id in self.ref_ids:
            self.draft.add("a ref_id occurs twice", where)
        self.ref_ids.add(ref_id)
        self.draft.count("refs")
        self.draft.count(f"refs of split {record.get('split') or 'none'}")
        given = record.get("ann_id", -1)
        wanted = [str(a) for a in (given if isinstance(given, list) else [given]) if str(a) != "-1"]
        self._check_instances(where, str(record.get("image_id")), wanted)
        sentences = record.get("sentences")
        if not isinstance(sentences, list) or not sentences:
            self.draft.add("a ref has no sentence", where)
            return
        for k, sentence in enumerate(sentences):
            self._check_sentence(f"{where}, sentences[{k}]", sentence, bool(wanted))

    def _check_instances(self, where: str, image_id: str, wanted: Sequence[str]) -> None:
        if self.images is None:
            return
        if image_id not in self.images:
            self.draft.add("a ref is of an unknown image", f"{where}: {image_id}")
        for annotation in wanted:
            if annotation not in self.image_of:
                self.draft.add("a ref points to an unknown annotation", f"{where}: {annotation}")
            elif self.image_of[annotation] != image_id:
                problem = "a ref points to an annotation of another image"
                self.draft.add(problem, f"{where}: {annotation}")

    def _check_sentence(self, where: str, sentence: Any, annotated: bool) -> None:
        if not isinstance(sentence, dict) or not isinstance(sentence.get("sent"), str):
            self.draft.add("a sentence has no words", where)
            return
        sent_id = sentence.get("sent_id")
        self.sentence_ids.append(None if sent_id is None else str(sent_id))
        false, exist = sentence.get("is_false_premise"), sentence.get("exist")
        if false is not None and exist is not None and bool(false) == bool(exist):
            self.draft.add("is_false_premise and exist contradict each other", where)
        true_premise = not false if false is not None else annotated if exist is None else exist
        self.draft.count("true premises" if true_premise else "false premises")
        if true_premise and not annotated:
            self.draft.add("a premise is true, but its ref points to no annotation", where)

    def finish(self) -> None:
        ids = self.sentence_ids
        if None in ids or len(set(ids)) < len(ids):
            self.draft.add("sentences have no unique sent_id", str(self.draft.path))
        if self.images is None:
            self.draft.add("refs without their instances", str(self.draft.path))
