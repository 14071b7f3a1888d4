"""Runs in the browser, case by case."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from groundfault.api.comparing import AnyRun, folders_of
from groundfault.api.reporting import scored_folders
from groundfault.api.result import Result

if TYPE_CHECKING:
    from groundfault.web.explore.desk import Places
    from groundfault.web.serving import Running

__all__ = ["Exploring", "explore", "places_of"]

AnyPath = str | PathLike[str]


class Exploring:
    """A server in this process, until it is closed or the process ends."""

    def __init__(self, running: Running) -> None:
        self._running = running
        self.url = running.url
        """The link that lets one in."""

    def close(self) -> None:
        """End it. A second call does nothing."""
        self._running.stop()

    def __enter__(self) -> Exploring:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"exploring at {self.url}"

    def _repr_html_(self) -> str:
        url = escape(self.url)
        return f'Exploring at <a href="{url}" target="_blank" rel="noopener">{url}</a>'


def explore(
    runs: Sequence[AnyRun] | AnyRun,
    *,
    images: AnyPath | None = None,
    notes: AnyPath | None = None,
    exports: AnyPath | None = None,
    evaluated: Sequence[AnyPath] = (),
    port: int = 0,
    browser: bool = True,
) -> Exploring:
    """Open runs in the browser, and give a handle with `.url` and `.close()`.

    `images` is a benchmark's folder, if pictures are not where they were; `notes` the file of one's
    notes and tags, else one beside the runs; `exports` where benchmarks and training lists are
    written; `evaluated` are further benchmarks whose pictures no training list may hold.
    """
    from groundfault.web.explore.serving import explore_in_background

    single = isinstance(runs, (Result, str, PathLike))
    folders = scored_folders(folders_of([runs] if single else runs))  # type: ignore[arg-type, list-item]
    places = places_of(images=images, notes=notes, exports=exports, evaluated=evaluated)
    running = explore_in_background(folders, places, port=port)
    if browser:
        import webbrowser

        webbrowser.open(running.url)
    return Exploring(running)


def places_of(
    *,
    images: AnyPath | None,
    notes: AnyPath | None,
    exports: AnyPath | None,
    evaluated: Sequence[AnyPath],
) -> Places:
    """Where things are that do not come with the runs."""
    from groundfault.web.explore.desk import Places

    def path(given: AnyPath | None) -> Path | None:
        return None if given is None else Path(given)

    return Places(
        images=path(images),
        notes=path(notes),
        exports=path(exports),
        evaluated=tuple(map(Path, evaluated)),
    )
