"""predict → score → summarise: three steps, each rerun from what the one before left on disk."""

from __future__ import annotations

import contextlib
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from groundfault import __version__
from groundfault.analysis.statistics import estimates
from groundfault.errors import DataError
from groundfault.io.store import locked, note_of, read_json, read_table, write_json, write_table
from groundfault.metrics import compose
from groundfault.protocols.scored import Scored, by_case
from groundfault.records import Row, Summary

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["read_results", "summarise", "write_results"]

CASES, STAMP, CONTRIBUTIONS = "cases.parquet", "stamp", "contributions"


def summarise(
    scored: Scored, *, bootstrap: int, seed: int, data: dict[str, str] | None = None
) -> Summary:
    """Estimates of every metric for every row."""
    rows, bounds, metrics, shares = {}, {}, scored.metrics, scored.shares
    for number, (name, member) in enumerate(scored.rows.items()):
        contributions = scored.contributions[member]
        sums = contributions.sum(axis=0)
        cases = by_case(contributions, scored.case[member])
        rows[name] = Row(
            n_cases=len(cases),
            metrics=estimates(
                cases,
                metrics,
                scored.support(sums, len(contributions)),
                shares=shares,
                undefined=scored.undefined(sums),
                resamples=bootstrap,
                seed=[seed, number],
            ),
        )
        if scored.imputed:
            bounds[name] = _bounds(scored, member)
    summary = Summary(
        benchmark=scored.benchmark,
        protocol=scored.protocol,
        title=scored.title,
        about=scored.about,
        origin=scored.origin,
        source=scored.source,
        settings={**scored.settings, "bootstrap": bootstrap, "seed": seed},
        rows=rows,
        outcomes=scored.outcomes,
        bounds=bounds,
        normal_halfwidths=scored.normal_halfwidths(scored) if scored.normal_halfwidths else {},
        notes=scored.notes,
        data=data or {},
        version=__version__,
    )
    return msgspec.structs.replace(summary, stamp=_stamp(summary))


def _stamp(summary: Summary) -> str:
    """A hash of the numbers and what they are about; that of a dump is that of its replay."""
    numbers = (summary.benchmark, summary.settings, summary.rows)
    return sha256(msgspec.json.encode(numbers)).hexdigest()[:32]


def _bounds(
    scored: Scored, member: NDArray[np.bool_]
) -> dict[str, tuple[float | None, float | None]]:
    sums = np.stack([contributions[member].sum(axis=0) for contributions in scored.imputed])
    metrics = compose(scored.contribution_names[: sums.shape[1]], scored.settings)
    bounds: dict[str, tuple[float | None, float | None]] = {}
    for name, values in metrics(sums).items():
        # where one of the ways leaves it undefined, nothing bounds it
        defined = not np.isnan(values).any()
        bounds[name] = (float(values.min()), float(values.max())) if defined else (None, None)
    return bounds


def write_results(folder: str | PathLike[str], scored: Scored, summary: Summary) -> None:
    """Write cases.parquet and, when it is there, summary.json: a run is whole or not there. Both
    carry the same stamp, and one process at a time writes them."""
    folder = Path(folder)
    with locked(folder):
        _write(folder, scored, summary)


def _write(folder: Path, scored: Scored, summary: Summary) -> None:
    with contextlib.suppress(OSError):  # writing says what is wrong
        (folder / "summary.json").unlink()  # never beside another run's cases
    names = scored.contribution_names
    columns: dict[str, Any] = {
        "case": scored.case,
        **scored.columns(),
        "rows": _row_names(scored),
        **{name: scored.contributions[:, k] for k, name in enumerate(names)},
    }
    write_table(
        folder / CASES,
        columns,
        metadata={
            "benchmark": scored.benchmark,
            CONTRIBUTIONS: ",".join(names),
            STAMP: summary.stamp,
        },
    )
    write_json(folder / "summary.json", summary)


def _row_names(scored: Scored) -> list[list[str]]:
    """Per case, the table rows that it belongs to; few combinations occur, so each is made once."""
    rows = list(scored.rows)
    code = np.zeros(len(scored.case), np.int64)
    for k, row in enumerate(rows):
        code |= scored.rows[row].astype(np.int64) << k
    listed = {
        value: [row for k, row in enumerate(rows) if value >> k & 1] for value in set(code.tolist())
    }
    return [listed[value] for value in code.tolist()]


def read_results(folder: str | PathLike[str]) -> tuple[Summary, Any]:
    """The summary and the case table of a run, which must belong together."""
    folder = Path(folder)
    summary, table = read_json(folder / "summary.json", Summary), read_table(folder / CASES)
    if summary.stamp and summary.stamp != _stamp(summary):
        raise DataError(
            folder / "summary.json",
            "its numbers or settings are not those that were written",
            remedy="run the score or eval command of this folder again",
        )
    named = note_of(table, CONTRIBUTIONS)
    whole = not named or {*named.split(",")} <= {*table.column_names}
    if summary.stamp != note_of(table, STAMP) or not whole:
        raise DataError(
            folder / CASES,
            "was not written together with its summary.json",
            remedy="run the score or eval command of this folder again",
        )
    return summary, table
