"""Train models."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from groundfault.cli.options import add_group


def train_nano(
    recipe: Annotated[Path, typer.Argument(help="TOML file, such as recipes/nano/default.toml.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for pictures and checkpoints.")],
    stage: Annotated[
        list[str] | None, typer.Option("--stage", help="Only this one and those before it; repeat.")
    ] = None,
) -> None:
    """Train the nano segmenters on the embedded world; go on where an earlier call stopped."""
    from groundfault.config import load_toml
    from groundfault.errors import MissingExtra
    from groundfault.reports.progress import progress

    try:
        import torch  # noqa: F401
    except ImportError:
        raise MissingExtra("torch", "train") from None
    from groundfault.training.nano.recipe import Recipe, cook

    with progress("training") as advance:

        def told(what: str, done: int, total: int, losses: dict[str, float]) -> None:
            advance(done, total)
            if losses and done % 100 == 0:
                words = ", ".join(f"{name} {value:g}" for name, value in losses.items())
                print(f"{what}: step {done} of {total}: {words}", file=sys.stderr)

        written = cook(load_toml(recipe, Recipe), out, stage or [], told)
    for stem in written:
        print(f"{stem}: groundfault eval … --model nano:{stem}")


def register(app: typer.Typer, words: Sequence[str]) -> None:
    """Add these commands to the program."""
    about = "Train models against hallucination."
    add_group(app, "train", about, {"nano": train_nano}, words)
