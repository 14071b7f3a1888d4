"""Questions in words to what answers in this process: chat models in batches, and baselines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.llm.exams import counting_exam
from tests.llm.runs import run_exam

from groundfault.errors import UsageError
from groundfault.llm.server import ChatOptions
from groundfault.records import Benchmark, Conversation, Item, Mode, Outcome, Prediction, Reply
from groundfault.runner.session import Progress
from groundfault.runs.recorder import read_predictions


@pytest.fixture
def exam(tmp_path: Path) -> Benchmark:
    """Three pictures with eight questions each."""
    return counting_exam(tmp_path / "exam", 3)


def ask(exam: Benchmark, model: Any, out: Path, **more: Any) -> dict[tuple[str, str], Prediction]:
    run_exam(exam, lambda: model, out, name="m", **more)
    return {each.key: each for each in read_predictions(out)}


class Chat:
    """Replies to everything, but fails whenever a batch holds a certain question."""

    def __init__(self, poison: str = "no question") -> None:
        self.poison, self.sizes, self.closed = poison, list[int](), False

    def complete(self, conversations: Sequence[Conversation]) -> list[Reply]:
        self.sizes.append(len(conversations))
        if any(self.poison in message.text for each in conversations for message in each):
            raise RuntimeError("poison")
        return [
            Reply(outcome=Outcome.OK, text=f"{len(message.pictures)} shown", tokens_in=5)
            for (message,) in conversations
        ]

    def close(self) -> None:
        self.closed = True


def test_a_chat_model_is_asked_in_batches_and_one_question_fails_alone(
    exam: Benchmark, tmp_path: Path
) -> None:
    model = Chat("s00001, question 3")
    found = ask(exam, model, tmp_path / "run", options=ChatOptions(batch=8))
    failed = {key: each.reason for key, each in found.items() if each.outcome is Outcome.FAILED}
    [(key, reason)] = failed.items()
    assert key == ("s00001:Q3", "std")
    assert reason.startswith("RuntimeError: poison (at runner/test_words.py:")
    assert model.sizes == [8, 8, 4, 2, 2, 1, 1, 4, 8] and model.closed
    assert {each.text for key, each in found.items() if key not in failed} == {"1 shown"}
    again = Chat()
    assert len(ask(exam, again, tmp_path / "run")) == 24 and again.sizes == [1]


class Baseline:
    """Knows nothing, and fails on what it is told to."""

    def __init__(self, bad: str = "", problem: type[Exception] = ValueError) -> None:
        self.bad, self.problem = bad, problem
        self.asked: list[tuple[str, Mode]] = []

    def predict(self, items: Sequence[Item], mode: Mode = "") -> list[Prediction]:
        if any(item.id == self.bad for item in items):
            raise self.problem("cannot answer this")
        self.asked += [(item.id, mode) for item in items]
        return [
            Prediction(
                item_id="whatever",
                outcome=Outcome.OK,
                text="Yes.",
                verdict="right",
                judge="somebody",
                cost=7.0,
            )
            for _ in items
        ]


def test_a_baseline_is_asked_mode_by_mode_and_its_answers_are_ungraded(
    exam: Benchmark, tmp_path: Path
) -> None:
    model, told = Baseline(), list[Progress]()
    modes = ("std", "cot")
    found = ask(exam, model, tmp_path / "run", modes=modes, progress=told.append)
    assert found.keys() == set(model.asked) and len(model.asked) == 48
    assert {(each.verdict, each.judge, each.cost) for each in found.values()} == {(None, "", 0.0)}
    assert told[-1].done == told[-1].n_items == 48 and told[-1].eta_s == 0


def test_a_question_that_a_baseline_cannot_answer_fails_alone(
    exam: Benchmark, tmp_path: Path
) -> None:
    found = ask(exam, Baseline("s00002:Q5"), tmp_path / "run")
    failed = {key: each.reason for key, each in found.items() if each.outcome is Outcome.FAILED}
    assert list(failed) == [("s00002:Q5", "std")] and len(found) == 24
    assert failed["s00002:Q5", "std"].startswith("ValueError: cannot answer this (at runner/")
    with pytest.raises(UsageError, match="cannot answer this"):
        ask(exam, Baseline("s00002:Q5", UsageError), tmp_path / "other")


def test_what_answers_no_questions_is_refused(exam: Benchmark, tmp_path: Path) -> None:
    class Finder:
        def segment(self, image: Any, phrases: Sequence[str]) -> list[Prediction]:
            return []

    with pytest.raises(UsageError, match="m finds things in pictures and answers no questions"):
        ask(exam, Finder(), tmp_path / "run")
    with pytest.raises(UsageError, match="m is no model"):
        ask(exam, object(), tmp_path / "run")
    assert not (tmp_path / "run" / "run.json").exists()


def test_a_picture_outside_its_folder_is_not_read(exam: Benchmark, tmp_path: Path) -> None:
    (tmp_path / "secret.jpg").write_bytes((Path(exam.images) / "s00000.jpg").read_bytes())
    first, *rest = exam.items
    outside = msgspec.structs.replace(first, images=("../../secret.jpg",))
    found = ask(msgspec.structs.replace(exam, items=(outside, *rest)), Chat(), tmp_path / "run")
    assert len(found) == 24 and found[first.id, "std"].outcome is Outcome.FAILED
    assert "leads outside the folder" in found[first.id, "std"].reason
    assert sum(each.outcome is Outcome.OK for each in found.values()) == 23


class Boastful:
    """Says that everything took more tokens than can be stored."""

    def complete(self, conversations: Sequence[Conversation]) -> list[Reply]:
        return [Reply(outcome=Outcome.OK, text="Yes", tokens_in=2**64) for _ in conversations]


class BoastfulBaseline:
    def predict(self, items: Sequence[Item], mode: Mode = "") -> list[Prediction]:
        return [
            Prediction(item_id=item.id, outcome=Outcome.OK, text="Yes", tokens_out=-(2**64))
            for item in items
        ]


@pytest.mark.parametrize("model", [Boastful(), BoastfulBaseline()])
def test_odd_counts_of_a_model_in_this_process_are_unknown(
    exam: Benchmark, tmp_path: Path, model: Any
) -> None:
    found = ask(exam, model, tmp_path / "run")
    assert {(each.text, each.tokens_in, each.tokens_out) for each in found.values()} == {
        ("Yes", 0, 0)
    }
