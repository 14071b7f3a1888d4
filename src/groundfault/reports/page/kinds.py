"""Kinds of cases: by intervention, by dose, by split, and a profile over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from groundfault.analysis.statistics import estimates
from groundfault.metrics import compose, shares, undefined
from groundfault.protocols.scored import by_case
from groundfault.records import Estimate
from groundfault.reports.page.figures import Bar, Curve, bars, curves, radar
from groundfault.reports.page.inputs import CONTROL, RunData
from groundfault.reports.page.sections import Context, Panel, Section, few, quoted, share

if TYPE_CHECKING:
    from groundfault.protocols.scored import Metrics

__all__ = ["dose_section", "kinds_section", "profile_section", "split_section"]

RESAMPLES = 1000
DOSES_AS_THEY_ARE = 12
"""More different doses than these are put into bins."""


def kinds_section(context: Context) -> Section | None:
    """Bars by intervention, task or size."""
    metrics = [metric for metric in context.protocol.bars if metric in context.known]
    values = [_by_slice(run) for run in context.models]
    labels = [label for label in values[0] if all(label in other for other in values)]
    if not metrics:
        return None
    figures = tuple(
        bars(
            context.figure_name("bars", metric),
            context.heading(metric),
            _groups(context, values, labels, metric),
            text=context.text(metric),
        )
        for metric in metrics
    )
    reading = _hardest(
        context, values, [x for x in labels if x not in ("Overall", CONTROL)], metrics[0]
    )
    return Section(
        id=context.figure_name("slices"),
        nav="Kinds",
        title=context.protocol.kinds,
        about="Bars are values over the cases of a kind; the thin line is the 95 % interval.",
        panels=(Panel(label="", figures=figures, reading=reading),),
    )


def _by_slice(run: RunData) -> dict[str, Mapping[str, Estimate]]:
    """The rows of the summary, and interventions that it has no row for. What two of them share, as
    "referring S", stands in the tables only."""
    rows = run.rows(control=True)
    found: dict[str, Mapping[str, Estimate]] = {
        row: run.summary.rows[row].metrics
        for row in rows
        if " " not in row or not set(row.split(" ")) <= set(rows)
    }
    if "intervention" in run.columns:
        labels = _labels(run, "intervention")
        missing = sorted({label for label in labels if label} - set(found))
        found |= _sliced(run, labels, missing) if missing else {}
    return found


def _labels(run: RunData, column: str) -> list[Any]:
    """What a column says of the entries that the headline is about; None for the others."""
    overall = run.member("Overall").tolist()
    values = run.table.column(column).to_pylist()
    return [value if counts else None for value, counts in zip(values, overall, strict=True)]


def _groups(
    context: Context,
    values: Sequence[Mapping[str, Mapping[str, Estimate]]],
    labels: Sequence[str],
    metric: str,
) -> list[tuple[str, list[Bar]]]:
    return [
        (
            context.slice_name(label),
            [Bar(k, run.name, values[k][label][metric]) for k, run in enumerate(context.models)],
        )
        for label in labels
    ]


def _hardest(
    context: Context,
    values: Sequence[Mapping[str, Mapping[str, Estimate]]],
    labels: Sequence[str],
    metric: str,
) -> str:
    """Where the models do worst on a metric."""
    told = [(run.name, by) for run, by in zip(context.models, values, strict=True)]

    def mean(label: str) -> float:
        found = [by[label][metric].value for _, by in told]
        return float(np.mean([value for value in found if value is not None] or [np.nan]))

    ranked = [label for label in labels if not np.isnan(mean(label))]
    if len(ranked) < 2 or len({mean(label) for label in ranked}) == 1:
        return ""
    lower = context.metric(metric).better == "lower"
    worst = max(ranked, key=lambda x: mean(x) if lower else -mean(x))
    each = [
        f"{name} {' '.join(quoted(context, metric, by[worst][metric])).rstrip()}"
        for name, by in told
        if by[worst][metric].value is not None
    ]
    return f"Hardest by {context.metric(metric).short}: {context.slice_name(worst)} ({few(each)})."


def _sliced(
    run: RunData, labels: Sequence[Any], wanted: Sequence[Any]
) -> dict[Any, dict[str, Estimate]]:
    """Estimates of every metric for the entries that carry each label."""
    contributions, case, metrics = _contributions(run)
    names, places = list(metrics(contributions[:1])), shares(run.contribution_names)
    label_of = np.array(labels, dtype=object)
    found = {}
    for number, label in enumerate(wanted):
        member = label_of == label
        sums = by_case(contributions[member], case[member])
        found[label] = estimates(
            sums,
            metrics,
            dict.fromkeys(names, len(sums)),
            shares=places,
            undefined=undefined(run.contribution_names, sums.sum(axis=0), run.summary.settings),
            resamples=RESAMPLES,
            seed=[0, number],
        )
    return found


def _contributions(run: RunData) -> tuple[Any, Any, Metrics]:
    """What each entry adds to the sums, its case, and the metrics of sums."""
    names = run.contribution_names
    columns = np.stack([run.table.column(name).to_numpy() for name in names], axis=1)
    return (
        columns.astype(np.float64),
        run.table.column("case").to_numpy(),
        compose(names, run.summary.settings),
    )


def dose_section(context: Context) -> Section | None:
    """False answers against the strength of the edit."""
    if not all(_has_doses(run) for run in context.models):
        return None
    doses = [_doses(run) for run in context.models]
    levels = sorted({dose for listed in doses for dose in listed if dose is not None})
    if len(levels) < 2:
        return None
    kinds = _kinds_of_doses(context.models[0], doses[0])
    partly = [kind for kind, found in kinds.items() if len(found) < len(levels)]
    whole = [kind for kind in kinds if kind not in partly]
    wanted = [(metric, "", whole or list(kinds)) for metric in _rates(context)]
    if len(kinds) > 1:
        wanted += [(_rates(context)[0], kind, [kind]) for kind in kinds]
    figures = []
    reading = ""
    for metric, kind, members in wanted:
        by_dose = [
            _sliced(run, _only(run, listed, members), levels)
            for run, listed in zip(context.models, doses, strict=True)
        ]
        reading = reading or _dose_reading(context, by_dose, metric)
        name = f"{metric} by dose" + (f": {context.slice_name(kind)}" if kind else "")
        figures.append(
            curves(
                context.figure_name("dose", metric, *filter(None, [kind])), name,
                _dose_curves(context, by_dose, metric),
                across="dose: strength of the edit",
                text=_axis_text(context, metric),
                x_text=lambda value: f"{value:g}", x_range=(min(levels), max(levels)),
            )
        )  # fmt: skip
    return Section(
        id=context.figure_name("dose"),
        nav="Dose",
        title="Does a stronger edit mislead more?",
        about="Cases by the strength of their edit, with 95 % bands.",
        panels=(
            Panel(
                label="",
                figures=tuple(figures),
                reading=reading + _left_out(context, partly if whole else ()),
            ),
        ),
    )


def _kinds_of_doses(run: RunData, doses: Sequence[float | None]) -> dict[str, set[float]]:
    """The doses that each intervention has cases of; runs of a chapter have the same cases."""
    found: dict[str, set[float]] = {}
    for kind, dose in zip(_interventions(run), doses, strict=True):
        if dose is not None:
            found.setdefault(kind, set()).add(dose)
    return found


def _interventions(run: RunData) -> list[str]:
    if "intervention" not in run.columns:
        return [""] * run.table.num_rows
    return [kind or "" for kind in run.table.column("intervention").to_pylist()]


def _only(run: RunData, doses: Sequence[float | None], kinds: Sequence[str]) -> list[float | None]:
    """The doses of some interventions; None for the others."""
    pairs = zip(_interventions(run), doses, strict=True)
    return [dose if kind in kinds else None for kind, dose in pairs]


def _axis_text(context: Context, metric: str) -> Callable[[float], str]:
    return share if context.metric(metric).unit == "percent" else context.text(metric)


def _left_out(context: Context, kinds: Sequence[str]) -> str:
    """Interventions that have no cases at some dose, where they would join the curve midway."""
    if not kinds:
        return ""
    names = " and ".join(map(context.slice_name, kinds))
    return f" {names}: not asked at every dose, so in a figure of its own only."


def _dose_reading(
    context: Context, by_dose: Sequence[Mapping[float, Mapping[str, Estimate]]], metric: str
) -> str:
    """Which curves rise or fall, and where they would start: at the unedited pictures."""
    ways: dict[str, list[str]] = {"rises": [], "falls": [], "stays within its bands": []}
    for run, found in zip(context.models, by_dose, strict=True):
        weakest, strongest = found[min(found)][metric], found[max(found)][metric]
        if None not in (weakest.low, strongest.low):
            change = " → ".join(quoted(context, metric, end)[0] for end in (weakest, strongest))
            ways[_way(weakest, strongest)].append(f"{run.name} {change}")
    words = " ".join(
        f"From the weakest dose to the strongest, {metric} {way}: {few(runs)}."
        for way, runs in ways.items()
        if runs
    )
    controls = [
        f"{run.name} {quoted(context, metric, run.summary.rows[CONTROL].metrics[metric])[0]}"
        for run in context.models
        if CONTROL in run.summary.rows
        and run.summary.rows[CONTROL].metrics[metric].value is not None
    ]
    if controls:
        return f"{words} On the unedited controls {metric} is: {few(controls)}."
    if 0.0 in by_dose[0]:
        return f"{words} What is false at dose 0, where nothing is edited, has other causes."
    return words


def _way(weakest: Estimate, strongest: Estimate) -> str:
    """Which way a curve goes, if its bands at both ends are apart."""
    if (strongest.low or 0.0) > (weakest.high or 0.0):
        return "rises"
    if (strongest.high or 0.0) < (weakest.low or 0.0):
        return "falls"
    return "stays within its bands"


def _has_doses(run: RunData) -> bool:
    from pyarrow import types

    if "dose" not in run.columns:
        return False
    kind = run.table.schema.field("dose").type
    return bool(types.is_floating(kind) or types.is_integer(kind))


def _doses(run: RunData) -> list[float | None]:
    """The dose of every entry; many different ones become the middles of eight bins."""
    control = run.member(CONTROL).tolist()
    values = [
        None if value is None or unedited else float(value)
        for value, unedited in zip(run.table.column("dose").to_pylist(), control, strict=True)
    ]
    known = np.array([value for value in values if value is not None])
    if len(np.unique(known)) <= DOSES_AS_THEY_ARE:
        return values
    edges = np.linspace(known.min(), known.max(), 9)
    middles = (edges[:-1] + edges[1:]) / 2

    def binned(value: float) -> float:
        number = int(np.clip(np.searchsorted(edges, value, side="right") - 1, 0, 7))
        return round(float(middles[number]), 4)

    return [None if value is None else binned(value) for value in values]


def _dose_curves(
    context: Context, by_dose: Sequence[Mapping[float, Mapping[str, Estimate]]], metric: str
) -> list[Curve]:
    lines = []
    for k, run in enumerate(context.models):
        known = [(dose, estimate) for dose, found in by_dose[k].items()
                 if (estimate := found[metric]).value is not None]  # fmt: skip
        if known:
            lines.append(
                Curve(
                    k,
                    run.name,
                    [dose for dose, _ in known],
                    [estimate.value or 0.0 for _, estimate in known],
                    [estimate.low or 0.0 for _, estimate in known],
                    [estimate.high or 0.0 for _, estimate in known],
                )
            )
    return lines


def split_section(context: Context) -> Section | None:
    """Seen against unseen, where the cases say which they are."""
    if not all("split" in run.columns for run in context.models):
        return None
    labels = [_labels(run, "split") for run in context.models]
    wanted = sorted({str(label) for listed in labels for label in listed if label})
    if len(wanted) < 2:
        return None
    values = [
        _sliced(run, listed, wanted) for run, listed in zip(context.models, labels, strict=True)
    ]
    figures = [
        bars(
            context.figure_name("split", metric),
            context.heading(metric),
            _groups(context, values, wanted, metric),
            text=context.text(metric),
        )
        for metric in _rates(context)
    ]
    return Section(
        id=context.figure_name("split"),
        nav="Splits",
        title="By split",
        about="Cases of each split, with 95 % intervals.",
        panels=(
            Panel(
                label="",
                figures=tuple(figures),
                reading="Intervals that lie apart hint at what was learned by heart.",
            ),
        ),
    )


def _rates(context: Context) -> list[str]:
    known = context.known
    wanted = ("AFPR", "IL-FPR") if "AFPR" in known else context.protocol.bars[:2]
    return [metric for metric in wanted if metric in known]


def profile_section(context: Context) -> Section | None:
    """The profile of each run over slices; outward is better everywhere."""
    axes = _radar_axes(context)
    if len(axes) < 3:
        return None
    series = [
        (k, run.name, [read(run) for _, read in axes]) for k, run in enumerate(context.models)
    ]
    figure = radar(
        context.figure_name("radar"), "Profile: outward is better",
        [label for label, _ in axes], series,
    )  # fmt: skip
    return Section(
        id=context.figure_name("radar"),
        nav="Profile",
        title="Profile",
        about="Every axis goes from 0 at the centre to 100 % at the rim.",
        panels=(
            Panel(
                label="",
                figures=(figure,),
                reading="A dent shows where a run fails; only points on an axis mean something, "
                "not the area between them.",
            ),
        ),
    )


def _radar_axes(
    context: Context,
) -> list[tuple[str, Callable[[RunData], float | None]]]:
    def read(row: str, metric: str, flip: bool) -> Callable[[RunData], float | None]:
        def value(run: RunData) -> float | None:
            found = run.summary.rows[row].metrics[metric].value
            return None if found is None else (1 - found if flip else found)

        return value

    def found_share(row: str) -> Callable[[RunData], float | None]:
        def value(run: RunData) -> float | None:
            metrics = run.summary.rows[row].metrics
            lost, kept = metrics["lost"].value, metrics["TA-TP"].value
            return None if lost is None or kept is None else kept / (kept + lost)

        return value

    summary = context.models[0].summary
    rows = context.models[0].rows()
    known = summary.rows["Overall"].metrics
    if "AFPR" in known:
        slices = [row for row in rows if row != "Overall"] or ["Overall"]
        shown = {"Overall": ""} if slices == ["Overall"] else {row: f"{row} " for row in slices}
        axes = [(f"{shown[row]}p⁺\nfound", found_share(row)) for row in slices]
        return axes + [(f"{shown[row]}p⁻\nrejected", read(row, "IL-FPR", True)) for row in slices]
    if "dIoU_textual" in known:
        return [
            ("c found", read("Overall", "IoU_fact", False)),
            ("c′ absent:\nno mask", read("Overall", "IoU_textual", True)),
            ("c′ found", read("Overall", "IoU_cf", False)),
            ("c gone:\nno mask", read("Overall", "IoU_visual", True)),
        ]
    if "See_true" in known:
        names = ("See_true", "See_false", "Segment", "gIoU")
        return [(name, read("Overall", name, False)) for name in names]
    axes = [
        (metric.short, read("Overall", metric.name, metric.better == "lower"))
        for metric in map(
            context.metric, ("IL_recall", "positive_micro_F1", "positive_macro_F1", "IL_FPR")
        )
        if metric.name in known
    ]
    return [(f"not\n{label}" if label == "IL_FPR" else label, f) for label, f in axes]
