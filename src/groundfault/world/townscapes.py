"""Contexts that people built: street, night city, kitchen, library."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from groundfault.world.backdrop import (
    clouds,
    ground,
    ground_matrix,
    ground_noise,
    haze,
    rect,
    sky,
    veil,
)
from groundfault.world.canvas import (
    Canvas,
    Rgb,
    fade,
    gradient,
    mix,
    paint,
    radial,
    shade,
    skia,
)
from groundfault.world.forms import between, jittered
from groundfault.world.shapes import box, line, oval, polygon

__all__ = ["paint_kitchen", "paint_library", "paint_night", "paint_street"]

BRICKS: list[Rgb] = [
    (0.66, 0.42, 0.34),
    (0.78, 0.68, 0.54),
    (0.58, 0.60, 0.64),
    (0.72, 0.56, 0.44),
    (0.50, 0.54, 0.58),
    (0.83, 0.77, 0.68),
]


def _houses(
    canvas: Canvas,
    rng: np.random.Generator,
    foot: float,
    low: float,
    high: float,
    *,
    air: Rgb,
    share: float,
    lit: float,
    blur: float = 0.0,
) -> None:
    """A row of façades; `share` of the air's colour makes them distant, `lit` windows burn."""
    x = between(rng, -0.1, 0.0)
    while x < 1.0:
        wide, top = between(rng, 0.10, 0.20), foot - between(rng, low, high)
        wall = mix(BRICKS[int(rng.integers(len(BRICKS)))], air, share)
        canvas.drawRect(rect(x, top, x + wide, foot + 0.01), paint(wall, blur=blur))
        canvas.drawRect(
            rect(x + wide * 0.86, top, x + wide, foot + 0.01), paint(shade(wall, 0.8), 0.6)
        )
        canvas.drawRect(
            rect(x - 0.004, top - 0.010, x + wide + 0.004, top + 0.006),
            paint(shade(wall, 0.7), blur=blur),
        )
        columns, step = max(2, int(wide / 0.042)), 0.058
        gap = wide / columns
        panes, bright = skia.Path(), skia.Path()
        for row in np.arange(top + 0.03, foot - 0.07, step):
            for column in range(columns):
                window = rect(
                    x + gap * (column + 0.24),
                    float(row),
                    x + gap * (column + 0.76),
                    float(row) + step * 0.58,
                )
                (bright if rng.random() < lit else panes).addRect(window)
        canvas.drawPath(
            panes, paint(mix(mix((0.24, 0.30, 0.38), wall, 0.15), air, share * 0.8), blur=blur)
        )
        canvas.drawPath(bright, paint(mix((1.0, 0.86, 0.52), air, share * 0.4), blur=blur))
        x += wide + between(rng, 0.0, 0.012)


def paint_street(canvas: Canvas, rng: np.random.Generator, horizon: float) -> None:
    """Houses, pavement and a road with markings."""
    air = (0.84, 0.88, 0.92)
    sky(
        canvas,
        horizon,
        jittered((0.52, 0.70, 0.88), rng, 0.04),
        (0.78, 0.86, 0.93),
        (0.93, 0.93, 0.92),
    )
    clouds(canvas, rng, 0.03, 0.2, 2, 0.6)
    _houses(canvas, rng, horizon, 0.22, 0.40, air=air, share=0.62, lit=0.0, blur=0.003)
    _houses(canvas, rng, horizon + 0.01, 0.14, 0.34, air=air, share=0.15, lit=0.06)
    awnings = [(0.72, 0.24, 0.22), (0.20, 0.42, 0.50), (0.30, 0.48, 0.30)]
    for x in np.arange(between(rng, -0.05, 0.05), 1.0, 0.17):
        left, tone = float(x), awnings[int(rng.integers(3))]
        canvas.drawRect(
            rect(left + 0.02, horizon - 0.055, left + 0.12, horizon + 0.01),
            paint((0.30, 0.36, 0.40)),
        )
        canvas.drawPath(
            polygon(
                [
                    (left + 0.015, horizon - 0.075),
                    (left + 0.125, horizon - 0.075),
                    (left + 0.135, horizon - 0.045),
                    (left + 0.005, horizon - 0.045),
                ]
            ),
            paint(tone),
        )
        for k in range(3):
            canvas.drawPath(
                polygon(
                    [
                        (left + 0.03 + 0.034 * k, horizon - 0.075),
                        (left + 0.045 + 0.034 * k, horizon - 0.075),
                        (left + 0.047 + 0.036 * k, horizon - 0.045),
                        (left + 0.029 + 0.036 * k, horizon - 0.045),
                    ]
                ),
                paint((0.95, 0.93, 0.88)),
            )
    kerb = horizon + 0.10
    canvas.drawRect(
        rect(0, horizon, 1, kerb),
        paint(shader=gradient((0, horizon), (0, kerb), [(0.70, 0.69, 0.67), (0.80, 0.79, 0.76)])),
    )
    slabs = skia.Path()
    for k in np.linspace(-0.6, 1.6, 26):
        slabs.moveTo(0.5 + (float(k) - 0.5) * 0.86, horizon)
        slabs.lineTo(0.5 + (float(k) - 0.5) * 1.18, kerb)
    slabs.moveTo(0, horizon + 0.04)
    slabs.lineTo(1, horizon + 0.04)
    canvas.drawPath(slabs, paint((0.50, 0.49, 0.48), 0.6, stroke=0.002))
    ground(
        canvas,
        rng,
        kerb,
        (0.46, 0.47, 0.49),
        jittered((0.33, 0.34, 0.36), rng, 0.02),
        grain=0.20,
        scale=(0.09, 0.08),
    )
    canvas.drawRect(rect(0, kerb - 0.004, 1, kerb + 0.012), paint((0.58, 0.57, 0.55)))
    y = kerb + between(rng, 0.09, 0.2)
    for x in np.arange(between(rng, -0.2, 0.0), 1.0, 0.24):
        dash = polygon(
            [
                (float(x) + 0.012, y),
                (float(x) + 0.142, y),
                (float(x) + 0.132, y + 0.016),
                (float(x), y + 0.016),
            ]
        )
        canvas.drawPath(dash, paint((0.93, 0.91, 0.82), 0.9))
    if rng.random() < 0.7:
        x = between(rng, 0.05, 0.95)
        canvas.drawPath(
            line([(x, horizon + 0.06), (x, horizon - 0.30)]),
            paint((0.22, 0.25, 0.28), stroke=0.009),
        )
        canvas.drawPath(oval(x, horizon - 0.31, 0.016, 0.02), paint((0.98, 0.95, 0.84)))


def paint_night(canvas: Canvas, rng: np.random.Generator, horizon: float) -> None:
    """A city after rain, at night."""
    sky(canvas, horizon, (0.03, 0.04, 0.12), (0.09, 0.10, 0.26), (0.34, 0.22, 0.40))
    stars = skia.Path()
    for _ in range(60):
        stars.addCircle(
            float(rng.random()),
            float(rng.random()) * horizon * 0.8,
            0.0008 + 0.0016 * float(rng.random()),
        )
    canvas.drawPath(stars, paint((1, 1, 0.95), 0.9))
    x = between(rng, 0.12, 0.88)
    canvas.drawCircle(
        x,
        0.12,
        0.20,
        paint(shader=radial((x, 0.12), 0.20, [(0.9, 0.92, 1.0, 0.35), (0.9, 0.92, 1.0, 0.0)])),
    )
    canvas.drawCircle(x, 0.12, 0.042, paint((0.96, 0.95, 0.86)))
    canvas.drawCircle(x - 0.012, 0.113, 0.009, paint((0.84, 0.83, 0.76)))
    canvas.drawCircle(x + 0.014, 0.128, 0.006, paint((0.84, 0.83, 0.76)))
    _houses(
        canvas, rng, horizon, 0.26, 0.48, air=(0.14, 0.13, 0.28), share=0.86, lit=0.22, blur=0.002
    )
    _houses(canvas, rng, horizon + 0.01, 0.12, 0.34, air=(0.06, 0.06, 0.13), share=0.84, lit=0.38)
    haze(canvas, horizon, 0.08, (0.62, 0.40, 0.46), 0.35)
    ground(
        canvas,
        rng,
        horizon + 0.01,
        (0.17, 0.16, 0.24),
        (0.10, 0.10, 0.16),
        grain=0.35,
        scale=(0.16, 0.08),
        light=(0.45, 0.45, 0.62),
    )
    lamps: list[Rgb] = [(1.0, 0.78, 0.38), (1.0, 0.55, 0.35), (0.45, 0.70, 1.0), (0.95, 0.40, 0.62)]
    for _ in range(11):
        left, colour = float(rng.random()), lamps[int(rng.integers(len(lamps)))]
        long = between(rng, 0.12, 0.40)
        streak = gradient(
            (0, horizon), (0, horizon + long), [fade(colour, 0.55), fade(colour, 0.0)]
        )
        canvas.drawRect(
            rect(left - 0.011, horizon + 0.005, left + 0.011, horizon + long),
            paint(shader=streak, blur=0.007),
        )
        canvas.drawCircle(
            left,
            horizon - between(rng, 0.0, 0.10),
            between(rng, 0.008, 0.018),
            paint(colour, 0.8, blur=0.006),
        )


def _planks(canvas: Canvas, rng: np.random.Generator, horizon: float, base: Rgb, rows: int) -> None:
    """Boards that run towards the viewer, in perspective."""
    canvas.save()
    canvas.clipRect(rect(-0.1, horizon, 1.1, 1.1), True)
    canvas.save()
    canvas.concat(ground_matrix(horizon))
    for k in range(rows):
        left, wide = k / rows, 1 / rows
        ends = sorted([0.0, *(between(rng, 0.05, 0.95) for _ in range(2)), 1.05])
        for start, stop in pairwise(ends):
            tone = shade(base, between(rng, 0.84, 1.06))
            canvas.drawRect(rect(left, start, left + wide, stop), paint(tone))
            canvas.drawRect(rect(left, start, left + wide, start + 0.004), paint(shade(base, 0.45)))
        canvas.drawRect(rect(left, 0, left + wide * 0.04, 1.05), paint(shade(base, 0.45)))
    canvas.restore()
    ground_noise(canvas, rng, horizon, shade(base, 0.4), (0.03, 0.9), 0.32, 2.4)
    middle = horizon + (1 - horizon) * 0.4
    veil(canvas, horizon, middle, (1, 1, 1, 0.26), (1, 1, 1, 0.0))
    veil(canvas, middle, 1.0, (0, 0, 0, 0.0), (0, 0, 0, 0.22))
    canvas.restore()


def paint_kitchen(canvas: Canvas, rng: np.random.Generator, horizon: float) -> None:
    """A wooden worktop before a tiled wall with a shelf."""
    glaze = jittered(
        [(0.88, 0.92, 0.90), (0.93, 0.90, 0.82), (0.78, 0.87, 0.90), (0.92, 0.86, 0.84)][
            int(rng.integers(4))
        ],
        rng,
        0.02,
    )
    canvas.drawRect(rect(0, 0, 1, horizon + 0.01), paint(shade(glaze, 0.78)))
    step, shift = between(rng, 0.085, 0.11), between(rng, 0, 0.08)
    for y in np.arange(horizon - 0.006, -0.1, -step):
        for x in np.arange(-shift, 1.0, step):
            left, foot = float(x), float(y)
            tile = box(left + 0.002, foot - step + 0.002, left + step - 0.002, foot - 0.002, 0.005)
            canvas.drawPath(tile, paint(shade(glaze, between(rng, 0.95, 1.02))))
            gleam = line(
                [(left + 0.012, foot - step + 0.010), (left + step - 0.02, foot - step + 0.010)],
                soft=False,
            )
            canvas.drawPath(gleam, paint((1, 1, 1), 0.5, stroke=0.003))
    glow = radial(
        (between(rng, 0.2, 0.8), 0.1),
        0.8,
        [(1, 0.98, 0.9, 0.45), (1, 0.98, 0.9, 0.0), (0.1, 0.1, 0.2, 0.16)],
        [0, 0.6, 1],
    )
    canvas.drawRect(rect(0, 0, 1, horizon), paint(shader=glow))
    shelf = between(rng, 0.20, 0.26)
    _jars(canvas, rng, shelf)
    canvas.drawRect(
        rect(0.06, shelf + 0.018, 0.94, shelf + 0.04), paint((0, 0, 0), 0.22, blur=0.01)
    )
    canvas.drawPath(
        box(0.05, shelf, 0.95, shelf + 0.024, 0.004),
        paint(
            shader=gradient(
                (0, shelf), (0, shelf + 0.024), [(0.72, 0.52, 0.34), (0.50, 0.34, 0.21)]
            )
        ),
    )
    for x in (0.14, 0.86):
        canvas.drawPath(
            polygon(
                [
                    (x - 0.008, shelf + 0.024),
                    (x + 0.008, shelf + 0.024),
                    (x + 0.004, shelf + 0.07),
                    (x - 0.004, shelf + 0.07),
                ]
            ),
            paint((0.30, 0.26, 0.24)),
        )
    haze(canvas, horizon, 0.03, (0.1, 0.08, 0.06), 0.30)
    _planks(canvas, rng, horizon, jittered((0.72, 0.51, 0.32), rng, 0.04), 17)


def _jars(canvas: Canvas, rng: np.random.Generator, shelf: float) -> None:
    fillings: list[Rgb] = [
        (0.78, 0.52, 0.26),
        (0.88, 0.80, 0.62),
        (0.62, 0.26, 0.20),
        (0.44, 0.54, 0.30),
        (0.90, 0.72, 0.34),
    ]
    x = between(rng, 0.08, 0.12)
    while x < 0.86:
        wide, tall = between(rng, 0.05, 0.08), between(rng, 0.07, 0.12)
        if rng.random() < 0.25:
            x += wide
            continue
        tone = fillings[int(rng.integers(len(fillings)))]
        canvas.drawPath(
            box(x, shelf - tall, x + wide, shelf, 0.012),
            paint((0.88, 0.94, 0.95), 0.85, blur=0.0015),
        )
        canvas.drawPath(
            box(x + 0.004, shelf - tall * 0.72, x + wide - 0.004, shelf - 0.003, 0.010),
            paint(tone, blur=0.0015),
        )
        canvas.drawPath(
            box(x + 0.002, shelf - tall - 0.014, x + wide - 0.002, shelf - tall + 0.006, 0.004),
            paint((0.62, 0.45, 0.28), blur=0.0015),
        )
        canvas.drawRect(
            rect(x + wide * 0.16, shelf - tall * 0.9, x + wide * 0.26, shelf - 0.012),
            paint((1, 1, 1), 0.5, blur=0.002),
        )
        x += wide + between(rng, 0.012, 0.04)


def paint_library(canvas: Canvas, rng: np.random.Generator, horizon: float) -> None:
    """Shelves of books, a wooden floor, a rug."""
    wood = jittered((0.40, 0.25, 0.15), rng, 0.03)
    canvas.drawRect(rect(0, 0, 1, horizon + 0.02), paint(shade(wood, 0.5)))
    bays, rows = 3, 4
    tall = (horizon - 0.03) / rows
    for row in range(rows):
        foot = horizon - 0.03 - tall * (rows - 1 - row) - 0.012
        _books(canvas, rng, foot, tall - 0.02)
        canvas.drawRect(rect(0, foot, 1, foot + 0.014), paint(shade(wood, 1.1)))
        canvas.drawRect(rect(0, foot + 0.009, 1, foot + 0.014), paint(shade(wood, 0.8)))
        veil(canvas, foot + 0.014, foot + 0.04, (0, 0, 0, 0.5), (0, 0, 0, 0.0))
    for bay in range(bays + 1):
        x = bay / bays
        canvas.drawRect(
            rect(x - 0.014, 0, x + 0.014, horizon),
            paint(
                shader=gradient(
                    (x - 0.014, 0),
                    (x + 0.014, 0),
                    [shade(wood, 0.8), shade(wood, 1.15), shade(wood, 0.7)],
                )
            ),
        )
    canvas.drawRect(rect(0, horizon - 0.032, 1, horizon), paint(shade(wood, 0.85)))
    lamp = radial(
        (between(rng, 0.25, 0.75), 0.1),
        0.75,
        [(1.0, 0.86, 0.58, 0.36), (1.0, 0.86, 0.58, 0.0), (0.05, 0.03, 0.08, 0.34)],
        [0, 0.55, 1],
    )
    canvas.drawRect(rect(0, 0, 1, horizon), paint(shader=lamp))
    _planks(canvas, rng, horizon, jittered((0.58, 0.39, 0.25), rng, 0.03), 22)
    rug: Rgb = [(0.55, 0.18, 0.16), (0.18, 0.30, 0.44), (0.24, 0.40, 0.34)][int(rng.integers(3))]
    y = (horizon + 1.0) / 2 + 0.03
    for size, tone in (
        (1.0, rug),
        (0.9, (0.88, 0.78, 0.58)),
        (0.86, shade(rug, 0.85)),
        (0.55, mix(rug, (0.88, 0.78, 0.58), 0.4)),
        (0.5, rug),
    ):
        canvas.drawPath(oval(0.5, y, 0.46 * size, (1 - horizon) * 0.36 * size), paint(tone))
    veil(canvas, horizon, horizon + 0.05, (0, 0, 0, 0.4), (0, 0, 0, 0.0))


def _books(canvas: Canvas, rng: np.random.Generator, foot: float, room: float) -> None:
    """One shelf of spines of all thicknesses."""
    covers: list[Rgb] = [
        (0.55, 0.15, 0.14),
        (0.15, 0.28, 0.42),
        (0.20, 0.36, 0.24),
        (0.72, 0.56, 0.30),
        (0.40, 0.24, 0.36),
        (0.82, 0.76, 0.64),
        (0.26, 0.26, 0.30),
        (0.66, 0.36, 0.20),
    ]
    spines, shine, dark, gold = [skia.Path() for _ in covers], skia.Path(), skia.Path(), skia.Path()
    x = 0.0
    for pick, thick, rise, gap in rng.random((90, 4)).tolist():
        if x > 1.0:
            break
        wide, high = 0.012 + 0.018 * thick, room * (0.62 + 0.33 * rise)
        if gap < 0.05:
            x += 0.03
            continue
        spines[int(pick * len(covers))].addRect(rect(x, foot - high, x + wide - 0.001, foot))
        shine.addRect(rect(x + wide * 0.3, foot - high, x + wide * 0.55, foot))
        dark.addRect(rect(x + wide * 0.78, foot - high, x + wide, foot))
        if wide > 0.018:
            gold.addRect(rect(x + 0.002, foot - high * 0.8, x + wide - 0.003, foot - high * 0.74))
        x += wide
    for path, cover in zip(spines, covers, strict=True):
        canvas.drawPath(path, paint(cover))
    canvas.drawPath(shine, paint((1, 1, 1), 0.14))
    canvas.drawPath(dark, paint((0, 0, 0), 0.34))
    canvas.drawPath(gold, paint((0.90, 0.76, 0.42), 0.8))
