"""How long to wait for a server, and how often to ask again."""

from __future__ import annotations

import random
import time
from email.utils import parsedate_to_datetime

import msgspec

__all__ = ["RetryPolicy", "retry_after_s"]

_chance = random.Random()
"""For jitter only: nothing that is measured depends on it."""


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How a client deals with a server that is slow, busy, broken or down."""

    timeout_s: float = 120.0
    """For one request, from its first byte to the last of its response."""
    connect_s: float = 20.0
    attempts: int = 6
    """Responses that are no answer, until a question has failed. "Too many requests" and a server
    that cannot be reached do not count: no question is to blame."""
    first_wait_s: float = 0.5
    longest_wait_s: float = 30.0
    outage_s: float = 600.0
    """How long a server may be down, turn one question away or turn all of them away, before that
    is final; a longer wait that a server asks for is final at once."""
    longest_stall_s: float = float("inf")
    """How long a session may wait in all, while no question is answered."""
    first_contact_s: float = 30.0
    """The same for a server that never gave a sign of life: its address may be wrong."""
    longest_try_s: float = 5.0
    """Between tries whether a server is back."""
    failures_in_a_row: int = 24
    """Of any kind, without a sign of life between them: the server is down."""

    def wait_s(self, tries: int) -> float:
        """Twice as long after each try, at random between half of it and all of it."""
        longest: float = min(self.longest_wait_s, self.first_wait_s * 2 ** min(tries, 30))
        return longest * _chance.uniform(0.5, 1.0)

    def granted_s(self, seconds: float) -> float:
        """A wait that a server asked for, and a little more: not all come back at once."""
        return seconds * _chance.uniform(1.0, 1.1)


def retry_after_s(header: str | None, *, now: float | None = None) -> float | None:
    """Seconds that a Retry-After header asks for; None if it says nothing readable.

    >>> retry_after_s("2"), retry_after_s("Thu, 01 Jan 1970 00:00:30 GMT", now=10.0)
    (2.0, 20.0)
    >>> retry_after_s("soon"), retry_after_s(None), retry_after_s("-3")
    (None, None, None)
    """
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            then = parsedate_to_datetime(header).timestamp()
        except (ValueError, OverflowError):
            return None
        return max(0.0, then - (time.time() if now is None else now))
    return seconds if 0 <= seconds < float("inf") else None
