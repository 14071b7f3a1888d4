"""Object replacements from a seed, by HalluSegBench's rules (see `replacements`).

First it is decided what replaces what, where and how large, evenly over the categories; then a
scene is made around it, at the distance that this size asks for.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import msgspec
import numpy as np

from groundfault.errors import UsageError
from groundfault.world import interventions as edits
from groundfault.world.contexts import CONTEXTS, PAINTED
from groundfault.world.forms import between
from groundfault.world.interventions import Intervention
from groundfault.world.objects import CATEGORIES
from groundfault.world.replacements import (
    LEAST_OVERLAP,
    area_share,
    fitted,
    may_replace,
    overlap,
    size_class,
)
from groundfault.world.sampling import (
    WorldSettings,
    box_of,
    draw_category,
    draw_look,
    empty_scene,
    generator,
    new_thing,
    perspective,
    place,
    settle,
)
from groundfault.world.scene import Look, Scene, Thing
from groundfault.world.splits import split_pair
from groundfault.world.wordings import reasoning_wordings

__all__ = ["SIZE_SHARES", "sample_replacement"]

SIZE_SHARES = {"S": 0.25, "M": 0.5, "L": 0.25}
"""How often the target is small, medium, large by COCO's limits."""
WITHIN = {"S": (0.0020, 0.0064), "M": (0.0078, 0.056), "L": (0.068, 0.17)}
"""Shares of the picture from which the target's size is drawn: well inside the limits, since the
same category comes leaner and fatter."""
MOST_ZOOM = 1.7
MOST_HIDDEN = 0.06
"""How much of the target's box that of another thing may cover."""
PROMISING = 0.46
"""Outlines of two categories that overlap less at a first try are not tried again."""


class Exchange(NamedTuple):
    """What is replaced by what, and where."""

    context: str
    old: str
    new: str


@cache
def _exchanges(categories: tuple[str, ...], contexts: tuple[str, ...]) -> list[list[Exchange]]:
    """All that the rules allow, those of each category together."""
    found = [
        [
            Exchange(context, old, new)
            for context in contexts
            if context in CATEGORIES[old].contexts and old not in PAINTED.get(context, ())
            for new in categories
            if may_replace(old, new, context)
        ]
        for old in categories
    ]
    return [some for some in found if some]


def sample_replacement(
    seed: int, index: int, attempt: int, settings: WorldSettings, split: str = ""
) -> Intervention:
    """One try; a UsageError says why it makes no valid case.

    A try does not depend on the split: one that is of another is passed over.
    """
    size = _drawn_size(generator(seed, index, 3))
    rng = generator(seed, index, 9, attempt)
    exchange = _drawn_exchange(rng, settings)
    if split and split_pair(*sorted((exchange.old, exchange.new))) != split:
        raise UsageError(f"not of the split {split}")
    if not _promising(exchange.old, exchange.new):
        raise UsageError(f"a {exchange.new} has not the shape of a {exchange.old}")
    scene, target = _scene_around(rng, exchange, size, settings)
    wording = int(rng.integers(len(reasoning_wordings(exchange.old))))
    case = edits.replace(
        scene, target, exchange.new, seed=int(rng.integers(1, 1 << 31)), wording=wording
    )
    _check(case, size)
    return case


def _drawn_size(rng: np.random.Generator) -> str:
    return str(rng.choice(list(SIZE_SHARES), p=list(SIZE_SHARES.values())))


def _drawn_exchange(rng: np.random.Generator, settings: WorldSettings) -> Exchange:
    groups = _exchanges(
        settings.categories or tuple(CATEGORIES), settings.contexts or tuple(CONTEXTS)
    )
    if not groups:
        raise UsageError("nothing can replace anything among these categories and contexts")
    group = groups[int(rng.integers(len(groups)))]
    return group[int(rng.integers(len(group)))]


@cache
def _promising(old: str, new: str) -> bool:
    thing = Thing(category=old, seed=1, x=0.5, y=0.9, scale=0.4)
    return overlap(thing, fitted(thing, new, 2)) >= PROMISING


def _scene_around(
    rng: np.random.Generator, exchange: Exchange, size: str, settings: WorldSettings
) -> tuple[Scene, int]:
    """A scene with the thing to be replaced in it, and others of its place around it."""
    scene = empty_scene(rng, exchange.context, settings.size_px)
    thing = _placed(rng, scene, exchange.old, size)
    entry, growth = CATEGORIES[exchange.old], perspective(scene.horizon, thing.y)
    zoom = thing.scale / (entry.size * growth)
    if zoom > MOST_ZOOM:
        raise UsageError(f"a {exchange.old} that large would be out of all proportion")
    scene = msgspec.structs.replace(scene, zoom=zoom)
    things = [thing]
    fewest, most = settings.things
    for _ in range(int(rng.integers(fewest, most + 1)) - 1):
        category = draw_category(rng, exchange.context, settings)
        look = draw_look(rng, category, settings)
        other = place(rng, scene, category, things, look, overlap=MOST_HIDDEN)
        if other is not None and category not in exchange:
            things.append(other)
    settled = settle(things)
    return msgspec.structs.replace(scene, things=settled), settled.index(thing)


def _placed(rng: np.random.Generator, scene: Scene, category: str, size: str) -> Thing:
    """The thing to be replaced, as large as wanted, wholly in the picture."""
    entry = CATEGORIES[category]
    y = scene.horizon + (0.97 - scene.horizon) * between(rng, 0.22, 1.0)
    look = Look(seed=int(rng.integers(1 << 31)), surface=entry.surface)
    thing = new_thing(rng, scene, category, 0.5, y, look)
    low, high = WITHIN[size]
    share = low * (high / low) ** float(rng.random())
    scale = thing.scale * (share / area_share(thing)) ** 0.5
    thing = msgspec.structs.replace(thing, scale=scale)
    left, top, right, _ = box_of(thing)
    room = (0.5 - left + 0.03, 1.0 - (right - 0.5) - 0.03)
    if room[0] >= room[1] or top < 0.02:
        raise UsageError(f"no room for a {category} that large")
    return msgspec.structs.replace(thing, x=between(rng, *room))


def _check(case: Intervention, size: str) -> None:
    """Refuse what overlaps too little, sticks out, or came out in another size."""
    old, new = case.factual.things[case.before], case.counterfactual.things[case.after]
    if size_class(area_share(old)) != size:
        raise UsageError(f"the target is not of the size {size}")
    if overlap(old, new) < LEAST_OVERLAP:
        raise UsageError(f"the {new.category} covers another place than the {old.category}")
    left, top, right, _ = box_of(new)
    if left < 0 or right > 1 or top < 0:
        raise UsageError("it would stick out of the picture")
