"""What grows in a photograph: how far each pixel is grass, leaves or dry ground, and what that says
about the scene. Colours say it, softly, and edges of the photograph bound it; pictures are as in
`edges`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import cv2
import numpy as np

from groundfault.editors.procedural.edges import (
    Floats,
    Mask,
    Matte,
    box_of,
    core,
    depth_inside,
    floats,
    grown,
)
from groundfault.editors.procedural.relief import extent_px
from groundfault.interfaces import Neighbour

__all__ = [
    "BAND_PX",
    "Cover",
    "Scenery",
    "dryness",
    "greenness",
    "ramp",
    "scenery_of",
    "smoothed",
]

BAND_PX = 5
"""How deep inside an outline blades of grass are looked for; deeper, pixels are the object's."""
RADIUS = 4
"""Of the windows within which a share of vegetation is fitted to the colours, at half the size."""
SMOOTHNESS = 1e-3
"""Variances of colours below this one are no edge."""
HUES = (88.0, 102.0, 155.0, 172.0)
"""The hues in Lab, in degrees, between which vegetation begins, is certain, and ends."""
CHROMAS = (4.0, 11.0)
LEAST_APART = 10.0
"""The distance in Lab between the hues of an object and of grass above which they can be told."""


class Scenery(NamedTuple):
    """What grows around an object, and what is known of the scene by it."""

    lab: Floats
    """The picture without the object along its edge, in Lab."""
    green: Floats
    """How far each pixel outside of the object is covered so, (h, w)."""
    blades: Floats
    """How far pixels inside the object, close to its outline, are."""
    share: float
    """The mean of `green` over all that is neither the object nor another thing."""
    foot: float
    """Its mean around the lower part of the object."""
    inside: float
    """How far the object itself looks like vegetation, where it may not change."""
    texture: float
    """The median contrast of neighbouring pixels in what is green, in Lab."""
    chroma: float
    """How colourful it usually is, in Lab."""
    light: float
    """Its usual lightness."""


def ramp(values: Floats, low: float, high: float) -> Floats:
    """0 below a value, 1 above another one, straight between them."""
    return floats(np.clip((values - low) / (high - low), 0, 1))


def greenness(lab: Floats) -> Floats:
    """How far colours are those of living grass and leaves, pixel by pixel."""
    hue, chroma = _hue_and_chroma(lab)
    begins, certain, fades, ends = HUES
    return ramp(hue, begins, certain) * ramp(-hue, -ends, -fades) * ramp(chroma, *CHROMAS)


def dryness(lab: Floats) -> Floats:
    """How far colours are those of hay, earth and sand, pixel by pixel."""
    hue, chroma = _hue_and_chroma(lab)
    hues = ramp(hue, 35, 50) * ramp(-hue, -HUES[1], -HUES[0])
    return hues * ramp(chroma, 3, 8) * ramp(-chroma, -48, -38) * ramp(lab[..., 0], 10, 24)


Cover = Literal["green", "any"]
"""Living plants, or hay and earth with them."""
COVERS: dict[Cover, Callable[[Floats], Floats]] = {
    "green": greenness,
    "any": lambda lab: np.minimum(greenness(lab) + dryness(lab), 1),
}


def _hue_and_chroma(lab: Floats) -> tuple[Floats, Floats]:
    """Hues in degrees and chroma, without the blocks of compressed colours."""
    a, b = cv2.split(cv2.GaussianBlur(lab[..., 1:], (0, 0), 1.5))
    return floats(np.degrees(np.arctan2(b, a)) % 360), floats(np.hypot(a, b))


def smoothed(values: Floats, guide: Floats, weight: Floats) -> Floats:
    """Values (h, w) with the edges of a picture: in each window they are fitted as a linear
    function of its colours (the fast guided filter, He & Sun, arXiv:1505.00996); pixels count as
    much as their weight says."""
    height, width = values.shape
    half = max(width // 2, 1), max(height // 2, 1)
    small, colours, counts = (
        cv2.resize(floats(plane), half, interpolation=cv2.INTER_AREA)
        for plane in (values, guide, weight)
    )
    counts = counts[..., None] + 1e-4
    side = (2 * RADIUS + 1,) * 2
    total = cv2.blur(counts, side)[..., None]

    def mean(planes: Floats) -> Floats:
        return floats(cv2.blur(planes * counts, side).reshape(planes.shape) / total)

    centre, usual = mean(colours), mean(small[..., None])
    along = mean(colours * small[..., None]) - centre * usual
    squares = (colours[..., :, None] * colours[..., None, :]).reshape(*colours.shape[:2], 9)
    products = np.concatenate([mean(squares[..., k : k + 3]) for k in (0, 3, 6)], axis=2)
    spread = products.reshape(*colours.shape[:2], 3, 3)
    spread = spread - centre[..., :, None] * centre[..., None, :]
    spread = spread + SMOOTHNESS * np.eye(3, dtype=np.float32)
    slopes = floats(np.linalg.solve(spread, along[..., None])[..., 0])
    offset = usual - (slopes * centre).sum(2, keepdims=True)
    plane = mean(np.concatenate([slopes, offset], axis=2)[..., :3])
    rest = mean(offset)
    fine = cv2.resize(plane, (width, height), interpolation=cv2.INTER_LINEAR)
    base = cv2.resize(rest, (width, height), interpolation=cv2.INTER_LINEAR)
    return floats(np.clip((fine * guide).sum(2) + base, 0, 1))


def scenery_of(
    photo: Floats, mask: Mask, edge: Matte, others: Sequence[Neighbour], cover: Cover
) -> Scenery:
    """What covers the ground around an object with this soft edge; other things that are annotated
    are none of it."""
    behind = np.where((edge.alpha > 0.02)[..., None], edge.back, photo).astype(np.float32)
    lab = floats(cv2.cvtColor(behind, cv2.COLOR_RGB2LAB))
    colours = COVERS[cover](lab)
    things = _things_of(others, mask)
    kept = np.logical_or.reduce([np.zeros_like(mask), *things])
    there = ~mask & ~kept & (colours > 0.5)
    inner = np.logical_or.reduce([np.zeros_like(mask), *(core(thing, 2) for thing in things)])
    green = smoothed(floats(np.where(inner, 0, colours)), behind, floats(edge.alpha < 0.9))
    green = green * (1 - cv2.GaussianBlur(floats(inner), (0, 0), 1.0))
    depth = depth_inside(mask)
    deep = mask & (depth > BAND_PX)
    own = _grass_before(floats(cv2.cvtColor(photo, cv2.COLOR_RGB2LAB)), deep, there)
    around = ~mask & ~kept
    ring = grown(mask, max(round(0.08 * extent_px(mask)), 8)) & around & ~grown(mask, 2)
    rows, _ = box_of(mask)
    low = ring & (np.arange(len(mask))[:, None] > rows.stop - 0.3 * (rows.stop - rows.start))
    fine = np.abs(lab[..., 0] - cv2.GaussianBlur(lab[..., 0], (0, 0), 1.5))
    _, chroma = _hue_and_chroma(lab)
    return Scenery(
        lab=lab,
        green=green,
        blades=own * mask * ramp(-depth, -float(BAND_PX), -0.6 * BAND_PX),
        share=_mean(green, around),
        foot=_mean(green, low),
        inside=_mean(floats(own > 0.5), deep),
        texture=_median(fine, there),
        chroma=_median(chroma, there),
        light=_median(lab[..., 0], there),
    )


def _grass_before(lab: Floats, thing: Mask, there: Mask) -> Floats:
    """How far pixels have the hue of what grows `there` rather than that of a thing, or are as
    green as it is; 0 where both are alike."""
    if not thing.any() or not there.any():
        return np.zeros(thing.shape, np.float32)
    hues = cv2.GaussianBlur(lab[..., 1:], (0, 0), 1.0)
    usual = np.median(hues[thing], axis=0)
    towards = np.median(hues[there], axis=0) - usual
    apart = float(np.linalg.norm(towards))
    if apart < LEAST_APART:
        return np.zeros(thing.shape, np.float32)
    towards_it = ramp(floats((hues - usual) @ towards / apart**2), 0.4, 0.8)
    _, chroma = _hue_and_chroma(lab)
    vivid = float(np.median(chroma[there]))
    return np.maximum(towards_it, greenness(lab) * ramp(chroma, 0.45 * vivid, 0.75 * vivid))


def _things_of(others: Sequence[Neighbour], mask: Mask) -> list[Mask]:
    """Where other things are, one by one."""
    fitting = (np.asarray(o.mask, bool) for o in others if np.shape(o.mask) == mask.shape)
    return [thing & ~mask for thing in fitting if (thing & ~mask).any()]


def _mean(values: Floats, where: Mask) -> float:
    return float(values[where].mean()) if where.any() else 0.0


def _median(values: Floats, where: Mask) -> float:
    return float(np.median(values[where])) if where.any() else 0.0
