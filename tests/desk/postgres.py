"""A PostgreSQL of one's own for a while, from Debian's `postgresql`, as its own user."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


@contextmanager
def postgres_server(*settings: str) -> Iterator[str]:
    """The URL of its database, on a socket. It refuses to run as root."""
    with tempfile.TemporaryDirectory(prefix="desk-pg-") as folder:  # sockets need a short path
        user = "postgres" if os.geteuid() == 0 else None
        if user:
            shutil.chown(folder, user)

        def run(name: str, *words: str) -> None:
            line = (str(BINARIES[-1] / name), "-D", f"{folder}/data", *words)
            done = subprocess.run(line, user=user, cwd=folder, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr + done.stdout

        run("initdb", "-A", "trust", "-U", "desk", "--no-sync")
        given = ("listen_addresses=''", "shared_buffers=16MB", *settings)
        options = " ".join((f"-k {folder}", *(f"-c {each}" for each in given)))
        run("pg_ctl", "-o", options, "-l", f"{folder}/log", "-w", "start")
        try:
            yield f"postgresql://desk@/postgres?host={folder}"
        finally:
            run("pg_ctl", "-m", "immediate", "stop")
