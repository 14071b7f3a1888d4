"""What else is in a photograph: what an object stands on, what stands in front of it, and what it
touches. Known from the annotations that come with a request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from groundfault.editors.procedural.edges import Mask, box_of, grown
from groundfault.interfaces import Neighbour

__all__ = ["Company", "company_of", "foot_of", "objection", "troubles"]

TOUCH_PX = 8
"""Things nearer than this touch each other, as far as drawn outlines can tell."""
NEAR_PX = 12
"""What stands nearer in front of an object is drawn anew by who fills its place, unless hidden."""
CARRIERS = ("dining table", "bed", "couch")
"""Categories that others stand or lie on, and that go on where those are taken away."""


MOST_TOUCHING = {"erase": 0.75, "replace": 0.5, "add": 0.4, "move": 0.4}
MOST_HIDDEN = {"erase": 0.4, "replace": 0.2, "add": 0.2, "move": 0.2}
"""How much of an object's surroundings others may have, and those in front of it, per kind of
edit."""
MOST_HELD = {"erase": 0.3, "replace": 0.06, "add": 0.12, "move": 0.12}
"""How much of them people may have: hands that held it stay behind."""
MOST_ALIKE = {"erase": 0.3, "replace": 0.3}
"""How much of them others of its own category may have, of which a piece would be drawn anew."""
HELD, ALIKE = 0.12, 0.1
"""From here on either is a trouble for who erases it."""


class Company(NamedTuple):
    """The things around an object."""

    carrier: Mask | None
    """What it stands on, where that is annotated."""
    obstacles: tuple[Mask, ...]
    """All others."""
    touching: float
    """The share of the object's surroundings, some pixels wide, that obstacles have."""
    hidden: float
    """The share that is of obstacles in front of it, whose feet are lower."""
    alike: float
    """The share that is of others of its own category."""
    held: float
    """The share that is of people."""
    inside: float
    """The largest share of the object that lies within another thing that is not its carrier."""

    @property
    def blocked(self) -> Mask | None:
        """Every pixel of an obstacle; None where there are none."""
        return np.logical_or.reduce(self.obstacles) if self.obstacles else None

    def before(self, mask: Mask) -> Mask | None:
        """What stands in front of an object and near it; None where nothing does."""
        near = grown(mask, NEAR_PX)
        found = [
            other
            for other in self.obstacles
            if foot_of(other) > foot_of(mask) + 1
            and (other & near).any()
            and (other & mask).sum() < 0.5 * mask.sum()
        ]
        return np.logical_or.reduce(found) & ~mask if found else None


def company_of(mask: Mask, category: str, others: Sequence[Neighbour]) -> Company:
    """What is around an object, of all that is annotated in its photograph."""
    fitting = [
        (other.category, np.asarray(other.mask, bool))
        for other in others
        if np.shape(other.mask) == mask.shape and np.any(other.mask)
    ]
    near = grown(mask, TOUCH_PX) & ~mask
    foot = _foot_zone(mask)
    carrier: Mask | None = None
    obstacles: list[Mask] = []
    touched, hidden = np.zeros_like(mask), np.zeros_like(mask)
    alike, held = np.zeros_like(mask), np.zeros_like(mask)
    inside = 0.0
    for name, other in fitting:
        if name in CARRIERS or (other & foot).sum() > 0.5 * foot.sum():
            carrier = other if carrier is None else carrier | other
            continue
        obstacles.append(other)
        touched |= other & near
        alike |= other & near if name == category else False
        held |= other & near if name == "person" else False
        inside = max(inside, float((other & mask).sum() / mask.sum()))
        if foot_of(other) > foot_of(mask) - 2:
            hidden |= other & near
    count = max(int(near.sum()), 1)
    return Company(
        carrier,
        tuple(obstacles),
        float(touched.sum() / count),
        float(hidden.sum() / count),
        float(alike.sum() / count),
        float(held.sum() / count),
        inside,
    )


def objection(kind: str, company: Company) -> str:
    """Why an object is too close to others for a kind of edit; "" where it is not."""
    if company.hidden > MOST_HIDDEN.get(kind, 1.0):
        return "occluded"
    if company.held > MOST_HELD.get(kind, 1.0):
        return "held"
    if company.touching > MOST_TOUCHING.get(kind, 1.0):
        return "touches others"
    if company.alike > MOST_ALIKE.get(kind, 1.0):
        return "touches others"
    return ""


def troubles(company: Company) -> int:
    """How many of those things are the case that are often seen after an object was erased: who
    held it stays, another of its kind is continued, it lay partly within something."""
    return sum(
        (
            company.held > HELD,
            company.alike > ALIKE,
            0.05 < company.inside < 0.5,
        )
    )


def foot_of(mask: Mask) -> int:
    """The row below an object's lowest."""
    return int(box_of(mask)[0].stop)


def _foot_zone(mask: Mask) -> Mask:
    """The surroundings of the lowest fifth of an object."""
    rows, _ = box_of(mask)
    zone = grown(mask, TOUCH_PX) & ~mask
    zone[: rows.stop - max((rows.stop - rows.start) // 5, 2)] = False
    return zone
