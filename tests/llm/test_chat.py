"""Chat models without a server: replies, batches, budgets, and conversations without pictures."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from groundfault.errors import GroundfaultError, UsageError
from groundfault.interfaces import ChatModel
from groundfault.llm.batching import BatchedChatModel
from groundfault.llm.blind import BlindModel, BlindServer
from groundfault.llm.client import AsyncChatModel, LazyConversations
from groundfault.llm.cost import Budget, CostTracker, SharedBudget
from groundfault.llm.loading import load_chat_model
from groundfault.llm.openai_chat import openai
from groundfault.llm.server import ChatOptions, Server, Tool
from groundfault.records import Conversation, Message, Outcome, Picture, Reply, ToolCall

PICTURE = Picture("image/png", b"QUJD")


def words(text: str) -> Conversation:
    return (Message("user", (text,)),)


# Replies.


def response(**message: Any) -> bytes:
    choice = {"message": {"role": "assistant", "content": "Yes.", **message}}
    return json.dumps({"choices": [choice]}).encode()


@pytest.fixture
def server() -> Any:
    return openai("tiny", ChatOptions(base_url="http://x/v1"))


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_beside_the_words(server: Any, name: str) -> None:
    reply = server.parse(response(**{name: "I look."}))
    assert (reply.text, reply.reasoning) == ("Yes.", "I look.")
    for odd in (None, {"text": "?"}, 3, ""):
        reply = server.parse(response(**{name: odd}))
        assert (reply.outcome, reply.text, reply.reasoning) == (Outcome.OK, "Yes.", "")


@pytest.mark.parametrize(
    ("arguments", "read"), [('{"a": 1}', '{"a": 1}'), ({"a": 1}, '{"a":1}'), (None, "{}")]
)
def test_tool_calls_of_the_servers_own(server: Any, arguments: Any, read: str) -> None:
    calls = [{"id": "x", "function": {"name": "look", "arguments": arguments}}]
    assert server.parse(response(tool_calls=calls)).tool_calls == (ToolCall("look", read),)
    for odd in (None, [], 3, [{"function": 7}]):
        reply = server.parse(response(tool_calls=odd))
        assert (reply.outcome, reply.tool_calls) == (Outcome.OK, ())


def test_words_and_pictures_stay_in_order(server: Any) -> None:
    conversation = (Message("system", ("Be brief.",)), Message("user", ("One", PICTURE, "two")))
    system, user = json.loads(server.body(conversation))["messages"]
    assert system["content"] == "Be brief."
    assert [part["type"] for part in user["content"]] == ["text", "image_url", "text"]


# Without pictures.


class Echo:
    """A chat model that says what it was told, and notes how many at a time."""

    checkpoints = ("echo@1",)

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def complete(self, conversations: Sequence[Conversation]) -> list[Reply]:
        self.sizes.append(len(conversations))
        if any("bad" in conversation[-1].text for conversation in conversations):
            raise MemoryError("3 GB")
        if any("stop" in conversation[-1].text for conversation in conversations):
            raise GroundfaultError("no weights")
        return [
            Reply(outcome=Outcome.OK, text=f"{c[-1].text} {len(c[-1].pictures)}")
            for c in conversations
        ]


def test_who_is_blind_gets_the_words_alone(server: Any) -> None:
    conversation = (Message("user", (PICTURE, "Dog?")),)
    assert Echo().complete([conversation])[0].text == "Dog? 1"
    assert BlindModel(Echo()).complete([conversation])[0].text == "Dog? 0"
    blind = BlindServer(server)
    assert isinstance(blind, Server)
    assert blind.body(conversation) == server.body(words("Dog?"))


# Batches.


def test_a_batch_that_fails_is_halved_and_the_others_are_replied_to() -> None:
    seen: list[tuple[int, int]] = []
    echo = Echo()
    model = BatchedChatModel(echo, batch=4, on_progress=lambda *n: seen.append(n))
    assert isinstance(model, ChatModel) and isinstance(model, AsyncChatModel)
    replies = model.complete([words(text) for text in ("a", "b", "bad", "c", "d")])
    assert [reply.text for reply in replies] == ["a 0", "b 0", "", "c 0", "d 0"]
    assert replies[2].reason.startswith("MemoryError: 3 GB (at llm/test_chat.py:")
    assert echo.sizes == [4, 2, 2, 1, 1, 1] and seen[-1] == (5, 5)
    assert model.checkpoints == ("echo@1",)
    with pytest.raises(GroundfaultError, match="no weights"):  # no conversation is to blame
        model.complete([words("stop")])


def test_conversations_that_wait_together_are_completed_together() -> None:
    echo = Echo()
    model = BatchedChatModel(echo, batch=8)

    async def story() -> list[Reply]:
        texts = ("a", "bad", "stop")
        first = await asyncio.gather(*(model.reply(words(text)) for text in texts[:2]))
        last = await model.reply(words(texts[2]))
        with pytest.raises(UsageError, match="no tool calls of its own"):
            await model.reply(words("a"), [Tool("look", "", {})])
        await model.aclose()
        return [*first, last]

    replies = asyncio.run(story())
    reasons = [reply.reason.partition(" (at ")[0] for reply in replies]
    assert reasons == ["", "MemoryError: 3 GB", "no weights"]
    assert echo.sizes == [2, 1, 1, 1]


def test_lazy_conversations_are_made_when_they_are_needed() -> None:
    made: list[str] = []

    def make(text: str) -> Conversation:
        made.append(text)
        return words(text)

    lazy = LazyConversations([lambda text=text: make(text) for text in "abc"])  # type: ignore[misc]
    assert len(lazy) == 3 and made == []
    assert lazy[1:][0] == words("b") and made == ["b"]
    replies = BatchedChatModel(Echo(), batch=2).complete(lazy)
    assert [reply.text for reply in replies] == ["a 0", "b 0", "c 0"]


def test_a_baseline_is_no_chat_model() -> None:
    with pytest.raises(GroundfaultError, match="which is no chat model"):
        load_chat_model("oracle", ChatOptions())


# Budgets.


def spent(tokens: int) -> Reply:
    return Reply(outcome=Outcome.OK, tokens_in=tokens, tokens_out=0)


def test_a_tracker_waits_in_any_event_loop() -> None:
    tracker = CostTracker(Budget(tokens=350))

    async def one_after_the_other() -> list[bool]:
        async def request() -> bool:
            begun = await tracker.begin_request()
            if begun:
                await asyncio.sleep(0.01)
                tracker.add(words(""), spent(100))
                tracker.end_request()
            return begun

        return list(await asyncio.gather(request(), request()))

    assert asyncio.run(one_after_the_other()) == [True, True]
    assert asyncio.run(one_after_the_other()) == [True, False]
    assert tracker.spent == 300 and tracker.requests == 3


def test_an_episode_begins_only_if_the_budget_pays_for_all_of_it() -> None:
    shared = SharedBudget(Budget(tokens=1000))
    tracker = CostTracker(shared)

    async def story() -> None:
        first, second, third = (tracker.episode() for _ in range(3))
        assert await first.begin() and await first.begin()
        waiting = asyncio.create_task(second.begin())
        for _ in range(3):
            tracker.add(words(""), spent(100), first)
            await asyncio.sleep(0)
        assert not waiting.done()  # nobody knows yet what an episode takes
        first.end()
        assert await waiting  # 300 + 300 of 1,000
        shared.spent += 200  # by a judge
        tracker.add(words(""), spent(100), second)
        late = asyncio.create_task(third.begin())
        await asyncio.sleep(0)
        assert not late.done()  # 500 spent by others, two episodes of 300 each
        second.end()  # it took 100 only
        assert await late
        third.end()

    asyncio.run(story())
