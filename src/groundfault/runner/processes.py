"""Workers as processes of this machine, for models that one core at a time runs.

A worker ends by itself when its pipe closes, however this process ended.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import queue
import signal
import threading
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple

import msgspec

from groundfault.errors import GroundfaultError
from groundfault.runner.pool import Job, Report, ready_report

__all__ = ["ProcessWorkers"]

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class _Worker(NamedTuple):
    process: BaseProcess
    pipe: Connection


class ProcessWorkers:
    """Workers started afresh: nothing is shared, so a model may use threads and CUDA."""

    def __init__(self, job: Job[Any, Any], workers: int) -> None:
        self.job = job
        self.size = workers
        self.threads = str(max(1, (os.cpu_count() or 1) // workers))
        self.workers: dict[int, _Worker] = {}
        self.n_started = 0

    def start(self) -> int:
        """Start a process."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(
            target=_serve, args=(theirs, self.job), name="groundfault worker", daemon=True
        )
        with _environment(dict.fromkeys(THREADS, self.threads)):
            process.start()
        theirs.close()
        self.n_started += 1
        self.workers[self.n_started] = _Worker(process, ours)
        return self.n_started

    def send(self, worker: int, ticket: int, batch: Sequence[Any]) -> None:
        """Give it a batch; that it died is said by `wait`."""
        with contextlib.suppress(OSError):
            self.workers[worker].pipe.send_bytes(msgspec.msgpack.encode((ticket, batch)))

    def wait(self) -> list[tuple[int, Report[Any] | None]]:
        """One report of each worker that has something to say."""
        number = {worker.pipe: k for k, worker in self.workers.items()}
        kind = Report[self.job.result]  # type: ignore[name-defined]
        reports: list[tuple[int, Report[Any] | None]] = []
        for pipe in wait(list(number)):
            assert isinstance(pipe, Connection)
            try:
                content = pipe.recv_bytes()
            except (EOFError, OSError):
                self._end(number[pipe])
                reports.append((number[pipe], None))
            else:
                reports.append((number[pipe], msgspec.msgpack.decode(content, type=kind)))
        return reports

    def close(self) -> None:
        """Dismiss everybody."""
        for worker in list(self.workers):
            self._end(worker)

    def _end(self, number: int) -> None:
        worker = self.workers.pop(number)
        worker.pipe.close()
        worker.process.terminate()
        worker.process.join()


def _serve(pipe: Connection, job: Job[Any, Any]) -> None:
    """Do batches until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other end decides
    loaded = functools.cache(job.set_up)
    report = ready_report(loaded)
    _say(pipe, report)
    if report.refusal:
        return
    doer, _ = loaded()
    order = msgspec.msgpack.Decoder(tuple[int, list[job.task]])  # type: ignore[name-defined]
    prepared: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()

    def receive() -> None:
        try:
            while True:
                number, tasks = order.decode(pipe.recv_bytes())
                prepared.put((number, doer.prepare(tuple(tasks))))
        except (EOFError, OSError):
            os._exit(0)

    threading.Thread(target=receive, daemon=True).start()
    while True:
        ticket, batch = prepared.get()
        try:
            report = Report(ticket, list(doer.predict(batch)), stopped=doer.stopped)
        except GroundfaultError as problem:
            report = Report(ticket, refusal=str(problem))
        _say(pipe, report)


def _say(pipe: Connection, report: Report[Any]) -> None:
    with contextlib.suppress(BrokenPipeError):
        pipe.send_bytes(msgspec.msgpack.encode(report))


@contextlib.contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Variables for a process to be started, where they are not set."""
    added = {name: value for name, value in values.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
