"""Fruit."""

from __future__ import annotations

import math

import numpy as np

from groundfault.world.canvas import Rgb, mix, shade
from groundfault.world.forms import Form, Mark, Part, between
from groundfault.world.objects.category import Category
from groundfault.world.shapes import blob, limb, line, oval

__all__ = ["FRUIT"]

LEAF: Rgb = (0.27, 0.53, 0.18)

STEM: Rgb = (0.38, 0.26, 0.14)


def draw_banana(rng: np.random.Generator, colour: Rgb) -> Form:
    """A single curved banana lying on its back."""
    bend, thick = between(rng, -0.06, 0.06), between(rng, -0.03, 0.04)
    outline = blob(
        [
            (-0.90, 0.06),
            (-0.80, 0.02),
            (-0.56, 0.44),
            (-0.10, 0.62 - bend),
            (0.40, 0.52),
            (0.74, 0.14),
            (0.86, -0.10),
            (0.95, -0.06),
            (0.90, 0.34),
            (0.62, 0.78),
            (0.12, 0.99 + thick * 0.3),
            (-0.42, 0.90),
            (-0.76, 0.60),
        ],
        0.85,
    )
    ridge, brown = shade(colour, 0.82), (0.36, 0.24, 0.10)
    pieces: list[Part | Mark] = [
        Part(outline, colour, 0.20),
        Mark(
            line(
                [
                    (-0.84, 0.14),
                    (-0.56, 0.62),
                    (-0.10, 0.80 - bend),
                    (0.42, 0.72),
                    (0.78, 0.30),
                    (0.90, 0.0),
                ]
            ),
            ridge,
            0.035,
            blur=0.008,
            takes=1.0,
            dent=0.3,
        ),
        Mark(
            line([(-0.76, 0.44), (-0.42, 0.80), (0.12, 0.92)]),
            mix(colour, (0.5, 0.62, 0.12), 0.5),
            0.04,
            blur=0.02,
            alpha=0.6,
            takes=1.0,
        ),
        *(
            Mark(
                oval(
                    between(rng, -0.5, 0.6),
                    between(rng, 0.62, 0.86),
                    between(rng, 0.012, 0.03),
                    0.014,
                ),
                brown,
                blur=0.004,
                alpha=0.8,
                takes=1.0,
            )
            for _ in range(7)
        ),
        Mark(oval(-0.87, 0.06, 0.07, 0.06), brown, blur=0.01, dent=0.3),
        Mark(oval(0.92, -0.06, 0.06, 0.07), brown, blur=0.01, dent=0.3),
    ]
    return Form(pieces=pieces, feet=((0.05, 0.5),))


def draw_apple(rng: np.random.Generator, colour: Rgb) -> Form:
    """An apple with stem and leaf."""
    lean, wide = between(rng, -0.06, 0.06), between(rng, -0.04, 0.05)
    body = blob(
        [
            (0.0, -0.36),
            (0.24, -0.50),
            (0.60, -0.42),
            (0.80 + wide, -0.02),
            (0.72, 0.50),
            (0.40, 0.94),
            (0.14, 0.98),
            (0.0, 0.93),
            (-0.14, 0.98),
            (-0.40, 0.94),
            (-0.72, 0.50),
            (-0.80 - wide, -0.02),
            (-0.60, -0.42),
            (-0.24, -0.50),
        ]
    )
    pieces: list[Part | Mark] = [
        Part(
            limb([(0.0, -0.30), (0.03 + lean, -0.58), (0.12 + lean, -0.78)], [0.07, 0.06, 0.09]),
            STEM,
            0.03,
            takes=0.0,
        ),
        Part(
            blob(
                [(0.04 + lean, -0.56), (0.26, -0.84), (0.60, -0.86), (0.46, -0.62), (0.22, -0.52)]
            ),
            LEAF,
            0.07,
            takes=0.0,
        ),
        Mark(line([(0.10, -0.58), (0.30, -0.70), (0.54, -0.82)]), shade(LEAF, 0.6), 0.02, dent=0.4),
        Part(body, colour, 0.42),
        Mark(
            oval(0.0, -0.40, 0.24, 0.075),
            shade(colour, 0.45),
            blur=0.03,
            alpha=0.8,
            takes=0.5,
            dent=0.4,
        ),
        Mark(
            oval(-0.1, -0.1, 0.4, 0.6, 10),
            mix(colour, (0.98, 0.82, 0.25), 0.35),
            blur=0.14,
            alpha=0.6,
            takes=1.0,
        ),
        *(
            Mark(
                oval(between(rng, -0.6, 0.6), between(rng, -0.3, 0.8), 0.011),
                mix(colour, (1.0, 0.95, 0.7), 0.6),
                alpha=0.8,
                takes=1.0,
            )
            for _ in range(16)
        ),
        Mark(limb([(0.0, -0.38), (0.02 + lean * 0.6, -0.50)], [0.06, 0.06]), STEM),
    ]
    return Form(pieces=pieces, feet=((0.0, 0.5),))


def draw_strawberry(rng: np.random.Generator, colour: Rgb) -> Form:
    """A heart-shaped berry under its crown of leaves."""
    lean, wide = between(rng, -0.08, 0.08), between(rng, -0.05, 0.05)
    body = blob(
        [
            (0.0, -0.54),
            (0.42, -0.52),
            (0.68 + wide, -0.20),
            (0.60, 0.30),
            (0.30, 0.80),
            (lean, 0.99),
            (-0.30, 0.80),
            (-0.60, 0.30),
            (-0.68 - wide, -0.20),
            (-0.42, -0.52),
        ]
    )
    pieces: list[Part | Mark] = [
        Part(body, colour, 0.38),
        Mark(
            oval(0.0, -0.44, 0.5, 0.16),
            mix(colour, (1.0, 0.9, 0.8), 0.35),
            blur=0.08,
            alpha=0.8,
            takes=1.0,
        ),
        Part(
            limb([(0.0, -0.56), (0.06, -0.78), (0.16, -0.92)], [0.09, 0.08, 0.08]),
            shade(LEAF, 0.85),
            0.03,
            takes=0.0,
        ),
    ]
    for i in range(7):
        angle = math.pi * (0.06 + 0.88 * i / 6)
        x, y = 0.62 * math.cos(angle), 0.30 * math.sin(angle)
        leaf = blob(
            [
                (0.0, -0.62),
                (x * 0.6 + y * 0.3, -0.60 + y * 0.4),
                (x, -0.56 + y),
                (x * 0.5 - y * 0.25, -0.48 + y * 0.4),
            ]
        )
        pieces.append(Part(leaf, shade(LEAF, 0.9 + 0.25 * (i % 2)), 0.05, takes=0.0))
    return Form(pieces=pieces, feet=((lean, 0.22), (0.0, 0.36)))


def draw_watermelon(rng: np.random.Generator, colour: Rgb) -> Form:
    """A whole melon with its curly stem."""
    long = between(rng, -0.04, 0.05)
    pieces: list[Part | Mark] = [
        Part(
            limb(
                [(0.80, 0.02), (0.94, -0.14), (0.90, -0.32), (1.02, -0.38)],
                [0.09, 0.06, 0.05, 0.04],
            ),
            (0.45, 0.50, 0.20),
            0.03,
            takes=0.0,
        ),
        Part(oval(0.0, 0.22, 0.92 + long, 0.76, -6), colour, 0.50),
        Mark(
            oval(0.86 + long, 0.10, 0.06, 0.10, -6),
            (0.60, 0.62, 0.32),
            blur=0.02,
            takes=0.5,
            dent=0.4,
        ),
        Mark(oval(0.0, 0.86, 0.5, 0.10), (0.90, 0.86, 0.55), blur=0.08, alpha=0.5, takes=1.0),
    ]
    return Form(pieces=pieces, feet=((0.0, 0.62),))


def draw_pineapple(rng: np.random.Generator, colour: Rgb) -> Form:
    """A barrel of scales under a tuft of blades."""
    lean = between(rng, -0.08, 0.08)
    pieces: list[Part | Mark] = []
    blades = [
        (-0.50, -0.62),
        (0.50, -0.64),
        (-0.36, -0.84),
        (0.38, -0.86),
        (-0.16, -0.96),
        (0.20, -0.98),
        (0.02, -1.04),
        (-0.30, -0.50),
        (0.32, -0.52),
        (0.0, -0.72),
    ]
    for i, (x, y) in enumerate(blades):
        tip = (x + lean + between(rng, -0.05, 0.05), y + between(rng, -0.05, 0.04))
        base = x * 0.22
        blade = blob(
            [
                (base - 0.09, -0.16),
                (base + (tip[0] - base) * 0.4 - 0.07, tip[1] * 0.55),
                tip,
                (base + (tip[0] - base) * 0.4 + 0.09, tip[1] * 0.5),
                (base + 0.09, -0.16),
            ],
            0.8,
        )
        pieces.append(Part(blade, shade(LEAF, 0.72 + 0.07 * (i % 5)), 0.06, takes=0.0))
    body = blob(
        [
            (0.0, -0.26),
            (0.32, -0.18),
            (0.48, 0.14),
            (0.49, 0.58),
            (0.32, 0.94),
            (0.0, 1.0),
            (-0.32, 0.94),
            (-0.49, 0.58),
            (-0.48, 0.14),
            (-0.32, -0.18),
        ]
    )
    pieces.append(Part(body, colour, 0.30))
    return Form(pieces=pieces, feet=((0.0, 0.38),))


FRUIT = (
    Category(
        name="banana",
        draw=draw_banana,
        size=0.28,
        colours=("yellow",),
        contexts=("kitchen",),
        shape="long",
        nature="edible",
        purpose="the fruit that one peels before eating",
    ),
    Category(
        name="apple",
        draw=draw_apple,
        gloss=0.3,
        size=0.23,
        colours=("red", "green"),
        contexts=("kitchen",),
        shape="round",
        nature="edible",
        purpose="the fruit that cider is made from",
    ),
    Category(
        name="strawberry",
        draw=draw_strawberry,
        size=0.22,
        colours=("red",),
        surface="strawberry",
        contexts=("kitchen",),
        shape="round",
        nature="edible",
        purpose="the berry that one eats with cream",
        plural="strawberries",
    ),
    Category(
        name="watermelon",
        draw=draw_watermelon,
        size=0.31,
        colours=("green",),
        surface="watermelon",
        contexts=("kitchen", "beach"),
        shape="round",
        nature="edible",
        purpose="the big fruit that one slices on a hot day",
    ),
    Category(
        name="pineapple",
        draw=draw_pineapple,
        size=0.4,
        colours=("yellow",),
        surface="pineapple",
        contexts=("kitchen", "beach"),
        shape="upright",
        nature="edible",
        purpose="the tropical fruit that one cuts into rings",
    ),
)
