"""Who the agent talks to: an answerer that many conversations share."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, Protocol, TypeVar

from groundfault.errors import GroundfaultError
from groundfault.interfaces import Answerer
from groundfault.records import Outcome, Prediction

__all__ = ["Gathered", "Messages", "Said", "Speaker", "Together", "failure"]

Messages = Sequence[dict[str, Any]]
Question = TypeVar("Question")
Answer = TypeVar("Answer")
LONGEST_REASON = 1000
MOST_AT_ONCE = 64


class Said(Prediction, frozen=True, kw_only=True):
    """A reply in `text`, and what it took. An answerer may give it; others are timed from here."""

    tokens_in: int | None = None  # type: ignore[assignment]
    """None where nobody says."""
    tokens_out: int | None = None  # type: ignore[assignment]
    cost: float | None = None
    latency_s: float = 0.0


class Speaker(Protocol):
    """Replies to conversations, many at a time. If it has a method `over(messages)`, it is told
    which have ended."""

    async def say(self, messages: Messages) -> Said:
        """The next reply; one that did not come is `failed` with its reason."""
        ...

    async def close(self) -> None:
        """Hang up."""
        ...


def failure(problem: BaseException | str) -> str:
    """A reason in words."""
    named = isinstance(problem, str | GroundfaultError)
    return (str(problem) if named else f"{type(problem).__name__}: {problem}")[:LONGEST_REASON]


class Gathered(Generic[Question, Answer]):
    """Questions that wait together are asked together, in one thread of their own.

    `handle` gives one answer per question, in order, and raises nothing.
    """

    def __init__(
        self, handle: Callable[[list[Question]], list[Answer]], *, most: int = MOST_AT_ONCE
    ) -> None:
        self.handle, self.most = handle, most
        self._waiting: list[tuple[Question, asyncio.Future[Answer]]] = []
        self._at_work: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, "gathered")

    async def ask(self, question: Question) -> Answer:
        """Its answer, once its turn has come."""
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((question, answer))
        if self._at_work is None:
            self._at_work = asyncio.create_task(self._work())
        return await answer

    async def _work(self) -> None:
        await asyncio.sleep(0)  # whoever is ready to ask now joins the first round
        try:
            while self._waiting:
                now, self._waiting = self._waiting[: self.most], self._waiting[self.most :]
                loop = asyncio.get_running_loop()
                try:
                    found = await loop.run_in_executor(
                        self._thread, self.handle, [question for question, _ in now]
                    )
                except BaseException as problem:  # the loop is ending: nobody is left waiting
                    for _, future in now + self._waiting:
                        if not future.done():
                            future.set_exception(problem)
                    raise
                for (_, future), answer in zip(now, found, strict=True):
                    if not future.done():
                        future.set_result(answer)
        finally:
            self._at_work = None

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)


class Together:
    """Any `protocols.Answerer`: whoever waits while it answers is in its next call."""

    def __init__(self, answerer: Answerer, *, most: int = MOST_AT_ONCE) -> None:
        self.answerer = answerer
        self.checkpoints: tuple[str, ...] = tuple(getattr(answerer, "checkpoints", ()))
        self._gathered: Gathered[Messages, Said] = Gathered(self._answer, most=most)

    async def say(self, messages: Messages) -> Said:
        """The reply to one conversation."""
        return await self._gathered.ask(messages)

    async def close(self) -> None:
        """End the thread."""
        self._gathered.close()

    def _answer(self, conversations: list[Messages]) -> list[Said]:
        started = time.perf_counter()
        try:
            replies = self.answerer.answer(conversations)
            if len(replies) != len(conversations):
                raise GroundfaultError(
                    f"the answerer gave {len(replies)} replies to {len(conversations)} messages"
                )
        except Exception as problem:  # whatever a model may raise
            if len(conversations) > 1:
                return [said for one in conversations for said in self._answer([one])]
            return [Said(item_id="", outcome=Outcome.FAILED, reason=failure(problem))]
        seconds = (time.perf_counter() - started) / len(conversations)
        return [_said(reply, seconds) for reply in replies]


def _said(reply: Prediction, seconds: float) -> Said:
    if isinstance(reply, Said):
        return reply
    return Said(
        item_id="",
        outcome=reply.outcome,
        text=reply.text,
        reason=reply.reason,
        latency_s=round(seconds, 6),
    )
