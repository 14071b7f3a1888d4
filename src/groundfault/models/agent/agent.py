"""The agent as a segmenter: many episodes at a time over one segmenter and one chat model."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from groundfault.interfaces import ChatModel, Closeable, Probeable, Segmenter
from groundfault.llm.batching import BatchedChatModel, failure
from groundfault.llm.client import AsyncChatModel, ChatClient, Dialogue
from groundfault.llm.event_loop import EventLoopThread
from groundfault.llm.server import Tool
from groundfault.models.agent.episode import Episode, Scene, allowed_tools
from groundfault.models.agent.prompt import chosen_prompt
from groundfault.models.agent.segmenter_thread import SegmenterThread
from groundfault.models.agent.settings import Settings
from groundfault.models.agent.tools import TOOLS
from groundfault.records import Prediction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]

__all__ = ["Agent"]

DRAWING_THREADS = min(4, os.cpu_count() or 1)
"""Pillow lets go of the interpreter while it resizes and compresses, which is three quarters of
what a turn takes here."""


class Agent:
    """A multimodal LLM that verifies what a segmenter finds, before it answers.

    `chat` is any `ChatModel`, a `ChatClient`, or another `AsyncChatModel`. `on_episode` gets every
    episode when it is over, in the agent's own thread. All methods wait, and may be called inside a
    running event loop (a notebook's).
    """

    any_sizes = True
    """Images of one call need not be of one size: the engine hands over full batches."""
    images_at_once = 16
    """With p⁺ and p⁻, as many conversations as are under way by default."""

    def __init__(
        self,
        segmenter: Segmenter,
        chat: ChatModel | AsyncChatModel,
        settings: Settings | None = None,
        *,
        on_episode: Callable[[Episode], None] | None = None,
    ) -> None:
        self.segmenter, self.settings = segmenter, settings or Settings()
        self.prompt = chosen_prompt(self.settings)
        self.chat = chat if isinstance(chat, AsyncChatModel) else BatchedChatModel(chat)
        self.on_episode = on_episode
        self.checkpoints: tuple[str, ...] = (
            *getattr(segmenter, "checkpoints", ()),
            *getattr(self.chat, "checkpoints", ()),
        )
        if isinstance(segmenter, Probeable):
            self.frame_probe = segmenter.frame_probe
        self._tools: tuple[Tool, ...] = ()
        if self.settings.calls == "native":
            self._tools = tuple(TOOLS[name] for name in allowed_tools(self.settings))
        self._segmenter = SegmenterThread(segmenter)
        self._drawing = ThreadPoolExecutor(DRAWING_THREADS, "draw")
        self._loop = EventLoopThread()
        self._closed = False

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def stopped_because(self) -> str:
        """Why the model behind a server is not asked any more."""
        return self.chat.stopped if isinstance(self.chat, ChatClient) else ""

    def segment(self, image: Pixels, phrases: Sequence[str]) -> list[Prediction]:
        """One answer per phrase, each with the trace of its episode in `text`."""
        return self.segment_batch([image], [phrases])[0]

    def segment_batch(
        self, images: Sequence[Pixels], phrases: Sequence[Sequence[str]]
    ) -> list[list[Prediction]]:
        """The same for several images: all their episodes at once, up to `concurrency`."""
        style = self.settings.style
        scenes = [Scene(*each, style) for each in zip(images, phrases, strict=True)]
        wanted = [(scene, query) for scene in scenes for query in scene.queries]
        try:
            found = iter(self._loop.run(self._run_all(wanted)))
        finally:
            self._segmenter.forget(scenes)
        return [[next(found) for _ in scene.queries] for scene in scenes]

    def close(self) -> None:
        """End all connections and threads; close the segmenter too, if it can be closed. A second
        call does nothing."""
        if self._closed:
            return
        self._closed = True
        self._loop.run(self.chat.aclose())
        self._loop.close()
        self._segmenter.close()
        self._drawing.shutdown(wait=False, cancel_futures=True)
        if isinstance(self.segmenter, Closeable):
            self.segmenter.close()

    async def _run_all(self, wanted: Sequence[tuple[Scene, str]]) -> list[Prediction]:
        found: list[Prediction | None] = [None] * len(wanted)
        numbers = iter(range(len(wanted)))

        async def work() -> None:
            for number in numbers:  # shared by all
                found[number] = await self._run(*wanted[number])

        async with asyncio.TaskGroup() as group:
            for _ in range(min(self.settings.concurrency, len(wanted))):
                group.create_task(work())
        return [prediction for prediction in found if prediction is not None]

    async def _run(self, scene: Scene, query: str) -> Prediction:
        """One episode, from its first reply to its answer."""
        loop = asyncio.get_running_loop()
        draw = self._drawing
        begin = partial(Episode, scene, query, self.settings, prompt=self.prompt)
        episode = await loop.run_in_executor(draw, begin)
        try:
            with self._dialogue() as dialogue:
                while not episode.over:
                    reply = await dialogue.reply(episode.conversation, self._tools)
                    phrase = await loop.run_in_executor(draw, episode.add_reply, reply)
                    if phrase is not None:
                        found = await self._segmenter.segment(scene, phrase)
                        await loop.run_in_executor(draw, episode.add_segmentation, *found)
        except Exception as problem:  # a mask of another size, say: this episode only
            episode.fail(failure(problem))
        if self.on_episode is not None:
            self.on_episode(episode)
        return episode.prediction()

    def _dialogue(self) -> contextlib.AbstractContextManager[AsyncChatModel | Dialogue]:
        """Where an episode's requests go: a client's budget counts whole episodes."""
        if isinstance(self.chat, ChatClient):
            return self.chat.dialogue()
        return contextlib.nullcontext(self.chat)
