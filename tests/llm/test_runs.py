"""Runs in words of a model in this process, and of one behind a server that is shown no picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.llm.chat_server import ChatServer
from tests.llm.runs import run_exam

from groundfault.llm.openai_chat import openai
from groundfault.llm.server import ChatOptions, Server
from groundfault.models.baselines import blind
from groundfault.records import Conversation, Outcome, Reply
from groundfault.runs.recorder import read_predictions


def test_a_served_model_without_pictures(exam_folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("aiohttp", reason="the extra 'asking' brings it")
    with ChatServer() as server:
        options = ChatOptions(base_url=server.url)
        model = blind("openai:tiny", options)
        assert isinstance(model, Server)
        found = run_exam(exam_folder, lambda: model, tmp_path / "run", name="blind", limit=2)
        assert found.outcomes["ok"] == 16
        assert not any(request.pictures for request in server.requests)
        assert openai("tiny", options).url == model.url


class Fragile:
    """Fails on one question, and takes the batch that it is in with it."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def complete(self, conversations: Sequence[Conversation]) -> list[Reply]:
        self.sizes.append(len(conversations))
        asked = [conversation[-1].text.partition(":")[0] for conversation in conversations]
        if "s00001, question 3" in asked:
            raise MemoryError("3 GB")
        return [Reply(outcome=Outcome.OK, text=question) for question in asked]


def test_a_batch_that_fails_is_halved_until_one_question_is_to_blame(
    exam_folder: Path, tmp_path: Path
) -> None:
    model, options = Fragile(), ChatOptions(batch=8)
    found = run_exam(
        exam_folder, lambda: model, tmp_path / "run", name="fragile", limit=3, options=options
    )
    assert found.outcomes["ok"] == 23
    [(reason, n)] = found.failures.items()
    assert reason.startswith("MemoryError: 3 GB (at llm/test_runs.py:") and n == 1
    kept = {each.item_id: each.text for each in read_predictions(tmp_path / "run") if each.text}
    assert kept == {
        f"s{k:05d}:Q{q}": f"s{k:05d}, question {q}"
        for k in range(3)
        for q in range(1, 9)
        if (k, q) != (1, 3)
    }
    assert model.sizes[0] == 8 and min(model.sizes) == 1
