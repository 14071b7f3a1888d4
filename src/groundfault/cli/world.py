"""The embedded counterfactual world."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from groundfault.cli.options import add_group


def world_build(
    preset: Annotated[str, typer.Option("--preset", help="cafe, halluseg or reactbench.")],
    out: Annotated[Path, typer.Option("--out", help="Benchmark folder to write.")],
    n: Annotated[int, typer.Option("--n", help="Number of cases.")] = 300,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed.")] = 0,
    size: Annotated[int, typer.Option("--size", help="Side of a picture in pixels.")] = 384,
    dose: Annotated[str, typer.Option("--dose", help="Edit strengths, e.g. 0:1:0.25.")] = "1",
    crowd: Annotated[int, typer.Option("--crowd", help="Untouched things beside the target.")] = 0,
    controls: Annotated[
        bool, typer.Option("--controls", help="Also each case's unedited picture.")
    ] = False,
    native: Annotated[
        Path | None, typer.Option("--native", help="Also the benchmark's own files, here.")
    ] = None,
    workers: Annotated[int | None, typer.Option("--workers", help="Processes. [cores]")] = None,
) -> None:
    """Render a benchmark of counterfactuals: exact edits, true masks, from a seed."""
    from groundfault.errors import UnknownName
    from groundfault.report.progress import progress
    from groundfault.sweep import parse_grid
    from groundfault.world.exams import build_exam
    from groundfault.world.presets import PRESETS, BuildSettings, build

    if preset == "reactbench":
        with progress("rendering") as advance:
            exam = build_exam(n, out, seed=seed, size_px=size, workers=workers, progress=advance)
        print(f"{len(exam.samples)} samples, {len(exam.questions)} questions: {out}")
        return
    if preset not in PRESETS:
        raise UnknownName("preset", preset, [*PRESETS, "reactbench"])
    settings = BuildSettings(
        seed=seed, size_px=size, doses=parse_grid(dose), crowd=crowd, controls=controls
    )
    with progress("rendering") as advance:
        built = build(preset, n, out, settings, workers=workers, progress=advance)
    print(f"{len(built.cases)} cases, {len(built.items)} items: {out}")
    print(f"content hash: {built.card.content_hash}")
    if native is not None:
        from groundfault.convert import write_any

        target = native / "annotations.json" if preset == "cafe" else native
        for note in write_any(built, preset, target, split=preset == "cafe"):
            print(f"not kept: {note}")
        print(f"native files: {native}, with the pictures in {out / 'images'}")


def world_sheet(
    name: Annotated[str, typer.Argument(help="Which sheet; 'list' names them.")],
    out: Annotated[Path, typer.Option("--out", help="PNG to write.")] = Path("sheet.png"),
    size: Annotated[int, typer.Option("--size", help="Side of a picture in pixels.")] = 256,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed.")] = 1,
) -> None:
    """Draw a contact sheet: what the world looks like."""
    from groundfault.world.sheet import SHEETS, draw_sheet

    if name == "list":
        print("\n".join(SHEETS))
        return
    draw_sheet(name, out, size_px=size, seed=seed)
    print(f"written: {out}", file=sys.stderr)


def register(app: typer.Typer, words: Sequence[str]) -> None:
    """Add these commands to the program."""
    about = "The embedded counterfactual world: build benchmarks, look at it."
    add_group(app, "world", about, {"build": world_build, "sheet": world_sheet}, words)
