"""The agent as a segmenter: many episodes at a time over one segmenter and one answerer."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from groundfault.interfaces import Answerer, Probeable, Segmenter
from groundfault.llm.event_loop import OwnLoop
from groundfault.models.agent.segmenting import Worker
from groundfault.models.agent.settings import Settings
from groundfault.models.agent.speaking import Speaker, Together, failure
from groundfault.models.agent.turns import Episode, Scene
from groundfault.records import Prediction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]

__all__ = ["Agent"]

DRAUGHTSMEN = min(4, os.cpu_count() or 1)
"""Threads that draw: Pillow lets go of the interpreter while it resizes and compresses, which is
three quarters of what a turn takes here."""


class Agent:
    """A multimodal LLM that verifies what a segmenter finds, before it answers.

    `answerer` is any `protocols.Answerer`, or a `Speaker` that takes conversations one by one.
    `told` gets every episode when it is over, in the agent's own thread. All methods wait, and may
    be called inside a running event loop (a notebook's).
    """

    any_sizes = True
    """Images of one call need not be of one size: the engine hands over full batches."""
    images_at_once = 16
    """With p⁺ and p⁻, as many conversations as are under way by default."""

    def __init__(
        self,
        segmenter: Segmenter,
        answerer: Answerer | Speaker,
        settings: Settings | None = None,
        *,
        told: Callable[[Episode], None] | None = None,
    ) -> None:
        self.segmenter, self.settings = segmenter, settings or Settings()
        self.speaker: Speaker = Together(answerer) if isinstance(answerer, Answerer) else answerer
        self.told = told
        self.checkpoints: tuple[str, ...] = (
            *getattr(segmenter, "checkpoints", ()),
            *getattr(self.speaker, "checkpoints", ()),
        )
        if isinstance(segmenter, Probeable):
            self.frame_probe = segmenter.frame_probe
        self._worker = Worker(segmenter)
        self._draughtsmen = ThreadPoolExecutor(DRAUGHTSMEN, "draw")
        self._loop = OwnLoop()
        self._closed = False

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def segment(self, image: Pixels, phrases: Sequence[str]) -> list[Prediction]:
        """One answer per phrase, each with the trace of its episode in `text`."""
        return self.segment_batch([image], [phrases])[0]

    def segment_batch(
        self, images: Sequence[Pixels], phrases: Sequence[Sequence[str]]
    ) -> list[list[Prediction]]:
        """The same for several images: all their episodes at once, up to `concurrency`."""
        scenes = [Scene(image, asked) for image, asked in zip(images, phrases, strict=True)]
        wanted = [(scene, query) for scene in scenes for query in scene.queries]
        try:
            found = iter(self._loop.run(self._hold_all(wanted)))
        finally:
            self._worker.forget(scenes)
        return [[next(found) for _ in scene.queries] for scene in scenes]

    def close(self) -> None:
        """Hang up and end all threads; the segmenter too, if it can be closed. Twice is once."""
        if self._closed:
            return
        self._closed = True
        self._loop.run(self.speaker.close())
        self._loop.close()
        self._worker.close()
        self._draughtsmen.shutdown(wait=False, cancel_futures=True)
        close = getattr(self.segmenter, "close", None)
        if callable(close):
            close()

    async def _hold_all(self, wanted: Sequence[tuple[Scene, str]]) -> list[Prediction]:
        found: list[Prediction | None] = [None] * len(wanted)
        numbers = iter(range(len(wanted)))

        async def work() -> None:
            for number in numbers:  # shared by all
                found[number] = await self._hold(*wanted[number])

        async with asyncio.TaskGroup() as group:
            for _ in range(min(self.settings.concurrency, len(wanted))):
                group.create_task(work())
        return [prediction for prediction in found if prediction is not None]

    async def _hold(self, scene: Scene, query: str) -> Prediction:
        """One episode, from its first reply to its answer."""
        loop = asyncio.get_running_loop()
        episode = await loop.run_in_executor(
            self._draughtsmen, Episode, scene, query, self.settings
        )
        try:
            while not episode.over:
                said = await self.speaker.say(episode.messages)
                phrase = await loop.run_in_executor(self._draughtsmen, episode.hear, said)
                if phrase is not None:
                    found = await self._worker.segment(scene, phrase)
                    await loop.run_in_executor(self._draughtsmen, episode.see, *found)
        except Exception as problem:  # a mask of another size, say: this episode only
            episode.fail(failure(problem))
        finally:
            over = getattr(self.speaker, "over", None)
            if over is not None:
                over(episode.messages)
        if self.told is not None:
            self.told(episode)
        return episode.prediction()
