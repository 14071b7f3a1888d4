"""Conversations with a model in this process: pictures in every turn, as the model takes them."""

from __future__ import annotations

import hashlib
import io
import time
from base64 import b64decode
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from groundfault.errors import GroundfaultError
from groundfault.llm.conversations import Reply
from groundfault.models.agent.speaking import Messages, Said

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["Converser", "Local"]

KEPT_PICTURES = 256
"""Decoded, of all conversations under way; a turn is asked with all pictures before it."""


@runtime_checkable
class Converser(Protocol):
    """A model that takes conversations with pictures in any turn, several at once."""

    def converse(
        self, conversations: Sequence[Sequence[dict[str, Any]]], *, seed: int
    ) -> Sequence[Reply]:
        """One reply per conversation. Messages have a role and a list of parts: {"type": "text",
        "text": …} or {"type": "image", "image": a PIL image}."""
        ...


class Local:
    """A `protocols.Answerer` over such a model. What it says is free."""

    def __init__(self, model: Converser) -> None:
        self.model = model
        self.checkpoints: tuple[str, ...] = tuple(getattr(model, "checkpoints", ()))

    def answer(self, conversations: Sequence[Messages]) -> list[Said]:
        """One reply per conversation, generated together."""
        started = time.perf_counter()
        replies = self.model.converse(
            [[_opened(message) for message in messages] for messages in conversations],
            seed=_seed(conversations),
        )
        if len(replies) != len(conversations):
            raise GroundfaultError(
                f"the model gave {len(replies)} replies to {len(conversations)} conversations"
            )
        seconds = (time.perf_counter() - started) / len(conversations)
        return [_said(reply, seconds) for reply in replies]


def _said(reply: Reply, seconds: float) -> Said:
    return Said(
        item_id="",
        outcome=reply.outcome,
        text=reply.text,
        reason=reply.reason,
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        cost=0.0,
        latency_s=round(seconds, 6),
    )


def _opened(message: dict[str, Any]) -> dict[str, Any]:
    content = message["content"]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    parts = [
        part
        if part["type"] == "text"
        else {"type": "image", "image": _image(part["image_url"]["url"])}
        for part in content
    ]
    return {"role": message["role"], "content": parts}


@lru_cache(KEPT_PICTURES)
def _image(url: str) -> Image:
    from PIL import Image

    content = b64decode(url.partition(",")[2])
    return Image.open(io.BytesIO(content)).convert("RGB")


def _seed(conversations: Sequence[Messages]) -> int:
    """The same conversations draw the same words."""
    digest = hashlib.sha256()
    for messages in conversations:
        for message in messages:
            digest.update(repr(message["content"]).encode("utf-8", "backslashreplace"))
        digest.update(b"\0")
    return int.from_bytes(digest.digest()[:4], "big")
