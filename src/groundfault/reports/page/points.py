"""Every operating point from the stored scores: what becomes of CAFE's pairs at any (t, τ).

A prediction hits if its score is ≥ t and its overlap with the target is ≥ τ. So for each τ the
highest score among the aligned predictions of an item says up to which t it hits: one array per
τ answers every t.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from groundfault.analysis.rates import edge_interval
from groundfault.analysis.statistics import bootstrap_sums, percentile_interval
from groundfault.analysis.sweep import T_GRID
from groundfault.protocols.scored import by_case
from groundfault.reports.page.inputs import RunData

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Ints = NDArray[np.int64]

__all__ = [
    "TAU_GRID",
    "T_GRID",
    "Points",
    "ahead",
    "counts",
    "has_pairs",
    "interval",
    "points_of",
    "predictions",
    "surface",
]

TAU_GRID = tuple(round(0.1 * k, 1) for k in range(1, 10))
"""Begins below the published 0.3 … 0.9: at its lower end τ says least about grounding."""
RESAMPLES = 1000
NOISE = 1.96
"""Standard errors; a smaller difference is not told apart."""

_NEEDED = frozenset(
    f"{side}_{what}"
    for side in ("positive", "negative")
    for what in ("scores", "target_ious", "outcome", "cell")
)


class Points(msgspec.Struct, frozen=True, eq=False):
    """Up to which t something holds, for every pair that counts; −∞ for never, ∞ for always."""

    taus: tuple[float, ...]
    row: Ints
    """(pairs,) where the pair stands in the case table."""
    case: Ints
    found: Floats
    """(τ, pairs) p⁺ is answered on the target (TA-TP)."""
    fooled: Floats
    """(τ, pairs) p⁻ is answered on the target (TA-FP)."""
    accepted: Floats
    """(pairs,) p⁻ is answered at all."""


def has_pairs(run: RunData) -> bool:
    """Whether the run stores what this needs: answers to p⁺ and p⁻ with a target."""
    return run.columns >= _NEEDED and run.tau is not None and bool(len(points_of(run, ()).row))


def points_of(run: RunData, taus: tuple[float, ...] = TAU_GRID, *, row: str = "Overall") -> Points:
    """The pairs that count in a table row: both sides answered, none failed."""
    counted = ~np.array(run.table.column("positive_cell").is_null().to_pylist(), bool)
    counted &= run.member(row)
    _, found = _reach(run, "positive", taus)
    accepted, fooled = _reach(run, "negative", taus)
    unparsed = {
        side: np.array([end == "unparsed" for end in _list(run, f"{side}_outcome")])
        for side in ("positive", "negative")
    }
    found[:, unparsed["positive"]] = -np.inf
    fooled[:, unparsed["negative"]] = -np.inf
    accepted[unparsed["negative"]] = np.inf  # wrong at every t, never a rejection
    return Points(
        taus=taus,
        row=np.flatnonzero(counted),
        case=run.table.column("case").to_numpy()[counted],
        found=found[:, counted],
        fooled=fooled[:, counted],
        accepted=accepted[counted],
    )


def _list(run: RunData, column: str) -> list[str | None]:
    found: list[str | None] = run.table.column(column).to_pylist()
    return found


def _reach(run: RunData, side: str, taus: tuple[float, ...]) -> tuple[Floats, Floats]:
    """Highest score of each entry, and highest score among its predictions aligned at each τ."""
    entry, score, overlap = predictions(run, side)
    highest = np.full(len(run.table), -np.inf)
    np.maximum.at(highest, entry, score)
    aligned = np.full((len(taus), len(run.table)), -np.inf)
    for k, tau in enumerate(taus):
        near = overlap >= tau
        np.maximum.at(aligned[k], entry[near], score[near])
    return highest, aligned


def predictions(run: RunData, side: str) -> tuple[Ints, Floats, Floats]:
    """Every prediction of one side, flat: row of the case table, score, overlap with the target."""
    scores = run.table.column(f"{side}_scores").combine_chunks()
    overlaps = run.table.column(f"{side}_target_ious").combine_chunks()
    lengths = scores.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    return (
        np.repeat(np.arange(len(run.table)), lengths),
        np.asarray(scores.flatten().to_numpy(zero_copy_only=False), np.float64),
        np.asarray(overlaps.flatten().to_numpy(zero_copy_only=False), np.float64),
    )


def counts(points: Points, metric: str, t: float, tau_number: int) -> Flags:
    """(pairs,) whether the pair counts in a metric; "found" is the share of TA-TP.

    >>> points = Points((0.3,), np.arange(2), np.arange(2), np.array([[0.9, 0.2]]),
    ...                 np.array([[0.1, 0.7]]), np.array([0.1, 0.7]))
    >>> [counts(points, name, 0.5, 0).tolist() for name in ("found", "AFPR", "ACSR")]
    [[True, False], [False, True], [False, True]]
    """
    found: Flags = points.found[tau_number] >= t
    fooled: Flags = points.fooled[tau_number] >= t
    accepted: Flags = points.accepted >= t
    return {"found": found, "AFPR": fooled, "ACSR": fooled & ~found, "IL-FPR": accepted}[metric]


def surface(points: Points, metric: str, ts: tuple[float, ...] = T_GRID) -> Floats:
    """(τ, t) value of a metric at every operating point."""
    return np.array(
        [[counts(points, metric, t, k).mean() for t in ts] for k in range(len(points.taus))]
    )


def ahead(a: Flags, b: Flags, case: Ints) -> tuple[float, bool]:
    """The difference of two shares over the same pairs, and whether it is beyond noise.

    A paired normal interval with cases as the unit: there are hundreds of operating points, and
    the bootstrap of the headline table would say the same.
    """
    difference = a.astype(np.float64) - b.astype(np.float64)
    sums = by_case(np.stack([difference, np.ones(len(case))], axis=1), case)
    mean = float(difference.mean())
    residual = sums[:, 0] - mean * sums[:, 1]
    error = float(np.sqrt((residual**2).sum())) / max(len(case), 1)
    return mean, abs(mean) > NOISE * error


def interval(flags: Flags, case: Ints, seed: int = 0) -> tuple[Floats, list[tuple[float, float]]]:
    """Shares of (pairs, k) flags with intervals over cases: exact near 0 and 1, else resampled."""
    sums = by_case(np.hstack([flags.astype(np.float64), np.ones((len(case), 1))]), case)
    value = sums[:, :-1].sum(axis=0) / sums[:, -1].sum()
    drawn = bootstrap_sums(sums, RESAMPLES, np.random.default_rng(seed))
    shares = drawn[:, :-1] / drawn[:, -1:]
    ends = [
        edge_interval(sums[:, k], sums[:, -1]) or percentile_interval(column)
        for k, column in enumerate(shares.T)
    ]
    return value, [(low or 0.0, high or 0.0) for low, high in ends]
