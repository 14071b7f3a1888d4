"""What an answerer is asked and what comes back: the words between the loop that asks and the
models that answer.

An answerer is one of two things. `Served`: a model behind HTTP, described by pure functions, what
to send and how to read what came; the loop owns connections, retries, money and time.
`InProcess`: a model or a baseline here, given a batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, runtime_checkable

import msgspec

from groundfault.errors import GroundfaultError
from groundfault.interfaces import ModelOptions
from groundfault.parsing.answers import Mode
from groundfault.records import Outcome

__all__ = [
    "LONGEST_MESSAGE",
    "REFUSED",
    "TEMPORARY",
    "AnswererOptions",
    "Asked",
    "InProcess",
    "Picture",
    "Refused",
    "Reply",
    "Served",
    "Trouble",
    "Turn",
    "Unsound",
    "said",
]

LONGEST_MESSAGE = 300
"""Characters of a server's own words that a reason repeats."""
REFUSED = "refused: "
"""How the reason of a reply begins that a model or its server will not give."""
TEMPORARY = frozenset({408, 409, 425, 429})
"""HTTP statuses below 500 that a second try may get past."""


class AnswererOptions(ModelOptions, frozen=True, kw_only=True):
    """How to reach or load an answerer, and how it draws its words. Defaults are ReactBench's."""

    timeout_s: float = 120.0
    """For one request, from its first byte to the last of its response."""
    base_url: str = ""
    """Of an OpenAI-compatible server; "" is OPENAI_BASE_URL, or OpenAI's own."""
    temperature: float | None = 0.2
    """None leaves it to the model: some refuse the parameter."""
    max_tokens: int = 1024
    batch: int = 4
    """Questions at once, for a model in this process."""


class Turn(NamedTuple):
    """One earlier message of a conversation."""

    role: Literal["system", "user", "assistant"]
    text: str


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One question in one mode, as an answerer gets it."""

    item_id: str
    mode: Mode = "std"
    text: str
    """The whole prompt: what the user says last."""
    pictures: tuple[Path, ...] = ()
    """Shown with it, in order."""
    before: tuple[Turn, ...] = ()
    """What was said before it."""
    question: str = ""
    """Without what a mode adds; it and the rest are for baselines and are not sent."""
    kind: str = ""
    """YN, SA or MC."""
    options: tuple[str, ...] = ()
    reference: str = ""
    """The right answer."""

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from all others of a run."""
        return self.item_id, self.mode


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What an answerer said.

    A truncated, refused or empty answer is `unparsed`, with its reason: the model has spoken, and
    it is no answer. `failed` is left to what kept it from speaking.
    """

    outcome: Outcome
    text: str = ""
    reason: str = ""
    finish: str = ""
    """The server's word for why the answer ended: stop, length, content_filter …"""
    tokens_in: int | None = None
    """None where the server does not say."""
    tokens_out: int | None = None
    cost: float | None = None
    """Money, where the server says it."""


class Picture(NamedTuple):
    """A picture as requests carry it."""

    mime: str
    base64: bytes


class Trouble(GroundfaultError):
    """A response that is no answer, but the next one may be: asked again, then `failed`."""

    def __init__(self, reason: str, *, wait_s: float | None = None) -> None:
        self.wait_s = wait_s
        """How long the server's message asks to wait."""
        super().__init__(reason)


class Unsound(Trouble):
    """The server said that all is well and sent something else: no JSON, another schema."""


class Refused(GroundfaultError):
    """The server will not answer this request, however often it is asked."""

    def __init__(self, reason: str, *, everything: bool = False) -> None:
        self.everything = everything
        """Nor any other: the key is refused, no money is left, there is no such model."""
        super().__init__(reason)


@runtime_checkable
class Served(Protocol):
    """A model behind HTTP."""

    url: str
    """Where requests go; holds no secret."""
    free: bool
    """Whether nobody pays per token."""

    def headers(self) -> Mapping[str, str]:
        """Of every request: the only place where a key is."""
        ...

    def secrets(self) -> Sequence[str]:
        """What must not be written anywhere, even if a server repeats it."""
        ...

    def body(self, asked: Asked, pictures: Sequence[Picture]) -> bytes:
        """The request; the same question always gives the same bytes."""
        ...

    def reply(self, body: bytes) -> Reply:
        """What a successful response says; raises Unsound."""
        ...

    def problem(self, status: int, body: bytes) -> Refused | Trouble:
        """What a response with another status means."""
        ...


@runtime_checkable
class InProcess(Protocol):
    """A model or a baseline in this process."""

    def answer(self, asked: Sequence[Asked]) -> Sequence[Reply]:
        """One reply per question, in order."""
        ...


def said(
    text: str,
    finish: str,
    *,
    refusal: str = "",
    filtered: bool = False,
    tokens_in: int | None,
    tokens_out: int | None,
    cost: float | None = None,
) -> Reply:
    """A model's words as a reply: whole, or unparsed with the reason why they are no answer."""
    reason = ""
    if refusal:
        reason = f"{REFUSED}{refusal[:LONGEST_MESSAGE]}"
    elif filtered or finish == "content_filter":
        reason = f"{REFUSED}stopped by the server's content filter"
    elif finish == "length":
        reason = "truncated" + (f" after {tokens_out} tokens" if tokens_out is not None else "")
    elif not text.strip():
        reason = "empty answer" + (f" (finish reason {finish})" if finish else "")
    return Reply(
        outcome=Outcome.UNPARSED if reason else Outcome.OK,
        text=text,
        reason=reason,
        finish=finish,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=cost,
    )
