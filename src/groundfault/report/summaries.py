"""Tables of stored results: one summary, several compared, a sweep."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from groundfault.records import Estimate, Summary
from groundfault.report.tables import Cell, Table

if TYPE_CHECKING:
    from groundfault.published import PublishedRow

__all__ = [
    "HEADLINES",
    "LOWER_IS_BETTER",
    "NEITHER_IS_BETTER",
    "estimate_cell",
    "published_table",
    "summary_table",
]

HEADLINES: dict[str, tuple[str, ...]] = {
    "cafe": (
        "cgF1", "IL_MCC", "positive_micro_F1", "IL-FPR", "AFPR", "UFPR", "ACSR", "UCSR", "SoftSwap",
    ),
    "saco": ("cgF1", "IL_MCC", "positive_micro_F1", "positive_macro_F1", "IL_recall", "IL_FPR"),
    "halluseg": (
        "IoU_fact", "IoU_cf", "dIoU_textual", "dIoU_visual", "CMS_fact", "CMS_counterfact", "CCMS",
        "CCMS_mean",
    ),
    "fprefcoco": ("See", "See_true", "See_false", "Segment", "gIoU"),
    "reactbench": (
        "react_score", "react_score_plain", "accuracy_std", "accuracy_cot", "YN", "SA", "MC",
        "unparsed_rate", "yes_rate",
    ),
    "pope": ("F1", "accuracy", "precision", "recall", "yes_ratio", "unparsed_rate"),
}  # fmt: skip
"""What a table shows unless asked for more, by benchmark."""

SHORT = {"positive_micro_F1": "pmF1", "positive_macro_F1": "pMacroF1"}
COUNTS = frozenset({"TA-TP", "UA-P", "TA-FN", "UA-FN", "TA-FP", "UA-FP", "TN", "lost"})
PLAIN = frozenset({"IL_MCC"})
LOWER_IS_BETTER = frozenset(
    {"IL-FPR", "IL_FPR", "AFPR", "UFPR", "ACSR", "UCSR", "CSR", "SoftSwap", "CMS_fact",
     "CMS_counterfact", "IoU_textual", "IoU_visual", "UA-P", "TA-FN", "UA-FN", "TA-FP", "UA-FP",
     "lost", "unparsed_rate"}
)  # fmt: skip
NEITHER_IS_BETTER = frozenset(
    {"CCMS", "CCMS_mean", "yes_rate", "yes_rate_true", "yes_rate_false", "yes_ratio"}
)
"""Ratios and habits: shown, but no run is the better for them."""
FRACTION_BENCHMARKS = frozenset({"halluseg"})
"""Benchmarks whose papers print fractions; the others print percent."""


def estimate_cell(metric: str, estimate: Estimate, *, percent: bool) -> Cell:
    """A metric as its paper prints it, the interval in small print.

    >>> str(estimate_cell("AFPR", Estimate(0.205, 0.188, 0.222, n=2146), percent=True))
    '20.5 [18.8, 22.2]'
    >>> str(estimate_cell("AFPR", Estimate(None), percent=True))
    '—'
    """
    if estimate.value is None:
        return Cell("—")
    digits, scale = _style(metric, percent)

    def text(value: float) -> str:
        rounded = round(value * scale, digits) + 0.0  # −0.0 is 0
        return f"{rounded:.{digits}f}".replace("-", "−")

    if estimate.low is None or estimate.high is None:
        return Cell(text(estimate.value))
    return Cell(text(estimate.value), f"[{text(estimate.low)}, {text(estimate.high)}]")


def _style(metric: str, percent: bool) -> tuple[int, float]:
    if metric in COUNTS:
        return 0, 1.0
    if metric in PLAIN:
        return 3, 1.0
    return (1, 100.0) if percent else (4, 1.0)


def summary_table(summary: Summary, metrics: Sequence[str] | None = None) -> Table:
    """The rows of one result, with what each number was made with below it."""
    percent = summary.benchmark not in FRACTION_BENCHMARKS
    known = next(iter(summary.rows.values())).metrics
    headline = HEADLINES.get(summary.benchmark, tuple(known))
    chosen = [name for name in (metrics or headline) if name in known]
    rows = [
        [
            name,
            str(row.n_cases),
            *(estimate_cell(m, row.metrics[m], percent=percent) for m in chosen),
        ]
        for name, row in summary.rows.items()
        if row.n_cases
    ]
    columns = ["", "cases", *map(_heading, chosen)]
    return Table(columns, rows, title=summary.benchmark, notes=list(_notes(summary, percent)))


def _heading(metric: str) -> str:
    """The metric's short name with which way is better."""
    name = SHORT.get(metric, metric)
    if metric in NEITHER_IS_BETTER:
        return name
    return f"{name} {'↓' if metric in LOWER_IS_BETTER else '↑'}"


def _setting(value: object) -> str:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return " and ".join(value)
    return str(value)


def _notes(summary: Summary, percent: bool) -> Iterable[str]:
    labels = {"tau": "τ"}
    shown = ", ".join(
        f"{labels.get(name, name)} {_setting(value)}"
        for name, value in summary.settings.items()
        if name not in ("bootstrap", "seed")
    )
    interval = (
        f"95 % interval from {summary.settings['bootstrap']:,} resamples of cases"
        if summary.settings.get("bootstrap")
        else "no intervals"
    )
    unit = "percent" if percent else "fractions"
    if percent and "IL_MCC" in HEADLINES.get(summary.benchmark, ()):
        unit = "percent; IL_MCC from −1 to 1"
    yield f"{shown} · {interval} · {unit}"
    yield from (f"note: {note}" for note in summary.notes)
    main = HEADLINES.get(summary.benchmark, ("",))[0]
    for row, bounds in summary.bounds.items():
        low, high = bounds.get(main, (None, None))
        if low is not None and high is not None:
            digits, scale = _style(main, percent)
            yield (
                f"{row} {main} lies between {low * scale:.{digits}f} and "
                f"{high * scale:.{digits}f}, however the failed items would have ended"
            )


def published_table(
    rows: Sequence[PublishedRow], metrics: Sequence[str], *, percent: bool
) -> Table:
    """What the papers report, in the columns of our own table."""
    shown = [name for name in metrics if any(row.metrics.get(name) is not None for row in rows)]
    merged: dict[tuple[str, str], dict[str, float | None]] = {}
    for row in rows:
        merged.setdefault((row.model, row.row), {}).update(
            {name: value for name, value in row.metrics.items() if value is not None}
        )
    body = [
        [model, name, *(estimate_cell(m, Estimate(values.get(m)), percent=percent) for m in shown)]
        for (model, name), values in merged.items()
        if any(m in values for m in shown)
    ]
    columns = ["published", "", *map(_heading, shown)]
    return Table(columns, body, left_columns=2)
