"""How far runs are, as a table."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from groundfault.reports.tables import Table

if TYPE_CHECKING:
    from groundfault.runs.status import Status

__all__ = ["status_table"]


def status_table(found: Sequence[Status], *, now: float | None = None) -> Table:
    """One row per run; why runs were stopped is below."""
    clock = time.time() if now is None else now
    rows = [
        [
            one.run,
            one.state,
            f"{one.done - one.failed:,} of {one.n_items:,}",
            f"{one.failed:,}",
            "" if one.per_s is None else f"{one.per_s:.1f}/s",
            "" if one.eta_s is None else duration(one.eta_s),
            f"{duration(max(clock - one.updated, 0.0))} ago",
        ]
        for one in found
    ]
    notes = [f"{one.run}: {one.stopped}" for one in found if one.stopped]
    if any(one.state == "dead" for one in found):
        notes.append("dead: its process ended before it did; the same command goes on")
    columns = ["run", "state", "answered", "failed", "rate", "left", "heard of"]
    return Table(columns, rows, notes=notes, left_columns=2)


def duration(seconds: float) -> str:
    """
    >>> duration(7.4), duration(125), duration(7260), duration(200_000)
    ('7 s', '2 min', '2 h 1 min', '2 d 7 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = int(seconds / 60)
    if minutes < 100:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} d {hours % 24} h"
