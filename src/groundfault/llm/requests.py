"""Questions to a model behind HTTP: many at once, each answered or failed with its reason."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable

import msgspec

from groundfault.errors import GroundfaultError
from groundfault.llm.circuit import ServerDown
from groundfault.llm.conversations import Asked, Refused, Reply, Served, Unsound
from groundfault.llm.cost import Purse
from groundfault.llm.event_loop import run_to_end
from groundfault.llm.http_client import Courier, GaveUp, Stopping
from groundfault.llm.pictures import Loaded, Pictures
from groundfault.llm.response_store import Responses, request_key
from groundfault.llm.retry import Patience
from groundfault.parsing.answers import Answered
from groundfault.records import Outcome

__all__ = ["Ending", "ask_served"]

CONCURRENCY = 96
ONLY_REFUSALS = 20
"""So many refused requests before any answer: the request itself is wrong, so the run stops."""
USED_UP = "the budget of {} is used up"
"""Why a run stops that did what it was told to."""
OTHERS_S = 0.1
"""Between looks at a request that another process is asking."""


class Ending(msgspec.Struct, kw_only=True):
    """How it went."""

    stopped: str = ""
    """Why not everything was asked; "" if it was."""
    from_store: int = 0
    retries: int = 0
    outages: int = 0
    refused: set[str] = msgspec.field(default_factory=set)
    """Items that the server will not answer, however often it is asked."""
    rewritten: int = 0
    """Pictures that could not be sent as they are."""


def ask_served(
    asked: Iterable[Asked],
    served: Served,
    keep: Callable[[Asked, Answered], None],
    *,
    purse: Purse,
    responses: Responses | None = None,
    fresh: bool = False,
    concurrency: int = CONCURRENCY,
    patience: Patience | None = None,
) -> Ending:
    """Ask everything; `keep` gets each answer as it comes. `asked` is read as it is needed."""
    interview = _Interview(asked, served, keep, purse, responses, fresh)
    return run_to_end(interview.hold(patience or Patience(), concurrency))


class _Interview:
    def __init__(
        self,
        asked: Iterable[Asked],
        served: Served,
        keep: Callable[[Asked, Answered], None],
        purse: Purse,
        responses: Responses | None,
        fresh: bool,
    ) -> None:
        self.asked, self.served, self.keep = iter(asked), served, keep
        self.purse, self.responses, self.fresh = purse, responses, fresh
        self.pictures = Pictures()
        self.ending = Ending()
        self.replies = self.refusals = 0
        self._under_way: dict[bytes, asyncio.Event] = {}
        self._asked_anew: set[bytes] = set()

    async def hold(self, patience: Patience, concurrency: int) -> Ending:
        async with Courier(self.served, patience, concurrency=concurrency) as self.courier:
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(concurrency):
                        group.create_task(self._work())
            except BaseExceptionGroup as several:
                raise several.exceptions[0] from None
        self.ending.retries = self.courier.retries
        self.ending.outages = self.courier.circuit.outages
        self.ending.rewritten = self.pictures.rewritten
        return self.ending

    async def _work(self) -> None:
        for asked in self.asked:  # shared by all workers
            self.keep(asked, await self._answer(asked))

    async def _answer(self, asked: Asked) -> Answered:
        if self.ending.stopped:
            return self._not_asked(asked)
        try:
            loaded = [self.pictures.load(path) for path in asked.pictures]
        except GroundfaultError as problem:
            return _failed(asked, str(problem))
        key = request_key(self.served, asked, [one.stand_in for one in loaded])
        async with self._alone(key):
            return self._stored(asked, key) or await self._ask(asked, key, loaded)

    @contextlib.asynccontextmanager
    async def _alone(self, key: bytes) -> AsyncIterator[None]:
        """While it lasts nobody else asks this request, in this process or another."""
        while key in self._under_way:
            await self._under_way[key].wait()
        done = self._under_way[key] = asyncio.Event()
        try:
            while self.responses is not None and not self.responses.claim(key):
                await asyncio.sleep(OTHERS_S)
            yield
        finally:
            if self.responses is not None:
                self.responses.release(key)
            del self._under_way[key]
            done.set()

    def _stored(self, asked: Asked, key: bytes) -> Answered | None:
        if self.responses is None or (self.fresh and key not in self._asked_anew):
            return None
        stored = self.responses.get(key)
        if stored is None:
            return None
        try:
            reply = self.served.reply(stored.body)
        except Unsound:  # kept by an earlier version that read it otherwise
            return None
        self.ending.from_store += 1
        return self._answered(asked, reply, stored.latency_s)

    async def _ask(self, asked: Asked, key: bytes, loaded: list[Loaded]) -> Answered:
        if not await self.purse.take():
            self._stop(USED_UP.format(self.purse.budget))
            return self._not_asked(asked)
        try:
            if self.ending.stopped:
                return self._not_asked(asked)
            body = self.served.body(asked, [one.picture for one in loaded])
            delivered = await self.courier.deliver(body)
        except Refused as problem:
            self.refusals += 1
            if problem.everything:
                self._stop(str(problem))
            elif self.refusals >= ONLY_REFUSALS and not self.replies:
                self._stop(f"the first {self.refusals} requests were refused: {problem}")
            else:
                self.ending.refused.add(asked.item_id)
            return _failed(asked, str(problem))
        except ServerDown as problem:
            self._stop(str(problem))
            return _failed(asked, str(problem))
        except Stopping:
            return self._not_asked(asked)
        except GaveUp as problem:
            return _failed(asked, str(problem))
        finally:
            self.purse.give_back()
        self.replies += 1
        self.purse.pay(asked, delivered.reply)
        if self.responses is not None:
            if self.responses.put(key, delivered.body, delivered.latency_s):
                asyncio.get_running_loop().call_soon(self._write)  # with those that come beside it
            if self.fresh:
                self._asked_anew.add(key)
        return self._answered(asked, delivered.reply, delivered.latency_s)

    def _write(self) -> None:
        assert self.responses is not None
        try:
            self.responses.flush()
        except GroundfaultError as problem:
            self._stop(str(problem))

    def _stop(self, reason: str) -> None:
        self.ending.stopped = self.ending.stopped or reason
        self.courier.stopping.set()

    def _not_asked(self, asked: Asked) -> Answered:
        return _failed(asked, f"not asked: {self.ending.stopped}")

    def _answered(self, asked: Asked, reply: Reply, latency_s: float) -> Answered:
        tokens_in, tokens_out = reply.tokens_in or 0, reply.tokens_out or 0
        known = reply.tokens_in is not None and reply.tokens_out is not None
        return Answered(
            item_id=asked.item_id,
            mode=asked.mode,
            outcome=reply.outcome,
            text=reply.text,
            reason=reply.reason,
            finish=reply.finish,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            latency_s=round(latency_s, 6),
            cost=self.purse.cost_of(reply.cost, tokens_in, tokens_out) if known else reply.cost,
        )


def _failed(asked: Asked, reason: str) -> Answered:
    return Answered(item_id=asked.item_id, mode=asked.mode, outcome=Outcome.FAILED, reason=reason)
