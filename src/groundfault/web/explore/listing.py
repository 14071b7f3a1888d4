"""What the main page shows of a view: a page of entries, counts, and every run's rates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from groundfault.errors import GroundfaultError
from groundfault.web.explore.board import Board
from groundfault.web.explore.selection import (
    Selection,
    end_counts,
    facet_counts,
    page_of,
)
from groundfault.web.explore.views import PAGE, View

if TYPE_CHECKING:
    from groundfault.web.explore.sums import Sums

__all__ = ["Listed", "Rate", "Rates", "listed", "rates"]

RESAMPLES = 1000


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """A page of entries."""

    n: int
    n_all: int
    pages: int
    page: int
    entries: list[dict[str, Any]]
    facets: list[dict[str, Any]]
    ends: list[dict[str, list[int]]]


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """A metric of one run on a selection."""

    value: float | None
    low: float | None = None
    high: float | None = None
    text: str = ""
    interval: str = ""


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """The headline metrics of all runs on a selection."""

    metrics: list[dict[str, str]]
    runs: list[dict[str, Any]]
    n: int


def listed(
    board: Board, view: View, found: Selection, noted: Mapping[str, Mapping[str, Any]]
) -> Listed:
    """The entries of one page with how each run ended, and what choosing more would leave."""
    pages = max(1, -(-found.n // PAGE))
    page = min(view.page, pages)
    places = page_of(found.order(), page).tolist()
    ends = board.ends(view.point)
    return Listed(
        n=found.n,
        n_all=len(board),
        pages=pages,
        page=page,
        entries=[_entry(board, place, ends, noted) for place in places],
        facets=facet_counts(board, view, found),
        ends=end_counts(board, view, found),
    )


def _entry(
    board: Board, place: int, ends: list[Any], noted: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    name = board.names[place].as_py()
    return {
        "place": place,
        "name": name,
        "facts": _facts(board, place),
        "asked": [(asked.role, asked.words) for asked in board.asked(place)],
        "ends": [[int(codes[place]) for codes in of_run.values()] for of_run in ends],
        "said": [
            [said.get(side, "") for side in board.sides]
            for said in (board.said(run, place) for run in range(len(board.runs)))
        ],
        "noted": noted.get(name, {}),
    }


def _facts(board: Board, place: int) -> dict[str, str]:
    """Properties of an entry, without its phrases, which stand beside."""
    return {
        name: facet.labels[code]
        for name, facet in board.facets.items()
        if (code := facet.codes[place]) >= 0 and name not in PHRASES
    }


PHRASES = ("p⁺ phrase", "p⁻ phrase", "phrase", "c", "c′", "query", "there is", "label")
"""Properties that are words of the questions."""


def rates(board: Board, view: View, found: Selection, *, full: bool, intervals: bool) -> Rates:
    """Every run's headline metrics on a selection, at the view's operating point. Those that need
    masks to be compared again are there if it is `full`."""
    by_run: list[dict[str, Any]] = []
    for run in range(len(board.runs)):
        why, sums = "", board.quick_sums(run, view.point)
        if full or sums is None:
            try:
                sums = board.full_sums(run, view.point) if full else sums
            except GroundfaultError as problem:
                why = str(problem)
        shown = {} if sums is None else _values(board, sums, found, intervals)
        t, tau = board._resolved(run, view.point)
        by_run.append({"values": shown, "t": t, "tau": tau, "why": why})
    known = board.own_sums[0].values(found.chosen)
    return Rates(
        metrics=[_heading(board, name) for name in board.protocol.shown_on_page(known)],
        runs=by_run,
        n=found.n,
    )


def _heading(board: Board, name: str) -> dict[str, str]:
    metric = board.protocol.metric(name)
    return {
        "name": name,
        "heading": metric.heading,
        "arrow": metric.arrow,
        "about": metric.about,
    }


def _values(board: Board, sums: Sums, found: Selection, intervals: bool) -> dict[str, Rate]:
    values = sums.values(found.chosen)
    names = board.protocol.shown_on_page(values)
    if not intervals or not found.n:
        return {name: _rate(board, name, values[name]) for name in names}
    made = sums.estimates(found.chosen, board.cluster, resamples=RESAMPLES, seed=0)
    return {
        name: _rate(board, name, made[name].value, made[name].low, made[name].high)
        for name in names
    }


def _rate(
    board: Board,
    name: str,
    value: float | None,
    low: float | None = None,
    high: float | None = None,
) -> Rate:
    metric = board.protocol.metric(name)
    if value is None or not np.isfinite(value):
        return Rate(value=None, text="–")
    interval = ""
    if low is not None and high is not None:
        interval = f"{metric.text(low)}–{metric.text(high)}"
    return Rate(value=value, low=low, high=high, text=metric.text(value), interval=interval)
