"""What an exploring session holds: boards, single answers, notes, and where exports go."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec

from groundfault.errors import UnknownName, UsageError
from groundfault.io.pictures import open_picture
from groundfault.io.sources import load
from groundfault.records import Benchmark
from groundfault.registry import is_baseline
from groundfault.web.explore.answers import Answers
from groundfault.web.explore.board import Board
from groundfault.web.explore.boards import Shelf, read_boards
from groundfault.web.explore.cases import picture_path
from groundfault.web.explore.episodes import Episodes
from groundfault.web.explore.listing import PHRASES
from groundfault.web.explore.notes import FILE, Notes
from groundfault.web.explore.selection import ORDERS, Selection, select
from groundfault.web.explore.views import View

__all__ = ["Desk", "Places", "Set"]

SIDES_PX = {"thumb": 168, "large": 1600}
"""Long sides of the pictures that are sent."""
KEPT_THUMBS = 2000


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """Where things are that do not come with the runs."""

    images: Path | None = None
    """A benchmark's folder, or one of pictures, if they are not where they were."""
    notes: Path | None = None
    exports: Path | None = None
    evaluated: tuple[Path, ...] = ()
    """Further benchmarks that no training list may touch."""


class Set(msgspec.Struct, frozen=True, eq=False):
    """A board with its answers."""

    shelf: Shelf
    answers: tuple[Answers, ...]
    episodes: Episodes

    @property
    def board(self) -> Board:
        """The board itself."""
        return self.shelf.board


class Desk:
    """Everything behind the addresses."""

    def __init__(self, folders: Sequence[Path], places: Places | None = None) -> None:
        places = places or Places()
        shelves = read_boards(folders, images_from=places.images)
        self.sets = {shelf.key: _set(shelf) for shelf in shelves}
        beside = Path(os.path.commonpath([folder.resolve().parent for folder in folders]))
        self.notes = Notes(places.notes or beside / FILE)
        self.exports = places.exports or beside / "explored"
        self._evaluated = places.evaluated
        self.thumb = lru_cache(KEPT_THUMBS)(self._picture)

    def set_of(self, view: View) -> Set:
        """The set that a view is about, else the first."""
        if not view.set:
            return next(iter(self.sets.values()))
        if view.set not in self.sets:
            raise UsageError(
                "this link is about other runs than those that are explored here; start explore "
                "with the runs that it was made with"
            )
        return self.sets[view.set]

    def select(self, view: View) -> tuple[Set, Selection]:
        """The entries of a view."""
        found = self.set_of(view)
        return found, select(found.board, view, self.notes.marked(found.shelf.data))

    def place_of(self, view: View) -> tuple[Set, int]:
        """The entry that a view has open."""
        found = self.set_of(view)
        place = found.board.place(view.case)
        if place is None:
            raise UnknownName("case", view.case, ())
        return found, place

    def others(self, but: Set) -> dict[str, Benchmark]:
        """Evaluated sets besides one: those explored beside it, and those that were named."""
        found = {}
        for each in self.sets.values():
            source = each.board.source
            if each.shelf.data != but.shelf.data and source is not None:
                found[f"{each.shelf.title} {each.shelf.apart}".strip()] = source.benchmark
        return found | {str(folder): load(str(folder)) for folder in self._evaluated}

    def picture(self, key: str, place: int, item: int, number: int, size: str) -> bytes | None:
        """A picture as JPEG; None where there is none."""
        if key not in self.sets or not 0 <= place < len(self.sets[key].board):
            return None
        draw = self.thumb if size == "thumb" else self._picture
        return draw(key, place, item, number, SIDES_PX[size])

    def _picture(self, key: str, place: int, item: int, number: int, side_px: int) -> bytes | None:
        found = picture_path(self.sets[key].board, place, item, number)
        if found is None:
            return None
        path, asked = found
        try:
            drawn = open_picture(path, size_px=(asked.height_px, asked.width_px), draft_px=side_px)
        except Exception:  # on damaged files Pillow also asserts and fails to index
            return None
        drawn.thumbnail((side_px, side_px))
        out = BytesIO()
        drawn.save(out, "JPEG", quality=80 if side_px < 400 else 92)
        return out.getvalue()

    def about(self) -> dict[str, Any]:
        """What the page needs to know before it asks for anything."""
        return {
            "sets": [_described(each) for each in self.sets.values()],
            "notes": str(self.notes.path),
            "exports": str(self.exports),
            "unread_notes": self.notes.unread,
        }


def _set(shelf: Shelf) -> Set:
    board = shelf.board
    answers = tuple(Answers(run, board.sources) for run in board.runs)
    return Set(shelf, answers, Episodes(board, answers))


def _described(each: Set) -> dict[str, Any]:
    board, shelf = each.board, each.shelf
    return {
        "key": shelf.key,
        "title": shelf.title,
        "apart": shelf.apart,
        "kind": board.kind,
        "n": len(board),
        "runs": [_run(board, run) for run in range(len(board.runs))],
        "rows": {name: int(member.sum()) for name, member in _in_order(board).items()},
        "slices": board.protocol.slices,
        "sides": board.sides,
        "cells": board.protocol.cells,
        "asked": board.protocol.asked,
        "phrases": [name for name in PHRASES if name in board.facets],
        "criteria": list(board.criteria),
        "orders": [*(ORDERS if board.criteria else ()), *board.measures],
        "measures": list(board.measures),
        "confusable": list(board.confusable),
        "has_t": board.has_t,
        "has_tau": board.has_tau,
        "t_range": _score_range(board),
        "notes": board.notes,
    }


def _run(board: Board, run: int) -> dict[str, Any]:
    made = board.runs[run]
    return {
        "name": made.name,
        "t": made.t,
        "tau": made.tau,
        "baseline": is_baseline(made.run.model if made.run else made.name),
        "failed": made.summary.outcomes.get("failed", 0),
    }


def _in_order(board: Board) -> Mapping[str, Any]:
    """The rows as the result table has them."""
    known = [name for name in board.runs[0].summary.rows if name in board.rows]
    return {name: board.rows[name] for name in known}


def _score_range(board: Board) -> tuple[float, float]:
    """What t can usefully be: 0 to 1, unless scores are of another kind."""
    if not board.has_t:
        return 0.0, 1.0
    low, high = board.score_range()
    return (low, high) if low < 0 or high > 1 else (0.0, 1.0)
