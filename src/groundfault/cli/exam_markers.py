"""Who marks answers, what they may cost, and whether whoever pays agrees."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import typer

from groundfault.cli.exam_options import RULE, Means
from groundfault.errors import UsageError

if TYPE_CHECKING:
    from groundfault.judges.grading import Chat, ModelJudge
    from groundfault.parsing.answers import Mode
    from groundfault.runner.exam_papers import ExamPaper, PopePaper

    Paper = ExamPaper | PopePaper

__all__ = ["agree", "check_prices", "is_here", "kept_aside", "load_attributing", "load_judge"]

T = TypeVar("T")
TOKENS_PER_JUDGEMENT = 400
TOKENS_PER_CAUSE = 700
"""Without pictures."""


def load_judge(means: Means, n_answers: int) -> ModelJudge | None:
    """The model that judges, once whoever pays has agreed; None is the rule judge."""
    from groundfault.judges.grading import ModelJudge

    if means.judge == RULE or not n_answers:
        return None
    tokens = n_answers * TOKENS_PER_JUDGEMENT
    asked = converse(means.judge, means, f"judging with {means.judge}", n_answers, tokens)
    return ModelJudge(means.judge, asked, _anew(asked))


def load_attributing(
    means: Means, papers: Mapping[T, Paper], asked: Mapping[T, Sequence[Mode]]
) -> Chat | None:
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
    from groundfault.llm.cost import PICTURE_TOKENS

    asked = list(paper.questions(("cot",)).asked())
    n_shown = 0 if means.attribute.startswith("blind:") else sum(len(q.pictures) for q in asked)
    return len(asked) * TOKENS_PER_CAUSE + n_shown * PICTURE_TOKENS


def converse(spec: str, means: Means, about: str, n_most: int, tokens: int) -> Chat:
    """Conversations with a model that marks answers, once whoever pays has agreed; `n_most` of
    them, which take about so many tokens."""
    import msgspec

    from groundfault.llm.client import ChatClient
    from groundfault.llm.cost import CostTracker
    from groundfault.llm.loading import load_chat_model

    url = means.judge_url
    if not url and spec.removeprefix("blind:").startswith("openai:"):
        url = means.options.base_url
    options = msgspec.structs.replace(
        means.options,
        base_url=url,
        temperature=None if means.options.temperature is None else 0.0,
    )
    chat = load_chat_model(
        spec,
        options,
        concurrency=means.concurrency,
        retry=means.patience,
        cost=CostTracker(means.budget, means.judge_price),
        on_progress=_progress(about),
    )
    if isinstance(chat, ChatClient) and not chat.server.free:
        price = chat.cost.price = means.judge_price or means.price
        money = "" if price is None else f", {price.of(tokens, 0):.2f} of money"
        print(f"{about}: at most {n_most} answers, about {tokens} tokens{money}", file=sys.stderr)
        agree(f"Ask {spec}?", free=means.yes or (price is None and _is_local(chat.server.url)))
    return chat


def _anew(asked: Chat) -> Chat:
    """The same model, asked anew what it was asked before."""
    from groundfault.llm.client import ChatClient
    from groundfault.llm.cost import CostTracker

    if not isinstance(asked, ChatClient):
        return asked
    return ChatClient(
        asked.server,
        fresh=True,
        cost=CostTracker(asked.cost.shared, asked.cost.price),
        concurrency=asked.concurrency,
        retry=asked.retry,
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


def check_prices(means: Means, judge: ModelJudge | None, causes: Chat | None = None) -> None:
    """A budget in money is kept only where all prices are known."""
    from groundfault.llm.client import ChatClient

    if means.budget is None or not means.budget.in_money:
        return
    for asked in (judge.asked if judge else None, causes):
        if isinstance(asked, ChatClient) and asked.cost.price is None:
            raise UsageError(
                "a budget in money needs the prices of who judges: give --judge-price IN/OUT per "
                "million tokens, or --price to groundfault judge"
            )


def kept_aside(
    means: Means,
    paper: Paper,
    modes: Sequence[Mode],
    judge: ModelJudge | None,
    causes: Chat | None,
) -> float:
    """What is kept of the budget with each answer, so that those who mark it can be paid."""
    from groundfault.llm.client import ChatClient

    budget = means.budget
    if budget is None:
        return 0.0
    marking: list[tuple[Chat, int]] = []
    if judge is not None:
        marking.append((judge.asked, paper.n_judged(modes) * TOKENS_PER_JUDGEMENT))
    if causes is not None and "cot" in modes:
        marking.append((causes, _cause_tokens(means, paper)))
    amounts = [
        budget.amount(tokens, asked.cost.cost_of(None, tokens, 0))
        for asked, tokens in marking
        if isinstance(asked, ChatClient)
    ]
    return sum(amounts) / paper.questions(modes).n_items


def is_here(spec: str, means: Means) -> bool:
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
