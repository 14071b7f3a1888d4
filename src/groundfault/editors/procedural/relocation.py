"""An object in another place: the place comes to the object, whose own pixels stay as they are."""

from __future__ import annotations

import cv2
import numpy as np

from groundfault.editors.procedural.edges import Floats, Mask, Matte, box_of, floats, grown
from groundfault.editors.procedural.places import View, rendered
from groundfault.editors.procedural.relief import blur_px, exposure, grain, illuminant
from groundfault.editors.procedural.repertoire import HEIGHTS_M

__all__ = ["relocated", "shadowed", "view_of"]

EYE_M = 1.5
"""Most photographs are taken by people who stand."""
TABLE_M = 0.45
"""The camera above a table, of things that lie on tables."""
SMALL_M = 0.36


def view_of(mask: Mask, category: str) -> View | None:
    """The camera for which an object of this category has its size and stands where it does. None
    where nobody knows how tall such objects are."""
    tall_m = HEIGHTS_M.get(category)
    if tall_m is None:
        return None
    rows, _ = box_of(mask)
    tall_px = rows.stop - rows.start
    focal_px = 0.95 * max(mask.shape)
    object_m = focal_px * tall_m / tall_px
    is_pet = category in ("cat", "dog", "bird", "teddy bear")
    camera_m = TABLE_M if tall_m < SMALL_M and not is_pet else EYE_M
    camera_m = min(camera_m, max(1.1 * object_m, 0.3))  # nobody looks straight down
    contact = rows.stop - 0.03 * tall_px
    return View(mask.shape, contact - focal_px * camera_m / object_m, focal_px, camera_m, object_m)


def relocated(photo: Floats, mask: Mask, edge: Matte, place: str, view: View, seed: int) -> Floats:
    """The object before a rendered place. Pixels that are wholly the object's keep their values."""
    white, tint = exposure(photo, mask), illuminant(photo)
    scene = rendered(place, view, seed, white=max(white, 0.45), tint=tint)
    if place == "lake":
        scene = _mirrored(scene, edge)
    scene = shadowed(scene, mask, 0.45)
    scene = _as_photographed(scene, photo, mask, view, seed)
    share = np.clip((edge.alpha - 0.28) / 0.68, 0, 1)[..., None]  # less of the old background
    share = np.where(edge.alpha[..., None] >= 1, 1, share)
    out = edge.fore * share + scene * (1 - share)
    return np.where(share >= 1, photo, out).astype(np.float32)


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
    return floats(np.clip(scene + noise[..., None] * min(grain(photo), 0.02), 0, 1))
