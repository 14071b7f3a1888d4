"""The chat client: conversations with a model behind HTTP, for exams, judges and the agent alike.

Many conversations are under way at once. A request that was paid for before is answered from the
response store; the same request is never sent twice at the same time, by this process or another.
Money is spent within a budget. A reply that did not come is `failed` with its reason.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from functools import partial
from os import PathLike
from typing import Protocol, TypeVar, overload, runtime_checkable

import msgspec

from groundfault.errors import GroundfaultError
from groundfault.llm.circuit import ServerDown
from groundfault.llm.cost import BudgetUsedUp, CostTracker, EpisodeCost, Price
from groundfault.llm.event_loop import run_coroutine
from groundfault.llm.http_client import GaveUp, HttpClient, Response, Stopping
from groundfault.llm.parameters import changed, further_change
from groundfault.llm.response_store import ResponseStore, default_place, request_key
from groundfault.llm.retry import RetryPolicy
from groundfault.llm.server import REFUSED, Refused, Server, Tool, Unsound
from groundfault.records import Conversation, Outcome, Reply

__all__ = [
    "CONCURRENCY",
    "USED_UP",
    "AsyncChatModel",
    "ChatClient",
    "Dialogue",
    "LazyConversations",
    "Statistics",
]

K = TypeVar("K")
CONCURRENCY = 96
ONLY_REFUSALS = 20
"""So many refused requests before any reply: the request itself is wrong, so nobody is asked."""
USED_UP = "the budget of {} is used up"
"""Why nobody is asked any more, where a budget says so."""
NO_EPISODE = "not asked: what is left of the budget of {} does not pay for another episode"
OTHERS_S = 0.1
"""Between looks at a request that another process is sending."""


@runtime_checkable
class AsyncChatModel(Protocol):
    """Replies to conversations one by one, many of them at a time."""

    async def reply(self, conversation: Conversation, tools: Sequence[Tool] = ()) -> Reply:
        """The next reply; one that did not come is `failed` with its reason."""
        ...

    async def aclose(self) -> None:
        """Let go of connections and threads."""
        ...


class LazyConversations(Sequence[Conversation]):
    """Conversations that are made when they are needed: their pictures need not fit into memory."""

    def __init__(self, makers: Sequence[Callable[[], Conversation]]) -> None:
        self.makers = makers

    def __len__(self) -> int:
        return len(self.makers)

    @overload
    def __getitem__(self, index: int) -> Conversation: ...

    @overload
    def __getitem__(self, index: slice) -> LazyConversations: ...

    def __getitem__(self, index: int | slice) -> Conversation | LazyConversations:
        if isinstance(index, slice):
            return LazyConversations(self.makers[index])
        return self.makers[index]()


class Statistics(msgspec.Struct):
    """What happened on the way."""

    from_store: int = 0
    """Replies that were paid for before."""
    replies: int = 0
    """Replies that the server gave now."""
    refusals: int = 0
    retries: int = 0
    outages: int = 0


class ChatClient:
    """A `ChatModel` over a server.

    `responses` is the file of the response store, by default the user's; `fresh` asks anew what it
    has. `on_progress` hears how many of how many conversations of a `complete` have ended.
    `complete` and `run` wait, and may be called inside a running event loop. `reply` belongs to one
    event loop, until `aclose`.
    """

    def __init__(
        self,
        server: Server,
        *,
        responses: str | PathLike[str] | None = None,
        fresh: bool = False,
        concurrency: int = CONCURRENCY,
        retry: RetryPolicy | None = None,
        cost: CostTracker | None = None,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.server, self.responses, self.fresh = server, responses, fresh
        self.concurrency, self.retry = concurrency, retry or RetryPolicy()
        self.cost = cost or CostTracker()
        """What it cost so far."""
        if server.free and self.cost.price is None:
            self.cost.price = Price(0.0, 0.0)
        self.on_progress = on_progress
        self.stopped = ""
        """Why nobody is asked any more; "" while all is well."""
        self.changes: dict[str, str] = {}
        """Parameters that the server was found not to take, and what is sent for each; "" is
        nothing."""
        self.statistics = Statistics()
        """Of the last `complete` or `run`, or since the first `reply`."""
        self._session: _Session | None = None

    def complete(self, conversations: Sequence[Conversation]) -> list[Reply]:
        """One reply per conversation, in order. Raises BudgetUsedUp if the budget does not pay for
        all of them; replies that it paid for are in the response store."""
        found: dict[int, Reply] = {}

        def keep(number: int, reply: Reply) -> None:
            found[number] = reply
            if self.on_progress is not None:
                self.on_progress(len(found), len(conversations))

        numbers = range(len(conversations))
        self.run(((k, partial(conversations.__getitem__, k)) for k in numbers), keep)
        if self.budget_used_up:
            replied = sum(reply.outcome is not Outcome.FAILED for reply in found.values())
            raise BudgetUsedUp(self.stopped, replied, len(conversations))
        return [found[k] for k in numbers]

    def run(
        self,
        conversations: Iterable[tuple[K, Conversation | Callable[[], Conversation]]],
        keep: Callable[[K, Reply], None],
    ) -> None:
        """Have every conversation replied to; `keep` gets each reply as it comes, with the key that
        its conversation came with. The conversations, or what makes them, are read as they are
        needed; one that cannot be made is a failed reply."""
        run_coroutine(self._run(iter(conversations), keep))

    @property
    def budget_used_up(self) -> bool:
        """Whether it stopped only because the budget did not suffice."""
        return self.stopped.startswith(USED_UP.format(self.cost.budget))

    async def reply(self, conversation: Conversation, tools: Sequence[Tool] = ()) -> Reply:
        """The reply to one conversation; `failed` with its reason if none came."""
        return await self._reply_in_episode(conversation, tools, None)

    @contextlib.contextmanager
    def dialogue(self) -> Iterator[Dialogue]:
        """An episode: it begins only if the budget will likely pay for all of its requests."""
        episode = self.cost.episode()
        try:
            yield Dialogue(self, episode)
        finally:
            episode.end()

    async def aclose(self) -> None:
        """Close the connections that `reply` opened; what was paid for is written."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _reply_in_episode(
        self, conversation: Conversation, tools: Sequence[Tool], episode: EpisodeCost | None
    ) -> Reply:
        if self._session is None:
            self._session = _Session(self)
            await self._session.open()
        return await self._session.reply(conversation, tools, episode)

    async def _run(
        self,
        conversations: Iterator[tuple[K, Conversation | Callable[[], Conversation]]],
        keep: Callable[[K, Reply], None],
    ) -> None:
        session = _Session(self)

        async def work() -> None:
            for key, conversation in conversations:  # shared by all tasks
                keep(key, await session.reply(conversation))

        await session.open()
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self.concurrency):
                    group.create_task(work())
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None
        finally:
            await session.close()


class Dialogue:
    """Requests of one episode; see `ChatClient.dialogue`."""

    def __init__(self, client: ChatClient, episode: EpisodeCost) -> None:
        self._client, self._episode = client, episode

    async def reply(self, conversation: Conversation, tools: Sequence[Tool] = ()) -> Reply:
        """The reply to the conversation as it stands now."""
        return await self._client._reply_in_episode(conversation, tools, self._episode)


class _Session:
    """A client at work in one event loop: its connections, its store, and what is under way."""

    def __init__(self, client: ChatClient) -> None:
        self.client, self.server, self.cost = client, client.server, client.cost
        client.stopped, client.statistics = "", Statistics()
        self._under_way: dict[bytes, asyncio.Event] = {}
        self._asked_anew: set[bytes] = set()

    async def open(self) -> None:
        client = self.client
        async with contextlib.AsyncExitStack() as stack:
            self.store = stack.enter_context(ResponseStore(client.responses or default_place()))
            self.http = HttpClient(self.server, client.retry, concurrency=client.concurrency)
            await stack.enter_async_context(self.http)
            self._closing = stack.pop_all()

    async def close(self) -> None:
        self.client.statistics.retries = self.http.retries
        self.client.statistics.outages = self.http.circuit.outages
        await self._closing.aclose()

    async def reply(
        self,
        conversation: Conversation | Callable[[], Conversation],
        tools: Sequence[Tool] = (),
        episode: EpisodeCost | None = None,
    ) -> Reply:
        if self.client.stopped and episode is None:  # an episode may still be in the store
            return self._not_asked()
        try:
            conversation = conversation() if callable(conversation) else conversation
        except GroundfaultError as problem:
            return _failed(str(problem))
        key = request_key(self.server, conversation, tools)
        if episode is not None and not episode.begun:  # before the claim: who waits holds none
            stored = self._stored(key)
            if stored is not None:
                return stored
            if not await episode.begin():
                return self._stored(key) or _failed(NO_EPISODE.format(self.cost.budget))
        async with self._claim(key):
            return self._stored(key) or await self._ask(key, conversation, tools, episode)

    @contextlib.asynccontextmanager
    async def _claim(self, key: bytes) -> AsyncIterator[None]:
        """While it lasts nobody else sends this request, in this process or another."""
        while key in self._under_way:
            await self._under_way[key].wait()
        done = self._under_way[key] = asyncio.Event()
        try:
            while not self.store.claim(key):
                await asyncio.sleep(OTHERS_S)
            yield
        finally:
            self.store.release(key)
            del self._under_way[key]
            done.set()

    def _stored(self, key: bytes) -> Reply | None:
        if self.client.fresh and key not in self._asked_anew:
            return None
        stored = self.store.get(key)
        if stored is None:
            return None
        try:
            reply = self.server.parse(stored.body)
        except Unsound:  # kept by an earlier version that read it otherwise
            return None
        self.client.statistics.from_store += 1
        return self._timed(reply, stored.seconds)

    async def _ask(
        self,
        key: bytes,
        conversation: Conversation,
        tools: Sequence[Tool],
        episode: EpisodeCost | None,
    ) -> Reply:
        if self.client.stopped:
            return self._not_asked()
        if not await self.cost.begin_request():
            judging = ", with what judging takes kept aside" if self.cost.keeps_aside else ""
            self._stop(USED_UP.format(self.cost.budget) + judging)
            return self._not_asked()
        try:
            if self.client.stopped:
                return self._not_asked()
            response = await self._post(self.server.body(conversation, tools))
        except Refused as problem:
            return self._refused(problem)
        except ServerDown as problem:
            self._stop(str(problem))
            return _failed(str(problem))
        except Stopping:
            return self._not_asked()
        except GaveUp as problem:
            return _failed(str(problem))
        finally:
            self.cost.end_request()
        self.client.statistics.replies += 1
        self.cost.add(conversation, response.reply, episode)
        if self.store.put(key, response.body, response.seconds):
            asyncio.get_running_loop().call_soon(self._write)  # with those that come beside it
        if self.client.fresh:
            self._asked_anew.add(key)
        return self._timed(response.reply, response.seconds)

    async def _post(self, wanted: bytes) -> Response:
        """Send a request without what the server is known not to take. One that is refused because
        of a parameter is sent again without it; if that helps, so are all that follow. What it is
        stored under does not depend on this."""
        changes = dict(self.client.changes)
        while True:
            try:
                response = await self.http.post(changed(wanted, changes))
            except Refused as problem:
                further = further_change(wanted, changes, problem.parameters)
                if further is None:
                    raise
                changes = further
            else:
                self._learn(changes)
                return response

    def _learn(self, changes: dict[str, str]) -> None:
        for name, instead in changes.items():
            if self.client.changes.get(name) != instead:
                self.client.changes[name] = instead
                how = f"asked with {instead} in its place" if instead else "asked without it"
                print(f"{self.server.url}: does not take {name}; {how}", file=sys.stderr)

    def _refused(self, problem: Refused) -> Reply:
        """A refusal is about one request, unless it says otherwise or nothing else ever comes."""
        statistics = self.client.statistics
        statistics.refusals += 1
        if problem.everything:
            self._stop(str(problem))
        elif statistics.refusals >= ONLY_REFUSALS and not statistics.replies:
            self._stop(f"the first {statistics.refusals} requests were refused: {problem}")
        else:
            return _failed(str(problem), finish=REFUSED)
        return _failed(str(problem))

    def _write(self) -> None:
        try:
            self.store.flush()
        except GroundfaultError as problem:
            self._stop(str(problem))

    def _stop(self, reason: str) -> None:
        self.client.stopped = self.client.stopped or reason
        self.http.stopping.set()

    def _not_asked(self) -> Reply:
        return _failed(f"not asked: {self.client.stopped}")

    def _timed(self, reply: Reply, seconds: float) -> Reply:
        """The reply with what it took; its cost is known where its tokens are."""
        cost = reply.cost
        if reply.tokens_in is not None and reply.tokens_out is not None:
            cost = self.cost.cost_of(reply.cost, reply.tokens_in, reply.tokens_out)
        return msgspec.structs.replace(reply, seconds=round(seconds, 6), cost=cost)


def _failed(reason: str, *, finish: str = "") -> Reply:
    return Reply(outcome=Outcome.FAILED, reason=reason, finish=finish)
