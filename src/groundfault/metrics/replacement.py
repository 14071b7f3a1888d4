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
factual mask's size and only where both ground truths are there, CMS 0 for an empty ground truth,
CCMS_mean from scores rounded to 4 decimals.

Outcomes: an abstention is an empty mask: IoU 0, CMS 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from groundfault.metrics.family import Better, Family, Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from groundfault.matching.quads import PixelCounts, Quads

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = [
    "ALPHA",
    "CASE_VALUES",
    "COLUMNS",
    "FAMILY",
    "METRICS",
    "case_values",
    "confusion_mask_score",
    "contributions",
    "iou",
    "metrics",
    "support",
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
COLUMNS = tuple(name + part for name in CASE_VALUES for part in ("", ".n"))
"""What a case contributes: each value, and 1 where it is defined."""


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


def case_values(quads: Quads, *, variant: str, alpha: float = ALPHA) -> dict[str, Floats]:
    """(cases,) of each of CASE_VALUES; NaN where undefined."""
    parity = variant == "parity"
    overlap = iou(quads.at_factual_size if parity else quads.own)
    score = confusion_mask_score(quads.own, alpha=alpha, empty=0.0 if parity else np.nan)
    both_there = quads.truth_there.all(axis=1, keepdims=True)
    overlap = np.where(quads.compared & both_there, overlap, np.nan)
    score = np.where(quads.compared, score, np.nan)
    fact, counterfact = score[:, _TEXTUAL], score[:, _VISUAL]
    return {
        "IoU_fact": overlap[:, _FACTUAL],
        "IoU_textual": overlap[:, _TEXTUAL],
        "IoU_visual": overlap[:, _VISUAL],
        "IoU_cf": overlap[:, _COUNTERFACTUAL],
        "dIoU_textual": overlap[:, _FACTUAL] - overlap[:, _TEXTUAL],
        "dIoU_visual": overlap[:, _FACTUAL] - overlap[:, _VISUAL],
        "CMS_fact": fact,
        "CMS_counterfact": counterfact,
        # the published script divides scores that it has rounded
        "CCMS_ratio": _ratio(fact.round(4), counterfact.round(4))
        if parity
        else _ratio(fact, counterfact),
    }


def contributions(values: Mapping[str, Floats]) -> Floats:
    """(cases, len(COLUMNS)) what each case adds to the sums."""
    columns = []
    for name in CASE_VALUES:
        defined = ~np.isnan(values[name])
        columns += [np.where(defined, values[name], 0.0), defined.astype(np.float64)]
    return np.stack(columns, axis=1)


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
    mean = {
        name: _ratio(sums[..., 2 * k], sums[..., 2 * k + 1]) for k, name in enumerate(CASE_VALUES)
    }
    values = {name: mean[name] for name in _MEANS}
    values["CCMS"] = _ratio(mean["CMS_fact"], mean["CMS_counterfact"])
    values["CCMS_mean"] = mean["CCMS_ratio"]
    return values


def support(sums: Floats) -> dict[str, int]:
    """How many cases each metric is about, from (len(COLUMNS),) sums. CCMS divides two means: the
    smaller of their counts."""
    n = {name: int(sums[2 * k + 1]) for k, name in enumerate(CASE_VALUES)}
    found = {name: n[name] for name in _MEANS}
    found["CCMS"] = min(n["CMS_fact"], n["CMS_counterfact"])
    found["CCMS_mean"] = n["CCMS_ratio"]
    return found


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    out = np.full(np.shape(numerator), np.nan)
    np.divide(numerator, denominator, out=out, where=denominator > 0)
    return out


def _fraction(
    name: str, about: str, *, better: Better = "higher", low: float = 0.0, high: float | None = 1.0
) -> Metric:
    """The papers print fractions. A mean of overlaps has a share's limits near 0 and 1."""
    is_overlap = name.startswith("IoU")
    return Metric(
        name=name,
        about=about,
        better=better,
        unit="fraction",
        low=low,
        high=high,
        part=(name,) if is_overlap else (),
        whole=(f"{name}.n",) if is_overlap else (),
    )


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
