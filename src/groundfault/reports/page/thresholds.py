"""Thresholds: what the metrics would be at any score t and any overlap τ, and who would win."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from groundfault.reports.page.figures import Curve, Leads, Place, curves, leads_map, surface_map
from groundfault.reports.page.inputs import RunData
from groundfault.reports.page.points import (
    T_GRID,
    TAU_GRID,
    Points,
    ahead,
    counts,
    has_pairs,
    interval,
    points_of,
    surface,
)
from groundfault.reports.page.sections import FOUND, Context, Panel, Section, few, share

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["overlap_section", "thresholds_section"]

SURFACE_METRICS = ("AFPR", "ACSR", FOUND.name)
SCALES = (0.08, 0.2, 0.4, 1.0)
"""Ends of the colour scale; all runs share the first that holds their values."""


def thresholds_section(context: Context) -> Section | None:
    """The trade-off along t, every (t, τ), and where another model wins."""
    if not all(has_pairs(run) for run in context.models):
        return None
    all_points = [points_of(run) for run in context.models]
    places = [_place(run) for run in context.models]
    panels = [_trade_off(context, all_points)]
    findings: list[str] = []
    for metric in SURFACE_METRICS:
        figures = []
        declared = context.metric(metric)
        lower, reading = declared.better == "lower", declared.about
        common = _common_rows(all_points)
        if len(context.models) > 1 and len(common):
            leads, flips = _leads(context, all_points, common, metric)
            same = len(set(places)) == 1
            figures.append(
                leads_map(
                    context.figure_name("winner", metric),
                    f"Who has the {'lowest' if lower else 'highest'} {declared.short}",
                    leads, [run.name for run in context.models], T_GRID, TAU_GRID,
                    place=places[0] if same else None,
                )
            )  # fmt: skip
            reading += " " + _flip_reading(leads, metric)
            findings += flips
        surfaces = [surface(points, metric) for points in all_points]
        highest = max(float(values.max()) for values in surfaces)
        top = next(step for step in SCALES if step >= highest)
        figures += [
            surface_map(
                context.figure_name("surface", metric, run.name),
                f"{run.name}: {context.metric(metric).short}",
                values, T_GRID, TAU_GRID, place=place, text=share, top=top,
            )
            for run, values, place in zip(context.models, surfaces, places, strict=True)
        ]  # fmt: skip
        panels.append(
            Panel(label=context.metric(metric).short, figures=tuple(figures), reading=reading)
        )
    return Section(
        id=context.figure_name("points"),
        nav="Thresholds",
        title=(
            "Does the ranking depend on the thresholds?"
            if len(context.models) > 1
            else "How much depends on the thresholds?"
        ),
        about=(
            "An answer counts from score t on, and as “on the object” from overlap τ on. Both are "
            "choices. Here is every choice, computed from the stored scores; the frame marks the "
            "one that the tables use. “Beyond noise” is judged point by point (95 %), so a single "
            "odd point means little. cgF1 is not among them: τ has no part in it, and along t it "
            "needs the overlap of every prediction with every object, of which runs store only "
            "that with the target. “groundfault sweep” works it out from the masks."
        ),
        panels=tuple(panels),
        points=tuple(findings),
    )


def _place(run: RunData) -> Place | None:
    return None if run.t is None or run.tau is None else Place(run.t, run.tau)


def _tau_number(run: RunData) -> int:
    return int(np.argmin([abs(tau - run.own_tau) for tau in TAU_GRID]))


def _trade_off(context: Context, all_points: Sequence[Points]) -> Panel:
    """Found against fooled while t goes from strict to lenient."""
    ts = T_GRID[::-1]
    lines = []
    for k, (run, points) in enumerate(zip(context.models, all_points, strict=True)):
        number = _tau_number(run)
        fooled = [float(counts(points, "AFPR", t, number).mean()) for t in ts]
        found = [float(counts(points, "found", t, number).mean()) for t in ts]
        marked = None if run.t is None else int(np.argmin([abs(t - run.t) for t in ts]))
        lines.append(Curve(k, run.name, fooled, found, marked=marked))
    most = max(x for line in lines for x in line.x)
    figures = [
        curves(
            context.figure_name("trade-off"), "p⁺ found against AFPR, along t", lines,
            across="AFPR", text=share, x_text=share, x_range=(0.0, max(most, 0.05)), y_top=1.0,
        )
    ]  # fmt: skip
    for metric in ("AFPR", "found"):
        name = context.metric(metric).short
        along = [
            Curve(
                line.series, line.name, T_GRID, (line.x if metric == "AFPR" else line.y)[::-1],
                marked=None if line.marked is None else len(ts) - 1 - line.marked,
            )
            for line in lines
        ]  # fmt: skip
        figures.append(
            curves(
                context.figure_name("along-t", metric), f"{name} along t", along,
                across="score threshold t", text=share, x_text=lambda t: f"{t:g}",
                x_range=(0.0, 1.0), y_top=1.0,
            )
        )  # fmt: skip
    reading = (
        "In the first figure each dot is a t, strict at the lower left, lenient at the right; "
        "the ring is the one in use. A line nearer to the upper left corner is better at every "
        "threshold, whatever t its authors choose."
    )
    return Panel(label="trade-off", figures=tuple(figures), reading=reading)


def _common_rows(all_points: Sequence[Points]) -> NDArray[np.int64]:
    """Rows of the case table that count in every run."""
    common = all_points[0].row
    for points in all_points[1:]:
        common = np.intersect1d(common, points.row)
    return common


def _leads(
    context: Context, all_points: Sequence[Points], common: NDArray[np.int64], metric: str
) -> tuple[Leads, list[str]]:
    """Which model is best at every point, and which pairs change order beyond noise."""
    members = [np.searchsorted(points.row, common) for points in all_points]
    case = all_points[0].case[members[0]]
    sign = 1.0 if context.metric(metric).better == "lower" else -1.0

    def at(k: int, t: float, tau_number: int) -> NDArray[np.bool_]:
        return counts(all_points[k], metric, t, tau_number)[members[k]]

    told = range(len(context.models))
    own = {k: at(k, context.models[k].own_t, _tau_number(context.models[k])) for k in told}
    home = min(told, key=lambda k: sign * float(own[k].mean()))
    home_order = {(a, b): ahead(own[a], own[b], case) for a, b in combinations(told, 2)}
    shape = (len(TAU_GRID), len(T_GRID))
    leads = Leads(np.zeros(shape, np.int64), np.zeros(shape, bool), np.zeros(shape, bool))
    reversed_at = dict.fromkeys(home_order, 0)
    for i in range(shape[0]):
        for j, t in enumerate(T_GRID):
            flags = {k: at(k, t, i) for k in told}
            order = sorted(told, key=lambda k: (sign * float(flags[k].mean()), k))
            first, second = order[:2]
            clear = ahead(flags[first], flags[second], case)[1]
            leads.series[i, j], leads.clear[i, j] = first, clear
            leads.flips[i, j] = clear and first != home
            for (a, b), (difference, sure) in home_order.items():
                now, now_sure = ahead(flags[a], flags[b], case)
                reversed_at[a, b] += sure and now_sure and (now > 0) != (difference > 0)
    name = context.metric(metric).short
    return leads, [
        f"{context.models[a].name} and {context.models[b].name} change places on {name}, "
        f"beyond noise, at {times} of {shape[0] * shape[1]} points of the grid."
        for (a, b), times in reversed_at.items()
        if times
    ]


def _flip_reading(leads: Leads, metric: str) -> str:
    total, flips = leads.series.size, int(leads.flips.sum())
    unclear = total - int(leads.clear.sum())
    if not flips:
        words = f"No other run takes the lead beyond noise at any of the {total} points"
    else:
        words = f"At {flips} of {total} points another run leads beyond noise"
    return f"{words}; at {unclear} the first two are too close to call."


def overlap_section(context: Context) -> Section | None:
    """AFPR along τ, by slice."""
    if not all(has_pairs(run) for run in context.models):
        return None
    figures, drops, any_false = [], [], False
    for row in context.models[0].rows():
        lines = []
        for k, run in enumerate(context.models):
            points = points_of(run, row=row)
            if not len(points.row):
                continue
            flags = np.stack(
                [counts(points, "AFPR", run.own_t, i) for i in range(len(TAU_GRID))],
                axis=1,
            )
            value, ends = interval(flags, points.case)
            low, high = zip(*ends, strict=True)
            shares = value.tolist()
            lines.append(Curve(k, run.name, TAU_GRID, shares, low, high, _tau_number(run)))
            if row == "Overall":
                any_false |= shares[2] > 0
                drops.append(f"{share(shares[2])} to {share(shares[6])} ({run.name})")
        if not lines:
            continue
        figures.append(
            curves(
                context.figure_name("tau", row), f"AFPR along τ: {context.slice_name(row)}", lines,
                across="overlap threshold τ", text=share, x_text=lambda x: f"{x:.1f}",
                x_range=(0.1, 0.9),
            )
        )  # fmt: skip
    reading = (
        f"From τ 0.3 to 0.7, overall AFPR goes from {few(drops, ', from ')}. A flat line means "
        "that wrong masks lie squarely on the object; a falling one that they only touch it."
    )
    if not any_false:
        reading = "From τ 0.3 on, no false answer lies on the object."
    return Section(
        id=context.figure_name("tau"),
        nav="Overlap",
        title="How much overlap makes a false answer?",
        about="AFPR at the run's own t, for every overlap τ, with 95 % bands.",
        panels=(Panel(label="", figures=tuple(figures), reading=reading),),
    )
