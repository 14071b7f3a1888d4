"""Selections taken elsewhere, and the guard that keeps evaluated pictures out of training."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image

import groundfault as gf
from groundfault.benchmarks import folder
from groundfault.errors import UsageError
from groundfault.reports.page.drawing import standalone
from groundfault.runs.run import read_run
from groundfault.training.segvlm.guard import find_leaks
from groundfault.training.segvlm.recipe import DataSet, Guard
from groundfault.training.segvlm.sources import pictures_of, source_of
from groundfault.web.explore import training
from groundfault.web.explore.answers import Answers
from groundfault.web.explore.board import Board, Point
from groundfault.web.explore.exports import as_csv, as_ids, new_place, write_benchmark
from groundfault.web.explore.figure import selection_figure
from groundfault.web.explore.training import Leaks, write_training_list

Boards = Callable[[str], Board]
Runs = Callable[[str], list[Path]]


def test_ids_and_csv(board_of: Boards) -> None:
    board = board_of("pairs")
    places = [2, 0, 5]
    names = [board.names[place].as_py() for place in places]
    assert as_ids(board, places).splitlines() == names
    rows = list(csv.DictReader(io.StringIO(as_csv(board, places, Point(0.2, 0.3)))))
    assert [row["entry"] for row in rows] == names
    ends = board.ends(Point(0.2, 0.3))
    for row, place in zip(rows, places, strict=True):
        assert row["nano-cft p⁺"] == board.sides["p⁺"][ends[1]["p⁺"][place]]
        assert row["p⁻"] == board.asked(place)[1].words


def test_no_cell_is_a_formula(board_of: Boards, monkeypatch: pytest.MonkeyPatch) -> None:
    board = board_of("pairs")
    facet = board.facets["p⁺ phrase"]
    evil = ("=HYPERLINK(1)", "@x", "-2+3", *facet.labels[3:])
    monkeypatch.setitem(board.facets, "p⁺ phrase", facet._replace(labels=evil))
    cells = [
        c for row in csv.reader(io.StringIO(as_csv(board, range(len(board)), Point()))) for c in row
    ]
    assert "'=HYPERLINK(1)" in cells and "'-2+3" in cells
    assert not any(cell.startswith(("=", "@")) for cell in cells)


def test_a_selection_is_a_benchmark(board_of: Boards, made: Runs, tmp_path: Path) -> None:
    for kind, model in (("pairs", "nano-base"), ("quads", "nano-base"), ("exam", "blind")):
        board = board_of(kind)
        places = [0, 1, 4]
        out = tmp_path / kind
        write_benchmark(board, places, out, how="by hand")
        found = gf.load(out)
        wanted = {asked.item_id for place in places for asked in board.items(place)}
        assert {item.id for item in found.items} == wanted
        more = {"mode": "both"} if kind == "exam" else {}
        run = gf.evaluate(out, model, out=tmp_path / f"run-{kind}", bootstrap=0, **more)
        before = gf.open_run(made(kind)[0])
        mine = {each.key: (each.outcome, each.parsed) for each in run.predictions()}
        theirs = {each.key: (each.outcome, each.parsed) for each in before.predictions()}
        assert mine and mine.items() <= theirs.items()
    assert "by hand" in folder.read(tmp_path / "pairs").card.about
    with pytest.raises(UsageError, match="nothing is selected"):
        write_benchmark(board_of("pairs"), [], tmp_path / "none", how="")
    assert not (tmp_path / "none").exists()


def test_names_of_exports(tmp_path: Path) -> None:
    assert new_place(tmp_path, "hard-1.0") == tmp_path / "hard-1.0"
    for name in ("", ".", "..", "../x", "a/b", "a\\b", "-x", "x" * 99, "a\n"):
        with pytest.raises(UsageError):
            new_place(tmp_path, name)
    (tmp_path / "there").mkdir()
    with pytest.raises(UsageError, match="already"):
        new_place(tmp_path, "there")


def write(board: Board, places: list[int], out: Path, **options: object) -> dict[str, object]:
    usual: dict[str, object] = {"point": Point(), "link": "q=x", "others": {}, "allow": True}
    return write_training_list(board, places, out, **{**usual, **options})  # type: ignore[arg-type]


def test_what_is_evaluated_is_not_trained_on(board_of: Boards, tmp_path: Path) -> None:
    board = board_of("pairs")
    with pytest.raises(Leaks, match="2 cases are in") as refused:
        write(board, [0, 1], tmp_path / "list", allow=False)
    assert refused.value.leaks[0].cases == 2 and not (tmp_path / "list").exists()


def test_a_training_list_that_is_allowed(board_of: Boards, tmp_path: Path) -> None:
    board = board_of("pairs")
    out = tmp_path / "list"
    about = write(board, [0, 4], out)
    lines = [json.loads(line) for line in (out / "train.jsonl").read_text().splitlines()]
    images = Path(json.loads((out / "about.json").read_text())["images"])
    assert about["items"] == len(lines) == 4 and about["leaks_allowed"]
    for line in lines:
        [name], [digest] = line["images"], line["images_sha256"]
        assert sha256((images / name).read_bytes()).hexdigest() == digest
        assert line["present"] is (line["role"] == "positive") and line["target"]["counts"]
        assert bool(line.get("masks")) is line["present"]
    place = board.place(lines[0]["case_id"])
    wrong = np.flatnonzero(board.right(Point(), "both right")[:, place] == 0)
    assert lines[0].get("failed_by", []) == [board.runs[k].name for k in wrong]


def test_what_is_held_out_shares_no_picture_and_no_origin(
    board_of: Boards, made: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = board_of("pairs")
    write(board, [0], tmp_path / "list")
    held = set((tmp_path / "list" / "held-out.txt").read_text().split())
    kin = {
        board.case_ids[int(k)].as_py() for k in np.flatnonzero(board.cluster == board.cluster[0])
    }
    every = set(board.case_ids.to_pylist())
    assert len(kin) == 3 and held == every - kin
    # the same picture under another name, and one that merely looks the same
    bench = Path(read_run(made("pairs")[0]).benchmark_folder)
    pictures = {item.case_id: item.image for item in folder.read(bench).items}
    mine = bench / "images" / pictures[board.case_ids[0].as_py()]
    copied, alike = (bench / "images" / pictures[case] for case in sorted(held)[:2])
    kept = {path: path.read_bytes() for path in (copied, alike)}
    try:
        shutil.copyfile(mine, copied)
        with Image.open(mine) as picture:
            picture.convert("RGB").resize((100, 100)).save(alike, "JPEG", quality=60)
        write(board, [0], tmp_path / "again")
        monkeypatch.setattr(training, "LOOKED_AT", 0)
        write(board, [0], tmp_path / "bytes")
    finally:
        for path, content in kept.items():
            path.write_bytes(content)
    again, by_content = (
        set((tmp_path / name / "held-out.txt").read_text().split()) for name in ("again", "bytes")
    )
    assert again == held - set(sorted(held)[:2]) and by_content == held - {sorted(held)[0]}


def test_our_trainer_takes_what_is_written(board_of: Boards, tmp_path: Path) -> None:
    """The recipe's lines are data that its guard does not refuse."""
    write(board_of("pairs"), [0, 4], tmp_path / "hard")
    given = msgspec.toml.decode((tmp_path / "hard" / "data.toml").read_bytes())
    [learnt] = msgspec.convert(given["sources"], tuple[DataSet, ...])
    [measured] = msgspec.convert(given["evaluation"]["sets"], tuple[DataSet, ...])
    source = source_of(learnt)
    assert sum(map(len, source.strata.values())) == 4
    pictures = [pictures_of(each) for each in (learnt, measured)]
    assert all(pictures) and find_leaks(*pictures, bits=Guard().bits) == []


def test_other_evaluated_sets_are_named(board_of: Boards, made: Runs, tmp_path: Path) -> None:
    other = gf.load(read_run(made("pairs")[0]).benchmark_folder)
    board = board_of("pairs")
    with pytest.raises(Leaks) as refused:
        write(board, [0], tmp_path / "list", allow=False, others={"the other": other})
    assert [leak.evaluated for leak in refused.value.leaks][1:] == ["the other"]
    exam = gf.load(read_run(made("exam")[0]).benchmark_folder)
    about = write(board, [0], tmp_path / "fine", others={"exam": exam})
    assert len(about["leaks_allowed"]) == 1  # type: ignore[arg-type]


def test_questions_as_training_data(board_of: Boards, tmp_path: Path) -> None:
    write(board_of("exam"), [0, 1, 2], tmp_path / "list")
    lines = [
        json.loads(line) for line in (tmp_path / "list" / "train.jsonl").read_text().splitlines()
    ]
    assert len(lines) == 2 and lines[0]["answer"]["reference"] in ("yes", "no")


@pytest.mark.parametrize("kind", ["pairs", "quads", "exam"])
def test_figures(board_of: Boards, kind: str) -> None:
    from xml.etree import ElementTree

    board = board_of(kind)
    answers = [Answers(run, board.sources) for run in board.runs]
    figure = selection_figure(board, answers, [0, 1], Point(), title="<Mine>")
    svg = standalone(figure)
    root = ElementTree.fromstring(svg)
    images = root.findall(".//{http://www.w3.org/2000/svg}image")
    each = {"pairs": 2 * 4, "quads": 4 * 3, "exam": 1}[kind]
    assert len(images) == 2 * each and "&lt;Mine&gt;" in svg
    assert "onerror" not in "".join(str(e.attrib) for e in root.iter())
    with pytest.raises(UsageError, match="nothing is selected"):
        selection_figure(board, answers, [], Point(), title="")
