"""What an object is made of: parts that give it its outline and roundness, marks painted on them.

A form lives in its own units: x to the right, y down, the ground at y = 1, the tallest about
-1. It says nothing about surface or material: those are looks, put on the same form later, so
that its outline is the same whatever it is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np

from groundfault.world.canvas import Path, Rgb

__all__ = ["COLOURS", "Bulge", "Draw", "Form", "Mark", "Part", "between", "eye", "jittered"]

COLOURS: dict[str, Rgb] = {
    "red": (0.80, 0.13, 0.12),
    "orange": (0.93, 0.48, 0.10),
    "yellow": (0.96, 0.78, 0.14),
    "green": (0.26, 0.56, 0.22),
    "teal": (0.10, 0.55, 0.55),
    "blue": (0.16, 0.37, 0.76),
    "purple": (0.46, 0.24, 0.66),
    "pink": (0.93, 0.50, 0.63),
    "brown": (0.46, 0.29, 0.17),
    "tan": (0.80, 0.63, 0.42),
    "grey": (0.55, 0.56, 0.58),
    "white": (0.94, 0.93, 0.90),
    "black": (0.13, 0.13, 0.15),
}
"""The colours a thing can be asked for, as its main colour."""


class Part(msgspec.Struct, frozen=True, gc=False):
    """A solid piece: adds to the outline."""

    path: Path
    colour: Rgb
    depth: float = 0.12
    """How far in from its edge the piece rounds off; 0 is flat."""
    takes: float = 1.0
    """1: wears the look's surface; 0: keeps its own colour (tyres, glass)."""
    dim: float = 1.0
    """Below 1 for what stands behind: the far legs."""
    seam: float = 1.0
    """How dark the line is where the piece lies on another."""
    grown: bool = False
    """True: grows out of what is below without a seam, as a leg out of a body."""


class Mark(msgspec.Struct, frozen=True, gc=False):
    """Something painted on the parts below it: never changes the outline."""

    path: Path
    colour: Rgb
    stroke: float = 0.0
    """Line width; 0 fills."""
    blur: float = 0.0
    alpha: float = 1.0
    takes: float = 0.0
    """1: disappears under another surface (a belly's colour); 0: stays (an eye)."""
    dent: float = 0.0
    """How deep it is cut in, 0…1: what shows of it in bronze."""


class Bulge(msgspec.Struct, frozen=True, gc=False):
    """A soft swelling of the parts below it: a belly, a haunch. Only light sees it."""

    path: Path
    height: float = 0.7
    blur: float = 0.1


class Form(msgspec.Struct, frozen=True, gc=False):
    """An object's geometry in painting order, and where it touches the world."""

    pieces: Sequence[Part | Mark | Bulge]
    feet: tuple[tuple[float, float], ...]
    """Where it meets the ground: (x, half width) of each place."""
    top: tuple[float, float, float] = (0.0, -1.0, 0.0)
    """Where something can be put: (x, y, half width); half width 0: nowhere."""
    head: tuple[float, float, float] | None = None
    """Where a hat sits: (x, y, half width)."""


Draw = Callable[[np.random.Generator, Rgb], Form]
"""A category's drawing: its shape from the generator, its main colour from the look."""


def between(rng: np.random.Generator, low: float, high: float) -> float:
    """One uniform number."""
    return low + (high - low) * float(rng.random())


def jittered(colour: Rgb, rng: np.random.Generator, amount: float = 0.07) -> Rgb:
    """A shade near the colour."""
    light = between(rng, -amount, amount)
    red, green, blue = (
        min(1.0, max(0.0, part + light + between(rng, -amount, amount) * 0.5)) for part in colour
    )
    return red, green, blue


def eye(x: float, y: float, radius: float, *, look: float = 0.25, white: bool = False) -> list[Any]:
    """An eye with its glint; `look` shifts the pupil forward."""
    from groundfault.world.shapes import oval

    marks = []
    if white:
        marks.append(Mark(oval(x, y, radius * 1.75), (0.98, 0.98, 0.96), dent=0.25))
    shift = radius * look if white else 0.0
    marks.append(Mark(oval(x + shift, y, radius), (0.07, 0.06, 0.06), dent=0.5))
    marks.append(
        Mark(oval(x + shift + radius * 0.3, y - radius * 0.35, radius * 0.34), (1.0, 1.0, 1.0))
    )
    return marks
