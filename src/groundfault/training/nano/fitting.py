"""The loop: draw a batch, take a step, say how it goes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from groundfault.training.nano.batches import Batch, draw, joined
from groundfault.training.nano.network import Nano
from groundfault.training.nano.objective import Loss, loss
from groundfault.training.nano.pictures import Pictures

__all__ = ["Fitting", "Mixture", "fit"]

WARM_UP = 60
WEIGHT_DECAY = 0.02
SAY_EVERY = 10


class Mixture(NamedTuple):
    """Pictures and how many of them go into a step."""

    pictures: Pictures
    each_step: int
    paired: bool = False
    """Pairs stay together."""
    chances: NDArray[np.float64] | None = None
    """Of each picture, or pair, to be drawn; all alike if None."""
    often: Mapping[str, float] | None = None
    """How often each concept is there, if absent ones are to be asked for as often."""
    depictions: float = 0.0
    """Share of sculptures that are called what they show."""
    tempting: bool = False
    """What tempts is asked for."""
    misleading: bool = True
    """What tempts is also what the picture itself suggests, not only what its twin shows."""
    coats: float = 0.0
    """Share of things that get random colours."""


class Fitting:
    """A training under way: everything that a resumed one needs."""

    def __init__(
        self,
        network: Nano,
        learning_rate: float,
        steps: int,
        lambda_neg: float,
        seed: int,
        rivals: float = 1.0,
        eagerness: float = 1.0,
        sculptures_yes: float = 1.0,
    ) -> None:
        self.network = network.to(memory_format=torch.channels_last).train()  # type: ignore[call-overload]
        self.learning_rate, self.steps, self.lambda_neg = learning_rate, steps, lambda_neg
        self.rivals, self.eagerness, self.sculptures_yes = rivals, eagerness, sculptures_yes
        self.rng = np.random.default_rng(seed)
        self.step = 0
        groups: list[dict[str, Any]] = [
            {"params": [p for p in network.parameters() if p.ndim > 1]},
            {"params": [p for p in network.parameters() if p.ndim <= 1], "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.AdamW(
            groups,
            lr=learning_rate,
            weight_decay=WEIGHT_DECAY,
            betas=(0.9, 0.98),
        )

    def state(self) -> dict[str, Any]:
        """To be stored."""
        return {
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "rng": self.rng.bit_generator.state,
            "step": self.step,
        }

    def restore(self, stored: dict[str, Any]) -> None:
        """Go on from there."""
        self.network.load_state_dict(stored["network"])
        self.optimizer.load_state_dict(stored["optimizer"])
        self.rng.bit_generator.state = stored["rng"]
        self.step = stored["step"]

    def take_step(self, batch: Batch) -> Loss:
        """AdamW on half a cosine after a warm-up."""
        pace = 0.5 + 0.5 * math.cos(math.pi * self.step / self.steps)
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate * min(1.0, (self.step + 1) / WARM_UP) * pace
        foreground, where, fits = self.network(batch.pictures, batch.masks, batch.ids, batch.asked)
        parts = loss(
            foreground,
            where,
            fits,
            batch,
            rivals=self.rivals,
            eagerness=self.eagerness,
            sculptures_yes=self.sculptures_yes,
        )
        total = parts.finding + parts.matching + self.lambda_neg * parts.abstaining
        self.optimizer.zero_grad(set_to_none=True)
        total.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimizer.step()
        self.step += 1
        return parts


def fit(
    fitting: Fitting, mixtures: Sequence[Mixture], words: dict[str, int]
) -> Iterator[tuple[int, dict[str, float]]]:
    """Train to the end; now and then the step and the mean losses since the last word."""
    sums, said = np.zeros(3), fitting.step
    while fitting.step < fitting.steps:
        batch = joined([_drawn_batch(mixture, words, fitting.rng) for mixture in mixtures])
        sums += [float(part.detach()) for part in fitting.take_step(batch)]
        if fitting.step % SAY_EVERY == 0 or fitting.step == fitting.steps:
            means = sums / (fitting.step - said)
            yield fitting.step, dict(zip(Loss._fields, means.round(3).tolist(), strict=True))
            sums, said = np.zeros(3), fitting.step


def _drawn_batch(mixture: Mixture, words: dict[str, int], rng: np.random.Generator) -> Batch:
    pictures, paired = mixture.pictures, mixture.paired
    each = 2 if paired else 1
    drawn = rng.choice(len(pictures.scenes) // each, mixture.each_step // each, p=mixture.chances)
    indices = np.concatenate([drawn * each + side for side in range(each)])
    return draw(
        pictures,
        indices,
        words,
        rng,
        tempting=mixture.tempting,
        paired=paired,
        misleading=mixture.misleading,
        often=mixture.often,
        depictions=mixture.depictions,
        coats=mixture.coats,
    )
