"""Which samples go into a step: a pure function of seed and step, so that a resumed training and
one on any number of processes see the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from groundfault.errors import UsageError
from groundfault.training.segvlm.samples import Sample

__all__ = ["Drawn", "Mixture", "Source"]

Group = tuple[Sample, ...]
"""Samples that belong together: sentences about one picture, or the corners of a quad."""


class Source(NamedTuple):
    """A data set to draw from."""

    name: str
    rate: float
    strata: Mapping[str, Sequence[Group]]
    """Parts that are drawn from by their shares, such as true and false premises."""
    shares: Mapping[str, float] = {}
    """Of the strata; one that is not named has 1."""
    whole: bool = False
    """Groups are drawn whole: the four corners of a quad stay together."""
    sentences: int = 3
    """Otherwise, most samples of a group."""
    weights: Mapping[str, Sequence[float]] = {}
    """Of a stratum's groups, how much likelier each is drawn; all alike where nothing is said."""

    @property
    def samples(self) -> list[Sample]:
        """All samples."""
        return [one for groups in self.strata.values() for group in groups for one in group]


class Drawn(NamedTuple):
    """One draw."""

    source: str
    stratum: str
    samples: Group


class Mixture:
    """Sources by their rates."""

    def __init__(self, sources: Sequence[Source], *, seed: int, per_step: int) -> None:
        self.sources = [source for source in sources if source.rate > 0]
        for source in self.sources:
            if not any(source.strata.values()):
                raise UsageError(f"source '{source.name}' has nothing to learn from")
        if not self.sources:
            raise UsageError("every source has rate 0: there is nothing to learn from")
        self.seed, self.per_step = seed, per_step
        rates = np.array([source.rate for source in self.sources], float)
        self.rates = rates / rates.sum()
        self._chances = [_stratum_chances(source) for source in self.sources]

    def step(self, number: int) -> list[Drawn]:
        """The draws of one step."""
        rng = np.random.default_rng([self.seed, number])
        return [self._draw(rng) for _ in range(self.per_step)]

    def _draw(self, rng: np.random.Generator) -> Drawn:
        index = int(rng.choice(len(self.sources), p=self.rates))
        source, (names, chances) = self.sources[index], self._chances[index]
        stratum = names[int(rng.choice(len(names), p=chances))]
        groups = source.strata[stratum]
        group = groups[_chosen(rng, len(groups), source.weights.get(stratum))]
        if not source.whole and len(group) > source.sentences:
            kept = rng.choice(len(group), source.sentences, replace=False)
            group = tuple(group[int(k)] for k in kept)
        return Drawn(source.name, stratum, group)


def _stratum_chances(source: Source) -> tuple[list[str], np.ndarray]:
    names = [name for name, groups in source.strata.items() if groups]
    shares = np.array([source.shares.get(name, 1.0) for name in names], float)
    if not shares.sum() > 0:
        raise UsageError(f"source '{source.name}': the shares of what it has are all 0")
    return names, shares / shares.sum()


def _chosen(rng: np.random.Generator, n: int, weights: Sequence[float] | None) -> int:
    if weights is None:
        return int(rng.integers(n))
    chances = np.asarray(weights, float)
    return int(rng.choice(n, p=chances / chances.sum()))
