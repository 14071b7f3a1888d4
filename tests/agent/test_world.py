"""Measured on the world: what a policy is worth is known, so the agent must show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.agent.parts import agent
from tests.runner.runs import run_masks

from groundfault import registry
from groundfault.analysis.summary import summarise
from groundfault.io.masks import encode
from groundfault.io.pictures import read_image
from groundfault.models.agent import View
from groundfault.models.agent.episode import QUALITY
from groundfault.models.agent.pictures import encoded
from groundfault.models.agent.scripted import accept, call, reject
from groundfault.models.baselines import Oracle
from groundfault.models.nano import SHIPPED, Nano
from groundfault.protocols import of_benchmark
from groundfault.records import Benchmark, Item, Outcome, Picture, Prediction
from groundfault.reports.agent_traces import cost_table, costs
from groundfault.reports.tables import render
from groundfault.runner.work import Plan
from groundfault.runs.recorder import read_predictions
from groundfault.runs.run import read_run

pytest.importorskip("skia", reason="skia-python draws the world")

N, SIDE_PX = 16, 96


class World(NamedTuple):
    benchmark: Benchmark
    images: Path
    items: dict[tuple[Picture, str], Item]
    """By what a policy sees: the picture and the concept."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    from groundfault.io.sources import load
    from groundfault.world.presets import BuildSettings, build

    out = tmp_path_factory.mktemp("world") / "cafe"
    build("cafe", N, out, settings=BuildSettings(size_px=SIDE_PX), workers=1)
    benchmark = load(out)
    images = out / "images"
    pictures = {name: _picture(images / name) for name in {item.image for item in benchmark.items}}
    return World(
        benchmark, images, {(pictures[item.image], item.query): item for item in benchmark.items}
    )


def _picture(path: Path) -> Picture:
    return encoded(read_image(path), quality=QUALITY)


class Gullible:
    """Finds the edited thing whatever it is asked for, now and then below the threshold."""

    def __init__(self, world: World) -> None:
        self.items = world.items

    def segment(self, image: Any, phrases: Sequence[str]) -> list[Prediction]:
        seen = encoded(np.asarray(image), quality=QUALITY)
        return [self._one(self.items[seen, phrase]) for phrase in phrases]

    def _one(self, item: Item) -> Prediction:
        assert item.target is not None and item.target.mask is not None
        nothing = encode(np.zeros((item.height_px, item.width_px), bool))
        score = 0.3 + 0.65 * (sum(item.id.encode()) % 10) / 9
        return (
            Prediction(
                item_id="",
                outcome=Outcome.OK,
                masks=(item.target.mask,),
                scores=(score,),
            )
            if item.target.mask != nothing
            else Prediction(item_id="", outcome=Outcome.ABSTAINED)
        )


@pytest.fixture(scope="module", params=["nano-base", "gullible"])
def segmenter(request: pytest.FixtureRequest, world: World) -> Any:
    if request.param == "gullible":
        return Gullible(world)
    pytest.importorskip("onnxruntime", reason="running the nano models needs the nano extra")
    if not (SHIPPED / "nano-base.find.onnx").is_file():
        pytest.skip("nano-base is not shipped yet")
    return Nano(SHIPPED / "nano-base")


def perfect(world: World) -> Any:
    """A verifier that knows what is there."""

    def policy(view: View) -> str:
        if view.n_masks and not world.items[view.picture, view.query].present:
            return call("report_no_mask")
        return accept(view)

    return policy


def asked(world: World, model: Any, folder: Path, **plan: Any) -> Iterator[Any]:
    run_masks(world.benchmark, lambda: model, folder, plan=Plan(probe=False, batch=4, **plan))
    return read_predictions(folder)


def metrics(world: World, folder: Path) -> dict[str, float | None]:
    settings = {"t": 0.5, "tau": 0.3, "variant": "exact"}
    found = read_predictions(folder)
    scored = of_benchmark(world.benchmark).score(world.benchmark, found, settings)
    summary = summarise(scored, bootstrap=0, seed=0)
    return {name: estimate.value for name, estimate in summary.rows["Overall"].metrics.items()}


def test_who_accepts_everything_equals_the_segmenter(
    world: World, segmenter: Any, tmp_path: Path
) -> None:
    alone = {a.item_id: a for a in asked(world, segmenter, tmp_path / "alone")}
    with agent(accept, segmenter, t=0.0) as verifier:
        for answer in asked(world, verifier, tmp_path / "agent"):
            one = alone[answer.item_id]
            assert (answer.outcome, answer.masks, answer.scores) == (
                one.outcome, one.masks, one.scores,
            )  # fmt: skip
    assert metrics(world, tmp_path / "agent") == metrics(world, tmp_path / "alone")
    # At the published threshold whatever is accepted is the same; sub-threshold masks are gone.
    with agent(accept, segmenter) as verifier:
        asked(world, verifier, tmp_path / "half")
    ours, theirs = metrics(world, tmp_path / "half"), metrics(world, tmp_path / "alone")
    for name in ("IL-FPR", "AFPR", "UFPR", "CSR", "IL_FPR", "IL_MCC", "cgF1"):
        assert ours[name] == theirs[name], name


def test_a_perfect_verifier_reaches_the_oracle(
    world: World, segmenter: Any, tmp_path: Path
) -> None:
    asked(world, Oracle(), tmp_path / "oracle")
    asked(world, segmenter, tmp_path / "alone")
    with agent(perfect(world), segmenter) as verifier:
        asked(world, verifier, tmp_path / "agent")
    oracle, alone, ours = (metrics(world, tmp_path / n) for n in ("oracle", "alone", "agent"))
    assert ours["IL-FPR"] == oracle["IL-FPR"] == 0.0
    assert alone["IL-FPR"]  # there was something to reject
    assert ours["IL_recall"] == alone["IL_recall"]  # nothing was lost for it


def test_what_a_rejection_costs(world: World, tmp_path: Path) -> None:
    rows = []
    for name, policy in (("accept", accept), ("reject", reject), ("perfect", perfect(world))):
        with agent(policy, Gullible(world)) as verifier:
            answers = list(asked(world, verifier, tmp_path / name))
        rows.append(costs(name, answers, world.benchmark.items))
    yes, no, right = rows
    assert no.false_positives == 0.0 and no.found == 0.0 and no.turns == 2.0
    assert right.false_positives == 0.0 and right.found == yes.found
    assert no.rejections == right.rejections > yes.rejections
    assert right.turns_per_rejection == (right.turns or 0) * right.episodes / right.rejections
    assert "turns/rejection" in render(cost_table(rows), "markdown")


def test_a_run_goes_on_where_it_ended(world: World, tmp_path: Path) -> None:
    class Broken(Exception):
        pass

    heard: list[str] = []

    def patchy(view: View) -> str:
        heard.append(view.query)
        if len(heard) % 3 == 0:
            raise Broken("the line is dead")
        return accept(view)

    with agent(patchy, Gullible(world), concurrency=1) as verifier:
        first = list(asked(world, verifier, tmp_path / "run"))
    failed = {answer.item_id for answer in first if answer.outcome is Outcome.FAILED}
    assert failed and all("the line is dead" in a.reason for a in first if a.item_id in failed)
    again: list[str] = []

    def steady(view: View) -> str:
        again.append(view.query)
        return accept(view)

    with agent(steady, Gullible(world)) as verifier:
        second = {a.item_id: a for a in asked(world, verifier, tmp_path / "run")}
    assert all(answer.outcome is not Outcome.FAILED for answer in second.values())
    by_id = {item.id: item for item in world.benchmark.items}
    assert set(again) <= {by_id[name].query for name in failed}


def test_by_name_on_the_command_line(
    world: World, run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(f"{__name__}._made", lambda: Gullible(world))
    monkeypatch.setitem(registry.KINDS["models"], "gullible", registry.Entry(f"{__name__}:_load"))
    monkeypatch.setitem(
        registry.KINDS["models"], "agent", registry.Entry("groundfault.models.agent.loading:load")
    )
    ran = run(
        "eval", world.images.parent, "--out", tmp_path, "--bootstrap", 0,
        "--model", "gullible", "--model", "agent:gullible+scripted:reject,turns=4",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    kept = read_run(tmp_path / "agent-gullible+scripted-reject-turns-4")
    assert kept.outcomes["abstained"] == len(world.benchmark.items)
    assert kept.identity["agent turns"] == "4" and len(kept.identity["agent prompt"]) == 64
    folder = tmp_path / "agent-gullible+scripted-reject-turns-4"
    negatives = sum(not item.present for item in world.benchmark.items)
    (row,) = run("agent", "costs", folder, "--json").json
    assert (row["rejections"], row["turns"], row["found"]) == (negatives, 2.0, 0.0)
    assert row["turns_per_rejection"] == 2 * len(world.benchmark.items) / negatives
    assert "turns/rejection" in run("agent", "costs", folder, "--format", "markdown").out
    refused = run("agent", "costs", tmp_path / "gullible")
    assert refused.code == 2 and "is no agent" in refused.err
    page = tmp_path / "steps.html"
    assert run("agent", "steps", folder, "--out", page).code == 0
    assert page.read_text().count("<article") == len(world.benchmark.items)


def _made() -> Any:
    raise AssertionError("set by the test")


def _load(argument: str, options: Any) -> Any:
    return _made()
