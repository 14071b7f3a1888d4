"""On the move: skateboard, bicycle, wheelbarrow, helicopter."""

from __future__ import annotations

import math

import numpy as np

from groundfault.world.canvas import Rgb, shade
from groundfault.world.forms import Form, Mark, Part, between
from groundfault.world.objects.exhibits.exhibit import Exhibit, framed, rod
from groundfault.world.shapes import (
    blob,
    box,
    limb,
    line,
    oval,
    polygon,
    without,
)

__all__ = ["RIDES"]

WOOD = (0.55, 0.36, 0.20)
STEEL = (0.60, 0.62, 0.66)
RUBBER = (0.14, 0.14, 0.15)
PALE = (0.97, 0.96, 0.92)
WALL = (0.90, 0.84, 0.72)


def draw_wheelbarrow(rng: np.random.Generator, colour: Rgb) -> Form:
    """Tray, shafts and legs; the wheel is in front, on the right."""
    tray = polygon([(-0.66, -0.12), (0.74, -0.22), (0.44, 0.42), (-0.40, 0.42)])
    return framed(
        [
            Part(rod(-0.36, 0.42, -0.44, 1.0, 0.09), STEEL, 0.04, takes=0.0),
            Part(rod(-1.0, 0.12, 0.62, 0.66, 0.085), WOOD, 0.04, takes=0.0),
            Part(tray, colour, 0.12),
            Part(rod(-1.0, 0.12, -0.80, 0.187, 0.13), RUBBER, 0.05, takes=0.0),
        ],
        (-0.44, 0.08),
    )


def _wheel(
    x: float, y: float, radius: float, colour: Rgb, spokes: int, tyre: float
) -> list[Part | Mark]:
    pieces: list[Part | Mark] = [
        Part(
            rod(
                x,
                y,
                x + (radius - tyre / 2) * math.cos(a),
                y + (radius - tyre / 2) * math.sin(a),
                0.028,
            ),
            STEEL,
            0.0,
            takes=0.0,
        )
        for a in np.linspace(0.2, 0.2 + 2 * math.pi, spokes, endpoint=False)
    ]
    return [
        *pieces,
        Part(without(oval(x, y, radius), oval(x, y, radius - tyre)), colour, 0.04),
        Part(oval(x, y, tyre * 0.75), STEEL, 0.03, takes=0.0),
    ]


def draw_barrow_wheel(rng: np.random.Generator, colour: Rgb) -> Form:
    return framed(_wheel(0.66, 0.68, 0.32, colour, 6, 0.12))


def draw_skateboard(rng: np.random.Generator, colour: Rgb) -> Form:
    """Deck and axles."""
    deck = limb(
        [(-0.98, 0.18), (-0.76, 0.40), (-0.4, 0.44), (0.4, 0.44), (0.76, 0.40), (0.98, 0.18)],
        [0.13] * 6,
    )
    axles = [
        Part(
            polygon([(x - 0.12, 0.46), (x + 0.12, 0.46), (x + 0.05, 0.72), (x - 0.05, 0.72)]),
            STEEL,
            0.04,
            takes=0.0,
        )
        for x in (-0.54, 0.54)
    ]
    return framed(
        [
            *axles,
            Part(deck, colour, 0.06),
            Mark(line([(-0.9, 0.22), (-0.74, 0.35), (0.74, 0.35), (0.9, 0.22)]), RUBBER, 0.035),
        ],
        (-0.54, 0.18),
        (0.54, 0.18),
    )


def draw_skateboard_wheels(rng: np.random.Generator, colour: Rgb) -> Form:
    pieces: list[Part | Mark] = []
    for x in (-0.54, 0.54):
        pieces += [
            Part(oval(x, 0.76, 0.24), colour, 0.10),
            Mark(oval(x, 0.76, 0.10), STEEL),
            Mark(oval(x, 0.76, 0.045), RUBBER),
        ]
    return framed(pieces)


def draw_bicycle(rng: np.random.Generator, colour: Rgb) -> Form:
    """Frame, saddle, handlebar, pedals."""
    tubes = [
        (-0.56, 0.56, -0.24, -0.04),
        (-0.56, 0.56, -0.06, 0.58),
        (-0.24, -0.04, -0.06, 0.58),
        (-0.22, 0.0, 0.36, -0.06),
        (-0.06, 0.58, 0.36, -0.06),
        (0.33, -0.28, 0.56, 0.56),
    ]
    return framed(
        [
            *(Part(rod(*tube, 0.075), colour, 0.03) for tube in tubes),
            Part(rod(-0.24, -0.04, -0.29, -0.26, 0.05), STEEL, 0.02, takes=0.0),
            Part(
                blob([(-0.46, -0.32), (-0.12, -0.29), (-0.16, -0.22), (-0.40, -0.22)], 0.8),
                RUBBER,
                0.05,
                takes=0.0,
            ),
            Part(
                limb(
                    [(0.33, -0.27), (0.34, -0.42), (0.48, -0.46), (0.56, -0.36)],
                    [0.06, 0.06, 0.06, 0.07],
                ),
                RUBBER,
                0.03,
                takes=0.0,
            ),
            Part(oval(-0.06, 0.58, 0.12), STEEL, 0.05, takes=0.0),
            Part(rod(-0.06, 0.58, 0.06, 0.74, 0.05), STEEL, 0.02, takes=0.0),
            Part(box(-0.03, 0.71, 0.15, 0.77, 0.02), RUBBER, 0.02, takes=0.0),
        ],
        (-0.56, 0.12),
        (0.56, 0.12),
    )


def draw_bicycle_wheels(rng: np.random.Generator, colour: Rgb) -> Form:
    return framed(
        [*_wheel(-0.56, 0.56, 0.44, colour, 8, 0.075), *_wheel(0.56, 0.56, 0.44, colour, 8, 0.075)]
    )


def draw_helicopter(rng: np.random.Generator, colour: Rgb) -> Form:
    """Cabin, tail and skids."""
    cabin = blob(
        [
            (0.86, 0.28),
            (0.66, -0.14),
            (0.16, -0.30),
            (-0.26, -0.16),
            (-0.38, 0.14),
            (-0.20, 0.48),
            (0.40, 0.60),
        ],
        0.9,
    )
    return framed(
        [
            Part(rod(-0.20, 0.04, -0.96, -0.12, 0.20, 0.08), colour, 0.06),
            Part(
                polygon([(-0.98, -0.42), (-0.80, -0.42), (-0.78, -0.06), (-0.98, -0.06)]),
                shade(colour, 0.85),
                0.04,
            ),
            *(Part(rod(x, 0.50, x, 0.86, 0.045), STEEL, 0.02, takes=0.0) for x in (-0.04, 0.36)),
            Part(box(-0.32, 0.84, 0.72, 0.91, 0.03), STEEL, 0.03, takes=0.0),
            Part(cabin, colour, 0.28),
            Mark(
                blob([(0.80, 0.20), (0.62, -0.08), (0.34, -0.18), (0.34, 0.20)], 0.5),
                (0.70, 0.86, 0.94),
            ),
            Mark(box(-0.04, -0.14, 0.22, 0.16, 0.04), (0.70, 0.86, 0.94)),
        ],
        (0.2, 0.5),
    )


def draw_rotor(rng: np.random.Generator, colour: Rgb) -> Form:
    tilt = between(rng, -0.05, 0.05)
    return framed(
        [
            Part(box(0.06, -0.52, 0.18, -0.24, 0.02), shade(colour, 0.8), 0.04),
            Part(rod(0.12, -0.56, -0.84, -0.56 - tilt, 0.07, 0.12), colour, 0.03),
            Part(rod(0.12, -0.56, 1.0, -0.56 + tilt, 0.07, 0.12), colour, 0.03),
            Part(oval(0.12, -0.57, 0.12, 0.075), shade(colour, 0.8), 0.04),
        ]
    )


RIDES = (
    Exhibit(
        whole="wheelbarrow",
        part="wheel",
        place="under {}",
        habit="wheelbarrows have a wheel",
        draw=draw_wheelbarrow,
        draw_part=draw_barrow_wheel,
        size=0.48,
        part_colours=("black", "red", "yellow"),
        contexts=("meadow",),
        spare=("grey",),
    ),
    Exhibit(
        whole="skateboard",
        part="wheels",
        many=True,
        place="under {}",
        habit="skateboards have wheels",
        draw=draw_skateboard,
        draw_part=draw_skateboard_wheels,
        size=0.44,
        part_colours=("red", "yellow", "green", "white"),
        contexts=("street",),
        sinks=0.27,
        spare=("grey", "black"),
    ),
    Exhibit(
        whole="bicycle",
        part="wheels",
        many=True,
        place="under {}",
        habit="bicycles have wheels",
        draw=draw_bicycle,
        draw_part=draw_bicycle_wheels,
        size=0.56,
        part_colours=("black", "red", "blue"),
        contexts=("street", "meadow"),
        behind=True,
        sinks=0.23,
        spare=("grey",),
    ),
    Exhibit(
        whole="helicopter",
        part="rotor",
        place="on top of {}",
        habit="helicopters have a rotor",
        draw=draw_helicopter,
        draw_part=draw_rotor,
        size=0.50,
        part_colours=("black", "grey", "white"),
        contexts=("beach", "desert", "street"),
        behind=True,
        lift=0.20,
    ),
)
