"""The page of a leaderboard: the first tables of every benchmark, and how each entry was made."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from groundfault import __version__
from groundfault.analysis.entries import Entry, entry_file
from groundfault.io.store import write_bytes, write_json
from groundfault.records import Estimate
from groundfault.registry import is_baseline
from groundfault.reports.agent_traces import script_hash
from groundfault.reports.page.content import ChapterPage, chapter_page
from groundfault.reports.page.drawing import SERIES, style_sheet
from groundfault.reports.page.html import EARLY_SCRIPT, STYLES, asset, page_environment
from groundfault.reports.page.inputs import RunData, chapters, load_runs

__all__ = ["write_board"]

SHOWN_SETTINGS = ("variant", "t", "tau", "iou", "mode", "modes", "judge", "bootstrap")


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One entry in leaderboard.json."""

    name: str
    file: str
    benchmark: str
    title: str
    by: str
    url: str
    is_baseline: bool
    n_cases: int
    data: dict[str, str]
    settings: dict[str, object]
    metrics: dict[str, Estimate]
    ranks: dict[str, int]
    """By metric; shared where the data cannot tell runs apart."""


def write_board(
    entries: Sequence[Entry],
    folders: Sequence[Path],
    site: Path,
    *,
    title: str,
    with_published: bool,
) -> None:
    """Write index.html and leaderboard.json; `folders` are the entries, unpacked."""
    found = chapters(load_runs(folders), with_published=with_published)
    pages = [chapter_page(chapter, number) for number, chapter in enumerate(found, start=1)]
    by_folder = dict(zip(folders, entries, strict=True))
    lines = [
        [_line(by_folder[run.folder], run, page) for run in chapter.runs]
        for page, chapter in zip(pages, found, strict=True)
    ]
    write_json(site / "leaderboard.json", [line for listed in lines for line in listed])
    early, js = asset(EARLY_SCRIPT), asset("report.js")
    html = page_environment().get_template("board.html").render(
        title=title,
        chapters=list(zip(pages, lines, strict=True)),
        shown_settings=_shown,
        version=__version__,
        css="".join(map(asset, STYLES)) + style_sheet(),
        early_js=early,
        js=js,
        allowed=(script_hash(early), script_hash(js)),
        n_series=SERIES,
    )  # fmt: skip
    write_bytes(site / "index.html", html.encode())


def _line(entry: Entry, run: RunData, page: ChapterPage) -> Line:
    overall = run.summary.rows["Overall"]
    ((_, (table, *_)), *_) = page.parts
    cells = {row.name: row.cells for row in (*table.rows, *table.baselines)}[run.name]
    headings = [name for name, _, _ in table.columns]
    return Line(
        name=entry.name,
        file=f"entries/{entry_file(entry.name)}",
        benchmark=run.summary.benchmark,
        title=page.title,
        by=entry.by,
        url=entry.url,
        is_baseline=is_baseline(entry.model),
        n_cases=overall.n_cases,
        data=run.summary.data,
        settings=run.summary.settings,
        metrics=dict(overall.metrics),
        ranks={
            name: cell.rank
            for name, cell in zip(headings, cells, strict=True)
            if cell.rank is not None
        },
    )


def _shown(line: Line) -> str:
    said = ((name, line.settings.get(name)) for name in SHOWN_SETTINGS)
    return ", ".join(f"{name} {value}" for name, value in said if value not in (None, "", [], ()))
