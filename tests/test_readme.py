"""What the README and the recipes say is what the program does."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from groundfault.analysis.summary import summarise
from groundfault.cli.app import build_app
from groundfault.config import OPERATING_POINTS, ScoreSettings, load_toml
from groundfault.io.example import write_example
from groundfault.reports.summaries import summary_table
from groundfault.reports.tables import render

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
SCORING = (ROOT / "docs" / "scoring.md").read_text()


def test_the_first_table_is_the_example(tmp_path: Path) -> None:
    from groundfault.benchmarks import cafe
    from groundfault.io.coco import read_coco_results
    from groundfault.matching.overlaps import compare_predictions
    from groundfault.protocols import concepts

    paths = write_example(tmp_path)
    benchmark = cafe.read([paths["annotations"]])
    file = paths["gullible"]
    overlaps = compare_predictions(benchmark, read_coco_results(file))
    scored = concepts.score(benchmark, overlaps, t=0.5, tau=0.3, iou="segm", variant="parity")
    metrics = ("cgF1", "IL_MCC", "positive_micro_F1", "IL-FPR", "AFPR", "ACSR")
    table = summary_table(summarise(scored, bootstrap=10_000, seed=0), metrics)
    lines = [line for line in render(table, "markdown").splitlines() if line.startswith("|")]
    shown = re.search(r"<!-- table: example -->\n(.*?)\n<!-- end -->", SCORING, re.S)
    assert shown is not None
    assert shown[1].splitlines() == lines


def commands() -> list[str]:
    """Every `groundfault …` line of code blocks, without its remark."""
    blocks = re.findall(r"```\n(.*?)```", README + SCORING, re.S)
    lines = [line.split("   ")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("groundfault ")]


@pytest.mark.parametrize("line", commands())
def test_commands_of_the_readme_exist(line: str) -> None:
    """Each names a command and options that it has."""
    from typer.main import get_command

    words = shlex.split(line.split(" #")[0])[1:]
    command = get_command(build_app(words))
    while words and hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    known = {name for parameter in command.params for name in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known


def test_recipes_are_the_published_operating_points() -> None:
    recipes = {file.stem: file for file in (ROOT / "recipes" / "cafe").glob("*.toml")}
    assert set(recipes) == set(OPERATING_POINTS)
    for name, file in recipes.items():
        settings = load_toml(file, ScoreSettings)
        assert settings == ScoreSettings(t=OPERATING_POINTS[name], variant="parity")
