"""What there is to name on a command line."""

from __future__ import annotations

from groundfault.errors import UnknownName
from groundfault.registry import Entry, names
from groundfault.reports.tables import Table

__all__ = ["listing_tables"]

PUBLISHED = "published"
SHOWN = ("benchmarks", "protocols", "metrics", "models", "judges", "editors", PUBLISHED)


def listing_tables(kind: str = "") -> list[Table]:
    """One table per kind that has anything, or the one asked for."""
    if kind and kind not in SHOWN:
        raise UnknownName("kind", kind, SHOWN)
    tables = [
        _published_table() if name == PUBLISHED else _registry_table(name)
        for name in ([kind] if kind else SHOWN)
    ]
    return [table for table in tables if kind or table.rows]


def _registry_table(kind: str) -> Table:
    if kind == "models":
        return _models_table()
    rows = [[name, entry.about, entry.target] for name, entry in sorted(names(kind).items())]
    return Table(["name", "what", "lives in"], rows, title=kind, left_columns=3)


def _models_table() -> Table:
    """With the licence of the weights that a name loads, and the threshold it was published at;
    workers with a row for each script that ships."""
    from groundfault.config import OPERATING_POINTS
    from groundfault.models.checkpoints import licences
    from groundfault.workers import SCRIPTS

    entries = dict(names("models"))
    for name, script in SCRIPTS.items():
        entries[f"worker:{name}"] = Entry(f"groundfault.workers.{name}", script.about)
    points = {name: OPERATING_POINTS.get(name.removeprefix("worker:"), "") for name in entries}
    rows = [
        [name, entry.answers, entry.about, licences(name), f"{points[name]}", entry.target]
        for name, entry in sorted(entries.items())
    ]
    columns = ["name", "answers", "what", "weights' licence", "published t", "lives in"]
    return Table(columns, rows, title="models", left_columns=6)


def _published_table() -> Table:
    from groundfault.published import published_rows, sources

    counts: dict[str, int] = {}
    for row in published_rows():
        counts[row.source.table] = counts.get(row.source.table, 0) + 1
    rows = [[source.table, str(counts[source.table]), source.caption] for source in sources()]
    return Table(["table", "rows", "shows"], rows, title=PUBLISHED, left_columns=3)
