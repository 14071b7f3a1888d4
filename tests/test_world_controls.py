"""Control samples of an exam: the unedited picture, asked the same, answered the other way."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from groundfault.benchmarks import reactbench
from groundfault.benchmarks.reactbench import LETTERS, Question
from groundfault.errors import UsageError

pytest.importorskip("skia", reason="skia-python draws the world")

from groundfault.world.cases import sample_intervention
from groundfault.world.exams import MadeSample, build_exam, make_sample
from groundfault.world.forms import COLOURS
from groundfault.world.questions import questions_about
from groundfault.world.questions.controls import control_questions
from groundfault.world.questions.wording import PARTS


def controlled(task: str, n: int = 12, size_px: int = 128) -> list[tuple[MadeSample, MadeSample]]:
    """Samples of a task that have a control, with it."""
    found = []
    for number in range(("erasure", "attribute").index(task), 40 * n, 4):
        made = make_sample(number, seed=17, size_px=size_px, controls=True)
        if made.control is not None:
            found.append((made, made.control))
        if len(found) == n:
            break
    return found


def answer_text(question: Question) -> str:
    return question.options[LETTERS.index(question.answer)] if question.options else question.answer


@pytest.mark.parametrize("task", ["erasure", "attribute"])
def test_no_answer_is_right_about_both_pictures(task: str) -> None:
    pairs = controlled(task)
    assert len(pairs) == 12
    for sample, control in pairs:
        for asked, again in zip(sample.questions, control.questions, strict=True):
            assert (asked.text, asked.type, asked.number) == (again.text, again.type, again.number)
            assert answer_text(asked) != answer_text(again)
            assert (asked.rubric == again.rubric) == (not asked.rubric)
            assert answer_text(asked) in (*again.options, "yes", "no") or asked.type == "SA"
        assert [q.answer for q in control.questions[:4]].count("yes") == 2
        assert control.sample.facts["control"] == "unedited"


def test_the_named_colour_is_the_one_that_is_shown() -> None:
    """Where the edit changed the picture, the control's pixels are nearer to its colour."""
    for sample, control in controlled("attribute"):
        after, before = (
            np.asarray(Image.open(BytesIO(*made.pictures.values())), float) / 255
            for made in (sample, control)
        )
        changed = np.abs(after - before).max(axis=2) > 0.05
        usual, shown = sample.sample.facts["usual"], sample.sample.facts["shown"]
        assert control.sample.facts["shown"] == usual == answer_text(control.questions[8])
        distance = {
            name: np.linalg.norm(np.median(before[changed], axis=0) - COLOURS[name])
            for name in (usual, shown)
        }
        assert distance[usual] < distance[shown], sample.sample.facts


def test_a_place_is_where_the_thing_is() -> None:
    for sample, control in controlled("attribute"):
        after, before = (
            np.asarray(Image.open(BytesIO(*made.pictures.values())), np.int16)
            for made in (sample, control)
        )
        columns = np.flatnonzero((np.abs(after - before).max(axis=2) > 12).any(axis=0))
        middle = (columns[0] + columns[-1]) / 2 / before.shape[1]
        place = answer_text(control.questions[10])
        third = ("on the left", "in the middle", "on the right").index(place)
        assert third / 3 - 0.05 < middle < (third + 1) / 3 + 0.05


def test_parts_of_another_colour_are_not_offered() -> None:
    for task in ("erasure", "attribute"):
        for sample, control in controlled(task):
            name = sample.sample.facts["erased" if task == "erasure" else "object"]
            for question in control.questions[8:]:
                wrong = {*question.options} - {answer_text(question)}
                assert not wrong & {*PARTS.get(name, ())}


def test_controls_are_added_and_change_nothing_else(tmp_path: Path, run: Any) -> None:
    plain = build_exam(16, tmp_path / "plain", seed=3, size_px=96, workers=1)
    both = build_exam(16, tmp_path / "both", seed=3, size_px=96, controls=True, workers=1)
    assert reactbench.read(tmp_path / "both") == both
    assert tuple(c for c in both.cases if not reactbench.is_control(c)) == plain.cases
    added = [c for c in both.cases if reactbench.is_control(c)]
    assert 4 <= len(added) <= 8 and {c.intervention for c in added} == {"erasure", "attribute"}
    assert both.notes[0].endswith(f"with {len(added)} controls")
    options = ("--n", 16, "--seed", 3, "--size", 96, "--workers", 2, "--controls")
    ran = run("world", "build", "--preset", "reactbench", *options, "--out", tmp_path / "cli")
    assert ran.code == 0, ran.err
    assert reactbench.read(tmp_path / "cli").card == both.card
    assert reactbench.read(tmp_path / "cli").notes == both.notes


def test_other_tasks_have_no_control() -> None:
    case = sample_intervention("remove", 1, 1)
    with pytest.raises(UsageError, match="remove has no control"):
        control_questions(case, questions_about(case, "s", seed=0), "s-control")
