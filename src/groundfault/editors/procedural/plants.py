"""Plants that are computed leaf by leaf, to stand in the place of others: a bush, one with roses, a
plant in a pot or in a trough, a stack of hay, a pile of leaves. They have no outline of their own,
so that they are as broad and as tall as what they replace, and cover all of it from any side."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np

from groundfault.editors.procedural.crowns import crown
from groundfault.editors.procedural.edges import Floats, Mask, box_of, depth_inside, floats, grown
from groundfault.editors.procedural.foliage import LEAVES, coat, drawn, towards
from groundfault.editors.procedural.grounds import Place
from groundfault.editors.procedural.relief import LUMA, extent_px, film, inflate, linear
from groundfault.editors.procedural.rendering import Lamp, Rendered, in_grass, rendered
from groundfault.editors.procedural.skins import SKINS
from groundfault.editors.procedural.solids import View, box, lathe, picture_size
from groundfault.editors.procedural.transplants import Cutting, landing

__all__ = ["PLANTS", "POT", "Plant", "Species", "alone", "outline_over", "planted"]

WIDER, ROUND, TAPERED, BELLY = 1.06, 2.6, 0.12, 0.07
"""How many times wider and taller than an object a plant is, how near to a rectangle it is, where 2
is a circle, how much narrower it is at its foot, and how much higher its foot is at its sides."""
INSET = 0.86
"""How much smaller the crown is that lobes stand out of, beside that with them."""
LOBES, LOBE, RIM, FREE_FOOT = 26, (0.03, 0.085), 0.07, 0.25
"""How many lobes an outline has, how large they are, how far inside it they begin, as shares of its
extent, and the lowest share of its height that has none."""
SHORTEST_PX, LONGEST = 3.0, 0.09
"""The length of a leaf, at least, and at most as a share of the plant's height."""
LONGER = 1.3
"""How many times longer than leaves would be there the straws of a stack are."""
POT, UNDER = 0.3, 0.6
"""How tall a pot is, as a share of the plant with it, and how much of it leaves leave free."""
MOST_POT = 0.6
"""How much of the plant's height a pot may take that is seen from above."""
SLIMMEST, OF_CROWN, WIDEST = 0.85, 0.4, 2.6
"""The width of a pot for its height and for that of its leaves, at least, and the width for its
height at most: wider ones are troughs."""
INNER = 0.4
"""How bright the inside of a plant is, beside its leaves."""
OF_GROUND, FOLLOWED, BRIGHTER = 0.55, 0.6, (0.7, 2.2)
"""How bright leaves are beside the ground, how far they follow it, as an exponent, and the
limits."""
BASE, SHADES = 0.08, ((0.015, 0.6), (0.06, 0.5))
"""How far up from its foot a plant is seen as standing, and how far it shades the ground, and how
much; as shares of its height."""
OPEN, BLOSSOM = 55, 0.9
"""The percentile of the light beyond which a spot may have a blossom, and its size in leaves."""
BLOSSOMS = (
    ((0.70, 0.20, 0.33), (0.78, 0.36, 0.48), (0.80, 0.52, 0.60)),
    ((0.86, 0.84, 0.80), (0.90, 0.88, 0.84), (0.82, 0.78, 0.74)),
    ((0.62, 0.10, 0.12), (0.72, 0.16, 0.16), (0.52, 0.07, 0.10)),
)
"""The colours that blossoms have."""
_POT = ((0.0, 0.66), (0.03, 0.70), (0.74, 0.90), (0.76, 1.0), (0.97, 1.0), (1.0, 0.92))


class Species(NamedTuple):
    """One of the kinds that a plant is of."""

    leaf: str
    long_m: float
    """How long its leaves are."""
    blossoms: float = 0.0
    """How many blossoms it has for a leaf."""


class Plant(NamedTuple):
    """A plant that can be computed."""

    species: tuple[Species, ...]
    """They take turns."""
    flat: float
    upright: float
    """Its height for its width where it stands alone, at least and at most."""
    potted: bool = False
    stacked: bool = False
    """Whether it is a stack with a smooth outline, and has no branches."""


PLANTS: dict[str, Plant] = {
    "bush": Plant((Species("green", 0.04), Species("ivy", 0.04)), 0.6, 1.0),
    "haystack": Plant((Species("straw", 0.3),), 0.6, 0.9, stacked=True),
    "leaf pile": Plant((Species("autumn", 0.09),), 0.35, 0.55, stacked=True),
    "potted plant": Plant(
        (
            Species("green", 0.07),
            Species("broad", 0.13),
            Species("slender", 0.16),
            Species("green", 0.06, 0.04),
        ),
        1.0,
        1.7,
        potted=True,
    ),
    "rose bush": Plant((Species("green", 0.045, 0.035),), 0.6, 1.0),
}
"""What can be computed, by name."""


def outline_over(mask: Mask, seed: int = 0) -> Mask:
    """The outline of a plant that covers an object: as broad and tall as it, round above, in lobes,
    and a little narrower where it leaves the ground."""
    rows, columns = box_of(mask)
    tall, wide = rows.stop - rows.start, columns.stop - columns.start
    y, x = np.mgrid[: mask.shape[0], : mask.shape[1]].astype(np.float32)
    across = (x - (columns.start + columns.stop) / 2) / (0.5 * WIDER * wide)
    up = (rows.stop - y) / (WIDER * tall)
    dome = _dome(across, up)
    extent = extent_px(mask)
    near = grown(mask, max(round(0.02 * extent), 2)) & (y < rows.stop + 1)
    smooth = cv2.GaussianBlur((dome | near).astype(np.float32), (0, 0), 0.03 * extent) > 0.5
    return _lobed((smooth | mask) & (y < rows.stop + 1), seed)


def _lobed(shape: Mask, seed: int) -> Mask:
    """A crown whose clumps stand out of its outline, but for its foot."""
    rng = np.random.default_rng(seed)
    rows, _ = box_of(shape)
    tall, extent = rows.stop - rows.start, extent_px(shape)
    depth = depth_inside(shape)
    rim = shape & (depth < RIM * extent)
    rim[rows.stop - round(FREE_FOOT * tall) :] = False
    y, x = np.nonzero(rim)
    found = shape.astype(np.uint8)
    if not len(y):
        return shape
    for index in rng.integers(len(y), size=LOBES):
        radius = extent * float(rng.uniform(*LOBE))
        cv2.circle(found, (int(x[index]), int(y[index])), max(round(radius), 1), 1, -1)
    return np.asarray(found > 0)


def _dome(across: Floats, up: Floats) -> Mask:
    """A round crown that stands on the ground: across from -1 to 1, up from 0 to 1."""
    narrow = 1 - TAPERED * np.clip(1 - up / 0.25, 0, 1) ** 2
    inside = np.abs(across / narrow) ** ROUND + np.clip(up, 0, None) ** ROUND < 1
    return np.asarray(inside & (up >= BELLY * across**2))


def alone(name: str, seed: int, tall_px: int = 40) -> Mask:
    """The outline of a plant that covers nothing."""
    plant = PLANTS[name]
    ratio = float(np.random.default_rng(seed).uniform(plant.flat, plant.upright))
    wide_px = max(round(tall_px / ratio), 4)
    y, x = np.mgrid[:tall_px, :wide_px].astype(np.float32)
    across, up = (x + 0.5) / wide_px * 2 - 1, 1 - (y + 0.5) / tall_px
    if plant.stacked:
        return _dome(across, up)
    if plant.potted:
        ball = np.abs(across / INSET) ** 2 + np.abs((up - 0.6) / (0.4 * INSET)) ** 2 < 1
        found = _lobed(np.asarray(ball), seed) | (np.abs(across) < 0.45) & (up < POT)
    else:
        found = _lobed(_dome(across / INSET, up / INSET), seed)
    own = found[box_of(found)].astype(np.uint8)
    return np.asarray(cv2.resize(own, (wide_px, tall_px), interpolation=cv2.INTER_NEAREST) > 0)


def planted(
    name: str, shape: Mask, foot: Mask, tall_m: float, view: View, lamp: Lamp, seed: int
) -> Cutting:
    """A plant with an outline that fills its box, in one with the same margin on all sides. `foot`
    is what its pot must cover; it is `tall_m` tall."""
    plant = PLANTS[name]
    turn = int(np.random.default_rng(seed).integers(len(plant.species)))
    species = plant.species[turn]
    tall = shape.shape[0]
    leaf_px = float(np.clip(species.long_m / tall_m * tall, SHORTEST_PX, LONGEST * tall))
    leaf_px *= LONGER if plant.stacked else 1
    pad = round(0.25 * tall) + 8
    shape, foot, bottom = np.pad(shape, pad), np.pad(foot, pad), pad + tall
    colours = np.zeros((*shape.shape, 3), np.float32)
    share = np.zeros(shape.shape, np.float32)
    shade = _shade(shape)
    if plant.potted:
        pot_px = POT * tall
        colours, share, shade = _laid(
            *_pot(foot, shape, pot_px, view, lamp, seed), shape.shape, bottom
        )
        shape = shape.copy()
        shape[bottom - round(UNDER * pot_px) :] = False
    green, own = _leaves(plant, species, shape, leaf_px, lamp, seed)
    green = _as_bright_as_ground(green, own, lamp)
    green, own = _without_holes(green, own, depth_inside(shape) > 1.5 * leaf_px)
    if lamp.grassy and not plant.potted:
        own = in_grass(own)
    part = own[..., None]
    colours = green * part + colours * (1 - part)
    share = np.maximum(own, share)
    return Cutting(floats(colours), floats(share), np.zeros(3, np.float32), 1.0, floats(shade))


def _without_holes(green: Floats, own: Floats, middle: Mask) -> tuple[Floats, Floats]:
    """Leaves in whose `middle` the dark inside of the plant is seen, and nothing behind it."""
    solid = own > 0.5
    inner = np.median(green[solid], 0) * INNER if solid.any() else np.zeros(3, np.float32)
    share = np.where(middle, own, 1.0)[..., None]
    return floats(green * share + inner * (1 - share)), floats(np.where(middle, 1.0, own))


def _as_bright_as_ground(green: Floats, own: Floats, lamp: Lamp) -> Floats:
    """Leaves that are nearer to the brightness of the ground, which stands in the same light."""
    light = linear(green)
    usual = float((light @ LUMA)[own > 0.5].mean()) if (own > 0.5).any() else 1.0
    wanted = OF_GROUND * float(lamp.ground @ LUMA)
    factor = np.clip((wanted / max(usual, 1e-4)) ** FOLLOWED, *BRIGHTER)
    return film(light * float(factor))


def _leaves(
    plant: Plant, species: Species, shape: Mask, leaf_px: float, lamp: Lamp, seed: int
) -> tuple[Floats, Floats]:
    """All leaves of a plant, and some blossoms on the outer ones: colours, and shares of pixels."""
    leaf = LEAVES[species.leaf]
    if plant.stacked:
        spots = coat(shape, inflate(shape), leaf, leaf_px, seed)
        return drawn(spots, leaf, leaf_px, shape.shape, lamp, seed)
    spots = crown(shape, leaf, leaf_px, towards(lamp), seed)
    green, own = drawn(spots, leaf, leaf_px, shape.shape, lamp, seed)
    if not species.blossoms:
        return green, own
    rng = np.random.default_rng(seed + 3)
    open_ = spots.open > np.percentile(spots.open, OPEN)
    chosen = open_ & (rng.uniform(size=len(open_)) < species.blossoms)
    colour = LEAVES["blossoms"]._replace(colours=BLOSSOMS[seed // 2 % len(BLOSSOMS)])
    flowers = spots.those(chosen)
    petals, part = drawn(flowers, colour, BLOSSOM * leaf_px, shape.shape, lamp, seed)
    found = green + (petals - green) * part[..., None]
    return floats(found), floats(np.maximum(own, part))


def _pot(
    foot: Mask, shape: Mask, pot_px: float, view: View, lamp: Lamp, seed: int
) -> tuple[Rendered, float]:
    """A pot, or a trough, under a plant, and the column of its middle."""
    bottom = box_of(shape)[0].stop
    low = np.zeros_like(foot)
    low[bottom - round(pot_px) : bottom] = foot[bottom - round(pot_px) : bottom]
    _, columns = box_of(low if low.any() else shape)
    crown_px = np.ptp(np.flatnonzero(shape.any(0))) + 1
    wide_px = max(1.1 * (columns.stop - columns.start), SLIMMEST * pot_px, OF_CROWN * crown_px)
    wide = wide_px / pot_px
    middle = (columns.start + columns.stop) / 2
    if wide > WIDEST:
        body, skin = box(wide, 0.8, 1.0, bevel=0.02), SKINS["wooden crate"]
    else:
        body, skin = lathe(_POT, wide, 1.0), SKINS["flower pot"]
    across, up = picture_size(body, view)
    tall_px = min(wide_px * up / across, MOST_POT * (bottom - box_of(shape)[0].start))
    return rendered(body, skin, view, lamp, tall_px, seed), middle


def _laid(pot: Rendered, middle: float, size: tuple[int, ...], bottom: int) -> Rendered:
    """A pot in the box of its plant, which stands on a row."""
    rows, columns, part = landing(size, pot.share, Place(middle, bottom, 0.0, False))
    colours = np.zeros((*size[:2], 3), np.float32)
    share, shade = np.zeros(size[:2], np.float32), np.ones(size[:2], np.float32)
    colours[rows, columns] = pot.colours[part]
    share[rows, columns], shade[rows, columns] = pot.share[part], pot.shade[part]
    return Rendered(colours, share, shade)


def _shade(shape: Mask) -> Floats:
    """How much light the ground gets around a plant's foot."""
    rows, _ = box_of(shape)
    tall = rows.stop - rows.start
    low = shape.copy()
    low[: rows.stop - max(round(BASE * tall), 2)] = False
    _, columns = box_of(low)
    under = np.zeros(shape.shape, np.float32)
    middle = (columns.start + columns.stop) // 2, rows.stop - 1
    axes = max(round(0.52 * (columns.stop - columns.start)), 1), max(round(0.045 * tall), 1)
    cv2.ellipse(under, middle, axes, 0, 0, 360, 1.0, -1)
    dark = [depth * cv2.GaussianBlur(under, (0, 0), max(far * tall, 1.2)) for far, depth in SHADES]
    return floats(1 - np.clip(sum(dark), 0, 0.85))
