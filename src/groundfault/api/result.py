"""What an evaluation gives: numbers with intervals, a table of cases, the predictions, pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundfault.errors import UsageError

if TYPE_CHECKING:
    from groundfault.api.pictures import CasePicture
    from groundfault.records import Benchmark, Prediction, Summary
    from groundfault.reports.tables import Table
    from groundfault.runs.run import Run

__all__ = ["Result", "frame", "open_run"]


class Result:
    """A scored benchmark. `summary` has every number; tables are pandas where that is installed,
    else Arrow."""

    def __init__(
        self,
        summary: Summary,
        *,
        cases: Any = None,
        folder: str | PathLike[str] | None = None,
        run: Run | None = None,
        benchmark: Benchmark | None = None,
        more: Mapping[str, object] | None = None,
    ) -> None:
        self.summary = summary
        self.folder = None if folder is None else Path(folder)
        self.run = run
        """What made the predictions; None where a dump was scored."""
        self.more: Mapping[str, object] = more or {}
        """What else an exam gives: CoT effects, position bias, causes, corrected scores."""
        self._cases, self._benchmark = cases, benchmark

    @property
    def name(self) -> str:
        """The model, or the folder."""
        if self.run is not None:
            return self.run.name
        return self.folder.name if self.folder is not None else self.summary.benchmark

    def table(self, metrics: Sequence[str] | None = None) -> Any:
        """The rows of the result table: value, low and high of the headline metrics, or of those
        named; "all" for all."""
        from groundfault.protocols import of_summary

        known = list(self.summary.rows["Overall"].metrics)
        protocol = of_summary(self.summary)
        chosen: Sequence[str] = metrics or protocol.shown(known)
        if metrics == "all":
            chosen = known
        chosen = [protocol.metric_named(name, known) for name in chosen]
        columns: dict[str, list[Any]] = {"row": [], "n_cases": []}
        for name, row in self.summary.rows.items():
            if not row.n_cases:
                continue
            columns["row"].append(name)
            columns["n_cases"].append(row.n_cases)
            for metric in chosen:
                estimate = row.metrics[metric]
                columns.setdefault(metric, []).append(estimate.value)
                columns.setdefault(f"{metric} low", []).append(estimate.low)
                columns.setdefault(f"{metric} high", []).append(estimate.high)
        return frame(columns, index="row")

    def cases(self) -> Any:
        """One row per case: what was asked, how it ended, scores and overlaps, contributions."""
        if self._cases is None:
            from groundfault.io.store import read_table

            self._cases = read_table(self._place() / "cases.parquet")
        return frame(self._cases)

    def predictions(self) -> Iterator[Prediction]:
        """Everything that the model predicted."""
        from groundfault.runs.recorder import read_predictions

        return read_predictions(self._place())

    def check(self, condition: str) -> bool:
        """Whether a condition such as "SM:AFPR>0.2" or "failed>0" holds."""
        from groundfault.analysis.gates import gate_value, parse_gate

        gate = parse_gate(condition)
        outcomes = self.summary.outcomes if self.run is None else self.run.outcomes
        return gate.holds(gate_value(gate, self.summary, outcomes))

    def show(self, case_id: str) -> CasePicture:
        """The pictures of a case with what was expected and what the model marked or said."""
        from groundfault.api.pictures import case_picture

        return case_picture(self, case_id)

    def benchmark(self) -> Benchmark:
        """What the model was asked."""
        if self._benchmark is None:
            from groundfault.runs.benchmark import read_again

            if self.run is None:
                raise UsageError("the result does not say where its benchmark is")
            self._benchmark = read_again(self.run)
        return self._benchmark

    def _place(self) -> Path:
        if self.folder is None:
            raise UsageError("nothing was written to a folder; give out=… to keep it")
        return self.folder

    def __repr__(self) -> str:
        from groundfault.reports.tables import render

        return "\n\n".join([self.name, *(render(table, "markdown") for table in self._tables())])

    def _repr_html_(self) -> str:
        from groundfault.reports.tables import as_html

        first, *more = self._tables()
        return as_html(first, caption=self.name) + "".join(map(as_html, more))

    def _tables(self) -> list[Table]:
        """What a notebook shows."""
        from groundfault.reports.summaries import conventions_table, summary_table

        more = conventions_table({"": self.summary})
        return [summary_table(self.summary), *([] if more is None else [more])]


def open_run(folder: str | PathLike[str]) -> Result:
    """A run, or scores, that were written before."""
    from groundfault.analysis.summary import read_results
    from groundfault.io.store import is_there
    from groundfault.runs.run import RUN, read_run

    folder = Path(folder)
    summary, cases = read_results(folder)
    run = read_run(folder) if is_there(folder / RUN) else None
    return Result(summary, cases=cases, folder=folder, run=run)


def frame(columns: Any, *, index: str = "") -> Any:
    """A pandas data frame of columns or of an Arrow table; without pandas, the Arrow table."""
    import pyarrow as pa

    table = columns if isinstance(columns, pa.Table) else pa.table(dict(columns))
    try:
        import_module("pandas")
    except ImportError:
        return table
    found = table.to_pandas()
    return found.set_index(index) if index else found
