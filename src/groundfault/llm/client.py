"""Conversations with a model: what judges need, with the loop's retries and store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec

from groundfault.errors import UsageError
from groundfault.llm.conversations import REFUSED, Asked, InProcess, Served, Turn
from groundfault.llm.cost import BudgetUsedUp, Price, Purse
from groundfault.llm.in_process import ask_here
from groundfault.llm.requests import CONCURRENCY, USED_UP, ask_served
from groundfault.llm.response_store import Responses, default_place
from groundfault.llm.retry import Patience
from groundfault.parsing.answers import Answered
from groundfault.records import Outcome, Prediction

__all__ = ["Conversing"]


class Conversing:
    """The seam `protocols.Answerer` over a served model or one in this process.

    A reply that did not come is a `failed` prediction with its reason; one that the server will
    never give is `unparsed`, as a refusal is. Why the server was given up, if it was, is in
    `stopped`. A purse that cannot pay for all of them raises BudgetUsedUp;
    replies that it paid for are in the response store.
    """

    def __init__(
        self,
        answerer: Served | InProcess,
        *,
        responses: str | PathLike[str] | None = None,
        fresh: bool = False,
        concurrency: int = CONCURRENCY,
        patience: Patience | None = None,
        purse: Purse | None = None,
        batch: int = 4,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.answerer, self.responses, self.fresh = answerer, responses, fresh
        self.concurrency, self.patience, self.batch = concurrency, patience, batch
        self.purse = purse or Purse(None, None)
        """What it cost so far."""
        if isinstance(answerer, Served) and answerer.free and self.purse.price is None:
            self.purse.price = Price(0.0, 0.0)
        self.progress = progress
        """Told how many of how many conversations of a call have ended."""
        self.stopped = ""

    def answer(self, conversations: Sequence[Sequence[dict[str, Any]]]) -> list[Prediction]:
        """One prediction per conversation, its reply in `text`. Messages are role and content; the
        files under `pictures`, of any of them, are shown with the last."""
        asked = [_asked(str(number), turns) for number, turns in enumerate(conversations)]
        found: dict[str, Answered] = {}
        refused: set[str] = set()

        def keep(one: Asked, answer: Answered) -> None:
            found[one.item_id] = answer
            if self.progress is not None:
                self.progress(len(found), len(asked))

        if isinstance(self.answerer, Served):
            with Responses(self.responses or default_place()) as responses:
                ending = ask_served(
                    asked,
                    self.answerer,
                    keep,
                    purse=self.purse,
                    responses=responses,
                    fresh=self.fresh,
                    concurrency=min(self.concurrency, len(asked)),
                    patience=self.patience,
                )
            self.stopped, refused = ending.stopped, ending.refused
            if self.stopped == USED_UP.format(self.purse.budget):
                replied = sum(answer.outcome is not Outcome.FAILED for answer in found.values())
                raise BudgetUsedUp(self.stopped, replied, len(asked))
        else:
            ask_here(asked, self.answerer, keep, batch=self.batch)
        return [
            _refused(found[one.item_id])
            if one.item_id in refused
            else _prediction(found[one.item_id])
            for one in asked
        ]


def _asked(number: str, turns: Sequence[dict[str, Any]]) -> Asked:
    try:
        *before, last = msgspec.convert([(t["role"], t["content"]) for t in turns], list[Turn])
    except (msgspec.ValidationError, KeyError, ValueError) as problem:
        raise UsageError(
            f"conversation {number}: its messages need a role and words ({problem})"
        ) from None
    if last.role != "user":
        raise UsageError(f"conversation {number}: its last message is not the user's")
    shown = tuple(Path(path) for turn in turns for path in turn.get("pictures", ()))
    return Asked(item_id=number, text=last.text, before=tuple(before), pictures=shown)


def _prediction(answer: Answered) -> Prediction:
    return Prediction(
        item_id=answer.item_id, outcome=answer.outcome, text=answer.text, reason=answer.reason
    )


def _refused(answer: Answered) -> Prediction:
    return Prediction(
        item_id=answer.item_id, outcome=Outcome.UNPARSED, reason=f"{REFUSED}{answer.reason}"
    )
