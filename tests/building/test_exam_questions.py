"""Questions of exams from photographs: made from fields, checked, and asked of twins."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from PIL import Image

from groundfault.benchmarks import reactbench
from groundfault.building.exams import exam_rows
from groundfault.building.proposals.rules import propose
from groundfault.building.questions.erasure import _material
from groundfault.building.questions.looks import look_of
from groundfault.building.questions.stage import QuestionSettings, QuestionStage
from groundfault.building.questions.validators import NotAsked
from groundfault.building.records import Candidate, Dropped, EditedPicture, Proposal
from groundfault.building.review import Decision, write_decisions
from groundfault.building.reviewing import ReviewStage
from groundfault.io.masks import encode
from groundfault.io.photographs import Photograph, Thing
from groundfault.models.text_only import TextOnly

SIZE = (240, 320)
COLOURS = {"red": (200, 30, 35), "blue": (40, 70, 190), "green": (40, 140, 60),
           "yellow": (235, 210, 50), "grey": (128, 128, 128), "brown": (110, 70, 40)}  # fmt: skip


def thing(name: str, category: str, box: tuple[int, int, int, int]) -> Thing:
    mask = np.zeros(SIZE, bool)
    x, y, width, height = box
    mask[y : y + height, x : x + width] = True
    return Thing(id=name, category=category, mask=encode(mask), box_xywh=box)


def painted(place: Path, things: list[tuple[Thing, str]]) -> None:
    image = np.full((*SIZE, 3), 235, np.uint8)
    for each, colour in things:
        x, y, width, height = (int(n) for n in each.box_xywh or ())
        image[y : y + height, x : x + width] = COLOURS[colour]
    Image.fromarray(image).save(place)


def made(tmp_path: Path, task: Any, name: str = "c", **changes: Any) -> Candidate:
    """A dog left of a bench in a picture without anything else, edited by hand."""
    dog, bench = thing("1", "dog", (30, 90, 60, 70)), thing("2", "bench", (180, 100, 90, 60))
    painted(tmp_path / f"{name}-before.png", [(dog, "brown"), (bench, "green")])
    after = [(bench, "green")] if task == "erasure" else [(dog, "blue"), (bench, "green")]
    painted(tmp_path / f"{name}-after.png", after)
    photograph = Photograph(
        id=name,
        source="coco",
        file=f"{name}.png",
        height_px=SIZE[0],
        width_px=SIZE[1],
        things=(dog, bench, *changes.pop("things", ())),
    )
    candidate = Candidate(id=name, task=task, photograph=photograph, target=dog, seed=3, **changes)
    proposal = propose(candidate)
    assert isinstance(proposal, Proposal), proposal
    edited = EditedPicture(before=f"{name}-before.png", after=f"{name}-after.png")
    candidate = msgspec.structs.replace(candidate, proposal=proposal, edited=edited)
    return with_fields(candidate, C_new_attribute="blue") if task == "attribute" else candidate


def asked(tmp_path: Path, *candidates: Candidate, **settings: Any) -> list[Candidate | Dropped]:
    stage = QuestionStage(tmp_path, QuestionSettings(**settings))
    stage.offer(candidates)
    found: dict[str, Candidate | Dropped] = {}
    assert stage.run(iter(candidates), lambda one, result: found.update({one.id: result})) == ""
    return [found[candidate.id] for candidate in candidates]


def kept(result: Candidate | Dropped) -> Candidate:
    assert isinstance(result, Candidate), result
    return result


def with_fields(candidate: Candidate, **fields: str) -> Candidate:
    assert candidate.proposal is not None
    changed = {**candidate.proposal.fields, **fields}
    proposal = msgspec.structs.replace(candidate.proposal, fields=changed)
    return msgspec.structs.replace(candidate, proposal=proposal)


@pytest.mark.parametrize("name", COLOURS)
def test_a_colour_is_that_of_the_pixels(name: str) -> None:
    image = np.empty((40, 40, 3), np.uint8)
    image[:] = COLOURS[name]
    image[:, :12] = 255 - np.array(COLOURS[name])
    region = np.ones((40, 40), bool)
    whole = look_of(image, region)
    assert whole.colour == "" or name == "grey"  # a third of it has another one
    region[:, :12] = False
    assert look_of(image, region).colour == name
    assert not look_of(image, region).lacks(name)


def test_the_material_is_asked_of_what_has_one(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for category in ("potted plant", "houseplant"):
        plant = made(tmp_path, "erasure")
        plant = msgspec.structs.replace(plant, target=thing("1", category, (30, 90, 60, 70)))
        with pytest.raises(NotAsked, match="more than one material"):
            _material(rng, plant)
    kind, made_of, others = _material(rng, made(tmp_path, "erasure"))
    assert (kind, made_of) == ("material", "fur") and made_of not in others


@pytest.mark.parametrize("task", ["erasure", "attribute"])
def test_twins_have_the_same_words_and_other_answers(tmp_path: Path, task: str) -> None:
    candidate = kept(asked(tmp_path, made(tmp_path, task))[0])
    samples, questions, pictures = exam_rows([candidate])
    files: dict[str, bytes | Path] = {name: tmp_path / file for name, file in pictures.items()}
    exam = reactbench.write_exam(tmp_path / "exam", samples, questions, files)
    assert [case.id for case in exam.cases] == ["c", "c-twin"]
    assert list(pictures.values()) == ["c-after.png", "c-before.png"]
    edited, twin = (
        {i.answer.number: i for i in exam.items if i.case_id == name and i.answer}
        for name in ("c", "c-twin")
    )
    assert len(edited) == len(twin) == 12
    for number, item in edited.items():
        one, other = item.answer, twin[number].answer
        assert one and other and item.query == twin[number].query
        assert one.options == other.options and one.reference != other.reference
    texts = " ".join(question.text for question in questions)
    assert "brown" in texts  # as measured, whatever dogs usually are
    paper = kept(asked(tmp_path, made(tmp_path, task), layout="paper")[0])
    assert len(paper.questions) == 12 and not any(q.twin for q in paper.questions)


def test_words_alone_give_no_edit_away(tmp_path: Path) -> None:
    """A solver that learnt an exam's own words is right about no more than every other picture."""
    several = [made(tmp_path, ("erasure", "attribute")[k % 2], f"c{k}") for k in range(8)]
    samples, questions, pictures = exam_rows([kept(r) for r in asked(tmp_path, *several)])
    files: dict[str, bytes | Path] = {name: tmp_path / file for name, file in pictures.items()}
    items = reactbench.write_exam(tmp_path / "exam", samples, questions, files).items
    solver = TextOnly()
    solver.fit(items)
    said = {answer.item_id: answer.text or "" for answer in solver.predict(items)}
    right = [
        said[item.id].rstrip(".").casefold() == item.answer.reference.casefold()
        for item in items
        if item.answer and item.answer.type != "SA"
    ]
    assert len(right) > 100 and sum(right) / len(right) <= 0.5


def test_what_is_debatable_is_dropped_by_the_id_of_its_check(tmp_path: Path) -> None:
    erasure, attribute = made(tmp_path, "erasure"), made(tmp_path, "attribute")
    near = thing("3", "dog", (35, 96, 60, 60))
    speaking = msgspec.structs.replace(erasure.proposal, by="model")  # who looked is believed
    told = msgspec.structs.replace(erasure, proposal=speaking)
    for candidate, rule in (
        (with_fields(told, A_location="the dog's blanket", B_name="dog"), "Q-location"),
        (with_fields(erasure, common_knowledge=" "), "Q-blank"),
        (with_fields(erasure, B_name="the dog"), "Q-article"),
        (with_fields(erasure, B_name="very " * 12 + "dog"), "Q-words"),
        (with_fields(erasure, absurd_object_1="bench"), "Q-absurd"),
        (made(tmp_path, "erasure", things=(near,)), "Q-elsewhere"),
        (made(tmp_path, "attribute", things=(near,)), "Q-several"),
        (with_fields(attribute, D_location="left of the dog"), "Q-self"),
        (with_fields(attribute, C_new_attribute="orange"), "Q-colour"),
    ):
        [dropped] = asked(tmp_path, candidate)
        assert isinstance(dropped, Dropped) and dropped.reason == rule, dropped


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, ""),
        ({"query": "Something else?"}, "other words"),  # than its twin
        ({"reference": "the twin's"}, "the same answer"),
        ({"reference": "perhaps"}, "neither yes nor no"),
    ],
)
def test_corrections_that_make_no_exam_drop_their_candidate(
    tmp_path: Path, change: dict[str, str], problem: str
) -> None:
    candidate = kept(asked(tmp_path, made(tmp_path, "attribute"))[0])
    first, *rest = candidate.questions
    if change.get("reference") == "the twin's":
        change = {"reference": {"yes": "no", "no": "yes"}[first.reference]}
    questions = (msgspec.structs.replace(first, **change), *rest)  # type: ignore[arg-type]
    said: dict[str, Any] = {"item_id": candidate.id, "reviewer": "a", "verdict": "accept"}
    decided = [Decision(stage="picture", **said)]
    decided.append(Decision(stage="questions", questions=questions, **said))
    write_decisions(tmp_path / "decisions.jsonl", decided)
    stage = ReviewStage(tmp_path, "reactbench", str(tmp_path / "decisions.jsonl"))
    results: list[Candidate | Dropped] = []
    assert stage.run([candidate], lambda _, result: results.append(result)) == ""
    [result] = results
    if not problem:
        assert kept(result).questions == questions
    else:
        assert isinstance(result, Dropped) and result.reason == "Q-corrected"
        assert problem in (result.details or "")


def counted(name: str, count: int) -> Candidate:
    photograph = Photograph(
        id=name,
        source="fsc147",
        file=f"{name}.jpg",
        height_px=9,
        width_px=9,
        counts={"peas": count},
    )
    target = Thing(id="counted", category="peas")
    candidate = Candidate(id=name, task="counting", photograph=photograph, target=target)
    proposal = propose(candidate)
    assert isinstance(proposal, Proposal)
    edited = EditedPicture(before=f"{name}.jpg", after=f"{name}.jpg")
    return msgspec.structs.replace(candidate, proposal=proposal, edited=edited)


def test_photographs_with_other_counts_are_twins(tmp_path: Path) -> None:
    results = asked(tmp_path, *(counted(f"p{n}", n) for n in (8, 9, 20, 1500, 3731)))
    reasons = Counter(r.reason if isinstance(r, Dropped) else "" for r in results)
    assert reasons == {"": 2, "Q-twin": 2, "Q-alone": 1}
    samples, questions, _ = exam_rows([r for r in results if isinstance(r, Candidate)])
    reactbench.check_rows(samples, questions)
    widths = [reactbench.span(option) for q in questions if q.number == 8 for option in q.options]
    assert max(high - low for low, high in filter(None, widths)) > 300


def test_letters_and_polarity_are_balanced_over_candidates(tmp_path: Path) -> None:
    several = [made(tmp_path, "erasure", f"c{k}") for k in range(8)]
    results = [kept(r) for r in asked(tmp_path, *several)]
    for number in range(1, 13):
        slot = [q for r in results for q in r.questions if q.number == number and not q.twin]
        if slot[0].type == "YN":
            assert [q.polarity for q in slot].count("negated") == 4
        if slot[0].type == "MC":
            assert {*Counter(q.reference for q in slot).values()} == {2}
