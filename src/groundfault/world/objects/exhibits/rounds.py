"""Round things and flames, which exams need besides."""

from __future__ import annotations

import math

import numpy as np

from groundfault.world.canvas import Rgb, mix
from groundfault.world.forms import Draw, Form, Mark, Part, between
from groundfault.world.objects.category import Category
from groundfault.world.shapes import arc, blob, limb, oval, star

__all__ = ["ROUNDS"]


def draw_beach_ball(rng: np.random.Generator, colour: Rgb) -> Form:
    """Six bands in two colours around a white cap."""
    ball, pale = oval(0.0, 0.18, 0.82), (0.96, 0.95, 0.92)
    bands = []
    for a in np.linspace(0.3, 0.3 + 2 * math.pi, 6, endpoint=False):
        ends = [(1.05 * math.cos(a + d), 0.18 + 1.05 * math.sin(a + d)) for d in (-0.26, 0.26)]
        bands.append(Mark(blob([(0.05, -0.22), *ends], 0.2), pale, takes=1.0))
    return Form(
        pieces=[Part(ball, colour, 0.40), *bands, Mark(oval(0.05, -0.22, 0.15, 0.12), pale)],
        feet=((0.0, 0.4),),
    )


def draw_tyre(rng: np.random.Generator, colour: Rgb) -> Form:
    """A tyre on its rim, from the side."""
    rim = (0.72, 0.74, 0.78)
    bolts = [
        Mark(oval(0.22 * math.cos(a), 0.18 + 0.22 * math.sin(a), 0.05), (0.30, 0.31, 0.34))
        for a in np.linspace(0, 2 * math.pi, 5, endpoint=False)
    ]
    return Form(
        pieces=[
            Part(oval(0.0, 0.18, 0.82), colour, 0.14),
            Part(oval(0.0, 0.18, 0.46), rim, 0.06, takes=0.0),
            Mark(oval(0.0, 0.18, 0.36), (0.58, 0.60, 0.64)),
            *bolts,
            Mark(oval(0.0, 0.18, 0.09), (0.30, 0.31, 0.34)),
        ],
        feet=((0.0, 0.3),),
    )


def draw_tennis_ball(rng: np.random.Generator, colour: Rgb) -> Form:
    seam = (0.97, 0.98, 0.92)
    return Form(
        pieces=[
            Part(oval(0.0, 0.18, 0.82), colour, 0.40),
            Mark(arc(-0.86, 0.0, 0.62, 0.72, -60, 130), seam, 0.07),
            Mark(arc(0.86, 0.34, 0.62, 0.72, 120, 130), seam, 0.07),
        ],
        feet=((0.0, 0.4),),
    )


def draw_tomato(rng: np.random.Generator, colour: Rgb) -> Form:
    green = (0.26, 0.50, 0.18)
    return Form(
        pieces=[
            Part(oval(0.0, 0.22, 0.84, 0.78), colour, 0.40),
            Part(star(0.0, -0.50, 0.36, 0.12, 6, between(rng, 0.0, 0.5)), green, 0.04, takes=0.0),
            Part(limb([(0.0, -0.52), (0.04, -0.78)], [0.09, 0.07]), green, 0.03, takes=0.0),
        ],
        feet=((0.0, 0.5),),
    )


def draw_flames(rng: np.random.Generator, colour: Rgb) -> Form:
    """Tongues of fire in a row, yellow at heart."""
    pieces: list[Part | Mark] = []
    for inner in (False, True):
        for k, x in enumerate(np.linspace(-0.80, 0.80, 7)):
            tall = (0.62, 1.05, 1.5, 1.85, 1.45, 1.1, 0.6)[k] * (0.55 if inner else 1.0)
            tall *= between(rng, 0.85, 1.1)
            wide, lean = (0.12 if inner else 0.24), between(rng, -0.10, 0.10)
            tongue = blob(
                [
                    (x + lean, 1.0 - tall),
                    (x + wide * 0.7, 1.0 - tall * 0.45),
                    (x + wide, 0.86),
                    (x, 1.0),
                    (x - wide, 0.86),
                    (x - wide * 0.7, 1.0 - tall * 0.5),
                ]
            )
            fill = (1.0, 0.86, 0.30) if inner else mix(colour, (0.95, 0.25, 0.08), 0.4 * (k % 2))
            pieces.append(Mark(tongue, fill) if inner else Part(tongue, fill, 0.0, takes=0.0))
    return Form(pieces=pieces, feet=((0.0, 0.5),))


def _round(
    name: str, draw: Draw, size: float, colours: tuple[str, ...], *contexts: str
) -> Category:
    return Category(
        name=name,
        draw=draw,
        size=size,
        colours=colours,
        contexts=contexts,
        shape="round",
        nature="edible" if name == "tomato" else "functional",
        purpose="",
        gloss=0.06 if name == "tyre" else 0.3,
        plural={"tomato": "tomatoes"}.get(name, ""),
    )


ROUNDS = (
    _round("beach ball", draw_beach_ball, 0.30, ("red", "blue", "green"), "beach"),
    _round("tyre", draw_tyre, 0.36, ("black",), "street"),
    _round("tennis ball", draw_tennis_ball, 0.24, ("yellow",), "meadow", "street"),
    _round("tomato", draw_tomato, 0.24, ("red",), "kitchen"),
    _round("flames", draw_flames, 0.4, ("orange",), "street"),
)
