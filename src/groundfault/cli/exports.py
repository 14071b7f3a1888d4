"""Exams for other people's harnesses, and pairs for their trainers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from groundfault.cli.options import add_group

Exam = Annotated[Path, typer.Argument(help="Exam folder, or folder with POPE's files.")]
Images = Annotated[Path | None, typer.Option("--images", help="COCO's pictures, for POPE.")]
Out = Annotated[Path, typer.Option("--out", help="Folder to write; must not exist yet.")]


def inspect(exam: Exam, out: Out, images: Images = None) -> None:
    """A task file for Inspect AI."""
    from groundfault.exports.inspect_file import export_inspect
    from groundfault.exports.scores import read_benchmark

    shown = None if images is None else str(images)
    written = export_inspect(read_benchmark(str(exam), shown), exam, out)
    print(f"cd {written.parent} && inspect eval {written.name} -T mode=std --model …")


def lmms_eval(exam: Exam, out: Out, images: Images = None) -> None:
    """Tasks for lmms-eval."""
    from groundfault.exports.lmms_eval import export_lmms_eval
    from groundfault.exports.scores import read_benchmark

    shown = None if images is None else str(images)
    for task in export_lmms_eval(read_benchmark(str(exam), shown), exam, out):
        print(f"lmms-eval eval --include_path {out} --tasks {task} --model …")


def preferences(
    benchmark: Annotated[Path, typer.Argument(help="Benchmark folder, quads for instance.")],
    out: Annotated[Path, typer.Option("--out", help="JSON lines to write.")],
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the wordings.")] = 0,
) -> None:
    """Preference pairs (chosen, rejected) for DPO and its kin, as TRL reads them."""
    from groundfault.exports.preferences import write_preferences
    from groundfault.io.sources import load

    n = write_preferences(load(benchmark), out, seed=seed)
    print(f"{out}: {n} pairs")


def register(app: typer.Typer, words: Sequence[str]) -> None:
    """Add these commands to the program."""
    about = "Exams for other harnesses; preference pairs for other trainers."
    commands: dict[str, Callable[..., None]] = {
        "inspect": inspect,
        "lmms-eval": lmms_eval,
        "preferences": preferences,
    }
    add_group(app, "export", about, commands, words)
