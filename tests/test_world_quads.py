"""Replacements by HalluSegBench's rules, wordings that training never hears, worlds of before."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("skia", reason="skia-python draws the world")

from groundfault.benchmarks import folder
from groundfault.world import WORLD_VERSION, edit_region, render, sample_intervention
from groundfault.world.belonging import TOLERATED, no_surprise, surprising_contexts
from groundfault.world.contexts import CONTEXTS, PAINTED
from groundfault.world.objects import CATEGORIES
from groundfault.world.phrases import SYNONYMS, disputed
from groundfault.world.presets import BuildSettings, build, make_case, region_of_edit
from groundfault.world.replacements import MOST_GROWTH
from groundfault.world.wordings import (
    held_out_wordings,
    reasoning_wordings,
    training_wordings,
)

OLD = Path(__file__).parent / "golden" / "world1"
MANY = 2000 if os.environ.get("GROUNDFAULT_TEST_ALL") else 120


def test_stand_ins_are_of_the_same_kind_and_no_strange_sight() -> None:
    for index in range(60):
        case = sample_intervention("replacement", 31, index)
        old, new = CATEGORIES[case.negative], CATEGORIES[case.positive]
        context = case.factual.place.context
        assert (old.nature, old.shape) == (new.nature, new.shape)
        assert no_surprise(new.name, context) and context in old.contexts
        assert max(old.size / new.size, new.size / old.size) <= MOST_GROWTH
        assert not {old.name, new.name} & {*PAINTED.get(context, ())}
        for scene in (case.factual, case.counterfactual):
            assert not {old.name, new.name} & disputed(scene)
        before, after = (scene.things[case.before] for scene in (case.factual, case.counterfactual))
        assert bool(before.lift) == bool(after.lift) or CONTEXTS[context].afloat
        assert before.y == after.y


def test_both_masks_share_their_place_and_sizes_are_a_quarter_a_half_a_quarter() -> None:
    overlaps, sizes = [], Counter[str]()
    for index in range(MANY):
        case = sample_intervention("replacement", 32, index)
        gone = render(case.factual).masks[case.before]
        come = render(case.counterfactual).masks[case.after]
        overlaps.append((gone & come).sum() / (gone | come).sum())
        sizes["S" if gone.sum() < 32**2 else "M" if gone.sum() < 96**2 else "L"] += 1
        assert gone.sum() > 200
    assert np.mean(np.array(overlaps) >= 0.5) >= 0.95
    slack = 0.04 if MANY == 2000 else 0.13
    for size, share in (("S", 0.25), ("M", 0.50), ("L", 0.25)):
        assert sizes[size] / MANY == pytest.approx(share, abs=slack)


def test_many_categories_take_part() -> None:
    cases = [sample_intervention("replacement", 33, index) for index in range(150)]
    assert len({case.negative for case in cases}) >= 18
    most = Counter((case.negative, case.positive) for case in cases).most_common(1)[0][1]
    assert most <= 0.2 * len(cases)


def test_every_category_has_six_wordings_and_training_hears_four() -> None:
    said = [way for name in CATEGORIES for way in reasoning_wordings(name)]
    assert len(said) == len({*said})
    for name in CATEGORIES:
        ways = reasoning_wordings(name)
        assert len(ways) >= 6
        assert ways == (*training_wordings(name), *held_out_wordings(name))
        assert len(held_out_wordings(name)) == 2
        for way in ways:
            assert len(way.split()) <= 12
            words = set(way.lower().split())
            for called in (name, *SYNONYMS.get(name, ())):
                assert not {*called.split()} <= words, f"'{way}' names the {name}"


def test_held_out_wordings_are_mostly_of_words_that_training_knows() -> None:
    heard = {word for name in CATEGORIES for way in training_wordings(name) for word in way.split()}
    for name in CATEGORIES:
        for way in held_out_wordings(name):
            words = way.split()
            assert sum(word in heard for word in words) / len(words) >= 0.6, way


def test_training_hears_no_wording_that_is_held_out() -> None:
    pytest.importorskip("torch")
    from groundfault.training.nano.questions import WORDINGS

    heard = {way for ways in WORDINGS.values() for way in ways}
    for name in CATEGORIES:
        assert not heard & {*held_out_wordings(name)}
        assert {*training_wordings(name)} <= heard


def test_wordings_of_quads_are_tagged() -> None:
    found = Counter()
    for index in range(1, 60, 2):  # every second case is asked with reasoning
        built = make_case("halluseg", index, settings=BuildSettings(seed=34, size_px=64))
        (case,) = built.cases
        asked = next(item.query for item in built.items if item.id.endswith(":factual"))
        held = asked in held_out_wordings(case.tags["label"])
        assert case.tags["wording"] == ("held out" if held else "used in training")
        found[case.tags["wording"]] += 1
    assert min(found["held out"], found["used in training"]) >= 5


def test_cases_say_which_pixels_their_edit_may_touch(tmp_path: Path) -> None:
    build("cafe", 3, tmp_path / "b", BuildSettings(seed=4, size_px=96, controls=True), workers=1)
    read = folder.read(tmp_path / "b")
    for index, kind in enumerate(("SM", "CC", "OC")):
        edit = sample_intervention(kind, 4, index, BuildSettings(size_px=96).world)
        case = next(case for case in read.cases if case.id == f"{index:06d}")
        item = next(item for item in read.items if item.case_id == case.id)
        region = region_of_edit(case, item)
        assert region is not None and np.array_equal(region, edit_region(edit))
        control = next(case for case in read.cases if case.id == f"{index:06d}-control")
        assert region_of_edit(control, item) is None


def test_a_folder_says_which_world_it_is_of(tmp_path: Path) -> None:
    card = build("halluseg", 1, tmp_path / "b", BuildSettings(size_px=64), workers=1).card
    assert f"world {WORLD_VERSION}, preset halluseg" in card.source


@pytest.mark.parametrize("preset", ["cafe", "halluseg"])
def test_worlds_of_version_1_are_still_evaluated(preset: str, run: Any, tmp_path: Path) -> None:
    assert "world 2" not in folder.read(OLD / preset).card.source
    ran = run("eval", OLD / preset, "--model", "oracle", "--bootstrap", 0, "--out", tmp_path / "r")
    assert ran.code == 0, ran.err
    (summary,) = (tmp_path / "r").rglob("summary.json")
    overall = json.loads(summary.read_text())["rows"]["Overall"]["metrics"]
    exact = {"cafe": ("IL-FPR", 0.0), "halluseg": ("CMS_counterfact", 0.0)}[preset]
    assert overall[exact[0]]["value"] == exact[1]


def test_tolerated_places_are_neither_home_nor_surprise() -> None:
    for name, places in TOLERATED.items():
        assert {*places} <= {*CONTEXTS} and not {*places} & {*CATEGORIES[name].contexts}
    for name in CATEGORIES:
        assert surprising_contexts(name), f"nowhere would one wonder at a {name}"
