"""Any server that speaks OpenAI's chat protocol: OpenAI, vLLM, Ollama, llama.cpp, LM Studio …

    openai:NAME            at OPENAI_BASE_URL with the key in OPENAI_API_KEY
    vllm:http://host:8000  the model that the server has; vllm:URL#NAME if it has several;
                           a key, if it wants one, in VLLM_API_KEY

Only the protocol is here, as pure functions: the `openai` SDK would bring its own connections and
retries, and takes four times the CPU of all of ours (bench/asking.py).

In a conversation, tool calls stand in the text form (`parsing.tool_calls`). Where tools are given,
they are sent as the server's own calls and results.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import msgspec

from groundfault.errors import GroundfaultError, UsageError
from groundfault.io.addresses import refuse_credentials
from groundfault.io.foreign import decode_json
from groundfault.llm.http_client import get
from groundfault.llm.parameters import named_parameters
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
from groundfault.parsing.tool_calls import split_call
from groundfault.records import Conversation, Message, Picture, Reply, ToolCall

__all__ = ["OpenAIServer", "below", "openai", "vllm"]

LONGEST_ERROR = 4096
OPENAI = "https://api.openai.com/v1"
NO_MONEY = frozenset({"insufficient_quota", "billing_hard_limit_reached", "insufficient_credits"})


def openai(argument: str, options: ChatOptions) -> OpenAIServer:
    """`openai:NAME`"""
    if not argument:
        raise UsageError("openai: name the model, as in openai:gpt-5-mini")
    base = options.base_url or os.environ.get("OPENAI_BASE_URL", "").strip() or OPENAI
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    if not key and _host(base) == _host(OPENAI):
        raise UsageError(
            f"openai:{argument}: OPENAI_API_KEY is not set. Set it in the environment, or name a "
            "server without keys with --base-url"
        )
    return OpenAIServer(argument, base, key, "OPENAI_API_KEY", options)


def vllm(argument: str, options: ChatOptions) -> OpenAIServer:
    """`vllm:URL` or `vllm:URL#NAME`"""
    refuse_credentials(argument, remedy="put the key into VLLM_API_KEY")
    base, _, name = argument.partition("#")
    if not base.startswith(("http://", "https://")):
        raise UsageError(f"vllm:{argument}: give the server, as in vllm:http://localhost:8000")
    address = urlsplit(base)
    if not address.path.strip("/"):
        base = urlunsplit(address._replace(path="/v1"))
    key = os.environ.get("VLLM_API_KEY", "").strip()
    name = name or _only_model(base, key, min(options.timeout_s, 30.0))
    return OpenAIServer(name, base, key, "VLLM_API_KEY", options, free=True)


class OpenAIServer:
    """A model of a server that speaks the chat protocol."""

    takes_tools = True

    def __init__(
        self,
        model: str,
        base_url: str,
        key: str,
        key_variable: str,
        options: ChatOptions,
        *,
        free: bool = False,
    ) -> None:
        refuse_credentials(base_url, remedy=f"put the key into {key_variable}")
        if not base_url.startswith(("http://", "https://")):
            raise UsageError(f"'{base_url}' is no address of a server: it begins with http://")
        address = urlsplit(base_url)
        if not key.isascii() or not (key == "" or key.isprintable()):
            raise UsageError(f"{key_variable} holds characters that no key has; set it again")
        self.model, self.free = model, free
        self.base_url = urlunsplit(address._replace(fragment=""))
        self.url = below(self.base_url, "chat/completions")
        self._key, self._key_variable = key, key_variable
        limit = "max_completion_tokens" if _host(base_url) == _host(OPENAI) else "max_tokens"
        self._drawing: dict[str, object] = {limit: options.max_tokens} if options.max_tokens else {}
        if options.temperature is not None:
            self._drawing["temperature"] = options.temperature
        if options.sampling_seed is not None:
            self._drawing["seed"] = options.sampling_seed
        _check_extra(options.extra_body)
        self._extra = options.extra_body

    def headers(self) -> dict[str, str]:
        """Content type and, if there is one, the key; Azure wants it under another name."""
        found = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            found["Authorization"] = f"Bearer {self._key}"
            if (urlsplit(self.url).hostname or "").endswith(".azure.com"):
                found["api-key"] = self._key
        return found

    def secrets(self) -> tuple[str, ...]:
        """The key."""
        return (self._key,) if self._key else ()

    def body(self, conversation: Conversation, tools: Sequence[Tool] = ()) -> bytes:
        """The conversation; keys in a fixed order."""
        messages = _with_calls(conversation) if tools else list(map(_message, conversation))
        request = {"model": self.model, "messages": messages, **self._drawing}
        if tools:
            functions = [{"type": "function", "function": tool} for tool in tools]
            request |= {"tools": functions, "tool_choice": "required"}
        return msgspec.json.encode(with_extra(request, self._extra))

    def parse(self, body: bytes) -> Reply:
        """The first choice."""
        try:
            completion = decode_json(body, _Completion)
        except msgspec.DecodeError as problem:
            raise Unsound(_unsound(body, problem)) from None
        if not completion.choices:
            raise Unsound("the response has no choices")
        choice = completion.choices[0]
        tokens_in, tokens_out, cost = usage_numbers(
            completion.usage, "prompt_tokens", "completion_tokens", "cost"
        )
        return make_reply(
            choice.message.words,
            choice.finish_reason or "",
            refusal=choice.message.refusal or "",
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            cost=cost,  # OpenRouter says it
            reasoning=choice.message.thoughts,
            reasoning_tokens=_reasoning_tokens(completion.usage),
            tool_calls=_tool_calls(choice.message.tool_calls),
        )

    def problem(self, status: int, body: bytes) -> Refused | Trouble:
        """By status, and by the error's code where a status means two things."""
        error = _error(body)
        words = f": {error.message[:LONGEST_MESSAGE]}" if error.message else ""
        if 300 <= status < 400:
            return Refused(
                f"{self.url} leads elsewhere (HTTP {status}). Remedy: give the server's own "
                "address with --base-url",
                everything=True,
            )
        if status == 401 or (status == 403 and "moderat" not in error.message):
            return Refused(
                f"the server refused the key (HTTP {status}). Remedy: put a valid one into "
                f"{self._key_variable} and run the same command again",
                everything=True,
            )
        if status == 402 or error.code in NO_MONEY or error.type in NO_MONEY:
            return Refused(f"the account has no money left (HTTP {status}{words})", everything=True)
        if status == 404:
            return Refused(
                f"the server has no model '{self.model}' or nothing at {self.url} (HTTP 404"
                f"{words}). Remedy: check the model's name and --base-url",
                everything=True,
            )
        if status in TEMPORARY or status >= 500:
            return Trouble(f"HTTP {status}{words}")
        return Refused(
            f"the server refused the request (HTTP {status}{words})",
            parameters=named_parameters(error.message or _start(body), error.param or ""),
        )


class _Part(msgspec.Struct):
    type: str = ""
    text: str = ""


class _Message(msgspec.Struct):
    content: str | list[_Part] | None = None
    """Left out by some servers where a model only reasoned or only called tools."""
    refusal: str | None = None
    reasoning_content: Any = None
    reasoning: Any = None
    """vLLM and DeepSeek write the one, OpenRouter and newer vLLM the other."""
    tool_calls: msgspec.Raw = msgspec.Raw()

    @property
    def words(self) -> str:
        """Without what a server sends beside it (reasoning, tool calls)."""
        if isinstance(self.content, list):
            return "".join(part.text for part in self.content)
        return self.content or ""

    @property
    def thoughts(self) -> str:
        """The reasoning beside the words, if it is there as text."""
        found = (self.reasoning_content, self.reasoning)
        return next((text for text in found if isinstance(text, str) and text), "")


class _Function(msgspec.Struct):
    name: str = ""
    arguments: str | dict[str, Any] | None = None


class _Call(msgspec.Struct):
    function: _Function


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    usage: msgspec.Raw = msgspec.Raw()


class _Details(msgspec.Struct):
    reasoning_tokens: Any = None


class _Usage(msgspec.Struct):
    completion_tokens_details: _Details | None = None


def _reasoning_tokens(usage: msgspec.Raw) -> int | None:
    """How many tokens went into thoughts, where a server says it."""
    try:
        details = decode_json(usage, _Usage).completion_tokens_details
    except msgspec.DecodeError:
        return None
    return count(details.reasoning_tokens) if details else None


class _Error(msgspec.Struct):
    message: str = ""
    type: str | None = None
    code: str | int | None = None
    param: str | None = None


class _Failure(msgspec.Struct):
    error: _Error | str


class _Model(msgspec.Struct):
    id: str


class _Models(msgspec.Struct):
    data: list[_Model]


def _error(body: bytes) -> _Error:
    """The error that a body tells of; servers differ, so none is fine too."""
    try:
        error = decode_json(body, _Failure).error
    except msgspec.DecodeError:
        return _Error()
    return _Error(message=error) if isinstance(error, str) else error


def _start(body: bytes) -> str:
    """Of an error in a form of its own (FastAPI's `detail`, say)."""
    return body[:LONGEST_ERROR].decode("utf-8", "replace")


def _unsound(body: bytes, problem: Exception) -> str:
    error = _error(body)
    if error.message:
        return f"an error in a successful response: {error.message[:LONGEST_MESSAGE]}"
    if isinstance(problem, msgspec.ValidationError):
        return f"the response has another schema: {problem}"
    return f"the response is not JSON: {problem}"


def _tool_calls(raw: msgspec.Raw) -> tuple[ToolCall, ...]:
    """The server's own calls, or none where they cannot be read."""
    try:
        calls = decode_json(raw, list[_Call]) if raw else None
    except msgspec.DecodeError:
        return ()
    return tuple(
        ToolCall(call.function.name, _as_json(call.function.arguments)) for call in calls or ()
    )


def _as_json(arguments: str | dict[str, Any] | None) -> str:
    """Servers differ: most give the JSON as a string, some the object itself, some nothing."""
    if isinstance(arguments, str):
        return arguments
    return msgspec.json.encode(arguments or {}).decode()


def _message(message: Message) -> dict[str, Any]:
    """Plain words where there is no picture, else its parts in order."""
    content: str | list[dict[str, Any]] = message.text
    if message.pictures:
        content = list(map(_part, message.parts))
    return {"role": message.role, "content": content}


def _part(part: str | Picture) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    return {"type": "image_url", "image_url": {"url": _data_url(part)}}


def _with_calls(conversation: Conversation) -> list[dict[str, Any]]:
    """Tool calls in the text form as the server's own calls and results.

    A result's pictures follow in a user's message: results are words only. A reply that was no
    single call stays as it is, and its correction a user's message.
    """
    found: list[dict[str, Any]] = []
    called = ""
    for number, message in enumerate(conversation):
        if message.role == "assistant":
            thought, call = split_call(message.text)
            called = f"call_{number}" if call else ""
            if call:
                function = {"name": call.name, "arguments": call.arguments}
                calls = [{"id": called, "type": "function", "function": function}]
                found.append({"role": "assistant", "content": thought, "tool_calls": calls})
                continue
        elif message.role == "user" and called:
            found.append({"role": "tool", "tool_call_id": called, "content": message.text})
            called = ""
            if message.pictures:
                found.append({"role": "user", "content": list(map(_part, message.pictures))})
            continue
        found.append(_message(message))
    return found


def _data_url(picture: Picture) -> msgspec.Raw:
    """A JSON string; base64 and MIME types need no escaping, so it is not searched for any."""
    return msgspec.Raw(b'"data:%b;base64,%b"' % (picture.mime.encode(), picture.base64))


def below(base_url: str, path: str) -> str:
    """An address below the base; the base's query, as in Azure's `?api-version=…`, is kept."""
    base = urlsplit(base_url)
    return urlunsplit(base._replace(path=f"{base.path.rstrip('/')}/{path}"))


def _check_extra(extra: Mapping[str, Any]) -> None:
    for name in ("model", "messages", "stream", "n"):
        if name in extra:
            raise UsageError(f"--extra-body: '{name}' is not yours to set; leave it out")


def _host(url: str) -> str:
    return urlsplit(url).netloc


def _only_model(base_url: str, key: str, timeout_s: float) -> str:
    """The model that a server has."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        content = get(below(base_url, "models"), headers, timeout_s=timeout_s)
        models = decode_json(content, _Models).data
    except (OSError, ValueError) as problem:  # msgspec's are ValueErrors
        raise GroundfaultError(
            f"{base_url}: does not say which models it has ({problem}). Remedy: start the server, "
            f"or name the model with vllm:{base_url}#NAME"
        ) from None
    if len(models) != 1:
        known = ", ".join(model.id for model in models[:8]) or "none"
        raise UsageError(f"{base_url} has {known}; name one with vllm:{base_url}#NAME")
    return models[0].id
