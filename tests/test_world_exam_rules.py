"""What exams of the world promise: nothing normal is called a surprise, counts are exact, changes
are small, and everything takes its turn."""

from __future__ import annotations

from collections import Counter
from functools import cache
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from groundfault.benchmarks import reactbench
from groundfault.errors import UsageError
from groundfault.exams.counting import Counted, ask_counting
from groundfault.exams.wording import Places
from groundfault.judges import ShortAnswer, by_item
from groundfault.judges.rule import RuleJudge

pytest.importorskip("skia", reason="skia-python draws the world")

from groundfault.world.attributes import SURPRISES, draw_attribute
from groundfault.world.busy import FEWEST, MOST, difficulty, draw_alteration
from groundfault.world.crowds import (
    LAYOUTS,
    LEAST_SEEN,
    check_countable,
    crowded_scene,
    draw_count,
    most_countable,
)
from groundfault.world.exams import ALTERATIONS, MOST_SHARE, MadeSample, make_sample
from groundfault.world.forms import COLOURS, jittered
from groundfault.world.interventions import change_attribute
from groundfault.world.objects import CATEGORIES, DRAWN
from groundfault.world.perception import colour_word, look_alike, margin
from groundfault.world.render import render
from groundfault.world.sampling import WorldSettings, sample_scene
from groundfault.world.usual import DIRECTIONS, NORMAL_COLOURS, USUAL, VALUES

SMALL = WorldSettings(size_px=128)


@cache
def samples(task: int, n: int = 30, size_px: int = 128) -> tuple[MadeSample, ...]:
    return tuple(make_sample(number, seed=23, size_px=size_px) for number in range(task, 4 * n, 4))


def test_an_exam_with_everything_in_it_is_written_and_read(tmp_path: Path) -> None:
    made = [each for task in range(4) for each in samples(task, 30 if task < 2 else 12)]
    both = [each for one in made for each in (one, one.twin) if each is not None]
    written = reactbench.write_exam(
        tmp_path / "exam",
        [each.sample for each in both],
        [question for each in both for question in each.questions],
        {name: picture for each in both for name, picture in each.pictures.items()},
    )
    assert reactbench.read(tmp_path / "exam") == written


# Attributes.


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(DIRECTIONS), st.integers(0, 10_000))
def test_a_normal_value_is_never_chosen(direction: str, seed: int) -> None:
    try:
        case = draw_attribute(np.random.default_rng(seed), SMALL, direction)
    except UsageError:
        return
    usual = USUAL[direction][case.facts["object"]]
    assert case.facts["shown"] in VALUES[direction]
    assert case.facts["shown"] not in (usual.value, *usual.also)
    assert case.facts["usual"] == usual.value


def test_what_the_issue_named_does_not_occur() -> None:
    pairs = {pair for direction in DIRECTIONS for pair in SURPRISES[direction]}
    for name, colour in (("banana", "brown"), ("polar bear", "brown"), ("tree", "orange")):
        assert (name, colour) not in pairs
    for index in range(300):
        scene = sample_scene(3, index)
        for number, thing in enumerate(scene.things):
            for colour in NORMAL_COLOURS.get(thing.category, ()):
                with pytest.raises(UsageError):
                    change_attribute(scene, number, colour)


def test_every_direction_has_several_categories_and_values() -> None:
    for direction in DIRECTIONS:
        names = {name for name, _ in SURPRISES[direction]}
        assert names == {*USUAL[direction]} <= {*DRAWN}, direction
        assert len(names) >= 6 and len({value for _, value in SURPRISES[direction]}) >= 3
        for usual in USUAL[direction].values():
            assert direction == "colour" or "{}" in usual.habit
    for name, usual in USUAL["colour"].items():
        assert usual.value in COLOURS and {*usual.also} <= {*COLOURS}, name
        assert {*DRAWN[name].colours} <= {usual.value, *usual.also} | {*DRAWN[name].colours}


def test_directions_take_turns_and_the_edit_is_seen() -> None:
    found = Counter(made.sample.facts["attribute"] for made in samples(1))
    assert found == dict.fromkeys(DIRECTIONS, 5)
    assert {made.sample.facts["direction"] for made in samples(1)} == {*reactbench.DIRECTIONS}
    for made in samples(1):
        assert made.twin is not None
        after, before = (
            np.asarray(Image.open(BytesIO(*each.pictures.values())), int)
            for each in (made, made.twin)
        )
        assert (np.abs(after - before).max(axis=2) > 30).sum() > 60, made.sample.facts


def test_another_value_of_the_direction_is_wrong_by_rule() -> None:
    made = [each for each in samples(1) if each.sample.facts["attribute"] == "material"]
    both = [each for one in made for each in (one, one.twin) if each is not None]
    asked = [question for each in both for question in each.questions]
    benchmark = reactbench.benchmark_of([each.sample for each in both], asked)
    answers = [
        ShortAnswer(case, item, f"{value.capitalize()}.")
        for case, item in by_item(benchmark).values()
        if item.answer and item.answer.type == "SA" and item.answer.number in (5, 6)
        for value in VALUES["material"]
    ]
    for answer, judged in zip(answers, RuleJudge().judge_all(answers), strict=True):
        is_shown = answer.text[:-1].casefold() == answer.case.facts["shown"]
        assert judged.verdict == ("right" if is_shown else "wrong"), answer.text


# Colour words.


def test_drawn_colours_are_far_from_their_neighbours_words() -> None:
    for name, colour in COLOURS.items():
        for seed in range(100):
            drawn = jittered(colour, np.random.default_rng(seed), 0.05)
            assert colour_word(drawn) == name
            assert margin(drawn) > 1.5


def test_alike_is_what_people_confuse() -> None:
    for pair in ("red orange", "white grey", "teal blue", "tan brown", "purple blue"):
        assert look_alike(*pair.split()) and look_alike(*reversed(pair.split()))
    for pair in ("red green", "white black", "blue orange", "yellow purple", "red blue"):
        assert not look_alike(*pair.split())


# Tracing.


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(ALTERATIONS), st.integers(0, 10_000))
def test_a_change_hides_among_many(kind: str, seed: int) -> None:
    try:
        case = draw_alteration(np.random.default_rng(seed), kind, SMALL)
    except UsageError:
        return
    for scene in (case.factual, case.counterfactual):
        assert FEWEST <= len(scene.things) <= MOST
    changed = {thing.category for thing in case.factual.things} ^ {
        thing.category for thing in case.counterfactual.things
    }
    assert len(changed) == {"move": 0, "remove": 1, "add": 1, "replace": 2}[kind]


def test_changes_are_small_and_their_difficulty_is_measured() -> None:
    found = Counter(made.sample.facts["operation"] for made in samples(2, 32))
    assert found == dict.fromkeys(ALTERATIONS, 8)
    for made in samples(2, 32):
        facts = made.sample.facts
        assert 15 < int(facts["things"]) <= MOST
        before, after = (
            np.asarray(Image.open(BytesIO(made.pictures[name]))) for name in made.sample.images
        )
        assert difficulty(before, after, int(facts["things"])).items() <= facts.items()
        # A target of at most 5 % with its shadow, in two places if it was moved.
        assert 0 < float(facts["changed_share"]) < 3 * MOST_SHARE
        assert float(facts["contrast"]) >= 5.0


def test_a_fainter_and_a_smaller_change_is_harder() -> None:
    before = np.full((100, 100, 3), 120, np.uint8)

    def changed(side: int, level: int) -> float:
        after = before.copy()
        after[:side, :side] = level
        return float(difficulty(before, after, 20)["difficulty"])

    assert changed(10, 200) > changed(20, 200)
    assert changed(10, 160) > changed(10, 200)
    with pytest.raises(UsageError, match="nobody could see"):
        difficulty(before, before, 20)


# Counting.


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(list(LAYOUTS)), st.integers(0, 10_000))
def test_counts_are_exact(layout: str, seed: int) -> None:
    try:
        case = draw_count(np.random.default_rng(seed), SMALL, layout)
    except UsageError:
        return
    names = Counter(thing.category for thing in case.counterfactual.things)
    assert names.pop(case.facts["object"]) == int(case.facts["count"])
    assert 2 <= int(case.facts["count"]) <= most_countable(128)
    assert list(names) == [case.facts["distractor"]]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("count", [2, 60, 200])
def test_every_counted_thing_is_seen(layout: str, count: int) -> None:
    scene = crowded_scene(
        np.random.default_rng(count),
        "apple",
        count,
        layout,
        "banana",
        "kitchen",
        WorldSettings(size_px=384),
    )
    shown = render(scene)
    check_countable(shown)
    seen = [mask.sum() / whole for mask, whole in zip(shown.masks, shown.whole_px, strict=True)]
    assert min(seen) >= LEAST_SEEN and len(seen) > count
    assert all(0 < thing.x < 1 and 0 < thing.y < 1 for thing in scene.things)


def test_what_is_hidden_is_not_counted() -> None:
    scene = sample_scene(0, 0, SMALL)
    thing = scene.things[0]
    twice = type(scene)(place=scene.place, things=(thing, thing), size_px=128)
    with pytest.raises(UsageError, match="pixels are seen"):
        check_countable(render(twice))


def test_layouts_take_turns() -> None:
    found = Counter(made.sample.facts["layout"] for made in samples(3))
    assert found == dict.fromkeys(LAYOUTS, 6)
    counts = [int(made.sample.facts["count"]) for made in samples(3)]
    assert min(counts) < 10 and max(counts) > 40
    assert {made.sample.facts["object"] for made in samples(3)} <= {*CATEGORIES}


def test_small_counts_have_their_right_options_everywhere() -> None:
    found: dict[int, Counter[str]] = {6: Counter(), 7: Counter()}
    for turn in range(60):
        about = Counted(
            name="mug", plural="mugs", count=2 if turn % 2 else 8, twin=8 if turn % 2 else 2
        )
        asked = ask_counting(np.random.default_rng(turn), Places(4, 3, turn), about)
        for number, letters in found.items():
            letters[asked[number].answer] += 1
            assert len({*asked[number].options}) == len(asked[number].options)
            assert all(int(option.split("-")[0]) >= 0 for option in asked[number].options)
    assert max(found[6].values()) <= 2 * min(found[6].values()) and len(found[6]) == 5
    assert max(found[7].values()) <= 2 * min(found[7].values()) and len(found[7]) == 4


# Polarity.


@pytest.mark.parametrize("task", [0, 1, 3])
def test_polarity_is_balanced_within_each_number(task: int) -> None:
    for slot in zip(*(made.questions for made in samples(task)), strict=True):
        if slot[0].type == "YN":
            assert [question.polarity for question in slot].count("negated") == 15
