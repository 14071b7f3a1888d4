"""Does one run really beat another?"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundfault.analysis.compare import compare_runs
from groundfault.analysis.summary import read_results
from groundfault.api.options import score_settings
from groundfault.api.result import Result, frame
from groundfault.errors import UsageError

if TYPE_CHECKING:
    from groundfault.analysis.compare import Comparison

__all__ = ["Compared", "compare", "folders_of"]

FILES = ("summary.json", "cases.parquet", "run.json")
AnyRun = Result | str | PathLike[str]


class Compared:
    """Paired tests between runs on the same cases."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison

    def table(self) -> Any:
        """One line per row, metric and run: value, interval, rank; runs that cannot be told apart
        share a rank."""
        columns: dict[str, list[Any]] = {
            name: [] for name in ("row", "metric", "run", "value", "low", "high", "rank")
        }
        for row, metrics in self.comparison.rows.items():
            for metric, runs in metrics.items():
                for run, estimate in runs.items():
                    rank = self.comparison.ranks[row][metric].get(run)
                    values = (
                        row, metric, run, estimate.value, estimate.low, estimate.high, rank,
                    )  # fmt: skip
                    for name, value in zip(columns, values, strict=True):
                        columns[name].append(value)
        return frame(columns)

    def tests(self) -> Any:
        """One line per test: A minus B with its interval, p and p after Holm."""
        names = ("row", "metric", "a", "b", "difference", "low", "high", "p", "p_holm", "n")
        return frame({n: [getattr(test, n) for test in self.comparison.tests] for n in names})

    def __repr__(self) -> str:
        from groundfault.reports.comparisons import comparison_tables
        from groundfault.reports.tables import render

        return render(next(iter(comparison_tables(self.comparison))), "markdown")

    def _repr_html_(self) -> str:
        from groundfault.reports.comparisons import comparison_tables
        from groundfault.reports.tables import as_html

        return as_html(next(iter(comparison_tables(self.comparison))))


def compare(
    *runs: AnyRun,
    metrics: Sequence[str] | None = None,
    rows: Sequence[str] | None = None,
    bootstrap: int | None = None,
    seed: int | None = None,
) -> Compared:
    """Compare runs, or folders with scores, case by case. `metrics` are the headline ones unless
    named; "all" for all."""
    folders = folders_of(runs)
    if len(folders) < 2:
        raise UsageError("give at least two score folders to compare")
    settings = score_settings(bootstrap=bootstrap, seed=seed)
    if metrics in ("all", ["all"], ("all",)):
        summary = read_results(folders[0])[0]
        metrics = list(summary.rows["Overall"].metrics) if "Overall" in summary.rows else None
    return Compared(
        compare_runs(
            folders,
            metrics=metrics,
            rows=rows,
            resamples=settings.bootstrap,
            seed=settings.seed,
        )
    )


def folders_of(runs: Sequence[AnyRun]) -> list[Path]:
    """Where runs are; a file of a run stands for its folder."""
    return [run._place() if isinstance(run, Result) else _folder(Path(run)) for run in runs]


def _folder(path: Path) -> Path:
    return path.parent if path.name in FILES and path.is_file() else path
