"""`groundfault audit`: the command, its exit codes and page, and input that is no good."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.audit.scripted import PHRASES, Scripted, write_pictures
from tests.conftest import Ran
from tests.runner.plug_ins import PlugIn

import groundfault as gf
from groundfault.errors import DataError, GroundfaultError, UsageError
from groundfault.io.phrases import read_phrases

TOML = """
exclusive = [["a", "b"]]
absent = ["z"]
same = [["s1", "s2"]]
part_of = [["p", "w"]]
"""
SCRIPTED = """
class Model:
    def segment(self, image, phrases):
        import os, sys
        sys.path.insert(0, {root!r})
        from tests.audit.scripted import Scripted
        if os.environ.get("ASKED_LOG"):
            with open(os.environ["ASKED_LOG"], "a") as log:
                log.write(f"{{image[0, 0, 0]}}\\n")
        return Scripted().segment(image, phrases)

class Nothing:
    def segment(self, image, phrases):
        return [as_prediction([], []) for phrase in phrases]

def load(argument, options):
    return Nothing() if argument == "nothing" else Model()
"""
ROOT = str(Path(__file__).parents[2])


@pytest.fixture
def command(tmp_path: Path, plug_in: PlugIn, run: Callable[..., Ran]) -> Callable[..., Ran]:
    """Audit four pictures with the scripted model as a plug-in."""
    plug_in.write(SCRIPTED.format(root=ROOT))
    images = write_pictures(tmp_path / "photographs")
    (tmp_path / "p.toml").write_text(TOML)

    def audit(*more: object) -> Ran:
        return run(
            "audit", "--images", images, "--phrases", tmp_path / "p.toml", "--model", "mine",
            "--out", tmp_path / "out", "--stability", 0, "--counterfactuals", 0,
            "--bootstrap", 100, *more,
        )  # fmt: skip

    return audit


def test_the_command_prints_writes_and_fails(command: Callable[..., Ran], tmp_path: Path) -> None:
    ended = command("--fail-if", "contradiction_rate>50%")
    assert ended.code == 0, ended.err
    assert "contradictions ↓" in ended.out and "33.3" in ended.out and "n 3" in ended.out
    assert "could not be judged: nothing was accepted (1)" in ended.out
    page = (tmp_path / "out" / "audit.html").read_text()
    assert "The most telling pictures" in page and "default-src 'none'" in page
    assert page.index("The most telling pictures") < page.index("Measures")
    again = command("--fail-if", "a / b:contradictions>30%")
    assert again.code == 1 and "holds: mine has 33.3" in again.err
    assert "28 of them were answered before" in again.err


def test_a_gate_names_the_model_that_has_no_value(command: Callable[..., Ran]) -> None:
    ended = command("--model", "none=mine:nothing", "--fail-if", "contradiction_rate>30%")
    assert ended.code == 2
    assert "holds: mine has 33.3" in ended.err
    assert "none: --fail-if 'contradiction_rate>30%': contradiction_rate is undefined" in ended.err


def test_events_for_machines(command: Callable[..., Ran]) -> None:
    ended = command("--json", "--model", "second=mine")
    events = [json.loads(line) for line in ended.out.splitlines()]
    assert [each["event"] for each in events if each["event"] != "progress"] == [
        "started", "finished", "started", "finished", "audited",
    ]  # fmt: skip
    rate = events[-1]["comparison"]["rows"]["Overall"]["contradiction_rate"]
    assert rate["mine"]["value"] == rate["second"]["value"] == pytest.approx(1 / 3)
    assert events[-1]["comparison"]["tests"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--fail-if", "contradiction_rte>1%"], "Did you mean 'contradiction_rate'"),
        (["--change", "mirrord"], "Did you mean 'mirrored'"),
        (["--edit", "surfaces"], "Did you mean 'surface'"),
        (["--masks", "nan-base"], "nano-base"),
        (["--model", "mine"], "would share a folder"),
        (["--t", "50"], "scores go from 0 to 1"),
        (["--thing", "dog"], "go with --propose"),
    ],
)
def test_requests_that_make_no_sense(
    command: Callable[..., Ran], tmp_path: Path, words: list[str], said: str
) -> None:
    ended = command(*words)
    assert ended.code == 2 and said in ended.err
    assert not (tmp_path / "out" / "runs").exists()


def test_what_is_missing_is_named(run: Callable[..., Ran], tmp_path: Path) -> None:
    assert "--images" in run("audit").err
    ended = run(
        "audit", "--images", tmp_path / "none", "--phrases", tmp_path / "none.toml",
        "--model", "random", "--out", tmp_path / "out",
    )  # fmt: skip
    assert ended.code == 2 and "cannot be read" in ended.err


def audit(images: Path, out: Path, **more: Any) -> Any:
    options = {"stability": 2, "counterfactuals": 0, "bootstrap": 0, "page": False, **more}
    return gf.audit(images, PHRASES, Scripted(), out, **options)


def test_broken_and_hostile_pictures(tmp_path: Path) -> None:
    images = write_pictures(tmp_path / "photographs")
    (images / "text.jpg").write_text("no picture")
    (images / "empty.png").touch()
    whole = (images / "0.png").read_bytes()
    (images / "cut.png").write_bytes(whole[: len(whole) // 2])
    outside = tmp_path / "secret.png"
    Image.fromarray(np.full((64, 64, 3), 9, np.uint8)).save(outside)
    (images / "link.png").symlink_to(outside)
    (images / "<img src=x onerror=alert(1)>.png").write_bytes((images / "3.png").read_bytes())
    (images / "3.png").unlink()
    found = audit(images, tmp_path / "out", page=True)
    [result] = found.results.values()
    notes = " ".join(result.summary.notes)
    assert "4 files are no readable pictures, left out: cut.png" in notes
    assert "link.png" in notes and "and 1 more" in notes
    assert result.summary.rows["Overall"].metrics["contradiction_rate"].value == pytest.approx(
        1 / 3
    )
    page = found.page.read_text()
    assert "<img src=x" not in page and "&lt;img src=x" in page
    assert not any("secret" in path.name for path in (tmp_path / "out").rglob("*"))


def test_places_that_cannot_be(tmp_path: Path) -> None:
    images = write_pictures(tmp_path / "photographs")
    with pytest.raises(UsageError, match="inside of the photographs"):
        audit(images, images / "out")
    (tmp_path / "nothing").mkdir()
    with pytest.raises(UsageError, match="has no photographs"):
        audit(tmp_path / "nothing", tmp_path / "out")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "a.png").touch()
    with pytest.raises(UsageError, match="not one picture"):
        audit(tmp_path / "bad", tmp_path / "out")


def test_a_set_that_was_changed_by_hand(tmp_path: Path) -> None:
    audit(write_pictures(tmp_path / "photographs"), tmp_path / "out", stability=0)
    path = tmp_path / "out" / "set" / "audit.json"
    content = json.loads(path.read_text())
    for change, said in (
        (lambda c: c["pictures"][0].update(file="../../secret.png"), "no plain file name"),
        (lambda c: c["pictures"].append(c["pictures"][0]), "twice"),
        (lambda c: c["pictures"][0].update(height_px=0), "pixels"),
        (lambda c: c.update(version=9), "version 9"),
        (lambda c: c["phrases"].update(exclusive=[["a", "a"]]), "twice"),
    ):
        spoiled = json.loads(json.dumps(content))
        change(spoiled)
        path.write_text(json.dumps(spoiled))
        with pytest.raises(DataError, match="Remedy") as problem:
            gf.load("audit", set=path.parent)
        assert said in str(problem.value)


class Broken:
    def segment(self, image: np.ndarray, phrases: list[str]) -> list[Any]:
        raise RuntimeError("no memory of that kind")


def test_a_model_that_never_answers(tmp_path: Path) -> None:
    images = write_pictures(tmp_path / "photographs")
    with pytest.raises(GroundfaultError, match="not one question was answered"):
        gf.audit(images, PHRASES, Broken(), tmp_path / "out", stability=0, counterfactuals=0)


def test_other_commands_know_an_audit(
    command: Callable[..., Ran], run: Callable[..., Ran], tmp_path: Path
) -> None:
    assert command().code == 0
    folder = tmp_path / "out" / "runs" / "mine"
    assert run("score", folder, "--t", "0.3", "--bootstrap", 0).code == 0
    swept = run("sweep", folder, "--t", "0.3,0.5", "--tau", "0.5", "--json")
    assert swept.code == 0, swept.err
    assert "Overall along t, τ 0.5" in run("sweep", folder, "--t", "0.3,0.5").out  # as it is scored
    assert run("status", tmp_path / "out" / "runs").code == 0
    assert run("report", folder, "--out", tmp_path / "again.html").code == 0
    assert run("eval", tmp_path / "out" / "set", "--model", "random:1", "--out",
               tmp_path / "more", "--bootstrap", 0).code == 0  # fmt: skip


def test_kill_9_loses_nothing_but_what_is_in_flight(
    tmp_path: Path, plug_in: PlugIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed again and again, an audit ends as one that was not, and asks again only what was under
    way."""
    slow = SCRIPTED.replace("return Scripted()", "import time; time.sleep(0.05); return Scripted()")
    plug_in.write(slow.format(root=ROOT))
    images = write_pictures(tmp_path / "photographs", range(16))
    (tmp_path / "p.toml").write_text(TOML)
    log = tmp_path / "asked.log"
    environment = {
        **os.environ, "ASKED_LOG": str(log),
        "PYTHONPATH": os.pathsep.join([str(plug_in.folder), *filter(None, sys.path)]),
    }  # fmt: skip

    def words(out: str) -> list[str]:
        return [
            sys.executable, "-m", "groundfault.cli", "audit", "--images", str(images),
            "--phrases", str(tmp_path / "p.toml"), "--model", "mine", "--out", str(tmp_path / out),
            "--stability", "4", "--change", "mirrored", "--change", "brightened",
            "--counterfactuals", "0", "--bootstrap", "0",
        ]  # fmt: skip

    kills = 2
    for _ in range(kills):
        before = log.stat().st_size if log.exists() else 0
        process = subprocess.Popen(
            words("out"), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while process.poll() is None and (log.stat().st_size if log.exists() else 0) <= before + 6:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
    subprocess.run(words("out"), env=environment, check=True, capture_output=True)
    n_asked = len(log.read_text().splitlines())
    n_pictures = 16 + 4 * 2
    assert n_pictures <= n_asked <= n_pictures + kills
    log.unlink()
    subprocess.run(words("whole"), env=environment, check=True, capture_output=True)
    assert len(log.read_text().splitlines()) == n_pictures
    ours, theirs = (gf.open_run(tmp_path / out / "runs" / "mine") for out in ("out", "whole"))
    assert ours.summary.rows == theirs.summary.rows


def test_phrases_are_proposed(run: Callable[..., Ran], tmp_path: Path) -> None:
    out = tmp_path / "p.toml"
    ended = run("audit", "--propose", out, "--thing", "dog", "--thing", "sofa")
    assert ended.code == 0 and "read it before you use it" in ended.err
    found = read_phrases(out)
    assert ("dog", "cat") in found.exclusive and ("sofa", "couch", "settee") in found.same
    assert run("audit", "--propose", out).code == 2  # never over a file that somebody wrote in
    coco = {
        "images": [{"id": 1, "file_name": "1.png", "width": 8, "height": 8}],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 4, 4], "area": 16,
             "iscrowd": 0, "segmentation": [[0, 0, 4, 0, 4, 4, 0, 4]]},
        ],
        "categories": [
            {"id": 1, "name": "horse"}, {"id": 2, "name": "zebra"}, {"id": 3, "name": "kite"},
        ],
    }  # fmt: skip
    (tmp_path / "coco.json").write_text(json.dumps(coco))
    second = tmp_path / "coco.toml"
    assert run("audit", "--propose", second, "--from-coco", tmp_path / "coco.json").code == 0
    proposed = read_phrases(second)
    assert proposed.phrases == ("horse",) and proposed.absent == ("zebra", "kite")
    assert proposed.exclusive == (("horse", "zebra"),)
