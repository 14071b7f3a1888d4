"""What there is to know about a kind of thing."""

from __future__ import annotations

import msgspec

from groundfault.world.forms import Draw

__all__ = ["PAINTS", "Category"]

PAINTS = ("red", "blue", "green", "yellow", "orange", "teal", "purple", "white")
"""Colours of what is painted to taste."""


class Category(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of thing, with everything that one expects of it."""

    name: str
    draw: Draw
    size: float
    """Height of the form's box (2 units), as a share of the picture when it stands in front."""
    colours: tuple[str, ...]
    """Main colours that surprise nobody; the first is the one people would name."""
    contexts: tuple[str, ...]
    """Where it belongs; the first most of all."""
    surface: str = ""
    """The pattern it wears by nature; "" for plain colour."""
    shape: str
    """Things of one shape can be mistaken for each other: "beast", "round", "tall", …"""
    nature: str
    """What a material takes from it: "living", "edible", "functional", "growing"."""
    purpose: str
    """Says which thing is meant without naming it; completes "Segment …"."""
    noun: str = ""
    """What people call it, where that is not its name."""
    plural: str = ""
    gloss: float = 0.16
    """Strength of the shiny spot: fur has little, glaze has much."""
    grain: float = 0.0
    """Strength of the fur."""
    flies: bool = False
    swims: bool = False
    survives: bool = False
    """True: stays what it is in any solid material (a clay mug is a mug); only cloud undoes it."""
    motley: bool = False
    """True: its colour is nothing one would know it by (cars come in all colours)."""
