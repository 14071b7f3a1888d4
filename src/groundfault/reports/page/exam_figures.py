"""Figures of an exam: plain data in, a drawing out."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from groundfault.records import Estimate
from groundfault.reports.page.drawing import SERIES, Canvas, Figure, Scale, nice_ticks, shortened
from groundfault.reports.page.figures import WIDTH, Format, ends_of, rows_on_axis, tick_words

__all__ = ["Line", "Stack", "effects", "letters", "question_map", "ranking", "stacks", "yes_marks"]

WIDE = 700.0
"""Of figures that take the page's whole width."""

NARROW = {
    "commonsense-guided": "common\nsense",
    "premise-based": "premise",
    "absurd-contrast": "absurd\ncontrast",
    "none-hint": "no hint",
    "location-hint": "hint:\nplace",
    "operation-hint": "hint:\naction",
}
"""Dimensions as they fit above a column."""


class Line(msgspec.Struct, frozen=True):
    """One value with its name; `series` is None for what a paper prints."""

    series: int | None
    name: str
    estimate: Estimate
    rank: str = ""


def ranking(
    name: str, title: str, ours: Sequence[Line], published: Sequence[Line], *, text: Format
) -> Figure:
    """From best to worst, with intervals; a paper's models stand apart, as hollow marks."""
    canvas = Canvas()
    left, right, row = 138.0, WIDTH - 44, 17.0
    ends = ends_of(line.estimate for line in (*ours, *published))
    ticks = nice_ticks(0.0, max(ends, default=1.0) or 1.0)
    scale = Scale(ticks[0], ticks[-1], left, right)
    y = 4.0
    for words, lines in (("", ours), ("as published, on other questions", published)):
        if not lines:
            continue
        if words:
            canvas.text(22, y + 18, words)
            y += 26
        for tick in ticks:
            kind = "axis" if tick == 0 else "grid"
            canvas.line(scale(tick), y - 2, scale(tick), y + row * len(lines), kind)
        for line in lines:
            _ranked(canvas, line, scale, y + row / 2, text)
            y += row
    for tick in ticks:
        canvas.text(scale(tick), y + 14, tick_words(text, tick), "s mid")
    return canvas.figure(name, title, WIDTH, y + 20)


def _ranked(canvas: Canvas, line: Line, scale: Scale, y: float, text: Format) -> None:
    estimate = line.estimate
    kind = "i" if line.series is not None else "s"
    if line.rank:
        canvas.text(16, y + 4, line.rank, "s end")
    canvas.text(22, y + 4, shortened(line.name, 112), kind, line.name)
    if estimate.value is None:
        canvas.text(scale(0) + 4, y + 4, "undefined")
        return
    words = f"{line.name}: {text(estimate.value)}"
    x = scale(estimate.value)
    if estimate.low is not None and estimate.high is not None:
        words += f" [{text(estimate.low)}, {text(estimate.high)}]"
        canvas.line(scale(estimate.low), y, scale(estimate.high), y, "whisker")
    if line.series is None:
        canvas.circle(x, y, 3.4, f"o{SERIES - 1}", words)
    else:
        canvas.mark(x, y, line.series, words, 4.4)
    canvas.text(WIDTH, y + 4, text(estimate.value), f"{kind} end")


def effects(
    name: str, title: str, groups: Sequence[tuple[str, Sequence[Line]]], *, text: Format
) -> Figure:
    """Differences with intervals about a line at zero; to the right is better."""
    canvas = Canvas()
    left, right = 104.0, WIDTH - 52
    ends = ends_of(line.estimate for _, lines in groups for line in lines)
    most = max([0.05, *map(abs, ends)])
    ticks = nice_ticks(-most, most)
    scale = Scale(ticks[0], ticks[-1], left, right)

    def draw(line: Line, top: float) -> None:
        _effect(canvas, line, scale, top + 8, left, text)

    y = rows_on_axis(canvas, groups, ticks, scale, text, draw)
    canvas.text(scale(ticks[0]), y + 6, "← misleads", "s")
    canvas.text(scale(ticks[-1]), y + 6, "helps →", "s end")
    return canvas.figure(name, title, WIDTH, y + 12)


def _effect(canvas: Canvas, line: Line, scale: Scale, y: float, left: float, text: Format) -> None:
    estimate = line.estimate
    canvas.text(left - 6, y + 4, shortened(line.name, left - 8), "s end", line.name)
    if estimate.value is None:
        canvas.text(scale(0) + 6, y + 4, "one mode only")
        return
    words = f"{line.name}: {text(estimate.value)}"
    if estimate.low is not None and estimate.high is not None:
        words += f" [{text(estimate.low)}, {text(estimate.high)}], n = {estimate.n:,}"
        canvas.line(scale(estimate.low), y, scale(estimate.high), y, "whisker")
    canvas.mark(scale(estimate.value), y, line.series or 0, words, 4)
    canvas.text(WIDTH, y + 4, text(estimate.value) + line.rank, "i end")


def question_map(
    name: str,
    title: str,
    columns: Sequence[tuple[str, str, str]],
    rows: Sequence[tuple[int, str, str, Sequence[Estimate]]],
) -> Figure:
    """Share of wrong answers, stronger for more: questions across (number, type, dimension), runs
    and modes downward (series, run, mode, shares)."""
    canvas = Canvas()
    left, top, tall = 172.0, 62.0, 20.0
    step = (WIDE - left) / len(columns)
    for start, stop, words in _spans([kind for _, kind, _ in columns]):
        canvas.text(left + step * (start + stop) / 2, 11, words, "i strong mid")
        canvas.line(left + step * start + 3, 16, left + step * stop - 4, 16, "axis")
    for start, stop, words in _spans([f"{kind}\n{d}" for _, kind, d in columns]):
        dimension = words.partition("\n")[2]
        lines = NARROW.get(dimension, dimension.removesuffix("-hint")).split("\n")
        for k, part in enumerate(lines):
            height = 30 + 12 * k + (6 if len(lines) == 1 else 0)
            canvas.text(left + step * (start + stop) / 2, height, part, "s mid")
    for k, (number, _, _) in enumerate(columns):
        canvas.text(left + step * (k + 0.5), top - 5, number, "i mid")
    y, previous = top, ""
    for series, run, mode, shares in rows:
        if previous and run != previous:
            y += 6
        if run != previous:
            canvas.mark(5, y + tall / 2, series)
            canvas.text(14, y + tall / 2 + 4, shortened(run, 112), "i", run)
        canvas.text(left - 8, y + tall / 2 + 4, mode, "s end")
        for k, share in enumerate(shares):
            _shaded(canvas, (left + step * k, y, step - 2, tall - 2), share, columns[k], run, mode)
        y, previous = y + tall, run
    return canvas.figure(name, title, WIDE, y + 4)


def _shaded(
    canvas: Canvas,
    box: tuple[float, float, float, float],
    share: Estimate,
    column: tuple[str, str, str],
    run: str,
    mode: str,
) -> None:
    middle, base = box[0] + box[2] / 2, box[1] + box[3] / 2 + 4
    if share.value is None:
        canvas.text(middle, base, "—", "s mid")
        return
    words = f"{run}, {mode}, {column[0]} ({column[2]}): {100 * share.value:.0f} % of {share.n:,}"
    canvas.rect(box, "heat", opacity=0.04 + 0.86 * share.value, title=f"{words} wrong", radius=2)
    # the ink that is read on this shade: the paper's own colour on strong ones
    canvas.text(middle, base, f"{100 * share.value:.0f}", f"{_ink(share.value)} mid")


def _ink(share: float) -> str:
    return "p" if share > 0.7 else "i"


def _spans(labels: Sequence[str]) -> list[tuple[int, int, str]]:
    """Runs of equal labels as (first, past the last, label).

    >>> _spans(["a", "a", "b"])
    [(0, 2, 'a'), (2, 3, 'b')]
    """
    spans: list[tuple[int, int, str]] = []
    for k, label in enumerate(labels):
        if spans and spans[-1][2] == label:
            spans[-1] = (spans[-1][0], k + 1, label)
        else:
            spans.append((k, k + 1, label))
    return spans


class Stack(msgspec.Struct, frozen=True):
    """How the wrong answers of a run are shared among causes."""

    series: int
    name: str
    counts: tuple[int, ...]


def stacks(name: str, title: str, causes: Sequence[str], rows: Sequence[Stack]) -> Figure:
    """One bar per run, cut into causes; the shade says which, strongest first."""
    canvas = Canvas()
    left, right, row = 104.0, WIDTH - 34, 20.0
    shades = [0.9 - 0.26 * k for k in range(len(causes))]
    y = 2.0
    for stack in rows:
        total = sum(stack.counts)
        canvas.text(left - 6, y + 12, shortened(stack.name, left - 8), "s end", stack.name)
        x = left
        for cause, count, shade in zip(causes, stack.counts, shades, strict=True):
            wide = (right - left) * count / total if total else 0.0
            words = f"{stack.name}, {cause}: {count} of {total}"
            if wide:
                canvas.rect((x, y, max(wide - 1, 0.5), 15), "heat", opacity=shade, title=words)
            if wide > 24:
                share = f"{100 * count / total:.0f}"
                canvas.text(x + wide / 2, y + 11.5, share, f"{_ink(shade)} mid")
            x += wide
        canvas.text(WIDTH, y + 12, f"{total}", "i end")
        y += row
    y += 18
    for cause, shade in zip(causes, shades, strict=True):
        canvas.rect((0, y - 9, 11, 11), "heat", opacity=shade)
        canvas.text(17, y, cause, "i")
        y += 16
    return canvas.figure(name, title, WIDTH, y - 6)


def yes_marks(name: str, title: str, rows: Sequence[tuple[int, str, Estimate, Estimate]]) -> Figure:
    """Share of yes where yes is true (full) and where no is true (hollow); far apart is good."""
    canvas = Canvas()
    left, right, row = 104.0, WIDTH - 8, 24.0
    scale = Scale(0, 1, left, right)
    bottom = 4 + row * len(rows)
    for tick in (0, 0.25, 0.5, 0.75, 1):
        canvas.line(scale(tick), 2, scale(tick), bottom, "axis" if tick == 0 else "grid")
        canvas.text(scale(tick), bottom + 14, f"{100 * tick:.0f} %", "s mid")
    for k, (series, run, true, false) in enumerate(rows):
        y = 4 + row * (k + 0.5)
        canvas.text(left - 6, y + 4, shortened(run, left - 8), "s end", run)
        if true.value is not None and false.value is not None:
            canvas.line(scale(false.value), y, scale(true.value), y, f"l{series % SERIES}")
        for estimate, hollow, where in ((true, False, "yes"), (false, True, "no")):
            if estimate.value is None:
                continue
            if estimate.low is not None and estimate.high is not None:
                beside = y + (7 if hollow else -7)
                canvas.line(scale(estimate.low), beside, scale(estimate.high), beside, "whisker")
            words = f"{run}: {100 * estimate.value:.0f} % yes where {where} is true"
            if hollow:
                canvas.circle(scale(estimate.value), y, 4, f"o{series % SERIES}", words)
            else:
                canvas.mark(scale(estimate.value), y, series, words, 4.4)
    y = bottom + 34
    canvas.circle(6, y - 4, 4, "dot")
    canvas.text(16, y, "says yes where yes is true", "i")
    canvas.circle(186, y - 4, 4, f"o{SERIES - 1}")
    canvas.text(196, y, "where no is true", "i")
    return canvas.figure(name, title, WIDTH, y + 6)


def letters(
    name: str,
    title: str,
    right_shares: Sequence[tuple[str, float]],
    rows: Sequence[tuple[int, str, Sequence[float]]],
) -> Figure:
    """How often each letter is chosen; the line across is how often it is right."""
    canvas = Canvas()
    left, right, top, bottom = 34.0, WIDTH, 8.0, 150.0
    most = max([0.3, *(s for _, s in right_shares), *(s for _, _, line in rows for s in line)])
    ticks = nice_ticks(0, most)
    to_y = Scale(0, ticks[-1], bottom, top)
    for tick in ticks:
        canvas.line(left, to_y(tick), right, to_y(tick), "axis" if tick == 0 else "grid")
        canvas.text(left - 6, to_y(tick) + 4, f"{100 * tick:.0f} %", "s end")
    group = (right - left) / len(right_shares)
    wide = min(16.0, (group - 12) / max(len(rows), 1))
    for k, (letter, share) in enumerate(right_shares):
        middle = left + group * (k + 0.5)
        start = middle - wide * len(rows) / 2
        for number, (series, run, line) in enumerate(rows):
            words = f"{run} chooses {letter} in {100 * line[k]:.0f} %; right in {100 * share:.0f} %"
            y = to_y(line[k])
            box = (start + wide * number, y, wide - 1, bottom - y)
            canvas.rect(box, f"f{series % SERIES}", opacity=0.82, title=words)
        reach = wide * len(rows) / 2 + 3
        canvas.line(middle - reach, to_y(share), middle + reach, to_y(share), "ring")
        canvas.text(middle, bottom + 15, letter, "i mid")
    y = bottom + 36
    canvas.line(2, y - 4, 12, y - 4, "ring")
    canvas.text(18, y, "how often the letter is right", "i")
    for series, run, _ in rows:
        y += 15
        canvas.mark(7, y - 4, series)
        canvas.text(18, y, shortened(run, 280), "i", run)
    return canvas.figure(name, title, WIDTH, y + 6)
