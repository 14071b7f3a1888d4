"""See and Segment: referring segmentation when the sentence may speak of something that is not
there (Wu et al., "See, Say, and Segment: Teaching LMMs to Overcome False Premises").

Over all queries, true and false premises alike, with ground truth G (empty for a false premise)
and predicted mask P:

    See      = share of queries whose predicted existence is right; P exists if it has a pixel
    Segment  = cIoU = Σ|P∩G| / Σ|P∪G|; a mask on a false premise adds its area to the lower sum
    gIoU     = mean of |P∩G| / |P∪G| per query; a false premise counts 1 if P is empty, else 0
               (Liu et al., "GRES: Generalized Referring Expression Segmentation")
    See_true, See_false = See over the true premises alone, and over the false ones

cIoU weighs a query by its size in pixels, gIoU counts every query alike.

Outcomes: an abstention is an empty P. An unparsed answer is wrong: wrong existence, no overlap
(I = 0, U = |G|), IoU 0; on a false premise it adds nothing to U, so only See, See_false and gIoU
show it. Failed queries are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from groundfault.metrics.family import Family, Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

__all__ = [
    "COLUMNS",
    "FAMILY",
    "METRICS",
    "QueryScores",
    "contributions",
    "impute",
    "metrics",
    "score",
    "support",
]

METRICS = ("See", "Segment", "See_true", "See_false", "gIoU")
COLUMNS = ("true", "false", "true_right", "false_right", "intersection_px", "union_px", "iou")
"""What a query contributes; every metric is a function of sums of these."""


class QueryScores(msgspec.Struct, frozen=True, eq=False):
    """One entry per query."""

    present: Flags
    """Whether the premise is true."""
    existence_correct: Flags
    intersection_px: Ints
    union_px: Ints
    iou: Floats
    counted: Flags
    """False where the query failed."""


def score(
    present: Flags,
    truth_px: Ints,
    predicted_px: Ints,
    intersection_px: Ints,
    *,
    unparsed: Flags,
    failed: Flags,
) -> QueryScores:
    """Score each query from the areas of G, P and their intersection, all (queries,).

    A true premise half found, a false premise rejected:

    >>> no = np.zeros(2, bool)
    >>> areas = (np.array([4, 0]), np.array([2, 0]), np.array([2, 0]))
    >>> scores = score(np.array([True, False]), *areas, unparsed=no, failed=no)
    >>> scores.iou.tolist(), scores.existence_correct.tolist()
    ([0.5, 1.0], [True, True])
    """
    predicted_px = np.where(unparsed, 0, predicted_px)
    intersection_px = np.where(unparsed, 0, intersection_px)
    union_px = truth_px + predicted_px - intersection_px
    # A true premise whose annotated mask has no pixel is still a true premise: nothing is no match.
    nothing = np.where(present | unparsed, 0.0, 1.0)
    iou = np.divide(intersection_px, union_px, out=nothing, where=union_px > 0)
    correct = ((predicted_px > 0) == present) & ~unparsed
    return QueryScores(present, correct, intersection_px, union_px, iou, ~failed)


def impute(
    scores: QueryScores, failed: Flags, truth_px: Ints, image_px: Ints, *, right: bool
) -> QueryScores:
    """The scores as if every failed query had been answered perfectly, or as wrongly as each
    metric can show it: existence wrong, and all of the image marked but the object."""
    truth_px = np.asarray(truth_px, np.int64)
    return msgspec.structs.replace(
        scores,
        existence_correct=np.where(failed, right, scores.existence_correct),
        intersection_px=np.where(failed, truth_px if right else 0, scores.intersection_px),
        union_px=np.where(failed, truth_px if right else image_px, scores.union_px),
        iou=np.where(failed, float(right), scores.iou),
        counted=scores.counted | failed,
    )


def contributions(scores: QueryScores) -> Floats:
    """(queries, len(COLUMNS)) what each query adds to the sums; zero for queries left out."""
    columns = [
        scores.present,
        ~scores.present,
        scores.present & scores.existence_correct,
        ~scores.present & scores.existence_correct,
        scores.intersection_px,
        scores.union_px,
        scores.iou,
    ]
    stacked = np.stack([np.asarray(column, np.float64) for column in columns], axis=1)
    return stacked * scores.counted[:, None]


def metrics(sums: Floats) -> dict[str, Floats]:
    """Every metric from (…, len(COLUMNS)) sums; NaN where undefined.

    Three true premises, two of them seen, and one false premise that was rejected:

    >>> sums = np.array([[3, 1, 2, 1, 30, 60, 2.5]])
    >>> {name: float(value[0].round(3)) for name, value in metrics(sums).items()}
    {'See': 0.75, 'Segment': 0.5, 'See_true': 0.667, 'See_false': 1.0, 'gIoU': 0.625}
    """
    true, false, true_right, false_right, intersection_px, union_px, iou = np.moveaxis(sums, -1, 0)
    return {
        "See": _ratio(true_right + false_right, true + false),
        "Segment": _ratio(intersection_px, union_px),
        "See_true": _ratio(true_right, true),
        "See_false": _ratio(false_right, false),
        "gIoU": _ratio(iou, true + false),
    }


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    undefined: Floats = np.full(numerator.shape, np.nan)
    return np.divide(numerator, denominator, out=undefined, where=denominator > 0)


def support(sums: Floats) -> dict[str, int]:
    """How many queries each metric is about, from (len(COLUMNS),) sums."""
    true, false = int(sums[0]), int(sums[1])
    return dict.fromkeys(METRICS, true + false) | {"See_true": true, "See_false": false}


FAMILY = Family(
    name="premise",
    about="See, Segment",
    metrics=(
        Metric(
            name="See",
            about="Share of queries whose existence is judged rightly.",
            part=("true_right", "false_right"),
            whole=("true", "false"),
        ),
        Metric(
            name="Segment",
            about="Pixels shared over pixels marked or meant, pooled over queries (cIoU).",
            part=("intersection_px",),
            whole=("union_px",),
        ),
        Metric(
            name="See_true",
            about="The same where the description is true.",
            part=("true_right",),
            whole=("true",),
        ),
        Metric(
            name="See_false",
            about="The same where it is false.",
            part=("false_right",),
            whole=("false",),
        ),
        Metric(
            name="gIoU",
            about="Overlap averaged over queries; a false description counts 1 if rejected, "
            "else 0.",
            part=("iou",),
            whole=("true", "false"),
        ),
    ),
    columns=COLUMNS,
    values=lambda sums, settings: metrics(sums),
    support=support,
)
