"""Workers as Ray actors, on this machine or on a cluster.

Batches and predictions are a few kilobytes: they travel inside Ray's messages, pictures never do.
Every worker reads its pictures itself, so their folder must be a path that all machines have.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import msgspec

from groundfault.errors import GroundfaultError, MissingExtra, UsageError
from groundfault.runner.pool import IN_FLIGHT, Job, Report, ready_report
from groundfault.runner.work import Plan

__all__ = ["RayWorkers"]

QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
HERE = {"address": "local", "include_dashboard": False}
"""Of a cluster on this machine: unless told, Ray would join whatever was started here last."""
LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""What Ray does on those systems by itself: one machine, 127.0.0.1. Else it would listen on every
interface. It is read when Ray is imported."""
CALL_S = 20.0


class RayWorkers:
    """One actor per worker. Ray is started if it is not, and stopped by whom started it."""

    def __init__(self, job: Job[Any, Any], plan: Plan, *, most: int) -> None:
        self.ray = _library(QUIET if plan.ray_address else QUIET | LOOPBACK)
        self.started = not self.ray.is_initialized()
        if self.started:
            _start(self.ray, plan.ray_address)
        resources = self.ray.cluster_resources()
        gpus = 0 if plan.device == "cpu" else int(resources.get("GPU", 0))
        wanted = plan.workers or gpus or max(1, int(resources.get("CPU", 1)))
        self.size = min(wanted, most)
        actor = self.ray.remote(_Actor)
        self.actor = actor.options(
            max_concurrency=IN_FLIGHT, num_cpus=1, num_gpus=min(1.0, gpus / self.size)
        )
        self.result = job.result
        self.job = self.ray.put(job)
        self.actors: dict[int, Any] = {}
        self.waiting: dict[Any, int] = {}
        """Reference of a report to come → whose it is."""
        self.n_started = 0

    def start(self) -> int:
        """Start an actor."""
        self.n_started += 1
        self.actors[self.n_started] = self.actor.remote(self.job)
        self.waiting[self.actors[self.n_started].begin.remote()] = self.n_started
        return self.n_started

    def send(self, worker: int, ticket: int, batch: Sequence[Any]) -> None:
        """Give it a batch."""
        order = msgspec.msgpack.encode((ticket, batch))
        self.waiting[self.actors[worker].ask.remote(order)] = worker

    def wait(self) -> list[tuple[int, Report[Any] | None]]:
        """The next report; Ray says that an actor died when its report is asked for."""
        [reference], _ = self.ray.wait(list(self.waiting), num_returns=1)
        worker = self.waiting.pop(reference)
        try:
            content = self.ray.get(reference)
        except self.ray.exceptions.RayActorError:
            self.waiting = {ref: owner for ref, owner in self.waiting.items() if owner != worker}
            del self.actors[worker]
            return [(worker, None)]
        kind = Report[self.result]  # type: ignore[name-defined]
        return [(worker, msgspec.msgpack.decode(content, type=kind))]

    def close(self) -> None:
        """Dismiss everybody."""
        for actor in self.actors.values():
            self.ray.kill(actor)
        self.actors, self.waiting = {}, {}
        if self.started:
            self.ray.shutdown()


def _library(variables: Mapping[str, str]) -> Any:
    for name, value in variables.items():
        os.environ.setdefault(name, value)
    try:
        return import_module("ray")
    except ImportError:
        raise MissingExtra("Ray", "ray") from None


def _start(ray: Any, address: str) -> None:
    """Connect to the cluster given, or start one on this machine."""
    where = {"address": address} if address else HERE
    try:
        _call_at(address)
        ray.init(**where, logging_level="ERROR", log_to_driver=False)
    except Exception as problem:  # a start that takes too long is no more than that to Ray
        if not address:
            raise GroundfaultError(
                f"Ray cannot be started on this machine ({problem}). Is it busy, or short of "
                "memory? Try again, or use --workers without --engine ray"
            ) from None
        raise UsageError(
            f"Ray at {address} cannot be reached ({problem}); start it with `ray start --head`, "
            "or leave --ray-address away"
        ) from None


def _call_at(address: str) -> None:
    """Raise OSError where nobody listens: Ray itself would try for a quarter of an hour."""
    host, _, port = address.rpartition(":")
    if host and port.isdigit() and "/" not in host:
        socket.create_connection((host.strip("[]"), int(port)), CALL_S).close()


class _Actor:
    """A worker; its methods run on several threads, the model on one."""

    def __init__(self, job: Job[Any, Any]) -> None:
        self.order = tuple[int, list[job.task]]  # type: ignore[name-defined]
        self.model_thread = ThreadPoolExecutor(1, "model")
        self.loaded = self.model_thread.submit(job.set_up)

    def begin(self) -> bytes:
        """Load the model: the report READY."""
        return msgspec.msgpack.encode(ready_report(self.loaded.result))

    def ask(self, order: bytes) -> bytes:
        """The report on a batch, which is decoded while the one before it is asked."""
        ticket, tasks = msgspec.msgpack.decode(order, type=self.order)
        report: Report[Any]
        try:
            doer, _ = self.loaded.result()
            prepared = doer.prepare(tuple(tasks))
            results = self.model_thread.submit(doer.predict, prepared).result()
            report = Report(ticket, list(results), stopped=doer.stopped)
        except GroundfaultError as problem:
            report = Report(ticket, refusal=str(problem))
        return msgspec.msgpack.encode(report)
