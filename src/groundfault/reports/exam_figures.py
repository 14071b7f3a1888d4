"""Figures of exams: sub-causes as stacked bars, a bar per model and task."""

from __future__ import annotations

from collections.abc import Mapping

from groundfault.judges.causes import CAUSES, LABELS, Distribution
from groundfault.reports.exams import TASK_TITLES
from groundfault.reports.page.drawing import Canvas, Figure, shortened

__all__ = ["cause_figure"]

LEFT, BAR_WIDTH, BAR_HEIGHT, ROW = 170.0, 420.0, 14.0, 20.0
HEAD, GAP = 40.0, 12.0
SERIES_OF = dict(zip(LABELS, (0, 1, 2, 7), strict=True))
"""The colour of each label; Other is grey."""
NARROW = 26.0
"""Pixels; narrower parts have no number."""


def cause_figure(distributions: Mapping[str, Distribution]) -> Figure:
    """Shares of the sub-causes of each task's wrong chains of thought, model by model; only answers
    that got a label count."""
    canvas, y = Canvas(), 0.0
    for task, title in TASK_TITLES.items():
        canvas.text(0, y + 12, title, "t strong")
        x = 0.0
        for number, label in enumerate(LABELS):
            name = CAUSES[task][number][0] if number < len(CAUSES[task]) else label
            canvas.rect((x, y + 21, 9, 9), f"f{SERIES_OF[label]}")
            canvas.text(x + 13, y + 29, name, "s")
            x += 13 + 6.2 * len(name) + 14
        y += HEAD
        for model, of in distributions.items():
            _bar(canvas, y, model, of.get(task, {}))
            y += ROW
        y += GAP
    return canvas.figure(
        "sub-causes", "Sub-causes of wrong chains of thought", LEFT + BAR_WIDTH + 60, y
    )


def _bar(canvas: Canvas, y: float, model: str, counts: Mapping[str, int]) -> None:
    total = sum(counts.get(label, 0) for label in LABELS)
    canvas.text(LEFT - 8, y + 11, shortened(model, LEFT - 12), "i end", model)
    x = LEFT
    for label in LABELS if total else ():
        share = counts.get(label, 0) / total
        width = BAR_WIDTH * share
        words = f"{label}: {counts.get(label, 0)} of {total}"
        canvas.rect((x, y, width, BAR_HEIGHT), f"f{SERIES_OF[label]}", title=words)
        if width >= NARROW:
            canvas.text(x + width / 2, y + 11, f"{100 * share:.0f} %", "s mid paper")
        x += width
    canvas.text(LEFT + BAR_WIDTH + 6, y + 11, f"n = {total}", "s")
