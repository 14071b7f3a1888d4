"""The predictions of a run as HalluSegBench's PNGs, for the authors' scripts."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from groundfault.benchmarks.halluseg import write_predictions
from groundfault.config import ScoreSettings
from groundfault.errors import UsageError
from groundfault.io.results import SUMMARY, read_summary
from groundfault.runs.benchmark import read_again
from groundfault.runs.recorder import read_predictions
from groundfault.runs.run import read_run

__all__ = ["export_pictures"]

AnyPath = str | PathLike[str]


def export_pictures(
    folder: AnyPath,
    out: AnyPath,
    *,
    t: float | None = None,
    abstentions: str = "empty",
    data: AnyPath | None = None,
) -> tuple[str, ...]:
    """Write the predictions of a run into the four folders; what could not be written is returned.

    Masks with score ≥ t count, without one at the t that the run was scored with. `data` is the
    run's benchmark, if it is not where it was.
    """
    run = read_run(folder)
    if run.modes:
        raise UsageError(f"{folder}: holds answers in words, which pictures cannot hold")
    benchmark = read_again(run, data=data)
    if t is None:
        t = _scored_at(Path(folder))
    return write_predictions(benchmark, read_predictions(folder), out, t=t, abstentions=abstentions)


def _scored_at(folder: Path) -> float:
    """The score threshold of a run's summary; the usual one before it was scored."""
    scored = folder / SUMMARY
    found = read_summary(folder).settings.get("t") if scored.is_file() else None
    return float(found) if isinstance(found, (int, float)) else ScoreSettings().t
