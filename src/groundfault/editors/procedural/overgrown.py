"""Objects that are grown or bound of leaves, blossoms or straw, as a clipped hedge is: their form
stays, all else is covered, and what lies over their outline hides how well it was drawn."""

from __future__ import annotations

import numpy as np

from groundfault.editors.procedural.edges import Floats, Mask, box_of, floats
from groundfault.editors.procedural.foliage import LEAVES, coat, drawn
from groundfault.editors.procedural.relief import drawing_of, extent_px, inflate, light_of
from groundfault.editors.procedural.rendering import lamp_of

__all__ = ["overgrown"]

PIECES = {"leaves": ("green", 0.024), "flowers": ("blossoms", 0.045), "straw": ("straw", 0.065)}
"""Substances that are laid on piece by piece: of what, and how long a piece is, as a share of the
object's extent."""
SHORTEST_PX, LONGEST_PX = 3.2, 12.0
"""Limits of a leaf's length; straws are as much longer as they are thinner."""
OWN_LIGHT, FEATURES, MOST_LIGHT = 0.6, 0.5, 1.2
"""How much of an object's own light and shade and of its features is still seen, as logarithms, and
the most of both."""
DRAWN = 0.22
"""How much of the features is drawn over the leaves, so that a face is known."""
ROOM_PX = 14
"""What is left free around an object for what lies over its outline."""


def overgrown(
    photo: Floats, mask: Mask, value: str, *, seed: int
) -> tuple[tuple[slice, slice], Floats, Floats]:
    """An object of leaves, blossoms or straw: the box that it is in, its colours there, and its
    share of each pixel."""
    kind, share = PIECES[value]
    leaf = LEAVES[kind]
    longer = 0.39 / float(np.mean(leaf.slim))
    limits = SHORTEST_PX * max(longer, 1) ** 0.5, LONGEST_PX * max(longer, 1) ** 0.5
    leaf_px = float(np.clip(share * extent_px(mask), *limits))
    box = box_of(mask, ROOM_PX)
    inside = mask[box]
    spots = coat(inside, inflate(mask)[box], leaf, leaf_px, seed)
    features = drawing_of(photo, mask)
    shade = OWN_LIGHT * light_of(photo, mask).shade + FEATURES * features
    own = np.clip(shade[box][spots.pixels(inside.shape)], -MOST_LIGHT, MOST_LIGHT)
    spots = spots._replace(open=spots.open * np.exp(own))
    colours, found = drawn(spots, leaf, leaf_px, inside.shape, lamp_of(photo, mask), seed)
    lines = np.exp(np.clip(DRAWN * features[box], -MOST_LIGHT, MOST_LIGHT))
    return box, floats(np.clip(colours * lines[..., None], 0, 1)), found
