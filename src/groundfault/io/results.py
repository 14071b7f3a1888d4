"""What `score` and `eval` leave in a folder, summary.json and cases.parquet, read with distrust."""

from __future__ import annotations

from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec

from groundfault.errors import DataError
from groundfault.io.store import note_of, read_json, read_table
from groundfault.records import Summary

__all__ = [
    "CASES",
    "COLUMNS",
    "CONTRIBUTIONS",
    "SUMMARY",
    "notes",
    "read_results",
    "read_summary",
    "stamp",
]

SUMMARY, CASES = "summary.json", "cases.parquet"
CONTRIBUTIONS, STAMP, COLUMNS, PROTOCOL = "contributions", "stamp", "columns", "protocol"
"""What cases.parquet notes."""
_REMEDY = "run the score or eval command of this folder again"


def stamp(summary: Summary) -> str:
    """A hash of the numbers and what they are about; that of a dump is that of its replay."""
    numbers = (summary.benchmark, summary.settings, summary.rows)
    return sha256(msgspec.json.encode(numbers)).hexdigest()[:32]


def notes(summary: Summary, columns: list[str], contributions: list[str]) -> dict[str, str]:
    """What cases.parquet notes, so that nothing else is taken for it."""
    return {
        "benchmark": summary.benchmark,
        CONTRIBUTIONS: ",".join(contributions),
        COLUMNS: "\n".join(columns),
        PROTOCOL: summary.protocol,
        STAMP: summary.stamp,
    }


def read_summary(folder: str | PathLike[str]) -> Summary:
    """The summary of a run; one that was changed is refused. Those of version 0.1.0 have no
    stamp."""
    path = Path(folder) / SUMMARY
    summary = read_json(path, Summary)
    if summary.stamp and summary.stamp != stamp(summary):
        problem = "its numbers or settings are not those that were written"
        raise DataError(path, problem, remedy=_REMEDY)
    return summary


def read_results(folder: str | PathLike[str]) -> tuple[Summary, Any]:
    """The summary and the case table of a run, which must belong together."""
    summary, table = read_summary(folder), read_table(Path(folder) / CASES)
    columns = [name for name in note_of(table, CONTRIBUTIONS).split(",") if name]
    columns += [name for name in note_of(table, COLUMNS).split("\n") if name]
    together = (
        summary.stamp == note_of(table, STAMP)
        and note_of(table, PROTOCOL) in ("", summary.protocol)
        and {*columns} <= {*table.column_names}
    )
    if not together:
        problem = "was not written together with its summary.json"
        raise DataError(Path(folder) / CASES, problem, remedy=_REMEDY)
    return summary, table
