"""What the procedural editor refuses: what can't be done, and what would not look right. Reasons
are short and stable, so that a funnel can count them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groundfault.editors.procedural import covers, fitness, looks, neighbours, suited
from groundfault.editors.procedural.cutouts import Cutout
from groundfault.editors.procedural.edges import Floats, Mask
from groundfault.editors.procedural.fills import LEFT_BEHIND
from groundfault.editors.procedural.fitness import Measures
from groundfault.editors.procedural.fitting import COLOURLESS, LEAST_NEW
from groundfault.editors.procedural.neighbours import company_of
from groundfault.editors.procedural.occlusion import contact_with
from groundfault.editors.procedural.relief import greyness, is_toned
from groundfault.editors.procedural.repertoire import (
    AIRBORNE,
    BUILT_IN,
    COLOURS,
    COMPUTED,
    FIXED,
    FLAT,
    GROWN,
    HEIGHTS_M,
    INSTEAD,
    KINDS,
    LIVING,
    MATERIALS,
    NOT_STANDING,
    PLACES,
    PLUMBED,
    RIDDEN,
    SUPPORTS,
    SURFACES,
    TABLEWARE_M,
)
from groundfault.editors.procedural.silhouettes import MOST_WRONG, Silhouette
from groundfault.interfaces import EditRequest

if TYPE_CHECKING:
    from groundfault.interfaces import BinaryMask, Image

__all__ = ["SMALL_HOLE", "impossible", "is_computed", "objection", "unsuited"]

SMALL_HOLE = 0.01
"""Holes of less than this share of a picture are filled whatever is around them, unless others have
more than `MOST_BESIDE_SMALL` of it."""
MOST_BESIDE_SMALL = 0.6
TRACES = "leaves traces"
ONE_OF_A_KIND = frozenset({"keyboard", "pizza", "tv"})
"""Categories of which a desk or a plate has room for one, in its place: elsewhere they float (11 of
12 that were judged by eye)."""
MOST_MIXED_AIR = 12.0
"""How much the surroundings may differ among themselves of what flies, to have another in the air
with it: those of parked airplanes do more."""
HOLDING = frozenset({"vase"})
"""Categories of things whose flowers are not part of them: a double's would be cut off."""
MOST_ALIKE_ANIMALS = 0.15
"""The share of an animal's surroundings that others of its kind may have for it to be doubled or
moved: with more, what is annotated as an animal is often a part of one."""


def impossible(image: Image, region: BinaryMask, request: EditRequest) -> str:
    """Why a request can't be met by anybody."""
    known = {
        "surface": SURFACES,
        "material": MATERIALS,
        "context": PLACES,
        "recolour": COLOURS,
    }
    if request.kind not in KINDS:
        return "unknown kind of edit"
    if request.kind in known and request.value not in known[request.kind]:
        return f"unknown {request.kind}"
    if image.ndim != 3 or image.shape[2] != 3 or image.shape[:2] != region.shape:
        return "image and region differ in size"
    if request.kind == "none":
        return ""
    if int(region.sum()) < fitness.SMALLEST_PX or min(image.shape[:2]) < 24:
        return "too small"
    if region.mean() > 0.95:
        return "too large"
    return ""


def is_computed(request: EditRequest) -> bool:
    """Whether a request is for a thing that is computed."""
    computed = request.value == "" or request.value in COMPUTED
    return request.kind in ("add", "replace") and computed


def unsuited(photo: Floats, region: Mask, request: EditRequest) -> str:
    """Why things of a category, or in a photograph like this, don't suit a request; "" where they
    may. This costs little, and is asked before an object is cut out."""
    toned = is_toned(photo)
    if toned and (request.kind == "replace" or is_computed(request)):
        return "no colours"
    problem = _unsuited(request, toned or greyness(photo) > 0.6)
    return "" if problem == TRACES and _is_small_hole(region, request) else problem


def _is_small_hole(region: Mask, request: EditRequest) -> bool:
    return bool(request.kind == "erase" and region.mean() < SMALL_HOLE)


def objection(
    photo: Floats,
    region: Mask,
    request: EditRequest,
    drawn: Mask,
    shape: Silhouette | None,
    *,
    cut: Cutout | None = None,
    care: float = 0.0,
) -> str:
    """Why an edit of this object, whose outline was `drawn` elsewhere, would not look right; ""
    where it may. What lives has a `shape` by its colours, or was `cut` out by a network, whose
    outline is looked at with `care`."""
    small = _is_small_hole(region, request)
    if request.kind == "add" and is_computed(request):
        return ""
    company = company_of(region, request.category, request.others)
    problem = neighbours.objection(request.kind, company)
    if problem and not (small and company.touching < MOST_BESIDE_SMALL):
        return problem
    if request.kind == "replace" and request.category in RIDDEN and company.held > 0:
        return "ridden"
    copied = request.kind in ("add", "move")
    if copied and request.category in LIVING and company.alike > MOST_ALIKE_ANIMALS:
        return "touches others"
    seen = request.kind in covers.KINDS + looks.KINDS
    found = fitness.measure(photo, region, to_fill=not seen)
    if shape is not None and shape.wrong > MOST_WRONG:
        return "outline unclear"
    if seen:
        return _unsightly(photo, region, request, found, drawn, cut, care)
    if copied and cut is not None:  # a network knows outlines where colours don't change
        found = found._replace(contrast=1.0)
    problem = fitness.objection(request.kind, request.category, found)
    if request.kind == "add" and request.category in AIRBORNE and found.mixture > MOST_MIXED_AIR:
        problem = problem or "not in the air"
    return problem


def _unsuited(request: EditRequest, colourless: bool) -> str:
    """Why things of a category, or a photograph without colours, don't suit a kind of edit."""
    coloured = request.kind in ("surface", "material", "recolour", "context")
    if colourless and coloured and request.value not in COLOURLESS:
        return "no colours"
    problem = suited.unsuited(request.kind, request.value, request.category)
    if problem:
        return problem
    if request.value == "ice" and request.category in LIVING:
        return "too fine for ice"
    held = FIXED | ONE_OF_A_KIND | (NOT_STANDING - AIRBORNE - FLAT)
    if is_computed(request):
        return "" if request.category in INSTEAD or request.value else "no donor"
    if request.kind in ("add", "move") and request.category in held:
        return "fixed in its place"
    if request.kind in ("add", "move") and request.category in BUILT_IN:
        return "fixed in its place"
    if request.kind == "add" and request.category in HOLDING:
        return "holds others"
    if request.kind == "erase" and request.category in PLUMBED | LEFT_BEHIND:
        return TRACES
    return ""


def _unsightly(
    photo: Floats,
    region: Mask,
    request: EditRequest,
    found: Measures,
    drawn: Mask,
    cut: Cutout | None,
    care: float,
) -> str:
    """Why a new surface, material, place or colour would not look right on this object, whose
    outline was `drawn` elsewhere, or which was `cut` out by a network."""
    on = SUPPORTS if HEIGHTS_M.get(request.category, 1.0) <= TABLEWARE_M else ()
    touched = contact_with(region, request.others, on=on)
    if request.kind == "material" and request.value in GROWN:
        thing = covers.seen(request, photo, region, drawn, found, touched)
        return covers.objection_to_growth(thing, cut)
    if cut is not None and request.kind in covers.BY_COLOURS:
        thing = covers.seen(request, photo, region, drawn, found, touched)
        return covers.objection_to_cutout(request.kind, request.value, thing, cut, care)
    if request.kind == "context":
        problem = looks.objection_to_place(
            request.category, found, touched, cut_out=cut is not None
        )
        if problem or cut is None:
            return problem
        skin = looks.skin_of(photo, region)
        return covers.objection_to_outline(
            "context", request.category, cut, found, skin, touched, care
        )
    if request.kind == "recolour":
        problem = looks.objection_to_contact(request.category, touched)
        problem = problem or looks.objection(request.category, found, looks.skin_of(photo, region))
        if problem:
            return problem
    thing = covers.seen(request, photo, region, drawn, found, touched)
    if request.kind == "recolour":
        return covers.objection_to_colour(request.value, thing, care)
    problem = covers.objection(request.kind, request.value, thing, care)
    return problem or ("" if thing.novelty >= LEAST_NEW else "already so")
