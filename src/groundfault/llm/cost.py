"""Cost: what a run may cost, what it will likely cost, and what it has cost."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable

import msgspec

from groundfault.errors import GroundfaultError, UsageError
from groundfault.records import Conversation, Reply

__all__ = [
    "Budget",
    "BudgetUsedUp",
    "CostEstimate",
    "CostTracker",
    "EpisodeCost",
    "Price",
    "SharedBudget",
    "Usage",
    "estimate_cost",
    "guess_tokens",
    "parse_budget",
    "parse_price",
]

CHARACTERS_PER_TOKEN = 4
PICTURE_TOKENS = 1000
"""A middle value: servers count 250 to 2,500 for a picture of 640 × 480 to 1,500 × 1,000."""
ROUNDING = 1e-9
_SCALES = {"": 1, "k": 1e3, "m": 1e6}
_BUDGET = re.compile(r"[$€]?(\d+(?:\.\d*)?|\.\d+)([km]?)\s*(tokens?|usd|eur|[$€])?", re.I)


class Price(msgspec.Struct, frozen=True):
    """Money per million tokens."""

    tokens_in: float
    tokens_out: float

    def of(self, tokens_in: float, tokens_out: float) -> float:
        """What so many tokens cost."""
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1e6


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run stops; one of the two."""

    tokens: int | None = None
    money: float | None = None

    def __str__(self) -> str:
        return f"{self.tokens} tokens" if self.tokens is not None else f"{self.money:g} of money"


class CostEstimate(msgspec.Struct, frozen=True, kw_only=True):
    """What is left to ask, before it is asked. Tokens are guessed from lengths and counts."""

    requests: int
    stored: int
    """Of all, those with a response from before: they cost nothing."""
    tokens_in: int
    tokens_out: int
    tokens_out_most: int
    cost: float | None
    """None where the price is not known."""
    cost_most: float | None


def parse_price(text: str) -> Price:
    """
    >>> parse_price("0.4/1.6")
    Price(tokens_in=0.4, tokens_out=1.6)
    """
    try:
        tokens_in, tokens_out = (float(part) for part in text.split("/"))
        if tokens_in < 0 or tokens_out < 0:
            raise ValueError
    except ValueError:
        raise UsageError(
            f"price '{text}': give IN/OUT in money per million tokens, as in 0.4/1.6"
        ) from None
    return Price(tokens_in, tokens_out)


def parse_budget(text: str) -> Budget:
    """
    >>> parse_budget("2M tokens"), parse_budget("$7.50")
    (Budget(tokens=2000000, money=None), Budget(tokens=None, money=7.5))
    """
    match = _BUDGET.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"budget '{text}': give money, as in 5, or tokens, as in '200k tokens'")
    amount = float(match[1]) * _SCALES[match[2].lower()]
    if match[3] is not None and match[3].lower().startswith("token"):
        return Budget(tokens=int(amount))
    return Budget(money=amount)


def guess_tokens(conversation: Conversation) -> int:
    """About how many tokens a conversation has, from its characters and pictures.

    >>> from groundfault.records import Message
    >>> guess_tokens((Message("user", ("x" * 400,)),))
    100
    """
    characters = sum(len(message.text) for message in conversation)
    pictures = sum(len(message.pictures) for message in conversation)
    return characters // CHARACTERS_PER_TOKEN + PICTURE_TOKENS * pictures


def estimate_cost(
    requests: Iterable[tuple[int, int]], *, max_tokens: int, price: Price | None, stored: int = 0
) -> CostEstimate:
    """What requests will likely take, and at most; of each, the guessed tokens in and out."""
    n = tokens_in = tokens_out = 0
    for given, written in requests:
        n, tokens_in, tokens_out = n + 1, tokens_in + given, tokens_out + min(written, max_tokens)
    return CostEstimate(
        requests=n,
        stored=stored,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        tokens_out_most=n * max_tokens,
        cost=None if price is None else price.of(tokens_in, tokens_out),
        cost_most=None if price is None else price.of(tokens_in, n * max_tokens),
    )


class BudgetUsedUp(GroundfaultError):
    """The budget did not suffice for all that had to be asked."""

    def __init__(self, used_up: str, n_replies: int, n_asked: int) -> None:
        super().__init__(
            f"{used_up}: {n_replies} of {n_asked} replies came, and nothing is scored by a part of "
            "them. All are kept: the same command again, or with a larger --budget, pays only for "
            "the rest"
        )


class SharedBudget:
    """A budget that several cost trackers draw on: those of the models that are asked and of their
    judges."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.in_money = budget.tokens is None
        self.limit = float((budget.money if self.in_money else budget.tokens) or 0.0)
        self.spent = 0.0
        """In the budget's unit."""

    def amount(self, tokens: int, cost: float | None) -> float:
        """What a reply takes of it."""
        return (cost or 0.0) if self.in_money else tokens


class Usage(msgspec.Struct, frozen=True):
    """What replies took.

    >>> Usage(900, 0.5) - Usage(400, 0.2) + Usage(100, None)
    Usage(tokens=600, cost=None)
    """

    tokens: int
    cost: float | None
    """None where a price is not known."""

    def __add__(self, more: Usage) -> Usage:
        tokens = self.tokens + more.tokens
        if self.cost is None or more.cost is None:
            return Usage(tokens, None)
        return Usage(tokens, self.cost + more.cost)

    def __sub__(self, before: Usage) -> Usage:
        return self + Usage(-before.tokens, None if before.cost is None else -before.cost)


class _Admission:
    """Lets things begin that cost something (requests, episodes) while the budget lasts.

    One more may begin if what was spent, what is under way and itself fit into the budget, each
    counted as the mean of those that ended. The first one always begins, alone: it says what one
    takes. `reserve` is kept for what each of them will cost later, `aside` for what comes once
    after all of them.
    """

    def __init__(
        self, budget: SharedBudget | None, *, reserve: float = 0.0, aside: float = 0.0
    ) -> None:
        self.budget, self.reserve, self.aside = budget, reserve, aside
        self.ended = 0
        """How many of them ended and cost something."""
        self.spent = 0.0
        """By those that ended, in the budget's unit."""
        self.unfinished = 0.0
        """What those under way have spent so far."""
        self.under_way = 0
        self._waiting: list[asyncio.Future[None]] = []

    async def begin(self) -> bool:
        """Begin one, perhaps after others have ended; False if there is not enough for it."""
        while self.budget is not None and not self._is_enough(self.budget):
            if not self.under_way:
                return False
            ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(ended)
            await ended
        self.under_way += 1
        return True

    def _is_enough(self, budget: SharedBudget) -> bool:
        spent = budget.spent - self.unfinished
        if not self.ended:
            return not self.under_way and spent < budget.limit
        begun = self.under_way + 1
        mean = self.spent / self.ended
        reserved = self.aside + self.reserve * (self.ended + begun)
        return spent + mean * begun + reserved <= budget.limit * (1 + ROUNDING)

    def end(self) -> None:
        """One that was begun has ended."""
        self.under_way -= 1
        waiting, self._waiting = self._waiting, []
        for ended in waiting:
            if not ended.done():
                ended.set_result(None)


class CostTracker:
    """What was spent, and whether there is enough for one more request, or for one more episode.

    A run ends within a request or two of its budget, or within an episode where requests belong to
    episodes. `reserve`, in the budget's unit, is kept for what each reply will cost further, which
    is its judging, and `aside` for what judging costs besides, which is its canaries.
    """

    def __init__(
        self,
        budget: Budget | SharedBudget | None = None,
        price: Price | None = None,
        *,
        reserve: float = 0.0,
        aside: float = 0.0,
    ) -> None:
        self.shared = SharedBudget(budget) if isinstance(budget, Budget) else budget
        self.price = price
        self.tokens_in = self.tokens_out = self.requests = 0
        self.cost: float | None = 0.0
        """None as soon as a reply's price is not known."""
        self._requests = _Admission(self.shared, reserve=reserve, aside=aside)
        self._episodes = _Admission(self.shared)

    @property
    def budget(self) -> Budget | None:
        """What it may spend, alone or with others."""
        return None if self.shared is None else self.shared.budget

    @property
    def keeps_aside(self) -> bool:
        """Whether a part of the budget is kept for judging."""
        return self._requests.reserve > 0 or self._requests.aside > 0

    @property
    def spent(self) -> float:
        """What its own replies took of the budget, in the budget's unit."""
        return self._requests.spent

    @property
    def usage(self) -> Usage:
        """What all replies so far took."""
        return Usage(self.tokens_in + self.tokens_out, self.cost)

    async def begin_request(self) -> bool:
        """Begin a request; False if there is not enough for it."""
        return await self._requests.begin()

    def end_request(self) -> None:
        """A request that was begun has ended, with or without a reply."""
        self._requests.end()

    def episode(self) -> EpisodeCost:
        """The cost of requests that are of use only together."""
        return EpisodeCost(self._episodes)

    def add(
        self, conversation: Conversation, reply: Reply, episode: EpisodeCost | None = None
    ) -> None:
        """Count a reply; where the server does not say its tokens, they are guessed."""
        written = len(reply.text) // CHARACTERS_PER_TOKEN
        tokens_in = guess_tokens(conversation) if reply.tokens_in is None else reply.tokens_in
        tokens_out = written if reply.tokens_out is None else reply.tokens_out
        cost = self.cost_of(reply.cost, tokens_in, tokens_out)
        self.requests += 1
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out
        self.cost = None if self.cost is None or cost is None else self.cost + cost
        amount = 0.0
        if self.shared is not None:
            amount = self.shared.amount(tokens_in + tokens_out, cost)
            self.shared.spent += amount
        self._requests.ended += 1
        self._requests.spent += amount
        if episode is not None:
            episode.add(amount)

    def cost_of(self, stated: float | None, tokens_in: int, tokens_out: int) -> float | None:
        """The cost that the server states, or the cost by price, or None."""
        if stated is not None:
            return stated
        return None if self.price is None else self.price.of(tokens_in, tokens_out)


class EpisodeCost:
    """An episode's part of the budget: its first request is sent only if the budget will likely pay
    for all of them."""

    def __init__(self, admission: _Admission) -> None:
        self._admission = admission
        self.begun = False
        self._amounts: list[float] = []

    async def begin(self) -> bool:
        """Begin the episode, if it was not begun yet; False if there is not enough for it."""
        if not self.begun:
            self.begun = await self._admission.begin()
        return self.begun

    def add(self, amount: float) -> None:
        """One of its replies took so much of the budget."""
        self._amounts.append(amount)
        self._admission.unfinished += amount

    def end(self) -> None:
        """The episode is over. One that paid for nothing does not tell what an episode takes."""
        if not self.begun:
            return
        if self._amounts:
            self._admission.ended += 1
            self._admission.spent += sum(self._amounts)
            self._admission.unfinished -= sum(self._amounts)
        self._admission.end()
        self.begun = False
