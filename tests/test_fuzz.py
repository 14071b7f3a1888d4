"""Damaged files end in a result or in one error message, never in a traceback: some of it here,
hours by `make fuzz`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import ALL
from tests.fuzz.__main__ import fuzz
from tests.fuzz.examples import CELLS

pytest.importorskip("skia", reason="the examples are rendered")


def test_every_command_holds_damaged_files_of_every_format(tmp_path: Path) -> None:
    fuzzer = fuzz(each=200 if ALL else 1000, seconds=3600 if ALL else 10, seed=7, folder=tmp_path)
    assert not fuzzer.troubles, "\n".join(map(str, fuzzer.troubles))
    assert fuzzer.counts.total() >= len(CELLS)
    assert fuzzer.refused.total() > fuzzer.counts.total() / 10
