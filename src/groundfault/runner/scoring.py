"""Stored predictions scored by the protocol of their benchmark. No model is asked."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike

from groundfault import protocols
from groundfault.errors import DataError
from groundfault.protocols import Scored
from groundfault.records import Benchmark
from groundfault.runs.run import SILENT, read_predictions

__all__ = ["metric_names", "score_run"]


def score_run(
    benchmark: Benchmark, folder: str | PathLike[str], settings: Mapping[str, object]
) -> Scored:
    """Score the predictions of a run for the items of a benchmark; settings that its protocol does
    not have are not used."""
    asked = {item.id for item in benchmark.items}
    if all(answer.reason == SILENT for answer in read_predictions(folder)):
        raise DataError(
            folder,
            "no answer belongs to an item of the benchmark",
            remedy="check that the replayed results and the annotations are of the same benchmark",
        )
    answers = (
        answer
        for answer in read_predictions(folder)
        if answer.item_id in asked and answer.reason != SILENT  # as little as the file says
    )
    return protocols.of_benchmark(benchmark).score(benchmark, answers, settings)


def metric_names(benchmark: Benchmark) -> tuple[str, ...]:
    """What `score_run` gives of a benchmark, known before any model is asked."""
    return tuple(protocols.of_benchmark(benchmark).metrics())
