"""The options of exams, and what they mean together."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from groundfault.errors import UsageError

if TYPE_CHECKING:
    from groundfault.judges.card import JudgeCard
    from groundfault.llm.cost import Price, SharedBudget
    from groundfault.llm.retry import RetryPolicy
    from groundfault.llm.server import ChatOptions
    from groundfault.parsing.answers import Mode

RULE = "rule"
TIMEOUT_S = 120.0


class ModeChoice(StrEnum):
    std = "std"
    cot = "cot"
    both = "both"


BaseUrl = Annotated[
    str, typer.Option("--base-url", help="Exams: of a server with OpenAI's protocol.")
]
Mode_ = Annotated[
    ModeChoice | None,
    typer.Option("--mode", help="Exams: std, cot (reason first), both. [both; POPE: std]"),
]
Judge_ = Annotated[
    str,
    typer.Option("--judge", help="Of short answers: rule, or openai:NAME, vllm:URL, gemini:NAME."),
]
JudgeUrl = Annotated[
    str, typer.Option("--judge-base-url", help="Of the judge's server. [--base-url]")
]
Attribute = Annotated[
    str, typer.Option("--attribute", help="Exams: the model that names sub-causes, openai:NAME.")
]
Card_ = Annotated[
    Path | None, typer.Option("--card", help="Exams: the judge's card, to correct for its errors.")
]
Concurrency = Annotated[
    int | None, typer.Option("--concurrency", min=1, help="Exams: questions at a time. [96]")
]
Budget_ = Annotated[
    str,
    typer.Option("--budget", help="Exams: stop at 5 (money) or '200k tokens', judges included."),
]
Price_ = Annotated[
    str, typer.Option("--price", help="Exams: IN/OUT, money per million tokens, as 0.4/1.6.")
]
JudgePrice = Annotated[
    str, typer.Option("--judge-price", help="Exams: of judge and --attribute. [--price]")
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Exams: ask again what was asked before.")]
MaxTokens = Annotated[
    int | None, typer.Option("--max-tokens", min=1, help="Exams: of an answer. [1024]")
]
Temperature = Annotated[
    str, typer.Option("--temperature", help="Exams: a number, or 'none' to leave it out. [0.2]")
]
Patience_ = Annotated[
    float | None,
    typer.Option("--patience", min=0, help="Exams: seconds a server may be away. [600]"),
]


class Means(NamedTuple):
    """How an exam is asked and marked, as the options say it."""

    options: ChatOptions
    modes: tuple[Mode, ...] | None
    """None: those that the model has."""
    judge: str
    judge_url: str
    attribute: str
    card: JudgeCard | None
    concurrency: int
    patience: RetryPolicy
    budget: SharedBudget | None
    """For everybody that the command asks."""
    price: Price | None
    judge_price: Price | None
    fresh: bool
    resume: bool
    yes: bool


def make_means(
    *,
    base_url: str = "",
    mode: ModeChoice | None = None,
    judge: str = RULE,
    judge_url: str = "",
    attribute: str = "",
    card: Path | None = None,
    concurrency: int | None = None,
    patience_s: float | None = None,
    budget: str = "",
    price: str = "",
    judge_price: str = "",
    fresh: bool = False,
    resume: bool = True,
    yes: bool = False,
    max_tokens: int | None = None,
    temperature: str = "",
    timeout_s: float | None = None,
    **place: Any,
) -> Means:
    """The options in their own types; `place` is where and how a local model runs."""
    from groundfault.io.store import read_json
    from groundfault.judges.card import JudgeCard
    from groundfault.llm.client import CONCURRENCY
    from groundfault.llm.cost import SharedBudget, parse_budget, parse_price
    from groundfault.llm.retry import RetryPolicy
    from groundfault.llm.server import ChatOptions

    if max_tokens is not None:
        place["max_tokens"] = max_tokens
    if temperature:
        place["temperature"] = _temperature(temperature)
    options = ChatOptions(base_url=base_url, timeout_s=timeout_s or TIMEOUT_S, **place)
    patience = RetryPolicy(timeout_s=options.timeout_s)
    if patience_s is not None:
        patience = RetryPolicy(
            timeout_s=options.timeout_s,
            outage_s=patience_s,
            first_contact_s=min(patience_s, patience.first_contact_s),
        )
    modes: dict[ModeChoice | None, tuple[Mode, ...] | None] = {
        None: None,
        ModeChoice.std: ("std",),
        ModeChoice.cot: ("cot",),
        ModeChoice.both: ("std", "cot"),
    }
    for spec in (judge, attribute):
        _check_marker(spec)
    return Means(
        options=options,
        modes=modes[mode],
        judge=judge,
        judge_url=judge_url,
        attribute=attribute,
        card=None if card is None else read_json(card, JudgeCard),
        concurrency=concurrency or CONCURRENCY,
        patience=patience,
        budget=SharedBudget(parse_budget(budget)) if budget else None,
        price=parse_price(price) if price else None,
        judge_price=parse_price(judge_price) if judge_price else None,
        fresh=fresh,
        resume=resume,
        yes=yes,
    )


def _temperature(text: str) -> float | None:
    if text == "none":
        return None
    try:
        found = float(text)
        if not 0 <= found <= 10:
            raise ValueError
    except ValueError:
        raise UsageError(f"--temperature '{text}': give a number from 0 on, or none") from None
    return found


def _check_marker(spec: str) -> None:
    """Refuse what cannot judge: a baseline, a segmenter, an unknown name."""
    from groundfault import registry
    from groundfault.llm.loading import check_answerer

    if spec in ("", RULE):
        return
    no_judges = (*registry.BASELINES, "replay")
    inner = spec.removeprefix("blind:")
    if inner.partition(":")[0] in no_judges:
        fitting = [name for name in registry.names("answerers") if name not in no_judges]
        raise UsageError(f"{spec} judges nothing; did you mean rule, or {', '.join(fitting)}?")
    check_answerer(inner)
