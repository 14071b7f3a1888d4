"""Runs a command in a process that is killed before its file operation of a given number:

python killed_at.py NUMBER COMMAND …        says how many there were, if it came through
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

OPERATIONS = ("open", "write", "fsync", "replace", "rename", "unlink", "mkdir", "rmdir", "chmod")


def main() -> None:
    """Count, and be killed or come through."""
    from groundfault import cli
    from groundfault.io import store

    store.LEFT_S = -1.0  # the dead are swept at once
    point, done = int(sys.argv[1]), 0

    def counted(operation: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            nonlocal done
            done += 1
            if done == point:
                os.kill(os.getpid(), signal.SIGKILL)
            return operation(*given, **named)

        return call

    for name in OPERATIONS:
        setattr(os, name, counted(getattr(os, name)))
    code = cli.run(sys.argv[2:])
    print(f"\n{done}")
    sys.exit(code)


if __name__ == "__main__":
    main()
