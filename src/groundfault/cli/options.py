"""Options that commands share, and how results are finished: summarised, written, printed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

if TYPE_CHECKING:
    from groundfault.config import ScoreSettings
    from groundfault.protocols.scored import Scored
    from groundfault.records import Summary

Command = Callable[..., None]


def add_commands(app: typer.Typer, commands: Mapping[str, Command], words: Sequence[str]) -> None:
    """Give an app the command that the words name, or all if they name none. Typer inspects every
    parameter of every command that it is given, which takes longer than to run most."""
    chosen = words[0] if words else ""
    for name in [chosen] if chosen in commands else commands:
        app.command(name)(commands[name])


def add_group(
    app: typer.Typer, name: str, about: str, commands: Mapping[str, Command], words: Sequence[str]
) -> None:
    """The same for a group of commands."""
    group = typer.Typer(help=about, no_args_is_help=True)
    add_commands(group, commands, words[1:] if words and words[0] == name else ())
    app.add_typer(group, name=name)


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


class Engine(StrEnum):
    local = "local"
    ray = "ray"


Predictions = Annotated[
    Path,
    typer.Option("--predictions", help="COCO results JSON, or as the benchmark's own tools write."),
]
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
EngineOption = Annotated[Engine, typer.Option("--engine", help="Where the model runs.")]
Workers = Annotated[
    int, typer.Option("--workers", min=0, help="Copies of the model. [1; ray: one per GPU]")
]
RayAddress = Annotated[
    str, typer.Option("--ray-address", help="Of a Ray cluster; else one is started here.")
]
Batch = Annotated[
    int | None,
    typer.Option("--batch", min=1, help="Images at once, for models that can. [4; agent: 16]"),
]
Device = Annotated[str, typer.Option("--device", help="cpu, cuda, cuda:1, mps.")]
Dtype = Annotated[str, typer.Option("--dtype", help="float32, bfloat16, float16.")]
Revision = Annotated[str, typer.Option("--revision", help="Of a hub checkpoint.")]
Offline = Annotated[bool, typer.Option("--offline", help="Only what is on this disk.")]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout", min=0.1, help="Seconds for a model outside this process. [600; exams: 120]"
    ),
]
Probe = Annotated[
    bool, typer.Option("--probe/--no-probe", help="Check the model's coordinates first.")
]
TIMEOUT_S = 600.0
Published = Annotated[
    bool, typer.Option("--published", help="Add what the papers report, also beside other data.")
]


def resolve_settings(config: Path | None, **given: Any) -> ScoreSettings:
    import msgspec

    from groundfault.config import ScoreSettings, check, load_toml

    settings = load_toml(config, ScoreSettings) if config else ScoreSettings()
    changes = {name: value for name, value in given.items() if value is not None}
    return check(msgspec.structs.replace(settings, **changes))


class Shown(NamedTuple):
    """How results are printed."""

    as_json: bool
    format_: Format
    metric: list[str] | None = None
    published: bool = False


def finish(
    scored: Scored, settings: ScoreSettings, data: dict[str, str], out: Path | None, shown: Shown
) -> None:
    """Summarise, write, print."""
    from groundfault.analysis.summary import summarise, write_results

    summary = summarise(scored, bootstrap=settings.bootstrap, seed=settings.seed, data=data)
    chosen = chosen_metrics(summary, shown.metric)
    if out is not None:
        write_results(out, scored, summary)
    if shown.as_json:
        print_json(summary)
        return
    _print_summary(summary, chosen, shown)
    if out is not None:
        print(f"\nwritten: {out / 'summary.json'}, {out / 'cases.parquet'}", file=sys.stderr)


def chosen_metrics(summary: Summary, asked: list[str] | None) -> list[str] | None:
    """The names of the metrics that are asked for, by name or as tables print them; None for the
    usual ones."""
    from groundfault.protocols import of_summary

    known = summary.rows["Overall"].metrics
    if not asked or asked == ["all"]:
        return list(known) if asked else None
    protocol = of_summary(summary)
    return [protocol.metric_named(name, known) for name in asked]


def _print_summary(summary: Summary, chosen: list[str] | None, shown: Shown) -> None:
    from groundfault.report.summaries import summary_table
    from groundfault.report.tables import show

    show(summary_table(summary, chosen), shown.format_)
    if shown.published:
        show_published(summary, summary.rows, chosen, shown.format_)


def show_published(
    summary: Summary, rows: Collection[str], metrics: Sequence[str] | None, format_: Format
) -> None:
    """Print what the papers report of these rows and metrics, and whether it is on this data."""
    from groundfault.protocols import of_summary
    from groundfault.published import is_published_data, rows_beside
    from groundfault.report.summaries import published_table
    from groundfault.report.tables import show

    protocol = of_summary(summary)
    names = metrics or protocol.shown(summary.rows["Overall"].metrics)
    beside = rows_beside(summary, protocol, other_data=True)
    known = [row for row in beside if row.row in rows and not row.setting]
    if not known:
        print(f"no paper's results are stored for {protocol.name}", file=sys.stderr)
        return
    other = not is_published_data(summary)
    show(published_table(known, [protocol.metric(n) for n in names], other_data=other), format_)


def print_json(value: object) -> None:
    import msgspec

    print(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())
