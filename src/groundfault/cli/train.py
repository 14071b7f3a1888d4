"""Train models."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from groundfault.cli.options import add_group

FromFailures = Annotated[
    Path | None,
    typer.Option(
        "--from-failures", help="A run: more of what failed there is learnt, on other pictures."
    ),
]


def train_nano(
    recipe: Annotated[Path, typer.Argument(help="TOML file, such as recipes/nano/default.toml.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for pictures and checkpoints.")],
    stage: Annotated[
        list[str] | None, typer.Option("--stage", help="Only this one and those before it; repeat.")
    ] = None,
    from_failures: FromFailures = None,
) -> None:
    """Train the nano segmenters on the embedded world; go on where an earlier call stopped."""
    from groundfault.config import load_toml
    from groundfault.errors import MissingExtra
    from groundfault.reports.progress import progress

    try:
        import torch  # noqa: F401
    except ImportError:
        raise MissingExtra("torch", "train") from None
    from groundfault.training.nano.recipe import Recipe, aimed, cook

    wanted = load_toml(recipe, Recipe)
    if from_failures is not None:
        from groundfault.training.failures import read_failures

        wanted = aimed(wanted, read_failures(from_failures))
    with progress("training") as advance:

        def told(what: str, done: int, total: int, losses: dict[str, float]) -> None:
            advance(done, total)
            if losses and done % 100 == 0:
                words = ", ".join(f"{name} {value:g}" for name, value in losses.items())
                print(f"{what}: step {done} of {total}: {words}", file=sys.stderr)

        written = cook(wanted, out, stage or [], told)
    for stem in written:
        print(f"{stem}: groundfault eval … --model nano:{stem}")


def train_segvlm(
    recipe: Annotated[
        Path, typer.Argument(help="TOML file, such as recipes/robustseg/default.toml.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder for the model and its training.")],
    resume: Annotated[bool, typer.Option("--resume", help="Go on where it stopped.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Data, shares, weights, memory, time; no training.")
    ] = False,
    from_failures: FromFailures = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Another than its own.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="--dry-run: print JSON.")] = False,
) -> None:
    """Fine-tune a segmenter that talks (or SAM 3, Grounding DINO, OWLv2) on counterfactuals."""
    from groundfault.api.training import estimate_training, read_recipe, train
    from groundfault.reports.progress import progress
    from groundfault.reports.trainings import TrainingDisplay, estimate_lines

    wanted = read_recipe(recipe)
    if seed is not None:
        wanted = msgspec.structs.replace(wanted, seed=seed)
    from groundfault.training.segvlm.training import Watch

    if dry_run:
        with progress("comparing pictures") as reading:
            found = estimate_training(wanted, from_failures=from_failures, reading=reading)
        print(msgspec.json.encode(found).decode() if as_json else "\n".join(estimate_lines(found)))
        return
    shown = TrainingDisplay()
    try:
        watch = Watch(shown.step, shown.measured, shown.reading, shown.estimated)
        spec = train(wanted, out, resume=resume, from_failures=from_failures, watch=watch)
    finally:
        shown.close()
    if spec:  # of several processes, the first one speaks
        print(f"{out}: groundfault eval … --model {spec}")


def merge(
    folder: Annotated[Path, typer.Argument(help="What `train segvlm` wrote.")],
    out: Annotated[Path, typer.Option("--out", help="Folder to write; must not exist yet.")],
    push: Annotated[
        str, typer.Option("--push", help="Upload it to this repository of a hub: OWNER/NAME.")
    ] = "",
) -> None:
    """Merge a trained model into whole checkpoints, for a hub or a server."""
    from groundfault.api.training import merge_trained

    address = merge_trained(folder, out, hub=push)
    more = address or f"hf upload OWNER/NAME {out}"
    print(f"{out}: groundfault eval … --model segvlm:{out}; {more}")


def register(app: typer.Typer, words: Sequence[str]) -> None:
    """Add these commands to the program."""
    about = "Train models against hallucination."
    commands: dict[str, Callable[..., None]] = {
        "nano": train_nano,
        "segvlm": train_segvlm,
        "merge": merge,
    }
    add_group(app, "train", about, commands, words)
