"""Which of the values that suit a category suit a picture, too: the best first."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from groundfault.editors.procedural.choices import chosen_places
from groundfault.editors.procedural.colours import PAINTS, distinct_colours
from groundfault.editors.procedural.edges import Floats, Mask, around, floats
from groundfault.editors.procedural.fitness import lit_of
from groundfault.editors.procedural.relief import extent_px, greyness, is_toned, luma
from groundfault.editors.procedural.repertoire import GROWN, SURFACES
from groundfault.editors.procedural.suited import suited_values

__all__ = [
    "COLOURLESS",
    "LEAST_LIT",
    "LEAST_NEW",
    "LIT",
    "fitting_values",
    "novelty",
]

COLOURLESS = frozenset(
    {
        "zebra",
        "cow",
        "dalmatian",
        "chessboard",
        "marble",
        "granite",
        "silver",
        "ice",
        "grey",
        "black",
        "white",
    }
)
"""What can be told in a black-and-white photograph."""
PALETTES: dict[str, tuple[tuple[float, float, float], ...]] = {
    "zebra": ((25, 0, 0), (75, 0, 5)),
    "tiger": ((55, 25, 40), (25, 3, 5)),
    "giraffe": ((38, 18, 22), (72, 4, 22)),
    "leopard": ((62, 12, 36), (25, 5, 8)),
    "cow": ((25, 0, 0), (80, 0, 0)),
    "dalmatian": ((25, 0, 0), (80, 0, 0)),
    "ladybug": ((38, 52, 38),),
    "watermelon": ((32, -20, 20), (58, -22, 28)),
    "strawberry": ((40, 55, 40),),
    "bee": ((65, 12, 60), (15, 0, 2)),
    "brick wall": ((42, 28, 22),),
    "chessboard": ((68, 8, 28), (18, 8, 10)),
    "bronze": ((38, 14, 28), (55, 12, 32)),
    "gold": ((60, 14, 52), (75, 8, 45)),
    "silver": ((55, 0, 0), (75, 0, 0)),
    "marble": ((65, 0, 2), (82, 0, 3)),
    "granite": ((45, 0, 1),),
    "terracotta": ((45, 28, 26),),
    "wood": ((48, 14, 28),),
    "chocolate": ((22, 14, 14),),
    "ice": ((70, -6, -8),),
    "leaves": ((28, -12, 18), (40, -14, 24)),
    "flowers": ((45, 45, 8), (65, 32, 4)),
    "straw": ((50, 6, 30), (65, 4, 32)),
}
"""The main colours of surfaces and substances, in Lab."""
LIGHTNESS = 0.5
"""What lightness weighs beside hue: light and shade change it anyhow."""
LIT = 0.15
LEAST_LIT = dict.fromkeys(SURFACES, 0.2) | dict.fromkeys(GROWN, 0.0)
LEAST_LIT |= {"chocolate": 0.08, "bronze": 0.12, "gold": 0.22}
"""How brightly the brighter third of a thing is lit at least: under a surface it would glow; and
under what hides how dark it was."""
LEAST_OUT = 15.0
"""Values that stand out less from what is around an object come last."""
NEAR_PX = 4
"""How far from an object its surroundings begin."""
LEAST_NEW = 20.0
"""The least `novelty`: what an object looks like already is no counterfactual."""


def novelty(value: str, photo: Floats, mask: Mask) -> float:
    """How far an object's colours are from those of a surface, substance or paint, in Lab: the mean
    distance to the nearest of them."""
    return float(_away(value, _colours_in(photo, mask)).mean())


def _stand_out(values: Sequence[str], photo: Floats, mask: Mask) -> frozenset[str]:
    """The surfaces and substances whose colours are far from those around an object, in Lab: the
    median distance to the nearest. A strawberry-red cat is lost on a red couch."""
    ring = around(mask, NEAR_PX, max(int(0.3 * extent_px(mask)), 4 * NEAR_PX))
    if not ring.any():
        return frozenset(values)
    colours = _colours_in(photo, ring)
    return frozenset(v for v in values if float(np.median(_away(v, colours))) >= LEAST_OUT)


def _colours_in(photo: Floats, where: Mask) -> Floats:
    """Some of the colours of a region, in Lab."""
    return floats(cv2.cvtColor(floats(photo), cv2.COLOR_RGB2LAB)[where][::7])


def _away(value: str, colours: Floats) -> Floats:
    """How far each colour is from the nearest of a surface, substance or paint."""
    weights = floats([LIGHTNESS, 1, 1])
    palette = PALETTES.get(value) or (PAINTS[value],)
    away = [np.linalg.norm((colours - floats(own)) * weights, axis=1) for own in palette]
    return floats(np.min(away, axis=0))


def fitting_values(kind: str, photo: Floats, mask: Mask, category: str) -> tuple[str, ...]:
    """The values of a request for this object in this photograph, the best first; "" alone for
    kinds without values."""
    values = suited_values(kind, category)
    if kind == "recolour":
        distinct = [value for value in distinct_colours(photo, mask) if value in values]
        away = {value: novelty(value, photo, mask) for value in distinct}
        return tuple(sorted(distinct, key=lambda value: (value in COLOURLESS, -away[value])))
    if kind == "context":
        return tuple(place for place in chosen_places(photo, mask) if place in values)
    if kind not in ("surface", "material"):
        return values
    if greyness(photo) > 0.6 or is_toned(photo):
        values = tuple(value for value in values if value in COLOURLESS)
    lit = lit_of(luma(photo)[mask])
    seen = [
        value
        for value in values
        if lit >= LEAST_LIT.get(value, LIT) and novelty(value, photo, mask) >= LEAST_NEW
    ]
    distinct_ones = _stand_out(seen, photo, mask)
    return tuple(sorted(seen, key=lambda value: value not in distinct_ones))
