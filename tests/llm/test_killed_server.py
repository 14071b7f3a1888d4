"""kill -9 and several processes: the union is complete, and nothing is asked twice except what
was under way."""

from __future__ import annotations

import contextlib
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

from tests.conftest import ALL
from tests.llm.chat_server import ChatServer, answer_to
from tests.llm.exams import counting_exam

from groundfault.benchmarks.reactbench import read
from groundfault.records import MODES, Outcome
from groundfault.runner.prompts import prompt
from groundfault.runs.recorder import read_predictions

SCRIPT = ("-m", "tests.llm.ask_once")
ROOT = Path(__file__).parents[2]
CONCURRENCY = 16
LONGEST_S = 600.0
KILLS = 10 if ALL else 5


def begin(exam: Path, server: ChatServer, out: Path, store: Path) -> subprocess.Popen[bytes]:
    arguments = [str(exam), server.url, str(out), str(store), str(CONCURRENCY)]
    return subprocess.Popen([sys.executable, *SCRIPT, *arguments], cwd=ROOT)


def stored(store: Path) -> int:
    """How many responses a store has."""
    with contextlib.closing(sqlite3.connect(store)) as database:
        return int(database.execute("SELECT count(*) FROM responses").fetchone()[0])


def test_kills_at_random_moments(tmp_path: Path) -> None:
    exam, out, store = tmp_path / "exam", tmp_path / "run", tmp_path / "responses.sqlite"
    n = 2 * len(counting_exam(exam, 100).items)
    rng, wasted = random.Random(5), 0
    moment = 0
    with ChatServer(delay_s=0.01) as server:
        server.ready = lambda request: request.number - wasted < moment + 50
        for kill in range(KILLS):
            moment = (n - 100) * kill // KILLS + rng.randrange(20, (n - 100) // KILLS)
            process = begin(exam, server, out, store)
            while stored_so_far(store) < moment and process.poll() is None:
                time.sleep(0.002)
            time.sleep(rng.uniform(0, 0.02))
            process.send_signal(signal.SIGKILL)
            assert process.wait(LONGEST_S) == -signal.SIGKILL
            server.wait_until_left()
            under_way = len(server.requests) - stored(store) - wasted
            assert stored(store) >= moment and 0 <= under_way <= CONCURRENCY
            wasted += under_way
        server.ready = lambda request: True
        process = begin(exam, server, out, store)
        assert process.wait(LONGEST_S) == 0
        assert len(server.times_asked) == n, "every question was asked"
        assert n < len(server.requests) <= n + wasted, "and again only what was under way"
    found = {(answer.item_id, answer.mode): answer for answer in read_predictions(out)}
    asked = {(item.id, mode): prompt(item, mode) for item in read(exam).items for mode in MODES}
    assert len(found) == len(list(read_predictions(out))) == len(asked) == n
    for key, words in asked.items():
        assert found[key].outcome is Outcome.OK
        assert found[key].text == answer_to(words)
    assert not list(out.glob("*.journal"))


def stored_so_far(store: Path) -> int:
    try:
        return stored(store)
    except sqlite3.Error:
        return 0


def test_an_interrupt_keeps_every_answer(tmp_path: Path) -> None:
    exam, out, store = tmp_path / "exam", tmp_path / "run", tmp_path / "responses.sqlite"
    n = 2 * len(counting_exam(exam, 40).items)
    with ChatServer(delay_s=0.02) as server:
        server.ready = lambda request: request.number < 200
        process = begin(exam, server, out, store)
        while len(server.requests) < 100 and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        assert process.wait(LONGEST_S) != 0
        assert 80 <= len(list(read_predictions(out))) == stored(store) < n
        assert not list(out.glob("*.journal"))
        server.ready = lambda request: True
        assert begin(exam, server, out, store).wait(LONGEST_S) == 0
        assert len(server.requests) <= n + CONCURRENCY
    assert len(list(read_predictions(out))) == n


def test_two_processes_at_once_pay_once(tmp_path: Path) -> None:
    exam, store = tmp_path / "exam", tmp_path / "responses.sqlite"
    n = 2 * len(counting_exam(exam, 20).items)
    with ChatServer(delay_s=0.03) as server:
        processes = [begin(exam, server, tmp_path / out, store) for out in ("a", "b", "c")]
        assert [process.wait(LONGEST_S) for process in processes] == [0, 0, 0]
        assert len(server.requests) == len(server.times_asked) == n
    for out in ("a", "b", "c"):
        assert sum(a.outcome is Outcome.OK for a in read_predictions(tmp_path / out)) == n


def test_two_processes_do_not_share_a_run(tmp_path: Path) -> None:
    exam, store = tmp_path / "exam", tmp_path / "responses.sqlite"
    counting_exam(exam, 30)
    ended = threading.Event()
    with ChatServer() as server:
        server.ready = lambda request: ended.is_set()
        first = begin(exam, server, tmp_path / "run", store)
        while not server.requests:
            assert first.poll() is None
            time.sleep(0.01)
        arguments = [str(exam), server.url, str(tmp_path / "run"), str(store), "4"]
        second = subprocess.run(
            [sys.executable, *SCRIPT, *arguments],
            capture_output=True,
            cwd=ROOT,
            timeout=LONGEST_S,
        )
        ended.set()
        assert first.wait(LONGEST_S) == 0
    assert second.returncode != 0 and b"another process is working on this run" in second.stderr
