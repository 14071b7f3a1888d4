"""Tables of a sweep: along t, along τ, and their grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from groundfault import protocols
from groundfault.analysis.sweep import Point, Sweep, best_threshold
from groundfault.errors import UnknownName
from groundfault.metrics import Metric
from groundfault.reports.summaries import UNDEFINED_NOTE, estimate_cell
from groundfault.reports.tables import Cell, Table

__all__ = ["sweep_tables"]

DEFAULT_T, DEFAULT_TAU = 0.5, 0.3


def sweep_tables(sweep: Sweep, *, metric: str = "", row: str) -> Iterator[Table]:
    """Along t at the protocol's usual τ, along τ at the usual t, and the grid of one metric, by
    default the first that the protocol shows along τ."""
    points = [point for point in sweep.points if point.row == row]
    if not points:
        raise UnknownName("row", row, {point.row for point in sweep.points})
    known = points[0].metrics
    protocol = protocols.named(sweep.protocol, known)
    default = next(iter(protocol.along_tau), protocol.main)
    chosen = protocol.metric(protocol.metric_named(metric or default, known))
    along = {axis: [protocol.metric(m) for m in names if m in known]
             for axis, names in (("t", protocol.along_t), ("τ", protocol.along_tau))}  # fmt: skip
    t_values = sorted({point.t for point in points})
    tau_values = sorted({point.tau for point in points if point.tau is not None})
    tau = _nearest(tau_values, float(str(protocol.settings.get("tau", DEFAULT_TAU))))
    t = _nearest(t_values, DEFAULT_T)
    along_t = [point for point in points if point.tau == tau]
    best = best_threshold(sweep, row=row) if "cgF1" in known else None
    note = f"the first highest cgF1 is at t = {best}" if best is not None else ""
    at = f", τ {tau}" if tau is not None else ""
    yield _lines(f"{row} along t{at}", "t", along_t, along["t"], [note], best)
    if len(tau_values) > 1:
        along_tau = [point for point in points if point.t == t]
        yield _lines(f"{row} along τ, t {t}", "τ", along_tau, along["τ"], [])
        if len(t_values) > 1:
            title = f"{row} {chosen.name}: t down, τ across"
            yield _grid(title, points, t_values, tau_values, chosen)


def _nearest(values: Sequence[float], wanted: float) -> float | None:
    return min(values, key=lambda value: abs(value - wanted)) if values else None


def _lines(
    title: str,
    axis: str,
    points: Sequence[Point],
    metrics: Sequence[Metric],
    notes: Sequence[str],
    best: float | None = None,
) -> Table:
    rows = []
    for point in points:
        place = point.t if axis == "t" else point.tau
        strong = axis == "t" and point.t == best
        cells = [estimate_cell(m, point.metrics[m.name]) for m in metrics]
        rows.append([Cell(f"{place:.2f}", strong=strong), *cells])
    if any(point.metrics[m.name].undefined is True for point in points for m in metrics):
        notes = [*notes, UNDEFINED_NOTE]
    return Table(
        [axis, *(m.short for m in metrics)],
        rows,
        title=title,
        notes=[n for n in notes if n],
    )


def _grid(
    title: str,
    points: Sequence[Point],
    t_values: Sequence[float],
    tau_values: Sequence[float],
    metric: Metric,
) -> Table:
    found = {(point.t, point.tau): point.metrics[metric.name] for point in points}
    value = {at: msgspec.structs.replace(each, low=None, high=None) for at, each in found.items()}
    rows = [
        [
            f"{t:.2f}",
            *(estimate_cell(metric, value[t, tau]) for tau in tau_values),
        ]
        for t in t_values
    ]
    return Table(["t \\ τ", *(f"{tau:.2f}" for tau in tau_values)], rows, title=title)
