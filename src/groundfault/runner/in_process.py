"""One model in this process; pictures are decoded ahead of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from groundfault.records import Prediction
from groundfault.runner.segmenting import Predictor, Prepared
from groundfault.runner.work import Batch

__all__ = ["predict_ahead"]

AHEAD = 4
"""Batches decoded ahead of the model."""
AHEAD_BYTES = 256 << 20
"""No more decoded pictures than this wait, beyond the next batch."""


def predict_ahead(
    predictor: Predictor, work: Iterable[Batch]
) -> Iterator[tuple[Batch, list[Prediction]]]:
    """Batches with their predictions, in turn."""
    waiting: deque[tuple[Prepared, int]] = deque()
    waiting_bytes = 0
    for batch in work:
        size = predictor.decoded_bytes(batch)
        while waiting and (len(waiting) > AHEAD or waiting_bytes + size > AHEAD_BYTES):
            prepared, gone = waiting.popleft()
            waiting_bytes -= gone
            yield prepared.batch, predictor.predict(prepared)
        waiting.append((predictor.prepare(batch), size))
        waiting_bytes += size
    while waiting:
        prepared, _ = waiting.popleft()
        yield prepared.batch, predictor.predict(prepared)
