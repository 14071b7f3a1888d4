"""The colour of a thing in a photograph, in one word, where one word tells it.

Every pixel gets the name that its lightness, chroma and hue have (CIE L*a*b*). A thing has a colour
if one name holds for half of it, and that name with its neighbours (white and grey, brown and
orange) for four fifths. Neighbours are never offered as wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from groundfault.io.colours import lab

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["NAMES", "Look", "alike", "look_of"]

NAMES = ("black", "white", "grey", "red", "orange", "yellow", "green", "blue", "purple", "pink",
         "brown", "tan")  # fmt: skip
MOST, TOGETHER = 0.5, 0.8
"""Shares of a thing's pixels that have its colour's name, and that name or one of its
neighbours'."""
RARE = 0.03
"""A colour that fewer pixels have is not seen."""
FEWEST_PX = 80
_NEIGHBOURS = (
    "white grey", "grey black", "brown black", "brown orange", "brown red", "brown tan",
    "tan white", "tan yellow", "tan orange", "tan grey", "orange red", "orange yellow", "red pink",
    "pink purple", "purple blue", "green yellow", "grey blue", "black blue", "grey brown",
    "green black", "tan pink", "grey green", "purple black", "green blue",
)  # fmt: skip
_ALIKE = {frozenset(pair.split()) for pair in _NEIGHBOURS}


class Look(msgspec.Struct, frozen=True):
    """How a thing is coloured."""

    colour: str
    """"" where no single word tells it."""
    shares: dict[str, float]

    def lacks(self, name: str) -> bool:
        """Whether nobody would say that it has this colour."""
        seen = [other for other, share in self.shares.items() if share >= 0.12]
        rare = self.shares.get(name, 0.0) < RARE
        return rare and not any(alike(name, other) for other in seen)


def alike(one: str, other: str) -> bool:
    """Whether two colours may be taken for each other in a photograph.

    >>> alike("white", "grey"), alike("white", "black"), alike("turquoise", "blue")
    (True, False, True)
    """
    if one == other or "turquoise" in (one, other):
        return {one, other} <= {"turquoise", "green", "blue", "grey"} if one != other else True
    return frozenset((one, other)) in _ALIKE


def look_of(image: NDArray[np.uint8], region: NDArray[np.bool_]) -> Look:
    """The colour of what a mask covers, without its edge."""
    from scipy.ndimage import binary_erosion

    wide = max(1, round(0.02 * float(region.sum()) ** 0.5))
    inside = binary_erosion(region, iterations=wide)
    pixels = image[inside if inside.sum() >= FEWEST_PX else region]
    if len(pixels) < FEWEST_PX:
        return Look("", {})
    named = _named(lab(pixels[None])[0])
    shares = {name: float((named == k).mean()) for k, name in enumerate(NAMES)}
    best = max(shares, key=lambda name: shares[name])
    near = sum(share for name, share in shares.items() if alike(name, best))
    clear = shares[best] >= MOST and near >= TOGETHER
    return Look(best if clear else "", shares)


def _named(colours: Floats) -> NDArray[np.int64]:
    """The place in NAMES of each (n, 3) L*a*b* colour."""
    lightness, a, b = colours.T
    chroma, hue = np.hypot(a, b), np.degrees(np.arctan2(b, a)) % 360
    tests = (
        ("black", (lightness < 16) | ((lightness < 28) & (chroma < 10))),
        ("white", (lightness > 78) & (chroma < 10)),
        ("grey", chroma < 9),
        ("brown", (hue > 25) & (hue < 95) & (lightness < 52) & (chroma < 48)),
        ("tan", (hue > 40) & (hue < 105) & (lightness >= 52) & (chroma < 34)),
        ("red", (hue >= 8) & (hue < 48) & (lightness < 68) & (chroma >= 34)),
        ("pink", (hue < 48) | (hue >= 335)),
        ("orange", hue < 76),
        ("yellow", hue < 108),
        ("green", hue < 190),
        ("blue", hue < 305),
    )
    found = np.select(
        [test for _, test in tests], [NAMES.index(name) for name, _ in tests], NAMES.index("purple")
    )
    return np.asarray(found, np.int64)
