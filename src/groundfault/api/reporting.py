"""One page about any number of runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from groundfault.api.comparing import AnyRun, folders_of
from groundfault.api.result import Result
from groundfault.errors import UsageError
from groundfault.runs.run import RUN, read_run

__all__ = ["report", "scored_folders"]


def report(
    runs: Sequence[AnyRun] | AnyRun,
    out: str | PathLike[str] = "report.html",
    *,
    images: str | PathLike[str] | None = None,
    figures: str | PathLike[str] | None = None,
    published: bool = False,
) -> Path:
    """Write one self-contained HTML page about runs and give its path. `images` is a benchmark's
    folder, if pictures are not where they were; `figures` a folder for every figure as a file."""
    from groundfault.reports.page import write_figures, write_report

    single = isinstance(runs, (Result, str, PathLike))
    folders = scored_folders(folders_of([runs] if single else runs))  # type: ignore[arg-type, list-item]
    write_report(
        folders,
        Path(out),
        images_from=None if images is None else Path(images),
        with_published=published,
    )
    if figures is not None:
        notes: list[str] = []
        given = None if images is None else Path(images)
        write_figures(folders, Path(figures), images_from=given, notes=notes)
        for note in notes:
            print(f"figures: {note}", file=sys.stderr)
    return Path(out)


def scored_folders(folders: Sequence[Path]) -> list[Path]:
    """Those that have scores; what else lies among them is named and left out."""
    found = {folder: _obstacle(folder) for folder in folders}
    left_out = {folder: why for folder, why in found.items() if why}
    if folders and len(left_out) == len(found):
        raise UsageError("; ".join(f"{folder}: {why}" for folder, why in left_out.items()))
    for folder, why in left_out.items():
        print(f"skipped: {folder}: {why}", file=sys.stderr)
    return [folder for folder, why in found.items() if not why]


def _obstacle(folder: Path) -> str:
    """Why a folder has nothing to report; "" if it has."""
    if not folder.exists():
        return "no such folder"
    if not folder.is_dir():
        return "is no folder of a run"
    if (folder / "summary.json").is_file():
        return ""
    if not (folder / RUN).is_file():
        return "is no run: it has neither summary.json nor run.json"
    run = read_run(folder)
    ends = {"running": "is still running, or was killed", "finished": "has no scores"}
    how = ends.get(run.state, f"was {run.state}" if run.state != "failed" else "failed")
    return f"{how}{f': {run.stopped}' if run.stopped else ''}; run its eval command again"
