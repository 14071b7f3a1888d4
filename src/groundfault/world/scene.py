"""What is in a picture, as records: everything the renderer needs and nothing else.

Places and sizes are shares of the picture's side, so that one scene can be rendered at any
size. A scene is a value: an intervention is another scene.
"""

from __future__ import annotations

import msgspec

from groundfault.world.relief import Light

__all__ = ["WORLD_VERSION", "Look", "Place", "Scene", "Thing"]

WORLD_VERSION = 2
"""Goes up whenever the same seed makes other cases or other bytes. What is built says which it was;
folders of any version are evaluated alike."""


class Look(msgspec.Struct, frozen=True):
    """What a thing's outside is."""

    seed: int = 0
    """Shade of the colour, course of the pattern."""
    colour: str = ""
    """A name in `forms.COLOURS`; "" is one that is usual for the category."""
    surface: str = ""
    """A name in `surfaces.SURFACES`; "" is the plain colour."""
    material: str = ""
    """A name in `materials.MATERIALS`; "" is the real thing."""
    pattern: str = ""
    """A name in `attires.PATTERNS`, painted on the colour."""
    coat: str = ""
    """A name in `attires.COATS`, or "covered in snow": laid over the colour."""
    finish: str = ""
    """A name in `attires.FINISHES`; "" is the category's own gloss."""


class Thing(msgspec.Struct, frozen=True, kw_only=True):
    """One object in a scene."""

    category: str
    seed: int
    """Build and pose."""
    x: float
    """Where it stands: left 0 … right 1."""
    y: float
    """Its foot: top 0 … bottom 1."""
    scale: float
    """Height of its box of two form units."""
    flip: bool = False
    """True: faces left."""
    turn: float = 0.0
    """Lean in degrees, clockwise, about its foot."""
    lift: float = 0.0
    """How far above the ground its foot hangs; its shadow stays on the ground."""
    shadow: float = 1.0
    """0: throws none (a hat on a head)."""
    look: Look = Look()
    over: Look | None = None
    """Another look laid over the first, by `dose`."""
    dose: float = 0.0
    """0: only `look` … 1: only `over`."""
    relation: str = ""
    """How it stands to another thing: "on", "under", "beside", "worn by"; "" if not at all."""
    partner: int = -1
    """That thing's index in the scene."""
    shape: str = ""
    """A name in `attires.SHAPES`: a round thing in another shape."""


class Place(msgspec.Struct, frozen=True):
    """A context with its own seed: the same meadow again, or another one."""

    context: str
    seed: int = 0


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """A picture to be drawn."""

    place: Place
    over: Place | None = None
    """Another place laid over the first, by `dose`."""
    dose: float = 0.0
    light: Light = Light()
    horizon: float = 0.5
    zoom: float = 1.0
    """How large things are placed in it: below 1 the view is a wider one."""
    things: tuple[Thing, ...] = ()
    """In painting order: the furthest first."""
    size_px: int = 384
