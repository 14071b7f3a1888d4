"""An object in another place: the place comes to the object, whose own pixels stay as they are."""

from __future__ import annotations

import cv2
import numpy as np

from groundfault.editors.procedural.edges import Floats, Mask, Matte, box_of, floats, grown
from groundfault.editors.procedural.places import View, rendered
from groundfault.editors.procedural.relief import (
    blur_px,
    exposure,
    extent_px,
    grain,
    illuminant,
)
from groundfault.editors.procedural.repertoire import HEIGHTS_M, LENGTHS_M

__all__ = ["relocated", "shadowed", "view_of"]

EYE_M = 1.5
"""Most photographs are taken by people who stand."""
HIGHEST_HORIZON = 0.08
"""As a share of the picture's height: a ground that fills it looks like a wall behind the object.
Who photographs small things crouches."""
ROUND = frozenset({"bowl", "donut", "pizza"})
FRONTAL = frozenset({"clock", "frisbee", "stop sign"})
"""Flat things that are photographed from the front: lying, they are seen from straight above."""
HIGHEST_FOOT = 0.3
"""How far above an object's lowest point others of its feet may stand, as a share of its height."""
STEEP = 0.75
"""How steeply the camera looks down on a table, as a sine."""


def view_of(mask: Mask, category: str, stance: str) -> View | None:
    """The camera for which an object of this category has its size and stands where it does. None
    where nobody knows how large such objects are."""
    if stance == "flying":
        return _far_below(mask)
    if stance == "lying":
        return _from_above(mask, category)
    tall_m = HEIGHTS_M.get(category)
    if tall_m is None:
        return None
    rows, _ = box_of(mask)
    tall_px = rows.stop - rows.start
    focal_px = 0.95 * max(mask.shape)
    object_m = focal_px * tall_m / tall_px
    contact = rows.stop - 0.03 * tall_px
    highest = max((contact - HIGHEST_HORIZON * mask.shape[0]) * tall_m / tall_px, 0.2 * tall_m)
    camera_m = min(EYE_M, highest)
    return View(mask.shape, contact - focal_px * camera_m / object_m, focal_px, camera_m, object_m)


def _far_below(mask: Mask) -> View:
    """A ground low in the picture, for what is in the air."""
    rows, _ = box_of(mask)
    horizon = max(0.88 * mask.shape[0], rows.stop + 0.06 * mask.shape[0])
    focal_px = 0.95 * max(mask.shape)
    return View(mask.shape, horizon, focal_px, EYE_M, 40.0)


def _from_above(mask: Mask, category: str) -> View | None:
    """The camera above what lies on the ground. Round things tell how steeply it looks down: they
    are ellipses."""
    long_m = LENGTHS_M.get(category)
    if long_m is None:
        return None
    rows, columns = box_of(mask)
    tall, wide = rows.stop - rows.start, columns.stop - columns.start
    steep = 0.95 if category in FRONTAL else STEEP
    if category in ROUND:
        steep = float(np.clip(tall / wide, 0.45, 0.95))
    focal_px = 1.8 * max(mask.shape)
    per_m = max(tall, wide) / long_m
    contact = rows.stop - 0.1 * tall
    below = focal_px * steep
    return View(mask.shape, contact - below, focal_px, below / per_m, focal_px / per_m)


def relocated(
    photo: Floats,
    mask: Mask,
    edge: Matte,
    place: str,
    view: View,
    *,
    stance: str,
    solid: bool,
    seed: int,
) -> Floats:
    """The object before a rendered place. Pixels that are wholly the object's keep their values.
    Under what is `solid` it is dark, under what has legs less so."""
    white, tint = exposure(photo, mask), illuminant(photo)
    scene = rendered(place, view, seed, white=max(white, 0.45) ** 0.65, tint=tint)
    if stance == "lying":
        scene = _laid(scene, mask)
    elif stance == "standing":
        if place == "lake":
            scene = _mirrored(scene, edge)
        scene = _stood(scene, mask, view, solid=solid)
    scene = _as_photographed(scene, photo, mask, view, seed)
    share = np.clip((edge.alpha - 0.42) / 0.56, 0, 1)[..., None]  # less of the old background
    share = np.where(edge.alpha[..., None] >= 1, 1, share)
    out = edge.fore * share + scene * (1 - share)
    return np.where(share >= 1, photo, out).astype(np.float32)


def _laid(scene: Floats, mask: Mask) -> Floats:
    """A ground darkened around what lies on it: narrow and dark where it touches, wide and faint
    away from the light."""
    size = extent_px(mask)
    dark = np.zeros(mask.shape, np.float32)
    for right, down, wide, strength in (
        (0.004, 0.010, 0.010, 0.40),
        (0.020, 0.030, 0.030, 0.28),
        (0.050, 0.060, 0.075, 0.22),
    ):
        moved = floats([[1, 0, right * size], [0, 1, down * size]])
        shade = cv2.warpAffine(mask.astype(np.float32), moved, mask.shape[::-1])
        dark += strength * cv2.GaussianBlur(shade, (0, 0), max(wide * size, 1.0))
    return np.asarray(scene * (1 - np.clip(dark, 0, 0.8))[..., None], np.float32)


def _stood(scene: Floats, mask: Mask, view: View, *, solid: bool) -> Floats:
    """A ground darkened under an object that stands on it: most where it touches the ground, which
    rises towards those of its feet that are farther away, and faintly behind it to the right."""
    rows, columns = box_of(mask)
    tall, wide = rows.stop - rows.start, columns.stop - columns.start
    line = _lower_hull(mask)
    highest = min(HIGHEST_FOOT * tall, _rise_px(view, wide) + 0.04 * tall)
    line = np.where(line > rows.stop - highest, line, -1e6)  # higher up it hangs over
    y = np.arange(mask.shape[0], dtype=np.float32)[:, None]
    above = line[None] - y
    feet = _shifted(mask & (above < 0.07 * tall), int(0.010 * tall) + 1)
    tight = cv2.GaussianBlur(
        feet, (0, 0), sigmaX=max(0.02 * wide, 2), sigmaY=max(0.010 * tall, 1.5)
    )
    wider = cv2.GaussianBlur(feet, (0, 0), sigmaX=max(0.05 * wide, 4), sigmaY=max(0.02 * tall, 3))
    under = (above > -0.012 * tall) & (above < 0.12 * tall) & _between(feet > 0)
    under = cv2.GaussianBlur(under.astype(np.float32), (0, 0), max(0.02 * tall, 2))
    low = rows.stop - 1
    flat = floats([[1, -0.55, 0.55 * low], [0, 0.16, 0.84 * low]])
    long = cv2.warpAffine(mask.astype(np.float32), flat, mask.shape[::-1])
    long = cv2.GaussianBlur(long, (0, 0), max(0.025 * tall, 2))
    dark = 0.62 * tight + 0.30 * wider + (0.60 if solid else 0.22) * under + 0.14 * long
    line = _carried_on(np.where(feet.any(0), line, -1e6))
    on = np.clip((y - line[None] + 0.06 * tall) / (0.06 * tall), 0, 1)
    dark = dark * on * np.clip((y - view.horizon_px) / (0.02 * mask.shape[0]), 0, 1)
    return np.asarray(scene * (1 - np.clip(dark, 0, 0.82)[..., None]), np.float32)


def _rise_px(view: View, wide_px: float) -> float:
    """How far up in the picture a ground goes between the front and the back of an object as deep
    as it is wide."""
    deep_m = wide_px * view.object_m / view.focal_px
    low_m = view.focal_px * view.camera_m
    return low_m / view.object_m - low_m / (view.object_m + deep_m)


def _carried_on(line: Floats) -> Floats:
    """The ground's row also for columns beside the object: there it is as low as at its end."""
    known = np.flatnonzero(line > 0)
    if not known.size:
        return line
    return floats(np.interp(np.arange(len(line)), known, line[known]))


def _lower_hull(mask: Mask) -> Floats:
    """Per column, the row of the ground below an object: the lower side of its convex hull, above
    the picture where it is not."""
    points = cv2.findNonZero(mask.astype(np.uint8))
    hull = np.zeros(mask.shape, np.uint8)
    cv2.fillConvexPoly(hull, cv2.convexHull(points), 1)
    lowest = mask.shape[0] - 1 - hull[::-1].argmax(0)
    return floats(np.where(hull.any(0), lowest, -1e6))


def _between(feet: Mask) -> Mask:
    """The columns from the first to the last that has a foot, (1, w)."""
    columns = np.flatnonzero(feet.any(0))
    x = np.arange(feet.shape[1])[None]
    return np.asarray((x >= columns[0]) & (x <= columns[-1]) if columns.size else x < 0)


def shadowed(scene: Floats, mask: Mask, strength: float, thrown: float = 0.38) -> Floats:
    """A ground darkened where an object stands on it, and more faintly along the shadow that it
    throws behind it to the right."""
    rows, columns = box_of(mask)
    low, tall = rows.stop - 1, rows.stop - rows.start
    wide = columns.stop - columns.start
    near = mask & (np.arange(mask.shape[0])[:, None] > low - 0.10 * tall)
    feet = _shifted(near, int(0.012 * tall) + 1)
    soft = cv2.GaussianBlur(feet, (0, 0), sigmaX=max(0.03 * wide, 2), sigmaY=max(0.012 * tall, 1.5))
    wider = cv2.GaussianBlur(feet, (0, 0), sigmaX=max(0.08 * wide, 4), sigmaY=max(0.03 * tall, 3))
    flat = floats([[1, -0.55, 0.55 * low], [0, 0.16, 0.84 * low]])
    long = cv2.warpAffine(mask.astype(np.float32), flat, mask.shape[::-1])
    long = cv2.GaussianBlur(long, (0, 0), max(0.02 * tall, 2))
    dark = np.clip(strength * (1.1 * soft + 0.5 * wider + thrown * long), 0, 0.75)
    return np.asarray(scene * (1 - dark[..., None]), np.float32)


def _shifted(mask: Mask, down_px: int) -> Floats:
    moved = np.zeros(mask.shape, np.float32)
    if down_px < mask.shape[0]:
        moved[down_px:] = mask[: mask.shape[0] - down_px]
    return moved


def _mirrored(scene: Floats, edge: Matte) -> Floats:
    """Water with the object's reflection, ruffled and fading."""
    mask = edge.alpha > 0.5
    rows, _ = box_of(mask)
    low = rows.stop - 1
    y, x = np.mgrid[: mask.shape[0], : mask.shape[1]].astype(np.float32)
    wave = np.sin(y * 0.9 + 3 * np.sin(x * 0.05)) * np.clip((y - low) * 0.03, 0, 3)
    at = (x + wave, np.clip(2 * low - 2 - y, -1, None))
    share = cv2.remap(edge.alpha, *at, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
    seen = cv2.remap(edge.fore, *at, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
    share = cv2.GaussianBlur(share, (0, 0), 1.5) * (y >= low - 1)
    share = (share * np.clip(0.75 - (y - low) / max(low, 1), 0.2, 0.75))[..., None]
    return np.asarray(scene * (1 - share) + seen * 0.85 * share, np.float32)


def _as_photographed(scene: Floats, photo: Floats, mask: Mask, view: View, seed: int) -> Floats:
    """A rendered scene as blurred and as grainy as the photograph; more blurred far away where the
    photograph's own background is."""
    object_blur = min(blur_px(photo, mask), 2.0)
    far_blur = max(object_blur, 0.8 * min(blur_px(photo, ~grown(mask, 9)), 3.5), 0.6)
    near = cv2.GaussianBlur(scene, (0, 0), max(object_blur * 0.8, 0.5))
    far = cv2.GaussianBlur(scene, (0, 0), far_blur * max(mask.shape) / 640 + 0.3)
    rows = np.arange(mask.shape[0], dtype=np.float32)
    away = view.focal_px * view.camera_m / np.maximum(rows - view.horizon_px, 0.5)
    share = np.clip((away - 1.1 * view.object_m) / (2.5 * view.object_m), 0, 1)[:, None, None]
    scene = near * (1 - share) + far * share
    noise = np.random.default_rng(seed + 77).standard_normal(mask.shape).astype(np.float32)
    noise = 0.6 * noise + 1.1 * cv2.GaussianBlur(noise, (0, 0), 0.8)
    return floats(np.clip(scene + noise[..., None] * min(grain(photo), 0.012), 0, 1))
