"""A second model as critic: for each of the paper's rules it says whether a proposal keeps it.

Rules that need eyes (is the texture distinctive, would people still call it a table?) are checked
by nobody else. A proposal that breaks one is dropped with the rule's id.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import islice
from typing import Any

import msgspec

from groundfault.building.proposals.chat import ChatProposer
from groundfault.building.proposals.linter import rules_of
from groundfault.building.proposals.plans import Known, Plan, Step
from groundfault.building.proposals.prompts import fill, load_prompt, prompts_hash, safe
from groundfault.building.proposals.proposer import Keep, Proposer
from groundfault.building.records import Candidate, Dropped, Proposal
from groundfault.errors import UsageError
from groundfault.llm.client import ChatClient
from groundfault.llm.cost import PICTURE_TOKENS, CostEstimate, estimate_cost
from groundfault.parsing.proposals import parse_verdicts

__all__ = ["CriticisedProposer", "criteria"]

AT_ONCE = 256
"""Proposals that are made before they are criticised: more would be lost to nobody, but reported
late."""


REQUEST_TOKENS = PICTURE_TOKENS + 700
VERDICT_TOKENS = 80
"""Of a critic's request and its reply, about."""


def _sum(first: CostEstimate, second: CostEstimate) -> CostEstimate:
    """Both estimates; a price that is not known makes the whole unknown."""

    def both(one: Any, other: Any) -> Any:
        return None if one is None or other is None else one + other

    names = CostEstimate.__struct_fields__
    return CostEstimate(
        **{name: both(getattr(first, name), getattr(second, name)) for name in names}
    )


@cache
def criteria(task: str) -> dict[str, str]:
    """The rules of a task that a critic checks, by id.

    >>> criteria("SM")["SM-1"]
    'Only the appearance changes: colour, pattern, printed texture.'
    >>> list(criteria("replacement"))[:3]
    ['HS-1', 'HS-2', 'HS-3']
    """
    if task in ("SM", "OC", "CC"):
        lines = load_prompt(f"cafe-{task}").text.splitlines()
        found = (re.fullmatch(rf"({task}-\d+) (.+)", line) for line in lines)
        return {match[1]: match[2] for match in found if match}
    if task == "replacement":
        lines = load_prompt("replacement").text.splitlines()
        found = (re.fullmatch(r"(\d+)\. (.+)", line) for line in lines)
        return {f"HS-{match[1]}": match[2] for match in found if match}
    return {each.id: each.says for each in rules_of(task) if each.severity == "error"}


class CriticisedProposer:
    """A proposer whose proposals a critic checks before they are reported."""

    def __init__(self, inner: Proposer, critic: ChatProposer) -> None:
        self.inner, self.critic = inner, critic

    @property
    def identity(self) -> str:
        """Both, and the critic's prompt."""
        return f"{self.inner.identity} critic {self.critic.identity} {prompts_hash(['critic'])}"

    @property
    def stopped_because(self) -> str:
        """Why one of the two asks no more; "" while all is well."""
        return self.inner.stopped_because or self.critic.stopped_because

    def estimate(self, candidates: Sequence[Candidate], max_tokens: int) -> CostEstimate:
        """What both will likely cost, if every candidate gets a proposal."""
        client = self.critic.client
        price = client.cost.price if isinstance(client, ChatClient) else None
        asked = candidates if isinstance(client, ChatClient) else ()
        second = estimate_cost(
            ((REQUEST_TOKENS, VERDICT_TOKENS) for _ in asked), max_tokens=max_tokens, price=price
        )
        if not isinstance(self.inner, ChatProposer):
            return second
        return _sum(self.inner.estimate(candidates, max_tokens), second)

    def propose_many(self, candidates: Iterable[Candidate], keep: Keep) -> None:
        """Report what the critic lets through, and why the rest is dropped."""
        left = iter(candidates)
        while not self.stopped_because and (some := list(islice(left, AT_ONCE))):
            self._propose_some(some, keep)

    def _propose_some(self, candidates: list[Candidate], keep: Keep) -> None:
        originals = {candidate.id: candidate for candidate in candidates}
        proposed: list[Candidate] = []

        def take(candidate: Candidate, found: Proposal | Dropped) -> None:
            if isinstance(found, Dropped):
                keep(candidate, found)
            else:
                proposed.append(msgspec.structs.replace(candidate, proposal=found))

        self.inner.propose_many(candidates, take)
        self.critic.follow(
            proposed,
            lambda _: CRITICISM,
            lambda candidate, found: keep(originals[candidate.id], found),
        )


def _ask(candidate: Candidate, known: Known, shown: str) -> str:
    rules = "\n".join(f"{key} {says}" for key, says in criteria(candidate.task).items())
    return fill(
        "critic",
        category=safe(candidate.target.category),
        shown=shown,
        proposal=_told(_proposal(candidate)),
        rules=rules,
    )


def _told(proposal: Proposal) -> str:
    lines = {
        "instruction": proposal.instruction,
        "positive prompt": proposal.positive,
        "negative prompt": proposal.negative,
        **proposal.fields,
    }
    return "\n".join(f"{name}: {safe(value)}" for name, value in lines.items() if value)


def _read(candidate: Candidate, known: Known, text: str) -> dict[str, str] | Dropped:
    verdicts = parse_verdicts(text, list(criteria(candidate.task)))
    broken = [rule for rule, kept in verdicts.items() if not kept]
    if broken:
        return Dropped(reason=broken[0], details=f"the critic: {', '.join(broken)}")
    return {}


def _proposal(candidate: Candidate) -> Proposal:
    if candidate.proposal is None:
        raise UsageError(f"{candidate.id}: there is no proposal to criticise")
    return candidate.proposal


CRITICISM = Plan((Step(("critic",), _ask, _read),), lambda candidate, known: _proposal(candidate))
