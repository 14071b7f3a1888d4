"""What a wire format has to provide: a model behind HTTP, described by pure functions.

A `Server` says what to send and how to read what came back. It holds no connection: `ChatClient`
owns connections, retries, cost and time.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import msgspec

from groundfault.errors import GroundfaultError
from groundfault.interfaces import ModelOptions
from groundfault.io.foreign import decode_json
from groundfault.records import MOST, Conversation, Outcome, Reply, ToolCall

__all__ = [
    "LONGEST_MESSAGE",
    "REFUSED",
    "TEMPORARY",
    "ChatOptions",
    "LargeResponses",
    "Refused",
    "Server",
    "Tool",
    "Trouble",
    "Unsound",
    "bounded",
    "count",
    "is_thinking",
    "make_reply",
    "read_reply",
    "refusal",
    "usage_numbers",
    "with_extra",
]

LONGEST_MESSAGE = 300
"""Characters of a server's own words that a reason repeats."""
REFUSED = "refused"
"""`finish` of a failed reply that the server will never give; also how the reason of a reply begins
in which the model itself declines."""
TEMPORARY = frozenset({408, 409, 425, 429})
"""HTTP statuses below 500 that a second try may get past."""


class ChatOptions(ModelOptions, frozen=True, kw_only=True):
    """How to reach or load a chat model, and how it draws its words. Defaults are ReactBench's."""

    timeout_s: float = 120.0
    """For one request, from its first byte to the last of its response."""
    temperature: float | None = 0.2
    """None leaves it to the model: some refuse the parameter."""
    max_tokens: int = 1024
    """Of a reply; 0 leaves it to the model."""
    batch: int = 4
    """Conversations at once, for a model in this process."""
    sampling_seed: int | None = None
    """From which words are drawn, where the server or the model takes one."""
    extra_body: dict[str, Any] = {}
    """Further fields of each request, as in {"chat_template_kwargs": {"enable_thinking": false}};
    for servers only."""


class Tool(msgspec.Struct, frozen=True):
    """A tool that a model may call."""

    name: str
    description: str
    parameters: dict[str, Any]
    """JSON Schema of its arguments."""


class Trouble(GroundfaultError):
    """A response that is no reply, but the next one may be: asked again, then `failed`."""

    def __init__(self, reason: str, *, wait_s: float | None = None) -> None:
        self.wait_s = wait_s
        """How long the server's message asks to wait."""
        super().__init__(reason)


class Unsound(Trouble):
    """The server said that all is well and sent something else: no JSON, another schema."""


class Refused(GroundfaultError):
    """The server will not answer this request, however often it is asked."""

    def __init__(
        self, reason: str, *, everything: bool = False, parameters: tuple[str, ...] = ()
    ) -> None:
        self.everything = everything
        """Nor any other: the key is refused, no money is left, there is no such model."""
        self.parameters = parameters
        """Parameters that it complains of: without them it may answer."""
        super().__init__(reason)


@runtime_checkable
class Server(Protocol):
    """A model behind HTTP."""

    url: str
    """Where requests go; holds no secret."""
    free: bool
    """Whether nobody pays per token."""
    takes_tools: bool
    """Whether it has tool calls of its own; if not, `body` is never given tools."""

    def headers(self) -> Mapping[str, str]:
        """The headers of every request: the only place where a key is."""
        ...

    def secrets(self) -> Sequence[str]:
        """What must not be written anywhere, even if a server repeats it."""
        ...

    def body(self, conversation: Conversation, tools: Sequence[Tool] = ()) -> bytes:
        """The request; the same conversation always gives the same bytes."""
        ...

    def parse(self, body: bytes) -> Reply:
        """What a successful response says; raises Unsound."""
        ...

    def problem(self, status: int, body: bytes) -> Refused | Trouble:
        """What a response with another status means."""
        ...


@runtime_checkable
class LargeResponses(Protocol):
    """A server whose responses are larger than words are: they hold pictures."""

    largest_response: int
    """In bytes; what is larger is none of its."""


def make_reply(
    text: str,
    finish: str,
    *,
    refusal: str = "",
    filtered: bool = False,
    tokens_in: float | None,
    tokens_out: float | None,
    cost: float | None = None,
    reasoning: str = "",
    reasoning_tokens: int | None = None,
    tool_calls: tuple[ToolCall, ...] = (),
) -> Reply:
    """A model's words as a reply: whole, or unparsed with the reason why they are no answer. Counts
    and cost are as a server says them; see `bounded`."""
    tokens_in, tokens_out, cost = count(tokens_in), count(tokens_out), number(cost)
    reason = ""
    if refusal:
        reason = f"{REFUSED}: {refusal[:LONGEST_MESSAGE]}"
    elif filtered or finish == "content_filter":
        reason = f"{REFUSED}: stopped by the server's content filter"
    elif finish == "length":
        reason = "truncated" + (f" after {tokens_out} tokens" if tokens_out is not None else "")
    elif not text.strip():
        reason = "reasoned, but gave no answer" if reasoning.strip() else "empty answer"
        reason += f" (finish reason {finish})" if finish else ""
    return Reply(
        outcome=Outcome.UNPARSED if reason else Outcome.OK,
        text=text,
        reasoning=reasoning,
        tool_calls=tool_calls,
        reason=reason,
        finish=finish,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        reasoning_tokens=reasoning_tokens,
        cost=cost,
    )


_THOUGHTS = re.compile(r"</?(?:think|thinking|reasoning)>", re.IGNORECASE)


def is_thinking(reply: Reply) -> bool:
    """Whether a reply shows that its model reasons before it answers, whatever it is asked.

    >>> is_thinking(make_reply("Hm.</think>Yes.", "stop", tokens_in=None, tokens_out=None))
    True
    """
    return bool(reply.reasoning or reply.reasoning_tokens or _THOUGHTS.search(reply.text))


def with_extra(request: dict[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """A request with further fields; objects are joined, anything else is replaced.

    >>> with_extra({"model": "m", "config": {"a": 1}}, {"config": {"b": 2}, "top_k": 5})
    {'model': 'm', 'config': {'a': 1, 'b': 2}, 'top_k': 5}
    """
    found = dict(request)
    for name, value in extra.items():
        both = isinstance(found.get(name), dict) and isinstance(value, dict)
        found[name] = with_extra(found[name], value) if both else value
    return found


def read_reply(server: Server, body: bytes) -> Reply:
    """The reply that a successful response holds, whoever wrote its server's parser: what cannot be
    read is Unsound, and odd numbers are unknown."""
    try:
        return bounded(server.parse(body))
    except Unsound:
        raise
    except Exception as problem:
        raise Unsound(
            f"the response cannot be read ({type(problem).__name__}: {problem})"
        ) from None


def bounded(reply: Reply) -> Reply:
    """The reply with counts and a cost that may be added up and stored; others are unknown.

    >>> odd = bounded(Reply(outcome=Outcome.OK, tokens_in=-4, tokens_out=2**64, cost=float("nan")))
    >>> odd.tokens_in, odd.tokens_out, odd.cost
    (None, None, None)
    """
    sane = count(reply.tokens_in), count(reply.tokens_out), number(reply.cost)
    if sane == (reply.tokens_in, reply.tokens_out, reply.cost):
        return reply
    return msgspec.structs.replace(reply, tokens_in=sane[0], tokens_out=sane[1], cost=sane[2])


def number(value: object) -> float | None:
    """A foreign number from 0 to 2⁵³; None for everything else."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):  # NumPy's are real too
        return None
    if isinstance(value, numbers.Integral):  # may be too large for a float
        return int(value) if 0 <= int(value) <= MOST else None
    found = float(value)
    return found if math.isfinite(found) and 0 <= found <= MOST else None


def count(value: object) -> int | None:
    """A foreign whole number from 0 to 2⁵³; None for everything else."""
    found = number(value)
    return None if found is None or found != int(found) else int(found)


def usage_numbers(raw: msgspec.Raw, *names: str) -> list[float | None]:
    """Numbers of a response's usage by name: an answer does not fall for an odd count.

    >>> usage_numbers(msgspec.Raw(b'{"in": 7, "out": "9", "cost": 1e999}'), "in", "out", "cost")
    [7, None, None]
    """
    try:
        fields = decode_json(raw, dict[str, msgspec.Raw]) if raw else None
    except msgspec.DecodeError:
        fields = None
    return [_decoded_number((fields or {}).get(name)) for name in names]


def _decoded_number(raw: msgspec.Raw | None) -> float | None:
    try:
        return number(decode_json(raw)) if raw else None
    except msgspec.DecodeError:
        return None


def refusal(reply: Reply) -> str:
    """Why a model or its server will not reply, however often it is asked; "" if it does."""
    if reply.outcome is Outcome.FAILED:
        return f"{REFUSED}: {reply.reason}" if reply.finish == REFUSED else ""
    return reply.reason if reply.reason.startswith(f"{REFUSED}: ") else ""
