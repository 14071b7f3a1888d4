"""`groundfault demo`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from groundfault.cli.options import add_commands

__all__ = ["register"]

WIDEST = 96


def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder for what is made.")] = Path("demo"),
    n: Annotated[int, typer.Option("--n", min=6, help="Number of edited scenes.")] = 240,
    workers: Annotated[int | None, typer.Option("--workers", help="Processes. [cores]")] = None,
) -> None:
    """See one small model misled by its habits and another not: offline, about a minute."""
    from groundfault.api.demonstration import demonstrate
    from groundfault.reports.stories import story_lines
    from groundfault.reports.terminal_pictures import drawn, shows_colours

    def say(words: str) -> None:
        print(words, file=sys.stderr, flush=True)

    story = demonstrate(out, n=n, workers=workers, say=say)
    picture = ""
    if story.scene is not None and shows_colours():
        picture = drawn(story.scene.picture, min(WIDEST, shutil.get_terminal_size().columns))
    print("\n".join(["", *story_lines(story, picture)]))


def register(app: typer.Typer, words: Sequence[str]) -> None:
    """Add the command to the program."""
    add_commands(app, {"demo": demo}, words)
