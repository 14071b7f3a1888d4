"""Score dumps of predictions, and every threshold of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from groundfault.cli.options import (
    GRID_HELP,
    Annotations,
    AsJson,
    Bootstrap,
    Command,
    Config,
    Format,
    FormatOption,
    Iou,
    Metric,
    Missing,
    Out,
    Predictions,
    Published,
    Seed,
    Shown,
    SweepBootstrap,
    SweepOut,
    T,
    Tau,
    TGrid,
    Variant,
    VariantOption,
    add_group,
    annotation_hashes,
    finish,
    print_json,
    resolve_settings,
)
from groundfault.errors import DataError

if TYPE_CHECKING:
    from groundfault.analysis.sweep import Sweep
    from groundfault.config import ScoreSettings
    from groundfault.matching.overlaps import Overlaps
    from groundfault.records import Benchmark


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
    settings = resolve_settings(
        config, t=t, tau=tau, iou=iou, variant=variant, bootstrap=bootstrap, seed=seed
    )
    shown = Shown(as_json, format_, metric, published)
    _score_phrases("cafe", annotations, predictions, settings, out, shown)


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
    settings = resolve_settings(
        config, t=t, iou=iou, variant=variant, bootstrap=bootstrap, seed=seed
    )
    shown = Shown(as_json, format_, metric)
    _score_phrases("saco", annotations, predictions, settings, out, shown)


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
    from groundfault.protocols import replacement
    from groundfault.report.progress import progress

    settings = resolve_settings(None, bootstrap=bootstrap, seed=seed)
    with progress("comparing masks") as advance:
        scored = replacement.score(
            cases, data, predictions, variant=str(variant), missing=str(missing), progress=advance
        )
    shown = Shown(as_json, format_, metric, published)
    finish(scored, settings, replacement.data_hashes(scored), out, shown)


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
    from groundfault.io.coco import stream_results
    from groundfault.protocols import referring
    from groundfault.report.progress import progress

    settings = resolve_settings(None, t=t, bootstrap=bootstrap, seed=seed)
    benchmark = fprefcoco.read(annotations)
    with progress("comparing masks") as advance:
        batches = stream_results(predictions, progress=advance)
        scored = referring.score(benchmark, batches, file=predictions, t=t)
    finish(scored, settings, annotation_hashes(annotations), out, Shown(as_json, format_, metric))


def compare_phrases(
    name: str, annotations: list[Path], predictions: Path, settings: ScoreSettings
) -> tuple[Benchmark, Overlaps]:
    """Read both sides and compare every prediction once."""
    from groundfault import registry
    from groundfault.io.coco import stream_results
    from groundfault.matching.intake import ANNOTATIONS
    from groundfault.matching.overlaps import compare_predictions
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


def _score_phrases(
    name: str,
    annotations: list[Path],
    predictions: Path,
    settings: ScoreSettings,
    out: Path | None,
    shown: Shown,
) -> None:
    benchmark, overlaps = compare_phrases(name, annotations, predictions, settings)
    from groundfault.protocols import concepts

    scored = concepts.score(
        benchmark,
        overlaps,
        t=settings.t,
        tau=settings.tau if name == "cafe" else None,
        iou=settings.iou,
        variant=settings.variant,
    )
    finish(scored, settings, annotation_hashes(annotations), out, shown)


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
    settings = resolve_settings(None, iou=iou, variant=variant, bootstrap=bootstrap)
    swept = _sweep("cafe", annotations, predictions, t, tau, settings)
    _finish_sweep(swept, metric, row, out, Shown(as_json, format_))


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
    settings = resolve_settings(None, iou=iou, variant=variant, bootstrap=bootstrap)
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
    from groundfault.analysis.sweep import parse_grid, sweep_phrases
    from groundfault.report.progress import progress

    t_values = parse_grid(t)
    tau_values = parse_grid(tau) if tau is not None else (None,)
    for t_value in t_values:
        resolve_settings(None, t=t_value)
    for tau_value in tau_values:
        resolve_settings(None, tau=tau_value)
    benchmark, overlaps = compare_phrases(name, annotations, predictions, settings)
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
    from groundfault.io.store import write_json
    from groundfault.report.sweeps import sweep_tables
    from groundfault.report.tables import show

    tables = list(sweep_tables(swept, metric=metric, row=row))
    if out is not None:
        write_json(out / "sweep.json", swept)
    if shown.as_json:
        print_json(swept)
        return
    for table in tables:
        show(table, shown.format_)
        print()


def register_score(app: typer.Typer, words: Sequence[str]) -> None:
    """Add `score` to the program."""
    commands: dict[str, Command] = {
        "cafe": score_cafe,
        "saco": score_saco,
        "halluseg": score_halluseg,
        "fprefcoco": score_fprefcoco,
    }
    about = "Score a dump of predictions with the metrics of a benchmark."
    add_group(app, "score", about, commands, words)


def register_sweep(app: typer.Typer, words: Sequence[str]) -> None:
    """Add `sweep` to the program."""
    about = "Score every threshold: t, τ and their grid."
    commands: dict[str, Command] = {"cafe": sweep_cafe, "saco": sweep_saco}
    add_group(app, "sweep", about, commands, words)
