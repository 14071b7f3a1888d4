"""Outdoors: boat, house, windmill, flagpole, umbrella, Christmas tree."""

from __future__ import annotations

import math

import numpy as np

from groundfault.world.canvas import Rgb, mix, shade
from groundfault.world.forms import Form, Mark, Part, between
from groundfault.world.objects.exhibits.exhibit import Exhibit, framed, rod
from groundfault.world.shapes import (
    arc,
    blob,
    box,
    limb,
    line,
    oval,
    polygon,
    without,
)

__all__ = ["OUTSIDE"]

WOOD = (0.55, 0.36, 0.20)
STEEL = (0.60, 0.62, 0.66)
RUBBER = (0.14, 0.14, 0.15)
PALE = (0.97, 0.96, 0.92)
WALL = (0.90, 0.84, 0.72)


def draw_boat(rng: np.random.Generator, colour: Rgb) -> Form:
    """Hull and mast."""
    hull = blob(
        [(-0.92, 0.44), (0.96, 0.44), (0.70, 0.86), (0.40, 0.98), (-0.52, 0.98), (-0.78, 0.80)], 0.5
    )
    return framed(
        [
            Part(box(-0.045, -1.0, 0.045, 0.50), WOOD, 0.04, takes=0.0),
            Part(rod(0.0, 0.26, -0.72, 0.26, 0.05), WOOD, 0.03, takes=0.0),
            Part(hull, colour, 0.20),
            Mark(line([(-0.86, 0.56), (0.88, 0.56)], soft=False), PALE, 0.06, takes=1.0),
        ],
        (-0.05, 0.6),
    )


def draw_sail(rng: np.random.Generator, colour: Rgb) -> Form:
    low = between(rng, 0.16, 0.22)
    main = blob([(-0.07, -0.94), (-0.07, low), (-0.76, low)], 0.25)
    jib = blob([(0.08, -0.80), (0.10, 0.24), (0.72, 0.34)], 0.25)
    seams = [
        Mark(line([(-0.74, y), (-0.06, y - 0.08)]), shade(colour, 0.82), 0.02)
        for y in (-0.10, -0.36)
    ]
    return framed([Part(main, colour, 0.14), *seams, Part(jib, shade(colour, 0.94), 0.12)])


def _house(rng: np.random.Generator, colour: Rgb) -> list[Part | Mark]:
    """Walls and windows, nothing else."""
    panes: list[Part | Mark] = []
    for x in (-0.56, 0.56):
        panes += [
            Part(box(x - 0.19, 0.22, x + 0.19, 0.62), PALE, 0.02, takes=0.0),
            Mark(box(x - 0.145, 0.265, x + 0.145, 0.575), (0.45, 0.66, 0.80)),
            Mark(line([(x, 0.26), (x, 0.58)], soft=False), PALE, 0.035),
            Mark(line([(x - 0.15, 0.42), (x + 0.15, 0.42)], soft=False), PALE, 0.035),
        ]
    return [Part(box(-0.88, -0.10, 0.88, 1.0), colour, 0.05), *panes]


def _roof(colour: Rgb) -> list[Part | Mark]:
    tiles = [
        Mark(
            line([(-1.0 + 0.08 * k, y), (1.0 - 0.08 * k, y)], soft=False), shade(colour, 0.75), 0.02
        )
        for k, y in enumerate((-0.24, -0.40, -0.56, -0.72))
    ]
    return [
        Part(box(0.34, -0.92, 0.56, -0.45), (0.66, 0.34, 0.26), 0.04, takes=0.0),
        Part(polygon([(-1.0, -0.06), (-0.52, -0.86), (0.52, -0.86), (1.0, -0.06)]), colour, 0.10),
        *tiles,
    ]


def _door(colour: Rgb) -> list[Part | Mark]:
    return [
        Part(box(-0.20, 0.26, 0.20, 1.0, 0.02), colour, 0.04),
        Mark(box(-0.12, 0.34, 0.12, 0.58), shade(colour, 0.75)),
        Mark(box(-0.12, 0.66, 0.12, 0.94), shade(colour, 0.75)),
        Mark(oval(0.14, 0.62, 0.035), (0.95, 0.85, 0.45)),
    ]


def draw_doorless_house(rng: np.random.Generator, colour: Rgb) -> Form:
    return framed([*_house(rng, colour), *_roof((0.66, 0.24, 0.18))], (0.0, 0.88))


def draw_roofless_house(rng: np.random.Generator, colour: Rgb) -> Form:
    return framed([*_house(rng, colour), *_door((0.40, 0.25, 0.16))], (0.0, 0.88))


def draw_door(rng: np.random.Generator, colour: Rgb) -> Form:
    return framed(_door(colour))


def draw_roof(rng: np.random.Generator, colour: Rgb) -> Form:
    return framed(_roof(colour))


def draw_windmill(rng: np.random.Generator, colour: Rgb) -> Form:
    """Tower and cap."""
    tower = polygon([(-0.26, -0.40), (0.26, -0.40), (0.44, 1.0), (-0.44, 1.0)])
    return framed(
        [
            Part(tower, colour, 0.16),
            Part(box(-0.14, 0.66, 0.14, 1.0, 0.02), (0.38, 0.24, 0.16), 0.03, takes=0.0),
            *(Mark(box(-0.08, y, 0.08, y + 0.16), (0.30, 0.36, 0.42)) for y in (0.02, 0.34)),
            Part(
                blob(
                    [(-0.34, -0.38), (0.34, -0.38), (0.22, -0.62), (0.0, -0.72), (-0.22, -0.62)],
                    0.8,
                ),
                (0.48, 0.30, 0.20),
                0.12,
                takes=0.0,
            ),
        ],
        (0.0, 0.44),
    )


def draw_blades(rng: np.random.Generator, colour: Rgb) -> Form:
    turn, y0 = between(rng, 0.3, 1.2), -0.44
    pieces: list[Part | Mark] = []
    for k in range(4):
        angle = turn + k * math.pi / 2
        dx, dy = math.cos(angle), math.sin(angle)
        side = 0.10
        ax, ay = 0.16 * dx - side * dy, y0 + 0.16 * dy + side * dx
        bx, by = 0.55 * dx - side * dy, y0 + 0.55 * dy + side * dx
        pieces += [
            Part(rod(ax, ay, bx, by, 0.17), colour, 0.03),
            Part(rod(0.0, y0, 0.56 * dx, y0 + 0.56 * dy, 0.045), shade(colour, 0.6), 0.02),
        ]
    return framed([*pieces, Part(oval(0.0, y0, 0.08), shade(colour, 0.6), 0.05)])


def draw_flagpole(rng: np.random.Generator, colour: Rgb) -> Form:
    return framed(
        [
            Part(box(-0.60, -0.94, -0.52, 0.94), colour, 0.04),
            Part(oval(-0.56, -0.95, 0.075), (0.92, 0.75, 0.25), 0.05, takes=0.0),
            Part(box(-0.80, 0.88, -0.32, 1.0, 0.03), STEEL, 0.05, takes=0.0),
        ],
        (-0.56, 0.26),
    )


def draw_flag(rng: np.random.Generator, colour: Rgb) -> Form:
    sag = between(rng, 0.05, 0.10)
    cloth = blob(
        [
            (-0.52, -0.86),
            (0.0, -0.86 + sag),
            (0.42, -0.86 - sag),
            (0.86, -0.80),
            (0.86, -0.14),
            (0.42, -0.20 - sag),
            (0.0, -0.18 + sag),
            (-0.52, -0.20),
        ],
        0.6,
    )
    stripe = Mark(
        line([(-0.52, -0.53), (0.0, -0.52 + sag), (0.42, -0.53 - sag), (0.86, -0.47)]),
        mix(colour, PALE, 0.75),
        0.14,
    )
    return framed([Part(cloth, colour, 0.10), stripe])


def draw_umbrella(rng: np.random.Generator, colour: Rgb) -> Form:
    """The canopy."""
    half = arc(0.0, -0.16, 0.96, 0.78, 180, 180)
    half.close()
    cuts = [oval(x, -0.13, 0.20, 0.10) for x in (-0.76, -0.38, 0.0, 0.38, 0.76)]
    canopy = half
    for cut in cuts:
        canopy = without(canopy, cut)
    ribs = [
        Mark(line([(0.0, -0.94), (x * 0.62, -0.66), (x, -0.18)]), shade(colour, 0.7), 0.022)
        for x in (-0.57, -0.19, 0.19, 0.57)
    ]
    return framed(
        [
            Part(rod(0.0, -1.0, 0.0, -0.88, 0.05), RUBBER, 0.02, takes=0.0),
            Part(canopy, colour, 0.30),
            *ribs,
        ],
        (0.0, 0.3),
    )


def draw_umbrella_handle(rng: np.random.Generator, colour: Rgb) -> Form:
    hook = limb([(0.0, 0.56), (0.0, 0.82), (0.10, 0.93), (0.24, 0.90), (0.28, 0.76)], [0.11] * 5)
    return framed(
        [Part(box(-0.035, -0.40, 0.035, 0.66), shade(colour, 0.8), 0.03), Part(hook, colour, 0.05)]
    )


def draw_christmas_tree(rng: np.random.Generator, colour: Rgb) -> Form:
    tiers = [(-0.98, -0.24, 0.42), (-0.66, 0.22, 0.60), (-0.22, 0.74, 0.80)]
    boughs = [
        Part(
            polygon(
                [
                    (0.0, top),
                    (wide, low),
                    (wide * 0.55, low - 0.06),
                    (0.0, low + 0.04),
                    (-wide * 0.55, low - 0.06),
                    (-wide, low),
                ]
            ),
            shade(colour, tone),
            0.12,
        )
        for (top, low, wide), tone in zip(tiers, (1.0, 0.93, 0.86), strict=True)
    ]
    return framed(
        [Part(box(-0.11, 0.66, 0.11, 1.0), WOOD, 0.06, takes=0.0), *reversed(boughs)], (0.0, 0.2)
    )


def draw_baubles(rng: np.random.Generator, colour: Rgb) -> Form:
    places = [
        (-0.10, -0.52),
        (0.14, -0.34),
        (-0.22, -0.06),
        (0.24, 0.02),
        (0.0, 0.24),
        (-0.46, 0.50),
        (0.44, 0.46),
        (-0.12, 0.56),
        (0.20, 0.64),
    ]
    return framed([Part(oval(x, y, 0.095), colour, 0.08) for x, y in places])


OUTSIDE = (
    Exhibit(
        whole="sailing boat",
        part="sails",
        many=True,
        place="on {}",
        habit="sailing boats usually have sails",
        draw=draw_boat,
        draw_part=draw_sail,
        size=0.62,
        colours=("blue", "red", "teal"),
        part_colours=("white", "red", "orange", "yellow"),
        contexts=("beach",),
        behind=True,
    ),
    Exhibit(
        whole="house",
        part="door",
        place="in the wall of {}",
        habit="houses have a door",
        draw=draw_doorless_house,
        draw_part=draw_door,
        size=0.56,
        colours=("tan", "white", "yellow"),
        part_colours=("blue", "green", "purple", "teal"),
        contexts=("meadow", "snow"),
    ),
    Exhibit(
        whole="house",
        part="roof",
        place="on {}",
        habit="houses usually have a roof",
        draw=draw_roofless_house,
        draw_part=draw_roof,
        size=0.56,
        colours=("tan", "white", "yellow"),
        part_colours=("red", "blue", "green", "purple"),
        contexts=("meadow", "snow"),
        behind=True,
        spare=("brown", "orange"),
    ),
    Exhibit(
        whole="windmill",
        part="sails",
        many=True,
        place="on {}",
        habit="windmills usually have sails that the wind turns",
        draw=draw_windmill,
        draw_part=draw_blades,
        size=0.72,
        colours=("white", "tan", "grey"),
        part_colours=("red", "blue", "brown", "black"),
        contexts=("meadow",),
    ),
    Exhibit(
        whole="flagpole",
        part="flag",
        place="on {}",
        habit="flagpoles are usually shown with a flag",
        draw=draw_flagpole,
        draw_part=draw_flag,
        size=0.66,
        colours=("white", "grey"),
        part_colours=("red", "blue", "green", "purple"),
        contexts=("meadow", "beach", "street"),
        spare=("white", "pink"),
    ),
    Exhibit(
        whole="umbrella",
        part="handle",
        place="under {}",
        habit="umbrellas have a handle",
        draw=draw_umbrella,
        draw_part=draw_umbrella_handle,
        size=0.52,
        part_colours=("brown", "black", "red"),
        contexts=("beach", "street"),
        behind=True,
        sinks=1.14,
    ),
    Exhibit(
        whole="Christmas tree",
        part="baubles",
        many=True,
        place="on {}",
        habit="Christmas trees usually have baubles",
        draw=draw_christmas_tree,
        draw_part=draw_baubles,
        size=0.70,
        colours=("green",),
        part_colours=("red", "blue", "yellow", "purple"),
        contexts=("library", "snow"),
        gloss=0.12,
    ),
)
