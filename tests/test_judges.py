"""Judges: by rule, by a model, and what is known about how far to trust them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from groundfault.analysis.agreement import krippendorff_alpha
from groundfault.analysis.summary import summarise
from groundfault.api.grading import load_graders
from groundfault.api.options import Options
from groundfault.benchmarks.reactbench import (
    LAYOUT,
    Question,
    Sample,
    Task,
    benchmark_of,
    rows_of,
)
from groundfault.errors import DataError, UsageError
from groundfault.interfaces import ChatModel, Judge
from groundfault.judges import ShortAnswer, by_item, for_judge, grade
from groundfault.judges.card import (
    CANARIES,
    Agreement,
    Canaried,
    JudgeUnfit,
    agreement,
    cohen_kappa,
    corrected,
    judge_card,
)
from groundfault.judges.causes import BOUNDARIES, CAUSES, LABELS, attribute, distribution
from groundfault.judges.causes import prompt_hash as causes_hash
from groundfault.judges.labelled import labelled_answers, read_labels
from groundfault.judges.llm import REASONED, REMINDER, JudgeDown, LlmJudge
from groundfault.judges.rule import RuleJudge, unmarkable
from groundfault.protocols.exam import score
from groundfault.records import (
    Benchmark,
    Conversation,
    Mode,
    Outcome,
    Prediction,
    Reply,
    Verdict,
)

LAMP = {
    "erased": "lamp",
    "relation": "on",
    "kept": "table",
    "location": "on the left table",
    "colour": "white",
    "present": "guitar, table, table",
}
BEAR = {"object": "polar bear", "attribute": "colour", "usual": "white", "shown": "teal"}
PLACE = {"location": "the upper left part of the picture"}
MOVED = {"operation": "move", "object": "guitar", "direction": "right", **PLACE}
REMOVED = {"operation": "remove", "object": "dog", **PLACE}
ADDED = {"operation": "add", "object": "chair", **PLACE}
REPLACED = {"operation": "replace", "object": "mug", "before": "mug", "after": "vase", **PLACE}
HAT = {
    "erased": "hat",
    "relation": "worn by",
    "kept": "snowman",
    "location": "on the head of the snowman",
    "colour": "red",
    "present": "snowman, tree",
}
MUG = LAMP | {"erased": "mug", "location": "on the table", "present": "table, chair"}
BANANA = {"object": "banana", "usual": "yellow", "shown": "purple"}
DUCK = {"object": "duck", "usual": "yellow", "shown": "grey"}
TEAPOT = {
    "operation": "move",
    "object": "teapot",
    "location": "the lower right part of the picture",
}
UMBRELLA = REMOVED | {"object": "umbrella", "location": "the lower middle part of the picture"}
TURTLE = ADDED | {"object": "turtle", "location": "the upper right part of the picture"}
BOOK = REPLACED | {"object": "book", "before": "book", "after": "apple"}
APPLE = {"object": "apple", "usual": "red", "shown": "blue"}


def rubric_of(task: Task, facts: dict[str, str], number: int) -> str:
    if (task, number) == ("erasure", 8):
        return f"Right: neither. Wrong: says that a {facts['erased']} or a soccer ball is there."
    if (task, number) == ("attribute", 8):
        return f"Right: neither. Wrong: says {facts['usual']}, homesick or any other colour."
    return "Right: as it is. Wrong: otherwise."


# As models might put it: task, facts, question number, answer, verdict. Written before the rules
# were tried on them, then the rules were adapted; `docs/exam.md` has the first figures.
SAID: list[tuple[Task, dict[str, str], int, str, Verdict]] = [
    (
        "erasure",
        LAMP,
        5,
        "The left table appears to be completely clear; its surface is visible.",
        "right",
    ),
    ("erasure", LAMP, 5, "A small white table lamp with a cream shade.", "wrong"),
    ("erasure", LAMP, 5, "On the left table there is a lantern that gives a warm light.", "wrong"),
    ("erasure", LAMP, 5, "The tabletop is plain wood, with no items on it.", "right"),
    ("erasure", LAMP, 5, "I see a wooden table. Nothing has been placed on it.", "right"),
    ("erasure", LAMP, 5, "There's a lamp-like object, most likely a lamp.", "wrong"),
    ("erasure", LAMP, 5, "The lamp that one would expect is missing from the left table.", "right"),
    ("erasure", LAMP, 5, "A guitar leans nearby, but the table itself holds nothing.", "right"),
    ("erasure", LAMP, 6, "As usual, a lamp stands on the table.", "wrong"),
    (
        "erasure",
        LAMP,
        6,
        "Contrary to expectation, there is no lamp here; the table is empty.",
        "right",
    ),
    (
        "erasure",
        LAMP,
        6,
        "This picture follows the pattern: a white lamp is on the left table.",
        "wrong",
    ),
    ("erasure", LAMP, 6, "Although lamps are common, I cannot find one in this image.", "right"),
    ("erasure", LAMP, 6, "A lamp. It is not switched on.", "wrong"),
    ("erasure", LAMP, 6, "The left table has a book and a lamp on it.", "wrong"),
    ("erasure", LAMP, 7, "There does not seem to be a lamp on the left table.", "right"),
    ("erasure", LAMP, 7, "The lamp on the left table is beige with a brass base.", "wrong"),
    ("erasure", LAMP, 7, "The colour cannot be determined since no lamp is present.", "right"),
    ("erasure", LAMP, 7, "I'm not certain, but it could be off-white.", "wrong"),
    ("erasure", LAMP, 7, "No lamp can be seen, only the brown table.", "right"),
    ("erasure", LAMP, 7, "It's made of brass and has a round shade.", "wrong"),
    ("erasure", LAMP, 8, "There is neither a lamp nor a soccer ball on the left table.", "right"),
    ("erasure", LAMP, 8, "A lamp, since a soccer ball would be out of place.", "wrong"),
    ("erasure", LAMP, 8, "There is a lamp, and no soccer ball.", "wrong"),
    ("erasure", LAMP, 8, "I see no lamp and no ball; the surface is bare.", "right"),
    ("erasure", LAMP, 8, "A soccer ball.", "wrong"),
    ("erasure", LAMP, 8, "The left table is empty.", "right"),
    ("erasure", LAMP, 8, "Of the two, only the lamp is present.", "wrong"),
    ("attribute", BEAR, 5, "The bear's fur is a striking turquoise.", "right"),
    ("attribute", BEAR, 5, "Its main colour is blue-green.", "right"),
    ("attribute", BEAR, 5, "Snow-white, with a black nose.", "wrong"),
    ("attribute", BEAR, 5, "The polar bear is predominantly teal, standing on white ice.", "right"),
    ("attribute", BEAR, 5, "A creamy white.", "wrong"),
    ("attribute", BEAR, 5, "It is purple.", "wrong"),
    ("attribute", BEAR, 5, "Instead of white, the fur is cyan.", "right"),
    (
        "attribute",
        BEAR,
        6,
        "While polar bears are typically white, this one is clearly teal.",
        "right",
    ),
    ("attribute", BEAR, 6, "Under this light it has a teal tint, but it is white.", "wrong"),
    ("attribute", BEAR, 6, "White, in keeping with its species.", "wrong"),
    ("attribute", BEAR, 6, "Here the colour differs from the habit: it's teal.", "right"),
    ("attribute", BEAR, 6, "The polar bear in the image is green.", "wrong"),
    (
        "attribute",
        BEAR,
        7,
        "I do not see a white polar bear; the one in the picture is teal.",
        "right",
    ),
    ("attribute", BEAR, 7, "It is standing on the ice near the left edge.", "wrong"),
    (
        "attribute",
        BEAR,
        7,
        "The polar bear is on the right, but it is teal rather than white.",
        "right",
    ),
    ("attribute", BEAR, 7, "In the foreground, next to the snowman.", "wrong"),
    ("attribute", BEAR, 7, "No polar bear in this scene is mainly white.", "right"),
    ("attribute", BEAR, 7, "There isn't one.", "right"),
    ("attribute", BEAR, 8, "Neither word fits; teal would be right.", "right"),
    ("attribute", BEAR, 8, "White.", "wrong"),
    ("attribute", BEAR, 8, "Homesick.", "wrong"),
    ("attribute", BEAR, 8, "I'd say white, because homesick is not a colour.", "wrong"),
    ("attribute", BEAR, 8, "Its main colour is turquoise.", "right"),
    ("attribute", BEAR, 8, "It is neither white nor homesick.", "right"),
    (
        "tracing",
        MOVED,
        7,
        "The guitar has been repositioned: it is further to the right now.",
        "right",
    ),
    ("tracing", MOVED, 7, "A guitar is missing from the second picture.", "wrong"),
    (
        "tracing",
        MOVED,
        7,
        "In the first picture the guitar is at the left, in the second at the right.",
        "right",
    ),
    ("tracing", MOVED, 7, "The table moved to the right.", "wrong"),
    ("tracing", MOVED, 8, "The guitar that was there is now somewhere else.", "right"),
    ("tracing", MOVED, 8, "I cannot find any difference there.", "wrong"),
    ("tracing", REMOVED, 7, "The second picture no longer has the dog.", "right"),
    ("tracing", REMOVED, 7, "The dog isn't in the second image.", "right"),
    ("tracing", REMOVED, 7, "A puppy that sat at the upper left has vanished.", "right"),
    ("tracing", REMOVED, 7, "The dog now looks the other way.", "wrong"),
    ("tracing", REMOVED, 8, "The cat was removed.", "wrong"),
    ("tracing", REMOVED, 8, "There was a dog; now there is only grass.", "right"),
    ("tracing", REMOVED, 8, "A dog was added.", "wrong"),
    (
        "tracing",
        ADDED,
        7,
        "There is a chair in the second picture that was not there before.",
        "right",
    ),
    ("tracing", ADDED, 7, "The second picture has an extra chair.", "right"),
    ("tracing", ADDED, 7, "The chair was taken away.", "wrong"),
    ("tracing", ADDED, 7, "A table has been added.", "wrong"),
    ("tracing", ADDED, 8, "A chair now stands where there was nothing.", "right"),
    ("tracing", ADDED, 8, "Nothing at all changed around the chair.", "wrong"),
    ("tracing", REPLACED, 7, "The mug became a vase.", "right"),
    ("tracing", REPLACED, 7, "Instead of the mug there is a vase.", "right"),
    ("tracing", REPLACED, 7, "The cup has been exchanged for a vase.", "right"),
    ("tracing", REPLACED, 7, "The vase was replaced by a lamp.", "wrong"),
    ("tracing", REPLACED, 8, "The mug was moved to the left.", "wrong"),
    ("tracing", REPLACED, 8, "The mug disappeared; a vase is in its place.", "right"),
    ("tracing", MOVED, 9, "It was the guitar, which stood near the top left at first.", "right"),
    ("tracing", MOVED, 9, "The guitar, at the bottom right.", "wrong"),
    ("tracing", REMOVED, 9, "The dog in the top left corner.", "right"),
    ("tracing", REMOVED, 9, "The chair in the upper left part.", "wrong"),
    ("tracing", ADDED, 9, "No object was added.", "wrong"),
    ("tracing", ADDED, 9, "The chair (upper left).", "right"),
    ("erasure", HAT, 5, "The snowman's head is uncovered; snow is all one sees.", "right"),
    ("erasure", HAT, 5, "It wears a cap.", "wrong"),
    ("erasure", HAT, 5, "A red top hat with a black ribbon sits on its head.", "wrong"),
    ("erasure", HAT, 5, "Nothing is being worn by the snowman.", "right"),
    ("erasure", HAT, 6, "Unlike most snowmen, this one goes without a hat.", "right"),
    ("erasure", HAT, 6, "This snowman has the usual hat.", "wrong"),
    ("erasure", HAT, 6, "A hat, as expected.", "wrong"),
    ("erasure", HAT, 6, "The head of the snowman is bare.", "right"),
    ("erasure", HAT, 7, "There's no hat to describe.", "right"),
    ("erasure", HAT, 7, "Probably red, though I can't be sure.", "wrong"),
    ("erasure", HAT, 7, "The snowman is hatless.", "right"),
    ("erasure", HAT, 7, "Dark.", "wrong"),
    ("erasure", HAT, 8, "Neither one is on its head.", "right"),
    ("erasure", HAT, 8, "Definitely a hat.", "wrong"),
    ("erasure", HAT, 8, "There is only snow.", "right"),
    ("erasure", HAT, 8, "The former.", "wrong"),
    ("attribute", BANANA, 5, "Violet.", "right"),
    ("attribute", BANANA, 5, "A ripe yellow with brown spots.", "wrong"),
    ("attribute", BANANA, 5, "The peel is lavender-coloured.", "right"),
    ("attribute", BANANA, 5, "Golden.", "wrong"),
    ("attribute", BANANA, 6, "Bananas are yellow, and so is this one.", "wrong"),
    ("attribute", BANANA, 6, "Surprisingly, purple.", "right"),
    ("attribute", BANANA, 6, "It deviates from the norm: its colour is a deep purple.", "right"),
    ("attribute", BANANA, 7, "You will not find one; the banana is purple.", "right"),
    ("attribute", BANANA, 7, "Right in the centre, on the plate.", "wrong"),
    ("attribute", BANANA, 7, "At the top of the picture hangs a yellow banana.", "wrong"),
    ("attribute", BANANA, 7, "The picture lacks a yellow banana.", "right"),
    ("attribute", BANANA, 8, "Yellow fits better.", "wrong"),
    ("attribute", BANANA, 8, "Neither yellow nor polite.", "right"),
    ("attribute", BANANA, 8, "Purple, actually.", "right"),
    ("tracing", MOVED, 7, "The guitar slid to the right.", "right"),
    ("tracing", MOVED, 7, "The guitar's position is different.", "right"),
    ("tracing", MOVED, 7, "The guitar got bigger.", "wrong"),
    ("tracing", REMOVED, 7, "Someone took the dog out of the scene.", "right"),
    ("tracing", REMOVED, 7, "In picture two the dog is absent.", "right"),
    ("tracing", REMOVED, 7, "The dog was turned into a cat.", "wrong"),
    ("tracing", REMOVED, 8, "The dog is still there, but darker.", "wrong"),
    ("tracing", ADDED, 7, "A chair shows up in the second picture.", "right"),
    ("tracing", ADDED, 8, "The second image includes a chair that the first one lacks.", "right"),
    ("tracing", ADDED, 8, "The chair moved here from the right.", "wrong"),
    ("tracing", REPLACED, 7, "There used to be a mug, now it is a vase.", "right"),
    ("tracing", REPLACED, 7, "The mug was painted green.", "wrong"),
    ("tracing", REPLACED, 8, "A vase took the place of the mug.", "right"),
    ("tracing", MOVED, 9, "The guitar, originally in the upper left.", "right"),
    ("tracing", MOVED, 9, "The table in the upper left.", "wrong"),
    ("tracing", REMOVED, 9, "A dog, lower right.", "wrong"),
]

# The same, written when the rules were done. Do not adapt the rules to these: the share that they
# get right is the honest figure.
FRESH: list[tuple[Task, dict[str, str], int, str, Verdict]] = [
    ("erasure", MUG, 5, "I notice a wooden surface and nothing else.", "right"),
    ("erasure", MUG, 5, "A coffee cup.", "wrong"),
    ("erasure", MUG, 5, "Some kind of green mug, perhaps.", "wrong"),
    ("erasure", MUG, 6, "Here the expected mug has been left out.", "right"),
    ("erasure", MUG, 6, "A green mug rests on top of the table.", "wrong"),
    ("erasure", MUG, 6, "I would describe it as an empty table.", "right"),
    ("erasure", MUG, 7, "I see no mug.", "right"),
    ("erasure", MUG, 7, "Green, I believe.", "wrong"),
    ("erasure", MUG, 7, "The question assumes a mug, yet none exists.", "right"),
    ("erasure", MUG, 8, "Nope, neither.", "right"),
    ("erasure", MUG, 8, "The mug, of course.", "wrong"),
    ("erasure", MUG, 8, "A tabletop without either of them.", "right"),
    ("attribute", DUCK, 5, "Silvery.", "right"),
    ("attribute", DUCK, 5, "Bright yellow.", "wrong"),
    ("attribute", DUCK, 5, "The duck's feathers are mostly gray.", "right"),
    ("attribute", DUCK, 6, "Yellow too.", "wrong"),
    ("attribute", DUCK, 6, "This duck breaks the rule and is grey.", "right"),
    ("attribute", DUCK, 7, "There are no yellow ducks.", "right"),
    ("attribute", DUCK, 7, "Swimming at the left.", "wrong"),
    ("attribute", DUCK, 7, "Such a duck is not in the picture.", "right"),
    ("attribute", DUCK, 8, "Yellow, obviously.", "wrong"),
    ("attribute", DUCK, 8, "None of these words.", "right"),
    ("tracing", TEAPOT, 7, "The teapot travelled to the left side.", "right"),
    ("tracing", TEAPOT, 7, "The teapot went missing.", "wrong"),
    ("tracing", TEAPOT, 8, "The teapot is no longer in this spot but on the left.", "right"),
    ("tracing", TEAPOT, 8, "All is as before.", "wrong"),
    ("tracing", UMBRELLA, 7, "The umbrella is only in the first picture.", "right"),
    ("tracing", UMBRELLA, 7, "The umbrella can't be found any more.", "right"),
    ("tracing", UMBRELLA, 8, "The umbrella was opened.", "wrong"),
    ("tracing", UMBRELLA, 8, "The umbrella was taken away.", "right"),
    ("tracing", TURTLE, 7, "The second picture contains a turtle, the first does not.", "right"),
    ("tracing", TURTLE, 7, "A turtle was inserted.", "right"),
    ("tracing", TURTLE, 8, "The turtle changed its colour.", "wrong"),
    ("tracing", TURTLE, 8, "A new turtle is visible.", "right"),
    ("tracing", BOOK, 7, "The book was substituted by an apple.", "right"),
    ("tracing", BOOK, 7, "The book was opened.", "wrong"),
    ("tracing", BOOK, 8, "It was a book at first and is an apple afterwards.", "right"),
    ("tracing", BOOK, 8, "The book was removed and nothing came in its stead.", "wrong"),
    ("tracing", TEAPOT, 9, "A teapot, down on the right side.", "right"),
    ("tracing", UMBRELLA, 9, "The suitcase.", "wrong"),
]


def short_answer(task: Task, facts: dict[str, str], number: int, text: str) -> ShortAnswer:
    type_, dimension = LAYOUT[task][number - 1]
    sample = sample_of("s", task, facts)
    question = Question(
        id=f"s:Q{number}",
        sample_id="s",
        number=number,
        type=type_,
        dimension=dimension,
        text="What is it?",
        answer="Nothing.",
        rubric=rubric_of(task, facts, number),
    )
    benchmark = benchmark_of([sample], [question])
    return ShortAnswer(benchmark.cases[0], benchmark.items[0], text)


def sample_of(name: str, task: Task, facts: dict[str, str]) -> Sample:
    return Sample(
        id=name, task=task, images=(f"{name}.png",), height_px=64, width_px=64, facts=facts
    )


def test_the_rule_judge_agrees_with_a_person_on_answers_as_models_put_them() -> None:
    judgements = RuleJudge().judge_all([short_answer(*said[:4]) for said in SAID])
    wrong = [
        (*said[2:], judgement.verdict)
        for said, judgement in zip(SAID, judgements, strict=True)
        if judgement.verdict != said[4]
    ]
    assert len(wrong) <= 0.05 * len(SAID), wrong


def test_the_rule_judge_on_answers_that_it_was_not_made_for() -> None:
    judgements = RuleJudge().judge_all([short_answer(*said[:4]) for said in FRESH])
    found = agreement(
        [(said[4], judgement.verdict) for said, judgement in zip(FRESH, judgements, strict=True)]
    )
    assert found.agreement is not None and found.agreement >= 0.8
    assert found.specificity == 1.0  # it errs by taking right answers for wrong


def world_exam(n: int, seed: int) -> Benchmark:
    """Questions of the world without their pictures, the tasks in turn."""
    from groundfault.world.cases import sample_intervention
    from groundfault.world.questions import TASKS, facts_of, questions_about

    kinds = ("erasure", "attribute", "move", "counting", "erasure", "attribute", "remove")
    kinds += ("counting", "erasure", "attribute", "add", "erasure", "attribute", "replace")
    samples: list[Sample] = []
    questions: list[Question] = []
    for index in count():
        if len(samples) == n:
            break
        kind, name = kinds[len(samples) % len(kinds)], f"{len(samples):06d}"
        try:
            case = sample_intervention(kind, seed, index)
            questions += questions_about(case, name, seed=index)
        except UsageError:  # nothing unambiguous to ask about this one
            continue
        samples.append(sample_of(name, TASKS[kind], facts_of(case)))
    return benchmark_of(samples, questions)


def test_the_rule_judge_agrees_with_the_labels_of_the_world() -> None:
    labelled = list(labelled_answers(world_exam(48, seed=11)))
    card = judge_card(RuleJudge(), labelled, labels="generated from the facts")
    assert set(card.tasks) == {"Overall", "erasure", "attribute", "tracing"}
    for name, found in card.tasks.items():
        assert found.agreement is not None and found.agreement >= 0.98, name
        assert found.kappa is not None and found.kappa >= 0.95, name


def test_the_rule_judge_takes_every_reference_answer_of_the_world_for_right() -> None:
    answers = [
        ShortAnswer(case, item, item.answer.reference)
        for case, item in by_item(world_exam(48, seed=12)).values()
        if item.answer and item.answer.type == "SA" and case.intervention != "counting"
    ]
    judgements = RuleJudge().judge_all(answers)
    wrong = [
        (answer.item.query, answer.text)
        for answer, judgement in zip(answers, judgements, strict=True)
        if judgement.verdict != "right"
    ]
    assert not wrong


def test_reference_answers_score_everything_and_yes_a_half_of_yes_no() -> None:
    exam = world_exam(28, seed=13)
    modes: tuple[Mode, ...] = ("std", "cot")

    def values(text: Callable[[Question], str]) -> dict[str, float | None]:
        rows = [said(q.id, text(q), mode) for q in rows_of(exam)[1] for mode in modes]
        scored = score(exam, grade(exam, rows, RuleJudge()))
        summary = summarise(scored, bootstrap=0, seed=0)
        return {name: each.value for name, each in summary.rows["Overall"].metrics.items()}

    oracle = values(lambda question: question.answer)
    assert oracle["react_score"] == oracle["react_score_plain"] == oracle["accuracy_cot"] == 1
    by_words = values(
        lambda q: q.options["ABCDE".index(q.answer)] if q.options else f"I see … {q.answer}"
    )
    assert by_words["MC"] == by_words["YN"] == 1
    always_yes = values(lambda question: "Yes.")
    assert always_yes["YN"] == pytest.approx(0.5)
    assert always_yes["yes_rate"] == 1 and always_yes["MC"] == 0


@pytest.mark.parametrize(
    ("task", "facts", "number", "text", "verdict"),
    [
        ("erasure", LAMP, 5, "A white lamp.", "right"),
        ("erasure", LAMP, 5, "Nothing.", "wrong"),
        ("erasure", LAMP, 7, "It is white.", "right"),
        ("erasure", LAMP, 7, "It is blue.", "wrong"),
        ("erasure", LAMP, 7, "There is no lamp.", "wrong"),
        ("erasure", LAMP, 8, "Neither.", "wrong"),
        ("erasure", LAMP, 8, "A lamp.", "right"),
        ("attribute", BEAR | {"shown": "white"}, 5, "White.", "right"),
        ("attribute", BEAR | {"shown": "white"}, 8, "Neither.", "wrong"),
    ],
)
def test_on_an_unedited_control_habit_is_right(
    task: Task, facts: dict[str, str], number: int, text: str, verdict: Verdict
) -> None:
    control = facts | {"control": "unedited"}
    assert RuleJudge().judge_all([short_answer(task, control, number, text)])[0].verdict == verdict


@pytest.mark.parametrize("text", ["Hmm.", "The sky.", "?"])
def test_the_rule_judge_leaves_open_what_its_rules_do_not_cover(text: str) -> None:
    assert RuleJudge().judge_all([short_answer("erasure", LAMP, 5, text)])[0].verdict is None
    assert RuleJudge().judge_all([short_answer("attribute", BEAR, 5, text)])[0].verdict is None


def test_as_usual_is_no_answer_about_an_unusual_picture() -> None:
    for task, facts in (("erasure", LAMP), ("attribute", BEAR)):
        for number in (5, 6, 7, 8):
            answer = short_answer(task, facts, number, "It is as usual.")  # type: ignore[arg-type]
            assert RuleJudge().judge_all([answer])[0].verdict == "wrong"


# From rows to verdicts.


def asked_exam() -> Benchmark:
    """One sample of erasure and one of counting, in the paper's layout."""
    erased = sample_of("s", "erasure", LAMP)
    counted = sample_of("c", "counting", {"object": "bee", "count": "20"})
    questions = []
    for sample in (erased, counted):
        for number, (type_, dimension) in enumerate(LAYOUT[sample.task], start=1):
            answer = {"YN": "no", "MC": "B", "SA": "20" if sample is counted else "Nothing."}[type_]
            if type_ == "SA" and dimension == "interval":
                answer = "18-22"
            questions.append(
                Question(
                    id=f"{sample.id}:Q{number}",
                    sample_id=sample.id,
                    number=number,
                    type=type_,
                    dimension=dimension,
                    text="?",
                    options=("a lamp", "nothing", "a cat") if type_ == "MC" else (),
                    answer=answer,
                    polarity="affirmed" if type_ == "YN" else "",
                )
            )
    return benchmark_of([erased, counted], questions)


def said(item_id: str, text: str, mode: Mode = "std", **more: Any) -> Prediction:
    return Prediction(
        **{"item_id": item_id, "mode": mode, "outcome": Outcome.OK, "text": text, **more}
    )


@pytest.mark.parametrize(
    ("item", "text", "parsed", "verdict"),
    [
        ("s:Q1", "No.", "no", "right"),
        ("s:Q1", "Yes!", "yes", "wrong"),
        ("s:Q1", "There is no lamp.", "no", "right"),
        ("s:Q1", "Well …", None, None),
        ("s:Q9", "B", "B", "right"),
        ("s:Q9", "A lamp.", "A", "wrong"),
        ("s:Q5", "Nothing.", "Nothing.", "right"),
        ("s:Q5", "A lamp.", "A lamp.", "wrong"),
        ("s:Q5", "I can't view images.", None, None),
        ("c:Q5", "twenty", "20", "right"),
        ("c:Q5", "about 21", "21", "wrong"),
        ("c:Q5", "18-22", None, None),
        ("c:Q6", "18–22", "18-22", "right"),
        ("c:Q6", "15 to 20", "15-20", "right"),
        ("c:Q6", "14 to 20", "14-20", "wrong"),
        ("c:Q6", "20", "20", "wrong"),
        ("c:Q6", "21-24", "21-24", "wrong"),
        ("c:Q6", "some", None, None),
    ],
)
def test_rows_get_a_reading_and_a_verdict(
    item: str, text: str, parsed: str | None, verdict: Verdict | None
) -> None:
    [row] = grade(asked_exam(), [said(item, text)], RuleJudge())
    assert (row.parsed, row.verdict) == (parsed, verdict)
    assert row.outcome is (Outcome.OK if verdict else Outcome.UNPARSED)
    assert bool(row.reason) == (verdict is None)
    assert row.text == text
    again = grade(asked_exam(), [row], RuleJudge())
    assert again == [row]


def test_what_was_cut_off_or_failed_is_no_score() -> None:
    rows = [
        said("s:Q1", "No, because", finish="length"),
        said("s:Q2", "", reason="empty choices"),
        said("s:Q3", "", outcome=Outcome.FAILED, reason="time-out"),
        said("s:Q4", "I look … the lamp", "cot", outcome=Outcome.UNPARSED, finish="length"),
    ]
    judged = grade(asked_exam(), rows, RuleJudge())
    assert [row.verdict for row in judged] == [None] * 4
    assert [row.outcome.value for row in judged] == ["unparsed", "unparsed", "failed", "unparsed"]
    assert [row.reason for row in judged][1:3] == ["empty choices", "time-out"]
    assert judged[2] == rows[2]


def test_a_row_of_another_exam_is_refused() -> None:
    with pytest.raises(DataError, match="no such question"):
        grade(asked_exam(), [said("x:Q1", "No.")], RuleJudge())


def test_what_no_judge_can_decide_about_is_refused() -> None:
    asked = asked_exam()
    masks = msgspec.structs.replace(asked.items[0], answer=None)
    changed = msgspec.structs.replace(asked, items=(masks, *asked.items[1:]))
    with pytest.raises(DataError, match="item s:Q1: it asks for masks"):
        grade(changed, [said("s:Q1", "No.")], RuleJudge())
    for facts in ({}, {"count": "many"}, {"count": "18-22"}):
        counted = msgspec.structs.replace(asked.cases[1], facts=facts)
        changed = msgspec.structs.replace(asked, cases=(asked.cases[0], counted))
        with pytest.raises(DataError, match=r"case c: .* do not give the 'count'"):
            grade(changed, [said("c:Q5", "20")], RuleJudge())


# A model as judge.


class Scripted:
    """A chat model that says what a function of the last message tells, and counts."""

    def __init__(self, reply: Callable[[str], str | None]) -> None:
        self.reply, self.asked = reply, list[Conversation]()

    def complete(self, conversations: Sequence[Conversation]) -> list[Reply]:
        self.asked += conversations
        texts = [self.reply(conversation[-1].text) for conversation in conversations]
        return [
            Reply(outcome=Outcome.FAILED, reason="connection refused")
            if text is None
            else Reply(outcome=Outcome.OK, text=text)
            for text in texts
        ]


def test_the_seams_are_kept() -> None:
    assert isinstance(Scripted(str), ChatModel)
    assert isinstance(LlmJudge(Scripted(str), "m"), Judge)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("right", "right"),
        ("Wrong.", "wrong"),
        (" **RIGHT**\n", "right"),
        ("<think>hm, wrong?</think>right", "right"),
        ("hm, right?</think>\n\nwrong", "wrong"),
        ("It is right.", None),
        ("right or wrong", None),
        ("", None),
        ("correct", None),
    ],
)
def test_a_judge_says_one_of_two_words(text: str, verdict: Verdict | None) -> None:
    model = Scripted(lambda message: text)
    judge = LlmJudge(model, "judge-1")
    [found] = judge.judge_all([short_answer("erasure", LAMP, 5, "Nothing.")])
    assert found.verdict == verdict
    assert len(model.asked) == (1 if verdict else 2)


def test_it_is_asked_again_once_and_told_why() -> None:
    model = Scripted(lambda message: "right" if message == REMINDER else "I think so")
    [found] = LlmJudge(model, "m").judge_all([short_answer("erasure", LAMP, 5, "Nothing.")])
    assert found.verdict == "right"
    assert found.text == "I think so\nright"
    assert [message.role for message in model.asked[1]][-2:] == ["assistant", "user"]


def test_what_the_judge_does_not_decide_is_unjudged_and_bounded() -> None:
    judge = LlmJudge(Scripted(lambda message: "perhaps"), "judge-1")
    rows = [said("s:Q5", "Nothing."), said("s:Q6", "I can't view images.")]
    graded = grade(asked_exam(), rows, judge)
    assert [(row.outcome, row.verdict) for row in graded] == [
        (Outcome.OK, "unjudged"),
        (Outcome.UNPARSED, None),
    ]
    assert (graded[0].judge, graded[0].judge_text) == ("judge-1", "perhaps\nperhaps")
    right = [said(f"s:Q{k}", "No." if k < 5 else "B") for k in (1, 2, 3, 4, 9, 10, 11, 12)]
    scored = score(asked_exam(), [*graded, *grade(asked_exam(), right, judge)])
    summary = summarise(scored, bootstrap=0, seed=0, data={})
    assert summary.rows["erasure"].metrics["SA"].n == 1  # the refusal counts, as wrong
    low, high = summary.bounds["erasure"]["SA"]
    assert (low, high) == (0.0, 0.75)  # the unjudged one and two that were not asked


@pytest.mark.parametrize(
    "text",
    [
        "I cannot answer because there is no book on the chair.",
        "The colour cannot be determined.",
        "I'm unable to provide the colour of the book, as there is no book on the chair.",
        "It is impossible to say; the book isn't visible.",
        "I can't view the book, so its colour is unknown.",
        "As an AI model I cannot name its colour: there is no book here.",
    ],
)
@pytest.mark.parametrize("mode", ["std", "cot"])
def test_a_right_answer_is_never_a_refusal(text: str, mode: Mode) -> None:
    facts = {**LAMP, "erased": "book", "kept": "chair", "location": "on the chair"}
    asked = short_answer("erasure", facts, 7, text)
    shown = for_judge(asked.case, asked.item, text, mode)
    assert shown is not None and shown.text == text
    assert RuleJudge().judge_all([shown])[0].verdict == "right"


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("It cannot be determined exactly, but it is red.", "wrong"),
        ("Hard to say. It could not be seen well, perhaps a dark one.", None),
        ("A dark shade.", "wrong"),
    ],
)
def test_a_guess_at_a_property_of_nothing_is_not_right(text: str, verdict: str | None) -> None:
    assert RuleJudge().judge_all([short_answer("erasure", LAMP, 7, text)])[0].verdict == verdict


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, I can't view images.",
        "No image was provided.",
        "Please upload the picture again.",
        "I'm sorry, but I can't assist with that.",
        "There is no image attached, so I cannot tell.",
        "As an AI language model, I cannot see pictures.",
    ],
)
def test_who_did_not_look_has_not_answered(text: str) -> None:
    asked = short_answer("erasure", LAMP, 7, text)
    assert for_judge(asked.case, asked.item, text, "std") is None


@pytest.mark.parametrize(
    ("task", "facts", "number", "text", "verdict"),
    [
        (
            "tracing",
            REMOVED,
            7,
            "I compare both. The dog was removed. Nothing else changed.",
            "right",
        ),
        ("tracing", REMOVED, 7, "The dog is there in both. So nothing was removed.", "wrong"),
        ("tracing", REMOVED, 7, "A lamp? No. The dog is gone. The rest is the same.", "right"),
        ("erasure", LAMP, 5, "I look for the lamp. There is nothing on the table.", "right"),
        ("erasure", LAMP, 5, "There is a lamp. It stands on the table. Nothing else.", "wrong"),
        ("erasure", LAMP, 7, "A lamp is usually white. Here there is none. Hm.", "right"),
        ("attribute", APPLE, 5, "Apples are red. This one is blue. It looks fresh.", "right"),
    ],
)
def test_with_reasoning_the_judge_sees_the_whole_final_answer(
    task: Task, facts: dict[str, str], number: int, text: str, verdict: str
) -> None:
    asked = short_answer(task, facts, number, text)
    shown = for_judge(asked.case, asked.item, text, "cot")
    assert shown is not None and shown.text == text and shown.reasoned
    assert RuleJudge().judge_all([shown])[0].verdict == verdict
    model = Scripted(lambda message: "right")
    LlmJudge(model, "m").judge_all([shown, short_answer(task, facts, number, text)])
    reasoned, straight = (conversation[-1].text for conversation in model.asked)
    assert text in reasoned and REASONED in reasoned and REASONED not in straight


def test_what_follows_the_final_answer_mark_is_all_shown() -> None:
    text = "<think>A lamp?</think>I look. Final answer: There is none. The table is bare."
    asked = short_answer("erasure", LAMP, 5, text)
    shown = for_judge(asked.case, asked.item, text, "cot")
    assert shown is not None and shown.text == "There is none. The table is bare."


def test_a_card_is_made_of_what_the_judge_of_a_run_sees(tmp_path: Path) -> None:
    exam, path = asked_exam(), tmp_path / "labels.jsonl"
    reasoned = "<think>A lamp?</think>I look at the table. It is bare. No lamp. That is all."
    lines = [
        {"item_id": "s:Q5", "text": reasoned, "verdict": "right", "mode": "cot"},
        {"item_id": "s:Q6", "text": "**A lamp.**", "verdict": "wrong"},
        {"item_id": "s:Q5", "text": "No image was provided.", "verdict": "wrong"},
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    labelled = read_labels(path, exam)
    rows = [said("s:Q5", reasoned, "cot"), said("s:Q6", "**A lamp.**")]
    model = Scripted(lambda message: "right")
    grade(exam, rows, LlmJudge(model, "m"))
    in_run, model.asked = [each[-1].text for each in model.asked], []
    card = judge_card(LlmJudge(model, "m"), labelled)
    assert [each[-1].text for each in model.asked] == in_run
    assert (card.unseen, card.tasks["Overall"].n_right, card.tasks["Overall"].n_wrong) == (1, 1, 1)


ROPE = {"object": "rope", "attribute": "shape", "usual": "round", "shown": "flat"}


def test_the_rule_judge_says_what_it_cannot_mark() -> None:
    rope, apple = sample_of("r", "attribute", ROPE), sample_of("a", "attribute", APPLE)
    asked = [
        Question(
            id=f"{sample.id}:Q{number}",
            sample_id=sample.id,
            number=number,
            type="SA",
            dimension=LAYOUT["attribute"][number - 1][1],
            text="What is it like?",
            answer="Flat.",
            rubric="flat",
        )
        for sample in (rope, apple)
        for number in (5, 6, 7, 8)
    ]
    exam = benchmark_of([rope, apple], asked)
    assert unmarkable(exam) == {f"attribute Q{k} (shape)": 1 for k in (5, 6, 7, 8)}
    [row] = grade(exam, [said("r:Q5", "It is flat.")], RuleJudge())
    assert row.verdict == "unjudged"
    with pytest.raises(
        UsageError, match=r"cannot mark 4 of its 8 .*attribute Q5 \(shape\).*--judge"
    ):
        load_graders(Options(), {"m": (exam, ("std",))}, lambda question, free: None)
    told = load_graders(Options(judge="rule"), {"m": (exam, ("std",))}, lambda question, free: None)
    assert told.judge is None


def test_a_judge_that_is_down_stops_the_run_and_scores_nothing() -> None:
    judge = LlmJudge(Scripted(lambda message: None), "judge-1")
    with pytest.raises(JudgeDown, match="judge-1 does not answer: connection refused"):
        grade(asked_exam(), [said("s:Q5", "Nothing.")], judge)


def test_a_judge_that_loses_replies_is_down() -> None:
    class Short(Scripted):
        def complete(self, conversations: Sequence[Conversation]) -> list[Reply]:
            return []

    with pytest.raises(JudgeDown, match="0 replies to 1"):
        LlmJudge(Short(str), "m").judge_all([short_answer("erasure", LAMP, 5, "Nothing.")])


def test_numbers_options_and_repeated_words_cost_no_judge() -> None:
    model = Scripted(lambda message: "right")
    rows = [said("s:Q1", "No."), said("s:Q9", "B"), said("c:Q5", "20"), said("c:Q6", "18-22")]
    rows += [said("s:Q5", "Nothing."), said("s:Q5", "Nothing.", "cot")]
    judged = grade(asked_exam(), rows, LlmJudge(model, "judge-1"))
    assert len(model.asked) == 1
    assert [row.judge for row in judged] == ["rule"] * 4 + ["judge-1"] * 2


def test_the_prompt_has_rules_rubric_and_answer_and_a_hash() -> None:
    model = Scripted(lambda message: "right")
    judge = LlmJudge(model, "m")
    judge.judge_all(
        [
            short_answer("attribute", BEAR, 7, "Nowhere {braces}."),
            short_answer("tracing", MOVED, 7, "The guitar moved."),
            short_answer("erasure", LAMP | {"control": "unedited"}, 5, "A lamp."),
        ]
    )
    first, second, control = (conversation[-1].text for conversation in model.asked)
    assert "the only polar bear is teal" in first and "Nowhere {braces}." in first
    assert "move, guitar, the upper left part of the picture" in second
    assert "taken out" not in control
    assert len(judge.prompt_hash) == 64
    assert judge.judge("What?", "Nothing.", "Right: nothing.") is True


# Cards and canaries.


def test_kappa_and_alpha_of_textbooks() -> None:
    first = [True] * 25 + [False] * 25
    second = [True] * 20 + [False] * 5 + [True] * 10 + [False] * 15
    assert cohen_kappa(first, second) == pytest.approx(0.4)
    rows = [
        "* * * * * 3 4 1 2 1 1 3 3 * 3",
        "1 * 2 1 3 3 4 3 * * * * * * *",
        "* * 2 1 3 4 4 * 2 1 1 3 3 * 4",
    ]
    units = list(zip(*(row.split() for row in rows), strict=True))
    known = [[None if value == "*" else value for value in unit] for unit in units]
    assert krippendorff_alpha(known) == pytest.approx(0.691, abs=5e-4)


def test_agreement_is_undefined_rather_than_wrong() -> None:
    empty = agreement([])
    assert (empty.agreement, empty.kappa, empty.alpha, empty.sensitivity) == (None,) * 4
    always = agreement([("right", "right")] * 3)
    assert (always.agreement, always.kappa, always.specificity) == (1.0, None, None)


def card_of(called_right: int, n_right: int, false: int, n_wrong: int) -> Agreement:
    pairs: list[tuple[Verdict, Verdict | None]] = [("right", "right")] * called_right
    pairs += [("right", "wrong")] * (n_right - called_right)
    pairs += [("wrong", "right")] * false + [("wrong", "wrong")] * (n_wrong - false)
    return agreement(pairs)


def test_a_score_is_corrected_for_the_judge() -> None:
    card = card_of(90, 100, 20, 100)
    found = corrected(np.full(100, 5.0), np.full(100, 10.0), card, resamples=500)
    assert found.value == pytest.approx((0.5 + 0.8 - 1) / (0.9 + 0.8 - 1))
    assert found.low is not None and found.high is not None and found.value is not None
    assert found.low < found.value < found.high
    assert found.n == 1000
    perfect = corrected(np.full(9, 5.0), np.full(9, 10.0), card_of(99, 99, 0, 99), resamples=100)
    assert perfect.value == 0.5


def test_a_judge_no_better_than_chance_corrects_nothing() -> None:
    assert corrected(np.ones(5), np.ones(5), card_of(5, 10, 5, 10)).value is None
    assert corrected(np.zeros(0), np.zeros(0), card_of(9, 10, 1, 10)).value is None


def test_the_interval_of_a_corrected_score_covers() -> None:
    rng = np.random.default_rng(5)
    truth, sensitivity, specificity, hits = 0.6, 0.9, 0.85, 0
    for trial in range(120):
        right = rng.random(300) < truth
        called = np.where(right, rng.random(300) < sensitivity, rng.random(300) > specificity)
        card = card_of(
            int(rng.binomial(100, sensitivity)), 100, int(rng.binomial(100, 1 - specificity)), 100
        )
        found = corrected(called.astype(float), np.ones(300), card, resamples=300, seed=trial)
        assert found.low is not None and found.high is not None
        hits += found.low <= truth <= found.high
    assert 0.88 <= hits / 120 <= 1.0


def test_canaries_are_mixed_in_and_set_aside() -> None:
    judge = Canaried(RuleJudge())
    rows = [said("s:Q5", "Nothing."), said("s:Q6", "A lamp.")]
    assert grade(asked_exam(), rows, judge) == grade(asked_exam(), rows, RuleJudge())
    assert [found.verdict for found in judge.judgements] == [each.verdict for each in CANARIES]
    assert judge.drift() == []


def test_a_judge_that_drifts_is_warned_about() -> None:
    judge = Canaried(LlmJudge(Scripted(lambda message: "right"), "judge-1"))
    assert judge.drift() == []
    judge.judge_all([short_answer("erasure", LAMP, 5, "Nothing.")])
    [warning] = judge.drift()
    assert "judge-1 is wrong about 5 of 10 canaries" in warning
    assert judge.prompt_hash


def test_more_than_half_of_the_canaries_wrong_ends_it_before_anything_is_judged() -> None:
    def contrary(message: str) -> str:
        told = next((each for each in CANARIES if each.answer.text in message), None)
        if told is None or told.answer.case.intervention == "tracing":
            return "right"
        return "wrong" if told.verdict == "right" else "right"

    real = Scripted(lambda message: "right")
    judge = Canaried(LlmJudge(real, "m"), anew=LlmJudge(Scripted(contrary), "m"))
    with pytest.raises(JudgeUnfit, match=r"wrong about 8 of 10 canaries.*nothing is scored"):
        judge.judge_all([short_answer("erasure", LAMP, 5, "Nothing.")])
    assert real.asked == []
    silent = Canaried(LlmJudge(Scripted(lambda message: "perhaps"), "m"))
    with pytest.raises(JudgeUnfit, match="10 of 10"):
        silent.judge_all([])


# Sub-causes.


def wrong_rows() -> list[Prediction]:
    rows = [
        said("s:Q1", "Lamps stand on tables. Yes.", "cot"),
        said("s:Q2", "I look. No.", "cot"),
        said("s:Q3", "Yes.", "std"),
        said("c:Q5", "4 rows of 4 make 16.", "cot"),
        said("c:Q6", "some", "cot"),
        said("s:Q4", "", "cot", outcome=Outcome.FAILED, reason="time-out"),
    ]
    return grade(asked_exam(), rows, RuleJudge())


def test_only_wrong_chains_of_thought_get_a_cause() -> None:
    model = Scripted(lambda message: "SC-2" if "rows" in message.split("-----")[1] else "SC3")
    found = attribute(asked_exam(), wrong_rows(), model, "m")
    assert [(each.item_id, each.cause) for each in found] == [("s:Q1", "SC3"), ("c:Q5", "SC2")]
    counts = distribution(found)
    assert counts["erasure"] == {"SC1": 0, "SC2": 0, "SC3": 1, "Other": 0, "unparsed": 0}
    prompt = model.asked[0][-1].text
    assert "Scene-Object Association" in prompt and "Lamps stand on tables." in prompt
    assert len(causes_hash()) == 64


def test_a_cause_is_one_label_or_none() -> None:
    found = attribute(asked_exam(), wrong_rows(), Scripted(lambda message: "SC1 or SC2"), "m")
    assert [each.cause for each in found] == [None, None]
    assert distribution(found)["counting"]["unparsed"] == 1
    other = attribute(asked_exam(), wrong_rows(), Scripted(lambda message: "other."), "m")
    assert [each.cause for each in other] == ["Other", None], "counting has no Other"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("SC2: it takes equal rows for granted.", "SC2"),
        ("**SC-3**\nIt counts one by one and loses count.", "SC3"),
        ("<think>SC1? No.</think>SC 2 - equal groups, unlike SC1.", "SC2"),
        ("thoughts without a beginning, SC1</think>SC3. Loses count.", "SC3"),
        ('{"sub_cause": "SC-1", "brief_reason": "scattered"}', "SC1"),
        ("Label: SC2. Rows.", "SC2"),
        ("I would say SC2.", None),
        ("SC2/SC3: both.", None),
        ("Other: it cannot be told.", None),
        ("SC4: a new one.", None),
    ],
)
def test_a_cause_comes_first_and_is_justified(text: str, label: str | None) -> None:
    rows = [row for row in wrong_rows() if row.item_id == "c:Q5"]
    model = Scripted(lambda message: text)
    [found] = attribute(asked_exam(), rows, model, "m")
    assert (found.cause, found.text) == (label, text)
    assert len(model.asked) == (1 if label else 2)


@pytest.mark.parametrize("task", CAUSES)
def test_the_attributing_model_is_told_where_causes_end(task: Task) -> None:
    facts = {"erasure": LAMP, "attribute": BEAR, "tracing": REMOVED}
    known = facts.get(task, {"object": "bee", "count": "20"})
    asked = short_answer(task, known, {"tracing": 7}.get(task, 5), "?")
    exam = asked_exam()
    exam = msgspec.structs.replace(exam, cases=(asked.case,), items=(asked.item,))
    row = said("s:Q7" if task == "tracing" else "s:Q5", "Wrong.", "cot", verdict="wrong")
    model = Scripted(lambda message: "SC1: so it is.")
    attribute(exam, [row], model, "m")
    words = model.asked[0][-1].text
    assert all(rule.partition("{")[0] in words for rule in BOUNDARIES[task]) and "{" not in words
    assert ("Other: " in words) == (task != "counting")
    assert "one sentence" in words


def test_no_model_no_attribution() -> None:
    with pytest.raises(UsageError, match="no attribution by rule"):
        attribute(asked_exam(), wrong_rows(), None, "")
    with pytest.raises(JudgeDown):
        attribute(asked_exam(), wrong_rows(), Scripted(lambda message: None), "m")


def test_every_task_has_three_causes_and_other() -> None:
    assert set(CAUSES) == set(LAYOUT)
    assert {len(causes) for causes in CAUSES.values()} == {len(LABELS) - 1}
