"""Another thing for a photograph, in the place of an object or beside it: a computed one, or a
donor's where its category is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import cv2
import numpy as np

from groundfault.editors.procedural.changes import grey_as
from groundfault.editors.procedural.colours import vividness
from groundfault.editors.procedural.donors import Donors
from groundfault.editors.procedural.edges import Floats, Mask, floats
from groundfault.editors.procedural.greens import as_green_as
from groundfault.editors.procedural.grounds import Place
from groundfault.editors.procedural.neighbours import Company
from groundfault.editors.procedural.plants import PLANTS
from groundfault.editors.procedural.props import prop_beside, props_over
from groundfault.editors.procedural.refusals import is_computed
from groundfault.editors.procedural.relief import luma
from groundfault.editors.procedural.transplants import Cutting, best_donor, pasted
from groundfault.interfaces import EditRequest

__all__ = ["Newcomer", "newcomers", "prop_among"]

COLOURLESS = 3.5
"""The chroma that the strongest colours of a photograph without colours have, in Lab."""


class Newcomer(NamedTuple):
    """A thing that is put into a photograph."""

    cutting: Cutting
    place: Place
    details: dict[str, str]
    """What is to be kept of it: its category, and whose it was."""

    def put_into(self, photo: Floats, front: Floats | None) -> tuple[Floats, Mask, Mask]:
        """The picture with it, its mask, and all that changed; what is in `front` hides it."""
        if "donor" in self.details:
            return pasted(photo, self.cutting, self.place, front=front)
        return pasted(
            photo,
            self.cutting,
            self.place,
            harmonise=0,
            front=front,
            standing=False,
            shaded=True,
        )


def newcomers(
    photo: Floats,
    region: Mask,
    request: EditRequest,
    donors: Donors | None,
    sam2: str,
) -> Iterator[Newcomer]:
    """Things for an object's place, those first that fit best: one of a donor's, or computed
    ones."""
    if is_computed(request):
        for made in props_over(photo, region, request.category, request.value, request.seed):
            yield _prop(photo, made)
        return
    found = donors and best_donor(photo, region, request.category, request.value, donors, sam2)
    if not found:
        return
    donor, cutting, place = found
    details = {"donor": donor.name, "licence": donor.licence, "category": donor.category}
    yield Newcomer(cutting._replace(fore=grey_as(photo, cutting.fore)), place, details)


def prop_among(
    photo: Floats, region: Mask, request: EditRequest, company: Company
) -> Newcomer | None:
    """A computed thing beside an object, among its company; None where there is no room."""
    made = prop_beside(photo, region, request.category, request.value, request.seed, company)
    return None if made is None else _prop(photo, made)


def _prop(photo: Floats, made: tuple[str, Cutting, Place]) -> Newcomer:
    name, cutting, place = made
    colours = _dulled(photo, cutting.fore)
    if name in PLANTS:
        colours = as_green_as(photo, colours)
    return Newcomer(cutting._replace(fore=colours), place, {"category": name})


def _dulled(photo: Floats, colours: Floats) -> Floats:
    """Colours as strong as a photograph's: in fog and in old prints there are no bright greens."""
    lab = cv2.cvtColor(photo, cv2.COLOR_RGB2LAB)
    strongest = float(np.percentile(np.hypot(lab[..., 1], lab[..., 2]), 95))
    share = vividness(photo) * float(np.clip((strongest - COLOURLESS) / COLOURLESS, 0, 1))
    grey = luma(colours)[..., None]
    return floats(grey + (grey_as(photo, colours) - grey) * share)
