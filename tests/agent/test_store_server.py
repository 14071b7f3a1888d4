"""Agents and the response store: two processes pay once, and a full disk stops a run with a
reason."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.agent.parts import REPORT, SEGMENT, Squares, picture
from tests.llm.chat_server import ChatServer, Request, Response, completion
from tests.runner.conftest import PLUGIN, painted_set

from groundfault.benchmarks import folder
from groundfault.llm import response_store
from groundfault.llm.client import ChatClient
from groundfault.llm.openai_chat import openai
from groundfault.llm.server import ChatOptions
from groundfault.models.agent import Agent
from groundfault.records import Outcome
from groundfault.runs.recorder import read_predictions
from groundfault.runs.run import read_run

pytest.importorskip("aiohttp", reason="the extra 'asking' brings it")

LONGEST_S = 120.0
LINES = (SEGMENT, REPORT)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(PLUGIN))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-5ecret5ecret5ecret")
    monkeypatch.setenv("GROUNDFAULT_RESPONSES", str(tmp_path / "responses.sqlite"))
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([str(PLUGIN), *filter(None, [os.environ.get("PYTHONPATH")])])
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder.write(
        painted_set(tmp_path / "images", 12), tmp_path / "data", images_from=tmp_path / "images"
    )
    return tmp_path / "data"


def sound(request: Request) -> Response:
    turn = sum(message["role"] == "assistant" for message in request.body["messages"])
    return Response(content=completion(LINES[turn]))


def arguments(data: Path, server: ChatServer, out: Path, settings: str = "") -> list[str]:
    model = f"agent:finder+openai:stub,base_url={server.url}{settings}"
    return [
        "eval",
        str(data),
        "--bootstrap",
        "0",
        "--no-probe",
        "--out",
        str(out),
        "--model",
        model,
    ]


def begin(arguments: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "groundfault.cli", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # nohup's
    )  # fmt: skip


@pytest.mark.usefixtures("environment")
def test_two_agents_at_once_pay_once(data: Path, tmp_path: Path) -> None:
    with ChatServer(sound, delay_s=0.02) as server:
        processes = [begin(arguments(data, server, tmp_path / out)) for out in ("a", "b")]
        said = [process.communicate(timeout=LONGEST_S) for process in processes]
        assert [process.returncode for process in processes] == [0, 0], said
        assert len(server.requests) == len(server.times_asked) == 48
    for out in ("a", "b"):
        [run] = (tmp_path / out).iterdir()
        assert {each.outcome for each in read_predictions(run)} == {Outcome.ABSTAINED}


@pytest.mark.usefixtures("environment")
def test_a_full_disk_stops_an_agent(
    data: Path, tmp_path: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = response_store.ResponseStore.__init__

    def small(store: Any, path: Any) -> None:
        opened(store, path)
        store._database.execute("PRAGMA max_page_count=3")  # what SQLite says of a full disk

    monkeypatch.setattr(response_store.ResponseStore, "__init__", small)
    with ChatServer(sound) as server:
        ran = run(*arguments(data, server, tmp_path / "runs", ",concurrency=2"))
        asked = len(server.requests)
        assert ran.code == 2 and asked < 40
        assert "was stopped" in ran.err and "make room on the disk" in ran.err
        assert "Traceback" not in ran.err and "Exception" not in ran.err
        [folder] = (tmp_path / "runs").iterdir()
        assert read_run(folder).state == "stopped" and "full" in read_run(folder).stopped
        monkeypatch.setattr(response_store.ResponseStore, "__init__", opened)
        assert run(*arguments(data, server, tmp_path / "runs", ",concurrency=2")).code == 0
    assert read_run(folder).state == "finished" and not read_run(folder).stopped


@pytest.mark.usefixtures("environment")
def test_files_that_cannot_grow_stop_an_agent(data: Path, tmp_path: Path) -> None:
    code = (
        "import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (60000, 60000)); "
    )
    code += "runpy.run_module('groundfault.cli', run_name='__main__')"
    with ChatServer(sound) as server:
        given = arguments(data, server, tmp_path / "runs", ",concurrency=1")
        ran = subprocess.run(
            [sys.executable, "-c", code, *given], capture_output=True, text=True, timeout=LONGEST_S
        )
        assert ran.returncode == 2 and len(server.requests) < 48
    assert "was stopped" in ran.stderr and "make room on the disk" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.usefixtures("environment")
def test_two_agents_of_one_process_pay_once() -> None:
    def verify(server: ChatServer) -> None:
        client = ChatClient(openai("stub", ChatOptions(base_url=server.url)))
        with Agent(Squares(), client) as agent:
            agent.segment_batch([picture(k) for k in range(6)], [["tiger", "lion"]] * 6)

    with ChatServer(sound, delay_s=0.02) as server:
        threads = [threading.Thread(target=verify, args=(server,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LONGEST_S)
        assert len(server.requests) == len(server.times_asked) == 24


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_waits_for_what_is_paid_for(
    data: Path, tmp_path: Path, number: signal.Signals
) -> None:
    ended = threading.Event()
    with ChatServer(sound) as server:
        server.ready = lambda request: ended.is_set()
        with begin(arguments(data, server, tmp_path / "runs", ",concurrency=4")) as process:
            wait_for(lambda: len(server.requests) == 4, process)
            process.send_signal(number)
            assert process.stderr is not None
            while "is waited for" not in process.stderr.readline():
                assert process.poll() is None
            ended.set()
            assert process.wait(LONGEST_S) == 128 + number
            assert "the same command goes on" in process.stderr.read()
        [folder] = (tmp_path / "runs").iterdir()
        assert read_run(folder).stopped == f"interrupted by {number.name}"
        assert len(server.requests) == 4
        with begin(arguments(data, server, tmp_path / "runs", ",concurrency=4")) as again:
            assert again.communicate(timeout=LONGEST_S) and again.returncode == 0
        assert len(server.requests) == len(server.times_asked) == 48
    assert {each.outcome for each in read_predictions(folder)} == {Outcome.ABSTAINED}


def wait_for(state: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + LONGEST_S
    while not state():
        assert process.poll() is None and time.monotonic() < end, process.communicate(timeout=9)
        time.sleep(0.01)
