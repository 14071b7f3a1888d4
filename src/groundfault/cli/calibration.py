"""Choose a model's threshold."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from groundfault.cli.options import (
    TIMEOUT_S,
    AsJson,
    Batch,
    Device,
    Dtype,
    Engine,
    EngineOption,
    Format,
    FormatOption,
    Offline,
    Probe,
    RayAddress,
    Revision,
    Seed,
    Timeout,
    Workers,
    add_commands,
    print_json,
)
from groundfault.errors import UsageError

if TYPE_CHECKING:
    from groundfault.analysis.calibration import Calibration
    from groundfault.interfaces import ModelOptions
    from groundfault.records import Benchmark
    from groundfault.report.page.drawing import Figure
    from groundfault.runner.work import Plan
    from groundfault.runs.run import Run


def calibrate(
    model: Annotated[str, typer.Argument(help="NAME or NAME:argument, or the folder of a run.")],
    data: Annotated[
        str, typer.Option("--data", help="Benchmark folder, or cafe or saco. [a run's own]")
    ] = "",
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the model's run. [a run's own]")
    ] = None,
    annotations: Annotated[
        list[Path] | None, typer.Option("--annotations", help="cafe, saco: annotation JSON.")
    ] = None,
    images: Annotated[Path | None, typer.Option("--images", help="Folder of the pictures.")] = None,
    engine: EngineOption = Engine.local,
    workers: Workers = 0,
    ray_address: RayAddress = "",
    batch: Batch = None,
    device: Device = "auto",
    dtype: Dtype = "auto",
    revision: Revision = "",
    offline: Offline = False,
    yes: Annotated[bool, typer.Option("--yes", help="Fetch large sets without asking.")] = False,
    timeout: Timeout = None,
    probe: Probe = True,
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
    import functools

    from groundfault.analysis.calibration import FILE
    from groundfault.analysis.calibration import calibrate as choose
    from groundfault.cli.evaluation import fetch_published
    from groundfault.interfaces import ModelOptions
    from groundfault.io.sources import load
    from groundfault.io.store import write_bytes, write_json
    from groundfault.runner.session import folder_name
    from groundfault.runner.work import Plan
    from groundfault.runs.run import read_run

    stored = Path(model) if (Path(model) / "run.json").is_file() else None
    if stored is not None:
        run, folder = read_run(stored), out or stored
        data = data or run.benchmark_folder
    elif out is None:
        raise UsageError("give a folder for the run with --out")
    if not data:
        raise UsageError("give the calibration data with --data")
    benchmark = load(
        data,
        annotations=annotations,
        images=images,
        fetch=functools.partial(fetch_published, offline=offline, yes=yes),
    )
    if stored is None:
        assert out is not None
        stored = folder = out / folder_name(model)
        options = ModelOptions(
            device=device,
            dtype=dtype,
            revision=revision,
            offline=offline,
            timeout_s=timeout or TIMEOUT_S,
        )
        plan = Plan(
            engine=engine.value,
            workers=workers,
            batch=batch or 0,
            ray_address=ray_address,
            device=device,
            probe=probe,
        )
        run = _asked(model, folder, benchmark, options, plan)
    found = choose(benchmark, run, stored, bootstrap=bootstrap, seed=seed or 0)
    write_json(folder / FILE, found)
    write_bytes(folder / "calibration.svg", _drawn(found).encode())
    if as_json:
        print_json(found)
        return
    _show(found, format_)
    print(f"\nwritten: {folder / FILE}, {folder / 'calibration.svg'}", file=sys.stderr)


def _asked(
    model: str, folder: Path, benchmark: Benchmark, options: ModelOptions, plan: Plan
) -> Run:
    """The model's run on the calibration data."""
    import functools

    import msgspec

    from groundfault import registry
    from groundfault.cli.evaluation import interruptible
    from groundfault.report.live import Teller
    from groundfault.runner.session import predict
    from groundfault.runs.identity import model_identity

    teller = Teller(model, as_json=False)
    with interruptible(), teller.asking():
        run = predict(
            benchmark,
            functools.partial(registry.load_model, model, options),
            folder,
            name=model,
            images=benchmark.images or None,
            identity=model_identity(model, options),
            settings={**msgspec.to_builtins(options), "dataset": benchmark.origin},
            benchmark_folder=benchmark.folder,
            plan=plan,
            started=teller.started,
            progress=teller.progress,
        )
    teller.ended(run)
    return run


def _show(found: Calibration, format_: Format) -> None:
    from groundfault.protocols.concepts import CONCEPTS
    from groundfault.report.summaries import estimate_cell
    from groundfault.report.sweeps import sweep_tables
    from groundfault.report.tables import show

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
        print(f"note: {note}")


def _drawn(found: Calibration) -> str:
    from groundfault.report.page.drawing import standalone

    return standalone(curve_figure(found))


def curve_figure(found: Calibration) -> Figure:
    """cgF1 and its two factors along t; the ring marks the operating point."""
    from groundfault.protocols.concepts import CONCEPTS
    from groundfault.report.page.drawing import shortened
    from groundfault.report.page.figures import Curve, curves

    lines = []
    for series, name in enumerate(("cgF1", "IL_MCC", "positive_micro_F1")):
        known = [
            (point.t, estimate)
            for point in found.sweep.points
            if (estimate := point.metrics[name]).value is not None
        ]
        if not known:
            continue
        values = [estimate for _, estimate in known]
        banded = name == "cgF1" and all(e.low is not None and e.high is not None for e in values)
        lines.append(
            Curve(
                series,
                CONCEPTS.metric(name).short,
                [t for t, _ in known],
                [e.value or 0.0 for e in values],
                [e.low or 0.0 for e in values] if banded else (),
                [e.high or 0.0 for e in values] if banded else (),
                marked=[t for t, _ in known].index(found.t) if name == "cgF1" else None,
            )
        )
    return curves(
        "calibration",
        f"{shortened(found.model, 110)}: t = {found.t:.2f} by cgF1 over boxes",
        lines,
        across="score threshold t",
        text=lambda value: f"{value:.2f}".replace("-", "−"),
        x_text=lambda value: f"{value:.2f}",
        x_range=(0.0, 1.0),
        dots=False,
    )


def register(app: typer.Typer, words: Sequence[str]) -> None:
    """Add this command to the program."""
    add_commands(app, {"calibrate": calibrate}, words)
