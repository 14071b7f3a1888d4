"""predict → score → summarise: three steps, each rerun from what the one before left on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groundfault import __version__
from groundfault.records import Row, Summary
from groundfault.scored import Scored, by_case
from groundfault.statistics import estimates

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["summarise"]


def summarise(scored: Scored, *, bootstrap: int, seed: int, data: dict[str, str] | None = None) -> Summary:
    """Estimates of every metric for every row."""
    rows, bounds = {}, {}
    for number, (name, member) in enumerate(scored.rows.items()):
        contributions = scored.contributions[member]
        support = scored.support(contributions.sum(axis=0))
        rows[name] = Row(
            n_cases=int(member.sum()),
            metrics=estimates(
                by_case(contributions, scored.case[member]),
                scored.metrics,
                support,
                resamples=bootstrap,
                seed=[seed, number],
            ),
        )
        if scored.imputed:
            bounds[name] = _bounds(scored, member)
    return Summary(
        benchmark=scored.benchmark,
        settings={**scored.settings, "bootstrap": bootstrap, "seed": seed},
        rows=rows,
        outcomes=scored.outcomes,
        bounds=bounds,
        notes=scored.notes,
        data=data or {},
        version=__version__,
    )


def _bounds(scored: Scored, member: NDArray[np.bool_]) -> dict[str, tuple[float | None, float | None]]:
    sums = np.stack([contributions[member].sum(axis=0) for contributions in scored.imputed])
    bounds = {}
    for name, values in scored.metrics(sums).items():
        defined = values[~np.isnan(values)]
        bounds[name] = (float(defined.min()), float(defined.max())) if len(defined) else (None, None)
    return bounds
