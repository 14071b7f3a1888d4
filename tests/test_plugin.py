"""The example plug-in, installed by pip and asked by the program in a process of its own."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from groundfault.benchmarks import folder
from groundfault.io.masks import encode
from groundfault.records import Benchmark, Card, Case, Item, Region, Role

PLUGIN = Path(__file__).parent.parent / "examples" / "plugin"
PROGRAM = (sys.executable, "-m", "groundfault.cli")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package as pip installs it, from no index."""
    for tool in ("pip", "setuptools"):
        if importlib.util.find_spec(tool) is None:
            pytest.skip(f"{tool} is not installed")
    where = tmp_path_factory.mktemp("plugin")
    shutil.copytree(PLUGIN, where / "source")  # building leaves files behind
    command = [
        sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation",
        "--no-index", "--disable-pip-version-check", "--target", where / "packages",
        where / "source",
    ]  # fmt: skip
    ended = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    assert ended.returncode == 0, ended.stderr
    return where / "packages"


def coloured_set(where: Path) -> Path:
    """A red and a blue square, each asked for its colour and for one that is not there."""
    (where / "source").mkdir()
    cases, items = [], []
    for name, colour in (("red", (200, 30, 30)), ("blue", (40, 60, 200))):
        pixels = np.full((48, 64, 3), 230, np.uint8)
        pixels[10:30, 20:50] = colour
        Image.fromarray(pixels).save(where / "source" / f"{name}.png")
        region = Region(encode((pixels != 230).any(axis=2)))
        cases.append(Case(id=name, intervention="SM"))
        for role, query in ((Role.POSITIVE, f"{name} square"), (Role.NEGATIVE, "green square")):
            items.append(
                Item(
                    id=f"{name}-{role}",
                    case_id=name,
                    role=role,
                    images=(f"{name}.png",),
                    height_px=48,
                    width_px=64,
                    query=query,
                    regions=(region,) if role is Role.POSITIVE else (),
                    target=region,
                )
            )
    card = Card(name="cafe", title="", source="", licence="", citation="", main_metric="cgF1")
    made = Benchmark(card=card, cases=tuple(cases), items=tuple(items))
    folder.write(made, where / "benchmark", images_from=where / "source")
    return where / "benchmark"


def program(installed: Path, *words: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(installed), "OMP_NUM_THREADS": "1"}
    command = [*PROGRAM, *map(str, words)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1800)


def test_it_is_listed_and_evaluated(installed: Path, tmp_path: Path) -> None:
    listed = json.loads(program(installed, "list", "models", "--json").stdout)["models"]
    assert {"colour-words", "oracle"} <= {row["name"] for row in listed}
    [row] = [row for row in listed if row["name"] == "colour-words"]
    assert (row["what"], row["lives in"]) == ("plug-in", "colour_words:load")

    data = coloured_set(tmp_path)
    ended = program(
        installed, "eval", data, "--model", "colour-words", "--model", "colour-words:20",
        "--bootstrap", 0, "--out", tmp_path / "runs", "--json", "--fail-if", "failed>0",
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    finished = [json.loads(line) for line in ended.stdout.splitlines() if "finished" in line]
    assert [event["model"] for event in finished] == ["colour-words", "colour-words:20"]
    for event in finished:
        metrics = event["summary"]["rows"]["Overall"]["metrics"]
        assert event["outcomes"] == {"ok": 2, "abstained": 2, "unparsed": 0, "failed": 0}
        assert metrics["AFPR"]["value"] == 0.0 and metrics["cgF1"]["value"] > 0.99


def test_without_it_the_name_is_unknown(tmp_path: Path) -> None:
    ended = program(tmp_path, "eval", tmp_path, "--model", "colour-words", "--out", tmp_path / "r")
    assert ended.returncode == 2 and "unknown model 'colour-words'" in ended.stderr


def test_it_is_short() -> None:
    assert len((PLUGIN / "colour_words.py").read_text().splitlines()) <= 45
