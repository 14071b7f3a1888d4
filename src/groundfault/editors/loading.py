"""Editors by name: procedural, openai:NAME, … and those of other packages.

An entry of the registry is a callable (argument, options) -> editor, as models have it. An editor
that asks a service may say how many `requests_at_once` it likes, and why it asks no more
(`stopped_because`), as models do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from groundfault import registry
from groundfault.editors.contract import check_editor
from groundfault.errors import GroundfaultError, UsageError
from groundfault.interfaces import Editor, Identified, ModelOptions
from groundfault.runs.identity import code_hash

__all__ = ["EditorOptions", "editor_identity", "load_editor", "take_settings"]


class EditorOptions(ModelOptions, frozen=True, kw_only=True):
    """How to load an editor."""

    settings: dict[str, Any] = {}
    """What this editor takes besides, as a recipe's `[edit.options]` says."""
    donors: str = ""
    """Photographs whose things may be put into others, a file of building/donors.py; "" if none."""
    images: tuple[str, ...] = ()
    """The folders of the photographs in that list."""
    concurrency: int = 8
    """Requests to a service at a time."""
    budget: Any = None
    """A `SharedBudget` that everything asked by one command lives on."""
    price: float | None = None
    """Money for one edited picture."""
    responses: str = ""
    """The response store; "" is the user's own."""


def load_editor(spec: str, options: EditorOptions | None = None) -> Editor:
    """The editor that `NAME[:argument]` stands for. One of another package is tried on a small
    picture first."""
    name, _, argument = spec.partition(":")
    factory = registry.load("editors", name)
    if not callable(factory):
        raise GroundfaultError(f"editor '{name}' is a {type(factory).__name__}, not a callable")
    editor = factory(argument, options or EditorOptions())
    if name in registry.plugins("editors"):
        check_editor(editor, name)
    if not isinstance(editor, Editor):
        raise GroundfaultError(f"editor '{name}' has no edit(image, region, instruction)")
    return editor


def editor_identity(spec: str, options: EditorOptions) -> Mapping[str, str]:
    """What edits depend on: the spec, settings, and what the entry's own `identity(argument,
    options)` says; of a plug-in, its version and code. Nothing is loaded for it."""
    name, _, argument = spec.partition(":")
    factory = registry.load("editors", name)
    found = {"editor": spec, "options": msgspec.json.encode(options.settings).decode()}
    if isinstance(factory, Identified):
        found |= {key: str(value) for key, value in factory.identity(argument, options).items()}
    entry = registry.plugins("editors").get(name)
    if entry is not None:
        found |= {"plug-in": entry.package, "code": code_hash(entry.target.partition(":")[0])}
    return found


def take_settings(
    spec: str, options: EditorOptions, known: dict[str, tuple[str, ...] | type]
) -> dict[str, Any]:
    """The editor's own settings, checked: of each name, its choices or its type."""
    for name, value in options.settings.items():
        wanted = known.get(name)
        if wanted is None:
            raise UsageError(f"{spec}: no setting '{name}'; there is {', '.join(known) or 'none'}")
        fits = value in wanted if isinstance(wanted, tuple) else _is(value, wanted)
        if not fits:
            what = ", ".join(wanted) if isinstance(wanted, tuple) else wanted.__name__
            raise UsageError(f"{spec}: {name} = {value!r} is not one of: {what}")
    return dict(options.settings)


def _is(value: object, wanted: type) -> bool:
    if wanted is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool))
