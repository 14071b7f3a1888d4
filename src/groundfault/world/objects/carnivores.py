"""Dogs, cats and bears."""

from __future__ import annotations

import numpy as np

from groundfault.world.canvas import Rgb, mix, shade
from groundfault.world.forms import Bulge, Form, Mark, Part, between, eye
from groundfault.world.objects.category import Category
from groundfault.world.objects.legs import Legs
from groundfault.world.shapes import arc, blob, joined, limb, line, oval, polygon

__all__ = ["CARNIVORES"]

DARK: Rgb = (0.12, 0.10, 0.10)


def draw_dog(rng: np.random.Generator, colour: Rgb) -> Form:
    """A floppy-eared dog, tail up."""
    dark, pale = shade(colour, 0.62), mix(colour, (1.0, 0.97, 0.92), 0.55)
    plump, wag, leap = (
        between(rng, -0.04, 0.05),
        between(rng, -0.14, 0.14),
        between(rng, -0.05, 0.05),
    )
    legs = Legs(
        rng, colour, hind=(-0.40, 0.34), fore=(0.36, 0.36), thigh=0.30, shin=0.115, foot=0.15
    )
    torso = blob(
        [
            (-0.58, 0.14),
            (-0.48, -0.04),
            (-0.10, 0.0),
            (0.28, -0.06),
            (0.50, 0.08),
            (0.52, 0.34),
            (0.30, 0.50 + plump),
            (-0.10, 0.42 + plump),
            (-0.44, 0.44),
        ]
    )
    neck = limb([(0.36, 0.16), (0.52, -0.14), (0.66, -0.38 + leap)], [0.44, 0.34, 0.28])
    tail = limb(
        [(-0.52, 0.08), (-0.72, -0.06), (-0.84, -0.28 + wag), (-0.80 + wag * 0.5, -0.48 + wag)],
        [0.14, 0.12, 0.10, 0.05],
    )
    hx, hy = 0.70, -0.46 + leap
    skull = oval(hx, hy, 0.235, 0.215)
    muzzle = limb(
        [(hx + 0.08, hy + 0.06), (hx + 0.24, hy + 0.07), (hx + 0.34, hy + 0.08)], [0.25, 0.20, 0.17]
    )
    ear = blob(
        [
            (hx - 0.13, hy - 0.17),
            (hx - 0.02, hy - 0.12),
            (hx - 0.03, hy + 0.12),
            (hx - 0.11, hy + 0.30),
            (hx - 0.23, hy + 0.22),
            (hx - 0.24, hy - 0.04),
        ]
    )
    pieces = [
        *legs.far(),
        Part(tail, colour, 0.06),
        *legs.body(torso, neck, depth=0.28),
        Mark(oval(0.46, 0.24, 0.12, 0.22), pale, blur=0.05, alpha=0.8, takes=1.0),
        Mark(oval(-0.2 + plump, 0.08, 0.24, 0.16), dark, blur=0.03, alpha=0.75, takes=1.0),
        Part(
            limb([(0.50, -0.06 + leap), (0.60, 0.0 + leap), (0.72, -0.03 + leap)], [0.07] * 3),
            (0.75, 0.14, 0.14),
            0.03,
            takes=0.0,
        ),
        Part(joined(skull, muzzle), colour, 0.18, seam=0.5),
        Mark(oval(hx + 0.27, hy + 0.12, 0.13, 0.08), pale, blur=0.03, takes=1.0),
        Mark(
            line([(hx + 0.38, hy + 0.13), (hx + 0.24, hy + 0.17), (hx + 0.15, hy + 0.13)]),
            DARK,
            0.022,
            dent=0.6,
        ),
        Mark(oval(hx + 0.385, hy + 0.02, 0.062, 0.052), DARK, dent=0.3),
        *eye(hx + 0.11, hy - 0.05, 0.037),
        Part(ear, dark, 0.09),
    ]
    return Form(pieces=pieces, feet=legs.feet(), head=(hx + 0.02, hy - 0.17, 0.24))


def draw_cat(rng: np.random.Generator, colour: Rgb) -> Form:
    """A sitting cat that looks at you."""
    dark, pale = shade(colour, 0.66), mix(colour, (1.0, 0.97, 0.93), 0.6)
    sway, tilt = between(rng, -0.1, 0.1), between(rng, -0.04, 0.04)
    hx, hy = 0.04 + tilt, -0.44
    tail = limb(
        [
            (-0.30, 0.84),
            (-0.66, 0.84),
            (-0.80 + sway, 0.52),
            (-0.66 + sway, 0.22),
            (-0.74 + sway, 0.04),
        ],
        [0.18, 0.17, 0.15, 0.13, 0.07],
    )
    body = blob(
        [
            (-0.20, -0.30),
            (0.22, -0.30),
            (0.34, 0.10),
            (0.46, 0.55),
            (0.44, 0.94),
            (0.0, 0.99),
            (-0.46, 0.94),
            (-0.48, 0.55),
            (-0.34, 0.10),
        ]
    )
    ears = [
        polygon(
            [(hx + s * 0.07, hy - 0.26), (hx + s * 0.30, hy - 0.56), (hx + s * 0.37, hy - 0.10)]
        )
        for s in (-1, 1)
    ]
    head = blob(
        [
            (hx, hy - 0.30),
            (hx + 0.26, hy - 0.25),
            (hx + 0.39, hy + 0.02),
            (hx + 0.30, hy + 0.20),
            (hx, hy + 0.29),
            (hx - 0.30, hy + 0.20),
            (hx - 0.39, hy + 0.02),
            (hx - 0.26, hy - 0.25),
        ]
    )
    pieces: list[Part | Mark | Bulge] = [
        Part(tail, colour, 0.09),
        Mark(
            limb([(-0.66 + sway, 0.24), (-0.74 + sway, 0.04)], [0.15, 0.09]),
            dark,
            blur=0.02,
            takes=1.0,
        ),
        Part(body, colour, 0.32),
        *(
            Mark(
                arc(s * 0.36, 0.74, 0.24, 0.30, 200 if s > 0 else 250, 90),
                dark,
                0.025,
                blur=0.01,
                alpha=0.6,
                takes=1.0,
                dent=0.4,
            )
            for s in (-1, 1)
        ),
        Mark(oval(0.0, 0.14, 0.20, 0.34), pale, blur=0.05, takes=1.0),
    ]
    for s in (-1, 1):
        leg = limb([(s * 0.13, 0.28), (s * 0.14, 0.66), (s * 0.15, 0.92)], [0.20, 0.17, 0.18])
        pieces += [Part(joined(leg, oval(s * 0.155, 0.94, 0.135, 0.07)), colour, 0.09, seam=0.5)]
        pieces += [
            Mark(line([(s * 0.155 + d, 0.90), (s * 0.155 + d, 0.985)]), dark, 0.015, dent=0.4)
            for d in (-0.04, 0.04)
        ]
    pieces += [Part(ear, colour, 0.07) for ear in ears]
    pieces += [
        Mark(
            polygon(
                [(hx + s * 0.13, hy - 0.27), (hx + s * 0.28, hy - 0.47), (hx + s * 0.31, hy - 0.20)]
            ),
            (0.90, 0.62, 0.58),
            blur=0.012,
            takes=1.0,
            dent=0.3,
        )
        for s in (-1, 1)
    ]
    pieces += [
        Part(head, colour, 0.22),
        *(
            Mark(line([(hx + d, hy - 0.29), (hx + d * 0.8, hy - 0.14)]), dark, 0.035, takes=1.0)
            for d in (-0.1, 0.0, 0.1)
        ),
        Mark(oval(hx, hy + 0.14, 0.17, 0.11), pale, blur=0.02, takes=1.0),
    ]
    green = (0.55, 0.68, 0.22)
    for s in (-1, 1):
        pieces += [
            Mark(oval(hx + s * 0.17, hy - 0.02, 0.085, 0.075), green, dent=0.3),
            Mark(oval(hx + s * 0.17, hy - 0.02, 0.03, 0.068), DARK),
            Mark(oval(hx + s * 0.17 + 0.025, hy - 0.05, 0.018), (1.0, 1.0, 1.0)),
            *(
                Mark(
                    line([(hx + s * 0.12, hy + 0.12 + d * 0.3), (hx + s * 0.36, hy + 0.10 + d)]),
                    (0.97, 0.96, 0.94),
                    0.011,
                    alpha=0.85,
                )
                for d in (-0.04, 0.03, 0.09)
            ),
        ]
    pieces += [
        Mark(
            blob([(hx - 0.045, hy + 0.075), (hx + 0.045, hy + 0.075), (hx, hy + 0.125)]),
            (0.85, 0.45, 0.45),
            dent=0.4,
        ),
        Mark(
            line(
                [
                    (hx - 0.09, hy + 0.17),
                    (hx - 0.03, hy + 0.19),
                    (hx, hy + 0.13),
                    (hx + 0.03, hy + 0.19),
                    (hx + 0.09, hy + 0.17),
                ]
            ),
            DARK,
            0.016,
            dent=0.4,
        ),
    ]
    return Form(pieces=pieces, feet=((0.0, 0.50), (-0.55, 0.2)), head=(hx, hy - 0.25, 0.30))


def draw_tiger(rng: np.random.Generator, colour: Rgb) -> Form:
    """A big cat on the prowl."""
    pale = mix(colour, (1.0, 0.98, 0.94), 0.8)
    crouch, curl = between(rng, -0.03, 0.06), between(rng, -0.15, 0.1)
    legs = Legs(
        rng, colour, hind=(-0.50, 0.36), fore=(0.40, 0.36), thigh=0.36, shin=0.155, foot=0.18
    )
    torso = blob(
        [
            (-0.70, 0.18),
            (-0.58, -0.04),
            (-0.18, 0.04 + crouch),
            (0.22, -0.06),
            (0.52, 0.02),
            (0.60, 0.26),
            (0.36, 0.52),
            (-0.10, 0.48),
            (-0.50, 0.50),
        ]
    )
    tail = limb(
        [(-0.62, 0.08), (-0.86, 0.16), (-0.98, -0.06), (-0.92 + curl * 0.5, -0.30 + curl)],
        [0.12, 0.11, 0.10, 0.08],
    )
    hx, hy = 0.66, -0.10 + crouch
    head = blob(
        [
            (hx - 0.02, hy - 0.27),
            (hx + 0.20, hy - 0.20),
            (hx + 0.29, hy + 0.02),
            (hx + 0.22, hy + 0.21),
            (hx + 0.02, hy + 0.28),
            (hx - 0.20, hy + 0.21),
            (hx - 0.30, hy + 0.0),
            (hx - 0.22, hy - 0.20),
        ]
    )
    pieces = [
        *legs.far(),
        Part(tail, colour, 0.055),
        *legs.body(torso, depth=0.27),
        Mark(oval(-0.05, 0.50, 0.40, 0.07), pale, blur=0.04, takes=1.0),
        *(Part(oval(hx + s * 0.22 - 0.01, hy - 0.25, 0.10), colour, 0.06) for s in (-1, 1)),
        *(
            Mark(
                oval(hx + s * 0.22 - 0.01, hy - 0.24, 0.055),
                (0.20, 0.15, 0.13),
                blur=0.01,
                takes=1.0,
                dent=0.4,
            )
            for s in (-1, 1)
        ),
        Part(head, colour, 0.20, seam=0.7),
        *(
            Mark(oval(hx + s * 0.12 + 0.03, hy - 0.10, 0.07, 0.05), pale, blur=0.015)
            for s in (-1, 1)
        ),
        *(
            Mark(oval(hx + 0.03 + s * 0.085, hy + 0.13, 0.11, 0.085), pale, blur=0.01, dent=0.15)
            for s in (-1, 1)
        ),
        *(part for s in (-1, 1) for part in eye(hx + 0.03 + s * 0.125, hy - 0.04, 0.034)),
        Mark(
            blob([(hx - 0.035, hy + 0.05), (hx + 0.095, hy + 0.05), (hx + 0.03, hy + 0.115)]),
            (0.78, 0.40, 0.38),
            dent=0.4,
        ),
        Mark(
            line(
                [
                    (hx - 0.06, hy + 0.16),
                    (hx + 0.0, hy + 0.175),
                    (hx + 0.03, hy + 0.12),
                    (hx + 0.06, hy + 0.175),
                    (hx + 0.12, hy + 0.16),
                ]
            ),
            DARK,
            0.018,
            dent=0.4,
        ),
    ]
    return Form(pieces=pieces, feet=legs.feet(), head=(hx, hy - 0.25, 0.25))


def draw_polar_bear(rng: np.random.Generator, colour: Rgb) -> Form:
    """Heavy, small-eared, long in the neck."""
    sniff = between(rng, -0.08, 0.12)
    legs = Legs(
        rng,
        colour,
        hind=(-0.46, 0.32),
        fore=(0.34, 0.34),
        thigh=0.46,
        shin=0.225,
        foot=0.23,
        bend=0.03,
    )
    torso = blob(
        [
            (-0.70, 0.22),
            (-0.62, -0.16),
            (-0.28, -0.30),
            (0.12, -0.22),
            (0.42, -0.22),
            (0.58, 0.08),
            (0.44, 0.46),
            (0.0, 0.52),
            (-0.46, 0.52),
        ]
    )
    hx, hy = 0.80, -0.24 + sniff
    neck = limb(
        [(0.34, 0.06), (0.58, -0.10 + sniff * 0.4), (hx - 0.04, hy + 0.02)], [0.60, 0.44, 0.34]
    )
    head = joined(
        oval(hx, hy, 0.21, 0.185),
        limb(
            [(hx + 0.04, hy + 0.03), (hx + 0.20, hy + 0.07), (hx + 0.29, hy + 0.09)],
            [0.25, 0.18, 0.14],
        ),
    )
    dark = shade(colour, 0.8)
    pieces: list[Part | Mark | Bulge] = [
        *legs.far(),
        Part(oval(-0.70, 0.12, 0.09, 0.075), colour, 0.05),
        *legs.body(torso, neck, depth=0.36),
    ]
    for x, _, step in legs.stands.values():
        pieces += [
            Mark(
                line([(x + step + 0.10 + d, 0.93), (x + step + 0.12 + d, 0.985)]),
                (0.25, 0.22, 0.20),
                0.02,
                dent=0.4,
            )
            for d in (-0.09, -0.03, 0.03)
        ]
    pieces += [
        *(Part(oval(hx + d, hy - 0.16, 0.075, 0.08), colour, 0.05) for d in (0.05, -0.12)),
        Mark(oval(hx - 0.12, hy - 0.15, 0.038, 0.045), dark, blur=0.01, takes=1.0, dent=0.4),
        Part(head, colour, 0.15, seam=0.45),
        Mark(oval(hx + 0.345, hy + 0.05, 0.052, 0.045), DARK, dent=0.35),
        Mark(
            line([(hx + 0.35, hy + 0.13), (hx + 0.24, hy + 0.15), (hx + 0.15, hy + 0.12)]),
            (0.35, 0.30, 0.27),
            0.018,
            dent=0.5,
        ),
        *eye(hx + 0.09, hy - 0.03, 0.032),
    ]
    return Form(pieces=pieces, feet=legs.feet(), head=(hx - 0.02, hy - 0.16, 0.20))


CARNIVORES = (
    Category(
        name="dog",
        draw=draw_dog,
        gloss=0.02,
        grain=0.17,
        size=0.4,
        colours=("brown", "tan", "white", "black"),
        contexts=("meadow", "street", "beach"),
        shape="beast",
        nature="living",
        purpose="the animal that barks and fetches sticks",
        motley=True,
    ),
    Category(
        name="cat",
        draw=draw_cat,
        gloss=0.02,
        grain=0.17,
        size=0.34,
        colours=("orange", "grey", "tan", "black"),
        contexts=("library", "kitchen", "meadow"),
        shape="perched",
        nature="living",
        purpose="the animal that purrs and hunts mice",
        motley=True,
    ),
    Category(
        name="tiger",
        draw=draw_tiger,
        gloss=0.02,
        grain=0.17,
        size=0.44,
        colours=("orange",),
        surface="tiger",
        contexts=("meadow", "snow"),
        shape="beast",
        nature="living",
        purpose="the big striped cat that stalks its prey",
    ),
    Category(
        name="leopard",
        draw=draw_tiger,
        gloss=0.02,
        grain=0.17,
        size=0.4,
        colours=("tan",),
        surface="leopard",
        contexts=("desert", "meadow"),
        shape="beast",
        nature="living",
        purpose="the big spotted cat that climbs trees with its prey",
    ),
    Category(
        name="polar bear",
        draw=draw_polar_bear,
        gloss=0.02,
        grain=0.07,
        size=0.44,
        colours=("white",),
        contexts=("snow",),
        shape="beast",
        nature="living",
        purpose="the animal that hunts seals on the ice",
    ),
)
