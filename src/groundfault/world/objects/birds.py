"""Birds."""

from __future__ import annotations

import numpy as np

from groundfault.world.canvas import Rgb, shade
from groundfault.world.forms import Form, Mark, Part, between, eye
from groundfault.world.objects.category import Category
from groundfault.world.shapes import blob, joined, limb, line, oval

__all__ = ["BIRDS"]

BEAK: Rgb = (0.95, 0.58, 0.14)

WHITE: Rgb = (0.97, 0.97, 0.95)


def draw_penguin(rng: np.random.Generator, colour: Rgb) -> Form:
    """Upright in its dress coat."""
    wave, plump, hx = between(rng, 0.0, 0.22), between(rng, -0.03, 0.05), between(rng, -0.03, 0.03)
    body = blob(
        [
            (-0.20, -0.52),
            (0.20, -0.52),
            (0.40 + plump, -0.05),
            (0.44 + plump, 0.45),
            (0.28, 0.90),
            (0.0, 0.96),
            (-0.28, 0.90),
            (-0.44 - plump, 0.45),
            (-0.40 - plump, -0.05),
        ]
    )
    head = oval(hx, -0.66, 0.29, 0.28)
    toes = ((0.12, 0.92), (0.22, 0.84), (0.40, 0.93), (0.44, 0.99), (0.24, 1.0), (0.08, 0.99))
    pieces: list[Part | Mark] = [
        Part(blob([(s * x, y) for x, y in toes]), BEAK, 0.05, takes=0.0) for s in (-1, 1)
    ]
    flippers = [
        blob(
            [
                (s * 0.28, -0.30),
                (s * (0.50 + lift), -0.02),
                (s * (0.60 + lift), 0.36 - lift),
                (s * 0.50, 0.36 - lift * 0.5),
                (s * 0.34, 0.14),
            ]
        )
        for s, lift in ((-1, 0.0), (1, wave))
    ]
    pieces += [Part(flipper, shade(colour, 0.85), 0.07) for flipper in flippers]
    pieces += [
        Part(joined(body, head), colour, 0.26),
        Mark(
            blob(
                [
                    (-0.14, -0.36),
                    (0.14, -0.36),
                    (0.30, 0.02),
                    (0.33, 0.48),
                    (0.20, 0.82),
                    (-0.20, 0.82),
                    (-0.33, 0.48),
                    (-0.30, 0.02),
                ]
            ),
            WHITE,
            blur=0.015,
            takes=1.0,
        ),
        Mark(oval(0.0, -0.34, 0.20, 0.09), (0.98, 0.80, 0.36), blur=0.04, alpha=0.8, takes=1.0),
        *(
            Mark(oval(hx + s * 0.13, -0.64, 0.115, 0.13), WHITE, blur=0.015, takes=1.0)
            for s in (-1, 1)
        ),
        *(part for s in (-1, 1) for part in eye(hx + s * 0.12, -0.68, 0.042)),
        Part(
            blob([(hx - 0.09, -0.58), (hx, -0.63), (hx + 0.09, -0.58), (hx, -0.44)]),
            BEAK,
            0.04,
            takes=0.0,
        ),
        Mark(
            line([(hx - 0.07, -0.565), (hx, -0.55), (hx + 0.07, -0.565)]),
            (0.6, 0.32, 0.06),
            0.014,
            dent=0.4,
        ),
    ]
    return Form(pieces=pieces, feet=((-0.24, 0.2), (0.24, 0.2)), head=(hx, -0.88, 0.25))


def draw_duck(rng: np.random.Generator, colour: Rgb) -> Form:
    """A duck on its feet, tail up."""
    perk, hy = between(rng, -0.05, 0.08), -0.52 + between(rng, -0.06, 0.05)
    body = blob(
        [
            (-0.86, -0.02 - perk),
            (-0.60, 0.10),
            (-0.20, 0.02),
            (0.22, -0.02),
            (0.50, 0.16),
            (0.48, 0.50),
            (0.16, 0.76),
            (-0.32, 0.74),
            (-0.66, 0.46),
        ]
    )
    neck = limb([(0.26, 0.26), (0.40, -0.10), (0.44, hy)], [0.46, 0.29, 0.28])
    head = oval(0.47, hy - 0.02, 0.27, 0.25)
    wing = blob(
        [
            (-0.58, 0.16),
            (-0.30, 0.10),
            (0.10, 0.16),
            (0.22, 0.34),
            (0.02, 0.54),
            (-0.34, 0.50),
            (-0.62, 0.30),
        ]
    )
    bill = blob(
        [
            (0.66, hy - 0.06),
            (0.80, hy - 0.02),
            (1.0, hy + 0.02),
            (1.0, hy + 0.08),
            (0.82, hy + 0.13),
            (0.66, hy + 0.10),
        ]
    )
    pieces: list[Part | Mark] = []
    for x, dim in ((0.10, 0.8), (-0.06, 1.0)):
        pieces.append(
            Part(
                joined(
                    limb([(x, 0.66), (x, 0.94)], [0.07, 0.06]),
                    blob([(x - 0.08, 0.99), (x - 0.02, 0.91), (x + 0.20, 0.95), (x + 0.22, 1.0)]),
                ),
                BEAK,
                0.04,
                takes=0.0,
                dim=dim,
            )
        )
    pieces += [
        Part(bill, BEAK, 0.05, takes=0.0),
        Mark(
            line([(0.68, hy + 0.05), (0.84, hy + 0.06), (0.99, hy + 0.05)]),
            (0.65, 0.36, 0.08),
            0.015,
            dent=0.4,
        ),
        Part(joined(body, neck, head), colour, 0.26),
        Part(wing, shade(colour, 0.88), 0.10),
        *(
            Mark(
                line(
                    [
                        (-0.56 + d, 0.24 + d * 0.5),
                        (-0.30 + d, 0.36 + d * 0.25),
                        (-0.02 + d * 0.6, 0.36 + d * 0.4),
                    ]
                ),
                shade(colour, 0.68),
                0.02,
                takes=1.0,
                dent=0.4,
            )
            for d in (0.0, 0.12, 0.22)
        ),
        *eye(0.56, hy - 0.07, 0.042),
    ]
    return Form(pieces=pieces, feet=((0.02, 0.2),), head=(0.45, hy - 0.22, 0.23))


BIRDS = (
    Category(
        name="penguin",
        draw=draw_penguin,
        gloss=0.07,
        size=0.4,
        colours=("black",),
        contexts=("snow",),
        shape="upright",
        nature="living",
        purpose="the bird that cannot fly but swims",
    ),
    Category(
        name="duck",
        draw=draw_duck,
        gloss=0.05,
        size=0.32,
        colours=("white", "yellow", "brown"),
        contexts=("meadow", "beach"),
        shape="perched",
        nature="living",
        purpose="the bird that quacks",
        motley=True,
    ),
)
