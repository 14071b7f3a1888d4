"""Choose a model's threshold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from groundfault.cli.evaluation import interruptible, read_benchmark
from groundfault.cli.groups import grouped
from groundfault.cli.options import (
    AsJson,
    DataOptions,
    Format,
    FormatOption,
    LoadingOptions,
    RunningOptions,
    Seed,
    add_commands,
    print_json,
)
from groundfault.errors import UsageError

if TYPE_CHECKING:
    from groundfault.analysis.calibration import Calibration


@grouped
def calibrate(
    model: Annotated[str, typer.Argument(help="[LABEL=]NAME[:argument], or the folder of a run.")],
    files: DataOptions,
    loading: LoadingOptions,
    running: RunningOptions,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the model's run. [a run's own]")
    ] = None,
    bootstrap: Annotated[
        int, typer.Option("--bootstrap", min=0, help="Resamples at every t; 0 for none.")
    ] = 1000,
    seed: Seed = None,
    as_json: AsJson = False,
    format_: FormatOption = Format.terminal,
) -> None:
    """Choose the threshold with the highest cgF1 over boxes, once, on data of its own.

    The model is asked once and its answers are kept; a run that is there is not asked again.
    Writes calibration.json and calibration.svg into the run.
    """
    from groundfault.api.calibrating import calibrate as choose
    from groundfault.registry import split_label
    from groundfault.reports.events import RunReporter

    if running.limit is not None:
        raise UsageError("--limit does not go with calibrate, which needs all of its data")
    data = str(files.data or "")
    benchmark = (
        read_benchmark(
            data,
            msgspec.structs.replace(files, data=None),
            offline=loading.offline,
            yes=loading.yes,
        )
        if data
        else ""
    )
    with interruptible():
        found = choose(
            model,
            benchmark,
            out,
            bootstrap=bootstrap,
            seed=seed or 0,
            reporter=RunReporter(split_label(model)[0] or model),
            **loading.options(),
            **running.options(),
        )
    if as_json:
        print_json(found)
        return
    _show(found, format_)


def _show(found: Calibration, format_: Format) -> None:
    from groundfault.protocols.concepts import CONCEPTS
    from groundfault.reports.summaries import estimate_cell
    from groundfault.reports.sweeps import sweep_tables
    from groundfault.reports.tables import printable, show

    show(next(iter(sweep_tables(found.sweep, metric="cgF1", row="Overall"))), format_)
    if format_ is not Format.terminal:
        return
    cgf1 = CONCEPTS.metric("cgF1")
    chosen = estimate_cell(cgf1, found.cgF1)
    print(
        f"\n{found.model}: t = {found.t:.2f}, cgF1 over boxes {chosen}. Use it with --t {found.t}"
    )
    if found.published_t is not None and found.published_cgF1 is not None:
        there = estimate_cell(cgf1, found.published_cgF1)
        print(f"published at t = {found.published_t:.2f}, where cgF1 is {there} here")
    for note in found.notes:
        print(f"note: {printable(note)}")


def register(app: typer.Typer, words: Sequence[str]) -> None:
    """Add this command to the program."""
    add_commands(app, {"calibrate": calibrate}, words)
