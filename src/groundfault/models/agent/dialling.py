"""Conversations with a served model: the one place where the agent meets `groundfault.asking`.

Connections, retries, the store of paid responses and the purse are asking's. The messages of an
episode become a request (`wires`), and what comes back becomes words. With native calls the wire
speaks the server's own tool calls; the episode sees the text form.
"""

from __future__ import annotations

import asyncio
import hashlib
from contextlib import ExitStack
from os import PathLike
from pathlib import Path

from groundfault.llm.circuit import ServerDown
from groundfault.llm.conversations import Asked, Refused, Reply, Served, Unsound
from groundfault.llm.cost import Purse
from groundfault.llm.http_client import Courier, GaveUp, Stopping
from groundfault.llm.response_store import Responses, default_place
from groundfault.llm.retry import Patience
from groundfault.models.agent.reading import written
from groundfault.models.agent.settings import Settings
from groundfault.models.agent.speaking import Messages, Said
from groundfault.models.agent.spending import EpisodePurse, budget_and_price
from groundfault.models.agent.wires import wire_to
from groundfault.records import Outcome

__all__ = ["Dialled"]

ONLY_REFUSALS = 20
"""So many refused requests before any reply: the request itself is wrong, so asking stops."""


class Dialled:
    """A `Speaker` over a model behind HTTP."""

    def __init__(
        self,
        served: Served,
        settings: Settings,
        *,
        patience: Patience | None = None,
        responses: str | PathLike[str] | None = None,
    ) -> None:
        self.served, self.settings = served, settings
        self.patience = patience or Patience()
        self.responses_place = responses or default_place()
        self._wire = wire_to(served, settings)
        money = budget_and_price(settings, free=served.free)
        self.purse, self.episodes = Purse(*money), EpisodePurse(*money)
        self.stopped = ""
        """Why nobody is asked any more."""
        self._courier: Courier | None = None
        self._closing = ExitStack()
        self._replies = self._refusals = 0
        self._under_way: dict[bytes, asyncio.Event] = {}
        self._paid: dict[int, list[float]] = {}
        """What the replies of each conversation under way took of the budget."""

    async def say(self, messages: Messages) -> Said:
        """The next reply, from the store if this very request was paid for before."""
        body = self._wire.body(messages)
        key = hashlib.sha256(f"{self.served.url}\n".encode() + body).digest()
        courier = await self._connected()
        stored = self._stored(key)
        if stored is not None:
            return stored
        if not await self._begun(messages):
            left = f"what is left of the budget of {self.purse.budget}"
            short = f"not asked: {left} does not pay for another episode"
            return self._stored(key) or _failed(short)
        while key in self._under_way:
            await self._under_way[key].wait()
        done = self._under_way[key] = asyncio.Event()
        try:
            return self._stored(key) or await self._ask(courier, key, body, messages)
        finally:
            del self._under_way[key]
            done.set()

    def over(self, messages: Messages) -> None:
        """A conversation has ended."""
        paid = self._paid.pop(id(messages), None)
        if paid is not None:
            self.episodes.end(paid)

    async def close(self) -> None:
        """Hang up; what was paid for is written."""
        if self._courier is not None:
            await self._courier.__aexit__(None, None, None)
            self._courier = None
        self._closing.close()

    async def _connected(self) -> Courier:
        if self._courier is None:
            self._responses = self._closing.enter_context(Responses(self.responses_place))
            self._courier = Courier(
                self.served, self.patience, concurrency=self.settings.concurrency
            )
            await self._courier.__aenter__()
        return self._courier

    async def _begun(self, messages: Messages) -> bool:
        """Whether a conversation may be paid for: it was before, or there is enough for it."""
        if id(messages) in self._paid:
            return True
        enough = await self.episodes.take()
        if enough:
            self._paid[id(messages)] = []
        return enough

    def _stored(self, key: bytes) -> Said | None:
        stored = None if self.settings.fresh else self._responses.get(key)
        if stored is None:
            return None
        try:
            return self._said(stored.body, self.served.reply(stored.body), stored.latency_s)
        except Unsound:  # kept by an earlier version that read it otherwise
            return None

    async def _ask(self, courier: Courier, key: bytes, body: bytes, messages: Messages) -> Said:
        if self.stopped or not await self.purse.take():
            self._stop(courier, f"the budget of {self.purse.budget} is used up")
            return _failed(f"not asked: {self.stopped}")
        try:
            if self.stopped:
                return _failed(f"not asked: {self.stopped}")
            delivered = await courier.deliver(body)
        except Refused as problem:
            self._refusals += 1
            if problem.everything:
                self._stop(courier, str(problem))
            elif self._refusals >= ONLY_REFUSALS and not self._replies:
                self._stop(courier, f"the first {self._refusals} requests were refused: {problem}")
            return _failed(str(problem))
        except ServerDown as problem:
            self._stop(courier, str(problem))
            return _failed(str(problem))
        except Stopping:
            return _failed(f"not asked: {self.stopped}")
        except GaveUp as problem:
            return _failed(str(problem))
        finally:
            self.purse.give_back()
        self._replies += 1
        before = self.purse.spent
        self.purse.pay(_all_said(messages), delivered.reply)
        self._paid[id(messages)].append(self.purse.spent - before)
        if self._responses.put(key, delivered.body, delivered.latency_s):
            asyncio.get_running_loop().call_soon(self._responses.flush)  # with those beside it
        return self._said(delivered.body, delivered.reply, delivered.latency_s)

    def _stop(self, courier: Courier, reason: str) -> None:
        self.stopped = self.stopped or reason
        courier.stopping.set()

    def _said(self, body: bytes, reply: Reply, latency_s: float) -> Said:
        text, reason, outcome = reply.text, reply.reason, reply.outcome
        calls = self._wire.calls(body)
        if calls:
            reason = reason if reply.finish == "length" else ""  # no words are no fault of a call
            text, outcome = written(text, calls), Outcome.OK
        known = reply.tokens_in is not None and reply.tokens_out is not None
        cost = reply.cost
        if known:
            cost = self.purse.cost_of(reply.cost, reply.tokens_in or 0, reply.tokens_out or 0)
        return Said(
            item_id="",
            outcome=outcome,
            text=text,
            reason=reason,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            cost=cost,
            latency_s=round(latency_s, 6),
        )


def _all_said(messages: Messages) -> Asked:
    """Words and pictures, for a guess at tokens where the server does not count them."""
    words, n_pictures = "", 0
    for message in messages:
        content = message["content"]
        if isinstance(content, str):
            words += content
            continue
        words += "".join(part["text"] for part in content if part["type"] == "text")
        n_pictures += sum(part["type"] != "text" for part in content)
    return Asked(item_id="", text=words, pictures=(Path(),) * n_pictures)


def _failed(reason: str) -> Said:
    return Said(item_id="", outcome=Outcome.FAILED, reason=reason)
