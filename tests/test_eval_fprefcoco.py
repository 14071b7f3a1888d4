"""`eval fprefcoco` from the command line and from Python, to the report and the comparison."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.conftest import Ran
from tests.test_fprefcoco import HEIGHT, LEFT, RIGHT, WIDTH, described, instances, refs, rle

import groundfault as gf
from groundfault.io.masks import encode
from groundfault.records import Outcome, Prediction

Command = Callable[..., Ran]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Refs of three splits, the instances they point to, and their picture."""
    more = [
        {
            **refs()[1],
            "split": "testB",
            "sentences": [
                {"sent": "both dogs"},
                {"sent": "both pigs", "is_false_premise": True, "gt_sent": "both dogs"},
            ],
        },
        {**refs()[1], "ref_id": 13, "sentences": [{"sent": "two dogs"}]},
    ]
    (tmp_path / "refs.json").write_text(json.dumps([*described(), *more]))
    (tmp_path / "instances.json").write_text(json.dumps(instances()))
    Image.fromarray(np.full((HEIGHT, WIDTH, 3), 200, np.uint8)).save(tmp_path / "a.jpg")
    return tmp_path


def data(files: Path) -> list[object]:
    return [
        "fprefcoco", "--annotations", files / "refs.json", "--annotations",
        files / "instances.json", "--images", files,
    ]  # fmt: skip


def answers(files: Path) -> Path:
    """Finds everything, denies with and without a word more."""
    path = files / "said.json"
    records: list[dict[str, Any]] = [
        {"image_id": "10:0", "score": 1.0, "segmentation": rle(LEFT)},
        {"image_id": "10:1", "outcome": "abstained", "text": "No cat, just a dog."},
        {"image_id": "10:2", "outcome": "abstained", "text": "There is no pig."},
        {"image_id": "11:0", "score": 1.0, "segmentation": rle(LEFT | RIGHT)},
        {"image_id": "11:1", "outcome": "abstained", "text": "No pigs; both dogs."},
        {"image_id": "13:0", "score": 1.0, "segmentation": rle(LEFT | RIGHT)},
    ]
    path.write_text(json.dumps(records))
    return path


@pytest.mark.parametrize(
    ("subset", "n_items", "say"),
    [("val", 5, 1 / 3), ("testA", 1, None), ("testB", 2, 1.0), ("test", 3, 1.0)],
)
def test_subsets(run: Command, files: Path, subset: str, n_items: int, say: float | None) -> None:
    ran = run(
        "eval", *data(files), "--subset", subset, "--model", f"replay:{answers(files)}",
        "--bootstrap", 0, "--out", files / "runs", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    finished = json.loads(ran.out.splitlines()[-1])
    assert finished["answered"] == n_items
    overall = finished["summary"]["rows"]["Overall"]["metrics"]
    assert overall["See"]["value"] == 1.0
    assert overall["Say"]["value"] == (None if say is None else pytest.approx(say))
    assert finished["summary"]["data"]["subset"] == subset
    scored = run(
        "score", *data(files)[:5], "--subset", subset, "--predictions", answers(files),
        "--bootstrap", 0, "--json",
    )  # fmt: skip
    assert scored.json["rows"]["Overall"]["metrics"]["Say"] == overall["Say"]


def test_tables_report_and_comparison(run: Command, files: Path) -> None:
    models = ("--model", "oracle", "--model", f"replay:{answers(files)}", "--model", "always-yes")
    ran = run("eval", *data(files), *models, "--bootstrap", 50, "--out", files / "runs")
    assert ran.code == 0, ran.err
    assert "Say" in ran.out and "testB" in ran.out
    runs = sorted((files / "runs").iterdir())
    says = {path.name: json.loads((path / "summary.json").read_text()) for path in runs}
    values = {
        name: [found["rows"]["Overall"]["metrics"][m]["value"] for m in ("See", "Say", "Segment")]
        for name, found in says.items()
    }
    assert values["oracle"] == [1.0, 1.0, 1.0]
    replayed = next(value for name, value in values.items() if name.startswith("replay"))
    assert replayed == [1.0, 0.5, 1.0]
    assert values["always-yes"][1] is None, "it says nothing"
    compared = run("compare", *runs, "--metric", "See", "--metric", "Say", "--bootstrap", 50)
    assert compared.code == 0, compared.err
    assert "Say" in compared.out
    page = files / "report.html"
    assert run("report", *runs, "--out", page).code == 0
    text = page.read_text()
    assert "Say" in text and "rejected, without saying what is there" in text
    assert "said “There is no pig.”; there is “the left dog”" in text


def test_other_subsets_are_other_data(run: Command, files: Path) -> None:
    for subset in ("val", "test"):
        out = files / subset
        ran = run(
            "eval", *data(files), "--subset", subset, "--model", "oracle", "--bootstrap", 0,
            "--out", out,
        )  # fmt: skip
        assert ran.code == 0, ran.err
    ran = run("compare", files / "val" / "oracle", files / "test" / "oracle", "--bootstrap", 10)
    assert ran.code == 2, ran.out


def test_an_unknown_subset_ends_with_2(run: Command, files: Path) -> None:
    ran = run("eval", *data(files), "--subset", "vla", "--model", "oracle", "--out", files / "x")
    assert ran.code == 2
    assert "no ref is of the subset 'vla'. Known: testA, testB, val, test." in ran.err
    ran = run("eval", "cafe", "--annotations", "x", "--subset", "val", "--model", "oracle",
              "--out", files / "x")  # fmt: skip
    assert ran.code == 2
    assert "--subset does not go with cafe" in ran.err


class Speaker:
    """A segmenter that denies everything and names a dog."""

    def segment(self, image: Any, phrases: Any) -> list[Prediction]:
        text = "There is nothing like that, but a dog is on the left."
        return [Prediction(item_id="", outcome=Outcome.ABSTAINED, text=text) for _ in phrases]


class Strict:
    """A judge that accepts nothing but word for word, and keeps what it was shown."""

    def __init__(self) -> None:
        self.shown: list[tuple[str, str, str]] = []

    def judge(self, question: str, answer: str, rubric: str) -> bool | None:
        self.shown.append((question, answer, rubric))
        return None if "pig" in question else "the left dog" in answer


def test_python_and_a_judge_of_ones_own(files: Path) -> None:
    benchmark = gf.load(
        "fprefcoco",
        annotations=[files / "refs.json", files / "instances.json"],
        images=files,
        subset="val",
    )
    judge = Strict()
    result = gf.evaluate(benchmark, Speaker(), files / "run", judge=judge, bootstrap=0)
    metrics = result.summary.rows["Overall"].metrics
    assert metrics["Say"].value == 1.0, "by rule: a dog, on the left"
    assert (metrics["Say_judge"].value, metrics["Say_judge"].n) == (0.0, 2)
    assert result.summary.bounds["Overall"]["Say_judge"] == (0.0, 1 / 3), "one was left open"
    assert sorted(question for question, _, _ in judge.shown) == [
        "the left cat", "the left pig", "the right cat",
    ]  # fmt: skip
    assert all("reference describes what is there" in rubric for _, _, rubric in judge.shown)
    scored = gf.score(
        "fprefcoco",
        annotations=[files / "refs.json", files / "instances.json"],
        subset="test",
        predictions=answers(files),
        bootstrap=0,
    )
    assert scored.summary.rows["testB"].metrics["Say"].value == 1.0


class Yea(Speaker):
    """Marks everything and agrees."""

    def segment(self, image: Any, phrases: Any) -> list[Prediction]:
        mask = encode(np.ones(image.shape[:2], bool))
        return [
            Prediction(item_id="", outcome=Outcome.OK, masks=(mask,), scores=(1.0,), text="Sure.")
            for _ in phrases
        ]


def test_who_accepts_everything_needs_no_judge_to_be_wrong(files: Path) -> None:
    benchmark = gf.load(
        "fprefcoco", annotations=[files / "refs.json", files / "instances.json"], images=files
    )
    judge = Strict()
    result = gf.evaluate(benchmark, Yea(), files / "run", judge=judge, bootstrap=0)
    metrics = result.summary.rows["Overall"].metrics
    assert (metrics["Say"].value, metrics["Say_judge"].value) == (0.0, 0.0)
    assert metrics["Say"].n == metrics["Say_judge"].n == 4
    assert judge.shown == []


def test_a_judge_does_not_go_with_masks_alone(run: Command, files: Path) -> None:
    ran = run(
        "eval", "cafe", "--annotations", "x", "--judge", "openai:x", "--model", "oracle",
        "--out", files / "x",
    )  # fmt: skip
    assert (ran.code, "--judge does not go with cafe" in ran.err) == (2, True)
    ran = run("eval", *data(files), "--mode", "cot", "--model", "oracle", "--out", files / "x")
    assert (ran.code, "--mode does not go with fprefcoco" in ran.err) == (2, True)
