"""Bunches of balloons and of paper lanterns, computed one by one. They float or hang: they need no
ground and no view, are of any size, and have no outline as a bunch, so that they cover whatever was
there, and only that."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np

from groundfault.editors.procedural.edges import Floats, Mask, box_of, depth_inside, floats, grown
from groundfault.editors.procedural.grounds import Place
from groundfault.editors.procedural.relief import extent_px, film, linear
from groundfault.editors.procedural.rendering import Lamp
from groundfault.editors.procedural.repertoire import BALLOONS, LANTERNS
from groundfault.editors.procedural.transplants import Cutting

__all__ = [
    "MAKES",
    "Balloon",
    "bunch_alone",
    "bunch_over",
    "inflated",
    "place_in_air",
    "silhouette",
]

WIDER = 0.025
"""How far beyond an object's outline balloons cover, as a share of its extent: outlines are drawn
some pixels off."""
RADIUS_M, RADIUS, LEAST_RADIUS_PX = 0.14, (0.12, 0.2), 5.0
"""The half width of a balloon, and what it is in shares of the object's extent, at least and at
most."""
SMALLEST = 0.72
"""How much smaller than the largest a balloon of a bunch may be."""
COVERED, MOST_INWARD = 0.9, 0.65
"""How much of its radius a balloon covers for sure, and how far it is moved inwards at the rim, in
radii."""
MOST_BALLOONS = 160
TILTED = 0.35
"""The deviation of how far balloons are turned, in radians."""
BUNCH, PLACES = (6.1, 4.1), ((-0.95, 1.85, -0.22), (0.95, 1.95, 0.24), (0.0, 1.25, 0.02))
"""How tall and wide a bunch on strings is, in radii, and where in it balloons are, and how far each
is turned."""
BETWEEN = 0.12
"""How bright the inside of a bunch is."""
BLURS = (0.3, 1.2)
"""Of what has few edges more blur is measured than there is."""
OTHER_SIDE = 0.75
"""How much farther away a bunch may be to be on the other side of an object, in widths."""
FREE = 0.02
"""How far what floats stays away from the picture's border, as a share of its shorter side."""
ROOM_PX = 6
FINER = 2
"""How many times finer than the photograph balloons are drawn."""
AMBIENT, KEY, WRAPPED = 0.52, 0.72, 0.25
"""The light of the sky and of the lamp on rubber, and how far the lamp's goes around it, through
the balloon."""
DEEPER = 0.35
"""How much stronger a balloon's colour is where one looks through it aslant."""
MIRROR = 0.35
"""How much of its surroundings the rim of a balloon mirrors."""
OF_KNOT = 0.7
"""How bright a knot is."""
SHADES, DARKER = ((0.12, 0.30), (0.45, 0.30)), 0.6
"""How far a balloon shades those behind it, in radii, and how much."""
STRING, STRING_PX = (0.80, 0.79, 0.76), 0.011
"""The colour of a string, and how thick it is, as a share of the height of balloons on strings."""
Colour = tuple[float, float, float]


class Make(NamedTuple):
    """What a bunch is of."""

    tall: float
    """How far one goes above its widest place, in half widths."""
    tip: float
    """How far it goes below that."""
    palettes: tuple[tuple[Colour, ...], ...]
    """Colours that go together."""
    shines: tuple[tuple[float, float], ...] = ()
    """How narrow the lamp's image is on it, and how bright."""
    shine_inside: tuple[float, float] = (1.0, 0.0)
    """The same of the lamp's image on its far side, inside."""
    ribs: int = 0
    """How many rings of wire hold paper apart; what has none is rubber, and knotted."""


MAKES = {
    BALLOONS: Make(
        tall=1.12,
        tip=1.32,
        shines=((90.0, 0.85), (9.0, 0.1)),
        shine_inside=(30.0, 0.10),
        palettes=(
            ((0.80, 0.10, 0.12), (0.93, 0.72, 0.08), (0.10, 0.36, 0.75), (0.16, 0.56, 0.24)),
            ((0.85, 0.22, 0.46), (0.92, 0.62, 0.70), (0.55, 0.24, 0.60), (0.93, 0.91, 0.90)),
            ((0.90, 0.44, 0.08), (0.93, 0.76, 0.14), (0.80, 0.16, 0.12), (0.93, 0.91, 0.88)),
            ((0.10, 0.36, 0.72), (0.45, 0.70, 0.88), (0.92, 0.92, 0.93), (0.10, 0.55, 0.58)),
        ),
    ),
    LANTERNS: Make(
        tall=0.92,
        tip=0.92,
        ribs=9,
        palettes=(
            ((0.86, 0.16, 0.10), (0.93, 0.34, 0.10), (0.95, 0.62, 0.16)),
            ((0.95, 0.91, 0.82), (0.95, 0.78, 0.50), (0.93, 0.58, 0.40)),
            ((0.88, 0.30, 0.46), (0.95, 0.66, 0.56), (0.95, 0.90, 0.84)),
        ),
    ),
}
"""Bunches, by name."""
MOUTH = 0.93
"""How far up and down a lantern is closed, as a share of its height: above and below is its
frame."""
FRAME: Colour = (0.16, 0.11, 0.07)
CREASED, GLOW = 0.34, 0.22
"""How much paper sags between rings, as a slope, and how much light comes through it."""


class Balloon(NamedTuple):
    """A balloon of a bunch, or a lantern, in pixels."""

    x: float
    y: float
    radius: float
    tilt: float
    """How far it is turned from upright, in radians."""


def bunch_over(mask: Mask, scale_m: float, seed: int) -> list[Balloon]:
    """Balloons that cover an object whose pixels are `scale_m` long, those behind first."""
    extent = extent_px(mask)
    least, most = (max(share * extent, LEAST_RADIUS_PX) for share in RADIUS)
    largest = float(np.clip(RADIUS_M / scale_m, least, most))
    margin = max(round(WIDER * extent), 1)
    rows, columns = box_of(mask)
    wanted = grown(np.pad(mask[rows, columns], margin + 1), margin)
    corner = floats([columns.start, rows.start]) - (margin + 1)
    inside = depth_inside(wanted)
    smooth = cv2.GaussianBlur(inside, (0, 0), max(0.3 * largest, 1.0))
    inward = np.stack([cv2.Sobel(smooth, cv2.CV_32F, *axis) for axis in ((1, 0), (0, 1))], -1)
    rng = np.random.default_rng(seed)
    left = wanted.astype(np.uint8)
    found: list[Balloon] = []
    while left.any() and len(found) < MOST_BALLOONS:
        free = cv2.distanceTransform(left, cv2.DIST_L2, 3)
        row, column = np.unravel_index(int(free.argmax()), free.shape)
        depth, way = float(inside[row, column]), inward[row, column]
        radius = float(np.clip(depth * rng.uniform(0.95, 1.1), SMALLEST * largest, largest))
        step = float(np.clip(0.9 * radius - depth, 0, MOST_INWARD * radius))
        x, y = floats([column, row]) + step * way / max(float(np.linalg.norm(way)), 1e-6)
        tilt = float(rng.normal(0, TILTED))
        found.append(Balloon(float(x + corner[0]), float(y + corner[1]), radius, tilt))
        cv2.circle(left, (round(float(x)), round(float(y))), round(COVERED * radius), 0, -1)
    return found[::-1]


def silhouette(balloons: list[Balloon], size: tuple[int, int]) -> Mask:
    """Where balloons are, but for their tips."""
    found = np.zeros(size, np.uint8)
    for one in balloons:
        cv2.circle(found, (round(one.x), round(one.y)), round(one.radius), 1, -1)
    return np.asarray(found > 0)


def bunch_alone(tall_px: int, seed: int) -> tuple[list[Balloon], tuple[int, int]]:
    """Three balloons on strings, and the height and width of their box with the strings."""
    rng = np.random.default_rng(seed)
    radius = tall_px / BUNCH[0]
    size = tall_px, round(BUNCH[1] * radius)
    found = []
    for index in rng.permutation(len(PLACES)):
        x, y, tilt = PLACES[index] + 0.05 * rng.standard_normal(3)
        own = radius * float(rng.uniform(0.93, 1.0))
        found.append(Balloon(size[1] / 2 + float(x) * radius, float(y) * radius, own, float(tilt)))
    return found, size


def inflated(
    name: str,
    balloons: list[Balloon],
    size: tuple[int, int],
    lamp: Lamp,
    seed: int,
    *,
    behind: Mask | None = None,
) -> Cutting:
    """A bunch in a photograph's light, of what it is called. Between them what is `behind` is
    dark; without, strings go down to where they are held together."""
    shape = size[0] * FINER, size[1] * FINER
    light, share = np.zeros((*shape, 3), np.float32), np.zeros(shape, np.float32)
    make = MAKES[name]
    palette = make.palettes[seed % len(make.palettes)]
    if behind is None:
        _draw_strings(light, share, balloons, make.tip, lamp)
    else:
        dark = cv2.resize(behind.astype(np.uint8), shape[::-1], interpolation=cv2.INTER_NEAREST) > 0
        light[dark] = BETWEEN * linear(floats(palette)).mean(0) * lamp.white
        share[dark] = 1
    turn = seed
    rng = np.random.default_rng(seed + 1)
    for one in balloons:
        turn += int(rng.integers(1, len(palette)))  # never the colour of the one before
        finer = Balloon(one.x * FINER, one.y * FINER, one.radius * FINER, one.tilt)
        _draw(light, share, finer, make, palette[turn % len(palette)], lamp)
    blur = float(np.clip(0.5 * lamp.blur_px, *BLURS)) * FINER
    share = cv2.GaussianBlur(share, (0, 0), 0.6 * blur)
    colours = cv2.GaussianBlur(film(light), (0, 0), 0.7 * blur)
    colours = cv2.resize(colours, size[::-1], interpolation=cv2.INTER_AREA)
    share = cv2.resize(share, size[::-1], interpolation=cv2.INTER_AREA)
    noise = floats(np.random.default_rng(seed + 3).standard_normal(size))
    noise = cv2.GaussianBlur(noise, (0, 0), 0.6)[..., None]
    colours = np.clip(colours + 2 * lamp.grain * noise, 0, 1)
    lit = np.ones(size, np.float32)
    return Cutting(floats(colours), floats(share), np.zeros(3, np.float32), 1.0, lit)


def place_in_air(size: tuple[int, int], taken: Mask, mask: Mask, seed: int) -> Place | None:
    """Where something of a height and width floats beside an object and hides nothing that is
    `taken`: as near to its upper half as there is room, and no lower than its middle."""
    tall, wide = size
    rows, columns = box_of(mask)
    free = max(round(FREE * min(mask.shape)), 1)
    room = np.ones_like(taken, np.uint8)  # along the border is none
    room[free:-free, free:-free] = taken[free:-free, free:-free]
    room[max((rows.start + rows.stop + tall) // 2, free) :] = 1
    if tall + 2 >= room.shape[0] or wide + 2 >= room.shape[1]:
        return None
    sums = cv2.integral(room)
    full = sums[tall:, wide:] - sums[:-tall, wide:] - sums[tall:, :-wide] + sums[:-tall, :-wide]
    top, left = np.nonzero(full == 0)
    if not len(top):
        return None
    side = -1 if seed % 2 else 1
    across = (left + wide / 2) - (columns.start + columns.stop) / 2
    down = (top + tall / 2) - (0.7 * rows.start + 0.3 * rows.stop)
    away = np.hypot(across, down) + OTHER_SIDE * wide * (across * side < 0)
    best = int(away.argmin())
    return Place(float(left[best] + wide / 2), float(top[best] + tall), float(tall), False)


def _draw(
    light: Floats, share: Floats, one: Balloon, make: Make, colour: Colour, lamp: Lamp
) -> None:
    """One of a bunch over those that are there, which it shades."""
    reach = round((make.tip + 0.5) * one.radius) + ROOM_PX
    rows = slice(max(round(one.y) - reach, 0), max(round(one.y) + reach, 0))
    columns = slice(max(round(one.x) - reach, 0), max(round(one.x) + reach, 0))
    part, own = light[rows, columns], share[rows, columns]
    if not part.size:
        return
    y, x = np.mgrid[rows, columns][:, : part.shape[0], : part.shape[1]].astype(np.float32)
    x, y = (x - one.x) / one.radius, (y - one.y) / one.radius
    sine, cosine = np.sin(one.tilt), np.cos(one.tilt)
    across, down = cosine * x + sine * y, cosine * y - sine * x
    half = _half_width(down, make)
    edge = (half - np.abs(across)) * one.radius
    knot = _knot(across, down, one.radius, make)
    inside = np.clip(np.maximum(edge, knot) + 0.5, 0, 1)
    dark = np.zeros(part.shape[:2], np.float32)
    for far, depth in SHADES:
        dark += depth * cv2.GaussianBlur(floats(inside), (0, 0), max(far * one.radius, 0.8))
    part *= (1 - np.minimum(DARKER, dark))[..., None]
    n = _facing(across, down, half, make)
    turned = [cosine * n[..., 0] - sine * n[..., 1], sine * n[..., 0] + cosine * n[..., 1]]
    normals = floats(np.stack([*turned, n[..., 2]], -1))
    if make.ribs:
        new = _paper(normals, colour, lamp)
        new[np.abs(down) > MOUTH * make.tall] = linear(floats(FRAME)) * lamp.white
    else:
        new = _rubber(normals, make, colour, lamp)
        new[knot > edge] *= OF_KNOT
    covered = inside[..., None]
    part[:] = new * covered + part * (1 - covered)
    own[:] = np.maximum(own, inside)


def _half_width(down: Floats, make: Make) -> Floats:
    """How far one of a bunch goes to either side, by how far below its widest place: a balloon is
    an egg, a lantern a ball that is open above and below."""
    if make.ribs:
        found = np.sqrt(np.maximum(1 - down**2, 0))
        return floats(np.where(np.abs(down) <= make.tall, found, 0))
    above = 1 - np.clip(-down / make.tall, 0, 1) ** 2
    below = 1 - np.clip(down / make.tip, 0, 1) ** 2.1
    return floats(np.sqrt(np.maximum(above * below, 0)) * np.where(down > 0, below**0.18, 1))


def _facing(across: Floats, down: Floats, half: Floats, make: Make) -> Floats:
    """Where the surface of one of a bunch faces: to its right, down and to the camera."""
    front = np.sqrt(np.maximum(half**2 - across**2, 1e-4))
    heights = np.linspace(-make.tall, make.tip, 257, dtype=np.float32)
    slope = np.gradient(_half_width(heights, make)) / ((make.tall + make.tip) / 256)
    lean = np.interp(down, heights, slope)
    n = np.stack([across, -half * np.clip(lean, -4, 4), front], -1)
    n /= np.maximum(np.linalg.norm(n, axis=-1, keepdims=True), 1e-4)
    if make.ribs:  # paper sags between its rings
        between = (down / make.tall + 1) / 2 * (make.ribs + 1)
        n[..., 1] += CREASED * np.cos(2 * np.pi * between)
        n /= np.maximum(np.linalg.norm(n, axis=-1, keepdims=True), 1e-4)
    return floats(n)


def _knot(across: Floats, down: Floats, radius: float, make: Make) -> Floats:
    """The knot at a balloon's tip: how far inside it pixels are. Lanterns have none."""
    half = 0.03 + 0.09 * np.clip((down - make.tip + 0.04) / 0.16, 0, 1)
    inside = (down > make.tip - 0.06) & (down < make.tip + 0.12) & (make.ribs == 0)
    return floats(np.where(inside, (half - np.abs(across)) * radius, -9))


def _lit(n: Floats, lamp: Lamp) -> tuple[Floats, Floats]:
    """How much light falls on what faces to the right, down and towards the camera, and where the
    lamp is."""
    to_lamp = floats([0.75 * lamp.side, -0.85, 0.6])
    to_lamp /= np.linalg.norm(to_lamp)
    facing = (n @ to_lamp + WRAPPED) / (1 + WRAPPED)
    shade = AMBIENT * (0.7 - 0.3 * n[..., 1]) + KEY * np.maximum(facing, 0)
    return floats(shade[..., None]), to_lamp


def _paper(n: Floats, colour: Colour, lamp: Lamp) -> Floats:
    """The light that comes from paper: no lamp is seen in it, and some comes through."""
    shade, _ = _lit(n, lamp)
    own = linear(floats(colour))
    return floats(own * (shade + GLOW) * lamp.tint * lamp.white)


def _rubber(n: Floats, make: Make, colour: Colour, lamp: Lamp) -> Floats:
    """The light that comes from rubber."""
    front = n[..., 2:]
    own = linear(floats(colour)) ** (1 + DEEPER * (1 - front))
    shade, to_lamp = _lit(n, lamp)
    up = -n[..., 1]
    tint = lamp.tint * lamp.white
    found = own * (shade * tint + 0.25 * np.clip(-up, 0, 1)[..., None] * lamp.ground)
    between = to_lamp + floats([0, 0, 1])
    between /= np.linalg.norm(between)
    for narrow, bright in make.shines:
        found += (bright * np.maximum(n @ between, 0) ** narrow)[..., None] * tint
    narrow, bright = make.shine_inside
    far = floats([-between[0], -between[1], between[2]])
    found += (bright * np.maximum(n @ far, 0) ** narrow)[..., None] * tint * own / own.max()
    rim = MIRROR * np.clip(1 - front, 0, 1) ** 4
    around = np.where(up[..., None] > 0, 0.8 * tint, 0.8 * lamp.ground)
    return floats(found + rim * (around - found))


def _draw_strings(
    light: Floats, share: Floats, balloons: list[Balloon], tip: float, lamp: Lamp
) -> None:
    """Strings from the tips of balloons to the middle of the lower border."""
    tall, wide = share.shape
    own = linear(floats(STRING)) * (0.8 * lamp.tint * lamp.white)
    lines = np.zeros_like(share)
    for one in balloons:
        down = floats([-np.sin(one.tilt), np.cos(one.tilt)]) * (tip + 0.1) * one.radius
        start = (floats([one.x, one.y]) + down) * FINER
        end = floats([wide / 2, tall - 1])
        bend = floats([0.75 * end[0] + 0.25 * start[0], 0.45 * start[1] + 0.55 * end[1]])
        t = np.linspace(0, 1, 24)[:, None]
        curve = (1 - t) ** 2 * start + 2 * t * (1 - t) * bend + t**2 * end
        thick = max(round(STRING_PX * tall), 1)
        points = [np.round(curve * 16).astype(np.int32)]
        cv2.polylines(lines, points, False, 1.0, thick, cv2.LINE_AA, 4)
    light += lines[..., None] * own
    np.maximum(share, 0.85 * lines, out=share)
