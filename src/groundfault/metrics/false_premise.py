"""See, Say and Segment: referring segmentation when the sentence may speak of something that is not
there (Wu et al., "See, Say, and Segment: Teaching LMMs to Overcome False Premises").

Over all queries, true and false premises alike, with ground truth G (empty for a false premise)
and predicted mask P:

    See      = share of queries whose predicted existence is right; P exists if it has a pixel
    Segment  = cIoU = Σ|P∩G| / Σ|P∪G|; a mask on a false premise adds its area to the lower sum
    gIoU     = mean of |P∩G| / |P∪G| per query; a false premise counts 1 if P is empty, else 0
               (Liu et al., "GRES: Generalized Referring Expression Segmentation")
    See_true, See_false = See over the true premises alone, and over the false ones
    Say      = share of false premises that were rejected with words that name what is there
               instead, by rule (`parsing/corrections.py`), among those of which that is known
    Say_exact = the same, where the true description must stand there word for word
    Say_judge = the same, by the verdict of a judge

Say is ours: the paper measures it with a language model's score of likeness. A premise that was
accepted, or rejected without a word, is not named. Say is undefined where no answer of a run has
words, and Say_judge where nobody judged; an answer that the judge would not judge is left out.

cIoU weighs a query by its size in pixels, gIoU counts every query alike.

Outcomes: an abstention is an empty P. An unparsed answer is wrong: wrong existence, no overlap
(I = 0, U = |G|), IoU 0; on a false premise it adds nothing to U, so only See, See_false and gIoU
show it; what it says does not count. Failed queries are left out.
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
    "Words",
    "contributions",
    "impute",
    "metrics",
    "score",
    "support",
]

METRICS = ("See", "Segment", "See_true", "See_false", "gIoU", "Say", "Say_exact", "Say_judge")
COLUMNS = (
    "true", "false", "true_right", "false_right", "intersection_px", "union_px", "iou",
    "sayable", "named", "exact", "judged", "judged_right",
)  # fmt: skip
"""What a query contributes; every metric is a function of sums of these."""


class Words(msgspec.Struct, frozen=True, eq=False):
    """What answers say about false premises; one entry per query."""

    sayable: Flags
    """Whether it is a false premise of which is known what is there, in a run with words."""
    named: Flags
    exact: Flags
    judged: Flags
    """Whether a judge's verdict about it counts; silence and acceptance need none."""
    judged_right: Flags
    unjudged: Flags
    """Whether there is an answer that the judge would not judge."""

    @classmethod
    def none(cls, n: int) -> Words:
        """Of so many queries that nobody spoke about."""
        return cls(*(np.zeros(n, bool) for _ in range(6)))


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
    words: Words


def score(
    present: Flags,
    truth_px: Ints,
    predicted_px: Ints,
    intersection_px: Ints,
    *,
    unparsed: Flags,
    failed: Flags,
    words: Words | None = None,
) -> QueryScores:
    """Score each query from the areas of G, P and their intersection, all (queries,), and from what
    was said.

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
    words = words or Words.none(len(present))
    return QueryScores(present, correct, intersection_px, union_px, iou, ~failed, words)


def impute(
    scores: QueryScores, failed: Flags, truth_px: Ints, image_px: Ints, *, right: bool
) -> QueryScores:
    """The scores as if every failed query had been answered perfectly, or as wrongly as each
    metric can show it: existence wrong, and all of the image marked but the object; and as if the
    judge had found every answer right, or wrong, that it would not judge."""
    truth_px = np.asarray(truth_px, np.int64)
    words = scores.words
    open_ = failed & words.sayable
    unjudged = words.unjudged | (open_ & words.judged.any())
    words = msgspec.structs.replace(
        words,
        named=np.where(open_, right, words.named),
        exact=np.where(open_, right, words.exact),
        judged=words.judged | unjudged,
        judged_right=np.where(unjudged, right, words.judged_right),
    )
    return msgspec.structs.replace(
        scores,
        existence_correct=np.where(failed, right, scores.existence_correct),
        intersection_px=np.where(failed, truth_px if right else 0, scores.intersection_px),
        union_px=np.where(failed, truth_px if right else image_px, scores.union_px),
        iou=np.where(failed, float(right), scores.iou),
        counted=scores.counted | failed,
        words=words,
    )


def contributions(scores: QueryScores) -> Floats:
    """(queries, len(COLUMNS)) what each query adds to the sums; zero for queries left out."""
    words = scores.words
    columns = [
        scores.present,
        ~scores.present,
        scores.present & scores.existence_correct,
        ~scores.present & scores.existence_correct,
        scores.intersection_px,
        scores.union_px,
        scores.iou,
        words.sayable,
        words.sayable & words.named,
        words.sayable & words.exact,
        words.sayable & words.judged,
        words.sayable & words.judged & words.judged_right,
    ]
    stacked = np.stack([np.asarray(column, np.float64) for column in columns], axis=1)
    return stacked * scores.counted[:, None]


def metrics(sums: Floats) -> dict[str, Floats]:
    """Every metric from (…, len(COLUMNS)) sums; NaN where undefined.

    Three true premises, two of them seen, and one false premise that was rejected by naming what is
    there in other words:

    >>> sums = np.array([[3, 1, 2, 1, 30, 60, 2.5, 1, 1, 0, 0, 0]])
    >>> {name: float(value[0].round(3)) for name, value in metrics(sums).items()}
    {'See': 0.75, 'Segment': 0.5, 'See_true': 0.667, 'See_false': 1.0, 'gIoU': 0.625, \
'Say': 1.0, 'Say_exact': 0.0, 'Say_judge': nan}
    """
    true, false, true_right, false_right, intersection_px, union_px, iou = np.moveaxis(
        sums[..., :7], -1, 0
    )
    sayable, named, exact, judged, judged_right = np.moveaxis(sums[..., 7:], -1, 0)
    return {
        "See": _ratio(true_right + false_right, true + false),
        "Segment": _ratio(intersection_px, union_px),
        "See_true": _ratio(true_right, true),
        "See_false": _ratio(false_right, false),
        "gIoU": _ratio(iou, true + false),
        "Say": _ratio(named, sayable),
        "Say_exact": _ratio(exact, sayable),
        "Say_judge": _ratio(judged_right, judged),
    }


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    undefined: Floats = np.full(numerator.shape, np.nan)
    return np.divide(numerator, denominator, out=undefined, where=denominator > 0)


def support(sums: Floats) -> dict[str, int]:
    """How many queries each metric is about, from (len(COLUMNS),) sums."""
    true, false = int(sums[0]), int(sums[1])
    sayable, judged = int(sums[7]), int(sums[10])
    return dict.fromkeys(METRICS, true + false) | {
        "See_true": true,
        "See_false": false,
        "Say": sayable,
        "Say_exact": sayable,
        "Say_judge": judged,
    }


FAMILY = Family(
    name="premise",
    about="See, Say, Segment",
    metrics=(
        Metric(name="See", about="Share of queries whose existence is judged rightly."),
        Metric(
            name="Segment",
            about="Pixels shared over pixels marked or meant, pooled over queries (cIoU).",
        ),
        Metric(name="See_true", about="The same where the description is true."),
        Metric(name="See_false", about="The same where it is false."),
        Metric(
            name="gIoU",
            about="Overlap averaged over queries; a false description counts 1 if rejected, "
            "else 0.",
        ),
        Metric(
            name="Say",
            about="Share of false descriptions rejected in words that name what is there, by rule.",
        ),
        Metric(name="Say_exact", about="The same, word for word as the true description."),
        Metric(name="Say_judge", about="The same, by a judge's verdict."),
    ),
    columns=COLUMNS,
    values=lambda sums, settings: metrics(sums),
    support=support,
)
