"""Predictions scored, of a dump or of a run: both sides are read, matched once, and scored at any
threshold. No model is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from groundfault import protocols
from groundfault.errors import DataError, UsageError
from groundfault.io.inputs import Input
from groundfault.io.results import read_summary
from groundfault.io.sources import DUMP, load, read_predictions
from groundfault.matching.intake import ANNOTATIONS
from groundfault.protocols import Protocol, Scored
from groundfault.records import Benchmark, Prediction
from groundfault.runs import recorder
from groundfault.runs.benchmark import read_again
from groundfault.runs.exporting import is_run
from groundfault.runs.run import SILENT, read_run

__all__ = [
    "OF_A_RUN",
    "Matched",
    "as_scored",
    "data_hashes",
    "match_files",
    "match_predictions",
    "match_run",
    "score_files",
    "score_run",
]

OF_A_RUN = Input("data", "Its benchmark, if that was moved.", "folder", required=False)
"""What can be given besides when the predictions of a run are scored."""
KEPT = ("t", "tau", "iou", "variant", "sizes")
"""The settings that a run keeps when it is scored again."""


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
    """Read a benchmark by its format's name and inputs, and compare a dump of predictions, or the
    predictions of a run, with it.

    `settings` are what the protocol can choose; those that are not given have its defaults.
    """
    benchmark = load(name, verify=False, options=settings, **inputs)
    benchmark = _with_dump(benchmark, predictions)
    protocol = protocols.of_benchmark(benchmark)
    resolved = protocol.resolved(benchmark, settings)
    found: Iterable[Prediction]
    if is_run(predictions):
        found = _of_run(predictions, benchmark)
    else:
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


def _with_dump(benchmark: Benchmark, predictions: str | PathLike[str]) -> Benchmark:
    """The benchmark with a note of what is compared with it."""
    source = {**benchmark.source, DUMP: str(Path(predictions).resolve())}
    return msgspec.structs.replace(benchmark, source=source)


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


def match_run(
    folder: str | PathLike[str],
    settings: Mapping[str, object],
    *,
    data: str | PathLike[str] | None = None,
) -> Matched:
    """Compare the predictions of a run with the benchmark that it was asked, from where that was
    or from `data`."""
    run = read_run(folder)
    if run.modes:
        raise UsageError(f"{folder}: holds answers in words; score them with: groundfault judge")
    return match_predictions(_with_dump(read_again(run, data=data), folder), folder, settings)


def match_predictions(
    benchmark: Benchmark, folder: str | PathLike[str], settings: Mapping[str, object]
) -> Matched:
    """Compare the predictions of a run with a benchmark that is at hand already."""
    protocol = protocols.of_benchmark(benchmark)
    resolved = protocol.resolved(benchmark, settings)
    matched = protocol.matched(benchmark, _of_run(folder, benchmark), resolved)
    return Matched(protocol, benchmark, matched)


def as_scored(
    folder: str | PathLike[str], given: Mapping[str, object]
) -> tuple[dict[str, object], str]:
    """The settings that a run is scored with: those given, else those that it was scored with
    before. One that never was has its model's usual threshold, about which there may be something
    to be said."""
    from groundfault.analysis.calibration import usual_point

    run, scored = read_run(folder), Path(folder) / "summary.json"
    if scored.is_file():
        before = read_summary(folder).settings
        kept = {name: before[name] for name in KEPT if before.get(name) is not None}
        return {**kept, **given}, ""
    if "t" in given:
        return dict(given), ""
    t, told = usual_point(run.model)
    return {"t": t, **given}, told


def score_run(
    benchmark: Benchmark, folder: str | PathLike[str], settings: Mapping[str, object]
) -> Scored:
    """Score the predictions of a run for the items of a benchmark; settings that its protocol does
    not have are not used."""
    found = _of_run(folder, benchmark)
    return protocols.of_benchmark(benchmark).score(benchmark, found, settings)


def _of_run(folder: str | PathLike[str], benchmark: Benchmark) -> Iterator[Prediction]:
    """The predictions of a run for the items of a benchmark. One that was asked only a part of them
    is refused: what it was not asked, nobody abstained from."""
    asked = {item.id for item in benchmark.items}
    known, spoken = set(), False
    for each in recorder.read_predictions(folder):
        if each.item_id in asked:
            known.add(each.item_id)
            spoken = spoken or each.reason != SILENT
    if not spoken:
        raise DataError(
            folder,
            "no answer belongs to an item of the benchmark",
            remedy="check that predictions and annotations are of the same benchmark",
        )
    if len(known) < len(asked):
        raise DataError(
            folder,
            f"the run was asked {len(known)} of the {len(asked)} items",
            remedy="let eval finish it, or score what it was asked with: groundfault score "
            f"{folder}",
        )
    return (
        each
        for each in recorder.read_predictions(folder)
        if each.item_id in asked and each.reason != SILENT  # as little as the file says
    )
