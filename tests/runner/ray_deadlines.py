"""The `groundfault` command with a Ray that waits for its processes instead of for a time.

    python ray_deadlines.py eval …

A raylet has 30 s to register, and its agents have 15 s to write which ports they took. No setting
changes either (github.com/ray-project/ray/issues/65983), and a busy machine needs longer.
"""

from __future__ import annotations

import contextlib
import random
import socket
import time
from typing import Any

AGENT_PORTS = (
    "metrics_agent_port",
    "metrics_export_port",
    "dashboard_agent_listen_port",
    "runtime_env_agent_port",
)


def free_ports(n: int) -> list[int]:
    """Below those that a system hands out, so that nobody gets one until Ray takes it."""
    found: list[int] = []
    for port in random.sample(range(20_000, 32_000), 1000):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            found.append(port)
        if len(found) == n:
            break
    return found


def remove_deadlines() -> None:
    """Make Ray wait for a raylet until it has registered or ended, and not at all for ports."""
    from ray._private import services
    from ray._private.node import Node
    from ray._raylet import DASHBOARD_AGENT_LISTEN_PORT_NAME, persist_port

    start, look_up = Node.start_raylet, services.get_node
    raylets: list[Any] = []

    def start_raylet(self: Any, *args: Any, **options: Any) -> None:
        for name, port in zip(AGENT_PORTS, free_ports(len(AGENT_PORTS)), strict=True):
            setattr(self._ray_params, name, port)
        # the only one of the four that Ray does not tell the raylet
        port = self.dashboard_agent_listen_port
        persist_port(self._session_dir, self._node_id, DASHBOARD_AGENT_LISTEN_PORT_NAME, port)
        start(self, *args, **options)
        raylets.append(self.all_processes["raylet"][0].process)

    def get_node(*args: Any) -> Any:
        while not raylets or raylets[-1].poll() is None:
            try:
                return look_up(*args)
            except RuntimeError:  # it has not registered yet
                if not raylets:
                    raise
                time.sleep(0.1)
        raise SystemExit(f"the raylet ended with {raylets[-1].returncode} before it had registered")

    Node.start_raylet, services.get_node = start_raylet, get_node


def main() -> None:
    from groundfault.cli import main as command
    from groundfault.runner import ray_pool

    library = ray_pool._library

    def library_without_deadlines(*args: Any) -> Any:
        ray = library(*args)  # sets variables that Ray reads when it is imported
        remove_deadlines()
        return ray

    ray_pool._library = library_without_deadlines
    command()


if __name__ == "__main__":
    main()
