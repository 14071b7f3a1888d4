"""Animals that carry loads, seen from the side."""

from __future__ import annotations

import numpy as np

from groundfault.world.canvas import Rgb, mix, shade
from groundfault.world.forms import Bulge, Form, Mark, Part, between, eye
from groundfault.world.objects.category import Category
from groundfault.world.objects.legs import Legs
from groundfault.world.shapes import arc, blob, joined, limb, line, oval

__all__ = ["CARRIERS"]

DARK: Rgb = (0.12, 0.10, 0.10)

HORN: Rgb = (0.86, 0.80, 0.68)


def draw_elephant(rng: np.random.Generator, colour: Rgb) -> Form:
    """Ears, trunk and tusks."""
    dark = shade(colour, 0.78)
    lift, flap = between(rng, -0.05, 0.16), between(rng, -0.04, 0.05)
    legs = Legs(
        rng,
        colour,
        hind=(-0.42, 0.28),
        fore=(0.30, 0.28),
        thigh=0.36,
        shin=0.23,
        foot=0.24,
        bend=0.02,
    )
    torso = blob(
        [
            (-0.66, 0.10),
            (-0.60, -0.30),
            (-0.24, -0.48),
            (0.16, -0.44),
            (0.46, -0.30),
            (0.54, 0.06),
            (0.38, 0.40),
            (0.0, 0.46),
            (-0.44, 0.40),
        ]
    )
    head = blob(
        [
            (0.36, -0.44),
            (0.62, -0.56),
            (0.86, -0.40),
            (0.90, -0.12),
            (0.74, 0.08),
            (0.46, 0.06),
            (0.34, -0.16),
        ]
    )
    trunk = limb(
        [
            (0.80, -0.18),
            (0.92, 0.14),
            (0.90, 0.48 - lift),
            (1.00, 0.70 - lift * 1.6),
            (1.12, 0.66 - lift * 2.2),
        ],
        [0.34, 0.22, 0.16, 0.125, 0.10],
    )
    ear = blob(
        [
            (0.50, -0.44),
            (0.30, -0.54 - flap),
            (0.12, -0.40 - flap),
            (0.10, -0.10),
            (0.22, 0.16 + flap),
            (0.40, 0.20),
            (0.50, 0.02),
            (0.52, -0.20),
        ]
    )
    tail = limb([(-0.62, -0.14), (-0.74, 0.10), (-0.72, 0.36)], [0.07, 0.05, 0.035])
    pieces: list[Part | Mark | Bulge] = [
        *legs.far(),
        Part(tail, colour, 0.03),
        Part(oval(-0.72, 0.41, 0.035, 0.07), DARK, 0.02, takes=0.0),
        *legs.body(torso, depth=0.36),
    ]
    for x, _, step in (legs.stands["near hind"], legs.stands["near fore"]):
        pieces += [
            Mark(
                arc(x + step + d, 0.985, 0.038, 0.05, 180, 180), (0.88, 0.84, 0.76), 0.02, dent=0.3
            )
            for d in (-0.06, 0.03, 0.12)
        ]
    pieces += [
        Part(
            limb([(0.74, 0.02), (0.86, 0.16), (1.02, 0.12 - lift * 0.3)], [0.085, 0.07, 0.03]),
            (0.95, 0.91, 0.80),
            0.035,
            takes=0.0,
        ),
        Part(joined(head, trunk), colour, 0.20, seam=0.6),
        *(
            Mark(
                line([(0.83 - d * 0.02, 0.20 + d * 0.1), (0.99 - d * 0.03, 0.17 + d * 0.1)]),
                dark,
                0.018,
                alpha=0.7,
                takes=1.0,
                dent=0.35,
            )
            for d in range(4)
        ),
        *eye(0.72, -0.26, 0.036),
        Mark(arc(0.72, -0.25, 0.07, 0.07, 200, 120), dark, 0.018, takes=1.0, dent=0.3),
        Part(ear, shade(colour, 0.93), 0.12),
        Mark(
            blob([(0.42, -0.34), (0.24, -0.38), (0.20, -0.12), (0.34, 0.08), (0.42, -0.04)]),
            mix(colour, (0.85, 0.55, 0.52), 0.4),
            blur=0.05,
            alpha=0.7,
            takes=1.0,
        ),
    ]
    return Form(pieces=pieces, feet=legs.feet(), head=(0.60, -0.52, 0.26))


def draw_camel(rng: np.random.Generator, colour: Rgb) -> Form:
    """Two humps and a curved neck."""
    hump, nod = between(rng, -0.06, 0.08), between(rng, -0.06, 0.08)
    fur = shade(colour, 0.72)
    legs = Legs(
        rng,
        colour,
        hind=(-0.42, 0.22),
        fore=(0.24, 0.22),
        thigh=0.26,
        shin=0.10,
        foot=0.15,
        bend=0.04,
    )
    torso = blob(
        [
            (-0.56, 0.06),
            (-0.48, -0.14),
            (-0.36, -0.40 - hump),
            (-0.24, -0.46 - hump),
            (-0.10, -0.18),
            (0.0, -0.16),
            (0.10, -0.44 - hump),
            (0.22, -0.42 - hump),
            (0.32, -0.12),
            (0.44, 0.04),
            (0.34, 0.26),
            (0.0, 0.34),
            (-0.42, 0.30),
        ]
    )
    neck = limb(
        [(0.26, 0.06), (0.48, 0.12), (0.62, -0.14), (0.66, -0.50 + nod)], [0.34, 0.26, 0.19, 0.155]
    )
    hx, hy = 0.69, -0.58 + nod
    head = limb(
        [(hx - 0.03, hy), (hx + 0.12, hy + 0.04), (hx + 0.26, hy + 0.10)], [0.19, 0.165, 0.12]
    )
    tail = limb([(-0.54, -0.02), (-0.62, 0.16), (-0.61, 0.36)], [0.05, 0.04, 0.06])
    pieces = [
        *legs.far(),
        Part(tail, fur, 0.03),
        *legs.body(torso, neck, depth=0.20),
        *(
            Mark(oval(x, -0.38 - hump, 0.12, 0.14), fur, blur=0.04, alpha=0.7, takes=1.0)
            for x in (-0.29, 0.16)
        ),
        Mark(
            limb([(0.34, 0.22), (0.52, 0.22), (0.66, 0.02)], [0.10, 0.10, 0.06]),
            fur,
            blur=0.03,
            alpha=0.8,
            takes=1.0,
        ),
        Part(
            blob([(hx - 0.04, hy - 0.06), (hx - 0.11, hy - 0.17), (hx + 0.02, hy - 0.09)]),
            colour,
            0.03,
        ),
        Part(head, colour, 0.09, seam=0.5),
        Mark(oval(hx - 0.02, hy - 0.085, 0.08, 0.04), fur, blur=0.02, takes=1.0),
        Mark(oval(hx + 0.29, hy + 0.075, 0.014, 0.012), DARK, dent=0.5),
        Mark(
            line([(hx + 0.31, hy + 0.125), (hx + 0.22, hy + 0.14), (hx + 0.15, hy + 0.12)]),
            DARK,
            0.014,
            dent=0.5,
        ),
        *eye(hx + 0.08, hy - 0.015, 0.026),
        Mark(line([(hx + 0.045, hy - 0.045), (hx + 0.115, hy - 0.045)]), DARK, 0.014),
    ]
    return Form(pieces=pieces, feet=legs.feet(), head=(hx, hy - 0.08, 0.14))


CARRIERS = (
    Category(
        name="elephant",
        draw=draw_elephant,
        gloss=0.02,
        grain=0.14,
        size=0.55,
        colours=("grey",),
        contexts=("desert", "meadow"),
        shape="beast",
        nature="living",
        purpose="the animal that drinks through its trunk",
    ),
    Category(
        name="camel",
        draw=draw_camel,
        gloss=0.02,
        grain=0.17,
        size=0.53,
        colours=("tan", "brown"),
        contexts=("desert",),
        shape="beast",
        nature="living",
        purpose="the animal that carries loads for days without water",
    ),
)
