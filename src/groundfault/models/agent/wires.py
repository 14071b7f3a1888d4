"""A conversation as requests carry it, and a response's own tool calls: what differs by protocol.

An episode speaks one language (roles, words, pictures as data URLs, calls in the text). Served
models speak OpenAI's chat protocol or Gemini's; which one, their own empty request tells.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from groundfault.errors import UsageError
from groundfault.llm.conversations import Asked, Served
from groundfault.models.agent.settings import Settings
from groundfault.models.agent.speaking import Messages
from groundfault.models.agent.tools import SCHEMAS
from groundfault.models.agent.turns import allowed_tools

__all__ = ["Chat", "GenerateContent", "Wire", "native_messages", "wire_to"]


class Wire(Protocol):
    """How a conversation travels."""

    def body(self, messages: Messages) -> bytes:
        """The request; the same conversation always gives the same bytes."""
        ...

    def calls(self, body: bytes) -> list[tuple[str, str]]:
        """The tool calls of a response (name, JSON of the arguments) that are not in its words."""
        ...


def wire_to(served: Served, settings: Settings) -> Wire:
    """The one that a served model understands."""
    request = msgspec.json.decode(served.body(Asked(item_id="", text=""), ()))
    if "messages" in request:
        return Chat(request, settings)
    if "contents" in request:
        if settings.calls == "native":
            raise UsageError(
                f"{served.url}: calls=native is for servers with OpenAI's protocol. Remedy: leave "
                "it out; calls are then read from the words"
            )
        return GenerateContent(request)
    raise UsageError(
        f"{served.url}: speaks neither OpenAI's chat protocol nor Gemini's, which the agent needs"
    )


class Chat:
    """OpenAI's chat protocol, with calls in the words or as the server's own."""

    def __init__(self, request: dict[str, Any], settings: Settings) -> None:
        self.native = settings.calls == "native"
        self._request = request
        if self.native:
            functions = [
                {"type": "function", "function": {"name": name, **SCHEMAS[name]}}
                for name in allowed_tools(settings)
            ]
            self._request = {**request, "tools": functions, "tool_choice": "required"}

    def body(self, messages: Messages) -> bytes:
        """The messages as they are, or with the server's own calls."""
        sent = native_messages(messages) if self.native else messages
        return msgspec.json.encode({**self._request, "messages": sent})

    def calls(self, body: bytes) -> list[tuple[str, str]]:
        """Of the first choice."""
        if not self.native:
            return []
        try:
            message = msgspec.json.decode(body, type=_Completion).choices[0].message
        except (msgspec.DecodeError, UnicodeError, IndexError, RecursionError):
            return []
        return [
            (call.function.name, _as_json(call.function.arguments))
            for call in message.tool_calls or ()
        ]


class GenerateContent:
    """Gemini's protocol. Calls stay in the words: its own come with signatures of the model's
    thoughts that have to be sent back, which a trace could not replay."""

    def __init__(self, request: dict[str, Any]) -> None:
        self._request = request

    def body(self, messages: Messages) -> bytes:
        """System messages apart, pictures inline."""
        told = [part for m in messages if m["role"] == "system" for part in _gemini_parts(m)]
        contents = [
            {"role": "user" if m["role"] == "user" else "model", "parts": _gemini_parts(m)}
            for m in messages
            if m["role"] != "system"
        ]
        return msgspec.json.encode(
            {**self._request, "systemInstruction": {"parts": told}, "contents": contents}
        )

    def calls(self, body: bytes) -> list[tuple[str, str]]:
        """None."""
        return []


def _gemini_parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    if isinstance(content, str):
        return [{"text": content}]
    return [
        {"text": part["text"]} if part["type"] == "text" else {"inlineData": _inline(part)}
        for part in content
    ]


def _inline(part: dict[str, Any]) -> dict[str, str]:
    head, _, data = part["image_url"]["url"].partition(";base64,")
    return {"mimeType": head.removeprefix("data:"), "data": data}


# The server's own calls, in OpenAI's protocol.


class _Function(msgspec.Struct):
    name: str = ""
    arguments: str | dict[str, Any] | None = None


class _ToolCall(msgspec.Struct):
    function: _Function


class _Message(msgspec.Struct):
    tool_calls: list[_ToolCall] | None = None


class _Choice(msgspec.Struct):
    message: _Message


class _Completion(msgspec.Struct):
    choices: list[_Choice]


def _as_json(arguments: str | dict[str, Any] | None) -> str:
    """Servers differ: most give the JSON as a string, some the object itself, some nothing."""
    if isinstance(arguments, str):
        return arguments
    return msgspec.json.encode(arguments or {}).decode()


def native_messages(messages: Messages) -> list[dict[str, Any]]:
    """A conversation in the text form as the server's own calls and results.

    A result's pictures follow in a user's message: results are words only. A reply that was no
    single call stays as it is, and its correction a user's message.
    """
    found: list[dict[str, Any]] = []
    called = ""
    for number, message in enumerate(messages):
        if message["role"] == "assistant":
            thought, call = _one_call(message["content"])
            called = f"call_{number}" if call else ""
            if call:
                function = {"name": call[0], "arguments": call[1]}
                calls = [{"id": called, "type": "function", "function": function}]
                message = {"role": "assistant", "content": thought, "tool_calls": calls}
            found.append(message)
        elif message["role"] == "user" and called:
            content = message["content"]
            parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
            words, *pictures = parts
            found.append({"role": "tool", "tool_call_id": called, "content": words["text"]})
            if pictures:
                found.append({"role": "user", "content": pictures})
            called = ""
        else:
            found.append(message)
    return found


def _one_call(text: str) -> tuple[str, tuple[str, str] | None]:
    """The thought and the call (name, JSON of the arguments) of a reply that `written` wrote."""
    thought, found, call = text.rpartition("<tool>")
    if not found or text.count("<tool>") != 1:
        return text, None
    try:
        named = msgspec.json.decode(call.partition("</tool>")[0])
        name, parameters = named["name"], named["parameters"]
    except (msgspec.DecodeError, KeyError, TypeError, RecursionError):
        return text, None
    if not isinstance(name, str) or not isinstance(parameters, dict):
        return text, None
    arguments = msgspec.json.encode(parameters).decode()
    thought = thought.strip().removeprefix("<think>").removesuffix("</think>")
    return thought, (name, arguments)
