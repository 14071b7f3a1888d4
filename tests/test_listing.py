"""What `groundfault list` says."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

from tests.conftest import Ran

from groundfault.models.checkpoints import DEFAULTS

Run = Callable[..., Ran]


def test_models_come_with_the_licence_of_their_weights(run: Run) -> None:
    rows = {row["name"]: row for row in run("list", "models", "--json").json["models"]}
    assert rows["sam3"]["weights' licence"] == "SAM License (gated)"
    assert rows["yolo-world"]["weights' licence"] == "AGPL-3.0 + Apache-2.0"
    assert rows["oracle"]["weights' licence"] == ""
    assert all(rows[name]["weights' licence"] for name in DEFAULTS)
    assert (rows["sam3"]["published t"], rows["clipseg"]["published t"]) == ("0.5", "")


def test_listing_imports_nothing_heavy() -> None:
    program = (
        "import sys; from groundfault import cli; cli.run(['list', 'models']); "
        "heavy = {'torch', 'transformers', 'huggingface_hub', 'onnxruntime', 'numpy'}; "
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "SAM License (gated)" in ended.stdout
