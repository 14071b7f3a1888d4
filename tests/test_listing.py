"""What `groundfault list` says."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.conftest import Ran

from groundfault.models.checkpoints import DEFAULTS
from groundfault.models.worker import scripts
from groundfault.workers import SCRIPTS

Run = Callable[..., Ran]


def test_models_come_with_the_licence_of_their_weights(run: Run) -> None:
    rows = {row["name"]: row for row in run("list", "models", "--json").json["models"]}
    assert rows["sam3"]["weights' licence"] == "SAM License (gated)"
    assert rows["yolo-world"]["weights' licence"] == "AGPL-3.0 + Apache-2.0"
    assert rows["oracle"]["weights' licence"] == "no weights"
    assert rows["nano-cft"]["weights' licence"] == "Apache-2.0"
    assert all(row["weights' licence"] for row in rows.values()) and {*DEFAULTS} < {*rows}
    assert (rows["sam3"]["published t"], rows["clipseg"]["published t"]) == ("0.5", "")


def test_every_script_that_ships_is_listed_as_the_page_says(run: Run) -> None:
    rows = {row["name"]: row for row in run("list", "models", "--json").json["models"]}
    page = (Path(__file__).parents[1] / "docs" / "workers.md").read_text()
    assert {*SCRIPTS} == {*scripts()}
    for name, script in SCRIPTS.items():
        assert rows[f"worker:{name}"]["weights' licence"] == script.licence
        [line] = [line for line in page.splitlines() if line.startswith(f"| `{name}` |")]
        assert f"| {script.code}; {script.weights} |" in line
    assert rows["worker:openseed"]["published t"] == "0.15"


def test_listing_imports_nothing_heavy() -> None:
    program = (
        "import sys; from groundfault import cli; cli.run(['list', 'models']); "
        "heavy = {'torch', 'transformers', 'huggingface_hub', 'onnxruntime', 'numpy'}; "
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "SAM License (gated)" in ended.stdout
