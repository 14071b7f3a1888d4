"""Yes/no questions about what is in a picture, as POPE scores them: yes is the positive answer.

accuracy, precision, recall and F1; yes_ratio is the share of "yes" among the answers (not among the
truths). (Li et al., "Evaluating Object Hallucination in Large Vision-Language Models".)

The same metrics by the rule of POPE's own script (`F1_pope` and so on) stand beside ours: it takes
the first sentence for a no if that has the word no or not, and for a yes otherwise, so that every
answer is one or the other.

Outcomes: an answer that cannot be read is wrong and neither yes nor no: it lowers accuracy and,
where yes is the truth, recall. Failed ones count nowhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groundfault.metrics.family import Family, Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = [
    "BY_POPE",
    "COLUMNS",
    "FAMILY",
    "METRICS",
    "column",
    "column_as_pope",
    "metrics",
    "support",
]

COLUMNS = (
    "tp", "fp", "tn", "fn", "unparsed.true", "unparsed.false",
    "pope.tp", "pope.fp", "pope.tn", "pope.fn",
)  # fmt: skip
METRICS = ("accuracy", "precision", "recall", "F1", "yes_ratio", "unparsed_rate")
BY_POPE = ("accuracy_pope", "precision_pope", "recall_pope", "F1_pope", "yes_ratio_pope")
"""By POPE's own rule of reading."""


def column(truth: str, parsed: str | None) -> int:
    """Where an answer counts: the place in COLUMNS."""
    if parsed is None:
        return 4 if truth == "yes" else 5
    if parsed == "yes":
        return 0 if truth == "yes" else 1
    return 3 if truth == "yes" else 2


def column_as_pope(truth: str, parsed: str) -> int:
    """Where an answer counts as POPE's own script reads it: the place in COLUMNS."""
    return 6 + column(truth, parsed)


def metrics(sums: Floats) -> dict[str, Floats]:
    """Every metric from (…, len(COLUMNS)) sums; NaN where undefined.

    Two of three right "yes", one false "yes", two right "no":

    >>> values = metrics(np.array([[2.0, 1, 2, 1, 0, 0, 2, 1, 2, 1]]))
    >>> [round(float(values[m][0]), 3) for m in ("accuracy", "precision", "recall", "yes_ratio")]
    [0.667, 0.667, 0.667, 0.5]
    """
    tp, fp, tn, fn, lost_true, lost_false = np.moveaxis(sums[..., :6], -1, 0)
    read, lost = tp + fp + tn + fn, lost_true + lost_false
    ours = {
        "accuracy": _ratio(tp + tn, read + lost),
        "precision": _ratio(tp, tp + fp),
        "recall": _ratio(tp, tp + fn + lost_true),
        "F1": _ratio(2 * tp, 2 * tp + fp + fn + lost_true),
        "yes_ratio": _ratio(tp + fp, read),
        "unparsed_rate": _ratio(lost, read + lost),
    }
    return ours | _as_pope(sums[..., 6:])


def _as_pope(sums: Floats) -> dict[str, Floats]:
    tp, fp, tn, fn = np.moveaxis(sums, -1, 0)
    asked = tp + fp + tn + fn
    return {
        "accuracy_pope": _ratio(tp + tn, asked),
        "precision_pope": _ratio(tp, tp + fp),
        "recall_pope": _ratio(tp, tp + fn),
        "F1_pope": _ratio(2 * tp, 2 * tp + fp + fn),
        "yes_ratio_pope": _ratio(tp + fp, asked),
    }


def support(sums: Floats) -> dict[str, int]:
    """How many answers each metric is about."""
    tp, fp, tn, fn, lost_true = (int(value) for value in sums[:5])
    read, asked = tp + fp + tn + fn, int(sums[:6].sum())
    counts = {"accuracy": asked, "precision": tp + fp, "recall": tp + fn + lost_true}
    counts |= {"F1": asked, "yes_ratio": read, "unparsed_rate": asked}
    tp, fp, tn, fn = (int(value) for value in sums[6:])
    asked = tp + fp + tn + fn
    counts |= {"accuracy_pope": asked, "precision_pope": tp + fp, "recall_pope": tp + fn}
    return counts | {"F1_pope": asked, "yes_ratio_pope": asked}


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    out = np.full(np.shape(numerator), np.nan)
    np.divide(numerator, denominator, out=out, where=denominator > 0)
    return out


FAMILY = Family(
    name="pope",
    about="accuracy, precision, recall, F1, yes-ratio",
    metrics=(
        Metric(name="accuracy", about="Share of right answers."),
        Metric(name="precision", about="Share of right ones among the answers yes."),
        Metric(name="recall", about="Share of what is there that gets a yes."),
        Metric(name="F1", about="Harmonic mean of precision and recall of yes."),
        Metric(
            name="yes_ratio",
            about="Share of yes among the answers that could be read. Half would be right.",
            better="neither",
        ),
        Metric(
            name="unparsed_rate",
            title="not read",
            about="Share of answers that could not be read as an answer. They count as wrong.",
            better="lower",
        ),
        *(
            Metric(
                name=f"{name}_pope",
                title=f"{title} (POPE's reading)",
                about=f"{about} Read by POPE's own rule: no or not in the first sentence is a no, "
                "anything else a yes.",
                better="neither" if name == "yes_ratio" else "higher",
            )
            for name, title, about in (
                ("accuracy", "accuracy", "Share of right answers."),
                ("precision", "precision", "Share of right ones among the answers yes."),
                ("recall", "recall", "Share of what is there that gets a yes."),
                ("F1", "F1", "Harmonic mean of precision and recall of yes."),
                ("yes_ratio", "yes ratio", "Share of yes among all answers."),
            )
        ),
    ),
    columns=COLUMNS,
    values=lambda sums, settings: metrics(sums),
    support=support,
)
