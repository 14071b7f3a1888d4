"""Judge stored answers again, and find out how far a judge can be trusted."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from groundfault.cli import exam_markers, exam_options, exams
from groundfault.cli.options import (
    AsJson,
    Bootstrap,
    Command,
    Format,
    FormatOption,
    Metric,
    Published,
    Seed,
    Shown,
    add_commands,
    print_json,
    resolve_settings,
)
from groundfault.errors import UsageError

if TYPE_CHECKING:
    from groundfault.judges.labelled import Labelled
    from groundfault.runner.exam_papers import ExamPaper, PopePaper
    from groundfault.runner.exams import ExamRun

Yes = Annotated[bool, typer.Option("--yes", help="Pay for judgements without asking.")]
Timeout = Annotated[
    float | None, typer.Option("--timeout", min=0.1, help="Seconds for one request. [120]")
]


def judge(
    runs: Annotated[list[Path], typer.Argument(help="Folders written by eval of one exam.")],
    judge_: exam_options.Judge_ = exam_options.RULE,
    base_url: Annotated[str, typer.Option("--base-url", help="Of the judge's server.")] = "",
    attribute: exam_options.Attribute = "",
    card: exam_options.Card_ = None,
    data: Annotated[
        Path | None, typer.Option("--data", help="The exam, if it is no longer where it was.")
    ] = None,
    images: Annotated[Path | None, typer.Option("--images", help="POPE: the pictures.")] = None,
    concurrency: exam_options.Concurrency = None,
    max_tokens: exam_options.MaxTokens = None,
    temperature: exam_options.Temperature = "",
    timeout: Timeout = None,
    patience: exam_options.Patience_ = None,
    budget: exam_options.Budget_ = "",
    price: exam_options.Price_ = "",
    yes: Yes = False,
    bootstrap: Bootstrap = None,
    seed: Seed = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print events, one JSON object per line.")
    ] = False,
    format_: FormatOption = Format.terminal,
    metric: Metric = None,
    published: Published = False,
) -> None:
    """Judge and score stored answers again; no model is asked its questions again."""
    from groundfault.cli.exam_telling import ExamTeller
    from groundfault.judges.grading import read_exam_run

    settings = resolve_settings(None, bootstrap=bootstrap, seed=seed)
    means = exam_options.make_means(
        base_url=base_url,
        judge=judge_,
        attribute=attribute,
        card=card,
        concurrency=concurrency,
        max_tokens=max_tokens,
        temperature=temperature,
        timeout_s=timeout,
        patience_s=patience,
        budget=budget,
        judge_price=price,
        yes=yes,
    )
    shown = Shown(as_json, format_, metric, published)
    stored = {folder: read_exam_run(folder) for folder in runs}
    papers = {folder: _paper(run, data, images) for folder, run in stored.items()}
    if len({paper.hashes["benchmark"] for paper in papers.values()}) > 1:
        raise UsageError("these runs are about different questions; judge them one by one")
    n = sum(papers[folder].n_judged(run.modes) for folder, run in stored.items())
    model = exam_markers.load_judge(means, n)
    causes = exam_markers.load_attributing(
        means, papers, {f: run.modes for f, run in stored.items()}
    )
    exam_markers.check_prices(means, model, causes)
    marked: dict[str, exams.Marked] = {}
    for folder, run in stored.items():
        teller = ExamTeller(run.model, as_json=as_json)
        found = exams.mark(folder, run, papers[folder], model, causes, means, settings, teller)
        exams.tell(found, papers[folder], settings, shown, teller)
        marked[_name(folder, run, marked)] = found
    if not as_json:
        first = papers[runs[0]]
        exams.show_tables(first, marked, settings, shown)
        for out in dict.fromkeys(folder.resolve().parent for folder in runs):
            beside = {k: m for k, m in marked.items() if m.folder.resolve().parent == out}
            exams.write_cause_figure(out, first, beside)


def _name(folder: Path, run: ExamRun, known: dict[str, exams.Marked]) -> str:
    return run.model if run.model not in known else str(folder)


def _paper(run: ExamRun, data: Path | None, images: Path | None) -> ExamPaper | PopePaper:
    """What a run was asked, from where it was or where it is now."""
    from groundfault.runner.exam_papers import read_paper

    place = run.settings
    where = data or Path(str(place.get("data") or run.benchmark_folder))
    shown = images or (Path(str(place["images"])) if place.get("images") else None)
    if not where.exists():
        raise UsageError(f"{where}: the exam is no longer there; give it with --data")
    limit = place.get("limit")
    paper = read_paper(
        run.benchmark, data=where, images=shown, limit=limit if isinstance(limit, int) else None
    )
    if paper.hashes["benchmark"] != run.content_hash:
        raise UsageError(f"{where}: has other questions than this run was asked")
    return paper


def judge_card(
    labels: Annotated[
        Path,
        typer.Argument(
            help='JSON lines of {"item_id", "text", "verdict"}; or an exam folder, whose facts '
            "they are made from."
        ),
    ],
    judge_: exam_options.Judge_ = exam_options.RULE,
    exam: Annotated[
        Path | None, typer.Option("--exam", help="Exam folder that the labels are about.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Only so many labels, spread evenly.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="File for the card.")] = None,
    base_url: Annotated[str, typer.Option("--base-url", help="Of the judge's server.")] = "",
    concurrency: exam_options.Concurrency = None,
    max_tokens: exam_options.MaxTokens = None,
    temperature: exam_options.Temperature = "",
    timeout: Timeout = None,
    patience: exam_options.Patience_ = None,
    budget: exam_options.Budget_ = "",
    price: exam_options.Price_ = "",
    yes: Yes = False,
    as_json: AsJson = False,
    format_: FormatOption = Format.terminal,
) -> None:
    """How far can a judge be trusted? κ, α, precision and recall against labels, by task."""
    from groundfault.io.store import write_json
    from groundfault.judges.card import judge_card as make_card
    from groundfault.judges.rule import RuleJudge
    from groundfault.report.exams import judge_table
    from groundfault.report.tables import show

    means = exam_options.make_means(
        base_url=base_url,
        judge=judge_,
        concurrency=concurrency,
        max_tokens=max_tokens,
        temperature=temperature,
        timeout_s=timeout,
        patience_s=patience,
        budget=budget,
        judge_price=price,
        yes=yes,
    )
    labelled, about = _labels(labels, exam)
    if limit is not None and limit < len(labelled):
        labelled = [labelled[k * len(labelled) // limit] for k in range(limit)]
    model = exam_markers.load_judge(means, len(labelled))
    exam_markers.check_prices(means, model)
    card = make_card(model.judge if model else RuleJudge(), labelled, labels=about)
    if out is not None:
        write_json(out, card)
    if as_json:
        print_json(card)
    else:
        show(judge_table(card), format_)
    if out is not None:
        print(f"written: {out}", file=sys.stderr)


def _labels(labels: Path, exam: Path | None) -> tuple[list[Labelled], str]:
    """Labelled answers, and where they come from."""
    from groundfault.benchmarks import reactbench
    from groundfault.io.foreign import sha256
    from groundfault.judges.labelled import labelled_answers, read_labels

    if labels.is_dir():
        made = list(labelled_answers(reactbench.read(labels)))
        if not made:
            raise UsageError(
                f"{labels}: has no short answers in words, so there is no judge to try"
            )
        return made, f"made from the facts of {labels.name}"
    if exam is None:
        raise UsageError(f"{labels}: name the exam that these labels are about with --exam DIR")
    return read_labels(labels, reactbench.read(exam)), f"{labels.name}, {sha256(labels)[:12]}"


def register(app: typer.Typer, words: Sequence[str]) -> None:
    """Add these commands to the program."""
    commands: dict[str, Command] = {"judge": judge, "judge-card": judge_card}
    add_commands(app, commands, words)
