"""A beside B on a selection: who is right where, and whether that can be chance.

The tests are those of `compare`, on the entries that a view leaves before it chooses between A and
B: a choice of cases in which A is right says nothing about A.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from groundfault.analysis.rates import tango
from groundfault.analysis.statistics import Difference, mcnemar, paired_difference
from groundfault.metrics import compose, shares
from groundfault.protocols.scored import by_case
from groundfault.web.explore.board import Board
from groundfault.web.explore.selection import criterion_of, run_named
from groundfault.web.explore.views import View

if TYPE_CHECKING:
    from groundfault.web.explore.board import Flags

__all__ = ["Contrast", "Differs", "contrast", "differences"]

RESAMPLES = 2000


class Contrast(msgspec.Struct, frozen=True, kw_only=True):
    """Who is right where."""

    a: str
    b: str
    on: str
    both: int
    only_a: int
    only_b: int
    neither: int
    unknown: int
    """Left out: one of them has no end."""
    p: float
    """McNemar's exact test."""
    low: float | None
    """95 % of A minus B, as a share of cases."""
    high: float | None


class Differs(msgspec.Struct, frozen=True, kw_only=True):
    """A metric of A minus that of B."""

    metric: str
    heading: str
    better: str
    a: float | None
    b: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    method: str


def contrast(board: Board, view: View, base: Flags) -> Contrast:
    """The four counts of A and B, and McNemar's test of the two that differ."""
    on = criterion_of(board, view)
    right = board.right(view.point, on)
    a, b = (right[run_named(board, name)][base] for name in (view.a, view.b))
    known = (a >= 0) & (b >= 0)
    only_a, only_b = int(((a == 1) & (b == 0)).sum()), int(((a == 0) & (b == 1)).sum())
    n = int(known.sum())
    low, high = tango(only_a, only_b, n) if n else (None, None)
    return Contrast(
        a=view.a,
        b=view.b,
        on=on,
        both=int(((a == 1) & (b == 1)).sum()),
        only_a=only_a,
        only_b=only_b,
        neither=int(((a == 0) & (b == 0)).sum()),
        unknown=int(len(a) - n),
        p=mcnemar(only_a, only_b),
        low=low,
        high=high,
    )


def differences(
    board: Board, view: View, base: Flags, *, resamples: int = RESAMPLES, seed: int = 0
) -> list[Differs]:
    """The headline metrics of A and B on a selection, with paired tests over its cases."""
    a, b = (board.full_sums(run_named(board, name), view.point) for name in (view.a, view.b))
    if not base.any() or a.names != b.names:
        return []
    sums = [by_case(each.rows(base), board.cluster[base]) for each in (a, b)]
    values = [each.values(base) for each in (a, b)]
    found = paired_difference(
        sums[0],
        sums[1],
        compose(a.names, a.settings),
        shares=shares(a.names),
        resamples=resamples,
        seed=seed,
    )
    return [
        _differs(board, name, values, found) for name in board.protocol.shown_compared(values[0])
    ]


def _differs(
    board: Board,
    name: str,
    values: Sequence[Mapping[str, float | None]],
    found: Mapping[str, Difference],
) -> Differs:
    metric, d = board.protocol.metric(name), found[name]
    return Differs(
        metric=name,
        heading=f"{metric.heading} {metric.arrow}".strip(),
        better=metric.better,
        a=values[0][name],
        b=values[1][name],
        difference=d.value,
        low=d.low,
        high=d.high,
        p=d.p_value,
        method=d.method,
    )
