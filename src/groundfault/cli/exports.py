"""Exams for other people's harnesses."""

from __future__ import annotations

from collections.abc import Sequence
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


def register(app: typer.Typer, words: Sequence[str]) -> None:
    """Add these commands to the program."""
    about = "Ask an exam with another harness: its models, our prompts and numbers."
    add_group(app, "export", about, {"inspect": inspect, "lmms-eval": lmms_eval}, words)
