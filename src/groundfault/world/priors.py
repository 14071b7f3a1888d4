"""Relational erasure: a thing without the part that people expect it to have.

Each pair (`EXHIBITS`) has a prior worth breaking: clocks have hands, skateboards have wheels. The
part goes, everything else stays as it is; a whole that stood on its part comes down to the ground.
"""

from __future__ import annotations

import msgspec
import numpy as np

from groundfault.errors import UsageError
from groundfault.world.forms import between
from groundfault.world.interventions import Intervention
from groundfault.world.objects import CATEGORIES
from groundfault.world.objects.exhibits import EXHIBITS, Exhibit
from groundfault.world.perception import look_alike
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

__all__ = ["PART", "draw_erasure", "exhibit_of"]

PART = "part of"
"""The relation of a part to its whole."""
MOST_BYSTANDERS = 3
TINTED = ("night city", "reef")
"""Contexts whose light is coloured."""


def exhibit_of(case: Intervention) -> Exhibit:
    """The pair that an erasure is about."""
    return EXHIBITS[case.factual.things[case.before].category]


def draw_erasure(rng: np.random.Generator, settings: WorldSettings, pair: str = "") -> Intervention:
    """An erasure of a pair (by its id; "" draws one), with a few things standing by."""
    exhibit = EXHIBITS[pair or _one(rng, tuple(EXHIBITS))]
    allowed = settings.contexts or exhibit.contexts
    contexts = tuple(name for name in exhibit.contexts if name in allowed)
    if not contexts:
        raise UsageError(f"a {exhibit.whole} is shown in {', '.join(exhibit.contexts)} only")
    scene = empty_scene(rng, _one(rng, contexts), settings.size_px)
    whole, part = _stand(rng, scene, exhibit)
    things = [whole, part]
    for _ in range(int(rng.integers(1, MOST_BYSTANDERS + 1))):
        category = draw_category(rng, scene.place.context, settings)
        if category == exhibit.whole or category in exhibit.whole.split():
            continue
        look = draw_look(rng, category, msgspec.structs.replace(settings, material_share=0.0))
        found = place(rng, scene, category, things, look, overlap=0.0)
        if found is not None:
            things.append(found)
    scene = msgspec.structs.replace(scene, things=settle(things))
    return _erase(scene, exhibit)


def _one(rng: np.random.Generator, choices: tuple[str, ...]) -> str:
    return choices[int(rng.integers(len(choices)))]


def _stand(rng: np.random.Generator, scene: Scene, exhibit: Exhibit) -> tuple[Thing, Thing]:
    """The whole and its part, somewhere in front."""
    y = between(rng, max(0.80, scene.horizon + 0.25), 0.95)
    scale = exhibit.size * perspective(scene.horizon, y) * between(rng, 1.0, 1.15)
    half = scale / 2
    colour = _one(rng, exhibit.colours)
    others = tuple(each for each in exhibit.part_colours if not look_alike(each, colour))
    seed, flip = int(rng.integers(1 << 31)), bool(rng.random() < 0.5)
    whole = Thing(
        category=exhibit.bare,
        seed=seed,
        x=between(rng, half + 0.01, 1 - half - 0.01),
        y=y,
        scale=scale,
        flip=flip,
        lift=exhibit.lift,
        look=Look(seed=int(rng.integers(1 << 31)), colour=colour),
    )
    part = msgspec.structs.replace(
        whole,
        category=exhibit.id,
        shadow=0.0,
        look=Look(
            seed=int(rng.integers(1 << 31)), colour=_one(rng, others or exhibit.part_colours)
        ),
        relation="under" if exhibit.behind else PART,
        partner=0,
    )
    if min(box_of(whole)[1], box_of(part)[1]) < 0.01:
        raise UsageError(f"the {exhibit.whole} sticks out of the picture")
    return whole, part


def _erase(scene: Scene, exhibit: Exhibit) -> Intervention:
    names = [thing.category for thing in scene.things]
    before, anchor = names.index(exhibit.id), names.index(exhibit.bare)
    whole = scene.things[anchor]
    sunk = msgspec.structs.replace(whole, lift=whole.lift - exhibit.sinks * whole.scale / 2)
    left = [
        sunk if number == anchor else thing
        for number, thing in enumerate(scene.things)
        if number != before
    ]
    return Intervention(
        kind="erasure",
        factual=scene,
        counterfactual=msgspec.structs.replace(scene, things=tuple(left)),
        before=before,
        positive=exhibit.whole,
        negative=exhibit.part,
        facts={"erased": exhibit.part, "relation": PART, "kept": exhibit.whole, "pair": exhibit.id},
    )


def bystanders(case: Intervention) -> list[str]:
    """Categories of the things that stand by, each once."""
    names = [t.category for t in case.counterfactual.things if t.category in CATEGORIES]
    return list(dict.fromkeys(names))
