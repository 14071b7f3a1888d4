"""What is taken for what: of each pair of phrases, how often one was accepted where the other is
there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from groundfault.analysis.rates import Z
from groundfault.errors import UnknownName, UsageError
from groundfault.web.explore.board import Board, Point

if TYPE_CHECKING:
    from groundfault.web.explore.board import Codes, Flags, Ints

__all__ = ["Confused", "Confusion", "confusion"]

MOST = 200


class Confused(msgspec.Struct, frozen=True, kw_only=True):
    """Two phrases."""

    there: str
    asked: str
    n: tuple[int, ...]
    """Of each run: how often it was asked and is known."""
    taken: tuple[int, ...]
    """How often one was taken for the other."""


class Confusion(msgspec.Struct, frozen=True, kw_only=True):
    """All pairs of phrases of a selection, the most confused first."""

    way: str
    ways: tuple[str, ...]
    there: str
    """The property that says what is there."""
    asked: str
    pairs: tuple[Confused, ...]
    n_pairs: int


def confusion(
    board: Board, chosen: Flags, point: Point, *, way: str = "", by: int | None = None
) -> Confusion:
    """Count over the chosen entries; `by` is the run whose confusions come first, else all."""
    ways = board.confusable
    if not ways:
        raise UsageError("these questions have no two phrases that could be confused")
    if way and way not in ways:
        raise UnknownName("way", way, ways)
    there, asked, judge = ways[way or next(iter(ways))]
    of_there, of_asked = board.facets[there], board.facets[asked]
    both = chosen & (of_there.codes >= 0) & (of_asked.codes >= 0)
    keys = of_there.codes[both] * len(of_asked.labels) + of_asked.codes[both]
    pairs, number = np.unique(keys, return_inverse=True)
    n, taken = _counts(board, point, judge, both, number, len(pairs))
    order = _most_confused(n, taken, by)
    return Confusion(
        way=way or next(iter(ways)),
        ways=tuple(ways),
        there=there,
        asked=asked,
        pairs=tuple(
            Confused(
                there=of_there.labels[int(pairs[k]) // len(of_asked.labels)],
                asked=of_asked.labels[int(pairs[k]) % len(of_asked.labels)],
                n=tuple(n[:, k].tolist()),
                taken=tuple(taken[:, k].tolist()),
            )
            for k in order[:MOST].tolist()
        ),
        n_pairs=len(pairs),
    )


def _counts(
    board: Board,
    point: Point,
    judge: Callable[[dict[str, Codes]], Codes],
    both: Flags,
    number: Ints,
    n_pairs: int,
) -> tuple[Ints, Ints]:
    """(runs, pairs) how often each was asked, and taken for the other."""
    n, taken = (np.zeros((len(board.runs), n_pairs), np.int64) for _ in range(2))
    for run, ends in enumerate(board.ends(point)):
        end = judge(ends)[both]
        n[run] = np.bincount(number[end >= 0], minlength=n_pairs)
        taken[run] = np.bincount(number[end == 1], minlength=n_pairs)
    return n, taken


def _most_confused(n: Ints, taken: Ints, by: int | None) -> Ints:
    """By the lowest share that the counts make likely, so that 1 of 1 is not ahead of 9 of 10."""
    asked, fooled = (values.sum(axis=0) if by is None else values[by] for values in (n, taken))
    return np.lexsort((-asked, -fooled, -_at_least(fooled, asked)))


def _at_least(k: Ints, n: Ints) -> Any:
    """The lower end of Wilson's interval of k of n; 0 where n is 0."""
    some = np.maximum(n, 1)
    share, z2 = k / some, Z**2
    centre = share + z2 / (2 * some)
    half = Z * np.sqrt(share * (1 - share) / some + z2 / (4 * some * some))
    return np.where(n > 0, (centre - half) / (1 + z2 / some), 0.0)
