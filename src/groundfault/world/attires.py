"""Looks that no thing has by nature: patterns, coats and finishes, for attributes to be broken.

A pattern and a coat are painted on a thing's own colours; a finish is another way of taking light.
None changes an outline. `reshaped` changes nothing but the outline.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from groundfault.world.canvas import Canvas, Path, Rgb, paint, skia
from groundfault.world.forms import Bulge, Form, between
from groundfault.world.relief import Light, Relief, diffuse, highlight, tint
from groundfault.world.shapes import line, oval, star

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

__all__ = ["CLEAR", "COATS", "FINISHES", "PATTERNS", "SHAPES", "reshaped", "snowed"]

REACH = 1.7
Pattern = Callable[[Canvas, np.random.Generator, Rgb], None]


# Patterns: opaque, in the thing's own colour and one that stands out from it.


def _ink(colour: Rgb) -> Rgb:
    light = 0.3 * colour[0] + 0.6 * colour[1] + 0.1 * colour[2]
    return (0.98, 0.97, 0.93) if light < 0.5 else (0.14, 0.16, 0.34)


def _ground(canvas: Canvas, colour: Rgb) -> None:
    canvas.drawRect(skia.Rect.MakeLTRB(-3, -3, 3, 3), paint(colour))


def _striped(canvas: Canvas, rng: np.random.Generator, colour: Rgb) -> None:
    _ground(canvas, colour)
    canvas.rotate(between(rng, -12, 12))
    for x in np.arange(-REACH, REACH, 0.30):
        canvas.drawRect(skia.Rect.MakeLTRB(x, -3, x + 0.15, 3), paint(_ink(colour)))


def _spotted(canvas: Canvas, rng: np.random.Generator, colour: Rgb) -> None:
    _ground(canvas, colour)
    for row, y in enumerate(np.arange(-REACH, REACH, 0.26)):
        for x in np.arange(-REACH + (row % 2) * 0.15, REACH, 0.30):
            canvas.drawPath(oval(float(x), float(y), 0.09), paint(_ink(colour)))


def _checked(canvas: Canvas, rng: np.random.Generator, colour: Rgb) -> None:
    _ground(canvas, colour)
    canvas.rotate(between(rng, -8, 8))
    for row, y in enumerate(np.arange(-REACH, REACH, 0.20)):
        for x in np.arange(-REACH + (row % 2) * 0.20, REACH, 0.40):
            canvas.drawRect(skia.Rect.MakeXYWH(x, y, 0.20, 0.20), paint(_ink(colour)))


def _starred(canvas: Canvas, rng: np.random.Generator, colour: Rgb) -> None:
    _ground(canvas, colour)
    for row, y in enumerate(np.arange(-REACH, REACH, 0.40)):
        for x in np.arange(-REACH + (row % 2) * 0.23, REACH, 0.46):
            path = star(float(x), float(y), 0.19, 0.08, 5, between(rng, -0.3, 0.3))
            canvas.drawPath(path, paint(_ink(colour)))


PATTERNS: dict[str, Pattern] = {
    "striped": _striped,
    "spotted": _spotted,
    "checked": _checked,
    "starry": _starred,
}


# Coats: transparent where they leave the thing as it is.


def _cracks(canvas: Canvas, rng: np.random.Generator) -> None:
    for _ in range(9):
        x, y, turn = between(rng, -0.8, 0.8), between(rng, -0.9, 0.9), between(rng, 0, 6.28)
        _crack(canvas, rng, x, y, turn, 0.055, 3)


def _crack(
    canvas: Canvas,
    rng: np.random.Generator,
    x: float,
    y: float,
    turn: float,
    wide: float,
    forks: int,
) -> None:
    points = [(x, y)]
    for _ in range(5):
        turn += between(rng, -0.7, 0.7)
        x, y = x + 0.15 * math.cos(turn), y + 0.15 * math.sin(turn)
        points.append((x, y))
    canvas.drawPath(line(points, soft=False), paint((0.95, 0.93, 0.88), 0.8, stroke=wide * 1.9))
    canvas.drawPath(line(points, soft=False), paint((0.07, 0.05, 0.05), stroke=wide))
    if forks:
        at = points[2 + int(rng.integers(3))]
        _crack(canvas, rng, *at, turn + between(rng, 0.8, 1.3), wide * 0.7, forks - 1)


COATS: dict[str, Callable[[Canvas, np.random.Generator], None]] = {
    "cracked all over": _cracks,
}


def snowed(own: Floats, relief: Relief, up: Floats, across: Floats) -> Floats:
    """Snow on all that faces upwards, and thick on the top.

    `up` is 0 at the foot and 1 at the top, `across` goes from left to right in the same units.
    """
    edge = 0.60 + 0.06 * np.sin(21 * across) + 0.03 * np.sin(47 * across + 1)
    thick = np.clip((up - edge) * 24, 0, 1)
    slope = np.clip((-relief.ny - 0.06) * 8, 0, 1)
    share = np.maximum(thick, slope).astype(np.float32)
    covered: Floats = own + (tint(0.97, 0.98, 1.0) - own) * share
    return covered


# Finishes: light models, (3, n) own colours in, lit colours out.


def _mirror(own: Floats, relief: Relief, light: Light, rng: np.random.Generator) -> Floats:
    stops = np.array([0.0, 0.30, 0.46, 0.50, 0.56, 0.75, 1.0])
    ramp = np.array(
        [
            (0.16, 0.15, 0.17),
            (0.44, 0.40, 0.36),
            (0.20, 0.19, 0.20),
            (0.12, 0.12, 0.14),
            (0.86, 0.90, 0.95),
            (0.55, 0.68, 0.86),
            (0.96, 0.98, 1.0),
        ]
    )
    at = np.clip(0.5 - 0.72 * relief.ny - 0.20 * relief.nx * np.sign(light.azimuth), 0, 1)
    shown = np.stack([np.interp(at, stops, channel) for channel in ramp.T]).astype(np.float32)
    lit: Floats = shown * relief.occlusion + highlight(relief, light, 6) * 0.9
    return lit


def _glitter(own: Floats, relief: Relief, light: Light, rng: np.random.Generator) -> Floats:
    arriving = tint(*light.fill) * 0.55 + tint(*light.key) * (diffuse(relief, light, 0.3) * 0.45)
    lit: Floats = own * arriving * relief.occlusion
    chance = np.repeat(rng.random(own.shape[1] // 2 + 1), 2)[: own.shape[1]]
    flakes = np.where(chance > 0.90, 1.0, np.where(chance > 0.76, 0.4, 0.0)).astype(np.float32)
    hues = (0.75 + 0.5 * rng.random(own.shape)).astype(np.float32)
    lit += flakes * hues
    return lit


def _clear(own: Floats, relief: Relief, light: Light, rng: np.random.Generator) -> Floats:
    """Of glass only the edges and the glints are seen; `render` lets the rest through."""
    edge = np.clip((1 - relief.nz) * 1.8, 0, 1)
    lit: Floats = (0.86 - 0.62 * edge) * tint(0.88, 0.97, 1.0) + highlight(relief, light, 4) * 0.8
    return lit


CLEAR = 0.72
"""How much of what is behind shows through a see-through thing."""
FINISHES: dict[str, Callable[[Floats, Relief, Light, np.random.Generator], Floats]] = {
    "mirror-like": _mirror,
    "glittering": _glitter,
    "see-through": _clear,
}


# Shapes: the outline of something round, pulled into another one.


def _square(turn: float) -> float:
    return 0.86 / max(abs(math.cos(turn)), abs(math.sin(turn)))


def _star(turn: float) -> float:
    step = math.pi / 5
    away = abs((turn + math.pi / 2 + step) % (2 * step) - step) / step  # 0 at a tip, 1 between
    inner, outer = 0.50, 1.15
    return inner * outer / (outer * away + inner * (1 - away))


def _triangle(turn: float) -> float:
    third = 2 * math.pi / 3
    away = (turn + math.pi / 2 + third / 2) % third - third / 2
    return 0.62 / math.cos(third / 2 - abs(away))


def _heart(turn: float) -> float:
    sine, cosine = -math.sin(turn), abs(math.cos(turn))
    return 1.22 * (0.78 - 0.62 * sine + 0.62 * sine * math.sqrt(cosine) / (sine + 1.6))


SHAPES: dict[str, Callable[[float], float]] = {
    "square": _square,
    "star-shaped": _star,
    "triangular": _triangle,
    "heart-shaped": _heart,
}
"""How far from the middle the outline is, by angle (0 is right, clockwise); 1 is a circle."""
STEPS = 160


def reshaped(form: Form, shape: str) -> Form:
    """A round form in another shape; what is painted on it is pulled along."""
    reach = SHAPES[shape]
    boxes = [piece.path.computeTightBounds() for piece in form.pieces]
    body = max(boxes, key=lambda box: box.width() * box.height())
    middle = ((body.left() + body.right()) / 2, (body.top() + body.bottom()) / 2)
    pieces = [
        piece
        if isinstance(piece, Bulge)
        else msgspec.structs.replace(piece, path=_pulled(piece.path, middle, reach))
        for piece in form.pieces
    ]
    low = max(piece.path.computeTightBounds().bottom() for piece in pieces)
    shift = max(box.bottom() for box in boxes) - low  # it stands on the ground as before
    for piece in pieces:
        if not isinstance(piece, Bulge):
            piece.path.offset(0.0, shift)
    return msgspec.structs.replace(form, pieces=pieces)


def _pulled(path: Path, middle: tuple[float, float], reach: Callable[[float], float]) -> Path:
    found = skia.Path()
    measure = skia.PathMeasure(path, False)
    while True:
        length = measure.getLength()
        places = [measure.getPosTan(length * k / STEPS)[0] for k in range(STEPS + 1)]
        points = []
        for place in places:
            x, y = place.x() - middle[0], place.y() - middle[1]
            factor = reach(math.atan2(y, x))
            points.append(skia.Point(middle[0] + x * factor, middle[1] + y * factor))
        found.addPoly(points, measure.isClosed())
        if not measure.nextContour():
            return found
