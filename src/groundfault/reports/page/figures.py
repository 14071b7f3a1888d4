"""The figures: plain data in, a drawing out. All are narrow enough for a phone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

import msgspec

from groundfault.records import Estimate
from groundfault.reports.page.drawing import SERIES, Canvas, Figure, Scale, nice_ticks, shortened

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = [
    "Bar",
    "Bin",
    "Curve",
    "Leads",
    "Place",
    "Strip",
    "bars",
    "curves",
    "ends_of",
    "leads_map",
    "radar",
    "reliability",
    "rows_on_axis",
    "spread",
    "surface_map",
    "tick_words",
]

WIDTH = 320.0
ROW = 15.0
T = TypeVar("T")
Format = Callable[[float], str]


class Bar(msgspec.Struct, frozen=True):
    """One value of one series."""

    series: int
    name: str
    estimate: Estimate


def bars(
    name: str, title: str, groups: Sequence[tuple[str, Sequence[Bar]]], *, text: Format
) -> Figure:
    """Horizontal bars with 95 % whiskers, grouped; every bar has its name and its value."""
    canvas = Canvas()
    ends = ends_of(bar.estimate for _, members in groups for bar in members)
    ticks = nice_ticks(min([0.0, *ends]), max([0.0, *ends]) or 1.0)
    left, right = 104.0, WIDTH - 44
    scale = Scale(ticks[0], ticks[-1], left, right)

    def draw(bar: Bar, top: float) -> None:
        _bar(canvas, bar, scale, top + 3, left, text)

    y = rows_on_axis(canvas, groups, ticks, scale, text, draw)
    return canvas.figure(name, title, WIDTH, y - 4)


def ends_of(estimates: Iterable[Estimate]) -> list[float]:
    """Everything that an axis has to reach: values and the ends of their intervals."""
    return [
        end
        for estimate in estimates
        for end in (estimate.value, estimate.low, estimate.high)
        if end is not None
    ]


def rows_on_axis(
    canvas: Canvas,
    groups: Sequence[tuple[str, Sequence[T]]],
    ticks: Sequence[float],
    scale: Scale,
    text: Format,
    draw: Callable[[T, float], None],
) -> float:
    """Rows in groups with their headings, on one axis with its numbers below; `draw` is given a
    row and its top. Returns where the next group would stand."""
    y = 11.0
    for label, members in groups:
        canvas.text(0, y, label, "i strong")
        top, bottom = y + 6, y + 8 + ROW * len(members)
        for tick in ticks:
            canvas.line(scale(tick), top, scale(tick), bottom, "axis" if tick == 0 else "grid")
        for k, member in enumerate(members):
            draw(member, top + ROW * k)
        y = bottom + 22
    for tick in ticks:
        canvas.text(scale(tick), y - 9, tick_words(text, tick), "s mid")
    return y


def tick_words(text: Format, value: float) -> str:
    """A number of an axis, without digits that say nothing.

    >>> tick_words(lambda value: f"{value:.3f}", 0.5)
    '0.5'
    """
    words = text(value)
    return words.rstrip("0").rstrip(".") if "." in words else words


def _bar(canvas: Canvas, bar: Bar, scale: Scale, y: float, left: float, text: Format) -> None:
    estimate, kind = bar.estimate, f"f{bar.series % SERIES}"
    canvas.text(left - 6, y + 9, shortened(bar.name, left - 8), "s end", bar.name)
    if estimate.value is None:
        canvas.text(left + 4, y + 9, "undefined")
        return
    words = f"{bar.name}: {text(estimate.value)}"
    if estimate.low is not None and estimate.high is not None:
        words += f" [{text(estimate.low)}, {text(estimate.high)}], n = {estimate.n:,}"
    zero, end = scale(0), scale(estimate.value)
    box = (min(zero, end), y, abs(end - zero), 10.0)
    canvas.rect(box, kind, title=words, opacity=0.82, radius=1)
    if estimate.low is not None and estimate.high is not None:
        low, high = scale(estimate.low), scale(estimate.high)
        canvas.line(low, y + 5, high, y + 5, "whisker")
        for x in (low, high):
            canvas.line(x, y + 2.5, x, y + 7.5, "whisker")
    canvas.text(WIDTH, y + 9, text(estimate.value), "i end")


class Place(msgspec.Struct, frozen=True):
    """An operating point to be marked on a surface."""

    t: float
    tau: float


class _Grid:
    """Cells of t across and τ upward, with their axes."""

    def __init__(self, canvas: Canvas, ts: Sequence[float], taus: Sequence[float]) -> None:
        self.canvas, self.ts, self.taus = canvas, ts, taus
        self.left, self.top = 34.0, 4.0
        self.step_x = (WIDTH - self.left - 2) / len(ts)
        self.step_y = 16.0
        self.bottom = self.top + self.step_y * len(taus)

    def cell(self, tau_number: int, t_number: int) -> tuple[float, float, float, float]:
        """The box of one operating point."""
        x = self.left + t_number * self.step_x
        y = self.bottom - (tau_number + 1) * self.step_y
        return x, y, self.step_x - 1, self.step_y - 1

    def axes(self) -> float:
        """Draw names and numbers; returns the place below them."""
        for k, tau in enumerate(self.taus):
            if k % 2 == 0:
                y = self.bottom - (k + 0.5) * self.step_y + 4
                self.canvas.text(self.left - 5, y, f"{tau:.1f}", "s end")
        for k, t in enumerate(self.ts):
            if round(t * 100) % 20 == 10 or round(t * 100) == 50:
                x = self.left + (k + 0.5) * self.step_x
                self.canvas.text(x, self.bottom + 13, f"{t:.1f}", "s mid")
        self.canvas.text(0, self.top + 10, "τ", "i strong")
        middle = (self.left + WIDTH) / 2
        self.canvas.text(middle, self.bottom + 27, "score threshold t", "s mid")
        return self.bottom + 32

    def ring(self, place: Place | None) -> None:
        """Mark where the run was scored."""
        if place is None:
            return
        t_number = _nearest(self.ts, place.t)
        tau_number = _nearest(self.taus, place.tau)
        x, y, width, height = self.cell(tau_number, t_number)
        self.canvas.parts.append(
            f'<rect class="ring" x="{x - 0.5:.1f}" y="{y - 0.5:.1f}" width="{width + 1:.1f}" '
            f'height="{height + 1:.1f}" rx="2"/>'
        )


def _nearest(values: Sequence[float], wanted: float) -> int:
    return min(range(len(values)), key=lambda k: abs(values[k] - wanted))


def surface_map(
    name: str,
    title: str,
    values: Floats,
    ts: Sequence[float],
    taus: Sequence[float],
    *,
    place: Place | None,
    text: Format,
    top: float = 1.0,
) -> Figure:
    """A metric at every (t, τ), stronger for more, up to `top`; the frame marks where the run
    was scored."""
    canvas = Canvas()
    grid = _Grid(canvas, ts, taus)
    for i, tau in enumerate(taus):
        for k, t in enumerate(ts):
            value = float(values[i, k])
            words = f"t {t:.2f}, τ {tau:.1f}: {text(value)}"
            canvas.rect(grid.cell(i, k), "heat", opacity=0.04 + 0.96 * value / top, title=words)
    grid.ring(place)
    below = grid.axes() + 8
    for k in range(5):
        box = (grid.left + 38 * k, below, 37.0, 8.0)
        canvas.rect(box, "heat", opacity=0.04 + 0.96 * k / 4)
        canvas.text(grid.left + 38 * k + 18.5, below + 20, text(top * k / 4), "s mid")
    return canvas.figure(name, title, WIDTH, below + 26)


class Leads(msgspec.Struct, frozen=True, eq=False):
    """Who is best at every (t, τ); (τ, t) each."""

    series: NDArray[np.int64]
    clear: NDArray[np.bool_]
    """Whether the lead over the second is beyond noise."""
    flips: NDArray[np.bool_]
    """Whether another model than at the run's own point leads, beyond noise."""


def leads_map(
    name: str,
    title: str,
    leads: Leads,
    names: Sequence[str],
    ts: Sequence[float],
    taus: Sequence[float],
    *,
    place: Place | None,
) -> Figure:
    """The colour of the best model at every (t, τ): full beyond noise, pale within it, a dot
    where the winner is another than at the frame."""
    canvas = Canvas()
    grid = _Grid(canvas, ts, taus)
    for i, tau in enumerate(taus):
        for k, t in enumerate(ts):
            series, clear = int(leads.series[i, k]), bool(leads.clear[i, k])
            how = "leads" if clear else "ahead within noise"
            words = f"t {t:.2f}, τ {tau:.1f}: {names[series]} {how}"
            box = grid.cell(i, k)
            opacity = 0.85 if clear else 0.22
            canvas.rect(box, f"f{series % SERIES}", opacity=opacity, title=words)
            if leads.flips[i, k]:
                canvas.circle(box[0] + box[2] / 2, box[1] + box[3] / 2, 2.2, "dot")
    grid.ring(place)
    y = grid.axes() + 14
    shown = sorted({int(k) for k in leads.series.ravel()})
    for series in shown:
        canvas.rect((grid.left, y - 8, 10, 10), f"f{series % SERIES}", opacity=0.85)
        canvas.text(grid.left + 16, y + 1, f"{shortened(names[series], 180)} leads", "i")
        y += 15
    canvas.rect((grid.left, y - 8, 10, 10), f"f{shown[0] % SERIES}", opacity=0.22)
    canvas.text(grid.left + 16, y + 1, "pale: ahead, but within noise")
    if leads.flips.any():
        y += 15
        canvas.circle(grid.left + 5, y - 3, 2.2, "dot")
        canvas.text(grid.left + 16, y + 1, "another winner than at the frame")
    return canvas.figure(name, title, WIDTH, y + 8)


class Curve(msgspec.Struct, frozen=True, eq=False):
    """One line with its interval."""

    series: int
    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    marked: int | None = None
    """Which point is the run's own operating point."""


def curves(
    name: str,
    title: str,
    lines: Sequence[Curve],
    *,
    across: str,
    text: Format,
    x_text: Format,
    x_range: tuple[float, float] | None = None,
    y_top: float | None = None,
    dots: bool = True,
) -> Figure:
    """Lines with bands, each named at its end."""
    canvas = Canvas()
    left, right, top, bottom = 36.0, WIDTH - 102, 8.0, 176.0
    xs = [x for line in lines for x in line.x]
    ends = [y for line in lines for y in (*line.y, *line.high)]
    low = min([0.0, *(y for line in lines for y in (*line.y, *line.low))])
    # a scale below 5 % would have several ticks of the same name
    ticks = nice_ticks(low, y_top if y_top is not None else max([*ends, 0.05]))
    x_low, x_high = x_range or (min(xs), max(xs))
    x_ticks = [tick for tick in nice_ticks(x_low, x_high) if x_low - 1e-9 <= tick <= x_high + 1e-9]
    to_x, to_y = Scale(x_low, x_high, left, right), Scale(ticks[0], ticks[-1], bottom, top)
    for tick in ticks:
        canvas.line(left, to_y(tick), right, to_y(tick), "axis" if tick == 0 else "grid")
        canvas.text(left - 6, to_y(tick) + 4, text(tick), "s end")
    for tick in x_ticks:
        canvas.text(to_x(tick), bottom + 15, x_text(tick), "s mid")
    canvas.text((left + right) / 2, bottom + 31, across, "s mid")
    for line in lines:
        if len(line.low) == len(line.x) > 1:
            band = [(to_x(x), to_y(y)) for x, y in zip(line.x, line.high, strict=True)]
            band += [(to_x(x), to_y(y)) for x, y in zip(line.x, line.low, strict=True)][::-1]
            canvas.path(band, f"f{line.series % SERIES}", close=True, opacity=0.14)
    for line in lines:
        _curve(canvas, line, to_x, to_y, text, x_text, dots)
    ordered = sorted(lines, key=lambda line: to_y(line.y[-1]))
    heights = _apart([to_y(line.y[-1]) + 4 for line in ordered], 13.0, top + 6, bottom + 4)
    for line, y in zip(ordered, heights, strict=True):
        canvas.mark(right + 9, y - 4, line.series)
        canvas.text(right + 17, y, shortened(line.name, 88), "i", line.name)
    return canvas.figure(name, title, WIDTH, bottom + 36)


def _curve(
    canvas: Canvas,
    line: Curve,
    to_x: Scale,
    to_y: Scale,
    text: Format,
    x_text: Format,
    dots: bool,
) -> None:
    points = [(to_x(x), to_y(y)) for x, y in zip(line.x, line.y, strict=True)]
    if len(points) > 1:
        canvas.path(points, f"l{line.series % SERIES}")
    for k, (x, y) in enumerate(points):
        words = f"{line.name}, {x_text(line.x[k])}: {text(line.y[k])}"
        if len(line.low) == len(line.x):
            words += f" [{text(line.low[k])}, {text(line.high[k])}]"
        if dots or k == line.marked:
            canvas.mark(x, y, line.series, words, 3.4 if k != line.marked else 4.2)
        if k == line.marked:
            canvas.circle(x, y, 7.5, "ring")


def _apart(heights: Sequence[float], room: float, top: float, bottom: float) -> list[float]:
    """Rising places at least `room` apart, near the ones asked for.

    >>> _apart([10, 12, 50], 13, 0, 100)
    [10, 23, 50]
    >>> _apart([95, 99], 13, 0, 100)
    [87, 100]
    """
    placed: list[float] = []
    for height in heights:
        placed.append(max(height, placed[-1] + room) if placed else max(height, top))
    if placed and placed[-1] > bottom:
        placed[-1] = bottom
        for k in range(len(placed) - 2, -1, -1):
            placed[k] = min(placed[k], placed[k + 1] - room)
    return placed


class Bin(msgspec.Struct, frozen=True):
    """Predictions of like score: how many, how many of them on the target."""

    score: float
    share: float
    low: float
    high: float
    n: int


def reliability(name: str, title: str, series: int, bins: Sequence[Bin]) -> Figure:
    """Share on the target against score; the dashed line is a score that means what it says."""
    canvas = Canvas()
    left, right, top, bottom = 40.0, WIDTH - 20, 8.0, 200.0
    to_x, to_y = Scale(0, 1, left, right), Scale(0, 1, bottom, top)
    for tick in (0, 0.25, 0.5, 0.75, 1):
        canvas.line(left, to_y(tick), right, to_y(tick), "axis" if tick == 0 else "grid")
        canvas.text(left - 6, to_y(tick) + 4, f"{100 * tick:.0f} %", "s end")
        canvas.text(to_x(tick), bottom + 38, f"{tick:g}", "s mid")
    canvas.line(to_x(0), to_y(0), to_x(1), to_y(1), "guide")
    most = max(bin_.n for bin_ in bins)
    for k, bin_ in enumerate(bins):
        x, words = to_x(bin_.score), f"score {bin_.score:.2f}: {100 * bin_.share:.0f} % on target"
        words += f" [{100 * bin_.low:.0f}, {100 * bin_.high:.0f}], {bin_.n:,} predictions"
        canvas.line(x, to_y(bin_.low), x, to_y(bin_.high), f"l{series % SERIES}")
        canvas.mark(x, to_y(bin_.share), series, words, 4.2)
        tall = 20 * bin_.n / most
        canvas.rect(
            (x - 8, bottom + 26 - tall, 16, tall), f"f{series % SERIES}", opacity=0.3, title=words
        )
        if k == 0:
            canvas.text(left - 6, bottom + 24, "count", "s end")
    path = [(to_x(bin_.score), to_y(bin_.share)) for bin_ in bins]
    canvas.path(path, f"l{series % SERIES}")
    canvas.text((left + right) / 2, bottom + 53, "score given to p⁺", "s mid")
    return canvas.figure(name, title, WIDTH, bottom + 58)


class Strip(msgspec.Struct, frozen=True, eq=False):
    """How one series is spread over bins, with its mean."""

    series: int
    name: str
    shares: Sequence[float]
    estimate: Estimate
    below_zero: float


def spread(
    name: str, title: str, strips: Sequence[Strip], edges: Sequence[float], *, text: Format
) -> Figure:
    """One histogram per series above another; the tick is the mean, its bar the interval."""
    canvas = Canvas()
    left, right, top, row = 8.0, WIDTH - 8, 16.0, 74.0
    to_x = Scale(edges[0], edges[-1], left, right)
    most = max((share for strip in strips for share in strip.shares), default=1.0) or 1.0
    bottom = top + row * len(strips)
    for tick in (-1.0, -0.5, 0.0, 0.5, 1.0):
        canvas.line(to_x(tick), top, to_x(tick), bottom, "axis" if tick == 0 else "grid")
        canvas.text(to_x(tick), bottom + 14, text(tick), "s mid")
    for k, strip in enumerate(strips):
        base = top + row * (k + 1) - 6
        for number, share in enumerate(strip.shares):
            x1, x2 = to_x(edges[number]), to_x(edges[number + 1])
            words = f"{text(edges[number])} to {text(edges[number + 1])}: {100 * share:.1f} %"
            tall = (row - 28) * share / most
            box = (x1 + 0.5, base - tall, x2 - x1 - 1, tall)
            canvas.rect(box, f"f{strip.series % SERIES}", opacity=0.75, title=words)
        canvas.line(left, base, right, base, "grid")
        y = base - row + 24
        canvas.mark(left + 4, y - 4, strip.series)
        canvas.text(left + 13, y, shortened(strip.name, 150), "i strong", strip.name)
        canvas.text(right, y, f"{100 * strip.below_zero:.0f} % at or below 0", "s end")
        estimate = strip.estimate
        if estimate.value is not None:
            x = to_x(estimate.value)
            canvas.line(x, y + 5, x, base + 3, "whisker")
            if estimate.low is not None and estimate.high is not None:
                canvas.line(to_x(estimate.low), base, to_x(estimate.high), base, "ring")
    return canvas.figure(name, title, WIDTH, bottom + 20)


def radar(
    name: str,
    title: str,
    axes: Sequence[str],
    series: Sequence[tuple[int, str, Sequence[float | None]]],
) -> Figure:
    """Shares from 0 at the centre to 1 at the rim; on every axis outward is better."""
    canvas = Canvas()
    centre_x, centre_y, radius = WIDTH / 2, 134.0, 100.0
    angles = [2 * math.pi * k / len(axes) - math.pi / 2 for k in range(len(axes))]

    def place(angle: float, share: float) -> tuple[float, float]:
        reach = radius * min(max(share, 0.0), 1.0)
        return centre_x + reach * math.cos(angle), centre_y + reach * math.sin(angle)

    for share in (0.25, 0.5, 0.75, 1.0):
        canvas.path([place(angle, share) for angle in angles], "grid", close=True)
    for angle, axis in zip(angles, axes, strict=True):
        x, y = place(angle, 1)
        canvas.line(centre_x, centre_y, x, y, "grid")
        side = math.cos(angle)
        kind = "mid" if abs(side) < 0.3 else "end" if side < 0 else ""
        lines = axis.split("\n")
        up = math.sin(angle)
        x, y = x + 7 * side, y + 4 + 10 * up + 6 * (len(lines) - 1) * (up - 1)
        for k, words in enumerate(lines):
            canvas.text(x, y + 12 * k, words, f"s {kind}".strip())
    for number, label, values in series:
        corners = [place(a, v) for a, v in zip(angles, values, strict=True) if v is not None]
        canvas.path(corners, f"f{number % SERIES}", close=True, opacity=0.10)
        canvas.path(corners, f"l{number % SERIES}", close=True)
        for angle, axis, value in zip(angles, axes, values, strict=True):
            if value is not None:
                words = f"{label}, {axis.replace(chr(10), ' ')}: {100 * value:.0f} %"
                canvas.mark(*place(angle, value), number, words, 3)
    y = centre_y + radius + 44
    for number, label, _ in series:
        canvas.mark(40, y - 4, number)
        canvas.text(50, y, shortened(label, 250), "i", label)
        y += 15
    return canvas.figure(name, title, WIDTH, y - 4)
