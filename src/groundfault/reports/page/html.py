"""Assembling the page: one file that opens from disk, offline, with nothing to load.

The same runs give the same bytes: there is no date in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from groundfault import __version__
from groundfault.errors import MissingExtra
from groundfault.io.store import write_bytes
from groundfault.reports.agent_traces import script_hash
from groundfault.reports.page.agent_steps import make_episodes
from groundfault.reports.page.content import ChapterPage, chapter_page
from groundfault.reports.page.drawing import SERIES, Figure, rendered, standalone, style_sheet
from groundfault.reports.page.exam_answers import (
    Material,
    in_words,
    is_exam_folder,
    material_of,
)
from groundfault.reports.page.exam_cards import make_cards, shown_questions
from groundfault.reports.page.exam_sections import TYPE_WORDS
from groundfault.reports.page.gallery import Gallery, make_gallery
from groundfault.reports.page.inputs import Chapter, RunData, chapters, load_runs
from groundfault.reports.page.panels import PICTURE_PX, panel_figures
from groundfault.reports.page.pictures import Pictures
from groundfault.reports.page.sources import Sources
from groundfault.reports.page.telling import telling_case
from groundfault.reports.page.words import slice_name
from groundfault.reports.tables import printable
from groundfault.runs.run import Run

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["asset", "page_environment", "write_figures", "write_report"]

STYLES = ("report.css", "answers.css", "episodes.css")
PAGE_BYTES = 14_000_000
PICTURES = '<script type="application/json" id="pictures">'
EARLY_SCRIPT = "early.js"
SCRIPTS = ("report.js", "gallery.js", "compare.js", "episodes.js")


def write_report(
    runs: Sequence[Path],
    out: Path,
    *,
    images_from: Path | None = None,
    max_cases: int = 200,
    with_published: bool = False,
) -> None:
    """Write the report of run folders (summary.json + cases.parquet each) to one HTML file.

    Pictures come from `images_from`, a benchmark's folder or one of plain pictures, or from where
    they were when a run was made. At most `max_cases` failures are shown, and as many questions of
    exams. Published rows stand beside runs on the published data; `with_published` shows them
    beside others too.
    """
    environment = page_environment()
    loaded = load_runs([Path(run) for run in runs])
    found = chapters(loaded, with_published=with_published)
    materials = _materials(found, images_from)
    pages = _pages(found, materials)
    masks = [chapter for chapter in found if chapter not in materials]
    sources = Sources(None if is_exam_folder(images_from) else images_from)
    pictures = Pictures()
    telling = {
        page.id: telling_case(chapter, sources=sources, pictures=pictures)
        for page, chapter in zip(pages, found, strict=True)
        if chapter in masks
    }
    gallery = (
        make_gallery(masks, sources=sources, max_cases=max_cases, pictures=pictures)
        if masks
        else None
    )
    asked = [shown_questions(*each) for each in materials.items()]
    cards = make_cards(asked, max_cases=max_cases, pictures=pictures) if asked else None
    episodes = make_episodes(masks, gallery, sources=sources, pictures=pictures)
    slices = {row: words for chapter in found for row, words in chapter.protocol.slices.items()}
    cells = {cell: words for chapter in found for cell, words in chapter.protocol.cells.items()}
    early_js, js = asset(EARLY_SCRIPT), "".join(map(asset, SCRIPTS))
    html = environment.get_template("report.html").render(
        title=_title(pages, found),
        chapters=pages,
        telling=telling,
        several=len(pages) > 1,
        pictures_first=len(found) == 1 and found[0].protocol.pictures_first,
        gallery=gallery,
        cards=cards,
        episodes=episodes,
        filters=_filters(gallery, cells),
        cell_words=cells,
        task_words={card.task: card.task_title for card in cards.cards} if cards else {},
        type_words=TYPE_WORDS,
        slice_name=lambda row: slice_name(row, slices),
        provenance=_provenance(loaded),
        version=__version__,
        figure_css=style_sheet(),
        css="".join(map(asset, STYLES)),
        early_js=early_js,
        js=js,
        allowed=(script_hash(early_js), script_hash(js)),
        n_series=SERIES,
    )
    # foreign text is escaped: it cannot hold this element, which comes once and is empty so far
    before, start, after = html.partition(PICTURES)
    stored = _json(pictures.encoded(PAGE_BYTES - len(html.encode())))
    write_bytes(out, (before + start + stored + after).encode())


def write_figures(
    runs: Sequence[Path],
    folder: Path,
    *,
    images_from: Path | None = None,
    notes: list[str] | None = None,
) -> list[Path]:
    """Write every figure as SVG and, where vl-convert is installed, as PNG and PDF; the first
    tables, or an exam's, as LaTeX. `notes` gets why cases have no panels."""
    found = chapters(load_runs([Path(run) for run in runs]))
    pages = _pages(found, _materials(found, None))
    written: list[Path] = []

    def write(name: str, content: bytes) -> None:
        write_bytes(Path(folder) / name, content)
        written.append(Path(folder) / name)

    sources = Sources(None if is_exam_folder(images_from) else images_from)
    panels = panel_figures(found, sources=sources, pictures=Pictures(PICTURE_PX))
    seen: dict[str, int] = {}
    for figure in [*(figure for page in pages for figure in _figures(page)), *panels]:
        seen[figure.name] = seen.get(figure.name, 0) + 1
        name = figure.name if seen[figure.name] == 1 else f"{figure.name}-{seen[figure.name]}"
        for ending, content in _formats(standalone(figure)):
            write(f"{name}.{ending}", content)
    for page in pages:
        for name, latex in page.latex:
            write(f"{name}.tex", latex.encode())
    if notes is not None:
        notes += dict.fromkeys(sources.notes)
    return written


def _materials(found: Sequence[Chapter], images_from: Path | None) -> dict[Chapter, Material]:
    """Of the chapters in words; `images_from` may be a benchmark of masks, which is not theirs."""
    other = images_from is not None and (images_from / "benchmark.json").is_file()
    given = None if other else images_from
    return {chapter: material_of(chapter, given) for chapter in found if in_words(chapter.runs[0])}


def _pages(found: Sequence[Chapter], materials: Mapping[Chapter, Material]) -> list[ChapterPage]:
    several = [chapter.benchmark for chapter in found]
    pages, seen = [], dict.fromkeys(several, 0)
    for chapter in found:
        seen[chapter.benchmark] += 1
        number = seen[chapter.benchmark] if several.count(chapter.benchmark) > 1 else 0
        pages.append(chapter_page(chapter, number, materials.get(chapter)))
    return pages


def _figures(page: ChapterPage) -> list[Figure]:
    return [
        figure for section in page.sections for panel in section.panels for figure in panel.figures
    ]


def _formats(svg: str) -> list[tuple[str, bytes]]:
    kinds = ("svg", "png", "pdf") if find_spec("vl_convert") else ("svg",)
    return [(kind, rendered(svg, kind)) for kind in kinds]


def page_environment() -> Environment:
    """What fills in the pages of this folder; foreign text is escaped."""
    try:
        from jinja2 import Environment, FunctionLoader
    except ImportError:
        raise MissingExtra("Jinja2", "report") from None
    environment = Environment(
        autoescape=True, loader=FunctionLoader(asset), trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["printable"] = lambda value: printable(str(value))
    environment.filters["spoken"] = lambda value: "\n".join(map(printable, str(value).splitlines()))
    environment.filters["grouped"] = lambda value: f"{value:,}"
    return environment


def asset(name: str) -> str:
    """A template, style or script of the pages."""
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def _json(value: object) -> str:
    """JSON that cannot end the script element it stands in."""
    return msgspec.json.encode(value).decode().replace("<", "\\u003c")


def _title(pages: Sequence[ChapterPage], found: Sequence[Chapter]) -> str:
    names = list(dict.fromkeys(page.title for page in pages))
    n_runs = sum(len(chapter.runs) for chapter in found)
    runs = "1 run" if n_runs == 1 else f"{n_runs} runs"
    return f"{' and '.join(names)}: {runs}"


def _filters(gallery: Gallery | None, known: Mapping[str, str]) -> dict[str, list[str]]:
    """What there is to choose from."""
    examples = gallery.examples if gallery else ()
    order = list(known)
    cells = {cell for example in examples for cell in example.cells}
    return {
        "model": list(dict.fromkeys(sorted(example.run for example in examples))),
        "kind": sorted({example.kind for example in examples if example.kind}),
        "cell": sorted(cells, key=order.index),
    }


class Provenance(msgspec.Struct, frozen=True):
    """The exact settings, data and versions of a run, or what all runs share."""

    name: str
    facts: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()


def _provenance(runs: Sequence[RunData]) -> list[Provenance]:
    """What all runs share, once; then what is particular to each."""
    facts = [_facts(run) for run in runs]
    shared = [fact for fact in facts[0] if all(fact in other for other in facts)]
    own = [
        Provenance(
            run.name,
            tuple(fact for fact in listed if len(runs) == 1 or fact not in shared),
            run.summary.notes,
        )
        for run, listed in zip(runs, facts, strict=True)
    ]
    return own if len(runs) == 1 else [Provenance("All runs", tuple(shared)), *own]


def _facts(run: RunData) -> list[tuple[str, str]]:
    summary = run.summary
    facts: list[tuple[str, str]] = [
        ("folder", str(run.folder)),
        ("benchmark", summary.benchmark),
        ("protocol", run.protocol.name),
        *(("τ" if k == "tau" else k, str(v)) for k, v in summary.settings.items() if v is not None),
        *((f"SHA-256 of {k}", v) for k, v in summary.data.items()),
        ("answers", ", ".join(f"{n:,} {end}" for end, n in summary.outcomes.items() if n)),
        ("scored by", f"groundfault {summary.version}"),
    ]
    if run.run is not None:
        made = run.run
        facts += [
            ("model", made.model),
            ("label", made.label),
            ("benchmark folder", made.benchmark_folder),
            ("content hash", made.content_hash),
            *((f"run setting {k}", str(v)) for k, v in made.settings.items()),
            *((f"version of {k}", v) for k, v in made.versions.items()),
            *_graders(made),
            ("time", f"{made.seconds:,.1f} s for {made.n_items:,} items" if made.n_items else ""),
        ]
    return [(name, value) for name, value in facts if value]


def _graders(made: Run) -> Iterator[tuple[str, str]]:
    """Who judged an exam's answers and who named causes, and what they were told."""
    for title, grader in (
        ("judge", made.judged),
        ("reader", made.read),
        ("causes named by", made.attributed),
    ):
        if grader is None:
            continue
        yield title, grader.name
        yield f"{title}: SHA-256 of its prompts", grader.prompt_hash
        if grader.canaries:
            missed = grader.canaries_missed
            yield f"{title}: canaries", f"{missed} of {grader.canaries} missed"
