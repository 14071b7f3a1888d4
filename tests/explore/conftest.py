"""Runs to explore, made once: segmenters, an agent, quads and an exam on small worlds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

import groundfault as gf
from groundfault import cli
from groundfault.benchmarks import folder
from groundfault.runs.recorder import read_predictions, replace_predictions
from groundfault.web.explore.board import Board
from groundfault.web.explore.boards import read_boards

pytest.importorskip("onnxruntime")
pytest.importorskip("skia")

Runs = Callable[[str], list[Path]]
EVIL = "<img src=x onerror=\"document.title='owned'\">"
"""A phrase, and the name of a model."""
WORLDS = {
    "pairs": ("cafe", "--n", "8", "--dose", "0.5:1:0.5", "--controls", "--size", "128"),
    "crowd": ("cafe", "--n", "8", "--crowd", "2", "--size", "128"),
    "quads": ("halluseg", "--n", "6", "--size", "128"),
    "exam": ("reactbench", "--n", "8", "--size", "128"),
    "clean": ("clean", "--n", "6", "--size", "128"),
}
MODELS = {
    "pairs": ("nano-base", "nano-cft", "agent:nano-base+scripted:accept"),
    "crowd": ("nano-base", "always-yes"),
    "quads": ("nano-base", "oracle"),
    "exam": ("blind", "random", "oracle"),
    "clean": ("nano-base", "nano-cft"),
}


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """The runs on a world, made when they are first asked for."""
    root, known = tmp_path_factory.mktemp("explored"), dict[str, list[Path]]()

    def runs(name: str) -> list[Path]:
        if name not in known:
            bench = root / f"bench-{name}"
            words = ["--preset", *WORLDS[name], "--out", str(bench), "--workers", "1"]
            assert cli.run(["world", "build", *words]) == 0
            if name == "pairs":
                _with_evil(bench)
            known[name] = [_evaluate(bench, model, root / name) for model in MODELS[name]]
            if name == "exam":
                _with_judge(known[name][1])
        return known[name]

    return runs


def _with_evil(bench: Path) -> None:
    """Give the first misleading phrase of a set a name that is an attack."""
    found = folder.read(bench)
    items = list(found.items)
    place = next(k for k, item in enumerate(items) if not item.present)
    items[place] = msgspec.structs.replace(items[place], query=EVIL)
    changed = msgspec.structs.replace(found, items=tuple(items))
    bench.rename(bench.with_name(f"{bench.name}-plain"))
    folder.write(changed, bench, images_from=bench.with_name(f"{bench.name}-plain") / "images")


def _with_judge(run: Path) -> None:
    """Have a judge say something about wrong answers; no verdict changes."""
    said = {"judge": "openai:judge", "judge_text": f"No lamp. {EVIL}", "cause": "SC1",
            "cause_by": "openai:judge", "cause_text": "It expects a lamp."}  # fmt: skip
    replace_predictions(run, [
        msgspec.structs.replace(each, **said) for each in read_predictions(run)
        if each.verdict == "wrong"
    ])  # fmt: skip


def _evaluate(bench: Path, model: str, out: Path) -> Path:
    name = model.replace(":", "-")
    label = EVIL if model.startswith("agent") else ""
    more: dict[str, Any] = {"mode": "both"} if bench.name.endswith("exam") else {}
    gf.evaluate(bench, model, out=out / name, bootstrap=100, label=label, **more)
    return out / name


@pytest.fixture(scope="session")
def board_of(made: Runs) -> Callable[[str], Board]:
    """The board of the runs on a world."""
    known: dict[str, Board] = {}

    def board(name: str) -> Board:
        if name not in known:
            [shelf] = read_boards(made(name))
            known[name] = shelf.board
        return known[name]

    return board


def names(board: Board, places: Sequence[int]) -> list[str]:
    """Entries by name."""
    return [board.names[int(place)].as_py() for place in places]
