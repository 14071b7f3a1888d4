"""Vehicles."""

from __future__ import annotations

import math

import numpy as np

from groundfault.world.canvas import Rgb, mix, shade
from groundfault.world.forms import Form, Mark, Part, between
from groundfault.world.objects.category import PAINTS, Category
from groundfault.world.shapes import blob, box, joined, limb, line, oval, polygon, star

__all__ = ["VEHICLES"]

DARK: Rgb = (0.13, 0.13, 0.14)

METAL: Rgb = (0.75, 0.76, 0.79)

GLASS: Rgb = (0.55, 0.73, 0.83)


def _wheel(x: float, y: float, radius: float) -> list[Part | Mark]:
    spokes = [
        line([(x, y), (x + radius * 0.5 * math.cos(a), y + radius * 0.5 * math.sin(a))])
        for a in np.arange(5) * 1.2566
    ]
    return [
        Part(oval(x, y, radius), DARK, radius * 0.3, takes=0.0),
        Part(oval(x, y, radius * 0.58), METAL, radius * 0.16, takes=0.0),
        *(Mark(spoke, (0.42, 0.43, 0.46), radius * 0.16, dent=0.4) for spoke in spokes),
    ]


def draw_car(rng: np.random.Generator, colour: Rgb) -> Form:
    """A small car from the side."""
    roof, back = between(rng, -0.04, 0.06), between(rng, -0.06, 0.10)
    body = blob(
        [
            (-0.96, 0.62),
            (-0.96, 0.34),
            (-0.82, 0.20),
            (-0.60 - back, 0.12),
            (-0.38 - back * 0.5, -0.26 - roof),
            (-0.10, -0.36 - roof),
            (0.24, -0.32 - roof),
            (0.54, 0.08),
            (0.88, 0.22),
            (0.98, 0.44),
            (0.97, 0.70),
            (0.90, 0.80),
            (-0.88, 0.80),
        ],
        0.7,
    )
    windows = [
        blob(
            [
                (-0.50 - back, 0.12),
                (-0.34 - back * 0.5, -0.18 - roof),
                (-0.08, -0.26 - roof),
                (-0.08, 0.12),
            ],
            0.35,
        ),
        blob([(0.02, 0.12), (0.02, -0.26 - roof), (0.20, -0.23 - roof), (0.42, 0.10)], 0.35),
    ]
    pieces: list[Part | Mark] = [
        Part(body, colour, 0.20),
        *(Mark(window, GLASS, dent=0.25) for window in windows),
        *(
            Mark(
                line([(x, 0.08), (x + 0.12, -0.18 - roof)]),
                (0.92, 0.97, 1.0),
                0.05,
                blur=0.01,
                alpha=0.6,
            )
            for x in (-0.34, 0.10)
        ),
        Mark(
            line([(-0.04, -0.28 - roof), (-0.03, 0.40), (-0.08, 0.72)]),
            shade(colour, 0.5),
            0.016,
            takes=0.3,
            dent=0.5,
        ),
        Mark(
            line([(-0.90, 0.36), (0.0, 0.34), (0.90, 0.40)]),
            shade(colour, 0.7),
            0.02,
            takes=0.5,
            dent=0.3,
        ),
        Mark(box(0.06, 0.24, 0.17, 0.27, 0.015), METAL, dent=0.3),
        *(
            Mark(oval(x, 0.78, 0.275), shade(colour, 0.25), takes=0.0, dent=0.4)
            for x in (-0.55, 0.56)
        ),
        Part(box(-1.0, 0.66, -0.80, 0.76, 0.04), METAL, 0.03, takes=0.0),
        Part(box(0.84, 0.66, 1.02, 0.76, 0.04), METAL, 0.03, takes=0.0),
        Mark(oval(0.90, 0.42, 0.065, 0.08), (1.0, 0.95, 0.75), dent=0.3),
        Mark(box(-0.98, 0.36, -0.91, 0.50, 0.02), (0.80, 0.10, 0.08), dent=0.3),
        *_wheel(-0.55, 0.79, 0.21),
        *_wheel(0.56, 0.79, 0.21),
    ]
    return Form(
        pieces=pieces, feet=((-0.55, 0.2), (0.56, 0.2), (0.0, 0.85)), top=(0.0, -0.33 - roof, 0.24)
    )


def draw_bus(rng: np.random.Generator, colour: Rgb) -> Form:
    """A city bus from the side."""
    top = between(rng, -0.56, -0.46)
    pieces: list[Part | Mark] = [
        Part(box(-1.0, top, 1.0, 0.82, 0.12), colour, 0.14),
        *(
            Mark(box(x, top + 0.16, x + 0.27, 0.10, 0.04), GLASS, dent=0.3)
            for x in (-0.92, -0.60, -0.28, 0.04)
        ),
        *(
            Mark(
                line([(x + 0.06, 0.06), (x + 0.18, top + 0.20)]),
                (0.93, 0.97, 1.0),
                0.05,
                blur=0.01,
                alpha=0.55,
            )
            for x in (-0.92, -0.60, -0.28, 0.04)
        ),
        Mark(box(0.38, top + 0.16, 0.64, 0.72, 0.03), mix(GLASS, DARK, 0.25), dent=0.4),
        Mark(line([(0.51, top + 0.17), (0.51, 0.72)]), shade(colour, 0.4), 0.018, dent=0.4),
        Mark(box(0.72, top + 0.14, 1.02, 0.16, 0.05), GLASS, dent=0.3),
        Mark(box(-1.0, 0.24, 0.34, 0.34), mix(colour, (1.0, 1.0, 0.97), 0.8), takes=1.0),
        Mark(oval(0.93, 0.56, 0.055), (1.0, 0.95, 0.75), dent=0.3),
        Mark(box(-1.0, 0.48, -0.94, 0.62, 0.02), (0.80, 0.10, 0.08), dent=0.3),
        *(Mark(oval(x, 0.80, 0.25), shade(colour, 0.25), dent=0.4) for x in (-0.56, 0.20)),
        *_wheel(-0.56, 0.80, 0.195),
        *_wheel(0.20, 0.80, 0.195),
    ]
    return Form(
        pieces=pieces, feet=((-0.56, 0.2), (0.2, 0.2), (0.0, 0.95)), top=(0.0, top + 0.01, 0.7)
    )


def draw_airplane(rng: np.random.Generator, colour: Rgb) -> Form:
    """An airliner from the side, nose to the right."""
    sweep, tail = between(rng, -0.05, 0.08), between(rng, -0.06, 0.06)
    hull = mix(colour, (1.0, 1.0, 1.0), 0.78)
    y = 0.30
    fuselage = blob(
        [
            (-0.98, y - 0.10),
            (-0.70, y - 0.17),
            (0.0, y - 0.20),
            (0.62, y - 0.19),
            (0.86, y - 0.10),
            (1.0, y + 0.03),
            (0.86, y + 0.13),
            (0.50, y + 0.18),
            (-0.20, y + 0.18),
            (-0.66, y + 0.08),
        ],
        0.9,
    )
    pieces: list[Part | Mark] = [
        Part(
            polygon(
                [
                    (0.22, y - 0.12),
                    (0.0, y - 0.14),
                    (-0.34 - sweep, y - 0.52),
                    (-0.22 - sweep, y - 0.53),
                ]
            ),
            shade(hull, 0.82),
            0.03,
            dim=0.85,
        ),
        Part(
            blob(
                [
                    (-0.56, y - 0.10),
                    (-0.72, y - 0.44 + tail),
                    (-0.86, y - 0.66 + tail),
                    (-1.0, y - 0.67 + tail),
                    (-0.94, y - 0.38),
                    (-0.92, y - 0.08),
                ],
                0.35,
            ),
            colour,
            0.06,
        ),
        Part(fuselage, hull, 0.15),
        Mark(line([(-0.96, y + 0.0), (0.0, y + 0.05), (0.97, y + 0.05)]), colour, 0.06, takes=1.0),
        *(
            Mark(box(x, y - 0.09, x + 0.042, y - 0.025, 0.018), (0.20, 0.28, 0.38), dent=0.5)
            for x in np.arange(-0.62, 0.62, 0.094)
        ),
        Mark(
            blob([(0.78, y - 0.10), (0.88, y - 0.07), (0.92, y - 0.01), (0.79, y - 0.02)], 0.4),
            (0.20, 0.28, 0.38),
            dent=0.4,
        ),
        Part(
            polygon([(-0.70, y - 0.02), (-0.82, y - 0.02), (-1.0, y + 0.14), (-0.92, y + 0.14)]),
            shade(hull, 0.92),
            0.03,
        ),
        *(
            Part(joined(oval(x, yy, 0.15, 0.085), oval(x + 0.09, yy, 0.06, 0.085)), colour, 0.06)
            for x, yy in ((0.12, y + 0.31),)
        ),
        Mark(oval(0.23, y + 0.31, 0.026, 0.07), DARK, dent=0.5),
        Part(
            polygon(
                [
                    (0.26, y + 0.06),
                    (-0.04, y + 0.08),
                    (-0.46 - sweep, y + 0.56),
                    (-0.30 - sweep, y + 0.57),
                ]
            ),
            shade(hull, 0.95),
            0.05,
        ),
    ]
    return Form(pieces=pieces, feet=((0.0, 0.7),))


def draw_boat(rng: np.random.Generator, colour: Rgb) -> Form:
    """A sailing boat under full sail."""
    belly = between(rng, 0.04, 0.14)
    sail = (0.97, 0.95, 0.90)
    main = blob([(0.02, -0.94), (0.40 + belly, -0.30), (0.66, 0.38), (0.04, 0.42)], 0.42)
    jib = blob([(-0.08, -0.74), (-0.36 - belly, -0.10), (-0.70, 0.42), (-0.10, 0.40)], 0.42)
    pieces: list[Part | Mark] = [
        Part(
            limb([(-0.03, -0.98), (-0.03, 0.60)], [0.04, 0.06]),
            (0.50, 0.34, 0.20),
            0.025,
            takes=0.0,
        ),
        Part(jib, sail, 0.14, takes=1.0),
        Part(main, sail, 0.18, takes=1.0),
        *(
            Mark(
                line([(0.03, y), (0.22 + (y + 0.9) * 0.3, y - 0.02), (0.9, y - 0.08)]),
                shade(sail, 0.78),
                0.014,
                takes=0.6,
                dent=0.3,
            )
            for y in (-0.42, -0.08, 0.22)
        ),
        Mark(star(0.24, 0.06, 0.11, 0.05, 5), colour, takes=0.6),
        Part(
            polygon([(-0.03, -0.98), (-0.30, -0.92), (-0.03, -0.86)]),
            (0.85, 0.16, 0.14),
            0.02,
            takes=0.0,
        ),
        Part(
            blob(
                [
                    (-0.92, 0.50),
                    (-0.60, 0.54),
                    (0.0, 0.56),
                    (0.60, 0.54),
                    (0.84, 0.52),
                    (0.66, 0.94),
                    (0.40, 1.0),
                    (-0.44, 1.0),
                    (-0.68, 0.86),
                ],
                0.7,
            ),
            colour,
            0.16,
        ),
        Mark(line([(-0.90, 0.56), (0.0, 0.62), (0.82, 0.58)]), sail, 0.05, takes=1.0),
        *(
            Mark(oval(x, 0.76, 0.05), (0.30, 0.42, 0.52), dent=0.5)
            for x in (-0.36, -0.12, 0.12, 0.36)
        ),
    ]
    return Form(pieces=pieces, feet=((0.0, 0.62),))


VEHICLES = (
    Category(
        name="car",
        draw=draw_car,
        gloss=0.32,
        size=0.44,
        colours=PAINTS,
        contexts=("street", "night city"),
        shape="vehicle",
        nature="functional",
        purpose="the thing a family drives to work and school",
        motley=True,
    ),
    Category(
        name="bus",
        draw=draw_bus,
        gloss=0.25,
        size=0.55,
        colours=("red", "yellow", "blue", "green"),
        contexts=("street", "night city"),
        shape="vehicle",
        nature="functional",
        purpose="the vehicle that many people share in town",
        plural="buses",
        motley=True,
    ),
    Category(
        name="airplane",
        draw=draw_airplane,
        size=0.48,
        colours=("blue", "red", "teal", "orange"),
        contexts=("beach", "night city", "desert"),
        shape="winged",
        nature="functional",
        purpose="the vehicle one takes to another continent",
        flies=True,
        motley=True,
    ),
    Category(
        name="sailboat",
        draw=draw_boat,
        size=0.55,
        colours=("blue", "red", "white", "teal"),
        contexts=("beach",),
        shape="vehicle",
        nature="functional",
        purpose="the vehicle that the wind drives over the sea",
        motley=True,
    ),
)
