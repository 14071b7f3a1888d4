"""Scenes from a seed.

A scene is a pure function of (seed, index, settings): any number of workers, in any order,
make the same world. The two correlations say how strongly things are where and as one expects
them; with 1 the world is as biased as can be, with 0 it has no habits at all.
"""

from __future__ import annotations

from functools import cache
from typing import TypeVar

import msgspec
import numpy as np

from groundfault.errors import UsageError
from groundfault.world.contexts import CONTEXTS
from groundfault.world.forms import Part, between
from groundfault.world.materials import MATERIALS
from groundfault.world.objects import CATEGORIES, DRAWN, Category
from groundfault.world.relations import PAIRS, attach
from groundfault.world.relief import Light
from groundfault.world.scene import Look, Place, Scene, Thing
from groundfault.world.surfaces import SURFACES

__all__ = [
    "DEFAULTS",
    "WorldSettings",
    "box_of",
    "crowd_scene",
    "draw_category",
    "draw_look",
    "empty_scene",
    "extent",
    "generator",
    "hidden_share",
    "new_thing",
    "perspective",
    "place",
    "sample_scene",
    "settle",
]


T = TypeVar("T")


class WorldSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The knobs of a world."""

    size_px: int = 384
    things: tuple[int, int] = (2, 4)
    """Fewest and most things in a scene, without those that come along in relations."""
    surface_correlation: float = 1.0
    """Share of things that wear what their category wears; the others draw from all surfaces."""
    context_correlation: float = 1.0
    """Share of things that belong where they are; the others draw from all categories."""
    material_share: float = 0.0
    """Share of things that are sculptures."""
    zoom: tuple[float, float] = (1.0, 1.0)
    """How large things are drawn, at least and at most: below 1 the view is a wider one."""
    relation_share: float = 0.35
    """Share of scenes with two things in a relation: a mug on a table."""
    categories: tuple[str, ...] = ()
    """Draw from these only; () is all."""
    contexts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in (
            "surface_correlation",
            "context_correlation",
            "material_share",
            "relation_share",
        ):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise UsageError(f"{name} is {getattr(self, name)}; it goes from 0 to 1")
        if not 0.1 <= self.zoom[0] <= self.zoom[1] <= 2.0:
            raise UsageError(f"zoom is {self.zoom}; it goes from 0.1 to 2")
        if not 64 <= self.size_px <= 4096:
            raise UsageError(f"size_px is {self.size_px}; pictures go from 64 to 4096 pixels")
        if not 1 <= self.things[0] <= self.things[1] <= 12:
            raise UsageError(f"things is {self.things}; a scene holds 1 to 12 of them")


DEFAULTS = WorldSettings()


def generator(seed: int, index: int, *purpose: int) -> np.random.Generator:
    """The randomness of one scene (for one purpose), whatever was drawn before it."""
    return np.random.default_rng(np.random.SeedSequence((seed, index, *purpose)))


def sample_scene(seed: int, index: int, settings: WorldSettings = DEFAULTS) -> Scene:
    """One scene of a world."""
    rng = generator(seed, index)
    scene = empty_scene(rng, _pick(rng, settings.contexts or tuple(CONTEXTS)), settings.size_px)
    count = int(rng.integers(settings.things[0], settings.things[1] + 1))
    low, high = settings.zoom
    if (low, high) != (1.0, 1.0):
        zoom = low * (high / low) ** float(rng.random())
        scene = msgspec.structs.replace(scene, zoom=zoom)
    things: list[Thing] = []
    if rng.random() < settings.relation_share:
        things = _related(rng, scene, settings)
    for _ in range(count - min(len(things), count - 1)):
        category = draw_category(rng, scene.place.context, settings)
        look = draw_look(rng, category, settings)
        placed = place(rng, scene, category, things, look)
        if placed is not None:
            things.append(placed)
    return msgspec.structs.replace(scene, things=settle(things))


def empty_scene(rng: np.random.Generator, context: str, size_px: int) -> Scene:
    """A place in its own light, with nothing in it yet."""
    backdrop = CONTEXTS[context]
    side = -1.0 if rng.random() < 0.5 else 1.0
    return Scene(
        place=Place(context, int(rng.integers(1 << 31))),
        light=Light(azimuth=side * between(rng, 0.25, 0.8), key=backdrop.key, fill=backdrop.fill),
        horizon=between(rng, 0.44, 0.56),
        size_px=size_px,
    )


def _pick(rng: np.random.Generator, choices: tuple[T, ...]) -> T:
    return choices[int(rng.integers(len(choices)))]


def draw_category(rng: np.random.Generator, context: str, settings: WorldSettings) -> str:
    """A category, by habit one that belongs here."""
    allowed = settings.categories or tuple(CATEGORIES)
    at_home = tuple(name for name in allowed if context in CATEGORIES[name].contexts)
    if at_home and rng.random() < settings.context_correlation:
        return _pick(rng, at_home)
    return _pick(rng, allowed)


def draw_look(rng: np.random.Generator, category: str, settings: WorldSettings) -> Look:
    """A look, by habit the category's own."""
    seed, own = int(rng.integers(1 << 31)), CATEGORIES[category].surface
    usual, substance = (
        rng.random() < settings.surface_correlation,
        rng.random() < settings.material_share,
    )
    other, material = _pick(rng, ("", *SURFACES)), _pick(rng, tuple(MATERIALS))
    return Look(seed=seed, surface=own if usual else other, material=material if substance else "")


def perspective(horizon: float, y: float) -> float:
    """How large things appear whose feet are at y: 1 at the bottom edge."""
    return 0.46 + 0.54 * max(0.0, min(1.0, (y - horizon) / (1.0 - horizon)))


@cache
def extent(category: str) -> tuple[float, float, float, float]:
    """A category's box in form units: left, top, right, bottom."""
    form = DRAWN[category].draw(np.random.default_rng(0), (0.5, 0.5, 0.5))
    boxes = [piece.path.getBounds() for piece in form.pieces if isinstance(piece, Part)]
    return (
        min(box.left() for box in boxes),
        min(box.top() for box in boxes),
        max(box.right() for box in boxes),
        max(box.bottom() for box in boxes),
    )


def box_of(thing: Thing) -> tuple[float, float, float, float]:
    """About where a thing is in the picture: left, top, right, bottom as shares of its side."""
    left, top, right, bottom = extent(thing.category)
    unit = thing.scale / 2
    if thing.flip:
        left, right = -right, -left
    foot = thing.y - thing.lift - unit
    return thing.x + left * unit, foot + top * unit, thing.x + right * unit, foot + bottom * unit


def hidden_share(behind: Thing, front: Thing) -> float:
    """Share of the box of `behind` that the box of `front` covers."""
    a, b = box_of(behind), box_of(front)
    wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    return max(0.0, wide) * max(0.0, high) / ((a[2] - a[0]) * (a[3] - a[1]))


def new_thing(
    rng: np.random.Generator, scene: Scene, category: str, x: float, y: float, look: Look
) -> Thing:
    """A thing that stands (or hangs) at a place, as large as it is there."""
    entry = CATEGORIES[category]
    lift = 0.0
    if entry.flies or entry.swims:
        lift = between(rng, 0.16, 0.42) if entry.flies else between(rng, 0.08, 0.26)
    return Thing(
        category=category,
        seed=int(rng.integers(1 << 31)),
        x=x,
        y=y,
        scale=entry.size * scene.zoom * perspective(scene.horizon, y) * between(rng, 0.92, 1.1),
        flip=bool(rng.random() < 0.5),
        turn=between(rng, -6, 6) if lift else _lean(rng, entry),
        lift=lift,
        look=look,
    )


def _lean(rng: np.random.Generator, entry: Category) -> float:
    """Round things roll a little; what has legs stands straight."""
    return between(rng, -9, 9) if entry.shape == "round" else 0.0


def place(
    rng: np.random.Generator,
    scene: Scene,
    category: str,
    others: list[Thing],
    look: Look,
    *,
    overlap: float = 0.18,
    attempts: int = 40,
) -> Thing | None:
    """A thing in a free place; None where there is no room."""
    for _ in range(attempts):
        y = scene.horizon + (0.97 - scene.horizon) * between(rng, 0.22, 1.0)
        thing = new_thing(rng, scene, category, 0.5, y, look)
        left, top, right, _ = box_of(thing)
        room = (0.5 - left + 0.012, 1.0 - (right - 0.5) - 0.012)
        if room[0] >= room[1] or top < 0.01:
            continue
        thing = msgspec.structs.replace(thing, x=between(rng, *room))
        if all(
            hidden_share(thing, other) <= overlap and hidden_share(other, thing) <= overlap
            for other in others
        ):
            return thing
    return None


def _related(rng: np.random.Generator, scene: Scene, settings: WorldSettings) -> list[Thing]:
    """Two things that go together here, the anchor first; none where no pair fits."""
    allowed = settings.categories or tuple(CATEGORIES)
    context = scene.place.context
    fitting = tuple(
        pair
        for pair in PAIRS
        if pair.thing in allowed
        and pair.anchor in allowed
        and context in CATEGORIES[pair.anchor].contexts
        and (pair.relation != "beside" or context in CATEGORIES[pair.thing].contexts)
    )
    if not fitting:
        return []
    pair = _pick(rng, fitting)
    anchor = place(rng, scene, pair.anchor, [], draw_look(rng, pair.anchor, settings))
    if anchor is None:
        return []
    partner = attach(rng, anchor, 0, pair, draw_look(rng, pair.thing, settings))
    left, top, right, _ = box_of(partner)
    return [anchor, partner] if left > 0 and right < 1 and top > 0 else [anchor]


def settle(things: list[Thing]) -> tuple[Thing, ...]:
    """Things in painting order, furthest first; what is on or worn by another right after it."""

    def depth(index: int) -> tuple[float, int]:
        thing = things[index]
        if thing.partner >= 0:
            anchor = things[thing.partner]
            return (anchor.y, -1 if thing.relation == "under" else 1)
        return (thing.y, 0)

    order = sorted(range(len(things)), key=lambda index: (*depth(index), index))
    where = {old: new for new, old in enumerate(order)}
    return tuple(
        msgspec.structs.replace(things[old], partner=where[things[old].partner])
        if things[old].partner >= 0
        else things[old]
        for old in order
    )


def crowd_scene(
    seed: int,
    index: int,
    category: str,
    count: int,
    settings: WorldSettings = DEFAULTS,
    *,
    context: str = "",
) -> Scene:
    """A scene with `count` things of one category and nothing else, none hidden: for counting."""
    if not 1 <= count <= 60:
        raise UsageError(f"{count} things asked for; a crowd has 1 to 60")
    rng = generator(seed, index, 1)
    scene = empty_scene(rng, context or _pick(rng, CATEGORIES[category].contexts), settings.size_px)
    scene = msgspec.structs.replace(scene, horizon=between(rng, 0.22, 0.30))
    left, top, right, bottom = extent(category)
    wide, high = (right - left) / 2, (bottom - top) / 2  # of a thing of scale 1
    floor = (scene.horizon + 0.07, 0.97)
    # As many columns as make the cells about as slender as the things.
    columns = max(
        1, min(count, round((count * high / wide * 0.92 / (floor[1] - floor[0] + 0.1)) ** 0.5))
    )
    rows = -(-count // columns)
    depth = (floor[1] - floor[0]) / rows
    cells = rng.permutation(rows * columns)[:count] if rows * columns > count else np.arange(count)
    things = []
    for cell in sorted(int(cell) for cell in cells):
        row, column = divmod(cell, columns)
        shift = 0.14 if row % 2 else -0.14
        y = floor[0] + depth * (row + 1 - between(rng, 0.0, 0.24))
        x = 0.03 + 0.94 * (column + 0.5 + shift + between(rng, -0.14, 0.14)) / columns
        fit = min(0.94 / columns / wide * 0.82, max(depth, 0.05) / high * 0.92)
        scale = min(fit, CATEGORIES[category].size * 1.1) * between(rng, 0.78, 1.0)
        look = draw_look(rng, category, settings)
        thing = new_thing(rng, scene, category, x, y, look)
        half = wide * scale / 2 + 0.01
        x = min(1 - half, max(half, x))
        middle = x - (left + right) / 2 * scale / 2 * (-1 if thing.flip else 1)
        things.append(msgspec.structs.replace(thing, x=middle, scale=scale, lift=0.0, turn=0.0))
    return msgspec.structs.replace(scene, things=settle(things))
