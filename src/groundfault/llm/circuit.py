"""While a server is down nobody asks it, except one request at a time that tries."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from groundfault.errors import GroundfaultError
from groundfault.llm.retry import RetryPolicy

__all__ = ["Circuit", "ServerDown"]


class ServerDown(GroundfaultError):
    """A server did not come back in time."""


class Circuit:
    """Opens when a server cannot be reached, or after many failures in a row; closes with the
    first sign of life. It also knows how long nothing has been answered at all."""

    def __init__(self, retry: RetryPolicy, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.retry, self.clock = retry, clock
        self.in_a_row = 0
        self.down_since: float | None = None
        self.busy_since: float | None = None
        """Since when the server has answered nothing but "too many requests"."""
        self.stalled_since: float | None = None
        self.stalled_s = 0.0
        """Of all stalls that have ended."""
        self.outages = 0
        self.known = False
        """Whether the server ever gave a sign of life."""
        self._tries = 0
        self._next_try = 0.0
        self._trying = False
        self._closed = asyncio.Event()

    async def passage(self, stopping: asyncio.Event) -> bool:
        """Wait until a request may go. True: it is the one that tries, and must be `tried`."""
        while self.down_since is not None and not stopping.is_set():
            wait_s = self._next_try - self.clock()
            if wait_s <= 0 and not self._trying:
                self._trying = True
                return True
            try:
                async with asyncio.timeout(max(wait_s, 0.05)):
                    await self._closed.wait()
            except TimeoutError:
                continue
        return False

    def tried(self) -> None:
        """The request that tried has ended, however it did."""
        self._trying = False

    def alive(self) -> None:
        """The server did something sensible."""
        self.in_a_row = self._tries = 0
        self.known = True
        if self.down_since is not None:
            self.down_since = None
            self._closed.set()

    def served(self) -> None:
        """The server answered a question."""
        self.alive()
        self.busy_since = None
        if self.stalled_since is not None:
            self.stalled_s += self.clock() - self.stalled_since
            self.stalled_since = None

    def busy(self, reason: str) -> None:
        """The server is there but takes no question now. Raises ServerDown if it never does."""
        self.alive()
        now = self.clock()
        if self.busy_since is None:
            self.busy_since = now
        if now - self.busy_since > self.retry.outage_s:
            raise ServerDown(
                f"the server has turned every question away for {now - self.busy_since:.0f} s "
                f"({reason}). Remedy: run the same command again later, or with less --concurrency"
            )
        self._stalls(reason, now)

    def unreadable(self, reason: str) -> None:
        """The server said something that is no answer. Raises ServerDown like the others."""
        self.alive()
        self._stalls(reason, self.clock())

    def waited_in_vain(self, reason: str) -> None:
        """A question has failed that was not asked before. Raises ServerDown if none has been
        answered for too long, whatever came instead: the questions before it are not to blame."""
        stalled_s = 0.0 if self.stalled_since is None else self.clock() - self.stalled_since
        if stalled_s > self.retry.outage_s:
            raise ServerDown(
                f"the server has answered nothing for {stalled_s:.0f} s ({reason}). Remedy: run "
                "the same command again later"
            )

    def stall_left_s(self) -> float:
        """How long may still be waited in all."""
        stalled_s = 0.0 if self.stalled_since is None else self.clock() - self.stalled_since
        return self.retry.longest_stall_s - self.stalled_s - stalled_s

    def _stalls(self, reason: str, now: float) -> None:
        if self.stalled_since is None:
            self.stalled_since = now
        if self.stall_left_s() < 0:
            raise ServerDown(
                f"waited for {self.retry.longest_stall_s:g} s in all ({reason}). Remedy: run the "
                "same command again; what was answered is kept"
            )

    def failed(self, reason: str, *, unreachable: bool, tried: bool) -> None:
        """A request got no sensible response. Raises ServerDown if that goes on for too long."""
        self.in_a_row += 1
        now = self.clock()
        self._stalls(reason, now)
        if self.down_since is None:
            if not unreachable and self.in_a_row < self.retry.failures_in_a_row:
                return
            self.down_since, self._tries = now, 0
            self.outages += 1
            self._closed.clear()
            self._next_try = now + self._wait_s()
        elif tried:
            self._tries += 1
            self._next_try = now + self._wait_s()
        seconds = now - self.down_since
        if not self.known and seconds > min(self.retry.first_contact_s, self.retry.outage_s):
            raise ServerDown(
                f"the server cannot be reached ({reason}). Remedy: check its address, and that it "
                "is running"
            )
        if seconds > self.retry.outage_s:
            raise ServerDown(
                f"the server has been down for {seconds:.0f} s ({reason}). Remedy: run the same "
                "command again when it is back"
            )

    def _wait_s(self) -> float:
        return min(self.retry.wait_s(self._tries), self.retry.longest_try_s)
