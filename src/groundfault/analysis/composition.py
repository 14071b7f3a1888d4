"""What a set of pairs is made of: edits, prompts, how often they are paired, how large targets are.

These are the numbers of CAFE's Figure 3 and section 4.1, of any set with p⁺ and p⁻.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from groundfault.errors import UsageError
from groundfault.io.masks import RLEMask
from groundfault.records import Benchmark, Item, Role

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SIZES", "Composition", "PromptPair", "composition"]

SIZES = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Limits of the target's share of its picture, for counting."""
MOST_FREQUENT = 10
UNNAMED = "no edit"


class PromptPair(msgspec.Struct, frozen=True):
    """Two prompts that are asked about one object."""

    positive: str
    negative: str
    n: int


class Composition(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of a set."""

    n_pairs: int
    n_images: int
    by_edit: dict[str, int]
    """Edit type → pairs."""
    n_positive_prompts: int
    n_negative_prompts: int
    n_prompt_pairs: int
    """Different ones."""
    n_once: int
    """Prompt pairs that occur once."""
    frequencies: tuple[int, ...]
    """How often each prompt pair occurs, most frequent first."""
    most_frequent: tuple[PromptPair, ...]
    sizes: tuple[int, ...]
    """Targets by their share of the picture, in the classes of `SIZES`."""
    size_quartiles: tuple[float, float, float] | None
    """Of those shares."""

    @property
    def share_once(self) -> float:
        """Prompt pairs that occur once, of all."""
        return self.n_once / self.n_prompt_pairs


def composition(benchmark: Benchmark) -> Composition:
    """Count what a set of pairs is made of; prompts are the same if their words are, whatever
    their case and spaces."""
    edits = {case.id: case.intervention for case in benchmark.cases}
    pairs = list(_pairs(benchmark.items))
    if not pairs:
        raise UsageError(
            f"{benchmark.card.name}: has no pairs of a true and a misleading phrase to count"
        )
    asked = Counter((_words(positive), _words(negative)) for positive, negative in pairs)
    shares = _shares(positive for positive, _ in pairs)
    return Composition(
        n_pairs=len(pairs),
        n_images=len({positive.image for positive, _ in pairs}),
        by_edit=dict(Counter(edits[p.case_id] or UNNAMED for p, _ in pairs).most_common()),
        n_positive_prompts=len({positive for positive, _ in asked}),
        n_negative_prompts=len({negative for _, negative in asked}),
        n_prompt_pairs=len(asked),
        n_once=sum(n == 1 for n in asked.values()),
        frequencies=tuple(sorted(asked.values(), reverse=True)),
        most_frequent=tuple(
            PromptPair(positive, negative, n)
            for (positive, negative), n in asked.most_common(MOST_FREQUENT)
        ),
        sizes=tuple(np.histogram(shares, SIZES)[0].tolist()),
        size_quartiles=_quartiles(shares),
    )


def _pairs(items: Iterable[Item]) -> Iterator[tuple[Item, Item]]:
    """Every negative with the positive of its case."""
    positive: dict[str, Item] = {}
    for item in items:
        if item.role is Role.POSITIVE:
            positive.setdefault(item.case_id, item)
        elif item.role is Role.NEGATIVE and item.case_id in positive:
            yield positive[item.case_id], item


def _words(item: Item) -> str:
    return " ".join(item.query.casefold().split())


def _shares(items: Iterable[Item]) -> NDArray[np.float64]:
    """The target's share of its picture, of each case that has one."""
    targets = {item.case_id: item for item in items if item.target and item.target.mask}
    found = []
    for item in targets.values():
        if item.target is not None and item.target.mask is not None:
            area_px = int(RLEMask.from_dict({**item.target.mask}).area())
            found.append(area_px / (item.height_px * item.width_px))
    return np.array(found, np.float64)


def _quartiles(shares: NDArray[np.float64]) -> tuple[float, float, float] | None:
    if not shares.size:
        return None
    low, middle, high = np.quantile(shares, (0.25, 0.5, 0.75)).tolist()
    return low, middle, high
