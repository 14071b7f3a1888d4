"""Chat models by name: openai:NAME, vllm:URL, gemini:NAME, hf:ID, and those of other packages."""

from __future__ import annotations

from typing import Any

from groundfault import registry
from groundfault.errors import GroundfaultError
from groundfault.interfaces import ChatModel
from groundfault.llm.batching import BatchedChatModel
from groundfault.llm.blind import BlindModel, BlindServer
from groundfault.llm.client import ChatClient
from groundfault.llm.server import ChatOptions, Server

__all__ = ["blind", "load_chat_model"]


def load_chat_model(
    spec: str, options: ChatOptions, **client: Any
) -> ChatClient | BatchedChatModel:
    """The chat model that a spec stands for; `client` are further arguments of `ChatClient`, for a
    model behind a server."""
    registry.check_model(spec, "words")
    made = registry.load_model(spec, options)
    if isinstance(made, Server):
        return ChatClient(made, **client)
    if isinstance(made, ChatModel):
        on_progress = client.get("on_progress")
        return BatchedChatModel(made, batch=options.batch, on_progress=on_progress)
    raise GroundfaultError(f"{spec}: made a {type(made).__name__}, which is no chat model")


def blind(spec: str, options: ChatOptions) -> Any:
    """What a spec stands for, shown no picture. Baselines look at none anyway."""
    made = registry.load_model(spec, options)
    if isinstance(made, Server):
        return BlindServer(made)
    return BlindModel(made) if isinstance(made, ChatModel) else made
