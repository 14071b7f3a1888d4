"""Make benchmarks from other data sets.

`build` is a group of commands. The path of a recipe may stand in the place of a command's name, as
that of a run does in `score`: `register` sees the words.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from groundfault.cli.options import add_group


class Negatives(StrEnum):
    random = "random"
    popular = "popular"
    adversarial = "adversarial"


def pairs(
    annotations: Annotated[Path, typer.Argument(help="COCO instances or LVIS annotations, JSON.")],
    out: Annotated[
        list[Path],
        typer.Option("--out", help="A folder of ours, or NAME.json in CAFE's format; repeat."),
    ],
    images: Annotated[
        Path | None, typer.Option("--images", help="Folder of the pictures, copied into ours.")
    ] = None,
    n: Annotated[int | None, typer.Option("--n", min=1, help="Number of cases. [all]")] = None,
    per_image: Annotated[
        int, typer.Option("--per-image", min=1, help="Cases of one picture at most.")
    ] = 1,
    negatives: Annotated[
        Negatives, typer.Option("--negatives", help="Which of the absent categories is asked for.")
    ] = Negatives.random,
    several: Annotated[
        bool, typer.Option("--several", help="Also categories with several objects.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed.")] = 0,
) -> None:
    """Pairs of a true and a false phrase by absent categories; no picture is edited."""
    from groundfault.api.building import build_pairs

    made = build_pairs(
        annotations,
        out,
        images=images,
        n=n,
        per_image=per_image,
        negatives=negatives.value,
        several=several,
        seed=seed,
    )
    for note in made.notes:
        print(note)
    for place in out:
        where = f"--images {images or 'DIR'}"
        words = f"cafe --annotations {place} {where}" if place.suffix.lower() == ".json" else place
        print(f"written: {place}; ask it with: groundfault eval {words} --model NAME --out RUNS")


def register(app: typer.Typer, words: Sequence[str]) -> None:
    """Add these commands to the program."""
    add_group(app, "build", "Make benchmarks from other data sets.", {"pairs": pairs}, words)
