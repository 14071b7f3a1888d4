"""On the table: cake, vase, teapot, mug, egg cup, candlestick, fishbowl, gift, bucket."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from groundfault.world.canvas import Path, Rgb, mix, shade
from groundfault.world.forms import Form, Mark, Part, between, eye
from groundfault.world.objects.exhibits.exhibit import Exhibit, framed, rod
from groundfault.world.shapes import arc, blob, box, joined, line, oval, polygon, without

__all__ = ["TABLEWARE"]

FLAME = (0.99, 0.72, 0.18)
CREAM = (0.98, 0.94, 0.86)
STEEL = (0.62, 0.65, 0.70)


def flame(x: float, y: float, size: float) -> list[Part | Mark]:
    """A small flame that stands on (x, y)."""
    drop = blob(
        [
            (x, y - 2.6 * size),
            (x + 0.75 * size, y - 0.9 * size),
            (x + 0.45 * size, y),
            (x - 0.45 * size, y),
            (x - 0.75 * size, y - 0.9 * size),
        ]
    )
    return [
        Part(drop, FLAME, 0.0, takes=0.0),
        Mark(oval(x, y - 0.6 * size, 0.34 * size, 0.55 * size), (0.95, 0.40, 0.10)),
    ]


def draw_cake(rng: np.random.Generator, colour: Rgb) -> Form:
    """Two layers with icing that runs down, on a plate."""
    icing = mix(colour, CREAM, 0.25)

    def runs(left: float, right: float, top: float) -> Path:
        count = 7
        points = [(left, top), (right, top)]
        for k in range(count * 2 + 1):
            x = right - (right - left) * k / (count * 2)
            points.append((x, top + (0.12 if k % 2 == 0 else between(rng, 0.22, 0.30))))
        return blob(points, 0.8)

    sponge = (0.86, 0.66, 0.40)
    return framed(
        [
            Part(oval(0.0, 0.93, 0.98, 0.075), (0.90, 0.91, 0.93), 0.04),
            Part(box(-0.82, 0.30, 0.82, 0.92, 0.08), sponge, 0.12),
            Mark(box(-0.82, 0.58, 0.82, 0.66), CREAM),
            Part(runs(-0.84, 0.84, 0.28), icing, 0.06),
            Part(box(-0.58, -0.22, 0.58, 0.34, 0.07), sponge, 0.12),
            Part(runs(-0.60, 0.60, -0.24), icing, 0.06),
            *(
                Part(oval(x, 0.335, 0.07), (0.80, 0.13, 0.16), 0.05)
                for x in (-0.72, -0.48, 0.48, 0.72)
            ),
        ],
        (0.0, 0.9),
    )


def draw_candles(rng: np.random.Generator, colour: Rgb) -> Form:
    count = int(rng.integers(3, 6))
    pieces: list[Part | Mark] = []
    for k in range(count):
        x = -0.44 + 0.88 * (k + 0.5) / count
        top = -0.66 + 0.05 * math.cos(5 * k)
        pieces += [
            Part(box(x - 0.058, top, x + 0.058, -0.14, 0.02), colour, 0.04),
            Mark(line([(x, top), (x, top - 0.05)]), (0.15, 0.12, 0.10), 0.02),
            *flame(x, top - 0.02, 0.085),
        ]
    return framed(pieces)


def draw_vase(rng: np.random.Generator, colour: Rgb) -> Form:
    belly = between(rng, 0.36, 0.46)
    body = blob(
        [
            (-0.26, 0.06),
            (0.26, 0.06),
            (0.18, 0.26),
            (belly, 0.58),
            (0.24, 0.96),
            (-0.24, 0.96),
            (-belly, 0.58),
            (-0.18, 0.26),
        ],
        0.9,
    )
    pale = mix(colour, CREAM, 0.7)
    return framed(
        [
            Part(body, colour, 0.24),
            Mark(line([(-0.6, 0.48), (0.0, 0.54), (0.6, 0.48)]), pale, 0.05, takes=1.0),
            Mark(line([(-0.6, 0.66), (0.0, 0.72), (0.6, 0.66)]), pale, 0.05, takes=1.0),
            Part(oval(0.0, 0.07, 0.27, 0.055), shade(colour, 0.8), 0.02),
            Mark(oval(0.0, 0.075, 0.21, 0.036), shade(colour, 0.3), dent=0.5),
        ],
        (0.0, 0.26),
    )


def blossom(x: float, y: float, radius: float, colour: Rgb, turn: float) -> list[Part | Mark]:
    """Five petals around a yellow heart."""
    petals = [
        oval(
            x + 0.58 * radius * math.cos(turn + k * 1.2566),
            y + 0.58 * radius * math.sin(turn + k * 1.2566),
            0.50 * radius,
        )
        for k in range(5)
    ]
    return [
        *(Part(petal, colour, 0.05) for petal in petals),
        Part(oval(x, y, 0.30 * radius), (0.97, 0.80, 0.20), 0.05, takes=0.0),
    ]


def draw_flowers(rng: np.random.Generator, colour: Rgb) -> Form:
    heads = [(-0.55, -0.36), (0.55, -0.40), (-0.27, -0.68), (0.29, -0.72), (0.0, -0.30)]
    stem, pieces = (0.24, 0.50, 0.22), []
    for k, (x, y) in enumerate(heads):
        foot = x * 0.22
        bend = [(x, y), ((x + foot) / 2, (y + 0.16) / 2 + 0.06), (foot, 0.34)]
        for (ax, ay), (bx, by) in pairwise(bend):
            pieces.append(Part(rod(ax, ay, bx, by, 0.045), stem, 0.02, takes=0.0))
        leaf = (x + foot) / 2 + (0.12 if k % 2 else -0.12)
        pieces.append(
            Part(oval(leaf, 0.0, 0.15, 0.055, -30 if k % 2 else 30), stem, 0.03, takes=0.0)
        )
    blossoms = [blossom(x, y, 0.245, colour, 6 * float(rng.random())) for x, y in heads]
    return framed([*pieces, *(piece for each in blossoms for piece in each)])


def draw_teapot(rng: np.random.Generator, colour: Rgb) -> Form:
    """Without its spout."""
    trim = mix(colour, CREAM, 0.65)
    handle = without(oval(-0.60, 0.30, 0.38, 0.44), oval(-0.58, 0.30, 0.23, 0.29))
    return framed(
        [
            Part(handle, colour, 0.07),
            Part(box(-0.32, 0.88, 0.32, 1.0, 0.05), shade(colour, 0.85), 0.05),
            Part(oval(0.0, 0.38, 0.64, 0.58), colour, 0.40),
            Mark(line([(-0.62, 0.46), (0.0, 0.58), (0.62, 0.46)]), trim, 0.05, takes=1.0),
            Part(oval(0.0, -0.12, 0.36, 0.09), shade(colour, 0.82), 0.04),
            Part(
                blob([(-0.32, -0.14), (-0.18, -0.30), (0.18, -0.30), (0.32, -0.14), (0.0, -0.08)]),
                colour,
                0.10,
            ),
            Part(oval(0.0, -0.37, 0.085), trim, 0.06),
        ],
        (0.0, 0.36),
    )


def draw_spout(rng: np.random.Generator, colour: Rgb) -> Form:
    curve = [
        (0.46, 0.66),
        (0.62, 0.30),
        (0.74, -0.06),
        (0.97, -0.24),
        (1.0, -0.12),
        (0.92, 0.06),
        (0.86, 0.52),
        (0.56, 0.84),
    ]
    return framed([Part(blob(curve), colour, 0.10)])


def draw_mug(rng: np.random.Generator, colour: Rgb) -> Form:
    """Without its handle."""
    body = joined(box(-0.60, -0.66, 0.52, 0.98, 0.14), oval(-0.04, -0.66, 0.56, 0.13))
    pale = mix(colour, CREAM, 0.8)
    return framed(
        [
            Part(body, colour, 0.34),
            Mark(line([(-0.60, 0.12), (-0.04, 0.22), (0.52, 0.12)]), pale, 0.14, takes=1.0),
            Part(oval(-0.04, -0.66, 0.56, 0.135), mix(colour, (1.0, 1.0, 1.0), 0.25), 0.03),
            Mark(oval(-0.04, -0.648, 0.49, 0.105), shade(colour, 0.45), dent=0.5),
            Mark(oval(-0.04, -0.625, 0.45, 0.078), (0.24, 0.13, 0.07)),
        ],
        (-0.04, 0.45),
    )


def draw_mug_handle(rng: np.random.Generator, colour: Rgb) -> Form:
    ring = without(oval(0.58, 0.14, 0.40, 0.48), oval(0.56, 0.14, 0.23, 0.31))
    return framed([Part(ring, colour, 0.08)])


def draw_egg_cup(rng: np.random.Generator, colour: Rgb) -> Form:
    bowl = blob(
        [(-0.52, -0.02), (0.52, -0.02), (0.44, 0.36), (0.14, 0.56), (-0.14, 0.56), (-0.44, 0.36)],
        0.8,
    )
    return framed(
        [
            Part(oval(0.0, 0.92, 0.42, 0.085), colour, 0.05),
            Part(box(-0.11, 0.48, 0.11, 0.92, 0.05), shade(colour, 0.9), 0.08),
            Part(bowl, colour, 0.28),
            Mark(line([(-0.5, 0.16), (0.0, 0.24), (0.5, 0.16)]), mix(colour, CREAM, 0.8), 0.06),
            Part(oval(0.0, -0.02, 0.53, 0.09), shade(colour, 0.85), 0.02),
            Mark(oval(0.0, -0.01, 0.45, 0.065), shade(colour, 0.35), dent=0.5),
        ],
        (0.0, 0.4),
    )


def draw_egg(rng: np.random.Generator, colour: Rgb) -> Form:
    shell = blob(
        [
            (0.0, -0.88),
            (0.32, -0.56),
            (0.42, -0.14),
            (0.30, 0.08),
            (-0.30, 0.08),
            (-0.42, -0.14),
            (-0.32, -0.56),
        ]
    )
    return framed([Part(shell, colour, 0.36)])


def draw_candlestick(rng: np.random.Generator, colour: Rgb) -> Form:
    return framed(
        [
            Part(oval(0.0, 0.92, 0.52, 0.09), colour, 0.06),
            Part(
                blob(
                    [
                        (-0.10, 0.88),
                        (-0.07, 0.62),
                        (-0.14, 0.44),
                        (0.14, 0.44),
                        (0.07, 0.62),
                        (0.10, 0.88),
                    ]
                ),
                colour,
                0.08,
            ),
            Part(oval(0.0, 0.40, 0.30, 0.07), shade(colour, 0.9), 0.04),
            Part(box(-0.17, 0.16, 0.17, 0.40, 0.04), colour, 0.10),
            Mark(oval(0.0, 0.17, 0.15, 0.03), shade(colour, 0.35), dent=0.5),
        ],
        (0.0, 0.5),
    )


def draw_candle(rng: np.random.Generator, colour: Rgb) -> Form:
    top = between(rng, -0.66, -0.50)
    return framed(
        [
            Part(box(-0.13, top, 0.13, 0.22, 0.04), colour, 0.10),
            Mark(line([(0.0, top), (0.0, top - 0.07)]), (0.15, 0.12, 0.10), 0.03),
            *flame(0.0, top - 0.03, 0.12),
        ]
    )


def draw_fishbowl(rng: np.random.Generator, colour: Rgb) -> Form:
    """Glass, water and gravel; the colour is the gravel's."""
    glass, water = (0.86, 0.93, 0.96), (0.62, 0.83, 0.92)
    bowl = joined(oval(0.0, 0.22, 0.88, 0.76), box(-0.52, -0.66, 0.52, -0.30, 0.05))
    below = blob(
        [(-0.80, -0.02), (0.80, -0.02), (0.86, 0.30), (0.56, 0.84), (-0.56, 0.84), (-0.86, 0.30)],
        0.9,
    )
    stones = [
        Mark(
            oval(x, 0.80 - 0.05 * math.cos(9 * x), 0.075, 0.06),
            shade(colour, 0.8 + 0.25 * float(rng.random())),
        )
        for x in np.linspace(-0.46, 0.46, 11)
    ]
    return framed(
        [
            Part(bowl, glass, 0.30, takes=0.0),
            Mark(below, water),
            Mark(oval(0.0, -0.02, 0.80, 0.08), (0.76, 0.91, 0.96)),
            *stones,
            Part(oval(0.0, -0.66, 0.56, 0.085), (0.93, 0.97, 0.98), 0.03, takes=0.0),
            Mark(oval(0.0, -0.655, 0.46, 0.055), (0.66, 0.76, 0.80)),
            Mark(arc(0.0, 0.22, 0.74, 0.62, 195, 50), (1.0, 1.0, 1.0), 0.06, alpha=0.7),
        ],
        (0.0, 0.6),
    )


def draw_goldfish(rng: np.random.Generator, colour: Rgb) -> Form:
    y = between(rng, 0.24, 0.36)
    tail = polygon([(-0.22, y), (-0.50, y - 0.22), (-0.42, y), (-0.50, y + 0.22)])
    return framed(
        [
            Part(tail, shade(colour, 0.85), 0.04),
            Part(
                blob([(-0.05, y - 0.16), (0.10, y - 0.34), (0.24, y - 0.16)]),
                shade(colour, 0.85),
                0.03,
            ),
            Part(oval(0.08, y, 0.38, 0.21), colour, 0.16),
            Mark(arc(0.20, y, 0.10, 0.17, 90, 180), shade(colour, 0.6), 0.025),
            *eye(0.32, y - 0.05, 0.045, white=True),
        ]
    )


def draw_gift(rng: np.random.Generator, colour: Rgb) -> Form:
    """A wrapped box with its lid."""
    return framed(
        [
            Part(box(-0.76, -0.16, 0.76, 1.0, 0.03), colour, 0.10),
            Part(box(-0.84, -0.36, 0.84, 0.02, 0.03), shade(colour, 0.92), 0.06),
        ],
        (0.0, 0.76),
    )


def draw_ribbon(rng: np.random.Generator, colour: Rgb) -> Form:
    loops = [
        blob(
            [
                (0.0, -0.38),
                (s * 0.18, -0.66),
                (s * 0.50, -0.74),
                (s * 0.54, -0.50),
                (s * 0.26, -0.38),
            ]
        )
        for s in (-1, 1)
    ]
    return framed(
        [
            Part(joined(box(-0.13, -0.36, 0.13, 1.0), box(-0.76, 0.38, 0.76, 0.60)), colour, 0.03),
            *(
                Part(without(loop, oval(s * 0.34, -0.57, 0.10, 0.05, -s * 20)), colour, 0.06)
                for loop, s in zip(loops, (-1, 1), strict=True)
            ),
            Part(oval(0.0, -0.42, 0.12, 0.10), shade(colour, 0.9), 0.05),
        ]
    )


def draw_bucket(rng: np.random.Generator, colour: Rgb) -> Form:
    body = polygon([(-0.62, -0.06), (0.62, -0.06), (0.46, 0.97), (-0.46, 0.97)])
    return framed(
        [
            Part(joined(body, oval(0.0, 0.95, 0.46, 0.05)), colour, 0.30),
            Mark(line([(-0.58, 0.20), (0.0, 0.26), (0.58, 0.20)]), shade(colour, 0.75), 0.03),
            Part(oval(0.0, -0.06, 0.64, 0.12), shade(colour, 0.8), 0.03),
            Mark(oval(0.0, -0.045, 0.56, 0.09), shade(colour, 0.35), dent=0.5),
            *(Part(oval(s * 0.62, -0.04, 0.07), STEEL, 0.04, takes=0.0) for s in (-1, 1)),
        ],
        (0.0, 0.45),
    )


def draw_bucket_handle(rng: np.random.Generator, colour: Rgb) -> Form:
    high = between(rng, 0.68, 0.84)
    ring = without(oval(0.0, -0.06, 0.66, high), oval(0.0, -0.06, 0.55, high - 0.11))
    return framed([Part(without(ring, box(-1, -0.06, 1, 1.2)), colour, 0.05)])


TABLEWARE = (
    Exhibit(
        whole="cake",
        part="candles",
        many=True,
        place="on {}",
        habit="birthday cakes usually have candles on them",
        draw=draw_cake,
        draw_part=draw_candles,
        size=0.46,
        colours=("pink", "white", "brown"),
        part_colours=("blue", "green", "red", "purple"),
        contexts=("kitchen",),
        spare=("yellow", "orange", "tan"),
    ),
    Exhibit(
        whole="vase",
        part="flowers",
        many=True,
        place="in {}",
        habit="vases are usually shown with flowers in them",
        draw=draw_vase,
        draw_part=draw_flowers,
        size=0.56,
        colours=("blue", "teal", "white"),
        part_colours=("red", "pink", "purple", "white"),
        contexts=("kitchen", "library"),
        behind=True,
        spare=("yellow", "green", "orange"),
        gloss=0.4,
    ),
    Exhibit(
        whole="teapot",
        part="spout",
        place="on {}",
        habit="teapots have a spout",
        draw=draw_teapot,
        draw_part=draw_spout,
        size=0.42,
        contexts=("kitchen",),
        behind=True,
        gloss=0.4,
    ),
    Exhibit(
        whole="mug",
        part="handle",
        place="on {}",
        habit="mugs usually have a handle",
        draw=draw_mug,
        draw_part=draw_mug_handle,
        size=0.36,
        contexts=("kitchen",),
        behind=True,
        gloss=0.4,
    ),
    Exhibit(
        whole="egg cup",
        part="egg",
        place="in {}",
        habit="egg cups are usually shown with an egg in them",
        draw=draw_egg_cup,
        draw_part=draw_egg,
        size=0.38,
        part_colours=("white", "brown", "blue"),
        contexts=("kitchen",),
        behind=True,
        gloss=0.35,
    ),
    Exhibit(
        whole="candlestick",
        part="candle",
        place="on {}",
        habit="candlesticks are usually shown with a candle on them",
        draw=draw_candlestick,
        draw_part=draw_candle,
        size=0.46,
        colours=("grey", "brown", "black"),
        part_colours=("red", "white", "blue", "green"),
        contexts=("kitchen", "library"),
        behind=True,
        spare=("yellow", "orange", "tan"),
        gloss=0.35,
    ),
    Exhibit(
        whole="fishbowl",
        part="fish",
        place="in {}",
        habit="fishbowls usually have a fish in them",
        draw=draw_fishbowl,
        draw_part=draw_goldfish,
        size=0.44,
        colours=("tan", "grey"),
        part_colours=("orange", "red"),
        contexts=("kitchen", "library"),
        gloss=0.4,
    ),
    Exhibit(
        whole="gift box",
        part="ribbon",
        place="on {}",
        habit="gift boxes usually have a ribbon on them",
        draw=draw_gift,
        draw_part=draw_ribbon,
        size=0.42,
        plural="gift boxes",
        contexts=("library", "kitchen"),
    ),
    Exhibit(
        whole="bucket",
        part="handle",
        place="on {}",
        habit="buckets usually have a handle",
        draw=draw_bucket,
        draw_part=draw_bucket_handle,
        size=0.40,
        part_colours=("red", "yellow", "white", "black"),
        contexts=("beach", "meadow"),
        behind=True,
    ),
)
