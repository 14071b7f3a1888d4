"""Where there is room for another thing: on ground that goes on, in the sky, and not on walls."""

from __future__ import annotations

import numpy as np

from groundfault.editors.procedural.edges import Floats, Mask, floats, grown
from groundfault.editors.procedural.grounds import (
    MOST_BEHIND,
    Place,
    free_place,
    ground_of,
    in_front,
)
from groundfault.editors.procedural.neighbours import company_of
from groundfault.editors.procedural.transplants import cutting_of, is_seen, pasted
from groundfault.interfaces import Neighbour

SIZE = (160, 240)
WALL, FLOOR, TILE, THING = (0.8, 0.8, 0.75), (0.5, 0.35, 0.2), (0.3, 0.4, 0.5), (0.1, 0.1, 0.5)


def box(rows: slice, columns: slice) -> Mask:
    found = np.zeros(SIZE, bool)
    found[rows, columns] = True
    return found


DOG = box(slice(70, 120), slice(90, 130))


def room() -> Floats:
    """A dog on a floor of two colours, before a wall."""
    photo = np.empty((*SIZE, 3), np.float32)
    photo[:] = WALL
    photo[100:] = FLOOR
    photo[100:][:, (np.arange(SIZE[1]) // 12 % 2).astype(bool)] = TILE
    photo[DOG] = THING
    noise = np.random.default_rng(0).normal(0, 0.01, photo.shape)
    return floats(np.clip(photo + noise, 0, 1))


def place_of(photo: Floats, *others: Neighbour, category: str = "dog") -> Place | None:
    company = company_of(DOG, category, others)
    return free_place(photo, DOG, company, category=category, flipped=False)


def test_a_ground_of_two_colours_goes_on_to_the_wall() -> None:
    found = ground_of(room(), DOG, company_of(DOG, "dog", ()))
    assert found is not None
    assert found[106:, :80].mean() > 0.9 and found[106:, 140:].mean() > 0.9
    assert found[:95].mean() < 0.05


def test_another_stands_beside_on_the_floor() -> None:
    place = place_of(room())
    assert place is not None and place.foot_px > 105
    assert abs(place.middle_px - 110) > 30


def test_a_smaller_one_is_taken_only_of_what_comes_in_sizes() -> None:
    narrow = (
        Neighbour(category="bench", mask=box(slice(60, 160), slice(0, 64))),
        Neighbour(category="bench", mask=box(slice(60, 160), slice(134, 240))),
    )
    small, none = place_of(room(), *narrow), place_of(room(), *narrow, category="oven")
    assert small is not None and small.tall_px < 0.95 * 50
    assert none is None


def narrow_room() -> tuple[Neighbour, ...]:
    """Benches that leave no room beside the dog."""
    return (
        Neighbour(category="bench", mask=box(slice(60, 160), slice(0, 64))),
        Neighbour(category="bench", mask=box(slice(60, 160), slice(158, 240))),
    )


def test_another_stands_behind_the_object_where_its_outline_is_known() -> None:
    company = company_of(DOG, "oven", narrow_room())
    beside = free_place(room(), DOG, company, category="oven", flipped=False)
    behind = free_place(
        room(), DOG, company, category="oven", flipped=False, most_overlap=MOST_BEHIND
    )
    assert beside is None
    assert behind is not None and behind.foot_px < 120 and 8 < abs(behind.middle_px - 110) < 40


def test_the_object_stays_in_front_of_what_stands_behind_it() -> None:
    photo, place = room(), Place(125.0, 114.0, 48.0)
    company = company_of(DOG, "dog", ())
    alpha = DOG.astype(np.float32)
    front = in_front(place, company, DOG, alpha)
    assert front is not None and np.array_equal(front, alpha)
    assert in_front(place._replace(foot_px=130.0), company, DOG, alpha) is None
    ahead = floats(np.where(DOG[..., None], THING, photo))
    picture, mask, touched = pasted(
        photo, cutting_of(photo, DOG), place, harmonise=0, front=front, ahead=ahead
    )
    assert mask.any() and not (mask & DOG).any()
    assert np.abs(picture[DOG] - photo[DOG]).max() < 0.06
    assert not touched[:40].any()


def test_another_does_not_stand_before_what_it_would_hide() -> None:
    free = place_of(room())
    assert free is not None
    left = int(free.middle_px - 18)
    cat = Neighbour(category="cat", mask=box(slice(88, 110), slice(left, left + 36)))
    place = place_of(room(), cat)
    assert place is None or abs(place.middle_px - free.middle_px) > 12


def test_nothing_stands_with_two_legs_in_the_air() -> None:
    photo = room()
    photo[:, 150:] = WALL
    photo[:, :70] = WALL
    place = place_of(photo, category="oven")
    assert place is None or 85 < place.middle_px < 135


def test_burnt_out_ground_takes_no_stain_of_a_shadow() -> None:
    def stain(light: float) -> float:
        cutting = cutting_of(room(), DOG)
        cutting = cutting._replace(shade=np.full_like(cutting.shade, 0.5))
        ground = np.full((*SIZE, 3), light, np.float32)
        place = Place(60.0, 140.0, 50.0)
        picture, mask, _ = pasted(ground, cutting, place, harmonise=0, standing=False)
        return float(np.abs(picture - ground)[~grown(mask, 1)].max())

    assert stain(0.5) > 0.2 and stain(1.0) == 0


def test_nothing_hangs_on_a_wall() -> None:
    photo = room()
    photo[125:] = WALL
    photo[60:125, 150:] = FLOOR
    photo[110:125, :88] = photo[110:125, 132:] = WALL
    place = place_of(photo)
    assert place is None or place.foot_px >= 118


def test_what_flies_has_room_above_and_throws_no_shadow() -> None:
    sky = np.full((*SIZE, 3), 0.7, np.float32)
    sky[DOG] = THING
    company = company_of(DOG, "kite", ())
    place = free_place(sky, DOG, company, category="kite", flipped=False)
    assert place is not None
    cutting = cutting_of(sky, DOG)
    flying = pasted(sky, cutting, place, harmonise=0, standing=False)
    standing = pasted(sky, cutting, place, harmonise=0)
    away = ~DOG & ~flying[1]
    away[:, :] &= np.abs(flying[0] - sky).max(-1) > 0.05
    dark = np.abs(standing[0] - sky).max(-1) > 0.05
    assert away.sum() < 0.5 * (dark & ~DOG & ~standing[1]).sum()


def test_a_thing_that_nobody_would_find_is_not_seen() -> None:
    photo = room()
    there = box(slice(40, 80), slice(20, 60))
    other = photo.copy()
    other[there] = THING
    assert is_seen(photo, other, there)
    assert not is_seen(photo, photo, there)
    assert not is_seen(photo, other, box(slice(40, 44), slice(20, 24)))
