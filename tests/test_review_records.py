"""Items to review, decisions, and what follows from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from groundfault.building.records import Question
from groundfault.building.review import (
    ADJUDICATION,
    WARM_UP,
    Decision,
    ReviewItem,
    consensus,
    is_same_exam,
    items_file,
    question_problems,
    read_decisions,
    read_items,
    settle,
    write_decisions,
    write_items,
)
from groundfault.building.review_rules import (
    load_protocol,
    load_protocols,
    own_protocols,
    rules_in_force,
    write_rules,
)
from groundfault.errors import DataError, UsageError

CAFE = load_protocols(["cafe"])["cafe"]
REACT = load_protocols(["reactbench"])["reactbench"]
MASK: Any = {"size": (2, 2), "counts": "0120"}


def item(kind: str = "SM", **more: Any) -> ReviewItem:
    texts = {"positive": "elephant", "negative": "zebra"}
    return ReviewItem(
        **{"id": "1", "protocol": "cafe", "kind": kind, "before": "a.png", "after": "b.png",
           "texts": texts, **more}
    )  # fmt: skip


def said(reviewer: str, stage: str, verdict: str = "accept", **more: Any) -> Decision:
    return Decision(item_id="1", stage=stage, reviewer=reviewer, verdict=verdict, **more)  # type: ignore[arg-type]


THROUGH = [said("a", "screening"), said("a", "detail")]


@pytest.mark.parametrize(
    ("verdicts", "state"),
    [
        (["accept"] * 3, "accept"),
        (["accept", "accept", "reject"], "accept"),
        (["accept", "reject", "reject"], "reject"),
        (["accept", "accept"], "open"),
        (["accept", "accept", "skip"], "open"),
    ],
)
def test_two_of_three_keep_an_item(verdicts: list[Any], state: str) -> None:
    assert consensus(verdicts, 3, 2) == state


def test_an_item_goes_from_stage_to_stage() -> None:
    assert settle(item(), [], CAFE).stage == "screening"
    assert settle(item(), THROUGH[:1], CAFE).stage == "detail"
    assert settle(item(), [said("a", "screening", "reject")], CAFE).state == "rejected"
    votes = [said(name, "cross-check", verdict) for name, verdict in
             (("a", "accept"), ("b", "accept"), ("c", "reject"))]  # fmt: skip
    assert settle(item(), [*THROUGH, *votes[:2]], CAFE).state == "open"
    found = settle(item(), [*THROUGH, *votes], CAFE)
    assert (found.state, found.votes) == ("accepted", {"accept": 2, "reject": 1})


def test_ontological_conflicts_need_all_three() -> None:
    votes = [said(name, "cross-check") for name in "ab"]
    no = said("c", "cross-check", "reject", reasons=("OC-8",))
    found = settle(item("OC"), [*THROUGH, *votes, no], CAFE)
    assert (found.state, found.reasons) == ("rejected", ("OC-8",))
    assert (
        settle(item("OC"), [*THROUGH, *votes, said("c", "cross-check")], CAFE).state == "accepted"
    )


def test_what_was_taken_back_or_learned_from_does_not_count() -> None:
    taken_back = said("a", "screening", "reject", undone=True)
    learned = said("a", WARM_UP, "reject")
    assert settle(item(), [taken_back, learned], CAFE).state == "open"
    again = [taken_back, said("a", "screening")]
    assert settle(item(), again, CAFE).stage == "detail"


def test_flagged_and_split_items_wait_for_an_adjudicator_whose_word_is_the_last() -> None:
    flagged = [said("a", "screening", flagged=True)]
    assert settle(item(), flagged, CAFE).state == "split"
    ruling = said("judge", ADJUDICATION + "screening", "reject")
    assert settle(item(), [*flagged, ruling], CAFE).state == "rejected"
    two = REACT.with_overlap(2)
    split = [said("a", "picture"), said("b", "picture", "reject")]
    assert settle(item(), split, two).state == "split"


def test_corrections_are_carried_on_and_the_frequent_wording_wins() -> None:
    detail = said("a", "detail", texts={"positive": "grey elephant"}, mask=MASK)
    found = settle(item(), [said("a", "screening"), detail], CAFE)
    assert found.item.texts == {"positive": "grey elephant", "negative": "zebra"}
    assert found.item.mask == MASK
    votes = [
        said("a", "cross-check", texts={"negative": "a zebra"}),
        said("b", "cross-check"),
        said("c", "cross-check", "reject", texts={"negative": "horse"}),
    ]
    last = settle(item(), [said("a", "screening"), detail, *votes], CAFE)
    assert last.item.texts["negative"] == "zebra"  # one each: the later of both stands
    assert item().texts["positive"] == "elephant"


def test_the_new_thing_s_mask_is_corrected_where_there_is_one() -> None:
    with_new = item(
        mask={"size": (2, 2), "counts": "4"}, mask_after={"size": (2, 2), "counts": "4"}
    )
    found = settle(with_new, [said("a", "screening"), said("a", "detail", mask=MASK)], CAFE).item
    assert (found.mask, found.mask_after) == ({"size": (2, 2), "counts": "4"}, MASK)


def question(**more: Any) -> Question:
    plain = {"number": 1, "type": "YN", "dimension": "", "query": "Is it?", "reference": "yes"}
    return Question(**{**plain, **more})


def test_the_stage_of_questions_is_for_items_that_have_some() -> None:
    assert settle(item(), [said("a", "picture")], REACT).state == "accepted"
    exam = item(questions=(question(),))
    assert settle(exam, [said("a", "picture")], REACT).stage == "questions"
    better = said("b", "questions", questions=(question(query="Is it so?"),))
    found = settle(exam, [said("a", "picture"), better], REACT)
    assert (found.state, found.item.questions[0].query) == ("accepted", "Is it so?")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, None),
        ({"query": " "}, "empty"),
        ({"reference": "maybe"}, "yes or no"),
        ({"reference": "Yes"}, "yes or no"),  # a release has it in small letters
        ({"type": "SA", "reference": ""}, "key is empty"),
        ({"type": "SA", "reference": "a board"}, "what is right"),
        ({"type": "SA", "reference": "a board", "rubric": "Right: says board."}, None),
        ({"type": "MC", "options": ("a",), "reference": "A"}, "at least two"),
        ({"type": "MC", "options": ("a", " A "), "reference": "A"}, "same"),
        ({"type": "MC", "options": ("a", "b"), "reference": "C"}, "from A to B"),
        ({"type": "MC", "options": ("a", "b"), "reference": ""}, "from A to B"),
        ({"type": "MC", "options": ("a", "b"), "reference": "AB"}, "from A to B"),
        ({"type": "MC", "options": ("a", "b"), "reference": "B"}, None),
        ({"query": "word " * 61}, "60 words"),
    ],
)
def test_corrected_questions_are_checked(changes: dict[str, Any], words: str | None) -> None:
    found = question_problems([question(**changes)])
    assert found == {} if words is None else words in found[0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"reference": "no"}, None),
        ({"reference": "no", "query": "Was it?"}, "other words"),
        ({"reference": "yes"}, "same key"),
        ({"reference": "no", "number": 2}, None),  # it goes with no other
    ],
)
def test_a_twin_has_the_same_words_and_another_key(
    changes: dict[str, Any], words: str | None
) -> None:
    found = question_problems([question(), question(twin=True, **changes)])
    assert found == {} if words is None else words in found[1]


def test_an_exam_stays_the_same_exam_with_other_words_and_keys() -> None:
    choice = question(type="MC", options=("a", "b"), reference="A")
    asked = [question(), choice]
    assert is_same_exam(asked, [question(query="Was it?", reference="no"), choice])
    others = [[], asked[:1], asked[::-1], [question(twin=True), choice],
              [question(type="SA"), choice],
              [asked[0], question(type="MC", options=("a", "b", "c"), reference="A")]]  # fmt: skip
    assert not any(is_same_exam(asked, other) for other in others)


DECISIONS = [
    said("ä <b>", "screening", reasons=("SM-1", "mask"), seconds=1.5, time="2026-01-01T00:00:00Z"),
    said("b", "detail", "skip", texts={"positive": "x"}, mask=MASK, comment='"', flagged=True),
    said("b", "questions", questions=(question(options=("a", "b")),), undone=True),
]


@pytest.mark.parametrize("name", ["decisions.jsonl", "decisions.parquet"])
@pytest.mark.parametrize("decisions", [DECISIONS, []])
def test_decisions_come_back_as_they_were(
    tmp_path: Path, name: str, decisions: list[Decision]
) -> None:
    write_decisions(tmp_path / name, decisions)
    assert read_decisions(tmp_path / name) == decisions


def test_unsound_files_are_named_with_their_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        list(read_items(tmp_path))
    write_items(tmp_path, [item(), item(id="2")])
    assert [found.id for found in read_items(tmp_path)] == ["1", "2"]
    items_file(tmp_path).write_bytes(items_file(tmp_path).read_bytes() * 2)
    with pytest.raises(DataError, match="line 3: id '1' twice"):
        list(read_items(tmp_path))
    for broken in ("{", "[]", '{"id": "1"}', '{"id": "\\ud800"}'):
        items_file(tmp_path).write_text(broken)
        with pytest.raises(DataError, match="line 1"):
            list(read_items(tmp_path))
    (tmp_path / "d.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match="not a readable table"):
        read_decisions(tmp_path / "d.parquet")
    with pytest.raises(UsageError, match="decisions are written as"):
        write_decisions(tmp_path / "d.csv", [])


OWN = """
name = "mine"
title = "Mine"
[[stages]]
name = "only"
title = "Only"
question = "Good?"
opinions = 2
agree = 2
overlap = true
[[reasons]]
id = "bad"
words = "bad"
"""


def test_a_protocol_of_one_s_own_lies_beside_the_items(tmp_path: Path) -> None:
    write_items(tmp_path, [item(protocol="mine")])
    with pytest.raises(UsageError, match="'mine', which is no protocol"):
        load_protocols(["mine"])
    (tmp_path / "review" / "mine.toml").write_text(OWN)
    mine = load_protocols(["mine"], own_protocols(tmp_path))["mine"]
    assert (
        settle(item(), [said("a", "only"), said("b", "only", "reject")], mine).state == "rejected"
    )
    assert load_protocols(["mine"], own_protocols(tmp_path), overlap=3)["mine"].stages[0].agree == 3


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("agree = 2", "agree = 3", "cannot agree"),
        ('id = "bad"', 'id = "b:d"', "no ':'"),
        ("overlap = true", 'reasons = ["worse"]', "no reason is called 'worse'"),
        ("overlap = true", "overlap = 3", "stages"),
        ("overlap = true", "overlaps = true", "overlaps"),
        ("opinions = 2", "opinions = 0", "stages"),
    ],
)
def test_wrong_protocols_are_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(OWN.replace(old, new))
    with pytest.raises(DataError, match=words):
        load_protocol(path)


def test_items_are_plain_json(tmp_path: Path) -> None:
    write_items(tmp_path, [item(mask=MASK)])
    found = json.loads(items_file(tmp_path).read_text())
    assert found["mask"] == {"size": [2, 2], "counts": "0120"}
    assert found["gold"] is None


def test_a_build_concludes_by_what_the_desk_asked(tmp_path: Path) -> None:
    assert rules_in_force(tmp_path, "cafe") == CAFE
    write_rules(tmp_path, load_protocols(["cafe"], overlap=1))
    votes = [*THROUGH, said("a", "cross-check")]
    assert settle(item(), votes, CAFE).state == "open"
    assert settle(item(), votes, rules_in_force(tmp_path, "cafe")).state == "accepted"
    (tmp_path / "review" / "rules.json").write_text("[]")
    with pytest.raises(DataError, match=r"rules\.json"):
        rules_in_force(tmp_path, "cafe")
