"""What a harness needs to know about a benchmark in words: its modes, and its scores as one flat
table."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

import numpy as np

from groundfault.errors import DataError, UsageError
from groundfault.io.sources import load
from groundfault.metrics.family import Better
from groundfault.protocols import of_benchmark
from groundfault.records import MODES, Benchmark, Mode, Prediction

__all__ = [
    "MAIN_ROW",
    "ModeName",
    "better_way",
    "flat_scores",
    "modes_of",
    "offered_modes",
    "read_benchmark",
]

ModeName = Literal["std", "cot", "both"]
MAIN_ROW = "Overall"
OF_EVERY_ROW = (
    *("accuracy", "accuracy_std", "accuracy_cot", "YN", "SA", "MC", "react_score"),
    *("precision", "recall", "F1", "yes_ratio", "unparsed_rate"),
)
"""Metrics that rows other than the main one have too; harnesses print one line for each."""


def modes_of(name: str) -> tuple[Mode, ...]:
    """The modes that a name stands for.

    >>> modes_of("cot"), modes_of("both")
    (('cot',), ('std', 'cot'))
    """
    if name == "both":
        return MODES
    for mode in MODES:
        if name == mode:
            return (mode,)
    raise UsageError(f"no mode '{name}'; there are std, cot and both")


def offered_modes(benchmark: Benchmark) -> tuple[ModeName, ...]:
    """How a benchmark can be asked; yes/no questions have no score over both modes."""
    return ("std", "cot") if benchmark.card.protocol == "yes-no" else ("std", "cot", "both")


@lru_cache(maxsize=4)
def read_benchmark(data: str, images: str | None = None, content_hash: str = "") -> Benchmark:
    """Read an exam folder, or POPE's files with their pictures; once per process.

    With `content_hash`, anything but that content is refused.
    """
    benchmark = load(data, images=images)
    found = benchmark.card.content_hash
    if content_hash and found != content_hash:
        raise DataError(
            data,
            f"it is not what was exported: hash {content_hash[:12]}…, found {found[:12]}…",
            remedy="export it again",
        )
    return benchmark


def flat_scores(benchmark: Benchmark, predictions: Iterable[Prediction]) -> dict[str, float]:
    """Every metric of the main row by its name, the most important ones of other rows as
    `erasure_accuracy_std` and `attribute_material_SA`; undefined ones are left out.

    An item that was answered several times counts each time.
    """
    sums: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]] = {}
    table: dict[str, float] = {}
    protocol = of_benchmark(benchmark)
    for answered in _rounds(predictions):
        scored = protocol.score(benchmark, answered)
        for row, member in scored.rows.items():
            sums[row] = sums.get(row, 0.0) + scored.contributions[member].sum(axis=0)
        metrics = scored.metrics
    for row, summed in sums.items():
        for name, value in metrics(summed[None]).items():
            if not np.isnan(value[0]) and (row == MAIN_ROW or name in OF_EVERY_ROW):
                prefix = "" if row == MAIN_ROW else f"{row.replace(' ', '_')}_"
                table[f"{prefix}{name}"] = float(value[0])
    return table


def better_way(benchmark: Benchmark, name: str) -> Better:
    """Which way a metric of `flat_scores` is better, of whatever row it is."""
    declared = of_benchmark(benchmark).metrics().values()
    fits = [each for each in declared if f"_{name}".endswith(f"_{each.name}")]
    return max(fits, key=lambda each: len(each.name)).better


def _rounds(predictions: Iterable[Prediction]) -> list[list[Prediction]]:
    """The predictions, split so that each part has an item at most once per mode."""
    rounds: list[list[Prediction]] = []
    seen: dict[tuple[str, str], int] = {}
    for row in predictions:
        number = seen.get(row.key, 0)
        seen[row.key] = number + 1
        if number == len(rounds):
            rounds.append([])
        rounds[number].append(row)
    return rounds
