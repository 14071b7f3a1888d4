"""The counterfactual world: scenes made, edited and rendered by the same program.

Because the renderer makes the edit, every intervention is exact, with true masks: outside the
region that it may touch (`edit_region`) no pixel changes. A scene is a pure function of (seed,
index, settings); `sampling` makes scenes, `cases` makes interventions on them, `render` draws both,
`phrases` says what is true of them.
"""

from __future__ import annotations

from groundfault.world.cases import sample_intervention
from groundfault.world.exactness import edit_region
from groundfault.world.interventions import KINDS, Intervention
from groundfault.world.render import Rendered, reach, render
from groundfault.world.sampling import WorldSettings, crowd_scene, sample_scene
from groundfault.world.scene import WORLD_VERSION, Look, Place, Scene, Thing

__all__ = [
    "KINDS",
    "WORLD_VERSION",
    "Intervention",
    "Look",
    "Place",
    "Rendered",
    "Scene",
    "Thing",
    "WorldSettings",
    "crowd_scene",
    "edit_region",
    "reach",
    "render",
    "sample_intervention",
    "sample_scene",
]
