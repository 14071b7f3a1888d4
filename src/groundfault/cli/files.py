"""Look at files and turn them into others."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from groundfault.cli.completion import names_of
from groundfault.cli.options import AsJson, add_commands, print_json
from groundfault.errors import UnknownName, UsageError

if TYPE_CHECKING:
    from groundfault.analysis.composition import Composition


OF_A_RUN = ("coco", "halluseg")
"""What a run's predictions are written as."""


class Abstentions(StrEnum):
    empty = "empty"
    absent = "absent"


def convert(
    sources: Annotated[
        list[Path], typer.Argument(help="File(s) or folder of one benchmark, or a run.")
    ],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            help="Format to write; `groundfault list benchmarks`.",
            autocompletion=names_of("benchmarks"),
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="File or folder to write.")],
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="Format of the source, if not to be detected.",
            autocompletion=names_of("benchmarks"),
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="HalluSegBench's masks; a run's benchmark, if it was moved."),
    ] = None,
    images: Annotated[
        Path | None, typer.Option("--images", help="Pictures to copy (--to folder, reactbench).")
    ] = None,
    split: Annotated[bool, typer.Option("--split", help="Also a file per subset (cafe).")] = False,
    abstentions: Annotated[
        Abstentions | None,
        typer.Option("--abstentions", help="Of a run, as halluseg: a PNG, or no file. [empty]"),
    ] = None,
    t: Annotated[
        float | None,
        typer.Option("--t", help="Of a run, as halluseg: masks with score ≥ t. [as it was scored]"),
    ] = None,
) -> None:
    """Turn a benchmark into another format, a run into a results file; what is lost is said."""
    from groundfault.io.convert import read_any, write_any
    from groundfault.reports.tables import printable
    from groundfault.runs.exporting import is_run

    if len(sources) == 1 and is_run(sources[0]):
        if from_ or images or split:
            raise UsageError("--from, --images and --split do not go with a run's predictions")
        _export(sources[0], to, out, t=t, abstentions=abstentions, data=data)
        return
    if abstentions is not None or t is not None:
        raise UsageError("--abstentions and --t go with a run and --to halluseg")
    benchmark = read_any(sources, from_, data, images=images)
    lost = write_any(benchmark, to, out, split=split, images_from=images)
    print(f"{len(benchmark.cases)} cases, {len(benchmark.items)} items → {to}: {out}")
    for note in benchmark.notes:
        print(f"note: {printable(note)}")
    for note in lost:
        print(printable(note))


def _export(
    run: Path,
    to: str,
    out: Path,
    *,
    t: float | None,
    abstentions: Abstentions | None,
    data: Path | None,
) -> None:
    """Write the predictions of a run for other tools, and say what was lost."""
    from groundfault.reports.tables import printable
    from groundfault.runs.exporting import export_results
    from groundfault.runs.pictures import export_pictures

    if to not in OF_A_RUN:
        raise UnknownName("format of predictions", to, OF_A_RUN)
    if to == "halluseg":
        how = (abstentions or Abstentions.empty).value
        lost = export_pictures(run, out, t=t, abstentions=how, data=data)
    elif abstentions is not None or t is not None:
        raise UsageError("--abstentions and --t go with a run and --to halluseg")
    else:
        lost = export_results(run, out, data=data)
    print(f"predictions of {run} → {to}: {out}")
    for note in lost:
        print(printable(note))
    if to == "halluseg":
        print(
            f"read by: groundfault score halluseg --cases {out / 'results.json'} "
            f"--data {out / 'data'} --predictions {out}"
            + (" --missing empty" if abstentions is Abstentions.absent else "")
        )


def inspect(
    file: Annotated[Path, typer.Argument(help="Any file or folder.")],
    stats: Annotated[
        bool, typer.Option("--stats", help="Also what a set of pairs is made of.")
    ] = False,
    figure: Annotated[
        Path | None, typer.Option("--figure", help="The same as a figure: .svg, .png or .pdf.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """What is this file, is it sound? Exit code 2 if it is not."""
    from groundfault.io.inspection import inspect as inspect_file
    from groundfault.reports.inspections import inspection_tables
    from groundfault.reports.tables import show

    report = inspect_file(file)
    found = None
    if report.sound and (stats or figure is not None):
        from groundfault.analysis.composition import composition
        from groundfault.io.convert import read_any

        found = composition(read_any(file))
    if as_json:
        print_json({"report": report, "statistics": found} if found else report)
    else:
        for table in inspection_tables(report):
            show(table)
            print()
    if not report.sound:
        raise typer.Exit(2)
    if found is not None:
        _show_composition(found, file, figure, as_json)


def _show_composition(found: Composition, file: Path, figure: Path | None, as_json: bool) -> None:
    """What a set of pairs is made of: a table, and the figure if it is wanted."""
    from groundfault.reports.compositions import composition_figure, composition_table
    from groundfault.reports.page.drawing import write_figure
    from groundfault.reports.tables import show

    if not as_json:
        show(composition_table(found))
    if figure is not None:
        write_figure(figure, composition_figure(found, file.stem))
        print(f"figure: {figure}", file=sys.stderr)


def register(app: typer.Typer, words: Sequence[str]) -> None:
    """Add these commands to the program."""
    add_commands(app, {"convert": convert, "inspect": inspect}, words)
