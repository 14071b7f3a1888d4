"""Score a dump of predictions, at one threshold or at every one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from groundfault.analysis.scoring import OF_A_RUN, Matched, as_scored, match_files, match_run
from groundfault.analysis.summary import summarise, write_results
from groundfault.analysis.sweep import Sweep, parse_grid
from groundfault.analysis.sweep import sweep as sweep_grid
from groundfault.api.options import score_settings
from groundfault.api.result import Result
from groundfault.config import ScoreSettings
from groundfault.errors import UnknownName, UsageError
from groundfault.io.sources import inputs_of
from groundfault.reports.progress import progress
from groundfault.runs.exporting import is_run

__all__ = ["score", "sweep"]

AnyPath = str | PathLike[str]
SETTINGS = ("t", "tau", "iou", "variant", "missing", "sizes")
"""What a protocol may let one choose; everything else that is given is an input."""


def score(
    name: AnyPath,
    *,
    predictions: AnyPath | None = None,
    out: AnyPath | None = None,
    bootstrap: int | None = None,
    seed: int | None = None,
    **given: Any,
) -> Result:
    """Score a dump of predictions with the protocol of a benchmark, or the stored predictions of a
    run, whose folder is given instead of a benchmark's name.

    `given` are the benchmark's inputs (annotations=…, cases=…, data=…) and what its protocol lets
    one choose (t=…, tau=…, iou=…, variant=…, missing=…, sizes=…). Those of a run that are not given
    are what it was scored with.
    """
    inputs, settings = _split(name, given)
    if is_run(name) and predictions is None:
        settings = as_scored(name, settings)[0]
    resolved = score_settings(bootstrap=bootstrap, seed=seed, **_checkable(settings))
    with progress("comparing masks") as advance:
        matched = _matched(name, inputs, predictions, settings, advance)
    scored = matched.score(settings)
    summary = summarise(
        scored, bootstrap=resolved.bootstrap, seed=resolved.seed, data=matched.hashes(scored)
    )
    if out is not None:
        write_results(out, scored, summary)
    return Result(
        summary,
        cases=scored.table(),
        folder=None if out is None else Path(out),
        benchmark=matched.benchmark,
    )


def sweep(
    name: AnyPath,
    *,
    predictions: AnyPath | None = None,
    t: str | Sequence[float] = "0.05:0.95:0.05",
    tau: str | Sequence[float] | None = None,
    bootstrap: int = 0,
    seed: int = 0,
    **given: Any,
) -> Sweep:
    """Score a dump, or a run, at every t and τ: one comparison, all operating points."""
    inputs, settings = _split(name, given)
    score_settings(bootstrap=bootstrap, seed=seed, **_checkable(settings))
    t_values = parse_grid(t) if isinstance(t, str) else tuple(t)
    tau_values: Sequence[float | None] = (None,)
    with progress("comparing masks") as advance:
        matched = _matched(name, inputs, predictions, settings, advance)
    if "tau" in matched.protocol.settings:
        grid = tau if tau is not None else "0.3:0.9:0.1"
        tau_values = parse_grid(grid) if isinstance(grid, str) else tuple(grid)
    with progress("sweeping") as advance:
        return sweep_grid(
            matched.protocol,
            matched.benchmark,
            matched.matched,
            settings=settings,
            t_values=t_values,
            tau_values=tau_values,
            bootstrap=bootstrap,
            seed=seed,
            progress=advance,
        )


def _matched(
    name: AnyPath,
    inputs: dict[str, Any],
    predictions: AnyPath | None,
    settings: dict[str, Any],
    progress: Callable[[int, int], None],
) -> Matched:
    if is_run(name) and predictions is None:
        return match_run(name, settings, **inputs)
    if predictions is None:
        raise UsageError(f"{name}: give its predictions, or the folder of a run")
    return match_files(str(name), inputs, predictions, settings, progress=progress)


def _checkable(settings: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in settings.items() if key in ScoreSettings.__struct_fields__}


def _split(name: AnyPath, given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Inputs of the benchmark, and settings; a single file stands for a list of one."""
    known = (OF_A_RUN,) if is_run(name) else inputs_of(str(name))
    declared = {each.name: each for each in known}
    inputs: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    for key, value in given.items():
        if key in declared:
            several = declared[key].kind == "files" and isinstance(value, (str, PathLike))
            inputs[key] = [value] if several else value
        elif key in SETTINGS:
            if value is not None:
                settings[key] = value
        else:
            raise UnknownName("input or option", key, (*declared, *SETTINGS))
    return inputs, settings
