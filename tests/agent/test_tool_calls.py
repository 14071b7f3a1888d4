"""Replies: untrusted text becomes one of four calls or a problem."""

from __future__ import annotations

import json
import time

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.agent.parts import found, reply

from groundfault.llm.openai_chat import openai
from groundfault.llm.server import ChatOptions
from groundfault.models.agent import Episode, Scene, Settings, replay, tools, trace_of
from groundfault.parsing.tool_calls import (
    LONGEST_REPLY,
    TOOLS,
    Call,
    ExamineMasks,
    InvalidCall,
    ReportNoMask,
    SegmentPhrase,
    SelectMasks,
    normalise_phrase,
    parse_reply,
    write_calls,
)
from groundfault.records import Message, Outcome, Picture, ToolCall


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
    assert parse_reply(text).call == call


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
        ('<tool>{"name": "report_no_mask", "name": "segment_phrase"}</tool>', "'name' twice"),
        (
            '<tool>{"name": "segment_phrase", "parameters": {"text_prompt": "cat", '
            '"text_prompt": "dog"}}</tool>',
            "'text_prompt' twice",
        ),
        (
            '<tool>{"name": "examine_masks", "parameters": {"mask_indices": [NaN]}}</tool>',
            "not valid JSON",
        ),
        (
            '<tool>{"name": "examine_masks", "parameters": {"mask_indices": [1.5]}}</tool>',
            "expected int",
        ),
        (
            '<tool>{"name": "examine_masks", "parameters": {"mask_indices": [1e400]}}</tool>',
            "The ",
        ),
        (
            '<tool>{"name": "select_masks_and_return", "parameters": {"final_answer_masks": ['
            + "9" * 9000
            + "]}}</tool>",
            "The ",
        ),
        (
            '<tool>{"name": "examine_masks", "parameters": {"mask_indices": ['
            + ",".join("1" * 501)
            + "]}}</tool>",
            "length <= 500",
        ),
        (
            '<tool>{"name": "examine_masks", "parameters": {"mask_indices": ['
            + ",".join("1" * 1_000_000)
            + "]}}</tool>",
            "longer than",
        ),
        ('<tool>{"name": "\ud800"}</tool>', "not valid JSON"),
        (
            '<tool>{"name": "segment_phrase", "parameters": {"text_prompt": "'
            + "\ufb2c" * 60
            + '"}}</tool>',
            "over 100 characters",
        ),
    ],
)
def test_broken_calls_are_told_what_is_wrong(text: str, problem: str) -> None:
    call = parse_reply(text).call
    assert isinstance(call, InvalidCall)
    assert problem in call.problem
    assert len(call.problem) < 400


def test_a_tool_that_was_taken_away() -> None:
    reply = parse_reply(
        '<tool>{"name": "examine_masks", "parameters": {"mask_indices": [1]}}</tool>',
        ["segment_phrase", "report_no_mask"],
    )
    assert isinstance(reply.call, InvalidCall)
    assert reply.call.problem.endswith("The tools are segment_phrase, report_no_mask.")


def test_control_characters_do_not_reach_the_segmenter() -> None:
    reply = parse_reply(
        '<tool>{"name": "segment_phrase", "parameters": '
        '{"text_prompt": "ti\\u0000\\u202eger"}}</tool>'
    )
    assert reply.call == SegmentPhrase("tiger")


# Whatever a model says.

_keys = st.sampled_from(
    ["name", "parameters", "text_prompt", "mask_indices", "final_answer_masks", "path", "__class__"]
)
_words = st.sampled_from([*TOOLS, "open", "../../etc/passwd", "</tool>", "<think>"]) | st.text()
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_keys, inner, max_size=4),
    max_leaves=12,
)
_calls = st.builds(
    lambda name, parameters: {"name": name, "parameters": parameters},
    st.sampled_from(list(TOOLS)),
    st.dictionaries(_keys, st.lists(st.integers() | st.booleans() | st.floats()) | _words)
    | st.builds(lambda found: {"mask_indices": found}, st.lists(st.integers(-3, 70)))
    | st.builds(lambda found: {"final_answer_masks": found}, st.lists(st.integers(-3, 70)))
    | st.builds(lambda found: {"text_prompt": found}, _words)
    | st.just({}),
)


def _tagged(value: object, before: str, after: str, closed: bool) -> str:
    return f"{before}<tool>{json.dumps(value)}{'</tool>' * closed}{after}"


HOSTILE = (
    st.builds(_tagged, _json | _calls, st.text(max_size=20), st.text(max_size=20), st.booleans())
    | st.builds(_tagged, _calls, st.just("<think>so</think>"), st.just(""), st.just(True))
    | st.text(st.sampled_from('<>/toolthink{}[]",:1 name'))
    | st.text()
)


@given(HOSTILE)
def test_whatever_is_said_becomes_one_of_four_calls_or_a_problem(text: str) -> None:
    reply = parse_reply(text)
    call = reply.call
    if isinstance(call, InvalidCall):
        assert call.problem and len(call.problem) < 400
        return
    assert TOOLS[reply.tool] is type(call)
    if isinstance(call, SegmentPhrase):
        assert 0 < len(call.text_prompt) <= 100
        assert call.text_prompt.isprintable() and "\n" not in call.text_prompt
    elif isinstance(call, ExamineMasks | SelectMasks):
        (numbers,) = msgspec.structs.astuple(call)
        assert 1 <= len(numbers) <= 500
        assert all(type(number) is int and abs(number) < 10_000 for number in numbers)


@settings(max_examples=60, deadline=None)
@given(st.lists(HOSTILE, min_size=1, max_size=4))
def test_whatever_is_said_an_episode_ends_by_the_rules(lines: list[str]) -> None:
    turns = len(lines)
    episode = Episode(Scene(np.zeros((32, 32, 3), np.uint8)), "tiger", Settings(turns=turns))
    segmented: list[str] = []
    for line in lines:
        phrase = episode.add_reply(reply(line))
        if phrase is not None:
            segmented.append(phrase)
            episode.add_segmentation(found(2, 32))
        if episode.over:
            break
    assert episode.over and len(episode.turns) <= turns
    assert episode.outcome is not Outcome.FAILED  # a model's words are no failure of ours
    assert len({normalise_phrase(phrase) for phrase in segmented}) == len(segmented)
    if episode.ending in ("report", "select"):
        assert segmented
    answer = episode.prediction()
    trace = trace_of(answer)
    assert trace is not None and len(answer.masks) == len(answer.scores) <= 2
    assert replay(trace, np.zeros((32, 32, 3), np.uint8)).prediction() == answer


def test_halves_of_characters_are_survived() -> None:
    episode = Episode(Scene(np.zeros((32, 32, 3), np.uint8)), "tiger", Settings(turns=1))
    episode.add_reply(reply("\ud800 <tool>"))
    assert trace_of(episode.prediction()) is not None


@pytest.mark.parametrize(
    ("one", "other"), [("tiger", "TI\u200dGER"), ("tiger", "ｔｉｇｅｒ"), ("é", "e\u0301")]
)
def test_one_phrase_in_two_spellings_is_one_phrase(one: str, other: str) -> None:
    def phrase(text: str) -> str:
        line = json.dumps({"name": "segment_phrase", "parameters": {"text_prompt": text}})
        call = parse_reply(f"<tool>{line}</tool>").call
        assert isinstance(call, SegmentPhrase)
        return call.text_prompt

    assert normalise_phrase(phrase(one)) == normalise_phrase(phrase(other))


def test_many_keys_take_no_time() -> None:
    keys = ",".join(f'"{number}":1' for number in range(3000))
    started = time.process_time()
    text = f'<tool>{{"name": "report_no_mask", "parameters": {{{keys}}}}}</tool>'
    assert isinstance(parse_reply(text).call, InvalidCall)
    assert time.process_time() - started < 2.0


def test_reading_takes_linear_time() -> None:
    started = time.process_time()
    for text in ("<think>" * 4500, "<tool>" * 5000, "<think><tool></think>" * 1500):
        parse_reply(text)
    assert time.process_time() - started < 2.0


CUT = ToolCall("report_no_mask", "{broken")


def test_native_calls_there_and_back() -> None:
    call = ToolCall("segment_phrase", '{"text_prompt": "<tool>"}')
    parsed = parse_reply(write_calls("Look </tool> closely.", [call]))
    assert parsed.call == SegmentPhrase("<tool>") and parsed.thought == "Look </tool> closely."
    assert isinstance(parse_reply(write_calls("", [CUT])).call, InvalidCall)
    problem = parse_reply(write_calls("", [ToolCall("report_no_mask", "{}")] * 2)).call
    assert isinstance(problem, InvalidCall) and "2 tool calls" in problem.problem
    doubled = ToolCall("segment_phrase", '{"text_prompt": "a", "text_prompt": "b"}')
    problem = parse_reply(write_calls("", [doubled])).call
    assert isinstance(problem, InvalidCall) and "'text_prompt' twice" in problem.problem


def test_corrections_of_native_calls_do_not_ask_for_the_text_form() -> None:
    for text in ("I am done.", write_calls("", [CUT]), "<tool>{</tool>"):
        problem = parse_reply(text, native=True).call
        assert isinstance(problem, InvalidCall) and "<tool>" not in problem.problem


def test_native_conversation() -> None:
    image = Picture("image/png", b"QUJD")
    tiger = ToolCall("segment_phrase", '{"text_prompt": "tiger"}')
    conversation = (
        Message("system", ("rules",)),
        Message("user", ("tiger?", image)),
        Message("assistant", (write_calls("hm", [ToolCall("report_no_mask", "{}")]),)),
        Message("user", ("not yet",)),
        Message("assistant", ("what?",)),
        Message("user", ("no tool call",)),
        Message("assistant", (write_calls("", [tiger]),)),
        Message("user", ("1 mask", image)),
    )
    server = openai("tiny", ChatOptions(base_url="http://x/v1"))
    body = json.loads(server.body(conversation, [tools.TOOLS["report_no_mask"]]))
    messages = body["messages"]
    assert [m["role"] for m in messages] == [
        "system", "user", "assistant", "tool", "assistant", "user", "assistant", "tool", "user",
    ]  # fmt: skip
    assert messages[2]["tool_calls"][0]["function"] == {"name": "report_no_mask", "arguments": "{}"}
    assert messages[3]["tool_call_id"] == messages[2]["tool_calls"][0]["id"]
    assert messages[6]["tool_calls"][0]["function"]["arguments"] == '{"text_prompt":"tiger"}'
    shown = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}
    assert messages[8]["content"] == [shown]
    assert [tool["function"]["name"] for tool in body["tools"]] == ["report_no_mask"]
    assert json.loads(server.body(conversation))["messages"][7]["role"] == "user"
