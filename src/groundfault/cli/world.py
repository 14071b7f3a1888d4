"""The embedded counterfactual world."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from groundfault.cli.completion import one_of
from groundfault.cli.options import add_group
from groundfault.errors import UnknownName, UsageError

if TYPE_CHECKING:
    from groundfault.exams import Layout
    from groundfault.records import Benchmark
    from groundfault.world.presets import BuildSettings


class ExamLayout(StrEnum):
    twins = "twins"
    paper = "paper"


EVERY_PRESET = ("cafe", "halluseg", "reactbench", "clean")
OPTIONS_OF = {
    "--dose": ("cafe",),
    "--crowd": ("cafe",),
    "--controls": ("cafe", "reactbench"),  # where twins are controls, and there anyway
    "--split": ("cafe", "halluseg"),
    "--layout": ("reactbench",),
}
"""Presets that an option means something to; the others refuse it."""
SHARE = "from 0 to 1."


def world_build(
    preset: Annotated[
        str,
        typer.Option(
            "--preset",
            help="cafe, halluseg, reactbench, clean, or all of them.",
            autocompletion=one_of((*EVERY_PRESET, "all")),
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Benchmark folder to write.")],
    n: Annotated[int, typer.Option("--n", help="Number of cases.")] = 300,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed.")] = 0,
    size: Annotated[int, typer.Option("--size", help="Side of a picture in pixels.")] = 384,
    dose: Annotated[str, typer.Option("--dose", help="Edit strengths, e.g. 0:1:0.25.")] = "1",
    crowd: Annotated[int, typer.Option("--crowd", help="Untouched things beside the target.")] = 0,
    controls: Annotated[
        bool, typer.Option("--controls", help="Also each case's unedited picture.")
    ] = False,
    layout: Annotated[
        ExamLayout,
        typer.Option("--layout", help="Of an exam: each sample with its twin, or as the paper."),
    ] = ExamLayout.twins,
    split: Annotated[
        str, typer.Option("--split", help="Only seen, unseen-pair or unseen-part. [all]")
    ] = "",
    surface_correlation: Annotated[
        float, typer.Option(help=f"How many things look like their kind, {SHARE}")
    ] = 1.0,
    context_correlation: Annotated[
        float, typer.Option(help=f"How many things are where they belong, {SHARE}")
    ] = 1.0,
    material_share: Annotated[
        float, typer.Option(help=f"How many things are sculptures, {SHARE}")
    ] = 0.0,
    relation_share: Annotated[
        float, typer.Option(help=f"How many scenes have a relation, {SHARE}")
    ] = 0.35,
    native: Annotated[
        Path | None, typer.Option("--native", help="Also the benchmark's own files, here.")
    ] = None,
    workers: Annotated[int | None, typer.Option("--workers", help="Processes. [cores]")] = None,
) -> None:
    """Render a benchmark of counterfactuals: exact edits, true masks, from a seed."""
    from contextlib import ExitStack

    from groundfault.analysis.sweep import parse_grid
    from groundfault.io.store import new_folder
    from groundfault.world.presets import BuildSettings
    from groundfault.world.splits import split_named

    if preset not in (*EVERY_PRESET, "all"):
        raise UnknownName("preset", preset, (*EVERY_PRESET, "all"))
    given = {
        "--dose": dose != "1",
        "--crowd": crowd,
        "--controls": controls,
        "--split": split,
        "--layout": layout is not ExamLayout.twins,
    }
    for option in (name for name, value in given.items() if value):
        if preset not in (*OPTIONS_OF[option], "all"):
            fitting = " and ".join(OPTIONS_OF[option])
            raise UsageError(f"{option} goes with {fitting}, not with {preset}; leave it out")
    if preset == "reactbench" and controls and layout is ExamLayout.paper:
        raise UsageError("the paper's layout has no twins; leave --controls or --layout paper out")
    if native is not None:
        _check_apart(out, native)
    settings = BuildSettings(
        seed=seed,
        size_px=size,
        doses=parse_grid(dose, of="doses"),
        crowd=crowd,
        controls=controls,
        split=split_named(split),
        surface_correlation=surface_correlation,
        context_correlation=context_correlation,
        material_share=material_share,
        relation_share=relation_share,
    )
    lines: list[str] = []
    try:
        with ExitStack() as places:  # they appear together, when everything is there
            new = places.enter_context(new_folder(out))
            files = places.enter_context(new_folder(native)) if native is not None else None
            for name in EVERY_PRESET if preset == "all" else (preset,):
                part = name if preset == "all" else "."
                to = None if files is None else files / part
                lines += _build(name, n, new / part, settings, to, workers, layout.value)
    except (OSError, UsageError) as problem:
        # The store's own words for a full disk name a temporary file, which nobody asked for.
        cause = problem if isinstance(problem, OSError) else problem.__context__
        if not isinstance(cause, OSError):
            raise
        reason = cause.strerror or cause
        raise UsageError(f"{out}: cannot be written ({reason}); nothing was left there") from None
    print("\n".join(lines))
    print(f"written: {out}")
    if native is not None:
        pictures = out / ("PRESET/images" if preset == "all" else "images")
        print(f"native files: {native}, with the pictures in {pictures}")


def _check_apart(out: Path, native: Path) -> None:
    """Each of the two folders appears whole, so neither can hold the other."""
    one, other = out.resolve(), native.resolve()
    if one == other or one in other.parents or other in one.parents:
        raise UsageError(f"--native {native} and --out {out} hold one another; name another folder")


def _build(
    preset: str,
    n: int,
    out: Path,
    settings: BuildSettings,
    native: Path | None,
    workers: int | None,
    layout: Layout,
) -> list[str]:
    """Build one preset; what to say about it."""
    import msgspec

    from groundfault.benchmarks.reactbench import write_native
    from groundfault.reports.progress import progress
    from groundfault.world.exams import build_exam
    from groundfault.world.presets import KINDS, build

    if preset == "reactbench":
        with progress(preset) as advance:
            exam = build_exam(
                n,
                out,
                seed=settings.seed,
                size_px=settings.size_px,
                world=settings.world,
                layout=layout,
                workers=workers,
                progress=advance,
            )
        if native is not None:
            write_native(exam, native)
        each = " (with twins)" if layout == "twins" else ""
        return [
            f"{preset}: {len(exam.cases)} samples{each}, {len(exam.items)} questions",
            f"content hash: {exam.card.content_hash}",
        ]
    if preset == "clean":  # it has none; one that was asked for is for the other presets
        settings = msgspec.structs.replace(settings, split="")
    with progress(preset) as advance:
        built = build(preset, n, out, settings, workers=workers, progress=advance)
    return [
        f"{preset}: {len(built.cases)} cases, {len(built.items)} items",
        f"content hash: {built.card.content_hash}",
        *(_too_weak(n, settings) if preset == "cafe" else ()),
        *(_write_native(built, KINDS[preset].native, native) if native is not None else ()),
    ]


def _write_native(built: Benchmark, format_: str, folder: Path) -> list[str]:
    """Write a benchmark in a published format; what that could not hold."""
    from groundfault.io.convert import write_any

    notes: list[str] = []
    if format_ == "cafe":
        built, notes = _without_controls(built)
    target = folder if format_ == "halluseg" else folder / "annotations.json"
    notes += write_any(built, format_, target, split=format_ == "cafe")
    return [f"native files: {note}" for note in notes]


def _too_weak(n: int, settings: BuildSettings) -> list[str]:
    """Doses that the third kind of case, OC, is not made at."""
    from groundfault.world.phrases import SUBSTANCE_SINCE

    weak = [f"{dose:g}" for dose in settings.doses if dose < SUBSTANCE_SINCE]
    if n < 3 or not weak:
        return []
    since = f"a thing counts as its material from {SUBSTANCE_SINCE:g} on"
    return [f"note: no OC at dose {', '.join(weak)}: {since}"]


def _without_controls(built: Benchmark) -> tuple[Benchmark, list[str]]:
    """CAFE's files know edited pictures only."""
    import msgspec

    controls = {case.id for case in built.cases if case.intervention == "control"}
    if not controls:
        return built, []
    edited = msgspec.structs.replace(
        built,
        cases=tuple(case for case in built.cases if case.id not in controls),
        items=tuple(item for item in built.items if item.case_id not in controls),
    )
    return edited, [f"Dropped: {len(controls)} controls, which CAFE has none of."]


def world_scenes(
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")],
    n: Annotated[int, typer.Option("--n", help="Number of scenes.")] = 100,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed.")] = 0,
    size: Annotated[int, typer.Option("--size", help="Side of a picture in pixels.")] = 384,
    most: Annotated[int, typer.Option("--things", min=1, help="Most things in a scene.")] = 4,
) -> None:
    """Write scenes as if they were annotated photographs, for `build --editor world:DIR`."""
    from groundfault.world.photographs import write_photographs
    from groundfault.world.sampling import WorldSettings

    write_photographs(out, n, WorldSettings(size_px=size, things=(min(2, most), most)), seed)
    print(f"written: {out}", file=sys.stderr)


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
    commands: dict[str, Callable[..., None]] = {
        "build": world_build,
        "scenes": world_scenes,
        "sheet": world_sheet,
    }
    add_group(app, "world", about, commands, words)
