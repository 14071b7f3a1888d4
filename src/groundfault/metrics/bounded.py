"""Bounded confusion mask scores: how often objects are confused, not how large the masks are.

    CMS_bounded = min(CMS, 1) per case, then the mean over cases

CMS grows with every pixel beside the object, so one mask of a whole picture on a small object can
outweigh a hundred cases. A bounded score is 1 for a mask that covers the object, or that is three
times as large beside it, and for anything worse.

Outcomes: an abstention is 0, an answer that could not be read is wrong: 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groundfault.metrics import means
from groundfault.metrics.family import Family, Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["CASE_VALUES", "FAMILY", "case_values", "contributions"]

CASE_VALUES = ("CMS_bounded_fact", "CMS_bounded_counterfact")


def case_values(fact: Floats, counterfact: Floats) -> dict[str, Floats]:
    """(cases,) of each of CASE_VALUES from CMS_fact and CMS_counterfact, with unreadable answers at
    their worst; NaN where undefined.

    >>> found = case_values(np.array([0.25, 21.0]), np.array([np.nan, 1.5]))
    >>> [value.tolist() for value in found.values()]
    [[0.25, 1.0], [nan, 1.0]]
    """
    return dict(zip(CASE_VALUES, (np.minimum(fact, 1), np.minimum(counterfact, 1)), strict=True))


def contributions(values: dict[str, Floats]) -> Floats:
    """(cases, columns) what each case adds to the sums."""
    return means.contributions(values, CASE_VALUES)


FAMILY = Family(
    name="bounded",
    about="CMS with at most 1 per case",
    metrics=(
        Metric(
            name="CMS_bounded_fact",
            about="CMS_fact with at most 1 per case, so that no single mask decides it. An "
            "unreadable answer is 1.",
            better="lower",
            unit="fraction",
        ),
        Metric(
            name="CMS_bounded_counterfact",
            about="The same for CMS_counterfact.",
            better="lower",
            unit="fraction",
        ),
    ),
    columns=means.mean_columns(CASE_VALUES),
    values=lambda sums, settings: means.means(sums, CASE_VALUES),
    support=lambda sums: means.support(sums, CASE_VALUES),
)
