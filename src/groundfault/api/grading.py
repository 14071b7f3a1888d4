"""Who judges answers in words and who names their causes: found by name, paid for with consent."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from groundfault import registry
from groundfault.api.options import RULE, Options
from groundfault.errors import UsageError
from groundfault.interfaces import ChatModel, Judge
from groundfault.judges import AnswerJudge, Judgement, ShortAnswer, by_item
from groundfault.judges.grading import ModelJudge, n_judged
from groundfault.judges.reader import LlmReader
from groundfault.llm.batching import BatchedChatModel
from groundfault.llm.client import ChatClient
from groundfault.llm.cost import PICTURE_TOKENS, CostTracker, Price, parse_price
from groundfault.llm.server import Server
from groundfault.records import Benchmark, Mode
from groundfault.reports.progress import Display

if TYPE_CHECKING:
    from groundfault.llm.cost import SharedBudget

__all__ = [
    "Agree",
    "Graders",
    "check_grader",
    "is_local",
    "load_graders",
    "load_judge",
    "load_reader",
]

TOKENS_PER_JUDGEMENT = 400
TOKENS_PER_READING = 300
TOKENS_PER_CAUSE = 700
"""Without pictures."""
Agree = Callable[[str, bool], None]
"""Asked before somebody pays: a question, and whether it costs nothing; raises to call it off."""


class Graders(msgspec.Struct, frozen=True):
    """Who grades the answers of a run."""

    judge: ModelJudge | AnswerJudge | None = None
    """None is the rule judge."""
    reader: LlmReader | None = None
    """Reads what the rules leave unread."""
    causes: ChatModel | None = None
    """The model that names sub-causes."""
    causes_spec: str = ""

    def reserve(
        self, budget: SharedBudget | None, benchmark: Benchmark, modes: Sequence[Mode]
    ) -> float:
        """What is kept of a budget with each answer, so that grading it can be paid."""
        if budget is None:
            return 0.0
        amounts = []
        if isinstance(self.judge, ModelJudge):
            tokens = n_judged(benchmark, len(modes)) * TOKENS_PER_JUDGEMENT
            amounts.append(_amount(budget, self.judge.model, tokens))
        if self.reader is not None:
            tokens = len(benchmark.items) * len(modes) * TOKENS_PER_READING
            amounts.append(_amount(budget, self.reader.chat, tokens))
        if self.causes is not None and "cot" in modes:
            tokens = _cause_tokens(self.causes_spec, benchmark)
            amounts.append(_amount(budget, self.causes, tokens))
        return sum(amounts) / max(1, len(benchmark.items) * len(modes))


def _amount(budget: SharedBudget, model: ChatModel, tokens: int) -> float:
    if not isinstance(model, ChatClient):
        return 0.0
    return budget.amount(tokens, model.cost.cost_of(None, tokens, 0))


def load_graders(
    options: Options, asked: Mapping[str, tuple[Benchmark, Sequence[Mode]]], agree: Agree
) -> Graders:
    """Who grades these runs, once whoever pays has agreed; each run has a benchmark and modes."""
    for benchmark, _ in asked.values():
        if options.judge not in ("", RULE) and _asks_yes_or_no(benchmark):
            raise UsageError(
                f"{benchmark.card.name} asks for yes or no, which needs no judge; leave --judge out"
            )
    graders = Graders(
        judge=load_judge(options, sum(n_judged(b, len(m)) for b, m in asked.values()), agree),
        reader=load_reader(options, sum(len(b.items) * len(m) for b, m in asked.values()), agree),
        causes=_load_causes(options, asked, agree),
        causes_spec=options.attribute,
    )
    _check_price(options, graders.causes)
    return graders


def _asks_yes_or_no(benchmark: Benchmark) -> bool:
    return all(item.answer is not None and item.answer.type == "YN" for item in benchmark.items)


def _check_price(options: Options, model: object) -> None:
    """A budget in money is kept only where all prices are known."""
    in_money = options.budget is not None and options.budget.in_money
    if in_money and isinstance(model, ChatClient) and model.cost.price is None:
        raise UsageError(
            "a budget in money needs the prices of who judges: give --judge-price IN/OUT per "
            "million tokens, or --price to groundfault judge"
        )


def load_judge(options: Options, n_answers: int, agree: Agree) -> ModelJudge | AnswerJudge | None:
    """Who decides about so many short answers; None is the rule judge."""
    given = options.judge
    if not isinstance(given, str):
        return _OneByOne(given) if given is not None else None
    check_grader(given)
    if given in ("", RULE):
        return None
    if given.partition(":")[0] in registry.names("judges"):
        return _plugged_in(given, options)
    if not n_answers:
        return None
    tokens = n_answers * TOKENS_PER_JUDGEMENT
    model = _chat(given, options, f"judging with {given}", n_answers, tokens, agree)
    _check_price(options, model)
    return ModelJudge(given, model, _anew(model))


def load_reader(options: Options, n_answers: int, agree: Agree) -> LlmReader | None:
    """Who reads what the rules leave unread of so many answers; None is nobody."""
    if options.reader in ("", RULE):
        return None
    check_grader(options.reader)
    about, tokens = f"reading with {options.reader}", n_answers * TOKENS_PER_READING
    model = _chat(options.reader, options, about, n_answers, tokens, agree)
    _check_price(options, model)
    return LlmReader(model, options.reader)


def _plugged_in(spec: str, options: Options) -> AnswerJudge:
    name, _, argument = spec.partition(":")
    judge = registry.load("judges", name)(argument, options.for_words())
    return judge if hasattr(judge, "judge_all") else _OneByOne(judge, spec)


class _OneByOne:
    """Any `interfaces.Judge`, given one answer after the other."""

    def __init__(self, judge: Any, name: str = "") -> None:
        if not isinstance(judge, Judge):
            raise UsageError(
                f"{type(judge).__name__} is no judge: it has no judge(question, answer, rubric)"
            )
        self.judge, self.name = judge, name or type(judge).__name__

    def judge_all(self, answers: Sequence[ShortAnswer]) -> list[Judgement]:
        """One judgement per answer, in order."""
        return [self._judged(answer) for answer in answers]

    def _judged(self, answer: ShortAnswer) -> Judgement:
        right = self.judge.judge(answer.item.query, answer.text, answer.expected.rubric)
        return Judgement(None if right is None else "right" if right else "wrong")


def _load_causes(
    options: Options, asked: Mapping[str, tuple[Benchmark, Sequence[Mode]]], agree: Agree
) -> ChatModel | None:
    if not options.attribute:
        return None
    check_grader(options.attribute)
    reasoned = [benchmark for benchmark, modes in asked.values() if "cot" in modes]
    if not reasoned:
        raise UsageError("--attribute is about chains of thought: give --mode cot or both")
    n = sum(len(benchmark.items) for benchmark in reasoned)
    tokens = sum(_cause_tokens(options.attribute, benchmark) for benchmark in reasoned)
    about = f"sub-causes with {options.attribute}"
    return _chat(options.attribute, options, about, n, tokens, agree)


def _cause_tokens(spec: str, benchmark: Benchmark) -> int:
    """What naming the causes of all answers takes, were they all wrong."""
    n_pictures = sum(len(item.images) for _, item in by_item(benchmark).values())
    shown = 0 if spec.startswith("blind:") else n_pictures
    return len(benchmark.items) * TOKENS_PER_CAUSE + shown * PICTURE_TOKENS


def _chat(
    spec: str, options: Options, about: str, n_most: int, tokens: int, agree: Agree
) -> ChatModel:
    """A model that grades answers; `n_most` of them, which take about so many tokens."""
    url = options.judge_base_url
    if not url and spec.removeprefix("blind:").startswith("openai:"):
        url = options.base_url
    chat = options.for_words(base_url=url)
    chat = msgspec.structs.replace(chat, temperature=None if chat.temperature is None else 0.0)
    model = registry.load_model(spec, chat)
    display = Display(about)
    if not isinstance(model, Server):
        return BatchedChatModel(model, batch=chat.batch, on_progress=display.update)
    price = parse_price(options.judge_price) if options.judge_price else None
    if not model.free:
        price = price or (parse_price(options.price) if options.price else None)
        money = "" if price is None else f", {price.of(tokens, 0):.2f} of money"
        print(f"{about}: at most {n_most} answers, about {tokens} tokens{money}", file=sys.stderr)
        agree(f"Ask {spec}?", price is None and is_local(model.url))
    elif price is None:
        price = Price(0.0, 0.0)
    return ChatClient(
        model,
        responses=options.responses or None,
        concurrency=options.plan().concurrency,
        retry=options.retry_policy(),
        cost=CostTracker(options.budget, price),
        on_progress=display.update,
    )


def _anew(model: ChatModel) -> ChatModel:
    """The same model, asked anew what it was asked before."""
    if not isinstance(model, ChatClient):
        return model
    return ChatClient(
        model.server,
        responses=model.responses,
        fresh=True,
        concurrency=model.concurrency,
        retry=model.retry,
        cost=CostTracker(model.cost.shared, model.cost.price),
    )


def check_grader(spec: str) -> None:
    """Refuse what cannot judge: a baseline, a segmenter, an unknown name."""
    if spec in ("", RULE) or spec.partition(":")[0] in registry.names("judges"):
        return
    no_judges = (*registry.BASELINES, "replay")
    inner = spec.removeprefix("blind:")
    if inner.partition(":")[0] in no_judges:
        fitting = [name for name in registry.answering("words") if name not in no_judges]
        raise UsageError(f"{spec} judges nothing; did you mean rule, or {', '.join(fitting)}?")
    registry.check_model(inner, "words")


def is_local(url: str) -> bool:
    """Whether an address is this machine or one of a private network.

    >>> is_local("http://localhost:11434/v1"), is_local("http://192.168.0.7:8000/v1")
    (True, True)
    >>> is_local("https://api.openai.com/v1"), is_local("")
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
