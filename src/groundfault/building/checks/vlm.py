"""Checks by a chat model that sees: questions with yes or no as answers.

What is recorded is whether an answer speaks for the edit, as `vlm:QUESTION`; a reply that is not in
its form, or a refusal, is recorded as such. Paid replies are in the response store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from groundfault.building.checks.check import Value
from groundfault.building.checks.questions import Asked, asked_about
from groundfault.building.checks.views import show
from groundfault.building.proposals.chat import reply_all
from groundfault.building.records import Candidate, Dropped
from groundfault.building.stages import FAILED
from groundfault.errors import GroundfaultError
from groundfault.llm.batching import BatchedChatModel
from groundfault.llm.client import ChatClient
from groundfault.llm.cost import CostEstimate, estimate_cost, guess_tokens
from groundfault.llm.response_store import ResponseStore, default_place, request_key
from groundfault.llm.server import refusal
from groundfault.parsing.proposals import NotInForm, parse_verdicts
from groundfault.records import Conversation, Message, Outcome, Reply

__all__ = ["VlmJudge"]

USUAL_TOKENS, MOST_TOKENS = 20, 256
"""Of a reply."""
Drop = Callable[[Candidate, Dropped], None]
Request = tuple[Candidate, Asked]


class VlmJudge:
    """A model that is asked about the edits in a build's folder; `name` is what its answers are
    recorded under."""

    def __init__(
        self,
        client: ChatClient | BatchedChatModel,
        folder: Path,
        *,
        name: str = "vlm",
        model: str = "",
        side_px: int = 1024,
    ) -> None:
        self.client, self.folder, self.side_px = client, folder, side_px
        self.name, self.model = name, model

    @property
    def stopped_because(self) -> str:
        """Why nobody is asked any more; "" while all is well."""
        return self.client.stopped if isinstance(self.client, ChatClient) else ""

    def estimate(self, candidates: Iterable[Candidate]) -> CostEstimate:
        """What asking will likely cost; what is in the response store costs nothing."""
        if not isinstance(self.client, ChatClient):
            return estimate_cost((), max_tokens=MOST_TOKENS, price=None)
        stored, left = 0, []
        with ResponseStore(self.client.responses or default_place()) as store:
            for request in _requests(candidates):
                try:
                    conversation = self._conversation(request)
                except GroundfaultError:
                    continue  # will fail without being sent
                key = request_key(self.client.server, conversation)
                if not self.client.fresh and store.get(key) is not None:
                    stored += 1
                else:
                    left.append((guess_tokens(conversation), USUAL_TOKENS))
        price = self.client.cost.price
        return estimate_cost(left, max_tokens=MOST_TOKENS, price=price, stored=stored)

    def check_many(self, candidates: Sequence[Candidate], drop: Drop) -> list[Candidate]:
        """The candidates with the model's answers among their checks. Those about which a reply
        failed are dropped, to be asked again if that is wanted; those that were not asked because
        everything stopped are left out."""
        answers: dict[str, dict[str, Value]] = {each.id: {} for each in candidates}
        problems: dict[str, str] = {}

        def hear(request: Request, reply: Reply) -> None:
            candidate, asked = request
            if reply.outcome is Outcome.FAILED and not refusal(reply):
                problems[candidate.id] = "" if self.stopped_because else reply.reason
            else:
                answers[candidate.id] |= self._answers(asked, reply)

        makers = ((each, partial(self._conversation, each)) for each in _requests(candidates))
        reply_all(self.client, makers, hear)
        for candidate in candidates:
            if problems.get(candidate.id):
                drop(candidate, Dropped(reason=FAILED, details=problems[candidate.id]))
        complete = (each for each in candidates if each.id not in problems)
        return [
            found for each in complete if (found := self._whole(each, answers[each.id])) is not None
        ]

    def _whole(self, candidate: Candidate, answers: dict[str, Value]) -> Candidate | None:
        """The candidate with its answers, in the questions' order; None where some are missing."""
        asked = [name for each in asked_about(candidate) for name, _ in each.wanted.values()]
        keys = [f"{self.name}:{name}" for name in sorted(asked)]
        if any(key not in answers for key in keys):
            return None
        checks = {**candidate.checks, **{key: answers[key] for key in keys}}
        return msgspec.structs.replace(candidate, checks=checks)

    def _conversation(self, request: Request) -> Conversation:
        candidate, asked = request
        pictures = show(candidate, self.folder, asked.view, self.side_px)
        return (Message("user", (*pictures, asked.words)),)

    def _answers(self, asked: Asked, reply: Reply) -> dict[str, Value]:
        names = {key: f"{self.name}:{name}" for key, (name, _) in asked.wanted.items()}
        if refusal(reply):
            return dict.fromkeys(names.values(), "refused")
        try:
            said = parse_verdicts(reply.text, list(asked.wanted))
        except NotInForm:
            return dict.fromkeys(names.values(), "unparsed")
        return {names[key]: yes == asked.wanted[key][1] for key, yes in said.items()}


def _requests(candidates: Iterable[Candidate]) -> Iterator[Request]:
    for candidate in candidates:
        for asked in asked_about(candidate):
            yield candidate, asked
