"""Inspect AI and lmms-eval by their own command lines, against a server on loopback, beside ours.

`groundfault eval`, `inspect eval` and `lmms-eval eval` ask one server the same exam and the same
questions of POPE; every number that a harness prints is the one in our summary.json. Needs the
harnesses: docs/exports.md says how.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from tests.exports.parts import Pupil, flat
from tests.llm.chat_server import ChatServer
from tests.models.tiny import torchvision_cpu

from groundfault.analysis.summary import read_results
from groundfault.exports.lmms_eval import export_lmms_eval
from groundfault.records import Benchmark

STAND_IN = Path(torchvision_cpu.__file__)
"""torchvision of PyPI cannot load its operators beside a torch for CPUs, and lmms-eval imports it
whatever the model is."""


@dataclass(frozen=True)
class Asked:
    """What all three command lines ask, and what ours found."""

    inspect: tuple[str, ...]
    lmms: str
    shown: frozenset[str]
    """Names that no harness may leave out."""
    benchmark: Benchmark
    data: Path
    url: str
    ours: dict[str, float]


def call(*words: object, cwd: Path, **more: str) -> str:
    """A command in a folder and an environment of its own; what it printed."""
    unset = ("OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")
    kept = {name: value for name, value in os.environ.items() if name not in unset}
    kept |= {"PYTHONPATH": os.pathsep.join(sys.path), "OPENAI_API_KEY": "sk-none"}
    ran = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=cwd,
        env=kept | more,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-5000:]
    return ran.stdout


def our_numbers(benchmark: Benchmark, url: str, place: Path, *words: object) -> dict[str, float]:
    """Of `groundfault eval`, which some question fails."""
    if importlib.util.find_spec("aiohttp") is None:
        pytest.skip("needs groundfault[asking]")
    asked = ("--model", "openai:tiny", "--base-url", url, "--bootstrap", 0, "--out", "runs")
    stored = {"GROUNDFAULT_RESPONSES": str(place / "responses.sqlite")}
    call("-m", "groundfault.cli", "eval", *words, *asked, cwd=place, **stored)
    (run,) = (place / "runs").iterdir()
    summary, _ = read_results(run)
    assert 0 < summary.outcomes["failed"] < len(benchmark.items)
    return flat(summary)


@pytest.fixture(scope="module", params=["exam", "pope"])
def asked(
    request: pytest.FixtureRequest,
    exam: Benchmark,
    pope_benchmark: Benchmark,
    pope_folder: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Asked]:
    place = tmp_path_factory.mktemp("ours")
    if request.param == "exam":
        with ChatServer(Pupil(exam)) as server:
            yield Asked(
                inspect=("groundfault/exam", "-T", f"folder={exam.folder}", "-T", "mode=both"),
                lmms="groundfault_exam_both",
                shown=frozenset(
                    {"react_score", "accuracy_std", "accuracy_cot", "cot_effect"}
                    | {"yes_rate", "unparsed_rate"}
                ),
                benchmark=exam,
                data=Path(exam.folder),
                url=server.url,
                ours=our_numbers(exam, server.url, place, exam.folder, "--mode", "both"),
            )
        return
    files = ("pope", "--data", pope_folder, "--images", exam.images)
    with ChatServer(Pupil(pope_benchmark)) as server:
        yield Asked(
            inspect=(
                *("groundfault/pope", "-T", f"folder={pope_folder}"),
                *("-T", f"images={exam.images}"),
            ),
            lmms="groundfault_pope",
            shown=frozenset({"accuracy", "precision", "recall", "F1", "yes_ratio"})
            | {"unparsed_rate", "random_F1", "popular_F1"},
            benchmark=pope_benchmark,
            data=pope_folder,
            url=server.url,
            ours=our_numbers(pope_benchmark, server.url, place, *files),
        )


def test_inspect_eval_prints_our_numbers(asked: Asked, tmp_path: Path) -> None:
    for needed in ("inspect_ai", "openai"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"needs groundfault[inspect] and openai; {needed} is not installed")
    if not entry_points(group="inspect_ai", name="groundfault"):
        pytest.skip("groundfault was installed without its entry points; install it again")
    model = ("--model", "openai/tiny", "--model-base-url", asked.url, "-M", "responses_api=false")
    how = ("--log-format", "json", "--log-dir", "logs", "--display", "plain", "--no-fail-on-error")
    call("-m", "inspect_ai", "eval", *asked.inspect, *model, *how, cwd=tmp_path)
    (log,) = (tmp_path / "logs").glob("*.json")
    told = json.loads(log.read_bytes())
    assert told["status"] == "success", told.get("error")
    (scored,) = told["results"]["scores"]
    found = {name: metric["value"] for name, metric in scored["metrics"].items()}
    assert set(found) >= asked.shown
    assert found == {name: pytest.approx(asked.ours[name], abs=1e-9) for name in found}


def test_lmms_eval_prints_our_numbers(asked: Asked, tmp_path: Path) -> None:
    if importlib.util.find_spec("lmms_eval") is None:
        pytest.skip("needs groundfault[lmms-eval]")
    export_lmms_eval(asked.benchmark, asked.data, tmp_path / "tasks")
    (tmp_path / "sitecustomize.py").write_text(STAND_IN.read_text() + "\n\nmake_importable()\n")
    first = os.pathsep.join([str(tmp_path), *sys.path])
    own = {"HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1", "PYTHONPATH": first}
    task = ("--include_path", "tasks", "--tasks", asked.lmms)
    model = ("--model", "openai", "--model_args")
    given = f"model_version=tiny,base_url={asked.url},max_retries=1"
    words = ("eval", *task, *model, given, "--output_path", "out", "--log_samples")
    call("-m", "lmms_eval", *words, cwd=tmp_path, **own)
    (results,) = (tmp_path / "out").rglob("*_results.json")
    found = {
        key.removesuffix(",none"): value
        for key, value in json.loads(results.read_bytes())["results"][asked.lmms].items()
        if key.endswith(",none") and "stderr" not in key and not math.isnan(value)
    }
    assert set(found) >= asked.shown
    assert found == {name: pytest.approx(asked.ours[name], abs=1e-9) for name in found}
