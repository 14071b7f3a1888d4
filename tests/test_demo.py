"""The first minutes of a newcomer, on a smaller world."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image
from tests.conftest import Ran

from groundfault import cli
from groundfault.reports.stories import EDITS
from groundfault.reports.terminal_pictures import drawn

N = 12


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    out = tmp_path_factory.mktemp("demo") / "demo"
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        assert cli.run(["demo", "--out", str(out), "--n", str(N), "--workers", "1"]) == 0
    return out, told.getvalue()


def test_the_demo_tells_a_story_on_one_screen(made: tuple[Path, str]) -> None:
    out, told = made
    lines = told.replace(str(out), "demo").splitlines()
    assert len(lines) < 40 and max(map(len, lines)) <= 110
    for words in ("nano-base", "nano-cft", "recall@0.50", "IL-FPR", "CMS_counterfact"):
        assert words in told, words
    (found,) = (line for line in lines if line.startswith("finds what is there"))
    assert len(re.findall(r"\[[\d.]+, [\d.]+\]", found)) == 2
    assert sum(line.startswith("     ") for line in lines) >= 4


def test_the_demo_leaves_report_tables_and_pictures(made: tuple[Path, str]) -> None:
    out, told = made
    page = (out / "report.html").read_text()
    assert len(page) < 15_000_000
    words = re.sub(r"<[^>]+>", "", page)
    assert re.search("nano-(base|cft) accepts the misleading phrase in", words)  # not the oracle
    assert "blind" in (out / "tables.txt").read_text()
    with Image.open(out / "interventions.png") as sheet:
        assert sheet.width > 300
    if "which is not there" in told:
        with Image.open(out / "case.png") as case:
            assert case.width > 3 * case.height


def test_a_demo_that_was_ended_goes_on_and_another_is_refused(
    made: tuple[Path, str], run: Callable[..., Ran]
) -> None:
    out, told = made
    (out / "runs" / "edited" / "blind" / "summary.json").unlink()
    again = run("demo", "--out", out, "--n", N, "--workers", 1)
    assert (again.code, again.out) == (0, told)
    other = run("demo", "--out", out, "--n", N + 1)
    assert other.code == 2 and "--out" in other.err


def test_every_kind_of_edit_has_words() -> None:
    tags = {"positive": "vase", "surface": "leopard", "context": "room", "category": "cat"}
    for kind in ("SM", "CC", "OC"):
        assert "{" not in EDITS[kind].format_map({**tags, "material": "bronze"})


def test_a_picture_in_a_terminal_has_two_pixels_to_a_character(tmp_path: Path) -> None:
    Image.new("RGB", (40, 20), (1, 2, 3)).save(tmp_path / "a.png")
    lines = drawn(tmp_path / "a.png", 10).splitlines()
    assert len(lines) == 2  # 40 x 20 becomes 10 x 5: two rows of halves, rounded
    assert lines[0].count("▀") == 10 and "38;2;1;2;3;48;2;1;2;3m" in lines[0]
