"""Twins of an exam's samples: asked the same, answered the other way."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from PIL import Image

from groundfault.benchmarks import reactbench
from groundfault.benchmarks.reactbench import LAYOUT, LETTERS, Question
from groundfault.errors import DataError

pytest.importorskip("skia", reason="skia-python draws the world")

from groundfault.models.text_only import TextOnly
from groundfault.world.exams import MadeSample, build_exam, make_sample, question_twins
from groundfault.world.forms import COLOURS
from groundfault.world.questions.wording import PARTS

TASKS = tuple(LAYOUT)


@cache
def twins(task: str, n: int = 12, size_px: int = 128) -> tuple[tuple[MadeSample, MadeSample], ...]:
    """Samples of a task with their twins."""
    first = TASKS.index(task)
    made = [
        make_sample(number, seed=17, size_px=size_px) for number in range(first, 4 * n, len(TASKS))
    ]
    return tuple((each, each.twin) for each in made if each.twin is not None)


def answer_text(question: Question) -> str:
    return question.options[LETTERS.index(question.answer)] if question.options else question.answer


@pytest.mark.parametrize("task", TASKS)
def test_no_answer_is_right_about_both_pictures(task: str) -> None:
    pairs = twins(task)
    assert len(pairs) == 12
    for sample, twin in pairs:
        assert twin.sample.facts["twin_of"] == sample.sample.id
        for asked, again in zip(sample.questions, twin.questions, strict=True):
            assert (asked.text, asked.options, asked.polarity, asked.number) == (
                again.text,
                again.options,
                again.polarity,
                again.number,
            )
            assert answer_text(asked) != answer_text(again)
            assert (asked.rubric == again.rubric) == (not asked.rubric)


@pytest.mark.parametrize("task", TASKS)
def test_polarity_and_places_are_balanced_within_each_number(task: str) -> None:
    for slot in zip(*(sample.questions for sample, _ in twins(task)), strict=True):
        if slot[0].type == "YN" and task != "tracing":
            assert [q.polarity for q in slot].count("negated") == 6
            assert [q.answer for q in slot].count("yes") in range(4, 9)
        if len(slot[0].options) == 4 and task != "counting":
            assert {*Counter(q.answer for q in slot).values()} == {3}
    for slot in zip(*(twin.questions for _, twin in twins(task)), strict=True):
        if len(slot[0].options) == 4 and task != "counting":
            assert {*Counter(q.answer for q in slot).values()} == {3}


def test_the_erased_thing_is_among_the_options() -> None:
    for sample, twin in twins("erasure"):
        assert answer_text(sample.questions[11]) == "none of these"
        assert sample.sample.facts["erased"] in answer_text(twin.questions[11])


def test_tracing_twins_are_the_first_picture_twice() -> None:
    for sample, twin in twins("tracing"):
        first, second = (twin.pictures[name] for name in twin.sample.images)
        assert first == second == sample.pictures[sample.sample.images[0]]
        assert first != sample.pictures[sample.sample.images[1]]
        assert [q.answer for q in twin.questions[:6]] == ["no", "yes"] * 3


def test_counts_of_twins_are_told_apart_by_every_question() -> None:
    for sample, twin in twins("counting"):
        one, other = (int(made.sample.facts["count"]) for made in (sample, twin))
        assert abs(one - other) >= 6 and min(one, other) >= 2
        for question, count in ((sample.questions, one), (twin.questions, other)):
            for asked in question[:4]:
                numbers = [int(n) for n in re.findall(r"\d+", asked.text)]
                holds = numbers[0] <= count <= numbers[-1]
                assert asked.answer == ("yes" if holds != (asked.polarity == "negated") else "no")
            low, high = (int(n) for n in question[5].answer.split("-"))
            assert low <= count <= high < low + 6


def test_the_named_colour_is_the_one_that_is_shown() -> None:
    """Where the edit changed the picture, the control's pixels are nearer to its colour."""
    for sample, twin in twins("attribute"):
        after, before = (
            np.asarray(Image.open(BytesIO(*made.pictures.values())), float) / 255
            for made in (sample, twin)
        )
        changed = np.abs(after - before).max(axis=2) > 0.05
        usual, shown = sample.sample.facts["usual"], sample.sample.facts["shown"]
        assert twin.sample.facts["shown"] == usual == answer_text(twin.questions[8])
        if sample.sample.facts["attribute"] != "colour":
            continue
        distance = {
            name: np.linalg.norm(np.median(before[changed], axis=0) - COLOURS[name])
            for name in (usual, shown)
        }
        assert distance[usual] < distance[shown], sample.sample.facts


def test_a_place_is_where_the_thing_is() -> None:
    for sample, twin in twins("attribute"):
        after, before = (
            np.asarray(Image.open(BytesIO(*made.pictures.values())), np.int16)
            for made in (sample, twin)
        )
        columns = np.flatnonzero((np.abs(after - before).max(axis=2) > 12).any(axis=0))
        middle = (columns[0] + columns[-1]) / 2 / before.shape[1]
        place = answer_text(twin.questions[10])
        third = ("on the left", "in the middle", "on the right").index(place)
        assert third / 3 - 0.05 < middle < (third + 1) / 3 + 0.05


def test_parts_of_another_colour_are_not_offered() -> None:
    for task in ("erasure", "attribute"):
        for sample, twin in twins(task):
            name = sample.sample.facts["erased" if task == "erasure" else "object"]
            for question in twin.questions[8:]:
                wrong = {*question.options} - {answer_text(question)}
                assert not wrong & {*PARTS.get(name, ())}


def test_an_exam_has_twins_unless_it_is_the_papers(tmp_path: Path, run: Any) -> None:
    both = build_exam(8, tmp_path / "both", seed=3, size_px=96, workers=1)
    assert reactbench.read(tmp_path / "both") == both
    assert [reactbench.twin_of(case) for case in both.cases[1::2]] == [
        case.id for case in both.cases[::2]
    ]
    options = ("--n", 8, "--seed", 3, "--size", 96, "--workers", 2)
    ran = run("world", "build", "--preset", "reactbench", *options, "--out", tmp_path / "cli")
    assert ran.code == 0, ran.err
    assert reactbench.read(tmp_path / "cli").card == both.card
    place = ("--layout", "paper", "--out", tmp_path / "paper")
    assert run("world", "build", "--preset", "reactbench", *options, *place).code == 0
    paper = reactbench.read(tmp_path / "paper")
    assert len(paper.cases) == 8 and not any(map(reactbench.is_twin, paper.cases))


def test_a_twin_that_gives_its_answer_away_is_refused() -> None:
    sample, twin = twins("erasure")[0]
    rows = [sample.sample, twin.sample]
    for change in ({"text": "Is it?"}, {"answer": sample.questions[0].answer}):
        spoilt = msgspec.structs.replace(twin.questions[0], **change)
        asked = [*sample.questions, spoilt, *twin.questions[1:]]
        with pytest.raises(DataError, match="of its twin has"):
            reactbench.write_exam("unused", rows, asked, {})


def test_who_sees_nothing_is_right_about_one_of_two_at_most() -> None:
    asked = [question_twins(number, seed=5) for number in range(48)]
    rows = [row for pair in asked for each in pair for row in each]
    samples = [
        reactbench.Sample(
            id=name, task=TASKS[int(name[:6]) % 4], images=(), height_px=1, width_px=1, facts={}
        )
        for name in dict.fromkeys(row.sample_id for row in rows)
    ]
    items = reactbench.benchmark_of(samples, rows).items
    solver = TextOnly()
    solver.fit(items)
    said = {row.item_id: row.text or "" for row in solver.predict(items)}
    for one, twin in ((a, b) for pair in asked for a, b in zip(*pair, strict=True)):
        assert said[one.id] == said[twin.id] or one.type == "SA"
        if one.type != "SA":
            right = [said[q.id].rstrip(".").casefold() == q.answer.casefold() for q in (one, twin)]
            assert sum(right) <= 1
