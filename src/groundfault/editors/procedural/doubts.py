"""How much a careful eye would doubt a new surface or substance, learnt from edits that were judged
by eye. `bench/edit_doubts.py` finds the weights."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from groundfault.editors.procedural.repertoire import LIVING

__all__ = ["GROUPS", "LOGARITHMIC", "PATH", "doubt", "groups_of"]

PATH = Path(__file__).with_name("doubts.json")
LOGARITHMIC = frozenset({"share", "thickness", "blur_px"})
"""Measures whose logarithm counts."""
GROUPS: dict[str, tuple[str, ...]] = {
    "food": (
        *("apple", "banana", "broccoli", "cake", "carrot", "donut", "hot dog", "orange"),
        *("pizza", "sandwich"),
    ),
    "animals": tuple(sorted(LIVING - {"person"})),
    "vehicles": ("airplane", "boat", "bus", "car", "train", "truck"),
    "cycles": ("bicycle", "motorcycle"),
    "seats": ("bed", "bench", "chair", "couch", "sink", "toilet"),
    "cases": (
        *("book", "cell phone", "clock", "keyboard", "laptop", "microwave", "oven"),
        *("parking meter", "refrigerator", "stop sign", "suitcase", "toaster", "tv"),
    ),
    "vessels": ("bottle", "bowl", "cup", "vase", "wine glass"),
}
"""Categories that were judged too seldom share the weight of their group."""


def doubt(kind: str, category: str, value: str, measures: Mapping[str, float]) -> float:
    """How likely a careful eye rejects an object under a new surface or of a new substance, as log
    odds, from what was measured of it and from what happened to others of its category and with
    this value."""
    weights = _tables()[kind]
    odds = weights["bias"]
    for name, found in measures.items():
        odds += weights[name] * (np.log(max(found, 1e-3)) if name in LOGARITHMIC else found)
    groups = (f"of:{group}" for group in groups_of(category))
    for name in (*groups, f"category:{category}", f"value:{value}"):
        odds += weights.get(name, 0.0)
    return -float(odds)


def groups_of(category: str) -> tuple[str, ...]:
    """The groups that a category is in: one or none."""
    return tuple(group for group, members in GROUPS.items() if category in members)


@functools.cache
def _tables() -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = json.loads(PATH.read_text())
    return found
