"""Boards of descriptions and of yes/no questions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import groundfault as gf
from groundfault.benchmarks import folder
from groundfault.io.masks import encode
from groundfault.records import Answer, Benchmark, Card, Case, Item, Region, Role
from groundfault.web.explore.answers import Answers
from groundfault.web.explore.board import Board, Point
from groundfault.web.explore.boards import read_boards
from groundfault.web.explore.cases import case_view
from groundfault.web.explore.confusion import confusion

N = 8


def card(protocol: str) -> Card:
    return Card(
        name=f"mine-{protocol}", protocol=protocol, title=protocol, source="", licence="",
        citation="", main_metric="",
    )  # fmt: skip


def written(where: Path, protocol: str, items: list[Item]) -> Path:
    """A benchmark with grey pictures."""
    (where / "raw").mkdir()
    for name in {item.image for item in items}:
        Image.new("RGB", (32, 32), (120, 130, 140)).save(where / "raw" / name)
    cases = tuple(Case(id=name) for name in dict.fromkeys(item.case_id for item in items))
    made = Benchmark(card=card(protocol), cases=cases, items=tuple(items))
    folder.write(made, where / "bench", images_from=where / "raw")
    return where / "bench"


def board_of(bench: Path, models: tuple[str, ...], **options: object) -> Board:
    runs = []
    for model in models:
        out = bench.parent / model.replace(":", "-")
        gf.evaluate(bench, model, out=out, bootstrap=50, **options)
        runs.append(out)
    [shelf] = read_boards(runs)
    for run, sums in zip(shelf.board.runs, shelf.board.own_sums, strict=True):
        for row, content in run.summary.rows.items():
            values = sums.values(shelf.board.rows[row]) if row in shelf.board.rows else {}
            for metric, value in values.items():
                expected = content.metrics[metric].value
                assert value == (None if expected is None else pytest.approx(expected, abs=1e-12))
    return shelf.board


def test_descriptions(tmp_path: Path) -> None:
    pixels = np.zeros((32, 32), bool)
    pixels[4:20, 6:22] = True
    region, items = Region(encode(pixels)), []
    for k in range(N):
        false = k % 2 == 1
        items.append(
            Item(
                id=f"q{k}",
                case_id=f"c{k}",
                role=Role.NEGATIVE if false else Role.POSITIVE,
                images=(f"{k}.png",),
                height_px=32,
                width_px=32,
                query="the red mug" if false else "the blue mug",
                regions=() if false else (region,),
                target=region,
                answer=Answer(type="SA", reference="the blue mug") if false else None,
            )
        )
    board = board_of(written(tmp_path, "referring", items), ("oracle", "always-yes"))
    assert board.kind == "queries" and not board.has_t
    right = board.right(Point(), "existence right")
    assert right[0].tolist() == [1] * N and right[1].tolist() == [1, 0] * (N // 2)
    found = confusion(board, np.ones(N, bool), Point())
    [pair] = [each for each in found.pairs if sum(each.n)]
    assert (pair.there, pair.asked, pair.taken) == ("the blue mug", "the red mug", (0, N // 2))
    case = case_view(board, [Answers(run, board.sources) for run in board.runs], 1, Point())
    [question] = case.questions
    assert question.truth == "the blue mug" and question.present is False
    assert [said.right for said in question.said] == [True, False]
    assert question.said[1].end == "false premise accepted" and question.said[1].masks


def test_yes_or_no(tmp_path: Path) -> None:
    items = [
        Item(
            id=f"popular:{k}", case_id=f"{k // 2}", role=Role.QUESTION, images=(f"{k // 2}.png",),
            height_px=32, width_px=32, query=f"Is there a {'cat' if k % 2 else 'dog'}?",
            answer=Answer(type="YN", reference="no" if k % 2 else "yes", dimension="popular"),
        )
        for k in range(N)
    ]  # fmt: skip
    bench = written(tmp_path, "yes-no", items)
    board = board_of(bench, ("oracle", "always-yes", "random"), mode="std")
    assert board.kind == "questions" and len(board) == N and "truth" in board.facets
    right = board.right(Point(), "answer right")
    assert right[0].tolist() == [1] * N and right[1].tolist() == [1, 0] * (N // 2)
    assert board.said(1, 0) == {"answer": "yes"}
    case = case_view(board, [Answers(run, board.sources) for run in board.runs], 1, Point())
    assert case.questions[0].truth == "no" and len(case.questions[0].said) == 3
    assert [question.open for question in case.questions] == [True, False]
