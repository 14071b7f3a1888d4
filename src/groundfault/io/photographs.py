"""What sources say about photographs: the things in them, with masks, words and relations.

Readers of foreign sets (COCO, LVIS, SA-Co, RefCOCO, ReasonSeg, Visual Genome, FSC147, a plain
folder) give photographs one at a time, so that a set of any size fits into memory; benchmarks are
built from them, and models trained on them.
"""

from __future__ import annotations

import msgspec

from groundfault.records import Rle

__all__ = ["FalsePremise", "Photograph", "Relation", "Thing", "spoken"]


class Thing(msgspec.Struct, frozen=True, kw_only=True):
    """One annotated thing in a photograph."""

    id: str
    """The annotation's own id, unique in its photograph."""
    category: str
    """The source's word for it, e.g. "elephant"; "" where it has none (ReasonSeg)."""
    mask: Rle | None = None
    """None where the source has boxes or points alone."""
    box_xywh: tuple[float, float, float, float] | None = None
    """Pixels; None means: the mask's own box."""
    crowd: bool = False
    """The mask stands for several things."""
    ignored: Rle | None = None
    """Pixels that are neither the thing nor its background (ReasonSeg)."""
    phrases: tuple[str, ...] = ()
    """Referring expressions that single it out."""
    questions: tuple[str, ...] = ()
    """Questions whose answer it is (ReasonSeg)."""
    attributes: tuple[str, ...] = ()
    """What it is like (Visual Genome): "red", "wooden"."""
    masked_by: str = ""
    """The segmenter that made the mask; "" where people did."""
    alternatives: tuple[Rle, ...] = ()
    """Its mask from further annotators, in order (SA-Co/Gold)."""


class Relation(msgspec.Struct, frozen=True):
    """A relation between two things of a photograph, by their ids: "cup", "on", "table"."""

    subject_id: str
    predicate: str
    object_id: str


class FalsePremise(msgspec.Struct, frozen=True):
    """Words about something that is not in the photograph (FP-RefCOCO, FP-Aug ReasonSeg)."""

    text: str
    answer: str = ""
    """What is to be said to it, or what is there instead; "" where the source has none."""
    is_question: bool = False
    """A question or sentence rather than a phrase."""


class Photograph(msgspec.Struct, frozen=True, kw_only=True):
    """A photograph with everything its source says about it."""

    id: str
    """Unique in its source."""
    source: str
    """The name of the set: "coco", "lvis", "saco", "refcoco", "visual-genome", …"""
    file: str
    """Its name below the folder of pictures."""
    height_px: int
    width_px: int
    things: tuple[Thing, ...] = ()
    relations: tuple[Relation, ...] = ()
    absent: tuple[str, ...] = ()
    """Categories that the annotators verified to be absent (LVIS, SA-Co)."""
    exhaustive: bool = True
    """Every instance of the annotated categories is annotated."""
    partial: tuple[str, ...] = ()
    """Categories of which not every instance is annotated (LVIS); others are exhaustive even so."""
    false_premises: tuple[FalsePremise, ...] = ()
    counts: dict[str, int] = {}
    """How many of a thing are in it, where they are counted (FSC147)."""
    split: str = ""
    """"train", "val", "testA" … where the source says so."""
    licence: str = ""
    """The source's word for how it may be used; "" where it says nothing."""
    url: str = ""
    """Where it comes from."""
    coco_id: str = ""
    """The id of the same picture in COCO, where it is one of COCO's: several sets share these."""


def spoken(category: str) -> str:
    """A category as one would say it: LVIS tells senses apart in brackets.

    >>> spoken("mouse (computer equipment)"), spoken("monitor (equipment) computer monitor")
    ('mouse', 'computer monitor')
    """
    before, _, rest = category.partition("(")
    after = rest.rpartition(")")[2].strip()
    return after or before.strip() or category
