"""The agent by name.

agent:SEGMENTER+MODEL                   agent:sam3+openai:gpt-5.5
agent:SEGMENTER+MODEL,setting=value,…   agent:nano-base+vllm:http://host:8000,turns=4,examine=no
agent:RECIPE.toml                       the same in a file: segmenter, model, [settings]
agent:RECIPE.toml,setting=value,…       with other settings than the file's
"""

from __future__ import annotations

import re
from typing import Any, Literal, get_args, get_origin

import msgspec

from groundfault import registry
from groundfault.config import check, load_toml
from groundfault.errors import UnknownName, UsageError
from groundfault.interfaces import ChatModel, ModelOptions, Segmenter
from groundfault.llm.batching import BatchedChatModel
from groundfault.llm.client import AsyncChatModel, ChatClient
from groundfault.llm.cost import CostTracker, Price, parse_budget, parse_price
from groundfault.llm.retry import RetryPolicy
from groundfault.llm.server import ChatOptions, Server
from groundfault.models.agent import scripted
from groundfault.models.agent.agent import Agent
from groundfault.models.agent.prompt import chosen_prompt, prompt_hash
from groundfault.models.agent.settings import CHANGE_NO_ANSWER, Settings
from groundfault.runs.identity import model_identity

__all__ = ["Spec", "chat_client", "load", "parse"]

_SETTING = re.compile(r",(\w+)=([^,]*)$")
_WORDS = {"yes": True, "true": True, "no": False, "false": False}
_MAY_BE_NONE = ("temperature", "max_tokens")
_COMMON = ("device", "dtype", "revision")
"""What a run notes of every model, so of the agent too."""
_SIGHTLESS = (*registry.BASELINES, "replay")
"""Models that look at no picture."""
_PAID = ("openai", "gemini")
"""Models that somebody pays for by the token; of others it is known when they are loaded."""
_ELSEWHERE = ("vllm", "hf", "scripted")
"""Models that --base-url is not about: their names say where they are."""
FORM = "agent:SEGMENTER+MODEL, as in agent:sam3+openai:gpt-5.5,turns=6"


class Spec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who works together, and how; the content of a recipe."""

    segmenter: str
    """A model that gives masks, NAME[:argument]."""
    model: str
    """That verifies what the segmenter finds."""
    settings: Settings = Settings()
    """How they work together."""


def parse(argument: str) -> Spec:
    """What follows `agent:`.

    >>> spec = parse("grounded-sam2:a+b+scripted:accept,turns=4,examine=no")
    >>> spec.segmenter, spec.model, spec.settings.turns, spec.settings.examine
    ('grounded-sam2:a+b', 'scripted:accept', 4, False)
    """
    argument, given = _split(argument)
    if argument.endswith(".toml"):
        spec = load_toml(argument, Spec)
        return msgspec.structs.replace(spec, settings=_settings(given, spec.settings))
    known = {"scripted", *registry.answering("words")}
    for plus in (found.start() for found in re.finditer(r"\+", argument)):
        segmenter, model = argument[:plus], argument[plus + 1 :]
        if segmenter and model.partition(":")[0] in known:
            return Spec(segmenter=segmenter, model=model, settings=_settings(given))
    _, found, model = argument.rpartition("+")
    if not found:
        raise UsageError(f"agent:{argument}: name both, {FORM}")
    raise UnknownName("model", model.partition(":")[0], known)


def _split(argument: str) -> tuple[str, dict[str, str]]:
    """Both models, and the settings after them."""
    given: dict[str, str] = {}
    while match := _SETTING.search(argument):
        given = {match[1]: match[2], **given}
        argument = argument[: match.start()]
    return argument, given


def _settings(given: dict[str, str], base: Settings | None = None) -> Settings:
    """Settings as given in words, the others as in `base`."""
    kinds = {field.name: field.type for field in msgspec.structs.fields(Settings)}
    values: dict[str, Any] = {}
    for name, text in given.items():
        if name not in kinds:
            raise UnknownName("setting", name, kinds)
        value: Any = _WORDS.get(text.casefold(), text) if kinds[name] is bool else text
        if name in _MAY_BE_NONE and text.casefold() == "none":
            value = None
        try:
            values[name] = msgspec.convert(value, kinds[name], strict=False)
        except msgspec.ValidationError as problem:
            known = get_args(kinds[name]) if get_origin(kinds[name]) is Literal else ()
            remedy = f"; give {' or '.join(known)}" if known else ""
            remedy = "; give a number, or none" if name in _MAY_BE_NONE else remedy
            raise UsageError(f"agent: {name}={text}: {problem}{remedy}") from None
    return check(msgspec.structs.replace(base or Settings(), **values))


class _Load:
    """Makes agents; says beforehand what their answers depend on."""

    def __call__(self, argument: str, options: ModelOptions) -> Agent:
        spec = _usable(argument, options)
        segmenter = registry.load_model(spec.segmenter, options)
        if not isinstance(segmenter, Segmenter):
            raise _no_segmenter(spec)
        return Agent(segmenter, _chat_model(spec, options), spec.settings)

    def identity(self, argument: str, options: ModelOptions) -> dict[str, str]:
        """Both models, the settings and the prompt. Files that a segmenter's argument names count
        by content, a recipe by what it says: with more money it is still the same agent."""
        spec = _usable(argument, options)
        segmenter = model_identity(spec.segmenter, options)
        return {
            "model": f"agent:{self.run_name(argument)}",
            "agent": f"{spec.segmenter}+{spec.model}",
            "agent prompt": prompt_hash(chosen_prompt(spec.settings)),
            **{f"segmenter {name}": segmenter[name] for name in segmenter if name not in _COMMON},
            **spec.settings.identity(),
        }

    def named_files(self, argument: str) -> list[str]:
        """The chat model's; the segmenter's are in its own identity."""
        return [parse(argument).model.partition(":")[2]]

    def run_name(self, argument: str) -> str:
        """The argument without settings that change no answer: with more money the run goes on.

        >>> load.run_name("sam3+openai:gpt-5.5,turns=6,budget=5,price=1/2")
        'sam3+openai:gpt-5.5,turns=6'
        """
        models, given = _split(argument)
        kept = {name: given[name] for name in given if name not in CHANGE_NO_ANSWER}
        return models + "".join(f",{name}={value}" for name, value in kept.items())


load = _Load()


def _usable(argument: str, options: ModelOptions) -> Spec:
    """What an argument and the options say, unless it is clear beforehand that it cannot work."""
    spec = parse(argument)
    segmenter, model = (one.partition(":")[0] for one in (spec.segmenter, spec.model))
    if segmenter in _SIGHTLESS:
        raise _no_segmenter(spec)
    if model in _SIGHTLESS:
        raise _no_partner(spec)
    if model == "hf":
        _check_local(spec)
    if model == "scripted":
        scripted.policy(spec.model.partition(":")[2])
    if spec.settings.style == "published" and spec.settings.calls == "native":
        raise UsageError(
            "agent: the published style reads calls from the words; leave out calls=native"
        )
    _cost_tracker(spec.settings, free=model not in _PAID)
    chosen_prompt(spec.settings)
    given: dict[str, Any] = {}
    if options.base_url and not spec.settings.base_url and model not in _ELSEWHERE:
        given["base_url"] = options.base_url
    if options.fresh:
        given["fresh"] = True
    return msgspec.structs.replace(spec, settings=msgspec.structs.replace(spec.settings, **given))


def _no_segmenter(spec: Spec) -> UsageError:
    return UsageError(
        f"agent:{spec.segmenter}+{spec.model}: {spec.segmenter} answers from annotations and "
        "looks at no picture; name a segmenter"
    )


def _no_partner(spec: Spec) -> UsageError:
    return UsageError(
        f"{spec.model}: cannot hold a conversation with pictures in every turn. Remedy: name a "
        "model: openai:NAME, vllm:URL, gemini:NAME or hf:NAME"
    )


def _chat_model(spec: Spec, options: ModelOptions) -> ChatModel | AsyncChatModel:
    name, _, argument = spec.model.partition(":")
    if name == "scripted":
        return scripted.load(argument, options)
    temperature, limit = spec.settings.temperature, spec.settings.max_tokens
    chat_options = ChatOptions(
        device=options.device,
        dtype=options.dtype,
        revision=options.revision,
        offline=options.offline,
        base_url=spec.settings.base_url,
        temperature=temperature if isinstance(temperature, (int, float)) else None,
        max_tokens=limit if isinstance(limit, int) else 0,
    )
    model = registry.load("models", name)(argument, chat_options)
    if isinstance(model, Server):
        return chat_client(model, spec.settings, retry=RetryPolicy(timeout_s=options.timeout_s))
    if not isinstance(model, ChatModel):
        raise _no_partner(spec)
    _check_local(spec)
    return BatchedChatModel(model, batch=spec.settings.batch)


def chat_client(server: Server, settings: Settings, **options: Any) -> ChatClient:
    """A chat client as an agent's settings say; `options` are further ones of ChatClient."""
    if settings.calls == "native" and not server.takes_tools:
        raise UsageError(
            f"{server.url}: calls=native is for servers with OpenAI's protocol. Remedy: leave it "
            "out; calls are then read from the words"
        )
    return ChatClient(
        server,
        cost=_cost_tracker(settings, free=server.free),
        fresh=settings.fresh,
        concurrency=settings.concurrency,
        **options,
    )


def _cost_tracker(settings: Settings, *, free: bool) -> CostTracker:
    """Budget and price as the settings say; `free` is whether nobody pays per token."""
    budget = parse_budget(settings.budget) if settings.budget else None
    price = parse_price(settings.price) if settings.price else None
    if price is None and free:
        price = Price(0.0, 0.0)
    if budget is not None and budget.money is not None and price is None:
        raise UsageError(
            f"budget={settings.budget}: a budget in money needs prices. Remedy: add price=IN/OUT "
            "per million tokens, or give it in tokens, as in budget=2M tokens"
        )
    return CostTracker(budget, price)


def _check_local(spec: Spec) -> None:
    if spec.settings.calls == "native" or spec.settings.budget:
        raise UsageError(
            f"{spec.model}: a model in this process is free and has no calls of its own; leave "
            "out calls=native and budget"
        )
