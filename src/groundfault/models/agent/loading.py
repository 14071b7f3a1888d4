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
from groundfault.interfaces import Answerer, ModelOptions, Segmenter
from groundfault.llm.conversations import AnswererOptions, Served
from groundfault.models.agent import scripted
from groundfault.models.agent.holding import Agent
from groundfault.models.agent.local import Converser, Local
from groundfault.models.agent.prompt import prompt_hash
from groundfault.models.agent.settings import CHANGE_NO_ANSWER, Settings
from groundfault.models.agent.speaking import Speaker, Together
from groundfault.models.agent.spending import budget_and_price
from groundfault.runs.identity import model_identity

__all__ = ["Spec", "load", "parse"]

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
    return {"scripted", *(registry.names("answerers") if "answerers" in registry.KINDS else ())}


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
        return Agent(segmenter, _answerer(spec, options), spec.settings)

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
    budget_and_price(spec.settings, free=answerer not in _PAID)
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


def _answerer(spec: Spec, options: ModelOptions) -> Answerer | Speaker:
    name, _, argument = spec.answerer.partition(":")
    if name == "scripted":
        return scripted.load(argument, options)
    asked = AnswererOptions(
        device=options.device,
        dtype=options.dtype,
        revision=options.revision,
        offline=options.offline,
        base_url=spec.settings.base_url,
        temperature=spec.settings.temperature,
        max_tokens=spec.settings.max_tokens,
    )
    answerer = registry.load("answerers", name)(argument, asked)
    if isinstance(answerer, Served):
        from groundfault.llm.retry import Patience
        from groundfault.models.agent.dialling import Dialled

        return Dialled(answerer, spec.settings, patience=Patience(timeout_s=options.timeout_s))
    return _local(answerer, spec)


def _local(model: object, spec: Spec) -> Speaker:
    """A model in this process, if it can be shown pictures in every turn."""
    if not isinstance(model, Converser):
        raise _no_partner(spec)
    _check_local(spec)
    return Together(Local(model), most=spec.settings.batch)


def _check_local(spec: Spec) -> None:
    if spec.settings.calls == "native" or spec.settings.budget:
        raise UsageError(
            f"{spec.answerer}: a model in this process is free and has no calls of its own; leave "
            "out calls=native and budget"
        )
