"""Insects and snakes."""

from __future__ import annotations

import math

import numpy as np

from groundfault.world.canvas import Rgb, mix, shade
from groundfault.world.forms import Form, Mark, Part, between, eye
from groundfault.world.objects.category import Category
from groundfault.world.shapes import arc, blob, joined, limb, line, oval

__all__ = ["CRAWLERS"]

DARK: Rgb = (0.11, 0.10, 0.11)

WHITE: Rgb = (0.97, 0.97, 0.95)


def draw_ladybug(rng: np.random.Generator, colour: Rgb) -> Form:
    """A domed beetle walking by."""
    gait, tall = between(rng, -0.05, 0.05), between(rng, -0.05, 0.06)
    shell = blob(
        [
            (-0.86, 0.74),
            (-0.80, 0.36),
            (-0.46, 0.02 - tall),
            (0.0, -0.10 - tall),
            (0.40, 0.10),
            (0.58, 0.50),
            (0.56, 0.78),
            (-0.2, 0.84),
        ],
        0.9,
    )
    head = oval(0.66, 0.58, 0.24, 0.25)
    pieces: list[Part | Mark] = []
    for i, x in enumerate((-0.52, -0.10, 0.30)):
        step = gait * (1 if i % 2 else -1)
        pieces.append(
            Part(
                limb(
                    [(x, 0.72), (x - 0.06 + step, 0.86), (x + 0.04 + step, 0.97)],
                    [0.09, 0.07, 0.06],
                ),
                DARK,
                0.03,
                takes=0.0,
            )
        )
    for d, up in ((0.0, 0.0), (0.12, 0.06)):
        pieces.append(
            Part(
                limb(
                    [(0.70 + d, 0.42), (0.80 + d, 0.22 + up), (0.92 + d, 0.16 + up)],
                    [0.04, 0.035, 0.05],
                ),
                DARK,
                0.02,
                takes=0.0,
            )
        )
    pieces += [
        Part(head, (0.15, 0.14, 0.15), 0.14, takes=0.0),
        Mark(oval(0.62, 0.44, 0.08, 0.06, 30), WHITE),
        *eye(0.78, 0.54, 0.05, white=True),
        Mark(arc(0.76, 0.66, 0.08, 0.06, 20, 120), (0.6, 0.5, 0.5), 0.018, dent=0.4),
        Part(shell, colour, 0.34),
        Mark(
            line([(0.54, 0.40), (0.10, 0.04 - tall), (-0.40, 0.02 - tall)]),
            shade(colour, 0.35),
            0.024,
            takes=1.0,
            dent=0.5,
        ),
    ]
    return Form(
        pieces=pieces,
        feet=((-0.52, 0.1), (-0.1, 0.1), (0.3, 0.1), (-0.1, 0.7)),
        head=(0.62, 0.32, 0.22),
    )


def draw_bee(rng: np.random.Generator, colour: Rgb) -> Form:
    """A bumblebee in flight."""
    beat = between(rng, -12, 12)
    y = 0.16
    body = oval(-0.10, y, 0.58, 0.40, -8)
    pieces: list[Part | Mark] = [
        Part(blob([(-0.62, y + 0.0), (-0.86, y + 0.12), (-0.62, y + 0.16)]), DARK, 0.02, takes=0.0),
        Part(
            oval(-0.34, y - 0.58, 0.22, 0.42, -30 + beat),
            (0.86, 0.92, 0.97),
            0.10,
            takes=0.0,
            dim=0.9,
        ),
        *(
            Part(
                limb(
                    [(x, y + 0.30), (x - 0.03, y + 0.50), (x + 0.05, y + 0.56)], [0.05, 0.04, 0.04]
                ),
                DARK,
                0.02,
                takes=0.0,
            )
            for x in (-0.3, -0.05, 0.2)
        ),
        Part(body, colour, 0.30),
        Part(oval(0.48, y - 0.08, 0.27, 0.28), (0.20, 0.17, 0.15), 0.16, takes=0.0),
        *(
            Part(
                limb(
                    [(0.56 + d, y - 0.28), (0.64 + d, y - 0.50), (0.78 + d, y - 0.54)],
                    [0.04, 0.035, 0.05],
                ),
                DARK,
                0.02,
                takes=0.0,
            )
            for d in (-0.06, 0.06)
        ),
        *eye(0.58, y - 0.10, 0.062, white=True),
        Mark(arc(0.58, y + 0.02, 0.10, 0.07, 20, 120), (0.75, 0.62, 0.5), 0.02, dent=0.4),
        Part(oval(-0.10, y - 0.56, 0.24, 0.46, 16 + beat), (0.90, 0.95, 0.99), 0.12, takes=0.0),
        *(
            Mark(
                line([(-0.07, y - 0.22), (-0.10 + d, y - 0.52), (-0.06 + d * 1.6, y - 0.84)]),
                (0.62, 0.72, 0.80),
                0.016,
                dent=0.3,
            )
            for d in (-0.06, 0.08)
        ),
    ]
    return Form(pieces=pieces, feet=((-0.1, 0.5),), head=(0.44, y - 0.30, 0.2))


def draw_snake(rng: np.random.Generator, colour: Rgb) -> Form:
    """A coiled snake, head up."""
    sway = between(rng, -0.1, 0.1)
    belly = mix(colour, (0.98, 0.95, 0.75), 0.6)
    pieces: list[Part | Mark] = [
        Part(limb([(-0.40, 0.86), (-0.72, 0.90), (-0.96, 0.80)], [0.20, 0.14, 0.04]), colour, 0.08),
    ]
    for y, half, dim in ((0.50, 0.36, 0.9), (0.66, 0.50, 0.95), (0.83, 0.62, 1.0)):
        ring = [
            (half * math.cos(a), y + 0.10 * math.sin(a))
            for a in (
                math.pi * 1.02,
                math.pi * 0.75,
                math.pi * 0.5,
                math.pi * 0.25,
                -math.pi * 0.02,
            )
        ]
        pieces.append(Part(limb(ring, [0.20, 0.23, 0.24, 0.23, 0.20]), colour, 0.10, dim=dim))
    neck = limb(
        [(0.10, 0.52), (-0.08, 0.18), (0.10 + sway, -0.18), (0.20 + sway, -0.46)],
        [0.24, 0.22, 0.19, 0.19],
    )
    hx, hy = 0.30 + sway, -0.56
    head = blob(
        [
            (hx - 0.24, hy - 0.04),
            (hx - 0.08, hy - 0.17),
            (hx + 0.16, hy - 0.12),
            (hx + 0.36, hy + 0.06),
            (hx + 0.20, hy + 0.16),
            (hx - 0.10, hy + 0.16),
        ]
    )
    tongue = [(hx + 0.32, hy + 0.10), (hx + 0.48, hy + 0.15), (hx + 0.58, hy + 0.10)]
    pieces += [
        Part(limb(tongue, [0.035, 0.03, 0.03]), (0.80, 0.10, 0.14), 0.01, takes=0.0),
        Part(
            limb([(hx + 0.46, hy + 0.15), (hx + 0.58, hy + 0.20)], [0.03, 0.03]),
            (0.80, 0.10, 0.14),
            0.01,
            takes=0.0,
        ),
        Part(joined(neck, head), colour, 0.11),
        Mark(
            limb([(0.16, 0.44), (0.02, 0.16), (0.20 + sway, -0.20)], [0.06, 0.07, 0.05]),
            belly,
            blur=0.02,
            alpha=0.8,
            takes=1.0,
        ),
        Mark(
            line([(hx + 0.32, hy + 0.08), (hx + 0.14, hy + 0.09), (hx - 0.02, hy + 0.06)]),
            shade(colour, 0.4),
            0.018,
            dent=0.4,
        ),
        *eye(hx + 0.10, hy - 0.04, 0.045, white=True),
    ]
    return Form(pieces=pieces, feet=((0.0, 0.66),), head=(hx, hy - 0.15, 0.18))


CRAWLERS = (
    Category(
        name="ladybug",
        draw=draw_ladybug,
        gloss=0.35,
        size=0.26,
        colours=("red",),
        surface="ladybug",
        contexts=("meadow",),
        shape="dome",
        nature="living",
        purpose="the small beetle that brings luck",
    ),
    Category(
        name="bee",
        draw=draw_bee,
        gloss=0.04,
        size=0.3,
        colours=("yellow",),
        surface="bee",
        contexts=("meadow",),
        shape="winged",
        nature="living",
        purpose="the insect that makes honey",
        flies=True,
    ),
    Category(
        name="snake",
        draw=draw_snake,
        size=0.33,
        colours=("green",),
        surface="snake",
        contexts=("desert", "meadow"),
        shape="perched",
        nature="living",
        purpose="the animal that crawls and hisses",
    ),
)
