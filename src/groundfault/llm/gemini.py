"""Gemini, through the `generateContent` call of its REST interface: gemini:NAME, key in
GEMINI_API_KEY (or GOOGLE_API_KEY).

Plain REST instead of the google-genai SDK: the two calls it would save are below, while its own
connections and retries would take pictures, time-outs, money and the response store out of the
client's hands. The key travels in a header, never in the address.

Tool calls stay in the words: Gemini's own come with signatures of the model's thoughts that have to
be sent back, which the record of an episode could not replay.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from groundfault.errors import UsageError
from groundfault.io.addresses import refuse_credentials
from groundfault.io.foreign import decode_json
from groundfault.llm.server import (
    LONGEST_MESSAGE,
    TEMPORARY,
    ChatOptions,
    Refused,
    Tool,
    Trouble,
    Unsound,
    count,
    make_reply,
    usage_numbers,
    with_extra,
)
from groundfault.records import Conversation, Message, Reply

__all__ = ["FILTERS", "GeminiServer", "decode_response", "gemini"]

GOOGLE = "https://generativelanguage.googleapis.com/v1beta"
FINISHES = {"STOP": "stop", "MAX_TOKENS": "length"}
FILTERS = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "IMAGE_SAFETY",
        "LANGUAGE",
    }
)


def gemini(argument: str, options: ChatOptions) -> GeminiServer:
    """`gemini:NAME`"""
    if not argument:
        raise UsageError("gemini: name the model, as in gemini:gemini-2.5-flash")
    key = (os.environ.get("GEMINI_API_KEY") or os.environ.get("GOOGLE_API_KEY") or "").strip()
    if not key and not options.base_url:
        raise UsageError(f"gemini:{argument}: GEMINI_API_KEY is not set in the environment")
    return GeminiServer(argument, options.base_url or GOOGLE, key, options)


class GeminiServer:
    """A Gemini model."""

    free = False
    takes_tools = False

    def __init__(self, model: str, base_url: str, key: str, options: ChatOptions) -> None:
        refuse_credentials(base_url, remedy="put the key into GEMINI_API_KEY")
        self.model = model
        self.url = f"{base_url.rstrip('/')}/models/{quote(model)}:generateContent"
        self._key = key
        self._drawing: dict[str, object] = {}
        if options.max_tokens:
            self._drawing["maxOutputTokens"] = options.max_tokens
        if options.temperature is not None:
            self._drawing["temperature"] = options.temperature
        if options.sampling_seed is not None:
            self._drawing["seed"] = options.sampling_seed
        self._extra = options.extra_body

    def headers(self) -> dict[str, str]:
        """Content type and key."""
        return {"Content-Type": "application/json"} | (
            {"x-goog-api-key": self._key} if self._key else {}
        )

    def secrets(self) -> tuple[str, ...]:
        """The key."""
        return (self._key,) if self._key else ()

    def body(self, conversation: Conversation, tools: Sequence[Tool] = ()) -> bytes:
        """The conversation, its system messages apart."""
        system = [part for m in conversation if m.role == "system" for part in _parts(m)]
        contents = [
            {"role": "user" if m.role == "user" else "model", "parts": _parts(m)}
            for m in conversation
            if m.role != "system"
        ]
        first = {"systemInstruction": {"parts": system}} if system else {}
        request = {**first, "contents": contents, "generationConfig": self._drawing}
        return msgspec.json.encode(with_extra(request, self._extra))

    def parse(self, body: bytes) -> Reply:
        """The first candidate; its thoughts are the reasoning."""
        response = decode_response(body)
        tokens_in, *written = usage_numbers(
            response.usage_metadata,
            "promptTokenCount",
            "candidatesTokenCount",
            "thoughtsTokenCount",  # thoughts are paid for like words
        )
        blocked = response.prompt_feedback.block_reason if response.prompt_feedback else ""
        if not response.candidates and not blocked:
            raise Unsound("the response has no candidates")
        candidate = response.candidates[0] if response.candidates else _Candidate()
        finish = candidate.finish_reason or blocked
        parts = candidate.content.parts if candidate.content else []
        return make_reply(
            "".join(part.text for part in parts if not part.thought),
            FINISHES.get(finish, finish.lower()),
            filtered=bool(blocked) or finish in FILTERS,
            tokens_in=tokens_in,
            tokens_out=None if written == [None, None] else sum(count(n) or 0 for n in written),
            reasoning="".join(part.text for part in parts if part.thought),
            reasoning_tokens=count(written[1]),
        )

    def problem(self, status: int, body: bytes) -> Refused | Trouble:
        """By status; a bad key is a 400 here."""
        text = body[:65536].decode("utf-8", "replace")
        message = re.search(r'"message"\s*:\s*"((?:[^"\\]|\\.)*)"', text)
        words = f": {message[1][:LONGEST_MESSAGE]}" if message else ""
        if status in (401, 403) or "API_KEY_INVALID" in text:
            return Refused(
                f"the server refused the key (HTTP {status}). Remedy: put a valid one into "
                "GEMINI_API_KEY and run the same command again",
                everything=True,
            )
        if status == 404:
            return Refused(f"there is no model '{self.model}' (HTTP 404{words})", everything=True)
        if status in TEMPORARY or status >= 500:
            delay = re.search(r'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"', text)
            return Trouble(f"HTTP {status}{words}", wait_s=float(delay[1]) if delay else None)
        return Refused(f"the server refused the request (HTTP {status}{words})")


class _InlineData(msgspec.Struct, rename="camel"):
    data: str = ""


class _Part(msgspec.Struct, rename="camel"):
    text: str = ""
    thought: bool = False
    inline_data: _InlineData | None = None
    """A picture, of models that give them."""


class _Content(msgspec.Struct, rename="camel"):
    parts: list[_Part] = []


class _Candidate(msgspec.Struct, rename="camel"):
    content: _Content | None = None
    finish_reason: str = ""


class _Feedback(msgspec.Struct, rename="camel"):
    block_reason: str = ""


class _Response(msgspec.Struct, rename="camel"):
    candidates: list[_Candidate] = []
    prompt_feedback: _Feedback | None = None
    usage_metadata: msgspec.Raw = msgspec.Raw()


def decode_response(body: bytes) -> _Response:
    """A response of `generateContent`; raises Unsound."""
    try:
        return decode_json(body, _Response)
    except msgspec.DecodeError as problem:
        kind = "has another schema"
        if not isinstance(problem, msgspec.ValidationError):
            kind = "is not JSON"
        raise Unsound(f"the response {kind}: {problem}") from None


def _parts(message: Message) -> list[dict[str, Any]]:
    """Words and pictures in order."""
    return [
        {"text": part}
        if isinstance(part, str)
        else {"inlineData": {"mimeType": part.mime, "data": _string(part.base64)}}
        for part in message.parts
    ]


def _string(base64: bytes) -> msgspec.Raw:
    return msgspec.Raw(b'"%b"' % base64)
