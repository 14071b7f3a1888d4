"""Surfaces and substances of the procedural editor: whose outline they follow, which of them fit an
object, and which objects they are kept from."""

from __future__ import annotations

import json
from typing import Any

import cv2
import numpy as np
import pytest

from groundfault.editors.procedural import ProceduralEditor
from groundfault.editors.procedural.colours import PAINTS, body_light, dyed, featured, painted
from groundfault.editors.procedural.covers import (
    MOST_DOUBT,
    Thing,
    clarity,
    measures_of,
    objection,
    shade_of,
)
from groundfault.editors.procedural.cutouts import Cutout
from groundfault.editors.procedural.doubts import PATH, doubt
from groundfault.editors.procedural.edges import grown, matte
from groundfault.editors.procedural.fitness import measure
from groundfault.editors.procedural.fitting import fitting_values, novelty
from groundfault.editors.procedural.gaps import gaps_of
from groundfault.editors.procedural.looks import Skin, skin_of
from groundfault.editors.procedural.materials import recast
from groundfault.editors.procedural.occlusion import Contact
from groundfault.editors.procedural.outlines import followed
from groundfault.editors.procedural.relief import drawing_of
from groundfault.editors.procedural.suited import suited_values
from groundfault.interfaces import Edited, EditRequest, NotEdited

SIZE = (200, 260)


Colour = tuple[float, float, float]


def picture(
    colour: Colour = (0.55, 0.54, 0.52), wall: Colour = (0.12, 0.25, 0.16)
) -> tuple[Any, Any]:
    """A round body before a plain wall, as shares of white, and its mask."""
    y, x = np.mgrid[: SIZE[0], : SIZE[1]]
    mask = np.hypot(y - 100, x - 130) < 60
    light = 1 - 0.25 * (x - 130) / 60
    photo = np.where(mask[..., None], light[..., None] * np.float32(colour), np.float32(wall))
    if len(set(wall)) > 1:  # else it is a photograph without colours
        photo[:30], photo[-30:] = np.float32([0.2, 0.2, 0.6]), np.float32([0.6, 0.35, 0.1])
    noise = np.random.default_rng(0).normal(0, 0.01, (*SIZE, 1))
    return np.clip(photo + noise, 0, 1).astype(np.float32), mask


def iou(one: Any, other: Any) -> float:
    return float((one & other).sum() / (one | other).sum())


def thing(category: str = "bear", **changes: Any) -> Thing:
    photo, mask = picture()
    found = Thing(
        category,
        measure(photo, mask),
        skin_of(photo, mask),
        Contact(0.0, 0.0, 0.0, 0.0),
        drift=0.02,
        shade=shade_of(photo, mask),
        novelty=60.0,
        same=0,
    )
    return found._replace(**changes)


def doubt_of(thing: Thing, value: str = "gold", kind: str = "material") -> float:
    return doubt(kind, thing.category, value, measures_of(thing))


@pytest.mark.parametrize("shift", [(0, 4), (-3, -3)])
def test_an_outline_moves_to_the_edge_of_what_is_seen(shift: tuple[int, int]) -> None:
    photo, mask = picture()
    drawn = np.roll(mask, shift, (0, 1))
    assert iou(followed(photo, drawn), mask) > 0.97 > iou(drawn, mask)


def test_an_outline_stays_where_nothing_is_seen() -> None:
    _, mask = picture()
    plain = np.full((*SIZE, 3), 0.5, np.float32)
    assert iou(followed(plain, mask), mask) > 0.95


def test_what_ends_just_before_the_border_goes_up_to_it() -> None:
    photo, mask = picture()
    moved = np.roll(photo, -75, 1), np.roll(mask, -75, 1)
    moved[1][:, 130:] = False
    drawn = moved[1].copy()
    drawn[:, :4] = False
    found = followed(moved[0], drawn)
    assert found[100, 0] and not found[2, 0]
    inside = followed(photo, mask)
    assert not (inside & ~grown(mask, 6)).any()


def test_what_a_thing_looks_like_already_does_not_fit() -> None:
    red, mask = picture((0.75, 0.08, 0.06))
    grey, _ = picture()
    assert novelty("ladybug", red, mask) < 20 < novelty("ladybug", grey, mask)
    assert "ladybug" not in fitting_values("surface", red, mask, "suitcase")
    assert fitting_values("surface", grey, mask, "suitcase")[:2] == ("ladybug", "strawberry")
    brown, _ = picture((0.30, 0.18, 0.13))
    assert "chocolate" not in fitting_values("material", brown, mask, "bear")
    assert set(fitting_values("material", brown, mask, "bear")) < set(
        suited_values("material", "bear")
    )
    asked = EditRequest(instruction="", kind="surface", value="ladybug", category="suitcase")
    image = (red * 255).astype(np.uint8)
    found = ProceduralEditor().perform(image, mask, asked)
    assert isinstance(found, NotEdited) and found.reason == "already so"


def test_only_what_needs_no_colour_fits_a_black_and_white_photograph() -> None:
    photo, mask = picture((0.5, 0.5, 0.5), wall=(0.2, 0.2, 0.2))
    assert set(fitting_values("surface", photo, mask, "suitcase")) <= {"zebra"}
    assert fitting_values("erase", photo, mask, "suitcase") == ("",)


def test_doubt_grows_with_what_eyes_reject() -> None:
    plain = thing("suitcase")
    assert doubt_of(plain) < MOST_DOUBT["material"] and objection("material", "gold", plain) == ""
    assert doubt_of(thing("suitcase", drift=0.15)) > doubt_of(plain) + 0.4
    assert doubt_of(plain, "marble") > doubt_of(plain) + 0.1
    assert doubt_of(thing("donut")) > doubt_of(plain) and doubt_of(thing("bowl")) > doubt_of(plain)
    beside = Contact(any=0.5, front=0.0, low=0.5, people=0.0, gap=0.3)
    assert doubt_of(thing("chair", touched=beside)) > doubt_of(thing("chair"))
    beside_itself = thing("donut", touched=beside, drift=0.3)
    assert objection("material", "marble", beside_itself) == "doubtful"


def test_measures_of_a_thing_are_those_that_doubts_were_learnt_from() -> None:
    for kind in MOST_DOUBT:
        learnt = {name for name in json.loads(PATH.read_text())[kind] if ":" not in name}
        assert learnt == {"bias", *measures_of(thing())}


def test_vehicles_that_others_hide_are_left_alone() -> None:
    beside = Contact(any=0.35, front=0.0, low=0.0, people=0.0)
    for kind in ("surface", "material"):
        assert objection(kind, "gold", thing("bus", touched=beside)) == "touches others"
        assert objection(kind, "gold", thing("bus")) != "touches others"


@pytest.mark.parametrize("coat", [(0.97, 0.96, 0.94), (0.5, 0.35, 0.2), (0.16, 0.15, 0.14)])
@pytest.mark.parametrize("colour", ["red", "yellow", "green", "blue", "purple"])
def test_all_of_a_coat_takes_the_dye_and_its_shading_stays(
    coat: tuple[float, float, float], colour: str
) -> None:
    rng = np.random.default_rng(0)
    hair = cv2.GaussianBlur(rng.normal(0.85, 0.5, (80, 90)).astype(np.float32), (0, 0), 1.5)
    fore = np.clip(np.float32(coat) * hair[..., None], 0, 1)
    fore[:30] *= 0.6  # of two colours
    inside = np.ones(hair.shape, bool)
    new = dyed(fore, inside, np.float32(PAINTS[colour]), haired=True)
    before, after = (cv2.cvtColor(one, cv2.COLOR_RGB2LAB) for one in (fore, new))
    own = np.arctan2(*PAINTS[colour][:0:-1])
    turn = np.angle(np.exp(1j * (np.arctan2(after[..., 2], after[..., 1]) - own)))
    assert np.mean(np.abs(turn) < 0.5) > 0.9
    for part in (slice(0, 30), slice(30, 80)):
        both = before[part, :, 0].ravel(), after[part, :, 0].ravel()
        assert np.corrcoef(*both)[0, 1] > 0.9


@pytest.mark.parametrize("body", [(0.85, 0.85, 0.85), (0.75, 0.12, 0.1), (0.45, 0.5, 0.6)])
@pytest.mark.parametrize("colour", ["red", "yellow", "green", "blue", "purple"])
def test_a_body_is_painted_and_its_glass_and_tyres_stay(
    body: tuple[float, float, float], colour: str
) -> None:
    rng = np.random.default_rng(1)
    fore = np.float32(body) * rng.normal(1, 0.02, (80, 120, 1)).astype(np.float32)
    fore[10:30, 20:100] = (0.05, 0.06, 0.07)
    fore[60:, 10:40] = (0.02, 0.02, 0.02)
    fore[40:50] = (0.9, 0.9, 0.9)  # a stripe of another paint
    inside = np.ones(fore.shape[:2], bool)
    new = painted(fore, inside, colour)
    assert np.abs(new - fore)[12:28, 22:98].max() < 0.02
    assert np.abs(new - fore)[62:78, 12:38].max() < 0.02
    for part in (new[32:38], new[41:49]):
        away = cv2.cvtColor(part, cv2.COLOR_RGB2LAB)[..., 1:].mean((0, 1))
        turn = np.arctan2(*away[::-1]) - np.arctan2(*PAINTS[colour][:0:-1])
        assert abs(np.angle(np.exp(1j * turn))) < 0.4 and np.hypot(*away) > 20
    tones = cv2.cvtColor(fore, cv2.COLOR_RGB2LAB)[..., 0]
    assert body_light(tones, inside) > 40 > body_light(tones * 0.3, inside)


def test_a_face_is_where_fine_detail_is() -> None:
    fore = np.full((120, 160, 3), 0.6, np.float32)
    fore += np.random.default_rng(0).normal(0, 0.01, fore.shape[:2])[..., None].astype(np.float32)
    for column in (30, 44):
        fore[40:44, column : column + 4] = 0.05
    found = featured(fore, np.ones(fore.shape[:2], bool))
    assert found[38:46, 28:50].mean() > 0.5 > 0.1 > found[:, 80:].mean()


def test_odds_fall_with_every_doubt_about_an_outline() -> None:
    cut = Cutout(np.ones((4, 4), bool), sure=0.97, agreed=0.95, beyond=0.0)
    skin = Skin(fit=0.9, weak=0.05, motley=0.1)
    best = clarity("surface", "cat", cut, skin)
    for worse in ({"sure": 0.9}, {"added": 0.02}, {"missed": 0.02}, {"more": 0.1}):
        assert clarity("surface", "cat", cut._replace(**worse), skin) < best
    assert clarity("surface", "cat", cut, skin._replace(weak=0.4)) < best
    assert clarity("material", "bus", cut, skin) < clarity("material", "oven", cut, skin)


def test_hair_is_found_beyond_a_mask() -> None:
    rows, columns = np.mgrid[:160, :200]
    away = np.hypot(rows - 80, columns - 100)
    rays = np.cos(np.arctan2(rows - 80, columns - 100) * 40) > 0
    hair = (away < 60) & ((away < 54) | rays)
    photo = np.where(hair[..., None], np.float32([0.8, 0.5, 0.2]), np.float32([0.1, 0.15, 0.3]))
    body = away < 54
    far = (away > 55.5) & (away < 59) & hair
    short, long = (matte(photo.astype(np.float32), body, hair=hair) for hair in (0.0, 0.09))
    assert long.alpha[far].mean() > short.alpha[far].mean() + 0.3
    assert long.alpha[(away > 55.5) & ~hair].mean() < 0.1


def test_large_objects_are_matted_alike_in_a_smaller_picture() -> None:
    rows, columns = np.mgrid[:500, :600]
    mask = np.hypot(rows - 250, columns - 300) < 200
    photo = np.where(mask[..., None], np.float32([0.8, 0.5, 0.2]), np.float32([0.1, 0.15, 0.3]))
    soft = cv2.GaussianBlur(photo.astype(np.float32), (0, 0), 1.0)
    found = matte(soft, mask).alpha
    assert found[np.hypot(rows - 250, columns - 300) < 190].min() == 1
    assert found[np.hypot(rows - 250, columns - 300) > 212].max() == 0
    assert abs(found.sum() / mask.sum() - 1) < 0.02


def test_windows_of_vehicles_are_not_recast() -> None:
    photo, mask = picture((0.1, 0.25, 0.75))
    photo[80:120, 110:150] = (0.45, 0.47, 0.46)
    image = (photo * 255).astype(np.uint8)
    for category, stays in (("bus", True), ("suitcase", False)):
        asked = EditRequest(instruction="", kind="material", value="gold", category=category)
        found = ProceduralEditor(filters=False).perform(image, mask, asked)
        assert isinstance(found, Edited)
        apart = np.abs(found.image.astype(int) - image).mean(-1)
        assert (apart[90:110, 120:140].mean() < 4) == stays
        assert apart[50:70, 120:140].mean() > 20


def test_features_of_a_thing_are_seen_on_its_new_surface() -> None:
    photo, mask = picture((0.35, 0.34, 0.33))
    photo[70:76, 105:155] *= 0.7  # a fold
    drawn = drawing_of(photo, mask)
    assert drawn[71:75, 110:150].mean() < -0.5 and abs(drawn[~mask]).max() == 0
    image = (photo * 255).astype(np.uint8)
    for kind, value in (("surface", "strawberry"), ("material", "chocolate")):
        asked = EditRequest(instruction="", kind=kind, value=value, category="suitcase")
        found = ProceduralEditor(filters=False).perform(image, mask, asked)
        assert isinstance(found, Edited)
        grey = found.image.mean(-1)
        assert grey[71:75, 110:150].mean() < 0.85 * grey[85:95, 110:150].mean()


def test_what_is_seen_through_a_handle_is_left_as_it_is() -> None:
    photo, mask = picture((0.75, 0.3, 0.1))
    wall = photo[100, 10].copy()
    photo[85:115, 76:90] = wall + np.random.default_rng(1).normal(0, 0.01, (30, 14, 1))
    gaps = gaps_of(photo, mask)
    assert gaps[92:108, 80:86].all() and not gaps[60:140, 100:180].any()
    inner = photo.copy()
    inner[85:115, 123:137] = wall  # a label in the middle
    assert not gaps_of(inner, mask)[95:105, 128:132].any()
    image = (np.clip(photo, 0, 1) * 255).astype(np.uint8)
    asked = EditRequest(instruction="", kind="surface", value="zebra", category="suitcase")
    found = ProceduralEditor(filters=False).perform(image, mask, asked)
    assert isinstance(found, Edited)
    apart = np.abs(found.image.astype(int) - image).mean(-1)
    assert apart[97:103, 82:84].mean() < 6 < apart[80:120, 110:150].mean()


def test_metal_has_more_contrast_than_the_matt_thing_it_is_made_of() -> None:
    photo, mask = picture()
    gold = recast(photo, photo, mask, "gold", tint=np.ones(3, np.float32), seed=0)
    assert gold[mask].mean(1).std() > 1.5 * photo[mask].mean(1).std()
    assert (gold[mask].mean(0)[:2] > gold[mask].mean(0)[2] + 0.15).all()
