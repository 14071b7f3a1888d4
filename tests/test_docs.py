"""The documentation builds offline, says every field, and refuses what is dead."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sphinx", reason="the documentation needs the extra docs")

ROOT = Path(__file__).parent.parent
MADE = Path("built") / "reference" / "made"


def build(docs: Path, out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = ["-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", str(docs), str(out), *more]
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, beside the files that its pages name."""
    base = tmp_path_factory.mktemp("site")
    leave = shutil.ignore_patterns("_built", "made", "__pycache__")
    shutil.copytree(ROOT / "docs", base / "docs", ignore=leave)
    for name in ("src", "tests", "bench", "examples", "recipes", "requirements"):
        (base / name).symlink_to(ROOT / name)
    for file in ROOT.glob("*.*"):
        if file.is_file():
            (base / file.name).symlink_to(file)
    ran = build(base / "docs", base / "built")
    assert ran.returncode == 0, ran.stderr
    return base


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What makes the pages, importable as Sphinx has it."""
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "site"))
    import command_lines
    import format_pages
    import part_pages

    return {"formats": format_pages, "parts": part_pages, "commands": command_lines}


def test_every_command_and_name_is_in_the_reference(site: Path) -> None:
    import groundfault
    from groundfault.cli.app import COMMANDS

    commands = (site / MADE / "commands.html").read_text()
    assert [name for name in COMMANDS if f"groundfault {name}" not in commands] == []
    assert "groundfault score cafe" in commands and "groundfault sweep saco" in commands
    python = (site / MADE / "python.html").read_text()
    assert [name for name in groundfault._WHERE if f".{name}" not in python] == []


def test_every_field_of_every_format_has_words(tools: Any) -> None:
    found = list(tools["formats"].documented())
    assert [(record, field.name) for record, field in found if not field.words] == []
    assert len(found) > 500
    for options in ("ScoreOptions", "EvaluateOptions"):
        for field in tools["formats"].fields(f"groundfault.api.options:{options}"):
            assert field.words, (options, field.name)


def test_every_benchmark_and_model_has_a_page_that_says_what_was_run(site: Path) -> None:
    from groundfault.registry import KINDS
    from groundfault.workers import SCRIPTS

    benchmarks = [f"benchmarks/{name}" for name in KINDS["benchmarks"]]
    scripts = [f"models/worker-{name.replace('_', '-')}" for name in SCRIPTS]
    models = [f"models/{name}" for name in KINDS["models"]]
    for name in (*benchmarks, *models, *scripts):
        page = (site / MADE / f"{name}.html").read_text()
        assert "Run by us" in page and "licence" in page, name


def test_commands_on_all_pages_exist(tools: Any) -> None:
    from typer.main import get_command

    from groundfault.cli.app import build_app

    pages = [*tools["parts"].benchmark_pages(), *tools["parts"].model_pages()]
    made = {line for _, page in pages for line in tools["commands"].commands_of("\n".join(page))}
    written = {line for _, line in tools["commands"].shown(ROOT / "docs")}
    assert len(made) > 60 and len(written) > 90
    for line in made | written:
        words = shlex.split(line)[1:]
        command: Any = get_command(build_app(words))
        while hasattr(command, "commands") and words:
            command = command.commands[words.pop(0)]
        known = {name for parameter in command.params for name in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= known, line


def test_remarks_stand_above_lines_that_are_long(tools: Any) -> None:
    long = f"groundfault list {'x' * 60}"
    page = f"```\n{long}    # so\ngroundfault doctor   # and so\n```\n"
    moved = f"```\n# so\n{long}\n# and so\ngroundfault doctor\n```\n"
    assert tools["commands"].remarks_above(page) == moved
    short = "```\ngroundfault doctor   # and so\n```\n"
    assert tools["commands"].remarks_above(short) == short


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    for page in (site / "built").rglob("*.html"):
        loaded = re.findall(
            r"<(?:script|link|img)[^>]+(?:src|href)=.(https?://[^>]+)", page.read_text()
        )
        assert loaded == [], page.name
    for sheet in (site / "built" / "_static").rglob("*.css"):
        assert not re.findall(r"url\(['\"]?(?:https?:)?//", sheet.read_text()), sheet.name


def test_a_dead_link_is_an_error(site: Path, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    shutil.copy(site / "docs" / "conf.py", tmp_path / "docs")
    shutil.copytree(site / "docs" / "site", tmp_path / "docs" / "site")
    broken = "# A\n\n[a](nowhere.md)\n\n[b](#nowhere)\n"
    for text in (broken, "# A\n\n[a](../nowhere.py)\n"):
        (tmp_path / "docs" / "index.md").write_text(text)
        ran = build(tmp_path / "docs", tmp_path / "built", "-D", "made_pages=0")
        assert ran.returncode != 0 and "nowhere" in ran.stderr, ran.stderr
