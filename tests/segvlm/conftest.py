"""What the tests of trained segmenters share: one import of the libraries, checkpoints, quads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.models.conftest import transformers
from tests.segvlm import tiny

__all__ = ["transformers"]


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory, transformers: Any) -> Callable[[str], str]:
    """Tiny checkpoints on disk by name, each written once."""
    for library in ("peft", "accelerate"):
        pytest.importorskip(library, reason="the extra 'segvlm' brings it")
    root = tmp_path_factory.mktemp("tiny")

    def folder(name: str) -> str:
        where = root / name
        if not where.exists():
            build = tiny.DECODERS.get(name) or tiny.CURES.get(name) or (lambda: tiny.vlm(name))
            tiny.saved(where, build())
        return str(where)

    return folder


@pytest.fixture(scope="session")
def quads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three quads to learn from."""
    drawn = [("red", "blue", 8, 30), ("green", "yellow", 34, 10), ("blue", "green", 20, 20)]
    return tiny.write_quads(tmp_path_factory.mktemp("data") / "quads", drawn)


@pytest.fixture(scope="session")
def held_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two quads to be measured on."""
    drawn = [("yellow", "red", 2, 4), ("red", "green", 38, 36)]
    return tiny.write_quads(tmp_path_factory.mktemp("data") / "held-out", drawn, ground=90)


@pytest.fixture
def refer(tmp_path: Path) -> Path:
    """REFER's folder of its own for each test."""
    return tiny.write_refer(tmp_path)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDFAULT_CACHE", str(tmp_path / "cache"))
