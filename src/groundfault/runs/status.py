"""How far runs are, from any terminal: a run that goes on keeps RUN/progress.json up to date, and
holds the run's folder, which the system knows of however the process ends."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Literal, get_args

import msgspec

from groundfault.errors import GroundfaultError, UsageError
from groundfault.io.store import is_held, is_there, read_json, write_json
from groundfault.runs.run import RUN, Run, read_run

__all__ = ["Heartbeat", "Progress", "State", "Status", "status"]

AnyPath = str | PathLike[str]
PROGRESS = "progress.json"
EVERY_S = 2.0
"""Between two writings; each costs a small file that nobody waits for."""
SILENT_S = 60.0
"""After so long without a word, a run on another machine may be dead."""
Ended = Literal["finished", "stopped", "failed", "interrupted"]
"""As run.json says it."""
State = Literal["running", "scoring", Ended, "dead", "stale"]
"""`dead` is a run whose process ended without finishing it; `stale` one on another machine, of
which nothing was heard for a minute."""


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """The content of progress.json."""

    model: str
    """What the run calls it."""
    benchmark: str
    """What the run calls it."""
    done: int
    """Items that ended, failed ones included."""
    n_items: int
    """Items in all, each counted once per mode."""
    failed: int = 0
    """Items that failed."""
    per_s: float = 0.0
    """Items a second in this session."""
    eta_s: float | None = None
    """None before anything was answered in this session."""
    pid: int = 0
    """The process that works on it."""
    host: str = ""
    """The machine that it works on."""
    started: float = 0.0
    """Of this session; seconds since 1970, as `updated`."""
    updated: float = 0.0
    """When this was written."""


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """How far a run is."""

    run: str
    """Its folder."""
    state: State
    model: str
    benchmark: str
    done: int
    """Items with a prediction, failed ones too."""
    n_items: int
    failed: int
    per_s: float | None = None
    """Items per second; None unless it is running, like what follows."""
    eta_s: float | None = None
    pid: int | None = None
    host: str = ""
    updated: float = 0.0
    """When it was heard of last, in seconds since 1970."""
    stopped: str = ""
    """Why it was stopped."""


class Heartbeat:
    """Keeps a run's progress.json up to date while a session lasts."""

    def __init__(self, folder: AnyPath, model: str, benchmark: str) -> None:
        self.path = Path(folder) / PROGRESS
        self._fixed = {
            "model": model,
            "benchmark": benchmark,
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "started": time.time(),
        }
        self._last = float("-inf")

    def beat(
        self, done: int, n_items: int, failed: int, per_s: float = 0.0, eta_s: float | None = None
    ) -> None:
        """Say how far it is; cheap if called often."""
        now = time.monotonic()
        if now - self._last < EVERY_S:
            return
        self._last = now
        told = Progress(
            done=done,
            n_items=n_items,
            failed=failed,
            per_s=round(per_s, 3),
            eta_s=None if eta_s is None else round(eta_s, 1),
            updated=time.time(),
            **self._fixed,  # type: ignore[arg-type]
        )
        with contextlib.suppress(GroundfaultError):  # a full disk is said by who stores answers
            write_json(self.path, told, durable=False)

    def end(self) -> None:
        """The session is over; run.json says how."""
        self.path.unlink(missing_ok=True)


def status(*runs: AnyPath) -> list[Status]:
    """How far runs are: folders of runs, or folders that hold such folders."""
    return [_status(folder) for folder in _folders(runs)]


def _folders(given: Sequence[AnyPath]) -> list[Path]:
    found: dict[Path, None] = {}
    for each in map(Path, given):
        names = (RUN, PROGRESS)
        inside = sorted(each.iterdir()) if each.is_dir() else []
        folders = [
            place for place in (each, *inside) if any(is_there(place / name) for name in names)
        ]
        folders = folders[:1] if each in folders else folders
        if not folders:
            raise UsageError(f"{each}: no run is there; name the folder that eval --out was given")
        found |= dict.fromkeys(folders)
    return list(found)


def _status(folder: Path) -> Status:
    run = read_run(folder) if is_there(folder / RUN) else None
    now = _progress(folder)
    if now is None:  # no session, or it has just ended
        run = read_run(folder)
    state = _state(run, now, held=is_held(folder))
    known = now or run
    assert known is not None
    going = now if state == "running" else None
    outcomes = run.outcomes if run is not None else {}
    return Status(
        run=str(folder),
        state=state,
        model=known.model,
        benchmark=known.benchmark,
        done=now.done if now else sum(outcomes.values()),
        n_items=known.n_items,
        failed=now.failed if now else outcomes.get("failed", 0),
        per_s=going.per_s if going else None,
        eta_s=going.eta_s if going else None,
        pid=going.pid if going else None,
        host=now.host if now else "",
        updated=now.updated if now else (folder / RUN).stat().st_mtime,
        stopped=run.stopped if run and not going else "",
    )


def _progress(folder: Path) -> Progress | None:
    """What a session says of itself; None if there is none."""
    try:
        return read_json(folder / PROGRESS, Progress)
    except UsageError:
        if is_there(folder / PROGRESS):
            raise
        return None


def _state(run: Run | None, now: Progress | None, *, held: bool | None) -> State:
    """`held` is whether a process has the run's folder; None where the system cannot say."""
    going = now is not None or (run is not None and run.state == "running")
    if held:
        return "running" if going else "scoring"
    if not going:
        return next((end for end in get_args(Ended) if run and end == run.state), "finished")
    if now is not None and (held is None or now.host != socket.gethostname()):
        return "running" if time.time() - now.updated < SILENT_S else "stale"
    return "dead"
