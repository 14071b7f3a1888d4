"""Surfaces that tell what they belong to, laid over an object whose shape and light stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import cv2
import numpy as np

from groundfault.editors.procedural.colours import main_share
from groundfault.editors.procedural.edges import Floats, Mask, disc, floats
from groundfault.editors.procedural.noise import Shape, cells, cloud, ramp, stripes
from groundfault.editors.procedural.relief import (
    LUMA,
    Light,
    drawing_of,
    extent_px,
    film,
    form_light,
    inflate,
    light_of,
    linear,
    luma,
    wrap,
)

__all__ = ["PATTERNS", "Cover", "cloth_on", "covered", "kept_share", "unpainted"]

MARGIN_PX = 100
"""What a cloth has beyond the picture on each side: it is pulled over the edges."""


LEAST_PAINTED, MOST_PAINTED = 0.4, 0.98
"""The share of a thing in its main colour by which this is its paint, and the rest is not."""
DRAWN = 0.45
"""How strongly an object's own features are drawn on its new surface, as a deviation."""
MOST_DARK = 0.55
"""The share of an object that may be left as it is."""


def _zebra(shape: Shape, size_px: float, seed: int) -> Floats:
    field = stripes(shape, size_px * 0.105, 0.12, seed) + 0.12 * cloud(shape, 6, seed + 1)
    return ramp(
        field, (-0.30, (0.19, 0.175, 0.17)), (0.20, (0.78, 0.75, 0.69)), (2, (0.82, 0.80, 0.76))
    )


def _tiger(shape: Shape, size_px: float, seed: int) -> Floats:
    field = stripes(shape, size_px * 0.12, 0.05, seed, spread=0.3, band=0.3)
    field = field + 0.25 * cloud(shape, 8, seed + 1)
    warm = ramp(
        cloud(shape, size_px * 0.8, seed + 2), (-1.5, (0.70, 0.40, 0.17)), (1.5, (0.82, 0.60, 0.36))
    )
    dark = np.clip((-0.5 - field) / 0.25, 0, 1)[..., None]
    return _mixed(warm, (0.22, 0.18, 0.15), dark)


def _giraffe(shape: Shape, size_px: float, seed: int) -> Floats:
    found = cells(shape, size_px * 0.15, seed)
    tone = np.random.default_rng(seed).normal(0, 0.06, int(found.which.max()) + 1)[found.which]
    patch = ramp(
        found.near * 0.9 + tone + 0.08 * cloud(shape, 10, seed + 5),
        (0.0, (0.36, 0.21, 0.12)),
        (0.35, (0.50, 0.31, 0.18)),
        (0.8, (0.60, 0.41, 0.25)),
    )
    between = 1 - np.clip((found.gap - 0.13) / 0.06, 0, 1)[..., None]
    return _mixed(patch, (0.80, 0.71, 0.56), between)


def _leopard(shape: Shape, size_px: float, seed: int) -> Floats:
    found = cells(shape, size_px * 0.095, seed, jitter=0.3, warp=0.3)
    wave = cloud(shape, size_px * 0.04, seed + 3)
    inner = np.clip((found.near - 0.20 - 0.04 * wave) / 0.05, 0, 1)
    outer = np.clip((0.39 + 0.04 * wave - found.near) / 0.05, 0, 1)
    broken = np.clip((cloud(shape, size_px * 0.05, seed + 4) + 1.0) / 0.3, 0, 1)
    base = ramp(
        cloud(shape, size_px * 0.7, seed + 2), (-1.5, (0.72, 0.53, 0.29)), (1.5, (0.84, 0.70, 0.46))
    )
    tan = base * np.where((found.near < 0.2)[..., None], floats([0.85, 0.75, 0.62]), 1)
    return _mixed(tan, (0.24, 0.18, 0.14), (inner * outer * broken)[..., None])


def _cow(shape: Shape, size_px: float, seed: int) -> Floats:
    field = cloud(shape, size_px * 0.30, seed, 5)
    field = field + 0.05 * cloud(shape, 4, seed + 1)
    dark = np.clip((field - 0.30) / 0.10, 0, 1)[..., None]
    return _mixed(np.full((*shape, 3), 0.84, np.float32), (0.22, 0.20, 0.19), dark)


def _dalmatian(shape: Shape, size_px: float, seed: int) -> Floats:
    found = cells(shape, size_px * 0.105, seed, jitter=0.4, warp=0.35)
    size = np.random.default_rng(seed).uniform(0.16, 0.36, int(found.which.max()) + 1)[found.which]
    spot = np.clip((size - found.near) / 0.05, 0, 1)[..., None]
    return _mixed(np.full((*shape, 3), 0.86, np.float32), (0.22, 0.21, 0.21), spot)


def _ladybug(shape: Shape, size_px: float, seed: int) -> Floats:
    found = cells(shape, size_px * 0.19, seed, jitter=0.2, warp=0.0)
    spot = np.clip((0.27 - found.near) / 0.03, 0, 1)[..., None]
    red = np.broadcast_to(floats([0.66, 0.13, 0.09]), (*shape, 3))
    return _mixed(red, (0.18, 0.15, 0.15), spot)


def _watermelon(shape: Shape, size_px: float, seed: int) -> Floats:
    x = np.mgrid[: shape[0], : shape[1]][1].astype(np.float32)
    jag = cloud(shape, size_px * 0.12, seed, 5) * size_px * 0.018
    jag = jag + cloud(shape, size_px * 0.5, seed + 9) * size_px * 0.02
    field = np.cos((x + jag) / (size_px * 0.14) * 2 * np.pi)
    field = field + 0.35 * cloud(shape, size_px * 0.05, seed + 1, stretch=(0.5, 1.5))
    return ramp(
        field,
        (-1.2, (0.11, 0.22, 0.10)),
        (-0.1, (0.16, 0.31, 0.14)),
        (0.25, (0.44, 0.56, 0.30)),
        (1.3, (0.62, 0.70, 0.44)),
    )


def _strawberry(shape: Shape, size_px: float, seed: int) -> Floats:
    found = cells(shape, size_px * 0.062, seed, jitter=0.16, warp=0.05)
    skin = ramp(
        cloud(shape, size_px * 0.5, seed + 2) - 0.9 * np.exp(-((found.near / 0.30) ** 2)),
        (-1.6, (0.42, 0.05, 0.05)),
        (0.2, (0.70, 0.11, 0.09)),
        (1.6, (0.80, 0.20, 0.13)),
    )
    seeds = np.clip((0.15 - found.near) / 0.05, 0, 1)[..., None]
    return _mixed(skin, (0.86, 0.72, 0.38), seeds)


def _bee(shape: Shape, size_px: float, seed: int) -> Floats:
    y = np.mgrid[: shape[0], : shape[1]][0].astype(np.float32)
    wave = cloud(shape, size_px * 0.4, seed, 3) * size_px * 0.012 + cloud(shape, 5, seed + 1) * 0.8
    field = np.sin((y + wave) / (size_px * 0.19) * 2 * np.pi)
    dark = np.clip((field + 0.12) / 0.16, 0, 1)[..., None]
    yellow = ramp(cloud(shape, 7, seed + 2), (-2, (0.72, 0.48, 0.08)), (2, (0.90, 0.68, 0.20)))
    return _mixed(yellow, (0.13, 0.105, 0.09), dark)


def _brick_wall(shape: Shape, size_px: float, seed: int) -> Floats:
    high = max(size_px * 0.085, 6)
    wide = high * 2.3
    y, x = np.mgrid[: shape[0], : shape[1]].astype(np.float32)
    y, x = y + cloud(shape, 25, seed) * 0.6, x + cloud(shape, 25, seed + 1) * 0.6
    row = np.floor(y / high)
    along = x / wide + 0.5 * (row % 2)
    which = ((row * 61 + np.floor(along) * 17) % 4096).astype(int)
    tone = np.random.default_rng(seed).normal(0, 1, 4096)[which]
    across, up = np.abs(along % 1 - 0.5), np.abs(y / high % 1 - 0.5)
    edge = np.maximum(across * wide, up * high + (wide - high) / 2)
    mortar = np.clip((edge - (wide / 2 - high * 0.11)) / (high * 0.04), 0, 1)[..., None]
    clay = ramp(
        tone * 0.7 + 0.5 * cloud(shape, 5, seed + 3),
        (-2, (0.36, 0.15, 0.11)),
        (0, (0.56, 0.26, 0.19)),
        (2, (0.70, 0.40, 0.28)),
    )
    joint = floats([0.66, 0.63, 0.58]) * (0.9 + 0.05 * cloud(shape, 4, seed + 4))[..., None]
    return np.asarray(clay * (1 - mortar) + joint * mortar, np.float32)


def _chessboard(shape: Shape, size_px: float, seed: int) -> Floats:
    side = max(size_px * 0.095, 5)
    y, x = np.mgrid[: shape[0], : shape[1]].astype(np.float32) / side
    wave = np.sin(np.pi * x) * np.sin(np.pi * y)
    dark = np.clip(wave * side * 0.6 + 0.5, 0, 1)[..., None]
    light = ramp(
        cloud(shape, 24, seed, 5, stretch=(0.3, 2.5)),
        (-2, (0.74, 0.60, 0.42)),
        (2, (0.86, 0.75, 0.57)),
    )
    return _mixed(light, (0.22, 0.13, 0.08), dark)


def _mixed(base: Floats, colour: tuple[float, float, float], share: Floats) -> Floats:
    return np.asarray(base * (1 - share) + floats(colour) * share, np.float32)


PATTERNS: dict[str, Callable[[Shape, float, int], Floats]] = {
    "zebra": _zebra,
    "tiger": _tiger,
    "giraffe": _giraffe,
    "leopard": _leopard,
    "cow": _cow,
    "dalmatian": _dalmatian,
    "ladybug": _ladybug,
    "watermelon": _watermelon,
    "strawberry": _strawberry,
    "bee": _bee,
    "brick wall": _brick_wall,
    "chessboard": _chessboard,
}
"""What makes each surface: a flat cloth of a shape for an object of a size, as display values."""


class Cover(NamedTuple):
    """New colours of an object, and how much of each pixel stays as it was."""

    colours: Floats
    kept: Floats


def covered(
    photo: Floats,
    mask: Mask,
    surface: str,
    *,
    white: float,
    tint: Floats,
    blur: float,
    seed: int,
    gaps: bool,
    features: bool,
) -> Cover:
    """An object under another surface. `white` is how bright white is beside it, `tint` the colour
    of the light, `blur` what the photograph shows of an edge. Dark `gaps` stay as they are, and
    small dark `features`, if told so."""
    light = light_of(photo, mask, paint=0.9)
    height = inflate(mask)
    flat = cloth_on(mask, height, surface, seed, blur)
    shade = light.shade * float(np.clip(0.40 / (light.shade[mask].std() + 1e-3), 0.7, 2.2))
    detail = light.detail * float(np.clip(0.13 / (light.detail[mask].std() + 1e-3), 1.1, 3.0))
    lit = _below(shade + form_light(light, mask, height), 0.3, 0.7) + detail
    lit = lit + np.clip(DRAWN * drawing_of(photo, mask), -1.4, 0.6)
    bright = _bearable(photo, mask, white)
    new = linear(flat) * np.exp(np.clip(lit, -3.0, 1.0))[..., None] * bright * tint
    covered_ = film(new + _shine(photo, light)[..., None] * bright)
    kept = _dark_features(photo, extent_px(mask)) if features else np.zeros_like(lit)
    if gaps:
        kept = np.maximum(kept, unpainted(photo, mask))
    return Cover(floats(covered_), floats(kept))


def cloth_on(mask: Mask, height: Floats, surface: str, seed: int, blur: float) -> Floats:
    """A surface as it lies on an object of some relief, without light and shade, as sharp as a
    photograph of some `blur` shows it."""
    shape = mask.shape[0] + 2 * MARGIN_PX, mask.shape[1] + 2 * MARGIN_PX
    cloth = PATTERNS[surface](shape, extent_px(mask), seed)
    x, y = wrap(mask, height)
    flat = cv2.remap(
        cloth, x + MARGIN_PX, y + MARGIN_PX, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT
    )
    return floats(cv2.GaussianBlur(flat, (0, 0), blur) if blur > 0.5 else flat)


def _dark_features(photo: Floats, size_px: float) -> Floats:
    """How much each pixel belongs to a small dark feature, as eyes, noses and gaps are: without
    them nobody recognises what is under the surface."""
    smooth = cv2.GaussianBlur(floats(photo), (0, 0), 0.8)
    grey, lab = floats(luma(smooth)), cv2.cvtColor(smooth, cv2.COLOR_RGB2LAB)
    around_ = cv2.morphologyEx(grey, cv2.MORPH_CLOSE, disc(max(int(0.035 * size_px), 2)))
    deep = np.clip((around_ - grey - 0.14) / 0.12, 0, 1) * np.clip((0.30 - grey) / 0.12, 0, 1)
    deep = deep * np.clip((20 - np.hypot(lab[..., 1], lab[..., 2])) / 8, 0, 1)  # but no brown spots
    return floats(cv2.GaussianBlur(floats(deep), (0, 0), 0.7))


def unpainted(photo: Floats, mask: Mask) -> Floats:
    """How much each pixel belongs to glass, rubber and the like: what has another hue than the
    paint where most is painted in one colour, else what is far darker than the rest."""
    share = main_share(cv2.cvtColor(floats(photo), cv2.COLOR_RGB2LAB), mask)
    painted = float(share[mask].mean())
    if not MOST_PAINTED > painted > LEAST_PAINTED:
        return _dark_parts(photo, mask)
    size = max(int(0.008 * extent_px(mask)), 1)
    whole = cv2.morphologyEx(share, cv2.MORPH_CLOSE, disc(2 * size))  # lettering is painted over
    return floats(1 - cv2.morphologyEx(whole, cv2.MORPH_OPEN, disc(size)))


def _dark_parts(photo: Floats, mask: Mask) -> Floats:
    """How much each pixel belongs to a part that is far darker than the rest: none where most of
    the object is."""
    smooth = cv2.GaussianBlur(photo, (0, 0), 1.2)
    grey, lab = luma(smooth), cv2.cvtColor(smooth, cv2.COLOR_RGB2LAB)
    usual = max(float(np.percentile(grey[mask], 65)), 1e-3)
    dark = np.clip((0.56 - grey / usual) / 0.14, 0, 1) * np.clip((0.36 - grey) / 0.10, 0, 1)
    dark = dark * np.clip((18 - np.hypot(lab[..., 1], lab[..., 2])) / 6, 0, 1)  # paint has a colour
    if float(dark[mask].mean()) > MOST_DARK:
        return np.zeros_like(grey)
    return floats(cv2.GaussianBlur(floats(dark), (0, 0), 0.7))


def kept_share(photo: Floats, mask: Mask) -> float:
    """The share of an object that stays as it is: glass, rubber, gaps."""
    return float(unpainted(photo, mask)[mask].mean())


def _bearable(photo: Floats, mask: Mask, white: float) -> float:
    """How bright white may be on the object: between white beside it and what its own brightness
    suggests. A dark thing that became bright would glow."""
    own = float(np.median(linear(photo)[mask] @ LUMA)) / 0.38
    return float(np.clip(np.sqrt(white * own), 0.5 * white, 1.15 * white))


def _below(light: Floats, knee: float, most: float) -> Floats:
    """Logarithms of light that bend above a knee and stay below a maximum: a white label must not
    glow through the new surface."""
    over = np.maximum(light - knee, 0)
    room = most - knee
    return np.asarray(np.minimum(light, knee) + room * np.tanh(over / room))


def _shine(photo: Floats, light: Light) -> Floats:
    """What is small, white and far brighter than the rest is a reflection and lies over every
    paint."""
    grey = floats(luma(photo))
    small = grey - cv2.morphologyEx(grey, cv2.MORPH_OPEN, disc(6))
    white = np.clip((grey - 0.8) / 0.15, 0, 1) * np.clip((small - 0.1) / 0.2, 0, 1)
    return np.asarray(0.5 * white * np.clip(light.shade + light.detail - 0.7, 0, 1))
