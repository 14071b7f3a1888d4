"""What a run may cost, what it will likely cost, and what it has cost."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable

import msgspec

from groundfault.errors import GroundfaultError, UsageError
from groundfault.llm.conversations import Asked, Reply

__all__ = [
    "Allowance",
    "Budget",
    "BudgetUsedUp",
    "Estimate",
    "Price",
    "Purse",
    "estimate",
    "likely_tokens",
    "parse_budget",
    "parse_price",
]

CHARACTERS_PER_TOKEN = 4
PICTURE_TOKENS = 1000
"""A middle value: servers count 250 to 2,500 for a picture of 640 × 480 to 1,500 × 1,000."""
WORDS = {"std": 30, "cot": 300}
"""Tokens of a usual answer."""
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


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
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
        given, asked = (float(part) for part in text.split("/"))
        if given < 0 or asked < 0:
            raise ValueError
    except ValueError:
        raise UsageError(
            f"price '{text}': give IN/OUT in money per million tokens, as in 0.4/1.6"
        ) from None
    return Price(given, asked)


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


def likely_tokens(asked: Asked) -> tuple[int, int]:
    """A guess at what a request takes and gives."""
    given = len(asked.text) // CHARACTERS_PER_TOKEN + PICTURE_TOKENS * len(asked.pictures)
    return given, WORDS[asked.mode]


def estimate(
    asked: Iterable[Asked], *, max_tokens: int, price: Price | None, stored: int = 0
) -> Estimate:
    """What asking these will likely take, and at most."""
    n = tokens_in = tokens_out = 0
    for one in asked:
        given, written = likely_tokens(one)
        n, tokens_in, tokens_out = n + 1, tokens_in + given, tokens_out + min(written, max_tokens)
    return Estimate(
        requests=n,
        stored=stored,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        tokens_out_most=n * max_tokens,
        cost=None if price is None else price.of(tokens_in, tokens_out),
        cost_most=None if price is None else price.of(tokens_in, n * max_tokens),
    )


class BudgetUsedUp(GroundfaultError):
    """There was not enough for all that whoever marks answers should have replied to."""

    def __init__(self, used_up: str, n_replies: int, n_asked: int) -> None:
        super().__init__(
            f"{used_up}: {n_replies} of {n_asked} replies came from who marks the answers, and "
            "nothing is scored by a part of them. All are kept: the same command again, or with a "
            "larger --budget, pays only for the rest"
        )


class Allowance:
    """A budget that several purses live on: of the models that are asked and of their judges."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.in_money = budget.tokens is None
        self.limit = float((budget.money if self.in_money else budget.tokens) or 0.0)
        self.spent = 0.0
        """In the budget's unit."""

    def amount(self, tokens: int, cost: float | None) -> float:
        """What a reply takes of it."""
        return (cost or 0.0) if self.in_money else tokens


class Taken(msgspec.Struct, frozen=True):
    """What replies took.

    >>> Taken(900, 0.5) - Taken(400, 0.2) + Taken(100, None)
    Taken(tokens=600, cost=None)
    """

    tokens: int
    cost: float | None
    """None where a price is not known."""

    def __add__(self, more: Taken) -> Taken:
        tokens = self.tokens + more.tokens
        if self.cost is None or more.cost is None:
            return Taken(tokens, None)
        return Taken(tokens, self.cost + more.cost)

    def __sub__(self, before: Taken) -> Taken:
        return self + Taken(-before.tokens, None if before.cost is None else -before.cost)


class Purse:
    """What was spent, and whether there is enough for one more.

    A request is begun if what was spent, what is under way and the request itself fit into the
    budget, each request counted as the mean of those before. So a run ends within a request or
    two of its budget. The first one always goes: it says what a request takes. `aside`, in the
    budget's unit, is kept for what each reply will cost further, which is its judging.
    """

    def __init__(
        self, budget: Budget | Allowance | None, price: Price | None, *, aside: float = 0.0
    ) -> None:
        self.allowance = Allowance(budget) if isinstance(budget, Budget) else budget
        self.price, self.aside = price, aside
        self.tokens_in = self.tokens_out = self.requests = 0
        self.cost: float | None = 0.0
        """None as soon as a reply's price is not known."""
        self.spent = 0.0
        """Of the budget, in its unit."""
        self.under_way = 0
        self._changed = asyncio.Event()

    @property
    def budget(self) -> Budget | None:
        """What it lives on, alone or with others."""
        return None if self.allowance is None else self.allowance.budget

    @property
    def taken(self) -> Taken:
        """By all replies so far."""
        return Taken(self.tokens_in + self.tokens_out, self.cost)

    async def take(self) -> bool:
        """Begin a request; False if there is not enough for it."""
        while self.allowance is not None and not self._enough(self.allowance):
            if not self.under_way:
                return False
            self._changed.clear()
            await self._changed.wait()
        self.under_way += 1
        return True

    def _enough(self, allowance: Allowance) -> bool:
        if not self.requests:
            return not self.under_way and allowance.spent < allowance.limit
        begun = self.under_way + 1
        mean = self.spent / self.requests
        kept = self.aside * (self.requests + begun)
        return allowance.spent + mean * begun + kept <= allowance.limit * (1 + ROUNDING)

    def give_back(self) -> None:
        """A request that was begun has ended, with or without a reply."""
        self.under_way -= 1
        self._changed.set()

    def pay(self, asked: Asked, reply: Reply) -> None:
        """Count a reply; where the server does not say its tokens, they are guessed."""
        guessed_in, _ = likely_tokens(asked)
        written = len(reply.text) // CHARACTERS_PER_TOKEN
        tokens_in = guessed_in if reply.tokens_in is None else reply.tokens_in
        tokens_out = written if reply.tokens_out is None else reply.tokens_out
        cost = self.cost_of(reply.cost, tokens_in, tokens_out)
        self.requests += 1
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out
        self.cost = None if self.cost is None or cost is None else self.cost + cost
        if self.allowance is not None:
            amount = self.allowance.amount(tokens_in + tokens_out, cost)
            self.spent += amount
            self.allowance.spent += amount

    def cost_of(self, said: float | None, tokens_in: int, tokens_out: int) -> float | None:
        """What the server says, or by price, or None."""
        if said is not None:
            return said
        return None if self.price is None else self.price.of(tokens_in, tokens_out)
