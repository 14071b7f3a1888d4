"""Baselines have the scores that their definitions give, in masks and in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.llm.exams import counting_exam
from tests.llm.runs import run_exam

from groundfault import registry
from groundfault.analysis.summary import summarise
from groundfault.benchmarks import cafe, folder
from groundfault.errors import UsageError
from groundfault.interfaces import ModelOptions
from groundfault.io.example import write_example
from groundfault.io.masks import encode
from groundfault.models.baselines import AlwaysYes, Blind, Oracle, Random
from groundfault.parsing.choices import parse_choice
from groundfault.parsing.yes_no import parse_yes_no
from groundfault.records import (
    MODES,
    Answer,
    Benchmark,
    Card,
    Case,
    Estimate,
    Item,
    Prediction,
    Region,
    Role,
)
from groundfault.runner.session import predict
from groundfault.runner.ways import InMasks
from groundfault.runner.work import Plan
from groundfault.runs.recorder import read_predictions
from groundfault.runs.run import Run
from groundfault.world.presets import BuildSettings, build


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    return cafe.read([write_example(tmp_path_factory.mktemp("example"), n=80)["annotations"]])


def run_masks(benchmark: Benchmark, model: Any, out: Path) -> Run:
    return predict(benchmark, InMasks(lambda: model, "m", None, Plan(), out), out, name="m")


def overall(benchmark: Benchmark, model: Any, out: Path, **settings: Any) -> dict[str, Estimate]:
    from groundfault.protocols import of_benchmark

    run_masks(benchmark, model, out)
    settings = {"t": 0.5, "tau": 0.3, "variant": "exact"} | settings
    scored = of_benchmark(benchmark).score(benchmark, read_predictions(out), settings)
    return summarise(scored, bootstrap=0, seed=0).rows["Overall"].metrics


def test_oracle_is_perfect(benchmark: Benchmark, tmp_path: Path) -> None:
    metrics = overall(benchmark, Oracle(), tmp_path)
    assert metrics["cgF1"].value == 1.0
    assert metrics["IL-FPR"].value == 0.0 and metrics["TA-TP"].value == 80


def test_oracle_is_perfect_in_a_crowd(tmp_path: Path) -> None:
    """The misleading phrases are true of the neighbours, and the oracle finds those."""
    build("cafe", 6, tmp_path / "world", BuildSettings(seed=1, crowd=2, size_px=256))
    crowd = folder.read(tmp_path / "world")
    assert sum(len(item.regions) for item in crowd.items if item.role is Role.NEGATIVE) >= 4
    metrics = overall(crowd, Oracle(), tmp_path / "run")
    assert metrics["IL-FPR"].value == 0.0 and metrics["SoftSwap"].value == 0.0
    assert metrics["positive_micro_F1"].value == 1.0 and metrics["TA-TP"].value == 6


def test_always_yes_accepts_everything(benchmark: Benchmark, tmp_path: Path) -> None:
    metrics = overall(benchmark, AlwaysYes(), tmp_path)
    assert metrics["IL-FPR"].value == 1.0 and metrics["IL_recall"].value == 1.0
    assert metrics["IL_MCC"].value is None  # it never says no: no correlation to speak of
    assert metrics["SoftSwap"].value == 0.0


def test_blind_only_knows_the_words(benchmark: Benchmark, tmp_path: Path) -> None:
    run_masks(benchmark, Blind(), tmp_path)
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


def test_a_baseline_by_its_name() -> None:
    options = ModelOptions()
    assert isinstance(registry.load_model("oracle", options), Oracle)
    assert isinstance(registry.load_model("always-yes", options), AlwaysYes)
    random = registry.load_model("random:7", options)
    assert isinstance(random, Random) and random.seed == 7
    for spec, message in (
        ("oracle:7", "oracle takes no argument"),
        ("random:x", "its argument is a seed"),
        ("blind:openai:tiny", "for masks give blind alone"),
        ("orcle", "Did you mean 'oracle'"),
    ):
        with pytest.raises(UsageError, match=message):
            registry.load_model(spec, options)


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
            images=(image,),
            height_px=10,
            width_px=10,
            query=role.value,
            regions=(regions[image],) if present else (),
            target=regions[image],
        )
        for role, (image, present) in corners.items()
    )
    card = Card(
        name="halluseg",
        protocol="replacement-quads",
        title="",
        source="",
        licence="",
        citation="",
        main_metric="CCMS",
    )
    benchmark = Benchmark(card=card, cases=(Case(id="1"),), items=items)
    metrics = overall(benchmark, Oracle(), tmp_path / "oracle")
    assert metrics["IoU_fact"].value == metrics["IoU_cf"].value == 1.0
    assert metrics["CMS_fact"].value == metrics["CMS_counterfact"].value == 0.0
    gullible = overall(benchmark, AlwaysYes(), tmp_path / "yes")
    assert gullible["CMS_fact"].value == pytest.approx((3 * 16 + 84) / (3 * 16))


# In words.


@pytest.fixture(scope="module")
def exam(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """An exam of 240 questions."""
    return counting_exam(tmp_path_factory.mktemp("exams") / "counting", 30)


def answers_of(exam: Benchmark, model: Any, out: Path) -> dict[tuple[str, str], Prediction]:
    found = run_exam(exam, lambda: model, out, name="baseline", modes=MODES)
    assert found.state == "finished" and found.outcomes["ok"] == 480
    return {each.key: each for each in read_predictions(out)}


def test_the_oracle_gives_the_references(exam: Benchmark, tmp_path: Path) -> None:
    answers = answers_of(exam, Oracle(), tmp_path)
    texts = [answers[f"s00000:Q{k}", "std"].text for k in range(1, 9)]
    assert texts == ["Yes.", "Yes.", "Yes.", "Yes.", "7.", "5-9.", "B.", "B."]


def test_always_yes_agrees_and_takes_the_first_option(exam: Benchmark, tmp_path: Path) -> None:
    answers = answers_of(exam, AlwaysYes(), tmp_path)
    assert {each.text for each in answers.values()} == {"Yes.", "A."}


@pytest.mark.parametrize("model", [Blind, Random])
def test_guesses_can_be_read_and_are_repeatable(
    exam: Benchmark, tmp_path: Path, model: Any
) -> None:
    answers, again = (answers_of(exam, model(), tmp_path / name) for name in "ab")
    texts = {key: each.text for key, each in answers.items()}
    assert texts == {key: each.text for key, each in again.items()}
    said = [parse_yes_no(texts[f"s{k:05d}:Q1", "std"]) for k in range(30)]
    assert 5 < said.count("yes") < 25 and said.count("yes") + said.count("no") == 30
    letters = {parse_choice(texts[f"s{k:05d}:Q7", "std"], ["3", "7"]) for k in range(30)}
    assert letters == {"A", "B"}


def test_another_seed_gives_other_guesses(exam: Benchmark) -> None:
    first, second = (Random(seed=seed).predict(exam.items, "std") for seed in (0, 7))
    assert [each.item_id for each in first] == [each.item_id for each in second]
    assert first != second


def test_blind_does_not_depend_on_the_picture() -> None:
    items = [
        Item(
            id=f"{k}",
            case_id=f"{k}",
            role=Role.QUESTION,
            images=(f"{k}.png",),
            height_px=9,
            width_px=9,
            query="Is it?",
            answer=Answer(type="YN", reference="yes"),
        )
        for k in range(5)
    ]
    assert len({each.text for each in Blind().predict(items, "std")}) == 1
