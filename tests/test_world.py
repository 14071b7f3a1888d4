"""The renderer: the same bytes everywhere, masks that are exact, a world that obeys its knobs."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image

if importlib.util.find_spec("skia") is None:
    pytest.skip(
        "skia-python is not installed: pip install 'groundfault[world]'", allow_module_level=True
    )

from groundfault.errors import UnknownName, UsageError
from groundfault.world import (
    Look,
    Place,
    Scene,
    Thing,
    WorldSettings,
    crowd_scene,
    reach,
    render,
    sample_scene,
)
from groundfault.world.contexts import CONTEXTS
from groundfault.world.forms import COLOURS
from groundfault.world.materials import MATERIALS
from groundfault.world.objects import CATEGORIES
from groundfault.world.phrases import SYNONYMS, matching, referring_query
from groundfault.world.relations import PAIRS
from groundfault.world.render import form_of
from groundfault.world.sheet import draw_sheet, portrait
from groundfault.world.standins import load_stand_in, wanted_symbols
from groundfault.world.surfaces import SURFACES

SMALL = WorldSettings(size_px=128)

PRINT_HASHES = """
import hashlib, sys
from groundfault.world import WorldSettings, render, sample_scene
for index in map(int, sys.argv[1:]):
    drawn = render(sample_scene(5, index, WorldSettings(size_px=160, surface_correlation=0.5)))
    print(hashlib.sha256(drawn.image.tobytes() + drawn.labels.tobytes()).hexdigest())
"""


def hashes_in_a_process(*indices: int, hash_seed: int) -> list[str]:
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    command = [sys.executable, "-c", PRINT_HASHES, *map(str, indices)]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout.split()


def test_two_processes_make_the_same_bytes_in_any_order() -> None:
    forward = hashes_in_a_process(0, 1, 2, 3, 4, 5, hash_seed=1)
    backward = hashes_in_a_process(5, 4, 3, 2, 1, 0, hash_seed=2)
    assert forward == backward[::-1]
    assert len(set(forward)) == 6


def test_rendering_twice_gives_the_same_bytes_and_leaves_nothing_behind() -> None:
    scene = sample_scene(1, 2, SMALL)
    first = render(scene)
    first.image[:] = 0  # what a caller does to a picture must not reach the next one
    assert np.array_equal(render(scene).image, render(scene).image)
    assert render(scene).image.any()


def test_scene_is_a_function_of_seed_index_and_settings() -> None:
    assert sample_scene(3, 7) == sample_scene(3, 7)
    assert sample_scene(3, 7) != sample_scene(3, 8)
    assert sample_scene(3, 7) != sample_scene(4, 7)
    assert msgspec.json.decode(msgspec.json.encode(sample_scene(3, 7)), type=Scene) == sample_scene(
        3, 7
    )


@pytest.mark.parametrize("index", range(12))
def test_masks_are_disjoint_non_empty_and_inside_the_outline(index: int) -> None:
    scene = sample_scene(11, index, SMALL)
    drawn = render(scene)
    assert drawn.image.shape == (128, 128, 3) and drawn.image.dtype == np.uint8
    assert len(drawn.masks) == len(scene.things) > 0
    assert sum(mask.astype(int) for mask in drawn.masks).max() <= 1
    for number, mask in enumerate(drawn.masks):
        assert mask.shape == (128, 128) and mask.sum() >= 20
        assert not (mask & ~reach(scene, number)).any()


def test_mask_is_the_outline_less_what_hides_it() -> None:
    back = Thing(category="bus", seed=1, x=0.45, y=0.8, scale=0.6)
    front = Thing(category="dog", seed=2, x=0.6, y=0.9, scale=0.5)
    scene = Scene(place=Place("street"), things=(back, front), size_px=128)
    alone = [
        render(msgspec.structs.replace(scene, things=(thing,))).masks[0] for thing in (back, front)
    ]
    both = render(scene).masks
    assert np.array_equal(both[1], alone[1])
    assert np.array_equal(both[0], alone[0] & ~alone[1])
    assert (alone[0] & alone[1]).any()


def test_mask_agrees_with_a_sixteen_times_finer_drawing() -> None:
    thing = Thing(category="teapot", seed=4, x=0.5, y=0.9, scale=0.8)
    scene = Scene(place=Place("kitchen"), things=(thing,), size_px=96)
    mask = render(scene).masks[0]
    fine = render(msgspec.structs.replace(scene, size_px=96 * 4)).masks[0]
    share = fine.reshape(96, 4, 96, 4).mean(axis=(1, 3))
    clear = np.abs(share - 0.5) > 0.2  # away from the threshold both must agree
    assert np.array_equal(mask[clear], (share > 0.5)[clear])


def test_scene_keeps_its_composition_at_every_size() -> None:
    scene = sample_scene(2, 4, SMALL)
    small, large = render(scene).masks, render(msgspec.structs.replace(scene, size_px=512)).masks
    for one, other in zip(small, large, strict=True):
        assert one.mean() == pytest.approx(other.mean(), rel=0.08, abs=0.001)


def test_thing_outside_the_picture_is_an_empty_mask() -> None:
    scene = Scene(
        place=Place("snow"),
        things=(Thing(category="dog", seed=1, x=5, y=0.9, scale=0.3),),
        size_px=96,
    )
    assert not render(scene).masks[0].any()
    assert not reach(scene, 0).any()


@pytest.mark.parametrize("category", CATEGORIES)
def test_every_category_is_drawn_with_room_and_variety(category: str) -> None:
    masks = [portrait(category, 96, seed).masks[0] for seed in (1, 2)]
    assert all(0.05 < mask.mean() < 0.75 for mask in masks)
    if category != "soccer ball":
        assert not np.array_equal(*masks)
    left = portrait(category, 96, 1).labels
    assert (left[:2] < 0).all(), "the thing touches the upper edge"


@pytest.mark.parametrize("category", CATEGORIES)
def test_every_category_knows_itself(category: str) -> None:
    entry = CATEGORIES[category]
    assert entry.name == category
    assert set(entry.contexts) <= set(CONTEXTS) and entry.contexts
    assert set(entry.colours) <= set(COLOURS) and entry.colours
    assert entry.surface in ("", *SURFACES)
    assert entry.purpose.startswith("the ") and category not in entry.purpose
    form = form_of(Thing(category=category, seed=1, x=0.5, y=0.9, scale=0.5))
    assert form.feet


@pytest.mark.parametrize("category", CATEGORIES)
def test_outlines_combine_whatever_the_build(category: str) -> None:
    """Skia's path operations fail on one outline in 2,000; the drawings must not."""
    for seed in range(25):
        form = CATEGORIES[category].draw(np.random.default_rng(seed), (0.5, 0.5, 0.5))
        assert all(not piece.path.isEmpty() for piece in form.pieces)


@pytest.mark.parametrize("surface", SURFACES)
def test_every_surface_changes_a_thing_and_names_a_category(surface: str) -> None:
    plain, worn = (
        portrait("mug", 96, 3, Look(seed=3)),
        portrait("mug", 96, 3, Look(seed=3, surface=surface)),
    )
    assert np.array_equal(plain.labels, worn.labels)
    changed = (plain.image != worn.image).any(axis=2)
    assert changed[plain.masks[0]].mean() > 0.6
    assert not changed[~plain.masks[0]].any()
    assert surface in CATEGORIES


@pytest.mark.parametrize("material", MATERIALS)
def test_every_material_changes_a_thing(material: str) -> None:
    plain, made = portrait("dog", 96, 3), portrait("dog", 96, 3, Look(seed=3, material=material))
    assert np.array_equal(plain.labels, made.labels)
    assert (plain.image != made.image).any(axis=2)[plain.masks[0]].mean() > 0.9


@pytest.mark.parametrize("context", CONTEXTS)
def test_every_context_fills_the_picture_and_differs_by_seed(context: str) -> None:
    one, other = (render(Scene(place=Place(context, seed), size_px=96)).image for seed in (1, 2))
    assert (one.reshape(-1, 3).max(axis=1) > 0).mean() > 0.99
    assert not np.array_equal(one, other)
    assert any(context in entry.contexts for entry in CATEGORIES.values())


def test_the_world_is_as_rich_as_promised() -> None:
    assert len(CATEGORIES) >= 20 and len(SURFACES) >= 12
    assert len(MATERIALS) >= 8 and len(CONTEXTS) >= 8
    assert {pair.relation for pair in PAIRS} == {"on", "under", "beside", "worn by"}
    assert set(SYNONYMS) <= set(CATEGORIES)


def shares(settings: WorldSettings, scenes: int = 400) -> tuple[float, float]:
    """How many things wear their own surface, and how many are where they belong."""
    own = at_home = total = 0
    for index in range(scenes):
        scene = sample_scene(9, index, settings)
        for thing in scene.things:
            entry = CATEGORIES[thing.category]
            own += thing.look.surface == entry.surface
            at_home += scene.place.context in entry.contexts
            total += 1
    return own / total, at_home / total


def test_correlations_follow_the_knobs() -> None:
    base = WorldSettings(relation_share=0.0, things=(3, 3))
    measured = {
        knob: shares(
            msgspec.structs.replace(base, surface_correlation=knob, context_correlation=knob)
        )
        for knob in (0.0, 0.5, 1.0)
    }
    assert measured[1.0] == (1.0, 1.0)
    surface_chance, context_chance = measured[0.0]
    assert surface_chance == pytest.approx(1 / (len(SURFACES) + 1), abs=0.03)
    assert context_chance == pytest.approx(
        np.mean([len(entry.contexts) for entry in CATEGORIES.values()]) / len(CONTEXTS), abs=0.05
    )
    for chance, half in zip(measured[0.0], measured[0.5], strict=True):
        assert half == pytest.approx(0.5 + 0.5 * chance, abs=0.05)


def test_relations_hold_in_the_picture() -> None:
    seen = set()
    for index in range(60):
        scene = sample_scene(4, index, WorldSettings(size_px=128, relation_share=1.0))
        for number, thing in enumerate(scene.things):
            if thing.partner < 0:
                continue
            anchor = scene.things[thing.partner]
            seen.add(thing.relation)
            assert any(
                pair.thing == thing.category and pair.anchor == anchor.category for pair in PAIRS
            )
            assert (number < thing.partner) == (thing.relation == "under")
            if thing.relation in ("on", "worn by"):
                assert thing.y < anchor.y
    assert seen == {"on", "under", "beside", "worn by"}


@pytest.mark.parametrize(
    ("category", "count"), [("apple", 2), ("dog", 7), ("penguin", 60), ("car", 23), ("bee", 41)]
)
def test_crowds_have_exactly_the_number_asked_for(category: str, count: int) -> None:
    scene = crowd_scene(6, 1, category, count, WorldSettings(size_px=384))
    masks = render(scene).masks
    assert len(masks) == count == len(matching(scene, category))
    areas = np.array([mask.sum() for mask in masks])
    assert areas.min() > 60 and areas.min() > 0.25 * np.median(areas)


def test_referring_queries_tell_twins_apart() -> None:
    mugs = tuple(
        Thing(category="mug", seed=i, x=x, y=0.9, scale=0.2) for i, x in enumerate((0.8, 0.2, 0.5))
    )
    scene = Scene(place=Place("kitchen"), things=mugs)
    assert [referring_query(scene, i) for i in range(3)] == [
        "the rightmost mug",
        "the leftmost mug",
        "the mug in the middle",
    ]
    pair = Scene(place=Place("kitchen"), things=mugs[:2])
    assert [referring_query(pair, i) for i in range(2)] == ["the right mug", "the left mug"]
    assert referring_query(Scene(place=Place("kitchen"), things=mugs[:1]), 0) == "the mug"


def test_unknown_names_and_impossible_settings_are_refused() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'dog'"):
        render(
            Scene(
                place=Place("meadow"),
                things=(Thing(category="dogg", seed=0, x=0.5, y=0.9, scale=0.2),),
                size_px=64,
            )
        )
    with pytest.raises(UnknownName, match="meadow"):
        render(Scene(place=Place("meadows"), size_px=64))
    with pytest.raises(UsageError, match="surface_correlation"):
        WorldSettings(surface_correlation=1.5)
    with pytest.raises(UsageError, match="size_px"):
        WorldSettings(size_px=8)
    with pytest.raises(UsageError, match="1 to 60"):
        crowd_scene(0, 0, "apple", 61)


def test_contact_sheet_is_written(tmp_path: Path) -> None:
    path = tmp_path / "contexts.png"
    draw_sheet("contexts", path, size_px=64)
    with Image.open(path) as page:
        assert page.width == 9 * 68
    with pytest.raises(UnknownName, match="contexts"):
        draw_sheet("context", path)
    with pytest.raises(UsageError, match="64 to 4096"):
        draw_sheet("contexts", path, size_px=0)


def test_a_sheet_is_a_png_whatever_its_name_and_makes_room_for_long_captions(
    tmp_path: Path,
) -> None:
    path = tmp_path / "new" / "doses.txt"
    draw_sheet("doses", path, size_px=64)
    with Image.open(path) as page:
        assert page.format == "PNG"
        assert page.height == 4 * (64 + 2 + 2 * 15)  # "attribute 0.25" takes two lines


@pytest.mark.skipif(
    sys.platform != "linux", reason="stand-ins are for Linux without a graphics driver"
)
def test_stand_in_has_the_names_that_skia_wants() -> None:
    library = load_stand_in("libgroundfault-test.so.1")
    assert library.glClear and library.eglGetProcAddress
    spec = importlib.util.find_spec("skia")
    assert spec is not None and spec.origin is not None
    assert b"glClear" in wanted_symbols(Path(spec.origin).read_bytes())
