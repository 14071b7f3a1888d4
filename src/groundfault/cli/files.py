"""Look at files and turn them into others."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from groundfault.cli.options import AsJson, add_commands, print_json
from groundfault.errors import UsageError


class Abstentions(StrEnum):
    empty = "empty"
    absent = "absent"


def convert(
    sources: Annotated[
        list[Path], typer.Argument(help="File(s) or folder of one benchmark, or a run.")
    ],
    to: Annotated[
        str, typer.Option("--to", help="Format to write; `groundfault list benchmarks`.")
    ],
    out: Annotated[Path, typer.Option("--out", help="File or folder to write.")],
    from_: Annotated[
        str | None, typer.Option("--from", help="Format of the source, if not to be detected.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", help="Folder with HalluSegBench's masks.")
    ] = None,
    images: Annotated[
        Path | None, typer.Option("--images", help="Copy the pictures from here (--to folder).")
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
    """Turn any benchmark format into any other; what a format cannot hold is said."""
    from groundfault.io.convert import read_any, write_any
    from groundfault.reports.tables import printable

    if to == "halluseg" and len(sources) == 1 and (sources[0] / "run.json").is_file():
        from groundfault.runs.pictures import export_pictures

        how = (abstentions or Abstentions.empty).value
        lost = export_pictures(sources[0], out, t=t, abstentions=how, data=data)
        print(f"predictions of {sources[0]} → {to}: {out}")
        for note in lost:
            print(printable(note))
        print(f"read by: groundfault score halluseg --cases {out / 'results.json'} "
              f"--data {out / 'data'} --predictions {out}")  # fmt: skip
        return
    if abstentions is not None or t is not None:
        raise UsageError("--abstentions and --t go with a run and --to halluseg")
    benchmark = read_any(sources, from_, data)
    lost = write_any(benchmark, to, out, split=split, images_from=images)
    print(f"{len(benchmark.cases)} cases, {len(benchmark.items)} items → {to}: {out}")
    for note in benchmark.notes:
        print(f"note: {printable(note)}")
    for note in lost:
        print(printable(note))


def inspect(
    file: Annotated[Path, typer.Argument(help="Any file or folder.")], as_json: AsJson = False
) -> None:
    """What is this file, is it sound? Exit code 2 if it is not."""
    from groundfault.io.inspection import inspect as inspect_file
    from groundfault.reports.inspections import inspection_tables
    from groundfault.reports.tables import show

    report = inspect_file(file)
    if as_json:
        print_json(report)
    else:
        for table in inspection_tables(report):
            show(table)
            print()
    if not report.sound:
        raise typer.Exit(2)


def register(app: typer.Typer, words: Sequence[str]) -> None:
    """Add these commands to the program."""
    add_commands(app, {"convert": convert, "inspect": inspect}, words)
