"""Places that an object's surroundings become, which are drawings of them: the object stays, and
what can't be drawn is refused."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest

from groundfault.building.editing import EditSettings, touchable
from groundfault.editors.procedural import ProceduralEditor, repertoire
from groundfault.editors.procedural.choices import apart_from, chosen_places, objection_to_drawing
from groundfault.editors.procedural.drawings import _parallels, drawn, legibility
from groundfault.editors.procedural.edges import Matte, core, evened, grown, steadied
from groundfault.editors.procedural.occlusion import contact_with
from groundfault.interfaces import Edited, EditRequest, Neighbour, NotEdited

SIZE = (180, 240)
GRASS = (70, 120, 50)


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
    image = fenced(image, mask)
    far = ~grown(mask, 8)
    light, red_green, yellow = {}, {}, {}
    for place in repertoire.PLACES:
        found = put(image, mask, place)
        assert isinstance(found, Edited), found
        light[place], red_green[place], yellow[place] = lab(found.image)[far].mean(0)
    assert yellow["blueprint"] < -20 and abs(yellow["chalkboard"]) < 10 < yellow["etching"]
    assert red_green["chalkboard"] < -4 and abs(red_green["pencil drawing"]) < 4
    dark = max(light["blueprint"], light["chalkboard"])
    assert min(light["pencil drawing"], light["etching"]) > dark + 12


@pytest.mark.parametrize("place", ["etching", "pencil drawing"])
def test_ink_is_where_it_is_dark(place: str) -> None:
    light_of, dark_of = drawn_halves(place)
    assert light_of > dark_of + 15


def test_chalk_is_where_it_is_light() -> None:
    light_of, dark_of = drawn_halves("chalkboard")
    assert light_of > dark_of + 8


def drawn_halves(place: str) -> tuple[float, float]:
    """The lightness of what is drawn of a light wall and of a dark one, away from their edge."""
    photo = np.full((*SIZE, 3), 0.2, np.float32)
    photo[:, : SIZE[1] // 2] = 0.9
    nothing = Matte(np.zeros(SIZE, np.float32), photo, photo)
    found = lab(255 * drawn(photo, nothing, place, seed=0))[..., 0]
    return float(found[:, :100].mean()), float(found[:, 140:].mean())


def test_an_etching_is_hatched_along_its_angles() -> None:
    tones = np.full((170 * 4, 170 * 4), 0.6, np.float32)  # dark enough for one direction alone
    still = np.zeros_like(tones)
    found = _parallels(tones, still, 0.0, 0.8)
    assert np.ptp(found, axis=1).max() == 0 and np.allclose(found[:-4], found[4:])
    assert not _parallels(tones, still, 0.0, 0.5).any()
    darker = _parallels(tones - 0.3, still, 0.0, 0.8)
    assert darker.mean() > found.mean() > 0


def test_places_are_chosen_by_the_picture() -> None:
    image, mask = body_on()
    photo = image.astype(np.float32) / 255
    assert chosen_places(photo, mask) == ()
    assert chosen_places(fenced(image, mask).astype(np.float32) / 255, mask) == repertoire.PLACES
    grey = np.repeat(fenced(image, mask)[..., :1], 3, -1)
    assert reason(grey, mask, "etching") == "no colours"


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
    assert apart_from("chalkboard", photo, mask) < 8 < 12 < apart_from("etching", photo, mask)


def test_a_brown_thing_is_lost_in_an_etching_and_not_on_a_chalkboard() -> None:
    image, mask = body_on()
    image[mask] = (138, 118, 90)
    photo = fenced(image, mask).astype(np.float32) / 255
    assert objection_to_drawing("etching", photo, mask) == "looks like the place"
    assert objection_to_drawing("chalkboard", photo, mask) == ""


def test_what_others_hide_is_left_in_no_drawing() -> None:
    image, mask = body_on()
    y, x = np.mgrid[: SIZE[0], : SIZE[1]]
    front = (y > 100) & (abs(x - 96) < 12)
    image[front] = (40, 60, 160)
    hand = Neighbour(category="person", mask=front)
    found = put(image, mask & ~front, "blueprint", others=(hand,))
    assert isinstance(found, NotEdited) and found.reason == "occluded"


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
