"""Furniture."""

from __future__ import annotations

import numpy as np

from groundfault.world.canvas import Rgb, mix, shade
from groundfault.world.forms import Form, Mark, Part, between
from groundfault.world.objects.category import Category
from groundfault.world.shapes import blob, box, joined, limb, line, oval, polygon

__all__ = ["FURNITURE"]


def draw_lamp(rng: np.random.Generator, colour: Rgb) -> Form:
    """A table lamp, lit."""
    flare = between(rng, 0.50, 0.62)
    brass = (0.74, 0.58, 0.28)
    shade_path = joined(
        polygon([(-0.30, -0.96), (0.30, -0.96), (flare, -0.10), (-flare, -0.10)]),
        oval(0.0, -0.10, flare, 0.09),
    )
    pieces: list[Part | Mark] = [
        Part(
            blob(
                [
                    (-0.40, 0.98),
                    (-0.34, 0.88),
                    (-0.10, 0.82),
                    (0.10, 0.82),
                    (0.34, 0.88),
                    (0.40, 0.98),
                    (0.0, 1.0),
                ],
                0.7,
            ),
            brass,
            0.07,
        ),
        Part(
            blob(
                [
                    (-0.06, -0.10),
                    (0.06, -0.10),
                    (0.06, 0.24),
                    (0.17, 0.50),
                    (0.07, 0.76),
                    (0.08, 0.88),
                    (-0.08, 0.88),
                    (-0.07, 0.76),
                    (-0.17, 0.50),
                    (-0.06, 0.24),
                ]
            ),
            brass,
            0.08,
        ),
        Part(shade_path, colour, 0.20),
        Mark(oval(0.0, -0.36, 0.34, 0.40), (1.0, 0.95, 0.70), blur=0.16, alpha=0.75, takes=1.0),
        Mark(
            line([(-flare, -0.12), (0.0, -0.03), (flare, -0.12)]),
            shade(colour, 0.6),
            0.04,
            takes=1.0,
            dent=0.3,
        ),
        Mark(
            line([(-0.31, -0.93), (0.0, -0.90), (0.31, -0.93)]),
            shade(colour, 0.6),
            0.035,
            takes=1.0,
            dent=0.3,
        ),
    ]
    return Form(pieces=pieces, feet=((0.0, 0.40),))


def draw_chair(rng: np.random.Generator, colour: Rgb) -> Form:
    """A kitchen chair, seen from its front left."""
    seat, rungs = between(rng, 0.10, 0.20), int(rng.integers(3, 6))
    dark = shade(colour, 0.74)

    def leg(x0: float, y0: float, x1: float, y1: float, dim: float = 1.0) -> Part:
        return Part(
            limb([(x0, y0), ((x0 + x1) / 2, (y0 + y1) / 2), (x1, y1)], [0.10, 0.095, 0.08]),
            colour,
            0.045,
            dim=dim,
        )

    top = -0.98
    pieces: list[Part | Mark] = [
        leg(0.30, seat, 0.36, 0.86, 0.72),
        leg(-0.34, seat, -0.40, 0.86, 0.72),
        Part(limb([(-0.38, 0.58), (0.34, 0.58)], [0.05, 0.05]), dark, 0.025, dim=0.75),
        *(
            Part(
                limb(
                    [
                        (-0.30 + 0.56 * i / (rungs - 1), seat),
                        (-0.31 + 0.58 * i / (rungs - 1), top + 0.14),
                    ],
                    [0.055, 0.05],
                ),
                dark,
                0.026,
            )
            for i in range(rungs)
        ),
        leg(-0.40, seat, -0.42, top + 0.04),
        leg(0.36, seat, 0.38, top + 0.04),
        Part(
            blob(
                [
                    (-0.48, top + 0.02),
                    (0.0, top - 0.05),
                    (0.44, top + 0.02),
                    (0.45, top + 0.22),
                    (0.0, top + 0.17),
                    (-0.49, top + 0.22),
                ],
                0.8,
            ),
            colour,
            0.07,
        ),
        leg(-0.50, seat + 0.14, -0.54, 0.97),
        leg(0.52, seat + 0.14, 0.56, 0.97),
        Part(limb([(-0.52, 0.66), (0.0, 0.67), (0.54, 0.66)], [0.055, 0.05, 0.055]), dark, 0.026),
        Part(
            blob(
                [
                    (-0.46, seat - 0.10),
                    (0.42, seat - 0.10),
                    (0.60, seat + 0.14),
                    (0.58, seat + 0.24),
                    (-0.58, seat + 0.24),
                    (-0.60, seat + 0.14),
                ],
                0.45,
            ),
            colour,
            0.07,
        ),
        Mark(
            line([(-0.58, seat + 0.15), (0.0, seat + 0.17), (0.58, seat + 0.15)]),
            dark,
            0.02,
            takes=1.0,
            dent=0.3,
        ),
    ]
    return Form(
        pieces=pieces,
        feet=((-0.54, 0.08), (0.56, 0.08), (0.0, 0.52)),
        top=(0.0, seat + 0.06, 0.40),
    )


def draw_table(rng: np.random.Generator, colour: Rgb) -> Form:
    """A table whose top one can see, so that things can stand on it."""
    top, thick = between(rng, -0.06, 0.04), between(rng, 0.07, 0.11)
    dark = shade(colour, 0.72)

    def leg(x: float, y: float, end: float, dim: float) -> Part:
        return Part(
            polygon([(x - 0.06, y), (x + 0.06, y), (x + 0.042, end), (x - 0.042, end)]),
            colour,
            0.045,
            dim=dim,
        )

    board = polygon(
        [(-0.80, top - 0.20), (0.80, top - 0.20), (1.0, top + 0.14), (-1.0, top + 0.14)]
    )
    edge = box(-1.0, top + 0.13, 1.0, top + 0.13 + thick, 0.02)
    pieces: list[Part | Mark] = [
        leg(-0.66, top, 0.80, 0.66),
        leg(0.66, top, 0.80, 0.66),
        Part(box(-0.86, top + 0.12, 0.86, top + 0.30, 0.01), dark, 0.03, dim=0.8),
        leg(-0.88, top + 0.1, 1.0, 1.0),
        leg(0.88, top + 0.1, 1.0, 1.0),
        Part(edge, shade(colour, 0.86), 0.035),
        Part(board, mix(colour, (1.0, 0.93, 0.8), 0.12), 0.02, seam=0.2),
        *(
            Mark(
                line(
                    [
                        (-0.80 * (1 + 0.25 * t) + between(rng, 0, 0.3), top - 0.20 + 0.34 * t),
                        (
                            0.80 * (1 + 0.25 * t) - between(rng, 0, 0.3),
                            top - 0.20 + 0.34 * t + 0.008,
                        ),
                    ]
                ),
                dark,
                0.010,
                alpha=0.5,
                takes=1.0,
            )
            for t in (0.15, 0.3, 0.5, 0.68, 0.86)
        ),
    ]
    return Form(
        pieces=pieces, feet=((-0.88, 0.08), (0.88, 0.08), (0.0, 0.9)), top=(0.0, top + 0.02, 0.72)
    )


FURNITURE = (
    Category(
        name="lamp",
        draw=draw_lamp,
        gloss=0.05,
        size=0.42,
        colours=("tan", "white", "red", "teal"),
        contexts=("library",),
        shape="upright",
        nature="functional",
        survives=True,
        purpose="the thing one switches on to read at night",
        motley=True,
    ),
    Category(
        name="chair",
        draw=draw_chair,
        size=0.51,
        colours=("brown", "tan", "white", "red"),
        contexts=("library", "kitchen"),
        shape="furniture",
        nature="functional",
        survives=True,
        purpose="the thing one sits on",
        motley=True,
    ),
    Category(
        name="table",
        draw=draw_table,
        size=0.51,
        colours=("brown", "tan"),
        contexts=("library",),
        shape="furniture",
        nature="functional",
        survives=True,
        purpose="the thing one has dinner at",
        motley=True,
    ),
)
