"""A model reads what the rules leave unread, over a real server; its errors are on a card."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tests.conftest import Ran
from tests.llm.chat_server import ChatServer, Request, Response, completion
from tests.llm.exams import whole_exam
from tests.llm.test_eval_exam_server import Pupil, answers, evaluate, odd

from groundfault.benchmarks.reactbench import read
from groundfault.io.store import read_json
from groundfault.judges.reader import LlmReader, ReaderCard, Readings, Unread, read_unread
from groundfault.records import Conversation, Outcome, Prediction, Reply
from groundfault.runs.run import read_run

Command = Callable[..., Ran]


@pytest.fixture(scope="module")
def exam_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("read") / "exam"
    whole_exam(folder, per_task=2)
    return folder


RIDDLES = {"yes": "Verily it is so", "no": "Far be it from that"}
"""What no rule reads, and what it means."""


def reading(request: Request) -> Response:
    """A reader that knows the riddles, answers in another form at first, and never guesses."""
    words = next(m["content"] for m in request.body["messages"] if m["role"] == "user")
    words = words if isinstance(words, str) else words[-1]["text"]
    said = words.split("-----")[1]
    meant = next((value for value, text in RIDDLES.items() if text in said), "unclear")
    formed = len(request.body["messages"]) > 2
    return Response(content=completion(meant if formed else f"I think: {meant}"))


def test_what_the_rules_leave_unread_is_read_by_a_model_and_marked_by_rule(
    run: Command,
    exam_dir: Path,
    tmp_path: Path,
) -> None:
    exam = read(exam_dir)
    pupil = Pupil(exam, odd)

    def riddling(request: Request) -> Response:
        item = pupil.item(request.last[0])
        said = pupil.says(item, "std").rstrip(".")
        return Response(content=completion(RIDDLES.get(said, said)))

    with ChatServer(riddling) as server, ChatServer(reading) as reader:
        assert evaluate(run, exam_dir, tmp_path, server.url, "--mode", "std").code == 0
        folder = tmp_path / "openai-tiny"
        unread = [a for a in answers(folder).values() if a.outcome is Outcome.UNPARSED]
        assert unread and read_run(folder).read is None
        ran = run("judge", folder, "--reader", "openai:reader", "--base-url", reader.url)
        assert ran.code == 0, ran.err
        assert len(server.requests) == len(exam.items), "no question is asked again"
        assert len(reader.requests) == 2 * len(unread)
    kept = answers(folder)
    assert not [a for a in kept.values() if a.outcome is Outcome.UNPARSED]
    for before in unread:
        after = kept[before.key]
        assert after.judge == "openai:reader" and after.parsed in RIDDLES
        assert after.verdict == ("right" if odd(after.item_id, "std") else "wrong")
    noted = read_run(folder).read
    assert noted is not None and noted.name == "openai:reader" and len(noted.prompt_hash) == 64
    assert run("judge", folder).code == 0
    again = [a for a in answers(folder).values() if a.outcome is Outcome.UNPARSED]
    assert len(again) == len(unread) and read_run(folder).read is None


def test_the_card_tells_how_often_rules_and_reader_err(run: Command, tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    rows = [
        {"kind": "yes_no", "text": "Yes.", "value": True},
        {"kind": "yes_no", "text": RIDDLES["yes"], "value": True},
        {"kind": "yes_no", "text": RIDDLES["no"], "value": True},  # the reader will be wrong
        {"kind": "yes_no", "text": "Maybe.", "value": None},
        {"kind": "yes_no", "text": "I can't view images.", "value": None},  # never shown to it
    ]
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with ChatServer(reading) as server:
        out = tmp_path / "card.json"
        at = ("--reader", "openai:reader", "--base-url", server.url, "--out", out)
        ran = run("reader-card", labels, *at)
        assert ran.code == 0, ran.err
        assert "misread" in ran.out and "openai:reader" in ran.out
    card = read_json(out, ReaderCard)
    assert card.rules["Overall"] == Readings(5, 3, 2, 0)
    assert card.with_reader["Overall"] == Readings(5, 4, 0, 1)
    alone = run("reader-card", labels, "--json").json
    assert alone["reader"] == "" and alone["rules"]["yes_no"]["n"] == 5
    assert run("reader-card", tmp_path / "none.jsonl").code == 2


class Parrot:
    """A model that always says the same."""

    def __init__(self, text: str) -> None:
        self.text = text

    def complete(self, conversations: list[Conversation]) -> list[Reply]:
        return [Reply(outcome=Outcome.OK, text=self.text) for _ in conversations]


@pytest.mark.parametrize(
    ("said", "unread", "value"),
    [
        ("<think>no?</think>Yes.", Unread("yes_no", "…"), True),
        ("B", Unread("choice", "…", options=("red", "blue")), "B"),
        ("C", Unread("choice", "…", options=("red", "blue")), None),
        ("**21**", Unread("number", "…"), 21),
        ("24 - 20", Unread("range", "…"), (20, 24)),
        ("21 or 22", Unread("number", "…"), None),
        ("unclear", Unread("range", "…"), None),
        ("", Unread("yes_no", "…"), None),
    ],
)
def test_only_a_reply_in_the_form_asked_for_counts(
    said: str, unread: Unread, value: object
) -> None:
    [(found, _)] = LlmReader(Parrot(said), "parrot").read_all([unread])
    assert found == value and type(found) is type(value)


def test_what_was_cut_off_or_refused_is_not_shown_to_the_reader(
    exam_dir: Path,
) -> None:
    exam = read(exam_dir)
    asked = next(item for item in exam.items if item.answer and item.answer.type == "YN")
    row = Prediction(item_id=asked.id, mode="std", outcome=Outcome.UNPARSED, text="Verily")
    rows = [
        row,
        msgspec.structs.replace(row, finish="length"),
        msgspec.structs.replace(row, text="I'm sorry, I can't view images."),
        msgspec.structs.replace(row, outcome=Outcome.FAILED),
    ]
    found = read_unread(exam, rows, LlmReader(Parrot("yes"), "parrot"))
    assert [each.parsed for each in found] == ["yes", None, None, None]
