"""`eval` where the benchmark is asked in words: exams and POPE."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from groundfault.cli.exam_markers import (
    agree,
    check_prices,
    is_here,
    kept_aside,
    load_attributing,
    load_judge,
)
from groundfault.cli.exam_options import RULE, Means
from groundfault.cli.options import Format, Shown
from groundfault.errors import UsageError

if TYPE_CHECKING:
    from groundfault.cli.exam_telling import ExamTeller
    from groundfault.config import ScoreSettings
    from groundfault.judges.grading import ModelJudge
    from groundfault.llm.client import Conversing
    from groundfault.llm.cost import Estimate
    from groundfault.parsing.answers import Answered, Mode
    from groundfault.protocols.exam import CotEffect, PositionBias
    from groundfault.records import Estimate as Value
    from groundfault.records import Summary
    from groundfault.runner.exam_papers import ExamPaper, PopePaper
    from groundfault.runner.exams import ExamRun

    Paper = ExamPaper | PopePaper

EXAM, POPE = "reactbench", "pope"


class Marked(NamedTuple):
    """A run with what was made of it."""

    folder: Path
    run: ExamRun
    rows: list[Answered]
    summary: Summary | None
    """None where nothing was answered."""
    corrected: Mapping[str, Mapping[str, Value]]


def is_asked_in_words(benchmark: str, data: Path | None) -> bool:
    """Whether a benchmark is an exam or POPE: by its name, or by what its folder holds."""
    folder = Path(benchmark)
    if data is not None or not folder.is_dir():
        return benchmark in (EXAM, POPE)
    if (folder / "exam.json").is_file():
        return True
    return not (folder / "benchmark.json").exists() and any(folder.glob("*pope_*.json"))


def evaluate(
    benchmark: str,
    models: Sequence[str],
    out: Path,
    means: Means,
    settings: ScoreSettings,
    shown: Shown,
    *,
    data: Path | None = None,
    images: Path | None = None,
    limit: int | None = None,
) -> dict[str, tuple[ExamRun, Summary]]:
    """Ask models an exam, judge, score and print; what could be scored, for --fail-if."""
    import gc

    from groundfault.llm.names import check_answerer
    from groundfault.runner.exam_papers import PopePaper, read_paper
    from groundfault.runner.session import folder_name

    folders = {spec: out / folder_name(spec) for spec in models}
    if len(set(folders.values())) < len(folders):
        raise UsageError(f"two of {', '.join(folders)} would share a folder; ask them one by one")
    for spec in folders:
        check_answerer(spec)
    paper = read_paper(benchmark, data=data, images=images, limit=limit)
    if isinstance(paper, PopePaper) and (means.judge != RULE or means.attribute or means.card):
        raise UsageError("POPE asks for yes or no: leave --judge, --card and --attribute out")
    gc.enable()
    gc.freeze()
    asked = {spec: modes_of(spec, paper, means) for spec in folders}
    judge = load_judge(means, sum(paper.n_judged(modes) for modes in asked.values()))
    causes = load_attributing(means, dict.fromkeys(asked, paper), asked)
    check_prices(means, judge, causes)
    marked: dict[str, Marked] = {}
    for spec, folder in folders.items():
        marked[spec] = _evaluate(
            spec, folder, paper, asked[spec], means, judge, causes, settings, shown
        )
    if not shown.as_json:
        show_tables(paper, marked, settings, shown)
        write_cause_figure(out, paper, marked)
    _report_stops(marked)
    return {
        spec: (each.run, each.summary) for spec, each in marked.items() if each.summary is not None
    }


def modes_of(spec: str, paper: Paper, means: Means) -> tuple[Mode, ...]:
    """In which modes a model is asked: as told, else those that the benchmark and it have."""
    from groundfault.llm.names import usual_modes

    if means.modes is not None:
        return means.modes
    if paper.name == POPE:
        return ("std",)
    modes = usual_modes(spec)
    if len(modes) == 1:
        print(f"{spec}: always reasons, so it has one mode, {modes[0]}", file=sys.stderr)
    return modes


def _evaluate(
    spec: str,
    folder: Path,
    paper: Paper,
    modes: tuple[Mode, ...],
    means: Means,
    judge: ModelJudge | None,
    causes: Conversing | None,
    settings: ScoreSettings,
    shown: Shown,
) -> Marked:
    """Ask one model, mark its answers, say how it went."""
    from groundfault.cli.exam_telling import ExamTeller

    teller = ExamTeller(spec, as_json=shown.as_json)
    aside = kept_aside(means, paper, modes, judge, causes)
    run = _ask(spec, folder, paper, modes, means, teller, aside)
    teller.ended(run)
    marked = mark(folder, run, paper, judge, causes, means, settings, teller)
    tell(marked, paper, settings, shown, teller)
    return marked


def tell(
    marked: Marked, paper: Paper, settings: ScoreSettings, shown: Shown, teller: ExamTeller
) -> None:
    """The event of a finished run, or its table."""
    if shown.as_json:
        more = _more(paper, marked, settings)
        teller.finished(marked.run, marked.folder, marked.summary, more)
    elif marked.summary is not None:
        _show_summary(marked.run.model, marked.summary, shown)


def _ask(
    spec: str,
    folder: Path,
    paper: Paper,
    modes: Sequence[Mode],
    means: Means,
    teller: ExamTeller,
    aside: float,
) -> ExamRun:
    import functools

    from groundfault.llm.names import answerer_identity, load_answerer
    from groundfault.runner.exams import run_questions

    def confirm(guess: Estimate) -> bool:
        teller.estimated(guess)
        agree(f"Ask {spec}?", free=means.yes or is_here(spec, means))
        return True

    options = means.options
    with teller.asking():
        return run_questions(
            paper.questions(modes),
            functools.partial(load_answerer, spec, options),
            folder,
            name=spec,
            options=options,
            concurrency=means.concurrency,
            patience=means.patience,
            budget=means.budget,
            price=means.price,
            aside=aside,
            fresh=means.fresh,
            resume=means.resume,
            identity=answerer_identity(spec),
            settings={**paper.place, "timeout_s": options.timeout_s, "batch": options.batch},
            confirm=confirm,
            started=teller.started,
            progress=teller.progress,
        )


def mark(
    folder: Path,
    run: ExamRun,
    paper: Paper,
    judge: ModelJudge | None,
    causes: Conversing | None,
    means: Means,
    settings: ScoreSettings,
    teller: ExamTeller,
) -> Marked:
    """Judge, attribute and score the answers of a run; nothing if there are none."""
    from groundfault.judges import grading

    if _is_unanswered(run):
        return Marked(folder, run, [], None, {})
    run, rows = grading.judge_run(folder, run, paper, judge)
    teller.judged(run)
    if causes is not None:
        run, rows = grading.attribute_run(folder, run, paper, rows, means.attribute, causes)
    resampling = {"bootstrap": settings.bootstrap, "seed": settings.seed}
    scored, summary = grading.score_run(folder, run, paper, rows, **resampling)
    corrected = {}
    if means.card is not None:
        corrected = grading.correct_run(folder, run, paper, rows, scored, means.card, **resampling)
    return Marked(folder, run, rows, summary, corrected)


def _is_unanswered(run: ExamRun) -> bool:
    """Whether every question failed, and not because the budget was too small."""
    return run.outcomes["failed"] == run.n_items and not run.within_budget


def _report_stops(marked: Mapping[str, Marked]) -> None:
    """End with 2 if a run was cut short by anything but its own budget, or has no answer at all."""
    stopped = {
        spec: f"was stopped: {each.run.stopped}"
        for spec, each in marked.items()
        if each.run.stopped and not each.run.within_budget
    }
    unanswered = {
        spec: f"answered not one of {each.run.n_items} questions"
        for spec, each in marked.items()
        if _is_unanswered(each.run)
    }
    stopped = unanswered | stopped
    for spec, reason in stopped.items():
        print(f"error: {spec} {reason}", file=sys.stderr)
    if stopped:
        print("answers are kept: the same command goes on where this one ended", file=sys.stderr)
        raise typer.Exit(2)


# What is shown.


def _show_summary(spec: str, summary: Summary, shown: Shown) -> None:
    from groundfault.cli.options import chosen_metrics
    from groundfault.report.summaries import summary_table
    from groundfault.report.tables import show

    chosen = chosen_metrics(summary, shown.metric)
    if shown.format_ is Format.terminal:
        print(f"{spec}:")
    show(summary_table(summary, chosen), shown.format_)
    print()


def show_tables(
    paper: Paper, marked: Mapping[str, Marked], settings: ScoreSettings, shown: Shown
) -> None:
    """The paper's layouts of all models together, and habits of answering."""
    from groundfault.report import exams as tables
    from groundfault.report.tables import show
    from groundfault.runner.exam_papers import ExamPaper

    scored = {spec: each.summary for spec, each in marked.items() if each.summary is not None}
    if not isinstance(paper, ExamPaper) or not scored or shown.metric:
        return
    found = [tables.overall_table(scored, published=shown.published, brief=True)]
    found += tables.dimension_tables(scored, published=shown.published, brief=True)
    effects = {spec: _cot(paper, marked[spec], settings) for spec in scored}
    if any(effects.values()):
        found.append(tables.cot_table(effects, published=shown.published))
    found.append(tables.yes_table(scored))
    biases = {spec: _positions(paper, marked[spec]) for spec in scored}
    found.append(tables.position_table(biases))
    causes = distributions(paper, marked)
    if causes:
        found.append(tables.cause_table(causes, published=shown.published))
        found += tables.cause_tables(causes, published=shown.published)
    corrected = {spec: marked[spec].corrected for spec in scored if marked[spec].corrected}
    if corrected:
        found.append(tables.corrected_table(scored, corrected))
    for table in found:
        show(table, shown.format_)
        print()


def _cot(paper: ExamPaper, marked: Marked, settings: ScoreSettings) -> dict[str, CotEffect]:
    from groundfault.protocols.exam import cot_effects

    return cot_effects(paper.exam, marked.rows, resamples=settings.bootstrap, seed=settings.seed)


def _positions(paper: ExamPaper, marked: Marked) -> dict[str, PositionBias]:
    from groundfault.protocols.exam import position_bias

    return position_bias(paper.exam, marked.rows)


def distributions(
    paper: ExamPaper, marked: Mapping[str, Marked]
) -> dict[str, Mapping[str, Mapping[str, int]]]:
    """Model → task → sub-cause → answers, of those that were attributed."""
    from groundfault.judges.grading import distribution_of

    return {
        spec: distribution_of(paper, each.rows)
        for spec, each in marked.items()
        if any(row.cause_by for row in each.rows)
    }


def _more(paper: Paper, marked: Marked, settings: ScoreSettings) -> dict[str, object]:
    """What the event of a finished run has besides its summary."""
    from groundfault.runner.exam_papers import ExamPaper

    if not isinstance(paper, ExamPaper) or marked.summary is None:
        return {}
    return {
        "cot_effects": _cot(paper, marked, settings),
        "position_bias": _positions(paper, marked),
        "causes": distributions(paper, {"": marked}).get("", {}),
        "corrected": marked.corrected,
    }


def write_cause_figure(out: Path, paper: Paper, marked: Mapping[str, Marked]) -> None:
    """A stacked bar of sub-causes per model, if there are any."""
    from groundfault.io.store import write_bytes
    from groundfault.report.exam_figures import cause_figure
    from groundfault.report.page.drawing import standalone
    from groundfault.runner.exam_papers import ExamPaper

    causes = distributions(paper, marked) if isinstance(paper, ExamPaper) else {}
    if causes:
        path = out / "sub-causes.svg"
        write_bytes(path, standalone(cause_figure(causes)).encode())
        print(f"figure: {path}", file=sys.stderr)
