"""Chat models in this process: conversations in batches, and a failure that stays alone.

A batch that fails is halved until the conversation that makes it fail stands alone.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

import msgspec

from groundfault.errors import RAISED, GroundfaultError, UsageError, described
from groundfault.interfaces import ChatModel
from groundfault.io.answers import Broken, answers_of, reply_of
from groundfault.llm.server import Tool, bounded
from groundfault.records import Conversation, Outcome, Reply

__all__ = ["BatchedChatModel", "Batcher", "failure", "run_in_batches"]

T = TypeVar("T")
U = TypeVar("U")
LONGEST_REASON = 1000
LARGEST_BATCH = 64


def failure(problem: BaseException | str) -> str:
    """The reason of a failed reply, in words."""
    in_words = isinstance(problem, str | GroundfaultError | Broken)
    return (str(problem) if in_words else described(problem))[:LONGEST_REASON]  # type: ignore[arg-type]


def run_in_batches(
    requests: Iterable[T],
    reply_to: Callable[[Sequence[T]], Sequence[Reply]],
    keep: Callable[[T, Reply], None],
    *,
    batch: int,
) -> None:
    """Have all requests replied to, `batch` at a time; `keep` gets each reply as it comes."""
    rest = iter(requests)
    while together := list(itertools.islice(rest, batch)):
        for request, reply in zip(together, _replies(reply_to, together), strict=True):
            keep(request, reply)


def _replies(
    reply_to: Callable[[Sequence[T]], Sequence[Reply]], requests: Sequence[T]
) -> Iterator[Reply]:
    """One reply per request; raises only what no request is to blame for."""
    started = time.perf_counter()
    try:
        replies = answers_of(
            reply_to(requests), len(requests), method="complete", each="conversation"
        )
    except GroundfaultError:
        raise
    except RAISED as problem:  # whatever a model may raise
        if len(requests) == 1:
            yield Reply(outcome=Outcome.FAILED, reason=failure(problem))
            return
    else:
        seconds = round((time.perf_counter() - started) / len(requests), 6)
        yield from (_checked(reply, seconds) for reply in replies)
        return
    middle = len(requests) // 2  # outside `except`, whose traceback holds on to memory
    yield from _replies(reply_to, requests[:middle])
    yield from _replies(reply_to, requests[middle:])


def _checked(answer: object, seconds: float) -> Reply:
    """A model's answer as a reply; one that is none has failed."""
    try:
        reply = reply_of(bounded(answer) if isinstance(answer, Reply) else answer)
    except Broken as problem:
        return Reply(outcome=Outcome.FAILED, reason=failure(problem))
    return reply if reply.seconds else msgspec.structs.replace(reply, seconds=seconds)


class Batcher(Generic[T, U]):
    """Requests that wait at the same time are handled together, in one thread of their own.

    `handle` gives one result per request, in order, and raises nothing.
    """

    def __init__(self, handle: Callable[[list[T]], list[U]], *, batch: int = LARGEST_BATCH) -> None:
        self.handle, self.batch = handle, batch
        self._waiting: list[tuple[T, asyncio.Future[U]]] = []
        self._task: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, "batcher")

    async def submit(self, request: T) -> U:
        """The result of a request, once its turn has come."""
        result: asyncio.Future[U] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, result))
        if self._task is None:
            self._task = asyncio.create_task(self._work())
        return await result

    async def _work(self) -> None:
        await asyncio.sleep(0)  # whoever is ready to submit now joins the first batch
        try:
            while self._waiting:
                now, self._waiting = self._waiting[: self.batch], self._waiting[self.batch :]
                loop = asyncio.get_running_loop()
                try:
                    found = await loop.run_in_executor(
                        self._thread, self.handle, [request for request, _ in now]
                    )
                except BaseException as problem:  # the loop is ending: nobody is left waiting
                    for _, future in now + self._waiting:
                        if not future.done():
                            future.set_exception(problem)
                    raise
                for (_, future), result in zip(now, found, strict=True):
                    if not future.done():
                        future.set_result(result)
        finally:
            self._task = None

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)


class BatchedChatModel:
    """Any chat model of this process, given `batch` conversations at a time.

    `complete` takes many conversations at once; `reply` takes one, and those that wait at the same
    time are completed together.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        batch: int = LARGEST_BATCH,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.model, self.batch, self.on_progress = model, batch, on_progress
        self.checkpoints: tuple[str, ...] = tuple(getattr(model, "checkpoints", ()))
        self._batcher: Batcher[Conversation, Reply] = Batcher(self._handle, batch=batch)

    def complete(self, conversations: Sequence[Conversation]) -> list[Reply]:
        """One reply per conversation, in order; `on_progress` hears how many of them have ended."""
        found: list[Reply] = []

        def keep(_: Conversation, reply: Reply) -> None:
            found.append(reply)
            if self.on_progress is not None:
                self.on_progress(len(found), len(conversations))

        run_in_batches(conversations, self.model.complete, keep, batch=self.batch)
        return found

    async def reply(self, conversation: Conversation, tools: Sequence[Tool] = ()) -> Reply:
        """The reply to one conversation; `failed` with its reason if the model raises."""
        if tools:
            raise UsageError("a model in this process has no tool calls of its own")
        return await self._batcher.submit(conversation)

    async def aclose(self) -> None:
        """End the thread."""
        self._batcher.close()

    def _handle(self, conversations: list[Conversation]) -> list[Reply]:
        try:
            return list(_replies(self.model.complete, conversations))
        except GroundfaultError as problem:
            failed = Reply(outcome=Outcome.FAILED, reason=failure(problem))
            return [failed] * len(conversations)
