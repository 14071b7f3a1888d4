"""Places that an object's surroundings become: landscapes where something grows, drawings anywhere;
the object stays, and what can't become a place is refused."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest

from groundfault.building.editing import EditSettings, touchable
from groundfault.editors.procedural import ProceduralEditor, repertoire
from groundfault.editors.procedural.choices import apart_from, chosen_places, objection_to_drawing
from groundfault.editors.procedural.drawings import PAPERS, legibility
from groundfault.editors.procedural.edges import Matte, core, evened, grown, steadied
from groundfault.editors.procedural.occlusion import contact_with
from groundfault.editors.procedural.seasons import COVERED
from groundfault.editors.procedural.vegetation import dryness, greenness, scenery_of, smoothed
from groundfault.interfaces import Edited, EditRequest, Neighbour, NotEdited

SIZE = (180, 240)
GRASS, HAY, WALL = (70, 120, 50), (176, 150, 100), (96, 140, 72)


def body_on(ground: tuple[int, int, int] = GRASS, grain: float = 16) -> tuple[Any, Any]:
    """A lit reddish body on a grainy ground, and its mask."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[: SIZE[0], : SIZE[1]]
    mask = ((y - 108) / 40) ** 2 + ((x - 96) / 38) ** 2 < 1
    field = np.array(ground) + rng.normal(0, grain, (*SIZE, 1))
    light = 150 - (x - 96) - 0.6 * (y - 108) + rng.normal(0, 4, SIZE)
    image = np.where(mask[..., None], light[..., None] * np.array([1, 0.6, 0.5]), field)
    return np.clip(image, 0, 255).astype(np.uint8), mask


def fenced(image: Any, mask: Any) -> Any:
    """The same before a fence: something that can be drawn."""
    found = image.copy()
    rails = np.zeros_like(mask)
    rails[20::48], rails[21::48], rails[22::48] = True, True, True
    rails[:, 16::56] = rails[:, 17::56] = rails[:, 18::56] = True
    found[rails & ~grown(mask, 8)] = (30, 24, 20)
    return found


def put(
    image: Any, mask: Any, place: str, category: str = "bear", **fields: Any
) -> Edited | NotEdited:
    wanted = EditRequest(instruction="", kind="context", value=place, category=category, **fields)
    return ProceduralEditor().perform(image, mask, wanted)


def reason(image: Any, mask: Any, place: str, category: str = "bear") -> str:
    found = put(image, mask, place, category)
    assert isinstance(found, NotEdited), found
    return found.reason


def lab(image: Any) -> Any:
    return cv2.cvtColor(np.asarray(image, np.float32) / 255, cv2.COLOR_RGB2LAB)


@pytest.mark.parametrize("place", repertoire.PLACES)
def test_an_object_stays_and_a_build_clips_nothing(place: str) -> None:
    image, mask = body_on()
    if place in PAPERS:
        image = fenced(image, mask)
    found = put(image, mask, place, seed=4)
    assert isinstance(found, Edited), found
    changed = (found.image != image).any(-1)
    assert not (changed & core(mask, 6)).any()
    assert not (changed & ~touchable(mask, "context", EditSettings())).any()
    assert changed[~grown(mask, 6)].mean() > 0.95
    again = put(image, mask, place, seed=4)
    assert isinstance(again, Edited) and np.array_equal(found.image, again.image)


def test_places_have_their_colours() -> None:
    image, mask = body_on()
    far = ~grown(mask, 8)
    light, red_green, yellow = {}, {}, {}
    for place in ("savanna", "snow", "blueprint", "pencil drawing"):
        found = put(fenced(image, mask) if place in PAPERS else image, mask, place)
        assert isinstance(found, Edited), found
        light[place], red_green[place], yellow[place] = lab(found.image)[far].mean(0)
    old = lab(image)[far].mean(0)
    assert red_green["savanna"] > old[1] + 15 and yellow["savanna"] > 15
    assert light["snow"] > 80 and abs(yellow["snow"]) < 10
    assert yellow["blueprint"] < -20 and light["pencil drawing"] > light["blueprint"] + 20


def test_only_what_grows_becomes_another_landscape() -> None:
    smooth, mask = body_on(WALL, grain=1)
    assert reason(smooth, mask, "savanna") == "nothing grows there"
    street, _ = body_on((130, 130, 135))
    assert reason(street, mask, "snow") == "too little grows there"
    hay, _ = body_on(HAY)
    assert reason(hay, mask, "savanna") == "too little grows there"
    straw = put(hay, mask, "snow")
    assert isinstance(straw, Edited)
    assert reason(straw.image, mask, "snow") in ("too little grows there", "nothing grows there")
    night = (body_on()[0] * 0.25).astype(np.uint8)
    assert reason(night, mask, "snow") in ("too dark", "nothing grows there", "outline unclear")
    island, _ = body_on()
    island[125:160, 40:160][~mask[125:160, 40:160]] = (130, 130, 135)
    assert reason(island, mask, "savanna") == "ground does not suit"
    grey = np.repeat(body_on()[0][..., :1], 3, -1)
    assert reason(grey, mask, "snow") == "no colours"


def test_grass_that_an_outline_took_along_is_a_reason_to_refuse() -> None:
    image, mask = body_on()
    drawn = mask.copy()
    drawn[100:140, 130:170] = True
    assert reason(image, drawn, "snow") in ("grass inside its outline", "outline unclear")


def test_other_things_stay_as_they_are() -> None:
    image, mask = body_on()
    other = np.zeros_like(mask)
    other[30:80, 170:220] = True
    image[other] = (60, 150, 60)
    wanted = put(image, mask, "snow", others=(Neighbour(category="car", mask=other),))
    assert isinstance(wanted, Edited)
    inner = core(other, 8)
    away = np.abs(wanted.image.astype(int) - image).max(-1)
    assert np.median(away[inner]) <= 2 < np.median(away[~grown(mask | other, 6)])


def test_places_are_chosen_by_the_picture() -> None:
    image, mask = body_on()
    photo = image.astype(np.float32) / 255
    found = chosen_places(photo, mask, "bear")
    assert set(found) <= set(COVERED) and "savanna" in found
    assert set(chosen_places(photo, mask, "toilet")) <= set(PAPERS)
    indoors = fenced(body_on(WALL, grain=1)[0], mask).astype(np.float32) / 255
    assert set(chosen_places(indoors, mask, "bear")) == set(PAPERS)


def test_where_nothing_can_be_drawn_there_is_no_drawing() -> None:
    sand, mask = body_on((150, 140, 120), grain=12)
    assert legibility(sand.astype(np.float32) / 255, mask) < 0.1
    assert reason(sand, mask, "blueprint") == "nothing to draw"
    before = fenced(sand, mask)
    assert legibility(before.astype(np.float32) / 255, mask) > 0.5
    assert isinstance(put(before, mask, "blueprint"), Edited)


def test_a_grey_thing_is_lost_in_a_pencil_drawing_and_not_in_a_blueprint() -> None:
    image, mask = body_on()
    image[mask] = (150, 150, 150)
    photo = fenced(image, mask).astype(np.float32) / 255
    assert apart_from("pencil drawing", photo, mask) < 8 < 12 < apart_from("blueprint", photo, mask)
    assert objection_to_drawing("pencil drawing", photo, mask) == "looks like the place"
    assert objection_to_drawing("blueprint", photo, mask) == ""


def test_what_others_hide_is_left_in_no_drawing() -> None:
    image, mask = body_on()
    y, x = np.mgrid[: SIZE[0], : SIZE[1]]
    front = (y > 100) & (abs(x - 96) < 12)
    image[front] = (40, 60, 160)
    hand = Neighbour(category="person", mask=front)
    found = put(image, mask & ~front, "blueprint", others=(hand,))
    assert isinstance(found, NotEdited) and found.reason == "occluded"


def test_colours_of_grass_and_hay() -> None:
    colours = lab(np.array([[GRASS, HAY, (130, 130, 135), (60, 90, 200), (200, 60, 50)]]))
    wide = np.repeat(np.repeat(colours, 24, 0), 24, 1)
    green, dry = (found(wide)[12, 12::24].round(1).tolist() for found in (greenness, dryness))
    assert green == [1, 0, 0, 0, 0] and dry[:4] == [0, 1, 0, 0]


def test_a_smoothed_share_has_the_edges_of_the_picture_and_ignores_what_has_no_weight() -> None:
    rng = np.random.default_rng(1)
    picture = np.zeros((60, 80, 3), np.float32)
    picture[:, 40:] = (0.2, 0.6, 0.1)
    noisy = np.clip((np.arange(80) >= 40) + rng.normal(0, 0.3, (60, 80)), 0, 1)
    weight = np.ones((60, 80), np.float32)
    found = smoothed(noisy.astype(np.float32), picture, weight)
    assert found[:, 46:].min() > 0.6 and found[:, :34].max() < 0.4
    weight[:, 60:] = 0
    noisy[:, 60:] = 0
    assert smoothed(noisy.astype(np.float32), picture, weight)[:, 46:58].min() > 0.6


def test_scenes_are_measured_without_the_object() -> None:
    image, mask = body_on()
    photo = image.astype(np.float32) / 255
    scene = scenery_of(photo, mask, Matte(mask.astype(np.float32), photo, photo), (), "green")
    assert scene.share > 0.9 and scene.foot > 0.9 and scene.inside < 0.01 and scene.texture > 2.5


def test_what_stands_in_the_hollows_of_an_outline_is_measured() -> None:
    y, x = np.mgrid[:100, :100]
    bridge = (y > 20) & (y < 80) & (x > 20) & (x < 80) & ~((y > 40) & (x > 40) & (x < 60))
    below = Neighbour(category="person", mask=(y > 50) & (y < 80) & (x > 44) & (x < 56))
    beside = Neighbour(category="person", mask=(y > 50) & (x > 82))
    assert contact_with(bridge, (below,)).gap > 0.1
    assert contact_with(bridge, (beside,)).gap == 0


def test_teeth_of_an_outline_go_and_legs_stay() -> None:
    y, x = np.mgrid[:120, :120]
    body = (y > 20) & (y < 60) & (x > 20) & (x < 100)
    leg = (y >= 60) & (y < 110) & (x > 30) & (x < 36)
    teeth = (y > 16) & (y <= 20) & (x > 20) & (x < 100) & (x % 8 < 2)
    found = evened(body | leg | teeth, 2.5)
    assert not (found & teeth)[:19].any()  # but for their roots
    assert (found & leg).sum() > 0.8 * leg.sum() and (found & body).sum() > 0.97 * body.sum()


def test_a_soft_edge_follows_the_mask_where_colours_do_not_tell() -> None:
    _, mask = body_on()
    flat = np.full((*mask.shape, 3), 0.5, np.float32)
    ragged = Matte(np.where(mask, 0.5, 0).astype(np.float32), flat, flat)
    found = steadied(ragged, mask)
    assert found.alpha[core(mask, 4)].min() > 0.99 and found.alpha[~grown(mask, 4)].max() < 0.01
    told = ragged._replace(fore=np.ones_like(flat), back=np.zeros_like(flat))
    assert np.allclose(steadied(told, mask).alpha, ragged.alpha)
