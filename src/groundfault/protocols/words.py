"""What protocols in words share."""

from __future__ import annotations

from groundfault.errors import DataError
from groundfault.records import Answer, Item

__all__ = ["expected"]


def expected(item: Item) -> Answer:
    """What is expected of an item in words; an item that asks for masks is refused."""
    if item.answer is None:
        raise DataError(
            "the benchmark",
            "it asks for masks, not for an answer in words",
            record=f"item {item.id}",
            remedy="give a benchmark that is asked in words",
        )
    return item.answer
