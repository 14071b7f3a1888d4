"""Places without a ground: what is in them, what stays, and what would be lost there."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest

from groundfault.editors.procedural.edges import Matte
from groundfault.editors.procedural.floating import TONES, afloat
from groundfault.editors.procedural.repertoire import PLACES, THICKETS

SIZE = (180, 240)
FLOATING = tuple(place for place in PLACES if place not in THICKETS)


def scene(place: str, seed: int = 0, size: tuple[int, int] = SIZE) -> Any:
    """A place with nothing in it."""
    nothing = np.zeros((*size, 3), np.float32)
    return afloat(nothing, Matte(np.zeros(size, np.float32), nothing, nothing), place, seed=seed)


def lab(picture: Any) -> Any:
    return cv2.cvtColor(np.asarray(picture, np.float32), cv2.COLOR_RGB2LAB)


@pytest.mark.parametrize("place", FLOATING)
def test_a_place_is_the_same_twice_and_another_with_another_seed(place: str) -> None:
    assert np.array_equal(scene(place), scene(place))
    assert not np.array_equal(scene(place), scene(place, seed=1))


@pytest.mark.parametrize("place", FLOATING)
@pytest.mark.parametrize("size", [(24, 24), (30, 500), (500, 30), (481, 641)])
def test_a_place_has_any_size_and_colours_that_exist(place: str, size: tuple[int, int]) -> None:
    found = scene(place, seed=3, size=size)
    assert found.shape == (*size, 3) and found.dtype == np.float32
    assert np.isfinite(found).all() and found.min() >= 0 and found.max() <= 1


@pytest.mark.parametrize("place", FLOATING)
def test_an_object_keeps_its_pixels_and_its_edge_is_mixed(place: str) -> None:
    rng = np.random.default_rng(0)
    photo = rng.uniform(0, 1, (*SIZE, 3)).astype(np.float32)
    alpha = np.zeros(SIZE, np.float32)
    alpha[60:120, 80:160], alpha[60:120, 160] = 1, 0.5
    own = np.full((*SIZE, 3), 0.9, np.float32)
    found = afloat(photo, Matte(alpha, own, photo), place, seed=2)
    empty = afloat(photo, Matte(np.zeros_like(alpha), own, photo), place, seed=2)
    assert np.array_equal(found[alpha == 1], photo[alpha == 1])
    assert np.array_equal(found[alpha == 0], empty[alpha == 0])
    assert np.allclose(found[alpha == 0.5], (0.9 + empty[alpha == 0.5]) / 2, atol=1e-6)


def test_space_is_black_with_stars_above_a_blue_earth() -> None:
    found = scene("outer space", size=(360, 480))
    light, _, yellow = lab(found).transpose(2, 0, 1)
    above, below = slice(0, 200), slice(320, 360)
    assert np.median(light[above]) < 8 and light[above].max() > 50
    assert np.median(light[below]) > 10 and np.median(yellow[below]) < -5


def test_the_sea_is_dark_below_and_the_sky_is_paler_there() -> None:
    for seed in range(4):
        sea, sky = lab(scene("deep sea", seed))[..., 0], scene("sky", seed)
        assert sea[:30].mean() > sea[-30:].mean() + 20
        blue = np.sort(sky[..., 0], axis=1)[:, : SIZE[1] // 4].mean(1)  # between the clouds
        assert blue[-30:].mean() > blue[:30].mean() + 0.1


@pytest.mark.parametrize("place", FLOATING)
def test_its_tones_are_those_that_a_place_has(place: str) -> None:
    tones = lab(np.float32([TONES[place]]))[0]
    for seed in range(3):
        colours = lab(scene(place, seed)).reshape(-1, 3)[::11]
        away = np.linalg.norm(colours[:, None] - tones[None], axis=2).min(1)
        assert np.median(away) < 15
