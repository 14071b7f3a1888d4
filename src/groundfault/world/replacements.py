"""Stand-ins by HalluSegBench's rules: what may take a thing's place, and how it fills it.

A stand-in is of the same nature and shape class, about as large by nature, and no strange sight in
that place. It fills the place of what it replaces: as large in area, on the same ground (or, in
water and air, about the same middle), turned the way that overlaps best.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from groundfault.world.belonging import no_surprise
from groundfault.world.canvas import Path, paint, surface
from groundfault.world.contexts import CONTEXTS, PAINTED
from groundfault.world.forms import Part
from groundfault.world.objects import CATEGORIES
from groundfault.world.phrases import ALSO_CALLED
from groundfault.world.render import form_of
from groundfault.world.scene import Look, Thing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bools = NDArray[np.bool_]

__all__ = [
    "LEAST_OVERLAP",
    "SIZES",
    "area_share",
    "fitted",
    "may_replace",
    "overlap",
    "size_class",
]

LEAST_OVERLAP = 0.5
"""Least IoU of the two masks of a replacement."""
MOST_GROWTH = 1.7
"""A stand-in is at most so much larger or smaller than it would be there by nature."""
SIZES = {
    "S": (0.0015, 32**2 / 384**2),
    "M": (32**2 / 384**2, 96**2 / 384**2),
    "L": (96**2 / 384**2, 1.0),
}
"""Shares of the picture: COCO's limits of 32² and 96² pixels in a picture of 384², and one that is
too small to tell what it is."""
WINDOW_PX = 48
"""Side of a thing's box where outlines are compared."""
GROWTHS = (0.92, 1.09)
"""How much smaller or larger than in area a stand-in may be, where it overlaps more."""


def may_replace(category: str, other: str, context: str) -> bool:
    """Whether a thing of another category may take a thing's place in a context.

    >>> may_replace("tiger", "leopard", "meadow"), may_replace("tiger", "car", "meadow")
    (True, False)
    """
    old, new = CATEGORIES[category], CATEGORIES[other]
    afloat = CONTEXTS[context].afloat
    return (
        category != other
        and (old.nature, old.shape) == (new.nature, new.shape)
        and (afloat or (old.flies, old.swims) == (new.flies, new.swims))
        and max(old.size / new.size, new.size / old.size) <= MOST_GROWTH
        and no_surprise(other, context)
        and other not in PAINTED.get(context, ())
        and other not in ALSO_CALLED.get(category, ())
        and category not in ALSO_CALLED.get(other, ())
    )


def fitted(thing: Thing, category: str, seed: int) -> Thing:
    """A thing of another category in a thing's place, as it overlaps it best."""
    entry = CATEGORIES[category]
    plain = Thing(
        category=category,
        seed=seed,
        x=thing.x,
        y=thing.y,
        scale=thing.scale,
        lift=thing.lift,
        shadow=thing.shadow,
        look=Look(seed=seed, surface=entry.surface),
        relation=thing.relation,
        partner=thing.partner,
    )
    window = _Window(thing)
    wanted = window.outline(thing)

    def found(one: Thing) -> float:
        return _iou(wanted, window.outline(one))

    # In the pose of what it replaces, or in its own; looking that way or the other.
    posed = [
        window.moved(msgspec.structs.replace(plain, seed=pose, flip=flip), wanted)
        for pose in (thing.seed, seed)
        for flip in (thing.flip, not thing.flip)
    ]
    best = max(posed, key=found)
    grown = [msgspec.structs.replace(best, scale=best.scale * growth) for growth in GROWTHS]
    return max((best, *grown), key=found)


def overlap(thing: Thing, other: Thing) -> float:
    """IoU of the outlines of two things, whatever stands before them."""
    window = _Window(thing)
    return _iou(window.outline(thing), window.outline(other))


def area_share(thing: Thing) -> float:
    """The share of the picture that a thing covers, whatever stands before it."""
    window = _Window(thing)
    return float(window.outline(thing).sum() / window.unit_px**2)


def size_class(share: float) -> str:
    """S, M or L for a share of the picture; "" for what is too small.

    >>> size_class(0.004), size_class(0.02), size_class(0.1), size_class(0.0001)
    ('S', 'M', 'L', '')
    """
    return next((name for name, (low, high) in SIZES.items() if low <= share < high), "")


def _iou(one: Bools, other: Bools) -> float:
    return float((one & other).sum() / max(1, (one | other).sum()))


class _Window:
    """A square of the picture around a thing, in which outlines are drawn."""

    def __init__(self, thing: Thing) -> None:
        self.unit_px = WINDOW_PX / thing.scale
        """Pixels per side of the picture."""
        self.left = thing.x - thing.scale
        self.top = thing.y - thing.lift - 1.6 * thing.scale

    def outline(self, thing: Thing) -> Bools:
        """(2 · WINDOW_PX, 2 · WINDOW_PX): where a thing is."""
        half = thing.scale * self.unit_px / 2
        pixels, board, canvas = surface(2 * WINDOW_PX, 2 * WINDOW_PX)
        canvas.translate(
            (thing.x - self.left) * self.unit_px,
            (thing.y - thing.lift - self.top) * self.unit_px,
        )
        canvas.rotate(thing.turn)
        canvas.scale(-half if thing.flip else half, half)
        canvas.translate(0, -1)
        brush = paint()
        for part in _parts(thing.category, thing.seed):
            canvas.drawPath(part, brush)
        board.flushAndSubmit()
        drawn: Bools = pixels[..., 3] >= 128
        return drawn

    def moved(self, thing: Thing, wanted: Bools) -> Thing:
        """The thing with the area of an outline, over the same ground."""
        area = max(1, int(self.outline(thing).sum()))
        scale = thing.scale * (int(wanted.sum()) / area) ** 0.5
        grown = msgspec.structs.replace(thing, scale=scale)
        mine = self.outline(grown)
        if not mine.any() or not wanted.any():
            return grown
        (top, left), (low, right) = _box(mine)
        (wanted_top, wanted_left), (wanted_low, wanted_right) = _box(wanted)
        across = (wanted_left + wanted_right - left - right) / 2 / self.unit_px
        up = (top + low - wanted_top - wanted_low) / 2 / self.unit_px if thing.lift else 0.0
        return msgspec.structs.replace(grown, x=thing.x + across, lift=max(0.0, thing.lift + up))


def _box(mask: Bools) -> tuple[tuple[int, int], tuple[int, int]]:
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    return (int(rows[0]), int(columns[0])), (int(rows[-1]), int(columns[-1]))


@lru_cache(maxsize=64)
def _parts(category: str, seed: int) -> tuple[Path, ...]:
    """Everything of a form that adds to its outline."""
    form = form_of(Thing(category=category, seed=seed, x=0, y=0, scale=1))
    return tuple(piece.path for piece in form.pieces if isinstance(piece, Part))
