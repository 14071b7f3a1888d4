"""Ask models, compare runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from groundfault.cli.options import (
    AsJson,
    Bootstrap,
    Format,
    FormatOption,
    Metric,
    Seed,
    Shown,
    T,
    Tau,
    VariantOption,
    add_commands,
    finish,
    print_json,
    resolve_settings,
)
from groundfault.errors import UsageError


def eval_(
    benchmark: Annotated[Path, typer.Argument(help="Our own benchmark folder.")],
    model: Annotated[list[str], typer.Option("--model", help="Name of a model; repeat.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for a run per model.")],
    t: T = None,
    tau: Tau = None,
    variant: VariantOption = None,
    bootstrap: Bootstrap = None,
    seed: Seed = None,
    as_json: AsJson = False,
    format_: FormatOption = Format.terminal,
    metric: Metric = None,
) -> None:
    """Ask models everything in a benchmark, store their answers, score them."""
    from groundfault import registry
    from groundfault.benchmarks import folder
    from groundfault.predict import predict, score_run
    from groundfault.report.progress import progress

    settings = resolve_settings(None, t=t, tau=tau, variant=variant, bootstrap=bootstrap, seed=seed)
    loaded = {name: registry.load("models", name)() for name in model}
    cases = folder.read(benchmark)
    for name, asked in loaded.items():
        run = out / name
        with progress(name) as advance:
            predict(
                cases,
                asked,
                run,
                name=name,
                images=benchmark / folder.IMAGES,
                benchmark_folder=str(benchmark.resolve()),
                progress=advance,
            )
        scored = score_run(cases, run, t=settings.t, tau=settings.tau, variant=settings.variant)
        if not as_json and format_ is Format.terminal:
            print(f"{name}:")
        data = {"benchmark": cases.card.content_hash}
        finish(scored, settings, data, run, Shown(as_json, format_, metric))


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Two or more folders written by score --out.")],
    metric: Metric = None,
    row: Annotated[list[str] | None, typer.Option("--row", help="Only these rows; repeat.")] = None,
    bootstrap: Bootstrap = None,
    seed: Seed = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for compare.json.")] = None,
    as_json: AsJson = False,
    format_: FormatOption = Format.terminal,
) -> None:
    """Does A really beat B? Paired bootstrap, McNemar, Holm; ties are shown as ties."""
    from groundfault.compare import compare_runs
    from groundfault.evaluate import read_results
    from groundfault.report.comparisons import comparison_tables
    from groundfault.report.summaries import HEADLINES, LOWER_IS_BETTER
    from groundfault.report.tables import show
    from groundfault.store import write_json

    if not runs:
        raise UsageError("give at least two score folders to compare")
    settings = resolve_settings(None, bootstrap=bootstrap, seed=seed)
    summary = read_results(runs[0])[0]
    known = summary.rows["Overall"].metrics if "Overall" in summary.rows else {}
    headlines = [name for name in HEADLINES.get(summary.benchmark, ()) if name in known]
    found = compare_runs(
        runs,
        metrics=list(known) if metric == ["all"] else metric or headlines,
        lower_is_better=LOWER_IS_BETTER,
        rows=row,
        resamples=settings.bootstrap,
        seed=settings.seed,
    )
    if out is not None:
        write_json(out / "compare.json", found)
    if as_json:
        print_json(found)
        return
    for table in comparison_tables(found):
        show(table, format_)
        print()


def report(
    runs: Annotated[list[Path], typer.Argument(help="Folders written by score --out or eval.")],
    out: Annotated[Path, typer.Option("--out", help="HTML file to write.")] = Path("report.html"),
    images: Annotated[
        Path | None, typer.Option("--images", help="Benchmark folder with the pictures.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option("--figures", help="Also each figure as a file, here.")
    ] = None,
) -> None:
    """One HTML file about any number of runs: opens offline, needs nothing else."""
    from groundfault.report.page import write_figures, write_report

    write_report(runs, out, images_from=images)
    print(f"written: {out}; open it in a browser", file=sys.stderr)
    if figures is not None:
        write_figures(runs, figures)
        print(f"figures: {figures}", file=sys.stderr)


def register(app: typer.Typer, words: Sequence[str]) -> None:
    """Add these commands to the program."""
    add_commands(app, {"eval": eval_, "compare": compare, "report": report}, words)
