"""The board of audits: its entries are two answers that are held against each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from groundfault.reports.page.comparisons import compared_answers
from groundfault.web.explore.board import Asked, Board, Point, facet_of

if TYPE_CHECKING:
    from groundfault.web.explore.board import Codes, Floats

__all__ = ["ComparisonBoard"]

ANSWERS = "answers"
RIGHT, WRONG, UNJUDGED = 0, 1, -1
FACETS = {"comparison": "comparison", "relation or change": "name", "edit": "edit"}
PHRASES = ("first_query", "second_query")


class ComparisonBoard(Board):
    """Phrases whose relations are known, about photographs of which nothing is. It has no criteria:
    many entries are about one photograph, so counting who is right where would say too much; the
    tests of the metrics resample photographs."""

    kind = "comparisons"
    sides = {ANSWERS: ("right", "wrong")}

    def _prepare(self) -> None:
        table = self.runs[0].table
        self.facets |= {label: facet_of(table.column(name)) for label, name in FACETS.items()}
        self.overlap = [
            run.table.column("overlap").cast("float64").fill_null(np.nan).to_numpy()
            for run in self.runs
        ]

    def _words(self) -> list[Any]:
        table = self.runs[0].table
        return [table.column(name) for name in (*PHRASES, "case_id")]

    def _ends(self, point: Point) -> list[dict[str, Codes]]:
        return [{ANSWERS: _ends_of(run.table)} for run in self.runs]

    @property
    def measures(self) -> Mapping[str, Callable[[int], Floats]]:
        return {"overlap": lambda run: self.overlap[run]}

    def asked(self, place: int) -> list[Asked]:
        return [
            Asked(role, query, item_id)
            for role, query, _, _, _, item_id in compared_answers(self._row(0, place))
        ]

    def said(self, run: int, place: int) -> dict[str, str]:
        answered = [each[2] for each in compared_answers(self._row(run, place))]
        return {ANSWERS: "; ".join(answered)}

    def _row(self, run: int, place: int) -> dict[str, Any]:
        [row] = self.runs[run].table.slice(place, 1).to_pylist()
        return dict(row)


def _ends_of(table: Any) -> Codes:
    unjudged = np.array([bool(why) for why in table.column("unjudged").to_pylist()], bool)
    wrong = np.array([bool(what) for what in table.column("wrong").to_pylist()], bool)
    return np.select([unjudged, wrong], [UNJUDGED, WRONG], RIGHT).astype(np.int8)
