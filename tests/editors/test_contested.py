"""Where a drawn mask and a network disagree, colours decide: forgotten parts come back, what is
seen through an object or beside it stays out, and what nobody can tell is counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundfault.editors.procedural.contested import settled
from groundfault.editors.procedural.edges import grown

SIZE = (160, 200)
BODY, WALL, BRASS = (0.62, 0.30, 0.22), (0.32, 0.44, 0.36), (0.47, 0.37, 0.29)
"""An object's colour, its surroundings', and one that is as far from both."""
ARM = (slice(60, 100), slice(140, 165))
"""A part at the right side of the body."""


def scene(part: tuple[float, float, float] = BODY, where: Any = ARM) -> tuple[Any, Any]:
    """A body before a wall with a part of some colour; the mask of the body without it."""
    rng = np.random.default_rng(0)
    body = np.zeros(SIZE, bool)
    body[40:120, 50:140] = True
    photo = np.where(body[..., None], np.float32(BODY), np.float32(WALL))
    photo[where] = part
    return (photo + rng.normal(0, 0.01, (*SIZE, 3))).astype(np.float32), body


def with_arm(body: Any) -> Any:
    both = body.copy()
    both[ARM] = True
    return both


def test_a_part_that_the_network_forgot_comes_back() -> None:
    photo, body = scene()
    found = settled(photo, with_arm(body), body.astype(np.float32))
    assert found.unsettled == 0
    assert (found.alpha > 0.5)[ARM].mean() > 0.9


def test_what_a_drawn_mask_took_along_between_legs_stays_out() -> None:
    gap = (slice(80, 120), slice(80, 110))
    photo, body = scene(WALL, gap)
    seen = body.astype(np.float32)
    seen[gap] = 0
    found = settled(photo, body, seen)
    assert found.unsettled == 0
    assert not (found.alpha > 0.5)[gap].any()


def test_a_drawn_tail_that_looks_like_the_wall_is_not_decided() -> None:
    photo, body = scene(WALL)
    found = settled(photo, with_arm(body), body.astype(np.float32))
    assert found.unsettled > 0.1
    assert not (found.alpha > 0.5)[ARM].any()


def test_what_looks_like_neither_is_counted() -> None:
    photo, body = scene(BRASS)
    drawn = with_arm(body)
    found = settled(photo, drawn, body.astype(np.float32))
    assert found.unsettled == pytest.approx(40 * 25 / drawn.sum(), rel=0.15)
    assert not (found.alpha > 0.5)[ARM].any()


def test_a_part_that_a_drawn_mask_forgot_stays_and_what_was_added_goes() -> None:
    photo, body = scene()
    seen = with_arm(body).astype(np.float32)
    assert (settled(photo, body, seen).alpha > 0.5)[ARM].all()
    photo, body = scene(WALL)
    assert (settled(photo, body, seen).alpha > 0.5)[ARM].mean() < 0.1


def test_an_eye_is_not_a_hole() -> None:
    eye = (slice(76, 82), slice(90, 96))
    photo, body = scene(WALL, eye)
    seen = body.astype(np.float32)
    seen[eye] = 0
    assert (settled(photo, body, seen).alpha > 0.5)[eye].all()
    gap = (slice(60, 100), slice(80, 110))
    photo, body = scene(WALL, gap)
    seen = body.astype(np.float32)
    seen[gap] = 0
    assert not (settled(photo, body, seen).alpha > 0.5)[gap].any()


def test_one_opinion_is_left_as_it_is() -> None:
    photo, body = scene()
    seen = body.astype(np.float32)
    found = settled(photo, body, seen)
    assert found.unsettled == 0
    assert np.array_equal(found.alpha, seen)


@given(st.integers(0, 2**32 - 1))
def test_any_two_masks_are_settled_between_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    photo = rng.uniform(0, 1, (40, 50, 3)).astype(np.float32)
    corners = rng.integers(2, 36, (2, 2))
    drawn, seen = np.zeros((40, 50), bool), np.zeros((40, 50), np.float32)
    for mask, (top, left) in zip((drawn, seen), corners, strict=True):
        mask[top : top + 20, left : left + 20] = 1
    found = settled(photo, drawn, seen)
    assert found.alpha.min() >= 0
    assert found.alpha.max() <= 1
    assert 0 <= found.unsettled <= (drawn ^ (seen > 0.5)).sum() / drawn.sum()
    agreed = ~grown(drawn ^ (seen > 0.5), 6)
    assert np.array_equal(found.alpha[agreed], seen[agreed])
