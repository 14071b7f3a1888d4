"""What an inspection says: counts, ranges, and findings of known kinds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from groundfault.errors import DataError, GroundfaultError
from groundfault.io.coco import EDIT_TYPES
from groundfault.io.convert import KNOWN
from groundfault.records import Outcome
from groundfault.registry import load, names

__all__ = ["EXAMPLES", "Draft", "Finding", "Report", "description", "unknown"]

EXAMPLES = 5
"""How many records a finding names."""

DESCRIPTIONS = {
    "results": "COCO results: predictions",
    "exam": "a groundfault exam folder (ReactBench)",
    "native exam": "an exam as JSON, one file per task (ReactBench)",
    "scores": "a folder of scores written by groundfault",
    "unknown": "not a format we know",
}


def description(format: str) -> str:
    """What a file of a format is, in a few words: a benchmark's own, or one of DESCRIPTIONS."""
    if format in DESCRIPTIONS or format not in names("benchmarks"):
        return DESCRIPTIONS.get(format, format)
    return str(getattr(load("benchmarks", format), "ABOUT", format))


SEVERITIES = ("error", "warning", "info")
_AGAIN = "write or download the file again"
_ENCODE_AGAIN = "encode the mask again at the size of its image"
_OWN_ID = "give each its own id"
_INSTANCES = "give the instances that belong to these refs"

PROBLEMS: dict[str, tuple[str, str]] = {
    # files
    "the file ends in the middle of its JSON": ("error", _AGAIN),
    "not valid JSON": ("error", _AGAIN),
    "a number is NaN or infinite, or text is not UTF-8": (
        "error",
        "write the file again as UTF-8 JSON without NaN",
    ),
    "a part is not a list": ("error", f"give {KNOWN}"),
    "a record is not an object": ("error", "drop it"),
    # masks and boxes
    "unsound mask": ("error", _ENCODE_AGAIN),
    "a mask of another size than its image": ("error", _ENCODE_AGAIN),
    "masks of one image have different sizes": ("error", _ENCODE_AGAIN),
    "unsound bbox": ("error", "give x, y, width, height in pixels"),
    "neither mask nor box": ("error", "give a mask as RLE or polygons"),
    "only a box, no mask": ("warning", "score with --iou bbox"),
    # results
    "no image_id": ("error", "give every prediction its image_id"),
    "unknown outcome": ("error", f"use one of {', '.join(Outcome)}"),
    "no score": ("error", "give every prediction a number as score"),
    "the score is NaN or infinite": ("error", "drop the record, or write the real number"),
    "the score is outside 0–1": ("info", "choose t on the same scale"),
    "there is no prediction": ("warning", "check that the model ran"),
    "predictions have several categories": (
        "info",
        "fine for COCO and LVIS; image–phrase benchmarks declare one, and parity leaves others out "
        "of the cgF1 family",
    ),
    # images, annotations, categories
    "an image has no id": ("error", _OWN_ID),
    "an image id occurs twice": ("error", _OWN_ID),
    "an image has no height and width": ("warning", "give it its size in pixels"),
    "an image claims an impossible size": ("error", "give it its size in pixels"),
    "a file_name leads out of its folder": ("warning", "make it relative"),
    "an annotation id occurs twice": ("error", _OWN_ID),
    "an annotation is of an unknown image": ("error", "add the image or drop the annotation"),
    "an annotation has an unknown category": ("error", "add the category or drop the annotation"),
    "a category id occurs twice": ("error", _OWN_ID),
    # image–phrase pairs
    "a pair has no text_input": ("error", "give it its phrase"),
    "an image–phrase file declares several categories": ("info", "they are pooled"),
    "an unknown edit_type": ("error", f"use one of {', '.join(EDIT_TYPES)}"),
    "a negative without its positive": ("error", "add the positive or drop the negative"),
    "a negative has masks": ("warning", "nothing to do if its phrase is there"),
    "a positive has several masks": ("warning", "target-aware metrics take the first"),
    "a positive has no mask": ("warning", "its pair is left out of target-aware metrics"),
    # LVIS
    "an unknown category in neg_category_ids": ("error", "drop it"),
    "a category is annotated and listed as absent": ("warning", "the annotation decides"),
    # refs
    "a ref_id occurs twice": ("error", _OWN_ID),
    "a ref has no sentence": ("warning", "nothing to do: it is left out"),
    "a ref is of an unknown image": ("error", _INSTANCES),
    "a ref points to an unknown annotation": ("error", _INSTANCES),
    "a ref points to an annotation of another image": ("error", _INSTANCES),
    "a sentence has no words": ("error", "give it its sent"),
    "is_false_premise and exist contradict each other": ("error", "keep the right one of both"),
    "a premise is true, but its ref points to no annotation": (
        "error",
        "give the ref its ann_id, or mark the sentence as a false premise",
    ),
    "sentences have no unique sent_id": (
        "info",
        'predictions must name a query "{ref_id}:{position in the ref}"',
    ),
    "refs without their instances": ("info", "read both files together"),
    # HalluSegBench
    "a field is missing": ("error", "add the field or drop the record"),
    "the same image and ann_id twice": ("error", "keep one of both"),
    "a mask is not there": ("error", "check the data folder"),
    "a mask cannot be read": ("error", "write it again as an 8-bit grey PNG"),
    "a mask is empty": ("warning", "CMS is not defined for it"),
    # any benchmark
    "a query has no words": ("error", "give it its phrase or question, or drop it"),
    # our own folders
    "an image is missing": ("error", "copy it to images/ under this name"),
    "summary.json and cases.parquet do not belong together": (
        "error",
        "score again into a new folder",
    ),
    "items failed and are not in the scores": (
        "warning",
        "predict those again; until then see bounds",
    ),
}
"""Everything that can be wrong: how bad it is, and what to do."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of problem, with how often and where first."""

    severity: str
    """"error": reading or scoring refuses it; "warning": probably not meant; "info": good to
    know."""
    problem: str
    count: int
    records: tuple[str, ...]
    """The first few places, each with what is particular to it."""
    remedy: str


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What was found."""

    path: str
    format: str
    """A name that `convert.read_any` takes, or another of DESCRIPTIONS."""
    description: str
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    fields: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """Part of the file → names of the fields seen there."""
    ranges: dict[str, tuple[float, float]] = msgspec.field(default_factory=dict)
    """Quantity → (lowest, highest)."""
    predictions_per_image: dict[str, float] = msgspec.field(default_factory=dict)
    """"lowest", "median", "mean", "highest", over images that have any."""
    boxes: str = ""
    """"pixels", "normalised", or empty where there are none."""
    findings: tuple[Finding, ...] = ()
    """Errors first."""

    @property
    def sound(self) -> bool:
        """Whether no finding is an error."""
        return all(finding.severity != "error" for finding in self.findings)


class Draft:
    """A report in the making; findings are grouped by problem and bounded."""

    def __init__(self, path: Path, format: str) -> None:
        self.path = path
        self.format = format
        self.counts: dict[str, int] = {}
        self.fields: dict[str, dict[str, None]] = {}
        self.ranges: dict[str, tuple[float, float]] = {}
        self.predictions_per_image: dict[str, float] = {}
        self.boxes = ""
        self.findings: dict[tuple[str, str, str], list[str]] = {}
        self.occurrences: dict[tuple[str, str, str], int] = {}

    def add(self, problem: str, record: str) -> None:
        """Note one occurrence of a problem that PROBLEMS knows."""
        severity, remedy = PROBLEMS[problem]
        self.add_other(severity, problem, record, remedy)

    def add_other(self, severity: str, problem: str, record: str, remedy: str) -> None:
        """Note what somebody else found."""
        kind = (severity, problem, remedy)
        self.occurrences[kind] = self.occurrences.get(kind, 0) + 1
        records = self.findings.setdefault(kind, [])
        if len(records) < EXAMPLES:  # JSON may hold half a character, which cannot be written
            records.append(record.encode("utf-8", "replace").decode())

    def add_refusal(self, problem: GroundfaultError) -> None:
        """Note why a reader refused the file."""
        if isinstance(problem, DataError):
            where = problem.record or problem.file
            self.add_other("error", problem.problem, where, problem.remedy)
        else:
            self.add_other("error", str(problem), str(self.path), "see the message")

    def count(self, what: str, n: int = 1) -> None:
        self.counts[what] = self.counts.get(what, 0) + n

    def saw_fields(self, part: str, record: Mapping[str, Any]) -> None:
        self.fields.setdefault(part, {}).update(dict.fromkeys(record))

    def saw_value(self, name: str, value: float) -> None:
        low, high = self.ranges.get(name, (value, value))
        self.ranges[name] = (min(low, value), max(high, value))

    @property
    def any_error(self) -> bool:
        return any(severity == "error" for severity, _, _ in self.findings)

    def report(self) -> Report:
        """The finished report."""
        findings = [
            Finding(
                severity=severity,
                problem=problem,
                count=self.occurrences[severity, problem, remedy],
                records=tuple(records),
                remedy=remedy,
            )
            for (severity, problem, remedy), records in self.findings.items()
        ]
        return Report(
            path=str(self.path),
            format=self.format,
            description=description(self.format),
            counts=self.counts,
            fields={part: tuple(names) for part, names in self.fields.items()},
            ranges=self.ranges,
            predictions_per_image=self.predictions_per_image,
            boxes=self.boxes,
            findings=tuple(sorted(findings, key=lambda f: SEVERITIES.index(f.severity))),
        )


def unknown(path: Path, what: str) -> Report:
    """The report on something else."""
    draft = Draft(path, "unknown")
    draft.add_other("error", f"this is not a format we know: {what}", str(path), f"give {KNOWN}")
    return draft.report()
