"""The errors of a build's checks as a table."""

from __future__ import annotations

from collections.abc import Sequence

from groundfault.building.checks.card import CheckCard
from groundfault.records import Estimate
from groundfault.reports.tables import Table

__all__ = ["card_table"]

COLUMNS = ("check", "n", "good", "bad", "threshold", "false accepts", "false rejects", "AUC")
NOTE = (
    "A false accept is a bad edit that the check alone lets through, a false reject a good one "
    "that it objects to; checks without a threshold only record. AUC: a good edit measures better "
    "than a bad one (DeLong's 95 % interval)."
)


def card_table(cards: Sequence[CheckCard]) -> Table:
    """A row per check."""
    return Table(list(COLUMNS), [_row(card) for card in cards], notes=[NOTE])


def _row(card: CheckCard) -> list[str]:
    limit = "" if card.threshold is None else f"{card.threshold:g}"
    errors = (f"{card.false_accepts} of {card.bad}", f"{card.false_rejects} of {card.good}")
    return [
        card.check,
        str(card.good + card.bad),
        str(card.good),
        str(card.bad),
        limit,
        *(errors if limit else ("", "")),
        _told(card.auc),
    ]


def _told(of: Estimate) -> str:
    if of.value is None:
        return ""
    interval = "" if of.low is None or of.high is None else f" [{of.low:.2f}, {of.high:.2f}]"
    return f"{of.value:.2f}{interval}"
