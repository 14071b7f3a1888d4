"""Servers that do not take a parameter: learnt from their refusal, by every user of the client."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.llm.chat_server import ChatServer, Request, Response, answer_to, completion, sound
from tests.llm.conftest import QUICK

from groundfault.judges.llm import LlmJudge
from groundfault.llm.client import ChatClient
from groundfault.llm.openai_chat import openai
from groundfault.llm.parameters import named_parameters
from groundfault.llm.server import ChatOptions
from groundfault.records import Message, Outcome
from groundfault.runs.run import Run, read_run

UNSUPPORTED = {
    "temperature": "Unsupported value: 'temperature' does not support 0.2 with this model. Only "
    "the default (1) value is supported.",
    "max_tokens": "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
    "'max_completion_tokens' instead.",
}


def refusing(*names: str, param: bool = True) -> Callable[[Request], Response]:
    """A server that takes none of these parameters, and says so as OpenAI does."""

    def behave(request: Request) -> Response:
        for name in names:
            if name in request.body:
                words = UNSUPPORTED.get(name, f"Unknown parameter: '{name}'.")
                error = {"message": words, "type": "invalid_request_error"}
                error |= {"param": name, "code": "unsupported_parameter"} if param else {}
                return Response(400, json.dumps({"error": error}).encode())
        return sound(request)

    return behave


def asked(server: ChatServer, *texts: str, at_once: int = 1) -> tuple[list[str], ChatClient]:
    chat = ChatClient(
        openai("tiny", ChatOptions(base_url=server.url)), retry=QUICK, concurrency=at_once
    )
    replies = chat.complete([(Message("user", (text,)),) for text in texts])
    assert {reply.outcome for reply in replies} == {Outcome.OK}, replies[0].reason
    return [reply.text for reply in replies], chat


def sent(server: ChatServer) -> list[set[str]]:
    """The parameters of each request."""
    return [set(request.body) - {"model", "messages"} for request in server.requests]


@pytest.mark.parametrize("param", [True, False], ids=["named apart", "named in its words"])
def test_a_refused_temperature_is_left_out_from_then_on(
    param: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with ChatServer(refusing("temperature", param=param)) as server:
        found, chat = asked(server, "a", "b", "c")
        assert found == [answer_to(text) for text in "abc"]
        assert sent(server) == [{"temperature", "max_tokens"}, *[{"max_tokens"}] * 3]
        chat.complete([(Message("user", ("d",)),)])  # another session of the same client
        assert sent(server)[4:] == [{"max_tokens"}]
    assert chat.changes == {"temperature": ""}
    assert (chat.statistics.refusals, chat.stopped) == (0, "")
    assert capsys.readouterr().err.count("does not take temperature; asked without it") == 1


def test_a_limit_goes_by_its_other_name() -> None:
    with ChatServer(refusing("max_tokens")) as server:
        asked(server, "a", "b")
        assert [request.body.get("max_completion_tokens") for request in server.requests] == [
            None, 1024, 1024,
        ]  # fmt: skip
        assert "max_tokens" not in server.requests[1].body


def test_several_are_learnt_one_by_one() -> None:
    with ChatServer(refusing("temperature", "max_tokens", "max_completion_tokens")) as server:
        _, chat = asked(server, "a", "b")
        assert sent(server) == [
            {"temperature", "max_tokens"}, {"max_tokens"}, {"max_completion_tokens"}, set(), set(),
        ]  # fmt: skip
    assert chat.changes == {"temperature": "", "max_tokens": ""}


def test_requests_under_way_together_all_get_their_answer() -> None:
    texts = [f"question {k}" for k in range(40)]
    with ChatServer(refusing("temperature")) as server:
        server.wait_for(8)
        found, _ = asked(server, *texts, at_once=8)
        assert found == [answer_to(text) for text in texts]
        assert len(server.requests) <= len(texts) + 8 and server.most_at_once == 8


@pytest.mark.parametrize(
    "words",
    [
        "Unknown parameter: 'messages[0].name'.",
        "temperature must be between 0 and 2",
        "'top_p' is not supported",  # which was not sent
        "the model's temperature gauge is not the problem",  # nor is it: refused without it too
    ],
)
def test_another_refusal_stands_and_nothing_is_learnt_from_it(words: str) -> None:
    def behave(request: Request) -> Response:
        if request.words == "bad":
            return Response(400, json.dumps({"error": {"message": words}}).encode())
        return sound(request)

    with ChatServer(behave) as server:
        chat = ChatClient(openai("tiny", ChatOptions(base_url=server.url)), concurrency=1)
        bad, good = chat.complete([(Message("user", (text,)),) for text in ("bad", "good")])
        assert len(server.requests) <= 3 and "temperature" in server.requests[-1].body
    assert bad.outcome is Outcome.FAILED and words in bad.reason and good.outcome is Outcome.OK
    assert chat.changes == {} and chat.statistics.refusals == 1


def test_a_server_that_refuses_for_ever_is_not_asked_for_ever() -> None:
    def behave(request: Request) -> Response:
        return Response(400, json.dumps({"error": {"message": "no temperature, no seed"}}).encode())

    with ChatServer(behave) as server:
        chat = ChatClient(openai("tiny", ChatOptions(base_url=server.url)))
        (reply,) = chat.complete([(Message("user", ("a",)),)])
        assert len(server.requests) == 2
    assert reply.outcome is Outcome.FAILED and reply.finish == "refused"


def test_what_was_paid_for_is_found_by_the_next_process() -> None:
    """A request is stored as it was meant; the next client learns anew only if it has to ask."""
    with ChatServer(refusing("temperature")) as server:
        first, _ = asked(server, "a", "b")
        n = len(server.requests)
        again, chat = asked(server, "a", "b")
        assert again == first and len(server.requests) == n
        assert chat.statistics.from_store == 2
        asked(server, "c")
        assert sent(server)[n:] == [{"temperature", "max_tokens"}, {"max_tokens"}]


def test_an_exam_notes_it(ask: Callable[..., Run], tmp_path: Path) -> None:
    with ChatServer(refusing("temperature")) as server:
        run = ask(server, concurrency=4)
    assert run.outcomes["ok"] == run.n_items
    assert read_run(tmp_path / "run").settings["changed_parameters"] == {"temperature": ""}


def test_a_judge_learns_it_too() -> None:
    def behave(request: Request) -> Response:
        refused = refusing("temperature")(request)
        return refused if refused.status != 200 else Response(content=completion("right"))

    with ChatServer(behave) as server:
        model = openai("tiny", ChatOptions(base_url=server.url, temperature=0.0))
        judge = LlmJudge(ChatClient(model, concurrency=1), "openai:tiny")
        assert [judge.judge("How many?", text, "It is 3.") for text in ("3", "three")] == [True] * 2
        assert ["temperature" in request.body for request in server.requests] == [
            True,
            False,
            False,
        ]


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ('{"detail":[{"type":"extra_forbidden","loc":["body","seed"]}]}', ("seed",)),
        ("max_completion_tokens is not recognized, use max_tokens",
         ("max_completion_tokens", "max_tokens")),
        ("This model's maximum context length is 4096; max_tokens is 5000", ()),
        ("my_temperature is wrong", ()),
    ],
)  # fmt: skip
def test_names_in_an_error(body: str, names: tuple[str, ...]) -> None:
    assert named_parameters(body) == names
