"""The first table: every run and every published row, with intervals, bounds and shared ranks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from groundfault.published import is_published_data, rows_beside, sources
from groundfault.records import Estimate
from groundfault.reports.page.inputs import RunData
from groundfault.reports.page.sections import Context
from groundfault.reports.summaries import UNDEFINED_NOTE, estimate_cell
from groundfault.reports.tables import Cell, Table, render

__all__ = [
    "HeadlineTable",
    "failed_of",
    "headline_latex",
    "headline_tables",
    "published_note",
    "table_note",
]

PRINTED_AS = {"delta": "cot_effect"}
"""What papers call a metric of ours."""


class HeadlineCell(msgspec.Struct, frozen=True, kw_only=True):
    """One number of the first table."""

    text: str
    interval: str = ""
    bounds: str = ""
    rank: int | None = None
    tied: bool = False
    best: bool = False
    """In the first rank, which not every run shares."""
    value: float | None = None


class HeadlineRow(msgspec.Struct, frozen=True, kw_only=True):
    """One run, or one model of a paper."""

    name: str
    cells: tuple[HeadlineCell, ...]
    series: int | None = None
    """None for a published row."""
    detail: str = ""


class HeadlineTable(msgspec.Struct, frozen=True, kw_only=True):
    """The first table for one slice of the cases."""

    id: str
    label: str
    part: str
    """The slice without its split, as "SM"."""
    split: str
    """ "" for all splits."""
    n_cases: int
    columns: tuple[tuple[str, str, str], ...]
    """Name, which way is better, meaning."""
    rows: tuple[HeadlineRow, ...]
    baselines: tuple[HeadlineRow, ...] = ()
    """On one line each, never ranked."""
    published: tuple[HeadlineRow, ...] = ()


def headline_tables(context: Context, metrics: Sequence[str]) -> Iterable[HeadlineTable]:
    declared = [context.metric(name) for name in metrics]
    columns = tuple((m.heading, m.arrow, m.about) for m in declared)
    told = len(context.models)
    for row, content in context.runs[0].summary.rows.items():
        if not content.n_cases:
            continue
        part, split = _part_and_split(row, context.splits)
        rows = tuple(_run_row(context, k, row, metrics) for k in range(len(context.runs)))
        yield HeadlineTable(
            id=context.figure_name("table", row),
            label=context.slice_name(row),
            part=context.slice_name(part),
            split=split,
            n_cases=content.n_cases,
            columns=columns,
            rows=rows[:told],
            baselines=rows[told:],
            published=tuple(_published(context, row, metrics)),
        )


def _part_and_split(row: str, splits: Sequence[str]) -> tuple[str, str]:
    """
    >>> [_part_and_split(row, ["seen", "unseen pair"]) for row in ("SM", "seen", "SM unseen pair")]
    [('SM', ''), ('Overall', 'seen'), ('SM', 'unseen pair')]
    """
    for split in sorted(splits, key=len, reverse=True):
        if row == split:
            return "Overall", split
        if row.endswith(f" {split}"):
            return row.removesuffix(f" {split}"), split
    return row, ""


def headline_latex(title: str, table: HeadlineTable) -> tuple[str, str]:
    """Name and LaTeX of a table's runs; bold is what the page has as best."""
    rows = [
        [
            Cell(row.name, row.detail),
            *(Cell(cell.text, _bracketed(cell.interval), strong=cell.best) for cell in row.cells),
        ]
        for row in (*table.rows, *table.baselines)
    ]
    columns = ["run", *(f"{name} {arrow}".rstrip() for name, arrow, _ in table.columns)]
    caption = f"{title}: {table.label}, {table.n_cases:,} cases"
    return table.id, render(Table(columns, rows, title=caption), "latex") + "\n"


def _bracketed(interval: str) -> str:
    """With a comma: in LaTeX a dash between the ends looks like a minus."""
    return f"[{interval.replace(' – ', ', ')}]" if interval else ""


def _run_row(context: Context, k: int, row: str, metrics: Sequence[str]) -> HeadlineRow:
    run = context.runs[k]
    content = run.summary.rows.get(row)
    cells = []
    for metric in metrics:
        estimate = content.metrics[metric] if content else Estimate(None)
        shown = estimate_cell(context.metric(metric), estimate)
        ranks = _ranks(context, row, metric)
        rank = ranks[k] if ranks else None
        cells.append(
            HeadlineCell(
                text=shown.text,
                interval=shown.detail.strip("[]").replace(", ", " – "),
                bounds=_bounds(context, run, row, metric),
                rank=rank,
                tied=rank is not None and ranks.count(rank) > 1,
                best=rank == 1 and len({*ranks} - {None}) > 1,
                value=estimate.value,
            )
        )
    return HeadlineRow(name=run.name, cells=tuple(cells), series=k, detail=_answered(run))


def _ranks(context: Context, row: str, metric: str) -> list[int | None]:
    """The rank of every run; empty where they are not ranked."""
    comparison = context.comparisons.get(row)
    if comparison is None or not context.metric(metric).is_ranked:
        return []
    ranks = comparison.ranks[row][metric]
    return [ranks.get(name) for name in comparison.runs]


def _bounds(context: Context, run: RunData, row: str, metric: str) -> str:
    low, high = run.summary.bounds.get(row, {}).get(metric, (None, None))
    if low is None or high is None:
        return ""
    text = context.text(metric)
    value = run.summary.rows[row].metrics[metric].value
    return "" if low == high == value else f"{text(low)} … {text(high)}"


def failed_of(run: RunData) -> tuple[int, int]:
    return run.summary.outcomes.get("failed", 0), sum(run.summary.outcomes.values())


def _answered(run: RunData) -> str:
    """How many answers there are, where some failed."""
    failed, total = failed_of(run)
    return f"{total - failed:,} of {total:,} answered" if failed else ""


def _published(context: Context, row: str, metrics: Sequence[str]) -> Iterable[HeadlineRow]:
    """What papers report for this slice, in our columns."""
    summary = context.runs[0].summary
    merged: dict[str, dict[str, float]] = {}
    for line in rows_beside(summary, context.protocol, other_data=context.chapter.with_published):
        if line.table_row == row:
            found = {
                PRINTED_AS.get(name, name): value
                for name, value in line.metrics.items()
                if value is not None
            }
            merged.setdefault(line.model, {}).update(found)
    for model, values in merged.items():
        if not any(metric in values for metric in metrics):
            continue
        cells = tuple(
            HeadlineCell(
                text=str(estimate_cell(context.metric(metric), Estimate(values.get(metric)))),
                value=values.get(metric),
            )
            for metric in metrics
        )
        yield HeadlineRow(name=model, cells=cells)


def published_note(context: Context) -> str:
    """Where published rows are from, and whether they compare."""
    summary = context.runs[0].summary
    rows = rows_beside(summary, context.protocol, other_data=True)
    benchmarks = {row.source.benchmark for row in rows}
    papers = dict.fromkeys(f"“{s.paper}”" for s in sources() if s.benchmark in benchmarks)
    if is_published_data(summary):
        return (
            f"Published rows are as printed in {'; '.join(papers)}. They have no intervals and are "
            "not ranked."
        )
    note = (
        f"Other data: the published rows are as printed in {'; '.join(papers)}, for their own "
        "pictures and questions, which are not these. They show the order of size, no more."
    )
    return f"{note} {context.protocol.published_note}".strip()


def table_note(context: Context) -> str:
    settings = context.runs[0].summary.settings
    parts = []
    if settings.get("bootstrap"):
        parts.append(
            f"Small print: 95 % interval from {settings['bootstrap']:,} resamples of whole cases; "
            "exact for shares near 0 and 100 % (Clopper–Pearson), none where all resamples agree."
        )
    if context.comparisons:
        parts.append(
            "The small number before a value is its rank: one more than how many runs are better "
            "by more than chance (on the same cases; McNemar’s exact test for shares of cases, "
            "else paired bootstrap or, beyond its reach, Student’s t; Holm over all pairs and "
            "columns of the table, p < 0.05); “=” where several have it."
        )
    if any(comparison.baselines for comparison in context.comparisons.values()):
        parts.append("Baselines are not ranked; point at a value to see its interval.")
    if any(
        estimate.undefined is True
        for run in context.runs
        for row in run.summary.rows.values()
        for estimate in row.metrics.values()
    ):
        parts.append(f"{UNDEFINED_NOTE}.")
    if any(run.summary.bounds for run in context.runs):
        doubtful = context.protocol.doubtful.replace("items", "answers")
        parts.append(
            f"In ‹ ›: the range that a value could take, however the {doubtful} would have ended."
        )
    return " ".join(parts)
