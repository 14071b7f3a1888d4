"""What answers without a mask do to HalluSegBench's metrics.

A model that says "there is no such thing" gives no mask. Two conventions for it are in use, and
both are reported side by side:

    counted   an absent mask is an empty one: IoU 0, CMS 0. The definitions say so, and `exact`
              has it in its main columns.
    skipped   an absent mask has no value, and dIoU none without both of its masks. The published
              scripts do so with files that are not there, and `parity` has it in its main columns.

Skipping hides what abstaining is worth: a model that rejects every wrong question rightly has no
CMS at all, and its overlap is about the cases that it dared to answer. Where no mask is absent both
are the same.

    absent_rate    share of answers without a mask, of those that could be read
    unparsed_rate  share of answers that could not be read, of all that came

Outcomes: an answer that could not be read is no abstention; both conventions take it as the main
columns do. The whole case of a failed answer is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from groundfault.metrics import means
from groundfault.metrics.family import Better, Family, Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

__all__ = ["CONVENTIONS", "FAMILY", "METRICS", "contributions"]

CONVENTIONS = ("counted", "skipped")
METRICS: Mapping[str, Better] = {
    "IoU_fact": "higher",
    "dIoU_textual": "higher",
    "dIoU_visual": "higher",
    "CMS_fact": "lower",
    "CMS_counterfact": "lower",
}
"""What is given under both conventions, and which way is better."""
_NAMES = tuple(f"{name}_{how}" for how in CONVENTIONS for name in METRICS)
_COUNTS = ("unparsed", "absent", "answers")


def contributions(
    counted: Mapping[str, Floats],
    skipped: Mapping[str, Floats],
    *,
    unread: Flags,
    absent: Flags,
    scored: Flags,
) -> Floats:
    """(cases, columns) what each case adds to the sums: from its values under each convention, from
    (cases, 4) which answers could not be read and which have no mask, and from (cases,) which cases
    are scored."""
    values = {
        f"{name}_{how}": found[name]
        for how, found in zip(CONVENTIONS, (counted, skipped), strict=True)
        for name in METRICS
    }
    answers = np.full(len(scored), unread.shape[1])
    counts = np.stack([unread.sum(axis=1), absent.sum(axis=1), answers], axis=1)
    return np.hstack([means.contributions(values, _NAMES), counts * scored[:, None]])


def _values(sums: Floats) -> dict[str, Floats]:
    unparsed, absent, answers = (sums[..., 2 * len(_NAMES) + k] for k in range(len(_COUNTS)))
    return {
        "unparsed_rate": means.ratio(unparsed, answers),
        "absent_rate": means.ratio(absent, answers - unparsed),
        **means.means(sums, _NAMES),
    }


def _support(sums: Floats) -> dict[str, int]:
    unparsed, _, answers = (int(value) for value in sums[2 * len(_NAMES) :])
    rates = {"unparsed_rate": answers, "absent_rate": answers - unparsed}
    return {**rates, **means.support(sums, _NAMES)}


_ABOUT = {
    "counted": "{name} with an absent mask as an empty one (abstention = 0).",
    "skipped": "{name} without the absent masks (absent = skipped), as the published scripts do.",
}
FAMILY = Family(
    name="absence",
    about="answers without a mask: their share, and what counting or skipping them does",
    metrics=(
        Metric(
            name="unparsed_rate",
            about="Share of answers that could not be read. They are wrong in IoU and in bounded "
            "CMS, and left out of CMS, which has no highest value.",
            better="lower",
            unit="fraction",
        ),
        Metric(
            name="absent_rate",
            about="Share of answers without a mask: abstentions.",
            better="neither",
            unit="fraction",
        ),
        *(
            Metric(
                name=f"{name}_{how}",
                about=_ABOUT[how].format(name=name),
                better=better,
                unit="fraction",
                low=-1.0 if name.startswith("dIoU") else 0.0,
                high=None if name.startswith("CMS") else 1.0,
            )
            for how in CONVENTIONS
            for name, better in METRICS.items()
        ),
    ),
    columns=(*means.mean_columns(_NAMES), *_COUNTS),
    values=lambda sums, settings: _values(sums),
    support=_support,
)
