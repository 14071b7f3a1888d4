"""Single answers: do scores mean what they say, and is ΔIoU the same in every case?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from groundfault.analysis.rates import wilson
from groundfault.reports.page.figures import Bin, Strip, reliability, spread
from groundfault.reports.page.points import has_pairs, predictions
from groundfault.reports.page.sections import Context, Panel, Section, few, share

__all__ = ["calibration_section", "spread_section"]

SPREAD_EDGES = tuple(round(-1 + 0.1 * k, 1) for k in range(21))


def calibration_section(context: Context) -> Section | None:
    """Do scores on p⁺ mean what they say?"""
    figures, errors = [], []
    for k, run in enumerate(context.models):
        if not has_pairs(run):
            continue
        entry, score, overlap = predictions(run, "positive")
        counted = run.member("Overall")[entry]
        score, overlap = score[counted], overlap[counted]
        if len(score) < 10 or score.min() < 0 or score.max() > 1:
            continue
        bins, error = _reliability(score, overlap >= (run.own_tau))
        figures.append(
            reliability(
                context.figure_name("calibration", run.name), f"{run.name}: on the object", k, bins
            )
        )
        errors.append(f"{run.name}’s scores {_calibrated(bins, error)}")
    if not figures:
        return None
    return Section(
        id=context.figure_name("calibration"),
        nav="Scores",
        title="Do scores mean what they say?",
        about=(
            "Predictions for p⁺ by their score, and the share of them that lies on the object "
            "(overlap ≥ τ). On the dashed line a score of 0.8 is right in 80 % of cases."
        ),
        panels=(
            Panel(label="", figures=tuple(figures), reading=few(errors, "; ") + "." * bool(errors)),
        ),
    )


def _reliability(score: Any, right: Any) -> tuple[list[Bin], float]:
    """Ten bins of equal width, and the mean distance of score and share (expected calibration
    error)."""
    number = np.minimum((score * 10).astype(int), 9)
    bins, error = [], 0.0
    for k in range(10):
        member = number == k
        n = int(member.sum())
        if not n:
            continue
        share, mean = float(right[member].mean()), float(score[member].mean())
        low, high = wilson(share * n, n)
        bins.append(Bin(mean, share, low, high, n))
        error += abs(share - mean) * n / len(score)
    return bins, error


def _calibrated(bins: Sequence[Bin], error: float) -> str:
    if error < 0.005:
        return "mean what they say"
    too_low = sum((bin_.share - bin_.score) * bin_.n for bin_ in bins) > 0
    return f"are off by {share(error)} on average, mostly too {'low' if too_low else 'high'}"


def spread_section(context: Context) -> Section | None:
    """How ΔIoU is spread over cases."""
    names = ("dIoU_textual", "dIoU_visual")
    if not all(run.columns.issuperset(names) for run in context.models):
        return None
    figures, shares = [], []
    for metric in names:
        strips = []
        for k, run in enumerate(context.models):
            values = np.array(
                [value for value in run.table.column(metric).to_pylist() if value is not None]
            )
            if not len(values):
                continue
            counted, _ = np.histogram(np.clip(values, -1, 1), SPREAD_EDGES)
            below = float((values <= 0).mean())
            estimate = run.summary.rows["Overall"].metrics[metric]
            strips.append(Strip(k, run.name, (counted / len(values)).tolist(), estimate, below))
            if metric == "dIoU_textual":
                shares.append(f"{run.name} in {share(below)} of cases")
        if strips:
            figures.append(
                spread(
                    context.figure_name("spread", metric),
                    f"{metric}, case by case",
                    strips,
                    SPREAD_EDGES,
                    text=lambda value: f"{value:g}".replace("-", "−"),
                )
            )
    if not figures:
        return None
    reading = (
        "At or below 0 the mask does not care that the words changed: "
        f"{few(shares)}. A mean near the middle can hide two heaps, one that follows "
        "the words and one that does not."
    )
    return Section(
        id=context.figure_name("spread"),
        nav="Spread",
        title="Is the drop the same in every case?",
        about=(
            "ΔIoU of single cases: how much overlap disappears when the words (textual) or the "
            "picture (visual) change. 1 is right; the tick is the mean with its interval."
        ),
        panels=(Panel(label="", figures=tuple(figures), reading=reading),),
    )
