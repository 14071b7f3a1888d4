"""What the page says about one chapter: verdict, tables, sections; from stored results only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from groundfault.analysis.compare import Comparison, Runs, compare_runs
from groundfault.errors import GroundfaultError
from groundfault.metrics import family
from groundfault.published import is_published_data
from groundfault.records import Estimate
from groundfault.reports.audits import audit_tables
from groundfault.reports.page.along_t import along_t_section
from groundfault.reports.page.exam_answers import Material
from groundfault.reports.page.exam_sections import exam_sections, find
from groundfault.reports.page.exam_tables import exam_latex, took_table
from groundfault.reports.page.headline import (
    HeadlineTable,
    failed_of,
    headline_latex,
    headline_tables,
    published_note,
    table_note,
)
from groundfault.reports.page.inputs import Chapter
from groundfault.reports.page.kinds import (
    dose_section,
    kinds_section,
    profile_section,
    split_section,
)
from groundfault.reports.page.scores import calibration_section, spread_section
from groundfault.reports.page.sections import Context, Section, quoted
from groundfault.reports.page.thresholds import overlap_section, thresholds_section
from groundfault.reports.summaries import conventions_table
from groundfault.reports.tables import Table

__all__ = ["ChapterPage", "chapter_page"]

RESAMPLES = 10_000
EXAM = "exam"
"""The protocol whose chapters have sections of their own."""
MOST_RANKED = 30
"""Beyond so many runs only Overall is ranked: pairs grow with their square."""
MOST_NAMED = 5
"""More models than these are counted, not named."""
SECTIONS = (
    kinds_section,
    along_t_section,
    thresholds_section,
    overlap_section,
    calibration_section,
    spread_section,
    dose_section,
    split_section,
    profile_section,
)
"""In the order of the page; each gives None where the runs have nothing for it."""


class ChapterPage(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about runs that may be ranked against each other."""

    id: str
    title: str
    apart: str
    about: str
    """What a reader must know about the data."""
    asked: str
    tested: str
    """Who was asked, and how much."""
    verdict: tuple[tuple[str, str], ...]
    """Sentences: a name, and what is said of it."""
    warnings: tuple[str, ...]
    parts: tuple[tuple[str, tuple[HeadlineTable, ...]], ...]
    """Tables by slice: all of its cases, then each split."""
    splits: tuple[str, ...]
    table_note: str
    published_note: str
    published_heading: str
    sections: tuple[Section, ...]
    meanings: tuple[tuple[str, str], ...]
    more: tuple[Table, ...] = ()
    """Tables below the first: metrics under several conventions; what an exam's runs took."""
    latex: tuple[tuple[str, str], ...] = ()
    """Tables for papers, by file name."""


def chapter_page(
    chapter: Chapter, number: int = 0, material: Material | None = None
) -> ChapterPage:
    """The page of one chapter; `number` tells several of one benchmark apart, 0 if there is one.
    `material` is what a chapter in words is made of."""
    summary, protocol = chapter.runs[0].summary, chapter.protocol
    headlines = protocol.shown_on_page(summary.rows["Overall"].metrics)
    context = Context(chapter, number, _comparisons(chapter, headlines))
    notes: list[str] = []
    conventions = conventions_table({run.name: run.summary for run in chapter.runs}, ["Overall"])
    below = [] if conventions is None else [conventions]
    tables = tuple(headline_tables(context, headlines))
    if protocol.pictures_first:
        tables = tables[:1]
        measures, *by_row = audit_tables({run.name: run.summary for run in chapter.runs})
        below += [msgspec.structs.replace(measures, title="How much each is about"), *by_row]
    parts = dict.fromkeys(table.part for table in tables)
    if material is not None:
        notes += material.notes
    if material is None or protocol.name != EXAM:
        latex = tuple(headline_latex(context.title, table) for table in tables)
        sections = [section for make in SECTIONS if (section := make(context)) is not None]
    else:
        findings, more = find(material)
        sections = exam_sections(context, findings)
        below.append(took_table(context))
        latex = tuple(exam_latex(context, findings))
        notes += [*more, *_judging(context)]
    return ChapterPage(
        id=context.figure_name("chapter"),
        title=context.title,
        apart=chapter.apart,
        about=summary.about,
        asked=protocol.asked,
        tested=_tested(context),
        verdict=tuple(_verdict(context)),
        warnings=(*_warnings(context), *notes),
        parts=tuple((part, tuple(t for t in tables if t.part == part)) for part in parts),
        splits=tuple(dict.fromkeys(table.split for table in tables)),
        table_note=table_note(context),
        published_note=published_note(context) if any(t.published for t in tables) else "",
        published_heading=(
            "As published" if is_published_data(summary) else "As published, on other data"
        ),
        sections=tuple(sections),
        meanings=tuple(
            (metric.heading, metric.about)
            for metric in map(context.metric, headlines)
            if metric.about
        ),
        more=tuple(below),
        latex=latex,
    )


def _comparisons(chapter: Chapter, metrics: Sequence[str]) -> dict[str, Comparison]:
    """Paired tests by row, each table being one family of tests."""
    if len(chapter.runs) < 2 or not _can_compare(chapter):
        return {}
    rows = [row for row, content in chapter.runs[0].summary.rows.items() if content.n_cases]
    if len(chapter.runs) > MOST_RANKED or chapter.protocol.pictures_first:
        rows = ["Overall"]
    metrics = [name for name in metrics if chapter.protocol.metric(name).is_ranked]
    runs = Runs.read([run.folder for run in chapter.runs])
    return {
        row: compare_runs(runs, metrics=metrics, rows=[row], resamples=RESAMPLES) for row in rows
    }


def _can_compare(chapter: Chapter) -> bool:
    """Whether the metrics of the runs can be made again from their sums."""
    try:
        for prefix in {name.partition(".")[0] for name in chapter.runs[0].contribution_names}:
            family(prefix)
    except GroundfaultError:
        return False
    return True


def _tested(context: Context) -> str:
    """Who was asked how much, as "a, b and 4 baselines on 240 cases"."""
    names = [run.name for run in context.models]
    named = names if len(names) <= MOST_NAMED else [f"{len(names)} models"]
    apart = len(context.runs) - len(names)
    if apart:
        named = [*named, "1 baseline" if apart == 1 else f"{apart} baselines"]
    n = context.runs[0].summary.rows["Overall"].n_cases
    unit = "photograph" if context.chapter.protocol.pictures_first else "case"
    return f"{_listed(named)} on {n:,} {unit if n == 1 else f'{unit}s'}."


def _verdict(context: Context) -> Iterable[tuple[str, str]]:
    """The first sentences, each as a name and what is said of it: who does how well, and whether
    anyone is ahead by more than chance."""
    words = context.protocol
    (best, estimate), *others = _from_best(context, words.told) or [("", Estimate(None))]
    if estimate.value is None:
        return
    value, ends = quoted(context, words.told, estimate)
    said = re.sub(r" +(?=[ ,]|$)", "", words.sentence.format(value=value, interval=ends))
    yield best, f" {said}."
    if others and others[-1][1].value == estimate.value:
        yield "", "So does the other." if len(others) == 1 else f"So do the {len(others)} others."
    elif others:
        between = f"; {len(others) - 1} in between" if len(others) > 1 else ""
        last, estimate = others[-1]
        yield last, f": {' '.join(quoted(context, words.told, estimate)).rstrip()}{between}."
    yield from _winner(context, words.main)


def _from_best(context: Context, metric: str) -> list[tuple[str, Estimate]]:
    """Names and values of the runs that have one, the best first."""
    found = [
        (run.name, run.summary.rows["Overall"].metrics.get(metric, Estimate(None)))
        for run in context.models
    ]
    defined = [entry for entry in found if entry[1].value is not None]
    higher = context.metric(metric).better != "lower"
    return sorted(defined, key=lambda entry: entry[1].value or 0.0, reverse=higher)


def _winner(context: Context, metric: str) -> Iterable[tuple[str, str]]:
    """Who is ahead on the main metric beyond chance, or who shares the first rank; one model alone
    is ahead of nobody, though baselines stand beside it."""
    comparison = context.comparisons.get("Overall")
    told = [run.name for run in context.models]
    if len(told) < 2 or comparison is None or metric not in comparison.ranks["Overall"]:
        return
    ranks = comparison.ranks["Overall"][metric]
    listed = zip(context.runs, comparison.runs, strict=True)
    ranked = {run.name: ranks[name] for run, name in listed if run.name in told and name in ranks}
    first = [name for name, rank in ranked.items() if rank == min(ranked.values())]
    short = context.metric(metric).heading
    if len(first) > 1:
        yield "", f"The data cannot tell {_listed(first)} apart on {short}: they share the lead."
    elif first:
        value, ends = quoted(context, metric, dict(_from_best(context, metric))[first[0]])
        yield first[0], f" leads on {short}, beyond chance: {value} {ends}".rstrip() + "."


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _warnings(context: Context) -> Iterable[str]:
    for run in context.runs:
        failed, total = failed_of(run)
        if failed:
            yield (
                f"{run.name}: {failed:,} of {total:,} answers failed and are left out, so its "
                f"numbers are about {total - failed:,} of {total:,}. Bounds stand below its values."
            )
        unread = run.summary.outcomes.get("unparsed", 0)
        if unread and context.protocol.bounds_told:
            left_out = " and ".join(context.protocol.bounds_told)
            yield (
                f"{run.name}: {unread:,} of {total:,} answers could not be read. They are left out "
                f"of {left_out}, whose bounds stand below, and are wrong in everything else."
            )
    if len(context.runs) > 1 and not context.comparisons:
        yield (f"Not ranked: the package that scores {context.chapter.benchmark} is not installed.")
    thresholds = {run.t for run in context.runs}
    if len(thresholds) > 1:
        each = ", ".join(f"{run.name} t = {run.t:g}" for run in context.runs if run.t is not None)
        yield f"Each run has its own score threshold: {each}."


def _judging(context: Context) -> Iterable[str]:
    """What keeps the runs of an exam from being quite alike, and what their judges did."""
    judges = {
        run.name: tuple(str(name) for name in found)
        for run in context.runs
        if isinstance(found := run.summary.settings.get("judge"), (list, tuple))
    }
    if len(set(judges.values())) > 1:
        each = "; ".join(f"{name} by {', '.join(by) or 'nobody'}" for name, by in judges.items())
        yield f"Not judged alike, so their short answers do not quite compare: {each}."
    for run in context.runs:
        made = run.run
        if made is None:
            continue
        if made.stopped:
            yield f"{run.name} was stopped: {made.stopped}."
        if made.judged and made.judged.unjudged:
            n = made.judged.unjudged
            yield f"{run.name}: its judge left {n:,} answers unjudged; they are not scored."
        for grader in (made.judged, made.attributed):
            yield from (f"{run.name}: {warning}" for warning in (grader.warnings if grader else ()))
    modes = {run.name: run.summary.settings.get("modes") for run in context.runs}
    if len({str(found) for found in modes.values()}) > 1:
        one = [name for name, found in modes.items() if isinstance(found, list) and len(found) == 1]
        yield f"Asked in one mode only: {_listed(one)}. Scores over modes are about that one."
