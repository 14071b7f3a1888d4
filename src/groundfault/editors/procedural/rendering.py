"""Bodies in the light of a photograph: as bright, as sharp and as noisy as what is around them."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np

from groundfault.editors.procedural.edges import Floats, Mask, around, box_of, floats, grown
from groundfault.editors.procedural.relief import (
    LUMA,
    blur_px,
    exposure,
    film,
    grain,
    illuminant,
    linear,
    luma,
)
from groundfault.editors.procedural.skins import Shown, Skin
from groundfault.editors.procedural.solids import Body, Hits, View, cast

__all__ = ["IN_GRASS", "Lamp", "Rendered", "in_grass", "lamp_of", "rendered"]

LARGEST_PX = 640
"""The height that a body is cast at, at most; a larger one is enlarged."""
ROOM = 0.2
"""What is left free around a rendered thing, for its shade on the ground, as a share of its
height."""
SHADES, DARKEST = ((0.014, 0.7), (0.05, 0.42)), 0.82
"""How far the ground below a thing is darker, as a share of the thing's height, and how much."""
AMBIENT, KEY, BOUNCE = 0.56, 0.8, 0.3
"""The light of the sky, of the lamp, and of the ground, on what faces them."""
SHARPER, BLURS = 0.5, (0.35, 0.65)
"""Of what has few edges more blur is measured than there is."""
THICK = 0.03
"""How far the edge of a foot shades the ground where that is seen edge on, as a share of the
thing's height."""
GRASS_ROUGH, MOST_RED = 1.8, -4.0
"""The mean deviation of the lightness of grass, at least, and how far from green it is, in Lab."""
CAST = 0.8
"""How much of the colour of a photograph in one hue is its light's."""
USUAL_WHITE = 0.5
"""How bright the brightest tenth of what is around a thing usually is beside white."""
MOST_GRAIN = 0.012
"""Of leaves and gravel more noise is measured than there is."""
IN_GRASS = 0.035
"""How high a thing fades into grass, as a share of its height."""
DIRT = 0.12
"""How high the ground darkens what stands on it, as a share of its height."""


class Lamp(NamedTuple):
    """The light of a photograph where a thing stands."""

    side: float
    """From the left (-1) to the right (1)."""
    white: float
    tint: Floats
    ground: Floats
    """The light that the ground gives back."""
    blur_px: float
    grain: float
    grassy: bool
    """Whether the ground is grass, which hides some of a foot."""


def lamp_of(photo: Floats, mask: Mask) -> Lamp:
    """The light on an object and around it."""
    ring = around(mask, 4, 40)
    rows, _ = box_of(mask)
    low = ring.copy()
    low[: (rows.start + rows.stop) // 2] = False
    ground = linear(photo)[low].mean(0) if low.any() else floats([0.2, 0.2, 0.2])
    return Lamp(
        _side(photo, mask),
        exposure(photo, mask) ** 0.5 * _white(photo, ring),
        _tint(photo),
        floats(ground),
        blur_px(photo, grown(mask, 2)),
        min(grain(photo), MOST_GRAIN),
        _is_grass(photo, low),
    )


def _tint(photo: Floats) -> Floats:
    """The colour of the light: what is nearly grey tells, and, the more alike all hues are, how
    warm the whole photograph is: by candle light nothing is grey. A green one shows a lawn."""
    hues = cv2.cvtColor(photo, cv2.COLOR_RGB2LAB)[..., 1:].reshape(-1, 2)
    alike = float(np.linalg.norm(hues.mean(0)) / max(float(np.linalg.norm(hues, axis=1).mean()), 1))
    red, _, blue = photo.reshape(-1, 3).mean(0)
    warm = float(np.clip(red / max(float(blue), 1e-3), 0.4, 2.5)) ** (CAST * alike / 2)
    tint = illuminant(photo) * floats([warm, 1, 1 / warm])
    return floats(tint / float(tint @ LUMA))


def _white(photo: Floats, ring: Mask) -> float:
    """How bright a white thing would be, as a root, by the brightest of what is around it."""
    if not ring.any():
        return 1.0
    whites = float(np.percentile((linear(photo) @ LUMA)[ring], 90)) / USUAL_WHITE
    return float(np.sqrt(np.clip(whites, 0.08, 1.1)))


def _is_grass(photo: Floats, ground: Mask) -> bool:
    """Whether a ground is green and rough, as grass is."""
    if not ground.any():
        return False
    lab = cv2.cvtColor(photo, cv2.COLOR_RGB2LAB)
    green = float(np.median(lab[..., 1][ground]))
    fine = np.abs(lab[..., 0] - cv2.GaussianBlur(lab[..., 0], (0, 0), 2.0))[ground]
    return bool(float(fine.mean()) > GRASS_ROUGH and green < MOST_RED)


def _side(photo: Floats, mask: Mask) -> float:
    """From which side the light comes, by where an object is brighter."""
    columns = np.nonzero(mask)[1]
    light = np.log(np.maximum(luma(photo)[mask], 0.02))
    across = (columns - columns.mean()) / max(float(columns.std()), 1.0)
    slope = float((across * (light - light.mean())).mean())
    return float(np.clip(2.5 * slope, -1, 1)) if abs(slope) > 0.04 else 0.35


class Rendered(NamedTuple):
    """A thing in a photograph's light, in a picture with room around it."""

    colours: Floats
    share: Floats
    """How much of each pixel is the thing's."""
    shade: Floats
    """How much of its light the ground below it gets."""


def rendered(body: Body, skin: Skin, view: View, lamp: Lamp, tall_px: float, seed: int) -> Rendered:
    """A body in a photograph's light, its box about so tall."""
    cast_px = int(np.clip(round(1.5 * tall_px), 24, LARGEST_PX))
    hits = cast(body, view, cast_px)
    scale = tall_px / cast_px
    pad = max(round(ROOM * tall_px), 6)
    size = max(round(hits.seen.shape[1] * scale), 2), max(round(tall_px), 2)
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    light = cv2.resize(_lit(hits, body, skin, lamp, seed), size, interpolation=how)
    light = cv2.copyMakeBorder(light, pad, pad, pad, pad, cv2.BORDER_REPLICATE)
    share = cv2.resize(hits.seen.astype(np.float32), size, interpolation=how)
    if lamp.grassy:
        share = in_grass(share)
    share = np.pad(share, pad)
    blur = float(np.clip(SHARPER * lamp.blur_px, *BLURS))
    share = cv2.GaussianBlur(share, (0, 0), blur)
    colours = cv2.GaussianBlur(film(light), (0, 0), 0.7 * blur)
    noise = cv2.GaussianBlur(
        floats(np.random.default_rng(seed + 3).standard_normal(share.shape)), (0, 0), 0.6
    )
    colours = np.clip(colours + 2 * lamp.grain * noise[..., None], 0, 1)
    shade = _shade_on_ground(share.shape, hits.foot_px * scale + pad, tall_px)
    return Rendered(floats(colours), floats(np.clip((share - 0.04) / 0.92, 0, 1)), shade)


def in_grass(share: Floats) -> Floats:
    """A thing whose lowest part fades into grass."""
    tall = share.shape[0]
    low = tall - np.argmax(share[::-1] > 0.5, 0)
    above = (low - np.arange(tall)[:, None]) / max(IN_GRASS * tall, 1.0)
    return floats(share * np.clip(above, 0, 1))


def _shade_on_ground(shape: tuple[int, ...], foot: Floats, tall_px: float) -> Floats:
    """How much light the ground gets around a foot: least right beside it."""
    under = np.zeros(shape[:2], np.float32)
    outline = [np.round(foot).astype(np.int32)]
    cv2.fillPoly(under, outline, 1.0)
    cv2.polylines(under, outline, True, 1.0, max(round(THICK * tall_px), 2))
    dark = np.zeros(shape[:2], np.float32)
    for reach, strength in SHADES:
        dark += strength * cv2.GaussianBlur(under, (0, 0), max(reach * tall_px, 1.2))
    return floats(1 - np.clip(dark, 0, DARKEST))


def _lit(hits: Hits, body: Body, skin: Skin, lamp: Lamp, seed: int) -> Floats:
    """The light that comes from each pixel of a body; beside it, from its nearest one."""
    seen = hits.seen
    pixel = body.extents[2] / seen.shape[0]
    finish = skin(Shown(hits.points[seen], hits.own[seen], body.extents, seed, pixel))
    relief = np.zeros(seen.shape, np.float32)
    relief[seen] = finish.relief
    n = _bumped(hits, relief, body)[seen]
    lamp_at = floats([0.75 * lamp.side, -0.55, 0.85])
    lamp_at /= np.linalg.norm(lamp_at)
    facing = np.maximum(n @ lamp_at, 0)
    sky = AMBIENT * (0.62 + 0.38 * n[:, 2])
    under = np.clip(hits.points[seen][:, 2] / (DIRT * body.extents[2]), 0, 1)
    shade = (sky + KEY * facing) * (0.62 + 0.38 * under)
    back = BOUNCE * np.clip(0.5 - 0.5 * n[:, 2], 0, 1)[:, None] * lamp.ground
    half = lamp_at + floats([0, -0.9, 0.35])
    half /= np.linalg.norm(half)
    shine = np.maximum(n @ half, 0) ** 40 * finish.gloss
    rim = 0.25 * np.asarray(finish.gloss) * (1 - np.abs(n[:, 1])) ** 3
    tint = lamp.tint * lamp.white
    light = (
        linear(finish.colours) * (shade[:, None] * tint + back)
        + (shine + rim * shade)[:, None] * 0.5 * tint
    )
    out = np.zeros((*seen.shape, 3), np.float32)
    out[seen] = light
    return _spread(out, seen)


def _bumped(hits: Hits, relief: Floats, body: Body) -> Floats:
    """A body's directions with its skin's relief in them, as the picture shows it."""
    if not relief.any():
        return hits.normals
    step = body.extents[2] / max(hits.seen.shape[0], 1)
    right = cv2.Sobel(relief, cv2.CV_32F, 1, 0, scale=0.125) / step
    down = cv2.Sobel(relief, cv2.CV_32F, 0, 1, scale=0.125) / step
    inner = cv2.erode(hits.seen.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    n = hits.normals.copy()
    n[..., 0] -= np.where(inner, np.clip(right, -1.2, 1.2), 0)
    n[..., 2] += np.where(inner, np.clip(down, -1.2, 1.2), 0)
    return floats(n / np.maximum(np.linalg.norm(n, axis=2, keepdims=True), 1e-6))


def _spread(light: Floats, seen: Mask) -> Floats:
    """Light carried beyond a silhouette, so that a soft edge has the thing's own colours."""
    near = cv2.distanceTransformWithLabels(
        (~seen).astype(np.uint8), cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL
    )[1]
    table = np.zeros((near.max() + 1, 3), np.float32)
    table[near[seen]] = light[seen]
    return floats(table[near])
