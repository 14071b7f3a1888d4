"""Interventions from a seed: a scene, a target and an edit that obey the papers' rules.

As with scenes, a case is a pure function of (kind, seed, index, settings, split).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import msgspec
import numpy as np

from groundfault.errors import UnknownName, UsageError
from groundfault.world import interventions as edits
from groundfault.world.belonging import surprising_contexts
from groundfault.world.contexts import CONTEXTS, PAINTED
from groundfault.world.forms import COLOURS, between
from groundfault.world.interventions import KINDS, Intervention
from groundfault.world.objects import CATEGORIES
from groundfault.world.phrases import concept, disputed
from groundfault.world.priors import draw_erasure
from groundfault.world.quads import sample_replacement
from groundfault.world.sampling import (
    DEFAULTS,
    WorldSettings,
    box_of,
    crowd_scene,
    draw_look,
    empty_scene,
    generator,
    place,
    sample_scene,
    settle,
)
from groundfault.world.scene import Scene, Thing
from groundfault.world.splits import SPLIT_KINDS, SPLITS, split_of
from groundfault.world.surfaces import SURFACES

__all__ = ["sample_clean_scene", "sample_intervention"]

ATTEMPTS = 400
"""Most draws fit at once; an attribute needs a category with a colour."""
QUICK_ATTEMPTS = 8000
"""Of a replacement, which knows its split before its scene is made."""


def sample_intervention(
    kind: str,
    seed: int,
    index: int,
    settings: WorldSettings = DEFAULTS,
    *,
    dose: float = 1.0,
    crowd: int = 0,
    split: str = "",
) -> Intervention:
    """One case of a kind (see `KINDS`), of a split (see `SPLITS`) if one is asked for.

    `crowd` puts that many untouched things of the target's category beside it and, for
    mimicry, one of the category that is mimicked: a question about the negative then has a
    true answer in the picture, and the edited thing is not in it.
    """
    if kind not in KINDS:
        raise UnknownName("intervention", kind, KINDS)
    if crowd and kind not in ("SM", "OC", "attribute"):
        raise UsageError(f"a crowd goes with SM, OC and attribute, not with {kind}")
    if split and split not in SPLITS:
        raise UnknownName("split", split, SPLITS)
    if split and kind not in SPLIT_KINDS:
        raise UsageError(f"splits are of {', '.join(SPLIT_KINDS)}; {kind} has none")
    rng = generator(seed, index, 2, KINDS.index(kind))
    for attempt in range(QUICK_ATTEMPTS if kind == "replacement" else ATTEMPTS):
        try:
            case = _draw(rng, kind, seed, index, attempt, settings, dose, crowd, split)
        except UsageError:  # this draw does not make a valid case: take the next
            continue
        if not split or split_of(case) == split:
            return case
    wanted = f"{kind} case of the split '{split}'" if split else f"{kind} case"
    remedy = "ask for a smaller crowd" if crowd else "allow more categories or contexts"
    raise UsageError(f"no {wanted} fits these settings; {remedy}")


def sample_clean_scene(seed: int, index: int, settings: WorldSettings = DEFAULTS) -> Scene:
    """A scene that nobody edits, with something in it that its backdrop does not show too."""
    for attempt in range(ATTEMPTS):
        with contextlib.suppress(UsageError):
            scene = _scene("no-op", settings, seed, index, attempt)
            painted = {*PAINTED.get(scene.place.context, ())} | disputed(scene)
            if any(concept(thing) not in painted for thing in scene.things):
                return scene
    raise UsageError("no scene fits these settings; allow more categories or contexts")


def _draw(
    rng: np.random.Generator,
    kind: str,
    seed: int,
    index: int,
    attempt: int,
    settings: WorldSettings,
    dose: float,
    crowd: int,
    split: str,
) -> Intervention:
    if kind == "counting":
        return _count(rng, seed, index, settings)
    if kind == "replacement":
        return sample_replacement(seed, index, attempt, settings, split)
    if kind == "erasure":
        return draw_erasure(rng, settings)
    if crowd:
        return _in_crowd(rng, kind, settings, dose, crowd)
    scene = _scene(kind, settings, seed, index, attempt)
    return DRAWS[kind](rng, scene, settings, dose)


def _scene(kind: str, settings: WorldSettings, seed: int, index: int, attempt: int) -> Scene:
    """The scene of an attempt: no two kinds, cases or attempts share one."""
    number = (index * ATTEMPTS + attempt) * len(KINDS) + KINDS.index(kind)
    scene = sample_scene(seed, number, settings)
    if not scene.things:
        raise UsageError("nothing found room")
    return scene


def _pick_target(rng: np.random.Generator, scene: Scene, *, alone: bool = True) -> int:
    """A thing of the real world, on its own feet; `alone`: the only one of its category."""
    names = [thing.category for thing in scene.things]
    fit = [
        number
        for number, thing in enumerate(scene.things)
        if not thing.look.material
        and not (alone and names.count(thing.category) > 1)
        and thing.partner < 0
        and not any(other.partner == number for other in scene.things)
    ]
    if not fit:
        raise UsageError("no thing of this scene can be the target")
    return fit[int(rng.integers(len(fit)))]


def _choice(rng: np.random.Generator, names: list[str]) -> str:
    if not names:
        raise UsageError("nothing to choose from")
    return names[int(rng.integers(len(names)))]


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(1, 1 << 31))


def _mimicry(
    rng: np.random.Generator, scene: Scene, settings: WorldSettings, dose: float
) -> Intervention:
    target = _pick_target(rng, scene)
    return edits.change_surface(
        scene, target, _choice(rng, list(SURFACES)), dose=dose, seed=_seed(rng)
    )


def _conflict(
    rng: np.random.Generator, scene: Scene, settings: WorldSettings, dose: float
) -> Intervention:
    target = _pick_target(rng, scene)
    strange = surprising_contexts(scene.things[target].category)
    contexts = [name for name in settings.contexts or CONTEXTS if name in strange]
    return edits.change_context(scene, target, _choice(rng, contexts), dose=dose, seed=_seed(rng))


def _substance(
    rng: np.random.Generator, scene: Scene, settings: WorldSettings, dose: float
) -> Intervention:
    target = _pick_target(rng, scene)
    material = _choice(rng, list(edits.materials_for(scene.things[target].category)))
    return edits.change_material(scene, target, material, dose=dose, seed=_seed(rng))


def _attribute(
    rng: np.random.Generator, scene: Scene, settings: WorldSettings, dose: float
) -> Intervention:
    target = _pick_target(rng, scene)
    return edits.change_attribute(
        scene, target, _choice(rng, list(COLOURS)), dose=dose, seed=_seed(rng)
    )


def _stand_in(rng: np.random.Generator, scene: Scene, target: int, settings: WorldSettings) -> str:
    """Another category to put in a thing's place: mostly one of its shape that belongs there."""
    entry = CATEGORIES[scene.things[target].category]
    allowed = [CATEGORIES[name] for name in settings.categories or CATEGORIES if name != entry.name]
    alike = [other.name for other in allowed if other.shape == entry.shape]
    at_home = [other.name for other in allowed if scene.place.context in other.contexts]
    return _choice(rng, alike if alike and rng.random() < 0.5 else at_home)


def _swap(
    rng: np.random.Generator, scene: Scene, settings: WorldSettings, dose: float
) -> Intervention:
    target = _pick_target(rng, scene)
    case = edits.swap(scene, target, _stand_in(rng, scene, target, settings), seed=_seed(rng))
    _check_inside(case.counterfactual.things[case.after])
    return case


def _check_inside(thing: Thing) -> None:
    left, top, right, _ = box_of(thing)
    if left < 0 or right > 1 or top < 0:
        raise UsageError("it would stick out of the picture")


def _removal(
    rng: np.random.Generator, scene: Scene, settings: WorldSettings, dose: float
) -> Intervention:
    return edits.remove(scene, _pick_target(rng, scene))


def _addition(
    rng: np.random.Generator, scene: Scene, settings: WorldSettings, dose: float
) -> Intervention:
    category = _choice(
        rng, [name for name in CATEGORIES if scene.place.context in CATEGORIES[name].contexts]
    )
    thing = place(rng, scene, category, list(scene.things), draw_look(rng, category, settings))
    if thing is None:
        raise UsageError("no room for another thing")
    return edits.add(scene, thing)


def _movement(
    rng: np.random.Generator, scene: Scene, settings: WorldSettings, dose: float
) -> Intervention:
    target = _pick_target(rng, scene)
    thing = scene.things[target]
    others = [other for number, other in enumerate(scene.things) if number != target]
    free = place(rng, scene, thing.category, others, thing.look)
    if free is None or abs(free.x - thing.x) < 0.2:
        raise UsageError("no other place far enough away")
    case = edits.move(scene, target, free.x, free.y)
    _check_inside(case.counterfactual.things[case.after])
    return case


def _nothing(
    rng: np.random.Generator, scene: Scene, settings: WorldSettings, dose: float
) -> Intervention:
    return edits.change_nothing(scene, _pick_target(rng, scene))


DRAWS: dict[str, Callable[[np.random.Generator, Scene, WorldSettings, float], Intervention]] = {
    "SM": _mimicry,
    "CC": _conflict,
    "OC": _substance,
    "attribute": _attribute,
    "move": _movement,
    "remove": _removal,
    "add": _addition,
    "replace": _swap,
    "no-op": _nothing,
}


def _count(
    rng: np.random.Generator, seed: int, index: int, settings: WorldSettings
) -> Intervention:
    """Dense counting: the number is the case; the counterfactual has one thing less."""
    category = _choice(rng, list(settings.categories or CATEGORIES))
    count = round(2 * 30 ** float(rng.random()))  # 2…60, as many small numbers as large ones
    scene = crowd_scene(_seed(rng), index, category, count, settings)
    case = edits.remove(scene, int(rng.integers(count)))
    return msgspec.structs.replace(
        case,
        kind="counting",
        facts={"object": category, "count": str(count), "count after": str(count - 1)},
    )


def _in_crowd(
    rng: np.random.Generator, kind: str, settings: WorldSettings, dose: float, crowd: int
) -> Intervention:
    """The target among untouched things of its own kind, and of the kind that it imitates."""
    names = [name for name in settings.categories or CATEGORIES if CATEGORIES[name].size < 0.5]
    category, surface = _choice(rng, names), _choice(rng, list(SURFACES))
    context = _choice(rng, list(CATEGORIES[category].contexts))
    scene = msgspec.structs.replace(
        empty_scene(rng, context, settings.size_px), horizon=between(rng, 0.3, 0.4)
    )
    wanted = [category] * (crowd + 1)
    if kind == "SM" and surface in CATEGORIES:
        wanted.append(surface)
    things: list[Thing] = []
    for name in wanted:
        look = draw_look(
            rng,
            name,
            msgspec.structs.replace(settings, surface_correlation=1.0, material_share=0.0),
        )
        thing = place(rng, scene, name, things, look, overlap=0.10)
        if thing is None:
            raise UsageError("no room for the crowd")
        things.append(thing)
    target = things[0]
    scene = msgspec.structs.replace(scene, things=settle(things))
    number = scene.things.index(target)
    if kind == "SM":
        return edits.change_surface(scene, number, surface, dose=dose, seed=_seed(rng), crowd=True)
    if kind == "OC":
        material = _choice(rng, list(edits.materials_for(category)))
        return edits.change_material(
            scene, number, material, dose=dose, seed=_seed(rng), crowd=True
        )
    return edits.change_attribute(
        scene, number, _choice(rng, list(COLOURS)), dose=dose, seed=_seed(rng)
    )
