"""The procedural editor: a request in fields, checked, made, and laid over the photograph."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from groundfault.editors.procedural import (
    covers,
    immersion,
    materials,
    neighbours,
    refusals,
    surfaces,
)
from groundfault.editors.procedural.changes import Change, grey_as, over
from groundfault.editors.procedural.choices import LEAST_APART, apart_from
from groundfault.editors.procedural.coats import PAD_PX, dye_vividness, in_dye, under_surface
from groundfault.editors.procedural.colours import (
    body_light,
    changed_by,
    distinct_colours,
    lightness_of,
    painted,
    recoloured,
    vividness,
)
from groundfault.editors.procedural.cutouts import Cutout
from groundfault.editors.procedural.donors import Donors
from groundfault.editors.procedural.edges import (
    Floats,
    Mask,
    Matte,
    box_of,
    core,
    grown,
)
from groundfault.editors.procedural.filling import draw, fill, finished
from groundfault.editors.procedural.fills import (
    MOST_DOUBT,
    MOST_DOUBT_OF_DRAWINGS,
    MOST_DOUBT_OF_PATCHES,
    MOST_FOREIGN,
    NOT_PATCHED,
    doubt,
    doubt_of_drawing,
    doubt_of_patches,
    measure_fill,
)
from groundfault.editors.procedural.fitness import sides_of
from groundfault.editors.procedural.greens import has_soil
from groundfault.editors.procedural.grounds import (
    MOST_BEHIND,
    MOST_OVERLAP,
    Place,
    free_place,
    in_front,
    is_collage,
)
from groundfault.editors.procedural.neighbours import Company, company_of
from groundfault.editors.procedural.newcomers import (
    Newcomer,
    newcomers,
    objection_to_newcomer,
    prop_among,
)
from groundfault.editors.procedural.overgrown import overgrown
from groundfault.editors.procedural.refusals import SMALL_HOLE, is_computed
from groundfault.editors.procedural.relief import (
    blur_px,
    extent_px,
    illuminant,
    luma,
)
from groundfault.editors.procedural.repertoire import (
    AIRBORNE,
    FLAT,
    FLOATING,
    GROWN,
    KINDS,
    LEAVING_TRACES,
    LIVING,
    ROUND,
    TURNABLE,
)
from groundfault.editors.procedural.shadows import hole_of
from groundfault.editors.procedural.silhouettes import silhouette_of
from groundfault.editors.procedural.targets import SEEN, edge_of, target_of
from groundfault.editors.procedural.transplants import (
    cutting_of,
    is_seen,
    mask_at,
    pasted,
)
from groundfault.interfaces import Edited, EditRequest, NotEdited

if TYPE_CHECKING:
    from groundfault.interfaces import BinaryMask, Image

__all__ = ["ProceduralEditor"]

EDGE_PX = 8
"""Farther outside of the mask no edit of the object itself changes anything."""
FORGOTTEN = 0.12
"""How far from its drawn mask parts of an object are looked for that go with it, as a share of its
extent."""
LEAST_CHANGE = 20.0
"""The mean colour distance that a new colour must make, in Lab."""
COVERED = 0.02
"""The share of an object that may be seen beside what replaces it without a look at how the rest
was filled."""
DARK_PAINT = 38.0
"""A vehicle whose body is darker, in Lab, can't be told from its glass and tyres."""


class ProceduralEditor:
    """Edits photographs offline. The same request gives the same bytes.

    donors: photographs whose things may be put into others; without, none are replaced.
    migan: path of MI-GAN's ONNX pipeline for holes; "" fills them with patches of the photograph.
    sam2: folder with SAM 2's ONNX files, which cut objects out; "" does it by colours.
    care: how much better than by default the odds must be, as a logarithm, that a careful eye keeps
        an edit of what SAM 2 cut out: the more, the fewer edits are let through, and the more of
        those are kept.
    filters: whether requests are refused that can't look right; without, only those that can't be
        done at all.
    """

    def __init__(
        self,
        *,
        donors: Donors | None = None,
        migan: str = "",
        sam2: str = "",
        care: float = 0.0,
        filters: bool = True,
    ) -> None:
        self.donors = donors
        self.migan = migan
        self.sam2 = sam2
        self.care = care
        self.filters = filters

    def edit(self, image: Image, region: BinaryMask, instruction: str) -> Image | NotEdited:
        """Do what an instruction of two words says, a kind and a value: "surface zebra". Others are
        refused: this editor computes and does not read."""
        kind, _, value = instruction.strip().rstrip(".").partition(" ")
        if kind not in KINDS:
            return refused("instruction not understood")
        found = self.perform(
            image, region, EditRequest(instruction=instruction, kind=kind, value=value)
        )
        return found if isinstance(found, NotEdited) else found.image

    def perform(self, image: Image, region: BinaryMask, request: EditRequest) -> Edited | NotEdited:
        """The edited image, or a short reason why there is none."""
        problem = refusals.impossible(image, region, request)
        if problem:
            return refused(problem)
        if request.kind == "none" or request.dose <= 0:
            return Edited(image=image.copy(), touched=np.zeros(region.shape, bool))
        photo = image.astype(np.float32) / 255
        problem = refusals.unsuited(photo, region, request) if self.filters else ""
        if problem:
            return refused(problem)
        stays = request.kind == "add" and is_computed(request)  # nothing is cut out
        sam2 = "" if stays else self.sam2
        found = target_of(photo, region, request, sam2, filters=self.filters)
        if found is None:
            return refused("outline unclear")
        if self.filters:
            problem = refusals.objection(
                photo,
                found.mask,
                request,
                region,
                found.shape,
                cut=found.cut,
                care=self.care,
            )
            if problem:
                return refused(problem)
        return self._made(image, photo, found.mask, request, found.cut)

    def _made(
        self,
        image: Image,
        photo: Floats,
        region: Mask,
        request: EditRequest,
        cut: Cutout | None,
    ) -> Edited | NotEdited:
        make: dict[str, Callable[[Floats, Mask, EditRequest], Change | NotEdited]] = {
            "surface": partial(self._surface, cut=cut),
            "material": partial(self._material, cut=cut),
            "context": partial(self._context, cut=cut),
            "recolour": partial(self._recolour, cut=cut),
            "erase": partial(self._erase, cut=cut),
            "replace": partial(self._replace, cut=cut),
            "add": partial(self._add, cut=cut),
            "move": partial(self._move, cut=cut),
        }
        change = make[request.kind](photo, region, request)
        if isinstance(change, NotEdited):
            return change
        edited = change.laid_over(image, photo, request.dose)
        if cut is None or request.kind not in SEEN:
            return edited
        details = edited.details | {"target_by": "SAM 2"}
        return msgspec.structs.replace(edited, target=region, details=details)

    # ---- the object itself

    def _surface(
        self, photo: Floats, region: Mask, request: EditRequest, cut: Cutout | None
    ) -> Change | NotEdited:
        blur = blur_px(photo, grown(region, 2))
        furred = request.category in LIVING
        edge = edge_of(photo, region, cut, blur=None if furred else blur, furred=furred)
        if request.category in covers.DYED:
            return in_dye(photo, region, request, edge, blur=blur)
        box = box_of(region, PAD_PX)
        gaps = cut is None and request.category in covers.SLOTTED
        kept = surfaces.kept_share(photo[box], region[box]) if gaps else 0.0
        if self.filters and kept > covers.MOST_KEPT:
            return refused("dark parts")
        return under_surface(
            photo, region, request, edge, blur=blur, gaps=gaps, features=cut is None
        )

    def _material(
        self, photo: Floats, region: Mask, request: EditRequest, cut: Cutout | None
    ) -> Change:
        if request.value in GROWN:
            return _overgrown(photo, region, request)
        box = box_of(region, PAD_PX)
        blur = blur_px(photo, grown(region, 2))
        furred = request.category in LIVING
        edge = edge_of(photo, region, cut, blur=None if furred else blur, furred=furred)
        behind = None
        if request.value == "ice":
            behind = fill(photo, grown(region, 4), seed=request.seed, migan=self.migan)[box]
        new = materials.recast(
            photo[box],
            edge.fore[box],
            region[box],
            request.value,
            tint=illuminant(photo),
            seed=request.seed,
            behind=behind,
            roundness=0.8 if request.category in LIVING | ROUND else 0.35,
        )
        change = over(photo, edge, box, new)
        if cut is None and request.category in covers.VEHICLES:
            change.keep(photo, box, surfaces.unpainted(photo[box], region[box]))
        return change

    def _recolour(
        self, photo: Floats, region: Mask, request: EditRequest, cut: Cutout | None
    ) -> Change | NotEdited:
        furred = request.category in LIVING
        edge, box = edge_of(photo, region, cut, furred=furred), box_of(region, PAD_PX)
        if furred or cut is not None:  # all of it changes, whatever colours it has
            if self.filters and request.value not in distinct_colours(photo, region):
                return refused("already so")
            if request.category in covers.GLAZED:
                return self._painted(photo, region, request, edge)
            return in_dye(photo, region, request, edge)
        old = edge.fore[box]
        usual = float(np.median(luma(old)[region[box]]))
        if self.filters and request.value == "white" and usual < 0.2:
            return refused("too dark")
        if self.filters and request.value == "black" and usual > 0.6:
            return refused("too bright")
        new = recoloured(old, region[box], request.value, vivid=vividness(photo))
        if self.filters and changed_by(old, new, region[box]) < LEAST_CHANGE:
            return refused("already so")
        change = over(photo, edge, box, new)
        if request.category in covers.VEHICLES:
            change.keep(photo, box, surfaces.unpainted(photo[box], region[box]))
        return change

    def _painted(
        self, photo: Floats, region: Mask, request: EditRequest, edge: Matte
    ) -> Change | NotEdited:
        """A vehicle's body in another colour; its glass and its tyres stay."""
        box = box_of(region, PAD_PX)
        if self.filters and body_light(lightness_of(photo[box]), region[box]) < DARK_PAINT:
            return refused("too dark")
        new = painted(edge.fore[box], region[box], request.value, vivid=dye_vividness(photo))
        if self.filters and changed_by(edge.fore[box], new, region[box]) < LEAST_CHANGE:
            return refused("already so")
        return over(photo, edge, box, new)

    # ---- what is around it

    def _context(
        self, photo: Floats, region: Mask, request: EditRequest, cut: Cutout | None
    ) -> Change | NotEdited:
        if self.filters and apart_from(request.value, photo, region) < LEAST_APART:
            return refused("looks like the place")
        others = [other.mask for other in request.others if other.mask.any()]
        problem = immersion.objection(photo, region, others) if self.filters else ""
        if problem:
            return refused(problem)
        edge = (
            edge_of(photo, region, cut, steady=True)
            if cut is None
            else _edge_to_copy(photo, cut, request.category)
        )
        picture = immersion.immersed(photo, edge, request.value, others, seed=request.seed)
        if self.filters and changed_by(photo, picture, edge.alpha <= 0) < LEAST_CHANGE:
            return refused("already so")
        return Change(picture, edge.alpha < 1)

    def _erase(
        self, photo: Floats, region: Mask, request: EditRequest, cut: Cutout | None
    ) -> Change | NotEdited:
        if self._is_seldom_patched(request, region):
            return refused("fill does not fit")
        company = company_of(region, request.category, request.others)
        filled = self._filled(photo, region, request, company, cut)
        if filled is None or self._is_badly_filled(request, company, region, *filled):
            return refused("fill does not fit")
        return Change(*filled)

    def _is_seldom_patched(self, request: EditRequest, region: Mask) -> bool:
        """Whether patches would have to fill the place of what they seldom do."""
        large = region.mean() >= SMALL_HOLE
        return bool(self.filters and not self.migan and large and request.category in NOT_PATCHED)

    def _filled(
        self,
        photo: Floats,
        region: Mask,
        request: EditRequest,
        company: Company,
        cut: Cutout | None,
    ) -> tuple[Floats, Mask] | None:
        """The photograph without an object, and where that changed it; None where what a network
        draws there would be noticed."""
        before = company.before(region)
        gone = region
        if cut is not None:
            gone = region | cut.mask & grown(region, round(FORGOTTEN * extent_px(region)))
        elif request.category in LIVING and request.kind != "move":  # whose outline is mended
            shape = silhouette_of(photo, region)
            gone = region | shape.mask if shape.is_trusted else region
        replaced = request.kind == "replace"
        hole = hole_of(photo, gone, before, company.blocked, replaced=replaced)
        others = company.blocked
        unseen = None if before is None else grown(before, 3)  # a network would go on with it
        if replaced or not self.migan:  # where it is replaced, most of the hole is covered
            found = fill(
                photo, hole, seed=request.seed, migan=self.migan, others=others, unseen=unseen
            )
            return found, hole
        drawing = draw(
            photo, hole, migan=self.migan, seed=request.seed, others=others, unseen=unseen
        )
        if self.filters and region.mean() >= SMALL_HOLE:
            share, sides = float(drawing.hole.mean()), sides_of(photo, region)
            troubles, more = _troubles(request, company), cut.more if cut else 0.0
            doubted = doubt_of_drawing(drawing.unlike, share, sides, troubles, more)
            if doubted > MOST_DOUBT_OF_DRAWINGS:
                return None
        return finished(photo, drawing), drawing.hole

    def _is_badly_filled(
        self,
        request: EditRequest,
        company: Company,
        region: Mask,
        filled: Floats,
        hole: Mask,
        hidden: Mask | None = None,
    ) -> bool:
        """Whether what is seen of a filled hole would be noticed."""
        if not self.filters or region.mean() < SMALL_HOLE:
            return False
        if self._is_seldom_patched(request, region):
            return True
        found = measure_fill(filled, hole, hidden)
        if found.foreign > MOST_FOREIGN:
            return True
        share = float(hole.mean())
        if not self.migan:
            return doubt_of_patches(found, share) > MOST_DOUBT_OF_PATCHES
        if request.kind != "replace":  # what was drawn was looked at before
            return False
        return doubt(found, share, _troubles(request, company)) > MOST_DOUBT

    # ---- other things, other places

    def _replace(
        self, photo: Floats, region: Mask, request: EditRequest, cut: Cutout | None
    ) -> Change | NotEdited:
        company = company_of(region, request.category, request.others)
        first = ""
        for found in newcomers(photo, region, request, self.donors, self.sam2):
            there = mask_at(photo.shape, found.cutting, found.place)
            problem = ""
            if self.filters:
                problem = objection_to_newcomer(photo, region, request, found, there, company)
            if not problem:
                return self._replaced(photo, region, request, company, cut, found, there)
            first = first or problem
        return refused(first or "no donor")

    def _replaced(
        self,
        photo: Floats,
        region: Mask,
        request: EditRequest,
        company: Company,
        cut: Cutout | None,
        found: Newcomer,
        there: Mask,
    ) -> Change | NotEdited:
        bare = float((region & ~there).sum() / region.sum())
        clean, hole = photo, np.zeros_like(region)
        if bare or found.details["category"] not in FLOATING:  # which covers the outline, too
            filled = self._filled(photo, region, request, company, cut)
            if filled is None:
                return refused("fill does not fit")
            clean, hole = filled
        picture, mask, touched = found.put_into(clean, in_front(found.place, company))
        if bare > COVERED and self._is_badly_filled(request, company, region, clean, hole, mask):
            return refused("fill does not fit")
        return Change(picture, touched | hole, mask, found.details)

    def _add(
        self, photo: Floats, region: Mask, request: EditRequest, cut: Cutout | None
    ) -> Change | NotEdited:
        """Put another thing beside the object: a computed one, its own double, or a donor's."""
        if self.filters and cut is None and is_collage(photo):
            return refused("collage")
        company = company_of(region, request.category, request.others)
        if is_computed(request):
            found = prop_among(photo, region, request, company)
            return self._put_beside(photo, region, company, found) if found else refused("no room")
        place = free_place(
            photo,
            region,
            company,
            category=request.category,
            flipped=request.category in TURNABLE,
            # an animal right behind another has no head
            most_overlap=MOST_OVERLAP if cut is None or request.category in LIVING else MOST_BEHIND,
        )
        if place is None:
            return refused("no room")
        if request.value == request.category:
            return self._doubled(photo, region, request, company, place, cut)
        newcomer = next(newcomers(photo, region, request, self.donors, self.sam2), None)
        if newcomer is None:
            return refused("no donor")
        own = newcomer.place
        there = place._replace(tall_px=own.tall_px, flipped=own.flipped)
        return self._put_beside(photo, region, company, newcomer._replace(place=there))

    def _put_beside(
        self, photo: Floats, region: Mask, company: Company, found: Newcomer
    ) -> Change | NotEdited:
        front = in_front(found.place, company, region)
        picture, mask, touched = found.put_into(photo, front)
        if self.filters and not is_seen(photo, picture, mask):
            return refused("not seen")
        if self.filters and not has_soil(photo, mask, found.details["category"]):
            return refused("no soil")
        return Change(picture, touched, mask, found.details)

    def _doubled(
        self,
        photo: Floats,
        region: Mask,
        request: EditRequest,
        company: Company,
        place: Place,
        cut: Cutout | None,
    ) -> Change | NotEdited:
        """The object once more, in another place."""
        edge = None if cut is None else _edge_to_copy(photo, cut, request.category)
        own = cutting_of(photo, region, company.blocked, edge)
        ahead = None if edge is None else np.where(edge.alpha[..., None] > 0, edge.fore, photo)
        picture, mask, touched = pasted(
            photo,
            own,
            place,
            harmonise=0,
            front=in_front(place, company, region, None if edge is None else edge.alpha),
            ahead=ahead,
            standing=request.category not in FLAT | AIRBORNE,
        )
        if self.filters and not is_seen(photo, picture, mask):
            return refused("not seen")
        return Change(picture, touched, mask, {"category": request.category})

    def _move(
        self, photo: Floats, region: Mask, request: EditRequest, cut: Cutout | None
    ) -> Change | NotEdited:
        if self.filters and is_collage(photo):
            return refused("collage")
        company = company_of(region, request.category, request.others)
        place = free_place(
            photo, region, company, category=request.category, flipped=False, leaves=True
        )
        if place is None:
            return refused("no room")
        filled = self._filled(photo, region, request, company, cut)
        if filled is None:
            return refused("fill does not fit")
        clean, hole = filled
        front = in_front(place, company)
        edge = None if cut is None else _edge_to_copy(photo, cut, request.category)
        own = cutting_of(photo, region, company.blocked, edge)
        stands = request.category not in FLAT | AIRBORNE
        picture, mask, touched = pasted(
            clean, own, place, harmonise=0, front=front, standing=stands
        )
        if self._is_badly_filled(request, company, region, clean, hole, mask):
            return refused("fill does not fit")
        return Change(picture, touched | hole, mask, {"category": request.category})


def _overgrown(photo: Floats, region: Mask, request: EditRequest) -> Change:
    """An object of leaves, blossoms or straw, some of which lie over its outline."""
    box, colours, found = overgrown(photo, region, request.value, seed=request.seed)
    own = found[..., None]
    picture = photo.copy()
    picture[box] = grey_as(photo, colours) * own + photo[box] * (1 - own)
    touched = np.zeros_like(region)
    touched[box] = found > 0
    return Change(picture, touched & grown(region, EDGE_PX))


def _troubles(request: EditRequest, company: Company) -> int:
    """How many things are known that are often seen after an object was erased."""
    return neighbours.troubles(company) + (request.category in LEAVING_TRACES)


def _edge_to_copy(photo: Floats, cut: Cutout, category: str) -> Matte:
    """The soft edge of an object that is put elsewhere: of made things a pixel farther inside, as
    what was behind it would be seen as a rim there."""
    if category in LIVING:
        return cut.edge(photo, furred=True)
    return cut._replace(mask=core(cut.mask, 1)).edge(photo)


def refused(reason: str) -> NotEdited:
    """An answer that asking again won't change."""
    return NotEdited(outcome="refused", reason=reason)
