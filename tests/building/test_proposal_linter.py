"""The linter: every rule is broken by a sentence of ours, and kept by a good one."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.building.proposal_parts import candidate

from groundfault.building.proposals.linter import RULES, Subject, errors, lint, warnings
from groundfault.building.records import Proposal

PUBLISHED = os.environ.get("GROUNDFAULT_HALLUSEG_PROPOSALS", "")

MIMICRY = Proposal(
    kind="surface",
    value="zebra",
    instruction="Cover the whole elephant with zebra stripes and keep its shape unchanged.",
    positive="elephant",
    negative="zebra",
)
ONTOLOGY = Proposal(
    kind="material",
    value="bronze",
    instruction="Turn the whole dog into solid bronze and keep its pose and the room unchanged.",
    positive="bronze sculpture",
    negative="living dog",
)
CONFLICT = Proposal(
    kind="context",
    value="desert",
    instruction="Put dunes around the boat and leave every pixel of the boat unchanged.",
    positive="boat",
    negative="camel",
)
REPLACEMENT = Proposal(
    kind="replace",
    value="bicycle",
    instruction="Change motorcycle on left to bicycle on left.",
    positive="motorcycle on left",
    negative="bicycle on left",
)
ERASURE = Proposal(
    kind="erase",
    value="",
    instruction="Remove the cup and preserve the table unchanged.",
    fields={
        "B_name": "cup",
        "A_location": "the top of the table",
        "remaining_at_A": "the table",
        "attribute_value": "white",
        "attribute_option_1": "white",
        "attribute_option_2": "red",
        "attribute_option_3": "blue",
        "absurd_object_1": "camel",
        "absurd_object_2": "igloo",
    },
)
ATTRIBUTE = Proposal(
    kind="recolour",
    value="blue",
    instruction="Change the colour of the banana to a muted blue; preserve the bowl unchanged.",
    fields={
        "A_object": "banana",
        "B_original_attribute": "yellow",
        "C_new_attribute": "blue",
        "D_location": "left of the bowl",
        "wrong_location_1": "right of the bowl",
    },
)
TRACING = Proposal(
    kind="erase",
    value="",
    instruction="Remove the left cup and preserve the table unchanged.",
    fields={
        "edit_type": "delete",
        "A": "the top of the table",
        "A_prime": "the upper left of the picture",
        "B": "cup",
        "B_prime": "chair",
        "C": "was removed",
    },
)
GOOD = {
    "SM": (MIMICRY, Subject(task="SM", category="elephant")),
    "OC": (ONTOLOGY, Subject(task="OC", category="dog")),
    "CC": (CONFLICT, Subject(task="CC", category="boat")),
    "replacement": (REPLACEMENT, Subject(task="replacement", category="motorcycle")),
    "erasure": (ERASURE, Subject(task="erasure", category="cup")),
    "attribute": (ATTRIBUTE, Subject(task="attribute", category="banana")),
    "tracing": (TRACING, Subject(task="tracing", category="cup", others=1)),
}

BAD: list[tuple[str, str, dict[str, Any]]] = [
    ("Q-form", "SM", {"instruction": "Cover <b>it</b> and keep the rest unchanged."}),
    ("Q-form", "SM", {"instruction": ""}),
    ("Q-type", "SM", {"kind": "material"}),
    ("Q-stays", "SM", {"instruction": "Cover the whole elephant with zebra stripes."}),
    ("Q-article", "SM", {"negative": "a zebra"}),
    ("Q-atomic", "SM", {"negative": "zebra and giraffe"}),
    ("Q-atomic", "SM", {"negative": "small young striped zebra"}),
    ("Q-atomic", "SM", {"negative": ""}),
    ("Q-quantity", "SM", {"negative": "two zebras"}),
    ("Q-context", "CC", {"negative": "street animal"}),
    ("Q-context", "CC", {"negative": "beach dog"}),
    ("Q-vague", "CC", {"negative": "beach equipment"}),
    ("Q-scene", "CC", {"negative": "stadium"}),
    ("Q-denied", "CC", {"negative": "fat man"}),
    ("Q-other", "SM", {"negative": "Elephant"}),
    ("Q-vocabulary", "SM", {"negative": "florbit"}),
    ("Q-positive", "SM", {"positive": "bus"}),
    ("SM-12", "SM", {"negative": "grey elephant"}),
    ("SM-6", "SM", {"instruction": "Make it a solid marble statue; keep its shape unchanged."}),
    ("SM-5", "SM", {"instruction": "Show a photo of a zebra on it; keep its shape unchanged."}),
    ("SM-11", "SM", {"instruction": "Stripe the left half; keep its shape unchanged."}),
    ("OC-5", "OC", {"instruction": "Turn the dog's fur into bronze; keep the room unchanged."}),
    ("OC-5", "OC", {"instruction": "A bronze coating covers the dog; keep the room unchanged."}),
    ("OC-9", "OC", {"positive": "bronze dog"}),
    ("OC-10", "OC", {"negative": "dog"}),
    ("OC-negative", "OC", {"negative": "living cat"}),
    ("CC-8", "CC", {"value": "lake"}),
    ("CC-5", "CC", {"instruction": "Paint the boat red on dunes; keep its shape unchanged."}),
    ("HS-form", "replacement", {"instruction": "Turn it into a bicycle."}),
    ("HS-form", "replacement", {"instruction": "Change X to Y.\nChange Y to Z."}),
    ("HS-type", "replacement", {"kind": "erase"}),
    ("HS-length", "replacement", {"negative": "very " * 20 + "old bicycle"}),
    ("HS-3", "replacement", {"negative": "vehicle"}),
    ("HS-4", "replacement", {"value": "apple", "negative": "apple"}),
    ("HS-5", "replacement", {"negative": "police motorcycle"}),
    ("HS-5k", "replacement", {"negative": "old motorbike"}),
    ("HS-5k", "replacement", {"negative": "moped"}),
    ("HS-5c", "replacement", {"negative": "supermotorcyclewagon"}),
    ("HS-6", "replacement", {"negative": "motorcycle on left"}),
    ("HS-8a", "replacement", {"negative": "the bicycle"}),
    ("HS-8i", "replacement", {"instruction": "Change motorcycle on the left to bicycle."}),
    ("HS-8q", "replacement", {"negative": "pair of bicycles"}),
    ("HS-denied", "replacement", {"negative": "old lady"}),
    ("RB-form", "erasure", {"instruction": "**Remove** the cup, preserve the rest."}),
    ("RB-type", "erasure", {"kind": "surface"}),
    ("RB-stays", "erasure", {"instruction": "Remove the cup."}),
    ("RB-denied", "erasure", {"fields": {"B_name": "tall woman"}}),
    ("RB-english", "erasure", {"fields": {"B_name": "杯子"}}),
    ("RE-blank", "erasure", {"fields": {"B_name": " "}}),
    ("RE-B", "erasure", {"fields": {"B_name": "a cup"}}),
    ("RE-B", "erasure", {"fields": {"B_name": "very " * 12 + "cup"}}),
    ("RE-A", "erasure", {"fields": {"A_location": "on the table"}}),
    ("RE-A", "erasure", {"fields": {"A_location": "the place of the cups"}}),
    ("RE-remaining", "erasure", {"fields": {"B_name": "cup", "remaining_at_A": "a cup"}}),
    ("RE-options", "erasure", {"fields": {"attribute_value": "red", "attribute_option_1": "blue"}}),
    ("RE-absurd", "erasure", {"fields": {"absurd_object_1": "mug"}}),
    ("RA-glaring", "attribute", {"instruction": "Make it neon blue; preserve the rest."}),
    ("RA-usual", "attribute", {"value": "green"}),
    ("RA-concrete", "attribute", {"fields": {"B_original_attribute": "natural yellow"}}),
    ("RA-differ", "attribute", {"fields": {"B_original_attribute": "blue",
                                           "C_new_attribute": "Blue"}}),
    ("RA-places", "attribute", {"fields": {"D_location": "here", "wrong_location_2": "here"}}),
    ("RA-self", "attribute", {"fields": {"A_object": "rope", "D_location": "on the rope"}}),
    ("RT-operation", "tracing", {"fields": {"edit_type": "move"}}),
    ("RT-measure", "tracing", {"instruction": "Move the cup 20 cm; preserve the rest."}),
    ("RT-A", "tracing", {"fields": {"A": "on the table"}}),
    ("RT-A", "tracing", {"fields": {"A": "the table", "A_prime": "the table"}}),
    ("RT-B", "tracing", {"fields": {"B": "the cup"}}),
    ("RT-B", "tracing", {"fields": {"B": "cup", "B_prime": "mug"}}),
    ("RT-C", "tracing", {"fields": {"C": "disappeared"}}),
    ("RT-options", "tracing", {"fields": {"choice_2a_1": "same", "choice_2a_3": "same"}}),
    ("RT-length", "tracing", {"fields": {"choice_3a_1": "the cup"}}),
]  # fmt: skip


@pytest.mark.parametrize("task", GOOD)
def test_good_proposals_break_no_rule(task: str) -> None:
    assert lint(*GOOD[task]) == ()


@pytest.mark.parametrize(("rule", "task", "changes"), BAD)
def test_each_rule_is_found_broken(rule: str, task: str, changes: dict[str, Any]) -> None:
    proposal, subject = GOOD[task]
    found = {v.rule: v for v in lint(msgspec.structs.replace(proposal, **changes), subject)}
    assert rule in found
    assert found[rule].found and found[rule].says
    assert rule not in {v.rule for v in lint(proposal, subject)}


def test_every_rule_has_a_sentence_that_breaks_it() -> None:
    lint(*GOOD["SM"])
    elsewhere = {"Q-absent", "OC-alone", "HS-2", "HS-question", "RT-delete"}
    assert {*RULES} == {rule for rule, *_ in BAD} | elsewhere


def test_what_is_in_the_picture_is_no_negative() -> None:
    proposal, subject = GOOD["SM"]
    seen = msgspec.structs.replace(subject, present=frozenset({"zebra", "tree"}))
    assert [v.rule for v in errors(lint(proposal, seen))] == ["Q-absent"]
    replacement, subject = GOOD["replacement"]
    seen = msgspec.structs.replace(subject, present=frozenset({"bike"}))
    assert [v.rule for v in errors(lint(replacement, seen))] == ["HS-2"]


def test_the_original_category_must_not_remain_after_an_ontological_conflict() -> None:
    proposal, subject = GOOD["OC"]
    crowd = msgspec.structs.replace(subject, others=2)
    assert [v.rule for v in errors(lint(proposal, crowd))] == ["OC-alone"]


def test_the_only_one_is_not_deleted() -> None:
    proposal, subject = GOOD["tracing"]
    alone = msgspec.structs.replace(subject, others=0)
    assert [v.rule for v in errors(lint(proposal, alone))] == ["RT-delete"]


@pytest.mark.parametrize(
    ("rewritten", "broken"),
    [
        ("What can people ride with their own strength?", False),
        ("", True),
        ("What can people ride fast?", True),
        ("Show what people ride slowly", True),
        ("Which bicycle can people ride?", True),
    ],
)
def test_rewritten_questions(rewritten: str, broken: bool) -> None:
    proposal, subject = GOOD["replacement"]
    fields = {"question": "What can people ride fast?", "counterfactual_question": rewritten}
    found = lint(msgspec.structs.replace(proposal, fields=fields), subject)
    assert ("HS-question" in {v.rule for v in found}) is broken


def test_a_rule_can_be_switched_off_and_warnings_stay() -> None:
    proposal, subject = GOOD["OC"]
    plain = msgspec.structs.replace(proposal, negative="dog")
    found = lint(plain, subject)
    assert not errors(found)
    assert warnings(found) == ("OC-10",)
    assert lint(plain, subject, without=["OC-10"]) == ()


def test_a_candidate_says_what_else_is_in_the_picture() -> None:
    subject = Subject.of(candidate("replacement", target=3))
    assert subject.present == {"cat", "chair", "cup", "dining table"}
    assert subject.others == 1


@pytest.mark.skipif(not PUBLISHED, reason="GROUNDFAULT_HALLUSEG_PROPOSALS is not set")
def test_the_published_replacements() -> None:
    """HalluSegBench's own 1,411 proposals, of which the numbers are known."""
    records = msgspec.json.decode(Path(PUBLISHED).read_bytes())
    broken: Counter[str] = Counter()
    for record in records:
        proposal = Proposal(
            kind="replace",
            value="",
            instruction=record["gpt_instruction"],
            positive=record["original_label"],
            negative=record["new_label"],
        )
        subject = Subject(task="replacement", category=record["label"])
        broken.update(violation.rule for violation in lint(proposal, subject))
    assert len(records) == 1411
    assert broken["HS-form"] == 0
    assert (broken["HS-8a"], broken["HS-8i"]) == (443, 486)
    assert (broken["HS-5"], broken["HS-5c"]) == (44, 8)
