"""Proposals by a chat model: any that `llm.load_chat_model` knows.

Many candidates are asked about at once. A reply that is not in its form, or breaks a rule, is asked
for again once, with what was wrong; then the candidate is dropped as `unparsed`, or with the rule's
id. Saying that there is nothing to propose is an answer, counted as "None" and never asked again.
Whatever was paid for is in the response store: asked again after a crash, it costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from groundfault.building.proposals.linter import Violation, errors, lint
from groundfault.building.proposals.plans import PROMPTS, Plan, Step, field_plan, plan_of
from groundfault.building.proposals.prompts import fill, prompts_hash
from groundfault.building.proposals.proposer import Keep
from groundfault.building.proposals.showing import Showing, said_how, show_file, show_target
from groundfault.building.records import Candidate, Dropped, Proposal
from groundfault.errors import GroundfaultError, UsageError
from groundfault.llm.batching import BatchedChatModel
from groundfault.llm.client import ChatClient
from groundfault.llm.cost import CostEstimate, estimate_cost, guess_tokens
from groundfault.llm.response_store import ResponseStore, default_place, request_key
from groundfault.llm.server import refusal
from groundfault.parsing.proposals import NotInForm
from groundfault.records import Conversation, Message, Outcome, Picture, Reply

__all__ = ["ChatProposer", "ChatSettings", "reply_all"]

K = TypeVar("K")

USUAL_TOKENS = 250
"""Of a reply that proposes; most of tracing's have twice as many."""
LONGEST_QUOTE = 300


class ChatSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a model is asked; all of it is part of a proposal's identity."""

    show: Showing = "outline"
    """How the target is shown: outline, box, crop, mask, or in words alone."""
    side_px: int = 1024
    """The longer side of the pictures that it is shown."""
    repairs: int = 1
    """How often it is asked again about one reply."""
    unchecked: tuple[str, ...] = ()
    """Ids of rules that are not checked."""


class _Asked(msgspec.Struct):
    """A candidate on its way through its plan."""

    candidate: Candidate
    plan: Plan
    number: int = 0
    """Of the step."""
    known: dict[str, str] = {}
    said: tuple[tuple[str, str], ...] = ()
    """Replies of this step that could not be used, and what was answered to them."""

    @property
    def step(self) -> Step:
        return self.plan.steps[self.number]


class ChatProposer:
    """A chat model that proposes edits of the photographs in a folder.

    `model` is the model's name, for records; `folder` is the build's, where edited pictures are.
    """

    def __init__(
        self,
        client: ChatClient | BatchedChatModel,
        images: Path | Sequence[Path],
        settings: ChatSettings | None = None,
        *,
        model: str = "",
        folder: Path | None = None,
    ) -> None:
        self.client, self.images, self.model = client, images, model
        self.settings = settings or ChatSettings()
        self.folder = folder
        self.asked = self.repaired = 0
        """Requests that were sent or found in the store, and those of them that were repairs."""

    @property
    def identity(self) -> str:
        """What proposals depend on besides their candidates."""
        settings = msgspec.json.encode(self.settings, order="sorted").decode()
        return f"{self.model} {settings} prompts {prompts_hash(PROMPTS)}"

    @property
    def stopped_because(self) -> str:
        """Why nobody is asked any more: the budget, the server, the key; "" while all is well."""
        return self.client.stopped if isinstance(self.client, ChatClient) else ""

    def propose_many(self, candidates: Iterable[Candidate], keep: Keep) -> None:
        """Have proposals made; `keep` gets each candidate with its proposal, or with why there is
        none, as soon as that is known. Those whose request was not sent, or got no reply because
        everything stopped, are not reported: see `stopped_because`."""
        self.follow(candidates, plan_of, keep)

    def follow(
        self, candidates: Iterable[Candidate], plan: Callable[[Candidate], Plan | None], keep: Keep
    ) -> None:
        """Ask what a plan has about each candidate; those without one are left out."""
        self._run((_Asked(each, found) for each in candidates if (found := plan(each))), keep)

    def fill_fields(self, candidates: Iterable[Candidate], keep: Keep) -> None:
        """Have the fields for questions told from the photographs before and after an edit; a
        candidate whose edit the model finds failed is dropped as "None"."""
        self.follow(candidates, field_plan, keep)

    def estimate_fields(self, candidates: Iterable[Candidate], max_tokens: int) -> CostEstimate:
        """What `fill_fields` will likely cost."""
        return self.estimate(candidates, max_tokens, field_plan)

    def estimate(
        self,
        candidates: Iterable[Candidate],
        max_tokens: int,
        plan: Callable[[Candidate], Plan | None] = plan_of,
    ) -> CostEstimate:
        """What the first requests about candidates will likely cost; those that are in the response
        store cost nothing. Repairs come on top."""
        if not isinstance(self.client, ChatClient):
            return estimate_cost((), max_tokens=max_tokens, price=None)
        stored, left = 0, []
        with ResponseStore(self.client.responses or default_place()) as store:
            for candidate in candidates:
                found = plan(candidate)
                if found is None:
                    continue
                try:
                    asked = self._conversation(_Asked(candidate, found))
                except GroundfaultError:
                    continue  # will fail without being sent
                key = request_key(self.client.server, asked)
                if not self.client.fresh and store.get(key) is not None:
                    stored += 1
                else:
                    left.append((guess_tokens(asked), USUAL_TOKENS))
        price = self.client.cost.price
        return estimate_cost(left, max_tokens=max_tokens, price=price, stored=stored)

    def _run(self, first: Iterator[_Asked], keep: Keep) -> None:
        wave: Iterable[_Asked] = first
        while True:
            later: list[_Asked] = []
            reply_all(
                self.client,
                ((each, partial(self._conversation, each)) for each in wave),
                partial(self._hear, keep, later),
            )
            if not later or self.stopped_because:
                return
            wave = later

    def _conversation(self, asked: _Asked) -> Conversation:
        step, settings = asked.step, self.settings
        words = step.ask(asked.candidate, asked.known, said_how(settings.show))
        pictures = self._pictures(asked) if step.seen else ()
        turns = [Message("user", (*pictures, words))]
        for reply, answer in asked.said:
            turns += [Message("assistant", (reply,)), Message("user", (answer,))]
        return tuple(turns)

    def _pictures(self, asked: _Asked) -> tuple[Picture, ...]:
        candidate, side_px = asked.candidate, self.settings.side_px
        if candidate.edited is None or field_plan(candidate) is not asked.plan:
            return show_target(candidate, self.images, self.settings.show, side_px)
        if self.folder is None:
            raise UsageError("edited pictures are shown from the build's folder: give `folder`")
        files = (candidate.edited.before, candidate.edited.after)
        return tuple(show_file(self.folder / file, side_px) for file in files)

    def _hear(self, keep: Keep, later: list[_Asked], asked: _Asked, reply: Reply) -> None:
        """Take a reply: it ends the candidate's way, or leads to another request."""
        if reply.outcome is Outcome.FAILED and self.stopped_because:
            return  # the next session asks it
        self.asked += 1
        self.repaired += bool(asked.said)
        found = self._ended(asked, reply)
        if isinstance(found, _Asked):
            later.append(found)
        else:
            keep(asked.candidate, found)

    def _ended(self, asked: _Asked, reply: Reply) -> Proposal | Dropped | _Asked:
        if refusal(reply):
            return Dropped(reason="refused", details=refusal(reply)[:LONGEST_QUOTE])
        if reply.outcome is Outcome.FAILED:
            return Dropped(reason="failed", details=reply.reason[:LONGEST_QUOTE])
        try:
            if reply.outcome is Outcome.UNPARSED:
                raise NotInForm(f"The reply is {reply.reason}.")
            found = asked.step.read(asked.candidate, asked.known, reply.text)
        except NotInForm as problem:
            unread = Dropped(reason="unparsed", details=str(problem))
            return self._again(asked, reply, str(problem), "") or unread
        if found is None:
            return Dropped(reason="None", details=f"by {self.model}" if self.model else "")
        if isinstance(found, Dropped):
            return found
        return self._checked(asked, reply, {**asked.known, **found})

    def _checked(
        self, asked: _Asked, reply: Reply, known: dict[str, str]
    ) -> Proposal | Dropped | _Asked:
        last = asked.number + 1 == len(asked.plan.steps)
        if asked.step.proposes:
            made = asked.plan.finish(asked.candidate, known)
            proposal = msgspec.structs.replace(made, by=made.by or self.model)
            broken = errors(lint(proposal, asked.candidate, without=self.settings.unchecked))
            if broken:
                first = broken[0]
                says = "The rule that it breaks: " + " ".join(
                    f"[{v.rule}] {v.says}" for v in broken
                )
                dropped = Dropped(reason=first.rule, details=first.found[:LONGEST_QUOTE])
                return self._again(asked, reply, _found(broken), says) or dropped
            if last:
                return proposal
        return _Asked(asked.candidate, asked.plan, asked.number + 1, known)

    def _again(self, asked: _Asked, reply: Reply, problem: str, rule: str) -> _Asked | None:
        """The same request with what was wrong with the reply; None if that was done before."""
        if len(asked.said) >= self.settings.repairs:
            return None
        words = fill("repair", problem=problem[:LONGEST_QUOTE], rule=rule).replace("\n\n", "\n")
        said = (*asked.said, (reply.text[:2000] or "(nothing)", words))
        return _Asked(asked.candidate, asked.plan, asked.number, asked.known, said)


def _found(broken: Iterable[Violation]) -> str:
    return "What is wrong: " + "; ".join(violation.found for violation in broken) + "."


def reply_all(
    client: ChatClient | BatchedChatModel,
    conversations: Iterable[tuple[K, Callable[[], Conversation]]],
    keep: Callable[[K, Reply], None],
) -> None:
    """Have every conversation replied to; a model in this process gets them in batches."""
    if isinstance(client, ChatClient):
        client.run(conversations, keep)
        return
    rest = iter(conversations)
    while together := list(islice(rest, client.batch)):
        made: list[tuple[K, Any]] = []
        for asked, make in together:
            try:
                made.append((asked, make()))
            except GroundfaultError as problem:
                keep(asked, Reply(outcome=Outcome.FAILED, reason=str(problem)))
        for (asked, _), reply in zip(made, client.complete([c for _, c in made]), strict=True):
            keep(asked, reply)
