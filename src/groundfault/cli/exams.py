"""`eval` where the benchmark is asked in words: exams and POPE."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import typer

from groundfault.cli.exam_options import RULE, Means
from groundfault.cli.options import Format, Shown
from groundfault.errors import UsageError

if TYPE_CHECKING:
    from groundfault.answers import Answered, Mode
    from groundfault.asking import Conversing, Estimate, ExamRun
    from groundfault.asking.marking import ModelJudge
    from groundfault.asking.papers import ExamPaper, PopePaper
    from groundfault.cli.exam_telling import ExamTeller
    from groundfault.config import ScoreSettings
    from groundfault.records import Estimate as Value
    from groundfault.records import Summary
    from groundfault.scoring.exam import CotEffect, PositionBias

    Paper = ExamPaper | PopePaper

T = TypeVar("T")
EXAM, POPE = "reactbench", "pope"
TOKENS_PER_JUDGEMENT = 400
TOKENS_PER_CAUSE = 700
"""Without pictures."""


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

    from groundfault.asking.answerers import check_answerer
    from groundfault.asking.papers import PopePaper, read_paper
    from groundfault.engine import folder_name

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
    from groundfault.asking.answerers import usual_modes

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
    aside = _kept_aside(means, paper, modes, judge, causes)
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

    from groundfault.asking import run_questions
    from groundfault.asking.answerers import answerer_identity, load_answerer

    def confirm(guess: Estimate) -> bool:
        teller.estimated(guess)
        agree(f"Ask {spec}?", free=means.yes or _is_here(spec, means))
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
    from groundfault.asking import marking

    if _is_unanswered(run):
        return Marked(folder, run, [], None, {})
    run, rows = marking.judge_run(folder, run, paper, judge)
    teller.judged(run)
    if causes is not None:
        run, rows = marking.attribute_run(folder, run, paper, rows, means.attribute, causes)
    resampling = {"bootstrap": settings.bootstrap, "seed": settings.seed}
    scored, summary = marking.score_run(folder, run, paper, rows, **resampling)
    corrected = {}
    if means.card is not None:
        corrected = marking.correct_run(folder, run, paper, rows, scored, means.card, **resampling)
    return Marked(folder, run, rows, summary, corrected)


# Who judges.


def load_judge(means: Means, n_answers: int) -> ModelJudge | None:
    """The model that judges, once whoever pays has agreed; None is the rule judge."""
    from groundfault.asking.marking import ModelJudge

    if means.judge == RULE or not n_answers:
        return None
    tokens = n_answers * TOKENS_PER_JUDGEMENT
    asked = converse(means.judge, means, f"judging with {means.judge}", n_answers, tokens)
    return ModelJudge(means.judge, asked, _anew(asked))


def load_attributing(
    means: Means, papers: Mapping[T, Paper], asked: Mapping[T, Sequence[Mode]]
) -> Conversing | None:
    """The model that names sub-causes, if one is named."""
    if not means.attribute:
        return None
    reasoned = [papers[key] for key, modes in asked.items() if "cot" in modes]
    if not reasoned:
        raise UsageError("--attribute is about chains of thought: give --mode cot or both")
    n = sum(paper.questions(("cot",)).n_items for paper in reasoned)
    tokens = sum(_cause_tokens(means, paper) for paper in reasoned)
    return converse(means.attribute, means, f"sub-causes with {means.attribute}", n, tokens)


def _cause_tokens(means: Means, paper: Paper) -> int:
    """What naming the causes of all answers takes, were they all wrong."""
    from groundfault.asking.budget import PICTURE_TOKENS

    asked = list(paper.questions(("cot",)).asked())
    n_shown = 0 if means.attribute.startswith("blind:") else sum(len(q.pictures) for q in asked)
    return len(asked) * TOKENS_PER_CAUSE + n_shown * PICTURE_TOKENS


def converse(spec: str, means: Means, about: str, n_most: int, tokens: int) -> Conversing:
    """Conversations with a model that marks answers, once whoever pays has agreed; `n_most` of
    them, which take about so many tokens."""
    import msgspec

    from groundfault.asking import Conversing, Purse
    from groundfault.asking.answerers import load_answerer
    from groundfault.conversations import Served

    url = means.judge_url
    if not url and spec.removeprefix("blind:").startswith("openai:"):
        url = means.options.base_url
    options = msgspec.structs.replace(
        means.options,
        base_url=url,
        temperature=None if means.options.temperature is None else 0.0,
    )
    answerer = load_answerer(spec, options)
    price = means.judge_price
    if isinstance(answerer, Served) and not answerer.free:
        price = price or means.price
        money = "" if price is None else f", {price.of(tokens, 0):.2f} of money"
        print(f"{about}: at most {n_most} answers, about {tokens} tokens{money}", file=sys.stderr)
        agree(f"Ask {spec}?", free=means.yes or (price is None and _is_local(answerer.url)))
    return Conversing(
        answerer,
        concurrency=means.concurrency,
        patience=means.patience,
        purse=Purse(means.budget, price),
        batch=options.batch,
        progress=_progress(about),
    )


def _anew(asked: Conversing) -> Conversing:
    """The same model, asked anew what it was asked before."""
    from groundfault.asking import Conversing, Purse

    return Conversing(
        asked.answerer,
        fresh=True,
        purse=Purse(asked.purse.allowance, asked.purse.price),
        concurrency=asked.concurrency,
        patience=asked.patience,
        batch=asked.batch,
    )


def _progress(about: str) -> Callable[[int, int], None] | None:
    """A line on a terminal's standard error, with what is done."""
    if not sys.stderr.isatty():
        return None

    def advance(done: int, total: int) -> None:
        end = "\n" if done == total else ""
        sys.stderr.write(f"\r\x1b[K{about}: {done} of {total}{end}")
        sys.stderr.flush()

    return advance


# Who pays.


def agree(question: str, *, free: bool) -> None:
    """Go on if nobody pays or everybody agrees; where nobody can be asked, say what to run."""
    if free:
        return
    again = shlex.join(["groundfault", *sys.argv[1:], "--yes"])
    if not sys.stdin.isatty():
        raise UsageError(f"nobody is there to agree to what this may cost. To ask it: {again}")
    if not typer.confirm(question, err=True):
        raise UsageError("called off before anything was asked")


def check_prices(means: Means, judge: ModelJudge | None, causes: Conversing | None = None) -> None:
    """A budget in money is kept only where all prices are known."""
    if means.budget is None or not means.budget.in_money:
        return
    for asked in (judge.asked if judge else None, causes):
        if asked is not None and _is_paid(asked) and asked.purse.price is None:
            raise UsageError(
                "a budget in money needs the prices of who judges: give --judge-price IN/OUT per "
                "million tokens, or --price to groundfault judge"
            )


def _is_paid(asked: Conversing) -> bool:
    from groundfault.conversations import Served

    return isinstance(asked.answerer, Served)


def _kept_aside(
    means: Means,
    paper: Paper,
    modes: Sequence[Mode],
    judge: ModelJudge | None,
    causes: Conversing | None,
) -> float:
    """What is kept of the budget with each answer, so that those who mark it can be paid."""
    budget = means.budget
    if budget is None:
        return 0.0
    marking: list[tuple[Conversing, int]] = []
    if judge is not None:
        marking.append((judge.asked, paper.n_judged(modes) * TOKENS_PER_JUDGEMENT))
    if causes is not None and "cot" in modes:
        marking.append((causes, _cause_tokens(means, paper)))
    amounts = [
        budget.amount(tokens, asked.purse.cost_of(None, tokens, 0))
        for asked, tokens in marking
        if _is_paid(asked)
    ]
    return sum(amounts) / paper.questions(modes).n_items


def _is_here(spec: str, means: Means) -> bool:
    """Whether a model is on a server of one's own, and no price says otherwise."""
    if means.price is not None:
        return False
    given = means.options.base_url
    if not given and spec.removeprefix("blind:").startswith("openai:"):
        given = os.environ.get("OPENAI_BASE_URL", "")
    return _is_local(given)


def _is_local(url: str) -> bool:
    """Whether an address is this machine or one of a private network.

    >>> _is_local("http://localhost:11434/v1"), _is_local("http://192.168.0.7:8000/v1")
    (True, True)
    >>> _is_local("https://api.openai.com/v1"), _is_local("")
    (False, False)
    """
    import ipaddress
    from urllib.parse import urlsplit

    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_private


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
    from groundfault.errors import UnknownName
    from groundfault.report.summaries import summary_table
    from groundfault.report.tables import show

    known = summary.rows["Overall"].metrics
    chosen = list(known) if shown.metric == ["all"] else shown.metric
    for name in chosen or ():
        if name not in known:
            raise UnknownName("metric", name, known)
    if shown.format_ is Format.terminal:
        print(f"{spec}:")
    show(summary_table(summary, chosen), shown.format_)
    print()


def show_tables(
    paper: Paper, marked: Mapping[str, Marked], settings: ScoreSettings, shown: Shown
) -> None:
    """The paper's layouts of all models together, and habits of answering."""
    from groundfault.asking.papers import ExamPaper
    from groundfault.report import exams as tables
    from groundfault.report.tables import show

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
    from groundfault.scoring.exam import cot_effects

    return cot_effects(paper.exam, marked.rows, resamples=settings.bootstrap, seed=settings.seed)


def _positions(paper: ExamPaper, marked: Marked) -> dict[str, PositionBias]:
    from groundfault.scoring.exam import position_bias

    return position_bias(paper.exam, marked.rows)


def distributions(
    paper: ExamPaper, marked: Mapping[str, Marked]
) -> dict[str, Mapping[str, Mapping[str, int]]]:
    """Model → task → sub-cause → answers, of those that were attributed."""
    from groundfault.asking.marking import distribution_of

    return {
        spec: distribution_of(paper, each.rows)
        for spec, each in marked.items()
        if any(row.cause_by for row in each.rows)
    }


def _more(paper: Paper, marked: Marked, settings: ScoreSettings) -> dict[str, object]:
    """What the event of a finished run has besides its summary."""
    from groundfault.asking.papers import ExamPaper

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
    from groundfault.asking.papers import ExamPaper
    from groundfault.report.exam_figures import cause_figure
    from groundfault.report.page.drawing import standalone
    from groundfault.store import write_bytes

    causes = distributions(paper, marked) if isinstance(paper, ExamPaper) else {}
    if causes:
        path = out / "sub-causes.svg"
        write_bytes(path, standalone(cause_figure(causes)).encode())
        print(f"figure: {path}", file=sys.stderr)
