"""Surroundings of an object that become another place by what they are made of: the ground, the
plants and their relief stay where they are; green grass becomes dry, leaves turn, snow covers all
of it. Nothing is cut out, so what stands goes on standing."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from groundfault.editors.procedural.edges import Floats, Mask, Matte, box_of, floats
from groundfault.editors.procedural.noise import cloud
from groundfault.editors.procedural.vegetation import Cover, Scenery, ramp

__all__ = ["COVERED", "GRADES", "change_to", "regraded"]


def regraded(
    photo: Floats, mask: Mask, edge: Matte, scene: Scenery, place: str, *, seed: int
) -> Floats:
    """The photograph with everything that grows around the object as it is in the place; pixels
    that are wholly the object's keep their values."""
    lab = scene.lab + (GRADES[place](scene, mask, seed) - scene.lab) * scene.green[..., None]
    own = edge.alpha[..., None]
    picture = np.where(own >= 1, photo, edge.fore * own + _rgb(lab) * (1 - own))
    return _without_blades(floats(picture), mask, scene, place, seed)


def change_to(place: str, scene: Scenery, mask: Mask) -> float:
    """How much the surroundings change on their way to a place, in Lab, the mean of them."""
    step = np.linalg.norm(GRADES[place](scene, mask, 0) - scene.lab, axis=2) * scene.green
    return float(step[~mask].mean())


def _without_blades(picture: Floats, mask: Mask, scene: Scenery, place: str, seed: int) -> Floats:
    """Blades of grass before an object, and their green on its rim, become what the rest does."""
    there = scene._replace(lab=floats(cv2.cvtColor(picture, cv2.COLOR_RGB2LAB)))
    new = _rgb(GRADES[place](there, mask, seed))
    return floats(picture + (new - picture) * scene.blades[..., None])


def _savanna(scene: Scenery, mask: Mask, seed: int) -> Floats:
    """Straw: of one hue, the lighter the yellower; what is dark stays olive."""
    light = 100 * (scene.lab[..., 0] / 100) ** 0.85
    chroma = np.clip(6 + 0.36 * light + 0.4 * _chroma_relief(scene.lab), 0, 40)
    return _polar(light, chroma, 88 - 7 * ramp(scene.lab[..., 0], 25, 70))


def _autumn(scene: Scenery, mask: Mask, seed: int) -> Floats:
    """Leaves from yellow to rust, tree by tree, the lighter the yellower; on the ground, below the
    object's foot, straw."""
    old = scene.lab[..., 0]
    light = 100 * (old / 100) ** 0.92
    trees = np.clip(cloud(mask.shape, max(mask.shape) / 9, seed, 2), -1.5, 1.5)
    chroma = np.clip(1.1 * np.hypot(scene.lab[..., 1], scene.lab[..., 2]) + 12, 0, 60)
    hue = 56 + 9 * trees + 22 * ramp(old, 25, 85)
    leaves = _polar(light, chroma * ramp(old, 0, 35), hue)
    rows, _ = box_of(mask)
    above = (rows.stop - np.arange(len(mask), dtype=np.float32)) / len(mask)
    up = ramp(above, 0.0, 0.25)[:, None, None]
    return floats(leaves * up + _savanna(scene, mask, seed) * (1 - up))


def _snow(scene: Scenery, mask: Mask, seed: int) -> Floats:
    """Snow on all that grows: light, its relief kept, shadows blue; deep shade stays dark."""
    old = scene.lab[..., 0]
    large = cv2.bilateralFilter(cv2.GaussianBlur(old, (0, 0), 3), 9, 20, 8)
    light = np.interp(large - scene.light, [-50, -25, -8, 10, 40], [35, 68, 88, 93, 97])
    light = np.clip(light + 0.6 * (old - large), 0, 99)
    shade = ramp(floats(-light), -95, -60)
    return floats(np.stack([light, -0.5 - shade, -1.5 - 7 * shade], axis=2))


def _chroma_relief(lab: Floats) -> Floats:
    """How much more or less colourful pixels are than those around them."""
    chroma = np.hypot(lab[..., 1], lab[..., 2])
    return floats(chroma - cv2.GaussianBlur(chroma, (0, 0), 4))


def _polar(light: Floats, chroma: Floats, hue_degrees: Floats) -> Floats:
    """Colours in Lab by their lightness, chroma and hue."""
    hue = np.radians(hue_degrees)
    return floats(np.stack([light, chroma * np.cos(hue), chroma * np.sin(hue)], axis=2))


def _rgb(lab: Floats) -> Floats:
    return floats(np.clip(cv2.cvtColor(floats(lab), cv2.COLOR_LAB2RGB), 0, 1))


GRADES: dict[str, Callable[[Scenery, Mask, int], Floats]] = {
    "savanna": _savanna,
    "snow": _snow,
    "autumn forest": _autumn,
}
"""The colours of what grows, in Lab, by place."""
COVERED: dict[str, Cover] = {
    "savanna": "green",
    "snow": "any",
    "autumn forest": "green",
}
"""What becomes each place."""
