"""The documentation builds offline and refuses what is dead."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="the documentation needs the extra docs")

ROOT = Path(__file__).parent.parent


def build(docs: Path, out: Path) -> subprocess.CompletedProcess[str]:
    command = ["-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", str(docs), str(out)]
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


def test_every_command_and_name_is_in_the_reference(site: Path) -> None:
    import groundfault
    from groundfault.cli.app import COMMANDS

    commands = (site / "built" / "reference" / "made" / "commands.html").read_text()
    assert [name for name in COMMANDS if f"groundfault {name}" not in commands] == []
    python = (site / "built" / "reference" / "made" / "python.html").read_text()
    assert [name for name in groundfault._WHERE if f".{name}" not in python] == []


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    for page in (site / "built").rglob("*.html"):
        loaded = re.findall(
            r"<(?:script|link|img)[^>]+(?:src|href)=.(https?://[^>]+)", page.read_text()
        )
        assert loaded == [], page.name


def test_a_dead_link_is_an_error(site: Path, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    shutil.copytree(site / "docs" / "site", tmp_path / "docs" / "site")
    shutil.copy(site / "docs" / "conf.py", tmp_path / "docs")
    for link in ("nowhere.md", "../nowhere.py"):
        (tmp_path / "docs" / "index.md").write_text(f"# A\n\n[a]({link})\n")
        ran = build(tmp_path / "docs", tmp_path / "built")
        assert ran.returncode != 0 and "nowhere" in ran.stderr, ran.stderr
