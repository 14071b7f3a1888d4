"""Animals of the sea."""

from __future__ import annotations

import numpy as np

from groundfault.world.canvas import Rgb, mix, shade
from groundfault.world.forms import Bulge, Form, Mark, Part, between, eye
from groundfault.world.objects.category import Category
from groundfault.world.shapes import arc, blob, joined, limb, line, oval

__all__ = ["AQUATIC"]

DARK: Rgb = (0.11, 0.10, 0.11)

WHITE: Rgb = (0.97, 0.97, 0.95)


def draw_fish(rng: np.random.Generator, colour: Rgb) -> Form:
    """A reef fish with flowing fins."""
    fat, flick = between(rng, -0.06, 0.10), between(rng, -0.1, 0.1)
    pale, fin = mix(colour, (1.0, 0.97, 0.88), 0.75), mix(colour, (1.0, 0.85, 0.4), 0.35)
    y = 0.40
    body = blob(
        [
            (0.92, y + 0.02),
            (0.62, y - 0.34 - fat),
            (0.10, y - 0.44 - fat),
            (-0.40, y - 0.18),
            (-0.58, y),
            (-0.40, y + 0.18),
            (0.10, y + 0.42 + fat),
            (0.62, y + 0.32 + fat),
        ]
    )
    tail = blob(
        [
            (-0.48, y),
            (-0.72, y - 0.26),
            (-0.98, y - 0.42 + flick),
            (-0.84, y + flick * 0.5),
            (-0.98, y + 0.42 + flick),
            (-0.72, y + 0.26),
        ],
        0.8,
    )
    dorsal = blob(
        [
            (-0.30, y - 0.16),
            (-0.20, y - 0.56 - fat),
            (0.10, y - 0.72 - fat),
            (0.44, y - 0.54 - fat),
            (0.50, y - 0.30),
        ]
    )
    anal = blob([(-0.28, y + 0.16), (-0.20, y + 0.56), (0.06, y + 0.62 + fat), (0.20, y + 0.36)])
    pieces: list[Part | Mark] = [
        Part(tail, fin, 0.07),
        Part(dorsal, fin, 0.06),
        Part(anal, fin, 0.05),
        *(
            Mark(
                line([(-0.60, y + d * 0.5), (-0.90, y + d + flick)]),
                shade(fin, 0.7),
                0.018,
                takes=1.0,
                dent=0.35,
            )
            for d in (-0.24, -0.08, 0.08, 0.24)
        ),
        *(
            Mark(
                line([(d, y - 0.30), (d - 0.06, y - 0.62 - fat)]),
                shade(fin, 0.7),
                0.016,
                takes=1.0,
                dent=0.35,
            )
            for d in (-0.1, 0.05, 0.2, 0.35)
        ),
        Part(body, colour, 0.28),
        *(
            Mark(
                line([(x + 0.03, y - 0.60), (x - 0.05, y), (x + 0.03, y + 0.60)]),
                WHITE,
                w,
                takes=1.0,
            )
            for x, w in ((0.42, 0.15), (-0.06, 0.13), (-0.42, 0.09))
        ),
        *(
            Mark(
                line([(x + 0.03 + e, y - 0.60), (x - 0.05 + e, y), (x + 0.03 + e, y + 0.60)]),
                DARK,
                0.022,
                takes=1.0,
            )
            for x, w in ((0.42, 0.085), (-0.06, 0.075))
            for e in (-w, w)
        ),
        Mark(oval(0.1, y + 0.38, 0.5, 0.09), pale, blur=0.05, alpha=0.7, takes=1.0),
        Mark(arc(0.52, y, 0.14, 0.26, -70, 140), shade(colour, 0.6), 0.02, takes=1.0, dent=0.45),
        Part(
            blob(
                [
                    (0.26, y + 0.06),
                    (0.02, y - 0.02),
                    (-0.10, y + 0.16),
                    (0.04, y + 0.26),
                    (0.24, y + 0.20),
                ]
            ),
            fin,
            0.06,
        ),
        *eye(0.72, y - 0.10, 0.052, white=True),
        Mark(line([(0.90, y + 0.08), (0.82, y + 0.12), (0.76, y + 0.10)]), DARK, 0.018, dent=0.4),
    ]
    return Form(pieces=pieces, feet=((0.0, 0.62),))


def draw_shark(rng: np.random.Generator, colour: Rgb) -> Form:
    """A shark on patrol."""
    bite, flick, y = between(rng, -0.02, 0.03), between(rng, -0.08, 0.08), 0.44
    pale = mix(colour, (1.0, 1.0, 1.0), 0.72)
    body = blob(
        [
            (1.0, y - 0.04),
            (0.72, y - 0.22),
            (0.20, y - 0.30),
            (-0.40, y - 0.16),
            (-0.80, y - 0.04),
            (-0.80, y + 0.04),
            (-0.40, y + 0.12),
            (0.20, y + 0.22),
            (0.70, y + 0.16),
        ]
    )
    belly = blob(
        [
            (0.96, y + 0.0),
            (0.60, y + 0.02),
            (0.10, y + 0.06),
            (-0.50, y + 0.04),
            (-0.30, y + 0.30),
            (0.40, y + 0.40),
            (0.90, y + 0.24),
        ]
    )
    tail = blob(
        [
            (-0.70, y - 0.05),
            (-0.86, y - 0.30),
            (-1.0, y - 0.56 + flick),
            (-0.94, y - 0.14),
            (-0.98, y + 0.30 + flick),
            (-0.80, y + 0.10),
        ],
        0.6,
    )
    dorsal = blob(
        [
            (0.34, y - 0.26),
            (0.12, y - 0.52),
            (-0.06, y - 0.66),
            (-0.04, y - 0.42),
            (-0.10, y - 0.22),
        ],
        0.6,
    )
    pieces: list[Part | Mark | Bulge] = [
        Part(
            blob([(0.40, y + 0.12), (0.30, y + 0.36), (0.14, y + 0.50), (0.18, y + 0.10)], 0.5),
            colour,
            0.05,
            dim=0.75,
        ),
        Part(joined(body, tail, dorsal), colour, 0.10),
        Bulge(body, 0.8, 0.11),
        Mark(belly, pale, blur=0.03, takes=1.0),
        *(
            Mark(
                line([(0.46 - d, y - 0.10), (0.43 - d, y + 0.0), (0.46 - d, y + 0.10)]),
                shade(colour, 0.45),
                0.018,
                dent=0.4,
            )
            for d in (0.0, 0.06, 0.12)
        ),
        Mark(
            line([(0.92, y + 0.07), (0.78, y + 0.12 + bite), (0.66, y + 0.08)]),
            shade(colour, 0.3),
            0.022,
            dent=0.5,
        ),
        *(
            Mark(blob([(x, y + 0.095), (x + 0.035, y + 0.095), (x + 0.017, y + 0.135)], 0.2), WHITE)
            for x in (0.70, 0.76, 0.82)
        ),
        *eye(0.74, y - 0.08, 0.032),
        Part(
            blob(
                [
                    (0.30, y + 0.12),
                    (0.10, y + 0.40),
                    (-0.10, y + 0.56),
                    (-0.04, y + 0.30),
                    (0.06, y + 0.10),
                ],
                0.6,
            ),
            shade(colour, 0.92),
            0.06,
        ),
    ]
    return Form(pieces=pieces, feet=((0.0, 0.7),))


def draw_jellyfish(rng: np.random.Generator, colour: Rgb) -> Form:
    """A bell with trailing arms."""
    pale, sway = mix(colour, (1.0, 1.0, 1.0), 0.5), between(rng, -0.10, 0.10)
    rim = [
        (-0.70, -0.10),
        (-0.46, -0.02),
        (-0.24, -0.09),
        (0.0, -0.01),
        (0.24, -0.09),
        (0.46, -0.02),
        (0.70, -0.10),
    ]
    bell = blob(
        [*rim, (0.66, -0.46), (0.38, -0.80), (0.0, -0.90), (-0.38, -0.80), (-0.66, -0.46)], 0.9
    )
    pieces: list[Part | Mark | Bulge] = []
    for i, x in enumerate((-0.52, -0.30, -0.10, 0.12, 0.32, 0.54)):
        drift, long = sway * (1 if i % 2 else -0.6), between(rng, 0.55, 0.96)
        arm = [
            (x, -0.12),
            (x + drift, long * 0.3),
            (x - drift, long * 0.66),
            (x + drift * 0.5, long),
        ]
        pieces.append(
            Part(limb(arm, [0.07, 0.06, 0.05, 0.025]), mix(colour, pale, 0.4), 0.03, dim=0.95)
        )
    for x in (-0.14, 0.14):
        frill = [(x, -0.10), (x * 1.5 + sway, 0.18), (x * 0.6 - sway, 0.42), (x * 1.2, 0.66)]
        pieces.append(Part(limb(frill, [0.16, 0.18, 0.13, 0.05]), pale, 0.07))
    pieces += [
        Part(bell, colour, 0.30),
        Mark(oval(0.0, -0.46, 0.42, 0.30), pale, blur=0.10, alpha=0.7, takes=1.0),
        *(
            Mark(
                oval(x, -0.44, 0.10, 0.14),
                mix(colour, (1.0, 0.5, 0.7), 0.4),
                blur=0.02,
                alpha=0.8,
                takes=1.0,
                dent=0.3,
            )
            for x in (-0.24, 0.0, 0.24)
        ),
        *(
            Mark(
                line([(x * 0.4, -0.86), (x * 0.9, -0.5), (x, -0.10)]),
                shade(colour, 0.7),
                0.016,
                alpha=0.7,
                takes=1.0,
                dent=0.35,
            )
            for x in (-0.46, 0.0, 0.46)
        ),
    ]
    return Form(pieces=pieces, feet=((0.0, 0.5),))


def draw_turtle(rng: np.random.Generator, colour: Rgb) -> Form:
    """A domed shell on four short legs."""
    skin, peer = mix(colour, (0.80, 0.78, 0.42), 0.55), between(rng, -0.10, 0.06)
    shell = blob(
        [
            (-0.74, 0.66),
            (-0.64, 0.26),
            (-0.30, -0.06),
            (0.10, -0.10),
            (0.44, 0.14),
            (0.58, 0.54),
            (0.54, 0.70),
            (-0.1, 0.76),
        ],
        0.9,
    )
    plates = [
        [(-0.20, 0.10), (0.12, 0.06), (0.24, 0.34), (0.02, 0.54), (-0.26, 0.40)],
        [(-0.20, 0.10), (-0.26, 0.40), (-0.56, 0.40)],
        [(0.12, 0.06), (0.24, 0.34), (0.50, 0.36)],
    ]
    pieces: list[Part | Mark] = [
        *(
            Part(
                limb([(x, 0.62), (x + 0.04, 0.80), (x + 0.06, 0.94)], [0.24, 0.20, 0.20]),
                skin,
                0.08,
                dim=0.74,
            )
            for x in (-0.34, 0.36)
        ),
        Part(blob([(-0.70, 0.62), (-0.94, 0.76), (-0.68, 0.74)]), skin, 0.04),
        Part(
            joined(
                limb([(0.44, 0.56), (0.66, 0.42 + peer), (0.78, 0.26 + peer)], [0.28, 0.22, 0.22]),
                oval(0.84, 0.22 + peer, 0.20, 0.165),
            ),
            skin,
            0.12,
        ),
        *eye(0.91, 0.17 + peer, 0.038),
        Mark(
            line([(1.02, 0.26 + peer), (0.92, 0.30 + peer), (0.82, 0.27 + peer)]),
            shade(skin, 0.45),
            0.018,
            dent=0.45,
        ),
        *(
            Part(
                limb([(x, 0.64), (x + 0.02, 0.82), (x + 0.05, 0.95)], [0.27, 0.22, 0.22]),
                skin,
                0.09,
            )
            for x in (-0.48, 0.24)
        ),
        Part(
            limb([(-0.74, 0.70), (-0.1, 0.77), (0.58, 0.70)], [0.14, 0.15, 0.14]),
            shade(colour, 0.75),
            0.06,
        ),
        Part(shell, colour, 0.34),
        *(
            Mark(blob(plate, 0.25), shade(colour, 0.58), 0.03, takes=0.5, dent=0.4)
            for plate in plates
        ),
        *(
            Mark(
                line([(x, y), (x * 1.5 - 0.02, 0.70)]),
                shade(colour, 0.58),
                0.03,
                takes=0.5,
                dent=0.4,
            )
            for x, y in ((-0.26, 0.40), (0.02, 0.54), (0.24, 0.34))
        ),
    ]
    return Form(
        pieces=pieces,
        feet=((-0.4, 0.14), (0.28, 0.14), (0.0, 0.6)),
        top=(-0.08, -0.07, 0.3),
        head=(0.80, 0.10 + peer, 0.17),
    )


AQUATIC = (
    Category(
        name="fish",
        draw=draw_fish,
        size=0.33,
        colours=("orange", "blue", "yellow"),
        contexts=("reef",),
        shape="winged",
        nature="living",
        purpose="the small swimmer that darts about a reef",
        plural="fish",
        swims=True,
        motley=True,
    ),
    Category(
        name="shark",
        draw=draw_shark,
        size=0.48,
        colours=("grey", "blue"),
        contexts=("reef",),
        shape="winged",
        nature="living",
        purpose="the fish that swimmers are afraid of",
        swims=True,
        motley=True,
    ),
    Category(
        name="jellyfish",
        draw=draw_jellyfish,
        size=0.4,
        colours=("pink", "purple", "blue"),
        contexts=("reef",),
        shape="dome",
        nature="living",
        purpose="the sea animal that stings with its tentacles",
        plural="jellyfish",
        swims=True,
        motley=True,
    ),
    Category(
        name="turtle",
        draw=draw_turtle,
        size=0.33,
        colours=("green", "brown"),
        contexts=("beach", "reef"),
        shape="dome",
        nature="living",
        purpose="the animal that carries its house on its back",
    ),
)
