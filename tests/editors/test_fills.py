"""Holes that were filled: what is strange in them, and how much a careful eye would doubt them."""

from __future__ import annotations

import numpy as np
import pytest

from groundfault.editors.procedural.edges import Floats, Mask, floats, grown
from groundfault.editors.procedural.filling import (
    MOST_UNLIKE_PATCHES,
    draw,
    fill,
    finished,
    reconciled,
)
from groundfault.editors.procedural.fills import (
    MOST_DOUBT_OF_PATCHES,
    MOST_FOREIGN,
    detail_of,
    doubt,
    doubt_of_drawing,
    doubt_of_patches,
    measure_fill,
)
from groundfault.editors.procedural.neighbours import company_of, troubles
from groundfault.editors.procedural.patches import patched, unlikeness
from groundfault.editors.procedural.shadows import hole_of, shadow_of
from groundfault.editors.procedural.strangeness import invented, strangeness
from groundfault.interfaces import Neighbour

SIZE = (160, 220)
PINK = floats([0.9, 0.1, 0.8])


def meadow(seed: int = 0) -> Floats:
    noise = np.random.default_rng(seed).normal(0, 0.03, (*SIZE, 1))
    return np.clip(floats([0.35, 0.5, 0.25]) + noise, 0, 1).astype(np.float32)


def box(rows: slice, columns: slice) -> Mask:
    found = np.zeros(SIZE, bool)
    found[rows, columns] = True
    return found


HOLE = box(slice(40, 120), slice(60, 150))
BLOT = box(slice(70, 85), slice(95, 112))


def with_blot(where: Mask) -> Floats:
    return np.where(where[..., None], PINK, meadow()).astype(np.float32)


def test_a_small_thing_in_a_fill_is_taken_for_an_invention() -> None:
    found = invented(with_blot(BLOT), HOLE)
    assert (found & BLOT).sum() > 0.95 * BLOT.sum()
    assert found.sum() < 4 * BLOT.sum()
    assert not (found & ~HOLE).any()
    assert not invented(meadow(), HOLE).any()


def test_what_is_around_a_hole_too_is_not_strange() -> None:
    photo = with_blot(BLOT | box(slice(20, 36), slice(95, 112)))
    near, far = strangeness(photo, HOLE), strangeness(with_blot(BLOT), HOLE)
    assert near[0] == far[0]
    assert near[1].max() < 0.5 * far[1].max()


def test_a_fill_that_is_strange_altogether_is_left_to_the_doubt() -> None:
    assert not invented(with_blot(HOLE), HOLE).any()


def test_a_network_that_invents_a_thing_is_corrected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "groundfault.editors.procedural.filling._by_network", lambda *_: with_blot(BLOT)
    )
    found = fill(meadow(), HOLE, migan="some.onnx")
    assert np.abs(found[BLOT] - meadow()[BLOT]).mean() < 0.1
    assert np.array_equal(found[~HOLE], meadow()[~HOLE])


def test_a_fill_is_doubted_that_is_mixed_busy_large_or_seen() -> None:
    plain = measure_fill(meadow(1), HOLE)
    stripes = (np.arange(SIZE[1]) // 6 % 2).astype(bool) & HOLE
    busy = measure_fill(np.where(stripes[..., None], 0.6 * meadow(), meadow()), HOLE)
    assert busy.mixture > 2 * plain.mixture and busy.unrest > 2 * plain.unrest
    assert doubt(busy, 0.1, 0) > doubt(plain, 0.1, 0)
    assert doubt(plain, 0.2, 0) > doubt(plain, 0.1, 0)
    assert doubt(plain, 0.1, 1) > doubt(plain, 0.1, 0)
    half = HOLE & box(slice(0, 160), slice(0, 105))
    hidden = measure_fill(meadow(1), HOLE, half)
    assert hidden.share == pytest.approx((HOLE & ~half).sum() / HOLE.sum())
    assert doubt(hidden, 0.1, 0) < doubt(plain, 0.1, 0)
    assert measure_fill(meadow(), HOLE, HOLE).share == 0


def test_a_fill_is_doubted_that_is_busier_along_its_edge_than_what_is_beyond() -> None:
    plain = measure_fill(meadow(1), HOLE)
    rim = HOLE & ~box(slice(44, 116), slice(64, 146))
    rimmed = measure_fill(np.where(rim[..., None], 0.6 * meadow(), meadow()), HOLE)
    assert plain.border == pytest.approx(1, abs=0.15) and rimmed.border > 1.5
    assert doubt(rimmed, 0.1, 0) > doubt(plain, 0.1, 0) + 1


def test_patches_are_doubted_that_are_foreign_or_calmer_than_what_is_around() -> None:
    grainy = measure_fill(meadow(1), HOLE)
    flat = np.where(HOLE[..., None], floats([0.35, 0.5, 0.25]), meadow())
    assert measure_fill(with_blot(HOLE), HOLE).foreign > MOST_FOREIGN > grainy.foreign
    usual = doubt_of_patches(grainy, 0.1)
    assert doubt_of_patches(measure_fill(flat, HOLE), 0.1) > usual + 0.5
    assert usual < MOST_DOUBT_OF_PATCHES and doubt_of_patches(grainy, 0.2) > doubt_of_patches(
        grainy, 0.1
    )
    assert doubt_of_patches(measure_fill(with_blot(HOLE), HOLE), 0.1) > MOST_DOUBT_OF_PATCHES


def test_who_holds_a_thing_is_a_trouble_and_who_stands_apart_is_none() -> None:
    def of(category: str, mask: Mask) -> int:
        others = (Neighbour(category=category, mask=mask),)
        return troubles(company_of(HOLE, "dog", others))

    beside, apart = box(slice(40, 120), slice(150, 180)), box(slice(40, 120), slice(190, 210))
    assert of("person", beside) == of("dog", beside) == 1
    assert of("bench", beside) == of("person", apart) == of("dog", apart) == 0


def test_a_network_that_goes_on_with_a_thing_looks_again_at_a_wider_hole_in_a_mirror(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[Mask] = []

    def network(photo: Floats, hole: Mask, path: str) -> Floats:
        seen.append(hole)
        return with_blot(box(slice(50, 110), slice(70, 110))) if len(seen) % 2 else meadow(1)

    monkeypatch.setattr("groundfault.editors.procedural.filling._by_network", network)
    photo, beside = meadow(), box(slice(40, 120), slice(150, 180)) & ~HOLE
    for others, stays in ((None, np.zeros(SIZE, bool)), (beside, beside)):
        drawing = draw(photo, HOLE, migan="migan.onnx", others=others)
        assert np.array_equal(seen[-2], HOLE)
        assert np.array_equal(seen[-1][:, ::-1], drawing.hole)
        assert (HOLE & ~drawing.hole).sum() == 0 and drawing.hole.sum() > HOLE.sum()
        assert not (drawing.hole & stays).any()
        assert drawing.unlike < MOST_UNLIKE_PATCHES
        assert np.array_equal(drawing.picture[~drawing.hole], photo[~drawing.hole])


def test_of_two_fills_the_less_strange_one_is_taken_where_they_differ() -> None:
    left, right = box(slice(60, 75), slice(75, 90)), box(slice(90, 105), slice(120, 135))
    for first, second in ((left, right), (right, left)):
        found = reconciled(with_blot(first), with_blot(second), HOLE)
        assert np.abs(found - meadow()).max() < 0.05
    assert np.array_equal(reconciled(meadow(), meadow(), HOLE), meadow())


def test_what_is_drawn_is_unlike_its_surroundings_where_it_is_a_thing() -> None:
    thing = with_blot(box(slice(50, 110), slice(70, 110)))
    grass, other = (
        unlikeness(meadow(), HOLE, drawn, seed=0, others=None) for drawn in (meadow(1), thing)
    )
    assert grass < MOST_UNLIKE_PATCHES < other
    usual = doubt_of_drawing(grass, 0.1, 5, 0)
    assert usual < doubt_of_drawing(other, 0.1, 5, 0)
    assert usual < doubt_of_drawing(grass, 0.2, 5, 0)
    assert usual < doubt_of_drawing(grass, 0.1, 40, 0)
    assert usual < doubt_of_drawing(grass, 0.1, 5, 1)
    assert usual < doubt_of_drawing(grass, 0.1, 5, 0, more=0.1)


def test_patches_follow_what_is_drawn_and_have_the_grain_of_the_photograph() -> None:
    """A dark field and a bright one: a drawing without grain says where they meet in the hole."""
    dark = np.broadcast_to(np.arange(SIZE[1]) < 105, SIZE)
    photo = np.where(dark[..., None], 0.5 * meadow(), meadow()).astype(np.float32)
    flat = np.where(dark[..., None], 0.5, 1.0) * floats([0.35, 0.5, 0.25])
    drawn = np.where(HOLE[..., None], flat, photo).astype(np.float32)
    found = patched(photo, HOLE, seed=0, others=None, drawn=drawn)
    assert np.array_equal(found[~HOLE], photo[~HOLE])
    assert np.abs(found - photo)[HOLE & ~grown(HOLE & dark, 4)].mean() < 0.06
    assert np.abs(found - photo)[HOLE & ~grown(HOLE & ~dark, 4)].mean() < 0.06
    assert detail_of(drawn, HOLE) < 0.3 < 0.5 < detail_of(found, HOLE)


@pytest.mark.parametrize("blot", [BLOT, box(slice(50, 110), slice(70, 110))])
def test_a_drawing_is_finished_without_the_things_it_invents(
    monkeypatch: pytest.MonkeyPatch, blot: Mask
) -> None:
    other = box(slice(52, 64), slice(122, 134))

    def network(photo: Floats, *_: object) -> Floats:  # it invents another thing in a mirror
        mirrored = not np.array_equal(photo, meadow())
        return with_blot(other)[:, ::-1] if mirrored else with_blot(blot)

    monkeypatch.setattr("groundfault.editors.procedural.filling._by_network", network)
    drawing = draw(meadow(), HOLE, migan="some.onnx")
    assert np.allclose(drawing.picture[blot], PINK) or np.allclose(drawing.picture[other], PINK)
    found = finished(meadow(), drawing)
    assert np.array_equal(found[~drawing.hole], meadow()[~drawing.hole])
    assert np.abs(found - meadow())[blot | other].mean() < 0.1


def test_where_there_is_no_hole_nothing_is_drawn() -> None:
    nowhere = np.zeros(SIZE, bool)
    drawing = draw(meadow(), nowhere, migan="some.onnx")
    assert drawing.unlike == 0
    assert np.array_equal(finished(meadow(), drawing), meadow())


def test_a_dark_thing_with_edges_of_its_own_is_no_shadow() -> None:
    thing, dark = box(slice(40, 100), slice(60, 100)), box(slice(84, 112), slice(98, 118))
    shadow = meadow()
    dark = dark & ~thing
    shadow[dark] *= 0.5
    assert shadow_of(shadow, thing)[dark].mean() > 0.6
    grille = meadow()
    grille[dark] *= 0.3
    grille[dark & (np.arange(SIZE[1]) // 3 % 2 == 0)] *= 2.0
    assert not shadow_of(grille, thing)[dark].any()


def test_a_narrow_dark_strip_below_a_thing_is_its_shadow() -> None:
    car, strip = box(slice(40, 100), slice(60, 140)), box(slice(100, 112), slice(60, 140))
    photo = meadow()
    photo[strip] *= 0.15
    assert shadow_of(photo, car)[strip].mean() > 0.6


def test_what_is_seen_between_legs_goes_with_them_unless_it_is_another_thing() -> None:
    horse, between = np.zeros((400, 400), bool), np.zeros((400, 400), bool)
    horse[80:220, 60:340] = horse[220:320, 60:180] = horse[220:320, 210:340] = True
    between[220:320, 180:210] = True
    photo = np.full((400, 400, 3), 0.5, np.float32)
    assert hole_of(photo, horse)[230:300, 193:197].all()
    assert not hole_of(photo, horse, others=between)[230:300, 193:197].any()
