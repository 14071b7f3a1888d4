"""Tables of a comparison: values with shared ranks, differences with their tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

import msgspec

from groundfault import protocols
from groundfault.analysis.compare import SIGNIFICANT, Comparison, McNemar, PairTest
from groundfault.metrics import Metric
from groundfault.records import Estimate
from groundfault.reports.summaries import UNDEFINED_NOTE, estimate_cell
from groundfault.reports.tables import Cell, Table

__all__ = ["comparison_tables"]

T = TypeVar("T", PairTest, McNemar)

FEW_RUNS = 3
"""Of more runs, not every pair is printed, but each metric's best run against the nearest."""
NEAREST = 3
MOST_LINES = 40


def comparison_tables(comparison: Comparison) -> Iterator[Table]:
    """Values, then differences, then right-or-wrong outcomes."""
    names = next(iter(comparison.rows.values()))
    protocol = protocols.named(comparison.protocol, names)
    metrics = {name: protocol.metric(name) for name in names}
    yield _values(comparison, metrics)
    yield _differences(comparison, metrics, protocol.main)
    if comparison.mcnemar:
        yield _outcomes(comparison, metrics, protocol.main)


def _values(comparison: Comparison, metrics: Mapping[str, Metric]) -> Table:
    rows, marked = [], False
    for row in _shown(comparison):
        by_metric = comparison.rows[row]
        for run in comparison.runs:
            cells: list[Cell | str] = [row, run]
            for name, metric in metrics.items():
                rank = comparison.ranks[row][name].get(run)
                estimate = by_metric[name][run]
                marked |= estimate.undefined is True
                cell = estimate_cell(metric, estimate)
                mark = f"({rank})" if rank is not None else ""
                cells.append(Cell(f"{cell.text} {mark}".strip(), cell.detail, strong=rank == 1))
            rows.append(cells)
    return Table(
        ["", "run", *(metric.short for metric in metrics.values())],
        rows,
        title=f"{comparison.benchmark}: values and ranks",
        notes=[
            *_family(comparison),
            *([UNDEFINED_NOTE] if marked else []),
            *(f"note: {note}" for note in comparison.notes),
        ],
        left_columns=2,
    )


def _shown(comparison: Comparison) -> Sequence[str]:
    """The rows of the table: all, or those that are tested where all would be too long to read."""
    n_lines = len(comparison.rows) * len(comparison.runs)
    return comparison.tested if n_lines > MOST_LINES else list(comparison.rows)


def _family(comparison: Comparison) -> Iterator[str]:
    """What was tested, and how."""
    n_pairs = len(comparison.runs) * (len(comparison.runs) - 1) // 2
    n_metrics = len(next(iter(comparison.rows.values())))
    n_made = sum(test.p is not None for test in comparison.tests)
    undefined = len(comparison.tests) - n_made
    yield (
        f"(rank): one more than how many runs are better beyond chance, p < {SIGNIFICANT} after "
        f"Holm over {_counted(n_made, 'test')}: {_listed(comparison.tested)}, "
        f"{_counted(n_metrics, 'metric')}, {_counted(n_pairs, 'pair')} of runs"
        + (f", without {undefined:,} where a value is undefined" if undefined else "")
    )
    yield (
        "tests: McNemar's, exact, for shares of cases; else paired bootstrap, and beyond its reach "
        "Student's t with its standard error"
    )
    untested = [row for row in comparison.rows if row not in comparison.tested]
    if untested:
        shown = "" if {*untested} <= {*_shown(comparison)} else " nor shown"
        yield f"not tested{shown}: {_listed(untested)}; --row and --metric name what is tested"
    if comparison.baselines:
        yield f"not ranked, as baselines: {_listed(comparison.baselines)}"


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def _listed(names: Sequence[str]) -> str:
    return (
        ", ".join(names) if len(names) <= 6 else f"{', '.join(names[:5])} and {len(names) - 5} more"
    )


def _differences(comparison: Comparison, metrics: Mapping[str, Metric], main: str) -> Table:
    rows, n_shown = [], 0
    for row in comparison.tested:
        for name, metric in metrics.items():
            tests = [test for test in comparison.tests if (test.row, test.metric) == (row, name)]
            best = _best(comparison, row, metrics, name, main)
            for test in _told(comparison, tests, best, lambda test: abs(test.difference or 0.0)):
                turned = (
                    test if test.a == best or len(comparison.runs) <= FEW_RUNS else _turned(test)
                )
                estimate = Estimate(turned.difference, turned.low, turned.high)
                n_shown += 1
                rows.append(
                    [
                        row, f"{turned.a} − {turned.b}", metric.short,
                        estimate_cell(metric, estimate), _p(test.p), _p(test.p_holm), test.method,
                    ]
                )  # fmt: skip
    columns = ["", "pair", "metric", "difference", "p", "p (Holm)", "test"]
    notes = []
    if n_shown < len(comparison.tests):
        notes.append(
            f"of {len(comparison.tests):,} tests, those of each metric's best run and the "
            f"{NEAREST} nearest to it; --json and --out have all"
        )
    return Table(columns, rows, title="Differences on the same cases", notes=notes, left_columns=3)


def _best(
    comparison: Comparison, row: str, metrics: Mapping[str, Metric], name: str, main: str
) -> str:
    """The best run in a metric; where no run is the better for it, in the main one."""
    if not metrics[name].is_ranked:
        name = main if main in metrics else next((m for m in metrics if metrics[m].is_ranked), name)
    sign = -1.0 if metrics[name].better == "lower" else 1.0
    values = {
        run: sign * estimate.value
        for run, estimate in comparison.rows[row][name].items()
        if estimate.value is not None and run not in comparison.baselines
    }
    return max(values, key=values.__getitem__) if values else next(iter(comparison.runs))


def _told(
    comparison: Comparison, tests: Sequence[T], best: str, distance: Callable[[T], float]
) -> Sequence[T]:
    """The tests that are printed: all of few runs, else those between the best and the nearest."""
    if len(comparison.runs) <= FEW_RUNS:
        return tests
    with_best = [test for test in tests if best in (test.a, test.b)]
    return sorted(with_best, key=distance)[:NEAREST]


def _turned(test: PairTest) -> PairTest:
    """The same test as B minus A."""
    low, high = (None if end is None else -end for end in (test.high, test.low))
    turned = None if test.difference is None else -test.difference
    return msgspec.structs.replace(test, a=test.b, b=test.a, difference=turned, low=low, high=high)


def _outcomes(comparison: Comparison, metrics: Mapping[str, Metric], main: str) -> Table:
    name = main if main in metrics else next(iter(metrics))
    rows = []
    for row in comparison.tested:
        best = _best(comparison, row, metrics, name, main)
        for outcome in dict.fromkeys(test.outcome for test in comparison.mcnemar):
            tests = [t for t in comparison.mcnemar if (t.row, t.outcome) == (row, outcome)]
            rows += [
                [
                    row, f"{test.a} vs {test.b}", outcome, str(test.only_a_right),
                    str(test.only_b_right), _p(test.p), _p(test.p_holm),
                ]
                for test in _told(
                    comparison, tests, best, lambda test: abs(test.only_a_right - test.only_b_right)
                )
            ]  # fmt: skip
    columns = ["", "pair", "outcome", "only first right", "only second right", "p", "p (Holm)"]
    return Table(
        columns, rows, title="Right or wrong, case by case (exact McNemar)", left_columns=3
    )


def _p(value: float | None) -> Cell:
    if value is None:
        return Cell("—")
    text = f"{value:.4f}" if value >= 0.0001 else "< 0.0001"
    return Cell(text, strong=value < SIGNIFICANT)
