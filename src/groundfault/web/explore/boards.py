"""Runs → boards. Only runs on the same cases with the same truth, read in the same way, share one:
others are shown apart. Each may have its own t and τ, which can be moved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path

import msgspec

from groundfault.errors import UsageError
from groundfault.reports.page.inputs import RunData, load_runs
from groundfault.reports.page.sources import Sources
from groundfault.web.explore.board import Board, Material
from groundfault.web.explore.comparisons import ComparisonBoard
from groundfault.web.explore.pairs import PairBoard
from groundfault.web.explore.quads import QuadBoard
from groundfault.web.explore.questions import QuestionBoard
from groundfault.web.explore.singles import ConceptBoard, QueryBoard

__all__ = ["Shelf", "read_boards"]

SAME_SETTINGS = ("variant", "iou", "size_limits_px")
"""What runs must share to stand on one board."""


class Shelf(msgspec.Struct, frozen=True, eq=False):
    """One board with what it is called."""

    key: str
    """Names it in addresses: the same runs on the same data have the same."""
    title: str
    apart: str
    """Why it is not part of another board, where several are about one benchmark."""
    data: str
    """What its cases are, for notes: they belong to cases, whoever answered them."""
    board: Board


def read_boards(folders: Sequence[Path], *, images_from: Path | None = None) -> tuple[Shelf, ...]:
    """Read runs and put those that can be compared on one board each, in the order given."""
    groups: dict[tuple[str, ...], list[RunData]] = {}
    for run in load_runs(folders):
        groups.setdefault(_key(run), []).append(run)
    sources = Sources(images_from)
    titles = [(key[0], key[1:3]) for key in groups]
    return tuple(_shelf(key, tuple(runs), sources, titles) for key, runs in groups.items())


def _shelf(
    key: tuple[str, ...],
    runs: tuple[RunData, ...],
    sources: Sources,
    titles: Sequence[tuple[str, tuple[str, ...]]],
) -> Shelf:
    summary = runs[0].summary
    same = [data for benchmark, data in titles if benchmark == key[0]]
    apart = ""
    if len(same) > 1:
        n = f"{len(runs[0].table):,} cases"
        apart = f"data {key[1][:8]}, {n}" if len(set(same)) > 1 else ", ".join(
            f"{name} {value}" for name, value in zip(SAME_SETTINGS, key[3:], strict=True)
            if value != "None"
        )  # fmt: skip
    return Shelf(
        key=_digest("\0".join(key))[:8],
        title=summary.title or summary.benchmark,
        apart=apart,
        data=_digest("\0".join(key[:2]))[:16],
        board=_board(Material(runs, sources)),
    )


def _board(made_of: Material) -> Board:
    """The board that knows these runs' protocol; a plain one for protocols of other packages, and
    for exams whose questions are not at hand."""
    first = made_of.runs[0]
    kinds: dict[str, Callable[[Material], Board]] = {
        "concept-pairs": PairBoard,
        "concepts": ConceptBoard,
        "referring": QueryBoard,
        "replacement-quads": QuadBoard,
        "phrase-relations": ComparisonBoard,
    }
    if first.protocol.answers == "words":
        source = made_of.sources.of(first)
        if source is not None and first.protocol.name in ("exam", "yes-no"):
            return QuestionBoard(made_of, source.benchmark)
        return Board(made_of)
    name = first.protocol.name
    if name == "concept-pairs" and "positive_cell" not in first.columns:
        name = "concepts"
    return kinds.get(name, Board)(made_of)


def _key(run: RunData) -> tuple[str, ...]:
    """What runs on one board share: benchmark, data, cases, and how they were read."""
    cases = "\0".join(run.table.column("case_id").to_pylist())
    settings = [str(run.summary.settings.get(name)) for name in SAME_SETTINGS]
    data = "\0".join(run.summary.data.values())
    if not len(run.table):
        raise UsageError(f"{run.folder}: has no cases")
    return run.summary.benchmark, _digest(data), _digest(cases), *settings


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
