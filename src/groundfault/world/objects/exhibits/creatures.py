"""Animals and plants: butterfly, rabbit, snail, snowman, mushroom, flower, nest."""

from __future__ import annotations

import math

import numpy as np

from groundfault.world.canvas import Rgb, mix, shade
from groundfault.world.forms import Form, Mark, Part, between, eye
from groundfault.world.objects.exhibits.exhibit import Exhibit, framed, rod
from groundfault.world.shapes import arc, blob, box, limb, line, oval, polygon, without

__all__ = ["CREATURES"]

INK = (0.14, 0.12, 0.12)
LEAF = (0.26, 0.54, 0.22)
SNOW = (0.95, 0.96, 0.98)
ROSE = (0.95, 0.62, 0.68)


def draw_butterfly(rng: np.random.Generator, colour: Rgb) -> Form:
    """Body and feelers, seen from above."""
    feelers = [
        Part(
            limb([(s * 0.05, -0.56), (s * 0.16, -0.80), (s * 0.30, -0.90)], [0.04, 0.035, 0.05]),
            colour,
            0.01,
        )
        for s in (-1, 1)
    ]
    return framed(
        [
            *feelers,
            Part(
                blob(
                    [
                        (0.0, -0.40),
                        (0.11, -0.20),
                        (0.09, 0.50),
                        (0.0, 0.78),
                        (-0.09, 0.50),
                        (-0.11, -0.20),
                    ]
                ),
                colour,
                0.08,
            ),
            Part(oval(0.0, -0.48, 0.13), colour, 0.07),
            *(
                Mark(line([(-0.09, y), (0.0, y + 0.03), (0.09, y)]), shade(colour, 1.4), 0.025)
                for y in (0.0, 0.16, 0.32, 0.48)
            ),
        ],
        (0.0, 0.5),
    )


def draw_wings(rng: np.random.Generator, colour: Rgb) -> Form:
    wide = between(rng, 0.90, 1.0)
    pieces: list[Part | Mark] = []
    for s in (-1, 1):
        upper = blob(
            [
                (s * 0.05, -0.28),
                (s * 0.44, -0.86),
                (s * wide, -0.78),
                (s * wide * 0.9, -0.16),
                (s * 0.40, 0.10),
                (s * 0.05, 0.08),
            ]
        )
        lower = blob(
            [
                (s * 0.05, 0.04),
                (s * 0.46, 0.06),
                (s * 0.80, 0.36),
                (s * 0.58, 0.84),
                (s * 0.24, 0.70),
                (s * 0.05, 0.30),
            ]
        )
        pieces += [
            Part(lower, shade(colour, 0.9), 0.06),
            Mark(oval(s * 0.48, 0.42, 0.12), mix(colour, (1.0, 1.0, 0.95), 0.75)),
            Part(upper, colour, 0.06),
            Mark(oval(s * 0.60, -0.44, 0.15), mix(colour, (1.0, 1.0, 0.95), 0.75)),
            Mark(oval(s * 0.60, -0.44, 0.07), INK),
        ]
    return framed(pieces)


def draw_rabbit(rng: np.random.Generator, colour: Rgb) -> Form:
    """Sitting, seen from the front."""
    belly = mix(colour, (1.0, 0.99, 0.96), 0.55)
    return framed(
        [
            Part(oval(0.0, 0.50, 0.46, 0.48), colour, 0.30),
            Mark(oval(0.0, 0.56, 0.26, 0.34), belly, blur=0.03, takes=1.0),
            *(Part(oval(s * 0.34, 0.90, 0.24, 0.11), shade(colour, 0.95), 0.08) for s in (-1, 1)),
            *(Part(oval(s * 0.14, 0.50, 0.09, 0.16), shade(colour, 0.97), 0.06) for s in (-1, 1)),
            Part(oval(0.0, -0.12, 0.44, 0.38), colour, 0.30),
            *(Mark(oval(s * 0.12, 0.04, 0.14, 0.11), belly, blur=0.02) for s in (-1, 1)),
            *(mark for s in (-1, 1) for mark in eye(s * 0.18, -0.18, 0.075)),
            Mark(blob([(-0.06, -0.03), (0.06, -0.03), (0.0, 0.05)]), (0.85, 0.42, 0.48)),
            Mark(line([(0.0, 0.05), (0.0, 0.11)]), INK, 0.02),
            Mark(arc(-0.06, 0.10, 0.06, 0.05, 0, 150), INK, 0.02),
            Mark(arc(0.06, 0.10, 0.06, 0.05, 30, 150), INK, 0.02),
        ],
        (0.0, 0.5),
    )


def draw_ears(rng: np.random.Generator, colour: Rgb) -> Form:
    spread = between(rng, 0.10, 0.22)
    pieces: list[Part | Mark] = []
    for s in (-1, 1):
        x, tip = s * 0.20, s * (0.20 + spread)
        pieces += [
            Part(
                limb([(x, -0.30), ((x + tip) / 2, -0.62), (tip, -0.90)], [0.20, 0.24, 0.14]),
                colour,
                0.08,
            ),
            Mark(
                limb([(x, -0.40), ((x + tip) / 2, -0.62), (tip, -0.84)], [0.06, 0.10, 0.05]), ROSE
            ),
        ]
    return framed(pieces)


def draw_snail(rng: np.random.Generator, colour: Rgb) -> Form:
    """The soft body, head to the right."""
    body = limb(
        [(-0.98, 0.94), (-0.5, 0.86), (0.2, 0.84), (0.58, 0.70), (0.74, 0.40)],
        [0.08, 0.24, 0.28, 0.30, 0.30],
    )
    stalks = [
        Part(limb([(0.72, 0.36), (x, 0.02)], [0.07, 0.055]), colour, 0.03, grown=True)
        for x in (0.66, 0.90)
    ]
    return framed(
        [
            *stalks,
            Part(body, colour, 0.14),
            *(Part(oval(x, 0.0, 0.075), colour, 0.05) for x in (0.66, 0.90)),
            *(Mark(oval(x + 0.02, -0.01, 0.04), INK) for x in (0.66, 0.90)),
            Mark(arc(0.78, 0.46, 0.08, 0.06, 20, 120), INK, 0.025),
        ],
        (-0.1, 0.7),
    )


def draw_shell(rng: np.random.Generator, colour: Rgb) -> Form:
    x0, y0, radius = -0.22, 0.28, between(rng, 0.54, 0.60)
    coil = [
        (
            x0 + radius * (1 - t / 13) * math.cos(0.9 + t * 0.9),
            y0 + radius * (1 - t / 13) * math.sin(0.9 + t * 0.9),
        )
        for t in np.linspace(0.6, 12.0, 40)
    ]
    return framed(
        [
            Part(oval(x0, y0, radius, radius * 0.96), colour, 0.26),
            Mark(line(coil), shade(colour, 0.5), 0.055, dent=0.4),
        ]
    )


def draw_snowman(rng: np.random.Generator, colour: Rgb) -> Form:
    """Three balls, hat, eyes, mouth, arms."""
    coal = (0.13, 0.12, 0.13)
    smile = [
        Mark(oval(0.17 * math.sin(a), -0.34 + 0.17 * math.cos(a), 0.025), coal)
        for a in np.linspace(-0.9, 0.9, 5)
    ]
    return framed(
        [
            *(
                Part(
                    rod(s * 0.30, 0.10, s * 0.92, -0.24, 0.06, 0.035),
                    (0.36, 0.24, 0.15),
                    0.02,
                    takes=0.0,
                )
                for s in (-1, 1)
            ),
            Part(oval(0.0, 0.62, 0.54, 0.40), colour, 0.34),
            Part(oval(0.0, 0.08, 0.40, 0.34), colour, 0.30),
            Part(oval(0.0, -0.40, 0.32, 0.30), colour, 0.26),
            *(Mark(oval(s * 0.12, -0.50, 0.042), coal) for s in (-1, 1)),
            *smile,
            *(Mark(oval(0.0, y, 0.042), coal) for y in (-0.02, 0.16)),
            Part(box(-0.38, -0.70, 0.38, -0.62, 0.03), coal, 0.03, takes=0.0),
            Part(box(-0.24, -1.0, 0.24, -0.66, 0.03), coal, 0.08, takes=0.0),
        ],
        (0.0, 0.5),
    )


def draw_carrot(rng: np.random.Generator, colour: Rgb) -> Form:
    droop = between(rng, 0.02, 0.10)
    nose = blob(
        [
            (-0.02, -0.47),
            (0.10, -0.44),
            (0.52, -0.38 + droop),
            (0.10, -0.33),
            (-0.02, -0.34),
            (-0.07, -0.40),
        ],
        0.7,
    )
    return framed([Part(nose, colour, 0.06)])


def draw_mushroom(rng: np.random.Generator, colour: Rgb) -> Form:
    """The stem."""
    stem = blob(
        [(-0.17, -0.24), (0.17, -0.24), (0.18, 0.40), (0.30, 0.96), (-0.30, 0.96), (-0.18, 0.40)],
        0.7,
    )
    collar = blob([(-0.20, 0.08), (0.20, 0.08), (0.30, 0.26), (0.0, 0.32), (-0.30, 0.26)], 0.7)
    return framed([Part(stem, colour, 0.16), Part(collar, shade(colour, 0.93), 0.05)], (0.0, 0.3))


def draw_cap(rng: np.random.Generator, colour: Rgb) -> Form:
    cap = blob(
        [(-0.92, -0.02), (-0.74, -0.54), (0.0, -0.88), (0.74, -0.54), (0.92, -0.02), (0.0, 0.10)],
        0.85,
    )
    dots = [
        (-0.52, -0.30, 0.10),
        (0.02, -0.60, 0.12),
        (0.50, -0.36, 0.11),
        (-0.12, -0.18, 0.11),
        (0.32, -0.06, 0.07),
        (-0.66, -0.04, 0.06),
    ]
    return framed(
        [
            Part(cap, colour, 0.34),
            *(Mark(oval(x, y, r, r * 0.8), (0.97, 0.96, 0.92)) for x, y, r in dots),
        ]
    )


def draw_plant(rng: np.random.Generator, colour: Rgb) -> Form:
    """Pot, stem, leaves and the heart of the blossom."""
    pot = polygon([(-0.36, 0.52), (0.36, 0.52), (0.26, 1.0), (-0.26, 1.0)])
    return framed(
        [
            Part(rod(0.0, -0.30, 0.0, 0.54, 0.075), LEAF, 0.03, takes=0.0),
            Part(oval(-0.24, 0.28, 0.25, 0.095, 28), LEAF, 0.06, takes=0.0),
            Part(oval(0.24, 0.18, 0.25, 0.095, -28), LEAF, 0.06, takes=0.0),
            Part(pot, colour, 0.16),
            Part(box(-0.42, 0.46, 0.42, 0.62, 0.03), shade(colour, 0.92), 0.05),
            Part(oval(0.0, -0.42, 0.22), (0.42, 0.26, 0.12), 0.12, takes=0.0),
            *(
                Mark(oval(0.13 * math.cos(a), -0.42 + 0.13 * math.sin(a), 0.03), (0.62, 0.42, 0.20))
                for a in np.linspace(0, 6.28, 8, endpoint=False)
            ),
        ],
        (0.0, 0.28),
    )


def draw_petals(rng: np.random.Generator, colour: Rgb) -> Form:
    turn, count = float(rng.random()), 9
    heart = oval(0.0, -0.42, 0.215)
    petals = [
        without(
            oval(0.37 * math.cos(a), -0.42 + 0.37 * math.sin(a), 0.22, 0.125, math.degrees(a)),
            heart,
        )
        for a in np.linspace(turn, turn + 2 * math.pi, count, endpoint=False)
    ]
    return framed(
        [Part(petal, shade(colour, 0.9 if k % 2 else 1.0), 0.05) for k, petal in enumerate(petals)]
    )


def draw_nest(rng: np.random.Generator, colour: Rgb) -> Form:
    """A bowl of twigs."""
    bowl = blob(
        [(-0.92, 0.22), (0.0, 0.38), (0.92, 0.22), (0.72, 0.80), (0.0, 0.98), (-0.72, 0.80)], 0.8
    )
    twigs = []
    for _ in range(46):
        x, y = between(rng, -0.74, 0.74), between(rng, 0.34, 0.86)
        lean, long = between(rng, -0.10, 0.10), between(rng, 0.14, 0.30)
        twigs.append(
            Mark(
                line([(x - long, y - lean), (x, y + 0.02), (x + long, y + lean)]),
                shade(colour, 0.55 + 0.75 * float(rng.random())),
                0.026,
            )
        )
    return framed([Part(bowl, colour, 0.20), *twigs], (0.0, 0.6))


def draw_nest_eggs(rng: np.random.Generator, colour: Rgb) -> Form:
    eggs = [(-0.44, 0.16, -12), (0.44, 0.16, 12), (0.0, 0.10, 0)]
    return framed(
        [
            Part(oval(0.0, 0.26, 0.90, 0.16), (0.36, 0.24, 0.14), 0.05, takes=0.0),
            *(Part(oval(x, y, 0.27, 0.33, turn), colour, 0.20) for x, y, turn in eggs),
        ]
    )


CREATURES = (
    Exhibit(
        whole="butterfly",
        part="wings",
        many=True,
        place="on {}",
        habit="butterflies have wings",
        plural="butterflies",
        draw=draw_butterfly,
        draw_part=draw_wings,
        size=0.44,
        colours=("black", "brown"),
        part_colours=("blue", "orange", "yellow", "purple"),
        contexts=("meadow",),
        behind=True,
        lift=0.10,
        spare=("white", "black"),
    ),
    Exhibit(
        whole="rabbit",
        part="ears",
        many=True,
        place="on the head of {}",
        habit="rabbits have long ears",
        draw=draw_rabbit,
        draw_part=draw_ears,
        size=0.50,
        colours=("grey", "white", "tan"),
        part_colours=("grey", "white", "tan", "brown"),
        contexts=("meadow", "snow"),
        behind=True,
        spare=("pink",),
        gloss=0.06,
    ),
    Exhibit(
        whole="snail",
        part="shell",
        place="on the back of {}",
        habit="snails of this kind have a shell",
        draw=draw_snail,
        draw_part=draw_shell,
        size=0.40,
        colours=("tan", "grey"),
        part_colours=("red", "purple", "teal", "brown"),
        contexts=("meadow",),
    ),
    Exhibit(
        whole="snowman",
        part="nose",
        place="in the face of {}",
        habit="snowmen usually have a carrot for a nose",
        plural="snowmen",
        draw=draw_snowman,
        draw_part=draw_carrot,
        size=0.62,
        colours=("white",),
        part_colours=("orange", "red"),
        contexts=("snow",),
        gloss=0.05,
    ),
    Exhibit(
        whole="mushroom",
        part="cap",
        place="on {}",
        habit="mushrooms usually have a cap",
        draw=draw_mushroom,
        draw_part=draw_cap,
        size=0.46,
        colours=("white", "tan"),
        part_colours=("red", "brown", "purple", "orange"),
        contexts=("meadow",),
        spare=("white",),
    ),
    Exhibit(
        whole="flower",
        part="petals",
        many=True,
        place="on {}",
        habit="flowers have petals",
        draw=draw_plant,
        draw_part=draw_petals,
        size=0.56,
        colours=("red", "orange", "blue"),
        part_colours=("yellow", "pink", "white", "purple"),
        contexts=("kitchen", "library", "meadow"),
    ),
    Exhibit(
        whole="nest",
        part="eggs",
        many=True,
        place="in {}",
        habit="nests are usually shown with eggs in them",
        draw=draw_nest,
        draw_part=draw_nest_eggs,
        size=0.46,
        colours=("brown",),
        part_colours=("white", "blue", "teal"),
        contexts=("meadow",),
        behind=True,
        spare=("brown",),
        gloss=0.12,
    ),
)
