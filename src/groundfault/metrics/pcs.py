"""Promptable concept segmentation: the cgF1 family, as the SAM 3 evaluator computes it.

Per (image, phrase) pair, predictions with score ≥ t are assigned to annotated objects so that
the sum of IoU is largest; for each θ in 0.50 … 0.95, TP counts assigned pairs with IoU ≥ θ.
cgF1(θ) = positive_micro_F1(θ) · IL_MCC, where positive_micro_F1 pools the pairs whose concept is
there and IL_MCC is Matthews' correlation of the image-level present/absent decision.

Two variants. `parity` adds the published evaluator's ε (1e-4, image level 1e-6) and divides the
macro F1 by the pairs that have both objects and predictions. `exact` has no ε, divides by all
positive pairs, and knows undefined.

Outcomes: an abstention has no predictions. An unparsed answer is wrong: on a present concept it
misses everything, on an absent one it is a false alarm (one prediction that fits nothing).
Failed items are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from groundfault.matching.intake import FAILED, UNPARSED
from groundfault.matching.overlaps import Overlaps, Truth
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
    "THRESHOLDS",
    "PcsCounts",
    "contributions",
    "count",
    "impute",
    "metrics",
]

THRESHOLDS = np.linspace(0.5, 0.95, 10)
_N = len(THRESHOLDS)
EPSILON = 1e-4
EPSILON_IL = 1e-6

_BY_THRESHOLD = (
    "cgF1",
    "precision",
    "recall",
    "F1",
    "positive_macro_F1",
    "positive_micro_F1",
    "positive_micro_precision",
)
_IMAGE_LEVEL = ("IL_precision", "IL_recall", "IL_F1", "IL_FPR", "IL_MCC")
METRICS = (
    *_BY_THRESHOLD,
    *_IMAGE_LEVEL,
    *(f"{name}@0.50" for name in _BY_THRESHOLD),
    *(f"{name}@0.75" for name in _BY_THRESHOLD),
)
_AT = {"@0.50": 0, "@0.75": 5}

COLUMNS = (
    *(f"tp@{theta:.2f}" for theta in THRESHOLDS),
    *(f"f1@{theta:.2f}" for theta in THRESHOLDS),
    "predicted",
    "predicted_on_positives",
    "objects",
    "il_tp",
    "il_fp",
    "il_tn",
    "il_fn",
    "macro_pairs",
)
"""What a pair contributes; every metric of the family is a function of sums of these."""
_IL_TP = COLUMNS.index("il_tp")


class PcsCounts(msgspec.Struct, frozen=True, eq=False):
    """Per item, at one score threshold, for the annotator that fits best."""

    n_objects: Ints
    n_predicted: Ints
    tp: Ints
    """(items, θ)"""
    counted: Flags
    """Whether the item takes part: exhaustively annotated and not failed."""


def count(overlaps: Overlaps, exhaustive: Flags, *, t: float, variant: str) -> PcsCounts:
    """Count matches per item. `parity` follows the published oracle over several annotators."""
    accepted = overlaps.score >= t
    if variant == "parity":
        accepted &= overlaps.declared
    n_predicted = np.bincount(overlaps.item[accepted], minlength=overlaps.n_items)
    unparsed = overlaps.outcome == UNPARSED
    first, *others = (
        _count_one(overlaps, truth, accepted, n_predicted, unparsed) for truth in overlaps.truths
    )
    best = first
    for other, truth in zip(others, overlaps.truths[1:], strict=True):
        replace = _fits_better(other, best)
        if variant == "exact":
            replace &= truth.seen
        best = PcsCounts(
            np.where(replace, other.n_objects, best.n_objects),
            np.where(replace, other.n_predicted, best.n_predicted),
            np.where(replace[:, None], other.tp, best.tp),
            best.counted,
        )
    counted = exhaustive & (overlaps.outcome != FAILED)
    return PcsCounts(best.n_objects, best.n_predicted, best.tp, counted)


def impute(counts: PcsCounts, failed: Flags, *, right: bool) -> PcsCounts:
    """The counts as if every failed item had been answered perfectly, or wrongly."""
    wrong_predicted = (counts.n_objects == 0).astype(np.int64)
    n_predicted = counts.n_objects if right else wrong_predicted
    tp = counts.n_objects[:, None] if right else np.zeros((1, 1), np.int64)
    return PcsCounts(
        counts.n_objects,
        np.where(failed, n_predicted, counts.n_predicted),
        np.where(failed[:, None], tp, counts.tp),
        counts.counted | failed,
    )


def _count_one(
    overlaps: Overlaps, truth: Truth, accepted: Flags, n_predicted: Ints, unparsed: Flags
) -> PcsCounts:
    n_predicted = np.where(unparsed, (truth.n_objects == 0).astype(np.int64), n_predicted)
    tp = np.zeros((overlaps.n_items, _N), np.int64)
    single = truth.n_objects[overlaps.item] == 1
    chosen = np.flatnonzero(accepted & single)
    if len(chosen):  # one object: the assignment is the best prediction
        best = np.full(overlaps.n_items, -1.0)
        np.maximum.at(best, overlaps.item[chosen], truth.iou[truth.row_start[chosen]])
        tp += best[:, None] >= THRESHOLDS
    several = np.flatnonzero((truth.n_objects > 1) & (n_predicted > 0) & ~unparsed)
    starts = overlaps.item_start if len(several) else np.empty(0, np.int64)
    for item in several:
        rows = np.arange(starts[item], starts[item + 1])
        rows = rows[accepted[rows]]
        width = int(truth.n_objects[item])
        iou = truth.iou[truth.row_start[rows][:, None] + np.arange(width)]
        tp[item] = (_assigned(iou)[:, None] >= THRESHOLDS).sum(axis=0)
    return PcsCounts(truth.n_objects, n_predicted, tp, truth.seen)


def _assigned(iou: Floats) -> Floats:
    """IoU of the pairs of the assignment with the largest sum."""
    if 1 in iou.shape:
        return np.asarray(iou.max(keepdims=True).ravel())
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(-iou)
    return np.asarray(iou[rows, columns])


def _fits_better(other: PcsCounts, best: PcsCounts) -> Flags:
    """The published pick: higher mean F1; empty on both sides beats all, later over earlier."""
    other_empty = (other.n_objects == 0) & (other.n_predicted == 0)
    best_empty = (best.n_objects == 0) & (best.n_predicted == 0)
    higher = _local_f1(other, "parity").mean(axis=1) > _local_f1(best, "parity").mean(axis=1)
    return np.asarray(other_empty | (~best_empty & higher))


def _local_f1(counts: PcsCounts, variant: str) -> Floats:
    """(items, θ) F1 of each item on its own; 0 where it has nothing on one side."""
    tp = counts.tp.astype(np.float64)
    n_predicted, n_objects = counts.n_predicted[:, None], counts.n_objects[:, None]
    if variant == "exact":
        return _ratio(2 * tp, n_predicted + n_objects, undefined=0.0)
    precision = tp / (n_predicted + EPSILON)
    recall = tp / (n_objects + EPSILON)
    return 2 * precision * recall / (precision + recall + EPSILON)


def contributions(counts: PcsCounts, *, variant: str) -> Floats:
    """(items, len(COLUMNS)) what each item adds to the sums; zero for items left out."""
    predicted, positive = counts.n_predicted > 0, counts.n_objects > 0
    macro = positive if variant == "exact" else positive & predicted
    columns = [
        *counts.tp.T,
        *(np.where(positive, f1, 0.0) for f1 in _local_f1(counts, variant).T),
        counts.n_predicted,
        np.where(positive, counts.n_predicted, 0),
        counts.n_objects,
        positive & predicted,
        ~positive & predicted,
        ~positive & ~predicted,
        positive & ~predicted,
        macro,
    ]
    stacked = np.stack([np.asarray(column, np.float64) for column in columns], axis=1)
    return stacked * counts.counted[:, None]


def metrics(sums: Floats, *, variant: str) -> dict[str, Floats]:
    """Every metric of the family from (…, len(COLUMNS)) sums; NaN where undefined.

    One pair found with IoU 0.8, one rejected, one false alarm:

    >>> one = dict.fromkeys(COLUMNS, 0.0)
    >>> one |= {f"tp@{x:.2f}": 1.0 for x in THRESHOLDS if x <= 0.8}
    >>> one |= {f"f1@{x:.2f}": 1.0 for x in THRESHOLDS if x <= 0.8}
    >>> one |= dict(predicted=2, predicted_on_positives=1, objects=1, il_tp=1, il_tn=1, il_fp=1)
    >>> one["macro_pairs"] = 1
    >>> values = metrics(np.array([list(one.values())]), variant="exact")
    >>> [float(values[name][0].round(3)) for name in ("positive_micro_F1", "IL_MCC", "cgF1")]
    [0.7, 0.5, 0.35]
    """
    tp, f1_sum = sums[..., :_N], sums[..., _N : 2 * _N]
    rest = [sums[..., 2 * _N + k, None] for k in range(len(COLUMNS) - 2 * _N)]
    predicted, on_positives, objects, il_tp, il_fp, il_tn, il_fn, macro_pairs = rest
    exact = variant == "exact"
    eps, eps_il = (0.0, 0.0) if exact else (EPSILON, EPSILON_IL)
    precision = _ratio(tp, predicted + eps)
    micro_precision = _ratio(tp, on_positives + eps)
    recall = _ratio(tp, objects + eps)
    if exact:
        f1 = _ratio(2 * tp, predicted + objects)
        micro_f1 = _ratio(2 * tp, on_positives + objects)
    else:
        f1 = 2 * precision * recall / (precision + recall + eps)
        micro_f1 = 2 * micro_precision * recall / (micro_precision + recall + eps)
    il_recall = _ratio(il_tp, il_tp + il_fn + eps_il)
    il_precision = _ratio(il_tp, il_tp + il_fp + eps_il)
    if exact:
        il_f1 = _ratio(2 * il_tp, 2 * il_tp + il_fp + il_fn)
    else:
        il_f1 = 2 * il_precision * il_recall / (il_precision + il_recall + eps_il)
    root = np.sqrt((il_tp + il_fp) * (il_tp + il_fn) * (il_tn + il_fp) * (il_tn + il_fn))
    il_mcc = _ratio(il_tp * il_tn - il_fp * il_fn, root + eps_il)
    by_threshold = dict(
        zip(
            _BY_THRESHOLD,
            (
                micro_f1 * il_mcc,
                precision,
                recall,
                f1,
                _ratio(f1_sum, macro_pairs),
                micro_f1,
                micro_precision,
            ),
            strict=True,
        )
    )
    image_level = (il_precision, il_recall, il_f1, _ratio(il_fp, il_fp + il_tn + eps_il), il_mcc)
    values = {name: _mean(value) for name, value in by_threshold.items()}
    values |= {name: value[..., 0] for name, value in zip(_IMAGE_LEVEL, image_level, strict=True)}
    for suffix, index in _AT.items():
        values |= {name + suffix: value[..., index] for name, value in by_threshold.items()}
    return values


def _mean(values: Floats) -> Floats:
    """Mean over θ; the published one leaves out values ≤ −1 (its mark for undefined)."""
    defined = values > -1
    total = np.where(defined, values, 0.0).sum(axis=-1)
    return _ratio(total, defined.sum(axis=-1))


def _ratio(numerator: Any, denominator: Any, undefined: float = np.nan) -> Floats:
    shape = np.broadcast_shapes(np.shape(numerator), np.shape(denominator))
    ratio: Floats = np.full(shape, undefined)
    np.divide(numerator, denominator, out=ratio, where=np.broadcast_to(denominator > 0, shape))
    return ratio


def values(sums: Floats, settings: Mapping[str, object]) -> dict[str, Floats]:
    """Every metric by the variant of the settings; NaN where nothing was asked."""
    asked = sums[..., _IL_TP : _IL_TP + 4].sum(axis=-1)
    found = metrics(sums, variant=str(settings["variant"]))
    return {name: np.where(asked == 0, np.nan, value) for name, value in found.items()}


def support(sums: Floats) -> dict[str, int]:
    """How many image–phrase pairs each metric is about, from (len(COLUMNS),) sums."""
    column = dict(zip(COLUMNS, sums, strict=True))
    asked = int(sum(column[f"il_{cell}"] for cell in ("tp", "fp", "tn", "fn")))
    positive = int(column["il_tp"] + column["il_fn"])
    found = dict.fromkeys(METRICS, asked)
    for name in METRICS:
        if "macro" in name:
            found[name] = int(column["macro_pairs"])
        elif name.startswith(("recall", "positive_micro", "IL_recall")):
            found[name] = positive
        elif name == "IL_FPR":
            found[name] = asked - positive
    return found


def undefined(sums: Floats, settings: Mapping[str, object]) -> list[str]:
    """The metrics that `parity` gives a value by its ε, though nothing is there to divide by."""
    if settings["variant"] == "exact":
        return []
    exact, given = metrics(sums[None], variant="exact"), values(sums[None], settings)
    return [name for name in METRICS if np.isnan(exact[name][0]) and not np.isnan(given[name][0])]


def _of(name: str, thetas: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns of a metric over θ that is a share of things: F1 is twice TP of what is there on
    both sides. cgF1, a product, is none."""
    on_both_sides = {"F1": "predicted", "positive_micro_F1": "predicted_on_positives"}
    whole = {
        "precision": "predicted",
        "recall": "objects",
        "positive_macro_F1": "macro_pairs",
        "positive_micro_precision": "predicted_on_positives",
    }
    if name in on_both_sides:
        return tuple(f"tp@{t}" for t in thetas) * 2, (on_both_sides[name], "objects") * len(thetas)
    if name not in whole:
        return (), ()
    part = "f1" if name == "positive_macro_F1" else "tp"
    return tuple(f"{part}@{theta}" for theta in thetas), (whole[name],) * len(thetas)


_BASE = (
    Metric(
        name="cgF1",
        about="How well concepts are found and absent ones rejected: pmF1 × IL_MCC. 100 is "
        "perfect.",
        is_share=False,
        low=-1.0,
    ),
    Metric(name="precision", about="Share of predicted masks that fit an object."),
    Metric(name="recall", about="Share of objects that a predicted mask fits."),
    Metric(name="F1", about="Harmonic mean of precision and recall of masks."),
    Metric(name="positive_macro_F1", label="pMacroF1", about="The same, each pair counting alike."),
    Metric(
        name="positive_micro_F1",
        label="pmF1",
        about="Quality of the masks where the concept is there (pmF1).",
    ),
    Metric(
        name="positive_micro_precision",
        about="Share of predicted masks that fit an object, where the concept is there.",
    ),
)
_OF_IMAGES = (
    Metric(
        name="IL_precision",
        about="Share of accepted concepts that are there.",
        part=("il_tp",),
        whole=("il_tp", "il_fp"),
    ),
    Metric(
        name="IL_recall",
        about="Share of present concepts that are accepted.",
        part=("il_tp",),
        whole=("il_tp", "il_fn"),
    ),
    Metric(
        name="IL_F1",
        about="Harmonic mean of IL_precision and IL_recall.",
        part=("il_tp", "il_tp"),
        whole=("il_tp", "il_tp", "il_fp", "il_fn"),
    ),
    Metric(
        name="IL_FPR",
        about="Share of absent concepts that are accepted.",
        better="lower",
        part=("il_fp",),
        whole=("il_fp", "il_tn"),
    ),
    Metric(
        name="IL_MCC",
        about="Is the concept in the picture or not, yes or no? Correlation of answer and truth, "
        "from −1 over 0 (chance) to 1.",
        unit="plain",
        low=-1.0,
    ),
)


def _at(metric: Metric, suffix: str) -> Metric:
    """The same metric at one θ instead of the mean over all."""
    part, whole = _of(metric.name, [suffix[1:]])
    return msgspec.structs.replace(
        metric,
        name=metric.name + suffix,
        label=metric.label and metric.label + suffix,
        about=f"{metric.name} where an overlap of {suffix[1:]} is enough.",
        part=part,
        whole=whole,
    )


def _over_all(metric: Metric) -> Metric:
    part, whole = _of(metric.name, [f"{theta:.2f}" for theta in THRESHOLDS])
    return msgspec.structs.replace(metric, part=part, whole=whole)


FAMILY = Family(
    name="pcs",
    about="cgF1, IL_MCC, positive micro F1 and their family",
    metrics=(
        *map(_over_all, _BASE),
        *_OF_IMAGES,
        *(_at(metric, suffix) for suffix in _AT for metric in _BASE),
    ),
    columns=COLUMNS,
    values=values,
    support=support,
    undefined=undefined,
)
