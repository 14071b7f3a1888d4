"""Does a model keep the rules? Tried on one picture before a run is spent on it."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, Unpack

from groundfault import registry
from groundfault.api.evaluating import Asked
from groundfault.api.options import EvaluateOptions, Options
from groundfault.errors import RAISED, GroundfaultError, described
from groundfault.interfaces import Startable
from groundfault.io.pictures import read_image
from groundfault.llm.server import Server
from groundfault.runner.trial import PHRASES, Finding, drawn_picture, try_factory, try_model

__all__ = ["check_model"]


def check_model(
    model: Any,
    image: str | PathLike[str] | None = None,
    phrases: Sequence[str] = (),
    **options: Unpack[EvaluateOptions],
) -> list[Finding]:
    """Try a model, by its name or as an object, on one picture: every rule with what was found. A
    rule that is broken (`state`) would cost answers in a run.

    Without `image` a red square and a green disc are drawn; `phrases` are what is asked.
    """
    made, spec = Options.of(options), Asked.of(model).model
    picture = drawn_picture() if image is None else read_image(image).copy()
    if not isinstance(spec, str):
        return list(try_model(spec, picture, tuple(phrases) or PHRASES))
    found: list[Finding] = []
    loaded = _load(spec, made, found)
    if isinstance(loaded, Server):
        told = f"{loaded.url} is asked by a run, not here"
        found.append(Finding(rule="its server answers", state="not tried", told=told))
    elif loaded is not None:
        found += try_model(loaded, picture, tuple(phrases) or PHRASES)
    return found


def _load(spec: str, options: Options, found: list[Finding]) -> Any:
    """The model of a spec, or None; what its loading shows is added to the findings."""
    name = spec.partition(":")[0]
    factory, argument = registry.model_factory(spec)
    answers = registry.names("models")[name].answers
    made = options.for_words() if answers in ("words", "") else options.for_masks()
    found += try_factory(factory, argument, made)
    rule = "load(argument, options) gives a model"
    try:
        loaded = factory(argument, made)
        if isinstance(loaded, Startable):
            loaded.start()
    except RAISED as problem:  # whatever a model may raise
        told = str(problem) if isinstance(problem, GroundfaultError) else described(problem)
        found.append(Finding(rule=rule, state="broken", told=told))
        return None
    found.append(Finding(rule=rule, state="ok", told=type(loaded).__name__))
    return loaded
