"""A selection as a figure for a paper: a line per question, a picture per run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from groundfault.errors import UsageError
from groundfault.reports.page.drawing import Canvas, Figure, shortened
from groundfault.reports.page.gallery import View
from groundfault.reports.page.panels import (
    PICTURE_PX,
    draw_masks,
    draw_picture,
    draw_sign,
    draw_target,
)
from groundfault.reports.page.pictures import Pictures
from groundfault.web.explore.answers import Answers
from groundfault.web.explore.board import Board, Point
from groundfault.web.explore.cases import CaseView, Question, Said, case_view, picture_path

if TYPE_CHECKING:
    from groundfault.web.explore.cases import Mask

__all__ = ["MOST_CASES", "selection_figure"]

MOST_CASES = 6
MOST_RUNS = 5
WIDTH = 760.0
GAP = 12.0
LINE = 15.0


def selection_figure(
    board: Board,
    answers: Sequence[Answers],
    places: Sequence[int],
    point: Point,
    *,
    title: str,
    runs: Sequence[int] = (),
) -> Figure:
    """The first entries of a selection with the answers of some runs, else of the first few."""
    if not len(places):
        raise UsageError("nothing is selected")
    drawing = _Drawing(board, list(runs)[:MOST_RUNS] or list(range(len(board.runs)))[:MOST_RUNS])
    for place in places[:MOST_CASES]:
        drawing.case(case_view(board, answers, place, point))
    return drawing.canvas.figure("selection", title, WIDTH, drawing.y)


class _Drawing:
    def __init__(self, board: Board, runs: Sequence[int]) -> None:
        self.board, self.runs = board, runs
        self.canvas, self.pictures, self.y = Canvas(), Pictures(PICTURE_PX), 0.0

    def case(self, case: CaseView) -> None:
        """The questions of an entry, one below another."""
        facts = ", ".join(value for name, value in case.facts[:2] if name != "p⁺ phrase")
        words = f"{case.name}{f' ({facts})' if facts else ''}"
        self.canvas.text(0, self.y + 12, shortened(words, WIDTH), "t strong")
        self.y += 22
        for question in case.questions:
            if question.open:
                draw = self._in_words if self.board.kind == "questions" else self._in_masks
                draw(case, question)
        self.y += 10

    def _view(self, case: CaseView, question: Question) -> View | None:
        """The picture of a question; None where it is not at hand."""
        found = picture_path(self.board, case.place, question.place, 0)
        if found is None or not question.pictures:
            return None
        path, item = found
        number = self.pictures.add(
            path.parent, path.name, record=item.id, size_px=(item.height_px, item.width_px)
        )
        first = question.pictures[0]
        return View(
            role=question.role, query=question.query, verdict="", right=None, picture=number,
            width_px=first.width_px, height_px=first.height_px, target=question.target,
        )  # fmt: skip

    def _in_masks(self, case: CaseView, question: Question) -> None:
        view = self._view(case, question)
        if view is None:
            return
        width = (WIDTH - GAP * len(self.runs)) / (len(self.runs) + 1)
        tall = min(width * view.height_px / view.width_px, 190.0)
        box = draw_picture(self.canvas, self.pictures, view, (0, self.y), (width, tall))
        draw_target(self.canvas, view, box)
        words = f"{question.role} {question.query}"
        self.canvas.text(0, self.y + tall + LINE, shortened(words, width), "t strong", words)
        for k, run in enumerate(self.runs, start=1):
            said = next((each for each in question.said if each.run == run), None)
            self._answer(view, said, run, (k * (width + GAP), self.y), (width, tall))
        self.y += tall + 2 * LINE + 12

    def _answer(
        self,
        view: View,
        said: Said | None,
        run: int,
        place: tuple[float, float],
        room: tuple[float, float],
    ) -> None:
        """What a run marked; accepted masks only."""
        import msgspec

        masks: tuple[Mask, ...] = said.masks if said else ()
        drawn = msgspec.structs.replace(
            view,
            right=said.right if said else None,
            answers=tuple(mask.path for mask in masks if mask.accepted),
            target="",
        )
        box = draw_picture(self.canvas, self.pictures, drawn, place, room)
        draw_masks(self.canvas, drawn, box)
        x, y = place[0], place[1] + room[1] + LINE
        draw_sign(self.canvas, x + 5, y - 4, right=drawn.right)
        name = self.board.runs[run].name
        self.canvas.text(x + 15, y, shortened(name, room[0] - 15), "i", name)
        words = " ".join(filter(None, [said.end, said.numbers])) if said else ""
        self.canvas.text(x, y + LINE, shortened(words, room[0]), "s", words)

    def _in_words(self, case: CaseView, question: Question) -> None:
        """Picture, question, and what every run said."""
        view = self._view(case, question)
        width, top = 180.0, self.y
        tall = 0.0
        if view is not None:
            tall = min(width * view.height_px / view.width_px, 190.0)
            draw_picture(self.canvas, self.pictures, view, (0, top), (width, tall))
        x, y = width + GAP, top + 12
        words = f"{question.role} {question.query}"
        self.canvas.text(x, y, shortened(words, WIDTH - x), "t strong", words)
        for said in (each for each in question.said if each.run in self.runs):
            y += LINE + 2
            draw_sign(self.canvas, x + 5, y - 4, right=said.right)
            told = f"{self.board.runs[said.run].name} {said.mode}: {said.reading or said.text}"
            self.canvas.text(x + 15, y, shortened(told, WIDTH - x - 15), "i", told)
        self.y = max(top + tall, y) + 14
