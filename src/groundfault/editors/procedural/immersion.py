"""Places that are all around: the sea has come. The photograph's own surroundings stay where they
are and are seen through the water, the less the farther away they are, so that every foot stands,
every view and size fits, and what is before a thing stays before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import cv2
import numpy as np
import scipy.ndimage as ndi

from groundfault.editors.procedural.edges import Floats, Mask, Matte, box_of, floats
from groundfault.editors.procedural.noise import Colour, cloud
from groundfault.editors.procedural.relief import LUMA, film, linear

__all__ = ["WATERS", "Water", "immersed", "objection", "tone_of"]

Shape = tuple[int, int]
NEAR, FAR, HORIZON = 1.2, 1.5, 0.75
"""How much water colours what is as far away as an object's foot, how much more what is farthest,
and how far above the foot that is, as a share of the picture's height."""
HAZE = 0.25
"""How much of it is seen before what is as far away as an object: more, and what stands before the
object is a ghost."""
FADED = 0.6
"""How much of their own colours the surroundings lose: a green lawn is a green lawn otherwise."""
BRIGHTEST = 0.5
"""What the brighter tenth of the surroundings is dimmed to: snow or lamps would shine through."""
BRIGHT = 1.9
"""How brightly what is in the water is lit."""
SHARP_PX, SOFT = 0.6, 1 / 130
"""How blurred what is near is, and what is farthest, as a share of the picture's longer side."""
REACH = 0.2
"""How far the light beside an object reaches, as a share of the picture's longer side."""
VEIL, DIMMED = 0.9, 0.45
"""How soon the water's own light is all that is seen, and how much darker things are there."""
STEP_PX = 2.5
"""How soft steps in depth are: drawn masks are off by some pixels."""
FAR_AWAY, LEAST_FAR = 0.6, 0.1
"""How far away is far, and how much of the surroundings must be: a table top seen from near only
looks tinted."""
MOST_RED = 14.0
"""How reddish the surroundings may be in Lab: what has the light of a warm lamp seems to be of
another colour under water."""
FIELD_PX = 512
"""The side of the noise that nets of light are made of."""


class Water(NamedTuple):
    """The water of a place, in amounts of light."""

    absorbed: Colour
    """How much it takes of red, green and blue, by how much of it there is."""
    glow: Colour
    """Its own light where it is thickest."""
    thick: float
    lamp: float
    """How much clearer it is beside the object, as where a diver's lamp shines."""
    sun: float
    """How much brighter it is above than below."""
    rays: float
    """How strong the shafts of light from above are."""
    shine: Colour
    """Their colour, and that of specks."""
    net: float
    """How strong the net of light is that waves throw on the ground."""


def immersed(
    photo: Floats, edge: Matte, place: str, others: Sequence[Mask] = (), *, seed: int
) -> Floats:
    """The photograph with everything but the object under water; pixels that are wholly the
    object's keep their values. `others` stand as far away as their feet."""
    water, shape = WATERS[place], (photo.shape[0], photo.shape[1])
    mask = edge.alpha > 0.5
    behind = np.where((edge.alpha > 0.02)[..., None], edge.back, photo)
    away = _distance(mask, others)
    apart = floats(ndi.distance_transform_edt(~mask)) / max(shape)
    lamp = np.exp(-apart / REACH)
    unlit = water.thick * (1 - water.lamp * lamp)
    passed = np.exp(-floats(water.absorbed) * (unlit * (NEAR + FAR * away))[..., None])
    veil = (1 - np.exp(-VEIL * unlit * (HAZE + FAR * away)))[..., None]
    light = BRIGHT * _light_of(floats(behind), away) * passed * (1 - DIMMED * veil)
    light *= (1 + water.net * _net(shape, seed) * (1 - 0.6 * lamp))[..., None]
    picture = film(light + _glow(water, shape) * veil)
    picture = np.clip(_with_rays(picture, water, seed), 0, 1)
    own = edge.alpha[..., None]
    return floats(np.where(own >= 1, photo, edge.fore * own + picture * (1 - own)))


def objection(photo: Floats, mask: Mask, others: Sequence[Mask] = ()) -> str:
    """Why the surroundings of an object would not be taken for water; "" where they may."""
    around = ~mask
    if float((_distance(mask, others) > FAR_AWAY)[around].mean()) < LEAST_FAR:
        return "too near"
    red = cv2.cvtColor(photo, cv2.COLOR_RGB2LAB)[..., 1][around].mean()
    return "warm light" if float(red) > MOST_RED else ""


def tone_of(place: str) -> Floats:
    """The colour that a place mostly has."""
    return film(floats(WATERS[place].glow))


def _distance(mask: Mask, others: Sequence[Mask]) -> Floats:
    """How far each pixel is behind an object's foot, 0 to 1: a ground is the farther the higher in
    the picture, what stands on it is as far as its foot."""
    foot, tall = box_of(mask)[0].stop, mask.shape[0]
    rows = np.arange(tall, dtype=np.float32)[:, None]
    behind = np.broadcast_to((foot - rows) / (HORIZON * tall), mask.shape).copy()
    for other in sorted(others, key=lambda one: box_of(one)[0].stop):
        behind[other] = (foot - box_of(other)[0].stop) / (HORIZON * tall)
    return floats(cv2.GaussianBlur(np.clip(behind, 0, 1), (0, 0), STEP_PX))


def _light_of(behind: Floats, away: Floats) -> Floats:
    """The light of the surroundings, blurred where they are far away, faded and not too bright."""
    far = cv2.GaussianBlur(behind, (0, 0), SOFT * max(away.shape))
    share = (away**1.2)[..., None]
    light = linear(cv2.GaussianBlur(behind, (0, 0), SHARP_PX) * (1 - share) + far * share)
    grey = light @ LUMA
    dimmed = min(1.0, BRIGHTEST / max(float(np.percentile(grey, 90)), 1e-3))
    return floats(dimmed * (light + FADED * (grey[..., None] - light)))


def _net(shape: Shape, seed: int) -> Floats:
    """The net of light that waves throw on a ground, finer the farther up in the picture."""
    tall, wide = shape
    y, x = np.mgrid[:tall, :wide].astype(np.float32)
    down = y / tall
    away = 1 / (0.25 + down)
    found = np.zeros(shape, np.float32)
    for number, (size, along) in enumerate(((34, 1.0), (40, 1.07))):
        field = cloud((FIELD_PX, FIELD_PX), size, seed + number, 2)
        u = (((x / wide - 0.5) * away * 300 + 256) * along) % (FIELD_PX - 1)
        v = (away * 420 / along) % (FIELD_PX - 1)
        found += np.exp(-5.5 * np.abs(cv2.remap(field, floats(u), floats(v), cv2.INTER_LINEAR)))
    return floats(cv2.GaussianBlur(found, (0, 0), 1.0) * np.clip((down - 0.25) / 0.4, 0, 1))


def _glow(water: Water, shape: Shape) -> Floats:
    """The water's own light, brighter above."""
    down = (np.arange(shape[0], dtype=np.float32) / shape[0])[:, None]
    light = 1 + 1.2 * water.sun * (0.5 - down)
    return floats(floats(water.glow) * np.broadcast_to(light, shape)[..., None])


def _with_rays(picture: Floats, water: Water, seed: int) -> Floats:
    """Shafts of light from above, specks, and strings of bubbles that rise."""
    shape = (picture.shape[0], picture.shape[1])
    unit = max(shape) / 640
    fine = _soft(_specks(shape, round(80 * unit**2), 0.6 * unit, seed + 2), 0.6)
    large = _soft(_specks(shape, round(12 * unit**2), 2.5 * unit, seed + 3), 2.5 * unit)
    light = _rays(shape, seed + 1) * water.rays + 0.3 * fine + 0.12 * large
    return floats(picture + light[..., None] * floats(water.shine) + _bubbles(shape, seed + 4))


def _specks(shape: Shape, count: int, size_px: float, seed: int) -> Floats:
    """Specks of several sizes, 0 to 1."""
    rng = np.random.default_rng(seed)
    found = np.zeros(shape, np.float32)
    x, y = rng.uniform(0, shape[1], count), rng.uniform(0, shape[0], count)
    radius = np.maximum(rng.lognormal(0, 0.5, count) * size_px, 0.5)
    shine = rng.uniform(0.3, 1, count)
    for k in range(count):
        cv2.ellipse(found, ((x[k], y[k]), (2 * radius[k],) * 2, 0.0), shine[k], -1, cv2.LINE_AA)
    return found


def _soft(values: Floats, blur_px: float) -> Floats:
    return floats(cv2.GaussianBlur(values, (0, 0), blur_px))


def _rays(shape: Shape, seed: int) -> Floats:
    """Shafts of light that fan out from above the picture and fade."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[: shape[0], : shape[1]].astype(np.float32) / floats(shape)[:, None, None]
    source = rng.uniform(0.3, 0.7)
    angle = np.arctan2(x - source, y + 0.55)
    at = np.linspace(float(angle.min()), float(angle.max()), 720)
    line = sum(
        strength * np.interp(np.linspace(0, n, 720), np.arange(n + 1), rng.standard_normal(n + 1))
        for n, strength in ((9, 0.6), (24, 1.0), (60, 0.5))
    )
    line = cv2.GaussianBlur(floats(line)[None], (0, 0), 5)[0]
    fan = np.interp(angle, at, (line - line.mean()) / line.std())
    fall = np.exp(-(((x - source) / 0.45) ** 2)) * np.exp(-y / 0.5)
    return floats(fall * np.clip(0.5 + 0.5 * fan, 0, 2))


def _bubbles(shape: Shape, seed: int) -> Floats:
    """Two strings of bubbles: rings with a glint, drawn at twice the size."""
    rng, (tall, wide), side = np.random.default_rng(seed), shape, max(shape)
    found = np.zeros((2 * tall, 2 * wide), np.float32)
    for middle in rng.uniform(0.1, 0.9, 2) * wide:
        for number, high in enumerate(rng.uniform(0, 1, 26)):
            radius = max(int(2 * rng.uniform(0.0016, 0.0065) * side * (1.3 - 0.6 * high)), 2)
            sway = 0.012 * np.sin(7 * high + number) + 0.018 * rng.standard_normal()
            x, y = int(2 * (middle + sway * side)), int(2 * high * tall)
            cv2.circle(found, (x, y), radius, 0.24, max(radius // 4, 1), cv2.LINE_AA)
            glint = int(x - 0.35 * radius), int(y - 0.4 * radius)
            cv2.circle(found, glint, max(radius // 4, 1), 0.6, -1, cv2.LINE_AA)
    small = cv2.resize(found, (wide, tall), interpolation=cv2.INTER_AREA)
    return floats(small[..., None] * floats([0.8, 0.97, 1.0]))


WATERS = {
    "tropical sea": Water(
        absorbed=(2.4, 0.5, 0.32), glow=(0.024, 0.32, 0.43), thick=1.15, lamp=0.3, sun=0.5,
        rays=0.16, shine=(0.06, 0.75, 1.0), net=1.5,
    ),
    "deep sea": Water(
        absorbed=(3.0, 1.0, 0.5), glow=(0.006, 0.07, 0.17), thick=1.55, lamp=0.35, sun=0.5,
        rays=0.12, shine=(0.06, 0.45, 1.0), net=0.5,
    ),
}  # fmt: skip
"""The places by name."""
