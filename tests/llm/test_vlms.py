"""Local vision-language models: the real classes with tiny random weights, loaded from disk."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.llm.runs import run_exam
from tests.llm.tiny_vlms import BUILDERS, saved

from groundfault.errors import GroundfaultError, UsageError
from groundfault.interfaces import ChatModel
from groundfault.llm.pictures import PictureCache
from groundfault.llm.server import ChatOptions
from groundfault.models.transformers_vlm import hf
from groundfault.records import Conversation, Message
from groundfault.runs.recorder import read_predictions

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
MAX_TOKENS = 6


@pytest.fixture(scope="session", autouse=True)
def _library() -> None:
    import torch
    from tests.models.tiny.torchvision_cpu import make_importable

    torch.set_num_threads(1)
    make_importable()


@pytest.fixture(scope="session")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    root = tmp_path_factory.mktemp("vlms")

    def load(name: str, **options: Any) -> Any:
        folder = root / name
        if not folder.exists():
            saved(folder, name)
        given = {"device": "cpu", "temperature": None, "max_tokens": MAX_TOKENS, **options}
        return hf(str(folder), ChatOptions(**given))

    return load


@pytest.fixture(scope="session")
def asked(tmp_path_factory: pytest.TempPathFactory) -> list[Conversation]:
    """Questions of very different lengths, about one picture or two of different sizes."""
    folder = tmp_path_factory.mktemp("pictures")
    paths = []
    for number, size in enumerate(((96, 64), (40, 90), (64, 64))):
        paths.append(folder / f"{number}.png")
        Image.effect_noise(size, 80).convert("RGB").save(paths[-1])
    return [
        conversation("Dog?", paths[0]),
        conversation("What changed? " * 6, paths[1], paths[2]),
        conversation("Is there a dog? " * 12, paths[1]),
    ]


def conversation(text: str, *pictures: Path) -> Conversation:
    return (Message("user", (*map(PictureCache().load, pictures), text)),)


@pytest.mark.parametrize("name", BUILDERS)
def test_a_batch_gives_what_each_question_gives_alone(
    name: str, loaded: Callable[..., Any], asked: list[Conversation]
) -> None:
    model = loaded(name)
    assert isinstance(model, ChatModel)
    together = model.complete(asked)
    alone = [model.complete([one])[0] for one in asked]
    assert [reply.text for reply in together] == [reply.text for reply in alone]
    assert [reply.tokens_in for reply in together] == [reply.tokens_in for reply in alone]
    for reply in together:
        assert reply.tokens_out is not None and 1 <= reply.tokens_out <= MAX_TOKENS
        assert reply.finish in ("stop", "length")
        assert (reply.finish == "length") == reply.reason.startswith("truncated")


@pytest.mark.parametrize("name", BUILDERS)
def test_pictures_are_looked_at(
    name: str, loaded: Callable[..., Any], asked: list[Conversation], tmp_path: Path
) -> None:
    model = loaded(name)
    with_picture, without = asked[0], conversation(asked[0][0].text)
    seen, blind = model.complete([with_picture])[0], model.complete([without])[0]
    assert seen.tokens_in > blind.tokens_in  # by the picture's tokens
    inputs = model._inputs([with_picture])
    Image.new("RGB", (96, 64), "black").save(tmp_path / "black.png")
    dark = conversation(with_picture[0].text, tmp_path / "black.png")
    pixels = next(n for n in inputs if n.startswith("pixel_values"))
    assert (inputs[pixels] - model._inputs([dark])[pixels]).abs().max() > 0.1


def test_drawn_words_are_the_same_for_the_same_batch(
    loaded: Callable[..., Any], asked: list[Conversation]
) -> None:
    model = loaded("qwen3_vl", temperature=5.0, max_tokens=20)
    first, again = model.complete(asked), model.complete(asked)
    assert [reply.text for reply in first] == [reply.text for reply in again]
    seeded = [
        loaded("qwen3_vl", temperature=5.0, max_tokens=20, sampling_seed=k) for k in (1, 1, 2)
    ]
    words = [[reply.text for reply in each.complete(asked)] for each in seeded]
    assert words[0] == words[1] != words[2]
    greedy = loaded("qwen3_vl", temperature=0.0, max_tokens=20).complete(asked)
    assert [reply.text for reply in greedy] != [reply.text for reply in first]


def test_an_answer_that_ends_is_whole(
    loaded: Callable[..., Any], asked: list[Conversation]
) -> None:
    model = loaded("qwen2_5_vl")
    end = model.processor.tokenizer.eos_token_id
    words = model.processor.tokenizer("Yes.")["input_ids"]
    reply = model._reply([*words, end, end, end], 9)
    assert (reply.text, reply.finish, reply.tokens_out) == ("Yes.", "stop", len(words) + 1)
    assert model._reply(words, 9).reason.startswith("truncated")


def test_an_exam(loaded: Callable[..., Any], exam_folder: Path, tmp_path: Path) -> None:
    model = loaded("qwen3_vl")
    run = run_exam(exam_folder, lambda: model, tmp_path / "run", name="hf:tiny", limit=1)
    assert run.outcomes["failed"] == 0 and len(list(read_predictions(tmp_path / "run"))) == 8
    assert "@sha256:" in run.identity["server"]


def test_what_cannot_be_loaded(tmp_path: Path, loaded: Callable[..., Any]) -> None:
    with pytest.raises(UsageError, match="name the checkpoint"):
        hf("", ChatOptions())
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(GroundfaultError, match="hf:"):
        hf(str(tmp_path), ChatOptions(device="cpu"))
