"""The command line: parse, wire, call. Every command prints a table, or JSON with --json."""

from __future__ import annotations

import gc
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundfault import __version__
from groundfault.errors import DataError, GroundfaultError, UnknownName, UsageError

if TYPE_CHECKING:
    from groundfault.config import ScoreSettings
    from groundfault.overlaps import Overlaps
    from groundfault.records import Benchmark, Summary
    from groundfault.scored import Scored

app = typer.Typer(
    name="groundfault",
    help="Does a vision model ground what it was asked for, or what it expected to see?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
score_app = typer.Typer(
    help="Score a dump of predictions with the metrics of a benchmark.", no_args_is_help=True
)
sweep_app = typer.Typer(
    help="Score every threshold: t, τ and their grid.", no_args_is_help=True
)
app.add_typer(score_app, name="score")
app.add_typer(sweep_app, name="sweep")


class IouType(StrEnum):
    segm = "segm"
    bbox = "bbox"


class Variant(StrEnum):
    parity = "parity"
    exact = "exact"


class Missing(StrEnum):
    error = "error"
    empty = "empty"


class Format(StrEnum):
    terminal = "terminal"
    markdown = "markdown"
    latex = "latex"
    csv = "csv"


Annotations = Annotated[
    list[Path], typer.Option("--annotations", help="Annotation JSON; repeat for several annotators.")
]
Predictions = Annotated[Path, typer.Option("--predictions", help="COCO results JSON.")]
T = Annotated[float | None, typer.Option("--t", help="Score threshold, accepted is ≥ t. [0.5]")]
Tau = Annotated[float | None, typer.Option("--tau", help="Overlap threshold, aligned is ≥ τ. [0.3]")]
Iou = Annotated[
    IouType | None, typer.Option("--iou", help="What the cgF1 family compares. [segm]")
]
VariantOption = Annotated[
    Variant | None, typer.Option("--variant", help="As published, or without its ε. [parity]")
]
Bootstrap = Annotated[
    int | None, typer.Option("--bootstrap", help="Resamples of cases; 0 for none. [10000]")
]
Seed = Annotated[int | None, typer.Option("--seed", help="Seed of the resamples. [0]")]
Config = Annotated[
    Path | None, typer.Option("--config", help="TOML with these settings; options win over it.")
]
Out = Annotated[
    Path | None, typer.Option("--out", help="Folder for summary.json and cases.parquet.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
FormatOption = Annotated[Format, typer.Option("--format", help="How to print the table.")]
Metric = Annotated[
    list[str] | None, typer.Option("--metric", help="Show these metrics; repeat. 'all' for all.")
]
Published = Annotated[
    bool, typer.Option("--published", help="Add what the papers report, for comparison.")
]


@score_app.command("cafe")
def score_cafe(
    annotations: Annotations,
    predictions: Predictions,
    t: T = None,
    tau: Tau = None,
    iou: Iou = None,
    variant: VariantOption = None,
    bootstrap: Bootstrap = None,
    seed: Seed = None,
    config: Config = None,
    out: Out = None,
    as_json: AsJson = False,
    format_: FormatOption = Format.terminal,
    metric: Metric = None,
    published: Published = False,
) -> None:
    """CAFE: the cgF1 family and the target-aware metrics, by edit type."""
    settings = _settings(config, t=t, tau=tau, iou=iou, variant=variant, bootstrap=bootstrap, seed=seed)
    benchmark, overlaps = _compare_phrases("cafe", annotations, predictions, settings)
    _score_phrases(
        benchmark, overlaps, settings, annotations, out, as_json, format_, metric, published
    )


@score_app.command("saco")
def score_saco(
    annotations: Annotations,
    predictions: Predictions,
    t: T = None,
    iou: Iou = None,
    variant: VariantOption = None,
    bootstrap: Bootstrap = None,
    seed: Seed = None,
    config: Config = None,
    out: Out = None,
    as_json: AsJson = False,
    format_: FormatOption = Format.terminal,
    metric: Metric = None,
) -> None:
    """SA-Co: the cgF1 family, one or several annotators."""
    settings = _settings(config, t=t, iou=iou, variant=variant, bootstrap=bootstrap, seed=seed)
    benchmark, overlaps = _compare_phrases("saco", annotations, predictions, settings)
    _score_phrases(benchmark, overlaps, settings, annotations, out, as_json, format_, metric, False)


@score_app.command("halluseg")
def score_halluseg(
    cases: Annotated[Path, typer.Option("--cases", help="HalluSegBench's JSON list of cases.")],
    data: Annotated[Path, typer.Option("--data", help="Folder that mask paths are relative to.")],
    predictions: Annotated[
        Path, typer.Option("--predictions", help="Folder with orgl_orgi/ … and their PNGs.")
    ],
    variant: Annotated[
        Variant, typer.Option("--variant", help="By the definitions, or as the scripts do.")
    ] = Variant.exact,
    missing: Annotated[
        Missing, typer.Option("--missing", help="What an absent prediction PNG means.")
    ] = Missing.error,
    bootstrap: Bootstrap = None,
    seed: Seed = None,
    out: Out = None,
    as_json: AsJson = False,
    format_: FormatOption = Format.terminal,
    metric: Metric = None,
    published: Published = False,
) -> None:
    """HalluSegBench: overlap and confusion-mask scores of replaced objects."""
    from groundfault.foreign import sha256
    from groundfault.report.progress import progress
    from groundfault.scoring import replacement

    settings = _settings(None, bootstrap=bootstrap, seed=seed)
    with progress("comparing masks") as advance:
        scored = replacement.score(
            cases, data, predictions, variant=str(variant), missing=str(missing), progress=advance
        )
    _finish(scored, settings, {cases.name: sha256(cases)}, out, as_json, format_, metric, published)


@score_app.command("fprefcoco")
def score_fprefcoco(
    annotations: Annotations,
    predictions: Predictions,
    t: Annotated[float, typer.Option("--t", help="Use masks with score ≥ t.")] = 0.0,
    bootstrap: Bootstrap = None,
    seed: Seed = None,
    out: Out = None,
    as_json: AsJson = False,
    format_: FormatOption = Format.terminal,
    metric: Metric = None,
) -> None:
    """FP-RefCOCO: See (does it exist?) and Segment (cIoU) under false premises."""
    from groundfault.benchmarks import fprefcoco
    from groundfault.coco import stream_results
    from groundfault.report.progress import progress
    from groundfault.scoring import referring

    settings = _settings(None, bootstrap=bootstrap, seed=seed)
    benchmark = fprefcoco.read(annotations)
    with progress("comparing masks") as advance:
        batches = stream_results(predictions, progress=advance)
        scored = referring.score(benchmark, batches, file=predictions, t=t)
    _finish(scored, settings, _hashes(annotations), out, as_json, format_, metric, False)


def _settings(config: Path | None, **given: Any) -> ScoreSettings:
    import msgspec

    from groundfault.config import ScoreSettings, check, load_toml

    settings = load_toml(config, ScoreSettings) if config else ScoreSettings()
    changes = {name: value for name, value in given.items() if value is not None}
    return check(msgspec.structs.replace(settings, **changes))


def _hashes(paths: list[Path]) -> dict[str, str]:
    from groundfault.foreign import sha256

    return {path.name if k == 0 else f"{path.name} ({k + 1})": sha256(path) for k, path in enumerate(paths)}


def _compare_phrases(
    name: str, annotations: list[Path], predictions: Path, settings: ScoreSettings
) -> tuple[Benchmark, Overlaps]:
    """Read both sides and compare every prediction once."""
    from groundfault import registry
    from groundfault.coco import stream_results
    from groundfault.overlaps import ANNOTATIONS, compare_predictions
    from groundfault.report.progress import progress

    read = registry.load("benchmarks", name).read
    benchmark = read(annotations, verify=False)
    try:
        with progress("comparing masks") as advance:
            overlaps = compare_predictions(
                benchmark,
                stream_results(predictions, progress=advance),
                file=predictions,
                iou=settings.iou,
                need_target=name == "cafe",
            )
    except DataError as problem:
        if problem.file == ANNOTATIONS:
            read(annotations)  # checks every mask and names the file and record of the unsound one
        raise
    return benchmark, overlaps


def _score_phrases(
    benchmark: Benchmark,
    overlaps: Overlaps,
    settings: ScoreSettings,
    annotations: list[Path],
    out: Path | None,
    as_json: bool,
    format_: Format,
    metric: list[str] | None,
    published: bool,
) -> None:
    from groundfault.scoring import phrases

    scored = phrases.score(
        benchmark,
        overlaps,
        t=settings.t,
        tau=settings.tau if benchmark.card.name == "cafe" else None,
        iou=settings.iou,
        variant=settings.variant,
    )
    _finish(scored, settings, _hashes(annotations), out, as_json, format_, metric, published)


def _finish(
    scored: Scored,
    settings: ScoreSettings,
    data: dict[str, str],
    out: Path | None,
    as_json: bool,
    format_: Format,
    metric: list[str] | None,
    published: bool,
) -> None:
    """Summarise, write, print."""
    from groundfault.evaluate import summarise, write_results

    summary = summarise(scored, bootstrap=settings.bootstrap, seed=settings.seed, data=data)
    known = summary.rows["Overall"].metrics
    chosen = list(known) if metric == ["all"] else metric
    for name in chosen or ():
        if name not in known:
            raise UnknownName("metric", name, known)
    if out is not None:
        write_results(out, scored, summary)
    if as_json:
        _print_json(summary)
        return
    _print_summary(summary, format_, chosen, published)
    if out is not None:
        print(f"\nwritten: {out / 'summary.json'}, {out / 'cases.parquet'}", file=sys.stderr)


def _print_summary(
    summary: Summary, format_: Format, chosen: list[str] | None, published: bool
) -> None:
    from groundfault.report.summaries import HEADLINES, published_table, summary_table
    from groundfault.report.tables import show

    show(summary_table(summary, chosen), format_)
    if not published:
        return
    from groundfault.published import published_rows

    rows = [r for r in published_rows(summary.benchmark) if r.row in summary.rows and not r.setting]
    metrics = chosen or HEADLINES[summary.benchmark]
    show(published_table(rows, metrics, percent=summary.benchmark != "halluseg"), format_)


def _print_json(value: object) -> None:
    import msgspec

    print(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


@sweep_app.command("cafe")
def sweep_cafe(
    annotations: Annotations,
    predictions: Predictions,
    t: Annotated[str, typer.Option("--t", help="Thresholds: a:b:step or a,b,c.")] = "0.05:0.95:0.05",
    tau: Annotated[str, typer.Option("--tau", help="Thresholds: a:b:step or a,b,c.")] = "0.3:0.9:0.1",
    iou: Iou = None,
    variant: VariantOption = None,
    bootstrap: Annotated[int, typer.Option("--bootstrap", help="Resamples at every point.")] = 0,
    metric: Annotated[str, typer.Option("--metric", help="What the grid shows.")] = "AFPR",
    row: Annotated[str, typer.Option("--row", help="Overall, SM, CC or OC.")] = "Overall",
    out: Annotated[Path | None, typer.Option("--out", help="Folder for sweep.json.")] = None,
    as_json: AsJson = False,
    format_: FormatOption = Format.terminal,
) -> None:
    """CAFE at every t and τ: one comparison, all operating points."""
    _sweep("cafe", annotations, predictions, t, tau, iou, variant, bootstrap, metric, row, out, as_json, format_)


@sweep_app.command("saco")
def sweep_saco(
    annotations: Annotations,
    predictions: Predictions,
    t: Annotated[str, typer.Option("--t", help="Thresholds: a:b:step or a,b,c.")] = "0.05:0.95:0.05",
    iou: Iou = None,
    variant: VariantOption = None,
    bootstrap: Annotated[int, typer.Option("--bootstrap", help="Resamples at every point.")] = 0,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for sweep.json.")] = None,
    as_json: AsJson = False,
    format_: FormatOption = Format.terminal,
) -> None:
    """SA-Co at every t."""
    _sweep("saco", annotations, predictions, t, None, iou, variant, bootstrap, "cgF1", "Overall", out, as_json, format_)


def _sweep(
    name: str, annotations: list[Path], predictions: Path, t: str, tau: str | None, iou: IouType | None,
    variant: Variant | None, bootstrap: int, metric: str, row: str, out: Path | None, as_json: bool,
    format_: Format,
) -> None:  # fmt: skip
    from groundfault.report.progress import progress
    from groundfault.report.sweeps import sweep_tables
    from groundfault.report.tables import show
    from groundfault.store import write_json
    from groundfault.sweep import parse_grid, sweep_phrases

    t_values = parse_grid(t)
    tau_values = parse_grid(tau) if tau is not None else (None,)
    settings = _settings(None, iou=iou, variant=variant, bootstrap=bootstrap)
    for name_, values in (("t", t_values), ("tau", tau_values)):
        for value in values:
            _settings(None, **{name_: value})
    benchmark, overlaps = _compare_phrases(name, annotations, predictions, settings)
    with progress("sweeping") as advance:
        swept = sweep_phrases(
            benchmark, overlaps, t_values=t_values, tau_values=tau_values, iou=settings.iou,
            variant=settings.variant, bootstrap=bootstrap, seed=settings.seed, progress=advance,
        )  # fmt: skip
    tables = list(sweep_tables(swept, metric=metric, row=row))
    if out is not None:
        write_json(out / "sweep.json", swept)
    if as_json:
        _print_json(swept)
        return
    for table in tables:
        show(table, format_)
        print()


@app.command()
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
    settings = _settings(None, bootstrap=bootstrap, seed=seed)
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
        _print_json(found)
        return
    for table in comparison_tables(found):
        show(table, format_)
        print()


@app.command("list")
def list_(
    kind: Annotated[str, typer.Argument(help="benchmarks, metrics, models, editors, published.")] = "",
    as_json: AsJson = False,
) -> None:
    """What there is: benchmarks, metrics, models, editors, published tables."""
    from groundfault.report.listing import listing_tables
    from groundfault.report.tables import show

    tables = listing_tables(kind)
    if as_json:
        _print_json({t.title: [dict(zip(t.columns, map(str, r), strict=True)) for r in t.rows] for t in tables})
        return
    for table in tables:
        show(table)
        print()


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Is everything here that groundfault needs?"""
    from groundfault.report.health import health_table, is_healthy
    from groundfault.report.tables import show

    table = health_table()
    if as_json:
        _print_json([dict(zip(table.columns, map(str, row), strict=True)) for row in table.rows])
    else:
        show(table)
    if not is_healthy(table):
        raise typer.Exit(2)


@app.command()
def conformance(
    out: Annotated[Path | None, typer.Option("--out", help="Write the page here.")] = None,
) -> None:
    """Do the papers' own numbers follow from each other? A page in Markdown."""
    from groundfault.published.conformance import checks, conformance_markdown
    from groundfault.store import write_bytes

    page = conformance_markdown(checks())
    if out is None:
        print(page)
        return
    write_bytes(out, page.encode())
    print(f"written: {out}", file=sys.stderr)


@app.command()
def example(
    out: Annotated[Path, typer.Argument(help="Folder to write to.")],
    n: Annotated[int, typer.Option("--n", min=1, max=1_000_000, help="Number of pairs.")] = 300,
    seed: Annotated[int, typer.Option("--seed", help="Seed.")] = 0,
) -> None:
    """Write a small CAFE-like set with the predictions of two imagined models."""
    from groundfault.example import write_example

    for name, path in write_example(out, n=n, seed=seed).items():
        print(f"{name}: {path}")


def _version(value: bool) -> None:
    if value:
        print(f"groundfault {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def run(arguments: list[str] | None = None) -> int:
    """Run a command and give its exit code. Errors of ours end with one line and code 2."""
    try:
        app(arguments)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    except (GroundfaultError, OSError) as problem:
        _print_error(str(problem))
    except MemoryError:
        _print_error("not enough memory for this file")
    return 2


def _print_error(message: str) -> None:
    from groundfault.report.tables import printable

    print(f"error: {printable(message)}", file=sys.stderr)


def main() -> None:
    """Entry point of the `groundfault` program."""
    # Nothing here is large enough for BLAS threads, which cost 70 ms of CPU to start, nor for
    # Arrow's own allocator, which costs 20 MB.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    gc.disable()  # records hold no cycles; looking for them costs a third of the reading time
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # not every terminal has a τ
    code = run()
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has seen enough
        pass
    except OSError as problem:
        _print_error(str(problem))
        code = 2
    sys.stderr.flush()
    os._exit(code)  # tearing down a million records takes longer than the system's own clean-up


if __name__ == "__main__":
    main()
