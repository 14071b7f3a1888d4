"""Answerers without a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.llm.chat_server import ChatServer
from tests.llm.runs import run_exam

from groundfault import registry
from groundfault.errors import DataError, UsageError
from groundfault.llm.openai_chat import openai
from groundfault.llm.server import ChatOptions, Server
from groundfault.models import exam_baselines as baselines
from groundfault.parsing.choices import parse_choice
from groundfault.parsing.passages import passage
from groundfault.parsing.yes_no import parse_yes_no
from groundfault.records import Outcome, Prediction, Reply
from groundfault.runner.prompts import Asked
from groundfault.runs.recorder import read_predictions
from groundfault.runs.run import Run

OPTIONS = ChatOptions()


def run(exam: Path, out: Path, model: Any) -> Run:
    return run_exam(exam, lambda: model, out, name="baseline", modes=("std", "cot"))


def by_key(folder: Path) -> dict[tuple[str, str], Prediction]:
    return {(a.item_id, a.mode): a for a in read_predictions(folder)}


def test_the_oracle_gives_the_references(exam_folder: Path, tmp_path: Path) -> None:
    found = run(exam_folder, tmp_path / "run", baselines.oracle("", OPTIONS))
    assert found.state == "finished" and found.outcomes["ok"] == 480
    answers = by_key(tmp_path / "run")
    texts = [answers[f"s00000:Q{k}", "std"].text for k in range(1, 9)]
    assert texts == ["Yes.", "Yes.", "Yes.", "Yes.", "7.", "5-9.", "B.", "B."]


def test_always_yes(exam_folder: Path, tmp_path: Path) -> None:
    run(exam_folder, tmp_path / "run", baselines.always_yes("", OPTIONS))
    assert {a.text for a in read_predictions(tmp_path / "run")} == {"Yes.", "A."}


def test_blind_and_random_can_be_read_and_are_repeatable(exam_folder: Path, tmp_path: Path) -> None:
    for name in ("blind", "random"):
        make = getattr(baselines, name)
        run(exam_folder, tmp_path / name, make("", OPTIONS))
        run(exam_folder, tmp_path / f"{name}2", make("", OPTIONS))
        answers, again = by_key(tmp_path / name), by_key(tmp_path / f"{name}2")
        assert {k: a.text for k, a in answers.items()} == {k: a.text for k, a in again.items()}
        said = [
            parse_yes_no(passage(answers[f"s{k:05d}:Q1", "std"].text, "std")) for k in range(30)
        ]
        assert 5 < said.count("yes") < 25 and said.count("yes") + said.count("no") == 30
        letters = {parse_choice(answers[f"s{k:05d}:Q7", "std"].text, ["3", "7"]) for k in range(30)}
        assert letters == {"A", "B"}
    other = baselines.random("7", OPTIONS)
    run(exam_folder, tmp_path / "other", other)
    assert by_key(tmp_path / "other") != by_key(tmp_path / "random")


def test_blind_does_not_depend_on_the_picture() -> None:
    asked = [
        Asked(item_id=f"{k}", text="?", question="Is it?", kind="YN", pictures=(Path(f"{k}.png"),))
        for k in range(5)
    ]
    assert len({reply.text for reply in baselines.blind("", OPTIONS).answer(asked)}) == 1  # type: ignore[union-attr]


def test_a_served_model_without_pictures(
    exam_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("aiohttp", reason="the extra 'asking' brings it")
    entry = registry.Entry("groundfault.llm.openai_chat:openai")
    monkeypatch.setitem(registry.KINDS, "answerers", {"openai": entry})
    with ChatServer() as server:
        options = ChatOptions(base_url=server.url)
        model = baselines.blind("openai:tiny", options)
        assert isinstance(model, Server)
        found = run_exam(exam_folder, lambda: model, tmp_path / "run", name="blind", limit=2)
        assert found.outcomes["ok"] == 16
        assert not any(request.pictures for request in server.requests)
        assert openai("tiny", options).url == model.url


def test_replay_of_a_run(exam_folder: Path, tmp_path: Path) -> None:
    run(exam_folder, tmp_path / "first", baselines.oracle("", OPTIONS))
    replayed = baselines.replay(str(tmp_path / "first"), OPTIONS)
    run(exam_folder, tmp_path / "second", replayed)
    first, second = by_key(tmp_path / "first"), by_key(tmp_path / "second")
    assert {k: a.text for k, a in first.items()} == {k: a.text for k, a in second.items()}


def test_replay_of_lines(exam_folder: Path, tmp_path: Path) -> None:
    lines = [
        {"item_id": "s00000:Q1", "text": "Yes"},
        {"item_id": "s00000:Q2", "mode": "std", "text": ""},
        {"item_id": "s00000:Q3", "text": "I lo", "finish": "length"},
    ]
    file = tmp_path / "answers.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)) + "\n\n")
    found = run(exam_folder, tmp_path / "run", baselines.replay(str(file), OPTIONS))
    assert found.outcomes == {"ok": 2, "abstained": 0, "unparsed": 3, "failed": 475}
    answers = by_key(tmp_path / "run")
    assert answers["s00000:Q2", "std"].reason == "empty answer"
    assert answers["s00000:Q2", "cot"].outcome is Outcome.FAILED
    assert "truncated" in answers["s00000:Q3", "cot"].reason
    file.write_text('{"item_id": 7}')
    with pytest.raises(DataError, match="line 1"):
        baselines.replay(str(file), OPTIONS)
    with pytest.raises(UsageError, match="no answers"):
        baselines.replay(str(exam_folder), OPTIONS)


class Fragile:
    """Fails on one question, and takes the batch that it is in with it."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def answer(self, asked: Any) -> list[Reply]:
        self.sizes.append(len(asked))
        if any(one.item_id == "s00001:Q3" for one in asked):
            raise MemoryError("3 GB")
        return [Reply(outcome=Outcome.OK, text=one.item_id) for one in asked]


def test_a_batch_that_fails_is_halved_until_one_question_is_to_blame(
    exam_folder: Path, tmp_path: Path
) -> None:
    model, options = Fragile(), ChatOptions(batch=8)
    found = run_exam(
        exam_folder, lambda: model, tmp_path / "run", name="fragile", limit=3, options=options
    )
    assert found.outcomes["ok"] == 23 and found.failures == {"MemoryError: 3 GB": 1}
    assert {a.text for a in read_predictions(tmp_path / "run") if a.text} == {
        f"s{k:05d}:Q{q}" for k in range(3) for q in range(1, 9)
    } - {"s00001:Q3"}
    assert model.sizes[0] == 8 and min(model.sizes) == 1
