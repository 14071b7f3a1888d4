"""The agent by name.

agent:SEGMENTER+ANSWERER                   agent:sam3+openai:gpt-5.5
agent:SEGMENTER+ANSWERER,setting=value,…   agent:nano-base+vllm:http://host:8000,turns=4,examine=no
agent:RECIPE.toml                          the same in a file: segmenter, answerer, [settings]
"""

from __future__ import annotations

import re
from typing import Any

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
from groundfault.models.agent.prompt import prompt_hash
from groundfault.models.agent.settings import CHANGE_NO_ANSWER, Settings
from groundfault.runs.identity import model_identity

__all__ = ["Spec", "chat_client", "load", "parse"]

_SETTING = re.compile(r",(\w+)=([^,]*)$")
_WORDS = {"yes": True, "true": True, "no": False, "false": False}
_COMMON = ("device", "dtype", "revision")
"""What a run notes of every model, so of the agent too."""
_SIGHTLESS = (*registry.BASELINES, "replay")
"""Segmenters and answerers that look at no picture."""
_PAID = ("openai", "gemini")
"""Answerers that somebody pays for by the token; of others it is known when they are loaded."""
FORM = "agent:SEGMENTER+ANSWERER, as in agent:sam3+openai:gpt-5.5,turns=6"


class Spec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who works together, and how; the content of a recipe."""

    segmenter: str
    answerer: str
    settings: Settings = Settings()


def parse(argument: str) -> Spec:
    """What follows `agent:`.

    >>> spec = parse("grounded-sam2:a+b+scripted:accept,turns=4,examine=no")
    >>> spec.segmenter, spec.answerer, spec.settings.turns, spec.settings.examine
    ('grounded-sam2:a+b', 'scripted:accept', 4, False)
    """
    if _is_recipe(argument):
        return load_toml(argument, Spec)
    argument, given = _split(argument)
    known = _answerers()
    for plus in (found.start() for found in re.finditer(r"\+", argument)):
        segmenter, answerer = argument[:plus], argument[plus + 1 :]
        if segmenter and answerer.partition(":")[0] in known:
            return Spec(segmenter=segmenter, answerer=answerer, settings=_settings(given))
    _, found, answerer = argument.rpartition("+")
    if not found:
        raise UsageError(f"agent:{argument}: name both, {FORM}")
    raise UnknownName("answerer", answerer.partition(":")[0], known)


def _split(argument: str) -> tuple[str, dict[str, str]]:
    """Both models, and the settings after them."""
    given: dict[str, str] = {}
    while match := _SETTING.search(argument):
        given = {match[1]: match[2], **given}
        argument = argument[: match.start()]
    return argument, given


def _is_recipe(argument: str) -> bool:
    return argument.endswith(".toml")


def _answerers() -> set[str]:
    return {"scripted", *registry.answering("words")}


def _settings(given: dict[str, str]) -> Settings:
    kinds = {field.name: field.type for field in msgspec.structs.fields(Settings)}
    values: dict[str, Any] = {}
    for name, text in given.items():
        if name not in kinds:
            raise UnknownName("setting", name, kinds)
        value: Any = _WORDS.get(text.casefold(), text) if kinds[name] is bool else text
        if name == "temperature" and text.casefold() == "none":
            value = None
        try:
            values[name] = msgspec.convert(value, kinds[name], strict=False)
        except msgspec.ValidationError as problem:
            raise UsageError(f"agent: {name}={text}: {problem}") from None
    return check(Settings(**values))


class _Load:
    """Makes agents; says beforehand what their answers depend on."""

    def __call__(self, argument: str, options: ModelOptions) -> Agent:
        spec = _usable(argument)
        segmenter = registry.load_model(spec.segmenter, options)
        if not isinstance(segmenter, Segmenter):
            raise _no_segmenter(spec)
        return Agent(segmenter, _chat_model(spec, options), spec.settings)

    def identity(self, argument: str, options: ModelOptions) -> dict[str, str]:
        """Both models, the settings and the prompt. Files that a segmenter's argument names count
        by content, a recipe by what it says: with more money it is still the same agent."""
        spec = _usable(argument)
        segmenter = model_identity(spec.segmenter, options)
        return {
            "model": f"agent:{self.run_name(argument)}",
            "agent": f"{spec.segmenter}+{spec.answerer}",
            "agent prompt": prompt_hash(spec.settings),
            **{f"segmenter {name}": segmenter[name] for name in segmenter if name not in _COMMON},
            **spec.settings.identity(),
        }

    def named_files(self, argument: str) -> list[str]:
        """The answerer's; the segmenter's are in its own identity."""
        return [_usable(argument).answerer.partition(":")[2]]

    def run_name(self, argument: str) -> str:
        """The argument without settings that change no answer: with more money the run goes on.

        >>> load.run_name("sam3+openai:gpt-5.5,turns=6,budget=5,price=1/2")
        'sam3+openai:gpt-5.5,turns=6'
        """
        models, given = _split(argument)
        kept = {name: given[name] for name in given if name not in CHANGE_NO_ANSWER}
        return models + "".join(f",{name}={value}" for name, value in kept.items())


load = _Load()


def _usable(argument: str) -> Spec:
    """What an argument says, unless it is clear beforehand that it cannot work."""
    spec = parse(argument)
    segmenter, answerer = (one.partition(":")[0] for one in (spec.segmenter, spec.answerer))
    if segmenter in _SIGHTLESS:
        raise _no_segmenter(spec)
    if answerer in _SIGHTLESS:
        raise _no_partner(spec)
    if answerer == "hf":
        _check_local(spec)
    if answerer == "scripted":
        scripted.policy(spec.answerer.partition(":")[2])
    _cost_tracker(spec.settings, free=answerer not in _PAID)
    return spec


def _no_segmenter(spec: Spec) -> UsageError:
    return UsageError(
        f"agent:{spec.segmenter}+{spec.answerer}: {spec.segmenter} answers from annotations and "
        "looks at no picture; name a segmenter"
    )


def _no_partner(spec: Spec) -> UsageError:
    return UsageError(
        f"{spec.answerer}: cannot hold a conversation with pictures in every turn. Remedy: name a "
        "model: openai:NAME, vllm:URL, gemini:NAME or hf:NAME"
    )


def _chat_model(spec: Spec, options: ModelOptions) -> ChatModel | AsyncChatModel:
    name, _, argument = spec.answerer.partition(":")
    if name == "scripted":
        return scripted.load(argument, options)
    chat_options = ChatOptions(
        device=options.device,
        dtype=options.dtype,
        revision=options.revision,
        offline=options.offline,
        base_url=spec.settings.base_url,
        temperature=spec.settings.temperature,
        max_tokens=spec.settings.max_tokens,
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
            f"{spec.answerer}: a model in this process is free and has no calls of its own; leave "
            "out calls=native and budget"
        )
