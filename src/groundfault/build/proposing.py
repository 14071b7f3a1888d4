"""The stage that proposes: what is changed, and what is asked about it.

Proposals come from rules, from a file, or from a chat model; each is checked by rule before an
editor is asked for anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from groundfault.build.proposals.linter import errors, lint
from groundfault.build.proposals.rules import Repertoire, procedural_repertoire, propose
from groundfault.build.records import Candidate, Dropped, Proposal
from groundfault.build.stages import Keep, encoded
from groundfault.errors import UsageError
from groundfault.io.foreign import sha256
from groundfault.io.interrupts import stop_if_requested

__all__ = ["ProposeSettings", "ProposeStage"]

VERSION = "1"


class ProposeSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who proposes, and what is done with it."""

    by: str = "rules"
    """rules, scripted:FILE, or a chat model: openai:NAME, gemini:NAME, hf:NAME …"""
    critic: str = ""
    """A second chat model that objects by rule."""
    repairs: int = 1
    """How often a model is told what is wrong with its reply and asked again."""
    shown: str = "outline"
    """How a chat model is shown the target: outline, box or crop."""
    options: dict[str, Any] = {}
    """What the proposer itself takes."""


class ProposeStage:
    """Asks the proposer about every candidate."""

    name = "propose"

    def __init__(
        self,
        settings: ProposeSettings,
        *,
        editor: str,
        donors: Iterable[str] = (),
        chat: Callable[[Iterable[Candidate], Callable[[Candidate, Proposal | Dropped], None]], str]
        | None = None,
        chat_identity: Mapping[str, str] | None = None,
    ) -> None:
        self.settings = settings
        self.donors = tuple(sorted(set(donors)))
        self.editor = editor.partition(":")[0]
        self.chat, self.chat_identity = chat, chat_identity or {}
        self.script = settings.by.removeprefix("scripted:")
        if self._kind == "scripted" and not Path(self.script).is_file():
            raise UsageError(f"{self.script}: no such file of proposals")

    @property
    def _kind(self) -> str:
        return self.settings.by.partition(":")[0]

    def identity(self) -> Mapping[str, str]:
        """The settings, and what proposals are drawn from."""
        known = {"version": VERSION, "settings": encoded(self.settings)}
        if self._kind == "scripted":
            return known | {"script": sha256(self.script)}
        if self._kind == "rules":
            return known | {"can": encoded(self._repertoire())}
        return known | dict(self.chat_identity)

    def depends(self, candidate: Candidate) -> str:
        """Nothing but the candidate."""
        return ""

    def _repertoire(self) -> Repertoire:
        if self.editor != "procedural":
            return Repertoire()
        return procedural_repertoire(self.donors)

    def run(self, candidates: Iterable[Candidate], keep: Keep) -> str:
        """Have a proposal for what is left."""

        def take(candidate: Candidate, found: Proposal | Dropped) -> None:
            keep(candidate, checked(candidate, found))

        if self._kind not in ("rules", "scripted"):
            assert self.chat is not None
            return self.chat(candidates, take)
        one = self._offline()
        for candidate in candidates:
            stop_if_requested()
            take(candidate, one(candidate))
        return ""

    def _offline(self) -> Callable[[Candidate], Proposal | Dropped]:
        if self._kind == "scripted":
            from groundfault.build.proposals.scripted import ScriptedProposer

            return ScriptedProposer(self.script).propose
        repertoire = self._repertoire()
        return lambda candidate: propose(candidate, repertoire)


def checked(candidate: Candidate, found: Proposal | Dropped) -> Candidate | Dropped:
    """A candidate with its proposal; one that breaks a rule is dropped by the rule's id."""
    if isinstance(found, Dropped):
        return found
    findings = lint(found, candidate)
    wrong = errors(findings)
    if wrong:
        return Dropped(reason=wrong[0].rule, details=wrong[0].found)
    warned = tuple(dict.fromkeys(finding.rule for finding in findings))
    return msgspec.structs.replace(candidate, proposal=found, violations=warned)
