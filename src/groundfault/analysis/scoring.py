"""Predictions scored, of a dump or of a run: both sides are read, matched once, and scored at any
threshold. No model is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from groundfault import protocols
from groundfault.errors import DataError
from groundfault.io.sources import DUMP, load, read_predictions
from groundfault.matching.intake import ANNOTATIONS
from groundfault.protocols import Protocol, Scored
from groundfault.records import Benchmark
from groundfault.runs import recorder
from groundfault.runs.run import SILENT

__all__ = ["Matched", "data_hashes", "match_files", "score_files", "score_run"]


class Matched(NamedTuple):
    """Predictions compared with a benchmark."""

    protocol: Protocol
    benchmark: Benchmark
    matched: Any
    """What the protocol makes of them."""

    def score(self, settings: Mapping[str, object]) -> Scored:
        """The score at one operating point."""
        return self.protocol.finish(self.benchmark, self.matched, settings)

    def hashes(self, scored: Scored) -> dict[str, str]:
        """What the data is, so that only results on the same are compared."""
        return data_hashes(self.benchmark, scored)


def data_hashes(benchmark: Benchmark, scored: Scored) -> dict[str, str]:
    """The hashes that a benchmark was read with, else those that its protocol makes."""
    own = protocols.find(scored.protocol).hashes
    return benchmark.hashes or (own(scored) if own is not None else {})


def match_files(
    name: str,
    inputs: Mapping[str, Any],
    predictions: str | PathLike[str],
    settings: Mapping[str, object],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Matched:
    """Read a benchmark by its format's name and inputs, and compare a dump of predictions with it.

    `settings` are what the protocol can choose; those that are not given have its defaults.
    """
    benchmark = load(name, verify=False, options=settings, **inputs)
    source = {**benchmark.source, DUMP: str(Path(predictions).resolve())}
    benchmark = msgspec.structs.replace(benchmark, source=source)
    protocol = protocols.of_benchmark(benchmark)
    resolved = protocol.resolved(settings)
    found = read_predictions(
        name, predictions, benchmark, settings=resolved, progress=progress, **inputs
    )
    try:
        return Matched(protocol, benchmark, protocol.matched(benchmark, found, resolved))
    except DataError as problem:
        if problem.file != ANNOTATIONS:
            raise
        load(name, **inputs)  # checks every mask and names the file and record of an unsound one
        raise DataError(
            _files(inputs), problem.problem, record=problem.record, remedy=problem.remedy
        ) from None


def _files(inputs: Mapping[str, Any]) -> str:
    first = next(iter(inputs.values()), "")
    return ", ".join(map(str, first)) if isinstance(first, (list, tuple)) else str(first)


def score_files(
    name: str,
    inputs: Mapping[str, Any],
    predictions: str | PathLike[str],
    settings: Mapping[str, object],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Scored, dict[str, str]]:
    """Score a dump of predictions; also the hashes of the data."""
    matched = match_files(name, inputs, predictions, settings, progress=progress)
    scored = matched.score(settings)
    return scored, matched.hashes(scored)


def score_run(
    benchmark: Benchmark, folder: str | PathLike[str], settings: Mapping[str, object]
) -> Scored:
    """Score the predictions of a run for the items of a benchmark; settings that its protocol does
    not have are not used."""
    asked = {item.id for item in benchmark.items}
    if all(each.reason == SILENT for each in recorder.read_predictions(folder)):
        raise DataError(
            folder,
            "no answer belongs to an item of the benchmark",
            remedy="check that the replayed results and the annotations are of the same benchmark",
        )
    found = (
        each
        for each in recorder.read_predictions(folder)
        if each.item_id in asked and each.reason != SILENT  # as little as the file says
    )
    return protocols.of_benchmark(benchmark).score(benchmark, found, settings)
