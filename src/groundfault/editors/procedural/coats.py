"""An object in other colours, laid into its photograph: dyed with all that it has, or under a
surface with light and shade of its own."""

from __future__ import annotations

import cv2
import numpy as np

from groundfault.editors.procedural import surfaces
from groundfault.editors.procedural.changes import Change, over
from groundfault.editors.procedural.colours import PAINTS, dyed, featured, vividness
from groundfault.editors.procedural.edges import Floats, Mask, Matte, box_of, floats
from groundfault.editors.procedural.relief import exposure, illuminant, inflate
from groundfault.editors.procedural.repertoire import LIVING
from groundfault.interfaces import EditRequest

__all__ = ["PAD_PX", "dye_vividness", "in_dye", "under_surface"]

PAD_PX = 48
"""What is computed around an object, beyond its box."""
FAINTER = 0.85
"""How much fainter a pattern is on a face."""
LEAST_VIVID = 0.85
"""A dye is at least so vivid, also in dull light."""


def dye_vividness(photo: Floats) -> float:
    """How strong a dye or a new paint is in a photograph."""
    return max(vividness(photo), LEAST_VIVID)


def in_dye(
    photo: Floats, region: Mask, request: EditRequest, edge: Matte, *, blur: float = 0.0
) -> Change:
    """Animals, and things of many parts: all of it dyed in a colour or a pattern, which is as
    sharp as the photograph, whose `blur` is given."""
    box = box_of(region, PAD_PX)
    inside = region[box]
    if request.kind == "recolour":
        vivid = dye_vividness(photo)
        dye = floats(floats(PAINTS[request.value]) * floats([1, vivid, vivid]))
    else:
        cloth = surfaces.cloth_on(inside, inflate(inside), request.value, request.seed, blur)
        dye = floats(cv2.cvtColor(cloth, cv2.COLOR_RGB2LAB))
        if request.category in LIVING:  # whose face would be lost under stripes
            ground = floats(np.median(dye[inside], axis=0))
            faint = FAINTER * featured(edge.fore[box], inside)[..., None]
            dye = floats(dye + faint * (ground - dye))
    haired = request.category in LIVING
    return over(photo, edge, box, dyed(edge.fore[box], inside, dye, haired=haired))


def under_surface(
    photo: Floats,
    region: Mask,
    request: EditRequest,
    edge: Matte,
    *,
    blur: float,
    gaps: bool,
    features: bool,
) -> Change:
    """A thing under a surface; see `surfaces.covered`."""
    box = box_of(region, PAD_PX)
    new = surfaces.covered(
        photo[box],
        region[box],
        request.value,
        white=exposure(photo, region),
        tint=illuminant(photo),
        blur=blur,
        seed=request.seed,
        gaps=gaps,
        features=features,
    )
    change = over(photo, edge, box, new.colours)
    change.keep(photo, box, new.kept)
    return change
