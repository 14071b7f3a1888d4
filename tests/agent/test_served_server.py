"""Episodes with a model behind HTTP: both forms of calls, money, errors, the store."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.agent.parts import REPORT, SEGMENT, SELECT, Squares, picture
from tests.llm.chat_server import ChatServer, Request, Response, completion, error
from tests.runner.conftest import painted_set

from groundfault import registry
from groundfault.benchmarks import folder
from groundfault.errors import UsageError
from groundfault.interfaces import ModelOptions
from groundfault.llm.client import ChatClient
from groundfault.llm.openai_chat import openai
from groundfault.llm.retry import RetryPolicy
from groundfault.llm.server import ChatOptions
from groundfault.models.agent import Agent, Settings, differences, replay, trace_of
from groundfault.models.agent.loading import chat_client, load
from groundfault.models.agent.scripted import call
from groundfault.records import Outcome, Prediction
from groundfault.runner.session import folder_name

pytest.importorskip("aiohttp", reason="the extra 'asking' brings it")

QUICK = RetryPolicy(attempts=2, first_wait_s=0.01, longest_wait_s=0.02)
KEY = "sk-test-5ecret5ecret5ecret"
IMAGES = [picture(seed) for seed in range(4)]
SHORT = "not asked: what is left of the budget of {} does not pay for another episode"


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("GROUNDFAULT_RESPONSES", str(tmp_path / "responses.sqlite"))
    for name in ("OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def lines(request: Request) -> str:
    """Segment, examine, select; what is not a tiger is rejected."""
    turn = sum(message["role"] == "assistant" for message in request.body["messages"])
    concept = request.body["messages"][1]["content"][0]["text"].split("'")[1]
    if turn == 0:
        return call("segment_phrase", text_prompt=concept)
    if concept != "tiger":
        return call("report_no_mask")
    return call("examine_masks", mask_indices=[1]) if turn == 1 else SELECT


def sound(request: Request) -> Response:
    return Response(content=completion(lines(request)))


def verified(
    server: ChatServer, images: list[Any], **settings: Any
) -> tuple[list[Prediction], ChatClient]:
    chosen = Settings(**settings)
    client = chat_client(
        openai("stub", ChatOptions(base_url=server.url, max_tokens=77)), chosen, retry=QUICK
    )
    with Agent(Squares(), client, chosen) as agent:
        found = agent.segment_batch(images, [["tiger", "lion"]] * len(images))
    return [prediction for several in found for prediction in several], client


def test_episodes_over_http() -> None:
    with ChatServer(sound, delay_s=0.01) as server:
        server.wait_for(2)
        found, client = verified(server, IMAGES, price="1/2")
        assert [p.outcome for p in found] == [Outcome.OK, Outcome.ABSTAINED] * len(IMAGES)
        assert server.most_at_once > 1
    first = server.requests[0].body
    assert first["model"] == "stub" and first["max_tokens"] == 77 and "tools" not in first
    assert {request.authorization for request in server.requests} == {f"Bearer {KEY}"}
    trace = trace_of(found[0])
    assert trace is not None and len(trace.turns) == 3
    assert trace.tokens == 3 * 110 and trace.cost == pytest.approx(3 * 120 / 1e6)
    assert trace.latency_s > 0.03 and client.cost.requests == 20
    assert replay(trace, IMAGES[0]).prediction().masks == found[0].masks
    last = max(server.requests, key=lambda r: len(r.body["messages"])).body["messages"]
    pictures = sum(str(message["content"]).count("data:image/jpeg") for message in last)
    assert len(last) == 6 and pictures == 3
    assert KEY not in found[0].text


def native(request: Request) -> Response:
    """The same as the server's own tool calls."""
    text = lines(request)
    named = json.loads(text.partition("<tool>")[2].partition("</tool>")[0])
    function = {"name": named["name"], "arguments": json.dumps(named["parameters"])}
    calls = [{"id": "x", "type": "function", "function": function}]
    return Response(content=completion(None, "tool_calls", tool_calls=calls))


def test_native_calls() -> None:
    with ChatServer(native) as server:
        found, _ = verified(server, IMAGES[:1], calls="native")
    assert [p.outcome for p in found] == [Outcome.OK, Outcome.ABSTAINED]
    body = max(server.requests, key=lambda r: len(r.body["messages"])).body
    assert [tool["function"]["name"] for tool in body["tools"]] == [
        "segment_phrase", "examine_masks", "select_masks_and_return", "report_no_mask",
    ]  # fmt: skip
    roles = [message["role"] for message in body["messages"]]
    assert roles == ["system", "user", *["assistant", "tool", "user"] * 2]
    trace = trace_of(found[0])
    assert trace is not None and replay(trace, IMAGES[0]).prediction().masks == found[0].masks


def test_what_was_paid_for_is_not_paid_for_again() -> None:
    with ChatServer(sound) as server:
        before, _ = verified(server, IMAGES[:2])
        asked = len(server.requests)
        again, client = verified(server, IMAGES[:2])
        assert len(server.requests) == asked and client.cost.requests == 0
        assert [p.masks for p in again] == [p.masks for p in before]
        verified(server, IMAGES[:2], fresh=True)
        assert len(server.requests) == 2 * asked


def test_the_budget_ends_it_in_failures() -> None:
    with ChatServer(sound) as server:
        found, _ = verified(server, IMAGES, budget="700 tokens", concurrency=1)
        assert len(server.requests) == 5  # of 110 tokens each; a third episode may take 275
        outcomes = [p.outcome for p in found]
        assert outcomes[:2] == [Outcome.OK, Outcome.ABSTAINED]
        assert outcomes[2:] == [Outcome.FAILED] * 6
        assert {p.reason for p in found[2:]} == {SHORT.format("700 tokens")}
        more, _ = verified(server, IMAGES)  # with more money, from where it stopped
        assert Outcome.FAILED not in [p.outcome for p in more] and len(server.requests) == 20


def test_a_small_budget_finishes_what_it_begins() -> None:
    def behave(request: Request) -> Response:
        segmented = len(request.body["messages"]) > 2
        return Response(content=completion(REPORT if segmented else SEGMENT))

    with ChatServer(behave, delay_s=0.01) as server:
        found, _ = verified(server, IMAGES, budget="1200 tokens")
        assert len(server.requests) == 10  # of 110 tokens each, two in an episode
    assert [p.outcome for p in found].count(Outcome.ABSTAINED) == 5
    assert [p.reason for p in found].count(SHORT.format("1200 tokens")) == 3


def test_stored_episodes_need_no_budget() -> None:
    with ChatServer(sound) as server:
        verified(server, IMAGES[1:])
        asked = len(server.requests)
        found, _ = verified(server, IMAGES, budget="100 tokens", concurrency=1)
    assert len(server.requests) == asked + 1
    assert [p.outcome for p in found[:2]] == [Outcome.FAILED] * 2
    assert Outcome.FAILED not in [p.outcome for p in found[2:]]


@pytest.mark.parametrize(
    ("behave", "reason", "asked"),
    [
        (lambda r: error(500, "oops"), "HTTP 500: oops, 2 times", 4),
        (lambda r: error(400, "too many pictures"), "too many pictures", 2),
        (lambda r: error(401), "refused the key", 2),
        (lambda r: Response(content=b"<html>"), "not JSON", 4),
    ],
)
def test_an_error_is_a_failure_never_an_abstention(
    behave: Callable[[Request], Response], reason: str, asked: int
) -> None:
    with ChatServer(behave) as server:
        found, _ = verified(server, IMAGES[:1], concurrency=1)
    assert [p.outcome for p in found] == [Outcome.FAILED] * 2
    assert reason in found[0].reason and len(server.requests) <= asked
    assert not any(p.masks for p in found)


def test_a_refused_key_stops_everything() -> None:
    with ChatServer(lambda r: error(401)) as server:
        found, client = verified(server, IMAGES, concurrency=1)
    assert len(server.requests) == 1 and "refused the key" in client.stopped
    assert {p.outcome for p in found} == {Outcome.FAILED}
    assert found[-1].reason.startswith("not asked: ")


def test_an_answer_cut_short_costs_a_turn() -> None:
    def behave(request: Request) -> Response:
        if len(request.body["messages"]) == 2:
            return Response(content=completion("<think>Well", "length"))
        if len(request.body["messages"]) == 4:
            return Response(content=completion(call("segment_phrase", text_prompt="tiger")))
        return Response(content=completion(call("report_no_mask")))

    with ChatServer(behave) as server:
        found, _ = verified(server, IMAGES[:1])
    trace = trace_of(found[0])
    assert found[0].outcome is Outcome.ABSTAINED and trace is not None
    assert len(trace.turns) == 3 and "(truncated after 10 tokens)" in trace.turns[0].problem
    assert differences(trace, replay(trace, IMAGES[0]).trace()) == []


def test_native_calls_without_arguments_or_cut_short() -> None:
    def behave(request: Request) -> Response:
        turn = sum(message["role"] == "assistant" for message in request.body["messages"])
        name, arguments, finish = (
            ("segment_phrase", '{"text_pro', "length"),
            ("segment_phrase", {"text_prompt": "tiger"}, "tool_calls"),
            ("report_no_mask", None, "tool_calls"),
        )[turn]
        function = {"name": name, "arguments": arguments}
        calls = [{"id": "x", "type": "function", "function": function}]
        return Response(content=completion(None, finish, tool_calls=calls))

    with ChatServer(behave) as server:
        found, _ = verified(server, IMAGES[:1], calls="native")
    trace = trace_of(found[0])
    assert found[0].outcome is Outcome.ABSTAINED and trace is not None
    assert [turn.problem for turn in trace.turns[1:]] == ["", ""]
    assert "(truncated after 10 tokens)" in trace.turns[0].problem


def test_a_budget_in_money_needs_prices() -> None:
    paid = openai("stub", ChatOptions(base_url="http://127.0.0.1:9/v1"))
    with pytest.raises(UsageError, match="needs prices"):
        chat_client(paid, Settings(budget="5"))
    chat_client(paid, Settings(budget="5", price="1/2"))
    chat_client(paid, Settings(budget="2M tokens"))


def test_pictures_count_where_a_server_does_not_count_tokens() -> None:
    def behave(request: Request) -> Response:
        content = json.loads(sound(request).content)
        return Response(content=json.dumps({**content, "usage": None}).encode())

    with ChatServer(behave) as server:
        found, client = verified(server, IMAGES[:1], budget="4k tokens", concurrency=1)
    assert client.cost.requests == len(server.requests) < 5
    assert found[0].reason == "not asked: the budget of 4000 tokens is used up"
    assert found[-1].reason == SHORT.format("4000 tokens")


def _squares(argument: str, options: ModelOptions) -> Squares:
    return Squares()


def test_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.KINDS["models"], "squares", registry.Entry(f"{__name__}:_squares"))
    with ChatServer(sound) as server:
        spec = f"squares+openai:stub,base_url={server.url},turns=5,temperature=none"
        with load(spec, ModelOptions()) as agent:
            assert agent.segment(IMAGES[0], ["tiger"])[0].outcome is Outcome.OK
    assert "temperature" not in server.requests[0].body
    assert "5 at most" in server.requests[0].body["messages"][0]["content"]
    with pytest.raises(UsageError, match="cannot hold a conversation with pictures"):
        load("nothing+oracle", ModelOptions())


# On the command line.


class Nothing:
    def segment(self, image: Any, phrases: Sequence[str]) -> list[Prediction]:
        return [Prediction(item_id="", outcome=Outcome.ABSTAINED) for _ in phrases]


def _nothing(argument: str, options: ModelOptions) -> Nothing:
    return Nothing()


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[Any, ...]:
    """eval of eight items, with a segmenter `nothing` that finds nothing."""
    monkeypatch.setitem(registry.KINDS["models"], "nothing", registry.Entry(f"{__name__}:_nothing"))
    images = tmp_path / "images"
    folder.write(painted_set(images, 4), tmp_path / "data", images_from=images)
    return (
        "eval", tmp_path / "data", "--bootstrap", 0, "--no-probe", "--out", tmp_path / "runs",
        "--model",
    )  # fmt: skip


def test_a_run_goes_on_with_more_money(run: Any, command: tuple[Any, ...], tmp_path: Path) -> None:
    with ChatServer(sound) as server:
        spec = f"agent:nothing+openai:stub,base_url={server.url},turns=5"
        short = run(*command, f"{spec},budget=700 tokens,concurrency=1")
        asked = len(server.requests)
        assert "3 of 8 answered" in short.err and asked == 6
        again = run(*command, f"{spec},price=1/2,budget=5")
        assert "8 of 8 answered" in again.err and len(server.requests) == 16
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [folder_name(spec)]


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        ("nothing+openai:stub,budget=many", "budget 'many'"),
        ("nothing+openai:stub,budget=5", "needs prices"),
        ("nothing+openai:stub,price=1", "price '1'"),
        ("nothing+oracle", "cannot hold a conversation"),
        ("nothing+hf:some/model,calls=native", "in this process"),
        ("nothing+scripted:acept", "Did you mean 'accept'"),
        ("oracle+openai:stub", "looks at no picture"),
    ],
)
def test_what_cannot_work_leaves_nothing_behind(
    run: Any, command: tuple[Any, ...], tmp_path: Path, model: str, problem: str
) -> None:
    ran = run(*command, f"agent:{model}")
    assert ran.code == 2 and problem in ran.err
    assert not (tmp_path / "runs").exists()
