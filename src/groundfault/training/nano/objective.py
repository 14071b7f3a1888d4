"""What the nano models learn to do, as one number to make small.

L = L_seg on (I, c) and (I', c') + λ_neg · L_abstain on (I, c'), (I', c) and the misleading
prompts (RobustSeg's counterfactual objective, with CAFE's prompts added). L_seg finds things,
says yes to what is true and no to what nobody would expect, and lets the thing that a phrase is
true of fit it better than the other things of the picture (the softmax over things that grounding
models are trained with); L_abstain says no to what tempts. `rivals` is how much it counts that the
other things are also told no: without it they only have to fit less, as in grounding. `eagerness`
is how much a yes counts against a no: detectors weigh their rare positives more. `sculptures_yes`
is how much more a yes counts where a sculpture is asked for.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from groundfault.training.nano.batches import Batch
from groundfault.training.nano.questions import EASY, TEMPTING, TRUE

__all__ = ["Loss", "loss"]

FAR = 1e4
"""What is not there is so much less likely."""


class Loss(NamedTuple):
    """The parts, each a scalar."""

    finding: Tensor
    matching: Tensor
    abstaining: Tensor


def loss(
    foreground: Tensor,
    where: Tensor,
    fits: Tensor,
    batch: Batch,
    *,
    rivals: float = 1.0,
    eagerness: float = 1.0,
    sculptures_yes: float = 1.0,
) -> Loss:
    """What the network said: foreground (b, 1, s, s), where (b, 3, h, w), fits (b, k, p)."""
    there = batch.there[:, :, None].float()
    true = batch.fits
    said = functional.binary_cross_entropy_with_logits(fits, true, reduction="none") * there
    kinds = batch.kinds[:, None]
    yes = (true.amax(1, keepdim=True) > 0) & (kinds == TRUE)
    easy, tempting = kinds == EASY, kinds == TEMPTING
    worth = 1 + (sculptures_yes - 1) * batch.sculptures[:, None].float()
    matching = (
        eagerness * _mean(said * worth, true * there)
        + _mean(said, there * easy.float())
        + _mean(_preference(fits, true, there), yes[:, 0].float())
        + rivals * _mean(said, (1 - true) * there * yes.float())
    )
    abstaining = _mean(said, there * tempting.float())
    return Loss(_finding(foreground[:, 0], where, batch), matching, abstaining)


def _preference(fits: Tensor, true: Tensor, there: Tensor) -> Tensor:
    """How unsure the choice among the things of a picture is, (b, p): 0 where the right one wins
    by far."""
    among = (fits + (there - 1) * FAR).logsumexp(1)
    right = (fits + (true * there - 1) * FAR).logsumexp(1)
    return among - right


def _mean(values: Tensor, weights: Tensor) -> Tensor:
    return (values * weights).sum() / weights.sum().clamp(min=1.0)


def _finding(foreground: Tensor, where: Tensor, batch: Batch) -> Tensor:
    """Foreground by cross-entropy and Dice, middles by focal loss, ways by distance."""
    ground = batch.ground
    entropy = functional.binary_cross_entropy_with_logits(foreground, ground)
    p = foreground.sigmoid()
    dice = 1 - (2 * (p * ground).sum((1, 2)) + 1) / (p.sum((1, 2)) + ground.sum((1, 2)) + 1)
    q = where[:, 0].sigmoid().clamp(1e-4, 1 - 1e-4)
    peak = (batch.heat > 0.99).float()
    focal = (
        -(peak * (1 - q) ** 2 * q.log()) - (1 - peak) * (1 - batch.heat) ** 4 * q**2 * (1 - q).log()
    )
    middles = focal.sum() / peak.sum().clamp(min=1.0)
    inside = (batch.masks.sum(1, keepdim=True) >= 0.5).float()
    ways = _mean((where[:, 1:] - batch.way).abs(), inside.expand(-1, 2, -1, -1))
    total: Tensor = 5 * entropy + dice.mean() + middles + 10 * ways
    return torch.as_tensor(total)
