"""Things that go together: where the second stands when the first is there."""

from __future__ import annotations

import msgspec
import numpy as np

from groundfault.errors import UsageError
from groundfault.world.forms import between
from groundfault.world.objects import CATEGORIES
from groundfault.world.render import form_of
from groundfault.world.scene import Look, Thing

__all__ = ["PAIRS", "Pair", "attach"]


class Pair(msgspec.Struct, frozen=True):
    """A habit of the world: a thing, its relation, the anchor that stays when it is erased."""

    thing: str
    relation: str
    anchor: str


PAIRS: tuple[Pair, ...] = (
    *(
        Pair(name, "on", "table")
        for name in ("mug", "teapot", "vase", "lamp", "book", "apple", "pineapple", "cat")
    ),
    *(Pair(name, "under", "table") for name in ("cat", "suitcase", "soccer ball", "dog")),
    *(Pair(name, "on", "chair") for name in ("book", "cat", "hat")),
    Pair("mug", "on", "book"),
    Pair("apple", "on", "book"),
    Pair("hat", "on", "suitcase"),
    Pair("cat", "on", "suitcase"),
    *(
        Pair("hat", "worn by", name)
        for name in ("dog", "cat", "cow", "penguin", "camel", "elephant", "polar bear", "duck")
    ),
    Pair("chair", "beside", "table"),
    Pair("teapot", "beside", "mug"),
    Pair("banana", "beside", "pineapple"),
    Pair("strawberry", "beside", "teapot"),
    Pair("suitcase", "beside", "car"),
    Pair("tree", "beside", "car"),
    Pair("soccer ball", "beside", "dog"),
    Pair("duck", "beside", "cow"),
    Pair("cactus", "beside", "camel"),
    Pair("snake", "beside", "cactus"),
    Pair("umbrella", "beside", "turtle"),
    Pair("sailboat", "beside", "umbrella"),
    Pair("turtle", "beside", "fish"),
)


def attach(rng: np.random.Generator, anchor: Thing, index: int, pair: Pair, look: Look) -> Thing:
    """The thing of a pair, placed in its relation to the anchor, which is things[index]."""
    form, side, unit = form_of(anchor), -1 if anchor.flip else 1, anchor.scale / 2
    ground = anchor.y - anchor.lift
    entry = CATEGORIES[pair.thing]
    # As large as the thing would be at the anchor's distance.
    scale = entry.size * anchor.scale / CATEGORIES[anchor.category].size
    thing = Thing(
        category=pair.thing,
        seed=int(rng.integers(1 << 31)),
        x=anchor.x,
        y=anchor.y,
        scale=scale,
        flip=bool(rng.random() < 0.5),
        look=look,
        relation=pair.relation,
        partner=index,
    )
    if pair.relation == "on":
        x, y, half = form.top
        if not half:
            raise UsageError(f"nothing can stand on a {anchor.category}")
        scale = min(scale * 0.86, 2.2 * half * unit)
        x = (
            anchor.x
            + side * (x + between(rng, -0.55, 0.55) * max(0.0, half - scale / unit / 4)) * unit
        )
        return msgspec.structs.replace(thing, x=x, y=ground - (1 - y) * unit, scale=scale)
    if pair.relation == "worn by":
        if form.head is None:
            raise UsageError(f"a {anchor.category} wears nothing on its head")
        x, y, half = form.head
        scale = 2.5 * half * unit
        return msgspec.structs.replace(
            thing,
            x=anchor.x + side * x * unit,
            y=ground - (1 - y) * unit + 0.10 * scale,
            scale=scale,
            flip=anchor.flip,
            turn=between(rng, -8, 8),
            shadow=0.0,
        )
    if pair.relation == "under":
        scale = min(scale, anchor.scale * 0.40)
        return msgspec.structs.replace(
            thing,
            x=anchor.x + between(rng, -0.35, 0.35) * unit,
            y=anchor.y - 0.05 * anchor.scale,
            scale=scale,
        )
    if pair.relation == "beside":
        away = (1.04 * unit + 0.80 * scale / 2) * (1 if rng.random() < 0.5 else -1)
        if not 0.1 < anchor.x + away < 0.9:
            away = -away
        lift = between(rng, 0.06, 0.12) if entry.flies or entry.swims else 0.0
        return msgspec.structs.replace(
            thing, x=anchor.x + away, y=anchor.y - between(rng, 0.0, 0.02), lift=lift
        )
    raise UsageError(f"unknown relation '{pair.relation}'")
