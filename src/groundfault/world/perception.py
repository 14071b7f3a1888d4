"""Colour words as people use them: distances between the named paints in CIE L*a*b*.

Two words are alike if a person may take one for the other in a shaded picture. Light and shadow
change lightness more than hue, so that a distance counts with lightness in full and with half of
it, and the lower one decides between colours that hue tells apart.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from groundfault.io.colours import lab
from groundfault.world.canvas import Rgb
from groundfault.world.forms import COLOURS

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["colour_word", "distance", "look_alike", "margin"]

NEAR = 50.0
"""ΔE (CIE76) below which two of the thirteen words may be taken for each other."""
DISPUTED = frozenset((frozenset(("teal", "blue")), frozenset(("teal", "green"))))
"""Words whose border people draw in different places, however far apart the paints are."""


def _lab(colour: Rgb) -> NDArray[np.float64]:
    levels = np.clip(np.round(np.asarray(colour, np.float64) * 255), 0, 255).astype(np.uint8)
    found: NDArray[np.float64] = lab(levels[None, None])[0, 0]
    return found


@cache
def _anchors() -> NDArray[np.float64]:
    return np.stack([_lab(colour) for colour in COLOURS.values()])


def distance(one: Rgb, other: Rgb, *, lightness: float = 1.0) -> float:
    """CIE76 ΔE of two colours, with lightness weighed.

    >>> round(distance((1.0, 1.0, 1.0), (0.0, 0.0, 0.0)))
    100
    """
    weights = np.array([lightness, 1.0, 1.0])
    return float(np.linalg.norm((_lab(one) - _lab(other)) * weights))


@cache
def look_alike(colour: str, other: str) -> bool:
    """Whether two colour words may be taken for each other in a shaded picture.

    >>> look_alike("red", "orange"), look_alike("white", "black"), look_alike("teal", "blue")
    (True, False, True)
    """
    if frozenset((colour, other)) in DISPUTED:
        return True
    one, two = COLOURS[colour], COLOURS[other]
    return distance(one, two, lightness=0.5) < NEAR and distance(one, two) < NEAR


def colour_word(colour: Rgb) -> str:
    """The word whose paint is nearest.

    >>> colour_word((0.9, 0.1, 0.1)), colour_word((0.2, 0.2, 0.2))
    ('red', 'black')
    """
    away = np.linalg.norm(_anchors() - _lab(colour), axis=1)
    return tuple(COLOURS)[int(away.argmin())]


def margin(colour: Rgb) -> float:
    """How many times farther away than the nearest word the second nearest is."""
    nearest, second = np.sort(np.linalg.norm(_anchors() - _lab(colour), axis=1))[:2]
    return float(second / max(nearest, 1e-9))
