"""The target of an edit, in its photograph: where it ends, by a network or by its colours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from groundfault.editors.procedural import covers, fitness, looks
from groundfault.editors.procedural.cutouts import Cutout, cut_out
from groundfault.editors.procedural.edges import (
    Floats,
    Mask,
    Matte,
    band_px,
    crisp,
    evened,
    matte,
    snap,
    steadied,
)
from groundfault.editors.procedural.gaps import gaps_of
from groundfault.editors.procedural.outlines import followed
from groundfault.editors.procedural.repertoire import LIVING
from groundfault.editors.procedural.silhouettes import Silhouette, mended, silhouette_of
from groundfault.interfaces import EditRequest, Neighbour

__all__ = ["SEEN", "Target", "edge_of", "target_of"]

SEEN = (*covers.BY_COLOURS, "context")
"""Kinds of edit after which the object is where it was; it may be cut out by its colours, too."""
HOLES = ("erase", "replace")
"""Kinds of edit after which the object is gone."""
MOST_LEFT = 0.3
"""How much of what the network sees as an object may go on beyond its mask, as a share of it, where
the object goes: that much would stay behind."""
COPIED = ("add", "move")
"""Kinds of edit that put the object elsewhere."""
LEAST_SURE_OF_COPIES, LEAST_AGREED_OF_COPIES = 0.8, 0.8
"""Limits of a cut-out that is put elsewhere: what was drawn tells which object is meant, no more.
Of 7 that were judged by eye and that stricter limits refuse, 3 were accepted, and the others stood
where they could not."""


class Target(NamedTuple):
    """What is edited."""

    mask: Mask
    """Where it is; where it goes, as it was drawn."""
    shape: Silhouette | None
    """What its colours say about the mask, of what lives and is not cut out."""
    cut: Cutout | None
    """What a network sees of it; None without one, or where colours have to do."""


def target_of(
    photo: Floats, drawn: Mask, request: EditRequest, sam2: str, *, filters: bool
) -> Target | None:
    """The target that a mask was drawn for; None where nobody knows where it ends."""
    cut = _cutout(photo, drawn, request, sam2) if sam2 else None
    if filters and cut is not None and not _is_clear(cut, request):
        return None
    if request.kind in HOLES:
        return Target(drawn, None, cut)
    if cut is not None:
        if request.category not in LIVING:  # a network's masks are small, and ragged when enlarged
            cut = cut._replace(mask=evened(cut.mask, 0.8 * band_px(cut.mask)))
        return Target(cut.mask, None, cut)
    shape = silhouette_of(photo, drawn) if request.category in LIVING else None
    if request.kind in covers.KINDS + looks.KINDS:
        return Target(_outlined(photo, drawn, request, shape), shape, None)
    if shape is not None and shape.is_trusted:
        return Target(shape.mask, shape, None)
    return Target(drawn, shape, None)


def _cutout(photo: Floats, drawn: Mask, request: EditRequest, sam2: str) -> Cutout | None:
    """The object as the network sees it; None where it sees nothing of it."""
    found = cut_out(photo, drawn, sam2, _masks_of(request.others, drawn))
    return found if int(found.mask.sum()) >= fitness.SMALLEST_PX else None


def _masks_of(others: tuple[Neighbour, ...], region: Mask) -> Mask:
    """Where other annotated things are."""
    masks = [np.zeros_like(region), *(other.mask for other in others)]
    return np.asarray(np.logical_or.reduce(masks))


def _is_clear(cut: Cutout, request: EditRequest) -> bool:
    """Whether a cut-out may do: where the object only goes, all of it must."""
    if request.kind in COPIED:
        return cut.sure >= LEAST_SURE_OF_COPIES and cut.agreed >= LEAST_AGREED_OF_COPIES
    return cut.beyond <= MOST_LEFT if request.kind in HOLES else cut.is_trusted


def edge_of(
    photo: Floats,
    region: Mask,
    cut: Cutout | None,
    *,
    blur: float | None = None,
    steady: bool = False,
    furred: bool = False,
) -> Matte:
    """An object's soft edge: a network's where there is one; else by colours, or, of made things,
    as sharp as the photograph is, whose `blur` is given. `furred` is what has hair, and gets other
    colours."""
    if cut is not None:
        return cut.edge(photo, furred=furred, blur=1.0 if blur is None else blur)
    if blur is not None:
        return crisp(photo, region, blur)
    found = matte(photo, region)
    return steadied(found, region) if steady else found


def _outlined(photo: Floats, region: Mask, request: EditRequest, shape: Silhouette | None) -> Mask:
    """An object's mask, its outline moved to where the object ends: that of made things is smooth
    and leaves out what is seen through them; what lives has a `shape` by its colours."""
    made = shape is None
    if request.kind == "context":  # what it has inside its outline stays in any place
        return snap(photo, region | shape.mask if shape and shape.is_trusted else region)
    if made and request.kind == "recolour":
        return snap(photo, region)
    found = followed(photo, region, stiff=made)
    if shape is not None:
        return mended(found, region, shape) if shape.is_trusted else found
    even = evened(found, 0.8 * band_px(found))
    return even & ~gaps_of(photo, even)
