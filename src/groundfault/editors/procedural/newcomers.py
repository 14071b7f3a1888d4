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
from groundfault.editors.procedural.greens import as_green_as, has_soil
from groundfault.editors.procedural.grounds import Place, eyes_above, footing
from groundfault.editors.procedural.neighbours import Company
from groundfault.editors.procedural.plants import PLANTS
from groundfault.editors.procedural.props import prop_beside, props_over
from groundfault.editors.procedural.refusals import is_computed
from groundfault.editors.procedural.relief import luma
from groundfault.editors.procedural.repertoire import FLOATING
from groundfault.editors.procedural.transplants import Cutting, best_donor, pasted
from groundfault.interfaces import EditRequest

__all__ = ["Newcomer", "newcomers", "objection_to_newcomer", "prop_among"]

LEAST_OVERLAP = 0.38
"""The least intersection over union of a thing and what replaces it: what covers an animal with
legs is twice as large."""
MOST_PITCH = 0.75
"""The steepest view, in radians, of a plant in the place of a thing: they are seen from the
side."""
MOST_BARE = 0.06
"""The largest share of an object that may be seen beside a computed thing in its place."""
LEAST_FOOTING = 0.6
"""How much of what is around a computed thing's foot must be the ground that the object stood
on."""
MOST_HIDDEN, MOST_BEHIND_ONE = 0.5, 0.15
"""How much of another thing a computed one may hide that its predecessor did not, and how much of
that one another may have had."""
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


def objection_to_newcomer(
    photo: Floats,
    region: Mask,
    request: EditRequest,
    found: Newcomer,
    there: Mask,
    company: Company,
) -> str:
    """Why a thing does not go in an object's place, where it would be `there`; "" where it may."""
    name = found.details["category"]
    if (there & region).sum() < LEAST_OVERLAP * (there | region).sum():
        return "no donor"
    if name in PLANTS and eyes_above(region, request.category)[0] > MOST_PITCH:
        return "seen from above"
    if not is_computed(request):
        return ""
    if (region & ~there).sum() > MOST_BARE * region.sum():
        return "not covered"
    if _hides(there & ~region, region, company):
        return "hides others"
    if name in FLOATING:
        return ""
    if footing(photo, region, there, company) < LEAST_FOOTING:
        return "no footing"
    return "" if has_soil(photo, there, name) else "no soil"


def _hides(new: Mask, region: Mask, company: Company) -> bool:
    """Whether what is `new` beside an object in whose place it stands hides others, or the object
    was mostly behind one."""
    shares = ((new & other).sum() / other.sum() for other in company.obstacles)
    behind = ((region & other).sum() / region.sum() for other in company.obstacles)
    return max(shares, default=0) > MOST_HIDDEN or max(behind, default=0) > MOST_BEHIND_ONE
