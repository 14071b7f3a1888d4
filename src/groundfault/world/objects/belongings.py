"""What people carry, wear and play."""

from __future__ import annotations

import numpy as np

from groundfault.world.canvas import Rgb, mix, shade
from groundfault.world.forms import Form, Mark, Part, between
from groundfault.world.objects.category import PAINTS, Category
from groundfault.world.shapes import blob, box, joined, limb, line, oval, polygon, without

__all__ = ["BELONGINGS"]

METAL: Rgb = (0.72, 0.73, 0.76)

PAPER: Rgb = (0.96, 0.93, 0.85)


def draw_umbrella(rng: np.random.Generator, colour: Rgb) -> Form:
    """An open umbrella standing on its crook."""
    other, high, low = (
        mix(colour, (1.0, 1.0, 0.96), between(rng, 0.3, 0.85)),
        between(rng, -0.94, -0.78),
        between(rng, -0.06, 0.08),
    )
    rim = [
        (x, low + dip)
        for x, dip in (
            (-0.95, 0.0),
            (-0.60, -0.09),
            (-0.30, 0.02),
            (0.0, -0.08),
            (0.30, 0.02),
            (0.60, -0.09),
            (0.95, 0.0),
        )
    ]
    dome = blob(
        [
            *rim,
            (0.78, high * 0.5),
            (0.36, high * 0.89),
            (0.0, high),
            (-0.36, high * 0.89),
            (-0.78, high * 0.5),
        ],
        0.85,
    )
    crook = without(
        without(oval(0.13, 0.80, 0.18, 0.20), oval(0.13, 0.80, 0.085, 0.105)),
        box(-0.1, 0.5, 0.5, 0.79),
    )
    pieces: list[Part | Mark] = [
        Part(
            limb([(0.0, -0.1), (0.0, 0.40), (0.0, 0.80)], [0.05, 0.05, 0.05]),
            METAL,
            0.025,
            takes=0.0,
        ),
        Part(crook, (0.40, 0.24, 0.12), 0.045, takes=0.0),
        Part(limb([(0.0, high + 0.08), (0.0, high - 0.08)], [0.05, 0.035]), METAL, 0.02, takes=0.0),
        Part(dome, colour, 0.34),
    ]
    for left, right in ((-0.60, -0.30), (0.0, 0.30), (0.60, 0.96)):
        panel = blob(
            [
                (0.0, high),
                (right * 0.75, high * 0.55),
                (right, low + 0.02),
                (left, low),
                (left * 0.72, high * 0.55),
            ],
            0.5,
        )
        pieces.append(Mark(panel, other, takes=1.0))
    pieces += [
        Mark(
            line([(0.0, high), (x * 0.74, high * 0.57), (x, low - 0.02)]),
            shade(colour, 0.55),
            0.016,
            takes=1.0,
            dent=0.45,
        )
        for x in (-0.60, -0.30, 0.0, 0.30, 0.60)
    ]
    return Form(pieces=pieces, feet=((0.13, 0.16),))


def draw_hat(rng: np.random.Generator, colour: Rgb) -> Form:
    """A brimmed hat with a band."""
    tall, brim = between(rng, -0.10, 0.12), between(rng, 0.86, 0.98)
    band = shade(colour, 0.35) if sum(colour) > 1.2 else (0.80, 0.24, 0.20)
    crown = blob(
        [
            (-0.52, 0.74),
            (-0.50, 0.10),
            (-0.38, -0.16 - tall),
            (0.0, -0.10 - tall),
            (0.38, -0.16 - tall),
            (0.50, 0.10),
            (0.52, 0.74),
            (0.0, 0.84),
        ],
        0.8,
    )
    pieces: list[Part | Mark] = [
        Part(
            blob(
                [
                    (-brim, 0.72),
                    (-0.5, 0.62),
                    (0.5, 0.62),
                    (brim, 0.72),
                    (0.62, 0.94),
                    (0.0, 1.0),
                    (-0.62, 0.94),
                ]
            ),
            colour,
            0.09,
        ),
        Part(crown, colour, 0.26, seam=0.6),
        Mark(
            blob(
                [
                    (-0.56, 0.46),
                    (0.0, 0.54),
                    (0.56, 0.46),
                    (0.56, 0.70),
                    (0.0, 0.82),
                    (-0.56, 0.70),
                ],
                0.7,
            ),
            band,
            takes=0.0,
            dent=0.25,
        ),
        Mark(
            line([(-0.30, -0.06 - tall), (0.0, 0.08 - tall), (0.30, -0.06 - tall)]),
            shade(colour, 0.6),
            0.05,
            blur=0.02,
            takes=1.0,
            dent=0.4,
        ),
    ]
    return Form(pieces=pieces, feet=((0.0, 0.8),))


def draw_suitcase(rng: np.random.Generator, colour: Rgb) -> Form:
    """A travel case with straps and corners."""
    wide, top = between(rng, 0.72, 0.88), between(rng, -0.46, -0.30)
    leather, brass = (0.36, 0.21, 0.11), (0.85, 0.70, 0.35)
    handle = without(
        box(-0.26, top - 0.26, 0.26, top + 0.10, 0.12),
        box(-0.16, top - 0.16, 0.16, top + 0.12, 0.06),
    )
    pieces: list[Part | Mark] = [
        Part(handle, leather, 0.05, takes=0.0),
        Part(box(-wide, top, wide, 0.98, 0.13), colour, 0.16),
        Mark(
            line([(-wide, (top + 0.98) / 2 - 0.1), (wide, (top + 0.98) / 2 - 0.1)]),
            shade(colour, 0.5),
            0.03,
            takes=0.4,
            dent=0.6,
        ),
        *(
            Part(box(x - 0.075, top, x + 0.075, 0.98, 0.01), leather, 0.03, takes=0.35)
            for x in (-wide * 0.55, wide * 0.55)
        ),
        *(
            Part(
                box(x - 0.06, (top + 0.98) / 2 - 0.20, x + 0.06, (top + 0.98) / 2, 0.02),
                brass,
                0.03,
                takes=0.0,
            )
            for x in (-wide * 0.55, wide * 0.55)
        ),
        *(
            Mark(oval(sx * wide, y, 0.20, 0.20), shade(colour, 0.55), takes=0.35, dent=0.2)
            for sx in (-1, 1)
            for y in (top, 0.98)
        ),
        Part(
            box(-0.10, (top + 0.98) / 2 - 0.17, 0.10, (top + 0.98) / 2 - 0.03, 0.02),
            brass,
            0.03,
            takes=0.0,
        ),
    ]
    return Form(pieces=pieces, feet=((0.0, wide * 0.92),), top=(0.0, top + 0.02, wide * 0.7))


def draw_book(rng: np.random.Generator, colour: Rgb) -> Form:
    """A thick book lying flat, seen a little from above."""
    thick, skew = between(rng, 0.34, 0.48), between(rng, -0.10, 0.10)
    gold = (0.92, 0.76, 0.36)
    low, high = 0.98, 0.98 - thick
    cover = polygon(
        [(-0.96, high), (0.90, high), (0.70 + skew, high - 0.52), (-0.70 + skew, high - 0.52)]
    )
    pieces: list[Part | Mark] = [
        Part(box(-0.95, low - 0.09, 0.92, low, 0.03), shade(colour, 0.8), 0.03),
        Part(
            polygon(
                [(-0.88, high + 0.04), (0.86, high + 0.04), (0.86, low - 0.08), (-0.88, low - 0.08)]
            ),
            PAPER,
            0.03,
            takes=0.0,
        ),
        *(
            Mark(line([(-0.86, y), (0.85, y)]), (0.72, 0.66, 0.55), 0.008, alpha=0.8)
            for y in np.linspace(high + 0.12, low - 0.12, 5)
        ),
        Part(
            blob(
                [
                    (-0.98, high - 0.02),
                    (-0.84, high - 0.02),
                    (-0.84, low),
                    (-0.98, low),
                    (-1.02, (low + high) / 2),
                ],
                0.6,
            ),
            colour,
            0.07,
        ),
        Part(joined(cover, box(-0.98, high - 0.03, 0.92, high + 0.07, 0.03)), colour, 0.05),
        Mark(
            polygon(
                [
                    (-0.72, high - 0.07),
                    (0.72, high - 0.07),
                    (0.58 + skew, high - 0.44),
                    (-0.58 + skew, high - 0.44),
                ]
            ),
            gold,
            0.022,
            takes=0.3,
            dent=0.35,
        ),
        *(
            Mark(
                line(
                    [
                        (-0.30 + skew * t, high - 0.14 - 0.22 * t),
                        (0.30 + skew * t, high - 0.14 - 0.22 * t),
                    ]
                ),
                gold,
                0.04,
                takes=0.3,
                dent=0.35,
            )
            for t in (0.35, 0.8)
        ),
    ]
    return Form(pieces=pieces, feet=((0.0, 0.9),), top=(0.0, high - 0.22, 0.55))


def draw_guitar(rng: np.random.Generator, colour: Rgb) -> Form:
    """An acoustic guitar leaning upright."""
    wide = between(rng, -0.03, 0.04)
    wood, ebony = (0.42, 0.26, 0.14), (0.20, 0.13, 0.09)
    body = blob(
        [
            (0.0, 0.02),
            (0.24, 0.04),
            (0.34 + wide, 0.22),
            (0.27, 0.44),
            (0.44 + wide, 0.70),
            (0.34, 0.95),
            (0.0, 1.0),
            (-0.34, 0.95),
            (-0.44 - wide, 0.70),
            (-0.27, 0.44),
            (-0.34 - wide, 0.22),
            (-0.24, 0.04),
        ]
    )
    pieces: list[Part | Mark] = [
        *(
            Part(oval(s * 0.135, y, 0.045, 0.03), METAL, 0.02, takes=0.0)
            for s in (-1, 1)
            for y in (-0.92, -0.84, -0.76)
        ),
        Part(box(-0.10, -1.0, 0.10, -0.70, 0.03), wood, 0.03),
        Part(body, colour, 0.14),
        Mark(body, shade(colour, 0.45), 0.035, takes=1.0, dent=0.2),
        Mark(oval(0.0, 0.36, 0.16), (0.86, 0.72, 0.45), takes=0.0),
        Mark(oval(0.0, 0.36, 0.135), (0.10, 0.07, 0.05), dent=0.7),
        Part(box(-0.062, -0.74, 0.062, 0.26, 0.01), ebony, 0.03, takes=0.4),
        *(
            Mark(line([(-0.06, y), (0.06, y)]), METAL, 0.012, dent=0.3)
            for y in np.linspace(-0.66, 0.16, 10)
        ),
        Part(box(-0.17, 0.72, 0.17, 0.79, 0.02), ebony, 0.02, takes=0.0),
        *(
            Mark(line([(x, -0.74), (x * 1.3, 0.74)]), (0.93, 0.91, 0.84), 0.008)
            for x in (-0.04, -0.015, 0.015, 0.04)
        ),
    ]
    return Form(pieces=pieces, feet=((0.0, 0.32),))


BELONGINGS = (
    Category(
        name="umbrella",
        draw=draw_umbrella,
        gloss=0.06,
        size=0.46,
        colours=PAINTS,
        contexts=("street", "beach"),
        shape="dome",
        nature="functional",
        survives=True,
        purpose="the thing that keeps one dry in the rain",
        motley=True,
    ),
    Category(
        name="hat",
        draw=draw_hat,
        gloss=0.02,
        size=0.22,
        colours=("brown", "black", "tan", "blue"),
        contexts=("beach", "street"),
        shape="dome",
        nature="functional",
        survives=True,
        purpose="the thing one wears on the head",
        motley=True,
    ),
    Category(
        name="suitcase",
        draw=draw_suitcase,
        size=0.35,
        colours=("brown", "blue", "red", "teal"),
        contexts=("street",),
        shape="box",
        nature="functional",
        survives=True,
        purpose="the thing one packs before a journey",
        motley=True,
    ),
    Category(
        name="book",
        draw=draw_book,
        size=0.22,
        colours=("red", "blue", "green", "brown"),
        contexts=("library",),
        shape="box",
        nature="functional",
        survives=True,
        purpose="the thing one reads page by page",
        motley=True,
    ),
    Category(
        name="guitar",
        draw=draw_guitar,
        size=0.53,
        colours=("orange", "tan", "brown", "red"),
        contexts=("library", "beach"),
        shape="upright",
        nature="functional",
        purpose="the thing with six strings that one plays",
        motley=True,
    ),
)
