"""An event loop with a thread of its own.

Whoever calls may be inside a running loop already, as everything in a notebook is.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["EventLoopThread", "run_coroutine"]

T = TypeVar("T")
GRACE_S = 10.0
"""For coroutines to end when the caller is interrupted."""


class EventLoopThread:
    """Runs coroutines for callers that wait. Its thread starts with the first of them."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._starting = threading.Lock()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What the coroutine gives or raises; if the caller is interrupted, it is cancelled."""
        ended = threading.Event()

        async def whole() -> T:
            try:
                return await work
            finally:
                ended.set()

        future = asyncio.run_coroutine_threadsafe(whole(), self._started())
        try:
            return future.result()
        except BaseException:
            if future.cancel():  # not its own error, but an interruption out here
                ended.wait(GRACE_S)
            raise

    def close(self) -> None:
        """End the thread, and whatever still runs in it."""
        with self._starting:
            loop, self._loop = self._loop, None
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)
            self._thread.join(GRACE_S)

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_run_loop, args=(self._loop,), name="conversations", daemon=True
                )
                self._thread.start()
            return self._loop


def run_coroutine(work: Coroutine[Any, Any, T]) -> T:
    """What a coroutine gives: in this thread if no loop runs here, else in one of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    loop = EventLoopThread()
    try:
        return loop.run(work)
    finally:
        loop.close()


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()
