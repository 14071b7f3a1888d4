"""A thing with a part, or with something in or on it, that people expect it to have."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from groundfault.world.canvas import Path
from groundfault.world.forms import Draw, Form, Mark, Part
from groundfault.world.objects.category import PAINTS, Category
from groundfault.world.shapes import polygon

__all__ = ["PAINTS", "Exhibit", "framed", "rod"]


class Exhibit(msgspec.Struct, frozen=True, kw_only=True):
    """A whole and a part of it, both drawn in the units of the whole.

    Both drawings get the same generator, so that the part fits the whole's own proportions.
    """

    whole: str
    part: str
    many: bool = False
    """The part's name is a plural."""
    mass: bool = False
    """The part's name has no plural and no article: sand."""
    place: str
    """Where the part is, with "{}" for the whole: "under {}"."""
    habit: str
    """A true sentence that makes one expect the part, without a full stop."""
    draw: Draw
    """The whole without the part."""
    draw_part: Draw
    size: float = 0.5
    colours: tuple[str, ...] = PAINTS
    part_colours: tuple[str, ...] = PAINTS
    contexts: tuple[str, ...]
    behind: bool = False
    """The part is painted before the whole."""
    sinks: float = 0.0
    """How far the whole comes down, in its units, when the part no longer holds it up."""
    lift: float = 0.0
    """How high it flies, as a share of the picture's side."""
    spare: tuple[str, ...] = ()
    """Colours that the part has besides its own: not offered as wrong ones."""
    plural: str = ""
    gloss: float = 0.2

    @property
    def id(self) -> str:
        """The pair as one name: no two are alike."""
        return f"{self.part} of {self.whole}"

    @property
    def bare(self) -> str:
        """The name under which the whole without the part is drawn."""
        return f"{self.whole} without {self.part}"

    def categories(self) -> tuple[Category, Category]:
        """Whole and part as things that can be drawn."""
        whole = Category(
            name=self.bare,
            noun=self.whole,
            draw=self.draw,
            size=self.size,
            colours=self.colours,
            contexts=self.contexts,
            shape="exhibit",
            nature="functional",
            purpose="",
            gloss=self.gloss,
            motley=True,
        )
        part = {
            "name": self.id,
            "noun": self.part,
            "draw": self.draw_part,
            "colours": self.part_colours,
        }
        return whole, msgspec.structs.replace(whole, **part)


def framed(pieces: Sequence[Part | Mark], *feet: tuple[float, float]) -> Form:
    """A form that stands on its feet; a part has none of its own."""
    return Form(pieces=pieces, feet=feet or ((0.0, 0.3),))


def rod(x: float, y: float, to_x: float, to_y: float, wide: float, end: float = 0.0) -> Path:
    """A straight bar between two points; `end` is its width there, if another."""
    away = np.array([to_x - x, to_y - y])
    across = np.array([-away[1], away[0]]) / np.hypot(*away) / 2
    corners = [
        np.array([x, y]) + across * wide,
        np.array([to_x, to_y]) + across * (end or wide),
        np.array([to_x, to_y]) - across * (end or wide),
        np.array([x, y]) - across * wide,
    ]
    return polygon([(float(a), float(b)) for a, b in corners])
