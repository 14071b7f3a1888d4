"""An object's shadow on the ground: it goes with the object, and comes along with it. With what has
to be filled where an object goes."""

from __future__ import annotations

import cv2
import numpy as np

from groundfault.editors.procedural.edges import (
    Floats,
    Mask,
    box_of,
    colour_steps,
    core,
    depth_inside,
    disc,
    floats,
    grown,
)
from groundfault.editors.procedural.relief import extent_px

__all__ = ["hole_of", "shadow_of", "shadowed"]

LOW = 0.65
"""Shadows are looked for from here on downwards, as a share of an object's height."""
MOST_HUE = 12.0
"""How far a shadow's hue may be from the ground's, in Lab."""
MOST_EDGES = 2.0
"""How many more edges than the ground a shadow may have."""
NARROW = 0.06
"""Shadows that are nowhere deeper, as a share of the object's extent, have edges all over: those of
their border. Below a car there is such a one, and taken for a thing it would stay behind."""
SOFT_PX = 4
"""How far beyond what is dark a shadow fades out: what is left of it would be gone on with."""
CLOSED = 0.07
"""How wide gaps in an object are that are filled with it, as a share of its extent: what is seen
between legs or wheels is mostly its shadow, and too little to go on with."""


def shadow_of(photo: Floats, mask: Mask) -> Mask:
    """What is darker than its neighbourhood beside the lower half of an object and of a similar
    hue: its shadow, which goes with it. Empty where it would be too much to be one."""
    rows, columns = box_of(mask)
    tall, wide = rows.stop - rows.start, columns.stop - columns.start
    reach = max(int(0.22 * max(tall, wide)), 6)
    near = grown(mask, 4)
    zone = grown(mask, reach) & ~near
    zone[: rows.start + int(LOW * tall)] = False
    lab = cv2.cvtColor(photo, cv2.COLOR_RGB2LAB)
    if zone.sum() < 50:
        return np.zeros_like(mask)
    usual = np.median(lab[grown(mask, 2 * reach) & ~near & _rows_of(zone)], 0)
    smooth = cv2.GaussianBlur(lab, (0, 0), 1.5)
    dark: Mask = smooth[..., 0] < usual[0] - max(6.0, 0.13 * usual[0])
    found = zone & dark & _of_hue(smooth, usual)
    found = np.asarray(cv2.morphologyEx(found.astype(np.uint8), cv2.MORPH_OPEN, disc(2)) > 0)
    labels = cv2.connectedComponents((found | near).astype(np.uint8))[1]
    kept: Mask = found & (labels == labels[mask][0])
    narrow_px = NARROW * extent_px(mask)
    if kept.sum() > 0.6 * zone.sum() or _is_thing(smooth, kept, zone & ~dark, narrow_px):
        return np.zeros_like(mask)
    if kept.any():
        kept = kept | _cast(kept, smooth, usual, mask)
    return np.asarray(grown(kept, 4) & ~mask) if kept.any() else kept


def _is_thing(lab: Floats, dark: Mask, ground: Mask, narrow_px: float) -> bool:
    """Whether something dark has more edges in it than the ground beside it: a shadow has none of
    its own. What is so narrow that its border is near everywhere is not judged."""
    inner = core(dark, 4)
    if inner.sum() < 30 or ground.sum() < 30 or depth_inside(dark).max() < narrow_px:
        return False
    steps = colour_steps(lab)
    return float(steps[inner].mean()) > MOST_EDGES * max(float(steps[ground].mean()), 0.5)


def _of_hue(lab: Floats, usual: Floats) -> Mask:
    """What has the hue of a usual colour, also where that is darker and so less coloured."""
    darker = np.clip(lab[..., 0] / max(float(usual[0]), 1.0), 0, 1)
    apart = [
        np.hypot(lab[..., 1] - share * usual[1], lab[..., 2] - share * usual[2])
        for share in (1.0, darker)
    ]
    return np.asarray(np.minimum(*apart) < MOST_HUE)


def _cast(begun: Mask, lab: Floats, usual: Floats, mask: Mask) -> Mask:
    """Where a shadow goes on beyond an object's surroundings: as dark, connected, low, and not
    larger than the object. Empty otherwise."""
    rows, columns = box_of(mask)
    tall, wide = rows.stop - rows.start, columns.stop - columns.start
    reach = max(tall, wide)
    box = (
        slice(rows.start + int(0.7 * tall), rows.stop + reach // 2),
        slice(max(columns.start - reach, 0), columns.stop + reach),
    )
    dark = lab[..., 0] < min(float(np.median(lab[..., 0][begun])) + 8, 0.8 * usual[0])
    dark &= _of_hue(lab, usual)
    found = np.zeros_like(mask)
    found[box] = dark[box] & ~mask[box]
    labels = cv2.connectedComponents((found | begun).astype(np.uint8))[1]
    found &= np.isin(labels, np.unique(labels[begun]))
    limits = np.zeros_like(mask)
    limits[box] = True
    edge = limits & ~core(limits, 2)
    if found.sum() > 0.8 * mask.sum() or (found & edge).sum() > 0.1 * reach:
        return np.zeros_like(mask)
    return found


def _rows_of(mask: Mask) -> Mask:
    return np.repeat(np.asarray(mask.any(1)).reshape(-1, 1), mask.shape[1], 1)


def hole_of(
    photo: Floats,
    region: Mask,
    before: Mask | None = None,
    others: Mask | None = None,
    *,
    replaced: bool = False,
) -> Mask:
    """What has to be filled where an object goes: all of it, a margin as outlines are drawn some
    pixels off (what is left of an object, its ghost grows from), narrow gaps in it that `others`
    are not seen through, and its shadow, which stays for what it is `replaced` by; but not what
    stands `before` it."""
    margin = int(np.clip(0.03 * extent_px(region), 7, 11))
    shadow = np.zeros_like(region) if replaced else shadow_of(photo, region)
    gaps = _closed(region | shadow, round(CLOSED * extent_px(region))) & ~region
    if others is not None:
        gaps &= ~others
    hole = grown(region, margin) | gaps | grown(shadow, SOFT_PX)
    return hole if before is None else hole & ~core(before, 1)


def _closed(mask: Mask, radius_px: int) -> Mask:
    """A mask with its gaps closed that a disc does not fit into."""
    wide = np.pad(mask, radius_px + 1)
    inner = ~grown(~grown(wide, radius_px), radius_px)
    return np.asarray(inner[radius_px + 1 : -radius_px - 1, radius_px + 1 : -radius_px - 1])


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
