"""Episodes with Gemini: calls in the words, pictures inline, over HTTP on loopback."""

from __future__ import annotations

from base64 import b64decode
from typing import Any

import pytest
from tests.agent.parts import EXAMINE, SELECT, Squares, picture
from tests.llm.chat_server import ChatServer, Request, Response, error
from tests.llm.test_gemini_server import response

from groundfault import registry
from groundfault.errors import UsageError
from groundfault.interfaces import ModelOptions
from groundfault.models.agent import trace_of
from groundfault.models.agent.loading import load
from groundfault.models.agent.scripted import call
from groundfault.records import Outcome

pytest.importorskip("aiohttp", reason="the extra 'asking' brings it")

KEY = "AIza-test-5ecret5ecret5ecret"


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.setenv("GROUNDFAULT_RESPONSES", str(tmp_path / "responses.sqlite"))
    monkeypatch.setitem(registry.KINDS["models"], "squares", registry.Entry(f"{__name__}:_squares"))


def _squares(argument: str, options: ModelOptions) -> Squares:
    return Squares()


def lines(request: Request) -> Response:
    contents = request.body["contents"]
    turn = sum(message["role"] == "model" for message in contents)
    concept = contents[0]["parts"][0]["text"].split("'")[1]
    if turn == 0:
        return Response(content=response(call("segment_phrase", text_prompt=concept)))
    if concept != "tiger":
        return Response(content=response(call("report_no_mask")))
    return Response(content=response(EXAMINE if turn == 1 else SELECT))


def test_episodes() -> None:
    with ChatServer(lines) as server:
        spec = f"squares+gemini:gemini-test,base_url={server.url},price=1/2"
        with load(spec, ModelOptions()) as agent:
            tiger, lion = agent.segment(picture(), ["tiger", "lion"])
    assert (tiger.outcome, lion.outcome) == (Outcome.OK, Outcome.ABSTAINED)
    longest = max(server.requests, key=lambda request: len(request.body["contents"])).body
    assert [message["role"] for message in longest["contents"]] == [
        "user", "model", "user", "model", "user",
    ]  # fmt: skip
    assert "HOW IT GOES" in longest["systemInstruction"]["parts"][0]["text"]
    assert longest["generationConfig"] == {}
    inline = [
        part["inlineData"]
        for message in longest["contents"]
        for part in message["parts"]
        if "inlineData" in part
    ]
    assert len(inline) == 3 and {one["mimeType"] for one in inline} == {"image/jpeg"}
    assert all(b64decode(one["data"]).startswith(b"\xff\xd8\xff") for one in inline)
    trace = trace_of(tiger)
    assert trace is not None and trace.tokens == 3 * 310
    assert trace.cost == pytest.approx(3 * (300 + 2 * 10) / 1e6)
    assert KEY not in tiger.text


def test_an_error_is_a_failure() -> None:
    with (
        ChatServer(lambda request: error(403)) as server,
        load(f"squares+gemini:gemini-test,base_url={server.url}", ModelOptions()) as agent,
    ):
        (answer,) = agent.segment(picture(), ["tiger"])
    assert answer.outcome is Outcome.FAILED and "refused the key" in answer.reason


def test_its_own_calls_are_not_spoken() -> None:
    with pytest.raises(UsageError, match="calls=native is for servers with OpenAI's protocol"):
        load("squares+gemini:gemini-test,calls=native", ModelOptions())
