"""A Ray cluster of two machines that are one: two nodes of one core, on the loopback only.

    python ray_cluster.py FOLDER

Prints its address; "remove" on standard input takes the second node away, the end of it ends all.
"""

from __future__ import annotations

import contextlib
import random
import socket
import sys
from typing import Any

AGENT_PORTS = (
    "metrics_agent_port",
    "metrics_export_port",
    "dashboard_agent_listen_port",
    "runtime_env_agent_port",
)
"""Ray gives its agents 15 s to say which port they took, too little on a busy machine. It does not
pass on the third of these: it is said for the agent."""


def node() -> dict[str, Any]:
    return {
        "node_ip_address": "127.0.0.1",  # else Ray listens on every interface
        "num_cpus": 1,
        "object_store_memory": 100_000_000,
        "include_dashboard": False,
        **dict(zip(AGENT_PORTS, free_ports(len(AGENT_PORTS)), strict=True)),
    }


def free_ports(n: int) -> list[int]:
    """Below those that a system hands out, so that nobody gets one until Ray takes it."""
    found: list[int] = []
    for port in random.sample(range(20_000, 32_000), 1000):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            found.append(port)
        if len(found) == n:
            break
    return found


def main(folder: str) -> None:
    from ray._private.node import Node  # not where pytest looks for doctests in this file
    from ray._raylet import DASHBOARD_AGENT_LISTEN_PORT_NAME, persist_port
    from ray.cluster_utils import Cluster

    start = Node.start_raylet

    def start_raylet(self: Any, *args: Any, **options: Any) -> None:
        port = self.dashboard_agent_listen_port
        persist_port(self._session_dir, self._node_id, DASHBOARD_AGENT_LISTEN_PORT_NAME, port)
        start(self, *args, **options)

    Node.start_raylet = start_raylet
    cluster = Cluster(initialize_head=True, head_node_args={**node(), "temp_dir": folder})
    second = cluster.add_node(**node())
    cluster.wait_for_nodes(timeout=600)
    print(cluster.address, flush=True)
    for line in sys.stdin:
        assert line.strip() == "remove", line
        cluster.remove_node(second, allow_graceful=False)
        print("removed", flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    main(sys.argv[1])
