"""Who proposes edits: tables, a file, or a chat model, behind one method."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from groundfault.build.records import Candidate, Dropped, Proposal
from groundfault.errors import UsageError

if TYPE_CHECKING:
    from groundfault.build.proposals.chat import ChatSettings
    from groundfault.build.proposals.rules import Repertoire
    from groundfault.llm.server import ChatOptions

__all__ = ["Keep", "Proposer", "load_proposer"]

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


def load_proposer(
    spec: str,
    *,
    images: Path,
    folder: Path | None = None,
    options: ChatOptions | None = None,
    settings: ChatSettings | None = None,
    repertoire: Repertoire | None = None,
    **client: Any,
) -> Proposer:
    """The proposer that a spec stands for: `rules`, `scripted:FILE`, or a chat model.

    `repertoire` says what the editor can do, for `rules`; `options`, `settings` and `client`
    (further arguments of `ChatClient`) are a chat model's.
    """
    name, _, argument = spec.partition(":")
    if name == "rules":
        from groundfault.build.proposals.rules import RulesProposer

        return RulesProposer(repertoire)
    if name == "scripted":
        from groundfault.build.proposals.scripted import ScriptedProposer

        if not argument:
            raise UsageError("scripted: name the file of proposals, as in scripted:proposals.jsonl")
        return ScriptedProposer(argument)
    from groundfault.build.proposals.chat import ChatProposer
    from groundfault.llm.loading import load_chat_model
    from groundfault.llm.server import ChatOptions

    model = load_chat_model(spec, options or ChatOptions(), **client)
    return ChatProposer(model, images, settings, model=spec, folder=folder)
