"""Surfaces: patterns so typical of one category that they stand for it.

Each painter covers the square from -1.6 to 1.6 of a form's own units with an opaque pattern;
the renderer bends it over the form. The name of a surface is the concept that it suggests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from groundfault.world.canvas import Canvas, Path, Rgb, mix, paint, shade, skia
from groundfault.world.forms import between, jittered
from groundfault.world.shapes import Point, blob, box, limb, line, oval

__all__ = ["SURFACES"]

REACH = 1.5
Painter = Callable[[Canvas, np.random.Generator], None]


def _ground(canvas: Canvas, colour: Rgb) -> None:
    canvas.drawRect(skia.Rect.MakeLTRB(-2.5, -2.5, 2.5, 2.5), paint(colour))


class _Cell(NamedTuple):
    """One cell of a honeycomb."""

    column: int
    row: int
    centre: Point
    corners: list[Point]
    chance: list[float]
    """Three numbers from 0 to 1 of its own."""


def _cells(
    canvas: Canvas, rng: np.random.Generator, step: float, jitter: float, shrink: float = 1.0
) -> Iterator[_Cell]:
    """A honeycomb of side-by-side cells over what the canvas shows.

    A corner lies between three neighbouring centres, so jittered centres still give cells
    without gaps. The grid does not depend on the canvas: a part of it is left out, that is all.
    """
    rows, columns = int(2 * REACH / (step * 0.866)) + 4, int(2 * REACH / step) + 4
    grid = np.empty((rows, columns, 2))
    grid[..., 0] = -REACH - step + step * np.arange(columns)
    grid[1::2, :, 0] += step / 2
    grid[..., 1] = (-REACH - step + step * 0.866 * np.arange(rows))[:, None]
    grid += rng.uniform(-jitter, jitter, grid.shape) * step
    chance = rng.random((rows, columns, 3))
    seen = canvas.getLocalClipBounds().makeOutset(step * 0.6, step * 0.6)
    inside = (grid[..., 0] > seen.left()) & (grid[..., 0] < seen.right())
    inside &= (grid[..., 1] > seen.top()) & (grid[..., 1] < seen.bottom())
    inside[[0, -1]] = inside[:, [0, -1]] = False
    # The six neighbours in turn; odd rows are shifted by half a step.
    odd = (np.arange(rows) % 2)[:, None]
    row, column = np.nonzero(inside)
    left, right = column - 1 + odd[row, 0], column + odd[row, 0]
    ring = np.stack(
        [
            grid[row - 1, left],
            grid[row - 1, right],
            grid[row, column + 1],
            grid[row + 1, right],
            grid[row + 1, left],
            grid[row, column - 1],
        ],
        axis=1,
    )
    centre = grid[row, column][:, None]
    corners = centre + ((ring + np.roll(ring, -1, axis=1) + centre) / 3 - centre) * shrink
    yield from map(
        _Cell,
        column.tolist(),
        row.tolist(),
        grid[row, column].tolist(),
        corners.tolist(),
        chance[row, column].tolist(),
    )


class _Tones:
    """Paths sorted by how dark they are, so that each tone is one stroke of the brush."""

    def __init__(self, base: Rgb, low: float, high: float, count: int = 5) -> None:
        self.tones = [shade(base, low + (high - low) * (i + 0.5) / count) for i in range(count)]
        self.paths = [skia.Path() for _ in self.tones]

    def __getitem__(self, chance: float) -> Path:
        return self.paths[int(chance * len(self.paths))]

    def draw(self, canvas: Canvas) -> None:
        for tone, path in zip(self.tones, self.paths, strict=True):
            canvas.drawPath(path, paint(tone))


def _add_polygon(path: Path, points: list[Point]) -> None:
    path.addPoly([skia.Point(x, y) for x, y in points], True)


def _zebra(canvas: Canvas, rng: np.random.Generator) -> None:
    _ground(canvas, (0.95, 0.94, 0.91))
    black, gap = (0.09, 0.08, 0.09), between(rng, 0.16, 0.21)
    canvas.rotate(between(rng, -14, 14))
    brush = paint(black)
    x, phase = -REACH - 0.3, between(rng, 0, 6)
    heights = np.linspace(-REACH, REACH, 7)
    while x < REACH + 0.3:
        wave = [(x + 0.07 * math.sin(phase + 2.2 * y + 0.4 * x), float(y)) for y in heights]
        widths = [gap * between(rng, 0.36, 0.64) for _ in wave]
        canvas.drawPath(limb(wave, widths), brush)
        if rng.random() < 0.55:  # a stripe that forks
            y0 = between(rng, -1.0, 0.6)
            fork = [(x, y0), (x + gap * 0.5, y0 + 0.25), (x + gap * 0.55, y0 + 0.7)]
            canvas.drawPath(limb(fork, [gap * 0.3, gap * 0.3, 0.01]), brush)
        x += gap * between(rng, 0.92, 1.12)
        phase += between(rng, -0.25, 0.25)


def _giraffe(canvas: Canvas, rng: np.random.Generator) -> None:
    _ground(canvas, (0.95, 0.85, 0.64))
    canvas.rotate(between(rng, -20, 20))
    patches, hearts = _Tones(jittered((0.58, 0.31, 0.12), rng, 0.05), 0.80, 1.14), skia.Path()
    for cell in _cells(canvas, rng, between(rng, 0.30, 0.38), 0.24, 0.84):
        patches[cell.chance[0]].addPath(blob(cell.corners, 0.35))
        hearts.addPath(oval(*cell.centre, 0.07, 0.06))
    patches.draw(canvas)
    canvas.drawPath(hearts, paint((0.26, 0.12, 0.04), 0.35, blur=0.03))


def _tiger(canvas: Canvas, rng: np.random.Generator) -> None:
    _ground(canvas, jittered((0.94, 0.55, 0.15), rng, 0.04))
    for y in (-1.1, 1.15):
        canvas.drawOval(
            skia.Rect.MakeLTRB(-2, y - 0.4, 2, y + 0.4), paint((0.98, 0.88, 0.70), 0.5, blur=0.2)
        )
    canvas.rotate(between(rng, -10, 10))
    brush, x = paint((0.10, 0.07, 0.05)), -REACH
    while x < REACH:
        for side in (-1, 1):
            reach, lean = between(rng, 0.55, 0.95), between(rng, -0.10, 0.10)
            y0 = side * between(rng, 0.72, 0.85)
            bow = between(rng, -0.06, 0.06)
            spine = [
                (x, y0),
                (x + lean * 0.5 + bow, y0 - side * reach * 0.4),
                (x + lean, y0 - side * reach),
            ]
            canvas.drawPath(limb(spine, [0.10, between(rng, 0.07, 0.11), 0.008]), brush)
            if rng.random() < 0.6:
                twin = [(px + 0.085, py) for px, py in spine[:2]] + [
                    (x + lean + 0.05, y0 - side * reach * 0.75)
                ]
                canvas.drawPath(limb(twin, [0.05, 0.045, 0.006]), brush)
            canvas.drawPath(limb([(x, y0), (x + bow, y0 + side * 0.5)], [0.09, 0.06]), brush)
        x += between(rng, 0.19, 0.27)


def _ladybug(canvas: Canvas, rng: np.random.Generator) -> None:
    _ground(canvas, jittered((0.83, 0.10, 0.08), rng, 0.04))
    step = between(rng, 0.46, 0.56)
    spots, glints = skia.Path(), skia.Path()
    for cell in _cells(canvas, rng, step, 0.08):
        (x, y), radius = cell.centre, step * (0.24 + 0.07 * cell.chance[0])
        spots.addPath(oval(x, y, radius, radius * 0.95))
        glints.addPath(oval(x - radius * 0.3, y - radius * 0.4, radius * 0.3, radius * 0.16, -25))
    canvas.drawPath(spots, paint((0.07, 0.06, 0.06)))
    canvas.drawPath(glints, paint((1, 1, 1), 0.28, blur=0.01))


def _watermelon(canvas: Canvas, rng: np.random.Generator) -> None:
    light = jittered((0.55, 0.75, 0.32), rng, 0.03)
    _ground(canvas, light)
    canvas.rotate(between(rng, -12, 12))
    dark, gap = jittered((0.08, 0.30, 0.12), rng, 0.02), between(rng, 0.27, 0.34)
    thin = paint(mix(light, dark, 0.45), stroke=0.012)
    x = -REACH
    while x < REACH:
        heights = np.linspace(-REACH, REACH, 13)
        wave = [(x + between(rng, -0.035, 0.035), float(y)) for y in heights]
        canvas.drawPath(limb(wave, [gap * between(rng, 0.34, 0.58) for _ in wave]), paint(dark))
        for px, py in wave[::2]:
            side = 1 if rng.random() < 0.5 else -1
            vein = [
                (px, py),
                (px + side * gap * 0.36, py + 0.05),
                (px + side * gap * 0.5, py + 0.13),
            ]
            canvas.drawPath(line(vein), thin)
        x += gap


def _strawberry(canvas: Canvas, rng: np.random.Generator) -> None:
    red = jittered((0.84, 0.11, 0.13), rng, 0.03)
    _ground(canvas, red)
    step = between(rng, 0.20, 0.25)
    pits, seeds = skia.Path(), skia.Path()
    for cell in _cells(canvas, rng, step, 0.07):
        x, y = cell.centre
        pits.addPath(oval(x, y, step * 0.19, step * 0.25))
        seeds.addPath(oval(x, y - 0.006, step * 0.09, step * 0.15))
    canvas.drawPath(pits, paint(shade(red, 0.6)))
    canvas.drawPath(seeds, paint((0.97, 0.83, 0.42)))


def _brick(canvas: Canvas, rng: np.random.Generator) -> None:
    _ground(canvas, (0.80, 0.77, 0.72))
    high = between(rng, 0.17, 0.22)
    long = high * 2.3
    bricks, gleams, flaws = (
        _Tones(jittered((0.64, 0.27, 0.19), rng, 0.04), 0.72, 1.12, 6),
        skia.Path(),
        skia.Path(),
    )
    ys, xs = np.arange(-REACH, REACH, high).tolist(), np.arange(-REACH - long, REACH, long).tolist()
    chance = rng.random((len(ys), len(xs), 4)).tolist()
    for i, top in enumerate(ys):
        for j, x in enumerate(xs):
            left, (tone, across, down, flaw) = x + (long / 2 if i % 2 else 0.0), chance[i][j]
            bricks[tone].addRect(
                skia.Rect.MakeLTRB(left, top, left + long - 0.028, top + high - 0.028)
            )
            gleams.addRect(skia.Rect.MakeXYWH(left + 0.008, top + 0.008, long - 0.05, 0.010))
            flaws.addOval(
                skia.Rect.MakeXYWH(
                    left + across * (long - 0.1),
                    top + 0.03 + down * (high - 0.09),
                    0.02 + 0.06 * flaw,
                    0.022,
                )
            )
    bricks.draw(canvas)
    canvas.drawPath(gleams, paint((1.0, 0.80, 0.70), 0.30))
    canvas.drawPath(flaws, paint((0.30, 0.10, 0.06), 0.40))


def _cow(canvas: Canvas, rng: np.random.Generator) -> None:
    _ground(canvas, (0.96, 0.95, 0.92))
    black = (0.10, 0.09, 0.09) if rng.random() < 0.7 else (0.36, 0.20, 0.11)
    for cell in _cells(canvas, rng, between(rng, 0.52, 0.62), 0.22):
        if (cell.column + 2 * cell.row) % 3 == 0:
            continue
        (x, y), size, turn = cell.centre, 0.17 + 0.13 * cell.chance[0], 6 * cell.chance[1]
        wobble = 12 * cell.chance[2]
        edge = []
        for k in range(9):
            far = size * (0.92 + 0.22 * math.sin(wobble + 2.1 * k) + 0.10 * math.sin(3.7 * k))
            edge.append(
                (x + far * math.cos(turn + k * 0.698), y + far * 0.85 * math.sin(turn + k * 0.698))
            )
        canvas.drawPath(blob(edge), paint(black))


def _leopard(canvas: Canvas, rng: np.random.Generator) -> None:
    _ground(canvas, jittered((0.88, 0.66, 0.34), rng, 0.03))
    step = between(rng, 0.20, 0.25)
    hearts, rings = skia.Path(), skia.Path()
    for cell in _cells(canvas, rng, step, 0.17):
        (x, y), radius, turn = (
            cell.centre,
            step * (0.26 + 0.08 * cell.chance[0]),
            360 * cell.chance[1],
        )
        ring = skia.Rect.MakeLTRB(x - radius, y - radius * 0.9, x + radius, y + radius * 0.9)
        hearts.addOval(ring)
        for start, sweep in ((turn, 82), (turn + 125, 70), (turn + 240, 78)):
            rings.addArc(ring, start, sweep)
    canvas.drawPath(hearts, paint((0.68, 0.42, 0.16), 0.85))
    canvas.drawPath(rings, paint((0.10, 0.07, 0.05), stroke=step * 0.16))


def _bee(canvas: Canvas, rng: np.random.Generator) -> None:
    yellow, black = jittered((0.97, 0.76, 0.13), rng, 0.03), (0.13, 0.10, 0.07)
    _ground(canvas, yellow)
    canvas.rotate(between(rng, -8, 8))
    gap = between(rng, 0.42, 0.50)
    for x in np.arange(-REACH, REACH, gap):
        left = float(x)
        canvas.drawPath(box(left, -2.2, left + gap * 0.5, 2.2), paint(black))
        for edge, colour, side in (
            (left, yellow, 1),
            (left, black, -1),
            (left + gap * 0.5, black, 1),
            (left + gap * 0.5, yellow, -1),
        ):
            hairs = skia.Path()
            for k, (long, sag) in enumerate(rng.random((64, 2)).tolist()):
                y = -1.5 + 0.047 * k
                hairs.moveTo(edge, y)
                hairs.lineTo(edge + side * (0.02 + 0.05 * long), y - 0.02 + 0.07 * sag)
            canvas.drawPath(hairs, paint(colour, stroke=0.020))


def _snake(canvas: Canvas, rng: np.random.Generator) -> None:
    green = jittered((0.42, 0.58, 0.20), rng, 0.04)
    _ground(canvas, shade(green, 0.55))
    canvas.rotate(between(rng, -10, 10))
    step = between(rng, 0.105, 0.125)
    tones = (
        _Tones(jittered((0.20, 0.24, 0.10), rng, 0.02), 0.88, 1.08, 2),
        _Tones((0.86, 0.82, 0.46), 0.90, 1.05, 2),
        _Tones(green, 0.86, 1.08, 3),
    )
    period = step * 7
    for cell in _cells(canvas, rng, step, 0.0, 0.9):
        x, y = cell.centre
        ring = abs(((x / period) % 1.0) - 0.5) + abs(((y / period) % 1.0) - 0.5)
        _add_polygon(
            tones[0 if ring < 0.26 else 1 if ring < 0.36 else 2][cell.chance[0]], cell.corners
        )
    for tone in tones:
        tone.draw(canvas)


def _pineapple(canvas: Canvas, rng: np.random.Generator) -> None:
    gold = jittered((0.88, 0.62, 0.16), rng, 0.03)
    _ground(canvas, shade(gold, 0.48))
    half = between(rng, 0.13, 0.155)
    scales, tops, spikes = _Tones(gold, 0.80, 1.04), skia.Path(), skia.Path()
    ys, xs = np.arange(-REACH, REACH, half).tolist(), np.arange(-REACH, REACH, 2 * half).tolist()
    chance = rng.random((len(ys), len(xs))).tolist()
    side, high = half * 0.88, half * 0.90
    seen = canvas.getLocalClipBounds().makeOutset(half, half)
    for i, cy in enumerate(ys):
        for j, x in enumerate(xs):
            cx = x + (half if i % 2 else 0.0)
            if not seen.contains(cx, cy):
                continue
            _add_polygon(
                scales[chance[i][j]],
                [(cx, cy - high), (cx + side, cy), (cx, cy + high), (cx - side, cy)],
            )
            _add_polygon(tops, [(cx, cy - high), (cx + side, cy), (cx - side, cy)])
            _add_polygon(
                spikes,
                [
                    (cx - 0.018, cy + half * 0.18),
                    (cx + 0.018, cy + half * 0.18),
                    (cx + 0.01, cy - half * 0.4),
                ],
            )
    scales.draw(canvas)
    canvas.drawPath(tops, paint((1.0, 0.86, 0.45), 0.35))
    canvas.drawPath(spikes, paint((0.35, 0.24, 0.08)))


def _soccer_ball(canvas: Canvas, rng: np.random.Generator) -> None:
    _ground(canvas, (0.35, 0.35, 0.37))
    canvas.rotate(between(rng, -25, 25))
    step = between(rng, 0.40, 0.46)
    canvas.translate(between(rng, -0.1, 0.1), between(rng, -0.1, 0.1))
    for cell in _cells(canvas, rng, step, 0.0, 0.95):
        black = (cell.column + cell.row % 2 - (cell.row + 1) // 2 + 2 * cell.row) % 3 == 0
        canvas.drawPath(
            blob(cell.corners, 0.12), paint((0.08, 0.08, 0.09) if black else (0.95, 0.95, 0.94))
        )


SURFACES: dict[str, Painter] = {
    "zebra": _zebra,
    "giraffe": _giraffe,
    "tiger": _tiger,
    "ladybug": _ladybug,
    "watermelon": _watermelon,
    "strawberry": _strawberry,
    "brick wall": _brick,
    "cow": _cow,
    "leopard": _leopard,
    "bee": _bee,
    "snake": _snake,
    "pineapple": _pineapple,
    "soccer ball": _soccer_ball,
}
