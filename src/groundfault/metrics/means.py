"""Metrics that are means over the cases that have a value: each adds its value and a count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["contributions", "mean_columns", "means", "ratio", "support"]


def mean_columns(names: Sequence[str]) -> tuple[str, ...]:
    """What a case adds to the sums: each value, and 1 where it is defined.

    >>> mean_columns(["IoU_fact"])
    ('IoU_fact', 'IoU_fact.n')
    """
    return tuple(name + part for name in names for part in ("", ".n"))


def contributions(values: Mapping[str, Floats], names: Sequence[str]) -> Floats:
    """(cases, 2·names) from the (cases,) values of each name; NaN is no value.

    >>> contributions({"CMS": np.array([0.5, np.nan])}, ["CMS"]).tolist()
    [[0.5, 1.0], [0.0, 0.0]]
    """
    columns = []
    for name in names:
        defined = ~np.isnan(values[name])
        columns += [np.where(defined, values[name], 0.0), defined.astype(np.float64)]
    return np.stack(columns, axis=1)


def means(sums: Floats, names: Sequence[str]) -> dict[str, Floats]:
    """The mean of each name from (…, 2·names) sums; NaN where no case has a value.

    >>> {name: mean.tolist() for name, mean in means(np.array([[3.0, 2.0]]), ["CMS"]).items()}
    {'CMS': [1.5]}
    """
    return {name: ratio(sums[..., 2 * k], sums[..., 2 * k + 1]) for k, name in enumerate(names)}


def support(sums: Floats, names: Sequence[str]) -> dict[str, int]:
    """How many cases each mean is about, from (2·names,) sums."""
    return {name: int(sums[2 * k + 1]) for k, name in enumerate(names)}


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """The quotient; NaN where the denominator is not above 0."""
    out = np.full(np.shape(numerator), np.nan)
    np.divide(numerator, denominator, out=out, where=denominator > 0)
    return out
