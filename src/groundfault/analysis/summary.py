"""predict → score → summarise: three steps, each rerun from what the one before left on disk."""

from __future__ import annotations

import contextlib
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from groundfault import __version__
from groundfault.analysis.statistics import estimates
from groundfault.io.results import CASES, SUMMARY, notes, read_results, stamp
from groundfault.io.store import locked, write_json, write_table
from groundfault.metrics import compose
from groundfault.protocols.scored import Scored, by_case
from groundfault.records import Row, Summary

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["read_results", "summarise", "write_results"]


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
    return msgspec.structs.replace(summary, stamp=stamp(summary))


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
        (folder / SUMMARY).unlink()  # never beside another run's cases
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
        metadata=notes(summary, [*columns], [*names]),
    )
    write_json(folder / SUMMARY, summary)


def _row_names(scored: Scored) -> list[list[str]]:
    """Per case, the table rows that it belongs to; few combinations occur, so each is made once."""
    rows = list(scored.rows)
    member = np.stack([scored.rows[row] for row in rows], axis=1)
    codes = [code.tobytes() for code in np.packbits(member, axis=1)]  # any number of rows
    example = dict(zip(codes, member, strict=True))
    listed = {
        code: [row for row, there in zip(rows, found, strict=True) if there]
        for code, found in example.items()
    }
    return [listed[code] for code in codes]
