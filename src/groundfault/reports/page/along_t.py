"""What the metrics would be at any score threshold, where a run's folder has a sweep."""

from __future__ import annotations

import msgspec

from groundfault.analysis.sweep import Sweep
from groundfault.errors import GroundfaultError
from groundfault.io.store import is_there, read_json
from groundfault.records import Estimate
from groundfault.reports.page.drawing import Figure
from groundfault.reports.page.figures import Curve, curves
from groundfault.reports.page.inputs import RunData
from groundfault.reports.page.sections import Context, Panel, Section

__all__ = ["SWEEP", "along_t_section"]

SWEEP = "sweep.json"
Points = list[tuple[float, Estimate]]


def along_t_section(context: Context) -> Section | None:
    """Each metric along t; None where a run has no sweep of its protocol."""
    sweeps = [_sweep(run) for run in context.runs]
    found = [sweep for sweep in sweeps if sweep is not None]
    if len(found) < len(sweeps) or not context.protocol.along_t:
        return None
    figures = [
        figure
        for metric in context.protocol.along_t
        if (figure := _figure(context, found, metric)) is not None
    ]
    if not figures:
        return None
    return Section(
        id=context.figure_name("along-t"),
        nav="Along t",
        title="How much depends on the threshold?",
        about="A mask is accepted from score t on. Here is every t, from the stored answers; the "
        "ring marks the one that the tables use, the band is the 95 % interval over cases. A line "
        "ends where nothing is left to compare.",
        panels=(Panel(label="", figures=tuple(figures), reading=""),),
    )


def _sweep(run: RunData) -> Sweep | None:
    if not is_there(run.folder / SWEEP):
        return None
    try:
        found = read_json(run.folder / SWEEP, Sweep)
    except (GroundfaultError, msgspec.DecodeError):
        return None
    return found if found.protocol == run.protocol.name else None


def _figure(context: Context, sweeps: list[Sweep], metric: str) -> Figure | None:
    lines = [
        _line(series, run, points)
        for series, (run, sweep) in enumerate(zip(context.runs, sweeps, strict=True))
        if (points := _points(sweep, metric))
    ]
    if not lines:
        return None
    return curves(
        context.figure_name("along-t", metric),
        context.heading(metric),
        lines,
        across="score threshold t",
        text=context.text(metric),
        x_text=lambda value: f"{value:.2f}",
        x_range=(0.0, 1.0),
        dots=False,
    )


def _points(sweep: Sweep, metric: str) -> Points:
    """(t, estimate) where it is defined."""
    found = [
        (point.t, point.metrics[metric])
        for point in sweep.points
        if point.row == "Overall" and metric in point.metrics
    ]
    return [(t, estimate) for t, estimate in found if estimate.value is not None]


def _line(series: int, run: RunData, points: Points) -> Curve:
    ts = [t for t, _ in points]
    values = [estimate for _, estimate in points]
    banded = all(e.low is not None and e.high is not None for e in values)
    marked = min(range(len(ts)), key=lambda k: abs(ts[k] - run.own_t))
    return Curve(
        series,
        run.name,
        ts,
        [e.value or 0.0 for e in values],
        [e.low or 0.0 for e in values] if banded else (),
        [e.high or 0.0 for e in values] if banded else (),
        marked=marked,
    )
