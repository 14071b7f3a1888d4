"""What is learnt from: a question about a picture, with what the picture shows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from hashlib import sha256
from typing import Literal

import msgspec

from groundfault.models.segvlm.prompts import Wording
from groundfault.records import Rle

__all__ = ["KINDS", "NEGATIVE", "Asked", "Kind", "Sample", "put"]

Kind = Literal["true", "false", "vqa", "factual", "textual", "visual", "counterfactual"]
KINDS: tuple[Kind, ...] = (
    "true", "false", "vqa", "factual", "textual", "visual", "counterfactual",
)  # fmt: skip
NEGATIVE = frozenset({"false", "textual", "visual"})
"""Kinds in which the thing is not there: λ_neg is about these."""


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """One question about one picture."""

    id: str
    image: str
    """Path of the picture."""
    query: str
    kind: Kind
    mask: Rle | None = None
    """Of what the query names; None where it is not there, or nothing is to be drawn."""
    instances: tuple[Rle, ...] = ()
    """The same thing by thing, where there are several; detectors learn from these."""
    ignored: Rle | None = None
    """Pixels that are neither the thing nor its background."""
    there: str = ""
    """What is there instead, where somebody says so."""
    answer: str = ""
    """The answer in words, where it is given: to questions ("vqa"), and to some false premises."""
    case_id: str = ""

    @property
    def is_negative(self) -> bool:
        """Whether the right answer is a denial."""
        return self.kind in NEGATIVE


class Asked(msgspec.Struct, frozen=True):
    """A sample in the words of one step."""

    sample: Sample
    question: str
    answer: str
    forced: str = ""
    """An answer with [SEG] to a negative sample: never learnt, but it must draw nothing."""


def put(samples: Sequence[Sample], *seeds: object, wordings: int = 0) -> list[Asked]:
    """Samples as questions with answers; the same seeds choose the same words."""
    digest = sha256("\0".join(map(str, seeds)).encode()).digest()
    words = Wording(random.Random(int.from_bytes(digest[:8], "big")), wordings)
    return [_put(sample, words) for sample in samples]


def _put(sample: Sample, words: Wording) -> Asked:
    if sample.kind == "vqa":
        return Asked(sample, sample.query, sample.answer)
    question, affirmed = words.ask(sample.query), words.affirm()
    if not sample.is_negative:
        return Asked(sample, question, affirmed)
    return Asked(sample, question, sample.answer or _denial(sample, words), affirmed)


def _denial(sample: Sample, words: Wording) -> str:
    if sample.there:
        return words.correct(sample.query, sample.there)
    return words.deny(sample.query)
