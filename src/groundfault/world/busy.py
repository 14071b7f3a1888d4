"""Alterations among many things: scenes with 16 to 30 small things, and one change to be found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from groundfault.errors import UsageError
from groundfault.io.colours import VISIBLE, colour_difference
from groundfault.world import interventions as edits
from groundfault.world.forms import between
from groundfault.world.interventions import Intervention
from groundfault.world.objects import CATEGORIES
from groundfault.world.sampling import (
    WorldSettings,
    box_of,
    draw_look,
    empty_scene,
    new_thing,
    settle,
)
from groundfault.world.scene import Look, Scene, Thing

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FEWEST", "MOST", "busy_scene", "difficulty", "draw_alteration"]

FEWEST, MOST = 16, 30
"""Things in a scene, in both pictures."""
INDOORS = ("kitchen", "library")
OUTDOORS = ("meadow", "desert", "beach", "street", "snow")
SMALL = 0.44
"""How large a thing is, compared with one that stands alone."""
GAP = 0.006
"""Between the boxes of things, as a share of the picture's side."""
CLEAR = 0.03
"""Share of the picture's side that the altered thing is away from the border of its part."""
FAR = 0.2
"""How far to the left or right a thing is moved, at least."""
TALL = 0.2
"""Nothing is taller than this share of the picture."""


def busy_scene(rng: np.random.Generator, settings: WorldSettings) -> Scene:
    """A place full of things that stand apart."""
    allowed = settings.contexts or (*INDOORS, *OUTDOORS)
    contexts = tuple(name for name in allowed if name in (*INDOORS, *OUTDOORS))
    scene = empty_scene(rng, contexts[int(rng.integers(len(contexts)))], settings.size_px)
    scene = msgspec.structs.replace(scene, horizon=between(rng, 0.24, 0.32))
    wanted = int(rng.integers(FEWEST + 1, MOST))
    things: list[Thing] = []
    for _ in range(wanted * 12):
        found = _put(rng, scene, things, settings)
        if found is not None:
            things.append(found)
        if len(things) == wanted:
            return msgspec.structs.replace(scene, things=settle(things))
    raise UsageError(f"{wanted} things find no room")


def _fitting(scene: Scene) -> list[str]:
    """Categories of the same kind of place that stand on the ground."""
    group = INDOORS if scene.place.context in INDOORS else OUTDOORS
    return [
        name
        for name, entry in CATEGORIES.items()
        if {*entry.contexts} & {*group} and not entry.flies and not entry.swims
    ]


def _put(
    rng: np.random.Generator,
    scene: Scene,
    others: list[Thing],
    settings: WorldSettings,
    category: str = "",
) -> Thing | None:
    """A small thing in a free place, or None."""
    names = _fitting(scene)
    category = category or names[int(rng.integers(len(names)))]
    y = scene.horizon + (0.97 - scene.horizon) * between(rng, 0.16, 1.0)
    plain = msgspec.structs.replace(settings, material_share=0.0, surface_correlation=1.0)
    thing = new_thing(rng, scene, category, 0.5, y, draw_look(rng, category, plain))
    thing = _small(msgspec.structs.replace(thing, x=between(rng, 0.05, 0.95)))
    return thing if _is_free(thing, others) else None


def _small(thing: Thing) -> Thing:
    thing = msgspec.structs.replace(thing, scale=max(0.10, thing.scale * SMALL))
    _, top, _, bottom = box_of(thing)
    return msgspec.structs.replace(thing, scale=thing.scale * min(1.0, TALL / (bottom - top)))


def _is_free(thing: Thing, others: list[Thing]) -> bool:
    left, top, right, bottom = box_of(thing)
    if left < 0.01 or right > 0.99 or top < 0.01:
        return False
    boxes = [box_of(other) for other in others]
    return all(
        right + GAP < a or left - GAP > c or bottom + GAP < b or top - GAP > d
        for a, b, c, d in boxes
    )


def draw_alteration(rng: np.random.Generator, kind: str, settings: WorldSettings) -> Intervention:
    """One thing moved, removed, added or replaced among many; it is the only one of its kind."""
    scene = busy_scene(rng, settings)
    if kind == "add":
        return _addition(rng, scene, settings)
    target = _lonely(rng, scene)
    thing = scene.things[target]
    _check_clear(thing)
    if kind == "remove":
        return edits.remove(scene, target)
    if kind == "move":
        return _movement(rng, scene, target)
    if kind == "replace":
        return _exchange(rng, scene, target)
    raise UsageError(f"'{kind}' is no alteration")


def _lonely(rng: np.random.Generator, scene: Scene) -> int:
    names = [thing.category for thing in scene.things]
    alone = [number for number, name in enumerate(names) if names.count(name) == 1]
    if not alone:
        raise UsageError("no thing is the only one of its kind")
    return alone[int(rng.integers(len(alone)))]


def _absent(rng: np.random.Generator, scene: Scene) -> str:
    present = {thing.category for thing in scene.things}
    names = [name for name in _fitting(scene) if name not in present]
    if not names:
        raise UsageError("the scene has one of everything")
    return names[int(rng.integers(len(names)))]


def _addition(rng: np.random.Generator, scene: Scene, settings: WorldSettings) -> Intervention:
    category = _absent(rng, scene)
    for _ in range(60):
        thing = _put(rng, scene, list(scene.things), settings, category)
        if thing is not None:
            _check_clear(thing)
            return edits.add(scene, thing)
    raise UsageError("no room for another thing")


def _movement(rng: np.random.Generator, scene: Scene, target: int) -> Intervention:
    thing = scene.things[target]
    others = [other for number, other in enumerate(scene.things) if number != target]
    for _ in range(80):
        x = between(rng, 0.05, 0.95)
        y = scene.horizon + (0.97 - scene.horizon) * between(rng, 0.16, 1.0)
        if abs(x - thing.x) < FAR:
            continue
        case = edits.move(scene, target, x, y)
        moved = case.counterfactual.things[case.after]
        if _is_free(moved, others):
            _check_clear(moved)
            return case
    raise UsageError("no other place far enough away")


def _exchange(rng: np.random.Generator, scene: Scene, target: int) -> Intervention:
    """Another kind of thing in the place of one, about as large."""
    thing, category = scene.things[target], _absent(rng, scene)
    others = [other for number, other in enumerate(scene.things) if number != target]
    seed = int(rng.integers(1, 1 << 31))
    after = Thing(
        category=category,
        seed=seed,
        x=thing.x,
        y=thing.y,
        scale=thing.scale,
        flip=thing.flip,
        look=Look(seed=seed, surface=CATEGORIES[category].surface),
    )
    _, top, _, bottom = box_of(after)
    tall = box_of(thing)[3] - box_of(thing)[1]
    after = msgspec.structs.replace(after, scale=after.scale * tall / (bottom - top))
    if not _is_free(after, others):
        raise UsageError("the new thing finds no room")
    return edits.exchange(scene, target, after)


def _check_clear(thing: Thing) -> None:
    """Refuse a thing of which one may doubt in which part of the picture it is."""
    left, top, right, bottom = box_of(thing)
    x, y = (left + right) / 2, (top + bottom) / 2
    if min(abs(x - 1 / 3), abs(x - 2 / 3), abs(y - 0.5)) < CLEAR:
        raise UsageError(f"the {thing.category} stands between two parts of the picture")


def difficulty(before: NDArray[np.uint8], after: NDArray[np.uint8], things: int) -> dict[str, str]:
    """How hard a change is to find, measured on the pictures.

    The number of things to compare, over how far the change stands out: the median ΔE of its pixels
    (those with a ΔE of at least 5) times the square root of their share of the picture.
    """
    away = colour_difference(before, after)
    changed = away >= VISIBLE
    share = float(changed.mean())
    contrast = float(np.median(away[changed])) if changed.any() else 0.0
    if not contrast:
        raise UsageError("nobody could see this change")
    return {
        "things": str(things),
        "changed_share": f"{share:.4f}",
        "contrast": f"{contrast:.1f}",
        "difficulty": f"{things / (contrast * share**0.5):.2f}",
    }
