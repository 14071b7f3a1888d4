"""An agent's episode, turn by turn, with the pictures it was shown drawn again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import msgspec

from groundfault.errors import GroundfaultError
from groundfault.io.pictures import read_image
from groundfault.models.agent.replays import replay
from groundfault.models.agent.traces import Trace, trace_of
from groundfault.reports.agent_traces import ending_words, facts_of
from groundfault.web.explore.answers import Answers
from groundfault.web.explore.board import Board
from groundfault.web.explore.cases import picture_path

__all__ = ["Episode", "Episodes", "Turn"]

KEPT = 8


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One reply and what came back; the question before the first."""

    title: str
    thought: str = ""
    call: str = ""
    result: str = ""
    problem: bool = False
    scores: tuple[float, ...] = ()
    left_out: int = 0
    pictures: tuple[str, ...] = ()
    """Names of those that it was shown."""


class Episode(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation with a segmenter at hand."""

    query: str
    ending: str
    facts: tuple[str, ...]
    turns: tuple[Turn, ...]
    note: str = ""


class Episodes:
    """The episodes of a board, drawn when they are asked for; the last few are kept."""

    def __init__(self, board: Board, answers: Sequence[Answers]) -> None:
        self.board, self.answers = board, answers
        self._drawn = lru_cache(KEPT)(self._draw)

    def find(self, run: int, place: int, item: int) -> Episode | None:
        """The episode of a run about a question of an entry; None where there is none."""
        trace = self._trace(run, place, item)
        if trace is None:
            return None
        pictures, note = self._drawn(run, place, item)
        return Episode(
            query=trace.query,
            ending=ending_words(trace),
            facts=facts_of(trace),
            turns=tuple(_turns(trace, set(pictures))),
            note=note,
        )

    def picture(self, run: int, place: int, item: int, name: str) -> bytes | None:
        """A picture of an episode by its name."""
        if self._trace(run, place, item) is None:
            return None
        return self._drawn(run, place, item)[0].get(name)

    def _trace(self, run: int, place: int, item: int) -> Trace | None:
        asked = self.board.items(place)
        if not (0 <= run < len(self.answers) and 0 <= item < len(asked)):
            return None
        found = self.answers[run].to(asked[item].item_id)
        return trace_of(found[0]) if found else None

    def _draw(self, run: int, place: int, item: int) -> tuple[dict[str, bytes], str]:
        """The pictures by hash, and what is to be said about them."""
        trace, found = self._trace(run, place, item), picture_path(self.board, place, item, 0)
        if trace is None or found is None:
            return {}, "Its picture is not at hand."
        try:
            episode = replay(trace, read_image(found[0], size_px=trace.size_px))
        except (GroundfaultError, OSError, ValueError) as problem:
            return {}, f"Its pictures cannot be drawn again: {problem}"
        shown = {trace.picture, *(sha for turn in trace.turns for sha in turn.pictures)}
        missing = shown - set(episode.pictures) - {""}
        note = "Drawn again; not byte for byte what it was shown." if missing else ""
        again = episode.trace()
        names = dict(zip(_names(trace), _names(again), strict=False))
        pictures = {
            then: episode.pictures[now].content
            for then, now in names.items()
            if now in episode.pictures
        }
        return pictures, note


def _names(trace: Trace) -> list[str]:
    """The pictures of an episode in order."""
    return [trace.picture, *(sha for turn in trace.turns for sha in turn.pictures)]


def _turns(trace: Trace, there: set[str]) -> list[Turn]:
    first = Turn(
        title="The question",
        result=trace.reason or f"Is “{trace.query}” in this picture?",
        problem=bool(trace.reason),
        pictures=tuple({trace.picture} & there),
    )
    return [
        first,
        *(
            Turn(
                title=f"Turn {number}",
                thought=turn.thought or ("" if turn.tool else turn.said),
                call=_call(turn.tool, turn.parameters),
                result=turn.problem or turn.result,
                problem=bool(turn.problem),
                scores=turn.scores,
                left_out=turn.left_out,
                pictures=tuple(name for name in turn.pictures if name in there),
            )
            for number, turn in enumerate(trace.turns, start=1)
        ),
    ]


def _call(tool: str, parameters: object) -> str:
    written = msgspec.json.encode(parameters).decode() if parameters else ""
    return f"{tool} {written}".strip()
