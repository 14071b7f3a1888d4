"""Every command of the tutorial runs, and what the pages show is what comes out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("skia", reason="the tutorial draws scenes")

TUTORIAL = Path(__file__).parent.parent / "docs" / "tutorial"
PAGES = [page.stem for page in sorted(TUTORIAL.glob("*.md"))]
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^ *```", re.S | re.M)


def blocks(page: str, language: str) -> list[str]:
    """The blocks of a language, as they would stand at the margin."""
    found = BLOCK.findall((TUTORIAL / f"{page}.md").read_text())
    return [
        re.sub(f"^{indent}", "", text, flags=re.M)
        for indent, name, text in found
        if name == language
    ]


def steps(page: str) -> list[tuple[str, list[str]]]:
    """Commands, each with the lines that the page shows of it."""
    found: list[tuple[str, list[str]]] = []
    for line in "".join(blocks(page, "console")).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.strip() != "…":
            found[-1][1].append(line)
    return found


def plain(text: str) -> str:
    return " ".join(text.replace("−", "-").split())


@pytest.mark.parametrize("page", [page for page in PAGES if steps(page)])
def test_what_a_page_shows_is_what_comes_out(page: str, tmp_path: Path) -> None:
    for text in blocks(page, "python"):
        name = re.match(r"# (\w+\.py)\n", text)
        if name is not None:
            (tmp_path / name[1]).write_text(text)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, started in (("groundfault", "-m groundfault.cli"), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {started} "$@"\n')
        (programs / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    for command, shown in steps(page):
        ran = subprocess.run(
            command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert ran.returncode == 0, (command, ran.stderr)
        came = plain(ran.stdout)
        for line in shown:
            assert plain(line) in came, (command, line, ran.stdout)


def test_pages_with_commands_are_as_many_as_they_were() -> None:
    """A page whose blocks are no longer found would pass by being empty."""
    assert sum(len(steps(page)) for page in PAGES) >= 12
