"""Places that are all around: water, driven snow, dust, smoke. The photograph's own surroundings
stay where they are and are seen through it, the less the farther away they are, so that every foot
stands, every view and size fits, and what is before a thing stays before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import cv2
import numpy as np
import scipy.ndimage as ndi

from groundfault.editors.procedural.edges import Floats, Matte, box_of, floats
from groundfault.editors.procedural.noise import Colour, cloud
from groundfault.editors.procedural.relief import LUMA, film, linear

__all__ = ["MEDIA", "Medium", "immersed", "tone_of"]

Shape = tuple[int, int]
NEAR, FAR, HORIZON = 0.5, 1.5, 0.75
"""How much of a medium is before what is as far away as an object's foot, how much more before what
is farthest, and how far above the foot that is, as a share of the picture's height."""
BRIGHTEST = 0.5
"""What the brighter tenth of the surroundings is dimmed to: snow or lamps would shine through."""
SHARP_PX, SOFT = 0.6, 1 / 130
"""How blurred what is near is, and what is farthest, as a share of the picture's longer side."""
REACH = 0.1
"""How far the light beside an object reaches, as a share of the picture's longer side."""
HAZED = 0.45
"""How much darker things are where the medium before them is thickest."""
LYING, BARE = 0.42, 0.03
"""How bright what lies on the ground is, and how near an object there is little of it, as a share
of the picture's longer side."""
FIELD_PX = 512
"""The side of the noise that nets of light are made of."""


class Medium(NamedTuple):
    """What fills a place, in amounts of light."""

    absorbed: Colour
    """How much it takes of red, green and blue, by how much of it there is."""
    glow: Colour
    """Its own light where it is thickest."""
    thick: float
    veil: float
    """How soon its own light is all that is seen."""
    lamp: float
    """How much clearer it is beside the object, as where a diver's lamp shines."""
    sun: float
    """How much brighter it is above than below."""
    bright: float
    """How brightly what is in it is lit."""
    adrift: Callable[[Floats, Shape, int], Floats]
    """Lays over a picture what drifts in it."""
    waves: float = 0.0
    """How strong the net of light is that waves throw on the ground."""
    lies: Colour | None = None
    """What lies on the ground, and how much of it is covered."""
    covered: float = 0.0


def immersed(photo: Floats, edge: Matte, place: str, *, seed: int) -> Floats:
    """The photograph with everything but the object in another medium; pixels that are wholly the
    object's keep their values."""
    medium, shape = MEDIA[place], (photo.shape[0], photo.shape[1])
    mask = edge.alpha > 0.5
    behind = np.where((edge.alpha > 0.02)[..., None], edge.back, photo)
    rows = np.arange(shape[0], dtype=np.float32)[:, None]
    away = np.clip((box_of(mask)[0].stop - rows) / (HORIZON * shape[0]), 0, 1)
    away = np.broadcast_to(away, shape)
    apart = floats(ndi.distance_transform_edt(~mask)) / max(shape)
    light = _light_of(floats(behind), away)
    if medium.lies is not None:
        share = _lying(light, apart, medium.covered, seed + 7)[..., None]
        lit = LYING * _relative(light)[..., None] * floats(medium.lies)
        light = light * (1 - share) + lit * share
    lamp = np.exp(-apart / REACH)
    path = medium.thick * (NEAR + FAR * away) * (1 - medium.lamp * lamp)
    passed = np.exp(-floats(medium.absorbed) * path[..., None])
    veil = (1 - np.exp(-medium.veil * path))[..., None]
    if medium.waves:
        light = light * (1 + medium.waves * _net(shape, seed) * (1 - 0.6 * lamp))[..., None]
    seen = medium.bright * light * passed * (1 - HAZED * veil) + _glow(medium, shape, seed) * veil
    picture = np.clip(medium.adrift(film(seen), shape, seed), 0, 1)
    own = edge.alpha[..., None]
    return floats(np.where(own >= 1, photo, edge.fore * own + picture * (1 - own)))


def tone_of(place: str) -> Floats:
    """The colour that a place mostly has."""
    return film(floats(MEDIA[place].glow))


def _light_of(behind: Floats, away: Floats) -> Floats:
    """The light of the surroundings, blurred where they are far away, and not too bright."""
    far = cv2.GaussianBlur(behind, (0, 0), SOFT * max(away.shape))
    share = (away**1.2)[..., None]
    light = linear(cv2.GaussianBlur(behind, (0, 0), SHARP_PX) * (1 - share) + far * share)
    return floats(light * min(1.0, BRIGHTEST / max(float(np.percentile(light @ LUMA, 90)), 1e-3)))


def _relative(light: Floats) -> Floats:
    """How brightly the ground is lit here and there: shadows stay on what lies there."""
    greys = cv2.GaussianBlur(floats(light @ LUMA), (0, 0), 1.2)
    usual = max(float(np.median(greys[greys.shape[0] // 2 :])), 0.02)
    return floats(np.clip(greys / usual, 0.25, 1.8) ** 0.5)


def _lying(light: Floats, apart: Floats, covered: float, seed: int) -> Floats:
    """How much of each pixel is covered by what fell: of the ground, and of what faces upwards,
    which is where it grows darker downwards."""
    shape = (light.shape[0], light.shape[1])
    greys = np.log(floats(light @ LUMA) + 0.01)
    steps = cv2.Sobel(cv2.GaussianBlur(greys, (0, 0), 2.5), cv2.CV_32F, 0, 1, scale=0.125)
    upper = np.clip(6 * steps, 0, 1)
    low = np.clip((np.arange(shape[0], dtype=np.float32) / shape[0] - 0.35) / 0.35, 0, 1)[:, None]
    drifts = np.clip(0.5 + 0.35 * cloud(shape, 0.06 * max(shape), seed, 5), 0, 1)
    share = covered * (low * (0.65 + 0.6 * drifts) + 0.5 * upper)
    return floats(np.clip(share, 0, 0.92) * (1 - 0.75 * np.exp(-apart / BARE)))


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


def _glow(medium: Medium, shape: Shape, seed: int) -> Floats:
    """The medium's own light, brighter above; snow, dust and smoke drive past in clouds."""
    down = (np.arange(shape[0], dtype=np.float32) / shape[0])[:, None]
    light = 1 + 1.2 * medium.sun * (0.5 - down)
    if not medium.waves:
        light = light * (1 + 0.18 * cloud(shape, 0.35 * max(shape), seed + 5, 5))
    return floats(floats(medium.glow) * np.broadcast_to(light, shape)[..., None])


def _spots(
    shape: Shape, count: int, size_px: float, seed: int, *, long: float = 0.0, angle: float = 0.0
) -> Floats:
    """Drops or flakes of several sizes, 0 to 1, `long` times longer than wide in one direction."""
    rng = np.random.default_rng(seed)
    found = np.zeros(shape, np.float32)
    x, y = rng.uniform(0, shape[1], count), rng.uniform(0, shape[0], count)
    radius = np.maximum(rng.lognormal(0, 0.5, count) * size_px, 0.5)
    turn, shine = angle + 8 * rng.standard_normal(count), rng.uniform(0.3, 1, count)
    for k in range(count):
        size = (2 * radius[k] * (1 + long), 2 * radius[k])
        cv2.ellipse(found, ((x[k], y[k]), size, turn[k]), shine[k], -1, cv2.LINE_AA)
    return found


def _soft(values: Floats, blur_px: float) -> Floats:
    return floats(cv2.GaussianBlur(values, (0, 0), blur_px))


def _mixed(picture: Floats, share: Floats, colour: Colour) -> Floats:
    own = np.clip(share, 0, 0.9)[..., None]
    return floats(picture * (1 - own) + floats(colour) * own)


def _in_water(colour: Colour, rays: float) -> Callable[[Floats, Shape, int], Floats]:
    """Shafts of light from above, specks, and strings of bubbles that rise."""

    def adrift(picture: Floats, shape: Shape, seed: int) -> Floats:
        unit = max(shape) / 640
        fine = _soft(_spots(shape, round(80 * unit**2), 0.6 * unit, seed + 2), 0.6)
        large = _soft(_spots(shape, round(12 * unit**2), 2.5 * unit, seed + 3), 2.5 * unit)
        light = _rays(shape, seed + 1) * rays + 0.3 * fine + 0.12 * large
        return picture + light[..., None] * floats(colour) + _bubbles(shape, seed + 4)

    return adrift


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


def _flakes(picture: Floats, shape: Shape, seed: int) -> Floats:
    """Snow that the wind drives: many small flakes, some near ones, a few out of focus."""
    unit = max(shape) / 640
    share = sum(
        strength * _soft(_spots(shape, count, size * unit, seed + k, long=1.0, angle=60), blur)
        for k, (count, size, blur, strength) in enumerate(
            ((1500, 0.9, 0.6, 0.8), (160, 2.0, 1.2 * unit, 0.8), (22, 5.0, 3 * unit, 0.6)), 2
        )
    )
    return _mixed(picture, floats(share), (0.97, 0.985, 1.0))


def _dust(picture: Floats, shape: Shape, seed: int) -> Floats:
    """Sand that the wind drives, in streaks."""
    unit = max(shape) / 640
    streaks = np.clip(cloud(shape, 0.12 * max(shape), seed + 6, 5, stretch=(2.5, 0.4)), -2, 2)
    grains = _soft(_spots(shape, 900, 0.7 * unit, seed + 2, long=3.0, angle=8), 0.7)
    return _mixed(picture * (1 + 0.035 * streaks[..., None]), 0.35 * grains, (0.92, 0.74, 0.48))


def _embers(picture: Floats, shape: Shape, seed: int) -> Floats:
    """Sparks that glow in smoke."""
    unit = max(shape) / 640
    small = _spots(shape, 150, 0.9 * unit, seed + 2, long=0.8, angle=70)
    large = _spots(shape, 14, 2.2 * unit, seed + 3, long=0.6, angle=70)
    sparks = np.clip(small + large, 0, 1)
    hot = _soft(sparks, 0.7)[..., None] * floats([1.2, 0.75, 0.25])
    return floats(picture + hot + _soft(sparks, 4 * unit)[..., None] * floats([1.6, 0.5, 0.08]))


MEDIA = {
    "tropical sea": Medium(
        absorbed=(2.4, 0.5, 0.32), glow=(0.024, 0.32, 0.43), thick=1.15, veil=0.9, lamp=0.45,
        sun=0.5, bright=1.9, adrift=_in_water((0.06, 0.75, 1.0), 0.16), waves=1.5,
    ),
    "deep sea": Medium(
        absorbed=(3.4, 1.15, 0.62), glow=(0.006, 0.06, 0.14), thick=1.5, veil=0.9, lamp=0.7,
        sun=0.5, bright=1.9, adrift=_in_water((0.06, 0.45, 1.0), 0.12), waves=0.4,
    ),
    "murky lake": Medium(
        absorbed=(0.9, 0.7, 2.2), glow=(0.075, 0.1, 0.026), thick=1.9, veil=1.1, lamp=0.75,
        sun=0.5, bright=1.6, adrift=_in_water((0.75, 1.0, 0.3), 0.08), waves=0.3,
    ),
    "blizzard": Medium(
        absorbed=(0.25, 0.18, 0.12), glow=(0.58, 0.65, 0.75), thick=1.6, veil=1.0, lamp=0.35,
        sun=0.05, bright=1.9, adrift=_flakes, lies=(0.8, 0.86, 0.95), covered=0.75,
    ),
    "sandstorm": Medium(
        absorbed=(0.1, 0.45, 1.3), glow=(0.6, 0.36, 0.15), thick=1.5, veil=1.1, lamp=0.45,
        sun=0.2, bright=1.9, adrift=_dust, lies=(0.62, 0.42, 0.22), covered=0.35,
    ),
    "wildfire": Medium(
        absorbed=(0.35, 1.1, 2.2), glow=(0.4, 0.095, 0.012), thick=1.5, veil=0.9, lamp=0.55,
        sun=-0.5, bright=1.4, adrift=_embers,
    ),
}  # fmt: skip
"""The places by name."""
