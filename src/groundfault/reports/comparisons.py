"""Tables of a comparison: values with shared ranks, differences with their tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from groundfault import protocols
from groundfault.analysis.compare import SIGNIFICANT, Comparison
from groundfault.metrics import Metric
from groundfault.records import Estimate
from groundfault.reports.summaries import estimate_cell
from groundfault.reports.tables import Cell, Table

__all__ = ["comparison_tables"]


def comparison_tables(comparison: Comparison) -> Iterator[Table]:
    """Values, then differences, then right-or-wrong outcomes."""
    names = next(iter(comparison.rows.values()))
    protocol = protocols.named(comparison.protocol, names)
    metrics = {name: protocol.metric(name) for name in names}
    yield _values(comparison, metrics)
    yield _differences(comparison, metrics)
    if comparison.mcnemar:
        yield _outcomes(comparison)


def _values(comparison: Comparison, metrics: Mapping[str, Metric]) -> Table:
    rows = []
    for row, by_metric in comparison.rows.items():
        for run in comparison.runs:
            cells: list[Cell | str] = [row, run]
            for name, metric in metrics.items():
                rank = comparison.ranks[row][name].get(run)
                cell = estimate_cell(metric, by_metric[name][run])
                mark = f"({rank})" if rank is not None else ""
                cells.append(Cell(f"{cell.text} {mark}".strip(), cell.detail, strong=rank == 1))
            rows.append(cells)
    return Table(
        ["", "run", *(metric.short for metric in metrics.values())],
        rows,
        title=f"{comparison.benchmark}: values and ranks",
        notes=[
            "(rank): one more than how many runs are better beyond chance "
            f"(paired bootstrap, Holm over the table, p < {SIGNIFICANT})",
            *(f"note: {note}" for note in comparison.notes),
        ],
        left_columns=2,
    )


def _differences(comparison: Comparison, metrics: Mapping[str, Metric]) -> Table:
    rows = [
        [
            test.row,
            f"{test.a} − {test.b}",
            metrics[test.metric].short,
            estimate_cell(metrics[test.metric], Estimate(test.difference, test.low, test.high)),
            _p(test.p),
            _p(test.p_holm),
        ]
        for test in comparison.tests
    ]
    columns = ["", "pair", "metric", "difference", "p", "p (Holm)"]
    return Table(columns, rows, title="Differences on the same cases", left_columns=3)


def _outcomes(comparison: Comparison) -> Table:
    rows = [
        [
            test.row,
            f"{test.a} vs {test.b}",
            test.outcome,
            str(test.only_a_right),
            str(test.only_b_right),
            _p(test.p),
            _p(test.p_holm),
        ]
        for test in comparison.mcnemar
    ]
    columns = ["", "pair", "outcome", "only first right", "only second right", "p", "p (Holm)"]
    return Table(
        columns, rows, title="Right or wrong, case by case (exact McNemar)", left_columns=3
    )


def _p(value: float | None) -> Cell:
    if value is None:
        return Cell("—")
    text = f"{value:.4f}" if value >= 0.0001 else "< 0.0001"
    return Cell(text, strong=value < SIGNIFICANT)
