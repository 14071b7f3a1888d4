"""A training as it goes: a bar with its loss curve on a terminal, a line now and then anywhere;
what it will take, in lines."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from groundfault.reports.progress import Display
from groundfault.reports.tables import printable

if TYPE_CHECKING:
    from groundfault.training.segvlm.estimate import Estimate
    from groundfault.training.segvlm.fitting import StepLog

__all__ = ["TrainingDisplay", "curve", "estimate_lines"]

BARS = "▁▂▃▄▅▆▇█"
POINTS = 24
LINES = 20
"""Said over a whole training."""
SHOWN = 6
"""Metrics of an evaluation that are said; its run has all of them."""


def curve(values: Sequence[float], points: int = POINTS) -> str:
    """Values as bars, the lowest and the highest of them at both ends of the scale.

    >>> curve([4, 3, 2, 1])
    '█▆▃▁'
    """
    if not values:
        return ""
    step = max(1, -(-len(values) // points))
    means = [
        sum(values[k : k + step]) / len(values[k : k + step]) for k in range(0, len(values), step)
    ]
    low, span = min(means), (max(means) - min(means)) or 1.0
    return "".join(BARS[round((value - low) / span * (len(BARS) - 1))] for value in means)


class TrainingDisplay:
    """Shows steps and evaluations as they come."""

    def __init__(self) -> None:
        self._display = Display("training")
        self._reading = Display("comparing pictures")
        self._losses: deque[float] = deque(maxlen=20 * POINTS)

    def reading(self, done: int, total: int) -> None:
        """Pictures are read, before anything is trained."""
        self._reading.update(done, total)
        if done == total:  # a terminal has one bar at a time
            self._reading.close()

    def estimated(self, found: Estimate) -> None:
        """What it will take, before it starts."""
        self._reading.close()
        print("\n".join(estimate_lines(found)), file=sys.stderr)

    def step(self, log: StepLog, steps: int) -> None:
        """One step was taken."""
        self._reading.close()
        self._losses.append(log.loss)
        self._display.update(log.step, steps, lambda: self._details(log))
        if log.step % max(1, steps // LINES) == 0:
            print(f"step {log.step} of {steps}: {_parts(log)}", file=sys.stderr)

    def measured(self, step: int, name: str, found: Mapping[str, float | None]) -> None:
        """An evaluation ended."""
        known = [(key, value) for key, value in found.items() if value is not None][:SHOWN]
        words = ", ".join(f"{key} {value:.3f}" for key, value in known)
        print(f"step {step}, {printable(name)}: {words}", file=sys.stderr)

    def close(self) -> None:
        """Take the bars away."""
        self._reading.close()
        self._display.close()

    def _details(self, log: StepLog) -> str:
        return f"loss {log.loss:.3f} {curve(list(self._losses))}"


def _parts(log: StepLog) -> str:
    """Loss, and its parts over the kinds of samples."""
    means = {part: sum(kinds.values()) / len(kinds) for part, kinds in log.parts.items() if kinds}
    words = [f"loss {log.loss:.4g}", *(f"{part} {value:.4g}" for part, value in means.items())]
    return ", ".join(words)


def estimate_lines(found: Estimate) -> list[str]:
    """What a training will take, for people."""
    lines = [
        f"{printable(source.name)}: {source.share:.1%} of the draws, {source.samples} samples ("
        + ", ".join(f"{printable(name)} {n}" for name, n in source.strata.items())
        + ")"
        + (f", {source.left_out} left out: measured on" if source.left_out else "")
        for source in found.sources
    ]
    memory = ", ".join(f"{name} {value:.2f}" for name, value in found.memory_gb.items())
    hours = "unknown" if found.hours is None else _duration(found.hours)
    is_enough = found.memory_gb["together"] <= found.memory_there_gb
    remedy = "" if is_enough else "; too little: lower optimiser.micro_batch, or share the weights"
    return [
        *lines,
        f"{found.questions_per_step:g} questions a step, {found.tokens_per_question:g} tokens each",
        f"{found.parameters:,} weights, {found.trained:,} of them learn",
        f"memory, GB: {memory}; there: {found.memory_there_gb:g} ({found.device}){remedy}",
        f"time, by a factor of two: {hours}",
    ]


def _duration(hours: float) -> str:
    """
    >>> _duration(0.01), _duration(1.5), _duration(30)
    ('36 s', '90 min', '30.0 h')
    """
    if hours < 1 / 30:
        return f"{hours * 3600:.0f} s"
    return f"{hours * 60:.0f} min" if hours < 3 else f"{hours:.1f} h"
