"""Where the pictures of a run are: what it was asked is read again, from where it was or from the
folder that somebody names, which is a benchmark's or one of plain pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from groundfault.benchmarks import folder as benchmark_folder
from groundfault.errors import GroundfaultError, UsageError
from groundfault.io.sources import DUMP, read_predictions
from groundfault.records import Benchmark, Item, Prediction, Role
from groundfault.reports.page.inputs import RunData
from groundfault.runs.benchmark import read_again
from groundfault.runs.run import Run

__all__ = ["Source", "Sources", "dumped"]


class Source(msgspec.Struct, frozen=True, eq=False):
    """A benchmark and its pictures."""

    benchmark: Benchmark
    images: Path
    items: Mapping[str, Item]
    by_case: Mapping[str, Mapping[Role, Item]]


class Sources:
    """The benchmarks behind runs, each read once; `notes` say why one is not shown."""

    def __init__(self, images_from: Path | None = None) -> None:
        if images_from is not None and not images_from.is_dir():
            raise UsageError(f"{images_from}: no such folder")
        self.notes: list[str] = []
        own = images_from is not None and (images_from / benchmark_folder.HEADER).is_file()
        self.data: Path | None = images_from if own else None
        self.images: Path | None = None if own else images_from
        self.known: dict[str, Source | None] = {}

    def of(self, run: RunData) -> Source | None:
        """The benchmark of a run; None where it is not at hand."""
        made = run.run or Run(
            model=run.name, benchmark=run.summary.benchmark, settings={"source": run.summary.source}
        )
        if not (made.settings.get("source") or made.benchmark_folder or self.data):
            if self.images is not None:
                raise UsageError(
                    f"{self.images}: is not a groundfault benchmark folder, and {run.folder} does "
                    "not say what its model was asked; give the benchmark's folder"
                )
            self.notes.append(
                "No pictures: these runs do not say where their benchmark is. Give its folder with "
                "--images to see them."
            )
            return None
        key = repr((made.benchmark_folder, made.content_hash, made.settings.get("source")))
        if key not in self.known:
            self.known[key] = self._read(made)
        return self.known[key]

    def _read(self, made: Run) -> Source | None:
        try:
            found = read_again(made, data=self.data, images=self.images, option="--images")
        except GroundfaultError as problem:
            self.notes.append(f"No pictures: {problem}")
            return None
        if not found.images or not Path(found.images).is_dir():
            where = f"{found.images} is not there" if found.images else "their folder is not known"
            self.notes.append(f"No pictures: {where}. Give it with --images to see them.")
        return _indexed(found)


def _indexed(benchmark: Benchmark) -> Source:
    by_case: dict[str, dict[Role, Item]] = {}
    for item in benchmark.items:
        by_case.setdefault(item.case_id, {})[item.role] = item
    return Source(
        benchmark, Path(benchmark.images), {item.id: item for item in benchmark.items}, by_case
    )


def dumped(run: RunData, source: Source | None) -> Iterable[Prediction]:
    """The predictions of the dump that a run's scores were made from; none where it is gone."""
    known = run.summary.source
    path = str(known.get(DUMP, ""))
    if source is None or not path or not Path(path).exists():
        return ()
    inputs: dict[str, Any] = {
        name: value for name, value in known.items() if name not in ("format", DUMP)
    }
    return read_predictions(
        str(known["format"]), path, source.benchmark, settings=run.summary.settings, **inputs
    )
