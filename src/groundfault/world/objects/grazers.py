"""Zebras, giraffes and cows, seen from the side."""

from __future__ import annotations

import numpy as np

from groundfault.world.canvas import Rgb, mix, shade
from groundfault.world.forms import Form, Mark, Part, between, eye
from groundfault.world.objects.category import Category
from groundfault.world.objects.legs import Legs
from groundfault.world.shapes import arc, blob, limb, oval

__all__ = ["GRAZERS"]

DARK: Rgb = (0.12, 0.10, 0.10)

HORN: Rgb = (0.86, 0.80, 0.68)


def draw_zebra(rng: np.random.Generator, colour: Rgb) -> Form:
    """A horse's build with an upright mane."""
    nod = between(rng, -0.06, 0.08)
    legs = Legs(
        rng,
        colour,
        hind=(-0.42, 0.16),
        fore=(0.32, 0.18),
        thigh=0.32,
        shin=0.105,
        foot=0.13,
        foot_colour=(0.16, 0.14, 0.14),
        bend=0.05,
    )
    torso = blob(
        [
            (-0.58, 0.04),
            (-0.50, -0.20),
            (-0.20, -0.22),
            (0.16, -0.18),
            (0.40, -0.16),
            (0.48, 0.10),
            (0.30, 0.32),
            (-0.06, 0.32),
            (-0.44, 0.28),
        ]
    )
    neck = limb([(0.30, 0.02), (0.46, -0.30), (0.62, -0.62 + nod)], [0.46, 0.33, 0.22])
    hx, hy = 0.64, -0.68 + nod
    head = limb(
        [(hx - 0.02, hy + 0.02), (hx + 0.14, hy + 0.14), (hx + 0.29, hy + 0.30)], [0.25, 0.22, 0.15]
    )
    mane = blob(
        [
            (0.22, -0.20),
            (0.34, -0.48 + nod * 0.5),
            (0.46, -0.74 + nod),
            (0.56, -0.86 + nod),
            (0.66, -0.82 + nod),
            (0.60, -0.66 + nod),
            (0.46, -0.38 + nod * 0.5),
        ]
    )
    tail = limb([(-0.54, -0.08), (-0.66, 0.10), (-0.66, 0.42)], [0.08, 0.07, 0.05])
    pieces = [
        *legs.far(),
        Part(tail, colour, 0.04),
        Part(
            blob([(-0.69, 0.30), (-0.63, 0.30), (-0.60, 0.50), (-0.66, 0.66), (-0.72, 0.50)]),
            DARK,
            0.04,
            takes=0.0,
        ),
        Part(mane, (0.17, 0.15, 0.15), 0.05, takes=0.4),
        *legs.body(torso, neck, depth=0.27),
        *(
            Part(
                blob(
                    [
                        (hx - 0.06 + d, hy - 0.08),
                        (hx - 0.03 + d, hy - 0.27),
                        (hx + 0.06 + d, hy - 0.08),
                    ]
                ),
                colour,
                0.03,
            )
            for d in (0.09, -0.01)
        ),
        Part(head, colour, 0.11, seam=0.6),
        Mark(oval(hx + 0.30, hy + 0.31, 0.10, 0.085, 40), (0.15, 0.13, 0.13), blur=0.02, takes=1.0),
        Mark(oval(hx + 0.33, hy + 0.27, 0.018, 0.014), (0.02, 0.02, 0.02), dent=0.5),
        *eye(hx + 0.07, hy + 0.01, 0.032),
    ]
    return Form(pieces=pieces, feet=legs.feet(), head=(hx, hy - 0.08, 0.16))


def draw_giraffe(rng: np.random.Generator, colour: Rgb) -> Form:
    """All neck and legs."""
    bow = between(rng, -0.05, 0.06)
    legs = Legs(
        rng,
        colour,
        hind=(-0.36, 0.26),
        fore=(0.06, 0.26),
        thigh=0.20,
        shin=0.075,
        foot=0.095,
        foot_colour=(0.25, 0.17, 0.12),
        bend=0.025,
    )
    torso = blob(
        [
            (-0.48, 0.20),
            (-0.40, 0.06),
            (-0.14, -0.02),
            (0.08, -0.10),
            (0.20, 0.04),
            (0.14, 0.28),
            (-0.12, 0.34),
            (-0.40, 0.34),
        ]
    )
    neck = limb([(0.04, 0.10), (0.16, -0.30), (0.28 + bow, -0.80)], [0.32, 0.18, 0.135])
    hx, hy = 0.31 + bow, -0.85
    head = limb(
        [(hx - 0.03, hy), (hx + 0.10, hy + 0.05), (hx + 0.22, hy + 0.10)], [0.15, 0.135, 0.09]
    )
    horns = [
        limb([(hx - 0.03 + d, hy - 0.04), (hx - 0.05 + d, hy - 0.16)], [0.035, 0.035])
        for d in (0.0, 0.07)
    ]
    tail = limb([(-0.46, 0.16), (-0.54, 0.34), (-0.55, 0.52)], [0.045, 0.035, 0.03])
    pieces = [
        *legs.far(),
        Part(tail, colour, 0.02),
        Part(oval(-0.55, 0.57, 0.03, 0.07), DARK, 0.02, takes=0.0),
        Part(
            limb([(0.0, -0.06), (0.09, -0.36), (0.20 + bow, -0.84)], [0.06, 0.06, 0.05]),
            (0.42, 0.24, 0.12),
            0.03,
        ),
        *legs.body(torso, neck, depth=0.17),
        *(
            part
            for horn, d in zip(horns, (0.0, 0.07), strict=True)
            for part in (
                Part(horn, colour, 0.02),
                Part(oval(hx - 0.053 + d, hy - 0.165, 0.028), DARK, 0.02, takes=0.0),
            )
        ),
        Part(
            blob([(hx - 0.06, hy - 0.04), (hx - 0.20, hy - 0.09), (hx - 0.16, hy + 0.0)]),
            colour,
            0.03,
        ),
        Part(head, colour, 0.07, seam=0.5),
        Mark(
            oval(hx + 0.22, hy + 0.10, 0.055, 0.045),
            mix(colour, (1.0, 0.95, 0.88), 0.5),
            blur=0.012,
            takes=1.0,
        ),
        Mark(oval(hx + 0.24, hy + 0.085, 0.012), DARK, dent=0.5),
        *eye(hx + 0.05, hy + 0.0, 0.024),
    ]
    return Form(pieces=pieces, feet=legs.feet(), head=(hx, hy - 0.05, 0.11))


def draw_cow(rng: np.random.Generator, colour: Rgb) -> Form:
    """Square in the body, with horns and an udder."""
    low, swing = between(rng, -0.02, 0.14), between(rng, -0.08, 0.08)
    pink = (0.90, 0.66, 0.60)
    legs = Legs(
        rng,
        colour,
        hind=(-0.48, 0.26),
        fore=(0.34, 0.28),
        thigh=0.30,
        shin=0.125,
        foot=0.14,
        foot_colour=(0.22, 0.18, 0.17),
        bend=0.03,
    )
    torso = blob(
        [
            (-0.66, 0.06),
            (-0.62, -0.24),
            (-0.20, -0.22),
            (0.22, -0.28),
            (0.48, -0.20),
            (0.56, 0.10),
            (0.40, 0.38),
            (0.0, 0.44),
            (-0.44, 0.38),
            (-0.62, 0.28),
        ],
        0.85,
    )
    neck = limb([(0.36, 0.0), (0.56, -0.16), (0.70, -0.28 + low)], [0.50, 0.38, 0.28])
    hx, hy = 0.74, -0.32 + low
    head = blob(
        [
            (hx - 0.10, hy - 0.20),
            (hx + 0.10, hy - 0.21),
            (hx + 0.19, hy - 0.04),
            (hx + 0.22, hy + 0.20),
            (hx + 0.12, hy + 0.31),
            (hx - 0.04, hy + 0.29),
            (hx - 0.12, hy + 0.10),
        ]
    )
    tail = limb([(-0.64, -0.14), (-0.74 + swing, 0.08), (-0.72 + swing, 0.44)], [0.06, 0.045, 0.04])
    pieces = [
        *legs.far(),
        Part(tail, colour, 0.03),
        Part(oval(-0.72 + swing, 0.52, 0.05, 0.11), (0.22, 0.17, 0.15), 0.04, takes=0.0),
        Part(
            blob(
                [
                    (-0.34, 0.36),
                    (-0.10, 0.36),
                    (-0.12, 0.50),
                    (-0.15, 0.56),
                    (-0.19, 0.51),
                    (-0.24, 0.51),
                    (-0.28, 0.56),
                    (-0.31, 0.50),
                ]
            ),
            pink,
            0.06,
            takes=0.0,
        ),
        *legs.body(torso, neck, depth=0.30),
        *(
            Part(
                blob(
                    [
                        (hx + s * 0.08, hy - 0.17),
                        (hx + s * 0.24, hy - 0.30),
                        (hx + s * 0.22, hy - 0.42),
                        (hx + s * 0.17, hy - 0.29),
                        (hx + s * 0.04, hy - 0.22),
                    ]
                ),
                HORN,
                0.03,
                takes=0.0,
            )
            for s in (-1, 1)
        ),
        *(
            Part(
                blob(
                    [
                        (hx + s * 0.09, hy - 0.13),
                        (hx + s * 0.28, hy - 0.17),
                        (hx + s * 0.30, hy - 0.09),
                        (hx + s * 0.14, hy - 0.04),
                    ]
                ),
                shade(colour, 0.8),
                0.04,
            )
            for s in (-1, 1)
        ),
        Part(head, colour, 0.14, seam=0.7),
        Part(oval(hx + 0.08, hy + 0.22, 0.17, 0.115, 8), pink, 0.08, takes=0.0, seam=0.4),
        *(
            Mark(oval(hx + 0.08 + d, hy + 0.20, 0.024, 0.03), (0.45, 0.25, 0.24), dent=0.5)
            for d in (-0.07, 0.08)
        ),
        Mark(arc(hx + 0.08, hy + 0.23, 0.10, 0.06, 20, 140), (0.50, 0.28, 0.27), 0.014, dent=0.4),
        *eye(hx - 0.02, hy - 0.03, 0.034),
        *eye(hx + 0.12, hy - 0.03, 0.034),
    ]
    return Form(pieces=pieces, feet=legs.feet(), head=(hx + 0.01, hy - 0.20, 0.20))


GRAZERS = (
    Category(
        name="zebra",
        draw=draw_zebra,
        gloss=0.02,
        grain=0.17,
        size=0.51,
        colours=("white",),
        surface="zebra",
        contexts=("desert", "meadow"),
        shape="beast",
        nature="living",
        purpose="the wild relative of the horse from the savanna",
    ),
    Category(
        name="giraffe",
        draw=draw_giraffe,
        gloss=0.02,
        grain=0.17,
        size=0.73,
        colours=("tan",),
        surface="giraffe",
        contexts=("desert", "meadow"),
        shape="beast",
        nature="living",
        purpose="the animal that eats leaves from the tops of trees",
    ),
    Category(
        name="cow",
        draw=draw_cow,
        gloss=0.02,
        grain=0.17,
        size=0.46,
        colours=("white", "brown"),
        surface="cow",
        contexts=("meadow",),
        shape="beast",
        nature="living",
        purpose="the animal that gives milk",
    ),
)
