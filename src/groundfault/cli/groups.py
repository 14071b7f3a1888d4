"""Options in groups: a command declares `scoring: Scoring` instead of six options, gets them as one
value, and `--help` shows them in a panel of their own.

A group is a struct whose fields are annotated as options of Typer; `TITLE` is its heading.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

import msgspec
from typer.core import TyperCommand

__all__ = ["GroupedCommand", "grouped"]


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of its groups as parameters of its own."""
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[type, list[str]]] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        kind = hints[name]
        if not hasattr(kind, "TITLE"):
            parameters.append(parameter.replace(annotation=kind))
            continue
        fields = get_type_hints(kind, include_extras=True)
        groups[name] = kind, list(kind.__struct_fields__)
        parameters += [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=_in_panel(fields[field.name], kind.TITLE),
            )
            for field in msgspec.structs.fields(kind)
        ]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        for name, (kind, names) in groups.items():
            given[name] = kind(**{field: given.pop(field) for field in names})
        command(**given)

    ordered = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
    run.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in ordered}
    del run.__wrapped__
    return run


def _in_panel(annotation: Any, title: str) -> Any:
    """An option's annotation, its help in a panel."""
    import copy
    from typing import Annotated

    kind, option = annotation.__origin__, copy.copy(annotation.__metadata__[0])
    option.rich_help_panel = title
    return Annotated[kind, option]


class GroupedCommand(TyperCommand):
    """Shows the options of each panel under its heading, in plain text: no terminal is asked for
    its width and nothing has to be imported for it."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, those without a panel first, then panel by panel."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and parameter.param_type_name == "option":
                panel = getattr(parameter, "rich_help_panel", None) or "Options"
                panels.setdefault(panel, []).append(record)
        first = panels.pop("Options", [])
        for title, records in [("Options", first), *panels.items()]:
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
