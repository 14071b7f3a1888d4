"""Outlines: ovals, boxes, soft blobs, limbs. All return Skia paths in the caller's units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from groundfault.world.canvas import Path, skia

__all__ = [
    "Point",
    "arc",
    "blob",
    "box",
    "joined",
    "limb",
    "line",
    "oval",
    "polygon",
    "sector",
    "star",
    "without",
]

Point = tuple[float, float]


def oval(x: float, y: float, rx: float, ry: float | None = None, turn: float = 0.0) -> Path:
    """An ellipse around (x, y), turned clockwise by degrees."""
    ry = rx if ry is None else ry
    path = skia.Path()
    path.addOval(skia.Rect.MakeLTRB(x - rx, y - ry, x + rx, y + ry))
    return _turned(path, turn, x, y)


def box(
    left: float, top: float, right: float, bottom: float, radius: float = 0.0, turn: float = 0.0
) -> Path:
    """A rectangle with rounded corners, turned around its centre."""
    path = skia.Path()
    path.addRoundRect(skia.Rect.MakeLTRB(left, top, right, bottom), radius, radius)
    return _turned(path, turn, (left + right) / 2, (top + bottom) / 2)


def _turned(path: Path, degrees: float, x: float, y: float) -> Path:
    if degrees:
        matrix = skia.Matrix()
        matrix.setRotate(degrees, x, y)
        path.transform(matrix)
    return path


def polygon(points: Sequence[Point]) -> Path:
    """Straight edges through the points."""
    path = skia.Path()
    path.addPoly([skia.Point(x, y) for x, y in points], True)
    return path


def blob(points: Sequence[Point], tension: float = 1.0) -> Path:
    """A closed soft curve through the points (Catmull–Rom); tension 0 gives straight edges."""
    count, reach = len(points), tension / 6.0
    path = skia.Path()
    path.moveTo(*points[0])
    for i in range(count):
        (ax, ay), (bx, by) = points[i - 1], points[i]
        (cx, cy), (dx, dy) = points[(i + 1) % count], points[(i + 2) % count]
        path.cubicTo(
            bx + (cx - ax) * reach,
            by + (cy - ay) * reach,
            cx - (dx - bx) * reach,
            cy - (dy - by) * reach,
            cx,
            cy,
        )
    path.close()
    return path


def line(points: Sequence[Point], soft: bool = True) -> Path:
    """An open curve (or polyline) through the points, to be stroked."""
    path = skia.Path()
    path.moveTo(*points[0])
    last = len(points) - 1
    for i in range(last):
        (bx, by), (cx, cy) = points[i], points[i + 1]
        if not soft:
            path.lineTo(cx, cy)
            continue
        (ax, ay), (dx, dy) = points[max(i - 1, 0)], points[min(i + 2, last)]
        path.cubicTo(
            bx + (cx - ax) / 6, by + (cy - ay) / 6, cx - (dx - bx) / 6, cy - (dy - by) / 6, cx, cy
        )
    return path


def limb(points: Sequence[Point], widths: Sequence[float]) -> Path:
    """A tube along the points, as wide at each as its width, with round ends."""
    left: list[Point] = []
    right: list[Point] = []
    last = len(points) - 1
    directions = []
    for i, (x, y) in enumerate(points):
        (ax, ay), (bx, by) = points[max(i - 1, 0)], points[min(i + 1, last)]
        length = math.hypot(bx - ax, by - ay) or 1.0
        dx, dy, half = (bx - ax) / length, (by - ay) / length, widths[i] / 2
        directions.append((dx, dy))
        left.append((x + dy * half, y - dx * half))
        right.append((x - dy * half, y + dx * half))
    start = _cap(points[0], (-directions[0][0], -directions[0][1]), widths[0] / 2)
    end = _cap(points[last], directions[last], widths[last] / 2)
    return blob([*left, *end, *reversed(right), *start])


def _cap(centre: Point, direction: Point, radius: float) -> list[Point]:
    """Three points around a round end, from the left side to the right."""
    (x, y), (dx, dy), slant = centre, direction, radius * 0.72
    return [
        (x + (dx + dy) * slant, y + (dy - dx) * slant),
        (x + dx * radius, y + dy * radius),
        (x + (dx - dy) * slant, y + (dy + dx) * slant),
    ]


def arc(x: float, y: float, rx: float, ry: float, start: float, sweep: float) -> Path:
    """A piece of an ellipse's edge, to be stroked; degrees clockwise from 3 o'clock."""
    path = skia.Path()
    path.addArc(skia.Rect.MakeLTRB(x - rx, y - ry, x + rx, y + ry), start, sweep)
    return path


def sector(x: float, y: float, rx: float, ry: float, start: float, sweep: float) -> Path:
    """A piece of an ellipse cut off by its chord."""
    path = arc(x, y, rx, ry, start, sweep)
    path.close()
    return path


def star(x: float, y: float, outer: float, inner: float, points: int, turn: float = 0.0) -> Path:
    """A star; also crowns of leaves, with a small inner radius."""
    corners = []
    for i in range(2 * points):
        angle, radius = math.pi * i / points + turn, inner if i % 2 else outer
        corners.append((x + radius * math.sin(angle), y - radius * math.cos(angle)))
    return polygon(corners)


def joined(*paths: Path) -> Path:
    """One outline around all of them, so that no seam shows where they meet."""
    whole = paths[0]
    for path in paths[1:]:
        whole = _combined(whole, path, skia.PathOp.kUnion_PathOp)
    return whole


def without(path: Path, hole: Path) -> Path:
    """The path with a hole cut into it."""
    return _combined(path, hole, skia.PathOp.kDifference_PathOp)


def _combined(one: Path, other: Path, operation: Any) -> Path:
    # Where curves touch in a bad way Skia gives up (one time in 2,000) or loses one of them
    # (one in 10,000): a shift too small to be seen lets it see them.
    union = operation == skia.PathOp.kUnion_PathOp
    for shift in (0.0, 0.0011, -0.0017, 0.0029):
        moved = skia.Path(other)
        moved.offset(shift, shift * 0.6)
        try:
            found = skia.Op(one, moved, operation)
        except RuntimeError:
            continue
        if not union or _covers(found, one, other):
            return found
    raise RuntimeError("two outlines cannot be combined")


def _covers(whole: Path, *parts: Path) -> bool:
    """Whether a path's box holds those of its parts, to within what the eye sees."""
    box = whole.computeTightBounds().makeOutset(0.02, 0.02)
    return all(box.contains(part.computeTightBounds()) for part in parts)
