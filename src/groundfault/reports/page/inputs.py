"""Runs as they lie on disk, and which of them may stand in one table.

A *chapter* is a set of runs that may be ranked against each other: one benchmark, the same cases
with the same ground truth, and the same reading of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from groundfault.analysis.summary import read_results
from groundfault.errors import UsageError
from groundfault.io.store import is_there, note_of, read_json
from groundfault.protocols import Protocol, of_summary
from groundfault.records import Estimate, Summary
from groundfault.registry import is_baseline
from groundfault.reports.sweeps import DEFAULT_T, DEFAULT_TAU
from groundfault.runs.run import Run

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["CONTROL", "Chapter", "RunData", "chapters", "load_runs"]


TWIN, CONTROL = "twin", "control"
"""The row of cases that show the unedited picture."""
SAME_SETTINGS = ("variant", "iou", "tau", "size_limits_px")
"""What runs must share to be compared; each may have its own t."""


class RunData(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One run with everything that is stored about it."""

    name: str
    """The model's name where it is known and unique, else the folder's."""
    folder: Path
    summary: Summary
    table: Any
    """cases.parquet"""
    run: Run | None = None
    """run.json; None where only scores are stored."""

    @property
    def protocol(self) -> Protocol:
        """How it was scored."""
        return of_summary(self.summary)

    @property
    def is_baseline(self) -> bool:
        """Whether nothing was learnt for it."""
        return is_baseline(self.run.model if self.run else self.name)

    @property
    def columns(self) -> frozenset[str]:
        """What cases.parquet has."""
        return frozenset(self.table.column_names)

    @property
    def contribution_names(self) -> tuple[str, ...]:
        """The columns that are summed."""
        names = note_of(self.table, "contributions")
        return tuple(names.split(",")) if names else ()

    @property
    def t(self) -> float | None:
        """The score threshold."""
        value = self.summary.settings.get("t")
        return float(value) if isinstance(value, (int, float)) else None

    @property
    def own_t(self) -> float:
        """The score threshold, or the usual one."""
        return DEFAULT_T if self.t is None else self.t

    @property
    def own_tau(self) -> float:
        """The overlap threshold, or the usual one."""
        return DEFAULT_TAU if self.tau is None else self.tau

    @property
    def tau(self) -> float | None:
        """The overlap threshold; None where the benchmark has none."""
        value = self.summary.settings.get("tau")
        return float(value) if isinstance(value, (int, float)) else None

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that its cases are of, in order of their names."""
        named = self.table.column("split").unique().to_pylist() if "split" in self.columns else ()
        return tuple(sorted(str(split) for split in named if split))

    def member(self, row: str) -> NDArray[np.bool_]:
        """(entries,) which entries of the case table count in a row of the result table."""
        return np.array([row in listed for listed in self.table.column("rows").to_pylist()], bool)

    def rows(self, *, control: bool = False) -> list[str]:
        """Table rows that have cases, without doses, splits and, unless asked, controls and
        twins."""
        return [
            row
            for row, content in self.summary.rows.items()
            if content.n_cases
            and not row.startswith("dose ")
            and not row.endswith(self.splits)
            and (control or row not in (CONTROL, TWIN))
        ]


class Chapter(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Runs that may be ranked against each other."""

    benchmark: str
    runs: tuple[RunData, ...]
    apart: str = ""
    """How these runs differ from others of the same benchmark in the report."""
    with_published: bool = False
    """Whether published rows are shown although they are about other data."""

    @property
    def protocol(self) -> Protocol:
        """How its runs were scored."""
        return self.runs[0].protocol

    @property
    def models(self) -> tuple[RunData, ...]:
        """The first of the runs, which figures and words are about: all but the baselines, or
        those if there is nothing else."""
        return tuple(run for run in self.runs if not run.is_baseline) or self.runs


def load_runs(folders: Sequence[Path]) -> list[RunData]:
    """Read every run once; two runs of a benchmark never share a name."""
    if not folders:
        raise UsageError("give at least one run folder")
    loaded = [_load(Path(folder)) for folder in folders]
    models = [
        (run.summary.benchmark, run.run.name if run.run and run.run.name else run.name)
        for run in loaded
    ]
    named, seen = [], dict.fromkeys(models, 0)
    for run, (benchmark, model) in zip(loaded, models, strict=True):
        # several runs of one model: their folders tell them apart
        name = model if models.count((benchmark, model)) == 1 else run.name
        seen[benchmark, name] = seen.get((benchmark, name), 0) + 1
        times = seen[benchmark, name]
        unique = name if times == 1 else f"{name} ({times})"
        named.append(msgspec.structs.replace(run, name=unique))
    return named


def _load(folder: Path) -> RunData:
    summary, table = read_results(folder)
    needed = {"case", "case_id", "rows"}
    if "Overall" not in summary.rows or not needed <= set(table.column_names):
        raise UsageError(f"{folder}: was not written by groundfault score or eval")
    made = folder / "run.json"
    run = read_json(made, Run) if is_there(made) else None
    return RunData(name=folder.resolve().name, folder=folder, summary=summary, table=table, run=run)


def chapters(runs: Sequence[RunData], *, with_published: bool = False) -> list[Chapter]:
    """Runs by benchmark, and within it by what keeps them from being compared."""
    groups: dict[tuple[str, ...], list[RunData]] = {}
    for run in runs:
        groups.setdefault(_key(run), []).append(run)
    order = list(dict.fromkeys(run.summary.benchmark for run in runs))
    found = []
    for benchmark in order:
        keys = [key for key in groups if key[0] == benchmark]
        for number, key in enumerate(keys, start=1):
            apart = _difference(groups[key][0], keys, key, number)
            members = tuple(_in_order(groups[key]))
            found.append(
                Chapter(
                    benchmark=benchmark, runs=members, apart=apart, with_published=with_published
                )
            )
    return found


def _in_order(runs: Sequence[RunData]) -> list[RunData]:
    """The best first by the protocol's main metric, those without a value last; then baselines."""
    metric = runs[0].protocol.main
    higher = metric == "" or runs[0].protocol.metric(metric).better != "lower"

    def place(run: RunData) -> tuple[bool, float]:
        value = run.summary.rows["Overall"].metrics.get(metric, Estimate(None)).value
        worth = -math.inf if value is None else value if higher else -value
        return run.is_baseline, -worth

    return sorted(runs, key=place)


def _key(run: RunData) -> tuple[str, ...]:
    case_ids = "\0".join(run.table.column("case_id").to_pylist())
    data = "\0".join(run.summary.data.values())
    settings = [str(run.summary.settings.get(name)) for name in SAME_SETTINGS]
    return run.summary.benchmark, _digest(data), _digest(case_ids), *settings


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _difference(
    run: RunData, keys: Sequence[tuple[str, ...]], key: tuple[str, ...], number: int
) -> str:
    """What is special about a chapter, where a benchmark has several."""
    if len(keys) == 1:
        return ""
    parts = []
    if len({other[1:3] for other in keys}) > 1:
        digest = next(iter(run.summary.data.values()), "") or key[2]
        parts.append(f"data {digest[:8]}")
    for place, name in enumerate(SAME_SETTINGS, start=3):
        if len({other[place] for other in keys}) > 1:
            parts.append(f"{'τ' if name == 'tau' else name} {key[place]}")
    return ", ".join(parts) or f"part {number}"
