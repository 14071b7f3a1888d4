"""A Ray cluster of two machines that are one: two nodes of one core, on the loopback only.

    python ray_cluster.py FOLDER

Prints its address; "remove" on standard input takes the second node away, the end of it ends all.
"""

from __future__ import annotations

import socket
import sys
from typing import Any

AGENT_PORTS = (
    "metrics_agent_port",
    "metrics_export_port",
    "dashboard_agent_listen_port",
    "runtime_env_agent_port",
)
"""Ray gives its agents 15 s to say which port they took, too little on a busy machine."""


def node() -> dict[str, Any]:
    return {
        "node_ip_address": "127.0.0.1",  # else Ray listens on every interface
        "num_cpus": 1,
        "object_store_memory": 100_000_000,
        "include_dashboard": False,
        **dict(zip(AGENT_PORTS, free_ports(len(AGENT_PORTS)), strict=True)),
    }


def free_ports(n: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def main(folder: str) -> None:
    from ray.cluster_utils import Cluster  # not where pytest looks for doctests in this file

    cluster = Cluster(initialize_head=True, head_node_args={**node(), "temp_dir": folder})
    second = cluster.add_node(**node())
    cluster.wait_for_nodes(timeout=120)
    print(cluster.address, flush=True)
    for line in sys.stdin:
        assert line.strip() == "remove", line
        cluster.remove_node(second, allow_graceful=False)
        print("removed", flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    main(sys.argv[1])
