"""SAM 3, Grounding DINO and OWLv2 learn from the same quads; what failed is learnt more of."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.segvlm.test_training import fitting_of, recipe

from groundfault.api.evaluating import evaluate
from groundfault.errors import UsageError
from groundfault.io.sources import load
from groundfault.records import Outcome, Prediction
from groundfault.training.failures import Failures, Seen, is_failed, read_failures

torch = pytest.importorskip("torch", reason="training needs torch")
pytest.importorskip("safetensors", reason="training needs safetensors")
pytestmark = pytest.mark.xdist_group("transformers")

from groundfault.api.training import train  # noqa: E402
from groundfault.training.nano.recipe import Recipe as NanoRecipe  # noqa: E402
from groundfault.training.nano.recipe import Stage, aimed  # noqa: E402
from groundfault.training.segvlm.cures import Heads, Target, detection_losses  # noqa: E402
from groundfault.training.segvlm.loop import drawn_by_failures  # noqa: E402
from groundfault.training.segvlm.objective import Losses  # noqa: E402
from groundfault.training.segvlm.recipe import DataSet, Evaluation, Model, Optimiser  # noqa: E402
from groundfault.training.segvlm.sources import source_of  # noqa: E402

Checkpoint = Callable[[str], str]


def curing(checkpoint: Checkpoint, quads: Path, cure: str, **more: Any) -> Any:
    return recipe(
        checkpoint,
        quads,
        cure=cure,
        model=Model(network=checkpoint(cure), decoder=checkpoint("sam2")),
        losses=Losses(presence=1.0),
        optimiser=Optimiser(learning_rate=2e-3, batch=1, micro_batch=8, warm_up=2, threads=1),
        sources=(DataSet(name="quads", inputs={"folder": str(quads)}, limit=1),),
        **more,
    )


@pytest.mark.parametrize("cure", ("sam3", "grounding-dino", "owlv2"))
def test_each_cure_learns_and_is_evaluated(
    checkpoint: Checkpoint, quads: Path, held_out: Path, tmp_path: Path, cure: str
) -> None:
    measured = Evaluation(sets=(DataSet(name="held-out", inputs={"folder": str(held_out)}),))
    wanted = curing(checkpoint, quads, cure, steps=12, evaluation=measured)

    spec = train(wanted, tmp_path / "out")

    lines = (tmp_path / "out" / "training" / "log.jsonl").read_text().splitlines()
    logs = [json.loads(line) for line in lines]
    assert logs[-1]["loss"] < logs[0]["loss"]
    assert set(logs[0]["parts"]["ce"]) == {"factual", "textual", "visual", "counterfactual"}
    assert ("presence" in logs[0]["parts"]) == (cure == "sam3")
    runs = tmp_path / "out" / "training" / "evaluations"
    assert sorted(f.name for f in (runs / "held-out").iterdir()) == ["step-000000", "step-000012"]
    card = (tmp_path / "out" / "README.md").read_text()
    assert card.startswith("---\n") and f"--model {spec}" in card and "quads (1)" in card
    result = evaluate(load(held_out), spec, tmp_path / "run", limit=1)
    assert result.run is not None and result.run.outcomes["failed"] == 0


@pytest.mark.parametrize("cure", ("sam3", "grounding-dino", "owlv2"))
def test_encoders_are_frozen(checkpoint: Checkpoint, quads: Path, cure: str) -> None:
    fitting = fitting_of(curing(checkpoint, quads, cure))
    before = {n: v.detach().clone() for n, v in fitting.pupil.network.named_parameters()}
    fitting.take_step()
    moved = {
        n for n, v in fitting.pupil.network.named_parameters() if not torch.equal(v, before[n])
    }
    assert moved and moved <= set(fitting.trained)
    encoders = ("vision_encoder.", "text_encoder.", "owlv2.", "model.backbone.",
                "model.text_backbone.", "model.encoder.")  # fmt: skip
    assert not any(name.startswith(encoders) for name in moved)
    wanted = curing(checkpoint, quads, cure)
    wrong = msgspec.structs.replace(wanted.model, trained=("no such part",))
    with pytest.raises(UsageError, match="no weight of"):
        fitting_of(msgspec.structs.replace(wanted, model=wrong))


def test_absent_phrases_push_every_query_down() -> None:
    logits = torch.tensor([[2.0, -1.0, 0.5], [2.0, -1.0, 0.5]], requires_grad=True)
    boxes = torch.tensor([[[0.5, 0.5, 0.2, 0.2], [0.2, 0.2, 0.1, 0.1], [0.8, 0.8, 0.3, 0.3]]] * 2)
    presence = torch.tensor([0.0, 0.0], requires_grad=True)
    nothing = Target(torch.zeros(0, 4), torch.zeros(0, 1, 1))
    there = Target(torch.tensor([[0.5, 0.5, 0.2, 0.2]]), torch.zeros(1, 4, 4))

    found = detection_losses(Heads(logits, boxes, None, presence), [nothing, there])
    found["ce"].sum().backward()
    found["presence"].sum().backward()

    assert (logits.grad[0] > 0).all()  # gradient descent lowers all of them
    assert logits.grad[1, 0] < 0 < logits.grad[1, 2]  # the query on the thing is raised
    assert presence.grad[0] > 0 > presence.grad[1]
    # focal loss by hand for one sure wrong query: 0.75 · p² · −log(1 − p)
    chance = logits.detach()[0].sigmoid()
    by_hand = (0.75 * chance**2 * -torch.log1p(-chance)).sum()
    assert found["ce"][0].item() == pytest.approx(by_hand.item(), rel=1e-5)


def test_failures_are_what_is_shown_wrongly_or_not_found(held_out: Path) -> None:
    there, absent = load(held_out).items[:2]
    mask = there.regions[0].mask
    shown = Prediction(item_id="", outcome=Outcome.OK, masks=(mask,), scores=(1.0,))
    silent = Prediction(item_id="", outcome=Outcome.ABSTAINED)
    unread = Prediction(item_id="", outcome=Outcome.UNPARSED)
    assert [is_failed(there, one) for one in (shown, silent, unread)] == [False, True, True]
    assert [is_failed(absent, one) for one in (shown, silent, unread)] == [True, False, True]
    assert is_failed(there, Prediction(item_id="", outcome=Outcome.FAILED)) is None
    unsure = Prediction(item_id="", outcome=Outcome.OK, masks=(mask,), scores=(0.3,))
    assert is_failed(absent, unsure) and not is_failed(absent, unsure, 0.5)
    assert is_failed(there, unsure, 0.5)


def test_what_failed_is_drawn_more_often_from_other_pictures(
    checkpoint: Checkpoint, quads: Path, held_out: Path, tmp_path: Path
) -> None:
    evaluate(load(held_out), "always-yes", tmp_path / "run", probe=False)
    failures = read_failures(tmp_path / "run")
    assert failures.rate == 1.0  # the whole picture is no box, and is shown where there is none
    assert len(failures.pictures) == 4

    source = source_of(DataSet(name="q", inputs={"folder": str(quads)}))
    seen = [Seen("replacement", "textual", "the blue box", True)] * 9
    seen += [Seen("replacement", "textual", "A yellow box", False)] * 9
    (changed,) = drawn_by_failures(Failures(seen))([source])
    red_blue, blue_green = changed.weights["referring"]
    (green_yellow,) = changed.weights["reasoning"]
    assert red_blue > blue_green > green_yellow > 0

    own = recipe(checkpoint, held_out)
    with pytest.raises(UsageError, match="learnt from and measured on"):
        train(own, tmp_path / "own", from_failures=tmp_path / "run")
    assert not (tmp_path / "own").exists()
    other = recipe(checkpoint, quads, steps=1)
    assert train(other, tmp_path / "out", from_failures=tmp_path / "run").startswith("segvlm:")


def test_nano_learns_more_of_the_kinds_that_failed() -> None:
    base = Stage(name="base", steps=1, learning_rate=0.1)
    tuned = Stage(name="cft", start="base", steps=1, learning_rate=0.1, pairs_per_step=2)
    wanted = NanoRecipe(data_seed=101, scenes=1, pairs=10, stages=(base, tuned))
    seen = [Seen("SM", "negative", "zebra", True)] * 20 + [
        Seen("CC", "negative", "boat", False)
    ] * 20
    found = aimed(wanted, Failures(seen, source="rendered …, seed 3, size_px 384"))
    before, after = tuned.pair_kinds, found.stages[1].pair_kinds
    assert found.stages[0] == base
    assert after["SM"] / after["CC"] > 5 * before["SM"] / before["CC"]
    assert after["OC"] / before["OC"] == pytest.approx(0.5)  # not asked: the mean's
    with pytest.raises(UsageError, match="choose another one"):
        aimed(wanted, Failures(seen, source="rendered …, seed 102, size_px 384"))
    with pytest.raises(UsageError, match="answered nothing"):
        Failures([])
