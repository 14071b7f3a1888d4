"""Boards of replacement quads: (I, c), (I, c′), (I′, c), (I′, c′)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from groundfault.matching.quads import ROLES
from groundfault.records import Role
from groundfault.reports.page.failures import IOUS, POOR_IOU
from groundfault.web.explore.board import FAILED, Asked, Board, Point, facet_of

if TYPE_CHECKING:
    from groundfault.web.explore.board import Codes, Floats

__all__ = ["CORNERS", "QuadBoard"]

CORNERS = {
    Role.FACTUAL: "(I, c)",
    Role.TEXTUAL: "(I, c′)",
    Role.VISUAL: "(I′, c)",
    Role.COUNTERFACTUAL: "(I′, c′)",
}
MARKED = (Role.FACTUAL, Role.COUNTERFACTUAL)
"""Corners where a mask should be."""

MEASURES = (*IOUS, "dIoU_textual", "dIoU_visual", "CMS_fact", "CMS_counterfact")


class QuadBoard(Board):
    """An object replaced, in the picture or in the words."""

    kind = "quads"
    sides = dict.fromkeys(CORNERS.values(), ("right", "wrong", "not read", FAILED))

    def _prepare(self) -> None:
        table = self.runs[0].table
        self.facets["c"] = facet_of(table.column("query"))
        self.facets["c′"] = facet_of(table.column("counterfactual_query"))
        self.numbers = [
            {
                name: run.table.column(name).cast("float64").fill_null(np.nan).to_numpy()
                for name in MEASURES
                if name in run.table.column_names
            }
            for run in self.runs
        ]

    def _words(self) -> list[Any]:
        table = self.runs[0].table
        names = ("query", "counterfactual_query", "label", "image")
        return [table.column(name) for name in names if name in table.column_names]

    def _ends(self, point: Point) -> list[dict[str, Codes]]:
        return [
            {
                CORNERS[role]: self._corner(run, role, name)
                for role, name in zip(ROLES, IOUS, strict=True)
            }
            for run in range(len(self.runs))
        ]

    def _corner(self, run: int, role: Role, name: str) -> Codes:
        overlap = self.numbers[run][name]
        outcome = facet_of(self.runs[run].table.column(f"{role}_outcome"))
        unread, failed = (
            np.array([label == end for label in outcome.labels] + [False])[outcome.codes]
            for end in ("unparsed", "failed")
        )
        right = (overlap >= POOR_IOU) == (role in MARKED)
        ends = np.select([failed, unread, np.isnan(overlap), right], [3, 2, -1, 0], 1)
        return ends.astype(np.int8)

    @property
    def criteria(self) -> Mapping[str, Callable[[dict[str, Codes]], Codes]]:
        right = np.array([1, 0, 0, -1, -1], np.int8)

        def corner(role: Role) -> Callable[[dict[str, Codes]], Codes]:
            return lambda ends: right[ends[CORNERS[role]]]

        def every(ends: dict[str, Codes]) -> Codes:
            found: Codes = np.min([right[ends[corner]] for corner in CORNERS.values()], axis=0)
            return found

        return {
            "all corners right": every,
            "words minded": corner(Role.TEXTUAL),
            "picture minded": corner(Role.VISUAL),
            "object found": corner(Role.FACTUAL),
            "replacement found": corner(Role.COUNTERFACTUAL),
        }

    @property
    def measures(self) -> Mapping[str, Callable[[int], Floats]]:
        def measure(name: str) -> Callable[[int], Floats]:
            return lambda run: self.numbers[run][name]

        return {name: measure(name) for name in MEASURES if name in self.numbers[0]}

    @property
    def confusable(self) -> Mapping[str, tuple[str, str, Callable[[dict[str, Codes]], Codes]]]:
        taken = np.array([0, 1, -1, -1, -1], np.int8)

        def marked(role: Role) -> Callable[[dict[str, Codes]], Codes]:
            return lambda ends: taken[ends[CORNERS[role]]]

        return {
            "words changed, mask stays": ("c", "c′", marked(Role.TEXTUAL)),
            "picture changed, mask stays": ("c′", "c", marked(Role.VISUAL)),
        }

    def asked(self, place: int) -> list[Asked]:
        words = [
            facet.labels[code] if (code := facet.codes[place]) >= 0 else ""
            for facet in (self.facets["c"], self.facets["c′"])
        ]
        return [
            Asked(corner, words[role in (Role.TEXTUAL, Role.COUNTERFACTUAL)], "")
            for role, corner in CORNERS.items()
        ]

    def items(self, place: int) -> list[Asked]:
        """What an entry asks, with the items, which only the benchmark names."""
        source = self.source
        quad = source.by_case.get(self.case_ids[place].as_py(), {}) if source else {}
        return [
            asked._replace(item_id=quad[role].id if role in quad else "")
            for role, asked in zip(CORNERS, self.asked(place), strict=True)
        ]

    def said(self, run: int, place: int) -> dict[str, str]:
        pairs = zip(ROLES, IOUS, strict=True)
        values = {CORNERS[role]: self.numbers[run][name][place] for role, name in pairs}
        return {corner: f"{value:.2f}" for corner, value in values.items() if not np.isnan(value)}
