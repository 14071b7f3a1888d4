"""An exam asked of a real server over HTTP: in good health, and in every kind of trouble."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
import pytest
from tests.llm.chat_server import (
    FAULTS,
    ChatServer,
    Request,
    Response,
    answer_to,
    completion,
    error,
    some_faults,
    sound,
)
from tests.llm.conftest import KEY, QUICK
from tests.llm.runs import run_exam

from groundfault.benchmarks.reactbench import read, rows_of, write_exam
from groundfault.errors import UsageError
from groundfault.llm import client, http_client
from groundfault.llm.circuit import Circuit
from groundfault.llm.client import ChatClient, LazyConversations
from groundfault.llm.cost import Budget, CostEstimate, CostTracker, Price
from groundfault.llm.openai_chat import openai, vllm
from groundfault.llm.pictures import PictureCache
from groundfault.llm.response_store import ResponseStore
from groundfault.llm.retry import RetryPolicy
from groundfault.llm.server import ChatOptions, refusal
from groundfault.records import Conversation, Message, Mode, Outcome, Prediction, Reply
from groundfault.runner.prompts import prompt
from groundfault.runs.recorder import read_predictions
from groundfault.runs.run import Run

Ask = Callable[..., Run]
N = 240


def answers(folder: Path) -> dict[tuple[str, str], Prediction]:
    """What a run kept; every question once."""
    found = list(read_predictions(folder))
    by_key = {(answer.item_id, answer.mode): answer for answer in found}
    assert len(by_key) == len(found), "some answer is stored twice"
    return by_key


def assert_right_answers(folder: Path, exam_folder: Path, *, modes: tuple[Mode, ...]) -> None:
    """Every question has the answer to its own words, or failed with a reason."""
    found = answers(folder)
    items = read(exam_folder).items
    asked = {(item.id, mode): prompt(item, mode) for item in items for mode in modes}
    assert found.keys() == asked.keys()
    for key, answer in found.items():
        if answer.outcome is Outcome.FAILED:
            assert answer.reason and not answer.text
        else:
            assert answer.text == answer_to(asked[key])


def test_everything_is_asked_once_with_its_picture(
    ask: Ask, exam_folder: Path, tmp_path: Path
) -> None:
    with ChatServer(delay_s=0.02) as server:
        server.wait_for(8)
        run = ask(server, modes=("std", "cot"))
    assert_right_answers(tmp_path / "run", exam_folder, modes=("std", "cot"))
    assert run.state == "finished"
    assert run.outcomes == {"ok": 2 * N, "abstained": 0, "unparsed": 0, "failed": 0}
    assert set(server.times_asked.values()) == {1} and len(server.requests) == 2 * N
    assert 8 <= server.most_at_once <= 32
    assert (run.tokens_in, run.tokens_out) == (2 * N * 100, 2 * N * 10)
    assert run.latency_s["median"] >= 0.02
    picture = (exam_folder / "images" / "s00000.jpg").read_bytes()
    sent = {url for request in server.requests for url in request.pictures}
    assert "data:image/jpeg;base64," + base64.b64encode(picture).decode() in sent
    assert len(sent) == 30
    assert {r.body["temperature"] for r in server.requests} == {0.2}
    assert {r.body["max_tokens"] for r in server.requests} == {1024}


def test_a_second_run_is_answered_from_the_store_and_a_fresh_one_is_not(ask: Ask) -> None:
    with ChatServer() as server:
        ask(server, out="a")
        again = ask(server, out="b")
        assert len(server.requests) == N
        assert again.last_session["from_store"] == N and again.last_session["requests"] == 0
        assert again.tokens_in == 100 * N and again.outcomes["ok"] == N
        ask(server, out="c", fresh=True)
        assert set(server.times_asked.values()) == {2}
        ask(server, out="d")
        assert set(server.times_asked.values()) == {2}
        ask(server, out="c", fresh=True)
        assert set(server.times_asked.values()) == {3}


def test_a_run_in_a_notebook(ask: Ask) -> None:
    async def cell() -> list[Run]:  # which waits, though a loop is running
        return [ask(server, out="a"), ask(server, out="b")]

    with ChatServer() as server:
        runs = asyncio.run(cell())
    assert [run.outcomes["ok"] for run in runs] == [N, N]
    assert runs[1].last_session["from_store"] == N


def test_a_fresh_run_that_was_stopped_goes_on(ask: Ask) -> None:
    with ChatServer(delay_s=0.01) as server:
        ask(server, out="a")
        run = ask(server, out="b", fresh=True, budget=Budget(tokens=11_000))
        assert run.state == "stopped" and len(server.requests) == N + 100
        ask(server, out="b", fresh=True)
        assert set(server.times_asked.values()) == {2}


def test_requests_that_are_alike_are_asked_once(tmp_path: Path) -> None:
    asked = {f"q{k}": f"question {k % 10}" for k in range(100)}
    found: dict[str, str] = {}

    def keep(key: str, reply: Reply) -> None:
        assert key not in found
        found[key] = reply.text

    with ChatServer(delay_s=0.02) as server:
        model = openai("tiny", ChatOptions(base_url=server.url))
        for fresh in (False, True):
            found.clear()
            chat = ChatClient(model, responses=tmp_path / "r.sqlite", fresh=fresh)
            chat.run(((key, (Message("user", (text,)),)) for key, text in asked.items()), keep)
            assert found == {key: answer_to(text) for key, text in asked.items()}
            assert set(server.times_asked.values()) == {1 + fresh}


def test_what_cannot_be_asked_fails_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no picture")

    def broken() -> Conversation:
        return (Message("user", (PictureCache().load(tmp_path / "notes.txt"), "?")),)

    def behave(request: Request) -> Response:
        return error(400, "not this one") if request.words == "b" else sound(request)

    with ChatServer(behave) as server:
        chat = ChatClient(
            openai("tiny", ChatOptions(base_url=server.url)), responses=tmp_path / "r.sqlite"
        )
        makers = [broken, *(partial(tuple, [Message("user", (text,))]) for text in "abc")]
        replies = chat.complete(LazyConversations(makers))
        assert len(server.requests) == 3 and not chat.stopped
    outcomes = [reply.outcome for reply in replies]
    assert outcomes == [Outcome.FAILED, Outcome.OK, Outcome.FAILED, Outcome.OK]
    assert "no readable picture" in replies[0].reason and not refusal(replies[0])
    assert replies[2].finish == "refused" and "not this one" in refusal(replies[2])
    assert (chat.statistics.replies, chat.statistics.refusals) == (2, 1)


def test_episodes_that_ask_the_same_do_not_wait_for_each_other_for_ever(tmp_path: Path) -> None:
    async def episode(chat: ChatClient, *texts: str) -> list[Outcome]:
        with chat.dialogue() as dialogue:
            replies = [await dialogue.reply((Message("user", (text,)),)) for text in texts]
        return [reply.outcome for reply in replies]

    async def all_of_them(chat: ChatClient) -> list[list[Outcome]]:
        episodes = [episode(chat, "first", f"own {k % 2}", "last") for k in range(6)]
        found = await asyncio.wait_for(asyncio.gather(*episodes), 60)
        await chat.aclose()
        return list(found)

    with ChatServer(delay_s=0.01) as server:
        model = openai("tiny", ChatOptions(base_url=server.url))
        cost = CostTracker(Budget(tokens=450))  # 110 each: one episode, and the other's own words
        chat = ChatClient(model, responses=tmp_path / "r.sqlite", cost=cost)
        found = asyncio.run(all_of_them(chat))
        assert set(server.times_asked.values()) == {1} and len(server.requests) <= 4
    assert found.count([Outcome.OK] * 3) >= 3


def test_a_store_on_a_full_disk_stops_the_run(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(ResponseStore):
        def __init__(self, path: Path) -> None:
            super().__init__(path)
            self._database.execute("PRAGMA max_page_count=6")

    monkeypatch.setattr(client, "ResponseStore", Full)
    with ChatServer(delay_s=0.01) as server:
        run = ask(server)
    assert run.state == "stopped" and "full" in run.stopped
    assert run.outcomes["ok"] >= 10 and run.outcomes["ok"] + run.outcomes["failed"] == N
    assert len(answers(tmp_path / "run")) == N


def test_the_snippets_of_the_docs(
    exam_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Path(__file__).parents[2] / "docs" / "asking.md"
    snippets = [part.partition("```")[0] for part in page.read_text().split("```python\n")[1:]]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "exam").symlink_to(exam_folder)
    with ChatServer() as server:
        for snippet in snippets:
            exec(snippet.replace("http://localhost:8000/v1", server.url), {})
    assert len(answers(tmp_path / "runs" / "my-model")) == 2 * N


def test_a_server_that_is_not_there(ask: Ask) -> None:
    with ChatServer() as server:
        server.die()
        run = ask(server, patience=msgspec.structs.replace(QUICK, first_contact_s=0.3))
    assert run.state == "stopped" and "check its address" in run.stopped
    assert run.outcomes["failed"] == N


def test_other_drawing_is_another_request_and_another_run(ask: Ask) -> None:
    with ChatServer() as server:
        ask(server)
        with pytest.raises(UsageError, match="another temperature"):
            ask(server, options={"temperature": 0.7})
        ask(server, options={"temperature": None}, resume=False)
        assert len(server.requests) == 2 * N
        assert "temperature" not in server.requests[-1].body


TROUBLE = {
    "429 with Retry-After": 0.05,
    "429 without": 0.05,
    "500": 0.05,
    "dropped": 0.03,
    "cut": 0.02,
    "hang": 0.005,
    "drip": 0.005,
    "invalid JSON": 0.02,
    "HTML": 0.01,
    "wrong schema": 0.02,
    "wrong types": 0.01,
    "no choices": 0.02,
    "error in a 200": 0.01,
    "20 MB": 0.005,
}


def test_every_trouble_at_once(ask: Ask, exam_folder: Path, tmp_path: Path) -> None:
    with ChatServer(some_faults(TROUBLE)) as server:
        patience = msgspec.structs.replace(QUICK, timeout_s=5.0)
        run = ask(server, modes=("std", "cot"), patience=patience)
    assert_right_answers(tmp_path / "run", exam_folder, modes=("std", "cot"))
    assert run.outcomes["ok"] == 2 * N, run.failures
    assert len(server.requests) == 2 * N + run.last_session["retries"]


@pytest.mark.parametrize("fault", [name for name in FAULTS if "429" not in name])
def test_a_fault_that_stays_fails_its_question_with_the_reason(
    fault: str, ask: Ask, exam_folder: Path, tmp_path: Path
) -> None:
    def behave(request: Request) -> Response:
        return FAULTS[fault](request) if "s00003, question 2" in request.words else sound(request)

    slow = fault in ("hang", "drip")
    timeout_s, attempts = (2.0, 2) if slow else (120.0, 3)
    patience = msgspec.structs.replace(QUICK, timeout_s=timeout_s, attempts=attempts)
    with ChatServer(behave) as server:
        run = ask(server, patience=patience, limit=6, concurrency=4)
        failed = [a for a in read_predictions(tmp_path / "run") if a.outcome is Outcome.FAILED]
        assert [answer.item_id for answer in failed] == ["s00003:Q2"]
        assert run.outcomes["ok"] == 47 and run.state == "finished"
        assert f"{attempts} times" in failed[0].reason
        words = {
            "500": "HTTP 500: oops",
            "hang": "no whole response within 2 s",
            "drip": "no whole response within 2 s",
            "invalid JSON": "not JSON",
            "HTML": "not JSON",
            "wrong schema": "another schema",
            "wrong types": "another schema",
            "no choices": "no choices",
            "error in a 200": "upstream is down",
            "20 MB": "larger than",
        }
        assert words.get(fault, "") in failed[0].reason
        server.behave = sound
        asked_before = len(server.requests)
        run = ask(server, limit=6)
        assert len(server.requests) == asked_before + 1  # exactly the one that failed
        assert run.outcomes["ok"] == 48 and not run.failures


SPOKEN = {
    "length": (completion("I look at the", "length"), "truncated after 10 tokens"),
    "filter": (completion("", "content_filter"), "content filter"),
    "refusal": (completion(None, refusal="I will not."), "refused: I will not."),
    "empty": (completion("  "), "empty answer"),
    "null": (completion(None), "empty answer"),
}


@pytest.mark.parametrize("kind", SPOKEN)
def test_what_is_no_answer_is_unparsed_with_its_reason_and_not_paid_for_again(
    kind: str, ask: Ask, tmp_path: Path
) -> None:
    content, reason = SPOKEN[kind]
    with ChatServer(lambda request: Response(content=content)) as server:
        run = ask(server, limit=1)
        assert run.outcomes == {"ok": 0, "abstained": 0, "unparsed": 8, "failed": 0}
        assert all(reason in answer.reason for answer in read_predictions(tmp_path / "run"))
        ask(server, limit=1)
        ask(server, out="b", limit=1)
        assert len(server.requests) == 8


def test_retry_after_is_honoured(ask: Ask) -> None:
    turned_away: dict[str, float] = {}
    early: list[float] = []

    def behave(request: Request) -> Response:
        if request.key not in turned_away:
            turned_away[request.key] = request.at
            return error(429, "slow down", {"Retry-After": "0.7"})
        early.append(request.at - turned_away[request.key])
        return sound(request)

    with ChatServer(behave) as server:
        run = ask(server, limit=2)
    assert run.outcomes["ok"] == 16
    assert min(early) >= 0.7


def test_too_many_requests_for_long_fail_nobody(ask: Ask) -> None:
    """A server that serves four at a time and turns the others away, many times over."""
    with ChatServer(delay_s=0.01) as server:
        server.wait_for(24)
        server.behave = lambda r: error(429) if server.at_once > 4 else sound(r)
        run = ask(server, limit=12)
    assert run.outcomes["ok"] == 96
    assert run.last_session["retries"] > 20


def test_a_server_that_dies_for_a_while(
    ask: Ask, exam_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noticed = threading.Event()

    class Noticing(Circuit):
        def failed(self, reason: str, *, unreachable: bool, tried: bool) -> None:
            super().failed(reason, unreachable=unreachable, tried=tried)
            if self.down_since is not None:
                noticed.set()

    monkeypatch.setattr(http_client, "Circuit", Noticing)
    with ChatServer(delay_s=0.02) as server:
        server.ready = lambda request: request.number < 100 or noticed.is_set()

        def outage() -> None:
            while len(server.requests) < 60:
                time.sleep(0.005)
            server.die()
            noticed.wait(60)
            time.sleep(0.5)
            server.start()

        thread = threading.Thread(target=outage)
        thread.start()
        run = ask(server)
        thread.join()
    assert_right_answers(tmp_path / "run", exam_folder, modes=("std",))
    assert run.outcomes["ok"] == N and run.last_session["outages"] == 1
    assert len(server.requests) <= N + 32  # only what was under way is asked again


def test_a_server_that_stays_down_stops_the_run(ask: Ask, tmp_path: Path) -> None:
    with ChatServer(delay_s=0.01) as server:
        server.behave = lambda r: (_dies(server) if r.number == 50 else None) or sound(r)
        run = ask(server, patience=msgspec.structs.replace(QUICK, outage_s=0.5))
        assert run.state == "stopped" and "has been down" in run.stopped
        kept = answers(tmp_path / "run")
        assert len(kept) == N and 10 <= run.outcomes["ok"] <= 50
        assert run.outcomes["ok"] + run.outcomes["failed"] == N
        server.start()
        server.behave = sound
        run = ask(server)
        assert run.state == "finished" and run.outcomes["ok"] == N and not run.stopped


def test_a_server_that_only_turns_away_stops_the_run(ask: Ask) -> None:
    with ChatServer(behave=lambda r: error(429, "slow down")) as server:
        run = ask(server, patience=msgspec.structs.replace(QUICK, outage_s=0.5), concurrency=4)
    assert run.state == "stopped" and "turned every question away" in run.stopped
    assert run.outcomes["failed"] == N
    asked = {json.dumps(request.body, sort_keys=True) for request in server.requests}
    assert len(asked) <= 8  # no second round of waiting


@pytest.mark.parametrize("asked", ["1e308", "99999"])
def test_a_wait_beyond_patience_stops_the_run_at_once(ask: Ask, asked: str) -> None:
    with ChatServer(behave=lambda r: error(429, "quota", {"Retry-After": asked})) as server:
        run = ask(server, patience=msgspec.structs.replace(QUICK, outage_s=4.0), concurrency=4)
    assert run.state == "stopped" and "asks to wait for" in run.stopped
    assert len(server.requests) <= 4


def _dies(server: ChatServer) -> None:
    assert server._server is not None
    server._server.close()
    for task in list(server._connections):
        task.cancel()


def test_a_key_that_expires_half_way_stops_the_run_and_keeps_what_is_done(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = f"Incorrect API key provided: {KEY}"

    def behave(request: Request) -> Response:
        valid = request.number < 100 or request.authorization == "Bearer sk-new"
        return sound(request) if valid else error(401, message)

    with ChatServer(behave, delay_s=0.005) as server:
        run = ask(server)
        assert run.state == "stopped" and "OPENAI_API_KEY" in run.stopped
        assert run.outcomes["ok"] == 100 and run.outcomes["failed"] == N - 100
        assert len(server.requests) <= 100 + 32
        monkeypatch.setenv("OPENAI_API_KEY", "sk-new")
        before = len(server.requests)
        run = ask(server)
        assert run.outcomes["ok"] == N and len(server.requests) == before + N - 100
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes(), path


def test_a_server_that_repeats_the_key_does_not_get_it_into_a_file(
    ask: Ask, tmp_path: Path
) -> None:
    def behave(request: Request) -> Response:
        if "question 1" in request.words:
            return error(400, f"bad request with {request.authorization}")
        return Response(content=completion(f"Your key is {request.authorization}"))

    with ChatServer(behave) as server:
        run = ask(server, limit=2)
    assert run.outcomes["failed"] == 2 and run.outcomes["ok"] == 14
    texts = {a.text for a in read_predictions(tmp_path / "run")}
    assert texts == {"", "Your key is Bearer [key]"}
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes(), path


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (error(404, "The model `tiny` does not exist"), "no model 'tiny'"),
        (error(402, "pay"), "no money left"),
        (
            Response(429, b'{"error": {"message": "quota", "code": "insufficient_quota"}}'),
            "no money left",
        ),
        (error(400, "Unsupported parameter: 'model'"), "the first 20 requests were refused"),
        (Response(302, b"", {"Location": "http://127.0.0.1:9/"}), "HTTP 302"),
    ],
)
def test_what_will_never_work_is_not_tried_for_long(
    response: Response, words: str, ask: Ask
) -> None:
    with ChatServer(lambda request: response) as server:
        run = ask(server)
    assert run.state == "stopped" and words in run.stopped
    assert run.outcomes["failed"] == N and len(server.requests) <= 20 + 32


def test_a_server_that_refuses_whatever_is_left_out_is_not_tried_for_long(ask: Ask) -> None:
    with ChatServer(lambda request: error(400, "Unsupported parameter: 'temperature'")) as server:
        run = ask(server)
    assert run.state == "stopped" and "the first 20 requests were refused" in run.stopped
    assert len(server.requests) <= 2 * (20 + 32)  # each with a temperature and without


def test_a_budget_in_tokens_stops_the_run_and_the_next_one_goes_on(ask: Ask) -> None:
    with ChatServer(delay_s=0.01) as server:
        run = ask(server, budget=Budget(tokens=11_000))
        assert run.state == "stopped" and "budget of 11000 tokens" in run.stopped
        assert run.outcomes["ok"] == len(server.requests) == 100  # 110 tokens each
        assert run.outcomes["failed"] == N - 100
        run = ask(server, budget=Budget(tokens=1_000_000))
        assert run.outcomes["ok"] == N and len(server.requests) == N


def test_a_budget_in_money(ask: Ask) -> None:
    price = Price(10.0, 100.0)  # 0.002 each
    with ChatServer(delay_s=0.01) as server:
        with pytest.raises(UsageError, match="--price"):
            ask(server, budget=Budget(money=0.1))
        run = ask(server, budget=Budget(money=0.1), price=price)
    assert run.outcomes["ok"] == len(server.requests) == 50
    assert run.cost == pytest.approx(0.1) and run.spent == pytest.approx(0.1)


def test_an_estimate_comes_first_and_may_end_it(ask: Ask) -> None:
    seen: list[CostEstimate] = []

    def refuse(estimate: CostEstimate) -> bool:
        seen.append(estimate)
        return False

    with ChatServer() as server:
        ask(server, limit=10)
        with pytest.raises(UsageError, match="called off"):
            ask(server, out="b", price=Price(1.0, 4.0), confirm=refuse)
        assert len(server.requests) == 80
        assert (seen[0].requests, seen[0].stored) == (N - 80, 80)
        assert seen[0].cost is not None and seen[0].cost_most is not None
        assert 0 < seen[0].cost < seen[0].cost_most
        run = ask(server, out="b", confirm=lambda _: True)
    assert run.outcomes["ok"] == N


def test_pictures_of_15_mb_are_sent_as_they_are(
    ask: Ask, exam_folder: Path, tmp_path: Path
) -> None:
    samples, questions = rows_of(read(exam_folder))
    sample, asked = samples[0], questions[:8]
    large = (exam_folder / "images" / "s00000.jpg").read_bytes().ljust(15 << 20, b"\0")
    write_exam(tmp_path / "large", [sample], asked, {sample.images[0]: large})
    with ChatServer() as server:
        run = ask(server, exam=tmp_path / "large", patience=RetryPolicy(timeout_s=600))
        assert run.outcomes["ok"] == 8 and run.last_session["rewritten_pictures"] == 0
        assert {len(r.pictures[0]) for r in server.requests} == {(15 << 20) // 3 * 4 + 23}


def test_vllm_names_its_model_itself(exam_folder: Path, tmp_path: Path) -> None:
    with ChatServer() as server:
        spec = server.url.removesuffix("/v1")
        run_exam(
            exam_folder,
            lambda: vllm(spec, ChatOptions()),
            tmp_path / "run",
            name=f"vllm:{spec}",
            limit=1,
            patience=QUICK,
        )
        assert {request.body["model"] for request in server.requests} == {"tiny-vlm"}
        assert {request.authorization for request in server.requests} == {""}
