"""What the nano models learn to do, as one number to make small.

L = L_seg on (I, c) and (I', c') + λ_neg · L_abstain on (I, c'), (I', c) and the misleading
prompts (RobustSeg's counterfactual objective, with CAFE's prompts added). L_seg finds things,
says yes to what is true and no to what nobody would expect; L_abstain says no to what tempts.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from groundfault.training.nano.batches import Batch
from groundfault.training.nano.questions import EASY, TEMPTING, TRUE

__all__ = ["Loss", "loss"]


class Loss(NamedTuple):
    """The parts, each a scalar."""

    finding: Tensor
    matching: Tensor
    abstaining: Tensor


def loss(foreground: Tensor, where: Tensor, fits: Tensor, present: Tensor, batch: Batch) -> Loss:
    """What the network said: foreground (b, 1, s, s), where (b, 3, h, w), fits (b, k, p) and
    present (b, p)."""
    there = batch.there[:, :, None].float()
    # A phrase is in the picture if it is true of a thing that shows.
    truth = batch.fits.amax(1)
    fit_loss = (
        functional.binary_cross_entropy_with_logits(fits, batch.fits, reduction="none") * there
    )
    see_loss = functional.binary_cross_entropy_with_logits(present, truth, reduction="none")
    kinds = batch.kinds
    yes = (truth > 0) & (kinds == TRUE)
    easy, tempting = kinds == EASY, kinds == TEMPTING
    matching = (
        _mean(fit_loss, batch.fits * there)
        + _mean(fit_loss, (1 - batch.fits) * there * (yes | easy)[:, None].float())
        + _mean(see_loss, yes.float())
        + _mean(see_loss, easy.float())
    )
    abstaining = _mean(fit_loss, there * tempting[:, None].float()) + _mean(
        see_loss, tempting.float()
    )
    return Loss(_finding(foreground[:, 0], where, batch), matching, abstaining)


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
