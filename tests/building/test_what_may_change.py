"""What docs/building.md promises not to change, for every kind of edit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import distance_transform_edt

from groundfault.building.editing import EditSettings, _hold
from groundfault.interfaces import Edited

OLD, NEW = np.zeros((2, 120, 200), bool)
OLD[40:60, 20:60] = True
NEW[30:70, 110:150] = True
REACH = 10
"""A quarter of the old thing's longer side."""


def distance(mask: np.ndarray) -> np.ndarray:
    return np.asarray(distance_transform_edt(~mask))


NEAR, INSIDE = distance(OLD) <= 6, distance(~OLD) > 6
WIDER, BOTH = distance(OLD) <= REACH, distance(OLD | NEW) <= REACH


@pytest.mark.parametrize(
    ("kind", "new", "may"),
    [
        ("surface", None, NEAR),
        ("material", None, NEAR),
        ("recolour", None, NEAR),
        ("context", None, ~INSIDE),
        ("none", None, np.zeros_like(OLD)),
        ("erase", None, WIDER),
        ("replace", None, WIDER),
        ("replace", NEW, BOTH),
        ("add", NEW, np.ones_like(OLD)),
        ("move", NEW, np.ones_like(OLD)),
    ],
)
def test_an_editor_that_changes_everything_changes_this(
    kind: str, new: np.ndarray | None, may: np.ndarray
) -> None:
    before = np.zeros((*OLD.shape, 3), np.uint8)
    everything = Edited(image=before + 255, mask=new, touched=np.ones_like(OLD))
    held = _hold(before, OLD, kind, everything, EditSettings())
    assert ((held.image > 0).all(axis=2) == may).all()
    assert (np.asarray(held.touched) == may).all()
    assert not (held.image > 0).any(axis=2)[~may].any()


@pytest.mark.parametrize("kind", ["surface", "context", "erase", "replace", "add", "move"])
def test_nothing_but_what_an_editor_says_it_touched(kind: str) -> None:
    before = np.zeros((*OLD.shape, 3), np.uint8)
    touched = distance(OLD) <= 2
    said = Edited(image=before + 255, mask=NEW, touched=touched)
    held = _hold(before, OLD, kind, said, EditSettings())
    assert not held.image[~touched].any()
