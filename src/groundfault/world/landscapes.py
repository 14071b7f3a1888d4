"""Contexts out of doors: meadow, snow, desert, beach, reef."""

from __future__ import annotations

import numpy as np

from groundfault.world.backdrop import (
    angle_point,
    clouds,
    fall,
    ground,
    ground_noise,
    haze,
    pines,
    ridge,
    scatter,
    sky,
    sun,
    tufts,
)
from groundfault.world.canvas import Canvas, Rgb, gradient, mix, paint, shade, skia
from groundfault.world.forms import between, jittered
from groundfault.world.shapes import blob, limb, line, oval, polygon

__all__ = ["paint_beach", "paint_desert", "paint_meadow", "paint_reef", "paint_snow"]


def paint_meadow(canvas: Canvas, rng: np.random.Generator, horizon: float) -> None:
    """Rolling pasture with a line of trees and flowers."""
    sky(
        canvas,
        horizon,
        jittered((0.36, 0.62, 0.88), rng, 0.04),
        (0.68, 0.84, 0.95),
        (0.90, 0.95, 0.95),
    )
    clouds(canvas, rng, 0.05, horizon - 0.22, int(rng.integers(2, 5)))
    ridge(canvas, rng, horizon - 0.10, 0.035, (0.58, 0.70, 0.78), (0.70, 0.80, 0.80))
    ridge(canvas, rng, horizon - 0.05, 0.025, (0.50, 0.67, 0.52), (0.62, 0.76, 0.56))
    for x in np.sort(rng.uniform(-0.02, 1.02, 16)):
        r = between(rng, 0.018, 0.042)
        tone = mix((0.24, 0.44, 0.22), (0.42, 0.58, 0.34), float(rng.random()))
        canvas.drawPath(oval(float(x), horizon - r * 0.5, r, r * 0.95), paint(tone, blur=0.004))
        canvas.drawPath(
            oval(float(x) - r * 0.3, horizon - r * 0.85, r * 0.5, r * 0.4),
            paint(shade(tone, 1.2), 0.6, blur=0.005),
        )
    ground(
        canvas,
        rng,
        horizon,
        (0.62, 0.74, 0.36),
        jittered((0.30, 0.52, 0.16), rng, 0.03),
        grain=0.30,
        light=(0.85, 0.90, 0.40),
    )
    tufts(canvas, rng, horizon, 120, [(0.20, 0.40, 0.10), (0.40, 0.62, 0.20), (0.58, 0.72, 0.28)])
    petals: list[Rgb] = [
        [(0.98, 0.95, 0.90)],
        [(0.98, 0.84, 0.25)],
        [(0.88, 0.35, 0.42), (0.70, 0.48, 0.85)],
    ][int(rng.integers(3))]
    for _ in range(int(rng.integers(18, 40))):
        near = float(rng.random()) ** 0.8
        x, y, r = (
            float(rng.random()),
            horizon + 0.05 + (0.94 - horizon) * near,
            0.003 + 0.007 * near,
        )
        for k in range(5):
            px, py = angle_point(x, y, r, 72 * k)
            canvas.drawCircle(px, py, r * 0.62, paint(petals[k % len(petals)]))
        canvas.drawCircle(x, y, r * 0.5, paint((0.95, 0.72, 0.15)))


def paint_snow(canvas: Canvas, rng: np.random.Generator, horizon: float) -> None:
    """Mountains, firs and drifts."""
    sky(
        canvas,
        horizon,
        jittered((0.50, 0.66, 0.82), rng, 0.04),
        (0.78, 0.86, 0.93),
        (0.93, 0.94, 0.96),
    )
    peaks = ridge(
        canvas,
        rng,
        horizon - 0.20,
        0.11,
        (0.62, 0.70, 0.80),
        (0.80, 0.86, 0.92),
        points=8,
        soft=False,
    )
    for (ax, ay), (bx, by), (cx, cy) in zip(peaks, peaks[1:], peaks[2:], strict=False):
        if by < ay and by < cy:
            left, right = 0.45, 0.40
            cap = [
                (bx, by),
                (bx + (cx - bx) * right, by + (cy - by) * right),
                (bx + (cx - bx) * 0.14, by + (cy - by) * 0.26 + 0.015),
                (bx - 0.005, by + 0.055),
                (bx + (ax - bx) * 0.18, by + (ay - by) * 0.26),
                (bx + (ax - bx) * left, by + (ay - by) * left),
            ]
            canvas.drawPath(polygon(cap), paint((0.97, 0.98, 1.0), 0.95, blur=0.002))
    ridge(canvas, rng, horizon - 0.05, 0.03, (0.80, 0.86, 0.93), (0.90, 0.93, 0.97))
    pines(canvas, rng, horizon + 0.01, 0.11, 26, (0.30, 0.42, 0.44), snow=True, blur=0.002)
    haze(canvas, horizon - 0.02, 0.12, (0.95, 0.97, 1.0), 0.5)
    ground(
        canvas, rng, horizon, (0.92, 0.945, 0.98), (0.97, 0.98, 1.0), grain=0.09, scale=(0.30, 0.18)
    )
    for _ in range(5):
        y = between(rng, horizon + 0.05, 0.95)
        x, long = between(rng, -0.1, 0.9), between(rng, 0.2, 0.5)
        drift = blob(
            [
                (x, y),
                (x + long * 0.4, y - 0.018),
                (x + long, y + 0.004),
                (x + long * 0.5, y + 0.022),
            ]
        )
        canvas.drawPath(drift, paint((0.70, 0.78, 0.90), 0.40, blur=0.008))
        canvas.drawPath(
            line([(x + 0.02, y - 0.003), (x + long * 0.4, y - 0.018), (x + long * 0.9, y)]),
            paint((1, 1, 1), 0.9, stroke=0.005, blur=0.002),
        )
    flakes = skia.Path()
    for _ in range(70):
        flakes.addCircle(
            float(rng.random()), float(rng.random()), 0.0012 + 0.0028 * float(rng.random())
        )
    canvas.drawPath(flakes, paint((1, 1, 1), 0.85))


def paint_desert(canvas: Canvas, rng: np.random.Generator, horizon: float) -> None:
    """Dunes under a hot sky."""
    sky(
        canvas,
        horizon,
        jittered((0.30, 0.58, 0.82), rng, 0.04),
        (0.70, 0.82, 0.86),
        (0.98, 0.88, 0.68),
    )
    sun(canvas, between(rng, 0.12, 0.88), between(rng, 0.08, 0.2), 0.035, (1.0, 0.90, 0.62))
    for _ in range(int(rng.integers(1, 3))):
        x, wide, top = (
            between(rng, 0.0, 0.9),
            between(rng, 0.08, 0.2),
            horizon - between(rng, 0.07, 0.14),
        )
        mesa = polygon(
            [
                (x - wide * 0.15, horizon),
                (x, top),
                (x + wide, top + 0.008),
                (x + wide * 1.15, horizon),
            ]
        )
        canvas.drawPath(mesa, paint((0.80, 0.58, 0.46), blur=0.003))
        canvas.drawPath(
            polygon(
                [
                    (x + wide * 0.6, top + 0.005),
                    (x + wide, top + 0.008),
                    (x + wide * 1.15, horizon),
                    (x + wide * 0.7, horizon),
                ]
            ),
            paint((0.64, 0.44, 0.38), 0.6, blur=0.004),
        )
    ridge(canvas, rng, horizon - 0.03, 0.03, (0.93, 0.76, 0.52), (0.88, 0.68, 0.43), points=5)
    ground(
        canvas,
        rng,
        horizon + 0.01,
        (0.93, 0.77, 0.52),
        jittered((0.84, 0.62, 0.34), rng, 0.03),
        grain=0.24,
        scale=(0.55, 0.05),
        light=(1.0, 0.93, 0.72),
    )
    for k in range(3):
        y = horizon + 0.035 + 0.11 * k + between(rng, 0, 0.04)
        x, wide, tall = (
            between(rng, -0.1, 0.8),
            between(rng, 0.35, 0.6) * (0.7 + 0.4 * k),
            0.035 + 0.02 * k,
        )
        crest = [
            (x - wide * 0.7, y + 0.012),
            (x - wide * 0.3, y - tall * 0.4),
            (x, y - tall),
            (x + wide * 0.12, y - tall * 0.3),
            (x + wide * 0.05, y + tall * 0.7),
        ]
        lee = [
            (x, y - tall),
            (x + wide * 0.35, y - tall * 0.2),
            (x + wide * 0.8, y + tall * 0.55),
            (x + wide * 0.05, y + tall * 0.75),
            (x + wide * 0.12, y - tall * 0.3),
        ]
        lit = gradient(
            (0, y - tall), (0, y + tall * 0.7), [(1.0, 0.90, 0.68, 0.85), (0.97, 0.84, 0.60, 0.0)]
        )
        dark = gradient(
            (x, y - tall),
            (x + wide * 0.4, y + tall),
            [(0.58, 0.36, 0.20, 0.60), (0.70, 0.48, 0.28, 0.0)],
        )
        canvas.drawPath(blob(crest, 0.8), paint(shader=lit, blur=0.003))
        canvas.drawPath(blob(lee, 0.8), paint(shader=dark, blur=0.003))
    scatter(
        canvas,
        rng,
        horizon,
        22,
        0.010,
        [(0.66, 0.50, 0.36), (0.78, 0.62, 0.45), (0.55, 0.42, 0.32)],
    )
    tufts(canvas, rng, horizon + 0.05, 12, [(0.52, 0.46, 0.22), (0.66, 0.56, 0.28)], 0.03)


def paint_beach(canvas: Canvas, rng: np.random.Generator, horizon: float) -> None:
    """Sea, surf, sand and a palm."""
    sky(
        canvas,
        horizon,
        jittered((0.26, 0.58, 0.88), rng, 0.04),
        (0.62, 0.83, 0.96),
        (0.90, 0.95, 0.96),
    )
    clouds(canvas, rng, 0.06, horizon - 0.2, int(rng.integers(1, 4)))
    far = horizon - 0.07
    shore = horizon + 0.075
    fall(canvas, far, shore + 0.03, (0.10, 0.40, 0.62), (0.16, 0.60, 0.72), (0.56, 0.84, 0.82))
    glints = skia.Path()
    for _ in range(90):
        near = float(rng.random())
        x, y, long = float(rng.random()), far + (shore - far) * near**1.4, 0.006 + 0.03 * near
        glints.moveTo(x, y)
        glints.lineTo(x + long, y)
    canvas.drawPath(glints, paint((0.92, 0.98, 1.0), 0.55, stroke=0.0022))
    edge = [(float(x), shore + between(rng, -0.012, 0.012)) for x in np.linspace(-0.1, 1.1, 9)]
    sand = skia.Path()
    sand.addPath(blob([(-0.3, 1.3), (-0.3, shore), *edge, (1.3, shore), (1.3, 1.3)]))
    canvas.save()
    canvas.clipPath(sand, True)
    ground(
        canvas,
        rng,
        shore - 0.03,
        (0.93, 0.86, 0.70),
        jittered((0.88, 0.76, 0.53), rng, 0.03),
        grain=0.20,
        scale=(0.25, 0.12),
        light=(1.0, 0.97, 0.86),
    )
    canvas.drawPath(line(edge), paint((0.60, 0.50, 0.36), 0.55, stroke=0.05, blur=0.012))
    canvas.restore()
    canvas.drawPath(
        line([(x, y - 0.004) for x, y in edge]), paint((1, 1, 1), 0.95, stroke=0.012, blur=0.0015)
    )
    canvas.drawPath(
        line([(x, y - 0.03 + between(rng, -0.004, 0.004)) for x, y in edge]),
        paint((1, 1, 1), 0.6, stroke=0.006, blur=0.002),
    )
    _palm(
        canvas,
        rng,
        between(rng, 0.02, 0.14) if rng.random() < 0.5 else between(rng, 0.86, 0.98),
        shore + 0.03,
    )
    scatter(
        canvas,
        rng,
        shore + 0.02,
        24,
        0.008,
        [(0.95, 0.90, 0.84), (0.90, 0.70, 0.62), (0.75, 0.66, 0.55)],
    )


def _palm(canvas: Canvas, rng: np.random.Generator, x: float, y: float) -> None:
    lean = 0.10 if x < 0.5 else -0.10
    top = (x + lean, y - 0.40)
    canvas.drawPath(
        limb([(x, y), (x + lean * 0.3, y - 0.2), top], [0.034, 0.024, 0.017]),
        paint((0.50, 0.38, 0.27), blur=0.002),
    )
    for k in range(8):
        degrees = -110 + 220 * k / 7 + between(rng, -10, 10)
        mid, end = angle_point(*top, 0.09, degrees * 0.8), angle_point(*top, 0.17, degrees)
        end = (end[0], end[1] + 0.05)
        tone = mix((0.16, 0.40, 0.18), (0.34, 0.56, 0.24), float(rng.random()))
        canvas.drawPath(limb([top, mid, end], [0.012, 0.036, 0.004]), paint(tone, blur=0.002))


def paint_reef(canvas: Canvas, rng: np.random.Generator, horizon: float) -> None:
    """Under water: light shafts, coral, a sandy bed."""
    fall(
        canvas,
        0.0,
        horizon + 0.1,
        jittered((0.36, 0.80, 0.88), rng, 0.04),
        (0.10, 0.54, 0.76),
        (0.05, 0.36, 0.60),
    )
    for _ in range(9):
        x, wide, lean = between(rng, -0.1, 1.0), between(rng, 0.02, 0.08), between(rng, -0.05, 0.25)
        shaft = polygon(
            [
                (x, -0.02),
                (x + wide, -0.02),
                (x + wide * 2.0 + lean * 0.7, 0.6),
                (x + lean * 0.7 - wide, 0.6),
            ]
        )
        glow = gradient((0, 0), (0, 0.6), [(0.85, 1.0, 1.0, 0.24), (0.85, 1.0, 1.0, 0.0)])
        canvas.drawPath(shaft, paint(shader=glow))
    ridge(canvas, rng, horizon - 0.06, 0.07, (0.07, 0.40, 0.58), (0.06, 0.36, 0.54), points=9)
    ridge(canvas, rng, horizon - 0.0, 0.04, (0.07, 0.34, 0.50), (0.16, 0.44, 0.54), points=8)
    bed = horizon + 0.04
    ground(
        canvas,
        rng,
        bed,
        (0.34, 0.58, 0.62),
        jittered((0.80, 0.76, 0.58), rng, 0.03),
        grain=0.22,
        scale=(0.2, 0.1),
    )
    ground_noise(canvas, rng, bed, (0.85, 1.0, 0.95), (0.13, 0.11), 0.34, 4.5, 9)
    haze(canvas, bed, 0.10, (0.12, 0.46, 0.62), 0.85)
    for side in (0.0, 1.0):
        for _ in range(5):
            x = side + between(rng, -0.06, 0.22) * (1 if side == 0 else -1)
            _coral(canvas, rng, x, bed + between(rng, 0.02, 0.16))
    bubbles = skia.Path()
    for _ in range(18):
        bubbles.addCircle(
            float(rng.random()), float(rng.random()) * 0.9, between(rng, 0.003, 0.010)
        )
    canvas.drawPath(bubbles, paint((0.90, 1.0, 1.0), 0.65, stroke=0.0022))


def _coral(canvas: Canvas, rng: np.random.Generator, x: float, y: float) -> None:
    hues: list[Rgb] = [
        (0.92, 0.38, 0.42),
        (0.95, 0.60, 0.30),
        (0.72, 0.38, 0.72),
        (0.95, 0.78, 0.42),
        (0.36, 0.66, 0.48),
    ]
    colour, kind, size = (
        hues[int(rng.integers(len(hues)))],
        int(rng.integers(3)),
        between(rng, 0.06, 0.12),
    )
    if kind == 0:  # branching
        for k in range(6):
            turn = -46 + 92 * k / 5 + between(rng, -8, 8)
            mid, end = (
                angle_point(x, y, size * 0.6, turn * 0.5),
                angle_point(x, y, size * between(rng, 0.9, 1.25), turn),
            )
            canvas.drawPath(
                limb([(x, y), mid, end], [0.020, 0.017, 0.013]),
                paint(shade(colour, between(rng, 0.8, 1.1))),
            )
            canvas.drawPath(
                line([mid, end]), paint(shade(colour, 1.4), 0.5, stroke=0.004, blur=0.001)
            )
    elif kind == 1:  # brain
        r = size * 0.6
        canvas.drawPath(oval(x, y - r * 0.6, r, r * 0.8), paint(shade(colour, 0.85)))
        for k in range(4):
            canvas.drawPath(
                line(
                    [
                        (x - r * 0.8, y - r * (0.2 + 0.25 * k)),
                        (x - r * 0.2, y - r * (0.35 + 0.25 * k)),
                        (x + r * 0.3, y - r * (0.2 + 0.25 * k)),
                        (x + r * 0.8, y - r * (0.3 + 0.22 * k)),
                    ]
                ),
                paint(shade(colour, 1.3), 0.7, stroke=0.005),
            )
    else:  # weed
        for k in range(4):
            sway = between(rng, -0.03, 0.03)
            stem = [
                (x + 0.014 * k, y),
                (x + 0.014 * k + sway, y - size * 0.7),
                (x + 0.014 * k - sway, y - size * 1.5),
                (x + 0.014 * k + sway, y - size * 2.0),
            ]
            canvas.drawPath(
                limb(stem, [0.010, 0.016, 0.013, 0.003]),
                paint(mix((0.16, 0.48, 0.26), (0.44, 0.62, 0.24), float(rng.random()))),
            )
