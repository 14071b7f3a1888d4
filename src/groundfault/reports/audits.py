"""Tables of an audit: every measure of every model, then every relation, change and edit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from groundfault.protocols import Protocol, of_summary
from groundfault.records import Row, Summary
from groundfault.reports.summaries import cell_with_n, summary_notes
from groundfault.reports.tables import Cell, Table

__all__ = ["audit_tables"]

OVERALL = "Overall"


def audit_tables(summaries: Mapping[str, Summary]) -> Iterator[Table]:
    """Of named results on the same pictures: measures over all of them, and by row."""
    first = next(iter(summaries.values()))
    protocol = of_summary(first)
    yield Table(
        ["", *summaries],
        [*_measures(summaries, protocol)],
        title=first.title or first.benchmark,
        notes=[*_notes(summaries, protocol)],
    )
    rows = [*_by_row(summaries, protocol)]
    if rows:
        yield Table(["", "", *summaries], rows, title="One by one", left_columns=2)


def _notes(summaries: Mapping[str, Summary], protocol: Protocol) -> Iterator[str]:
    """What is to be said about all models, then about each."""
    told = {name: [*summary_notes(each, protocol)] for name, each in summaries.items()}
    first = next(iter(told.values()))
    shared = [note for note in first if all(note in notes for notes in told.values())]
    yield from shared
    for name, notes in told.items():
        yield from (
            f"{name}: {note.removeprefix('note: ')}" for note in notes if note not in shared
        )


def _measures(summaries: Mapping[str, Summary], protocol: Protocol) -> Iterator[list[str | Cell]]:
    """A line per measure that any model has a value of; what could not be judged is the last."""
    for name in protocol.headlines:
        metric = protocol.metric(name)
        found = [summary.rows[OVERALL].metrics[name] for summary in summaries.values()]
        if all(estimate.value is None for estimate in found):
            continue
        if metric.unit == "count":
            counted = [Cell(metric.text(each.value or 0.0), f"of {each.n}") for each in found]
            yield [metric.short, *counted]
            continue
        yield [
            f"{metric.short} {metric.arrow}".rstrip(),
            *(cell_with_n(metric, estimate) for estimate in found),
        ]


def _by_row(summaries: Mapping[str, Summary], protocol: Protocol) -> Iterator[list[str | Cell]]:
    """A line per relation, change or edit and measure that it has."""
    first = next(iter(summaries.values()))
    for name in first.rows:
        if name == OVERALL:
            continue
        listed = [summary.rows.get(name) for summary in summaries.values()]
        label = name
        for metric in map(protocol.metric, protocol.headlines):
            if metric.unit == "count" or not any(_has(row, metric.name) for row in listed):
                continue
            cells = [
                cell_with_n(metric, row.metrics[metric.name]) if row else Cell("—")
                for row in listed
            ]
            yield [label, f"{metric.short} {metric.arrow}".rstrip(), *cells]
            label = ""


def _has(row: Row | None, metric: str) -> bool:
    return row is not None and row.metrics[metric].value is not None
