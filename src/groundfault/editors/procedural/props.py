"""Things that are computed, to stand in the place of others: boxes, barrels, plants, balloons. A
donor's thing has the light, the view and the cut of another photograph; these have none of their
own, and cover what they replace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import cv2
import numpy as np

from groundfault.editors.procedural.bunches import (
    bunch_alone,
    bunch_over,
    inflated,
    place_in_air,
    silhouette,
)
from groundfault.editors.procedural.covering import Figure, Fit, covering, figure_of
from groundfault.editors.procedural.edges import Floats, Mask, box_of, grown
from groundfault.editors.procedural.greens import has_soil
from groundfault.editors.procedural.grounds import USUAL_M, Place, eyes_above, free_place
from groundfault.editors.procedural.neighbours import Company
from groundfault.editors.procedural.plants import PLANTS, POT, alone, outline_over, planted
from groundfault.editors.procedural.rendering import IN_GRASS, Lamp, lamp_of, rendered
from groundfault.editors.procedural.repertoire import (
    BESIDE,
    FLOATING,
    HEIGHTS_M,
    INSTEAD,
)
from groundfault.editors.procedural.skins import SKINS
from groundfault.editors.procedural.solids import (
    Body,
    View,
    box,
    cast,
    lathe,
    lump,
    picture_size,
)
from groundfault.editors.procedural.transplants import Cutting, instead_of, is_inside

__all__ = ["PROPS", "prop_beside", "props_over"]

SILHOUETTE_PX = 40
"""The height at which props are tried on."""
UNCOVERED = 4.0
"""What an uncovered share of an object weighs beside unlike outlines."""
HALVINGS = 7
"""How often the height of a prop for its width is narrowed down."""
MOST_PITCH, FARTHER, LEAST_AWAY = 0.6, 1.4, 4.5
"""The steepest view, in radians, and how far away the camera is thought to be: lines that run
together more than those of the photograph are noticed, those that do less are not."""
LARGER = 1.1
"""How many times larger a prop is than its coarse silhouette says: outlines are drawn some pixels
off."""
LOWER = 0.03
"""How much lower than an object's foot a prop stands, as a share of its height: it covers the dark
line below the object, too."""
SMALLER = 0.75
"""How large a prop is beside an object, as a share of the object."""
IN_AIR, SMALLER_IN_AIR, CLEARANCE_PX = (0.25, 0.5), (1.0, 0.8), 4
"""How tall balloons on strings are beside the shorter side of the picture, at least and at most,
how much smaller ones are tried, and how far away from other things they stay."""
IN_AIR_M = (0.4, 3.0)
"""How tall they seem to be beside an object: what floats is as far away as its size says, but above
a plate, or beside an airliner, none has the right size."""
MOST_BLURRED_PX = 2.2
"""Where a photograph is more blurred, nobody knows how far away it is sharp."""
SIZES_M = {
    **{"barrel": 0.9, "beach ball": 0.4, "cardboard box": 0.5, "dustbin": 0.9, "pumpkin": 0.35},
    **{"bush": 1.0, "haystack": 1.6, "leaf pile": 0.4, "potted plant": 0.8, "rose bush": 0.9},
    **{"tin can": 0.15, "traffic cone": 0.7, "vase": 0.4, "watermelon": 0.25, "wooden crate": 0.7},
}
"""How tall props are at most where they stand beside something."""
MOST_UPRIGHT = 2.0
"""How many times more upright than alone a plant over an object may be; beyond, others go first: a
pile of leaves is no column."""
STANDING_TURN, STANDING_FITS = 4, 0.3
"""Every so many times what stands goes before what floats, if it is no more unlike than this."""
ANY_SIDE = (0.0, 0.5, 1.0)
"""The turns of what looks alike from all sides."""
Profile = tuple[tuple[float, float], ...]
Shape = Callable[[float, float, int], Body]
"""The body of a width and a height, with a seed."""


class Prop(NamedTuple):
    """A thing that can be computed."""

    shape: Shape
    flat: float
    upright: float
    """Its height for its width, at least and at most."""
    turns: tuple[float, ...] = (0.0,)
    """How far it may be turned on the ground, to either side, in radians."""


_BARREL = ((0.0, 0.80), (0.25, 0.95), (0.5, 1.0), (0.75, 0.95), (1.0, 0.80))
_PUMPKIN = (
    (0.0, 0.55), (0.06, 0.78), (0.18, 0.94), (0.36, 1.0), (0.55, 0.97), (0.70, 0.84),
    (0.80, 0.60), (0.845, 0.30), (0.86, 0.115), (0.93, 0.085), (1.0, 0.10),
)  # fmt: skip
_VASE = (
    (0.0, 0.50), (0.04, 0.56), (0.2, 0.82), (0.38, 1.0), (0.52, 0.98), (0.68, 0.74),
    (0.80, 0.46), (0.88, 0.40), (0.95, 0.47), (1.0, 0.54),
)  # fmt: skip
_CONE = ((0.0, 1.0), (0.05, 1.0), (0.055, 0.62), (0.3, 0.491), (0.6, 0.337), (1.0, 0.13))
_BIN = (
    (0.0, 0.82),
    (0.84, 0.98),
    (0.85, 1.0),
    (0.88, 1.0),
    (0.95, 0.72),
    (0.97, 0.25),
    (1.0, 0.20),
)
_DRUM = ((0.0, 0.97), (0.02, 1.0), (0.98, 1.0), (1.0, 0.97))


def _box(depth: float, bevel: float = 0.012) -> Shape:
    return lambda wide, tall, seed: box(wide, depth * min(wide, 1.3 * tall), tall, bevel=bevel)


def _turned_on(profile: Profile, ribs: int = 0, depth: float = 0.0) -> Shape:
    return lambda wide, tall, seed: lathe(profile, wide, tall, ribs=ribs, depth=depth)


def _lump(rough: float = 0.0, depth: float = 0.95, square: float = 0.0, sunk: float = 0.0) -> Shape:
    return lambda wide, tall, seed: lump(
        wide, depth * min(wide, 1.6 * tall), tall, seed=seed, rough=rough, square=square, sunk=sunk
    )


PROPS: dict[str, Prop] = {
    "barrel": Prop(_turned_on(_BARREL), 0.9, 1.9, ANY_SIDE),
    "beach ball": Prop(_lump(), 0.95, 1.05),
    "cardboard box": Prop(_box(0.75), 0.35, 1.7, (0.15, 0.4, 0.7)),
    "dustbin": Prop(_turned_on(_BIN), 0.9, 1.8),
    "boulder": Prop(_lump(rough=0.06, square=0.3, sunk=0.6), 0.35, 0.85, ANY_SIDE),
    "pumpkin": Prop(_turned_on(_PUMPKIN, ribs=10, depth=0.10), 0.65, 1.2, ANY_SIDE),
    "tin can": Prop(_turned_on(_DRUM), 0.8, 2.0),
    "traffic cone": Prop(_turned_on(_CONE), 1.2, 2.6),
    "vase": Prop(_turned_on(_VASE), 1.0, 2.8),
    "watermelon": Prop(_lump(depth=0.8), 0.5, 1.0, (0.0, 0.5)),
    "wooden crate": Prop(_box(0.8), 0.35, 1.7, (0.15, 0.4, 0.7)),
}
"""What can be computed, by name."""


class _Tried(NamedTuple):
    """A prop as it would cover an object."""

    unlike: float
    name: str
    seen: Mask
    """Its silhouette, SILHOUETTE_PX tall where it stands beside an object."""
    made: Callable[[Lamp, float], Cutting]
    """In a light, so tall."""
    fit: Fit | None
    """How it is laid over the object; None for what has the object's own outline."""


def props_over(
    photo: Floats, mask: Mask, category: str, wanted: str, seed: int
) -> Iterator[tuple[str, Cutting, Place]]:
    """Computed things for an object's place, as the photograph's light would show them, and where
    they go, those first that suit best. `wanted` names one; "" takes what suits the category, and
    what stands there in turn with what floats."""
    names = (wanted,) if wanted else INSTEAD.get(category, ())
    names = tuple(name for name in names if wanted or has_soil(photo, mask, name))
    tried = [one for one in _suited(mask, names, category, seed) if _has_room(photo, mask, one)]
    lamp = lamp_of(photo, mask)
    for one in sorted(tried, key=lambda one: _rank(one, seed)):
        if one.fit is None:
            yield one.name, *_over(one, lamp)
            continue
        place = instead_of(mask, one.fit)
        lower = LOWER + (IN_GRASS / 2 if lamp.grassy else 0)
        foot_px = min(place.foot_px + lower * place.tall_px, photo.shape[0] - 1)
        yield one.name, one.made(lamp, place.tall_px), place._replace(foot_px=foot_px)


def _rank(one: _Tried, seed: int) -> float:
    """How late a prop is tried: what floats in turn, and last where it is the turn of others."""
    if one.name not in FLOATING:
        return one.unlike
    turn = (FLOATING.index(one.name) + seed // STANDING_TURN) % len(FLOATING)
    return turn + (STANDING_FITS if seed % STANDING_TURN == 0 else -len(FLOATING))


def _has_room(photo: Floats, mask: Mask, one: _Tried) -> bool:
    """Whether a prop in the place of an object would be in the picture with all of itself; plants
    may go on beyond its border."""
    return one.fit is None or is_inside(photo.shape, one.fit, instead_of(mask, one.fit))


def _over(chosen: _Tried, lamp: Lamp) -> tuple[Cutting, Place]:
    """What has an object's own outline, and where it is."""
    rows, columns = box_of(chosen.seen)
    made = chosen.made(lamp, rows.stop - rows.start)
    margin = (made.alpha.shape[0] - (rows.stop - rows.start)) // 2
    own = box_of(made.alpha > 0.5)
    middle = columns.start - margin + (own[1].start + own[1].stop) / 2
    foot = rows.start - margin + own[0].stop
    return made, Place(middle, foot, own[0].stop - own[0].start, False)


def prop_beside(
    photo: Floats, mask: Mask, category: str, wanted: str, seed: int, company: Company
) -> tuple[str, Cutting, Place] | None:
    """A computed thing beside an object, `wanted` or one that suits its category; None where no
    room is. What stands takes turns with what floats, if there is room for it."""
    names = (wanted,) if wanted else BESIDE.get(category, ())
    found = None
    if wanted or seed % STANDING_TURN == 0:
        standing = [name for name in names if name not in FLOATING]
        found = _standing_beside(photo, mask, category, standing, seed, company)
    floating = [name for name in names if name in FLOATING]
    if found is None and floating:
        found = _floating_beside(photo, mask, category, floating[0], seed, company)
    return found


def _standing_beside(
    photo: Floats,
    mask: Mask,
    category: str,
    names: Sequence[str],
    seed: int,
    company: Company,
) -> tuple[str, Cutting, Place] | None:
    """One of some props on the ground beside an object, somewhat smaller than it."""
    target = figure_of(mask)
    tried = _suited(mask, names, category, seed, beside=True)
    first = seed % max(len(tried), 1)
    for chosen in tried[first:] + tried[:first]:
        own = chosen.seen[box_of(chosen.seen)]
        scale = SMALLER * min(target.tall_px / own.shape[0], target.wide_px / own.shape[1])
        if category in HEIGHTS_M and chosen.name in SIZES_M:
            true_px = SIZES_M[chosen.name] / HEIGHTS_M[category] * target.tall_px
            scale = min(scale, true_px / own.shape[0])
        size = max(round(own.shape[1] * scale), 4), max(round(own.shape[0] * scale), 4)
        figure = cv2.resize(own.astype(np.uint8), size, interpolation=cv2.INTER_AREA) > 0
        place = free_place(photo, mask, company, category=category, flipped=False, figure=figure)
        if place is not None:
            return chosen.name, chosen.made(lamp_of(photo, mask), place.tall_px), place
    return None


def _floating_beside(
    photo: Floats, mask: Mask, category: str, name: str, seed: int, company: Company
) -> tuple[str, Cutting, Place] | None:
    """What floats on strings beside an object, before all that is there."""
    lamp = lamp_of(photo, mask)
    if lamp.blur_px > MOST_BLURRED_PX:
        return None
    taken = grown(mask if company.blocked is None else mask | company.blocked, CLEARANCE_PX)
    rows, _ = box_of(mask)
    own_px = rows.stop - rows.start
    scale_m = HEIGHTS_M.get(category, USUAL_M) / own_px
    low = max(IN_AIR[0] * min(mask.shape), IN_AIR_M[0] / scale_m)
    high = min(IN_AIR[1] * min(mask.shape), IN_AIR_M[1] / scale_m)
    tall = min(max(own_px, low), high)
    for smaller in SMALLER_IN_AIR:
        if tall * smaller < low:
            break
        balloons, size = bunch_alone(round(tall * smaller), seed)
        place = place_in_air(size, taken, mask, seed)
        if place is not None:
            return name, inflated(name, balloons, size, lamp, seed), place
    return None


def _suited(
    mask: Mask, names: Sequence[str], category: str, seed: int, *, beside: bool = False
) -> list[_Tried]:
    """Props, each as it would cover an object best, or as it stands `beside` one."""
    target = figure_of(mask)
    pitch, away = eyes_above(mask, category)
    pitch, away = min(pitch, MOST_PITCH), max(FARTHER * away, LEAST_AWAY)
    found = []
    for name in names:
        scale_m = HEIGHTS_M.get(category, USUAL_M) / target.tall_px
        if name in FLOATING:
            found.append(_bunch(name, mask, scale_m, seed))
            continue
        if name in PLANTS:
            found.append(_plant(name, mask, View(pitch, 0.0, away / POT), scale_m, seed, beside))
            continue
        views = [View(pitch, side * turn, away) for turn in PROPS[name].turns for side in (1, -1)]
        tried = [_tried_on(name, target, view, seed) for view in dict.fromkeys(views)]
        found.append(min(tried, key=lambda one: one.unlike))
    return found


def _bunch(name: str, mask: Mask, scale_m: float, seed: int) -> _Tried:
    """Balloons or lanterns over an object; a pixel there is `scale_m` long."""
    balloons = bunch_over(mask, scale_m, seed)
    seen = silhouette(balloons, mask.shape) | mask

    def over(lamp: Lamp, tall_px: float) -> Cutting:
        rows, columns = box_of(seen)
        margin = round(max(one.radius for one in balloons))
        corner = columns.start - margin, rows.start - margin
        moved = [one._replace(x=one.x - corner[0], y=one.y - corner[1]) for one in balloons]
        behind = np.pad(mask[rows, columns], margin)
        return inflated(name, moved, behind.shape, lamp, seed, behind=behind)

    unlike = 1 - float((seen & mask).sum() / seen.sum())
    return _Tried(unlike, name, seen, over, None)


def _plant(name: str, mask: Mask, view: View, scale_m: float, seed: int, beside: bool) -> _Tried:
    """A plant over an object, or beside one; a pixel there is `scale_m` long."""
    if beside:

        def made(lamp: Lamp, tall_px: float) -> Cutting:
            shape = alone(name, seed, round(tall_px))
            return planted(name, shape, shape, scale_m * tall_px, view, lamp, seed)

        return _Tried(0.0, name, alone(name, seed), made, None)
    outline = outline_over(mask, seed)
    own = box_of(outline)

    def over(lamp: Lamp, tall_px: float) -> Cutting:
        return planted(name, outline[own], mask[own], scale_m * tall_px, view, lamp, seed)

    rows, columns = own
    too_upright = (rows.stop - rows.start) / (columns.stop - columns.start) / PLANTS[name].upright
    unlike = 1 - float((outline & mask).sum() / (outline | mask).sum())
    unlike += max(too_upright / MOST_UPRIGHT - 1, 0)
    return _Tried(unlike, name, outline, over, None)


def _tried_on(name: str, target: Figure, view: View, seed: int) -> _Tried:
    """A prop over an object, about as tall for its width as far as its kind allows."""
    prop, ratio = PROPS[name], target.tall_px / target.wide_px
    low, high = prop.flat, prop.upright
    for _ in range(HALVINGS):  # the picture grows taller with the body
        middle = (low + high) / 2
        seen = picture_size(prop.shape(1 / middle, 1.0, seed), view)
        low, high = (middle, high) if seen[1] / seen[0] < ratio else (low, middle)
    body = prop.shape(1 / low, 1.0, seed)
    silhouette = cast(body, view, SILHOUETTE_PX).seen
    unlike, fit = covering(target, figure_of(silhouette), flipped=False, uncovered=UNCOVERED)
    fit = fit._replace(tall_px=LARGER * fit.tall_px, wide_px=LARGER * fit.wide_px)

    def made(lamp: Lamp, tall_px: float) -> Cutting:
        found = rendered(body, SKINS[name], view, lamp, tall_px, seed)
        return Cutting(found.colours, found.share, np.zeros(3, np.float32), 1.0, found.shade)

    return _Tried(unlike, name, silhouette, made, fit)
