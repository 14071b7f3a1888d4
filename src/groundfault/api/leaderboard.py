"""A static site of runs, and the files by which others add theirs."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory

from groundfault.analysis.entries import Entry, entry_file, entry_of, read_entry, unpack
from groundfault.errors import UsageError
from groundfault.io.store import new_folder, write_json

__all__ = ["leaderboard"]


def leaderboard(
    runs: Sequence[str | PathLike[str]],
    out: str | PathLike[str],
    *,
    title: str = "Leaderboard",
    by: str = "",
    published: bool = False,
) -> Path:
    """Write SITE/index.html, leaderboard.json and entries/NAME.json from run folders and submitted
    entries; every entry is worked out again before it is shown. `by` is written into new entries;
    `published` shows what papers report on other data beside them."""
    from groundfault.reports.page.board import write_board

    entries = _named([_entry(Path(run), by) for run in runs])
    with TemporaryDirectory(prefix="groundfault-board-") as place:
        folders = [unpack(entry, Path(place) / str(k)) for k, entry in enumerate(entries)]
        with new_folder(Path(out)) as site:
            for entry in entries:
                write_json(site / "entries" / entry_file(entry.name), entry)
            write_board(entries, folders, site, title=title, with_published=published)
    return Path(out)


def _entry(run: Path, by: str) -> Entry:
    if run.is_dir():
        return entry_of(run, by=by)
    return read_entry(run)


def _named(entries: Sequence[Entry]) -> Sequence[Entry]:
    """Two of one benchmark never share a name, nor a file."""
    if not entries:
        raise UsageError("give at least one run folder, or an entry that leaderboard wrote")
    seen: set[str] = set()
    for entry in entries:
        file = entry_file(entry.name)
        if file in seen:
            raise UsageError(
                f"two entries are called {entry.name!r}; rename one (--model LABEL=… of eval)"
            )
        seen.add(file)
    return entries
