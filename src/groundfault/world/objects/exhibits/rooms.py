"""Indoors: clock, lamp, guitar, stool, hourglass, ladder, broom, racket, die."""

from __future__ import annotations

import math

import numpy as np

from groundfault.world.canvas import Rgb, mix, shade
from groundfault.world.forms import Form, Mark, Part, between
from groundfault.world.objects.exhibits.exhibit import Exhibit, framed, rod
from groundfault.world.shapes import blob, box, joined, line, oval, polygon, without

__all__ = ["ROOMS"]

WOOD = (0.62, 0.40, 0.22)
PAPER = (0.97, 0.96, 0.92)
STEEL = (0.66, 0.68, 0.72)


def draw_clock(rng: np.random.Generator, colour: Rgb) -> Form:
    """An alarm clock: two bells, a face with twelve strokes."""
    strokes = []
    for k in range(12):
        turn, inner = k * math.pi / 6, 0.46 if k % 3 == 0 else 0.51
        x, y = math.sin(turn), -math.cos(turn)
        strokes.append(
            Mark(
                line([(inner * x, 0.16 + inner * y), (0.58 * x, 0.16 + 0.58 * y)]),
                (0.15, 0.15, 0.18),
                0.055 if k % 3 == 0 else 0.03,
            )
        )
    return framed(
        [
            *(
                Part(rod(s * 0.40, 0.72, s * 0.56, 1.0, 0.14, 0.10), shade(colour, 0.7), 0.05)
                for s in (-1, 1)
            ),
            Part(box(-0.05, -0.94, 0.05, -0.62), STEEL, 0.03, takes=0.0),
            *(Part(oval(s * 0.42, -0.64, 0.34, 0.26, s * 32), colour, 0.16) for s in (-1, 1)),
            Part(oval(0.0, 0.16, 0.80), colour, 0.16),
            Part(oval(0.0, 0.16, 0.66), PAPER, 0.03, takes=0.0),
            *strokes,
        ],
        (-0.55, 0.08),
        (0.55, 0.08),
    )


def draw_hands(rng: np.random.Generator, colour: Rgb) -> Form:
    hour, minute = 2 * math.pi * float(rng.random()), 2 * math.pi * float(rng.random())
    if abs(math.sin((hour - minute) / 2)) < 0.45:  # two hands, not one
        minute += 2.0
    hands = [
        Part(
            rod(0.0, 0.16, long * math.sin(turn), 0.16 - long * math.cos(turn), wide, wide * 0.6),
            colour,
            0.03,
        )
        for turn, long, wide in ((hour, 0.34, 0.12), (minute, 0.50, 0.09))
    ]
    return framed([*hands, Part(oval(0.0, 0.16, 0.085), colour, 0.04)])


def draw_lamp(rng: np.random.Generator, colour: Rgb) -> Form:
    """A standing lamp with its bulb."""
    return framed(
        [
            Part(oval(0.0, 0.93, 0.40, 0.085), colour, 0.05),
            Part(box(-0.06, -0.30, 0.06, 0.92), colour, 0.05),
            Part(
                blob(
                    [
                        (-0.14, 0.86),
                        (-0.20, 0.62),
                        (-0.07, 0.40),
                        (0.07, 0.40),
                        (0.20, 0.62),
                        (0.14, 0.86),
                    ]
                ),
                colour,
                0.14,
            ),
            Part(box(-0.09, -0.42, 0.09, -0.26, 0.02), STEEL, 0.04, takes=0.0),
            Part(oval(0.0, -0.58, 0.19, 0.21), (1.0, 0.95, 0.70), 0.10, takes=0.0),
        ],
        (0.0, 0.38),
    )


def draw_shade(rng: np.random.Generator, colour: Rgb) -> Form:
    top = between(rng, 0.30, 0.44)
    cone = polygon([(-top, -0.96), (top, -0.96), (0.78, -0.14), (-0.78, -0.14)])
    pale = mix(colour, PAPER, 0.5)
    return framed(
        [
            Part(cone, colour, 0.22),
            Mark(line([(-0.74, -0.20), (0.74, -0.20)], soft=False), pale, 0.05),
            Mark(line([(-top, -0.91), (top, -0.91)], soft=False), pale, 0.05),
        ]
    )


def draw_guitar(rng: np.random.Generator, colour: Rgb) -> Form:
    """Upright, with a broad neck so that six strings can be told apart."""
    body = blob(
        [
            (-0.34, -0.04),
            (0.34, -0.04),
            (0.46, 0.16),
            (0.38, 0.34),
            (0.60, 0.62),
            (0.42, 0.94),
            (0.0, 1.0),
            (-0.42, 0.94),
            (-0.60, 0.62),
            (-0.38, 0.34),
            (-0.46, 0.16),
        ]
    )
    dark = (0.16, 0.10, 0.07)
    frets = [
        Mark(line([(-0.17, y), (0.17, y)], soft=False), (0.45, 0.36, 0.28), 0.016)
        for y in np.linspace(-0.66, 0.04, 8)
    ]
    pegs = [
        Part(oval(s * 0.25, y, 0.05), STEEL, 0.03, takes=0.0)
        for s in (-1, 1)
        for y in (-0.94, -0.86, -0.78)
    ]
    return framed(
        [
            Part(body, colour, 0.12),
            Mark(
                without(
                    body,
                    blob(
                        [
                            (-0.31, 0.0),
                            (0.31, 0.0),
                            (0.42, 0.16),
                            (0.34, 0.34),
                            (0.55, 0.62),
                            (0.39, 0.90),
                            (0.0, 0.95),
                            (-0.39, 0.90),
                            (-0.55, 0.62),
                            (-0.34, 0.34),
                            (-0.42, 0.16),
                        ]
                    ),
                ),
                shade(colour, 0.6),
                takes=1.0,
            ),
            Mark(oval(0.0, 0.36, 0.23), shade(colour, 0.55)),
            Mark(oval(0.0, 0.36, 0.19), dark, dent=0.5),
            *pegs,
            Part(box(-0.17, -0.74, 0.17, 0.14), dark, 0.02, takes=0.0),
            *frets,
            Part(
                blob([(-0.20, -1.0), (0.20, -1.0), (0.17, -0.72), (-0.17, -0.72)], 0.3),
                shade(colour, 0.6),
                0.04,
            ),
            Part(box(-0.24, 0.70, 0.24, 0.78, 0.03), dark, 0.03, takes=0.0),
        ],
        (0.0, 0.4),
    )


def draw_guitar_strings(rng: np.random.Generator, colour: Rgb) -> Form:
    return framed(
        [
            Part(box(x - 0.014, -0.90, x + 0.014, 0.74), colour, 0.0)
            for x in np.linspace(-0.13, 0.13, 5)
        ]
    )


def draw_stool(rng: np.random.Generator, colour: Rgb) -> Form:
    """The seat alone."""
    return framed(
        [
            Part(
                joined(oval(0.0, -0.36, 0.72, 0.17), oval(0.0, -0.22, 0.72, 0.17)),
                shade(colour, 0.85),
                0.12,
            ),
            Part(oval(0.0, -0.38, 0.71, 0.16), colour, 0.06),
        ],
        (0.0, 0.62),
    )


def draw_stool_legs(rng: np.random.Generator, colour: Rgb) -> Form:
    splay = between(rng, 0.10, 0.22)
    feet = ((-0.46, -0.46 - splay), (0.46, 0.46 + splay), (-0.12, -0.14), (0.30, 0.34))
    legs = [
        Part(
            rod(x, -0.22, foot, 0.98 if k < 2 else 0.86, 0.13, 0.10),
            shade(colour, 1.0 if k < 2 else 0.8),
            0.05,
            dim=1.0 if k < 2 else 0.8,
        )
        for k, (x, foot) in enumerate(feet)
    ]
    return framed(
        [*legs[2:], Part(box(-0.52, 0.36, 0.52, 0.45), shade(colour, 0.9), 0.04), *legs[:2]]
    )


def draw_hourglass(rng: np.random.Generator, colour: Rgb) -> Form:
    glass = blob(
        [
            (-0.44, -0.80),
            (0.44, -0.80),
            (0.42, -0.46),
            (0.06, 0.0),
            (0.42, 0.46),
            (0.44, 0.80),
            (-0.44, 0.80),
            (-0.42, 0.46),
            (-0.06, 0.0),
            (-0.42, -0.46),
        ],
        0.7,
    )
    return framed(
        [
            *(
                Part(box(s * 0.54 - 0.05, -0.84, s * 0.54 + 0.05, 0.84), shade(colour, 0.8), 0.05)
                for s in (-1, 1)
            ),
            Part(glass, (0.88, 0.94, 0.96), 0.20, takes=0.0),
            Mark(line([(-0.32, -0.70), (-0.30, -0.50), (-0.14, -0.24)]), (1.0, 1.0, 1.0), 0.05),
            Part(box(-0.68, -1.0, 0.68, -0.80, 0.06), colour, 0.08),
            Part(box(-0.68, 0.80, 0.68, 1.0, 0.06), colour, 0.08),
        ],
        (0.0, 0.62),
    )


def draw_sand(rng: np.random.Generator, colour: Rgb) -> Form:
    run = between(rng, -0.50, -0.36)
    upper = blob([(-0.36, run), (0.0, run + 0.06), (0.36, run), (0.04, -0.02), (-0.04, -0.02)], 0.4)
    heap = blob([(-0.40, 0.78), (-0.38, 0.62), (0.0, 0.30), (0.38, 0.62), (0.40, 0.78)], 0.5)
    return framed(
        [
            Part(upper, colour, 0.06),
            Part(box(-0.022, -0.04, 0.022, 0.40), colour, 0.0),
            Part(heap, colour, 0.10),
        ]
    )


def draw_ladder(rng: np.random.Generator, colour: Rgb) -> Form:
    """The two rails."""
    return framed(
        [Part(rod(s * 0.30, -1.0, s * 0.42, 1.0, 0.12), colour, 0.05) for s in (-1, 1)],
        (-0.42, 0.08),
        (0.42, 0.08),
    )


def draw_rungs(rng: np.random.Generator, colour: Rgb) -> Form:
    rungs = [
        Part(
            box(-0.33 - 0.03 * k / 3, y - 0.045, 0.33 + 0.03 * k / 3, y + 0.045, 0.03), colour, 0.04
        )
        for k, y in enumerate(np.linspace(-0.80, 0.74, 7))
    ]
    return framed(rungs)


def draw_broom(rng: np.random.Generator, colour: Rgb) -> Form:
    """Stick and head."""
    return framed(
        [
            Part(box(-0.055, -1.0, 0.055, 0.36, 0.05), WOOD, 0.05),
            Part(box(-0.46, 0.26, 0.46, 0.46, 0.05), colour, 0.07),
        ],
        (0.0, 0.4),
    )


def draw_bristles(rng: np.random.Generator, colour: Rgb) -> Form:
    pieces: list[Part | Mark] = []
    tops = np.linspace(-0.40, 0.40, 11)
    for k, x in enumerate(tops):
        tone = shade(colour, 0.88 if k % 2 else 1.0)
        pieces.append(Part(rod(x, 0.44, x * 1.32, 0.98 - 0.03 * (k % 3), 0.085, 0.105), tone, 0.03))
    return framed(pieces)


def draw_racket(rng: np.random.Generator, colour: Rgb) -> Form:
    """Frame and handle."""
    ring = without(oval(0.0, -0.38, 0.54, 0.62), oval(0.0, -0.38, 0.44, 0.52))
    throat = [Part(rod(s * 0.34, 0.06, s * 0.05, 0.42, 0.09), colour, 0.04) for s in (-1, 1)]
    return framed(
        [
            *throat,
            Part(ring, colour, 0.05),
            Part(box(-0.085, 0.38, 0.085, 1.0, 0.04), (0.18, 0.17, 0.18), 0.06, takes=0.0),
            *(
                Mark(
                    line([(-0.09, y + 0.04), (0.09, y - 0.04)], soft=False),
                    (0.42, 0.40, 0.40),
                    0.02,
                )
                for y in np.linspace(0.5, 0.95, 6)
            ),
        ],
        (0.0, 0.12),
    )


def draw_racket_strings(rng: np.random.Generator, colour: Rgb) -> Form:
    pieces = []
    for at in np.linspace(-0.36, 0.36, 7):
        tall = 0.53 * math.sqrt(1 - (at / 0.45) ** 2)
        pieces.append(Part(box(at - 0.013, -0.38 - tall, at + 0.013, -0.38 + tall), colour, 0.0))
    for at in np.linspace(-0.44, 0.44, 8):
        wide = 0.45 * math.sqrt(1 - (at / 0.53) ** 2)
        pieces.append(Part(box(-wide, -0.38 + at - 0.013, wide, -0.38 + at + 0.013), colour, 0.0))
    return framed(pieces)


def draw_die(rng: np.random.Generator, colour: Rgb) -> Form:
    """A cube: front, top and right side."""
    return framed(
        [
            Part(
                polygon([(-0.72, -0.34), (-0.40, -0.72), (0.84, -0.72), (0.52, -0.34)]),
                shade(colour, 1.12),
                0.03,
            ),
            Part(
                polygon([(0.52, -0.34), (0.84, -0.72), (0.84, 0.58), (0.52, 1.0)]),
                shade(colour, 0.72),
                0.03,
            ),
            Part(box(-0.72, -0.34, 0.52, 1.0, 0.05), colour, 0.05),
        ],
        (-0.05, 0.62),
    )


def draw_dots(rng: np.random.Generator, colour: Rgb) -> Form:
    front = [(-0.42, -0.04), (0.22, -0.04), (-0.42, 0.70), (0.22, 0.70)]
    if rng.random() < 0.5:
        front.append((-0.10, 0.33))
    pieces = [Part(oval(x, y, 0.125), colour, 0.02) for x, y in front]
    pieces.append(Part(oval(0.06, -0.53, 0.17, 0.085), colour, 0.02))
    pieces += [Part(oval(0.68, y, 0.06, 0.12), colour, 0.02) for y in (-0.18, 0.42)]
    return framed(pieces)


INDOORS = ("library", "kitchen")
ROOMS = (
    Exhibit(
        whole="clock",
        part="hands",
        many=True,
        place="on the face of {}",
        habit="clocks usually have hands",
        draw=draw_clock,
        draw_part=draw_hands,
        size=0.46,
        colours=("red", "teal", "blue", "green"),
        part_colours=("black", "red", "blue"),
        contexts=INDOORS,
    ),
    Exhibit(
        whole="lamp",
        part="lampshade",
        place="on {}",
        habit="lamps of this kind usually have a lampshade",
        draw=draw_lamp,
        draw_part=draw_shade,
        size=0.56,
        colours=("brown", "grey", "black"),
        part_colours=("red", "blue", "green", "teal", "purple"),
        contexts=("library",),
        spare=("white", "tan"),
    ),
    Exhibit(
        whole="guitar",
        part="strings",
        many=True,
        place="on {}",
        habit="guitars have strings",
        draw=draw_guitar,
        draw_part=draw_guitar_strings,
        size=0.68,
        colours=("brown", "orange", "red"),
        part_colours=("white", "yellow"),
        contexts=("library",),
        spare=("grey",),
    ),
    Exhibit(
        whole="stool",
        part="legs",
        many=True,
        place="under the seat of {}",
        habit="stools usually have legs",
        draw=draw_stool,
        draw_part=draw_stool_legs,
        size=0.48,
        part_colours=("brown", "black", "white", "grey"),
        contexts=INDOORS,
        behind=True,
        sinks=1.02,
    ),
    Exhibit(
        whole="hourglass",
        part="sand",
        mass=True,
        place="in {}",
        habit="hourglasses have sand in them",
        plural="hourglasses",
        draw=draw_hourglass,
        draw_part=draw_sand,
        size=0.46,
        colours=("brown", "black", "grey"),
        part_colours=("yellow", "blue", "red", "green"),
        contexts=INDOORS,
    ),
    Exhibit(
        whole="ladder",
        part="rungs",
        many=True,
        place="on {}",
        habit="ladders have rungs",
        draw=draw_ladder,
        draw_part=draw_rungs,
        size=0.66,
        colours=("grey", "brown", "red"),
        part_colours=("blue", "white", "yellow", "red"),
        contexts=("library", "street"),
    ),
    Exhibit(
        whole="broom",
        part="bristles",
        many=True,
        place="on {}",
        habit="brooms have bristles",
        draw=draw_broom,
        draw_part=draw_bristles,
        size=0.62,
        part_colours=("yellow", "red", "green", "blue"),
        contexts=("kitchen", "street"),
        behind=True,
        sinks=0.54,
    ),
    Exhibit(
        whole="tennis racket",
        part="strings",
        many=True,
        place="in the frame of {}",
        habit="tennis rackets usually have strings",
        draw=draw_racket,
        draw_part=draw_racket_strings,
        size=0.60,
        colours=("red", "blue", "green", "black"),
        part_colours=("white", "yellow", "black"),
        contexts=("library", "street"),
        behind=True,
    ),
    Exhibit(
        whole="die",
        part="dots",
        many=True,
        place="on {}",
        habit="dice have dots",
        plural="dice",
        draw=draw_die,
        draw_part=draw_dots,
        size=0.34,
        colours=("white", "yellow"),
        part_colours=("black", "red", "blue", "green"),
        contexts=INDOORS,
    ),
)
