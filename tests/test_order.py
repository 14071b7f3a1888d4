"""The files that are begun first are there, so that a renamed one does not fall behind."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import LONG

ROOT = Path(__file__).parent.parent


def test_long_files_are_there() -> None:
    assert len(set(LONG)) == len(LONG)
    assert [name for name in LONG if name.endswith(".py") and not (ROOT / name).is_file()] == []


def test_long_groups_are_there() -> None:
    marks = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    for name in LONG:
        assert name.endswith(".py") or f'xdist_group("{name}")' in marks
