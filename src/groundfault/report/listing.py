"""What there is to name on a command line."""

from __future__ import annotations

from groundfault.errors import UnknownName
from groundfault.registry import names
from groundfault.report.tables import Table

__all__ = ["listing_tables"]

PUBLISHED = "published"
SHOWN = ("benchmarks", "metrics", "models", "editors", PUBLISHED)


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
    rows = [[name, entry.about, entry.target] for name, entry in sorted(names(kind).items())]
    return Table(["name", "what", "lives in"], rows, title=kind, left_columns=3)


def _published_table() -> Table:
    from groundfault.published import published_rows, sources

    counts: dict[str, int] = {}
    for row in published_rows():
        counts[row.source.table] = counts.get(row.source.table, 0) + 1
    rows = [[source.table, str(counts[source.table]), source.caption] for source in sources()]
    return Table(["table", "rows", "shows"], rows, title=PUBLISHED, left_columns=3)
