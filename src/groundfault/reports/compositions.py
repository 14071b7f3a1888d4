"""What a set of pairs is made of, as a table and as a figure (CAFE's Figure 3)."""

from __future__ import annotations

from groundfault.analysis.composition import SIZES, Composition
from groundfault.io.coco import EDIT_TYPES
from groundfault.reports.page.drawing import Canvas, Figure, Scale, nice_ticks, shortened
from groundfault.reports.tables import Cell, Table

__all__ = ["composition_figure", "composition_table"]

WIDTH, GAP = 760.0, 44.0
COLUMN = (WIDTH - GAP) / 2
BAR = 17.0
_FULL = {short: name for name, short in EDIT_TYPES.items()}


def composition_table(found: Composition) -> Table:
    """The counts, with shares where they are parts of a whole."""
    rows: list[list[Cell | str]] = [["pairs", f"{found.n_pairs:,}", ""]]
    rows += [
        [f"  {_FULL.get(edit, edit)}", f"{n:,}", _percent(n, found.n_pairs)]
        for edit, n in found.by_edit.items()
    ]
    rows += [
        ["pictures", f"{found.n_images:,}", ""],
        ["different p⁺", f"{found.n_positive_prompts:,}", ""],
        ["different p⁻", f"{found.n_negative_prompts:,}", ""],
        ["different prompt pairs", f"{found.n_prompt_pairs:,}", ""],
        ["  that occur once", f"{found.n_once:,}", _percent(found.n_once, found.n_prompt_pairs)],
    ]
    rows += [
        [f"  {pair.positive} / {pair.negative}", f"{pair.n:,}", _percent(pair.n, found.n_pairs)]
        for pair in found.most_frequent[:5]
        if pair.n > 1
    ]
    total = sum(found.sizes)
    rows += [
        [f"targets of {_size(k)} of the picture", f"{n:,}", _percent(n, total)]
        for k, n in enumerate(found.sizes)
        if n
    ]
    return Table(["made of", "n", "share"], rows, left_columns=1)


def _percent(n: int, of: int) -> str:
    return f"{100 * n / of:.1f} %"


def _size(k: int) -> str:
    low, high = SIZES[k], SIZES[k + 1]
    if low == 0:
        return f"under {100 * high:.0f} %"
    return f"over {100 * low:.0f} %" if high == 1 else f"{100 * low:.0f}–{100 * high:.0f} %"


def composition_figure(found: Composition, title: str) -> Figure:
    """Edits, sizes of targets, the long tail of prompt pairs, and the most frequent of them."""
    canvas = Canvas()
    _numbers(canvas, found)
    edits = [(_FULL.get(edit, edit), n) for edit, n in found.by_edit.items()]
    sizes = [(_size(k), n) for k, n in enumerate(found.sizes)]
    below = 74.0 + max(
        _bars(canvas, (0.0, 74.0), "Pairs by edit", edits, found.n_pairs, 0),
        _bars(
            canvas, (COLUMN + GAP, 74.0), "Targets by share of the picture", sizes,
            max(sum(found.sizes), 1), 2,
        ),
    )  # fmt: skip
    below += 26
    frequent = [(f"{pair.positive} / {pair.negative}", pair.n) for pair in found.most_frequent[:8]]
    height = _bars(
        canvas, (COLUMN + GAP, below), "Most frequent prompt pairs, p⁺ / p⁻", frequent,
        found.n_pairs, 3,
    )  # fmt: skip
    height = max(height, 170.0)
    _tail(canvas, (0.0, below), height, found)
    return canvas.figure("composition", title, WIDTH, below + height + 8)


def _numbers(canvas: Canvas, found: Composition) -> None:
    """The counts that a reader looks for first."""
    for k, (n, words) in enumerate(
        (
            (found.n_pairs, "pairs"),
            (found.n_positive_prompts, "different p⁺"),
            (found.n_negative_prompts, "different p⁻"),
            (found.n_prompt_pairs, "prompt pairs"),
            (found.n_images, "pictures"),
        )
    ):
        x = k * WIDTH / 5
        canvas.text(x, 24, f"{n:,}", "big")
        canvas.text(x, 41, words)


def _bars(
    canvas: Canvas,
    place: tuple[float, float],
    title: str,
    bars: list[tuple[str, int]],
    total: int,
    series: int,
) -> float:
    """Horizontal bars with their names, counts and shares; returns the height that they take."""
    x, y = place
    names, ends = 168.0, 78.0
    canvas.text(x, y, title, "t strong")
    most = max((n for _, n in bars), default=1) or 1
    to_x = Scale(0, most, x + names, x + COLUMN - ends)
    for k, (name, n) in enumerate(bars):
        top = y + 12 + k * (BAR + 4)
        canvas.text(x, top + 12, shortened(name, names - 12), "i", name)
        canvas.rect((x + names, top, to_x(n) - x - names, BAR - 2), f"f{series}", opacity=0.85)
        canvas.text(to_x(n) + 5, top + 12, f"{n:,} · {_percent(n, total)}", "s")
    return 12 + len(bars) * (BAR + 4)


def _tail(canvas: Canvas, place: tuple[float, float], height: float, found: Composition) -> None:
    """How often each prompt pair occurs, by rank: an area that is long and low for a long tail."""
    x, y = place
    once = (
        f"{found.n_once:,} of {found.n_prompt_pairs:,} occur once ({100 * found.share_once:.1f} %)"
    )
    canvas.text(x, y, "How often a prompt pair occurs, by rank", "t strong")
    left, top, bottom = x + 30, y + 14, y + height - 30
    ticks = nice_ticks(0, max(found.frequencies[0], 2))
    ticks = [tick for tick in ticks if tick == int(tick)]
    to_x = Scale(0, found.n_prompt_pairs, left, x + COLUMN)
    to_y = Scale(0, ticks[-1], bottom, top)
    for tick in ticks:
        canvas.line(left, to_y(tick), x + COLUMN, to_y(tick), "axis" if tick == 0 else "grid")
        canvas.text(left - 6, to_y(tick) + 4, f"{tick:,.0f}", "s end")
    points = [(to_x(0), to_y(0))]
    for rank, n in enumerate(found.frequencies):  # a step per change, however many pairs there are
        if rank == 0 or n != found.frequencies[rank - 1]:
            points += [(to_x(rank), points[-1][1]), (to_x(rank), to_y(n))]
    points += [(x + COLUMN, points[-1][1]), (x + COLUMN, to_y(0))]
    canvas.path(points, "f1", close=True, opacity=0.85)
    canvas.text(x + COLUMN, top + 12, once, "i end")
    for rank in (1, found.n_prompt_pairs):
        anchor = "s" if rank == 1 else "s end"
        canvas.text(to_x(0) if rank == 1 else x + COLUMN, bottom + 15, f"{rank:,}", anchor)
    canvas.text((left + x + COLUMN) / 2, bottom + 15, "rank", "s mid")
