"""The commands of examples/gate.yml, in order and as a runner's shell has them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parent.parent / "examples" / "gate.yml"
REFUSED = 1
"""What a gate that is not met ends with."""


def test_its_commands_run_and_the_gate_decides(tmp_path: Path) -> None:
    """On fewer cases, so the model may pass or not; another gate certainly refuses it."""
    steps = re.findall(r"^ *- run: (groundfault .*)$", EXAMPLE.read_text(), re.MULTILINE)
    build, ask, report = steps
    assert "--n 240" in build and '--fail-if "AFPR>0.2"' in ask
    scripts = Path(sys.executable).parent
    assert shutil.which("groundfault", path=scripts)
    path = {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}

    def shell(line: str) -> int:
        environment = {**os.environ, **path, "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.run(
            ["sh", "-ec", line], cwd=tmp_path, env=environment, capture_output=True, check=False
        ).returncode

    assert shell(build.replace("--n 240", "--n 6 --size 96")) == 0
    assert shell(ask) in (0, REFUSED)
    assert shell(ask.replace("AFPR>0.2", "AFPR>=0").replace("--out runs", "--out again")) == REFUSED
    assert shell(report) == 0
    assert (tmp_path / "report.html").is_file()
