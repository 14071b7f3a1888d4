"""Materials: what a thing can be a sculpture of, each with its own texture and its own light.

A material replaces everything that a form is made of: eyes and seams remain only as far as they
are cut into it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from groundfault.world.canvas import Canvas, Rgb, mix, paint, radial, shade, skia
from groundfault.world.forms import between
from groundfault.world.noise import draw_noise
from groundfault.world.relief import Light, Relief, diffuse, highlight, tint
from groundfault.world.shapes import line, oval, polygon

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

__all__ = ["MATERIALS", "Material"]

REACH = 1.6
AREA = (-REACH, -REACH, REACH, REACH)


class Material(msgspec.Struct, frozen=True):
    """A substance: a texture painter and a light model."""

    texture: Callable[[Canvas, np.random.Generator], None]
    light: Callable[[Floats, Relief, Light], Floats]
    """Texture (3, n) 0…1, relief of the same pixels, light -> lit colours (3, n)."""
    phrase: str
    """What a thing made of it is called, whatever its shape."""


def _cover(
    canvas: Canvas,
    rng: np.random.Generator,
    dark: Rgb,
    light: Rgb,
    period: float | tuple[float, float],
    contrast: float = 1.6,
) -> None:
    """Everything in colours that wander between two."""
    canvas.drawRect(skia.Rect.MakeLTRB(-2.5, -2.5, 2.5, 2.5), paint(dark))
    draw_noise(canvas, rng, AREA, light, period, contrast=contrast)


def _stacked(shares: Floats, *colours: Rgb) -> Floats:
    """Colours along a scale, (3, n): share 0 is the first, 1 the last."""
    stops = np.linspace(0, 1, len(colours))
    at = np.linspace(0, 1, 256)
    ramp = np.stack([np.interp(at, stops, channel) for channel in np.asarray(colours).T])
    found: Floats = ramp.astype(np.float32)[:, np.clip(shares * 255, 0, 255).astype(np.uint8)]
    return found


def _bronze_texture(canvas: Canvas, rng: np.random.Generator) -> None:
    _cover(canvas, rng, (0.62, 0.38, 0.17), (0.86, 0.60, 0.31), 1.1)
    draw_noise(canvas, rng, AREA, (0.30, 0.60, 0.50), 1.5, alpha=0.5, contrast=5.0, seed=8)


def _bronze_light(texture: Floats, relief: Relief, light: Light) -> Floats:
    # Metal shows its surroundings: bright sky above, a dark horizon, warm ground below.
    up = np.clip(0.5 - 0.62 * relief.ny - 0.30 * relief.nx * np.sign(light.azimuth), 0, 1)
    mirror = _stacked(
        up,
        (0.20, 0.11, 0.07),
        (0.62, 0.42, 0.28),
        (0.24, 0.13, 0.08),
        (0.66, 0.45, 0.27),
        (1.25, 1.05, 0.80),
        (1.7, 1.5, 1.2),
    )
    glow = highlight(relief, light, 5) * np.float32(0.85)
    return texture * mirror * (0.55 + 0.45 * relief.occlusion) * np.float32(1.32) + glow * tint(
        1.0, 0.86, 0.62
    )


def _marble_texture(canvas: Canvas, rng: np.random.Generator) -> None:
    _cover(canvas, rng, (0.86, 0.86, 0.87), (0.97, 0.965, 0.95), 1.3)
    slant = between(rng, -0.6, 0.6)
    for i in range(11):
        x, y = between(rng, -1.8, 1.8), -REACH
        points = []
        while y < REACH:
            points.append((x, y))
            x += slant * 0.2 + between(rng, -0.16, 0.16)
            y += 0.2
        wide = between(rng, 0.008, 0.03)
        grey = (0.52, 0.53, 0.57)
        if i % 3 == 0:
            canvas.drawPath(line(points), paint(grey, 0.30, stroke=wide * 6, blur=0.05))
        canvas.drawPath(line(points), paint(grey, 0.65, stroke=wide, blur=0.006))


def _marble_light(texture: Floats, relief: Relief, light: Light) -> Floats:
    lit = _lit(texture, relief, light, ambient=0.58, key=0.56, wrap=0.35, dim=0.9)
    return lit + highlight(relief, light, 5) * np.float32(0.35)


def _ice_texture(canvas: Canvas, rng: np.random.Generator) -> None:
    _cover(canvas, rng, (0.52, 0.76, 0.90), (0.86, 0.96, 1.0), (1.0, 1.6), 1.8)
    for _ in range(12):
        x, y = between(rng, -1.1, 1.1), between(rng, -1.1, 1.1)
        crack = [(x, y)]
        for _ in range(3):
            x, y = x + between(rng, -0.28, 0.28), y + between(rng, -0.28, 0.28)
            crack.append((x, y))
        canvas.drawPath(
            line(crack, soft=False),
            paint((1, 1, 1), 0.75, stroke=between(rng, 0.008, 0.022), blur=0.003),
        )
    for _ in range(26):
        canvas.drawPath(
            oval(between(rng, -1.2, 1.2), between(rng, -1.2, 1.2), between(rng, 0.008, 0.03)),
            paint((1, 1, 1), 0.55),
        )


def _ice_light(texture: Floats, relief: Relief, light: Light) -> Floats:
    # Light enters and leaves on the far side: the shadow side glows, the rim is bright.
    through = np.clip(
        0.55 + 0.45 * (relief.nx * np.sign(light.azimuth) * -0.6 + relief.ny * 0.8), 0, 1
    )
    edge = (1.0 - relief.nz) ** 2
    deep = tint(0.42, 0.70, 0.88)
    body = texture * (0.62 + 0.42 * through) * (0.5 + 0.5 * deep) * 1.18
    spot = highlight(relief, light, 6) + 0.35 * highlight(relief, light, 3)
    lit: Floats = body + edge * tint(0.42, 0.52, 0.56) + spot
    return lit


def _cloud_texture(canvas: Canvas, rng: np.random.Generator) -> None:
    canvas.drawRect(skia.Rect.MakeLTRB(-2.5, -2.5, 2.5, 2.5), paint((0.72, 0.78, 0.88)))
    places = sorted(
        (between(rng, -1.25, 1.25), between(rng, -1.25, 1.25), between(rng, 0.10, 0.22))
        for _ in range(150)
    )
    rng.shuffle(places)
    for x, y, size in places:  # billows: white above, grey-blue below
        tones = [(1, 1, 1), (0.97, 0.98, 1.0), (0.80, 0.85, 0.93), (0.66, 0.73, 0.84)]
        billow = radial((x - size * 0.25, y - size * 0.45), size * 1.55, tones, [0, 0.4, 0.75, 1])
        canvas.drawPath(oval(x, y, size, size * 0.86), paint(shader=billow, blur=0.022))


def _cloud_light(texture: Floats, relief: Relief, light: Light) -> Floats:
    arriving = 0.84 + 0.26 * diffuse(relief, light, 0.8)
    lit: Floats = texture * arriving * (0.80 + 0.20 * relief.occlusion)
    return lit


def _crystal_texture(canvas: Canvas, rng: np.random.Generator) -> None:
    step = between(rng, 0.26, 0.34)
    count = int(2 * REACH / step) + 2
    grid = [
        [
            (
                -REACH + step * i + between(rng, -0.12, 0.12),
                -REACH + step * j * 1.05 + between(rng, -0.12, 0.12),
            )
            for i in range(count)
        ]
        for j in range(count)
    ]
    deep, pale = (0.34, 0.12, 0.56), (0.93, 0.82, 1.0)
    for j in range(count - 1):
        for i in range(count - 1):
            a, b, c, d = grid[j][i], grid[j][i + 1], grid[j + 1][i], grid[j + 1][i + 1]
            for triangle in ((a, b, c), (b, d, c)):
                tone = mix(deep, pale, float(rng.random()) ** 1.3)
                path = polygon(triangle)
                canvas.drawPath(path, paint(tone))
                canvas.drawPath(path, paint((1, 0.96, 1), 0.5, stroke=0.012))


def _crystal_light(texture: Floats, relief: Relief, light: Light) -> Floats:
    arriving = 0.56 + 0.62 * diffuse(relief, light, 0.3)
    edge = ((1.0 - relief.nz) ** 2) * tint(0.50, 0.38, 0.62)
    spot = highlight(relief, light, 6) * np.float32(0.9)
    lit: Floats = texture * arriving * (0.6 + 0.4 * relief.occlusion) + edge + spot
    return lit


def _wax_texture(canvas: Canvas, rng: np.random.Generator) -> None:
    warm = mix((0.93, 0.80, 0.55), (0.92, 0.70, 0.52), between(rng, 0, 1))
    _cover(canvas, rng, shade(warm, 0.92), shade(warm, 1.06), 1.4)
    for _ in range(16):  # runs of molten wax
        x, y, long = between(rng, -1.2, 1.2), between(rng, -1.2, 0.8), between(rng, 0.15, 0.5)
        canvas.drawPath(
            line([(x, y), (x + 0.01, y + long)]),
            paint(shade(warm, 1.3), 0.6, stroke=0.045, blur=0.01),
        )
        canvas.drawPath(
            line([(x + 0.03, y), (x + 0.04, y + long + 0.02)]),
            paint(shade(warm, 0.72), 0.5, stroke=0.014, blur=0.008),
        )
        canvas.drawPath(
            oval(x + 0.01, y + long, 0.036, 0.045), paint(shade(warm, 1.35), 0.8, blur=0.008)
        )


def _wax_light(texture: Floats, relief: Relief, light: Light) -> Floats:
    # Light seeps in: soft shadows, thin parts glow warm.
    soft = 0.74 + 0.34 * diffuse(relief, light, 0.9)
    thin = ((1.0 - relief.height) ** 2) * tint(0.20, 0.09, 0.02)
    shine = 0.22 * highlight(relief, light, 3) + 0.40 * highlight(relief, light, 6)
    lit: Floats = texture * soft * (0.72 + 0.28 * relief.occlusion) + thin + shine
    return lit


def _wood_texture(canvas: Canvas, rng: np.random.Generator) -> None:
    pale, dark = (0.80, 0.56, 0.33), (0.50, 0.29, 0.13)
    _cover(canvas, rng, shade(pale, 0.86), pale, (2.6, 0.5))
    canvas.rotate(between(rng, -10, 10))
    knot = (between(rng, -0.6, 0.6), between(rng, -0.5, 0.5))
    y = -REACH
    while y < REACH:
        wave = between(rng, 0.0, 0.02)
        points = []
        for x in np.linspace(-REACH, REACH, 15):
            near = math.exp(-(((x - knot[0]) / 0.30) ** 2) - ((y - knot[1]) / 0.36) ** 2)
            away = math.copysign(0.17 * near, y - knot[1])
            points.append((float(x), y + away + wave * math.sin(3 * float(x) + y * 5)))
        canvas.drawPath(
            line(points), paint(dark, between(rng, 0.35, 0.8), stroke=between(rng, 0.008, 0.026))
        )
        y += between(rng, 0.045, 0.10)
    for k, size in enumerate((0.12, 0.085, 0.05)):
        canvas.drawPath(oval(*knot, size * 1.3, size), paint(shade(dark, 0.9 - 0.15 * k), 0.9))


def _wood_light(texture: Floats, relief: Relief, light: Light) -> Floats:
    lit = _lit(texture, relief, light, ambient=0.50, key=0.66, wrap=0.1, dim=1.0)
    return lit + 0.10 * highlight(relief, light, 3)


def _clay_texture(canvas: Canvas, rng: np.random.Generator) -> None:
    base = mix((0.74, 0.39, 0.25), (0.66, 0.42, 0.30), between(rng, 0, 1))
    _cover(canvas, rng, shade(base, 0.86), shade(base, 1.08), 0.8, 2.0)
    for _ in range(90):
        canvas.drawPath(
            oval(between(rng, -1.2, 1.2), between(rng, -1.2, 1.2), between(rng, 0.006, 0.016)),
            paint(shade(base, 0.55), 0.6),
        )
    for _ in range(24):
        x, y = between(rng, -1.2, 1.1), between(rng, -1.2, 1.2)
        canvas.drawPath(
            line([(x, y), (x + 0.16, y - 0.02), (x + between(rng, 0.25, 0.45), y + 0.02)]),
            paint(shade(base, 0.78), 0.7, stroke=0.016, blur=0.006),
        )


def _clay_light(texture: Floats, relief: Relief, light: Light) -> Floats:
    return _lit(texture, relief, light, ambient=0.46, key=0.72, wrap=0.05, dim=1.0)


def _lit(
    texture: Floats,
    relief: Relief,
    light: Light,
    *,
    ambient: float,
    key: float,
    wrap: float,
    dim: float,
) -> Floats:
    shadow = 1.0 - dim + dim * relief.occlusion
    arriving = diffuse(relief, light, wrap)
    around = tint(*light.fill) * np.float32(ambient / max(light.fill))
    lit: Floats = texture * shadow * (around + key * arriving * tint(*light.key))
    return lit


MATERIALS: dict[str, Material] = {
    "bronze": Material(_bronze_texture, _bronze_light, "bronze sculpture"),
    "marble": Material(_marble_texture, _marble_light, "marble sculpture"),
    "ice": Material(_ice_texture, _ice_light, "ice sculpture"),
    "cloud": Material(_cloud_texture, _cloud_light, "cloud"),
    "crystal": Material(_crystal_texture, _crystal_light, "crystal sculpture"),
    "wax": Material(_wax_texture, _wax_light, "wax figure"),
    "wood": Material(_wood_texture, _wood_light, "wood carving"),
    "clay": Material(_clay_texture, _clay_light, "clay figurine"),
}
