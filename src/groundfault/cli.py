"""The command line: parse, wire, call. Every command prints a table, or JSON with --json."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from copy import copy
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from groundfault import __version__
from groundfault.errors import DataError, GroundfaultError, UnknownName, UsageError

if TYPE_CHECKING:
    from typer.models import CommandInfo

    from groundfault.config import ScoreSettings
    from groundfault.overlaps import Overlaps
    from groundfault.records import Benchmark, Summary
    from groundfault.scored import Scored
    from groundfault.sweep import Sweep

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
sweep_app = typer.Typer(help="Score every threshold: t, τ and their grid.", no_args_is_help=True)
world_app = typer.Typer(
    help="The embedded counterfactual world: build benchmarks, look at it.", no_args_is_help=True
)
app.add_typer(world_app, name="world")
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
    list[Path],
    typer.Option("--annotations", help="Annotation JSON; repeat for several annotators."),
]
Predictions = Annotated[Path, typer.Option("--predictions", help="COCO results JSON.")]
T = Annotated[float | None, typer.Option("--t", help="Score threshold, accepted is ≥ t. [0.5]")]
Tau = Annotated[
    float | None, typer.Option("--tau", help="Overlap threshold, aligned is ≥ τ. [0.3]")
]
Iou = Annotated[IouType | None, typer.Option("--iou", help="What the cgF1 family compares. [segm]")]
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
GRID_HELP = "Thresholds: start:stop:step, or a,b,c."
TGrid = Annotated[str, typer.Option("--t", help=GRID_HELP)]
SweepBootstrap = Annotated[int, typer.Option("--bootstrap", help="Resamples at every point.")]
SweepOut = Annotated[Path | None, typer.Option("--out", help="Folder for sweep.json.")]
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
    settings = _settings(
        config, t=t, tau=tau, iou=iou, variant=variant, bootstrap=bootstrap, seed=seed
    )
    shown = Shown(as_json, format_, metric, published)
    _score_phrases("cafe", annotations, predictions, settings, out, shown)


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
    shown = Shown(as_json, format_, metric)
    _score_phrases("saco", annotations, predictions, settings, out, shown)


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
    from groundfault.report.progress import progress
    from groundfault.scoring import replacement

    settings = _settings(None, bootstrap=bootstrap, seed=seed)
    with progress("comparing masks") as advance:
        scored = replacement.score(
            cases, data, predictions, variant=str(variant), missing=str(missing), progress=advance
        )
    shown = Shown(as_json, format_, metric, published)
    _finish(scored, settings, replacement.data_hashes(scored), out, shown)


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

    settings = _settings(None, t=t, bootstrap=bootstrap, seed=seed)
    benchmark = fprefcoco.read(annotations)
    with progress("comparing masks") as advance:
        batches = stream_results(predictions, progress=advance)
        scored = referring.score(benchmark, batches, file=predictions, t=t)
    _finish(scored, settings, _hashes(annotations), out, Shown(as_json, format_, metric))


def _settings(config: Path | None, **given: Any) -> ScoreSettings:
    import msgspec

    from groundfault.config import ScoreSettings, check, load_toml

    settings = load_toml(config, ScoreSettings) if config else ScoreSettings()
    changes = {name: value for name, value in given.items() if value is not None}
    return check(msgspec.structs.replace(settings, **changes))


def _hashes(paths: list[Path]) -> dict[str, str]:
    from groundfault.foreign import sha256

    return {f"annotations {k}": sha256(path) for k, path in enumerate(paths, start=1)}


def _compare_phrases(
    name: str, annotations: list[Path], predictions: Path, settings: ScoreSettings
) -> tuple[Benchmark, Overlaps]:
    """Read both sides and compare every prediction once."""
    from groundfault import registry
    from groundfault.coco import stream_results
    from groundfault.intake import ANNOTATIONS
    from groundfault.overlaps import compare_predictions
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
        if problem.file != ANNOTATIONS:
            raise
        read(annotations)  # checks every mask and names the file and record of an unsound one
        files = ", ".join(map(str, annotations))
        raise DataError(
            files, problem.problem, record=problem.record, remedy=problem.remedy
        ) from None
    return benchmark, overlaps


class Shown(NamedTuple):
    """How results are printed."""

    as_json: bool
    format_: Format
    metric: list[str] | None = None
    published: bool = False


def _score_phrases(
    name: str,
    annotations: list[Path],
    predictions: Path,
    settings: ScoreSettings,
    out: Path | None,
    shown: Shown,
) -> None:
    benchmark, overlaps = _compare_phrases(name, annotations, predictions, settings)
    from groundfault.scoring import phrases

    scored = phrases.score(
        benchmark,
        overlaps,
        t=settings.t,
        tau=settings.tau if name == "cafe" else None,
        iou=settings.iou,
        variant=settings.variant,
    )
    _finish(scored, settings, _hashes(annotations), out, shown)


def _finish(
    scored: Scored, settings: ScoreSettings, data: dict[str, str], out: Path | None, shown: Shown
) -> None:
    """Summarise, write, print."""
    from groundfault.evaluate import summarise, write_results

    summary = summarise(scored, bootstrap=settings.bootstrap, seed=settings.seed, data=data)
    known = summary.rows["Overall"].metrics
    chosen = list(known) if shown.metric == ["all"] else shown.metric
    for name in chosen or ():
        if name not in known:
            raise UnknownName("metric", name, known)
    if out is not None:
        write_results(out, scored, summary)
    if shown.as_json:
        _print_json(summary)
        return
    _print_summary(summary, chosen, shown)
    if out is not None:
        print(f"\nwritten: {out / 'summary.json'}, {out / 'cases.parquet'}", file=sys.stderr)


def _print_summary(summary: Summary, chosen: list[str] | None, shown: Shown) -> None:
    from groundfault.report.summaries import HEADLINES, published_table, summary_table
    from groundfault.report.tables import show

    show(summary_table(summary, chosen), shown.format_)
    if not shown.published:
        return
    from groundfault.published import published_rows

    rows = [r for r in published_rows(summary.benchmark) if r.row in summary.rows and not r.setting]
    metrics = chosen or HEADLINES[summary.benchmark]
    percent = summary.benchmark != "halluseg"
    show(published_table(rows, metrics, percent=percent), shown.format_)


def _print_json(value: object) -> None:
    import msgspec

    print(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


@sweep_app.command("cafe")
def sweep_cafe(
    annotations: Annotations,
    predictions: Predictions,
    t: TGrid = "0.05:0.95:0.05",
    tau: Annotated[str, typer.Option("--tau", help=GRID_HELP)] = "0.3:0.9:0.1",
    iou: Iou = None,
    variant: VariantOption = None,
    bootstrap: SweepBootstrap = 0,
    metric: Annotated[str, typer.Option("--metric", help="What the grid shows.")] = "AFPR",
    row: Annotated[str, typer.Option("--row", help="Overall, SM, CC or OC.")] = "Overall",
    out: SweepOut = None,
    as_json: AsJson = False,
    format_: FormatOption = Format.terminal,
) -> None:
    """CAFE at every t and τ: one comparison, all operating points."""
    settings = _settings(None, iou=iou, variant=variant, bootstrap=bootstrap)
    swept = _sweep("cafe", annotations, predictions, t, tau, settings)
    _finish_sweep(swept, metric, row, out, Shown(as_json, format_))


@sweep_app.command("saco")
def sweep_saco(
    annotations: Annotations,
    predictions: Predictions,
    t: TGrid = "0.05:0.95:0.05",
    iou: Iou = None,
    variant: VariantOption = None,
    bootstrap: SweepBootstrap = 0,
    out: SweepOut = None,
    as_json: AsJson = False,
    format_: FormatOption = Format.terminal,
) -> None:
    """SA-Co at every t."""
    settings = _settings(None, iou=iou, variant=variant, bootstrap=bootstrap)
    swept = _sweep("saco", annotations, predictions, t, None, settings)
    _finish_sweep(swept, "cgF1", "Overall", out, Shown(as_json, format_))


def _sweep(
    name: str,
    annotations: list[Path],
    predictions: Path,
    t: str,
    tau: str | None,
    settings: ScoreSettings,
) -> Sweep:
    from groundfault.report.progress import progress
    from groundfault.sweep import parse_grid, sweep_phrases

    t_values = parse_grid(t)
    tau_values = parse_grid(tau) if tau is not None else (None,)
    for t_value in t_values:
        _settings(None, t=t_value)
    for tau_value in tau_values:
        _settings(None, tau=tau_value)
    benchmark, overlaps = _compare_phrases(name, annotations, predictions, settings)
    with progress("sweeping") as advance:
        return sweep_phrases(
            benchmark,
            overlaps,
            t_values=t_values,
            tau_values=tau_values,
            iou=settings.iou,
            variant=settings.variant,
            bootstrap=settings.bootstrap,
            seed=settings.seed,
            progress=advance,
        )


def _finish_sweep(swept: Sweep, metric: str, row: str, out: Path | None, shown: Shown) -> None:
    from groundfault.report.sweeps import sweep_tables
    from groundfault.report.tables import show
    from groundfault.store import write_json

    tables = list(sweep_tables(swept, metric=metric, row=row))
    if out is not None:
        write_json(out / "sweep.json", swept)
    if shown.as_json:
        _print_json(swept)
        return
    for table in tables:
        show(table, shown.format_)
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


@app.command()
def convert(
    sources: Annotated[list[Path], typer.Argument(help="File(s) or folder of one benchmark.")],
    to: Annotated[str, typer.Option("--to", help="folder, cafe, saco, halluseg, fprefcoco, coco.")],
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
) -> None:
    """Turn any benchmark format into any other; what a format cannot hold is said."""
    from groundfault.convert import read_any, write_any

    benchmark = read_any(sources, from_, data)
    lost = write_any(benchmark, to, out, split=split, images_from=images)
    print(f"{len(benchmark.cases)} cases, {len(benchmark.items)} items → {to}: {out}")
    for note in benchmark.notes:
        print(f"note: {note}")
    for note in lost:
        print(f"not kept: {note}")


@app.command()
def inspect(
    file: Annotated[Path, typer.Argument(help="Any file or folder.")], as_json: AsJson = False
) -> None:
    """What is this file, is it sound? Exit code 2 if it is not."""
    from groundfault.inspection import inspect as inspect_file
    from groundfault.report.inspections import inspection_tables
    from groundfault.report.tables import show

    report = inspect_file(file)
    if as_json:
        _print_json(report)
    else:
        for table in inspection_tables(report):
            show(table)
            print()
    if not report.sound:
        raise typer.Exit(2)


@app.command("eval")
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

    settings = _settings(None, t=t, tau=tau, variant=variant, bootstrap=bootstrap, seed=seed)
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
        _finish(scored, settings, data, run, Shown(as_json, format_, metric))


@world_app.command("build")
def world_build(
    preset: Annotated[str, typer.Option("--preset", help="cafe or halluseg.")],
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
    from groundfault.report.progress import progress
    from groundfault.sweep import parse_grid
    from groundfault.world.presets import BuildSettings, build

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


@world_app.command("sheet")
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


@app.command("list")
def list_(
    kind: Annotated[
        str, typer.Argument(help="benchmarks, metrics, models, editors, published.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """What there is: benchmarks, metrics, models, editors, published tables."""
    from groundfault.report.listing import listing_tables
    from groundfault.report.tables import show

    tables = listing_tables(kind)
    if as_json:
        _print_json(
            {
                t.title: [dict(zip(t.columns, map(str, r), strict=True)) for r in t.rows]
                for t in tables
            }
        )
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


def _narrowed(whole: typer.Typer, words: Sequence[str]) -> typer.Typer:
    """The part of an app that the words name, or all of it if they name none. Typer inspects
    every parameter of every command that it is given, which takes longer than to run most."""
    name = words[0] if words else ""
    commands = [command for command in whole.registered_commands if _name(command) == name]
    groups = [group for group in whole.registered_groups if group.name == name]
    if not commands and not groups:
        return whole
    part = copy(whole)
    part.registered_commands, part.registered_groups = commands, [copy(group) for group in groups]
    for group in part.registered_groups:
        if group.typer_instance is not None:
            group.typer_instance = _narrowed(group.typer_instance, words[1:])
    return part


def _name(command: CommandInfo) -> str:
    return command.name or str(getattr(command.callback, "__name__", ""))


def run(arguments: list[str] | None = None) -> int:
    """Run a command and give its exit code. Errors of ours end with one line and code 2."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        _narrowed(app, words)(words)
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
