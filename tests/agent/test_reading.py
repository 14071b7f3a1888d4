"""Replies: untrusted text becomes one of four calls or a problem."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundfault.agent.dialling import native_messages
from groundfault.agent.reading import (
    LONGEST_REPLY,
    Broken,
    Call,
    ExamineMasks,
    ReportNoMask,
    SegmentPhrase,
    SelectMasks,
    read_reply,
    written,
)


@pytest.mark.parametrize(
    ("text", "call"),
    [
        (
            '<think>a</think>\n<tool>{"name": "segment_phrase", "parameters": {"text_prompt": '
            '" toy\\n tiger "}}</tool>',
            SegmentPhrase("toy tiger"),
        ),
        (
            '<tool>{"name": "examine_masks", "parameters": {"mask_indices": [1, 3]}}</tool>',
            ExamineMasks([1, 3]),
        ),
        (
            '<tool>```json\n{"name": "select_masks_and_return", "parameters": '
            '{"final_answer_masks": [2]}}\n```</tool>',
            SelectMasks([2]),
        ),
        ('<tool>{"name": "report_no_mask", "parameters": {}}', ReportNoMask()),
        ('<tool>{"name": "report_no_mask"}</tool> ', ReportNoMask()),
        (
            '<think>I could say <tool>{"name": "segment_phrase"}</tool>.</think>'
            '<tool>{"name": "report_no_mask"}</tool>',
            ReportNoMask(),
        ),
    ],
)
def test_calls(text: str, call: Call) -> None:
    assert read_reply(text).call == call


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no tool call"),
        ("Let me see.", "no tool call"),
        ("<tool>{}</tool><tool>{}</tool>", "2 tool calls"),
        ('<tool>{"name": "report_no_mask"</tool>', "not valid JSON"),
        ("<tool>os.remove('x')</tool>", "not valid JSON"),
        ('<tool>["report_no_mask"]</tool>', "expected object, got array"),
        ('<tool>{"parameters": {}}</tool>', "missing required field name"),
        ('<tool>{"name": "report_no_mask", "arguments": {}}</tool>', "unknown field arguments"),
        ('<tool>{"name": "run_shell", "parameters": {}}</tool>', "There is no tool 'run_shell'"),
        ('<tool>{"name": "examine_masks", "parameters": {}}</tool>', "mask_indices"),
        (
            '<tool>{"name": "examine_masks", "parameters": {"mask_indices": []}}</tool>',
            "mask_indices: expected array of length >= 1",
        ),
        (
            '<tool>{"name": "examine_masks", "parameters": {"mask_indices": ["1"]}}</tool>',
            "expected int, got str",
        ),
        (
            '<tool>{"name": "examine_masks", "parameters": {"mask_indices": [true]}}</tool>',
            "expected int, got bool",
        ),
        (
            '<tool>{"name": "segment_phrase", "parameters": {"text_prompt": "a", "path": "/x"}}'
            "</tool>",
            "unknown field path",
        ),
        (
            '<tool>{"name": "segment_phrase", "parameters": {"text_prompt": " .. "}}</tool>',
            "no word",
        ),
        (
            f'<tool>{{"name": "segment_phrase", "parameters": {{"text_prompt": "{"a" * 101}"}}}}'
            "</tool>",
            "length <= 100",
        ),
        ('<tool>{"name": "report_no_mask", "parameters": {"a": ' + "[" * 20_000, "not valid JSON"),
        ("x" * (LONGEST_REPLY + 1), "longer than"),
    ],
)
def test_broken_calls_are_told_what_is_wrong(text: str, problem: str) -> None:
    call = read_reply(text).call
    assert isinstance(call, Broken)
    assert problem in call.problem
    assert len(call.problem) < 400


def test_a_tool_that_was_taken_away() -> None:
    reply = read_reply(
        '<tool>{"name": "examine_masks", "parameters": {"mask_indices": [1]}}</tool>',
        ["segment_phrase", "report_no_mask"],
    )
    assert isinstance(reply.call, Broken)
    assert reply.call.problem.endswith("The tools are segment_phrase, report_no_mask.")


def test_control_characters_do_not_reach_the_segmenter() -> None:
    reply = read_reply(
        '<tool>{"name": "segment_phrase", "parameters": '
        '{"text_prompt": "ti\\u0000\\u202eger"}}</tool>'
    )
    assert reply.call == SegmentPhrase("tiger")


@given(st.text(st.sampled_from('<>/toolthink{}[]",:1 name')) | st.text())
def test_any_text_is_read(text: str) -> None:
    assert read_reply(text).call is not None


def test_reading_takes_linear_time() -> None:
    started = time.perf_counter()
    for text in ("<think>" * 4500, "<tool>" * 5000, "<think><tool></think>" * 1500):
        read_reply(text)
    assert time.perf_counter() - started < 2.0


def test_native_calls_there_and_back() -> None:
    text = written("Look </tool> closely.", [("segment_phrase", '{"text_prompt": "<tool>"}')])
    reply = read_reply(text)
    assert reply.call == SegmentPhrase("<tool>") and reply.thought == "Look </tool> closely."
    assert isinstance(read_reply(written("", [("report_no_mask", "{broken")])).call, Broken)
    two = written("", [("report_no_mask", "{}"), ("report_no_mask", "{}")])
    problem = read_reply(two).call
    assert isinstance(problem, Broken) and "2 tool calls" in problem.problem


def test_native_conversation() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:,"}}
    messages = native_messages(
        [
            {"role": "system", "content": "rules"},
            {"role": "user", "content": [{"type": "text", "text": "tiger?"}, image]},
            {"role": "assistant", "content": written("hm", [("report_no_mask", "{}")])},
            {"role": "user", "content": "not yet"},
            {"role": "assistant", "content": "what?"},
            {"role": "user", "content": "no tool call"},
            {
                "role": "assistant",
                "content": written("", [("segment_phrase", '{"text_prompt": "tiger"}')]),
            },
            {"role": "user", "content": [{"type": "text", "text": "1 mask"}, image]},
        ]
    )
    assert [m["role"] for m in messages] == [
        "system", "user", "assistant", "tool", "assistant", "user", "assistant", "tool", "user",
    ]  # fmt: skip
    assert messages[2]["tool_calls"][0]["function"] == {"name": "report_no_mask", "arguments": "{}"}
    assert messages[3]["tool_call_id"] == messages[2]["tool_calls"][0]["id"]
    assert messages[6]["tool_calls"][0]["function"]["arguments"] == '{"text_prompt":"tiger"}'
    assert messages[8]["content"] == [image]
