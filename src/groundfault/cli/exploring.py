"""`groundfault explore`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from groundfault.cli.options import add_commands

__all__ = ["register"]


def explore(
    runs: Annotated[list[Path], typer.Argument(help="Folders written by score --out or eval.")],
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port. [any]")] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the address.")
    ] = False,
    images: Annotated[
        Path | None,
        typer.Option(
            "--images", help="Where the pictures are now: their folder or the benchmark's."
        ),
    ] = None,
    notes: Annotated[
        Path | None,
        typer.Option("--notes", help="File of your notes and tags. [beside the runs]"),
    ] = None,
    exports: Annotated[
        Path | None,
        typer.Option("--exports", help="Where selections are written. [explored, beside the runs]"),
    ] = None,
    evaluated: Annotated[
        list[Path] | None,
        typer.Option(
            "--evaluated", help="A benchmark whose pictures no training list may hold; repeatable."
        ),
    ] = None,
) -> None:
    """Runs over one another in the browser: every case, every threshold, who is right where."""
    from groundfault.api.comparing import folders_of
    from groundfault.api.exploring import places_of
    from groundfault.api.reporting import scored_folders
    from groundfault.web.explore.serving import serve_explore

    places = places_of(images=images, notes=notes, exports=exports, evaluated=evaluated or ())
    serve_explore(scored_folders(folders_of(runs)), places, port=port, browser=not no_browser)


def register(app: typer.Typer, words: Sequence[str]) -> None:
    """Add the command to the program."""
    add_commands(app, {"explore": explore}, words)
