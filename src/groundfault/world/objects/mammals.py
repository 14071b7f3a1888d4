"""Four-legged animals, seen from the side, facing right."""

from __future__ import annotations

import numpy as np

from groundfault.world.canvas import Path, Rgb, mix, shade
from groundfault.world.forms import Bulge, Form, Mark, Part, between, eye
from groundfault.world.shapes import Point, arc, blob, joined, limb, line, oval, polygon

__all__ = [
    "draw_camel",
    "draw_cat",
    "draw_cow",
    "draw_dog",
    "draw_elephant",
    "draw_giraffe",
    "draw_polar_bear",
    "draw_tiger",
    "draw_zebra",
]

DARK: Rgb = (0.12, 0.10, 0.10)
HORN: Rgb = (0.86, 0.80, 0.68)


class _Legs:
    """Four legs in a stride; the far pair is dim and half a step behind."""

    def __init__(
        self,
        rng: np.random.Generator,
        colour: Rgb,
        *,
        hind: Point,
        fore: Point,
        thigh: float,
        shin: float,
        foot: float,
        foot_colour: Rgb | None = None,
        bend: float = 0.06,
    ) -> None:
        self.colour, self.thigh, self.shin, self.foot, self.bend = colour, thigh, shin, foot, bend
        self.foot_colour = foot_colour
        stride = between(rng, 0.02, 0.11) * (1 if rng.random() < 0.5 else -1)
        gap = shin * 0.95
        self.stands = {
            "far hind": (hind[0] + gap, hind[1], -stride + gap * 0.4),
            "far fore": (fore[0] + gap * 0.7, fore[1], stride + gap * 0.3),
            "near hind": (hind[0], hind[1], stride),
            "near fore": (fore[0], fore[1], -stride),
        }

    def far(self) -> list[Part]:
        """The pair on the other side."""
        return [part for name in ("far hind", "far fore") for part in self._leg(name)]

    def body(self, *trunk: Path, depth: float) -> list[Part | Mark | Bulge]:
        """Trunk and near legs grown together, with the trunk's swelling on them."""
        upper, hooves = [], []
        for name in ("near hind", "near fore"):
            path, paw = self._paths(name, 0.0)
            upper.append(path if self.foot_colour else joined(path, paw))
            hooves += [Part(paw, self.foot_colour, self.shin * 0.4, takes=0.0)] if self.foot_colour else []
        (hx, hy, _), (fx, fy, _) = self.stands["near hind"], self.stands["near fore"]
        return [
            Part(joined(*trunk, *upper), self.colour, self.shin * 0.62),
            *(Bulge(path, 0.80, depth * 0.42) for path in trunk),
            Bulge(oval(hx, hy, self.thigh * 0.34, self.thigh * 0.5), 0.35, self.thigh * 0.2),
            Bulge(oval(fx, fy - 0.04, self.thigh * 0.26, self.thigh * 0.5), 0.30, self.thigh * 0.2),
            *hooves,
        ]

    def _leg(self, name: str) -> list[Part]:
        path, paw = self._paths(name, 0.025)  # further away is higher in the picture
        if self.foot_colour is None:
            return [Part(joined(path, paw), self.colour, self.shin * 0.62, dim=0.74)]
        return [
            Part(path, self.colour, self.shin * 0.62, dim=0.74),
            Part(paw, self.foot_colour, self.shin * 0.4, dim=0.74, takes=0.0),
        ]

    def _paths(self, name: str, lift: float) -> tuple[Path, Path]:
        """Outlines of a leg and of its foot."""
        x, y, step = self.stands[name]
        hind, drop = name.endswith("hind"), 1.0 - y
        bend = self.bend if hind else -self.bend * 0.2
        toe = x + step
        path = limb(
            [
                (x, y),
                (x + step * 0.35 + bend, y + drop * 0.42),
                (x + step * 0.75 - bend, y + drop * 0.70),
                (toe, 1.0 - self.foot * 0.45 - lift),
            ],
            [self.thigh if hind else self.thigh * 0.8, self.shin * 1.35, self.shin, self.shin],
        )
        sole = self.foot * 0.5
        paw = blob(
            [
                (toe - sole * 0.85, 1.0 - lift),
                (toe - sole * 0.8, 1.0 - self.foot * 0.62 - lift),
                (toe + sole * 0.55, 1.0 - self.foot * 0.72 - lift),
                (toe + sole * 1.45, 1.0 - self.foot * 0.22 - lift),
                (toe + sole * 1.3, 1.0 - lift),
            ],
            0.7,
        )
        return path, paw

    def feet(self) -> tuple[tuple[float, float], ...]:
        return tuple((x + step, self.foot * 0.9) for x, _, step in self.stands.values())


def draw_dog(rng: np.random.Generator, colour: Rgb) -> Form:
    """A floppy-eared dog, tail up."""
    dark, pale = shade(colour, 0.62), mix(colour, (1.0, 0.97, 0.92), 0.55)
    plump, wag, leap = between(rng, -0.04, 0.05), between(rng, -0.14, 0.14), between(rng, -0.05, 0.05)
    legs = _Legs(rng, colour, hind=(-0.40, 0.34), fore=(0.36, 0.36), thigh=0.30, shin=0.115, foot=0.15)
    torso = blob(
        [
            (-0.58, 0.14), (-0.48, -0.04), (-0.10, 0.0), (0.28, -0.06), (0.50, 0.08),
            (0.52, 0.34), (0.30, 0.50 + plump), (-0.10, 0.42 + plump), (-0.44, 0.44),
        ]
    )  # fmt: skip
    neck = limb([(0.36, 0.16), (0.52, -0.14), (0.66, -0.38 + leap)], [0.44, 0.34, 0.28])
    tail = limb(
        [(-0.52, 0.08), (-0.72, -0.06), (-0.84, -0.28 + wag), (-0.80 + wag * 0.5, -0.48 + wag)],
        [0.14, 0.12, 0.10, 0.05],
    )
    hx, hy = 0.70, -0.46 + leap
    skull = oval(hx, hy, 0.235, 0.215)
    muzzle = limb([(hx + 0.08, hy + 0.06), (hx + 0.24, hy + 0.07), (hx + 0.34, hy + 0.08)], [0.25, 0.20, 0.17])
    ear = blob(
        [
            (hx - 0.13, hy - 0.17), (hx - 0.02, hy - 0.12), (hx - 0.03, hy + 0.12),
            (hx - 0.11, hy + 0.30), (hx - 0.23, hy + 0.22), (hx - 0.24, hy - 0.04),
        ]
    )  # fmt: skip
    pieces = [
        *legs.far(),
        Part(tail, colour, 0.06),
        *legs.body(torso, neck, depth=0.28),
        Mark(oval(0.46, 0.24, 0.12, 0.22), pale, blur=0.05, alpha=0.8, takes=1.0),
        Mark(oval(-0.2 + plump, 0.08, 0.24, 0.16), dark, blur=0.03, alpha=0.75, takes=1.0),
        Part(limb([(0.50, -0.06 + leap), (0.60, 0.0 + leap), (0.72, -0.03 + leap)], [0.07] * 3), (0.75, 0.14, 0.14), 0.03, takes=0.0),
        Part(joined(skull, muzzle), colour, 0.18, seam=0.5),
        Mark(oval(hx + 0.27, hy + 0.12, 0.13, 0.08), pale, blur=0.03, takes=1.0),
        Mark(line([(hx + 0.38, hy + 0.13), (hx + 0.24, hy + 0.17), (hx + 0.15, hy + 0.13)]), DARK, 0.022, dent=0.6),
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
        [(-0.30, 0.84), (-0.66, 0.84), (-0.80 + sway, 0.52), (-0.66 + sway, 0.22), (-0.74 + sway, 0.04)],
        [0.18, 0.17, 0.15, 0.13, 0.07],
    )
    body = blob(
        [
            (-0.20, -0.30), (0.22, -0.30), (0.34, 0.10), (0.46, 0.55), (0.44, 0.94),
            (0.0, 0.99), (-0.46, 0.94), (-0.48, 0.55), (-0.34, 0.10),
        ]
    )  # fmt: skip
    ears = [
        polygon([(hx + s * 0.07, hy - 0.26), (hx + s * 0.30, hy - 0.56), (hx + s * 0.37, hy - 0.10)]) for s in (-1, 1)
    ]
    head = blob(
        [
            (hx, hy - 0.30), (hx + 0.26, hy - 0.25), (hx + 0.39, hy + 0.02), (hx + 0.30, hy + 0.20),
            (hx, hy + 0.29), (hx - 0.30, hy + 0.20), (hx - 0.39, hy + 0.02), (hx - 0.26, hy - 0.25),
        ]
    )  # fmt: skip
    pieces: list[Part | Mark | Bulge] = [
        Part(tail, colour, 0.09),
        Mark(limb([(-0.66 + sway, 0.24), (-0.74 + sway, 0.04)], [0.15, 0.09]), dark, blur=0.02, takes=1.0),
        Part(body, colour, 0.32),
        *(Mark(arc(s * 0.36, 0.74, 0.24, 0.30, 200 if s > 0 else 250, 90), dark, 0.025, blur=0.01, alpha=0.6, takes=1.0, dent=0.4) for s in (-1, 1)),
        Mark(oval(0.0, 0.14, 0.20, 0.34), pale, blur=0.05, takes=1.0),
    ]
    for s in (-1, 1):
        leg = limb([(s * 0.13, 0.28), (s * 0.14, 0.66), (s * 0.15, 0.92)], [0.20, 0.17, 0.18])
        pieces += [Part(joined(leg, oval(s * 0.155, 0.94, 0.135, 0.07)), colour, 0.09, seam=0.5)]
        pieces += [Mark(line([(s * 0.155 + d, 0.90), (s * 0.155 + d, 0.985)]), dark, 0.015, dent=0.4) for d in (-0.04, 0.04)]
    pieces += [Part(ear, colour, 0.07) for ear in ears]
    pieces += [
        Mark(polygon([(hx + s * 0.13, hy - 0.27), (hx + s * 0.28, hy - 0.47), (hx + s * 0.31, hy - 0.20)]), (0.90, 0.62, 0.58), blur=0.012, takes=1.0, dent=0.3)
        for s in (-1, 1)
    ]
    pieces += [
        Part(head, colour, 0.22),
        *(Mark(line([(hx + d, hy - 0.29), (hx + d * 0.8, hy - 0.14)]), dark, 0.035, takes=1.0) for d in (-0.1, 0.0, 0.1)),
        Mark(oval(hx, hy + 0.14, 0.17, 0.11), pale, blur=0.02, takes=1.0),
    ]
    green = (0.55, 0.68, 0.22)
    for s in (-1, 1):
        pieces += [
            Mark(oval(hx + s * 0.17, hy - 0.02, 0.085, 0.075), green, dent=0.3),
            Mark(oval(hx + s * 0.17, hy - 0.02, 0.03, 0.068), DARK),
            Mark(oval(hx + s * 0.17 + 0.025, hy - 0.05, 0.018), (1.0, 1.0, 1.0)),
            *(Mark(line([(hx + s * 0.12, hy + 0.12 + d * 0.3), (hx + s * 0.36, hy + 0.10 + d)]), (0.97, 0.96, 0.94), 0.011, alpha=0.85) for d in (-0.04, 0.03, 0.09)),
        ]
    pieces += [
        Mark(blob([(hx - 0.045, hy + 0.075), (hx + 0.045, hy + 0.075), (hx, hy + 0.125)]), (0.85, 0.45, 0.45), dent=0.4),
        Mark(line([(hx - 0.09, hy + 0.17), (hx - 0.03, hy + 0.19), (hx, hy + 0.13), (hx + 0.03, hy + 0.19), (hx + 0.09, hy + 0.17)]), DARK, 0.016, dent=0.4),
    ]
    return Form(pieces=pieces, feet=((0.0, 0.50), (-0.55, 0.2)), head=(hx, hy - 0.25, 0.30))


def draw_tiger(rng: np.random.Generator, colour: Rgb) -> Form:
    """A big cat on the prowl."""
    pale = mix(colour, (1.0, 0.98, 0.94), 0.8)
    crouch, curl = between(rng, -0.03, 0.06), between(rng, -0.15, 0.1)
    legs = _Legs(rng, colour, hind=(-0.50, 0.36), fore=(0.40, 0.36), thigh=0.36, shin=0.155, foot=0.18)
    torso = blob(
        [
            (-0.70, 0.18), (-0.58, -0.04), (-0.18, 0.04 + crouch), (0.22, -0.06), (0.52, 0.02),
            (0.60, 0.26), (0.36, 0.52), (-0.10, 0.48), (-0.50, 0.50),
        ]
    )  # fmt: skip
    tail = limb(
        [(-0.62, 0.08), (-0.86, 0.16), (-0.98, -0.06), (-0.92 + curl * 0.5, -0.30 + curl)], [0.12, 0.11, 0.10, 0.08]
    )
    hx, hy = 0.66, -0.10 + crouch
    head = blob(
        [
            (hx - 0.02, hy - 0.27), (hx + 0.20, hy - 0.20), (hx + 0.29, hy + 0.02), (hx + 0.22, hy + 0.21),
            (hx + 0.02, hy + 0.28), (hx - 0.20, hy + 0.21), (hx - 0.30, hy + 0.0), (hx - 0.22, hy - 0.20),
        ]
    )  # fmt: skip
    pieces = [
        *legs.far(),
        Part(tail, colour, 0.055),
        *legs.body(torso, depth=0.27),
        Mark(oval(-0.05, 0.50, 0.40, 0.07), pale, blur=0.04, takes=1.0),
        *(Part(oval(hx + s * 0.22 - 0.01, hy - 0.25, 0.10), colour, 0.06) for s in (-1, 1)),
        *(Mark(oval(hx + s * 0.22 - 0.01, hy - 0.24, 0.055), (0.20, 0.15, 0.13), blur=0.01, takes=1.0, dent=0.4) for s in (-1, 1)),
        Part(head, colour, 0.20, seam=0.7),
        *(Mark(oval(hx + s * 0.12 + 0.03, hy - 0.10, 0.07, 0.05), pale, blur=0.015) for s in (-1, 1)),
        *(Mark(oval(hx + 0.03 + s * 0.085, hy + 0.13, 0.11, 0.085), pale, blur=0.01, dent=0.15) for s in (-1, 1)),
        *(part for s in (-1, 1) for part in eye(hx + 0.03 + s * 0.125, hy - 0.04, 0.034)),
        Mark(blob([(hx - 0.035, hy + 0.05), (hx + 0.095, hy + 0.05), (hx + 0.03, hy + 0.115)]), (0.78, 0.40, 0.38), dent=0.4),
        Mark(line([(hx - 0.06, hy + 0.16), (hx + 0.0, hy + 0.175), (hx + 0.03, hy + 0.12), (hx + 0.06, hy + 0.175), (hx + 0.12, hy + 0.16)]), DARK, 0.018, dent=0.4),
    ]  # fmt: skip
    return Form(pieces=pieces, feet=legs.feet(), head=(hx, hy - 0.25, 0.25))


def draw_zebra(rng: np.random.Generator, colour: Rgb) -> Form:
    """A horse's build with an upright mane."""
    nod = between(rng, -0.06, 0.08)
    legs = _Legs(rng, colour, hind=(-0.42, 0.16), fore=(0.32, 0.18), thigh=0.32, shin=0.105, foot=0.13, foot_colour=(0.16, 0.14, 0.14), bend=0.05)
    torso = blob(
        [
            (-0.58, 0.04), (-0.50, -0.20), (-0.20, -0.22), (0.16, -0.18), (0.40, -0.16),
            (0.48, 0.10), (0.30, 0.32), (-0.06, 0.32), (-0.44, 0.28),
        ]
    )  # fmt: skip
    neck = limb([(0.30, 0.02), (0.46, -0.30), (0.62, -0.62 + nod)], [0.46, 0.33, 0.22])
    hx, hy = 0.64, -0.68 + nod
    head = limb([(hx - 0.02, hy + 0.02), (hx + 0.14, hy + 0.14), (hx + 0.29, hy + 0.30)], [0.25, 0.22, 0.15])
    mane = blob(
        [
            (0.22, -0.20), (0.34, -0.48 + nod * 0.5), (0.46, -0.74 + nod), (0.56, -0.86 + nod),
            (0.66, -0.82 + nod), (0.60, -0.66 + nod), (0.46, -0.38 + nod * 0.5),
        ]
    )  # fmt: skip
    tail = limb([(-0.54, -0.08), (-0.66, 0.10), (-0.66, 0.42)], [0.08, 0.07, 0.05])
    pieces = [
        *legs.far(),
        Part(tail, colour, 0.04),
        Part(blob([(-0.69, 0.30), (-0.63, 0.30), (-0.60, 0.50), (-0.66, 0.66), (-0.72, 0.50)]), DARK, 0.04, takes=0.0),
        Part(mane, (0.17, 0.15, 0.15), 0.05, takes=0.4),
        *legs.body(torso, neck, depth=0.27),
        *(Part(blob([(hx - 0.06 + d, hy - 0.08), (hx - 0.03 + d, hy - 0.27), (hx + 0.06 + d, hy - 0.08)]), colour, 0.03) for d in (0.09, -0.01)),
        Part(head, colour, 0.11, seam=0.6),
        Mark(oval(hx + 0.30, hy + 0.31, 0.10, 0.085, 40), (0.15, 0.13, 0.13), blur=0.02, takes=1.0),
        Mark(oval(hx + 0.33, hy + 0.27, 0.018, 0.014), (0.02, 0.02, 0.02), dent=0.5),
        *eye(hx + 0.07, hy + 0.01, 0.032),
    ]
    return Form(pieces=pieces, feet=legs.feet(), head=(hx, hy - 0.08, 0.16))


def draw_giraffe(rng: np.random.Generator, colour: Rgb) -> Form:
    """All neck and legs."""
    bow = between(rng, -0.05, 0.06)
    legs = _Legs(rng, colour, hind=(-0.36, 0.26), fore=(0.06, 0.26), thigh=0.20, shin=0.075, foot=0.095, foot_colour=(0.25, 0.17, 0.12), bend=0.025)
    torso = blob(
        [(-0.48, 0.20), (-0.40, 0.06), (-0.14, -0.02), (0.08, -0.10), (0.20, 0.04), (0.14, 0.28), (-0.12, 0.34), (-0.40, 0.34)]
    )
    neck = limb([(0.04, 0.10), (0.16, -0.30), (0.28 + bow, -0.80)], [0.32, 0.18, 0.135])
    hx, hy = 0.31 + bow, -0.85
    head = limb([(hx - 0.03, hy), (hx + 0.10, hy + 0.05), (hx + 0.22, hy + 0.10)], [0.15, 0.135, 0.09])
    horns = [limb([(hx - 0.03 + d, hy - 0.04), (hx - 0.05 + d, hy - 0.16)], [0.035, 0.035]) for d in (0.0, 0.07)]
    tail = limb([(-0.46, 0.16), (-0.54, 0.34), (-0.55, 0.52)], [0.045, 0.035, 0.03])
    pieces = [
        *legs.far(),
        Part(tail, colour, 0.02),
        Part(oval(-0.55, 0.57, 0.03, 0.07), DARK, 0.02, takes=0.0),
        Part(limb([(0.0, -0.06), (0.09, -0.36), (0.20 + bow, -0.84)], [0.06, 0.06, 0.05]), (0.42, 0.24, 0.12), 0.03),
        *legs.body(torso, neck, depth=0.17),
        *(part for horn, d in zip(horns, (0.0, 0.07), strict=True) for part in (Part(horn, colour, 0.02), Part(oval(hx - 0.053 + d, hy - 0.165, 0.028), DARK, 0.02, takes=0.0))),
        Part(blob([(hx - 0.06, hy - 0.04), (hx - 0.20, hy - 0.09), (hx - 0.16, hy + 0.0)]), colour, 0.03),
        Part(head, colour, 0.07, seam=0.5),
        Mark(oval(hx + 0.22, hy + 0.10, 0.055, 0.045), mix(colour, (1.0, 0.95, 0.88), 0.5), blur=0.012, takes=1.0),
        Mark(oval(hx + 0.24, hy + 0.085, 0.012), DARK, dent=0.5),
        *eye(hx + 0.05, hy + 0.0, 0.024),
    ]  # fmt: skip
    return Form(pieces=pieces, feet=legs.feet(), head=(hx, hy - 0.05, 0.11))


def draw_cow(rng: np.random.Generator, colour: Rgb) -> Form:
    """Square in the body, with horns and an udder."""
    low, swing = between(rng, -0.02, 0.14), between(rng, -0.08, 0.08)
    pink = (0.90, 0.66, 0.60)
    legs = _Legs(rng, colour, hind=(-0.48, 0.26), fore=(0.34, 0.28), thigh=0.30, shin=0.125, foot=0.14, foot_colour=(0.22, 0.18, 0.17), bend=0.03)
    torso = blob(
        [
            (-0.66, 0.06), (-0.62, -0.24), (-0.20, -0.22), (0.22, -0.28), (0.48, -0.20),
            (0.56, 0.10), (0.40, 0.38), (0.0, 0.44), (-0.44, 0.38), (-0.62, 0.28),
        ],
        0.85,
    )  # fmt: skip
    neck = limb([(0.36, 0.0), (0.56, -0.16), (0.70, -0.28 + low)], [0.50, 0.38, 0.28])
    hx, hy = 0.74, -0.32 + low
    head = blob(
        [
            (hx - 0.10, hy - 0.20), (hx + 0.10, hy - 0.21), (hx + 0.19, hy - 0.04), (hx + 0.22, hy + 0.20),
            (hx + 0.12, hy + 0.31), (hx - 0.04, hy + 0.29), (hx - 0.12, hy + 0.10),
        ]
    )  # fmt: skip
    tail = limb([(-0.64, -0.14), (-0.74 + swing, 0.08), (-0.72 + swing, 0.44)], [0.06, 0.045, 0.04])
    pieces = [
        *legs.far(),
        Part(tail, colour, 0.03),
        Part(oval(-0.72 + swing, 0.52, 0.05, 0.11), (0.22, 0.17, 0.15), 0.04, takes=0.0),
        Part(blob([(-0.34, 0.36), (-0.10, 0.36), (-0.12, 0.50), (-0.15, 0.56), (-0.19, 0.51), (-0.24, 0.51), (-0.28, 0.56), (-0.31, 0.50)]), pink, 0.06, takes=0.0),
        *legs.body(torso, neck, depth=0.30),
        *(Part(blob([(hx + s * 0.08, hy - 0.17), (hx + s * 0.24, hy - 0.30), (hx + s * 0.22, hy - 0.42), (hx + s * 0.17, hy - 0.29), (hx + s * 0.04, hy - 0.22)]), HORN, 0.03, takes=0.0) for s in (-1, 1)),
        *(Part(blob([(hx + s * 0.09, hy - 0.13), (hx + s * 0.28, hy - 0.17), (hx + s * 0.30, hy - 0.09), (hx + s * 0.14, hy - 0.04)]), shade(colour, 0.8), 0.04) for s in (-1, 1)),
        Part(head, colour, 0.14, seam=0.7),
        Part(oval(hx + 0.08, hy + 0.22, 0.17, 0.115, 8), pink, 0.08, takes=0.0, seam=0.4),
        *(Mark(oval(hx + 0.08 + d, hy + 0.20, 0.024, 0.03), (0.45, 0.25, 0.24), dent=0.5) for d in (-0.07, 0.08)),
        Mark(arc(hx + 0.08, hy + 0.23, 0.10, 0.06, 20, 140), (0.50, 0.28, 0.27), 0.014, dent=0.4),
        *eye(hx - 0.02, hy - 0.03, 0.034),
        *eye(hx + 0.12, hy - 0.03, 0.034),
    ]  # fmt: skip
    return Form(pieces=pieces, feet=legs.feet(), head=(hx + 0.01, hy - 0.20, 0.20))


def draw_elephant(rng: np.random.Generator, colour: Rgb) -> Form:
    """Ears, trunk and tusks."""
    dark = shade(colour, 0.78)
    lift, flap = between(rng, -0.05, 0.16), between(rng, -0.04, 0.05)
    legs = _Legs(rng, colour, hind=(-0.42, 0.28), fore=(0.30, 0.28), thigh=0.36, shin=0.23, foot=0.24, bend=0.02)
    torso = blob(
        [
            (-0.66, 0.10), (-0.60, -0.30), (-0.24, -0.48), (0.16, -0.44), (0.46, -0.30),
            (0.54, 0.06), (0.38, 0.40), (0.0, 0.46), (-0.44, 0.40),
        ]
    )  # fmt: skip
    head = blob([(0.36, -0.44), (0.62, -0.56), (0.86, -0.40), (0.90, -0.12), (0.74, 0.08), (0.46, 0.06), (0.34, -0.16)])
    trunk = limb(
        [(0.80, -0.18), (0.92, 0.14), (0.90, 0.48 - lift), (1.00, 0.70 - lift * 1.6), (1.12, 0.66 - lift * 2.2)],
        [0.34, 0.22, 0.16, 0.125, 0.10],
    )
    ear = blob(
        [
            (0.50, -0.44), (0.30, -0.54 - flap), (0.12, -0.40 - flap), (0.10, -0.10), (0.22, 0.16 + flap),
            (0.40, 0.20), (0.50, 0.02), (0.52, -0.20),
        ]
    )  # fmt: skip
    tail = limb([(-0.62, -0.14), (-0.74, 0.10), (-0.72, 0.36)], [0.07, 0.05, 0.035])
    pieces: list[Part | Mark | Bulge] = [
        *legs.far(),
        Part(tail, colour, 0.03),
        Part(oval(-0.72, 0.41, 0.035, 0.07), DARK, 0.02, takes=0.0),
        *legs.body(torso, depth=0.36),
    ]
    for x, _, step in (legs.stands["near hind"], legs.stands["near fore"]):
        pieces += [Mark(arc(x + step + d, 0.985, 0.038, 0.05, 180, 180), (0.88, 0.84, 0.76), 0.02, dent=0.3) for d in (-0.06, 0.03, 0.12)]
    pieces += [
        Part(limb([(0.74, 0.02), (0.86, 0.16), (1.02, 0.12 - lift * 0.3)], [0.085, 0.07, 0.03]), (0.95, 0.91, 0.80), 0.035, takes=0.0),
        Part(joined(head, trunk), colour, 0.20, seam=0.6),
        *(Mark(line([(0.83 - d * 0.02, 0.20 + d * 0.1), (0.99 - d * 0.03, 0.17 + d * 0.1)]), dark, 0.018, alpha=0.7, takes=1.0, dent=0.35) for d in range(4)),
        *eye(0.72, -0.26, 0.036),
        Mark(arc(0.72, -0.25, 0.07, 0.07, 200, 120), dark, 0.018, takes=1.0, dent=0.3),
        Part(ear, shade(colour, 0.93), 0.12),
        Mark(blob([(0.42, -0.34), (0.24, -0.38), (0.20, -0.12), (0.34, 0.08), (0.42, -0.04)]), mix(colour, (0.85, 0.55, 0.52), 0.4), blur=0.05, alpha=0.7, takes=1.0),
    ]  # fmt: skip
    return Form(pieces=pieces, feet=legs.feet(), head=(0.60, -0.52, 0.26))


def draw_polar_bear(rng: np.random.Generator, colour: Rgb) -> Form:
    """Heavy, small-eared, long in the neck."""
    sniff = between(rng, -0.08, 0.12)
    legs = _Legs(rng, colour, hind=(-0.46, 0.32), fore=(0.34, 0.34), thigh=0.46, shin=0.225, foot=0.23, bend=0.03)
    torso = blob(
        [
            (-0.70, 0.22), (-0.62, -0.16), (-0.28, -0.30), (0.12, -0.22), (0.42, -0.22),
            (0.58, 0.08), (0.44, 0.46), (0.0, 0.52), (-0.46, 0.52),
        ]
    )  # fmt: skip
    hx, hy = 0.80, -0.24 + sniff
    neck = limb([(0.34, 0.06), (0.58, -0.10 + sniff * 0.4), (hx - 0.04, hy + 0.02)], [0.60, 0.44, 0.34])
    head = joined(
        oval(hx, hy, 0.21, 0.185), limb([(hx + 0.04, hy + 0.03), (hx + 0.20, hy + 0.07), (hx + 0.29, hy + 0.09)], [0.25, 0.18, 0.14])
    )
    dark = shade(colour, 0.8)
    pieces: list[Part | Mark | Bulge] = [
        *legs.far(),
        Part(oval(-0.70, 0.12, 0.09, 0.075), colour, 0.05),
        *legs.body(torso, neck, depth=0.36),
    ]
    for x, _, step in legs.stands.values():
        pieces += [Mark(line([(x + step + 0.10 + d, 0.93), (x + step + 0.12 + d, 0.985)]), (0.25, 0.22, 0.20), 0.02, dent=0.4) for d in (-0.09, -0.03, 0.03)]
    pieces += [
        *(Part(oval(hx + d, hy - 0.16, 0.075, 0.08), colour, 0.05) for d in (0.05, -0.12)),
        Mark(oval(hx - 0.12, hy - 0.15, 0.038, 0.045), dark, blur=0.01, takes=1.0, dent=0.4),
        Part(head, colour, 0.15, seam=0.45),
        Mark(oval(hx + 0.345, hy + 0.05, 0.052, 0.045), DARK, dent=0.35),
        Mark(line([(hx + 0.35, hy + 0.13), (hx + 0.24, hy + 0.15), (hx + 0.15, hy + 0.12)]), (0.35, 0.30, 0.27), 0.018, dent=0.5),
        *eye(hx + 0.09, hy - 0.03, 0.032),
    ]  # fmt: skip
    return Form(pieces=pieces, feet=legs.feet(), head=(hx - 0.02, hy - 0.16, 0.20))


def draw_camel(rng: np.random.Generator, colour: Rgb) -> Form:
    """Two humps and a curved neck."""
    hump, nod = between(rng, -0.06, 0.08), between(rng, -0.06, 0.08)
    fur = shade(colour, 0.72)
    legs = _Legs(rng, colour, hind=(-0.42, 0.22), fore=(0.24, 0.22), thigh=0.26, shin=0.10, foot=0.15, bend=0.04)
    torso = blob(
        [
            (-0.56, 0.06), (-0.48, -0.14), (-0.36, -0.40 - hump), (-0.24, -0.46 - hump), (-0.10, -0.18),
            (0.0, -0.16), (0.10, -0.44 - hump), (0.22, -0.42 - hump), (0.32, -0.12), (0.44, 0.04),
            (0.34, 0.26), (0.0, 0.34), (-0.42, 0.30),
        ]
    )  # fmt: skip
    neck = limb(
        [(0.26, 0.06), (0.48, 0.12), (0.62, -0.14), (0.66, -0.50 + nod)], [0.34, 0.26, 0.19, 0.155]
    )
    hx, hy = 0.69, -0.58 + nod
    head = limb([(hx - 0.03, hy), (hx + 0.12, hy + 0.04), (hx + 0.26, hy + 0.10)], [0.19, 0.165, 0.12])
    tail = limb([(-0.54, -0.02), (-0.62, 0.16), (-0.61, 0.36)], [0.05, 0.04, 0.06])
    pieces = [
        *legs.far(),
        Part(tail, fur, 0.03),
        *legs.body(torso, neck, depth=0.20),
        *(Mark(oval(x, -0.38 - hump, 0.12, 0.14), fur, blur=0.04, alpha=0.7, takes=1.0) for x in (-0.29, 0.16)),
        Mark(limb([(0.34, 0.22), (0.52, 0.22), (0.66, 0.02)], [0.10, 0.10, 0.06]), fur, blur=0.03, alpha=0.8, takes=1.0),
        Part(blob([(hx - 0.04, hy - 0.06), (hx - 0.11, hy - 0.17), (hx + 0.02, hy - 0.09)]), colour, 0.03),
        Part(head, colour, 0.09, seam=0.5),
        Mark(oval(hx - 0.02, hy - 0.085, 0.08, 0.04), fur, blur=0.02, takes=1.0),
        Mark(oval(hx + 0.29, hy + 0.075, 0.014, 0.012), DARK, dent=0.5),
        Mark(line([(hx + 0.31, hy + 0.125), (hx + 0.22, hy + 0.14), (hx + 0.15, hy + 0.12)]), DARK, 0.014, dent=0.5),
        *eye(hx + 0.08, hy - 0.015, 0.026),
        Mark(line([(hx + 0.045, hy - 0.045), (hx + 0.115, hy - 0.045)]), DARK, 0.014),
    ]  # fmt: skip
    return Form(pieces=pieces, feet=legs.feet(), head=(hx, hy - 0.08, 0.14))
