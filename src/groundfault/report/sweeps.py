"""Tables of a sweep: along t, along τ, and their grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from groundfault.analysis.sweep import Point, Sweep, best_threshold
from groundfault.errors import UnknownName
from groundfault.records import Estimate
from groundfault.report.summaries import SHORT, estimate_cell
from groundfault.report.tables import Cell, Table

__all__ = ["sweep_tables"]

ALONG_T = ("cgF1", "IL_MCC", "positive_micro_F1", "IL-FPR", "AFPR", "ACSR")
ALONG_TAU = ("AFPR", "UFPR", "ACSR", "UCSR", "lost")
DEFAULT_T, DEFAULT_TAU = 0.5, 0.3


def sweep_tables(sweep: Sweep, *, metric: str, row: str) -> Iterator[Table]:
    """Along t at the default τ, along τ at the default t, and the grid of one metric."""
    points = [point for point in sweep.points if point.row == row]
    if not points:
        raise UnknownName("row", row, {point.row for point in sweep.points})
    known = points[0].metrics
    if metric not in known:
        raise UnknownName("metric", metric, known)
    t_values = sorted({point.t for point in points})
    tau_values = sorted({point.tau for point in points if point.tau is not None})
    tau = _nearest(tau_values, DEFAULT_TAU)
    t = _nearest(t_values, DEFAULT_T)
    along_t = [point for point in points if point.tau == tau]
    best = best_threshold(sweep, row=row)
    note = f"the first highest cgF1 is at t = {best}" if best is not None else ""
    at = f", τ {tau}" if tau is not None else ""
    yield _lines(
        f"{row} along t{at}", "t", along_t, [m for m in ALONG_T if m in known], [note], best
    )
    if len(tau_values) > 1:
        along_tau = [point for point in points if point.t == t]
        yield _lines(
            f"{row} along τ, t {t}", "τ", along_tau, [m for m in ALONG_TAU if m in known], []
        )
        if len(t_values) > 1:
            yield _grid(f"{row} {metric}: t down, τ across", points, t_values, tau_values, metric)


def _nearest(values: Sequence[float], wanted: float) -> float | None:
    return min(values, key=lambda value: abs(value - wanted)) if values else None


def _lines(
    title: str,
    axis: str,
    points: Sequence[Point],
    metrics: Sequence[str],
    notes: Sequence[str],
    best: float | None = None,
) -> Table:
    rows = []
    for point in points:
        place = point.t if axis == "t" else point.tau
        strong = axis == "t" and point.t == best
        cells = [estimate_cell(m, point.metrics[m], percent=True) for m in metrics]
        rows.append([Cell(f"{place:.2f}", strong=strong), *cells])
    return Table(
        [axis, *(SHORT.get(m, m) for m in metrics)],
        rows,
        title=title,
        notes=[n for n in notes if n],
    )


def _grid(
    title: str,
    points: Sequence[Point],
    t_values: Sequence[float],
    tau_values: Sequence[float],
    metric: str,
) -> Table:
    value = {(point.t, point.tau): point.metrics[metric].value for point in points}
    rows = [
        [
            f"{t:.2f}",
            *(estimate_cell(metric, Estimate(value[t, tau]), percent=True) for tau in tau_values),
        ]
        for t in t_values
    ]
    return Table(["t \\ τ", *(f"{tau:.2f}" for tau in tau_values)], rows, title=title)
