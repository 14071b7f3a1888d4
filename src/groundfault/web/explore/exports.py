"""A selection taken elsewhere: ids, a table, a benchmark of its own."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from groundfault.benchmarks import folder
from groundfault.errors import UsageError
from groundfault.records import Benchmark, Item
from groundfault.reports.page.sources import Source
from groundfault.web.explore.board import Board, Point

__all__ = ["as_csv", "as_ids", "new_place", "selected_items", "source_of", "write_benchmark"]

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What makes spreadsheets calculate with a text."""


def as_ids(board: Board, places: Sequence[int]) -> str:
    """The names of entries, one per line."""
    return "".join(f"{board.names[place].as_py()}\n" for place in places)


def as_csv(board: Board, places: Sequence[int], point: Point) -> str:
    """Entries with what is known of them and how every run ended, at an operating point."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    sides = list(board.sides)
    runs = [run.name for run in board.runs]
    ends = [f"{run} {what}" for run in runs for side in sides for what in (side, f"{side} said")]
    roles = [asked.role for asked in board.asked(places[0])] if len(places) else []
    is_words = board.kind == "questions"
    asked = ["question"] if is_words else roles
    writer.writerow(_plain(["entry", "case", *board.facets, *asked, *ends]))
    found = board.ends(point)
    for place in places:
        facts = [
            facet.labels[code] if (code := facet.codes[place]) >= 0 else ""
            for facet in board.facets.values()
        ]
        words = [each.words for each in board.asked(place)]
        row = [board.names[place].as_py(), board.case_ids[place].as_py(), *facts]
        row += words + [""] * (len(asked) - len(words))
        for run, of_run in enumerate(found):
            said = board.said(run, place)
            for side in sides:
                code = int(of_run[side][place])
                row += [board.sides[side][code] if code >= 0 else "", said.get(side, "")]
        writer.writerow(_plain(row))
    return out.getvalue()


def _plain(cells: Sequence[str]) -> Iterator[str]:
    """Cells that no spreadsheet takes for a formula: those that look like one get a ' in front.
    Numbers stay numbers."""
    for cell in cells:
        risky = cell.startswith(FORMULA) and not re.fullmatch(r"[+-]?\d*\.?\d+", cell)
        yield f"'{cell}" if risky else cell


def source_of(board: Board) -> Source:
    """The benchmark behind a board, or why it is not there."""
    found = board.source
    if found is None:
        raise UsageError(" ".join(board.sources.notes) or "the benchmark is not at hand")
    return found


def selected_items(board: Board, places: Sequence[int]) -> tuple[Item, ...]:
    """The items of entries, in the benchmark's order."""
    source = source_of(board)
    wanted = {asked.item_id for place in places for asked in board.items(place)}
    return tuple(item for item in source.benchmark.items if item.id in wanted)


def write_benchmark(board: Board, places: Sequence[int], out: Path, *, how: str) -> str:
    """Write entries as a benchmark folder with their pictures; returns its content hash. `how` says
    in its card what was chosen."""
    source = source_of(board)
    items = selected_items(board, places)
    if not items:
        raise UsageError("nothing is selected")
    whole = source.benchmark
    kept = {item.case_id for item in items}
    cases = tuple(case for case in whole.cases if case.id in kept)
    about = f"{len(cases)} of the {len(whole.cases)} cases of {whole.card.title}, chosen {how}."
    card = msgspec.structs.replace(
        whole.card, title=f"{whole.card.title}, a selection", about=about, content_hash=""
    )
    part = Benchmark(
        card=card,
        cases=cases,
        items=items,
        categories=whole.categories,
        notes=(*whole.notes, "Chosen by how models answer it: no fair sample of anything."),
        settings=whole.settings,
    )
    pictures = source.images if source.images.is_dir() else None
    return folder.write(part, out, images_from=pictures).content_hash


def new_place(exports: Path, name: str) -> Path:
    """The folder for an export of this name, which is a name and no path."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", name):
        raise UsageError("give a name of letters, digits, dots, dashes and underscores")
    place = exports / name
    if place.exists():
        raise UsageError(f"{name}: there is one already; give another name")
    return place
