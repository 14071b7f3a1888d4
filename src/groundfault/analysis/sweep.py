"""Every operating point from one comparison: score thresholds, overlap thresholds, their grid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from groundfault.analysis.summary import summarise
from groundfault.config import number
from groundfault.errors import UsageError
from groundfault.protocols import Protocol
from groundfault.records import Benchmark, Estimate

__all__ = ["T_GRID", "Point", "Sweep", "best_threshold", "parse_grid", "sweep"]

T_GRID = tuple(round(0.05 * k, 2) for k in range(1, 20))


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One operating point of one table row."""

    t: float
    """The score threshold."""
    tau: float | None
    """The overlap threshold; None where the protocol has none."""
    row: str
    """The table's row."""
    metrics: dict[str, Estimate]
    """Name → estimate."""


class Sweep(msgspec.Struct, frozen=True, kw_only=True):
    """All points of a sweep; the content of sweep.json."""

    benchmark: str
    """The name on its card."""
    protocol: str = ""
    """How it was scored."""
    settings: dict[str, object]
    """What was the same at all points."""
    points: tuple[Point, ...]
    """One per t, τ and row."""
    notes: tuple[str, ...] = ()
    """What a reader should know."""


def parse_grid(text: str, of: str = "thresholds") -> tuple[float, ...]:
    """Thresholds, or what else `of` calls them, from "0.5", "0.2,0.5" or "start:stop:step".

    >>> parse_grid("0.3:0.9:0.3")
    (0.3, 0.6, 0.9)
    """
    try:
        if ":" not in text:
            return tuple(number(part) for part in text.split(","))
        start, stop, step = (number(part) for part in text.split(":"))
        count = int(np.floor((stop - start) / step + 1e-9)) + 1
        if step <= 0 or not 1 <= count <= 1000:
            raise ValueError
        return tuple(round(start + step * k, 10) for k in range(count))
    except (ValueError, ZeroDivisionError, OverflowError):
        raise UsageError(
            f"'{text}' is no list of {of}; write 0.5 or 0.2,0.5 or 0.05:0.95:0.05"
        ) from None


def sweep(
    protocol: Protocol,
    benchmark: Benchmark,
    matched: Any,
    *,
    settings: Mapping[str, object],
    t_values: Sequence[float],
    tau_values: Sequence[float | None] = (None,),
    bootstrap: int,
    seed: int,
    rows: Sequence[str] = (),
    progress: Callable[[int, int], None] | None = None,
) -> Sweep:
    """Score every (t, τ) of the grid from what the protocol has matched once, in these rows or in
    all. Resamples are drawn alike at every point; a protocol without τ takes one None. Scores that
    cannot tell predictions apart are refused where several t are asked for."""
    if len(set(t_values)) > 1:
        _check_signal(benchmark.card.name, matched)
    points: list[Point] = []
    notes: tuple[str, ...] = ()
    grid = [(t, tau) for t in t_values for tau in tau_values]
    for done, (t, tau) in enumerate(grid, start=1):
        scored = protocol.finish(benchmark, matched, {**settings, "t": t, "tau": tau})
        if rows:
            kept = {name: member for name, member in scored.rows.items() if name in rows}
            scored = msgspec.structs.replace(scored, rows=kept)
        summary = summarise(scored, bootstrap=bootstrap, seed=seed)
        notes = summary.notes
        points += [
            Point(t=t, tau=tau, row=name, metrics=row.metrics)
            for name, row in summary.rows.items()
            if row.n_cases
        ]
        if progress is not None:
            progress(done, len(grid))
    fixed = {
        name: value
        for name, value in protocol.resolved(benchmark, settings).items()
        if name not in ("t", "tau")
    }
    return Sweep(
        benchmark=benchmark.card.name,
        protocol=protocol.name,
        settings={
            "t": list(t_values), "tau": list(tau_values), **fixed,
            "bootstrap": bootstrap, "seed": seed,
        },
        points=tuple(points),
        notes=notes,
    )  # fmt: skip


def _check_signal(name: str, matched: Any) -> None:
    """Refuse predictions that every threshold treats alike; protocols that keep no scores are not
    asked."""
    scores = getattr(matched, "score", None)
    if not isinstance(scores, np.ndarray):
        return
    if not scores.size:
        raise UsageError(
            f"{name}: there is not one prediction with a score, so no threshold says anything"
        )
    if (scores == scores[0]).all():
        raise UsageError(
            f"{name}: every score is {scores[0]:g}, so no threshold tells predictions apart; give "
            "scores that differ, or score them at one --t"
        )


def best_threshold(sweep: Sweep, metric: str = "cgF1", row: str = "Overall") -> float | None:
    """The first t with the highest value, as calibration takes it; None if it is never defined."""
    candidates = [
        (point.metrics[metric].value, point.t)
        for point in sweep.points
        if point.row == row and point.metrics[metric].value is not None
    ]
    if not candidates:
        return None
    highest = max(value for value, _ in candidates if value is not None)
    return min(t for value, t in candidates if value == highest)
