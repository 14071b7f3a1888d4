"""Questions to a model or a baseline in this process, a batch at a time.

A batch that fails is halved until the question that makes it fail stands alone.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from groundfault.errors import GroundfaultError
from groundfault.llm.conversations import Asked, InProcess, Reply
from groundfault.parsing.answers import Answered
from groundfault.records import Outcome

__all__ = ["ask_here"]

LONGEST_REASON = 1000


def ask_here(
    asked: Iterable[Asked],
    model: InProcess,
    keep: Callable[[Asked, Answered], None],
    *,
    batch: int,
) -> None:
    """Ask everything; `keep` gets each answer as it comes."""
    rest = iter(asked)
    while together := list(itertools.islice(rest, batch)):
        for one, answer in _answers(model, together):
            keep(one, answer)


def _answers(model: InProcess, asked: Sequence[Asked]) -> Iterator[tuple[Asked, Answered]]:
    started = time.perf_counter()
    try:
        replies = model.answer(asked)
        if len(replies) != len(asked):
            raise ValueError(f"the model gave {len(replies)} answers to {len(asked)} questions")
    except GroundfaultError:
        raise  # no question is to blame
    except Exception as problem:  # whatever a model may raise
        if len(asked) == 1:
            reason = f"{type(problem).__name__}: {problem}"[:LONGEST_REASON]
            yield asked[0], _answered(asked[0], Reply(outcome=Outcome.FAILED, reason=reason), 0.0)
            return
    else:
        seconds = (time.perf_counter() - started) / len(asked)
        for one, reply in zip(asked, replies, strict=True):
            yield one, _answered(one, reply, seconds)
        return
    middle = len(asked) // 2  # outside `except`, whose traceback holds on to memory
    yield from _answers(model, asked[:middle])
    yield from _answers(model, asked[middle:])


def _answered(asked: Asked, reply: Reply, seconds: float) -> Answered:
    return Answered(
        item_id=asked.item_id,
        mode=asked.mode,
        outcome=reply.outcome,
        text=reply.text,
        reason=reply.reason,
        finish=reply.finish,
        tokens_in=reply.tokens_in or 0,
        tokens_out=reply.tokens_out or 0,
        latency_s=round(seconds, 6),
        cost=0.0,
    )
