"""HalluSegBench's metrics: does a mask follow the object when object or words are replaced?

For a case with object c in image I (mask M_c) and its replacement c' in I' (mask M'_c'), P(I, c)
being the mask predicted for image I and words c:

    IoU_fact    = IoU(M_c, P(I, c))         IoU_textual = IoU(M_c, P(I, c'))
    IoU_cf      = IoU(M'_c', P(I', c'))     IoU_visual  = IoU(M'_c', P(I', c))
    dIoU_textual = IoU_fact − IoU_textual   dIoU_visual = IoU_fact − IoU_visual
    dIoU is in [−1, 1], higher is better

    CMS(P, G) = (α·|P∩G| + |P∖G|) / (α·|G|), α = 3; lower is better, unbounded above
    CMS_fact = CMS(P(I, c'), M_c)           CMS_counterfact = CMS(P(I', c), M'_c')

    CCMS       mean CMS_fact / mean CMS_counterfact, as the published table has it
    CCMS_mean  mean over cases of CMS_fact / CMS_counterfact, as the published script prints it,
               over cases with CMS_counterfact ≠ 0

(Li et al., "Counterfactual Segmentation Reasoning: Diagnosing and Mitigating Pixel-Grounding
Hallucination".) The four IoU and both dIoU are means over cases. An empty union has IoU 0.

Two variants. `exact` compares each prediction at its ground truth's own size and leaves CMS
undefined where the ground truth is empty. `parity` follows the published scripts: IoU at the
factual mask's size and only where both ground truths are there, CMS 0 for an empty ground truth.

Outcomes: an abstention is an empty mask: IoU 0, CMS 0. An answer that could not be read is wrong:
IoU 0 where the object is asked for, 1 where it is not (a mask on the object is as wrong as can be).
CMS has no highest value, so what is unreadable is left out of it and of CCMS; `judged` makes the
lowest and the highest value that it could have had. The whole case of a failed answer is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from groundfault.matching.quads import TRUTH_OF_ROLE
from groundfault.metrics import means
from groundfault.metrics.family import Better, Family, Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from groundfault.matching.quads import PixelCounts, Quads

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

__all__ = [
    "ALPHA",
    "CASE_VALUES",
    "COLUMNS",
    "FAMILY",
    "METRICS",
    "Corners",
    "Judgement",
    "case_values",
    "confusion_mask_score",
    "contributions",
    "corners",
    "iou",
    "judged",
    "metrics",
    "support",
    "unread_as_wrong",
]

ALPHA = 3.0
"""How much more a pixel on the object weighs than one beside it."""
_FACTUAL, _TEXTUAL, _VISUAL, _COUNTERFACTUAL = range(4)

_MEANS = (
    "IoU_fact",
    "IoU_textual",
    "IoU_visual",
    "IoU_cf",
    "dIoU_textual",
    "dIoU_visual",
    "CMS_fact",
    "CMS_counterfact",
)
CASE_VALUES = (*_MEANS, "CCMS_ratio")
"""What one case has; CCMS_mean is the mean of CCMS_ratio."""
METRICS = (*_MEANS, "CCMS", "CCMS_mean")
COLUMNS = means.mean_columns(CASE_VALUES)
_ASKED_FOR = np.array([True, False, False, True])
"""Which corners ask for what is in the picture."""


Judgement = Literal["right", "wrong", "empty"]


class Corners(NamedTuple):
    """(cases, 4) each, in the order of the four predictions; NaN where undefined."""

    overlap: Floats
    """IoU with the ground truth."""
    confusion: Floats
    """CMS."""


def iou(counts: PixelCounts) -> Floats:
    """Intersection over union; 0 where both masks are empty.

    >>> from groundfault.matching.quads import PixelCounts
    >>> iou(PixelCounts(*np.array([[4, 0], [2, 0], [1, 0]]))).tolist()
    [0.2, 0.0]
    """
    union = counts.object_px + counts.predicted_px - counts.shared_px
    out = np.zeros(union.shape)
    np.divide(counts.shared_px, union, out=out, where=union > 0)
    return out


def confusion_mask_score(
    counts: PixelCounts, *, alpha: float = ALPHA, empty: float = np.nan
) -> Floats:
    """CMS = (α·|P∩G| + |P∖G|) / (α·|G|); `empty` where there is no object.

    One of two predicted pixels lies on an object of four: (3·1 + 1) / (3·4).

    >>> from groundfault.matching.quads import PixelCounts
    >>> confusion_mask_score(PixelCounts(*np.array([[4, 0], [2, 2], [1, 0]]))).round(3).tolist()
    [0.333, nan]
    """
    beside_px = counts.predicted_px - counts.shared_px
    weight = alpha * counts.object_px
    out = np.full(weight.shape, empty)
    np.divide(alpha * counts.shared_px + beside_px, weight, out=out, where=weight > 0)
    return out


def corners(quads: Quads, *, variant: str, alpha: float = ALPHA) -> Corners:
    """Overlap and confusion of every prediction that was compared."""
    parity = variant == "parity"
    overlap = iou(quads.at_factual_size if parity else quads.own)
    confusion = confusion_mask_score(quads.own, alpha=alpha, empty=0.0 if parity else np.nan)
    both_there = quads.truth_there.all(axis=1, keepdims=True)
    return Corners(
        np.where(quads.compared & both_there, overlap, np.nan),
        np.where(quads.compared, confusion, np.nan),
    )


def unread_as_wrong(found: Corners, quads: Quads, unread: Flags) -> Corners:
    """With what could not be read as wrong in overlap, and left out of confusion."""
    wrong = judged(found, quads, unread, "wrong", variant="exact")
    return Corners(wrong.overlap, found.confusion)


def judged(
    found: Corners,
    quads: Quads,
    doubtful: Flags,
    how: Judgement,
    *,
    variant: str,
    alpha: float = ALPHA,
) -> Corners:
    """With doubtful answers as right or as wrong as they could be, or as empty masks. The largest
    confusion is that of a mask of the whole picture: (α·|G| + rest) / (α·|G|)."""
    truth = list(TRUTH_OF_ROLE)
    object_px, there = quads.truth_px[:, truth], quads.truth_there[:, truth]
    both_there = quads.truth_there.all(axis=1, keepdims=True)
    marked = {"right": _ASKED_FOR, "wrong": ~_ASKED_FOR, "empty": np.zeros_like(_ASKED_FOR)}[how]
    overlap = (marked & (object_px > 0)).astype(np.float64)
    confusion = np.zeros(object_px.shape)
    if how == "wrong":
        whole_px = quads.truth_size_px.prod(axis=2)[:, truth]
        np.divide(
            (alpha - 1) * object_px + whole_px,
            alpha * object_px,
            out=confusion,
            where=object_px > 0,
        )
    if variant != "parity":
        confusion[object_px == 0] = np.nan
    return Corners(
        np.where(doubtful & both_there, overlap, found.overlap),
        np.where(doubtful & there, confusion, found.confusion),
    )


def case_values(found: Corners) -> dict[str, Floats]:
    """(cases,) of each of CASE_VALUES; NaN where undefined."""
    overlap, confusion = found
    fact, counterfact = confusion[:, _TEXTUAL], confusion[:, _VISUAL]
    return {
        "IoU_fact": overlap[:, _FACTUAL],
        "IoU_textual": overlap[:, _TEXTUAL],
        "IoU_visual": overlap[:, _VISUAL],
        "IoU_cf": overlap[:, _COUNTERFACTUAL],
        "dIoU_textual": overlap[:, _FACTUAL] - overlap[:, _TEXTUAL],
        "dIoU_visual": overlap[:, _FACTUAL] - overlap[:, _VISUAL],
        "CMS_fact": fact,
        "CMS_counterfact": counterfact,
        "CCMS_ratio": means.ratio(fact, counterfact),
    }


def contributions(values: Mapping[str, Floats]) -> Floats:
    """(cases, len(COLUMNS)) what each case adds to the sums."""
    return means.contributions(values, CASE_VALUES)


def metrics(sums: Floats) -> dict[str, Floats]:
    """Every metric from (…, len(COLUMNS)) sums; NaN where undefined.

    Two cases with CMS_fact 1 and 2, CMS_counterfact 4 and 4:

    >>> one = dict.fromkeys(COLUMNS, 0.0)
    >>> one |= {"CMS_fact": 3, "CMS_fact.n": 2, "CMS_counterfact": 8, "CMS_counterfact.n": 2}
    >>> one |= {"CCMS_ratio": 0.75, "CCMS_ratio.n": 2}
    >>> values = metrics(np.array([list(one.values())]))
    >>> [float(values[name][0]) for name in ("CMS_fact", "CCMS", "CCMS_mean", "IoU_fact")]
    [1.5, 0.375, 0.375, nan]
    """
    mean = means.means(sums, CASE_VALUES)
    values = {name: mean[name] for name in _MEANS}
    values["CCMS"] = means.ratio(mean["CMS_fact"], mean["CMS_counterfact"])
    values["CCMS_mean"] = mean["CCMS_ratio"]
    return values


def support(sums: Floats) -> dict[str, int]:
    """How many cases each metric is about, from (len(COLUMNS),) sums. CCMS divides two means: the
    smaller of their counts."""
    n = means.support(sums, CASE_VALUES)
    found = {name: n[name] for name in _MEANS}
    found["CCMS"] = min(n["CMS_fact"], n["CMS_counterfact"])
    found["CCMS_mean"] = n["CCMS_ratio"]
    return found


def _fraction(
    name: str, about: str, *, better: Better = "higher", low: float = 0.0, high: float | None = 1.0
) -> Metric:
    """The papers print fractions."""
    return Metric(name=name, about=about, better=better, unit="fraction", low=low, high=high)


FAMILY = Family(
    name="replacement",
    about="ΔIoU, CMS, CCMS",
    metrics=(
        _fraction("IoU_fact", "Overlap with the object where it is asked for: (I, c)."),
        _fraction(
            "IoU_textual", "Overlap with the object where another is asked for.", better="lower"
        ),
        _fraction(
            "IoU_visual", "Overlap with the replacement where c is asked for.", better="lower"
        ),
        _fraction("IoU_cf", "Overlap with the replacement where it is asked for: (I′, c′)."),
        _fraction(
            "dIoU_textual",
            "How much overlap disappears when only the words change. 0 or less: the model marks "
            "what the words no longer name.",
            low=-1.0,
        ),
        _fraction(
            "dIoU_visual",
            "How much overlap disappears when only the picture changes. 0 or less: the model "
            "marks what is no longer there.",
            low=-1.0,
        ),
        _fraction(
            "CMS_fact",
            "Size of the wrong mask for (I, c′) relative to the object; pixels on the object "
            "weigh three times. 0: no mask.",
            better="lower",
            high=None,
        ),
        _fraction("CMS_counterfact", "The same for (I′, c).", better="lower", high=None),
        _fraction(
            "CCMS",
            "CMS_fact over CMS_counterfact: above 1, words mislead more than pictures.",
            better="neither",
            high=None,
        ),
        _fraction(
            "CCMS_mean",
            "The same ratio averaged case by case, as the published script prints it.",
            better="neither",
            high=None,
        ),
    ),
    columns=COLUMNS,
    values=lambda sums, settings: metrics(sums),
    support=support,
)
