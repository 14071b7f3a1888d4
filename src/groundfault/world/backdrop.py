"""What every context is built from: skies, ridges, the ground in perspective, clouds, trees.

Backdrops are drawn in a square of side 1, y down. Far layers are pale and a little out of
focus, as air and lenses make them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from groundfault.world.canvas import Canvas, Rgb, fade, gradient, mix, paint, skia
from groundfault.world.forms import between
from groundfault.world.noise import draw_noise
from groundfault.world.shapes import blob, oval, polygon

__all__ = [
    "angle_point",
    "clouds",
    "fall",
    "ground",
    "ground_matrix",
    "ground_noise",
    "haze",
    "pines",
    "rect",
    "ridge",
    "scatter",
    "sky",
    "sun",
    "tufts",
    "veil",
]


ROWS = 128


def rect(left: float, top: float, right: float, bottom: float) -> Any:
    """A rectangle for drawRect."""
    return skia.Rect.MakeLTRB(left, top, right, bottom)


def sky(canvas: Canvas, horizon: float, *colours: Rgb) -> None:
    """From the zenith down to the horizon."""
    fall(canvas, 0.0, horizon + 0.02, *colours)


def fall(
    canvas: Canvas, top: float, bottom: float, *colours: Rgb, stops: Sequence[float] | None = None
) -> None:
    """A vertical run of colours in 128 rows: eight times as fast as a gradient shader."""
    table, places = (
        np.asarray(colours),
        np.linspace(0, 1, len(colours)) if stops is None else np.asarray(stops),
    )
    at = (np.arange(ROWS) + 0.5) / ROWS
    red, green, blue = (np.interp(at, places, channel).tolist() for channel in table.T)
    step, brush = (bottom - top) / ROWS, skia.Paint()
    for row in range(ROWS):
        brush.setColor4f(skia.Color4f(red[row], green[row], blue[row], 1.0))
        canvas.drawRect(rect(-0.1, top + step * row, 1.1, top + step * (row + 2)), brush)


def haze(canvas: Canvas, y: float, depth: float, colour: Rgb, alpha: float) -> None:
    """Bright air lying on the horizon."""
    veil(canvas, y - depth, y, fade(colour, 0.0), fade(colour, alpha))
    veil(canvas, y, y + depth, fade(colour, alpha), fade(colour, 0.0))


def veil(
    canvas: Canvas, top: float, bottom: float, *colours: tuple[float, float, float, float]
) -> None:
    """A translucent vertical run of colours, in 48 rows."""
    at, places = (np.arange(48) + 0.5) / 48, np.linspace(0, 1, len(colours))
    channels = [np.interp(at, places, channel).tolist() for channel in np.asarray(colours).T]
    step, brush = (bottom - top) / 48, skia.Paint()
    for row, (red, green, blue, alpha) in enumerate(zip(*channels, strict=True)):
        brush.setColor4f(skia.Color4f(red, green, blue, alpha))
        canvas.drawRect(rect(-0.1, top + step * row, 1.1, top + step * (row + 1)), brush)


def ridge(
    canvas: Canvas,
    rng: np.random.Generator,
    y: float,
    rough: float,
    near: Rgb,
    far: Rgb | None = None,
    *,
    points: int = 7,
    soft: bool = True,
) -> list[tuple[float, float]]:
    """A skyline of hills (soft) or peaks, filled down below the horizon; returns its points."""
    line = [(float(x), y + between(rng, -rough, rough)) for x in np.linspace(-0.15, 1.15, points)]
    foot = y + rough + 0.16
    edge = [(-0.3, foot), (-0.3, y), *line, (1.3, y), (1.3, foot)]
    path = blob(edge, 1.0) if soft else polygon(edge)
    shader = gradient((0, y - rough), (0, y + rough * 2 + 0.12), [near, far]) if far else None
    canvas.drawPath(path, paint(near, shader=shader))
    return line


def ground_matrix(horizon: float, spread: float = 2.5) -> Any:
    """Takes the unit square to the ground: its far edge on the horizon, its near edge below."""
    matrix = skia.Matrix()
    corners = [skia.Point(0, 0), skia.Point(1, 0), skia.Point(1, 1), skia.Point(0, 1)]
    middle = [
        skia.Point(0.5 - 0.22 * spread, horizon),
        skia.Point(0.5 + 0.22 * spread, horizon),
        skia.Point(0.5 + spread, 1.02),
        skia.Point(0.5 - spread, 1.02),
    ]
    matrix.setPolyToPoly(corners, middle)
    return matrix


def ground(
    canvas: Canvas,
    rng: np.random.Generator,
    horizon: float,
    far: Rgb,
    near: Rgb,
    *,
    grain: float = 0.25,
    scale: tuple[float, float] = (0.20, 0.14),
    light: Rgb = (1.0, 1.0, 1.0),
) -> None:
    """A plane with a colour that deepens towards the viewer, and a grain in perspective."""
    fall(canvas, horizon, 1.0, far, mix(far, near, 0.65), near, stops=(0.0, 0.35, 1.0))
    ground_noise(canvas, rng, horizon, mix(near, (0, 0, 0), 0.55), scale, grain)
    veil(canvas, horizon, (1 + horizon) / 2, fade(light, grain * 0.5), fade(light, 0.0))


def ground_noise(
    canvas: Canvas,
    rng: np.random.Generator,
    horizon: float,
    colour: Rgb,
    period: tuple[float, float],
    alpha: float,
    contrast: float = 2.6,
    seed: int = 7,
) -> None:
    """Noise lying on the ground."""
    canvas.save()
    canvas.clipRect(rect(0, horizon, 1, 1))
    canvas.concat(ground_matrix(horizon))
    draw_noise(
        canvas, rng, (0.0, 0.0, 1.0, 1.0), colour, period, alpha=alpha, contrast=contrast, seed=seed
    )
    canvas.restore()


def clouds(
    canvas: Canvas,
    rng: np.random.Generator,
    top: float,
    bottom: float,
    count: int,
    alpha: float = 0.85,
) -> None:
    """Fair-weather clouds with flat grey feet."""
    for _ in range(count):
        x, y, size = between(rng, 0.0, 1.0), between(rng, top, bottom), between(rng, 0.05, 0.11)
        for k in range(5):
            cx, r = (
                x + (k - 2) * size * 0.55,
                size * (0.62 - 0.13 * abs(k - 2)) * between(rng, 0.8, 1.15),
            )
            canvas.drawPath(
                oval(cx, y + r * 0.25, r * 1.1, r * 0.6),
                paint((0.78, 0.83, 0.90), alpha * 0.55, blur=0.010),
            )
            canvas.drawPath(oval(cx, y, r, r * 0.72), paint((1, 1, 1), alpha, blur=0.008))


def pines(
    canvas: Canvas,
    rng: np.random.Generator,
    y: float,
    height: float,
    count: int,
    colour: Rgb,
    *,
    snow: bool = False,
    blur: float = 0.0,
) -> None:
    """A row of conifers."""
    for x in np.sort(rng.uniform(-0.05, 1.05, count)):
        tall, wide = height * between(rng, 0.6, 1.15), height * between(rng, 0.2, 0.3)
        tone = mix(colour, (0, 0, 0), between(rng, 0, 0.2))
        for k in range(3):
            low = y - tall * (0.05 + 0.28 * k)
            half = wide * (1 - 0.24 * k)
            tier = [(float(x) - half, low), (float(x), low - tall * 0.48), (float(x) + half, low)]
            canvas.drawPath(polygon(tier), paint(tone, blur=blur))
            if snow:
                cap = [
                    (float(x) - half * 0.55, low - tall * 0.2),
                    (float(x), low - tall * 0.48),
                    (float(x) + half * 0.35, low - tall * 0.24),
                ]
                canvas.drawPath(polygon(cap), paint((0.95, 0.97, 1.0), 0.85, blur=blur))


def _depths(
    rng: np.random.Generator, count: int, horizon: float, bottom: float = 1.0
) -> list[tuple[float, float, float]]:
    """Places on the ground, far to near: x, y and size factor 0…1."""
    nearness, across = np.sort(rng.random(count) ** 0.75).tolist(), rng.random(count).tolist()
    return [
        (x * 1.04 - 0.02, horizon + (bottom - horizon) * near, near)
        for x, near in zip(across, nearness, strict=True)
    ]


def tufts(
    canvas: Canvas,
    rng: np.random.Generator,
    horizon: float,
    count: int,
    colours: list[Rgb],
    height: float = 0.035,
) -> None:
    """Grass: blades in bunches that grow towards the viewer."""
    paths = [skia.Path() for _ in colours]
    places, chance = _depths(rng, count, horizon + 0.02), rng.random((count, 3, 3)).tolist()
    for number, (x, y, near) in enumerate(places):
        path, tall = paths[number % len(paths)], height * (0.18 + 0.82 * near)
        for side, lean, rise in chance[number]:
            base, bow = x + (side - 0.5) * 0.6 * tall, (lean - 0.5) * tall
            path.moveTo(base, y)
            path.quadTo(base + bow * 0.3, y - tall * 0.6, base + bow, y - tall * (0.7 + 0.4 * rise))
    for path, colour in zip(paths, colours, strict=True):
        canvas.drawPath(path, paint(colour, 0.75, stroke=0.0035))


def scatter(
    canvas: Canvas,
    rng: np.random.Generator,
    horizon: float,
    count: int,
    size: float,
    colours: list[Rgb],
    flat: float = 0.6,
    shadow: bool = True,
) -> None:
    """Pebbles, shells, flower heads: small ovals in perspective."""
    for x, y, near in _depths(rng, count, horizon + 0.04):
        r = size * (0.25 + 0.75 * near) * between(rng, 0.6, 1.2)
        colour = colours[int(rng.integers(len(colours)))]
        if shadow:
            canvas.drawPath(
                oval(x + r * 0.3, y + r * flat * 0.6, r * 1.1, r * flat * 0.6),
                paint((0, 0, 0), 0.22),
            )
        canvas.drawPath(oval(x, y, r, r * flat), paint(colour))
        canvas.drawPath(
            oval(x - r * 0.25, y - r * flat * 0.3, r * 0.4, r * flat * 0.3), paint((1, 1, 1), 0.35)
        )


def sun(canvas: Canvas, x: float, y: float, radius: float, colour: Rgb) -> None:
    """A glowing disc."""
    from groundfault.world.canvas import radial

    glow = radial(
        (x, y), radius * 6, [fade(colour, 0.75), fade(colour, 0.22), fade(colour, 0)], [0, 0.3, 1]
    )
    canvas.drawCircle(x, y, radius * 6, paint(shader=glow))
    canvas.drawCircle(x, y, radius, paint(mix(colour, (1, 1, 1), 0.6), blur=radius * 0.1))


def angle_point(x: float, y: float, length: float, degrees: float) -> tuple[float, float]:
    """The end of a stick of this length that leans by degrees from upright."""
    turn = math.radians(degrees)
    return x + length * math.sin(turn), y - length * math.cos(turn)
