"""Who proposes edits: tables (`rules`), a file (`scripted`), or a chat model (`chat`), behind one
method; a `critic` stands before any of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from groundfault.building.records import Candidate, Dropped, Proposal

__all__ = ["Keep", "Proposer"]

Keep = Callable[[Candidate, Proposal | Dropped], None]
"""Gets a candidate with its proposal, or with why there is none. The reason "failed" may be another
one next time; every other reason is final."""


class Proposer(Protocol):
    """Proposes edits of many candidates."""

    @property
    def identity(self) -> str:
        """What proposals depend on besides their candidates; proposals of others are not mixed."""
        ...

    @property
    def stopped_because(self) -> str:
        """Why some candidates were not reported, with what to do about it; "" if all were."""
        ...

    def propose_many(self, candidates: Iterable[Candidate], keep: Keep) -> None:
        """Report what is proposed for each candidate, in any order, as soon as it is known."""
        ...
