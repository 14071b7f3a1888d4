"""A Ray cluster of two nodes with one core each, both on this machine and on the loopback only.

    python ray_cluster.py FOLDER

It keeps all its files in FOLDER and prints its address. "remove" on standard input takes the second
node away; the end of the input ends the cluster.
"""

from __future__ import annotations

import os
import sys
from typing import Any

NODE: dict[str, Any] = {
    "node_ip_address": "127.0.0.1",  # else Ray listens on every interface
    "num_cpus": 1,
    "object_store_memory": 100_000_000,
    "include_dashboard": False,
    "wait": False,  # for at most 30 s; without deadlines the node is there already
}


def main(folder: str) -> None:
    # Whatever folder it is told to use, `Cluster` writes its address to the default one, which it
    # does not make: it fails on a machine where Ray never ran. So the default is moved.
    os.environ["RAY_TMPDIR"] = folder
    from ray.cluster_utils import Cluster  # not where pytest looks for doctests in this file
    from ray_deadlines import remove_deadlines

    remove_deadlines()
    cluster = Cluster(initialize_head=True, head_node_args=NODE)
    second = cluster.add_node(**NODE)
    print(cluster.address, flush=True)
    for line in sys.stdin:
        assert line.strip() == "remove", line
        cluster.remove_node(second, allow_graceful=False)
        print("removed", flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    main(sys.argv[1])
