"""Vessels."""

from __future__ import annotations

import math

import numpy as np

from groundfault.world.canvas import Rgb, mix, shade
from groundfault.world.forms import Form, Mark, Part, between
from groundfault.world.objects.category import PAINTS, Category
from groundfault.world.shapes import arc, blob, box, joined, line, oval, without

__all__ = ["KITCHENWARE"]


def _ring(x: float, y: float, rx: float, ry: float, width: float) -> object:
    return without(
        oval(x, y, rx + width / 2, ry + width / 2), oval(x, y, rx - width / 2, ry - width / 2)
    )


def draw_mug(rng: np.random.Generator, colour: Rgb) -> Form:
    """A mug of coffee, handle to the right."""
    wide, tall = between(rng, 0.50, 0.60), between(rng, -0.72, -0.50)
    body = joined(
        blob(
            [
                (-wide, tall),
                (wide, tall),
                (wide, 0.3),
                (wide * 0.94, 0.84),
                (wide * 0.7, 0.98),
                (-wide * 0.7, 0.98),
                (-wide * 0.94, 0.84),
                (-wide, 0.3),
            ],
            0.55,
        ),
        oval(0.0, tall, wide, 0.13),
    )
    band = between(rng, 0.1, 0.4)
    pieces: list[Part | Mark] = [
        Part(_ring(wide + 0.04, 0.14, 0.27, 0.34, 0.14), shade(colour, 0.95), 0.07),
        Part(body, colour, 0.34),
        Mark(
            line([(-wide, band - 0.06), (0.0, band + 0.05), (wide, band - 0.06)]),
            mix(colour, (1.0, 1.0, 0.97), 0.8),
            0.12,
            takes=1.0,
        ),
        Part(oval(0.0, tall, wide, 0.135), mix(colour, (1.0, 1.0, 1.0), 0.25), 0.03),
        Mark(oval(0.0, tall + 0.012, wide * 0.88, 0.105), shade(colour, 0.45), dent=0.5),
        Mark(oval(0.0, tall + 0.035, wide * 0.82, 0.078), (0.24, 0.13, 0.07)),
        Mark(
            arc(0.0, tall + 0.035, wide * 0.7, 0.055, 190, 70), (0.62, 0.42, 0.26), 0.02, blur=0.008
        ),
    ]
    return Form(pieces=pieces, feet=((0.0, wide * 0.8),))


def draw_teapot(rng: np.random.Generator, colour: Rgb) -> Form:
    """Spout, lid and handle."""
    fat = between(rng, -0.04, 0.05)
    trim = mix(colour, (1.0, 0.98, 0.92), 0.65)
    handle = without(oval(-0.62, 0.30, 0.36, 0.42), oval(-0.60, 0.30, 0.22, 0.28))
    spout = blob(
        [
            (0.42, 0.62),
            (0.66, 0.36),
            (0.78, -0.02),
            (0.99, -0.16),
            (1.0, -0.06),
            (0.92, 0.10),
            (0.84, 0.52),
            (0.52, 0.86),
        ]
    )
    pieces: list[Part | Mark] = [
        Part(handle, colour, 0.07),
        Part(spout, colour, 0.10),
        Part(box(-0.30, 0.86, 0.30, 1.0, 0.05), shade(colour, 0.85), 0.05),
        Part(oval(0.0, 0.38, 0.62, 0.56 + fat), colour, 0.40),
        Mark(line([(-0.60, 0.44), (0.0, 0.56), (0.60, 0.44)]), trim, 0.05, takes=1.0),
        *(
            Mark(oval(x, 0.34 + 0.10 * math.cos(x * 2), 0.055), trim, takes=1.0)
            for x in (-0.40, -0.20, 0.0, 0.20, 0.40)
        ),
        Part(oval(0.0, -0.10 - fat, 0.36, 0.09), shade(colour, 0.82), 0.04),
        Part(
            blob(
                [
                    (-0.32, -0.12 - fat),
                    (-0.18, -0.28 - fat),
                    (0.18, -0.28 - fat),
                    (0.32, -0.12 - fat),
                    (0.0, -0.06 - fat),
                ]
            ),
            colour,
            0.10,
        ),
        Part(oval(0.0, -0.35 - fat, 0.085), trim, 0.06),
    ]
    return Form(pieces=pieces, feet=((0.0, 0.36),))


def draw_vase(rng: np.random.Generator, colour: Rgb) -> Form:
    """An amphora-like vase with painted bands."""
    belly, neck = between(rng, 0.44, 0.58), between(rng, 0.15, 0.22)
    glaze = mix(colour, (1.0, 1.0, 0.98), 0.82)
    body = blob(
        [
            (-neck - 0.12, -0.94),
            (neck + 0.12, -0.94),
            (neck + 0.02, -0.74),
            (neck + 0.04, -0.54),
            (belly, -0.06),
            (belly * 0.88, 0.46),
            (0.26, 0.86),
            (0.28, 0.98),
            (-0.28, 0.98),
            (-0.26, 0.86),
            (-belly * 0.88, 0.46),
            (-belly, -0.06),
            (-neck - 0.04, -0.54),
            (-neck - 0.02, -0.74),
        ],
        0.9,
    )

    def ring(y: float, sag: float, width: float) -> Mark:
        return Mark(
            line([(-0.7, y - sag), (0.0, y + sag), (0.7, y - sag)]), colour, width, takes=1.0
        )

    petals = [
        Mark(oval(x, 0.06 + 0.05 * math.cos(x * 2.4), 0.055, 0.13), colour, takes=1.0)
        for x in np.linspace(-0.5, 0.5, 7)
    ]
    pieces: list[Part | Mark] = [
        Part(body, glaze, 0.26),
        ring(-0.56, 0.03, 0.05),
        ring(-0.22, 0.05, 0.035),
        ring(0.30, 0.06, 0.035),
        ring(0.42, 0.06, 0.07),
        *petals,
        ring(0.80, 0.04, 0.05),
        Part(oval(0.0, -0.94, neck + 0.12, 0.06), glaze, 0.02),
        Mark(oval(0.0, -0.935, neck + 0.05, 0.04), shade(colour, 0.35), dent=0.5),
    ]
    return Form(pieces=pieces, feet=((0.0, 0.3),))


KITCHENWARE = (
    Category(
        name="mug",
        draw=draw_mug,
        gloss=0.4,
        size=0.25,
        colours=PAINTS,
        contexts=("kitchen",),
        shape="pot",
        nature="functional",
        survives=True,
        purpose="the thing one drinks coffee from",
        motley=True,
    ),
    Category(
        name="teapot",
        draw=draw_teapot,
        gloss=0.45,
        size=0.3,
        colours=("blue", *PAINTS),
        contexts=("kitchen",),
        shape="pot",
        nature="functional",
        survives=True,
        purpose="the thing one pours tea from",
        motley=True,
    ),
    Category(
        name="vase",
        draw=draw_vase,
        gloss=0.42,
        size=0.36,
        colours=("blue", "teal", "red", "purple"),
        contexts=("library", "kitchen"),
        shape="pot",
        nature="functional",
        survives=True,
        purpose="the thing one puts cut flowers in",
        motley=True,
    ),
)
