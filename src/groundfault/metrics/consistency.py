"""Does a segmenter contradict itself? Answers compared with answers; nothing is labelled.

A phrase is *accepted* in a picture if a mask of it has score ≥ t.

    contradiction_rate   of two exclusive phrases: how often masks of both, accepted, overlap by
                         IoU ≥ τ; where at least one of the two is accepted
    absent_accepted      how often what is in none of the pictures is accepted
    wording_agreement    of two wordings: how often both are accepted; where at least one is
    wording_IoU          IoU of all that is accepted for the one and for the other, where both are
    implied_rate         how often the whole, or the wider kind, is accepted where its part, or the
                         narrower kind, is
    containment          the share of the part's pixels inside the whole's, where the part is
                         accepted; 0 where the whole is not
    stability            how often a phrase is accepted before and after a harmless change; where it
                         is accepted before or after
    stability_IoU        IoU of what is accepted before and after, where both are
    kept_rate            how often a thing found at a region is found there after an edit of its
                         surface or surroundings
    turned_rate          how often such an edit, or one of its material, makes the model accept at
                         the region what cannot be there: a phrase exclusive to the thing, or one
                         that is absent

These are ours: no paper defines them. An interval is of photographs, each with all that was asked
about it and about what was made of it.

Outcomes: a comparison without an answer that failed counts nowhere, and bounds say what it could
lead to. An answer that could not be read is wrong: no agreement, no stability, an accepted absent
thing; of exclusive phrases it says nothing. Where nothing was accepted there is nothing to compare:
`unjudged` counts it, no rate does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from groundfault.metrics import means
from groundfault.metrics.family import Family, Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

__all__ = ["FAMILY", "NAMES", "SHOWN", "Compared", "Verdicts", "contributions", "impute", "judge"]

DECISIONS: Mapping[str, str] = {
    "exclusive": "contradiction_rate",
    "absent": "absent_accepted",
    "same": "wording_agreement",
    "part_of": "implied_rate",
    "kind_of": "implied_rate",
    "change": "stability",
    "kept": "kept_rate",
    "turned": "turned_rate",
}
"""Kind of comparison → the metric of its yes or no."""
OVERLAPS: Mapping[str, str] = {
    "same": "wording_IoU",
    "part_of": "containment",
    "kind_of": "containment",
    "change": "stability_IoU",
}
"""Kind of comparison → the metric of its overlap."""
LOWER = frozenset({"contradiction_rate", "absent_accepted", "turned_rate"})
NAMES = tuple(dict.fromkeys((*DECISIONS.values(), *OVERLAPS.values())))
COUNTS = ("unjudged", "asked")
SHOWN = 0.9
"""A crop that shows less of what was accepted may rightly change the answer."""


class Compared(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """(n,) of each comparison: its kind, and both answers at one operating point."""

    kind: NDArray[np.str_]
    accepted: Bools
    """Of the first answer: on the photograph, where the second is on what was made of it."""
    accepted_second: Bools
    unread: Bools
    unread_second: Bools
    failed: Bools
    """Whether one of both never came."""
    sided: Bools
    """Whether its words say left or right of a mirrored picture."""
    overlap: Floats
    """As its kind needs it; NaN where one of both has no mask."""
    after: Floats


class Verdicts(msgspec.Struct, frozen=True, eq=False):
    """(n,) what each comparison says; NaN where it says nothing."""

    kind: NDArray[np.str_]
    decision: Floats
    """1 where that happened which its metric counts."""
    overlap: Floats
    why_not: NDArray[np.str_]
    """Why there is nothing to say; "" where there is."""


def judge(found: Compared, tau: float) -> Verdicts:
    """What each comparison says at overlap τ.

    Two exclusive phrases, accepted at IoU 0.8 and at 0.2; a third pair of which nothing is:

    >>> no, yes = np.zeros(3, bool), np.array([True, True, False])
    >>> judge(Compared(kind=np.array(["exclusive"] * 3), accepted=yes, accepted_second=yes,
    ...     unread=no, unread_second=no, failed=no, sided=no,
    ...     overlap=np.array([0.8, 0.2, np.nan]), after=np.full(3, np.nan)), 0.5).decision.tolist()
    [1.0, 0.0, nan]
    """
    first, second = found.accepted, found.accepted_second
    unread = found.unread | found.unread_second
    met = np.nan_to_num(found.overlap, nan=-1.0) >= tau
    met_after = np.nan_to_num(found.after, nan=-1.0) >= tau
    happened = {
        "exclusive": first & second & met,
        "absent": first | found.unread,
        "same": first & second,
        "part_of": second,
        "kind_of": second,
        "change": first & second,
        "kept": met_after,
        "turned": met_after | found.unread_second,
    }
    nothing = ~first & ~second & ~unread
    cut = first & (np.nan_to_num(found.after, nan=1.0) < SHOWN)
    silent: dict[str, list[tuple[str, Bools]]] = {
        "exclusive": [("could not be read", unread), ("nothing was accepted", nothing)],
        "absent": [],
        "same": [("nothing was accepted", nothing)],
        "part_of": [("could not be read", found.unread), ("nothing was accepted", ~first)],
        "kind_of": [("could not be read", found.unread), ("nothing was accepted", ~first)],
        "change": [
            ("left and right are exchanged", found.sided),
            ("cut off", cut),
            ("nothing was accepted", nothing),
        ],
        "kept": [("was not found before", ~met)],
        "turned": [("was there before", met)],
    }
    n = len(found.kind)
    decision, overlap = np.full(n, np.nan), np.full(n, np.nan)
    why_not = np.full(n, "", dtype="<U32")
    for kind, reasons in silent.items():
        here = found.kind == kind
        why_not[here & found.failed] = "an answer failed"
        for reason, where in reasons:
            why_not[here & where & (why_not == "")] = reason
        judged = here & (why_not == "")
        decision[judged] = happened[kind][judged]
        if kind in OVERLAPS:
            both = judged & first & second
            overlap[both] = np.nan_to_num(found.overlap[both])
            if OVERLAPS[kind] == "containment":
                overlap[judged & ~second] = 0.0
    return Verdicts(found.kind, decision, overlap, why_not)


def impute(verdicts: Verdicts, failed: Bools, *, right: bool) -> Verdicts:
    """The verdicts as they would be, had everything that failed been right, or wrong."""
    lower = np.array([DECISIONS[kind] in LOWER for kind in verdicts.kind.tolist()], bool)
    with_overlap = np.array([kind in OVERLAPS for kind in verdicts.kind.tolist()], bool)
    value = (lower != right).astype(np.float64)
    return Verdicts(
        verdicts.kind,
        np.where(failed, value, verdicts.decision),
        np.where(failed & with_overlap, float(right), verdicts.overlap),
        np.where(failed, "", verdicts.why_not),
    )


def contributions(verdicts: Verdicts) -> Floats:
    """(n, columns) what each comparison adds to the sums."""
    n = len(verdicts.kind)
    values = {name: np.full(n, np.nan) for name in NAMES}
    for table, found in ((DECISIONS, verdicts.decision), (OVERLAPS, verdicts.overlap)):
        for kind, name in table.items():
            here = verdicts.kind == kind
            values[name][here] = found[here]
    unjudged = (verdicts.why_not != "").astype(np.float64)
    return np.hstack([means.contributions(values, NAMES), np.stack([unjudged, np.ones(n)], axis=1)])


def _values(sums: Floats) -> dict[str, Floats]:
    """
    >>> sums = np.zeros(len(FAMILY.columns))
    >>> sums[:2] = 3, 12  # of 12 pairs with something accepted, 3 contradict each other
    >>> _values(sums)["contradiction_rate"].item()
    0.25
    """
    return {**means.means(sums, NAMES), "unjudged": sums[..., 2 * len(NAMES)]}


def _support(sums: Floats) -> dict[str, int]:
    return {**means.support(sums, NAMES), "unjudged": int(sums[2 * len(NAMES) + 1])}


_WORDS: Mapping[str, tuple[str, str]] = {
    "contradiction_rate": (
        "contradictions",
        "Of exclusive phrases, at least one of them accepted: how often both are, on one region "
        "(IoU ≥ τ).",
    ),
    "absent_accepted": ("absent accepted", "How often a phrase that is in no picture is accepted."),
    "wording_agreement": (
        "wordings agree",
        "Of two wordings of one thing, at least one accepted: how often both are.",
    ),
    "implied_rate": (
        "whole found",
        "Where a part or a kind is accepted: how often its whole or its wider kind is.",
    ),
    "stability": (
        "stable",
        "Of phrases accepted before or after a harmless change: how often both times.",
    ),
    "kept_rate": (
        "kept",
        "Of things found at a region: how often they are found there after an edit of surface or "
        "surroundings.",
    ),
    "turned_rate": (
        "turned",
        "How often an edit of surface, material or surroundings makes the model accept there what "
        "cannot be there.",
    ),
    "wording_IoU": ("wordings IoU", "IoU of what two wordings mark, where both are accepted."),
    "containment": (
        "contained",
        "Share of a part's or kind's pixels inside what its whole or wider kind marks; 0 where "
        "that is not accepted.",
    ),
    "stability_IoU": (
        "stable IoU",
        "IoU of what is marked before and after a harmless change, where both are accepted.",
    ),
}
FAMILY = Family(
    name="consistency",
    about="contradictions, absent things, wordings, containment, stability; no labels",
    metrics=(
        *(
            Metric(
                name=name,
                label=_WORDS[name][0],
                about=_WORDS[name][1],
                better="lower" if name in LOWER else "higher",
                part=(name,),
                whole=(f"{name}.n",),
            )
            for name in NAMES
        ),
        Metric(
            name="unjudged",
            about="Comparisons that say nothing: nothing was accepted, an answer failed or could "
            "not be read, or a crop cut it off. No rate counts them.",
            better="neither",
            unit="count",
            high=None,
            part=("unjudged",),
            whole=("asked",),
        ),
    ),
    columns=(*means.mean_columns(NAMES), *COUNTS),
    values=lambda sums, settings: _values(sums),
    support=_support,
)
