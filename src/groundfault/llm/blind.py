"""Chat models that are shown no picture: what they score is what the words give away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from groundfault.interfaces import ChatModel
from groundfault.llm.server import Refused, Server, Tool, Trouble
from groundfault.records import Conversation, Message, Reply

__all__ = ["BlindModel", "BlindServer", "without_pictures"]


def without_pictures(conversation: Conversation) -> Conversation:
    """The words of a conversation."""
    return tuple(Message(message.role, (message.text,)) for message in conversation)


class BlindModel:
    """Another chat model, shown no picture."""

    def __init__(self, inner: ChatModel) -> None:
        self.inner = inner
        self.checkpoints: tuple[str, ...] = tuple(getattr(inner, "checkpoints", ()))

    def complete(self, conversations: Sequence[Conversation]) -> Sequence[Reply]:
        """What the other one replies to the words."""
        return self.inner.complete([without_pictures(each) for each in conversations])


class BlindServer:
    """Another server, sent no picture."""

    def __init__(self, inner: Server) -> None:
        self.inner, self.url, self.free = inner, inner.url, inner.free
        self.takes_tools = inner.takes_tools

    def headers(self) -> Mapping[str, str]:
        """Those of the other one."""
        return self.inner.headers()

    def secrets(self) -> Sequence[str]:
        """Those of the other one."""
        return self.inner.secrets()

    def body(self, conversation: Conversation, tools: Sequence[Tool] = ()) -> bytes:
        """The request for the words alone."""
        return self.inner.body(without_pictures(conversation), tools)

    def parse(self, body: bytes) -> Reply:
        """What the other one reads in a response."""
        return self.inner.parse(body)

    def problem(self, status: int, body: bytes) -> Refused | Trouble:
        """What the other one makes of a problem."""
        return self.inner.problem(status, body)
