"""Models that think, and what of a request a user may choose, against a real server."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Ran
from tests.llm.chat_server import ChatServer, Request, Response, completion, error
from tests.llm.exams import whole_exam

from groundfault.errors import UsageError
from groundfault.llm.openai_chat import openai
from groundfault.llm.response_store import request_key
from groundfault.llm.server import ChatOptions
from groundfault.records import Message, Outcome, Prediction
from groundfault.runner.prompts import REASONING
from groundfault.runs.recorder import read_predictions
from groundfault.runs.run import read_run

Command = Callable[..., Ran]
N = 44
"""Questions of the exam."""


@pytest.fixture(scope="module")
def exam_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("thinking") / "exam"
    whole_exam(folder, per_task=1)
    return folder


def evaluate(run: Command, exam_dir: Path, out: Path, url: str, *more: object) -> Ran:
    options = ("--base-url", url, "--out", out, "--bootstrap", 0)
    return run("eval", exam_dir, "--model", "openai:tiny", *options, *more)


def kept(out: Path) -> list[Prediction]:
    return list(read_predictions(out / "openai-tiny"))


def with_usage(content: bytes, **details: int) -> bytes:
    found = json.loads(content)
    found["usage"]["completion_tokens_details"] = details
    return json.dumps(found).encode()


THINKING: dict[str, Callable[[str], bytes]] = {
    "reasoning_content": lambda said: completion(said, reasoning_content="Hm, a lamp?"),
    "reasoning": lambda said: completion(said, reasoning="Hm, a lamp?"),
    "tags": lambda said: completion(f"<think>Hm, a lamp?</think>{said}"),
    "an orphan tag": lambda said: completion(f"Hm, a lamp?</think>\n{said}"),
    "tokens alone": lambda said: with_usage(completion(said), reasoning_tokens=64),
}


@pytest.mark.parametrize("how", THINKING)
def test_a_model_whose_replies_hold_reasoning_has_one_mode_and_more_tokens(
    run: Command, exam_dir: Path, tmp_path: Path, how: str
) -> None:
    def think(request: Request) -> Response:
        return Response(content=THINKING[how]("Yes."))

    with ChatServer(think) as server:
        ran = evaluate(run, exam_dir, tmp_path, server.url)
        assert ran.code == 0, ran.err
        assert "always reasons, so it is asked in one mode, cot" in ran.err
        assert len(server.requests) == 1 + N, "one question to find out"
        assert [r.body["max_tokens"] for r in server.requests] == [1024] + [8192] * N
        again = evaluate(run, exam_dir, tmp_path, server.url)
        assert again.code == 0 and len(server.requests) == 1 + N, again.err
    noted = read_run(tmp_path / "openai-tiny")
    assert noted.modes == ("cot",) and noted.settings["thinking"] is True
    assert {p.mode for p in kept(tmp_path)} == {"cot"}
    thoughts = {p.reasoning for p in kept(tmp_path)}
    assert thoughts == ({"Hm, a lamp?"} if how.startswith("reasoning") else {""})


def test_a_model_that_does_not_think_pays_for_nothing_more(
    run: Command, exam_dir: Path, tmp_path: Path
) -> None:
    with ChatServer() as server:
        assert evaluate(run, exam_dir, tmp_path, server.url, "--fresh").code == 0
        assert len(server.requests) == 2 * N == len(server.times_asked)
    noted = read_run(tmp_path / "openai-tiny")
    assert noted.modes == ("std", "cot") and noted.last_session["requests"] == 2 * N


@pytest.mark.parametrize(
    ("told", "modes", "most"),
    [
        (("--thinking",), {"cot"}, 8192),
        (("--no-thinking",), {"std", "cot"}, 1024),
        (("--thinking", "--mode", "both"), {"std", "cot"}, 8192),
        (("--thinking", "--max-tokens", 77), {"cot"}, 77),
    ],
)
def test_thinking_can_be_told(
    run: Command,
    exam_dir: Path,
    tmp_path: Path,
    told: tuple[object, ...],
    modes: set[str],
    most: int,
) -> None:
    def think(request: Request) -> Response:
        return Response(content=THINKING["reasoning"]("Yes."))

    with ChatServer(think) as server:
        ran = evaluate(run, exam_dir, tmp_path, server.url, *told)
        assert ran.code == 0, ran.err
    assert {r.body["max_tokens"] for r in server.requests} == {most}
    assert {p.mode for p in kept(tmp_path)} == modes and len(server.requests) == len(modes) * N


def test_a_message_without_content_is_an_outcome(
    run: Command, exam_dir: Path, tmp_path: Path
) -> None:
    """The thoughts took all tokens, or the server leaves the field out."""

    def silent(request: Request) -> Response:
        found = json.loads(completion(None, "stop", reasoning_content="Hm."))
        del found["choices"][0]["message"]["content"]
        if "Q2)" in request.words:
            del found["choices"][0]["message"]["reasoning_content"]
        return Response(content=json.dumps(found).encode())

    with ChatServer(silent) as server:
        ran = evaluate(run, exam_dir, tmp_path, server.url, "--thinking")
        assert ran.code == 0, ran.err
        assert len(server.requests) == N, "asked once"
        assert "modes cot ·" in ran.out, "no judge was needed, and none is named"
    assert {p.outcome for p in kept(tmp_path)} == {Outcome.UNPARSED}
    why = {p.item_id.rpartition(":")[2]: p.reason for p in kept(tmp_path)}
    assert why["Q1"] == "reasoned, but gave no answer (finish reason stop)"
    assert why["Q2"] == "empty answer (finish reason stop)"


def test_a_server_that_goes_after_the_first_reply_is_waited_for_once(
    run: Command, exam_dir: Path, tmp_path: Path
) -> None:
    with ChatServer(lambda request: error(401)) as server:
        ran = evaluate(run, exam_dir, tmp_path, server.url, "--mode", "std")
        assert ran.code == 2 and len(server.requests) == 1, ran.err
    reasons = {p.reason.partition(":")[0] for p in kept(tmp_path)}
    assert len(kept(tmp_path)) == N and "not asked" in reasons


def test_a_run_without_a_reply_does_not_say_whether_its_model_thinks(
    run: Command, exam_dir: Path, tmp_path: Path
) -> None:
    state = {"sick": True}

    def behave(request: Request) -> Response:
        return error(401) if state["sick"] else Response(content=THINKING["reasoning"]("Yes."))

    with ChatServer(behave) as server:
        assert evaluate(run, exam_dir, tmp_path, server.url).code == 2
        state["sick"] = False
        ran = evaluate(run, exam_dir, tmp_path, server.url)
    assert ran.code == 0, ran.err
    assert read_run(tmp_path / "openai-tiny").modes == ("cot",)
    assert {p.mode for p in kept(tmp_path)} == {"cot"} and len(kept(tmp_path)) == N


def test_what_a_model_thought_is_given_to_the_attribution(
    run: Command, exam_dir: Path, tmp_path: Path
) -> None:
    def think(request: Request) -> Response:
        return Response(content=completion("Yes.", reasoning="Lamps stand on tables."))

    def why(request: Request) -> Response:
        return Response(content=completion("SC3: tables go with lamps."))

    with ChatServer(think) as server, ChatServer(why) as causes:
        more = ("--attribute", "blind:openai:why", "--judge-base-url", causes.url)
        assert evaluate(run, exam_dir, tmp_path, server.url, *more).code == 0
    assert causes.requests
    assert all("Lamps stand on tables.\n\nYes." in r.last[0] for r in causes.requests)


def test_a_request_as_it_was_has_the_key_that_it_had() -> None:
    """Replies that were paid for are found again: the bytes are those of version 0.1.0."""
    server = openai("m", ChatOptions(base_url="http://localhost:9/v1"))
    asked = (Message("user", ("Is a cup on the table?",)),)
    assert server.body(asked) == (
        b'{"model":"m","messages":[{"role":"user","content":"Is a cup on the table?"}],'
        b'"max_tokens":1024,"temperature":0.2}'
    )
    assert server.url == "http://localhost:9/v1/chat/completions"
    key = request_key(server, asked)
    assert key.hex() == "325b2c7a0e98c41ae49a735ed41ba4e409fc79c775bac115b74fa691f2aac7b5"
    other = ChatOptions(base_url="http://localhost:9/v1", sampling_seed=3)
    assert request_key(openai("m", other), asked) != key
    other = ChatOptions(base_url="http://localhost:9/v1", extra_body={"top_k": 5})
    assert request_key(openai("m", other), asked) != key


def test_what_a_user_chooses_is_sent_and_answers_are_not_mixed(
    run: Command, exam_dir: Path, tmp_path: Path
) -> None:
    words = tmp_path / "reason.txt"
    words.write_text("Think hard, then conclude.\n")
    body = {"chat_template_kwargs": {"enable_thinking": False}, "top_k": 20}
    chosen: tuple[Any, ...] = (
        "--extra-body", json.dumps(body), "--sampling-seed", 11, "--seed", 5,
        "--system", "You are brief.", "--prompt", words, "--judge", "openai:judge",
        "--judge-extra-body", '{"top_k": 1}',
    )  # fmt: skip
    with ChatServer() as server, ChatServer(_judging) as judge:
        url = ("--judge-base-url", judge.url)
        ran = evaluate(run, exam_dir, tmp_path, server.url, *chosen, *url)
        assert ran.code == 0, ran.err
        n = len(server.requests)
        for option in ("--extra-body", "--sampling-seed", "--system", "--prompt"):
            at = chosen.index(option)
            other = evaluate(
                run, exam_dir, tmp_path, server.url, *chosen[:at], *chosen[at + 2 :], *url
            )
            assert other.code == 2 and "They are not mixed" in other.err, option
        assert len(server.requests) == n
    for request in server.requests:
        assert request.body["seed"] == 11 and request.body["top_k"] == 20
        assert request.body["chat_template_kwargs"] == {"enable_thinking": False}
        system, user = request.body["messages"]
        assert system == {"role": "system", "content": "You are brief."}
        assert REASONING not in user["content"][-1]["text"]
    texts = [r.body["messages"][1]["content"][-1]["text"] for r in server.requests]
    assert sum(text.startswith("Think hard, then conclude.\n\n") for text in texts) == N
    assert all(r.body["top_k"] == 1 and "seed" not in r.body for r in judge.requests)


def _judging(request: Request) -> Response:
    said = request.last[0].split("-----")[1]
    wrong = ("green", "Yellow", "In the middle", "Nothing changed")
    return Response(content=completion("wrong" if any(w in said for w in wrong) else "right"))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--extra-body", "{top_k: 3}"), "--extra-body '{top_k: 3}': is no JSON"),
        (("--extra-body", "[1]"), "give a JSON object"),
        (("--extra-body", '{"stream": true}'), "'stream' is not yours to set"),
        (("--prompt", "nowhere.txt"), "nowhere.txt: cannot be read"),
        (("--prompt", "pyproject.toml", "--mode", "std"), "--prompt is the request to reason"),
    ],
)
def test_what_cannot_be_chosen_is_refused_before_anything_is_asked(
    run: Command, exam_dir: Path, tmp_path: Path, more: tuple[object, ...], message: str
) -> None:
    with ChatServer() as server:
        ran = evaluate(run, exam_dir, tmp_path, server.url, *more)
    assert ran.code == 2 and message in ran.err and not server.requests


def test_the_query_of_an_address_is_kept(run: Command, exam_dir: Path, tmp_path: Path) -> None:
    """As Azure wants it: …/deployments/NAME?api-version=2024-10-21."""
    with ChatServer() as server:
        url = server.url.replace("/v1", "/openai/deployments/tiny/?api-version=2024-10-21")
        more = ("--mode", "std", "--limit", 1)
        assert evaluate(run, exam_dir, tmp_path, url, *more).code == 0
        vllm = ("--model", f"vllm:{server.url.removesuffix('/v1')}?a=b", "--out", tmp_path)
        ran = run("eval", exam_dir, *vllm, *more, "--bootstrap", 0)
        assert ran.code == 0, ran.err
    assert {r.path for r in server.requests} == {
        "/openai/deployments/tiny/chat/completions?api-version=2024-10-21",
        "/v1/chat/completions?a=b",
    }


def test_azure_gets_its_key_under_its_own_name_and_no_address_holds_one() -> None:
    azure = "https://mine.openai.azure.com/openai/deployments/tiny?api-version=2024-10-21"
    headers = openai("tiny", ChatOptions(base_url=azure)).headers()
    assert headers["api-key"] and headers["api-key"] in headers["Authorization"]
    assert "api-key" not in openai("tiny", ChatOptions(base_url="http://localhost:1/v1")).headers()
    for name in ("key", "API-KEY", "token"):
        with pytest.raises(UsageError, match=f"holds {name}"):
            openai("tiny", ChatOptions(base_url=f"https://there.example/v1?{name}=s3cret"))
