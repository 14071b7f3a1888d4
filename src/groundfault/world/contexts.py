"""Contexts by name: what a scene stands in, and the light that comes with it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from groundfault.world import landscapes, townscapes
from groundfault.world.canvas import Canvas, Rgb

__all__ = ["CONTEXTS", "PAINTED", "Context"]


class Context(msgspec.Struct, frozen=True):
    """A place: how it is painted, how it is lit, how one says that something is there."""

    paint: Callable[[Canvas, np.random.Generator, float], None]
    """Canvas of side 1, generator, height of the horizon (0 top … 1 bottom)."""
    key: Rgb
    fill: Rgb
    phrase: str
    afloat: bool = False
    """Things hang in water here instead of standing."""


CONTEXTS: dict[str, Context] = {
    "meadow": Context(
        landscapes.paint_meadow, (1.0, 0.97, 0.88), (0.60, 0.68, 0.66), "in a meadow"
    ),
    "snow": Context(landscapes.paint_snow, (1.0, 0.98, 0.96), (0.68, 0.74, 0.84), "in the snow"),
    "desert": Context(
        landscapes.paint_desert, (1.0, 0.93, 0.78), (0.68, 0.62, 0.56), "in the desert"
    ),
    "beach": Context(landscapes.paint_beach, (1.0, 0.97, 0.88), (0.66, 0.70, 0.74), "on a beach"),
    "reef": Context(
        landscapes.paint_reef, (0.90, 1.0, 1.0), (0.52, 0.68, 0.78), "under water", afloat=True
    ),
    "street": Context(
        townscapes.paint_street, (1.0, 0.98, 0.94), (0.62, 0.65, 0.70), "in a street"
    ),
    "night city": Context(
        townscapes.paint_night, (0.92, 0.90, 1.0), (0.42, 0.40, 0.60), "in a city at night"
    ),
    "kitchen": Context(
        townscapes.paint_kitchen, (1.0, 0.97, 0.90), (0.66, 0.65, 0.64), "in a kitchen"
    ),
    "library": Context(
        townscapes.paint_library, (1.0, 0.92, 0.78), (0.56, 0.52, 0.54), "in a library"
    ),
}

PAINTED: dict[str, tuple[str, ...]] = {
    "meadow": ("tree", "cloud"),
    "snow": ("tree",),
    "beach": ("tree", "cloud"),  # a palm
    "street": ("brick wall", "lamp", "cloud"),
    "night city": ("brick wall", "lamp"),
    "library": ("book",),
}
"""Concepts whose like a context's backdrop may show. There nobody can be asked for them: what is
painted in the distance has no mask."""
