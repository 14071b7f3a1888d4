"""What cases add to the metrics, kept small: most cases add the same as many others.

200,000 cases of forty columns are 64 MB; of concept pairs only some hundred rows of these differ.
Kept as distinct rows and the number of each case's row, the sums of any selection are a count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from groundfault.analysis.rates import clopper_pearson
from groundfault.analysis.statistics import distinct_rows, estimates, percentile_interval
from groundfault.metrics import Share, compose, count, shares, undefined
from groundfault.protocols.scored import by_case
from groundfault.records import Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

__all__ = ["Sums"]

MANY = 20_000
"""Entries beyond which resampling goes by patterns."""
FEW = 10


class Sums(msgspec.Struct, frozen=True, eq=False):
    """The contributions of one run at one operating point."""

    names: tuple[str, ...]
    """Of the columns: family, dot, column."""
    settings: Mapping[str, object]
    patterns: Floats
    """(distinct, k)"""
    pattern: Ints
    """(entries,) which row of `patterns` an entry adds."""

    @classmethod
    def of(
        cls, names: Sequence[str], settings: Mapping[str, object], contributions: Floats
    ) -> Sums:
        """Keep every distinct row of (entries, k) contributions once."""
        patterns, pattern = distinct_rows(contributions)
        return cls(tuple(names), settings, patterns, pattern)

    def total(self, chosen: Flags) -> Floats:
        """(k,) sums over the chosen entries."""
        times = np.bincount(self.pattern[chosen], minlength=len(self.patterns))
        found: Floats = times.astype(np.float64) @ self.patterns
        return found

    def values(self, chosen: Flags) -> dict[str, float | None]:
        """Every metric of the chosen entries; None where it is undefined."""
        found = compose(self.names, self.settings)(self.total(chosen)[None])
        return {name: _known(float(value[0])) for name, value in found.items()}

    def rows(self, chosen: Flags) -> Floats:
        """(chosen, k) what each chosen entry adds."""
        found: Floats = self.patterns[self.pattern[chosen]]
        return found

    def estimates(
        self, chosen: Flags, cluster: Ints, *, resamples: int, seed: int
    ) -> dict[str, Estimate]:
        """Every metric of the chosen entries with its interval over cases."""
        total, n = self.total(chosen), int(chosen.sum())
        if n > MANY and len(np.unique(cluster[chosen])) == n:
            return self._of_many(chosen, resamples, seed)
        return estimates(
            by_case(self.rows(chosen), cluster[chosen]),
            compose(self.names, self.settings),
            count(self.names, total, n),
            shares=shares(self.names),
            undefined=undefined(self.names, total, self.settings),
            resamples=resamples,
            seed=seed,
        )

    def _of_many(self, chosen: Flags, resamples: int, seed: int) -> dict[str, Estimate]:
        """The same where every entry is a case of its own, from how often each pattern occurs.
        Shares that few cases make have exact intervals."""
        times = np.bincount(self.pattern[chosen], minlength=len(self.patterns))
        n, total = int(times.sum()), times.astype(np.float64) @ self.patterns
        drawn = np.random.default_rng(seed).multinomial(n, times / n, size=resamples)
        metrics, of = compose(self.names, self.settings), count(self.names, total, n)
        samples = metrics(drawn.astype(np.float64) @ self.patterns)
        edges = {name: _edge(share, total) for name, share in shares(self.names).items()}
        return {
            name: _estimate(float(found[0]), edges.get(name), samples[name], of[name])
            for name, found in metrics(total[None]).items()
        }


def _estimate(value: float, edge: tuple[float, float] | None, samples: Floats, n: int) -> Estimate:
    if np.isnan(value):
        return Estimate(None, n=n)
    return Estimate(value, *(edge or percentile_interval(samples)), n)


def _edge(share: Share, total: Floats) -> tuple[float, float] | None:
    """The exact interval of a share near 0 or 1; None for others."""
    part, whole = (int(total[list(columns)].sum()) for columns in (share.part, share.whole))
    if not whole or min(part, whole - part) >= FEW:
        return None
    low, high = clopper_pearson(part, whole)
    return (low * whole, high * whole) if share.is_count else (low, high)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value
