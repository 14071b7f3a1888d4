"""The example plug-in, one of each, installed by pip and used by the program in processes of its
own and from Python."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

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
        "--no-index", "--no-compile", "--disable-pip-version-check",
        "--target", where / "packages", where / "source",
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


def _path(installed: Path) -> str:
    """The plug-in beside whatever is on the path already."""
    return os.pathsep.join(filter(None, [str(installed), os.environ.get("PYTHONPATH", "")]))


def program(installed: Path, *words: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": _path(installed), "OMP_NUM_THREADS": "1"}
    command = [*PROGRAM, *map(str, words)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1800)


def cards(where: Path) -> Path:
    """The plug-in's own format: two pictures, four phrases."""
    where.mkdir()
    for name, colour in (("red", (200, 30, 30)), ("blue", (40, 60, 200))):
        pixels = np.full((48, 64, 3), 230, np.uint8)
        pixels[10:30, 20:50] = colour
        Image.fromarray(pixels).save(where / f"{name}.png")
    lines = ("red.png\tred square\tyes", "red.png\tgreen square\tno")
    lines += ("blue.png\tblue square\tyes", "blue.png\tred square\tno")
    (where / "cards.tsv").write_text("\n".join(lines))
    return where


def finished(ended: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    """The summary of every model."""
    assert ended.returncode == 0, ended.stderr
    events = [json.loads(line) for line in ended.stdout.splitlines()]
    return {each["model"]: each["summary"] for each in events if each["event"] == "finished"}


def value(summary: dict[str, Any], metric: str) -> float:
    found: float = summary["rows"]["Overall"]["metrics"][metric]["value"]
    return found


KINDS = {
    "models": "colour-words",
    "benchmarks": "colour-cards",
    "protocols": "presence",
    "metrics": "margin",
    "judges": "shared-words",
    "editors": "invert",
}


def test_one_of_each_is_listed_and_sound(installed: Path) -> None:
    listed = json.loads(program(installed, "list", "--json").stdout)
    for kind, name in KINDS.items():
        [row] = [row for row in listed[kind] if row["name"] == name]
        assert row["what"] == "plug-in"
    health = json.loads(program(installed, "doctor", "--json").stdout)
    states = {row["what"]: row["state"] for row in health}
    for kind, name in KINDS.items():
        assert states[f"{kind.removesuffix('s')} {name}"] == "ok"


def test_a_model_and_a_metric_on_concept_pairs(installed: Path, tmp_path: Path) -> None:
    data = coloured_set(tmp_path)
    ended = program(
        installed, "eval", data, "--model", "colour-words", "--model", "colour-words:20",
        "--bootstrap", 0, "--out", tmp_path / "runs", "--json", "--fail-if", "failed>0",
        "--fail-if", "Margin<0.1",
    )  # fmt: skip
    found = finished(ended)
    assert list(found) == ["colour-words", "colour-words:20"]
    for summary in found.values():
        assert summary["outcomes"] == {"ok": 2, "abstained": 2, "unparsed": 0, "failed": 0}
        assert value(summary, "AFPR") == 0.0 and value(summary, "cgF1") > 0.99
        assert value(summary, "score_margin") > 0.5  # no green there: the best score under p⁻ is 0
    runs = sorted((tmp_path / "runs").iterdir())
    compared = program(
        installed, "compare", *runs, "--metric", "Margin", "--json", "--bootstrap", 9
    )
    assert "score_margin" in json.loads(compared.stdout)["rows"]["Overall"]
    page = tmp_path / "report.html"
    assert program(installed, "report", *runs, "--out", page).returncode == 0
    assert "Margin" in page.read_text() and "best score under p⁺" in page.read_text()


def test_its_model_is_checked_and_has_a_label(installed: Path, tmp_path: Path) -> None:
    checked = program(installed, "check-model", "colour-words", "--json")
    assert checked.returncode == 0, checked.stderr
    assert {each["state"] for each in json.loads(checked.stdout)} == {"ok"}
    data, runs = coloured_set(tmp_path), tmp_path / "runs"
    ended = program(
        installed, "eval", data, "--model", "colour-words", "--model", "wide=colour-words:120",
        "--bootstrap", 0, "--out", runs,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert sorted(each.name for each in runs.iterdir()) == ["colour-words", "wide"]
    assert "all models" in ended.stdout and "wide: 4 of 4 answered" in ended.stderr


def test_a_changed_package_does_not_get_its_old_answers(installed: Path, tmp_path: Path) -> None:
    package = tmp_path / "packages"
    shutil.copytree(installed, package)
    command = ("eval", coloured_set(tmp_path), "--model", "colour-words", "--bootstrap", 0, "--out")
    assert program(package, *command, tmp_path / "runs").returncode == 0
    again = program(package, *command, tmp_path / "runs")
    assert again.returncode == 0 and "4 of them were answered before" in again.stderr
    code = package / "colour_words" / "model.py"
    code.write_text(code.read_text().replace("(200, 30, 30)", "(90, 90, 90)"))
    changed = program(package, *command, tmp_path / "runs")
    assert changed.returncode == 2 and "another plug-in code" in changed.stderr
    assert program(package, *command, tmp_path / "anew").returncode == 0
    run = json.loads((tmp_path / "anew" / "colour-words" / "run.json").read_bytes())
    assert run["identity"]["plug-in"] == "colour_words 1.0"


def test_an_answer_that_breaks_a_rule_fails_alone(installed: Path, tmp_path: Path) -> None:
    package = tmp_path / "packages"
    shutil.copytree(installed, package)
    code = package / "colour_words" / "model.py"
    broken = code.read_text().replace("as_prediction([mask], [score])", "[mask, score]")
    code.write_text(broken)
    checked = program(package, "check-model", "colour-words")
    assert checked.returncode == 2 and "a list, not a Prediction" in checked.stdout
    ended = program(
        package, "eval", coloured_set(tmp_path), "--model", "colour-words", "--bootstrap", 0,
        "--out", tmp_path / "runs",
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert "2 of 4 answered" in ended.stderr and "2 failed: the model's answer is" in ended.stderr


@pytest.mark.parametrize(
    ("file", "line", "put", "command"),
    [
        ("benchmark.py", "    items: list[Item] = []", "    {}['cards']", ("inspect",)),
        ("protocol.py", "    t, place = float", "    {}['cards']", ("eval", "--model", "oracle")),
    ],
)
def test_whatever_a_plug_in_raises_has_its_kind_and_place(
    installed: Path, tmp_path: Path, file: str, line: str, put: str, command: tuple[str, ...]
) -> None:
    package = tmp_path / "packages"
    shutil.copytree(installed, package)
    code = package / "colour_words" / file
    before, found, after = code.read_text().partition(line)
    code.write_text(f"{before}{put}\n{found}{after}")
    data = cards(tmp_path / "cards")
    more = ("--out", tmp_path / "runs") if command[0] == "eval" else ()
    ended = program(package, command[0], data, *command[1:], *more)
    place = f"(at colour_words/{file}:{before.count(chr(10)) + 1})"
    assert ended.returncode == 2 and f"a plug-in raised KeyError: 'cards' {place}" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_benchmark_with_its_protocol_in_every_command(installed: Path, tmp_path: Path) -> None:
    data = cards(tmp_path / "cards")
    runs = tmp_path / "runs"
    ended = program(
        installed, "eval", data, "--model", "colour-words", "--model", "oracle", "--model", "blind",
        "--bootstrap", 9, "--out", runs, "--json", "--fail-if", "Presence<0.4",
    )  # fmt: skip
    found = finished(ended)
    assert value(found["colour-words"], "presence_accuracy") == 1
    assert value(found["oracle"], "presence_accuracy") == 1
    assert found["oracle"]["protocol"] == "presence"
    named = program(
        installed, "eval", "colour-cards", "--input", f"cards={data}", "--model", "colour-words",
        "--bootstrap", 9, "--out", tmp_path / "named", "--json",
    )  # fmt: skip
    assert value(finished(named)["colour-words"], "presence_accuracy") == 1
    compared = program(installed, "compare", *sorted(runs.iterdir()), "--json", "--bootstrap", 9)
    assert "presence_accuracy" in json.loads(compared.stdout)["rows"]["Overall"]
    page = tmp_path / "report.html"
    assert program(installed, "report", *sorted(runs.iterdir()), "--out", page).returncode == 0
    assert "Each phrase names a colour" in page.read_text()
    seen = program(installed, "inspect", data, "--json")
    assert seen.returncode == 0 and json.loads(seen.stdout)["counts"]["queries"] == 4
    folder_ = tmp_path / "folder"
    done = program(installed, "convert", data, "--to", "folder", "--out", folder_)
    assert done.returncode == 0, done.stderr
    again = program(
        installed, "eval", folder_, "--images", data, "--model", "colour-words", "--bootstrap", 9,
        "--out", tmp_path / "again", "--json",
    )  # fmt: skip
    assert value(finished(again)["colour-words"], "presence_accuracy") == 1


def test_a_dump_is_scored_by_its_protocol(installed: Path, tmp_path: Path) -> None:
    data = cards(tmp_path / "cards")
    accepted = {"image_id": "red.png:red square", "score": 0.9, "bbox": [20, 10, 30, 20]}
    wrong = {"image_id": "red.png:green square", "score": 0.8, "bbox": [20, 10, 30, 20]}
    (tmp_path / "dump.json").write_text(json.dumps([accepted, wrong]))
    ended = program(
        installed, "score", "colour-cards", "--cards", data, "--predictions",
        tmp_path / "dump.json", "--json", "--bootstrap", 0,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert value(json.loads(ended.stdout), "presence_accuracy") == 0.5  # silence is not scored


def test_a_judge_in_an_exam(installed: Path, tmp_path: Path) -> None:
    pytest.importorskip("skia")
    exam = tmp_path / "exam"
    built = program(installed, "world", "build", "--preset", "reactbench", "--n", 4, "--out", exam)
    assert built.returncode == 0, built.stderr
    ended = program(
        installed, "eval", exam, "--model", "oracle", "--judge", "shared-words", "--mode", "std",
        "--bootstrap", 0, "--out", tmp_path / "runs", "--json",
    )  # fmt: skip
    assert finished(ended)["oracle"]["settings"]["judge"] == ["rule", "shared-words"]


PYTHON = """
import sys
import groundfault as gf
bench = gf.load(sys.argv[1])
run = gf.evaluate(bench, "colour-words", out=sys.argv[2], bootstrap=0)
print(run.summary.rows["Overall"].metrics["presence_accuracy"].value)
"""


def test_from_python(installed: Path, tmp_path: Path) -> None:
    data = cards(tmp_path / "cards")
    environment = {**os.environ, "PYTHONPATH": _path(installed), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", PYTHON, str(data), str(tmp_path / "run")]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1800)
    assert ended.stdout.strip() == "1.0", ended.stderr


def test_without_it_the_name_is_unknown(tmp_path: Path) -> None:
    data = coloured_set(tmp_path)
    ended = program(tmp_path, "eval", data, "--model", "colour-words", "--out", tmp_path / "r")
    assert ended.returncode == 2 and "unknown model 'colour-words'" in ended.stderr


def test_each_is_short() -> None:
    for path in (PLUGIN / "colour_words").glob("*.py"):
        assert len(path.read_text().splitlines()) <= 90, path.name
