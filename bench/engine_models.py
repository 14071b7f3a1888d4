"""Models whose cost is known, for measuring what the engine adds. Worker processes import them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from groundfault.io.masks import encode
from groundfault.records import Outcome, Prediction


def work(cpu_s: float) -> None:
    """Keep one core busy."""
    end = time.thread_time() + cpu_s
    while time.thread_time() < end:
        pass


class Costly:
    """Encodes a picture for some time, then answers each phrase in much less."""

    def __init__(
        self, encode_s: float = 0.0, phrase_s: float = 0.0, *, wait_s: float = 0.0
    ) -> None:
        self.encode_s, self.phrase_s, self.wait_s = encode_s, phrase_s, wait_s

    def segment(self, image: Any, phrases: Sequence[str]) -> list[Prediction]:
        time.sleep(self.wait_s)
        if self.encode_s:
            work(self.encode_s)
        mask = encode(image[..., 0] > 128)
        found = []
        for _ in phrases:
            if self.phrase_s:
                work(self.phrase_s)
            found.append(Prediction(item_id="", outcome=Outcome.OK, masks=(mask,), scores=(0.5,)))
        return found
