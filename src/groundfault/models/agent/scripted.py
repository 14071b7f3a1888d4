"""Chat models that follow a rule instead of a network: for tests, benches and calibration.

scripted:accept   segments the concept, examines (if it can) and selects every mask: the segmenter
scripted:reject   segments the concept, then always reports that it is not there
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from groundfault.errors import UnknownName
from groundfault.interfaces import ModelOptions
from groundfault.models.agent.prompt import opening
from groundfault.records import Conversation, Outcome, Picture, Reply

__all__ = ["POLICIES", "Scripted", "View", "accept", "call", "load", "policy", "reject"]

_QUERY = re.compile(re.escape(opening("\0")).replace("\0", "(.*)"), re.DOTALL)
_FOUND = re.compile(r"segment_phrase found (?:nothing|(\d+) mask)")


class View(NamedTuple):
    """A conversation as a policy sees it."""

    query: str
    picture: Picture
    """The image that is talked about."""
    turn: int
    """Of the reply that is due, from 1."""
    newest: str
    """What the last tool said; "" at first."""
    n_masks: int | None
    """Of the newest segmentation; None before the first."""
    may_examine: bool = True


Policy = Callable[[View], str]


def call(tool: str, thought: str = "as scripted", **parameters: Any) -> str:
    """A reply in the text form."""
    body = msgspec.json.encode({"name": tool, "parameters": parameters}).decode()
    return f"<think>{thought}</think>\n<tool>{body}</tool>"


def accept(view: View) -> str:
    """Takes whatever the segmenter finds."""
    if view.n_masks is None:
        return call("segment_phrase", text_prompt=view.query)
    if not view.n_masks:
        return call("report_no_mask")
    everything = list(range(1, view.n_masks + 1))
    if view.may_examine and view.newest.startswith("segment_phrase"):
        return call("examine_masks", mask_indices=everything)
    return call("select_masks_and_return", final_answer_masks=everything)


def reject(view: View) -> str:
    """Takes nothing."""
    if view.n_masks is None:
        return call("segment_phrase", text_prompt=view.query)
    return call("report_no_mask")


POLICIES: dict[str, Policy] = {"accept": accept, "reject": reject}


class Scripted:
    """A `ChatModel` whose replies come from a policy; it costs nothing and takes no time."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def complete(self, conversations: Sequence[Conversation]) -> list[Reply]:
        """One reply per conversation."""
        return [
            Reply(
                outcome=Outcome.OK,
                text=self.policy(_view(conversation)),
                tokens_in=0,
                tokens_out=0,
                cost=0.0,
            )
            for conversation in conversations
        ]


def load(argument: str, options: ModelOptions) -> Scripted:
    """`scripted:accept`"""
    return Scripted(policy(argument))


def policy(name: str) -> Policy:
    """The rule of that name."""
    if name not in POLICIES:
        raise UnknownName("script", name, POLICIES)
    return POLICIES[name]


def _view(conversation: Conversation) -> View:
    system, first, *after = conversation
    results = [message.text for message in after if message.role == "user"]
    found = [match for words in results if (match := _FOUND.match(words))]
    query = _QUERY.match(first.text)
    return View(
        query=query[1] if query else "",
        picture=first.pictures[0],
        turn=1 + sum(message.role == "assistant" for message in after),
        newest=results[-1] if results else "",
        n_masks=int(found[-1][1] or 0) if found else None,
        may_examine="examine_masks" in system.text,
    )
