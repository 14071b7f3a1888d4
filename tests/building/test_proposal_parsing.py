"""Replies in the papers' forms: read strictly, and told what is wrong with them."""

from __future__ import annotations

import pytest

from groundfault.parsing.proposals import (
    NotInForm,
    parse_cafe,
    parse_change,
    parse_fields,
    parse_instruction,
    parse_json_fields,
    parse_line,
    parse_two_instructions,
)

CAFE = """<type>SM</type>
<edit_instruction>Stripe it all over, keep its shape.</edit_instruction>
<rationales>It looks like a zebra.</rationales>
<positive_prompt>elephant</positive_prompt>
<negative_prompt>zebra</negative_prompt>"""


@pytest.mark.parametrize("text", [CAFE, f"```xml\n{CAFE}\n```", f"<think>Zebra?</think>\n{CAFE}"])
def test_five_fields(text: str) -> None:
    found = parse_cafe(text)
    assert found is not None
    assert found["negative_prompt"] == "zebra"
    assert list(found) == [
        "type", "edit_instruction", "rationales", "positive_prompt", "negative_prompt",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["None", " none.\n", "`None`", "<think>no</think>None"])
def test_none_is_an_answer(text: str) -> None:
    assert parse_cafe(text) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "<type> is missing"),
        ("None, because it is too small.", "<type> is missing"),
        (CAFE.replace("<rationales>", "<rationale>"), "<rationales> is missing"),
        (CAFE + CAFE, "occurs 2 times"),
        ("Here you are:\n" + CAFE, "outside of the five fields"),
        (CAFE.replace("zebra</neg", "<b>zebra</b></neg"), "markup"),
        (CAFE.replace("zebra</neg", "z" * 1500 + "</neg"), "be brief"),
        (CAFE.replace("elephant", " "), "is empty"),
        ("x" * 30_000, "be brief"),
    ],
)
def test_broken_fields(text: str, told: str) -> None:
    with pytest.raises(NotInForm, match=told):
        parse_cafe(text)


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("Change red tie to blue scarf.", ("red tie", "blue scarf")),
        ('change "cake" to "cheese"', ("cake", "cheese")),
        ("Change cup next to plate to bowl.", ("cup next to plate", "bowl")),
        (
            "Change boat in front to the left to red buoy.",
            ("boat in front to the left", "red buoy"),
        ),
        ("Change right cow to right sheep.", ("right cow", "right sheep")),
    ],
)
def test_changes(text: str, pair: tuple[str, str]) -> None:
    assert parse_change(text) == pair


@pytest.mark.parametrize(
    "text",
    [
        "Replace the tie with a scarf.",
        "Change tie.",
        "Change tie to scarf.\nChange cow to pig.",
        "Change bowl to container to mug.",
        "",
        "Change tie to <script>alert(1)</script>.",
    ],
)
def test_no_changes(text: str) -> None:
    with pytest.raises(NotInForm):
        parse_change(text)


def test_instructions() -> None:
    assert parse_instruction("Image editing instruction: Remove it.") == "Remove it."
    assert parse_instruction("Current instance is not applicable") is None
    for wrong in ("Remove it.", "Image editing instruction:", "**Image editing instruction:** x",
                  "Image editing instruction: a\nb"):  # fmt: skip
        with pytest.raises(NotInForm):
            parse_instruction(wrong)


def test_two_instructions() -> None:
    lines = "Instruction A (colour): Blue.\n\nInstruction B (material): Wood."
    assert parse_two_instructions(lines) == (("color", "Blue."), ("material", "Wood."))
    assert parse_two_instructions("not applicable") is None
    for wrong in (
        "Instruction A (color): Blue.",
        "Instruction A (color): Blue.\nInstruction B (color): Red.",
        "Instruction A (taste): Sweet.\nInstruction B (color): Red.",
        "Instruction B (color): Blue.\nInstruction A (material): Wood.",
        "Sure!\n" + lines,
    ):
        with pytest.raises(NotInForm):
            parse_two_instructions(wrong)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("edit_type: move", "field B is missing"),
        ("edit_type: move\nB:", "field B is missing or empty"),
        ("edit_type: move\nB: cup\nB: mug", "occurs twice"),
        ("edit_type: move\nB: cup\nD: x", "no field 'D'"),
        ("- **edit_type**: move", "name: value"),
        ("edit_type: move\nB: <b>cup</b>", "markup"),
    ],
)
def test_broken_lines(text: str, told: str) -> None:
    with pytest.raises(NotInForm, match=told):
        parse_fields(text, ("edit_type", "B"))


def test_lines() -> None:
    found = parse_fields("edit_type: move\nB: cup\nnote: 杯子", ("edit_type", "B"), ("note",))
    assert found == {"edit_type": "move", "B": "cup", "note": "杯子"}
    assert parse_fields("edit_type: not_applicable", ("edit_type", "B")) is None
    with pytest.raises(NotInForm, match="2 lines"):
        parse_line("one\ntwo")


@pytest.mark.parametrize(
    "text",
    ['{"a": "x"', "[1]", '{"a": {"b": 1}}', '{"a": "x", "c": "y"}', '{"a": ""}', '{"b": "x"}',
     '{"a": "x"} trailing', "[" * 100_000, '{"\ud800": "x"}'],
)  # fmt: skip
def test_broken_json(text: str) -> None:
    with pytest.raises(NotInForm):
        parse_json_fields(text, ("a",))


def test_json() -> None:
    assert parse_json_fields('```json\n{"a": true}\n```', ("a",), ("b",)) == {"a": "true"}
