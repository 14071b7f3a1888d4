"""Whether a new surface or substance can look right on an object: limits first, then a doubt that
was learnt from edits that were judged by eye. Reasons are short and stable, so that a funnel can
count them."""

from __future__ import annotations

import math
from typing import NamedTuple

import cv2
import numpy as np

from groundfault.editors.procedural.cutouts import LEAST_SURE, Cutout
from groundfault.editors.procedural.doubts import doubt, groups_of
from groundfault.editors.procedural.edges import Floats, Mask, box_of
from groundfault.editors.procedural.fitness import LARGEST_SHARE, LOOSER, Measures, is_whole
from groundfault.editors.procedural.fitting import LEAST_LIT, LEAST_NEW, LIT, novelty
from groundfault.editors.procedural.looks import SEEN_THROUGH, Skin, skin_of
from groundfault.editors.procedural.occlusion import Contact
from groundfault.editors.procedural.relief import LUMA, linear
from groundfault.editors.procedural.repertoire import KNOWN_BY_PIECES, LIVING, SLATTED
from groundfault.interfaces import EditRequest

__all__ = [
    "BY_COLOURS",
    "DYED",
    "GLAZED",
    "KINDS",
    "LEAST_CLEAR",
    "MOST_KEPT",
    "SLOTTED",
    "VEHICLES",
    "Thing",
    "clarity",
    "measures_of",
    "objection",
    "objection_to_colour",
    "objection_to_cutout",
    "objection_to_growth",
    "objection_to_outline",
    "outline_measures",
    "seen",
    "shade_of",
]

KINDS = ("surface", "material")
BY_COLOURS = (*KINDS, "recolour")
"""Kinds that an object is given where a network does not cut it out, too: by its colours."""
VEHICLES = ("airplane", "bus", "car", "train", "truck")
WINDOWED = frozenset({*VEHICLES, "keyboard", "laptop", "microwave", "oven"})
"""What has windows, tyres, screens or dials: all of it is dyed in a pattern, so that they are still
seen."""
GLAZED = WINDOWED - {"airplane"}
"""What has a body beside its windows, tyres and screens, which stay where it is painted; below the
wings of an airplane it is as dark as they are."""
LETTERED = frozenset({"clock", "handbag", "sink", "stop sign", "toothbrush", "tv"})
"""What is known by what is on it or in it, which is still seen where all of it is dyed."""
DYED = LIVING | WINDOWED | LETTERED
"""What is dyed in a pattern instead of being covered with it."""
SLOTTED = frozenset({"bench", "chair", "fire hydrant"})
"""What has gaps that a drawn mask covers and that are darker than the rest."""
MOST_KEPT = 0.3
"""How much of such a thing may be gaps."""
SHAPES_VARY = {"kite", "refrigerator", "suitcase", "teddy bear", "vase"}
SHORT_HAIRED = ("cow", "elephant", "horse")
"""Animals on whose dark fur light and shade can be seen."""
IN_BOWLS = ("apple", "banana", "donut", "orange")
"""What lies among others of its kind, and is recognised there."""
MOST_PATTERN_OF_FUR = 0.42
"""Stripes, curls and patches that are stronger show through."""
MOST_MOTLEY = 0.6
"""How much of a thing that a surface covers may have another hue than most of it."""
MOST_PATTERN_CAST = 0.6
"""Stronger ones of what a network cut out become ridges that nobody would cast."""
MOST_TOUCHED_VEHICLE = 0.3
"""Of vehicles that touch others more, people and other vehicles hide a part."""
MOST_BEFORE = {"surface": 0.4, "material": 0.35, "recolour": 0.5}
"""How much of the outline of what a network cut out things may have that stand before it: they are
painted with it, or bitten out, which is seen in a large picture and seldom at the size of a
sheet."""
MOST_DOUBT = {"surface": 0.9, "material": 0.8, "recolour": 0.7}
"""The largest `doubt` that is let through."""
CLEAR = {"sure": 12.5, "added": -5.4, "missed": -1.4, "more": -6.0, "weak": -0.7, "agreed": 12.0}
USUALLY_CLEAR = -21.7
HARDER = {
    ("material", "vehicles"): -1.7,
    ("recolour", "vehicles"): -1.0,
    ("surface", "vehicles"): -0.6,
    **dict.fromkeys((("material", "animals"), ("surface", "animals")), -0.2),
}
LEAST_CLEAR = {"surface": -3.0, "material": -2.5, "recolour": -3.0, "context": -0.5}
"""The odds that a careful eye keeps an edit of a cut-out, as a logarithm, and what they have to be:
by how sure the network is, the roots of how much it and who drew the mask disagree about, how much
of the outline separates nothing, and the IoU of both masks; and what is harder on vehicles and
animals. `bench/cutout_odds.py` fits the weights on 815 edits that reviewers judged, that of the IoU
afterwards on 436 others, and prints how well they rank them, and what more care would keep."""
MOST_BEFORE_GROWTH, LEAST_THICK, LEAST_AGREED_GROWTH = 0.06, 0.1, 0.8
"""Of what leaves or straw cover: how much of its outline things before it may have, how thick it
is, and how far the network and who drew the mask agree, at least."""
MOST_AGREED = 0.97
"""Masks that are drawn by hand are not nearer to the truth."""
DARK_DYED = 0.1
"""What is darker takes no dye: its noise does."""
LITTLE_DOUBT = -0.5
"""A surface about which there is less is let through though other limits would refuse it."""
OVERRULED = ("occluded", "outline unclear")
"""The objections that little doubt overrules: they are guesses from a silhouette."""


class Thing(NamedTuple):
    """What is known of an object that gets a surface or is recast."""

    category: str
    found: Measures
    skin: Skin
    touched: Contact
    drift: float
    """How far its outline had to be moved to where the colours change: 1 - IoU with the drawn
    one."""
    shade: float
    """The deviation of its logarithmic light, slightly smoothed."""
    novelty: float
    """How far its colours are from those of the surface or substance."""
    same: int
    """How many others of its category are annotated in the picture."""


def seen(
    request: EditRequest,
    photo: Floats,
    mask: Mask,
    drawn: Mask,
    found: Measures,
    touched: Contact,
) -> Thing:
    """Measure an object whose outline was `drawn` and then moved to where its `mask` ends."""
    both = max(int((mask | drawn).sum()), 1)
    return Thing(
        category=request.category,
        found=found,
        skin=skin_of(photo, mask),
        touched=touched,
        drift=1 - float((mask & drawn).sum() / both),
        shade=shade_of(photo, mask),
        novelty=novelty(request.value, photo, mask),
        same=sum(other.category == request.category for other in request.others),
    )


def shade_of(photo: Floats, mask: Mask) -> float:
    """How much light and shade, or how many paints, an object has."""
    box = box_of(mask, 1)
    inside = mask[box].astype(np.float32)
    greys = np.log(np.maximum(linear(photo[box]) @ LUMA, 0.004))
    weight = np.maximum(cv2.GaussianBlur(inside, (0, 0), 2.5), 1e-3)
    smooth = cv2.GaussianBlur(greys * inside, (0, 0), 2.5) / weight
    return float(smooth[mask[box]].std())


def measures_of(thing: Thing) -> dict[str, float]:
    """What the doubt about a surface or substance is learnt from."""
    found, skin, touched = thing.found, thing.skin, thing.touched
    return {
        "share": found.share,
        "pieces": found.pieces,
        "thickness": found.thickness,
        "lit": found.lit,
        "burnt": found.burnt,
        "blur_px": found.blur_px,
        "contrast": found.contrast,
        "pattern": found.pattern,
        "solidity": found.solidity,
        "cut_side": found.cut_side,
        "through": found.through,
        **skin._asdict(),
        "any": touched.any,
        "front": touched.front,
        "low": touched.low,
        "gap": touched.gap,
        "drift": thing.drift,
        "shade": thing.shade,
        "whole": float(is_whole(thing.category, found.solidity, found.tallness)),
        "novelty": thing.novelty,
        "same": float(thing.same),
    }


def objection(kind: str, value: str, thing: Thing, care: float = 0.0) -> str:
    """Why an object doesn't suit a new surface or substance; "" where it does. The more `care`, the
    better the odds have to be."""
    problem = _impossible(thing)
    if problem:
        return problem
    problem = _to_cover(thing) if kind == "surface" else ""
    doubtful = doubt(kind, thing.category, value, measures_of(thing))
    if problem and not (problem in OVERRULED and doubtful < LITTLE_DOUBT):
        return problem
    return "doubtful" if doubtful > MOST_DOUBT[kind] - care else ""


def objection_to_cutout(kind: str, value: str, thing: Thing, cut: Cutout, care: float = 0.0) -> str:
    """Why an object that a network has cut out doesn't suit a new surface, substance or colour; ""
    where it does. Its outline is right, so that its looks are asked, and not the learnt doubt,
    whose verdicts are on drawn outlines. The more `care`, the better the odds have to be."""
    problem = _of_cutout(kind, value, thing)
    if problem:
        return problem
    if kind != "recolour" and thing.novelty < LEAST_NEW:
        return "already so"
    return objection_to_outline(
        kind, thing.category, cut, thing.found, thing.skin, thing.touched, care
    )


def objection_to_growth(thing: Thing, cut: Cutout | None) -> str:
    """Why an object can't be of leaves or straw, which cover all that it had, and its rim: its form
    must be seen whole."""
    found, category = thing.found, thing.category
    if found.share > LARGEST_SHARE:
        return "too large"
    shaped = category in LIVING or category in VEHICLES
    hidden = shaped and not is_whole(category, found.solidity, found.tallness)
    if hidden or found.pieces > 0.06 or thing.touched.front > MOST_BEFORE_GROWTH:
        return "occluded"
    if found.blur_px > 2.2:
        return "blurred"
    if found.thickness < LEAST_THICK:
        return "too thin"
    if thing.novelty < LEAST_NEW:
        return "already so"
    unclear = cut is not None and cut.agreed < LEAST_AGREED_GROWTH
    return "outline unclear" if unclear else ""


def objection_to_outline(
    kind: str,
    category: str,
    cut: Cutout,
    found: Measures,
    skin: Skin,
    touched: Contact,
    care: float = 0.0,
) -> str:
    """Why the outline of an object that a network has cut out won't do for a kind of edit. In
    another place what is before a thing stays there."""
    shaped = kind != "context" and (category in LIVING or category in VEHICLES)
    if shaped and not is_whole(category, found.solidity, found.tallness, LOOSER):
        return "occluded"
    if touched.front > MOST_BEFORE.get(kind, 1.0):
        return "occluded"
    clear = clarity(kind, category, cut, skin) >= LEAST_CLEAR[kind] + care
    return "" if clear else "outline unclear"


def clarity(kind: str, category: str, cut: Cutout, skin: Skin) -> float:
    """The odds that a careful eye keeps an edit of what a network has cut out, as a logarithm."""
    measures = outline_measures(cut, skin)
    odds = USUALLY_CLEAR + sum(CLEAR[name] * value for name, value in measures.items())
    return odds + sum(HARDER.get((kind, group), 0.0) for group in groups_of(category))


def outline_measures(cut: Cutout, skin: Skin) -> dict[str, float]:
    """What the odds of an outline are learnt from, by the names of `CLEAR`."""
    return {
        "sure": max(cut.sure, LEAST_SURE),
        "added": math.sqrt(min(cut.added, 0.05)),
        "missed": math.sqrt(min(cut.missed, 0.05)),
        "more": math.sqrt(min(cut.more, 0.3)),
        "weak": skin.weak,
        "agreed": min(cut.agreed, MOST_AGREED),
    }


def _of_cutout(kind: str, value: str, thing: Thing) -> str:
    """What can't be seen on an object whose outline is right."""
    category, found, skin = thing.category, thing.found, thing.skin
    if found.share > LARGEST_SHARE:
        return "too large"
    if category in SEEN_THROUGH:
        return "seen through"
    if found.pieces > 0.06:
        return "occluded"
    dyed = kind == "recolour" or (kind == "surface" and category in DYED)
    if found.lit < LEAST_LIT.get(value, LIT) or (dyed and found.brightness < DARK_DYED):
        return "too dark"
    if found.burnt > 0.35:
        return "burnt out"
    if found.blur_px > 2.2:
        return "blurred"
    if found.thickness < 0.08:
        return "too thin"
    if found.pattern > _most_pattern(kind, category):
        return "patterned already"
    if kind == "recolour" and category not in LIVING and skin.motley > 0.45:
        return "many colours"
    return "seen through" if _is_seen_through(category, found) else ""


def _most_pattern(kind: str, category: str) -> float:
    """How strong stripes and patches may be: a substance shows them as relief, surfaces and paints
    let them through."""
    if kind == "material":
        return MOST_PATTERN_CAST
    if category not in LIVING:
        return 0.6 if kind == "recolour" or category in WINDOWED else 0.5
    return MOST_PATTERN_OF_FUR


def objection_to_colour(value: str, thing: Thing, care: float = 0.0) -> str:
    """Why an object doesn't suit a new colour, besides what its looks say; "" where it does. The
    more `care`, the better the odds have to be."""
    doubtful = doubt("recolour", thing.category, value, measures_of(thing))
    return "doubtful" if doubtful > MOST_DOUBT["recolour"] - care else ""


def _impossible(thing: Thing) -> str:
    """What no substance and no surface can be seen on."""
    category, found = thing.category, thing.found
    shaggy = category in LIVING and category not in SHORT_HAIRED
    if found.share > LARGEST_SHARE:
        return "too large"
    if found.pieces > 0.06:
        return "occluded"
    if found.lit < 0.16 or (shaggy and found.brightness < 0.18):
        return "too dark"
    if found.burnt > 0.35:
        return "burnt out"
    if found.blur_px > 2.2:
        return "blurred"
    if found.thickness < 0.12:
        return "too thin"
    if category in LIVING and found.pattern > MOST_PATTERN_OF_FUR:
        return "patterned already"
    if category in VEHICLES and thing.touched.any > MOST_TOUCHED_VEHICLE:
        return "touches others"
    return "seen through" if _is_seen_through(category, found) else ""


def _is_seen_through(category: str, found: Measures) -> bool:
    """Whether what is behind an object shows, between slats or through glass."""
    return category != "bench" and found.through > SLATTED.get(category, 1.0)


def _to_cover(thing: Thing) -> str:
    category, found, skin = thing.category, thing.found, thing.skin
    windowed = category in VEHICLES
    if _is_hidden(thing):
        return "occluded"
    if category != "bench" and found.pattern > (0.75 if windowed else 0.5):
        return "patterned already"
    if not windowed and skin.motley > MOST_MOTLEY:
        return "many colours"
    if found.through > (0.35 if windowed else 0.27):
        return "outline unclear"
    if (
        found.contrast < 0.5
        or skin.fit < (0.65 if category == "oven" else 0.47)
        or skin.weak > 0.35
    ):
        return "outline unclear"
    return ""


def _is_hidden(thing: Thing) -> bool:
    """Whether an object is a piece of one, by its silhouette and by what touches it."""
    category, found, touched = thing.category, thing.found, thing.touched
    varies = category != "toilet" and category in KNOWN_BY_PIECES | SHAPES_VARY
    if not varies and not is_whole(category, found.solidity, found.tallness, LOOSER):
        return True
    if category in IN_BOWLS:
        return False
    animal = category in LIVING and category != "teddy bear"
    front, most = (0.12, 0.3) if animal else (0.25, 0.6) if category == "chair" else (0.45, 0.8)
    return touched.front > front or touched.any > most
