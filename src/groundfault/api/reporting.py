"""One page about any number of runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from groundfault.api.comparing import AnyRun, folders_of
from groundfault.api.result import Result

__all__ = ["report"]


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
    folders = folders_of([runs] if single else runs)  # type: ignore[arg-type, list-item]
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
