"""Fields of records as their source says them: name, type, default, and the words below."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import NamedTuple

__all__ = ["Field", "fields", "record", "told"]


class Field(NamedTuple):
    """One field of a record."""

    name: str
    """As files spell it."""
    type: str
    default: str
    """As it is written; "" where the field must be given."""
    words: str


def record(named: str) -> type:
    """The class that "groundfault.records:Prediction" names."""
    module, _, name = named.partition(":")
    found = getattr(import_module(module), name)
    assert isinstance(found, type)
    return found


def told(named: str) -> str:
    """The first paragraph of a record's docstring."""
    return inspect.cleandoc(record(named).__doc__ or "").partition("\n\n")[0]


def fields(named: str) -> list[Field]:
    """The fields of a record, those of its bases first."""
    found: dict[str, Field] = {}
    for kind in reversed(record(named).__mro__):
        if kind.__module__.startswith("groundfault"):
            found |= {each.name: each for each in _of_class(kind)}
    return list(found.values())


def _of_class(kind: type) -> Iterator[Field]:
    body = _class(kind.__module__, kind.__name__).body
    for place, line in enumerate(body):
        if not isinstance(line, ast.AnnAssign) or not isinstance(line.target, ast.Name):
            continue
        type_ = re.sub(r"Annotated\[(\w+), .*?\)\]", r"\1", ast.unparse(line.annotation))
        if line.target.id.startswith("_") or type_.startswith("ClassVar"):
            continue
        below = body[place + 1] if place + 1 < len(body) else None
        words = ""
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            words = inspect.cleandoc(str(below.value.value))
        default = "" if line.value is None else _default(ast.unparse(line.value))
        spelled = re.search(r"name='(\w+)'", "" if line.value is None else ast.unparse(line.value))
        name = spelled[1] if spelled is not None else line.target.id
        yield Field(name, type_, default, " ".join(words.split()))


def _default(written: str) -> str:
    """A default as a reader would write it."""
    if written.startswith("msgspec.field(name="):
        return ""
    made = re.search(r"default_factory=(\w+)", written)
    if made is not None:
        return {"dict": "{}", "list": "[]", "tuple": "()"}.get(made[1], f"{made[1]}()")
    return "" if written.endswith("UNSET") else written


@cache
def _class(module: str, name: str) -> ast.ClassDef:
    tree = ast.parse(inspect.getsource(import_module(module)))
    return next(
        node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == name
    )
