"""Chat models by name: openai:NAME, vllm:URL, gemini:NAME, hf:ID; and other answerers."""

from __future__ import annotations

from typing import Any

from groundfault import registry
from groundfault.errors import GroundfaultError, UnknownName, UsageError
from groundfault.interfaces import ChatModel
from groundfault.llm.batching import BatchedChatModel
from groundfault.llm.blind import BlindModel, BlindServer
from groundfault.llm.client import ChatClient
from groundfault.llm.server import ChatOptions, Server

__all__ = ["blind", "check_answerer", "load_answerer", "load_chat_model"]

KIND = "answerers"


def check_answerer(spec: str) -> None:
    """Refuse a name that answers no questions, and say what does.

    >>> check_answerer("sam3")
    Traceback (most recent call last):
    ...
    groundfault.errors.UsageError: sam3 finds things in pictures and answers no questions. What
    does: always-yes, blind, gemini, hf, openai, oracle, random, replay, vllm; did you mean
    openai:NAME?
    """
    name = spec.partition(":")[0]
    known = registry.names(KIND)
    if name in known:
        return
    if name in registry.names("models"):
        fitting = ", ".join(sorted(known))
        raise UsageError(
            f"{spec} finds things in pictures and answers no questions. What does: {fitting}; did "
            "you mean openai:NAME?"
        )
    raise UnknownName("answerer", name, known)


def load_answerer(spec: str, options: ChatOptions) -> Any:
    """Make what a spec stands for: a `Server`, a `ChatModel` of this process, or a baseline."""
    check_answerer(spec)
    name, _, argument = spec.partition(":")
    return registry.load(KIND, name)(argument, options)


def load_chat_model(
    spec: str, options: ChatOptions, **client: Any
) -> ChatClient | BatchedChatModel:
    """The chat model that a spec stands for; `client` are further arguments of `ChatClient`, for a
    model behind a server."""
    made = load_answerer(spec, options)
    if isinstance(made, Server):
        return ChatClient(made, **client)
    if isinstance(made, ChatModel):
        on_progress = client.get("on_progress")
        return BatchedChatModel(made, batch=options.batch, on_progress=on_progress)
    raise GroundfaultError(f"{spec}: made a {type(made).__name__}, which is no chat model")


def blind(spec: str, options: ChatOptions) -> Any:
    """What a spec stands for, shown no picture. Baselines look at none anyway."""
    name, _, argument = spec.partition(":")
    made = registry.load(KIND, name)(argument, options)
    if isinstance(made, Server):
        return BlindServer(made)
    return BlindModel(made) if isinstance(made, ChatModel) else made
