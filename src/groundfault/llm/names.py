"""Answerers by name: openai:NAME, vllm:URL, gemini:NAME, hf:ID, baselines, earlier answers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from groundfault import registry
from groundfault.errors import GroundfaultError, UnknownName, UsageError
from groundfault.io.foreign import sha256
from groundfault.llm.conversations import AnswererOptions, InProcess, Served
from groundfault.parsing.answers import Mode
from groundfault.runner.exams import Answerer
from groundfault.runs.answers import shards

__all__ = ["answerer_identity", "check_answerer", "load_answerer", "usual_modes"]

KIND = "answerers"
_THINKING = re.compile(r"(?<![a-z])thinking(?![a-z])", re.IGNORECASE)


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


def load_answerer(spec: str, options: AnswererOptions) -> Answerer:
    """Make the answerer that a spec stands for."""
    check_answerer(spec)
    name, _, argument = spec.partition(":")
    made = registry.load(KIND, name)(argument, options)
    if not isinstance(made, (Served, InProcess)):
        raise GroundfaultError(f"{spec}: made a {type(made).__name__}, which is no answerer")
    return made


def usual_modes(spec: str) -> tuple[Mode, ...]:
    """Both, but for a model that always reasons and so has one; its name says so.

    >>> usual_modes("openai:gpt-5-mini"), usual_modes("hf:Qwen/Qwen3-VL-32B-Thinking")
    (('std', 'cot'), ('cot',))
    """
    return ("cot",) if _THINKING.search(spec) else ("std", "cot")


def answerer_identity(spec: str) -> dict[str, str]:
    """What answers depend on that the spec does not say: the content of replayed files."""
    name, _, argument = spec.partition(":")
    if name != "replay":
        return {}
    path = Path(argument)
    return {"model file": _content(shards(path) if path.is_dir() else [path])}


def _content(files: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name}\0{sha256(file) if file.is_file() else ''}\n".encode())
    return digest.hexdigest()
