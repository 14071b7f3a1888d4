"""CAFE's target-aware metrics: does an accepted answer land on the edited target?

For a pair (p⁺, p⁻) with target mask M*, score threshold t and overlap threshold τ (both ≥):

    p⁺   accepted and aligned by one prediction → TA-TP;  else accepted → UA-P;
         else some prediction aligned → TA-FN;  else UA-FN.   "lost" = not TA-TP
    p⁻   accepted and aligned by one prediction → TA-FP;  else accepted → UA-FP;  else TN

AFPR = TA-FP/N, UFPR = UA-FP/N, IL-FPR = AFPR + UFPR; ACSR and UCSR count TA-FP and UA-FP of pairs
whose p⁺ is lost, CSR = ACSR + UCSR; SoftSwap = share of pairs whose highest score under p⁻
exceeds that under p⁺, no prediction being 0.0.

Two variants. `parity` takes p⁻ for absent everywhere, as the published script does, which reads no
mask of p⁻. `exact` minds that in a crowd p⁻ may be true of something else in the picture: a mask on
that is no false positive, and its score is not held against p⁺.

Outcomes: an abstention predicts nothing. An unparsed answer is wrong: UA-FN under p⁺, UA-FP
under p⁻ (never TN). A pair with a failed item is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from groundfault.matching.intake import FAILED, UNPARSED
from groundfault.matching.overlaps import Overlaps
from groundfault.metrics.family import Better, Family, Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

__all__ = [
    "CELLS",
    "CELL_WORDS",
    "COLUMNS",
    "FAMILY",
    "METRICS",
    "PairScores",
    "Pairs",
    "contributions",
    "impute",
    "metrics",
    "score",
]

POSITIVE_CELLS = ("TA-TP", "UA-P", "TA-FN", "UA-FN")
NEGATIVE_CELLS = ("TA-FP", "UA-FP", "TN")
CELLS = (*POSITIVE_CELLS, *NEGATIVE_CELLS)
_RATES = ("AFPR", "UFPR", "IL-FPR", "ACSR", "UCSR", "CSR", "SoftSwap")
METRICS = (*CELLS, "lost", *_RATES)
COLUMNS = ("pairs", *CELLS, "aligned_swaps", "unaligned_swaps", "soft_swaps")
"""What a pair contributes; every metric is a function of sums of these."""


class Pairs(msgspec.Struct, frozen=True, eq=False):
    """Item indices of each pair; (pairs,) each."""

    positive: Ints
    negative: Ints


class PairScores(msgspec.Struct, frozen=True, eq=False):
    """One entry per pair."""

    positive_cell: Ints
    """Index into POSITIVE_CELLS."""
    negative_cell: Ints
    """Index into NEGATIVE_CELLS."""
    positive_score: Floats
    """Highest score under p⁺, 0.0 without a prediction."""
    negative_score: Floats
    soft_swap: Flags
    counted: Flags
    """False where an item of the pair failed."""


def score(
    overlaps: Overlaps, pairs: Pairs, *, t: float, tau: float, variant: str = "exact"
) -> PairScores:
    """Put every pair into its two cells."""
    accepted = overlaps.score >= t
    aligned = overlaps.target_iou >= tau
    fine = np.zeros(len(accepted), bool)
    if variant == "exact":
        fine = _on_own_objects(overlaps, pairs.negative, tau) & ~aligned

    def any_of(flags: Flags) -> Flags:
        return np.bincount(overlaps.item[flags], minlength=overlaps.n_items) > 0

    def highest(flags: Flags) -> Floats:
        scores = np.full(overlaps.n_items, -np.inf)
        np.maximum.at(scores, overlaps.item[flags], overlaps.score[flags])
        return np.where(np.isneginf(scores), 0.0, scores)

    hit, answered, near = any_of(accepted & aligned), any_of(accepted), any_of(aligned)
    unparsed = overlaps.outcome == UNPARSED
    positive = np.select([unparsed, hit, answered, near], [3, 0, 1, 2], default=3)
    negative = np.select([unparsed, hit, any_of(accepted & ~fine)], [1, 0, 1], default=2)
    failed = overlaps.outcome == FAILED
    p, n = pairs.positive, pairs.negative
    of_all = highest(np.ones(len(accepted), bool))
    positive_score = of_all[p]
    negative_score = (highest(~fine) if fine.any() else of_all)[n]
    return PairScores(
        positive_cell=positive[p],
        negative_cell=negative[n],
        positive_score=positive_score,
        negative_score=negative_score,
        soft_swap=(negative_score > positive_score) | unparsed[n],
        counted=~(failed[p] | failed[n]),
    )


def _on_own_objects(overlaps: Overlaps, items: Ints, tau: float) -> Flags:
    """(predictions,) whether it lies on an object that its phrase is true of, for these items."""
    found = np.zeros(len(overlaps.item), bool)
    for truth in overlaps.truths:
        if not truth.n_objects[items].any():
            continue  # as in every published file
        rows = np.repeat(np.arange(len(found)), np.diff(truth.row_start))
        np.logical_or.at(found, rows, truth.iou >= tau)
    return found & np.isin(overlaps.item, items) if found.any() else found


def impute(
    scores: PairScores, positive_failed: Flags, negative_failed: Flags, how: str
) -> PairScores:
    """The scores as if every failed item had ended "right", "wrong" on the target, or "astray"."""
    right = how == "right"
    positive = np.where(positive_failed, 0 if right else 3, scores.positive_cell)
    wrong_cell = {"right": 2, "wrong": 0, "astray": 1}[how]
    return msgspec.structs.replace(
        scores,
        positive_cell=positive,
        negative_cell=np.where(negative_failed, wrong_cell, scores.negative_cell),
        soft_swap=np.where(positive_failed | negative_failed, not right, scores.soft_swap),
        counted=np.ones(len(positive), bool),
    )


def contributions(scores: PairScores) -> Floats:
    """(pairs, len(COLUMNS)) what each pair adds to the sums; zero for pairs left out."""
    lost = scores.positive_cell != 0
    columns = [
        np.ones(len(lost)),
        *(scores.positive_cell == cell for cell in range(len(POSITIVE_CELLS))),
        *(scores.negative_cell == cell for cell in range(len(NEGATIVE_CELLS))),
        lost & (scores.negative_cell == 0),
        lost & (scores.negative_cell == 1),
        scores.soft_swap,
    ]
    stacked = np.stack([np.asarray(column, np.float64) for column in columns], axis=1)
    return stacked * scores.counted[:, None]


def metrics(sums: Floats) -> dict[str, Floats]:
    """Every metric from (…, len(COLUMNS)) sums; NaN where there is no pair.

    Two pairs, one fooled on the target while p⁺ is lost, one right:

    >>> sums = np.array([[2, 1, 0, 0, 1, 1, 0, 1, 1, 0, 1.0]])
    >>> {name: float(value[0]) for name, value in metrics(sums).items() if name in _RATES[:4]}
    {'AFPR': 0.5, 'UFPR': 0.0, 'IL-FPR': 0.5, 'ACSR': 0.5}
    """
    column = {name: sums[..., k] for k, name in enumerate(COLUMNS)}
    pairs = column["pairs"]
    some = pairs > 0

    def share(*names: str) -> Floats:
        parts = [
            np.divide(column[n], pairs, out=np.full(pairs.shape, np.nan), where=some) for n in names
        ]
        return np.asarray(sum(parts[1:], start=parts[0]))

    values = {cell: np.where(some, column[cell], np.nan) for cell in CELLS}
    values["lost"] = np.where(some, pairs - column["TA-TP"], np.nan)
    return values | {
        "AFPR": share("TA-FP"),
        "UFPR": share("UA-FP"),
        "IL-FPR": share("TA-FP", "UA-FP"),
        "ACSR": share("aligned_swaps"),
        "UCSR": share("unaligned_swaps"),
        "CSR": share("aligned_swaps", "unaligned_swaps"),
        "SoftSwap": share("soft_swaps"),
    }


def support(sums: Floats) -> dict[str, int]:
    """How many pairs the metrics are about, from (len(COLUMNS),) sums."""
    return dict.fromkeys(METRICS, int(sums[0]))


CELL_WORDS = {
    "TA-TP": "p⁺ found on the object",
    "UA-P": "p⁺ accepted, but elsewhere",
    "TA-FN": "p⁺ seen on the object, score too low",
    "UA-FN": "p⁺ not found",
    "TA-FP": "p⁻ accepted on the object",
    "UA-FP": "p⁻ accepted elsewhere",
    "TN": "p⁻ rejected",
}


def _cell(name: str) -> Metric:
    better: Better = "higher" if name in ("TA-TP", "TN") else "lower"
    about = f"Number of pairs: {CELL_WORDS[name]}."
    return Metric(
        name=name, about=about, better=better, unit="count", high=None, part=(name,), whole=_ALL
    )


def _rate(name: str, about: str, *part: str) -> Metric:
    return Metric(name=name, about=about, better="lower", part=part, whole=_ALL)


_ALL = ("pairs",)


FAMILY = Family(
    name="target",
    about="AFPR, UFPR, ACSR, UCSR, SoftSwap and the seven cells",
    metrics=(
        *map(_cell, CELLS),
        Metric(
            name="lost",
            about="Number of pairs whose p⁺ is not found on the object.",
            better="lower",
            unit="count",
            high=None,
            part=POSITIVE_CELLS[1:],
            whole=_ALL,
        ),
        _rate(
            "AFPR",
            "Share of pairs whose p⁻ is accepted on the edited object: the model takes the look "
            "for the thing.",
            "TA-FP",
        ),
        _rate("UFPR", "Share of pairs whose p⁻ is accepted, but somewhere else.", "UA-FP"),
        _rate(
            "IL-FPR",
            "Share of pairs whose misleading phrase p⁻ is accepted at all: AFPR + UFPR.",
            "TA-FP",
            "UA-FP",
        ),
        _rate(
            "ACSR",
            "Share of pairs that are swapped: p⁻ accepted on the edited object, p⁺ not found.",
            "aligned_swaps",
        ),
        _rate("UCSR", "Swapped likewise, with p⁻ accepted somewhere else.", "unaligned_swaps"),
        _rate(
            "CSR",
            "Share of pairs that are swapped at all: ACSR + UCSR.",
            "aligned_swaps",
            "unaligned_swaps",
        ),
        _rate(
            "SoftSwap",
            "Share of pairs whose best score under p⁻ is above the best under p⁺, whatever the "
            "threshold.",
            "soft_swaps",
        ),
    ),
    columns=COLUMNS,
    values=lambda sums, settings: metrics(sums),
    support=support,
)
