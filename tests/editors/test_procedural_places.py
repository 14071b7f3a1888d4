"""Other places that an object is left alone in: its pixels stay, and what would be lost there or is
not whole is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from groundfault.building.editing import EditSettings, touchable
from groundfault.editors.procedural import ProceduralEditor, repertoire
from groundfault.editors.procedural.choices import LEAST_APART, apart_from, chosen_places
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


def put(
    image: Any,
    mask: Any,
    place: str,
    category: str = "dog",
    *,
    filters: bool = True,
    **fields: Any,
) -> Edited | NotEdited:
    wanted = EditRequest(instruction="", kind="context", value=place, category=category, **fields)
    return ProceduralEditor(filters=filters).perform(image, mask, wanted)


def reason(image: Any, mask: Any, place: str, category: str = "dog") -> str:
    found = put(image, mask, place, category)
    assert isinstance(found, NotEdited), found
    return found.reason


@pytest.mark.parametrize("place", repertoire.PLACES)
def test_an_object_stays_and_a_build_clips_nothing(place: str) -> None:
    image, mask = body_on()
    found = put(image, mask, place, seed=4)
    assert isinstance(found, Edited), found
    changed = (found.image != image).any(-1)
    assert not (changed & core(mask, 6)).any()
    assert not (changed & ~touchable(mask, "context", EditSettings())).any()
    assert changed[~grown(mask, 6)].mean() > 0.95
    again = put(image, mask, place, seed=4)
    assert isinstance(again, Edited) and np.array_equal(found.image, again.image)


def test_places_are_chosen_by_what_stands_out_from_them() -> None:
    image, mask = body_on()
    photo = image.astype(np.float32) / 255
    assert chosen_places(photo, mask) == repertoire.PLACES
    grains = np.random.default_rng(0).normal(0, 0.03, (*SIZE, 1)).astype(np.float32)
    blue = np.where(mask[..., None], np.float32([0.17, 0.6, 0.69]) + grains, photo).clip(0, 1)
    near, far = (apart_from(place, blue, mask) for place in ("tropical sea", "deep sea"))
    assert near < LEAST_APART < far
    assert "tropical sea" not in chosen_places(blue, mask)
    blue[:40] = (0.8, 0.2, 0.1)  # a photograph of a few tones passes for a toned one
    assert reason((blue * 255).astype(np.uint8), mask, "tropical sea") == "looks like the place"


def test_what_shows_its_surroundings_stays_where_it_is() -> None:
    image, mask = body_on()
    assert reason(image, mask, "deep sea", "wine glass") == "seen through"
    grey = np.repeat(image[..., :1], 3, -1)
    assert reason(grey, mask, "deep sea") == "no colours"


def test_what_is_before_an_object_stays_before_it() -> None:
    image, mask = body_on()
    y, x = np.mgrid[: SIZE[0], : SIZE[1]]
    front = (y > 100) & (abs(x - 96) < 12)
    image[front] = (40, 60, 160)
    hand = Neighbour(category="person", mask=front)
    doubted = put(image, mask & ~front, "deep sea", others=(hand,))  # which SAM 2 would cut out
    assert isinstance(doubted, NotEdited) and doubted.reason == "touches others"
    found = put(image, mask & ~front, "deep sea", filters=False, others=(hand,))
    assert isinstance(found, Edited), found
    inner = core(mask & ~front, 6)
    assert np.array_equal(found.image[inner], image[inner])
    seen = core(front & mask, 4)
    change = np.abs(found.image[seen].astype(int) - image[seen])
    assert change.max(-1).min() > 3  # it is in the water, too
    assert found.image[seen][:, 2].mean() > found.image[seen][:, 0].mean()  # and blue as before


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
