"""Interventions are exact: what they do not mean to change stays the same, byte for byte."""

from __future__ import annotations

import importlib.util
from itertools import pairwise

import msgspec
import numpy as np
import pytest

if importlib.util.find_spec("skia") is None:
    pytest.skip(
        "skia-python is not installed: pip install 'groundfault[world]'", allow_module_level=True
    )

from groundfault.errors import UnknownName, UsageError
from groundfault.world import (
    KINDS,
    Intervention,
    Place,
    Scene,
    Thing,
    WorldSettings,
    edit_region,
    reach,
    render,
    sample_intervention,
)
from groundfault.world import interventions as edits
from groundfault.world.objects import CATEGORIES
from groundfault.world.phrases import concept, concepts, matching, relation_phrase, unreal
from groundfault.world.scene import Look

SETTINGS = WorldSettings(size_px=128)
LOOKS = ("SM", "OC", "attribute")
SEEDS = range(6)


def changed(case: Intervention) -> np.ndarray:
    before, after = render(case.factual), render(case.counterfactual)
    return (before.image != after.image).any(axis=2)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_changes_outside_the_region_of_the_edit(kind: str, seed: int) -> None:
    for dose in (0.4, 1.0) if kind in (*LOOKS, "CC") else (1.0,):
        case = sample_intervention(kind, seed, 3, SETTINGS, dose=dose)
        allowed, differs = edit_region(case), changed(case)
        assert not differs[~allowed].any()
        assert differs.any() == (kind != "no-op")


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", LOOKS)
@pytest.mark.parametrize("dose", [0.4, 1.0])
def test_change_of_look_may_touch_the_mask_of_the_target_only(
    kind: str, seed: int, dose: float
) -> None:
    case = sample_intervention(kind, seed, 3, SETTINGS, dose=dose)
    before, after = render(case.factual), render(case.counterfactual)
    assert case.before == case.after
    assert np.array_equal(before.labels, after.labels)
    target = after.masks[case.after]
    assert np.array_equal(edit_region(case), target)
    assert changed(case)[target].mean() > 0.2


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dose", [0.4, 1.0])
def test_change_of_context_leaves_every_thing_alone(seed: int, dose: float) -> None:
    case = sample_intervention("CC", seed, 3, SETTINGS, dose=dose)
    before, after = render(case.factual), render(case.counterfactual)
    assert np.array_equal(before.labels, after.labels)
    around = before.labels < 0
    assert np.array_equal(edit_region(case), around)
    assert changed(case)[around].mean() > 0.8


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "kind", ["replacement", "erasure", "move", "remove", "add", "replace", "counting"]
)
def test_change_of_things_may_touch_what_they_reach(kind: str, seed: int) -> None:
    case = sample_intervention(kind, seed, 3, SETTINGS)
    allowed = np.zeros((128, 128), bool)
    if case.before >= 0:
        allowed |= reach(case.factual, case.before)
    if case.after >= 0:
        allowed |= reach(case.counterfactual, case.after)
    for scene, other in ((case.factual, case.counterfactual), (case.counterfactual, case.factual)):
        for number, thing in enumerate(scene.things):  # a whole that comes down without its part
            if kind == "erasure" and thing.partner < 0 and thing not in other.things:
                allowed |= reach(scene, number)
    assert np.array_equal(edit_region(case), allowed)
    before, after = render(case.factual), render(case.counterfactual)
    gone, come = before.labels == case.before, after.labels == case.after
    outside = ~(gone | come | (allowed if kind == "erasure" else False))
    if case.before >= 0 and case.after >= 0 and kind != "move":  # the same numbers: compare them
        assert np.array_equal(before.labels[outside], after.labels[outside])
    else:
        assert np.array_equal(before.labels[outside] >= 0, after.labels[outside] >= 0)


def test_the_shadow_of_what_is_replaced_goes_with_it() -> None:
    """The region is larger than both masks, and has to be."""
    beyond = 0
    for index in range(8):
        case = sample_intervention("replacement", 14, index, SETTINGS)
        gone = render(case.factual).masks[case.before]
        come = render(case.counterfactual).masks[case.after]
        assert not (gone | come)[~edit_region(case)].any()
        beyond += int((changed(case) & ~(gone | come)).sum())
    assert beyond > 0


@pytest.mark.parametrize("category", CATEGORIES)
def test_a_borrowed_surface_covers_every_visible_pixel(category: str) -> None:
    """The picture is the same whatever colour is below, also of eyes, tyres and handles."""
    entry = CATEGORIES[category]
    thing = Thing(category=category, seed=3, x=0.5, y=0.9, scale=0.7)
    surface = "ladybug" if entry.surface != "ladybug" else "zebra"
    scene = Scene(place=Place("desert", 3), things=(thing,), size_px=96)
    pictures = []
    for colour in ("white", "black"):
        look = Look(seed=4, colour=colour, surface=surface)
        worn = msgspec.structs.replace(thing, look=look)
        pictures.append(render(msgspec.structs.replace(scene, things=(worn,))).image)
    assert np.array_equal(*pictures)
    plain = render(scene)
    # Where pattern and paint are both dark, covering changes nothing that one could see.
    assert (plain.image != pictures[0]).any(2)[plain.masks[0]].mean() > 0.97


def test_the_edge_itself_belongs_to_one_side() -> None:
    """A white dog turned black must not leave a white seam, nor the new black leak out."""
    dog = Thing(category="dog", seed=1, x=0.5, y=0.9, scale=0.7, look=Look(colour="white"))
    scene = Scene(place=Place("meadow", 3), things=(dog,), size_px=160)
    black = msgspec.structs.replace(
        scene, things=(msgspec.structs.replace(dog, look=Look(colour="black")),)
    )
    edited = edits.change_surface(scene, 0, "ladybug").counterfactual
    mask = render(scene).masks[0]
    for other in (black, edited):
        differs = (render(scene).image != render(other).image).any(axis=2)
        assert not differs[~mask].any()


@pytest.mark.parametrize("seed", SEEDS)
def test_no_op_changes_no_byte(seed: int) -> None:
    case = sample_intervention("no-op", seed, 0, SETTINGS)
    assert render(case.factual).image.tobytes() == render(case.counterfactual).image.tobytes()
    assert case.dose == 0.0


@pytest.mark.parametrize("kind", [*LOOKS, "CC"])
def test_dose_runs_from_the_original_bytes_to_the_full_edit(kind: str) -> None:
    distances = []
    for dose in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        case = sample_intervention(kind, 2, 1, SETTINGS, dose=dose)
        original, edited = render(case.factual).image, render(case.counterfactual).image
        distances.append(float(np.abs(original.astype(float) - edited).mean()))
        if dose == 0.0:
            assert original.tobytes() == edited.tobytes()
    assert all(later > earlier for earlier, later in pairwise(distances))
    assert distances[1] == pytest.approx(0.2 * distances[-1], rel=0.25)


def test_full_dose_is_the_same_as_having_been_made_so() -> None:
    dog = Thing(category="dog", seed=1, x=0.5, y=0.9, scale=0.6, look=Look(seed=5))
    scene = Scene(place=Place("meadow", 3), things=(dog,), size_px=128)
    case = edits.change_material(scene, 0, "bronze", seed=8)
    made = msgspec.structs.replace(dog, look=Look(seed=8, material="bronze"))
    direct = render(msgspec.structs.replace(scene, things=(made,)))
    assert direct.image.tobytes() == render(case.counterfactual).image.tobytes()
    moved = edits.change_context(scene, 0, "reef", seed=8)
    there = render(msgspec.structs.replace(scene, place=Place("reef", 8)))
    assert there.image.tobytes() == render(moved.counterfactual).image.tobytes()


@pytest.mark.parametrize("index", range(8))
def test_prompts_follow_the_rules_of_cafe(index: int) -> None:
    for kind in ("SM", "CC", "OC"):
        case = sample_intervention(kind, 7, index, SETTINGS)
        thing = case.counterfactual.things[case.after]
        assert case.positive in concepts(thing)
        assert matching(case.counterfactual, case.positive) == (case.after,)
        assert matching(case.counterfactual, case.negative) == ()
        assert case.positive != case.negative
        if kind == "OC":
            assert case.negative == unreal(thing.category)
            assert matching(case.factual, case.negative) == (case.before,)
        else:
            assert case.positive == thing.category
            assert case.negative in CATEGORIES
        if kind == "CC":
            context = case.facts["context"]
            assert context not in CATEGORIES[thing.category].contexts
            assert context in CATEGORIES[case.negative].contexts


@pytest.mark.parametrize("index", range(6))
def test_replacement_makes_a_quad(index: int) -> None:
    case = sample_intervention("replacement", 8, index, SETTINGS)
    assert matching(case.factual, case.negative) == (case.before,)
    assert matching(case.factual, case.positive) == ()
    assert matching(case.counterfactual, case.positive) == (case.after,)
    assert matching(case.counterfactual, case.negative) == ()
    assert case.facts["factual referring"] == f"the {case.negative}"
    assert case.facts["factual reasoning"] != case.facts["counterfactual reasoning"]
    assert render(case.counterfactual).masks[case.after].sum() > 20


@pytest.mark.parametrize("index", range(6))
def test_erasure_takes_one_of_two_and_keeps_the_other(index: int) -> None:
    case = sample_intervention("erasure", 9, index, SETTINGS)
    assert case.after == -1
    assert relation_phrase(case.factual, case.before).split()[0] == case.negative.split()[0]
    assert matching(case.counterfactual, case.negative) == ()
    assert matching(case.counterfactual, case.positive)
    assert all(
        thing.partner < len(case.counterfactual.things) for thing in case.counterfactual.things
    )


@pytest.mark.parametrize("index", range(6))
def test_attribute_shows_what_nobody_expects(index: int) -> None:
    case = sample_intervention("attribute", 10, index, SETTINGS)
    thing = case.counterfactual.things[case.after]
    assert case.facts["shown"] not in CATEGORIES[thing.category].colours
    assert case.facts["usual"] in CATEGORIES[thing.category].colours
    assert case.positive == f"{case.facts['shown']} {thing.category}"


@pytest.mark.parametrize("index", range(6))
def test_counting_is_exact_before_and_after(index: int) -> None:
    case = sample_intervention("counting", 11, index, WorldSettings(size_px=256))
    name = case.facts["object"]
    assert 2 <= int(case.facts["count"]) <= 60
    assert len(matching(case.factual, name)) == int(case.facts["count"])
    assert len(matching(case.counterfactual, name)) == int(case.facts["count after"])
    assert all(mask.any() for mask in render(case.factual).masks)


@pytest.mark.parametrize("kind", LOOKS)
def test_crowd_keeps_twins_untouched(kind: str) -> None:
    case = sample_intervention(kind, 12, 0, SETTINGS, crowd=2)
    category = case.factual.things[case.before].category
    assert len(matching(case.factual, category)) == 3
    after = render(case.counterfactual)
    differs = changed(case)
    assert not differs[~after.masks[case.after]].any()
    if kind == "SM":
        assert len(matching(case.counterfactual, category)) == 3
        assert case.after not in matching(case.counterfactual, case.negative)
        assert len(matching(case.counterfactual, case.negative)) == 1
    if kind == "OC":
        assert len(matching(case.counterfactual, category)) == 2
        assert matching(case.counterfactual, case.positive) == (case.after,)


@pytest.mark.parametrize("kind", KINDS)
def test_case_is_a_function_of_kind_seed_and_index(kind: str) -> None:
    case = sample_intervention(kind, 13, 5, SETTINGS)
    assert case == sample_intervention(kind, 13, 5, SETTINGS)
    assert case.kind == kind
    coded = msgspec.json.encode(case)
    assert msgspec.json.decode(coded, type=Intervention) == case


def test_edits_that_are_none_are_refused() -> None:
    dog = Thing(category="dog", seed=1, x=0.3, y=0.9, scale=0.3)
    zebra = Thing(category="zebra", seed=1, x=0.7, y=0.9, scale=0.3, look=Look(surface="zebra"))
    mug = Thing(category="mug", seed=1, x=0.5, y=0.9, scale=0.2)
    scene = Scene(place=Place("meadow"), things=(dog, zebra, mug))
    refused = [
        lambda: edits.change_surface(scene, 0, "zebra"),  # a real one stands by
        lambda: edits.change_surface(scene, 1, "zebra"),
        lambda: edits.change_context(scene, 0, "street"),  # dogs are at home there
        lambda: edits.change_context(scene, 0, "kitchen"),  # and nobody wonders at one there
        lambda: edits.change_material(scene, 0, "cloud"),  # there are clouds in the sky
        lambda: edits.change_material(scene, 2, "clay"),  # a clay mug is a mug
        lambda: edits.change_attribute(scene, 2, "purple"),  # mugs come in all colours
        lambda: edits.replace(scene, 0, "zebra"),
        lambda: edits.replace(scene, 0, "dog"),
        lambda: edits.erase(scene, 0),
        lambda: edits.change_surface(scene, 0, "cow", dose=1.2),
        lambda: edits.remove(scene, 9),
        lambda: sample_intervention("CC", 0, 0, crowd=2),
    ]
    for edit in refused:
        with pytest.raises(UsageError):
            edit()
    with pytest.raises(UnknownName, match="giraffe"):
        edits.change_surface(scene, 0, "girafe")
    indoors = msgspec.structs.replace(scene, place=Place("kitchen"))
    cat = Thing(category="cat", seed=1, x=0.3, y=0.9, scale=0.3)
    with_cat = msgspec.structs.replace(indoors, things=(cat,))
    assert edits.change_material(with_cat, 0, "cloud").positive == "cloud"
    tiger = Thing(category="tiger", seed=1, x=0.7, y=0.9, scale=0.3, look=Look(surface="tiger"))
    cats = msgspec.structs.replace(scene, things=(cat, tiger))
    with pytest.raises(UsageError, match="may be called a cat"):
        edits.change_surface(cats, 0, "zebra")


def test_nothing_is_left_hanging() -> None:
    table = Thing(category="table", seed=1, x=0.5, y=0.9, scale=0.5)
    mug = Thing(category="mug", seed=1, x=0.5, y=0.7, scale=0.2, relation="on", partner=0)
    scene = Scene(place=Place("library"), things=(table, mug))
    with pytest.raises(UsageError, match="mug is on"):
        edits.remove(scene, 0)
    assert edits.erase(scene, 1).facts == {"erased": "mug", "relation": "on", "kept": "table"}
    assert concept(edits.erase(scene, 1).counterfactual.things[0]) == "table"
