"""The first two minutes of a newcomer, on a smaller world."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime", reason="the demo runs the nano models (extra nano)")

ROOT = Path(__file__).parent.parent


def test_the_demo_shows_one_model_hallucinating_and_another_not(tmp_path: Path) -> None:
    out = tmp_path / "demo"
    ran = subprocess.run(
        ["sh", "examples/demo.sh"],
        cwd=ROOT,
        env={**os.environ, "OUT": str(out), "N": "24", "BIN": str(Path(sys.executable).parent)},
        capture_output=True,
        text=True,
        timeout=3600,
    )
    assert ran.returncode == 0, ran.stderr
    for words in ("nano-base", "nano-cft", "oracle", "published", "SAM", "dIoU", "CMS"):
        assert words in ran.stdout, words
    page = (out / "report.html").read_text()
    assert len(page) < 15_000_000
    told = re.sub(r"<[^>]+>", "", page)
    assert re.search("nano-(base|cft) accepts the misleading phrase in", told)  # not the oracle
    assert (out / "interventions.png").is_file()
