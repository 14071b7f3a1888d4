"""One segmenter for many episodes: requests that wait at the same time are handled together.

An image is encoded once for all turns of all its episodes where the segmenter can keep the encoding
(`Encoder`). Where it cannot, the queries that are known beforehand (p⁺ and p⁻) share one call, and
no phrase is segmented twice in an image.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from groundfault.errors import GroundfaultError
from groundfault.interfaces import BatchSegmenter, Encoder, Segmenter
from groundfault.llm.batching import Batcher, failure
from groundfault.models.agent.episode import Scene
from groundfault.parsing.tool_calls import normalise_phrase
from groundfault.records import Outcome, Prediction

__all__ = ["Segmented", "SegmenterThread"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
KEPT_ENCODINGS = 32
"""As many as episodes under way by default; those of large networks take tens of MB each."""
BATCH = 8


class Segmented(NamedTuple):
    """A prediction and what it took."""

    prediction: Prediction
    seconds: float


class _Recent(OrderedDict[K, V], Generic[K, V]):
    """The latest few."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def keep(self, key: K, value: V) -> None:
        self[key] = value
        self.move_to_end(key)
        while len(self) > self.most:
            self.popitem(last=False)


class SegmenterThread:
    """The segmenter in a thread of its own, with the encodings and predictions of its images."""

    def __init__(self, segmenter: Segmenter, *, batch: int = BATCH) -> None:
        self.segmenter, self.batch = segmenter, batch
        self._encoded: _Recent[Scene, Any] = _Recent(KEPT_ENCODINGS)
        self._known: dict[Scene, dict[str, Prediction]] = {}
        self._batcher: Batcher[tuple[Scene, str], Segmented] = Batcher(self._handle)

    async def segment(self, scene: Scene, phrase: str) -> Segmented:
        """What the segmenter finds for a phrase; `failed` if it raises."""
        return await self._batcher.submit((scene, phrase))

    def forget(self, scenes: Iterable[Scene]) -> None:
        """Let go of images whose episodes are over."""
        for scene in scenes:
            self._encoded.pop(scene, None)
            self._known.pop(scene, None)

    def close(self) -> None:
        """End the thread."""
        self._batcher.close()

    def _handle(self, requests: list[tuple[Scene, str]]) -> list[Segmented]:
        started = time.perf_counter()
        new: dict[Scene, dict[str, str]] = {}
        for scene, phrase in requests:
            known = self._known.get(scene)
            if known is None or normalise_phrase(phrase) not in known:
                wanted = new.setdefault(scene, {})
                wanted[normalise_phrase(phrase)] = phrase
                if known is None:
                    wanted.update({normalise_phrase(query): query for query in scene.queries})
                    wanted[normalise_phrase(phrase)] = phrase
        for scene, answers in self._segment(new).items():
            self._known.setdefault(scene, {}).update(answers)
        seconds = (time.perf_counter() - started) / len(requests)
        return [
            Segmented(self._known[scene][normalise_phrase(phrase)], seconds)
            for scene, phrase in requests
        ]

    def _segment(self, new: dict[Scene, dict[str, str]]) -> dict[Scene, dict[str, Prediction]]:
        found: dict[Scene, dict[str, Prediction]] = {}
        for scenes in self._together(list(new)):
            phrases = [list(new[scene].values()) for scene in scenes]
            for scene, predictions in zip(scenes, self._call(scenes, phrases), strict=True):
                found[scene] = dict(zip(new[scene], predictions, strict=True))
        return found

    def _together(self, scenes: list[Scene]) -> list[list[Scene]]:
        """Images that go into one call: several of one size, if the segmenter takes several."""
        keeps = isinstance(self.segmenter, Encoder)
        if not keeps and not isinstance(self.segmenter, BatchSegmenter):
            return [[scene] for scene in scenes]
        if keeps or getattr(self.segmenter, "any_sizes", False):
            starts = range(0, len(scenes), self.batch)
            return [scenes[start : start + self.batch] for start in starts]
        groups: list[list[Scene]] = []
        for scene in sorted(scenes, key=lambda scene: scene.size_px):
            last = groups[-1] if groups else []
            if last and len(last) < self.batch and last[0].size_px == scene.size_px:
                last.append(scene)
            else:
                groups.append([scene])
        return groups

    def _call(self, scenes: list[Scene], phrases: list[list[str]]) -> list[list[Prediction]]:
        try:
            found = [list(answers) for answers in self._ask(scenes, phrases)]
            if [len(answers) for answers in found] != [len(own) for own in phrases]:
                raise GroundfaultError("the segmenter gave not one prediction per phrase")
            return found
        except Exception as problem:  # whatever a model may raise
            reason = failure(problem)
        if len(scenes) > 1:
            return [
                self._call([scene], [own])[0] for scene, own in zip(scenes, phrases, strict=True)
            ]
        failed = Prediction(item_id="", outcome=Outcome.FAILED, reason=reason)
        return [[failed] * len(phrases[0])]

    def _ask(self, scenes: list[Scene], phrases: list[list[str]]) -> Sequence[Sequence[Prediction]]:
        if isinstance(self.segmenter, Encoder):
            return self.segmenter.segment_encoded(self._encodings(self.segmenter, scenes), phrases)
        if len(scenes) > 1:
            assert isinstance(self.segmenter, BatchSegmenter)
            return self.segmenter.segment_batch([scene.image for scene in scenes], phrases)
        return [self.segmenter.segment(scenes[0].image, phrases[0])]

    def _encodings(self, encoder: Encoder, scenes: list[Scene]) -> list[Any]:
        new = [scene for scene in scenes if scene not in self._encoded]
        seen = encoder.encode([scene.image for scene in new]) if new else []
        fresh = dict(zip(new, seen, strict=True))
        found = [fresh[scene] if scene in fresh else self._encoded[scene] for scene in scenes]
        for scene, encoded in zip(scenes, found, strict=True):
            self._encoded.keep(scene, encoded)
        return found
