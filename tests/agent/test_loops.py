"""The agent inside other event loops, and interrupted."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
import time
import traceback

import pytest
from tests.agent.parts import Squares, agent, picture

from groundfault.llm.event_loop import EventLoopThread
from groundfault.models.agent import Agent, Settings
from groundfault.models.agent.scripted import accept
from groundfault.records import Conversation, Outcome, Prediction, Reply


def test_inside_a_running_loop_as_in_a_notebook() -> None:
    async def cell() -> list[Prediction]:
        with agent(accept) as one:
            first = one.segment(picture(), ["tiger", "posts 3"])
            return [*first, *one.segment_batch([picture(1)], [["posts 2"]])[0]]

    inside = asyncio.run(cell())
    with agent(accept) as one:
        outside = one.segment(picture(), ["tiger", "posts 3"])
    assert [len(p.masks) for p in inside] == [1, 3, 2]
    assert [p.masks for p in inside[:2]] == [p.masks for p in outside]


def test_a_served_model_inside_a_running_loop(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    pytest.importorskip("aiohttp", reason="the extra 'asking' brings it")
    from tests.agent.test_served_server import IMAGES, sound, verified
    from tests.llm.chat_server import ChatServer

    monkeypatch.setenv("GROUNDFAULT_RESPONSES", f"{tmp_path}/responses.sqlite")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")

    async def cell(server: ChatServer) -> list[Prediction]:
        return verified(server, IMAGES[:2])[0]

    with ChatServer(sound) as server:
        found = asyncio.run(cell(server))
    assert [p.outcome for p in found] == [Outcome.OK, Outcome.ABSTAINED] * 2


def test_from_several_threads_at_once() -> None:
    with agent(accept) as one:
        found: dict[int, list[Prediction]] = {}

        def ask(number: int) -> None:
            found[number] = one.segment(picture(number), [f"posts {number}"])

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(1, 9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(300)
    assert {number: len(p[0].masks) for number, p in found.items()} == {n: n for n in range(1, 9)}


class Endless:
    """Never replies; knows whether it was let go."""

    def __init__(self) -> None:
        self.asked, self.ended = threading.Event(), threading.Event()

    async def reply(self, conversation: Conversation, tools: object = ()) -> Reply:
        self.asked.set()
        try:
            await asyncio.sleep(3600)
        finally:
            self.ended.set()
        raise AssertionError

    async def aclose(self) -> None:
        pass


def test_an_interruption_ends_the_conversations() -> None:
    chat = Endless()

    def interrupt() -> None:
        assert chat.asked.wait(60)
        user, end = threading.main_thread().ident or 0, time.monotonic() + 60
        while not _waits_for_a_result(user):
            assert time.monotonic() < end
            time.sleep(0.01)
        signal.pthread_kill(user, signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # shells may have ignored it
    try:
        with Agent(Squares(), chat, Settings()) as one:
            interrupting = threading.Thread(target=interrupt)
            interrupting.start()
            with pytest.raises(KeyboardInterrupt):
                one.segment(picture(), ["tiger"])
            assert chat.ended.is_set()  # before the caller went on
            interrupting.join()
    finally:
        signal.signal(signal.SIGINT, before)


def _waits_for_a_result(thread: int) -> bool:
    frames = traceback.extract_stack(sys._current_frames()[thread])
    return any(frame.name == "result" for frame in frames)


def test_a_loop_gives_what_is_raised_and_can_be_closed_twice() -> None:
    async def wrong() -> None:
        raise ValueError("so")

    loop = EventLoopThread()
    with pytest.raises(ValueError, match="so"):
        loop.run(wrong())
    loop.close()
    loop.close()
    started = time.perf_counter()
    never = EventLoopThread()
    never.close()
    assert time.perf_counter() - started < 5
