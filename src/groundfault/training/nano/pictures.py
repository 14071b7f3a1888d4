"""What the nano models look at while they learn: scenes of the world, rendered and shrunk.

`habitual` scenes are as one expects them: things wear their own surface and stand where they
belong. `surprising` pairs are a scene and the same scene after an intervention, in a world
without habits: any shape in any surface, material and place that fine-tuning may see (the rest is
`world.splits`' business, and never drawn here).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from groundfault.errors import UsageError
from groundfault.io.foreign import decode_json
from groundfault.models.nano import SIDE_PX, shrink
from groundfault.world import interventions as edits
from groundfault.world.contexts import CONTEXTS
from groundfault.world.interventions import Intervention
from groundfault.world.materials import MATERIALS
from groundfault.world.objects import CATEGORIES
from groundfault.world.presets import in_order
from groundfault.world.quads import sample_replacement
from groundfault.world.render import render
from groundfault.world.sampling import (
    WorldSettings,
    crowd_scene,
    empty_scene,
    generator,
    place,
    sample_scene,
    settle,
)
from groundfault.world.scene import WORLD_VERSION, Look, Scene, Thing
from groundfault.world.splits import SEEN, split_pair
from groundfault.world.surfaces import SURFACES

__all__ = ["Pictures", "habitual_scene", "paint", "surprising_pair"]

HABITS = WorldSettings(surface_correlation=1.0, context_correlation=0.97, material_share=0.10)
"""A world with the usual spurious correlations: surfaces never, places hardly ever surprise."""
VIEWS = (0.28, 1.3)
"""Zooms of every second scene: things come in all sizes, as in photographs."""
KINDS = ("SM", "SM", "CC", "CC", "OC", "replacement")
"""How often each kind of pair is drawn."""
CROWDS = 0.12
"""Share of scenes with a crowd of one category: instances must be told apart."""
MOST_THINGS = 12


class Shown(NamedTuple):
    """One rendered scene."""

    image: NDArray[np.uint8]
    """(side, side, 3)"""
    labels: NDArray[np.int8]
    """(side, side): index of the thing; -1 for none."""
    scene: bytes
    """As JSON."""


class Pictures(NamedTuple):
    """Many rendered scenes; pairs lie side by side (2i, 2i + 1)."""

    images: NDArray[np.uint8]
    labels: NDArray[np.int8]
    scenes: list[Scene]


def show(scene: Scene) -> Shown:
    """Render a scene and shrink it as the model does."""
    rendered = render(scene)
    step = rendered.labels.shape[0] / SIDE_PX
    at = ((np.arange(SIDE_PX) + 0.5) * step).astype(np.intp)
    labels = rendered.labels[at][:, at].astype(np.int8)
    return Shown(shrink(rendered.image), labels, msgspec.json.encode(scene))


def habitual_scene(seed: int, index: int) -> Scene:
    """A scene as one expects it, now and then a crowd."""
    rng = generator(seed, index, 7)
    if rng.random() < CROWDS:
        category = str(rng.choice(list(CATEGORIES)))
        return crowd_scene(seed, index, category, int(rng.integers(2, MOST_THINGS + 1)), HABITS)
    views = VIEWS if rng.random() < 0.5 else HABITS.zoom
    return sample_scene(seed, index, msgspec.structs.replace(HABITS, zoom=views))


def surprising_pair(seed: int, index: int) -> Intervention:
    """A scene without habits and the same scene after an intervention; both may be learnt from."""
    rng = generator(seed, index, 8)
    kind = KINDS[index % len(KINDS)]
    for attempt in count():
        try:
            if kind == "replacement":
                return _replacement(seed, index, attempt)
            return DRAWS[kind](rng, _free_scene(rng))
        except UsageError:  # this draw makes no valid case: take the next
            continue
    raise AssertionError("endless")


def _allowed(category: str, value: str) -> bool:
    return split_pair(category, value) == SEEN


def _fits(category: str, context: str) -> bool:
    """At home there, or a surprise that may be learnt from."""
    return context in CATEGORIES[category].contexts or _allowed(category, context)


def _free_look(rng: np.random.Generator, category: str) -> Look:
    """The category's own look, another surface, or a material."""
    seed, own = int(rng.integers(1 << 31)), CATEGORIES[category].surface
    chance = rng.random()
    surfaces = [name for name in SURFACES if name == own or _allowed(category, name)]
    if chance < 0.3 and surfaces:
        return Look(seed=seed, surface=str(rng.choice(surfaces)))
    materials = [name for name in edits.materials_for(category) if _allowed(category, name)]
    if chance < 0.42 and materials:
        return Look(seed=seed, material=str(rng.choice(materials)))
    return Look(seed=seed, surface=own)


def _free_scene(rng: np.random.Generator) -> Scene:
    """One to four things anywhere, in any look."""
    context = str(rng.choice(list(CONTEXTS)))
    scene = empty_scene(rng, context, HABITS.size_px)
    if rng.random() < 0.4:
        scene = msgspec.structs.replace(scene, zoom=float(np.exp(rng.uniform(*np.log(VIEWS)))))
    choices = [name for name in CATEGORIES if _fits(name, context)]
    home = [name for name in choices if context in CATEGORIES[name].contexts]
    things: list[Thing] = []
    for _ in range(int(rng.integers(1, 5))):
        category = str(rng.choice(home if home and rng.random() < 0.4 else choices))
        thing = place(rng, scene, category, things, _free_look(rng, category))
        if thing is not None:
            things.append(thing)
    return msgspec.structs.replace(scene, things=settle(things))


def _target(rng: np.random.Generator, scene: Scene) -> int:
    real = [n for n, thing in enumerate(scene.things) if not thing.look.material]
    if not real:
        raise UsageError("nothing here can be edited")
    return int(rng.choice(real))


def _pick(rng: np.random.Generator, names: list[str]) -> str:
    if not names:
        raise UsageError("nothing to choose from")
    return str(rng.choice(names))


def _mimicry(rng: np.random.Generator, scene: Scene) -> Intervention:
    index = _target(rng, scene)
    category = scene.things[index].category
    surface = _pick(rng, [name for name in SURFACES if _allowed(category, name)])
    return edits.change_surface(scene, index, surface, seed=int(rng.integers(1, 1 << 31)))


def _conflict(rng: np.random.Generator, scene: Scene) -> Intervention:
    index = _target(rng, scene)
    everywhere = [n for n in CONTEXTS if all(_fits(thing.category, n) for thing in scene.things)]
    context = _pick(rng, everywhere)
    return edits.change_context(scene, index, context, seed=int(rng.integers(1, 1 << 31)))


def _substance(rng: np.random.Generator, scene: Scene) -> Intervention:
    index = _target(rng, scene)
    category = scene.things[index].category
    materials = [name for name in edits.materials_for(category) if _allowed(category, name)]
    material = _pick(rng, [name for name in materials if name in MATERIALS])
    return edits.change_material(scene, index, material, seed=int(rng.integers(1, 1 << 31)))


def _replacement(seed: int, index: int, attempt: int) -> Intervention:
    """As benchmarks make it; the stand-in must be allowed in its place as well."""
    case = sample_replacement(seed, index, attempt, WorldSettings(), SEEN)
    if not _fits(case.positive, case.factual.place.context):
        raise UsageError("held out")
    return case


DRAWS: dict[str, Callable[[np.random.Generator, Scene], Intervention]] = {
    "SM": _mimicry,
    "CC": _conflict,
    "OC": _substance,
}


def _show_habitual(seed: int, index: int) -> list[Shown]:
    return [show(habitual_scene(seed, index))]


def _show_pair(seed: int, index: int) -> list[Shown]:
    pair = surprising_pair(seed, index)
    return [show(pair.factual), show(pair.counterfactual)]


def paint(
    kind: str,
    n: int,
    seed: int,
    folder: Path,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Pictures:
    """Render n habitual scenes or surprising pairs into a folder; what is there is read."""
    make, each = {"habitual": (_show_habitual, 1), "surprising": (_show_pair, 2)}[kind]
    stem = folder / f"{kind}-world{WORLD_VERSION}-{seed}-{n}"
    images_file, labels_file, scenes_file = (
        stem.with_suffix(end) for end in (".images.npy", ".labels.npy", ".scenes.jsonl")
    )
    if not scenes_file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        shape = (n * each, SIDE_PX, SIDE_PX)
        images = np.lib.format.open_memmap(images_file, "w+", np.uint8, (*shape, 3))
        labels = np.lib.format.open_memmap(labels_file, "w+", np.int8, shape)
        scenes = []
        for index, shown in enumerate(in_order(partial(make, seed), range(n), None)):
            for side, one in enumerate(shown):
                images[index * each + side], labels[index * each + side] = one.image, one.labels
                scenes.append(one.scene)
            if progress is not None:
                progress(index + 1, n)
        images.flush()
        labels.flush()
        scenes_file.write_bytes(b"\n".join(scenes) + b"\n")
    return Pictures(
        np.load(images_file, mmap_mode="r"),
        np.load(labels_file, mmap_mode="r"),
        [decode_json(line, Scene) for line in scenes_file.read_bytes().splitlines()],
    )
