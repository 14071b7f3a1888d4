"""Places that are all around: what stays, what is seen through them, and what lies there."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest

from groundfault.editors.procedural.edges import Matte
from groundfault.editors.procedural.immersion import WATERS, immersed, objection, tone_of
from groundfault.editors.procedural.repertoire import PLACES

SIZE = (180, 240)


def street(size: tuple[int, int] = SIZE) -> Any:
    """A grey ground below a pale wall with a dark door far away."""
    rng = np.random.default_rng(0)
    photo = np.full((*size, 3), 0.45, np.float32)
    photo[: size[0] // 2] = 0.7
    photo[size[0] // 5 : size[0] // 2, size[1] // 8 : size[1] // 4] = 0.15
    return np.clip(photo + rng.normal(0, 0.03, (*size, 1)), 0, 1).astype(np.float32)


def standing(photo: Any) -> Matte:
    """Something red that stands on the ground, with a soft right edge, before what is behind it."""
    tall, wide = photo.shape[:2]
    alpha = np.zeros((tall, wide), np.float32)
    body = slice(tall // 3, 2 * tall // 3)
    alpha[body, wide // 2 : 3 * wide // 4], alpha[body, 3 * wide // 4] = 1, 0.5
    own = np.broadcast_to(np.float32([0.8, 0.2, 0.1]), photo.shape)
    return Matte(alpha, np.ascontiguousarray(own), photo)


def put(place: str, seed: int = 0, size: tuple[int, int] = SIZE) -> tuple[Any, Any, Matte]:
    photo = street(size)
    edge = standing(photo)
    photo = np.where(edge.alpha[..., None] >= 1, edge.fore, photo)
    return immersed(photo, edge, place, seed=seed), photo, edge


def lightness(picture: Any) -> Any:
    return cv2.cvtColor(np.asarray(picture, np.float32), cv2.COLOR_RGB2LAB)[..., 0]


@pytest.mark.parametrize("place", PLACES)
def test_an_object_keeps_its_pixels_and_all_else_changes(place: str) -> None:
    found, photo, edge = put(place)
    assert np.array_equal(found[edge.alpha >= 1], photo[edge.alpha >= 1])
    around = edge.alpha <= 0
    assert (np.abs(found - photo).max(-1)[around] > 0.03).mean() > 0.95
    assert np.array_equal(found, put(place)[0])
    assert not np.array_equal(found, put(place, seed=1)[0])


@pytest.mark.parametrize("place", PLACES)
def test_an_edge_is_a_mixture_of_the_object_and_the_place(place: str) -> None:
    found, photo, edge = put(place)
    soft = edge.alpha == 0.5
    other = immersed(photo, edge._replace(fore=np.zeros_like(edge.fore)), place, seed=0)
    assert np.allclose((found - other)[soft], 0.5 * edge.fore[soft], atol=1e-6)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("size", [(24, 24), (30, 500), (500, 30), (481, 641)])
def test_pictures_of_any_size_have_colours_that_exist(place: str, size: tuple[int, int]) -> None:
    found, _, _ = put(place, size=size)
    assert found.shape == (*size, 3) and found.dtype == np.float32
    assert np.isfinite(found).all() and found.min() >= 0 and found.max() <= 1


@pytest.mark.parametrize("place", PLACES)
def test_what_is_far_away_is_seen_less(place: str) -> None:
    found, photo, _ = put(place, size=(360, 480))
    door, wall = np.s_[80:175, 66:114], np.s_[80:175, 130:200]
    near, beside = photo.copy(), photo.copy()
    near[280:340, 20:70] = 0.15  # as dark as the door, and near
    edge = standing(street((360, 480)))
    closer = immersed(near, Matte(edge.alpha, edge.fore, near), place, seed=0)
    far_apart = abs(lightness(found)[wall].mean() - lightness(found)[door].mean())
    near_apart = abs(
        np.median(lightness(closer)[290:330, 30:60]) - np.median(lightness(found)[290:330, 30:60])
    )
    assert near_apart > 2
    before = lightness(beside)
    share_far = far_apart / abs(before[wall].mean() - before[door].mean())
    share_near = near_apart / abs(before[290:330, 30:60].mean() - lightness(near)[300, 40])
    assert share_far < share_near


@pytest.mark.parametrize("place", PLACES)
def test_water_takes_the_red_light_and_is_brighter_above(place: str) -> None:
    found, _, edge = put(place)
    red, green, blue = np.median(found[edge.alpha <= 0], axis=0)
    assert blue > green > red + 0.1
    dark, _, _ = put("deep sea")
    assert lightness(found).mean() >= lightness(dark).mean()
    light = lightness(found)
    assert light[: SIZE[0] // 6].mean() > light[-SIZE[0] // 6 :].mean() - 25


@pytest.mark.parametrize("place", PLACES)
def test_what_stands_beside_an_object_is_as_far_as_its_foot(place: str) -> None:
    photo = street((360, 480))
    person = np.zeros((360, 480), bool)
    person[60:280, 40:90] = True  # taller than the object, its foot lower
    photo[person] = (0.6, 0.2, 0.1)
    photo[62:280:8, 40:90] = 0.9
    edge = standing(photo)
    known = immersed(photo, edge, place, [person], seed=0)
    unknown = immersed(photo, edge, place, seed=0)
    head = np.s_[70:110, 50:80]
    assert known[head].std(axis=0).mean() > 1.5 * unknown[head].std(axis=0).mean()  # its stripes
    away = np.s_[100:340, 120:230]
    assert np.allclose(known[away], unknown[away], atol=0.02)


def test_the_tone_of_a_place_is_what_is_farthest_away() -> None:
    for place in WATERS:
        found, _, _ = put(place, size=(360, 480))
        tone = cv2.cvtColor(tone_of(place)[None, None], cv2.COLOR_RGB2LAB)[0, 0]
        far = cv2.cvtColor(found[:60], cv2.COLOR_RGB2LAB).reshape(-1, 3)
        assert np.linalg.norm(np.median(far, axis=0) - tone) < 25


def test_water_needs_a_distance_and_no_warm_lamp() -> None:
    photo = street((360, 480))
    mask = standing(photo).alpha > 0.5
    assert objection(photo, mask) == ""
    warm = np.clip(photo * np.float32([1.0, 0.6, 0.4]), 0, 1)
    assert objection(warm, mask) == "warm light"
    low = np.zeros_like(mask)
    low[60:120, 200:280] = True  # everything beside it is nearer
    assert objection(photo, low) == "too near"
    behind = np.zeros_like(mask)
    behind[:330] = True  # what fills the rest stands beside it
    assert objection(photo, mask, [behind & ~mask]) == "too near"
