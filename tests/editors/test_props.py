"""Things that are computed and stand in the place of others, or beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from groundfault.editors.procedural import ProceduralEditor, repertoire
from groundfault.editors.procedural.bunches import MAKES, Balloon, inflated
from groundfault.editors.procedural.edges import box_of, core, floats, grown
from groundfault.editors.procedural.grounds import footing
from groundfault.editors.procedural.neighbours import company_of
from groundfault.editors.procedural.plants import PLANTS
from groundfault.editors.procedural.props import PROPS
from groundfault.editors.procedural.rendering import Lamp, lamp_of, rendered
from groundfault.editors.procedural.skins import SKINS
from groundfault.editors.procedural.solids import View, box, cast, lathe, lump
from groundfault.interfaces import Edited, EditRequest, Neighbour, NotEdited

FROM_THE_SIDE = View(pitch=0.0, turn=0.0, away=50.0)
FROM_ABOVE = FROM_THE_SIDE._replace(pitch=np.pi / 2)
SIZE = (240, 320)


def meadow(*, smooth: bool = False) -> tuple[Any, Any]:
    """A dog-sized body on a wide ground below a sky, and its mask."""
    rng = np.random.default_rng(1)
    y, x = np.mgrid[: SIZE[0], : SIZE[1]]
    ground = np.array([80, 122, 58]) + (0 if smooth else rng.normal(0, 12, (*SIZE, 1)))
    image = np.where((y < 70 + 9 * np.sin(x / 25))[..., None], [130, 160, 205], ground)
    mask = ((y - 140) / 38) ** 2 + ((x - 120) / 44) ** 2 < 1
    light = 120 - 45 * (x - 120) / 44 + rng.normal(0, 4, SIZE)
    image = np.where(mask[..., None], light[..., None] * np.array([1, 0.9, 0.8]), image)
    return np.clip(image, 0, 255).astype(np.uint8), mask


def asked(kind: str, value: str = "", category: str = "dog", **fields: Any) -> EditRequest:
    return EditRequest(instruction="", kind=kind, value=value, category=category, **fields)


def test_whatever_is_computed_has_a_body_and_a_skin() -> None:
    assert set(PROPS) | {"flower pot"} == set(SKINS)
    assert {*PROPS, *PLANTS, *MAKES} == set(repertoire.COMPUTED)


def test_a_box_is_a_rectangle_from_its_sides_and_from_above() -> None:
    thing = box(2.0, 1.0, 0.5, bevel=0.001)
    side = cast(thing, FROM_THE_SIDE, 60)
    assert side.seen.mean() > 0.97
    assert side.seen.shape[1] / side.seen.shape[0] == pytest.approx(4, abs=0.1)
    above = cast(thing, FROM_ABOVE, 60)
    assert above.seen.shape[1] / above.seen.shape[0] == pytest.approx(2, abs=0.1)
    assert np.allclose(side.normals[30, 120], (0, -1, 0), atol=0.01)
    assert np.allclose(above.normals[30, 60], (0, 0, 1), atol=0.01)


def test_what_is_turned_shows_another_side() -> None:
    thing = box(1.0, 1.0, 1.0, bevel=0.001)
    turned = cast(thing, FROM_THE_SIDE._replace(turn=np.pi / 4), 60)
    assert turned.seen.shape[1] / turned.seen.shape[0] == pytest.approx(np.sqrt(2), abs=0.05)
    left, right = turned.normals[30, 20], turned.normals[30, -20]
    assert left[0] == pytest.approx(-np.sqrt(0.5), abs=0.02) and right[0] == -left[0]


def test_a_ball_is_a_disc_from_everywhere_and_what_is_turned_on_a_lathe_from_above() -> None:
    ball = lump(1.0, 1.0, 1.0)
    for view in (FROM_THE_SIDE, FROM_ABOVE, FROM_THE_SIDE._replace(pitch=0.5)):
        seen = cast(ball, view, 80).seen
        own = seen[box_of(seen)]
        assert own.mean() == pytest.approx(np.pi / 4, abs=0.03)
        assert own.shape[0] == pytest.approx(own.shape[1], abs=3)
    vase = cast(lathe(((0, 0.5), (0.5, 1), (1, 0.3)), 1.0, 2.0), FROM_ABOVE, 80).seen
    assert vase.mean() == pytest.approx(np.pi / 4, abs=0.04)


def test_light_comes_from_the_side_where_the_object_is_brighter() -> None:
    image, mask = meadow()
    photo = floats(image / 255)
    lamp = lamp_of(photo, mask)
    assert lamp.side < -0.4
    assert lamp_of(photo[:, ::-1], mask[:, ::-1]).side > 0.4
    made = rendered(lump(1, 1, 1), SKINS["pumpkin"], FROM_THE_SIDE, lamp, 80, seed=0)
    solid = made.share > 0.9
    middle = solid.shape[1] // 2
    assert made.colours[:, :middle][solid[:, :middle]].mean() > (
        1.05 * made.colours[:, middle:][solid[:, middle:]].mean()
    )


def test_a_foot_fades_into_grass_and_is_sharp_on_a_floor() -> None:
    lamps = [lamp_of(floats(image / 255), mask) for image, mask in (meadow(), meadow(smooth=True))]
    assert [lamp.grassy for lamp in lamps] == [True, False]

    def soft_px(lamp: Lamp) -> float:
        seen = rendered(box(1, 1, 1), SKINS["cardboard box"], FROM_THE_SIDE, lamp, 150, 2).share
        lower = seen[seen.shape[0] // 2 :]
        return float(((lower > 0.05) & (lower < 0.95)).sum(0)[seen.shape[1] // 2])

    in_grass, on_floor = map(soft_px, lamps)
    assert in_grass > on_floor + 2


def test_the_ground_below_is_darker_beside_what_stands_on_it() -> None:
    image, mask = meadow(smooth=True)
    lamp = lamp_of(floats(image / 255), mask)
    made = rendered(box(1, 1, 1), SKINS["wooden crate"], FROM_THE_SIDE, lamp, 100, seed=0)
    below = np.argwhere(made.share > 0.5)[:, 0].max() + 3
    assert made.shade[below].min() < 0.75 and made.shade[:10].min() == 1


@pytest.mark.parametrize("name", sorted(repertoire.COMPUTED))
def test_every_prop_covers_an_object_that_it_is_asked_for(name: str) -> None:
    image, mask = meadow()
    editor = ProceduralEditor(filters=False)
    found = editor.perform(image, mask, asked("replace", name))
    assert isinstance(found, Edited) and found.mask is not None
    assert found.details == {"category": name}
    changed = (found.image != image).any(-1)
    assert not (changed & ~found.touched).any()
    assert (found.mask & mask).sum() > 0.75 * mask.sum()
    again = editor.perform(image, mask, asked("replace", name))
    assert isinstance(again, Edited) and np.array_equal(again.image, found.image)


def test_what_is_chosen_for_a_category_covers_all_of_an_object() -> None:
    image, mask = meadow()
    names = set()
    for category in ("bicycle", "chair", "cow", "dog", "suitcase", "toilet"):
        found = ProceduralEditor().perform(image, mask, asked("replace", "", category))
        assert isinstance(found, Edited) and found.mask is not None, found
        names.add(found.details["category"])
        assert found.details["category"] in repertoire.INSTEAD[category]
        assert (found.mask & mask).sum() > 0.94 * mask.sum()
        assert (found.mask & mask).sum() >= 0.35 * (found.mask | mask).sum()
    assert len(names) > 1


def test_a_prop_stands_beside_an_object_and_leaves_it_as_it_is() -> None:
    image, mask = meadow()
    found = ProceduralEditor().perform(image, mask, asked("add", category="cow"))
    assert isinstance(found, Edited) and found.mask is not None, found
    assert not (found.mask & mask).any() and 0.3 < found.mask.sum() / mask.sum() < 1
    assert np.array_equal(found.image[core(mask, 4)], image[core(mask, 4)])
    taken = Neighbour(category="bear", mask=~grown(mask, 9))
    refused = ProceduralEditor().perform(image, mask, asked("add", category="cow", others=(taken,)))
    assert isinstance(refused, NotEdited) and refused.reason == "no room"


def test_where_only_the_air_is_free_balloons_float_there() -> None:
    image, mask = meadow()
    below = Neighbour(category="bear", mask=~grown(mask, 9) & (np.arange(SIZE[0]) > 110)[:, None])
    for seed in range(5):
        wanted = asked("add", category="cow", seed=seed, others=(below,))
        found = ProceduralEditor().perform(image, mask, wanted)
        assert isinstance(found, Edited) and found.mask is not None, found
        assert found.details["category"] == repertoire.BALLOONS
        assert not (found.mask & (mask | below.mask)).any()
        assert found.mask.sum() > 500


def test_what_stands_takes_turns_with_what_floats() -> None:
    image, mask = meadow()
    for kind in ("add", "replace"):
        names = []
        for seed in range(8):
            wanted = asked(kind, category="suitcase", seed=seed)
            found = ProceduralEditor().perform(image, mask, wanted)
            assert isinstance(found, Edited), found
            names.append(found.details["category"])
        assert 0 < sum(name not in repertoire.FLOATING for name in names) <= 4, (kind, names)
        if kind == "replace":
            assert set(repertoire.FLOATING) < set(names)


@pytest.mark.parametrize("name", repertoire.FLOATING)
def test_what_floats_covers_an_object_and_hardly_more(name: str) -> None:
    image, mask = meadow()
    found = ProceduralEditor().perform(image, mask, asked("replace", name))
    assert isinstance(found, Edited) and found.mask is not None, found
    assert not (mask & ~found.mask).any()
    assert (found.mask & mask).sum() > 0.6 * found.mask.sum()
    # nothing of the object is seen between them
    apart = np.abs(found.image.astype(int) - image).max(-1)
    assert (apart[mask] > 6).mean() > 0.97


@pytest.mark.parametrize("name", repertoire.FLOATING)
def test_what_floats_has_the_light_of_the_photograph(name: str) -> None:
    image, mask = meadow()

    def light_of(photograph: Any) -> float:
        found = ProceduralEditor(filters=False).perform(photograph, mask, asked("replace", name))
        assert isinstance(found, Edited) and found.mask is not None
        return float(found.image[core(found.mask, 3)].mean())

    assert light_of(image // 2) < 0.7 * light_of(image)


def test_lanterns_have_rings_and_balloons_have_none() -> None:
    image, mask = meadow(smooth=True)
    lamp = lamp_of(floats(image / 255), mask)

    def unrest(name: str) -> float:
        """The steps of light down the middle of one of a bunch."""
        made = inflated(name, [Balloon(80, 80, 60, 0.0)], (160, 160), lamp, 3)
        down = made.fore[50:110, 80].mean(-1)
        return float(np.abs(np.diff(down, 2)).mean())

    balloons, lanterns = map(unrest, repertoire.FLOATING)
    assert lanterns > 3 * balloons


def test_what_is_proposed_can_be_computed_and_nothing_that_is_seldom_kept_is() -> None:
    for table in (repertoire.INSTEAD, repertoire.BESIDE):
        names = {name for values in table.values() for name in values}
        assert names <= set(repertoire.COMPUTED)
        assert not names & {"pumpkin", "wooden crate", "boulder", "cardboard box", "tin can"}
    assert set(repertoire.BESIDE) == set(repertoire.INSTEAD)
    assert "potted plant" in repertoire.INSTEAD["cup"]
    assert repertoire.BESIDE["cup"] == (repertoire.BALLOONS,)  # beside it plants would float


def test_a_prop_stands_beside_an_object_or_before_it() -> None:
    image, mask = meadow()
    for category in ("bear", "cow", "suitcase"):
        found = ProceduralEditor().perform(image, mask, asked("add", category=category))
        assert isinstance(found, Edited) and found.mask is not None, found
        tall = box_of(mask)[0].stop - box_of(mask)[0].start
        assert found.details["category"] != repertoire.BALLOONS
        assert box_of(found.mask)[0].stop >= box_of(mask)[0].stop - 0.1 * tall


def test_nothing_is_computed_for_what_is_held_or_unknown() -> None:
    image, mask = meadow()
    for category in ("toothbrush", "quasar"):
        found = ProceduralEditor().perform(image, mask, asked("replace", category=category))
        assert isinstance(found, NotEdited) and found.reason == "no donor"


def test_what_is_around_a_foot_must_be_the_ground_that_the_object_stands_on() -> None:
    image, mask = meadow()
    image[:, 200:] = (40, 60, 150)  # water
    photo, alone = floats(image / 255), company_of(mask, "dog", ())
    assert footing(photo, mask, mask, alone) > 0.8
    assert footing(photo, mask, np.roll(mask, 130, 1), alone) < 0.1
    assert footing(photo, mask, np.roll(mask, 85, 1), alone) == pytest.approx(0.5, abs=0.3)


def test_things_are_as_colourful_as_the_photograph() -> None:
    image, mask = meadow()
    grey = np.repeat(image.mean(-1, keepdims=True).astype(np.uint8), 3, -1)
    faded = (0.85 * grey + 0.15 * image).astype(np.uint8)

    def colourful(photograph: Any) -> float:
        editor = ProceduralEditor(filters=False)
        found = editor.perform(photograph, mask, asked("replace", "pumpkin"))
        assert isinstance(found, Edited) and found.mask is not None
        return float(np.ptp(found.image[core(found.mask, 5)].astype(int), axis=-1).mean())

    assert colourful(grey) < 3 < colourful(faded) < 0.8 * colourful(image)
