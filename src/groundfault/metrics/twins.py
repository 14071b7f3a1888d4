"""Twins of an exam: a question is understood by who answers it about both pictures.

    paired_accuracy   share of questions that are answered rightly about a picture and about its
                      twin: the same words and options, another answer

The twin is the unedited picture, the same picture twice, or a picture with another count. Whoever
does not look says the same to both and is right about one of them at most: chance is 0. Questions
are pooled over tasks, a row of each task has its own; over modes it is the mean of those that were
asked.

Outcomes: an answer that could not be read is wrong, and so is its pair. A pair with an answer that
failed or was left unjudged counts nowhere; bounds say what it could lead to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groundfault.metrics import means
from groundfault.metrics.family import Family, Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

__all__ = ["COLUMNS", "FAMILY", "MODES", "contributions"]

MODES = ("std", "cot")
COLUMNS = ("std.right", "cot.right", "std.n", "cot.n")


def contributions(*, n_cases: int, case: Ints, mode: Ints, right: Bools, weight: Floats) -> Floats:
    """(n_cases, len(COLUMNS)) from one entry per pair of answers: the place of its case, that of
    its mode in MODES, whether both are right, and what the question counts."""
    sums = np.zeros((n_cases, len(COLUMNS)))
    np.add.at(sums, (case, mode), right * weight)
    np.add.at(sums, (case, mode + len(MODES)), weight)
    return sums


def _values(sums: Floats) -> dict[str, Floats]:
    """
    Of two pairs in std mode one is right twice, of two in cot mode both are:

    >>> _values(np.array([1.0, 2.0, 2.0, 2.0]))["paired_accuracy"].item()
    0.75
    """
    rates = means.ratio(sums[..., :2], sums[..., 2:])
    asked = ~np.isnan(rates)
    total = np.where(asked, rates, 0.0).sum(axis=-1)
    return {"paired_accuracy": means.ratio(total, asked.sum(axis=-1))}


FAMILY = Family(
    name="twins",
    about="questions answered rightly about a picture and about its twin",
    metrics=(
        Metric(
            name="paired_accuracy",
            title="paired",
            about="Share of questions answered rightly about a picture and about its twin, where "
            "the same words have another answer. Who does not look gets 0.",
            part=COLUMNS[:2],
            whole=COLUMNS[2:],
        ),
    ),
    columns=COLUMNS,
    values=lambda sums, settings: _values(sums),
    support=lambda sums: {"paired_accuracy": int(sums[2:].sum())},
)
