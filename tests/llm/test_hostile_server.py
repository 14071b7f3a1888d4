"""Servers that say odd numbers, and stores that hold what cannot be read: no run dies of either."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.llm.chat_server import ChatServer, Request, Response, answer_to, completion

from groundfault.errors import UsageError
from groundfault.io import interrupts
from groundfault.llm.cost import Budget
from groundfault.llm.gemini import gemini
from groundfault.llm.openai_chat import OpenAIServer, openai
from groundfault.llm.response_store import ResponseStore
from groundfault.llm.server import ChatOptions, Unsound, read_reply
from groundfault.records import MOST, Outcome, Reply
from groundfault.runs.run import Run

Ask = Callable[..., Run]
N = 240
ODD = (
    "18446744073709551616", "-5", "9007199254740993", '"12"', "1e999", "1.5", "true", "null",
    "[1]", '{"a": 1}', "1" * 5000,
)  # fmt: skip


def with_usage(usage: str) -> Callable[[Request], Response]:
    """A sound answer whose usage is spelled like this."""

    def behave(request: Request) -> Response:
        content = json.loads(completion(answer_to(request.words)))
        content["usage"] = "USAGE"
        return Response(content=json.dumps(content).replace('"USAGE"', usage).encode())

    return behave


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_count_is_unknown_and_the_answer_stands(odd: str) -> None:
    body = b'{"choices": [{"message": {"content": "yes"}}], "usage": %b}'
    usage = f'{{"prompt_tokens": {odd}, "completion_tokens": 7, "cost": {odd}}}'
    server = openai("m", ChatOptions(base_url="http://127.0.0.1:9"))
    reply = server.parse(body % usage.encode())
    stated = 1.5 if odd == "1.5" else None
    assert (reply.text, reply.outcome) == ("yes", Outcome.OK)
    assert (reply.tokens_in, reply.tokens_out, reply.cost) == (None, 7, stated)


@pytest.mark.parametrize("odd", ODD)
def test_the_same_for_gemini(odd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "g-5ecret5ecret")
    body = (
        '{"candidates": [{"content": {"parts": [{"text": "yes"}]}, "finishReason": "STOP"}], '
        f'"usageMetadata": {{"promptTokenCount": {odd}, "candidatesTokenCount": 4, '
        f'"thoughtsTokenCount": {odd}}}}}'
    )
    reply = gemini("m", ChatOptions()).parse(body.encode())
    assert (reply.text, reply.tokens_in, reply.tokens_out) == ("yes", None, 4)


@pytest.mark.parametrize("tokens", [2**64, MOST, -1000])
def test_an_exam_ends_and_goes_on(ask: Ask, tokens: int) -> None:
    usage = json.dumps({"prompt_tokens": 100, "completion_tokens": tokens})
    with ChatServer(with_usage(usage)) as server:
        run = ask(server)
        assert run.state == "finished" and run.outcomes["ok"] == N
        assert 0 <= run.tokens_out <= MOST
        again = ask(server, out="again")  # from the store
        assert again.outcomes["ok"] == len(server.requests) == N


def test_a_negative_count_gives_no_money_back(ask: Ask) -> None:
    usage = json.dumps({"prompt_tokens": -500, "completion_tokens": -500, "cost": -1.0})
    with ChatServer(with_usage(usage)) as server:
        run = ask(server, budget=Budget(tokens=5_000))
        assert run.within_budget and len(server.requests) < N  # guessed from words and pictures


class Careless(OpenAIServer):
    """A wire format of somebody else, who checks nothing."""

    def parse(self, body: bytes) -> Reply:
        usage = json.loads(body)["usage"]
        return Reply(outcome=Outcome.OK, text="Yes", tokens_in=usage["in"], tokens_out=2**70)


def test_the_parser_of_a_plug_in_is_not_trusted() -> None:
    server = Careless("m", "http://127.0.0.1:9", "", "KEY", ChatOptions())
    reply = read_reply(server, b'{"usage": {"in": 12}}')
    assert (reply.tokens_in, reply.tokens_out) == (12, None)
    with pytest.raises(Unsound, match="KeyError"):
        read_reply(server, b"{}")


# What is in the store.


@pytest.fixture
def store() -> Path:
    return Path(os.environ["GROUNDFAULT_RESPONSES"])


@pytest.mark.parametrize("value", ["'words'", "7", "x'ff00'", "zeroblob(9)"])
@pytest.mark.parametrize("column", ["body", "latency_s"])
def test_rows_that_cannot_be_read_are_asked_again(
    ask: Ask, store: Path, column: str, value: str
) -> None:
    with ChatServer() as server:
        ask(server)
        change(store, f"UPDATE responses SET {column} = {value}")
        run = ask(server, out="again")
        assert run.state == "finished" and run.outcomes["ok"] == N
        readable = column == "latency_s" and value == "7"
        assert len(server.requests) == (N if readable else 2 * N)


def change(store: Path, statement: str) -> None:
    with sqlite3.connect(store) as database:
        database.execute(statement)
    database.close()


@pytest.mark.parametrize("page", [1, 3, -2])
def test_a_damaged_page_ends_in_answers_or_in_a_reason(ask: Ask, store: Path, page: int) -> None:
    with ChatServer() as server:
        ask(server)
        change(store, "PRAGMA wal_checkpoint(TRUNCATE)")
        content = bytearray(store.read_bytes())
        start = 4096 * page % len(content)
        content[start : start + 4096] = random.Random(page).randbytes(4096)
        store.write_bytes(content)
        run = ask(server, out="again")
        assert run.outcomes["ok"] == N or "damaged: move it away" in run.stopped
        store.unlink()
        assert ask(server, out="again").outcomes["ok"] == N


def test_a_store_whose_schema_is_damaged_is_told_of(store: Path) -> None:
    """SQLite repeats the damaged bytes in its message, and they are no text."""
    with ResponseStore(store):
        pass
    content = store.read_bytes()
    assert b"CREATE TABLE responses" in content
    store.write_bytes(content.replace(b"CREATE TABLE responses", b"CREATE T\xe4BLE respon\xe4es"))
    with pytest.raises(UsageError, match="responses cannot be kept there"):
        ResponseStore(store)


def test_a_damaged_row_of_a_store_is_none(store: Path) -> None:
    with ResponseStore(store) as responses:
        responses.put(b"k" * 32, b"{}", 1.0)
        responses.flush()
        assert responses.get(b"k" * 32) is not None
        change(store, "UPDATE responses SET latency_s = 'soon'")
        assert responses.get(b"k" * 32) is None


# Signals.


def kill_when(ready: Callable[[], bool], *numbers: int) -> threading.Thread:
    """Send signals to this process, one after the other as each is taken."""

    def send() -> None:
        end = time.monotonic() + 60
        while not ready() and time.monotonic() < end:
            time.sleep(0.005)
        for k, number in enumerate(numbers, start=1):
            os.kill(os.getpid(), number)
            while len(interrupts._received) < k and time.monotonic() < end:
                time.sleep(0.005)

    thread = threading.Thread(target=send)
    thread.start()
    return thread


def command(exam: Path, server: ChatServer, out: Path) -> list[Any]:
    return [
        "eval", exam, "--model", "openai:tiny", "--base-url", server.url, "--out", out, "--yes",
        "--mode", "std", "--concurrency", 8, "--bootstrap", 0,
    ]  # fmt: skip


def test_sigterm_keeps_what_is_under_way(
    run: Any, exam_folder: Path, tmp_path: Path, store: Path
) -> None:
    with ChatServer() as server:
        server.ready = lambda request: request.number < 40 or bool(interrupts.requested())
        killing = kill_when(lambda: len(server.requests) == 48, signal.SIGTERM)
        ran = run(*command(exam_folder, server, tmp_path / "runs"))
        killing.join()
        assert ran.code == 143 and "the same command goes on" in ran.err
        assert len(server.requests) == 48
        with sqlite3.connect(store) as database:
            assert database.execute("SELECT count(*) FROM responses").fetchone() == (48,)
        database.close()
        server.ready = lambda request: True
        assert run(*command(exam_folder, server, tmp_path / "runs")).code == 0
        assert len(server.requests) == N


@pytest.mark.parametrize("numbers", [[signal.SIGTERM], [signal.SIGTERM, signal.SIGTERM]])
def test_nothing_is_waited_for_without_end(
    run: Any,
    exam_folder: Path,
    tmp_path: Path,
    numbers: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if len(numbers) == 1:
        monkeypatch.setattr(interrupts, "DRAIN_S", 0.2)
    with ChatServer() as server:
        server.ready = lambda request: request.number < 40  # and never more
        killing = kill_when(lambda: len(server.requests) == 48, *numbers)
        ran = run(*command(exam_folder, server, tmp_path / "runs"))
        killing.join()
        assert ran.code == 143
        server.ready = lambda request: True
        assert run(*command(exam_folder, server, tmp_path / "runs")).code == 0
        assert len(server.requests) == N + 8, "what was under way is asked again, and nothing else"


def test_a_signal_while_nothing_is_paid_for_ends_at_once() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(interrupts.Interrupted), interrupts.draining():
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)
    assert signal.getsignal(signal.SIGTERM) is before and not interrupts.requested()
