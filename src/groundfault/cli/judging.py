"""Judge stored answers again, and find out how far a judge can be trusted."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

import msgspec
import typer

from groundfault.cli.evaluation import agreement, interruptible, show_exam
from groundfault.cli.groups import grouped
from groundfault.cli.options import (
    AsJson,
    Attribute,
    Bootstrap,
    BudgetOption,
    CardOption,
    Command,
    Concurrency,
    ExtraBody,
    Format,
    FormatOption,
    JudgeOption,
    MaxTokens,
    MaxWaitOption,
    Metric,
    PatienceOption,
    Published,
    ReaderOption,
    Seed,
    Shown,
    Temperature,
    add_commands,
    print_json,
    show_summary,
)


class ReadingOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a model that reads answers is reached and paid."""

    TITLE: ClassVar[str] = "How a model that reads or judges is reached and paid"

    reader: ReaderOption = ""
    base_url: Annotated[str, typer.Option("--base-url", help="Of its server.")] = ""
    concurrency: Concurrency = None
    max_tokens: MaxTokens = None
    temperature: Temperature = ""
    extra_body: ExtraBody = ""
    timeout: Annotated[
        float | None, typer.Option("--timeout", min=0.1, help="Seconds for one request. [120]")
    ] = None
    patience: PatienceOption = None
    max_wait: MaxWaitOption = None
    budget: BudgetOption = ""
    price: Annotated[
        str, typer.Option("--price", help="IN/OUT, money per million tokens, as 0.4/1.6.")
    ] = ""
    yes: Annotated[bool, typer.Option("--yes", help="Pay for judgements without asking.")] = False

    def options(self) -> dict[str, Any]:
        """As `judge` takes them."""
        return {
            "reader": self.reader,
            "base_url": self.base_url,
            "concurrency": self.concurrency,
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "judge_extra_body": self.extra_body,
            "timeout_s": self.timeout,
            "patience_s": self.patience,
            "max_wait_s": self.max_wait,
            "budget": self.budget or None,
            "judge_price": self.price,
        }


class JudgingOptions(ReadingOptions, frozen=True, kw_only=True):
    """How a model that judges is reached and paid."""

    judge: JudgeOption = ""

    def options(self) -> dict[str, Any]:
        """As `judge` takes them."""
        return super().options() | {"judge": self.judge}


@grouped
def judge(
    runs: Annotated[list[Path], typer.Argument(help="Folders written by eval of one exam.")],
    judging: JudgingOptions,
    attribute: Attribute = "",
    card: CardOption = None,
    data: Annotated[
        Path | None, typer.Option("--data", help="The exam, if it is no longer where it was.")
    ] = None,
    images: Annotated[Path | None, typer.Option("--images", help="POPE: the pictures.")] = None,
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
    from groundfault.api.judging import judge as judge_again
    from groundfault.reports.events import RunReporter
    from groundfault.reports.tables import printable

    shown = Shown(as_json, format_, metric, published)
    with interruptible():
        results = judge_again(
            runs,
            data=data,
            images=images,
            agree=agreement(yes=judging.yes),
            reporter=lambda model: RunReporter(model, as_json=as_json, quiet=True),
            attribute=attribute,
            card=card,
            bootstrap=bootstrap,
            seed=seed,
            **judging.options(),
        )
    if as_json:
        return
    for name, result in results.items():
        if format_ is Format.terminal:
            print(f"{printable(name)}:")
        show_summary(result.summary, shown)
        print()
    if all(result.summary.protocol == "exam" for result in results.values()):
        show_exam(results, shown)


@grouped
def judge_card(
    labels: Annotated[
        Path,
        typer.Argument(
            help='JSON lines of {"item_id", "text", "verdict"}; or an exam folder, whose facts '
            "they are made from."
        ),
    ],
    judging: JudgingOptions,
    exam: Annotated[
        Path | None, typer.Option("--exam", help="Exam folder that the labels are about.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Only so many labels, spread evenly.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="File for the card.")] = None,
    as_json: AsJson = False,
    format_: FormatOption = Format.terminal,
) -> None:
    """How far can a judge be trusted? κ, α, precision and recall against labels, by task."""
    from groundfault.api.judging import judge_card as make_card
    from groundfault.io.store import write_json
    from groundfault.reports.exams import judge_table
    from groundfault.reports.tables import show

    agree = agreement(yes=judging.yes)
    with interruptible():
        card = make_card(labels, exam=exam, n_labels=limit, agree=agree, **judging.options())
    if out is not None:
        write_json(out, card)
    if as_json:
        print_json(card)
    else:
        show(judge_table(card), format_)
    if out is not None:
        print(f"written: {out}", file=sys.stderr)


@grouped
def reader_card(
    labels: Annotated[
        Path,
        typer.Argument(
            help='JSON lines of {"kind", "text", "value"}, kind being yes_no, choice, number or '
            'range; "question", "options" and "reasoning" go with them where they matter.'
        ),
    ],
    reading: ReadingOptions,
    out: Annotated[Path | None, typer.Option("--out", help="File for the card.")] = None,
    as_json: AsJson = False,
    format_: FormatOption = Format.terminal,
) -> None:
    """How often are answers read as they are meant? By rule, and with a model for the rest."""
    from groundfault.api.judging import reader_card as make_card
    from groundfault.io.store import write_json
    from groundfault.reports.exams import reader_table
    from groundfault.reports.tables import show

    with interruptible():
        card = make_card(labels, agree=agreement(yes=reading.yes), **reading.options())
    if out is not None:
        write_json(out, card)
    if as_json:
        print_json(card)
    else:
        show(reader_table(card), format_)
    if out is not None:
        print(f"written: {out}", file=sys.stderr)


def register(app: typer.Typer, words: Sequence[str]) -> None:
    """Add these commands to the program."""
    commands: dict[str, Command] = {
        "judge": judge,
        "judge-card": judge_card,
        "reader-card": reader_card,
    }
    add_commands(app, commands, words)
