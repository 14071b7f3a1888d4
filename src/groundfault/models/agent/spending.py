"""What episodes may cost, and which of them are begun for it."""

from __future__ import annotations

from collections.abc import Sequence

from groundfault.errors import UsageError
from groundfault.llm.cost import Budget, Price, Purse, parse_budget, parse_price
from groundfault.models.agent.settings import Settings

__all__ = ["EpisodePurse", "budget_and_price"]


def budget_and_price(settings: Settings, *, free: bool) -> tuple[Budget | None, Price | None]:
    """As the settings say; `free` is whether nobody pays per token."""
    budget = parse_budget(settings.budget) if settings.budget else None
    price = parse_price(settings.price) if settings.price else None
    if price is None and free:
        price = Price(0.0, 0.0)
    if budget is not None and budget.money is not None and price is None:
        raise UsageError(
            f"budget={settings.budget}: a budget in money needs prices. Remedy: add price=IN/OUT "
            "per million tokens, or give it in tokens, as in budget=2M tokens"
        )
    return budget, price


class EpisodePurse(Purse):
    """A purse that counts episodes instead of requests: one is begun if those that ended, those
    under way and itself fit into the budget, each counted as the mean of those that ended."""

    def end(self, paid: Sequence[float]) -> None:
        """An episode is over; `paid` has what each of its replies took of the budget. Without any,
        it says nothing about what an episode takes."""
        if paid and self.allowance is not None:
            self.requests += 1
            self.spent += sum(paid)
            self.allowance.spent += sum(paid)
        self.give_back()
