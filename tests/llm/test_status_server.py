"""How far runs are, asked by another process while they go on and after they ended or died."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.llm.chat_server import ChatServer

import groundfault as gf
from groundfault.errors import UsageError
from groundfault.io.store import is_held, locked, write_json
from groundfault.reports.statuses import status_table
from groundfault.runs.run import Run
from groundfault.runs.status import Heartbeat, Progress

LONGEST_S = 120.0
N = 240


def begin(exam: Path, server: ChatServer, out: Path) -> subprocess.Popen[bytes]:
    command = [
        "eval", exam, "--model", "openai:tiny", "--base-url", server.url, "--out", out, "--yes",
        "--mode", "std", "--concurrency", 8, "--bootstrap", 0,
    ]  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-m", "groundfault.cli", *map(str, command)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def until(state: Callable[[], Any], process: subprocess.Popen[bytes]) -> Any:
    """What it gives once it gives something."""
    end = time.monotonic() + LONGEST_S
    while not (found := state()):
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.02)
    return found


def test_a_run_that_goes_on_dies_and_ends(exam_folder: Path, tmp_path: Path, run: Any) -> None:
    out = tmp_path / "runs"

    def told(*more: str) -> dict[str, Any]:
        ran = run("status", out, "--json", *more)
        return dict(ran.json[0]) if ran.code == 0 else {}

    with ChatServer() as server:
        server.ready = lambda request: request.number < 60 or late
        late = False
        process = begin(exam_folder, server, out)
        first = until(lambda: told(), process)
        assert first["state"] == "running" and first["pid"] == process.pid
        assert first["n_items"] == N and first["model"] == "openai:tiny"
        assert (out / "openai-tiny" / "progress.json").is_file()
        until(lambda: len(server.requests) >= 60, process)
        assert "running" in run("status", out / "openai-tiny").out
        process.send_signal(signal.SIGKILL)
        process.wait(LONGEST_S)
        dead = told()
        assert dead["state"] == "dead" and dead["pid"] is None and dead["eta_s"] is None
        assert "the same command goes on" in run("status", out).out
        late = True
        assert begin(exam_folder, server, out).wait(LONGEST_S) == 0
    [done] = gf.status(out)
    assert (done.state, done.done, done.failed) == ("finished", N, 0)
    assert not (out / "openai-tiny" / "progress.json").exists()
    assert told()["stopped"] == ""


def test_what_a_heart_beats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("groundfault.runs.status.time.monotonic", lambda: clock[0])
    heart = Heartbeat(tmp_path, "m", "b")
    with locked(tmp_path):
        heart.beat(0, 100, 0)
        [begun] = gf.status(tmp_path)
        assert (begun.state, begun.done, begun.eta_s, begun.pid) == (
            "running",
            0,
            None,
            os.getpid(),
        )
        clock[0] = 1.9
        heart.beat(50, 100, 2, 25.0, 2.0)
        assert gf.status(tmp_path)[0].done == 0, "not every item is written"
        clock[0] = 2.1
        heart.beat(60, 100, 3, 30.0, 1.3)
        [now] = gf.status(tmp_path)
        assert (now.done, now.failed, now.per_s, now.eta_s) == (60, 3, 30.0, 1.3)
    assert gf.status(tmp_path)[0].state == "dead" and is_held(tmp_path) is False
    heart.end()
    with pytest.raises(UsageError, match="no run is there"):
        gf.status(tmp_path)


def test_a_run_on_another_machine(tmp_path: Path) -> None:
    progress = Progress(model="m", benchmark="b", done=5, n_items=9, host="elsewhere")
    for age_s, state in ((1.0, "running"), (3600.0, "stale")):
        now = msgspec.structs.replace(progress, updated=time.time() - age_s)
        write_json(tmp_path / "progress.json", now)
        assert gf.status(tmp_path)[0].state == state


def test_the_table(tmp_path: Path, run: Any) -> None:
    kept = {
        "model": "m", "benchmark": "b", "n_items": 4000, "outcomes": {"ok": 2999, "failed": 1},
        "state": "stopped", "stopped": "no money \x1b[2J",
    }  # fmt: skip
    write_json(tmp_path / "a\x1b[2J" / "run.json", kept)
    ran = run("status", tmp_path)
    assert ran.code == 0 and "\x1b" not in ran.out
    assert "stopped  2,999 of 4,000" in ran.out and "no money \\x1b[2J" in ran.out
    assert status_table(gf.status(tmp_path)).rows[0][1] == "stopped"
    assert run("status", tmp_path / "nowhere").code == 2
    (tmp_path / "a\x1b[2J" / "run.json").write_text("")
    assert run("status", tmp_path).code == 2
    assert json.loads(run("status", tmp_path, "--json").out or "[]") == []


@pytest.mark.parametrize("name", ["run.json", "progress.json"])
def test_damaged_files_end_in_a_table_or_in_one_message(
    tmp_path: Path, run: Any, name: str
) -> None:
    write_json(tmp_path / "run.json", Run(model="m", benchmark="b", n_items=40, state="running"))
    Heartbeat(tmp_path, "m", "b").beat(7, 40, 1, 2.5, 13.0)
    sound, rng = (tmp_path / name).read_bytes(), random.Random(3)
    codes = Counter[int]()
    for _ in range(300):
        content = bytearray(sound)
        for _ in range(rng.randrange(1, 4)):
            start = rng.randrange(len(content))
            content[start : start + rng.randrange(3)] = rng.choice(
                [b"", b"-", b"9e99", b"{", b"\xff"]
            )
        (tmp_path / name).write_bytes(content)
        codes[run("status", tmp_path, *rng.choice([(), ("--json",)])).code] += 1
    assert set(codes) == {0, 2}
