"""Try a model before a run is spent on it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from groundfault.cli.groups import grouped
from groundfault.cli.options import AsJson, LoadingOptions, add_commands, print_json


@grouped
def check_model(
    model: Annotated[str, typer.Argument(help="NAME or NAME:argument of a model.")],
    loading: LoadingOptions,
    image: Annotated[
        Path | None, typer.Option("--image", help="A picture to try it on. [one is drawn]")
    ] = None,
    phrase: Annotated[
        list[str] | None, typer.Option("--phrase", help="What to ask for; repeat.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Does a model keep the rules? One picture, every broken rule; exit code 2 if there is any."""
    from groundfault.api.checking import check_model as check
    from groundfault.reports.tables import Table, show

    found = check(model, image, phrase or (), **loading.options())
    if as_json:
        print_json(found)
    else:
        rows = [[each.state, each.rule, each.told] for each in found]
        show(Table(["state", "rule", "found"], rows, title=model, left_columns=3))
    n_broken = sum(each.state == "broken" for each in found)
    if n_broken:
        told = "1 rule is broken" if n_broken == 1 else f"{n_broken} rules are broken"
        print(f"{model}: {told}; a run would lose answers by it", file=sys.stderr)
        raise typer.Exit(2)


def register(app: typer.Typer, words: Sequence[str]) -> None:
    """Add this command to the program."""
    add_commands(app, {"check-model": check_model}, words)
