"""The vocabulary: what a benchmark, an answer and a number are.

A *case* is one counterfactual intervention; an *item* is one question about it; a *prediction*
is a model's response to an item, with a typed outcome; an *estimate* is a number with its
interval and the count behind it. Records are frozen msgspec structs: declared like dataclasses,
created several times faster, which matters at a million masks.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypedDict

import msgspec

__all__ = [
    "Benchmark",
    "Card",
    "Case",
    "Estimate",
    "Item",
    "Outcome",
    "Prediction",
    "Region",
    "Rle",
    "Role",
    "Row",
    "Summary",
]


class Outcome(StrEnum):
    """How a prediction ended. Stated by the model's side, never guessed from an empty mask."""

    OK = "ok"
    ABSTAINED = "abstained"
    """The model said that there is nothing: a valid answer."""
    UNPARSED = "unparsed"
    """An answer that could not be read: scored as wrong, never as a rejection."""
    FAILED = "failed"
    """Error, time-out, out of memory: not scored; reports give bounds."""


class Role(StrEnum):
    """Which corner of a counterfactual case an item asks about."""

    POSITIVE = "positive"
    """CAFE p⁺, and any plain query: the concept is meant to be there."""
    NEGATIVE = "negative"
    """CAFE p⁻ or a false premise: the concept is not there."""
    FACTUAL = "factual"
    """HalluSegBench (I, c)."""
    TEXTUAL = "textual"
    """HalluSegBench (I, c'): the words changed."""
    VISUAL = "visual"
    """HalluSegBench (I', c): the picture changed."""
    COUNTERFACTUAL = "counterfactual"
    """HalluSegBench (I', c')."""


class Rle(TypedDict):
    """A binary mask in COCO's compressed run-length code (column-major)."""

    size: tuple[int, int]
    """(height, width) in pixels."""
    counts: str


class Region(msgspec.Struct, frozen=True, gc=False):
    """One annotated object."""

    mask: Rle | None
    box_xywh: tuple[float, float, float, float] | None = None
    """Pixels; None means: take the mask's own box."""
    crowd: bool = False


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One question to a model: an image, a query, and what the answer is measured against."""

    id: str
    case_id: str
    role: Role
    image: str
    """File name relative to the benchmark's image folder."""
    height_px: int
    width_px: int
    query: str
    regions: tuple[Region, ...] = ()
    """What a perfect answer contains; empty where the concept is absent."""
    target: Region | None = None
    """The edited region, M* (or M_c, M'_c'): where a wrong answer is expected to land."""
    alternatives: tuple[tuple[Region, ...] | None, ...] = ()
    """The same from further annotators, in order; None where one did not see the item."""
    exhaustive: bool = True
    """False: not every instance is annotated, so instance metrics leave the item out."""

    def annotated_by(self, annotator: int) -> tuple[Region, ...] | None:
        """The regions by annotator, 0 being the first; None where one did not see the item."""
        if annotator == 0:
            return self.regions
        return self.alternatives[annotator - 1] if annotator <= len(self.alternatives) else None

    @property
    def present(self) -> bool:
        """Whether what the query names is in the image."""
        return bool(self.regions)


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One counterfactual intervention: the unit of resampling."""

    id: str
    intervention: str = ""
    """"SM", "CC", "OC", "replacement", …; empty for plain queries."""
    tags: dict[str, str] = msgspec.field(default_factory=dict)
    """Ways to slice, e.g. {"task": "referring"}."""


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """Where a benchmark comes from and how to cite it."""

    name: str
    title: str
    source: str
    licence: str
    citation: str
    main_metric: str
    content_hash: str = ""


class Benchmark(msgspec.Struct, frozen=True, kw_only=True):
    """Cases with their items; the items of one case stand next to each other."""

    card: Card
    cases: tuple[Case, ...]
    items: tuple[Item, ...]
    categories: tuple[int, ...] = ()
    """Ids of the categories that the source declares, where it does."""
    notes: tuple[str, ...] = ()
    """What the reader noticed and a user should know."""


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """A model's response to one item."""

    item_id: str
    outcome: Outcome
    masks: tuple[Rle, ...] = ()
    scores: tuple[float, ...] = ()
    boxes_xywh: tuple[tuple[float, float, float, float] | None, ...] = ()
    text: str = ""
    reason: str = ""
    """Why it failed or could not be read."""
    presence: float | None = None
    """How surely the phrase is in the picture at all, of models that say so; their scores contain
    it as a factor. No metric reads it."""


class Estimate(msgspec.Struct, frozen=True, gc=False):
    """A number, its 95 % interval, and how many things it is about. Undefined is None."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a result table."""

    n_cases: int
    metrics: dict[str, Estimate]


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """Everything `score` reports; the content of summary.json."""

    benchmark: str
    settings: dict[str, object]
    rows: dict[str, Row]
    outcomes: dict[str, int] = msgspec.field(default_factory=dict)
    """How many items ended how; COCO dumps cannot tell an abstention from a missing answer."""
    bounds: dict[str, dict[str, tuple[float | None, float | None]]] = msgspec.field(
        default_factory=dict
    )
    """Row → metric → (lowest, highest) value over all ways the failed items could have ended."""
    normal_halfwidths: dict[str, dict[str, float | None]] = msgspec.field(default_factory=dict)
    """Row → metric → 1.96·s/√n over cases, where the benchmark's paper reports that."""
    notes: tuple[str, ...] = ()
    data: dict[str, str] = msgspec.field(default_factory=dict)
    """SHA-256 of the inputs, so that only comparable runs are compared."""
    version: str = ""
