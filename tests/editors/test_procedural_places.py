"""Places around an object that stays: which suit its photograph, which are refused, and that its
outline is clean and its shadow on the ground."""

from __future__ import annotations

from typing import Any

import numpy as np

from groundfault.editors.procedural import ProceduralEditor
from groundfault.editors.procedural.choices import (
    LEAST_APART,
    apart_from,
    chosen_places,
    is_too_close,
)
from groundfault.editors.procedural.edges import Matte, core, evened, grown, steadied
from groundfault.editors.procedural.grass import with_blades
from groundfault.editors.procedural.occlusion import contact_with
from groundfault.editors.procedural.relocation import view_of
from groundfault.interfaces import Edited, EditRequest, Neighbour, NotEdited

SIZE = (180, 240)


def body_on_a_meadow() -> tuple[Any, Any]:
    """A lit grey body on a grainy meadow, and its mask."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[: SIZE[0], : SIZE[1]]
    mask = ((y - 108) / 40) ** 2 + ((x - 96) / 38) ** 2 < 1
    meadow = np.array([70, 120, 50]) + rng.normal(0, 9, (*SIZE, 1))
    light = 150 - (x - 96) - 0.6 * (y - 108) + rng.normal(0, 4, SIZE)
    image = np.where(mask[..., None], light[..., None] * np.array([1, 0.98, 0.95]), meadow)
    return np.clip(image, 0, 255).astype(np.uint8), mask


def moved(image: Any, mask: Any, place: str, category: str = "bear") -> Edited | NotEdited:
    wanted = EditRequest(instruction="", kind="context", value=place, category=category)
    return ProceduralEditor().perform(image, mask, wanted)


def test_what_stands_in_the_hollows_of_an_outline_is_measured() -> None:
    y, x = np.mgrid[:100, :100]
    bridge = (y > 20) & (y < 80) & (x > 20) & (x < 80) & ~((y > 40) & (x > 40) & (x < 60))
    below = Neighbour(category="person", mask=(y > 50) & (y < 80) & (x > 44) & (x < 56))
    beside = Neighbour(category="person", mask=(y > 50) & (x > 82))
    assert contact_with(bridge, (below,)).gap > 0.1
    assert contact_with(bridge, (beside,)).gap == 0


def test_places_are_chosen_by_the_picture() -> None:
    image, mask = body_on_a_meadow()
    photo = image.astype(np.float32) / 255
    photo[~mask] = (0.42, 0.46, 0.25)
    white, green = photo.copy(), photo.copy()
    white[mask], green[mask] = (0.88, 0.88, 0.90), (0.42, 0.46, 0.25)
    assert chosen_places(white, mask, "bear")[-1] in ("snow", "meadow")
    assert "snow" in chosen_places(green, mask, "bear")
    assert "meadow" not in chosen_places(green, mask, "bear")
    assert chosen_places(white, mask, "gargoyle") == ()
    assert apart_from(white, mask, "meadow") > 30 > LEAST_APART > apart_from(green, mask, "meadow")


def test_what_looks_like_the_place_is_refused() -> None:
    image, mask = body_on_a_meadow()
    meadow = image.copy()
    meadow[mask], meadow[~mask] = (104, 122, 60), (200, 190, 180)
    meadow[::3] -= 9
    found = moved(meadow, mask, "meadow")
    assert isinstance(found, NotEdited) and found.reason == "looks like the place"
    assert isinstance(moved(meadow, mask, "snow"), Edited)


def test_asphalt_is_not_seen_through_a_lens() -> None:
    image, mask = body_on_a_meadow()
    large = np.repeat(np.repeat(mask, 4, 0), 4, 1)
    assert not is_too_close(mask, "bowl", "parking lot")
    assert is_too_close(large, "hot dog", "parking lot")
    assert not is_too_close(large, "hot dog", "meadow")
    assert not is_too_close(large, "bear", "parking lot")
    near = np.repeat(np.repeat(image, 4, 0), 4, 1)
    found = moved(near, large, "parking lot", "hot dog")
    assert isinstance(found, NotEdited) and found.reason == "place too close"


def test_birds_that_sit_do_not_fly() -> None:
    image, mask = body_on_a_meadow()
    image[~mask] = (130, 160, 210)
    assert isinstance(moved(image, mask, "meadow", "kite"), Edited)
    found = moved(image, mask, "meadow", "bird")
    assert isinstance(found, NotEdited) and found.reason == "does not fly"


def test_teeth_of_an_outline_go_and_legs_stay() -> None:
    y, x = np.mgrid[:120, :120]
    body = (y > 20) & (y < 60) & (x > 20) & (x < 100)
    leg = (y >= 60) & (y < 110) & (x > 30) & (x < 36)
    teeth = (y > 16) & (y <= 20) & (x > 20) & (x < 100) & (x % 8 < 2)
    found = evened(body | leg | teeth, 2.5)
    assert not (found & teeth)[:19].any()  # but for their roots
    assert (found & leg).sum() > 0.8 * leg.sum() and (found & body).sum() > 0.97 * body.sum()


def test_a_soft_edge_follows_the_mask_where_colours_do_not_tell() -> None:
    _, mask = body_on_a_meadow()
    flat = np.full((*mask.shape, 3), 0.5, np.float32)
    ragged = Matte(np.where(mask, 0.5, 0).astype(np.float32), flat, flat)
    found = steadied(ragged, mask)
    assert found.alpha[core(mask, 4)].min() > 0.99 and found.alpha[~grown(mask, 4)].max() < 0.01
    told = ragged._replace(fore=np.ones_like(flat), back=np.zeros_like(flat))
    assert np.allclose(steadied(told, mask).alpha, ragged.alpha)


def test_a_shadow_is_on_the_ground_and_not_in_the_sky() -> None:
    image, mask = body_on_a_meadow()
    found = moved(image, mask, "room")
    assert isinstance(found, Edited)
    grey = found.image.mean(-1)
    below, beside = grey[149:152, 90:102].mean(), grey[149:152, 10:30].mean()
    assert below < 0.75 * beside
    above, away = grey[55:64, 90:102].mean(), grey[55:64, 10:30].mean()
    assert abs(above - away) < 12


def test_blades_grow_where_they_can_be_seen() -> None:
    _, mask = body_on_a_meadow()
    view = view_of(mask, "cat", "standing")
    assert view is not None
    plain = np.full((*SIZE, 3), 0.1, np.float32)
    grown_over = with_blades(plain, view, 3, np.ones(SIZE, np.float32))
    changed = (grown_over != plain).any(-1)
    assert changed[150:].mean() > 0.8 and not changed[: max(int(view.horizon_px), 0)].any()
    assert np.array_equal(grown_over, with_blades(plain, view, 3, np.ones(SIZE, np.float32)))
