"""One model in this process; pictures are decoded ahead of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from groundfault.runner.segmenting import Asker, Prepared
from groundfault.runner.work import Batch
from groundfault.runs.run import Answer

__all__ = ["ask_here"]

AHEAD = 4
"""Batches decoded ahead of the model."""
AHEAD_BYTES = 256 << 20
"""No more decoded pictures than this wait, beyond the next batch."""


def ask_here(asker: Asker, work: Iterable[Batch]) -> Iterator[tuple[Batch, list[Answer]]]:
    """Batches with their answers, in turn."""
    waiting: deque[tuple[Prepared, int]] = deque()
    waiting_bytes = 0
    for batch in work:
        size = sum(3 * task.size_px[0] * task.size_px[1] for task in batch)
        while waiting and (len(waiting) > AHEAD or waiting_bytes + size > AHEAD_BYTES):
            prepared, gone = waiting.popleft()
            waiting_bytes -= gone
            yield prepared.batch, asker.ask(prepared)
        waiting.append((asker.prepare(batch), size))
        waiting_bytes += size
    while waiting:
        prepared, _ = waiting.popleft()
        yield prepared.batch, asker.ask(prepared)
