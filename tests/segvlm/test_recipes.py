"""The shipped recipe, as it is, on miniatures of everything it names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.segvlm.miniature import write_all

pytest.importorskip("torch", reason="training needs torch")
pytest.importorskip("safetensors", reason="training needs safetensors")
pytestmark = pytest.mark.xdist_group("transformers")

DEFAULT = Path(__file__).parents[2] / "recipes" / "robustseg" / "default.toml"
OWN = """
base = "{base}"
steps = 1
[model]
vlm = "{vlm}"
decoder = "{decoder}"
max_tokens = 2
[optimiser]
batch = 31
threads = 1
checkpointing = false
[guard]
leave_out = {leave_out}
"""


@pytest.fixture
def recipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkpoint: Callable[[str], str]
) -> Callable[[str], Path]:
    """The recipe with tiny checkpoints, where its data is."""
    write_all(tmp_path / "data")
    monkeypatch.chdir(tmp_path)

    def written(leave_out: str) -> Path:
        path = tmp_path / "r.toml"
        names = {"vlm": checkpoint("qwen3_vl"), "decoder": checkpoint("sam2")}
        path.write_text(OWN.format(base=DEFAULT, leave_out=leave_out, **names))
        return path

    return written


def test_the_default_recipe_runs_on_the_formats_that_it_names(
    run: Any, recipe: Callable[[str], Path], tmp_path: Path
) -> None:
    refused = run("train", "segvlm", recipe("false"), "--out", "out", "--dry-run")
    assert refused.code == 2
    assert "2 pictures are learnt from and measured on" in refused.err
    assert "COCO image 3" in refused.err and "guard.leave_out" in refused.err

    found = run("train", "segvlm", recipe("true"), "--out", "out", "--dry-run", "--json").json

    shares = {each["name"]: round(31 * each["share"], 1) for each in found["sources"]}
    assert shares == {
        "refcoco": 4, "refcoco+": 4, "refcocog": 4, "llava-vqa": 2, "fp-refcoco": 3,
        "reasonseg": 12, "halluseg-refer": 1, "halluseg-reason-v1": 0.5, "halluseg-reason-v2": 0.5,
    }  # fmt: skip
    left_out = {each["name"]: each["left_out"] for each in found["sources"] if each["left_out"]}
    assert left_out == {"refcocog": 2, "llava-vqa": 1}

    ended = run("train", "segvlm", recipe("true"), "--out", "out")

    assert ended.code == 0, ended.err
    evaluations = tmp_path / "out" / "training" / "evaluations"
    before, after = (evaluations / "refcoco-val" / f"step-00000{n}" for n in (0, 1))
    for name in ("fp-refcoco-val", "halluseg-refer-seg", "halluseg-reason-seg-test"):
        assert (evaluations / name / after.name / "summary.json").is_file()
    summary = json.loads((after / "summary.json").read_text())
    assert summary["rows"]["Overall"]["metrics"]["Segment"]["n"] > 0
    assert run("compare", before, after).code == 0
