"""The loop: draw a step, take it in micro-batches, over however many processes there are.

Every process plans the whole step and takes its share of it; gradients are summed at its end. So a
step's loss is the same whatever the number of processes, of micro-batches, and of halvings when
memory runs out. Dropout is seeded by step and process: nothing random outlives a step.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
import torch

from groundfault.errors import GroundfaultError
from groundfault.training.segvlm.cluster import Cluster
from groundfault.training.segvlm.mixture import Mixture
from groundfault.training.segvlm.objective import PARTS, Losses, applies, counts, total
from groundfault.training.segvlm.pupil import Pupil
from groundfault.training.segvlm.recipe import Optimiser
from groundfault.training.segvlm.samples import KINDS, Asked, put

__all__ = ["Fitting", "StepLog", "pace", "steps"]


class StepLog(msgspec.Struct, frozen=True, kw_only=True):
    """What one step was like."""

    step: int
    loss: float
    learning_rate: float
    norm: float
    """Of the gradients, before they were clipped."""
    parts: dict[str, dict[str, float]]
    """Part of the loss → kind of sample → mean."""
    n: dict[str, int]
    """Samples of each kind."""
    micro_batch: int


def pace(step: int, steps: int, warm_up: int) -> float:
    """The share of the learning rate: up over the warm-up, then down to 0 at the end.

    >>> [round(pace(step, 10, 2), 3) for step in (0, 1, 2, 6, 9)]
    [0.5, 1.0, 1.0, 0.5, 0.125]
    """
    if step < warm_up:
        return (step + 1) / warm_up
    return (steps - step) / max(1, steps - warm_up)


class Fitting:
    """A training under way."""

    def __init__(
        self,
        pupil: Pupil,
        mixture: Mixture,
        weights: Losses,
        settings: Optimiser,
        *,
        steps: int,
        cluster: Cluster,
        wordings: int = 0,
    ) -> None:
        self.pupil, self.mixture, self.weights, self.settings = pupil, mixture, weights, settings
        self.steps, self.cluster, self.wordings = steps, cluster, wordings
        self.step, self.micro_batch = 0, settings.micro_batch
        if mixture.per_step < cluster.n:
            raise GroundfaultError(
                f"{cluster.n} processes share {mixture.per_step} draws a step; raise "
                "optimiser.batch or start fewer"
            )
        self.trained = {
            name: value for name, value in pupil.network.named_parameters() if value.requires_grad
        }
        self.optimizer = torch.optim.AdamW(
            self.trained.values(),
            lr=settings.learning_rate,
            betas=settings.betas,
            weight_decay=settings.weight_decay,
        )

    def plan(self, step: int) -> list[list[Asked]]:
        """Everything that a step asks, draw by draw, in the words it is asked in."""
        return [
            put(drawn.samples, self.mixture.seed, step, place, wordings=self.wordings)
            for place, drawn in enumerate(self.mixture.step(step))
        ]

    def take_step(self) -> StepLog:
        """One step of AdamW."""
        asked = self.plan(self.step)
        whole = [one.sample for own in asked for one in own]
        about = counts(whole)
        n = self.cluster.n
        shares = [[one for own in asked[rank::n] for one in own] for rank in range(n)]
        sums = self._gradients(shares[self.cluster.rank], about, max(map(len, shares)))
        norm = self._update()
        self.cluster.sum_([sums])
        self.step += 1
        return self._log(sums, norm, whole)

    def state(self) -> dict[str, Any]:
        """What a resumed training needs."""
        return {
            "trained": {name: value.detach() for name, value in self.trained.items()},
            "optimizer": self.optimizer.state_dict(),
            "step": self.step,
            "micro_batch": self.micro_batch,
        }

    def restore(self, stored: dict[str, Any]) -> None:
        """Go on from there."""
        with torch.no_grad():
            for name, value in self.trained.items():
                value.copy_(stored["trained"][name])
        self.optimizer.load_state_dict(stored["optimizer"])
        self.step = stored["step"]
        self.micro_batch = min(self.micro_batch, stored["micro_batch"])

    def _gradients(
        self, mine: Sequence[Asked], about: dict[str, int], longest: int = 0
    ) -> torch.Tensor:
        """Sum the gradients of this process's share; again in smaller parts if memory runs out."""
        while True:
            self.optimizer.zero_grad(set_to_none=True)
            torch.manual_seed(_seed(self.mixture.seed, self.step, self.cluster.rank))
            try:
                sums = self._in_parts(mine, about)
                if self.cluster.sharded:
                    self._keep_pace(mine, longest)
                return sums
            except (RuntimeError, MemoryError) as problem:
                if not _is_out_of_memory(problem) or self.micro_batch == 1:
                    raise
                if self.cluster.sharded:  # the others wait for this one in the middle of a layer
                    raise _out_of_memory(self.micro_batch) from None
            self.micro_batch = max(1, self.micro_batch // 2)
            self._make_room()

    def _in_parts(self, mine: Sequence[Asked], about: dict[str, int]) -> torch.Tensor:
        sums = torch.zeros(1 + len(PARTS) * len(KINDS), dtype=torch.float64)
        for start in range(0, len(mine), self.micro_batch):
            some = mine[start : start + self.micro_batch]
            samples = [one.sample for one in some]
            with self.cluster.autocast():
                parts = self.pupil.losses(some)
            loss = total(parts, samples, self.weights, about)
            if loss.requires_grad:
                loss.backward()  # type: ignore[no-untyped-call]
            sums[0] += float(loss.detach())
            for part, values in parts.items():
                for one, value in zip(samples, values.detach().tolist(), strict=True):
                    sums[_place(part, one.kind)] += value
        return sums

    def _keep_pace(self, mine: Sequence[Asked], longest: int) -> None:
        """Compute as often as the process with the longest share: it needs this one's weights."""
        size = self.micro_batch
        for _ in range(-(-longest // size) - -(-len(mine) // size)):
            with self.cluster.autocast():
                parts = self.pupil.losses(mine[:1])
            torch.stack([0.0 * own.sum() for own in parts.values()]).sum().backward()  # type: ignore[no-untyped-call]

    def _update(self) -> float:
        """Clip the summed gradients and take the step."""
        for value in self.trained.values():
            if value.grad is None:  # of no sample here, perhaps of one in another process
                value.grad = torch.zeros_like(value)
        gradients = [value.grad for value in self.trained.values() if value.grad is not None]
        self.cluster.sum_(gradients)
        norm = torch.nn.utils.clip_grad_norm_(self.trained.values(), self.settings.clip)
        for group in self.optimizer.param_groups:
            group["lr"] = self.settings.learning_rate * pace(
                self.step, self.steps, self.settings.warm_up
            )
        if torch.isfinite(norm):  # a step that overflowed would ruin every weight
            self.optimizer.step()
        return float(norm)

    def _log(self, sums: torch.Tensor, norm: float, whole: Sequence[Any]) -> StepLog:
        n = {kind: sum(one.kind == kind for one in whole) for kind in KINDS}
        parts: dict[str, dict[str, float]] = {}
        for part in self.pupil.parts:
            for kind in KINDS:
                own = sum(one.kind == kind and applies(part, one) for one in whole)
                if own:
                    parts.setdefault(part, {})[kind] = float(sums[_place(part, kind)]) / own
        return StepLog(
            step=self.step,
            loss=float(sums[0]),
            learning_rate=float(self.optimizer.param_groups[0]["lr"]),
            norm=norm,
            parts=parts,
            n={kind: count for kind, count in n.items() if count},
            micro_batch=self.micro_batch,
        )

    def _make_room(self) -> None:
        self.optimizer.zero_grad(set_to_none=True)
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def steps(fitting: Fitting) -> Iterator[StepLog]:
    """Train to the end."""
    fitting.pupil.network.train()
    while fitting.step < fitting.steps:
        yield fitting.take_step()


def _seed(*numbers: int) -> int:
    return int(np.random.SeedSequence(numbers).generate_state(1)[0])


def _place(part: str, kind: str) -> int:
    return 1 + PARTS.index(part) * len(KINDS) + KINDS.index(kind)


def _is_out_of_memory(problem: BaseException) -> bool:
    words = str(problem).lower()
    return isinstance(problem, (torch.OutOfMemoryError, MemoryError)) or (
        "out of memory" in words or "can't allocate memory" in words
    )


def _out_of_memory(micro_batch: int) -> GroundfaultError:
    return GroundfaultError(
        f"out of memory with a micro-batch of {micro_batch}, which cannot be halved on the way "
        "where processes share the weights. Lower optimiser.micro_batch and go on with --resume"
    )
