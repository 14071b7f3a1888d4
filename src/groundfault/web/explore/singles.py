"""Boards whose entries are single questions in masks: concepts, and descriptions that may be
false."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from groundfault.analysis.scoring import Matched
from groundfault.web.explore.board import FAILED, Asked, Board, Point, facet_of
from groundfault.web.explore.compared import compared
from groundfault.web.explore.points import range_of, said_in_table

if TYPE_CHECKING:
    from groundfault.web.explore.board import Codes, Flags, Floats

__all__ = ["ConceptBoard", "QueryBoard"]

ANSWER = "answer"


class ConceptBoard(Board):
    """Find every instance of a phrase, or nothing where there is none."""

    kind = "concepts"
    sides = {ANSWER: ("found", "rejected", "false alarm", "missed", FAILED)}
    has_t = True

    def _prepare(self) -> None:
        table = self.runs[0].table
        self.item_ids = table.column("positive_id").combine_chunks()
        self.facets["phrase"] = facet_of(table.column("positive_query"))
        self.there = table.column("n_objects").to_numpy() > 0
        self.answers = [said_in_table(run.table, "positive") for run in self.runs]
        self.highest = [each.highest(each.score) for each in self.answers]
        self.matched: dict[int, Matched] = {}

    def _words(self) -> list[Any]:
        table = self.runs[0].table
        return [table.column("positive_query"), table.column("image")]

    def _compared(self, run: int) -> Matched:
        if run not in self.matched:
            self.matched[run] = compared(self.runs[run], self.source)
        return self.matched[run]

    def _ends(self, point: Point) -> list[dict[str, Codes]]:
        found = []
        for run, answers in enumerate(self.answers):
            accepted = self._accepted(run, point)
            ends = np.select(
                [answers.failed, self.there & accepted, ~self.there & ~accepted, accepted],
                [4, 0, 1, 2],
                3,
            )
            found.append({ANSWER: ends.astype(np.int8)})
        return found

    def _accepted(self, run: int, point: Point) -> Flags:
        """Whether anything is accepted. An answer that cannot be read is wrong."""
        if self.is_own(run, point):
            stored: Flags = self.runs[run].table.column("positive_n_accepted").to_numpy() > 0
            return stored
        t = self._resolved(run, point)[0]
        accepted = self.highest[run] >= (self.runs[run].own_t if t is None else t)
        return np.where(self.answers[run].unparsed, ~self.there, accepted)

    @property
    def criteria(self) -> Mapping[str, Callable[[dict[str, Codes]], Codes]]:
        right = np.array([1, 1, 0, 0, -1, -1], np.int8)
        return {"presence right": lambda ends: right[ends[ANSWER]]}

    @property
    def measures(self) -> Mapping[str, Callable[[int], Floats]]:
        return {
            "score": lambda run: np.where(np.isfinite(self.highest[run]), self.highest[run], np.nan)
        }

    def score_range(self) -> tuple[float, float]:
        return range_of(self.answers)

    def asked(self, place: int) -> list[Asked]:
        phrase = self.facets["phrase"]
        return [Asked("query", phrase.labels[phrase.codes[place]], self.item_ids[place].as_py())]

    def said(self, run: int, place: int) -> dict[str, str]:
        score = self.highest[run][place]
        return {ANSWER: f"{score:.2f}"} if np.isfinite(score) else {}


class QueryBoard(Board):
    """Descriptions, some of them false: mark it, or reject it and say what is there."""

    kind = "queries"
    sides = {
        ANSWER: ("right", "false premise accepted", "true premise rejected", FAILED),
        "correction": ("named", "not named"),
    }

    def _prepare(self) -> None:
        table = self.runs[0].table
        self.item_ids = table.column("query_id").combine_chunks()
        self.facets["query"] = facet_of(table.column("query"))
        self.facets["there is"] = facet_of(table.column("there_is"))
        self.false = np.array([p == "false" for p in table.column("premise").to_pylist()], bool)
        self.iou = [
            table.column("iou").cast("float64").fill_null(np.nan).to_numpy()
            for table in (run.table for run in self.runs)
        ]

    def _words(self) -> list[Any]:
        table = self.runs[0].table
        return [table.column(name) for name in ("query", "there_is", "image")]

    def _ends(self, point: Point) -> list[dict[str, Codes]]:
        return [self._ends_of(run.table) for run in self.runs]

    def _ends_of(self, table: Any) -> dict[str, Codes]:
        right, named = (_three(table.column(name)) for name in ("existence_correct", "named"))
        ends = np.select([right < 0, right == 1, self.false], [3, 0, 1], 2)
        correction = np.select([named < 0, named == 1], [-1, 0], 1)
        return {ANSWER: ends.astype(np.int8), "correction": correction.astype(np.int8)}

    @property
    def criteria(self) -> Mapping[str, Callable[[dict[str, Codes]], Codes]]:
        right, named = np.array([1, 0, 0, -1, -1], np.int8), np.array([1, 0, -1], np.int8)
        return {
            "existence right": lambda ends: right[ends[ANSWER]],
            "correction named": lambda ends: named[ends["correction"]],
        }

    @property
    def measures(self) -> Mapping[str, Callable[[int], Floats]]:
        return {"IoU": lambda run: self.iou[run]}

    @property
    def confusable(self) -> Mapping[str, tuple[str, str, Callable[[dict[str, Codes]], Codes]]]:
        table = np.array([-1, 1, -1, -1, -1], np.int8)

        def accepted(ends: dict[str, Codes]) -> Codes:
            taken = table[ends[ANSWER]]
            return np.where((ends[ANSWER] == 0) & self.false, 0, taken).astype(np.int8)

        return {"false description accepted": ("there is", "query", accepted)}

    def asked(self, place: int) -> list[Asked]:
        query = self.facets["query"]
        role = "false premise" if self.false[place] else "true premise"
        return [Asked(role, query.labels[query.codes[place]], self.item_ids[place].as_py())]

    def said(self, run: int, place: int) -> dict[str, str]:
        value = self.iou[run][place]
        return {} if np.isnan(value) else {ANSWER: f"IoU {value:.2f}"}


def _three(column: Any) -> Codes:
    """A column of yes, no and nothing as 1, 0, −1."""
    found: Codes = column.cast("int8").fill_null(-1).to_numpy()
    return found
