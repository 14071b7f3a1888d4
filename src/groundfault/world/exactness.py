"""Which pixels an edit may change. All others are the same before and after, byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from groundfault.world.interventions import Intervention
from groundfault.world.render import Rendered, reach, render
from groundfault.world.scene import Thing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bools = NDArray[np.bool_]

__all__ = ["edit_region"]

OF_LOOK = ("SM", "OC", "attribute")


def edit_region(edit: Intervention, edited: Rendered | None = None) -> Bools:
    """(height, width): the pixels that an edit may touch; `edited` is its picture, if it is drawn.

    A change of look may touch the target's mask; a change of place all but the masks of things; a
    change of things what the target reaches before and after: its body, outline and shadow. The
    world has no reflections.
    """
    side = edit.factual.size_px
    if edit.kind == "no-op":
        return np.zeros((side, side), np.bool_)
    if edit.kind in OF_LOOK:
        target: Bools = (edited or render(edit.counterfactual)).labels == edit.after
        return target
    if edit.kind == "CC":
        around: Bools = (edited or render(edit.counterfactual)).labels < 0
        return around
    touched = np.zeros((side, side), np.bool_)
    for scene, other in (
        (edit.factual, edit.counterfactual),
        (edit.counterfactual, edit.factual),
    ):
        kept = {_standing(thing) for thing in other.things}
        for index, thing in enumerate(scene.things):
            if _standing(thing) not in kept:
                touched |= reach(scene, index)
    return touched


def _standing(thing: Thing) -> Thing:
    """A thing for itself: what it stands on may have another number after the edit."""
    return msgspec.structs.replace(thing, partner=-1, relation="")
