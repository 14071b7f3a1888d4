"""`groundfault leaderboard`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from groundfault.cli.options import add_commands

__all__ = ["register"]


def leaderboard(
    runs: Annotated[list[Path], typer.Argument(help="Run folders, and entries of others (JSON).")],
    out: Annotated[Path, typer.Option("--out", help="Folder of the site; must not exist yet.")],
    title: Annotated[str, typer.Option("--title", help="Heading.")] = "Leaderboard",
    by: Annotated[str, typer.Option("--by", help="Who submits: written into new entries.")] = "",
    published: Annotated[
        bool, typer.Option("--published", help="Also what papers report, on other data.")
    ] = False,
) -> None:
    """A static site of runs with intervals and ties; others add theirs as checked JSON files."""
    from groundfault.api.leaderboard import leaderboard as make

    site = make(runs, out, title=title, by=by, published=published)
    print(f"written: {site / 'index.html'}, {site / 'leaderboard.json'}, {site / 'entries'}")


def register(app: typer.Typer, words: Sequence[str]) -> None:
    """Add the command to the program."""
    add_commands(app, {"leaderboard": leaderboard}, words)
