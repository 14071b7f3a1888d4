"""What agents' runs cost, and their episodes step by step."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from groundfault.cli.options import AsJson, Format, FormatOption, add_group, print_json
from groundfault.errors import UsageError

if TYPE_CHECKING:
    from groundfault.records import Benchmark
    from groundfault.reports.agent_traces import Shown
    from groundfault.runs.run import Run

Data = Annotated[
    str, typer.Option("--data", help="Benchmark folder, or cafe or saco. [the run's own]")
]
Annotations = Annotated[
    list[Path] | None, typer.Option("--annotations", help="cafe, saco: annotation JSON.")
]
Images = Annotated[Path | None, typer.Option("--images", help="Folder of the pictures.")]
MOST_EPISODES = 60
"""In one file: with pictures of 1,024 pixels they take about 1 MB each."""


def costs(
    runs: Annotated[list[Path], typer.Argument(help="Folders of agents' runs, written by eval.")],
    data: Data = "",
    annotations: Annotations = None,
    images: Images = None,
    as_json: AsJson = False,
    format_: FormatOption = Format.terminal,
) -> None:
    """Turns, tokens and money per correct rejection, one row per run: agents and ablations."""
    from groundfault.reports.agent_traces import cost_table
    from groundfault.reports.agent_traces import costs as counted
    from groundfault.reports.tables import show
    from groundfault.runs.recorder import read_predictions
    from groundfault.runs.run import read_run

    rows = []
    for folder in runs:
        run = read_run(folder)
        benchmark = _asked(folder, run, data, annotations, images)
        row = counted(run.name, read_predictions(folder), benchmark.items)
        if not row.episodes and not row.failed:
            raise UsageError(f"{folder}: {run.model} is no agent: its answers carry no traces")
        rows.append(row)
    if as_json:
        print_json(rows)
        return
    show(cost_table(rows), format_)


def steps(
    run: Annotated[Path, typer.Argument(help="Folder of an agent's run, or of imported traces.")],
    out: Annotated[Path, typer.Option("--out", help="HTML file to write.")] = Path("steps.html"),
    item: Annotated[
        list[str] | None, typer.Option("--item", help="Only this item or trace; repeat.")
    ] = None,
    most: Annotated[int, typer.Option("--most", min=1, help="Episodes.")] = MOST_EPISODES,
    data: Data = "",
    annotations: Annotations = None,
    images: Images = None,
) -> None:
    """The episodes of a run as one HTML file to step through; it opens offline."""
    from msgspec.structs import replace

    from groundfault.reports.agent_traces import from_folder, from_run, write_page
    from groundfault.runs.run import read_run

    wanted = set(item or ())
    episodes: Iterator[Shown]
    if not (run / "run.json").is_file():
        title = run.name
        episodes = (one for one in from_folder(run) if not wanted or one.name in wanted)
    else:
        kept = read_run(run)
        benchmark = _asked(run, kept, data, annotations, images)
        if not benchmark.images:
            raise UsageError("give the folder of the pictures with --images")
        items = tuple(i for i in benchmark.items if not wanted or i.id in wanted)
        title = kept.model
        episodes = from_run(run, benchmark.images, replace(benchmark, items=items))
    shown = list(islice(episodes, most))
    missing = sorted(wanted - {one.name for one in shown}) if len(shown) < most else []
    if not shown or missing:
        raise UsageError(f"{run}: holds no trace{' of ' if missing else ''}{', '.join(missing)}")
    write_page(out, title, shown)
    rest = next(episodes, None) is not None
    more = f"; the first {most}, for others --item or --most" if rest else ""
    print(f"written: {out}{more}; open it in a browser", file=sys.stderr)


def import_(
    folder: Annotated[Path, typer.Argument(help="With the CAFE authors' demo_data.json.")],
    out: Annotated[Path, typer.Option("--out", help="Folder of traces to write.")],
) -> None:
    """Published traces as ours, each gone through again by our rules."""
    from groundfault.models.agent import differences, read_published, replay, write_trace
    from groundfault.reports.tables import Table, show

    rows = []
    for name, trace, pictures in read_published(folder):
        write_trace(out, name, trace, pictures)
        differs = differences(trace, replay(trace).trace(), pictures=False)
        ended = "; ".join(differs) or "the same"
        rows.append([name, trace.query, str(len(trace.turns)), trace.ending, ended])
    show(Table(["trace", "concept", "turns", "ending", "replayed"], rows, left_columns=2))
    print(f"written: {out}", file=sys.stderr)


def _asked(
    folder: Path, run: Run, data: str, annotations: Sequence[Path] | None, images: Path | None
) -> Benchmark:
    """What a run was asked, where it was or as it was told."""
    from groundfault.benchmarks.folder import content_hash
    from groundfault.io.sources import load

    named = data or run.benchmark_folder
    if not named:
        raise UsageError(
            f"{folder}: does not say where {run.benchmark} is. Remedy: name it as for eval, with "
            "--data, --annotations and --images"
        )
    benchmark = load(named, annotations=annotations, images=images)
    digest = benchmark.card.content_hash or content_hash(benchmark)
    if run.content_hash != digest:
        raise UsageError(f"{folder}: holds answers to other data than {named}")
    return benchmark


def register(app: typer.Typer, words: Sequence[str]) -> None:
    """Add these commands to the program."""
    about = "Runs of agents: what they cost, and what they did step by step."
    add_group(app, "agent", about, {"costs": costs, "steps": steps, "import": import_}, words)
