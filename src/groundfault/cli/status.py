"""How far runs are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from groundfault.cli.options import AsJson, Format, FormatOption, add_commands, print_json


def status(
    runs: Annotated[
        list[Path], typer.Argument(help="Folders of runs, or folders that hold such folders.")
    ],
    as_json: AsJson = False,
    format_: FormatOption = Format.terminal,
) -> None:
    """How far are these runs? Also while they go on, from another terminal."""
    from groundfault.reports.statuses import status_table
    from groundfault.reports.tables import show
    from groundfault.runs.status import status as found_of

    found = found_of(*runs)
    if as_json:
        print_json(found)
        return
    show(status_table(found), format_)


def register(app: typer.Typer, words: Sequence[str]) -> None:
    """Add this command to the program."""
    add_commands(app, {"status": status}, words)
