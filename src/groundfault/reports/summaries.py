"""Tables of stored results: one summary, several compared, a sweep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from groundfault.metrics import Metric
from groundfault.protocols import Protocol, SideBySide, of_summary
from groundfault.records import Estimate, Summary
from groundfault.reports.tables import Cell, Table

if TYPE_CHECKING:
    from groundfault.published import PublishedRow

__all__ = [
    "UNDEFINED",
    "UNDEFINED_NOTE",
    "cell_with_n",
    "conventions_table",
    "estimate_cell",
    "models_table",
    "published_table",
    "summary_notes",
    "summary_table",
]

UNDEFINED = "†"
UNDEFINED_NOTE = (
    f"{UNDEFINED} undefined by its definition, which divides by nothing here; the published "
    "evaluator's ε makes it a number. --variant exact leaves it out"
)


def estimate_cell(metric: Metric, estimate: Estimate) -> Cell:
    """A metric as its paper prints it, the interval in small print.

    >>> str(estimate_cell(Metric(name="AFPR"), Estimate(0.205, 0.188, 0.222, n=2146)))
    '20.5 [18.8, 22.2]'
    >>> str(estimate_cell(Metric(name="AFPR"), Estimate(None)))
    '—'
    >>> str(estimate_cell(Metric(name="cgF1"), Estimate(0.0, undefined=True)))
    '0.0†'
    """
    if estimate.value is None:
        return Cell("—")
    value = metric.text(estimate.value)
    if estimate.undefined is True:
        return Cell(f"{value}{UNDEFINED}")
    if estimate.low is None or estimate.high is None:
        return Cell(value)
    return Cell(value, f"[{metric.text(estimate.low)}, {metric.text(estimate.high)}]")


def summary_table(summary: Summary, metrics: Sequence[str] | None = None) -> Table:
    """The rows of one result, with what each number was made with below it; `metrics` are names or
    what tables print for them."""
    protocol = of_summary(summary)
    known = next(iter(summary.rows.values())).metrics
    names = [protocol.metric_named(name, known) for name in metrics or ()]
    chosen = [protocol.metric(name) for name in names or protocol.shown(known)]
    rows = [
        [name, str(row.n_cases), *(estimate_cell(m, row.metrics[m.name]) for m in chosen)]
        for name, row in summary.rows.items()
        if row.n_cases
    ]
    columns = ["", "cases", *map(_heading, chosen)]
    notes = list(summary_notes(summary, protocol))
    shown = [row.metrics[m.name] for row in summary.rows.values() if row.n_cases for m in chosen]
    if any(estimate.undefined is True for estimate in shown):
        notes.insert(1, UNDEFINED_NOTE)
    return Table(columns, rows, title=summary.benchmark, notes=notes)


def conventions_table(summaries: Mapping[str, Summary], rows: Sequence[str] = ()) -> Table | None:
    """Metrics under several conventions, one below another, of named results; None where the
    conventions give the same. `rows` are those of the result table, else as the protocol says."""
    first = next(iter(summaries.values()))
    protocol = of_summary(first)
    told = protocol.side_by_side
    if told is None or not any(_conventions_differ(each, told) for each in summaries.values()):
        return None
    metrics = [protocol.metric(name) for name in told.metrics]
    shown = rows or told.rows
    body = []
    for name, summary in summaries.items():
        for row, content in summary.rows.items():
            if not content.n_cases or row not in shown:
                continue
            for way in told.ways:
                found = [content.metrics.get(f"{m.name}_{way}", Estimate(None)) for m in metrics]
                cells = [cell_with_n(m, e) for m, e in zip(metrics, found, strict=True)]
                label = " · ".join(filter(None, (name, row if len(shown) > 1 else "")))
                body.append([label or row, way, *cells])
    return Table(
        ["", "absent masks", *map(_heading, metrics)],
        body,
        title=told.title,
        notes=[told.about, *(f"{way}: {meaning}" for way, meaning in told.ways.items())],
        left_columns=2,
    )


def _conventions_differ(summary: Summary, told: SideBySide) -> bool:
    found = summary.rows["Overall"].metrics.get(told.where, Estimate(None))
    return bool(found.value)


def cell_with_n(metric: Metric, estimate: Estimate) -> Cell:
    """The value with its interval and how many cases it is about."""
    cell = estimate_cell(metric, estimate)
    return Cell(cell.text, f"{cell.detail} n {estimate.n}".strip())


def models_table(summaries: Mapping[str, Summary], metrics: Sequence[str] | None = None) -> Table:
    """A line per model on one benchmark, over all cases."""
    first = next(iter(summaries.values()))
    protocol = of_summary(first)
    overall = {model: summary.rows["Overall"] for model, summary in summaries.items()}
    known = first.rows["Overall"].metrics
    names = [protocol.metric_named(name, known) for name in metrics or ()]
    chosen = [protocol.metric(name) for name in names or protocol.shown(known)]
    rows = [
        [model, str(row.n_cases), *(estimate_cell(m, row.metrics[m.name]) for m in chosen)]
        for model, row in overall.items()
    ]
    columns = ["", "cases", *map(_heading, chosen)]
    told = [next(iter(summary_notes(summary, protocol))) for summary in summaries.values()]
    each = [f"{model}: {note}" for model, note in zip(summaries, told, strict=True)]
    notes = told[:1] if len(set(told)) == 1 else each
    return Table(columns, rows, title=f"{first.benchmark}: all models, Overall", notes=notes)


def _heading(metric: Metric) -> str:
    """The metric's short name with which way is better."""
    return f"{metric.short} {metric.arrow}".rstrip()


def _setting(value: object) -> str:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return " and ".join(value)
    return str(value)


def summary_notes(summary: Summary, protocol: Protocol) -> Iterable[str]:
    labels = {"tau": "τ"}
    shown = ", ".join(
        f"{labels.get(name, name)} {_setting(value)}"
        for name, value in summary.settings.items()
        if name not in ("bootstrap", "seed") and value is not None and _setting(value)
    )
    interval = (
        f"95 % interval from {summary.settings['bootstrap']:,} resamples of cases, exact for "
        "shares near 0 and 100 %, none where all resamples agree"
        if summary.settings.get("bootstrap")
        else "no intervals"
    )
    yield f"{shown} · {interval} · {_units([protocol.metric(m) for m in protocol.headlines])}"
    if summary.about:
        yield f"note: {summary.about}"
    yield from (f"note: {note}" for note in summary.notes)
    told = protocol.bounds_told or protocol.shown(summary.rows["Overall"].metrics)[:1]
    rows = ["Overall"] if protocol.bounds_told else list(summary.bounds)  # a line each
    for row, bounds in ((row, summary.bounds.get(row, {})) for row in rows):
        ends = [(protocol.metric(name), *bounds.get(name, (None, None))) for name in told]
        parts = [
            f"{metric.name} lies between {metric.text(low)} and {metric.text(high)}"
            for metric, low, high in ends
            if low is not None and high is not None
            if not low == high == summary.rows[row].metrics[metric.name].value
        ]
        if parts:
            yield (f"{row} {' and '.join(parts)}, however the {protocol.doubtful} would have ended")


def _units(metrics: Sequence[Metric]) -> str:
    """What the numbers of a table are, and which of them are something else."""
    whole = "fractions" if metrics and metrics[0].unit == "fraction" else "percent"
    others = [
        f"{m.short} from {_end(m.low)} to {_end(m.high)}" for m in metrics if m.unit == "plain"
    ]
    return "; ".join([whole, *others])


def _end(value: float | None) -> str:
    return "any number" if value is None else f"{value:g}".replace("-", "−")


def published_table(
    rows: Sequence[PublishedRow], metrics: Sequence[Metric], *, other_data: bool = False
) -> Table:
    """What the papers report, in the columns of our own table; `other_data` says so where the
    results beside it are not on the published set."""
    shown = [m for m in metrics if any(row.metrics.get(m.name) is not None for row in rows)]
    merged: dict[tuple[str, str], dict[str, float | None]] = {}
    for row in rows:
        merged.setdefault((row.model, row.table_row), {}).update(
            {name: value for name, value in row.metrics.items() if value is not None}
        )
    body = [
        [model, name, *(estimate_cell(m, Estimate(values.get(m.name))) for m in shown)]
        for (model, name), values in merged.items()
        if any(m.name in values for m in shown)
    ]
    heading = "published, other data" if other_data else "published"
    return Table([heading, "", *map(_heading, shown)], body, left_columns=2)
