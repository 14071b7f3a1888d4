"""Choose a model's score threshold once, on data of its own."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from groundfault.analysis.calibration import FILE, Calibration, check_data
from groundfault.analysis.calibration import calibrate as choose
from groundfault.api.evaluating import Asked, Evaluation
from groundfault.api.grading import Graders
from groundfault.api.options import EvaluateOptions, Options
from groundfault.api.result import Result
from groundfault.errors import UsageError
from groundfault.io.sources import load
from groundfault.io.store import write_bytes, write_json
from groundfault.records import Benchmark
from groundfault.reports.calibrations import calibration_figure
from groundfault.reports.events import RunReporter
from groundfault.reports.page.drawing import standalone
from groundfault.runs.run import RUN, read_run

if TYPE_CHECKING:
    from groundfault.runs.run import Run

__all__ = ["calibrate"]

RESAMPLES = 1000
"""At every threshold, unless told."""


def calibrate(
    model: Any,
    data: Benchmark | str | PathLike[str] = "",
    out: str | PathLike[str] | None = None,
    *,
    reporter: RunReporter | None = None,
    **options: Unpack[EvaluateOptions],
) -> Calibration:
    """Choose the threshold with the highest cgF1 over boxes, and write calibration.json and
    calibration.svg beside the predictions.

    `model` is a model's name, a run, or the folder of one. It is asked once and its predictions are
    kept in a folder in `out`; a run that is there is not asked again.
    """
    stored = _folder(model)
    run: Run | None = read_run(stored) if stored is not None else None
    if run is not None and not data:
        data = run.benchmark_folder
    if not data:
        raise UsageError("give the calibration data with --data")
    benchmark = data if isinstance(data, Benchmark) else load(str(data))
    if stored is None or run is None:
        if out is None:
            raise UsageError("give a folder for the run with --out")
        check_data(benchmark)  # before somebody waits for a model, or pays it
        asked = Asked.of(model)
        stored = Path(out) / asked.folder_name
        run = _asked(asked, stored, benchmark, Options.of(options), reporter)
        out = stored
    made = Options.of(options)
    found = choose(
        benchmark,
        run,
        stored,
        bootstrap=RESAMPLES if made.bootstrap is None else made.bootstrap,
        seed=made.seed or 0,
    )
    place = Path(out or stored)
    write_json(place / FILE, found)
    write_bytes(place / "calibration.svg", standalone(calibration_figure(found)).encode())
    return found


def _folder(model: Any) -> Path | None:
    """Where a run is; None for the name of a model."""
    if isinstance(model, Result):
        return model.folder
    return Path(model) if (Path(str(model)) / RUN).is_file() else None


def _asked(
    asked: Asked,
    folder: Path,
    benchmark: Benchmark,
    options: Options,
    reporter: RunReporter | None,
) -> Run:
    """The model's run on the calibration data."""
    evaluation = Evaluation(benchmark, options)
    evaluation.check(asked)
    reports = reporter or RunReporter(asked.name, quiet=True)
    with reports.asking():
        run = evaluation.ask(asked, folder, reports, Graders())
    reports.ended(run)
    return run
