"""The cells of p⁺ and p⁻ at any t and τ, from the stored scores and overlaps.

A prediction hits if its score is ≥ t and its overlap with the target ≥ τ, so the highest score
among an item's aligned predictions says up to which t it hits: while t moves, nothing but
comparisons are made. The rules are those of `metrics.target_aware`; tests hold both together.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from groundfault.matching.overlaps import Overlaps
from groundfault.metrics import columns_of, target_aware
from groundfault.web.explore.sums import Sums

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Codes = NDArray[np.int8]
    Flags = NDArray[np.bool_]

__all__ = ["Cells", "Pairs", "Said", "pairs_of_overlaps", "range_of", "said_in_table"]

KEPT_TAUS = 4
"""Each keeps two numbers per case."""
PADDED = 6
"""Predictions per entry that are kept one below another."""


class Said(msgspec.Struct, frozen=True, eq=False):
    """Every prediction under one of the phrases, by entry."""

    start: Ints
    """(entries + 1,) where each entry's predictions begin."""
    score: Floats
    overlap: Floats
    """With the target."""
    own: Floats | None
    """With the nearest object that the phrase is true of, where that may excuse it."""
    unparsed: Flags
    failed: Flags
    """(entries,) also where nothing was asked."""

    def highest(self, values: Floats) -> Floats:
        """(entries,) the highest of its predictions' values; −∞ where there is none."""
        found = np.full(len(self.start) - 1, -np.inf)
        if len(values):
            some = np.flatnonzero(np.diff(self.start))
            found[some] = np.maximum.reduceat(values, self.start[some])
        return found

    def padded(self, values: Floats) -> Floats | None:
        """(most predictions of an entry, entries) the values one below another, −∞ where there are
        fewer; None where some entry has so many that they are not worth it."""
        lengths = np.diff(self.start)
        most = int(lengths.max(initial=0))
        if most > PADDED:
            return None
        found = np.full((most, len(lengths)), -np.inf)
        for k in range(most):
            some = np.flatnonzero(lengths > k)
            found[k, some] = values[self.start[some] + k]
        return found

    def blamed(self, tau: float) -> Floats:
        """Up to which t an entry is answered with something that is not excused."""
        if self.own is None:
            return self.highest(self.score)
        fine = (self.own >= tau) & (self.overlap < tau)
        return self.highest(np.where(fine, -np.inf, self.score))


class _Aligned:
    """Up to which t entries are answered on the target, for any τ."""

    def __init__(self, said: Said) -> None:
        self.said = said
        self.score, self.overlap = said.padded(said.score), said.padded(said.overlap)

    def at(self, tau: float) -> Floats:
        """(entries,) −∞ for never, which it is for answers that cannot be read."""
        found: Floats
        if self.score is None or self.overlap is None:
            said = self.said
            found = said.highest(np.where(said.overlap >= tau, said.score, -np.inf))
        else:
            near = np.where(self.overlap >= tau, self.score, -np.inf)
            found = near.max(axis=0, initial=-np.inf)
        if self.said.unparsed.any():
            found[self.said.unparsed] = -np.inf
        return found


class _AtTau(NamedTuple):
    """Up to which t each holds; what does not depend on t."""

    found: Floats
    near: Flags
    fooled: Floats
    blamed: Floats
    soft_swap: Flags


class Cells(NamedTuple):
    """(entries,) each pair in its two cells, as numbers into the lists of `target_aware`."""

    positive: Codes
    negative: Codes
    soft_swap: Flags


class Pairs:
    """The pairs of one run. Entries without a pair, or with a failed side, are not counted."""

    def __init__(self, positive: Said, negative: Said, paired: Flags) -> None:
        self.positive, self.negative = positive, negative
        self.counted = paired & ~positive.failed & ~negative.failed
        self.positive_score = positive.highest(positive.score)
        self.negative_score = negative.highest(negative.score)
        self.overlap = positive.highest(positive.overlap)
        self.answered = np.where(positive.unparsed, -np.inf, self.positive_score)
        self.seen = np.where(positive.unparsed, -np.inf, self.overlap)
        self._found, self._fooled = _Aligned(positive), _Aligned(negative)
        self._blamed = self._blame(self.negative_score)
        self._at_tau: Callable[[float], _AtTau] = lru_cache(KEPT_TAUS)(self._make)

    def _make(self, tau: float) -> _AtTau:
        excused = self.negative.own is not None
        blamed, swap = self._blame(self.negative.blamed(tau)) if excused else self._blamed
        return _AtTau(
            found=self._found.at(tau),
            near=self.seen >= tau,
            fooled=self._fooled.at(tau),
            blamed=blamed,
            soft_swap=swap,
        )

    def _blame(self, scores: Floats) -> tuple[Floats, Flags]:
        """Up to which t p⁻ is answered, and whether it scores above p⁺, from the highest scores of
        what is not excused. An answer that cannot be read is wrong at every t."""
        wrong = self.negative.unparsed
        swap = _or_zero(scores) > _or_zero(self.positive_score)
        return np.where(wrong, np.inf, scores), swap | wrong

    def cells(self, t: float, tau: float) -> Cells:
        """Every pair in its cells."""
        at = self._at_tau(tau)
        positive = _POSITIVE[_number(at.found >= t, self.answered >= t, at.near)]
        negative = _NEGATIVE[_number(at.fooled >= t, at.blamed >= t)]
        return Cells(positive, negative, at.soft_swap)

    def sums(self, t: float, tau: float, settings: Mapping[str, object]) -> Sums:
        """What every pair adds to the target-aware metrics: one of 24 rows, or nothing."""
        cells = self.cells(t, tau)
        row = (cells.positive * np.int8(3) + cells.negative) * np.int8(2) + cells.soft_swap
        row[~self.counted] = len(_ROWS) - 1
        return Sums(columns_of(target_aware.FAMILY), settings, _ROWS, row.astype(np.int64))


def _number(*flags: Flags) -> Codes:
    """Flags as the digits of a number, the first the highest."""
    found: Codes = flags[0].astype(np.int8)
    for flag in flags[1:]:
        found = found * np.int8(2) + flag
    return found


def _rows() -> Floats:
    """What a pair adds in every combination of cells and soft swap; last, nothing."""
    places = np.arange(len(target_aware.POSITIVE_CELLS) * len(target_aware.NEGATIVE_CELLS) * 2)
    none = np.zeros(len(places))
    found = target_aware.contributions(
        target_aware.PairScores(
            positive_cell=places // 6,
            negative_cell=places // 2 % 3,
            positive_score=none,
            negative_score=none,
            soft_swap=places % 2 == 1,
            counted=np.ones(len(places), bool),
        )
    )
    return np.vstack([found, np.zeros(found.shape[1])])


_POSITIVE = np.array([3, 2, 1, 1, 0, 0, 0, 0], np.int8)
"""By hit, answered, near."""
_NEGATIVE = np.array([2, 1, 0, 0], np.int8)
"""By hit, answered with what is not excused."""
_ROWS = _rows()


def range_of(said: Iterable[Said]) -> tuple[float, float]:
    """The lowest and highest score; 0 and 1 where there is none."""
    scores = [each.score for each in said if len(each.score)]
    if not scores:
        return 0.0, 1.0
    return min(float(s.min()) for s in scores), max(float(s.max()) for s in scores)


def _or_zero(scores: Floats) -> Floats:
    """Highest scores, 0 where there is no prediction."""
    return np.where(np.isneginf(scores), 0.0, scores)


def said_in_table(table: Any, side: str) -> Said:
    """The predictions under "positive" or "negative" phrases as cases.parquet has them."""
    scores = table.column(f"{side}_scores").combine_chunks()
    overlaps = table.column(f"{side}_target_ious").combine_chunks()
    lengths = scores.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    outcome = table.column(f"{side}_outcome").fill_null("failed")
    return Said(
        start=np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        score=np.asarray(scores.flatten().to_numpy(zero_copy_only=False), np.float64),
        overlap=np.asarray(overlaps.flatten().to_numpy(zero_copy_only=False), np.float64),
        own=None,
        unparsed=_are(outcome, "unparsed"),
        failed=_are(outcome, "failed"),
    )


def _are(column: Any, value: str) -> Flags:
    import pyarrow.compute as pc

    found: Flags = pc.equal(column, value).to_numpy()
    return found


def pairs_of_overlaps(overlaps: Overlaps, pairs: Pairs, items: tuple[Ints, Ints]) -> Pairs:
    """The same pairs from the compared masks themselves, which also say what lies on other objects
    that a misleading phrase is true of. `items` are those of p⁺ and p⁻ of each entry; −1: none."""
    own = np.zeros(len(overlaps.item))
    for truth in overlaps.truths:
        rows = np.repeat(np.arange(len(own)), np.diff(truth.row_start))
        np.maximum.at(own, rows, truth.iou)
    positive, negative = (
        _said_in_overlaps(overlaps, index, own if k else None, said)
        for k, (index, said) in enumerate(zip(items, (pairs.positive, pairs.negative), strict=True))
    )
    return Pairs(positive, negative, pairs.counted)


def _said_in_overlaps(overlaps: Overlaps, index: Ints, own: Floats | None, like: Said) -> Said:
    there = index >= 0
    first, last = (overlaps.item_start[index + k] * there for k in (0, 1))
    lengths = last - first
    start = np.concatenate(([0], np.cumsum(lengths)))
    taken = np.arange(start[-1]) + np.repeat(first - start[:-1], lengths)
    return Said(
        start=start,
        score=overlaps.score[taken],
        overlap=overlaps.target_iou[taken],
        own=None if own is None else own[taken],
        unparsed=like.unparsed,
        failed=like.failed,
    )
