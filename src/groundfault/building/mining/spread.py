"""Which candidates are taken where only so many are wanted: some of many photographs, not all of
the first ones.

Photographs take turns in an order that is drawn by the seed; so do the tasks of each. Sources are
read to their end for that, photograph by photograph: what is kept of a candidate is its place in a
file, and photographs whose turn can't come any more are passed over before anybody looks at them.
"""

from __future__ import annotations

import heapq
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

import msgspec

from groundfault.building.mining.selection import OnDrop, draw
from groundfault.building.records import Candidate, Dropped
from groundfault.io.photographs import Photograph

__all__ = ["BEYOND", "Spread"]

BEYOND = "beyond the limit"
"""The reason of what is dropped for others' sake."""


class _Taken(NamedTuple):
    """A candidate so far; the one that would have to make room first is the smallest."""

    minus_round: int
    minus_turn: int
    arrived: int
    id: str
    offset: int
    length: int


class Spread:
    """At most so many candidates, round by round over photographs."""

    def __init__(self, limit: int, seed: int) -> None:
        self.limit, self.seed = limit, seed
        self._taken: list[_Taken] = []

    def turn(self, photograph: Photograph) -> int:
        """Where in each round a photograph comes."""
        return draw(f"{photograph.source} {photograph.id}", self.seed, "limit")

    def wants(self, photograph: Photograph) -> bool:
        """Whether a candidate of a photograph might still be taken."""
        if len(self._taken) < self.limit:
            return True
        last = self._taken[0]
        return (0, self.turn(photograph)) < (-last.minus_round, -last.minus_turn)

    def taken(self, candidates: Iterable[Candidate], on_drop: OnDrop) -> Iterator[Candidate]:
        """Those that are taken of what mining gives, in its order, once it has given all;
        `on_drop` is told of the others."""
        encode = msgspec.msgpack.Encoder().encode
        decode = msgspec.msgpack.Decoder(Candidate).decode
        arrived = 0
        with tempfile.TemporaryFile() as file:
            for _, group in groupby(candidates, key=_photograph_of):
                several = list(group)
                turn = self.turn(several[0].photograph)
                for round_, number in enumerate(self._turns(several)):
                    candidate, content = several[number], encode(several[number])
                    offered = _Taken(
                        -round_, -turn, arrived + number, candidate.id, file.tell(), len(content)
                    )
                    if self._offer(offered, on_drop):
                        file.write(content)
                arrived += len(several)
            for each in sorted(self._taken, key=lambda one: one.arrived):
                file.seek(each.offset)
                yield decode(file.read(each.length))

    def _turns(self, candidates: list[Candidate]) -> list[int]:
        """The candidates of one photograph as numbers, in the order in which they are taken."""
        drawn = [draw(each.id, self.seed, "limit") for each in candidates]
        before: Counter[str] = Counter()
        places = {}
        for number in sorted(range(len(candidates)), key=lambda number: drawn[number]):
            task = candidates[number].task
            places[number] = before[task], drawn[number]
            before[task] += 1
        return sorted(places, key=lambda number: places[number])

    def _offer(self, offered: _Taken, on_drop: OnDrop) -> bool:
        """Take a candidate if there is room, or another one's turn comes after it."""
        if len(self._taken) < self.limit:
            heapq.heappush(self._taken, offered)
            return True
        out = heapq.heappushpop(self._taken, offered)
        on_drop(out.id, Dropped(reason=BEYOND))
        return out is not offered


def _photograph_of(candidate: Candidate) -> tuple[str, str]:
    return candidate.photograph.source, candidate.photograph.id
