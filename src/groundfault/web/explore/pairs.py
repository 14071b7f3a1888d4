"""Boards of concept pairs: each entry is a pair of p⁺ and p⁻ with its two cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from groundfault.analysis.scoring import Matched
from groundfault.errors import GroundfaultError
from groundfault.metrics import target_aware
from groundfault.web.explore.board import FAILED, Asked, Board, Facet, Point, facet_of
from groundfault.web.explore.compared import compared
from groundfault.web.explore.points import Pairs, pairs_of_overlaps, range_of, said_in_table
from groundfault.web.explore.sums import Sums

if TYPE_CHECKING:
    from groundfault.web.explore.board import Codes, Floats, Ints

__all__ = ["PairBoard"]

POSITIVE, NEGATIVE = "p⁺", "p⁻"
SIDES = {POSITIVE: "positive", NEGATIVE: "negative"}
_FOUND, _REJECTED, _FOOLED = 0, 2, 0
"""Places in the lists of cells."""


class PairBoard(Board):
    """CAFE's pairs, and whatever else is scored like them."""

    kind = "pairs"
    sides = {
        POSITIVE: (*target_aware.POSITIVE_CELLS, FAILED),
        NEGATIVE: (*target_aware.NEGATIVE_CELLS, FAILED),
    }
    has_t = has_tau = True

    def _prepare(self) -> None:
        table = self.runs[0].table
        self.positive_ids = table.column("positive_id").combine_chunks()
        self.negative_ids = table.column("negative_id").combine_chunks()
        self.is_pair = self.negative_ids.is_valid().to_numpy(zero_copy_only=False)
        self.facets["p⁺ phrase"] = facet_of(table.column("positive_query"))
        self.facets["p⁻ phrase"] = facet_of(table.column("negative_query"))
        self.matched: dict[int, Matched] = {}
        self.fixed: set[int] = set()
        """Runs whose cells are known at their own thresholds only."""
        self.stored = [_stored_cells(run.table) for run in self.runs]
        self.pairs = [self._pairs(run) for run in range(len(self.runs))]

    def _words(self) -> list[Any]:
        table = self.runs[0].table
        return [table.column(name) for name in ("positive_query", "negative_query", "image")]

    def _pairs(self, run: int) -> Pairs:
        """The pairs of a run from its table, or from its masks where that does not say enough."""
        table = self.runs[run].table
        counted = ~table.column("positive_cell").is_null().to_numpy()
        found = Pairs(said_in_table(table, "positive"), said_in_table(table, "negative"), counted)
        if self._needs_masks(run):
            try:
                found = pairs_of_overlaps(
                    self._compared(run).matched, found, self._places(run, self.matched[run])
                )
            except GroundfaultError as problem:
                self._fix(run, str(problem))
                return found
        cells = found.cells(self.runs[run].own_t, self.runs[run].own_tau)[:2]
        same = (
            np.array_equal(a[counted], b[counted])
            for a, b in zip(cells, self.stored[run], strict=True)
        )
        if not all(same):
            self._fix(run, "its stored scores do not lead to its stored cells")
        return found

    def _fix(self, run: int, why: str) -> None:
        self.fixed.add(run)
        self.notes.append(f"{self.runs[run].name} stays at its own t and τ: {why}")

    def _needs_masks(self, run: int) -> bool:
        """Whether p⁻ may be true of something else, which excuses masks on that."""
        settings, sums = self.runs[run].summary.settings, self.own_sums[run]
        if settings.get("variant") != "exact" or "pcs.objects" not in sums.names:
            return False
        objects = sums.patterns[sums.pattern, sums.names.index("pcs.objects")]
        return bool((objects > self.runs[run].table.column("n_objects").to_numpy()).any())

    def _places(self, run: int, matched: Matched) -> tuple[Ints, Ints]:
        """Where the items of each entry stand in the benchmark."""
        place = {item.id: k for k, item in enumerate(matched.benchmark.items)}
        ids = (self.positive_ids.to_pylist(), self.negative_ids.to_pylist())
        positive, negative = (np.array([place.get(name, -1) for name in side]) for side in ids)
        return positive, negative

    def _compared(self, run: int) -> Matched:
        if run not in self.matched:
            self.matched[run] = compared(self.runs[run], self.source)
        return self.matched[run]

    def _thresholds(self, run: int, point: Point) -> tuple[float, float]:
        own, (t, tau) = self.runs[run], self._resolved(run, point)
        return own.own_t if t is None else t, own.own_tau if tau is None else tau

    def _resolved(self, run: int, point: Point) -> tuple[float | None, float | None]:
        return super()._resolved(run, Point() if run in self.fixed else point)

    def _ends(self, point: Point) -> list[dict[str, Codes]]:
        return [self._ends_of(run, point) for run in range(len(self.runs))]

    def _ends_of(self, run: int, point: Point) -> dict[str, Codes]:
        cells: tuple[Any, Any] = self.stored[run]
        if run not in self.fixed:
            cells = self.pairs[run].cells(*self._thresholds(run, point))[:2]
        return {
            side: self._with_failed(run, cell, len(labels) - 1)
            for (side, labels), cell in zip(self.sides.items(), cells, strict=True)
        }

    def _with_failed(self, run: int, cells: Codes, failed: int) -> Codes:
        """The cells with those that are not counted marked; −1 where no pair was asked."""
        left_out = ~self.pairs[run].counted
        if left_out.any():
            cells = cells.copy()
            cells[left_out] = np.where(self.is_pair[left_out], failed, -1)
        return cells

    @property
    def criteria(self) -> Mapping[str, Callable[[dict[str, Codes]], Codes]]:
        found: dict[str, Callable[[dict[str, Codes]], Codes]] = {"both right": _both_right}
        for outcome, (column, is_right) in self.protocol.right_or_wrong.items():
            side = next(side for side, name in SIDES.items() if column.startswith(name))
            table = [int(is_right(label)) for label in self.sides[side][:-1]] + [-1, -1]
            found[outcome] = _looked_up(side, np.array(table, np.int8))
        return found

    @property
    def measures(self) -> Mapping[str, Callable[[int], Floats]]:
        return {
            "score of p⁺": lambda run: _finite(self.pairs[run].positive_score),
            "score of p⁻": lambda run: _finite(self.pairs[run].negative_score),
            "p⁺ above p⁻": lambda run: (
                np.nan_to_num(_finite(self.pairs[run].positive_score))
                - np.nan_to_num(_finite(self.pairs[run].negative_score))
            ),
            "overlap of p⁺": lambda run: _finite(self.pairs[run].overlap),
        }

    @property
    def confusable(self) -> Mapping[str, tuple[str, str, Callable[[dict[str, Codes]], Codes]]]:
        on_it = np.array([1, 0, 0, -1, -1], np.int8)
        anywhere = np.array([1, 1, 0, -1, -1], np.int8)
        return {
            "taken for it, on the object": ("p⁺ phrase", "p⁻ phrase", _looked_up(NEGATIVE, on_it)),
            "accepted anywhere": ("p⁺ phrase", "p⁻ phrase", _looked_up(NEGATIVE, anywhere)),
        }

    def score_range(self) -> tuple[float, float]:
        return range_of(said for each in self.pairs for said in (each.positive, each.negative))

    def asked(self, place: int) -> list[Asked]:
        found = []
        for side, ids, phrases in (
            (POSITIVE, self.positive_ids, self.facets["p⁺ phrase"]),
            (NEGATIVE, self.negative_ids, self.facets["p⁻ phrase"]),
        ):
            item, code = ids[place].as_py(), phrases.codes[place]
            if item is not None:
                found.append(Asked(side, phrases.labels[code] if code >= 0 else "", item))
        return found

    def said(self, run: int, place: int) -> dict[str, str]:
        pairs = self.pairs[run]
        scores = {POSITIVE: pairs.positive_score[place], NEGATIVE: pairs.negative_score[place]}
        return {side: f"{value:.2f}" for side, value in scores.items() if np.isfinite(value)}

    def quick_sums(self, run: int, point: Point) -> Sums | None:
        """The target-aware metrics, which need no masks to be compared again."""
        if self.is_own(run, point):
            return self.own_sums[run]
        t, tau = self._thresholds(run, point)
        settings = {**self.runs[run].summary.settings, "t": t, "tau": tau}
        return self.pairs[run].sums(t, tau, settings)


def _both_right(ends: dict[str, Codes]) -> Codes:
    right = (ends[POSITIVE] == _FOUND) & (ends[NEGATIVE] == _REJECTED)
    known = (ends[NEGATIVE] >= 0) & (ends[NEGATIVE] < len(target_aware.NEGATIVE_CELLS))
    return np.where(known, right, -1).astype(np.int8)


def _looked_up(side: str, table: Codes) -> Callable[[dict[str, Codes]], Codes]:
    """From the end of a side, by a table whose last entry is for −1."""
    return lambda ends: table[ends[side]]


def _finite(values: Floats) -> Floats:
    return np.where(np.isfinite(values), values, np.nan)


def _stored_cells(table: Any) -> tuple[Codes, Codes]:
    found = []
    for side, names in (
        ("positive", target_aware.POSITIVE_CELLS),
        ("negative", target_aware.NEGATIVE_CELLS),
    ):
        facet: Facet = facet_of(table.column(f"{side}_cell"))
        place = np.array([names.index(label) for label in facet.labels] + [-1], np.int8)
        found.append(place[facet.codes])
    return found[0], found[1]
