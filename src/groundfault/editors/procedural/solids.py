"""Solid bodies seen by a camera: boxes, things turned on a lathe, and lumps. A body
stands on the ground, z = 0, with its middle above the origin; x goes to the right, y away from
the camera, z upwards, all in heights of the thing that it replaces."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator

from groundfault.editors.procedural.edges import Floats, Mask, floats
from groundfault.editors.procedural.noise import grains

__all__ = ["Body", "Hits", "View", "box", "cast", "lathe", "lump", "picture_size"]

Numbers = NDArray[Any]
Distance = Callable[[Numbers], Numbers]
STEPS = 160
"""How often a ray goes on by its distance from a body."""
TOUCHED = 0.002
"""Nearer than this, in heights, a ray has met the body."""
SLOPE = 0.003
"""Over how much of a height a surface's direction is measured."""
INNER = 0.85
"""How much of where a lump meets the ground is dark, by its size."""
LEAST_FOOT = 0.12
"""How much of a ball touches the ground, as the square of a share of its radius."""
CIRCLE = floats([(np.cos(angle), np.sin(angle)) for angle in np.linspace(0, 2 * np.pi, 24)])
PROFILE = 160
"""How many heights of a turned body have a radius of their own."""
LONGITUDES, LATITUDES = 256, 128
"""The sides of the table that has the radii of a lump."""


class View(NamedTuple):
    """From where a body is seen."""

    pitch: float
    """How far the camera looks down, in radians: 0 from the side, π/2 from above."""
    turn: float
    """How far the body is turned on the ground, in radians."""
    away: float
    """How far the camera is from the body."""


class Body(NamedTuple):
    """A solid."""

    distance: Distance
    """How far points, (n, 3), are from it at least; below 0 inside."""
    extents: tuple[float, float, float]
    """Its width, depth and height."""
    foot: Floats
    """The outline of what touches the ground, (n, 2)."""


class Hits(NamedTuple):
    """What a camera sees of a body, all (rows, columns)."""

    seen: Mask
    points: Floats
    """In the body's own coordinates, (rows, columns, 3)."""
    own: Floats
    """The surface's direction in the body's own coordinates."""
    normals: Floats
    """The same as the scene has it: to the right, away, up."""
    foot_px: Floats
    """The outline of its foot: columns and rows, (n, 2)."""


def box(wide: float, deep: float, tall: float, *, bevel: float = 0.015) -> Body:
    """A box whose edges are rounded by a share of its height."""
    half = floats([wide / 2, deep / 2, tall / 2])
    round_off = bevel * tall

    def distance(points: Numbers) -> Numbers:
        beyond = np.abs(points - floats([0, 0, tall / 2])) - (half - round_off)
        outside = np.linalg.norm(np.maximum(beyond, 0), axis=1)
        return np.asarray(outside + np.minimum(beyond.max(1), 0) - round_off)

    corners = floats([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    return Body(distance, (wide, deep, tall), corners * half[:2])


def lathe(
    profile: tuple[tuple[float, float], ...],
    wide: float,
    tall: float,
    *,
    ribs: int = 0,
    depth: float = 0.0,
) -> Body:
    """A body of revolution: shares of half its width at shares of its height, from its foot to its
    top; with `ribs` around it, of a `depth`."""
    smooth = PchipInterpolator(*np.transpose(profile))
    heights = np.linspace(0, tall, PROFILE)
    radii = smooth(heights / tall) * wide / 2
    steep = float(np.abs(np.diff(radii) / np.maximum(np.diff(heights), 1e-3)).clip(0, 3).max())
    safe = 1 / np.hypot(1, steep + ribs * depth * 0.5)

    def distance(points: Numbers) -> Numbers:
        x, y, z = points.T
        radius = np.interp(z, heights, radii)
        if ribs:
            wave = np.abs(np.sin(0.5 * ribs * np.arctan2(y, x)))
            radius = radius * (1 - depth * (1 - wave) ** 2)
        beside = (np.hypot(x, y) - radius) * safe
        return np.asarray(np.maximum(beside, np.maximum(-z, z - tall)))

    return Body(distance, (wide, wide, tall), CIRCLE * radii[0])


def lump(
    wide: float,
    deep: float,
    tall: float,
    *,
    seed: int = 0,
    rough: float = 0.0,
    square: float = 0.0,
    sunk: float = 0.0,
) -> Body:
    """An ellipsoid, somewhat `square`, with bumps and faces if it is `rough`, of whose lower half a
    share is in the ground."""
    radii = _radii(seed, rough, square)
    high = tall / 2 * (1 + sunk)
    scale, middle = floats([wide / 2, deep / 2, high]), floats([0, 0, tall - high])
    least = 0.45 * float(scale.min())

    def distance(points: Numbers) -> Numbers:
        away = (points - middle) / scale
        length = np.linalg.norm(away, axis=1)
        x, y, z = (away / np.maximum(length, 1e-6)[:, None]).T
        column = (np.arctan2(y, x) / (2 * np.pi) + 0.5) * (LONGITUDES - 1)
        row = (np.arcsin(np.clip(z, -1, 1)) / np.pi + 0.5) * (LATITUDES - 1)
        radius = _looked_up(radii, column, row)
        return np.asarray(np.maximum((length - radius) * least, -points[:, 2]))

    cut = float(np.sqrt(max(1 - ((tall - high) / high) ** 2, LEAST_FOOT)))
    return Body(distance, (wide, deep, tall), CIRCLE * floats([wide / 2, deep / 2]) * cut * INNER)


def _radii(seed: int, rough: float, square: float) -> Floats:
    """The radius of a lump in every direction, as a table of latitudes and longitudes; 1 is the
    ellipsoid's."""
    longitude = np.linspace(-np.pi, np.pi, LONGITUDES)[None]
    latitude = np.linspace(-np.pi / 2, np.pi / 2, LATITUDES)[:, None]
    x, y = np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude)
    z = np.sin(latitude) + 0 * longitude
    directions = np.stack([x, y, z], -1).reshape(-1, 3)
    cubic = (np.abs(directions) ** (2 + 3 * square)).sum(1) ** (-1 / (2 + 3 * square))
    found = cubic
    if rough:
        bumps = rough * grains(directions, 1.1, seed, octaves=5)
        found = np.minimum(cubic + bumps, _facets(directions, seed))
    return floats((found / np.percentile(found, 97)).reshape(LATITUDES, LONGITUDES))


def _facets(directions: Numbers, seed: int, count: int = 14) -> Numbers:
    """How far flat faces at random sides of a ball let each direction go."""
    rng = np.random.default_rng(seed + 77)
    faces = rng.standard_normal((count, 3))
    faces /= np.linalg.norm(faces, axis=1, keepdims=True)
    reach = rng.uniform(0.84, 1.05, count)
    facing = directions @ faces.T
    return np.asarray(np.where(facing > 0.05, reach / np.maximum(facing, 0.05), 9).min(1))


def _looked_up(table: Floats, column: Numbers, row: Numbers) -> Numbers:
    width = 4096  # a picture's side has a limit
    pad = -len(column) % width
    where = [np.pad(floats(one), (0, pad)).reshape(-1, width) for one in (column, row)]
    found = cv2.remap(table, *where, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(found).ravel()[: len(column)]


def cast(body: Body, view: View, tall_px: int) -> Hits:
    """A body as a camera shows it, in a picture that is about as tall as it."""
    right, up, towards = _axes(view.pitch)
    eye = _eye(body, view)
    left, wide, top, tall = _frame(body, view)
    step = tall / tall_px
    wide_px = max(int(np.ceil(wide / step)), 1)
    columns = left + step * (np.arange(wide_px) + 0.5)
    rows = top - step * (np.arange(tall_px) + 0.5)
    x, y = np.meshgrid(columns, rows)
    rays = x.reshape(-1, 1) * right + y.reshape(-1, 1) * up - towards
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    start = _turned(floats(eye[None]), -view.turn)
    along = _turned(floats(rays), -view.turn)
    reach = float(np.linalg.norm(body.extents)) / 2
    depths = _met(body.distance, start, along, view.away - reach, view.away + reach)
    seen = np.isfinite(depths)
    points = start + np.where(seen, depths, 0)[:, None] * along
    own = np.zeros_like(points)
    own[seen] = _directions(body.distance, points[seen])
    shape = (tall_px, wide_px)
    return Hits(
        seen.reshape(shape),
        floats(points).reshape(*shape, 3),
        floats(own).reshape(*shape, 3),
        _turned(floats(own), view.turn).reshape(*shape, 3),
        (_projected(np.c_[body.foot, np.zeros(len(body.foot))], body, view) - (left, top))
        / (step, -step),
    )


def picture_size(body: Body, view: View) -> tuple[float, float]:
    """How wide and how tall the box around a body is in a picture of it."""
    _, wide, _, tall = _frame(body, view)
    return wide, tall


def _eye(body: Body, view: View) -> Floats:
    return floats([0, 0, body.extents[2] / 2]) + view.away * _axes(view.pitch)[2]


def _frame(body: Body, view: View) -> tuple[float, float, float, float]:
    """Left side, width, top and height of the box around a body in a picture of it, one unit away
    from the camera."""
    wide, deep, tall = body.extents
    corners = floats(list(product((-wide / 2, wide / 2), (-deep / 2, deep / 2), (0, tall))))
    across, upwards = _projected(corners, body, view).T
    left, top = float(across.min()), float(upwards.max())
    return left, float(across.max()) - left, top, top - float(upwards.min())


def _projected(points: Numbers, body: Body, view: View) -> Floats:
    """Where points of a body are in a picture one unit away: to the right and up, (n, 2)."""
    right, up, towards = _axes(view.pitch)
    placed = _turned(floats(points), view.turn) - _eye(body, view)
    depth = np.maximum(-(placed @ towards), 0.1)
    return floats(np.stack([placed @ right / depth, placed @ up / depth], -1))


def _axes(pitch: float) -> tuple[Floats, Floats, Floats]:
    """To the right, up in the picture, and towards the camera."""
    sine, cosine = float(np.sin(pitch)), float(np.cos(pitch))
    return floats([1, 0, 0]), floats([0, sine, cosine]), floats([0, -cosine, sine])


def _turned(points: Floats, turn: float) -> Floats:
    x, y, z = points.T
    sine, cosine = np.sin(turn), np.cos(turn)
    return floats(np.stack([x * cosine - y * sine, x * sine + y * cosine, z], -1))


def _met(distance: Distance, start: Floats, along: Floats, near: float, far: float) -> Numbers:
    """How far along each ray a body begins; infinite where it is missed."""
    depth = np.full(len(along), max(near, 0.01), np.float32)
    found = np.full(len(along), np.inf, np.float32)
    left = np.arange(len(along))
    for _ in range(STEPS):
        away = distance(start + depth[left, None] * along[left])
        met = away < TOUCHED
        found[left[met]] = depth[left[met]]
        depth[left] += floats(np.maximum(away, TOUCHED / 2))
        left = left[~met & (depth[left] < far)]
        if not left.size:
            break
    return found


def _directions(distance: Distance, points: Floats) -> Floats:
    """Where a distance grows fastest: away from the body."""
    slopes = [
        distance(points + floats(shift)) - distance(points - floats(shift))
        for shift in SLOPE * np.eye(3)
    ]
    found = np.stack(slopes, -1)
    return floats(found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9))
