"""Episodes with a vision-language model in this process: the real classes, tiny random weights."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.agent.parts import EXAMINE, REPORT, SEGMENT, SELECT, Squares, picture
from tests.llm.tiny_vlms import BUILDERS, saved

from groundfault import registry
from groundfault.errors import UsageError
from groundfault.interfaces import ModelOptions
from groundfault.llm.batching import BatchedChatModel
from groundfault.llm.server import ChatOptions
from groundfault.models.agent import Agent, Episode, Scene, Settings, replay, trace_of
from groundfault.models.agent.loading import load
from groundfault.models.transformers_vlm import hf
from groundfault.records import Outcome

pytestmark = [
    pytest.mark.skipif(
        any(
            importlib.util.find_spec(name) is None
            for name in ("torch", "torchvision", "transformers")
        ),
        reason="transformers or torchvision is not installed: the extra 'transformers' brings them",
    ),
    pytest.mark.xdist_group("transformers"),
]
IMAGES = [picture(seed) for seed in range(3)]


@pytest.fixture(scope="module", autouse=True)
def _library() -> None:
    import torch
    from tests.models.tiny.torchvision_cpu import make_importable

    torch.set_num_threads(1)
    make_importable()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("vlms")

    def made(name: str) -> Path:
        if not (root / name).exists():
            saved(root / name, name)
        return root / name

    return made


def told_what_to_say(model: Any, script: Callable[[str], str]) -> list[dict[str, Any]]:
    """The model with its own processor, template and tokens, but words from a script; gives what
    the network was handed."""
    import torch

    handed: list[dict[str, Any]] = []
    tokenizer = model.processor.tokenizer

    def generate(**inputs: Any) -> Any:
        handed.append(inputs)
        rows = [
            [*tokenizer(script(tokenizer.decode(row)))["input_ids"], tokenizer.eos_token_id]
            for row in inputs["input_ids"]
        ]
        longest = max(map(len, rows))
        padded = [row + [tokenizer.pad_token_id] * (longest - len(row)) for row in rows]
        return torch.cat([inputs["input_ids"], torch.tensor(padded)], dim=1)

    model.model.generate = generate
    return handed


def by_turn(seen: str) -> str:
    return (SEGMENT, EXAMINE, SELECT)[seen.count("<|im_start|>assistant") - 1]


def pictures(inputs: dict[str, Any]) -> int:
    """How many the network was handed; of InternVL, their parts."""
    sizes = ("image_grid_thw", "image_sizes", "pixel_values")
    return len(next(inputs[name] for name in sizes if name in inputs))


@pytest.mark.parametrize("name", BUILDERS)
def test_a_whole_episode_with_pictures_in_every_turn(
    name: str, folder: Callable[[str], Path]
) -> None:
    model = hf(str(folder(name)), ChatOptions(device="cpu", temperature=None))
    handed = told_what_to_say(model, by_turn)
    with Agent(Squares(), BatchedChatModel(model, batch=1), Settings()) as agent:
        (answer,) = agent.segment(IMAGES[0], ["tiger"])
        assert model.checkpoints and set(model.checkpoints) <= set(agent.checkpoints)
    assert answer.outcome is Outcome.OK and len(answer.masks) == 1
    first, second, third = map(pictures, handed)  # the image, the overlay, the close-up
    assert first < second < third
    trace = trace_of(answer)
    assert trace is not None and trace.cost == 0.0 and trace.tokens
    counts = [turn.tokens_in or 0 for turn in trace.turns]
    assert 0 < counts[0] < counts[1] < counts[2]
    assert replay(trace, IMAGES[0]).prediction().masks == answer.masks


def test_conversations_are_answered_in_batches_each_with_its_own_words(
    folder: Callable[[str], Path],
) -> None:
    model = hf(str(folder("qwen3_vl")), ChatOptions(device="cpu", temperature=None))

    def script(seen: str) -> str:
        if "'lion'" not in seen:
            return by_turn(seen)
        return (SEGMENT.replace("tiger", "lion"), REPORT)[seen.count("<|im_start|>assistant") - 1]

    handed = told_what_to_say(model, script)
    with Agent(Squares(), BatchedChatModel(model, batch=4), Settings()) as agent:
        found = agent.segment_batch(IMAGES, [["tiger", "lion"]] * 3)
    outcomes = [[p.outcome for p in several] for several in found]
    assert outcomes == [[Outcome.OK, Outcome.ABSTAINED]] * 3
    sizes = [len(inputs["input_ids"]) for inputs in handed]
    assert sum(sizes) == 3 * (3 + 2) and 1 < max(sizes) <= 4


def test_the_network_itself_takes_such_conversations(
    monkeypatch: pytest.MonkeyPatch, folder: Callable[[str], Path]
) -> None:
    """Words of random weights are no call, so every turn is corrected until none is left."""
    monkeypatch.setitem(registry.KINDS["models"], "squares", registry.Entry(f"{__name__}:_squares"))
    spec = f"squares+hf:{folder('qwen2_5_vl')},turns=2,max_tokens=16,temperature=none,batch=2"
    with load(spec, ModelOptions(device="cpu")) as agent:
        answers = agent.segment(IMAGES[0], ["tiger", "lion"])
        assert len(agent.checkpoints) == 1 and "qwen2_5_vl" in agent.checkpoints[0]
    assert [answer.outcome for answer in answers] == [Outcome.UNPARSED] * 2
    trace = trace_of(answers[0])
    assert trace is not None and len(trace.turns) == 2
    assert all("no tool call" in turn.problem for turn in trace.turns)
    assert (trace.turns[1].tokens_in or 0) > (trace.turns[0].tokens_in or 0)


def test_a_batch_that_fails_is_asked_one_by_one(folder: Callable[[str], Path]) -> None:
    model = hf(str(folder("qwen3_vl")), ChatOptions(device="cpu", temperature=None))
    told_what_to_say(model, by_turn)
    sound, sizes = model.model.generate, []

    def small(**inputs: Any) -> Any:
        sizes.append(len(inputs["input_ids"]))
        if sizes[-1] > 1:
            raise RuntimeError("CUDA out of memory")
        return sound(**inputs)

    model.model.generate = small
    waiting = [
        Episode(Scene(IMAGES[0]), query, Settings()).conversation for query in ("tiger", "cat")
    ]
    replies = BatchedChatModel(model)._handle(waiting)
    assert sizes == [2, 1, 1] and [reply.text for reply in replies] == [SEGMENT] * 2


def test_what_a_model_here_cannot_do_is_said(
    monkeypatch: pytest.MonkeyPatch, folder: Callable[[str], Path]
) -> None:
    monkeypatch.setitem(registry.KINDS["models"], "squares", registry.Entry(f"{__name__}:_squares"))
    for setting in ("calls=native", "budget=5"):
        with pytest.raises(UsageError, match="free and has no calls of its own"):
            load(f"squares+hf:{folder('qwen2_5_vl')},{setting}", ModelOptions(device="cpu"))


def _squares(argument: str, options: ModelOptions) -> Squares:
    return Squares()


class _Short:
    def complete(self, conversations: Sequence[Any]) -> list[Any]:
        return []


def test_a_reply_that_is_missing_is_a_failure() -> None:
    with Agent(Squares(), _Short(), Settings()) as agent:
        (answer,) = agent.segment(IMAGES[0], ["tiger"])
    assert answer.outcome is Outcome.FAILED and "gave 0 answers to 1 conversations" in answer.reason
