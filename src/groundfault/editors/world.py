"""Edits of rendered scenes by their renderer: world:DIR, a folder of `groundfault world scenes`.

A picture of such a folder is known by its pixels. Its scene is changed and drawn again, so that an
edit is exact: nothing else differs, the new thing's mask is the renderer's own, and what a check or
a reviewer should find is known. What the world refuses (a surface under which nobody would know the
thing, a thing that others stand on) is refused here with its words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from groundfault.errors import UsageError
from groundfault.interfaces import Edited, EditRequest, ModelOptions, NotEdited
from groundfault.io.colours import differing
from groundfault.runs.identity import files_hash
from groundfault.world import interventions as edits
from groundfault.world.photographs import read_scenes, scene_key, scenes_file
from groundfault.world.render import Rendered, render
from groundfault.world.sampling import place
from groundfault.world.scene import WORLD_VERSION, Scene

if TYPE_CHECKING:
    from groundfault.interfaces import BinaryMask, Image

__all__ = ["WorldEditor", "load"]

SAME = 0.5
"""IoU from which a region is a thing of the scene."""
FARTHEST = 0.2
"""How near to its old place, as a share of the side, a moved thing is not worth looking for."""


class _Load:
    """Makes editors."""

    def __call__(self, argument: str, options: ModelOptions) -> WorldEditor:
        """The editor of a folder's scenes."""
        if not argument:
            raise UsageError("world: name the folder of scenes, as in world:DIR")
        return WorldEditor(read_scenes(argument))

    def identity(self, argument: str, options: ModelOptions) -> Mapping[str, str]:
        """The world's version and the scenes."""
        return {"world": str(WORLD_VERSION), "scenes": files_hash(str(scenes_file(argument)))}


load = _Load()


class WorldEditor:
    """Changes scenes that it knows."""

    def __init__(self, scenes: Mapping[str, Scene]) -> None:
        self.scenes = scenes

    def edit(self, image: Image, region: BinaryMask, instruction: str) -> Image | NotEdited:
        """Refuse: it reads no prose."""
        return _refused("the world's editor is told by fields, not by words alone")

    def perform(self, image: Image, region: BinaryMask, request: EditRequest) -> Edited | NotEdited:
        """The picture of the changed scene."""
        scene = self.scenes.get(scene_key(image))
        if scene is None:
            return _refused("no picture of the scenes")
        if request.kind == "none":
            return Edited(image=image.copy(), touched=np.zeros_like(region))
        before = render(scene)
        index, overlap = _nearest(before, region)
        if overlap < SAME:
            return _refused("no thing of the scene is there")
        try:
            case = _changed(scene, index, request)
        except UsageError as why:
            return NotEdited(outcome="refused", reason="not in this scene", details=str(why))
        after = render(case.counterfactual)
        mask = after.masks[case.after] if request.kind in ("replace", "add", "move") else None
        if mask is not None and not mask.any():
            return _refused("the new thing is hidden")
        return Edited(
            image=after.image,
            mask=mask,
            touched=differing(before.image, after.image),
            details={"world": str(WORLD_VERSION), "region_iou": f"{overlap:.3f}"},
        )


def _refused(reason: str) -> NotEdited:
    return NotEdited(outcome="refused", reason=reason)


def _nearest(rendered: Rendered, region: BinaryMask) -> tuple[int, float]:
    """The thing that a region is, and their IoU."""
    best, most = -1, 0.0
    for index, mask in enumerate(rendered.masks):
        either = int((mask | region).sum())
        overlap = float((mask & region).sum() / either) if either else 0.0
        if overlap > most:
            best, most = index, overlap
    return best, most


class _Case(NamedTuple):
    counterfactual: Scene
    after: int


def _changed(scene: Scene, index: int, request: EditRequest) -> _Case:
    """The changed scene; raises what the world has against it."""
    value, dose, seed = request.value, request.dose, request.seed
    if request.kind == "surface":
        found = edits.change_surface(scene, index, value, dose=dose, seed=seed)
    elif request.kind == "material":
        found = edits.change_material(scene, index, value, dose=dose, seed=seed)
    elif request.kind == "context":
        category = scene.things[index].category
        if sum(thing.category == category for thing in scene.things) > 1:
            raise UsageError(f"another {category} would stay in the new place")
        found = edits.change_context(scene, index, value, dose=dose, seed=seed)
    elif request.kind == "recolour":
        found = edits.change_attribute(scene, index, value, dose=dose, seed=seed)
    elif request.kind == "erase":
        found = edits.remove(scene, index)
    elif request.kind == "replace":
        found = edits.replace(scene, index, value, seed=seed)
    elif request.kind in ("add", "move"):
        found = _elsewhere(scene, index, request)
    else:
        raise UsageError(f"the world knows no edit of the kind '{request.kind}'")
    return _Case(found.counterfactual, found.after)


def _elsewhere(scene: Scene, index: int, request: EditRequest) -> edits.Intervention:
    """The thing in a free place, or another one like it there."""
    thing = scene.things[index]
    rng = np.random.default_rng(request.seed)
    others = [other for number, other in enumerate(scene.things) if number != index]
    there = others if request.kind == "move" else list(scene.things)
    free = place(rng, scene, thing.category, there, thing.look)
    if free is None or abs(free.x - thing.x) < FARTHEST:
        raise UsageError("no other place far enough away")
    if request.kind == "add":
        return edits.add(scene, free)
    return edits.move(scene, index, free.x, free.y)
