"""Run a command and say what it cost: CPU seconds, wall seconds, peak memory."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    cpu_s: float
    wall_s: float
    peak_mb: float

    def __add__(self, other: Cost) -> Cost:
        """One after the other: times add up, memory is the larger."""
        return Cost(
            self.cpu_s + other.cpu_s, self.wall_s + other.wall_s, max(self.peak_mb, other.peak_mb)
        )


def run(command: list[str], *, log: Path) -> Cost:
    """Run to the end; a failure stops the benchmark and shows what was printed."""
    with log.open("wb") as output:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=output)
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - started
    if status:
        sys.exit(f"{' '.join(command)} failed:\n{log.read_text()[-3000:]}")
    return Cost(usage.ru_utime + usage.ru_stime, wall_s, usage.ru_maxrss / 1024)


def best(command: list[str], *, log: Path, times: int) -> Cost:
    """The cheapest of several runs: these machines are noisy, and noise only adds."""
    return min((run(command, log=log) for _ in range(times)), key=lambda cost: cost.cpu_s)
