"""Leaves: plants in the place of things, things of leaves, and things among them."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest

from groundfault.editors.procedural import ProceduralEditor, repertoire
from groundfault.editors.procedural.crowns import crown
from groundfault.editors.procedural.edges import box_of, core, floats, grown
from groundfault.editors.procedural.foliage import LEAVES, coat, drawn, towards
from groundfault.editors.procedural.greens import as_green_as, has_soil
from groundfault.editors.procedural.overgrown import overgrown
from groundfault.editors.procedural.plants import PLANTS, alone, outline_over
from groundfault.editors.procedural.rendering import lamp_of
from groundfault.interfaces import Edited, EditRequest, NotEdited

SIZE = (240, 320)


def animal() -> tuple[Any, Any]:
    """A body on four legs, lit from the left, on a grey floor; and its mask."""
    rng = np.random.default_rng(3)
    y, x = np.mgrid[: SIZE[0], : SIZE[1]]
    mask = ((y - 110) / 34) ** 2 + ((x - 150) / 62) ** 2 < 1
    for left in (100, 122, 168, 190):
        mask |= (np.abs(x - left) < 7) & (y > 110) & (y < 182)
    floor = np.array([150, 146, 140]) + rng.normal(0, 5, (*SIZE, 1))
    light = 130 - 0.5 * (x - 150) + rng.normal(0, 4, SIZE)
    image = np.where(mask[..., None], light[..., None] * np.array([0.9, 0.7, 0.5]), floor)
    return np.clip(image, 0, 255).astype(np.uint8), mask


def photo_of(image: Any) -> Any:
    return floats(image / 255)


def edited(kind: str, value: str, **fields: Any) -> Edited:
    image, mask = animal()
    request = EditRequest(instruction="", kind=kind, value=value, category="dog", **fields)
    found = ProceduralEditor(filters=False).perform(image, mask, request)
    assert isinstance(found, Edited), found
    return found


def green(picture: Any, where: Any) -> float:
    """The median distance from grey towards green, in Lab."""
    lab = cv2.cvtColor(floats(picture / 255), cv2.COLOR_RGB2LAB)
    return float(-np.median(lab[..., 1][where]))


@pytest.mark.parametrize("kind", sorted(LEAVES))
def test_leaves_lie_over_all_of_a_shape_and_not_far_beyond(kind: str) -> None:
    image, mask = animal()
    leaf, lamp = LEAVES[kind], lamp_of(photo_of(image), mask)
    flat = np.zeros(SIZE, np.float32)
    for leaf_px in (4.0, 12.0):
        _, share = drawn(coat(mask, flat, leaf, leaf_px, 0), leaf, leaf_px, SIZE, lamp, 0)
        assert share.min() >= 0 and share.max() <= 1.001
        assert (share[core(mask, 3)] > 0.5).mean() > 0.9
        assert not (share[~grown(mask, round(0.8 * leaf_px) + 4)] > 0.1).any()


def test_leaves_that_look_to_the_lamp_are_brighter() -> None:
    image, mask = animal()
    lamp = lamp_of(photo_of(image), mask)._replace(side=-1.0)
    y, x = np.mgrid[: SIZE[0], : SIZE[1]].astype(np.float32)
    ball = (y - 120) ** 2 + (x - 160) ** 2 < 80**2
    height = np.sqrt(np.maximum(80**2 - (y - 120) ** 2 - (x - 160) ** 2, 0))
    colours, _ = drawn(coat(ball, floats(height), LEAVES["green"], 6, 0), LEAVES["green"], 6,
                       SIZE, lamp, 0)  # fmt: skip
    left, right = colours[100:140, 90:120].mean(), colours[100:140, 200:230].mean()
    assert left > 1.3 * right


def test_a_bush_has_no_holes_and_deep_shade_in_it() -> None:
    image, mask = animal()
    lamp = lamp_of(photo_of(image), mask)
    shape = outline_over(mask)
    spots = crown(shape, LEAVES["green"], 7, towards(lamp), 1)
    _, share = drawn(spots, LEAVES["green"], 7, SIZE, lamp, 1)
    assert (share[core(shape, 8)] > 0.5).mean() > 0.995
    assert np.percentile(spots.open, 90) > 2.5 * np.percentile(spots.open, 10)


@pytest.mark.parametrize("name", sorted(PLANTS))
def test_a_plant_covers_what_it_replaces_down_to_the_ground(name: str) -> None:
    _, mask = animal()
    found = edited("replace", name)
    assert found.mask is not None and (found.mask & mask).sum() > 0.9 * mask.sum()
    assert abs(box_of(found.mask)[0].stop - box_of(mask)[0].stop) <= 12
    assert (found.mask & mask).sum() > 0.35 * (found.mask | mask).sum()
    outline = outline_over(mask)
    between = np.zeros_like(mask)
    between[150:160, 135:155] = True  # between its legs
    assert outline[between].all() and not mask[between].any()


def test_leaves_shade_those_farther_from_the_light() -> None:
    image, mask = animal()
    shape = outline_over(mask)
    lamp = lamp_of(photo_of(image), mask)._replace(side=-1.0)
    spots = crown(shape, LEAVES["green"], 6, towards(lamp), 1)
    rows, columns = box_of(shape)
    high = spots.y < rows.start + 0.25 * (rows.stop - rows.start)
    low = spots.y > rows.start + 0.75 * (rows.stop - rows.start)
    assert np.mean(spots.open[high]) > 1.3 * np.mean(spots.open[low])
    middle = (columns.start + columns.stop) / 2
    left, right = spots.x < middle - 30, spots.x > middle + 30
    assert np.mean(spots.open[left]) > 1.05 * np.mean(spots.open[right])


def test_outlines_of_bushes_differ_and_cover_the_object_down_to_its_foot() -> None:
    _, mask = animal()
    one, other = outline_over(mask, 1), outline_over(mask, 2)
    assert (one != other).any() and np.array_equal(one, outline_over(mask, 1))
    for outline in (one, other):
        assert not (mask & ~outline).any()
        assert box_of(outline)[0].stop <= box_of(mask)[0].stop + 1


def test_roses_are_red_among_the_leaves_and_plants_in_pots_are_of_several_species() -> None:
    def reddish(value: str) -> float:
        found = edited("replace", value)
        assert found.mask is not None
        lab = cv2.cvtColor(photo_of(found.image), cv2.COLOR_RGB2LAB)
        return float((lab[..., 1] > 8)[core(found.mask, 4)].mean())

    assert reddish("bush") < 0.01 < 0.03 < reddish("rose bush") < 0.5
    pictures = [edited("replace", "potted plant", seed=seed).image for seed in range(3)]
    assert not np.array_equal(pictures[0], pictures[1])


def test_leaves_are_as_green_as_the_plants_of_the_photograph() -> None:
    meadow = np.zeros((60, 80, 3), np.float32)
    meadow[:] = (0.36, 0.40, 0.30)
    leaves = np.zeros((30, 30, 3), np.float32)
    leaves[:] = (0.18, 0.40, 0.08)
    leaves[:, 15:] = (0.62, 0.32, 0.22)  # a pot

    def chroma(picture: Any) -> Any:
        lab = cv2.cvtColor(picture, cv2.COLOR_RGB2LAB)
        return np.hypot(lab[..., 1], lab[..., 2])

    among = as_green_as(meadow, leaves)
    indoors = as_green_as(np.full_like(meadow, 0.5), leaves)
    assert chroma(among)[:, :10].max() < 0.6 * chroma(leaves)[:, :10].min()
    assert (
        chroma(among)[:, :10].max() < chroma(indoors)[:, :10].min() < chroma(leaves)[:, :10].min()
    )
    assert np.abs(among - leaves)[:, 20:].max() < 0.02


def test_leaves_are_as_long_as_the_size_of_the_thing_says() -> None:
    def detail(category: str) -> float:
        image, mask = animal()
        request = EditRequest(instruction="", kind="replace", value="bush", category=category)
        found = ProceduralEditor(filters=False).perform(image, mask, request)
        assert isinstance(found, Edited) and found.mask is not None
        grey = cv2.cvtColor(found.image, cv2.COLOR_RGB2GRAY).astype(np.float32)
        fine = np.abs(grey - cv2.GaussianBlur(grey, (0, 0), 2))
        coarse = np.abs(cv2.GaussianBlur(grey, (0, 0), 2) - cv2.GaussianBlur(grey, (0, 0), 6))
        inner = core(found.mask, 6)
        return float(coarse[inner].mean() / fine[inner].mean())

    assert detail("cat") > 1.1 * detail("elephant")


@pytest.mark.parametrize("name", sorted(PLANTS))
@pytest.mark.parametrize("tall_px", [12, 40, 200])
def test_a_plant_alone_fills_its_box(name: str, tall_px: int) -> None:
    shape = alone(name, 3, tall_px)
    rows, columns = box_of(shape)
    assert shape.shape[0] == tall_px and rows.stop - rows.start >= 0.9 * tall_px
    assert columns.stop - columns.start >= 0.9 * shape.shape[1]
    plant = PLANTS[name]
    assert 0.8 * plant.flat < shape.shape[0] / shape.shape[1] < 1.25 * plant.upright


@pytest.mark.parametrize("value", repertoire.GROWN)
def test_what_is_laid_on_covers_the_object_and_leaves_the_rest(value: str) -> None:
    image, mask = animal()
    found = edited("material", value)
    changed = (found.image != image).any(-1)
    assert changed[core(mask, 2)].mean() > 0.98
    assert not (changed & ~found.touched).any() and not found.touched[~grown(mask, 12)].any()


def test_light_and_shade_of_an_object_are_still_seen_under_leaves() -> None:
    image, mask = animal()
    dark = np.where((mask & (np.arange(SIZE[1]) > 150))[..., None], image // 3, image)
    box, plain, _ = overgrown(photo_of(image), mask, "leaves", seed=0)
    _, shaded, _ = overgrown(photo_of(dark), mask, "leaves", seed=0)
    right = core(mask, 3)[box] & (np.arange(SIZE[1]) > 155)[box[1]]
    left = core(mask, 3)[box] & (np.arange(SIZE[1]) < 145)[box[1]]
    assert shaded[right].mean() / shaded[left].mean() < 0.8 * (
        plain[right].mean() / plain[left].mean()
    )


def test_formless_things_are_not_of_leaves() -> None:
    image, mask = animal()

    def reason(kind: str, value: str, category: str) -> str:
        request = EditRequest(instruction="", kind=kind, value=value, category=category)
        found = ProceduralEditor().perform(image, mask, request)
        return found.reason if isinstance(found, NotEdited) else ""

    assert reason("material", "leaves", "car") == "material does not suit"
    assert reason("material", "flowers", "cat") == "material does not suit"


def test_a_black_and_white_photograph_gets_grey_leaves() -> None:
    image, mask = animal()
    grey = np.repeat(image.mean(-1, keepdims=True).astype(np.uint8), 3, -1)
    request = EditRequest(instruction="", kind="material", value="leaves", category="dog")
    found = ProceduralEditor(filters=False).perform(grey, mask, request)
    assert isinstance(found, Edited)
    assert int(np.ptp(found.image.astype(int), axis=-1).max()) <= 2


def test_bushes_grow_in_earth_or_grass_and_pots_stand_anywhere() -> None:
    there = np.zeros((120, 160), bool)
    there[40:90, 60:100] = True
    grass = np.broadcast_to(np.float32([0.35, 0.45, 0.2]), (120, 160, 3))
    asphalt = np.broadcast_to(np.float32([0.4, 0.4, 0.42]), (120, 160, 3))
    assert has_soil(grass, there, "bush") and not has_soil(asphalt, there, "bush")
    assert has_soil(asphalt, there, "potted plant")
    assert not has_soil(grass, np.ones((120, 160), bool), "bush")
