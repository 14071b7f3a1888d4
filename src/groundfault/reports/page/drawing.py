"""SVG by hand: a canvas, scales, ticks, and the one style sheet of every figure.

A figure names colours by class. In the page, the classes take the theme's colours; a figure of
its own carries them as literal values, because few programs for papers know CSS variables.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib import import_module
from pathlib import Path

import msgspec

from groundfault.errors import MissingExtra, UsageError
from groundfault.io.store import write_bytes

__all__ = [
    "LIGHT",
    "SERIES",
    "Canvas",
    "Figure",
    "Scale",
    "nice_ticks",
    "rendered",
    "shortened",
    "standalone",
    "style_sheet",
    "write_figure",
]

SERIES = 8
"""Colours; a ninth series has the first colour again and another mark."""

# Okabe and Ito's colours, darkened where they would not stand out on white (3:1 or more).
LIGHT: Mapping[str, str] = {
    "paper": "#ffffff", "ink": "#1d2129", "soft": "#5b6370", "rule": "#dfe2e8", "heat": "#0b4f8a",
    "series-0": "#0072b2", "series-1": "#c85200", "series-2": "#00855f", "series-3": "#a8578a",
    "series-4": "#8a6d00", "series-5": "#3b8fc2", "series-6": "#6a4fb3", "series-7": "#5b6370",
}  # fmt: skip

FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
LETTER_PX = 5.9
"""Mean width of a letter at 11 px; only to shorten names and keep labels apart."""


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """A drawing with its words."""

    name: str
    """File name without its ending."""
    title: str
    body: str
    """SVG elements, everything foreign in them escaped."""
    width: float
    height: float

    def inline(self) -> str:
        """For the page: colours come from its theme."""
        return (
            f'<svg class="figure" viewBox="0 0 {self.width:g} {self.height:g}" '
            f'width="{self.width:g}" height="{self.height:g}" role="img" '
            f'aria-label="{escape(self.title)}">{self.body}</svg>'
        )


def standalone(figure: Figure) -> str:
    """A complete SVG file, on white, without the words that a pointer would bring up."""
    title = f'<text class="t strong" x="0" y="13">{escape(figure.title)}</text>'
    height = figure.height + 24
    body = re.sub(
        "<title>.*?</title>", "", title + f'<g transform="translate(0 24)">{figure.body}</g>'
    )
    for sign, plain in {"⁺": "+", "⁻": "−"}.items():  # not in every font that papers use
        body = body.replace(sign, f'<tspan class="super" baseline-shift="super">{plain}</tspan>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 -8 {figure.width + 16:g} '
        f'{height + 16:g}" width="{figure.width + 16:g}" height="{height + 16:g}" '
        f'font-family="{FONT}"><style>{style_sheet(LIGHT)}</style>'
        f'<rect class="paper" x="-8" y="-8" width="{figure.width + 16:g}" '
        f'height="{height + 16:g}"/>{body}</svg>\n'
    )


def rendered(svg: str, kind: str) -> bytes:
    """An SVG file as "svg", "png" or "pdf"; the latter two need vl-convert."""
    if kind == "svg":
        return svg.encode()
    try:
        vl_convert = import_module("vl_convert")
    except ImportError:
        raise MissingExtra("vl-convert-python", "figures") from None
    made = vl_convert.svg_to_png(svg, scale=3) if kind == "png" else vl_convert.svg_to_pdf(svg)
    return bytes(made)


def write_figure(path: Path, figure: Figure) -> None:
    """Write a figure in the format that the file's name ends with."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in ("svg", "png", "pdf"):
        raise UsageError(f"{path}: name a file that ends with .svg, .png or .pdf")
    write_bytes(path, rendered(standalone(figure), kind))


def style_sheet(colours: Mapping[str, str] | None = None) -> str:
    """The rules of every figure, with literal colours or, by default, those of the page."""

    def colour(name: str) -> str:
        return colours[name] if colours else f"var(--{name})"

    rules = [
        f".t{{font-size:12px;fill:{colour('ink')}}}",
        f".s{{font-size:11px;fill:{colour('soft')}}}",
        f".i{{font-size:11px;fill:{colour('ink')}}}",
        f".p{{font-size:11px;fill:{colour('paper')}}}",
        ".strong{font-weight:600}",
        f".big{{font-size:24px;font-weight:600;fill:{colour('ink')}}}",
        ".super{font-size:8px}",
        ".end{text-anchor:end}",
        ".mid{text-anchor:middle}",
        f".paper{{fill:{colour('paper')}}}",
        f".grid{{stroke:{colour('rule')};stroke-width:1;fill:none}}",
        f".axis{{stroke:{colour('soft')};stroke-width:1;fill:none}}",
        f".whisker{{stroke:{colour('ink')};stroke-width:1.2;fill:none}}",
        f".ring{{stroke:{colour('ink')};stroke-width:1.8;fill:none}}",
        f".dot{{fill:{colour('ink')}}}",
        f".heat{{fill:{colour('heat')}}}",
        f".halo{{stroke:{colour('paper')};fill:none;stroke-linejoin:round}}",
        f".edge{{stroke:{colour('ink')};fill:none;stroke-linejoin:round}}",
        f".guide{{stroke:{colour('soft')};stroke-width:1;stroke-dasharray:3 3;fill:none}}",
    ]
    for k in range(SERIES):
        series = colour(f"series-{k}")
        rules += [
            f".f{k}{{fill:{series}}}",
            f".l{k}{{stroke:{series};stroke-width:2;fill:none;stroke-linejoin:round}}",
            f".o{k}{{stroke:{series};stroke-width:1.6;fill:{colour('paper')}}}",
        ]
    return "".join(rules)


class Canvas:
    """Collects the elements of one figure."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def text(self, x: float, y: float, words: str, kind: str = "s", title: str = "") -> None:
        """Words at a place; `kind` is a list of classes."""
        inner = escape(words) + _title(title)
        self.parts.append(f'<text class="{kind}" x="{_n(x)}" y="{_n(y)}">{inner}</text>')

    def rect(
        self,
        box: tuple[float, float, float, float],
        kind: str,
        *,
        opacity: float | None = None,
        title: str = "",
        radius: float = 0,
    ) -> None:
        """A box of (x, y, width, height)."""
        x, y, width, height = box
        see = "" if opacity is None else f' fill-opacity="{_n(opacity, 3)}"'
        rounded = f' rx="{_n(radius)}"' if radius else ""
        self.parts.append(
            f'<rect class="{kind}" x="{_n(x)}" y="{_n(y)}" width="{_n(max(width, 0))}" '
            f'height="{_n(height)}"{see}{rounded}{_closed("rect", title)}'
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        """A straight line."""
        self.parts.append(
            f'<line class="{kind}" x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}"/>'
        )

    def path(
        self,
        points: Sequence[tuple[float, float]],
        kind: str,
        *,
        close: bool = False,
        opacity: float | None = None,
        title: str = "",
    ) -> None:
        """Straight lines through points."""
        steps = "L".join(f"{_n(x)} {_n(y)}" for x, y in points)
        see = "" if opacity is None else f' style="fill-opacity:{_n(opacity, 2)};stroke-width:0"'
        end = "Z" if close else ""
        self.parts.append(f'<path class="{kind}" d="M{steps}{end}"{see}{_closed("path", title)}')

    def circle(self, x: float, y: float, radius: float, kind: str, title: str = "") -> None:
        """A dot or a ring."""
        self.parts.append(
            f'<circle class="{kind}" cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}"'
            f"{_closed('circle', title)}"
        )

    def mark(self, x: float, y: float, series: int, title: str = "", size: float = 3.6) -> None:
        """The mark of a series: its shape says what its colour says."""
        kind, shape = f"f{series % SERIES}", series % 4
        if shape == 0:
            self.circle(x, y, size, kind, title)
            return
        corners = _SHAPES[shape]
        points = [(x + dx * size * 0.92, y + dy * size * 0.92) for dx, dy in corners]
        self.path(points, kind, close=True, title=title)

    def figure(self, name: str, title: str, width: float, height: float) -> Figure:
        """What was drawn."""
        return Figure(name=name, title=title, body="".join(self.parts), width=width, height=height)


_SHAPES: Mapping[int, Sequence[tuple[float, float]]] = {
    1: ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    2: ((0, -1.25), (1.15, 0.9), (-1.15, 0.9)),
    3: ((0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)),
}
"""Corners of square, triangle and diamond."""


def _title(text: str) -> str:
    return f"<title>{escape(text)}</title>" if text else ""


def _closed(tag: str, title: str) -> str:
    return f">{_title(title)}</{tag}>" if title else "/>"


def _n(value: float, digits: int = 1) -> str:
    """A short number.

    >>> _n(3.0), _n(2.349), _n(-0.01)
    ('3', '2.3', '0')
    """
    text = f"{value:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


class Scale(msgspec.Struct, frozen=True):
    """Values to places, linearly."""

    low: float
    high: float
    start: float
    stop: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low or 1.0)
        return self.start + min(max(share, -0.05), 1.05) * (self.stop - self.start)


def nice_ticks(low: float, high: float, wanted: int = 4) -> list[float]:
    """Round numbers that span the values.

    >>> nice_ticks(0, 0.83)
    [0.0, 0.25, 0.5, 0.75, 1.0]
    >>> nice_ticks(-0.1, 0.36)
    [-0.2, 0.0, 0.2, 0.4]
    """
    spread = max(high - low, 1e-9)
    power = 10.0 ** math.floor(math.log10(spread / wanted))
    step = next(s * power for s in (1, 2, 2.5, 5, 10) if s * power * wanted >= spread * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(k * step, 10) + 0.0 for k in range(first, max(last, first + 1) + 1)]


def shortened(name: str, width_px: float) -> str:
    """A name that fits.

    >>> shortened("Grounded SAM 2", 60)
    'Grounded…'
    """
    room = max(int(width_px / LETTER_PX), 2)
    return name if len(name) <= room else name[: room - 1].rstrip() + "…"
