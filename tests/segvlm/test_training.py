"""A training: what moves, what is stored, what happens when it is killed, shared or short of
memory."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.models.conftest import picture
from tests.segvlm.processes import as_rank, ended, forked, free_port, kill_this

from groundfault.errors import DataError, GroundfaultError, UsageError
from groundfault.interfaces import ModelOptions
from groundfault.io.masks import decode
from groundfault.io.sources import load
from groundfault.runs.recorder import read_predictions

torch = pytest.importorskip("torch", reason="training needs torch")
pytest.importorskip("safetensors", reason="training needs safetensors")
pytestmark = pytest.mark.xdist_group("transformers")

from groundfault.api.training import merge_trained, train  # noqa: E402
from groundfault.models.segvlm.folder import HEADER, PROJECTOR, read_header  # noqa: E402
from groundfault.models.segvlm.loading import load as load_segvlm  # noqa: E402
from groundfault.models.segvlm.loading import load_trained  # noqa: E402
from groundfault.models.segvlm.network import Lora  # noqa: E402
from groundfault.models.segvlm.prompts import SEG  # noqa: E402
from groundfault.training.checkpoints import read_checkpoint  # noqa: E402
from groundfault.training.segvlm.cluster import Cluster  # noqa: E402
from groundfault.training.segvlm.fitting import Fitting  # noqa: E402
from groundfault.training.segvlm.objective import Losses  # noqa: E402
from groundfault.training.segvlm.recipe import (  # noqa: E402
    DataSet,
    Evaluation,
    Model,
    Optimiser,
    Recipe,
    key_of,
)
from groundfault.training.segvlm.training import Watch, make_pupil, read_data  # noqa: E402

Checkpoint = Callable[[str], str]
EVERYWHERE = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


def recipe(checkpoint: Checkpoint, quads: Path, **changed: Any) -> Recipe:
    found = Recipe(
        steps=4,
        model=Model(vlm=checkpoint("qwen3_vl"), decoder=checkpoint("sam2"), max_tokens=40),
        lora=Lora(dropout=0.0),
        losses=Losses(presence=1.0, empty=0.5),
        optimiser=Optimiser(
            learning_rate=1e-4, batch=2, micro_batch=16, warm_up=2, checkpointing=False, threads=1
        ),
        sources=(DataSet(name="quads", inputs={"folder": str(quads)}),),
        save_every=2,
    )
    return msgspec.structs.replace(found, **changed)


def fitting_of(wanted: Recipe) -> Fitting:
    cluster = Cluster()
    data = read_data(wanted)
    return Fitting(
        make_pupil(wanted, cluster),
        data.mixture,
        wanted.losses,
        wanted.optimiser,
        steps=wanted.steps,
        cluster=cluster,
    )


def stored(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = read_checkpoint(out / "training" / "state.safetensors")
    return found


def log_of(out: Path) -> str:
    return (out / "training" / "log.jsonl").read_text()


def test_only_what_is_meant_to_learn_moves(checkpoint: Checkpoint, quads: Path) -> None:
    fitting = fitting_of(recipe(checkpoint, quads))
    network = fitting.pupil.network
    before = {name: value.detach().clone() for name, value in network.named_parameters()}
    frozen = network.frozen_hash()

    logs = [fitting.take_step() for _ in range(3)]

    assert network.frozen_hash() == frozen
    moved = {
        name for name, value in network.named_parameters() if not torch.equal(value, before[name])
    }
    assert moved <= set(fitting.trained)
    for part in ("lora_A", "lora_B", "trainable_tokens_delta", "projector.0", "projector.2",
                 "mask_decoder.transformer", "pred_obj_score_head"):  # fmt: skip
        assert any(part in name for name in moved), part
    still = set(fitting.trained) - moved
    assert all("mask_tokens" in name or "hypernetworks" in name for name in still), still
    assert logs[-1].n == dict.fromkeys(("factual", "textual", "visual", "counterfactual"), 2)
    assert set(logs[-1].parts["empty"]) == {"textual", "visual"}
    assert set(logs[-1].parts["bce"]) == {"factual", "counterfactual"}


@pytest.mark.parametrize("decoder", ("sam2", "sam", "sam3_tracker"))
@pytest.mark.parametrize("vlm", ("qwen3_vl", "qwen2_5_vl", "llava_1_5"))
def test_each_family_takes_a_step(
    checkpoint: Checkpoint, quads: Path, vlm: str, decoder: str
) -> None:
    model = Model(vlm=checkpoint(vlm), decoder=checkpoint(decoder), max_tokens=40)
    optimiser = msgspec.structs.replace(
        recipe(checkpoint, quads).optimiser, batch=1, warm_up=0, learning_rate=1e-2
    )
    has_presence = decoder != "sam"
    wanted = recipe(checkpoint, quads, model=model, optimiser=optimiser, seed=1)
    if not has_presence:
        with pytest.raises(UsageError, match="no presence head"):
            fitting_of(wanted)
    losses = Losses(presence=float(has_presence), empty=0.5)
    fitting = fitting_of(msgspec.structs.replace(wanted, losses=losses))
    frozen = fitting.pupil.network.frozen_hash()
    fitting.pupil.network.train()
    first = fitting.take_step()
    assert set(first.parts) >= {"ce", "bce", "dice", "empty"}
    assert ("presence" in first.parts) == has_presence
    fitting.step = 0  # the same questions again
    assert fitting.take_step().loss < first.loss
    assert fitting.pupil.network.frozen_hash() == frozen


def test_lambda_zero_leaves_denials_unlearnt(checkpoint: Checkpoint, quads: Path) -> None:
    wanted = recipe(checkpoint, quads, losses=Losses(lambda_neg=0.0))
    fitting = fitting_of(wanted)
    asked = [one for own in fitting.plan(0) for one in own]
    denials = [one for one in asked if one.sample.is_negative]
    gradients = {}
    for weight in (0.0, 1.0, 2.0):
        fitting.weights = Losses(lambda_neg=weight)
        fitting._gradients(denials, dict.fromkeys(("ce", "bce", "dice"), 4))
        value = next(v for name, v in fitting.trained.items() if "lora_B" in name)
        gradients[weight] = value.grad.clone()
    assert not gradients[0.0].any()
    assert gradients[1.0].any()
    assert torch.allclose(gradients[2.0], 2 * gradients[1.0], rtol=1e-4, atol=1e-9)


def test_micro_batches_and_memory_that_runs_out_change_nothing(
    checkpoint: Checkpoint, quads: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = recipe(checkpoint, quads)
    whole = fitting_of(wanted)
    logs = [whole.take_step() for _ in range(2)]
    short = fitting_of(wanted)
    losses, sizes = short.pupil.losses, []

    def with_little_memory(asked: Any) -> Any:
        sizes.append(len(asked))
        if len(asked) > 4 and len(sizes) == 1:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        if len(asked) > 4:
            torch.empty(1 << 46, dtype=torch.uint8)  # more than there is: what a CPU says to that
        return losses(asked)

    monkeypatch.setattr(short.pupil, "losses", with_little_memory)
    again = [short.take_step() for _ in range(2)]

    assert short.micro_batch == 4
    assert sizes[:2] == [8, 8] and max(sizes[2:]) == 4
    for one, other in zip(logs, again, strict=True):
        assert other.loss == pytest.approx(one.loss, abs=1e-5)
    for name, value in whole.trained.items():
        assert torch.allclose(value, short.trained[name], atol=1e-5), name
    assert short.state()["micro_batch"] == 4

    short.cluster.sharded = True  # the others would wait for this process in the middle of a layer
    short.micro_batch, sizes[:] = 16, []
    with pytest.raises(GroundfaultError, match=r"Lower optimiser\.micro_batch .* --resume"):
        short.take_step()
    smaller, faster = (
        msgspec.structs.replace(wanted.optimiser, **change)
        for change in ({"micro_batch": 4}, {"learning_rate": 1.0})
    )
    keys = [
        key_of(msgspec.structs.replace(wanted, optimiser=each), (), "")
        for each in (wanted.optimiser, smaller, faster)
    ]
    assert keys[0] == keys[1] != keys[2]
    short.cluster.sharded = False

    def broken(asked: Any) -> Any:
        raise RuntimeError("shapes do not fit")

    monkeypatch.setattr(short.pupil, "losses", broken)
    with pytest.raises(RuntimeError, match="shapes"):
        short.take_step()


def test_kept_features_are_the_same_as_fresh_ones(
    checkpoint: Checkpoint, quads: Path, tmp_path: Path
) -> None:
    wanted = recipe(checkpoint, quads)
    fresh = fitting_of(msgspec.structs.replace(wanted, features_gb=0))
    kept = fitting_of(wanted)
    kept.take_step()
    assert kept.pupil.features.n_encoded > 0
    again = fitting_of(wanted)

    expected, found = fresh.take_step(), again.take_step()

    assert again.pupil.features.n_encoded == 0
    assert (tmp_path / "cache" / "features").is_dir()
    assert found.loss == expected.loss
    for name, value in fresh.trained.items():
        assert torch.equal(value, again.trained[name]), name
    files = list((tmp_path / "cache" / "features").rglob("*.safetensors"))
    files[0].write_bytes(files[0].read_bytes()[:100])  # a disk that was full
    assert fitting_of(wanted).take_step().loss == expected.loss


def test_a_killed_training_goes_on_to_the_same_weights(
    checkpoint: Checkpoint, quads: Path, tmp_path: Path
) -> None:
    wanted = recipe(checkpoint, quads, lora=Lora(dropout=0.1))
    train(wanted, tmp_path / "whole")

    def until_killed() -> None:
        watch = Watch(step=lambda log, _: kill_this() if log.step == 3 else None)
        train(wanted, tmp_path / "killed", watch=watch)

    assert ended(forked(until_killed)) == -9
    assert stored(tmp_path / "killed")["step"] == 2
    assert not (tmp_path / "killed" / HEADER).exists()
    with pytest.raises(UsageError, match="--resume"):
        train(wanted, tmp_path / "killed")
    spec = train(wanted, tmp_path / "killed", resume=True)

    one, other = stored(tmp_path / "whole"), stored(tmp_path / "killed")
    assert one["step"] == other["step"] == 4
    for name, value in one["trained"].items():
        assert torch.equal(value, other["trained"][name]), name
    logs = [log_of(tmp_path / name) for name in ("whole", "killed")]
    assert logs[0] == logs[1]
    assert len(logs[0].splitlines()) == 4
    assert spec == f"segvlm:{tmp_path / 'killed'}"
    for name in (PROJECTOR, "decoder.safetensors", "adapter/adapter_model.safetensors"):
        whole = (tmp_path / "whole" / name).read_bytes()
        assert whole == (tmp_path / "killed" / name).read_bytes(), name
    other_seed = msgspec.structs.replace(wanted, seed=1)
    with pytest.raises(UsageError, match="another recipe"):
        train(other_seed, tmp_path / "killed", resume=True)


def test_two_processes_draw_and_learn_the_same_as_one(
    checkpoint: Checkpoint, quads: Path, tmp_path: Path
) -> None:
    optimiser = msgspec.structs.replace(recipe(checkpoint, quads).optimiser, batch=3)
    wanted = recipe(checkpoint, quads, optimiser=optimiser)
    train(wanted, tmp_path / "one")
    port = free_port()

    def as_one_of_two(rank: int) -> None:
        as_rank(rank, 2, port)
        drawn: list[str] = []
        take = Fitting.take_step

        def noted(self: Fitting) -> Any:
            drawn.extend(one.sample.id for own in self.plan(self.step) for one in own)
            return take(self)

        Fitting.take_step = noted  # type: ignore[method-assign]
        train(wanted, tmp_path / "two")
        (tmp_path / f"drawn-{rank}.json").write_text(json.dumps(drawn))

    children = [forked(lambda rank=rank: as_one_of_two(rank)) for rank in (0, 1)]  # type: ignore[misc]
    assert [ended(child) for child in children] == [0, 0]

    fitting = fitting_of(wanted)
    planned = [one.sample.id for step in range(4) for own in fitting.plan(step) for one in own]
    for rank in (0, 1):
        assert json.loads((tmp_path / f"drawn-{rank}.json").read_text()) == planned
    one, two = stored(tmp_path / "one"), stored(tmp_path / "two")
    for name, value in one["trained"].items():
        assert torch.allclose(value, two["trained"][name], atol=1e-5), name
    logs = [
        [json.loads(line) for line in log_of(tmp_path / n).splitlines()] for n in ("one", "two")
    ]
    assert [log["loss"] for log in logs[0]] == pytest.approx([log["loss"] for log in logs[1]])
    assert logs[0][0]["n"] == logs[1][0]["n"]


def test_processes_that_share_the_weights_learn_and_answer_the_same_as_one(
    checkpoint: Checkpoint, quads: Path, held_out: Path, tmp_path: Path
) -> None:
    """FSDP, as `accelerate launch --use_fsdp` asks for it: frozen weights are spread over two
    processes, which take shares of different lengths and evaluate together."""
    own = recipe(checkpoint, quads)
    optimiser = msgspec.structs.replace(own.optimiser, batch=3, micro_batch=4, checkpointing=True)
    measured = Evaluation(
        sets=(DataSet(name="held-out", inputs={"folder": str(held_out)}, limit=1),)
    )
    model = msgspec.structs.replace(own.model, max_tokens=6)
    wanted = recipe(
        checkpoint, quads, steps=3, model=model, optimiser=optimiser, evaluation=measured
    )
    train(wanted, tmp_path / "one")
    port = free_port()

    def as_one_of_two(rank: int) -> None:
        as_rank(rank, 2, port)
        os.environ["ACCELERATE_USE_FSDP"] = "true"
        spread: list[tuple[int, int]] = []
        take = Fitting.take_step

        def noted(self: Fitting) -> Any:
            values = list(self.pupil.network.vlm.parameters())
            here = [getattr(value, "_local_tensor", value) for value in values]
            spread.append((sum(v.numel() for v in values), sum(v.numel() for v in here)))
            return take(self)

        Fitting.take_step = noted  # type: ignore[method-assign]
        train(wanted, tmp_path / "two")
        (tmp_path / f"spread-{rank}.json").write_text(json.dumps(spread[0]))

    children = [forked(lambda rank=rank: as_one_of_two(rank)) for rank in (0, 1)]  # type: ignore[misc]
    assert [ended(child) for child in children] == [0, 0]

    for rank in (0, 1):
        whole, held = json.loads((tmp_path / f"spread-{rank}.json").read_text())
        assert held < 0.7 * whole
    one, two = stored(tmp_path / "one"), stored(tmp_path / "two")
    for name, value in one["trained"].items():
        assert torch.allclose(value, two["trained"][name], atol=1e-5), name
    for name in ("one", "two"):
        load_segvlm(str(tmp_path / name), ModelOptions())
    said = []
    for name in ("one", "two"):
        run = tmp_path / name / "training" / "evaluations" / "held-out" / "step-000003"
        said.append([(each.item_id, each.outcome, each.text) for each in read_predictions(run)])
    assert said[0] == said[1]


def test_saved_loaded_and_merged_models_say_and_draw_the_same(
    checkpoint: Checkpoint, quads: Path, tmp_path: Path
) -> None:
    wanted = recipe(checkpoint, quads, steps=2)
    spec = train(wanted, tmp_path / "out")
    merge_trained(tmp_path / "out", tmp_path / "merged")
    trained = fitting_of(wanted)
    trained.restore(stored(tmp_path / "out"))
    trained.pupil.network.eval()
    image, answer = picture(64, 64), f"It is {SEG}."

    def read(network: Any, reader: Any) -> Any:
        rows = reader.rows([image], ["Where is the red box?"], [answer], [True])
        ce, states = network.read(rows)
        encoded = network.decoder.encode([image])
        levels = tuple(torch.stack(level) for level in zip(*encoded, strict=True))
        drawn = network.draw(states, levels)
        return ce, drawn.masks, drawn.presence

    expected = read(trained.pupil.network, trained.pupil.reader)
    for folder, exact in ((tmp_path / "out", True), (tmp_path / "merged", False)):
        network, reader, _ = load_trained(folder, ModelOptions())
        for one, other in zip(expected, read(network.eval(), reader), strict=True):
            assert torch.allclose(one, other, atol=0 if exact else 1e-4)
    assert (tmp_path / "out" / "README.md").read_text().count("reconstruction") == 1
    assert spec == f"segvlm:{tmp_path / 'out'}"
    names = {Path(name).name for name in load_segvlm.named_files(str(tmp_path / "out"))}
    assert names >= {HEADER, PROJECTOR} and "state.safetensors" not in names
    whole = (tmp_path / "out" / PROJECTOR).read_bytes()
    (tmp_path / "out" / PROJECTOR).write_bytes(whole[:-1] + b"\0")
    with pytest.raises(DataError, match="not what was written"):
        read_header(tmp_path / "out")


def test_a_model_refuses_other_checkpoints_than_its_own(
    checkpoint: Checkpoint, quads: Path, tmp_path: Path
) -> None:
    train(recipe(checkpoint, quads, steps=1), tmp_path / "out")
    header = json.loads((tmp_path / "out" / HEADER).read_text())
    header["decoder"] = checkpoint("sam")
    (tmp_path / "out" / HEADER).write_text(json.dumps(header))
    with pytest.raises(DataError, match="was trained on"):
        load_segvlm(str(tmp_path / "out"), ModelOptions())
    with pytest.raises(DataError, match="is not there"):
        load_segvlm(str(tmp_path), ModelOptions())
    with pytest.raises(UsageError, match="name the folder"):
        load_segvlm("", ModelOptions())


def test_checkpointed_activations_give_the_same_gradients(
    checkpoint: Checkpoint, quads: Path
) -> None:
    wanted = recipe(checkpoint, quads)
    twice = msgspec.structs.replace(wanted.optimiser, checkpointing=True)
    plain, again = fitting_of(wanted), fitting_of(msgspec.structs.replace(wanted, optimiser=twice))
    for fitting in (plain, again):
        fitting.pupil.network.train()
    assert again.take_step().loss == pytest.approx(plain.take_step().loss, abs=1e-6)
    for name, value in plain.trained.items():
        assert torch.allclose(value, again.trained[name], atol=1e-6), name


def test_bf16_learns_the_same_roughly_and_keeps_what_learns_exact(
    checkpoint: Checkpoint, quads: Path
) -> None:
    wanted = recipe(checkpoint, quads)
    lower = msgspec.structs.replace(wanted.optimiser, precision="bf16")
    cluster = Cluster("bf16")
    rough = Fitting(
        make_pupil(msgspec.structs.replace(wanted, optimiser=lower), cluster),
        read_data(wanted).mixture,
        wanted.losses,
        lower,
        steps=wanted.steps,
        cluster=cluster,
    )
    assert {value.dtype for value in rough.trained.values()} == {torch.float32}
    assert next(iter(rough.pupil.network.vlm.parameters())).dtype == torch.bfloat16
    exact = fitting_of(wanted)
    assert rough.take_step().loss == pytest.approx(exact.take_step().loss, rel=0.05)
    image = picture(40, 40)
    (answer,) = rough.pupil.segmenter(1).segment(image, ["the red box"])
    assert answer.outcome in ("ok", "abstained", "unparsed")


def test_trackers_that_are_not_there_are_named(
    checkpoint: Checkpoint, quads: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec",
        lambda name, *more: (name != "wandb" and found(name, *more)) or None,
    )
    with pytest.raises(UsageError, match="wandb is not installed"):
        train(recipe(checkpoint, quads, trackers=("wandb",)), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_one_quad_is_learnt(checkpoint: Checkpoint, quads: Path, tmp_path: Path) -> None:
    """Two corners are drawn, two denied: what the whole design is for, on the smallest scale."""
    wanted = recipe(
        checkpoint,
        quads,
        steps=140,
        wordings=1,
        asked_as="trained",
        lora=Lora(r=32, alpha=32, dropout=0.0, rows="all", targets=EVERYWHERE),
        losses=Losses(presence=0.2),
        sources=(DataSet(name="quads", inputs={"folder": str(quads)}, limit=1),),
        optimiser=Optimiser(
            learning_rate=5e-3, batch=1, micro_batch=8, warm_up=10, checkpointing=False, threads=1
        ),
        save_every=1000,
    )
    losses: list[float] = []
    train(wanted, tmp_path / "out", watch=Watch(step=lambda log, _: losses.append(log.loss)))
    assert losses[-1] < losses[0] / 20

    segmenter = load_segvlm(str(tmp_path / "out"), ModelOptions())

    benchmark = load(quads)
    from groundfault.io.pictures import read_image

    for item in benchmark.items[:4]:
        (answer,) = segmenter.segment(read_image(Path(benchmark.images, item.image)), [item.query])
        if not item.present:
            assert answer.outcome == "abstained", (item.id, answer.text)
            assert item.query.removeprefix("the ") in answer.text
            continue
        truth, found = decode(item.regions[0].mask), decode(answer.masks[0])
        assert (truth & found).sum() / (truth | found).sum() > 0.7, item.id
        assert answer.presence is not None and answer.scores[0] <= answer.presence
