"""Trainings in processes of their own: forked, so that the libraries are imported once."""

from __future__ import annotations

import os
import signal
import socket
import traceback
import warnings
from collections.abc import Callable


def forked(work: Callable[[], object]) -> int:
    """Start work in another process; its id."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 doubts forks beside threads
        child = os.fork()
    if child:
        return child
    code = 1
    try:
        from accelerate.state import AcceleratorState

        AcceleratorState._reset_state(True)
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def ended(child: int) -> int:
    """How a process ended: its exit code, or the negative number of its signal."""
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def kill_this() -> None:
    """As kill -9 does."""
    os.kill(os.getpid(), signal.SIGKILL)


def as_rank(rank: int, n: int, port: int) -> None:
    """Be one of n processes, as torchrun would have it."""
    os.environ |= {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(n),
        "LOCAL_WORLD_SIZE": str(n),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "ACCELERATE_USE_CPU": "true",
    }


def free_port() -> int:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return int(place.getsockname()[1])
