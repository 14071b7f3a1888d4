"""A plug-in with a segmenter, importable until the test ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.runner.plug_ins import PlugIn


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlugIn:
    monkeypatch.setenv("GROUNDFAULT_CACHE", str(tmp_path / "cache"))
    return PlugIn(tmp_path / "plug-in", monkeypatch)
