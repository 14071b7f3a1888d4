"""Gemini's REST protocol, and conversations for judges."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.llm.chat_server import ChatServer, Request, Response, completion, error
from tests.llm.conftest import KEY, QUICK
from tests.llm.runs import run_exam

from groundfault.interfaces import ChatModel
from groundfault.llm.client import ChatClient
from groundfault.llm.gemini import gemini
from groundfault.llm.openai_chat import openai
from groundfault.llm.server import ChatOptions, Refused, Trouble, Unsound
from groundfault.records import Conversation, Message, Outcome, Picture
from groundfault.runs.recorder import read_predictions


def response(text: str, finish: str = "STOP") -> bytes:
    parts = [{"text": "hm", "thought": True}, {"text": text}]
    return json.dumps(
        {
            "candidates": [
                {"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0}
            ],
            "usageMetadata": {
                "promptTokenCount": 300,
                "candidatesTokenCount": 4,
                "thoughtsTokenCount": 6,
                "totalTokenCount": 310,
            },
            "modelVersion": "gemini-test",
        }
    ).encode()


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    return gemini("gemini-test", ChatOptions(max_tokens=64))


def test_requests(model: Any) -> None:
    conversation = (
        Message("system", ("Be brief.",)),
        Message("assistant", ("Hm.",)),
        Message("user", (Picture("image/png", b"QUJD"), "Is it?")),
    )
    assert json.loads(model.body(conversation)) == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "model", "parts": [{"text": "Hm."}]},
            {
                "role": "user",
                "parts": [
                    {"inlineData": {"mimeType": "image/png", "data": "QUJD"}},
                    {"text": "Is it?"},
                ],
            },
        ],
        "generationConfig": {"maxOutputTokens": 64, "temperature": 0.2},
    }
    assert KEY not in model.url and model.headers()["x-goog-api-key"] == KEY


def test_replies(model: Any) -> None:
    reply = model.parse(response("Yes."))
    assert (reply.text, reply.finish, reply.tokens_in, reply.tokens_out) == (
        "Yes.",
        "stop",
        300,
        10,
    )
    assert reply.reasoning == "hm"
    assert model.parse(response("Ye", "MAX_TOKENS")).reason == "truncated after 10 tokens"
    assert model.parse(response("", "SAFETY")).reason.startswith("refused")
    blocked = b'{"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}'
    assert model.parse(blocked).outcome is Outcome.UNPARSED
    for unsound in (b"", b"<html>", b"{}", b'{"candidates": 3}', b'{"candidates": []}'):
        with pytest.raises(Unsound):
            model.parse(unsound)


def test_problems(model: Any) -> None:
    bad_key = model.problem(400, b'{"error": {"details": [{"reason": "API_KEY_INVALID"}]}}')
    assert isinstance(bad_key, Refused) and bad_key.everything
    busy = model.problem(429, b'{"error": {"message": "slow", "details": [{"retryDelay": "7s"}]}}')
    assert isinstance(busy, Trouble) and busy.wait_s == 7.0 and "slow" in str(busy)
    assert not model.problem(400, b"").everything
    assert isinstance(model.problem(503, b"no JSON"), Trouble)


def test_an_exam_asked_of_gemini(
    exam_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)

    def behave(request: Request) -> Response:
        words = request.body["contents"][-1]["parts"][-1]["text"]
        if request.number == 3:
            return error(503)
        return Response(content=response(f"Yes to {words[:20]}"))

    with ChatServer(behave) as server:
        options = ChatOptions(base_url=server.url)
        run = run_exam(
            exam_folder,
            lambda: gemini("gemini-test", options),
            tmp_path / "run",
            name="gemini:gemini-test",
            options=options,
            patience=QUICK,
            limit=2,
        )
    assert run.outcomes["ok"] == 16 and run.tokens_out == 160
    found = {a.item_id: a.text for a in read_predictions(tmp_path / "run")}
    assert found["s00001:Q4"] == "Yes to s00001, question 4: "[:27]


def test_judges_converse_with_a_server(tmp_path: Path) -> None:
    def behave(request: Request) -> Response:
        turns = [(m["role"], m["content"]) for m in request.body["messages"]]
        return Response(content=completion(f"{len(turns)} turns, last {turns[-1][1]}"))

    conversations: list[Conversation] = [
        (Message("system", ("Judge.",)), Message("user", (f"answer {k}",))) for k in range(50)
    ]
    again = (Message("assistant", ("Hm",)), Message("user", ("One word.",)))
    conversations.append((*conversations[0], *again))
    with ChatServer(behave) as server:
        judge = ChatClient(
            openai("judge", ChatOptions(base_url=server.url, temperature=0.0)),
            responses=tmp_path / "r.sqlite",
            retry=QUICK,
        )
        assert isinstance(judge, ChatModel)
        replies = judge.complete(conversations)
        assert [reply.text for reply in replies[:50]] == [
            f"2 turns, last answer {k}" for k in range(50)
        ]
        assert replies[50].text == "4 turns, last One word."
        judge.complete(conversations)
        assert len(server.requests) == 51
        assert judge.cost.tokens_in == 5100
        server.behave = lambda request: error(401)
        (reply,) = judge.complete([(Message("user", ("new",)),)])
        assert reply.outcome is Outcome.FAILED and "OPENAI_API_KEY" in reply.reason
        assert judge.stopped
