"""A view applied to a board: which entries are left, in which order, and how many there would be
with one more or one other choice."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from groundfault.errors import UnknownName, UsageError
from groundfault.web.explore.board import Board
from groundfault.web.explore.views import ALL, PAGE, View

if TYPE_CHECKING:
    from groundfault.web.explore.board import Flags, Ints

__all__ = ["ORDERS", "Marked", "Selection", "criterion_of", "facet_counts", "run_named", "select"]

ORDERS = ("hardest", "easiest", "disputed")
"""Orders that ask how many runs are right."""
LISTED = 12
"""Values of a property that are offered, besides those chosen."""


class Marked(NamedTuple):
    """What somebody noted: tags by case, and cases with words."""

    tags: Mapping[str, frozenset[str]]
    """Tag → cases."""
    noted: frozenset[str]


class Selection(NamedTuple):
    """The entries of a view."""

    chosen: Flags
    """(entries,) all filters."""
    base: Flags
    """The same without the choice between A and B: what they are tested on."""
    parts: Mapping[tuple[str, ...], Flags]
    """Filter → its entries."""
    order: Callable[[], Ints]
    """Makes the places of the chosen entries in the view's order."""

    @property
    def n(self) -> int:
        """How many there are."""
        return int(self.chosen.sum())

    def without(self, key: tuple[str, ...]) -> Flags:
        """Entries that all filters but one leave."""
        if key not in self.parts:
            return self.chosen
        return _all([part for name, part in self.parts.items() if name != key], len(self.chosen))


def select(board: Board, view: View, marked: Marked) -> Selection:
    """Apply a view; names that the board does not have are refused."""
    parts: dict[tuple[str, ...], Flags] = {}
    if view.row != ALL:
        parts["row",] = _member(board, view.row)
    if view.q:
        parts["q",] = _with_words(board, view.q)
    for each in view.chosen:
        codes = board.facets[_known("property", each.facet, board.facets)]
        found = codes.codes == _place(each.value, codes.labels)
        _or(parts, ("f", each.facet), found)
    for end in view.ended:
        run = run_named(board, end.run)
        labels = board.sides[_known("side", end.side, board.sides)]
        code = labels.index(_known("end", end.end, labels))
        _or(parts, ("e", end.side, end.run), board.ends(view.point)[run][end.side] == code)
    parts |= _of_notes(board, view, marked)
    base = _all(list(parts.values()), len(board))
    if view.ab:
        parts["ab",] = _one_right(board, view)
    chosen = _all(list(parts.values()), len(board))
    return Selection(chosen, base, parts, lambda: _ordered(board, view, chosen))


def facet_counts(board: Board, view: View, found: Selection) -> list[dict[str, Any]]:
    """Every property with its values and how many entries each would leave."""
    listed = []
    for name, facet in board.facets.items():
        left = found.without(("f", name))
        codes = facet.codes[left]
        times = np.bincount(codes[codes >= 0], minlength=len(facet.labels))
        picked = {each.value for each in view.chosen if each.facet == name}
        listed.append(
            {"name": name, "values": _values(facet.labels, times, picked), "n": len(facet.labels)}
        )
    return listed


def end_counts(board: Board, view: View, found: Selection) -> list[dict[str, list[int]]]:
    """Of each run, side → how many entries each end would leave."""
    counts = []
    for run, ends in zip(board.runs, board.ends(view.point), strict=True):
        of_run = {}
        for side, codes in ends.items():
            left = codes[found.without(("e", side, run.name))]
            times = np.bincount(left[left >= 0], minlength=len(board.sides[side]))
            of_run[side] = times.tolist()
        counts.append(of_run)
    return counts


def run_named(board: Board, name: str) -> int:
    """Where the run of this name stands."""
    names = [run.name for run in board.runs]
    return names.index(_known("run", name, names))


def criterion_of(board: Board, view: View) -> str:
    """What A and B are compared in: what the view says, else the first there is."""
    if not board.criteria:
        raise UsageError("nothing is right or wrong here, so runs cannot be set against each other")
    return _known("criterion", view.on, board.criteria) if view.on else next(iter(board.criteria))


def _values(labels: tuple[str, ...], times: Ints, picked: Collection[str]) -> list[dict[str, Any]]:
    """What is offered: of many values the most frequent ones."""
    places = np.arange(len(labels))
    if len(labels) > LISTED:
        places = np.argsort(-times, kind="stable")[:LISTED]
    offered = [
        {"value": labels[k], "n": int(times[k]), "picked": labels[k] in picked}
        for k in places.tolist()
    ]
    shown = {each["value"] for each in offered}
    missing = [k for k, label in enumerate(labels) if label in picked and label not in shown]
    return [{"value": labels[k], "n": int(times[k]), "picked": True} for k in missing] + offered


def _member(board: Board, row: str) -> Flags:
    if row == "Overall" and row not in board.rows:
        return np.ones(len(board), bool)
    return board.rows[_known("row", row, board.rows)]


def _with_words(board: Board, words: str) -> Flags:
    """Entries that have every word somewhere."""
    import pyarrow.compute as pc

    found = np.ones(len(board), bool)
    for word in words.lower().split():
        found &= pc.match_substring(board.text, word).to_numpy(zero_copy_only=False)
    return found


def _of_notes(board: Board, view: View, marked: Marked) -> dict[tuple[str, ...], Flags]:
    import pyarrow as pa
    import pyarrow.compute as pc

    def among(names: Collection[str]) -> Flags:
        values = pa.array(sorted(names), pa.string())
        found: Flags = pc.is_in(board.names, values).to_numpy(zero_copy_only=False)
        return found

    found = {("tag", tag): among(marked.tags.get(tag, frozenset())) for tag in view.tags}
    return found | ({("noted",): among(marked.noted)} if view.noted else {})


def _one_right(board: Board, view: View) -> Flags:
    right = board.right(view.point, criterion_of(board, view))
    a, b = right[run_named(board, view.a)], right[run_named(board, view.b)]
    found: Flags = (a == int(view.ab[0])) & (b == int(view.ab[1]))
    return found


def _ordered(board: Board, view: View, chosen: Flags) -> Ints:
    """Places of the chosen entries; what has no number comes last either way."""
    places = np.flatnonzero(chosen)
    if not view.sort:
        return places[::-1] if view.down else places
    keys = _keys(board, view, places)
    if view.down:
        keys = -keys
    return places[np.argsort(keys, kind="stable")]


def _keys(board: Board, view: View, places: Ints) -> Any:
    if view.sort in ORDERS:
        right = board.right(view.point, criterion_of(board, view))[:, places]
        known = np.maximum((right >= 0).sum(axis=0), 1)
        share = ((right == 1).sum(axis=0) * 10_000 // known).astype(np.int16)  # sorts by radix
        return {"hardest": share, "easiest": -share, "disputed": np.abs(share - 5_000)}[view.sort]
    measure = board.measures[_known("order", view.sort, (*ORDERS, *board.measures))]
    run = run_named(board, view.by) if view.by else 0
    return measure(run)[places]


def page_of(order: Ints, page: int) -> Ints:
    """The places on one page."""
    return order[(page - 1) * PAGE : page * PAGE]


def _or(parts: dict[tuple[str, ...], Flags], key: tuple[str, ...], found: Flags) -> None:
    parts[key] = parts[key] | found if key in parts else found


def _all(parts: list[Flags], n: int) -> Flags:
    found = np.ones(n, bool)
    for part in parts:
        found &= part
    return found


def _known(kind: str, name: str, known: Collection[str]) -> str:
    if name not in known:
        raise UnknownName(kind, name, known)
    return name


def _place(value: str, labels: tuple[str, ...]) -> int:
    """The number of a label; −2, which nothing has, for one that no entry has."""
    return labels.index(value) if value in labels else -2
