"""A run that is killed before any single file operation ends, when it goes on, as one that never
was: the same numbers, every item asked, nothing left lying about."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import ALL

from groundfault import cli
from groundfault.runs.recorder import read_predictions

pytest.importorskip("skia", reason="the benchmark is rendered")
if not hasattr(signal, "SIGKILL"):
    pytest.skip("needs SIGKILL", allow_module_level=True)

POINTS = 10_000 if ALL else 5
"""How many of the points are tried, spread evenly."""
KILLED_AT = Path(__file__).with_name("killed_at.py")


def evaluation(benchmark: Path, out: Path) -> list[str]:
    words = ["eval", benchmark, "--model", "random:5", "--bootstrap", 20, "--out", out]
    return list(map(str, words))


def killed(at: int, words: list[str]) -> subprocess.CompletedProcess[str]:
    """A command that is killed before its n-th file operation; at 0 it counts them."""
    command = [sys.executable, str(KILLED_AT), str(at), *words]
    return subprocess.run(command, capture_output=True, text=True)


def result(folder: Path) -> Any:
    summary = json.loads((folder / "summary.json").read_bytes())
    keys = sorted(each.key for each in read_predictions(folder))
    return summary["rows"], summary["outcomes"], keys


@pytest.mark.parametrize("preset", ["cafe", "reactbench"])
def test_a_run_killed_anywhere_ends_as_if_it_never_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, preset: str
) -> None:
    monkeypatch.setattr("groundfault.io.store.LEFT_S", -1.0)  # the dead are swept at once
    benchmark, clean = tmp_path / preset, tmp_path / "clean"
    build = ["world", "build", "--preset", preset, "--n", "2", "--size", "96", "--workers", "1"]
    assert cli.run([*build, "--out", str(benchmark)]) == 0
    ended = killed(0, evaluation(benchmark, clean))
    assert ended.returncode == 0, ended.stderr
    n_operations = int(ended.stdout.split()[-1])
    assert n_operations > 10
    for point in range(1, n_operations + 1, -(-n_operations // POINTS)):
        out = tmp_path / str(point)
        words = evaluation(benchmark, out)
        assert killed(point, words).returncode == -signal.SIGKILL
        assert cli.run(words) == 0, point
        assert result(out / "random-5") == result(clean / "random-5"), point
        left = [path.name for path in (out / "random-5").glob(".*")]
        assert not left, (point, left)
