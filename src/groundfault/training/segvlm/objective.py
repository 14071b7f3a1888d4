"""What training minimises.

L = w_ce·CE + w_bce·BCE + w_dice·Dice over samples in which the thing is there, and
λ_neg·(w_ce·CE + w_presence·presence + w_empty·empty) over those in which it is not.

CE is the mean over an answer's tokens; BCE and Dice compare masks in the decoder's frame. Each is a
mean over the samples of the whole step that it is about, so that neither the number of processes
nor that of micro-batches changes it. Weights of CE, BCE and Dice, Dice's scale and ε are LISA's.

The negative part is a reconstruction: RobustSeg's paper says that its loss discourages output where
there is no evidence, and gives λ_neg, but not the form. Here it is the cross-entropy of a denial
without [SEG]. Optionally, where [SEG] is forced upon the model against the evidence, the decoder's
presence head has to say no, and its mask has to be empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

import msgspec
import torch
from torch.nn import functional

from groundfault.training.segvlm.samples import Sample

__all__ = ["PARTS", "Losses", "applies", "bce", "counts", "dice", "total"]

PARTS = ("ce", "bce", "dice", "presence", "empty")
SCALE, EPSILON = 1000.0, 1e-6
NO_DIVISION_BY_ZERO = 1e-8
Weight = Annotated[float, msgspec.Meta(ge=0)]


class Losses(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The weights of the parts."""

    ce: Weight = 1.0
    """Cross-entropy of the words."""
    bce: Weight = 2.0
    """Binary cross-entropy of the mask."""
    dice: Weight = 0.5
    """Dice loss of the mask."""
    presence: Weight = 0.0
    """Of the decoder's presence head: 1 where the thing is there, 0 where [SEG] was forced."""
    empty: Weight = 0.0
    """Of a mask that must be empty where [SEG] was forced."""
    lambda_neg: Weight = 1.0
    """How much questions about what is not there count."""

    @property
    def forces(self) -> bool:
        """Whether negative samples are also answered with [SEG]."""
        return self.presence > 0 or self.empty > 0

    def of(self, part: str) -> float:
        """The weight of a part."""
        return float(getattr(self, part))


def bce(logits: torch.Tensor, targets: torch.Tensor, inside: torch.Tensor) -> torch.Tensor:
    """(n,): mean binary cross-entropy over the pixels inside."""
    each = functional.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    return (each * inside).sum(dim=(1, 2)) / inside.sum(dim=(1, 2))


def dice(logits: torch.Tensor, targets: torch.Tensor, inside: torch.Tensor) -> torch.Tensor:
    """(n,): 1 − (2·Σp·t/1000 + ε) / (Σp/1000 + Σt/1000 + ε) over the pixels inside."""
    chances = logits.sigmoid() * inside
    shared = 2 * (chances / SCALE * targets).sum(dim=(1, 2))
    both = (chances / SCALE).sum(dim=(1, 2)) + (targets * inside / SCALE).sum(dim=(1, 2))
    return 1 - (shared + EPSILON) / (both + EPSILON)


def applies(part: str, sample: Sample) -> bool:
    """Whether a part is about a sample."""
    if part == "ce":
        return True
    if sample.kind == "vqa":
        return False
    if part in ("bce", "dice"):
        return sample.mask is not None
    return sample.is_negative if part == "empty" else True


def counts(samples: Iterable[Sample]) -> dict[str, int]:
    """How many samples of a step each part is about."""
    found = dict.fromkeys(PARTS, 0)
    for sample in samples:
        for part in PARTS:
            found[part] += applies(part, sample)
    return found


def total(
    parts: Mapping[str, torch.Tensor],
    samples: Sequence[Sample],
    weights: Losses,
    counts: Mapping[str, int],
) -> torch.Tensor:
    """The loss of some samples of a step, as their share of the step's mean. `parts` are (n,)
    values in the order of the samples, 0 where a part is not about one."""
    first = next(iter(parts.values()))
    factors = first.new_tensor([weights.lambda_neg if s.is_negative else 1.0 for s in samples])
    return torch.stack(
        [
            weights.of(part) * (factors * values).sum() / (counts[part] + NO_DIVISION_BY_ZERO)
            for part, values in parts.items()
        ]
    ).sum()
