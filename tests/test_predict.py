"""Models meet a benchmark: baselines have the scores that their definitions give."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from groundfault.benchmarks import cafe, folder
from groundfault.evaluate import summarise
from groundfault.example import write_example
from groundfault.masks import encode
from groundfault.models.baselines import AlwaysYes, Blind, Oracle, Random
from groundfault.predict import predict, score_run
from groundfault.records import (
    Benchmark,
    Card,
    Case,
    Estimate,
    Item,
    Outcome,
    Prediction,
    Region,
    Role,
)
from groundfault.runs import read_predictions, read_run


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    return cafe.read([write_example(tmp_path_factory.mktemp("example"), n=80)["annotations"]])


def overall(benchmark: Benchmark, model: Any, out: Path, **settings: Any) -> dict[str, Estimate]:
    predict(benchmark, model, out, name="m", images=out)
    chosen = {"t": 0.5, "tau": 0.3, "variant": "exact"} | settings
    scored = score_run(benchmark, out, **chosen)
    return summarise(scored, bootstrap=0, seed=0).rows["Overall"].metrics


def test_oracle_is_perfect(benchmark: Benchmark, tmp_path: Path) -> None:
    metrics = overall(benchmark, Oracle(), tmp_path)
    assert metrics["cgF1"].value == 1.0
    assert metrics["IL-FPR"].value == 0.0 and metrics["TA-TP"].value == 80


def test_always_yes_accepts_everything(benchmark: Benchmark, tmp_path: Path) -> None:
    metrics = overall(benchmark, AlwaysYes(), tmp_path)
    assert metrics["IL-FPR"].value == 1.0 and metrics["IL_recall"].value == 1.0
    assert metrics["IL_MCC"].value is None  # it never says no: no correlation to speak of
    assert metrics["SoftSwap"].value == 0.0


def test_blind_only_knows_the_words(benchmark: Benchmark, tmp_path: Path) -> None:
    predict(benchmark, Blind(), tmp_path, name="blind", images=tmp_path)
    scores: dict[str, set[float]] = {}
    query = {item.id: item.query for item in benchmark.items}
    for prediction in read_predictions(tmp_path):
        scores.setdefault(query[prediction.item_id], set()).add(prediction.scores[0])
    assert len(scores) > 3 and all(len(values) == 1 for values in scores.values())


def test_random_is_a_fair_and_repeatable_coin(benchmark: Benchmark, tmp_path: Path) -> None:
    first = overall(benchmark, Random(seed=1), tmp_path / "a")
    second = overall(benchmark, Random(seed=1), tmp_path / "b")
    other = overall(benchmark, Random(seed=2), tmp_path / "c")
    assert first == second and first != other
    assert 0.3 < first["IL-FPR"].value < 0.7


class _Painter:
    """A segmenter that finds red pixels for "red", fails on "boom", and counts its encodings."""

    def __init__(self) -> None:
        self.seen = 0

    def segment(self, image: Any, phrases: Sequence[str]) -> list[Prediction]:
        self.seen += 1
        if "boom" in phrases:
            raise RuntimeError("out of paint")
        found = []
        for phrase in phrases:
            red = (image[..., 0] > 200) & (image[..., 1] < 50)
            if phrase == "red" and red.any():
                mask = (encode(red),)
                answer = Prediction(item_id="", outcome=Outcome.OK, masks=mask, scores=(0.9,))
            else:
                answer = Prediction(item_id="", outcome=Outcome.ABSTAINED)
            found.append(answer)
        return found


def painted(tmp_path: Path, third: str = "blue") -> Benchmark:
    """Two pictures with a red square, asked for red and for another colour."""
    pixels = np.zeros((20, 30, 3), np.uint8)
    pixels[5:15, 5:15, 0] = 255
    (tmp_path / "images").mkdir(parents=True)
    cases, items = [], []
    for number, other in enumerate(("green", third)):
        name = f"{number}.png"
        Image.fromarray(pixels).save(tmp_path / "images" / name)
        region = Region(encode(pixels[..., 0] > 0))
        cases.append(Case(id=str(number), intervention="SM"))
        for role, query in ((Role.POSITIVE, "red"), (Role.NEGATIVE, other)):
            items.append(
                Item(
                    id=f"{number}{query}",
                    case_id=str(number),
                    role=role,
                    image=name,
                    height_px=20,
                    width_px=30,
                    query=query,
                    regions=(region,) if role is Role.POSITIVE else (),
                    target=region,
                )
            )
    card = Card(name="cafe", title="", source="", licence="", citation="", main_metric="cgF1")
    return Benchmark(card=card, cases=tuple(cases), items=tuple(items))


def test_a_segmenter_sees_each_image_once(tmp_path: Path) -> None:
    model = _Painter()
    benchmark = painted(tmp_path)
    run = tmp_path / "run"
    predict(benchmark, model, run, name="painter", images=tmp_path / "images")
    assert model.seen == 2
    metrics = (
        summarise(score_run(benchmark, run, t=0.5, tau=0.3, variant="exact"), bootstrap=0, seed=0)
        .rows["Overall"]
        .metrics
    )
    assert metrics["cgF1"].value == 1.0
    assert read_run(run).outcomes == {"ok": 2, "abstained": 2, "unparsed": 0, "failed": 0}


def test_one_bad_image_does_not_stop_the_run(tmp_path: Path) -> None:
    benchmark = painted(tmp_path, third="boom")
    run = tmp_path / "run"
    predict(benchmark, _Painter(), run, name="painter", images=tmp_path / "images")
    failed = [p for p in read_predictions(run) if p.outcome is Outcome.FAILED]
    assert len(failed) == 2 and "out of paint" in failed[0].reason
    summary = summarise(
        score_run(benchmark, run, t=0.5, tau=0.3, variant="exact"), bootstrap=0, seed=0
    )
    assert summary.rows["Overall"].metrics["AFPR"].n == 1
    assert summary.bounds["Overall"]["AFPR"] == (0.0, 0.5)


def test_eval_command(run: Any, tmp_path: Path) -> None:
    folder.write(
        painted(tmp_path / "source"), tmp_path / "b", images_from=tmp_path / "source/images"
    )
    ran = run("eval", tmp_path / "b", "--model", "oracle", "--out", tmp_path / "runs", "--json")
    assert ran.code == 0
    assert ran.json["rows"]["Overall"]["metrics"]["IL-FPR"]["value"] == 0.0
    for name in ("run.json", "predictions-00000.parquet", "summary.json", "cases.parquet"):
        assert (tmp_path / "runs" / "oracle" / name).is_file()
    ran = run("eval", tmp_path / "b", "--model", "orcle", "--out", tmp_path / "runs")
    assert ran.code == 2 and "Did you mean 'oracle'" in ran.err


def test_quads_from_stored_predictions(tmp_path: Path) -> None:
    """The oracle rejects both false corners: nothing is hallucinated."""
    factual, edited = np.zeros((10, 10), bool), np.zeros((10, 10), bool)
    factual[2:6, 2:6], edited[2:8, 2:8] = True, True
    regions = {"I": Region(encode(factual)), "J": Region(encode(edited))}
    corners = {
        Role.FACTUAL: ("I", True),
        Role.TEXTUAL: ("I", False),
        Role.VISUAL: ("J", False),
        Role.COUNTERFACTUAL: ("J", True),
    }
    items = tuple(
        Item(
            id=role.value,
            case_id="1",
            role=role,
            image=image,
            height_px=10,
            width_px=10,
            query=role.value,
            regions=(regions[image],) if present else (),
            target=regions[image],
        )
        for role, (image, present) in corners.items()
    )
    card = Card(name="halluseg", title="", source="", licence="", citation="", main_metric="CCMS")
    benchmark = Benchmark(card=card, cases=(Case(id="1"),), items=items)
    metrics = overall(benchmark, Oracle(), tmp_path / "oracle")
    assert metrics["IoU_fact"].value == metrics["IoU_cf"].value == 1.0
    assert metrics["CMS_fact"].value == metrics["CMS_counterfact"].value == 0.0
    gullible = overall(benchmark, AlwaysYes(), tmp_path / "yes")
    assert gullible["CMS_fact"].value == pytest.approx((3 * 16 + 84) / (3 * 16))
