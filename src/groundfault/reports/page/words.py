"""What the page calls things: the data, and the rows of its tables."""

from __future__ import annotations

from collections.abc import Mapping

from groundfault.protocols import Protocol
from groundfault.records import Summary
from groundfault.registry import KINDS, load

__all__ = ["data_title", "slice_name"]


def data_title(summary: Summary, protocol: Protocol) -> str:
    """What the data is called: as its card says, else its name; files of version 0.1.0 have the
    name alone."""
    if summary.title:
        return summary.title
    if summary.benchmark in KINDS["benchmarks"]:
        card = getattr(load("benchmarks", summary.benchmark), "CARD", None)
        return card.title if card is not None else summary.benchmark
    return summary.benchmark or protocol.title


def slice_name(row: str, slices: Mapping[str, str]) -> str:
    """A table row with what it stands for.

    >>> slice_name("SM", {"SM": "superficial mimicry"}), slice_name("Overall", {})
    ('SM · superficial mimicry', 'Overall')
    """
    return f"{row} · {slices[row]}" if row in slices else row
