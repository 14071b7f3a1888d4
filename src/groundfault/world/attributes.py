"""Counterfactual attributes in six directions: a value that nobody has met on such a thing."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from groundfault.errors import UsageError
from groundfault.world.forms import between
from groundfault.world.interventions import Intervention
from groundfault.world.objects import DRAWN
from groundfault.world.phrases import concept
from groundfault.world.sampling import (
    WorldSettings,
    box_of,
    draw_category,
    draw_look,
    empty_scene,
    perspective,
    place,
    settle,
)
from groundfault.world.scene import Look, Scene, Thing
from groundfault.world.surfaces import SURFACES
from groundfault.world.usual import DIRECTIONS, USUAL, VALUES, Usual

__all__ = ["SURPRISES", "draw_attribute", "plural_name"]

TINTED = ("night city", "reef")
"""Contexts whose light is coloured, and hides what a thing looks like."""
SNOWY = "snow"
MOST_BYSTANDERS = 3
SMALLEST = 0.34
"""Size of a small thing, so that its look can be seen."""


def _surprises(direction: str) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name, value)
        for name, usual in USUAL[direction].items()
        for value in VALUES[direction]
        if value not in (usual.value, *usual.also)
    )


SURPRISES: dict[str, tuple[tuple[str, str], ...]] = {each: _surprises(each) for each in DIRECTIONS}
"""What can be changed: direction → (category, value) that nobody has met together."""


def draw_attribute(
    rng: np.random.Generator, settings: WorldSettings, direction: str = ""
) -> Intervention:
    """A thing with a value that its kind never has, in a direction ("" draws one)."""
    direction = direction or _one(rng, DIRECTIONS)
    names = tuple(USUAL[direction])
    category = _one(rng, names)
    values = tuple(value for name, value in SURPRISES[direction] if name == category)
    usual, shown = USUAL[direction][category], _one(rng, values)
    scene = empty_scene(rng, _context(rng, category, shown, settings), settings.size_px)
    target = _target(rng, scene, category, shown, _expected(direction, usual))
    things = _company(rng, scene, target, settings)
    factual = msgspec.structs.replace(scene, things=settle(things))
    changed, extra = _changed(rng, target, direction, shown)
    edited = [changed if thing is target else thing for thing in things]
    counterfactual = msgspec.structs.replace(scene, things=_painted(edited, changed, extra))
    return Intervention(
        kind="attribute",
        factual=factual,
        counterfactual=counterfactual,
        before=factual.things.index(target),
        after=counterfactual.things.index(changed),
        positive=f"{shown} {concept(target)}",
        negative=f"{usual.value} {concept(target)}",
        facts={
            "attribute": direction,
            "usual": usual.value,
            "shown": shown,
            "object": concept(target),
        },
    )


def _one(rng: np.random.Generator, choices: tuple[str, ...]) -> str:
    return choices[int(rng.integers(len(choices)))]


def plural_name(category: str) -> str:
    return DRAWN[category].plural or f"{DRAWN[category].noun or category}s"


def _context(rng: np.random.Generator, category: str, shown: str, settings: WorldSettings) -> str:
    contexts = tuple(
        name
        for name in DRAWN[category].contexts
        if name not in TINTED
        and name in (settings.contexts or (name,))
        and not (shown == "covered in snow" and name == SNOWY)
    )
    if not contexts:
        raise UsageError(f"a {category} has no place where this can be seen")
    return _one(rng, contexts)


def _expected(direction: str, usual: Usual) -> str:
    return usual.value if direction == "colour" else ""


def _target(
    rng: np.random.Generator, scene: Scene, category: str, shown: str, colour: str
) -> Thing:
    """The thing as people expect it, large enough to be looked at."""
    entry = DRAWN[category]
    y = between(rng, max(0.78, scene.horizon + 0.25), 0.93)
    scale = max(SMALLEST, entry.size) * perspective(scene.horizon, y) * between(rng, 1.0, 1.2)
    own = entry.surface if entry.surface in SURFACES else ""
    thing = Thing(
        category=category,
        seed=int(rng.integers(1 << 31)),
        x=0.5,
        y=y,
        scale=scale,
        flip=bool(rng.random() < 0.5),
        lift=between(rng, 0.1, 0.2) if entry.flies else 0.0,
        look=Look(
            seed=int(rng.integers(1 << 31)),
            colour=colour or _one(rng, _strong(entry.colours, shown)),
            surface=own,
        ),
    )
    left, top, right, _ = box_of(thing)
    room = (0.5 - left + 0.03, 1.0 - (right - 0.5) - 0.03)
    if room[0] >= room[1] or top < 0.06:
        raise UsageError(f"the {category} finds no room")
    return msgspec.structs.replace(thing, x=between(rng, *room))


def _strong(colours: tuple[str, ...], shown: str) -> tuple[str, ...]:
    """Colours on which the new look is seen, as far as a category has any."""
    faint = ("brown", "tan", "orange") if shown == "wood" else ("white", "tan", "grey")
    return tuple(name for name in colours if name not in faint) or colours


def _company(
    rng: np.random.Generator, scene: Scene, target: Thing, settings: WorldSettings
) -> list[Thing]:
    """The target and a few things of other kinds that do not touch it."""
    things = [target]
    plain = msgspec.structs.replace(settings, material_share=0.0)
    for _ in range(int(rng.integers(1, MOST_BYSTANDERS + 1))):
        category = draw_category(rng, scene.place.context, settings)
        if any(thing.category == category for thing in things):
            continue
        found = place(rng, scene, category, things, draw_look(rng, category, plain), overlap=0.0)
        if found is not None:
            things.append(found)
    return things


def _changed(
    rng: np.random.Generator, thing: Thing, direction: str, shown: str
) -> tuple[Thing, tuple[Thing, ...]]:
    """The thing with the new value, and what comes along (flames, behind and in front)."""
    if direction == "shape":
        return msgspec.structs.replace(thing, shape=shown), ()
    if shown == "on fire":
        return thing, _fire(rng, thing)
    changes: dict[str, dict[str, Any]] = {
        "colour": {"colour": shown, "surface": ""},
        "material": {"material": shown, "seed": int(rng.integers(1 << 31))},
        "pattern": {"pattern": shown, "surface": ""},
        "state": {"coat": shown},
        "finish": {"finish": shown},
    }
    look = msgspec.structs.replace(thing.look, **changes[direction])
    return msgspec.structs.replace(thing, over=look, dose=1.0), ()


def _fire(rng: np.random.Generator, thing: Thing) -> tuple[Thing, Thing]:
    """Flames behind a thing that rise above it, and smaller ones before it."""
    left, top, right, bottom = box_of(thing)
    wide, tall = right - left, bottom - top

    def flames(scale: float, y: float) -> Thing:
        return Thing(
            category="flames",
            seed=int(rng.integers(1 << 31)),
            x=(left + right) / 2,
            y=y,
            scale=scale,
            shadow=0.0,
            look=Look(colour="orange"),
        )

    behind = flames(max(1.25 * wide, 1.22 * tall), bottom - 0.01)
    return behind, flames(max(0.07, 0.45 * tall), bottom + 0.02)


def _painted(things: list[Thing], target: Thing, extra: tuple[Thing, ...]) -> tuple[Thing, ...]:
    order = list(settle(things))
    if extra:
        at = order.index(target)
        order[at : at + 1] = [extra[0], target, *extra[1:]]
    return tuple(order)
