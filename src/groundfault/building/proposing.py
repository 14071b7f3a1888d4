"""The stage that proposes: what is changed, and what is asked about it.

Proposals come from rules, from a file, or from a chat model; each is checked by rule before an
editor is asked for anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from groundfault.building.proposals.linter import errors, lint
from groundfault.building.proposals.proposer import Proposer
from groundfault.building.records import Candidate, Dropped, Proposal
from groundfault.building.stages import Agree, Keep, encoded, unasked
from groundfault.llm.cost import CostEstimate

__all__ = ["ProposeSettings", "ProposeStage"]

VERSION = "1"
MOST_TOKENS = 1024
"""Of a reply, for the estimate."""


class ProposeSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who proposes, and what is done with it."""

    by: str = "rules"
    """rules, scripted:FILE, or a chat model: openai:NAME, gemini:NAME, hf:NAME …"""
    critic: str = ""
    """A second chat model that objects by rule."""
    unchecked: tuple[str, ...] = ()
    """Ids of rules that are not checked, as OC-alone."""
    repairs: int = 1
    """How often a model is told what is wrong with its reply and asked again."""
    options: dict[str, Any] = {}
    """How a chat model is asked: `show` (outline, box, crop …), `side_px`."""


class ProposeStage:
    """Asks the proposer about every candidate, once whoever pays has agreed."""

    name = "propose"

    def __init__(
        self,
        proposer: Proposer,
        *,
        by: str,
        unchecked: Sequence[str] = (),
        agree: Agree = unasked,
    ) -> None:
        self.proposer, self.by, self.agree = proposer, by, agree
        self.unchecked = tuple(unchecked)

    def identity(self) -> Mapping[str, str]:
        """Who proposes, and what it draws from."""
        known = {"version": VERSION, "proposer": self.proposer.identity}
        return known | ({"unchecked": encoded(self.unchecked)} if self.unchecked else {})

    def depends(self, candidate: Candidate) -> str:
        """Nothing but the candidate."""
        return ""

    def run(self, candidates: Iterable[Candidate], keep: Keep) -> str:
        """Have a proposal for what is left."""

        def take(candidate: Candidate, found: Proposal | Dropped) -> None:
            keep(candidate, checked(candidate, found, self.unchecked))

        estimate = getattr(self.proposer, "estimate", None)
        if estimate is not None:
            candidates = list(candidates)
            guess: CostEstimate = estimate(candidates, MOST_TOKENS)
            if guess.requests:
                self.agree(f"{self.by} is to propose", guess)
        self.proposer.propose_many(candidates, take)
        return self.proposer.stopped_because


def checked(
    candidate: Candidate, found: Proposal | Dropped, unchecked: Sequence[str] = ()
) -> Candidate | Dropped:
    """A candidate with its proposal; one that breaks a rule is dropped by the rule's id."""
    if isinstance(found, Dropped):
        return found
    findings = lint(found, candidate, without=unchecked)
    wrong = errors(findings)
    if wrong:
        return Dropped(reason=wrong[0].rule, details=wrong[0].found)
    warned = tuple(dict.fromkeys(finding.rule for finding in findings))
    return msgspec.structs.replace(candidate, proposal=found, violations=warned)
