"""Plants, balls, walls and snowmen."""

from __future__ import annotations

import math

import numpy as np

from groundfault.world.canvas import Rgb, shade, skia
from groundfault.world.forms import Bulge, Form, Mark, Part, between
from groundfault.world.objects.category import Category
from groundfault.world.shapes import blob, box, joined, limb, line, oval, polygon, without

__all__ = ["OUTDOORS"]


def draw_soccer_ball(rng: np.random.Generator, colour: Rgb) -> Form:
    """A sphere; its panels are its surface."""
    del rng
    return Form(pieces=[Part(oval(0.0, 0.1, 0.9), colour, 0.62)], feet=((0.0, 0.36),))


def draw_cactus(rng: np.random.Generator, colour: Rgb) -> Form:
    """A saguaro with two arms."""
    left, right = between(rng, -0.02, 0.30), between(rng, -0.22, 0.12)
    ribs, flower = shade(colour, 0.66), (0.93, 0.42, 0.58)
    trunk = limb([(0.0, 1.05), (0.0, 0.2), (0.0, -0.74)], [0.36, 0.38, 0.36])
    arm_left = limb(
        [(0.0, left + 0.22), (-0.36, left + 0.20), (-0.50, left), (-0.50, left - 0.40)],
        [0.22, 0.23, 0.23, 0.22],
    )
    arm_right = limb(
        [(0.0, right + 0.22), (0.36, right + 0.20), (0.50, right), (0.50, right - 0.46)],
        [0.22, 0.23, 0.23, 0.22],
    )
    body = joined(trunk, arm_left, arm_right)
    base = box(-0.6, 0.99, 0.6, 1.4)
    pieces: list[Part | Mark] = [
        Part(without(body, base), colour, 0.15),
        *(
            Mark(line([(x, -0.86), (x * 1.15, 1.0)]), ribs, 0.018, takes=0.7, dent=0.45)
            for x in (-0.10, 0.0, 0.10)
        ),
        *(
            Mark(
                line(
                    [
                        (sx * (0.50 + d), y - 0.48),
                        (sx * (0.50 + d), y),
                        (sx * (0.38 + d * 0.5), y + 0.16 + d),
                    ]
                ),
                ribs,
                0.016,
                takes=0.7,
                dent=0.45,
            )
            for sx, y in ((-1, left), (1, right))
            for d in (-0.045, 0.045)
        ),
        *(
            Mark(line([(x, y), (x + 0.03, y - 0.03)]), (0.97, 0.95, 0.80), 0.012)
            for x in (-0.14, -0.05, 0.05, 0.13)
            for y in np.arange(-0.72, 0.95, 0.14)
        ),
        *(
            Part(
                blob(
                    [
                        (x - 0.08, y),
                        (x - 0.10, y - 0.10),
                        (x, y - 0.05),
                        (x + 0.10, y - 0.10),
                        (x + 0.08, y),
                    ],
                    0.7,
                ),
                flower,
                0.04,
                takes=0.0,
            )
            for x, y in ((0.0, -0.89), (-0.50, left - 0.49), (0.50, right - 0.55))
        ),
    ]
    return Form(pieces=pieces, feet=((0.0, 0.22),))


def draw_tree(rng: np.random.Generator, colour: Rgb) -> Form:
    """A broad-leaved tree."""
    bark = (0.42, 0.29, 0.18)
    trunk = blob(
        [
            (-0.10, 0.10),
            (0.10, 0.10),
            (0.12, 0.70),
            (0.24, 0.99),
            (0.0, 0.96),
            (-0.24, 0.99),
            (-0.12, 0.70),
        ],
        0.8,
    )
    pieces: list[Part | Mark | Bulge] = [
        Part(trunk, bark, 0.09, takes=0.6),
        *(
            Part(
                limb([(0.0, 0.44), (s * 0.22, 0.20), (s * 0.40, 0.02)], [0.10, 0.08, 0.05]),
                bark,
                0.04,
                takes=0.6,
            )
            for s in (-1, 1)
        ),
        Mark(line([(-0.03, 0.30), (0.02, 0.60), (-0.04, 0.94)]), shade(bark, 0.6), 0.02, dent=0.4),
    ]
    crown = [
        (0.56 * math.cos(a), -0.30 + 0.46 * math.sin(a))
        for a in np.arange(11) * 2 * math.pi / 11 + between(rng, 0, 1)
    ]
    inner = [
        (0.26 * math.cos(a), -0.34 + 0.22 * math.sin(a)) for a in np.arange(5) * 2 * math.pi / 5
    ]
    leaves = [skia.Path() for _ in range(3)]
    for i, (x, y) in enumerate([*crown, *inner, (0.0, -0.36)]):
        r = between(rng, 0.20, 0.27) if i < 11 else between(rng, 0.26, 0.32)
        edge = [
            (
                x + r * (1.07 if k % 2 else 0.93) * math.cos(k * 0.571),
                y + r * (1.07 if k % 2 else 0.93) * math.sin(k * 0.571),
            )
            for k in range(11)
        ]
        pieces.append(Part(blob(edge), colour, 0.15, seam=0.9, grown=True))
        for lx, ly, tilt in rng.random((12, 3)).tolist():
            leaf = oval(
                x + r * (1.7 * lx - 0.85), y + r * (1.7 * ly - 0.85), 0.036, 0.020, 100 * tilt - 50
            )
            leaves[int(tilt * 100) % 3].addPath(leaf)
        if i % 6 == 5 or i == 16:  # each layer of puffs hides some of the leaves below
            pieces += [
                Mark(path, shade(colour, tone), alpha=0.8, takes=1.0)
                for path, tone in zip(leaves, (0.60, 1.12, 1.28), strict=True)
            ]
            leaves = [skia.Path() for _ in range(3)]
    pieces.append(Bulge(oval(-0.05, -0.40, 0.42, 0.34), 0.55, 0.16))
    return Form(pieces=pieces, feet=((0.0, 0.24),))


def draw_snowman(rng: np.random.Generator, colour: Rgb) -> Form:
    """Three balls of snow, a carrot and a scarf."""
    scarf = ((0.80, 0.18, 0.16), (0.16, 0.42, 0.62), (0.22, 0.52, 0.28))[int(rng.integers(3))]
    raise_ = between(rng, -0.1, 0.2)
    bark, coal = (0.36, 0.24, 0.15), (0.12, 0.11, 0.12)
    pieces: list[Part | Mark | Bulge] = []
    for s in (-1, 1):
        hand = (s * 0.84, -0.26 - raise_)
        pieces.append(
            Part(
                limb([(s * 0.30, 0.06), (s * 0.56, -0.08), hand], [0.05, 0.045, 0.035]),
                bark,
                0.02,
                takes=0.0,
            )
        )
        pieces.append(
            Part(
                limb([(s * 0.66, -0.15 - raise_ * 0.4), (s * 0.80, -0.06 - raise_)], [0.03, 0.025]),
                bark,
                0.01,
                takes=0.0,
            )
        )
    pieces += [
        Part(oval(0.0, 0.60, 0.50, 0.42), colour, 0.30),
        Part(oval(0.0, 0.04, 0.38, 0.34), colour, 0.24),
        *(Mark(oval(0.0, y, 0.036), coal, dent=0.5) for y in (-0.04, 0.12, 0.46, 0.64)),
        Part(oval(0.0, -0.46, 0.30, 0.29), colour, 0.20),
        Part(
            limb([(-0.26, -0.24), (0.0, -0.16), (0.26, -0.24)], [0.12, 0.13, 0.12]),
            scarf,
            0.05,
            takes=0.0,
        ),
        Part(
            limb([(0.16, -0.20), (0.22, 0.02), (0.20, 0.18)], [0.11, 0.11, 0.12]),
            scarf,
            0.05,
            takes=0.0,
        ),
        *(Mark(oval(x, -0.52, 0.034), coal, dent=0.5) for x in (-0.11, 0.11)),
        *(
            Mark(oval(0.14 * math.cos(a), -0.42 + 0.13 * math.sin(a), 0.016), coal, dent=0.4)
            for a in (0.5, 1.0, 1.57, 2.1, 2.6)
        ),
        Part(
            blob([(-0.03, -0.50), (0.05, -0.50), (0.34, -0.42), (0.04, -0.40)], 0.5),
            (0.94, 0.50, 0.12),
            0.03,
            takes=0.0,
        ),
    ]
    return Form(pieces=pieces, feet=((0.0, 0.42),), head=(0.0, -0.68, 0.26))


def draw_brick_wall(rng: np.random.Generator, colour: Rgb) -> Form:
    """A piece of ruined wall with a stepped top."""
    steps = [-0.98]
    x, top = -0.98, between(rng, -0.2, 0.1)
    corners: list[tuple[float, float]] = [(-0.98, 1.0), (-0.98, top)]
    while x < 0.98:
        x = min(0.98, x + between(rng, 0.25, 0.55))
        corners.append((x, top))
        top = max(-0.62, min(0.25, top + between(rng, -0.36, 0.36)))
        steps.append(x)
        if x < 0.98:
            corners.append((x, top))
    corners.append((0.98, 1.0))
    return Form(
        pieces=[Part(polygon(corners), colour, 0.05)], feet=((0.0, 0.98),), top=(0.0, 0.0, 0.0)
    )


OUTDOORS = (
    Category(
        name="soccer ball",
        draw=draw_soccer_ball,
        size=0.24,
        colours=("white",),
        surface="soccer ball",
        contexts=("meadow", "street"),
        shape="round",
        nature="functional",
        survives=True,
        purpose="the thing one kicks into a goal",
    ),
    Category(
        name="cactus",
        draw=draw_cactus,
        gloss=0.04,
        size=0.51,
        colours=("green",),
        contexts=("desert",),
        shape="upright",
        nature="growing",
        purpose="the plant that stores water behind its spines",
        plural="cacti",
    ),
    Category(
        name="tree",
        draw=draw_tree,
        gloss=0.02,
        size=0.68,
        colours=("green", "orange"),
        contexts=("meadow", "street"),
        shape="upright",
        nature="growing",
        purpose="the plant that birds build their nests in",
    ),
    Category(
        name="snowman",
        draw=draw_snowman,
        gloss=0.03,
        grain=0.05,
        size=0.44,
        colours=("white",),
        contexts=("snow",),
        shape="upright",
        nature="functional",
        survives=True,
        purpose="the figure that children build in winter",
        plural="snowmen",
    ),
    Category(
        name="brick wall",
        draw=draw_brick_wall,
        gloss=0.02,
        size=0.4,
        colours=("red",),
        surface="brick wall",
        contexts=("street",),
        shape="box",
        nature="functional",
        survives=True,
        purpose="the thing a mason builds",
    ),
)
