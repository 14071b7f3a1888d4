"""`style=published`: what the CAFE authors' loop does with the same replies.

Expectations come from running their code (T-S-Liang/CAFE, agent/) on these replies; 3,000 random
episodes ended alike in both. Drawing is checked against OpenCV where that is installed.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from tests.agent.parts import EXAMINE, REPORT, SEGMENT, SELECT, agent, found, hold, picture, told

from groundfault.errors import UsageError
from groundfault.interfaces import ModelOptions
from groundfault.io.masks import encode
from groundfault.models.agent import Episode, Scene, differences, replay, trace_of
from groundfault.models.agent import published_pictures as drawing
from groundfault.models.agent.loading import load, parse
from groundfault.models.agent.prompt import chosen_prompt, prompt_hash
from groundfault.models.agent.scripted import accept, call
from groundfault.models.agent.settings import Settings
from groundfault.models.agent.tools import worth_showing
from groundfault.parsing.tool_calls import (
    ExamineMasks,
    InvalidCall,
    ReportNoMask,
    SegmentPhrase,
    SelectMasks,
    parse_published,
    parse_reply,
)
from groundfault.records import Outcome, Picture, Prediction
from groundfault.runs.identity import model_identity

Mask = NDArray[np.bool_]

# Replies.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{SEGMENT} I will wait for it.", SegmentPhrase("tiger")),
        (f"{EXAMINE}\n{SELECT}", ExamineMasks([1])),
        ("<tool>{'name': 'select_masks_and_return', 'parameters': {'final_answer_masks': [2]}}"
         "</tool>", SelectMasks([2])),
        ('<tool>{"name": "report_no_mask"}</tool>', ReportNoMask()),
        ('<tool>{"name": "report_no_mask", "parameters": {"why": 1}, "id": 3}</tool>',
         ReportNoMask()),
        ('<tool>{"name": "segment_phrase", "parameters": {"text_prompt": " Cat\\t"} \n }</tool>',
         SegmentPhrase(" Cat\t")),
        ('<tool>{"name": "examine_masks", "parameters": {"mask_indices": [3, 3, -1, 99999999]}}'
         "</tool>", ExamineMasks([3, 3, -1, 9999])),
        ('<tool>{"name": "select_masks_and_return", "parameters": {}}</tool>', SelectMasks([])),
        ('<tool>{"name": "report_no_mask", "name": "segment_phrase", "parameters": '
         '{"text_prompt": "a"}}</tool>', SegmentPhrase("a")),
    ],
)  # fmt: skip
def test_calls_that_their_loop_executes(text: str, expected: Any) -> None:
    assert parse_published(text).call == expected


@pytest.mark.parametrize(
    "text",
    [
        "I am done.",
        '<tool>{"name": "report_no_mask"}',  # not closed
        '</tool><tool>{"name": "report_no_mask"}</tool>',  # closed before it opens
        '<tool>```json\n{"name": "report_no_mask"}\n```</tool>',
        '<think>a <tool> b</think><tool>{"name": "report_no_mask"}</tool>',  # opens in a thought
        '<tool>{"name": "segment_phrase", "parameters": {"text_prompt": "a man\'s hat"}}</tool>',
        '<tool>{"name": "segment_phrase", "parameters": {"text_prompt": ""}}</tool>',
        '<tool>{"name": "segment_phrase", "parameters": {"text_prompt": ["a"]}}</tool>',
        '<tool>{"name": "examine_masks", "parameters": {"mask_indices": []}}</tool>',
        '<tool>{"name": "examine_masks", "parameters": {"mask_indices": ["1"]}}</tool>',
        '<tool>{"name": "select_masks_and_return", "parameters": {"final_answer_masks": 1}}</tool>',
        '<tool>{"name": "select_masks_and_return", "parameters": null}</tool>',
        '<tool>{"name": ["report_no_mask"]}</tool>',
        '<tool>{"name": "read_file", "parameters": {}}</tool>',
        "<tool>[]</tool>",
        f"<tool>{'[' * 5000}</tool>",
        f"<tool>{'9' * 5000}</tool>",
    ],
)
def test_calls_that_cost_a_turn(text: str) -> None:
    assert isinstance(parse_published(text).call, InvalidCall)


def test_ours_is_as_strict_as_ever() -> None:
    for text in (f"{EXAMINE}\n{SELECT}", "<tool>{'name': 'report_no_mask'}</tool>"):
        assert isinstance(parse_reply(text).call, InvalidCall)
        assert not isinstance(parse_published(text).call, InvalidCall)


# The loop.


def publish(*lines: str, **options: Any) -> Any:
    return hold(*lines, style="published", **options)


def test_rules_are_prompted_and_not_enforced() -> None:
    at_once = publish(REPORT)
    assert (at_once.ending, at_once.outcome, len(at_once.turns)) == (
        "report", Outcome.ABSTAINED, 1,
    )  # fmt: skip
    unseen = publish(SEGMENT, SELECT)
    assert unseen.outcome is Outcome.OK and len(unseen.prediction().masks) == 1
    system = unseen.messages[0].text
    assert "at least once before you decide" in system and "look at what you are about" in system
    for line in (EXAMINE, SELECT):
        assert "before anything is decided" in told(publish(line))


def test_what_follows_the_first_call_is_forgotten() -> None:
    episode = publish(f"{SEGMENT} And then {REPORT}")
    assert episode.messages[2].text == SEGMENT and episode.turns[0].said.endswith("</tool>")
    assert len(episode.turns[0].said) > len(SEGMENT)


def test_phrases_are_compared_letter_by_letter() -> None:
    again = publish(SEGMENT, SEGMENT)
    assert "tried before" in told(again)
    other = publish(SEGMENT, call("segment_phrase", text_prompt="Tiger"))
    assert other.turns[1].problem == ""
    assert "tried before" in told(hold(SEGMENT, call("segment_phrase", text_prompt="Tiger")))


def test_numbers_that_do_not_exist_are_left_out_of_a_selection() -> None:
    select = call("select_masks_and_return", final_answer_masks=[3, 99, 1, 3, 0])
    assert publish(SEGMENT, select, n_masks=3).chosen == (1, 3)
    for numbers in ([], [99]):
        none = publish(SEGMENT, call("select_masks_and_return", final_answer_masks=numbers))
        assert (none.ending, none.prediction().outcome) == ("select", Outcome.ABSTAINED)
        assert not none.prediction().masks


def test_any_number_of_close_ups_in_the_order_asked_for() -> None:
    numbers = [*range(1, 16), 2, 77]
    episode = publish(SEGMENT, call("examine_masks", mask_indices=numbers), n_masks=15)
    shown = episode.messages[-1].pictures
    assert len(shown) == 16 and shown[-1] == shown[1]
    assert "found" not in told(publish(SEGMENT, call("examine_masks", mask_indices=[9])))


def test_turns_run_out() -> None:
    out = publish(SEGMENT, "what?", turns=2, n_masks=3)
    assert (out.ending, len(out.prediction().masks), out.prediction().finish) == (
        "turns", 3, "turns",
    )  # fmt: skip
    never = publish("what?", "what?", turns=2)
    assert (never.ending, never.prediction().outcome) == ("unread", Outcome.UNPARSED)


def test_an_empty_reply_ends_it_and_is_no_rejection() -> None:
    episode = publish(SEGMENT, "  ")
    assert (episode.ending, episode.outcome) == ("unread", Outcome.UNPARSED)
    assert len(episode.turns) == 2 and not episode.prediction().masks


def test_a_published_episode_is_replayed_as_published() -> None:
    episode = publish(f"{SEGMENT} …", EXAMINE, "<tool>{'name': 'report_no_mask'}</tool>")
    assert episode.ending == "report"
    again = replay(episode.trace(), picture())
    assert differences(episode.trace(), again.trace()) == []


def test_the_picture_comes_before_the_words() -> None:
    first = publish().messages[1].parts
    assert isinstance(first[0], Picture) and first[0].mime == "image/png"
    assert isinstance(hold().messages[1].parts[0], str)


def test_a_scene_of_the_other_style_is_refused() -> None:
    with pytest.raises(ValueError, match="another style"):
        Episode(Scene(picture()), "tiger", Settings(style="published"))


# What is shown.


@pytest.mark.parametrize(
    ("rows", "columns", "score", "paper", "published"),
    [
        (slice(None), slice(None), 0.9, True, False),  # the code of everything has 5 letters
        (slice(0, 1), slice(0, 1), 0.9, True, True),  # that of one pixel in a corner 6
        (slice(9, 50), slice(9, 50), 0.5, True, False),  # at the threshold, not above it
        (slice(9, 50), slice(9, 50), 0.51, True, True),
    ],
)
def test_masks_that_their_filter_keeps(
    rows: slice, columns: slice, score: float, paper: bool, published: bool
) -> None:
    mask = np.zeros((480, 640), bool)
    mask[rows, columns] = True
    one = Prediction(item_id="", outcome=Outcome.OK, masks=(encode(mask),), scores=(score,))
    for style, kept in (("paper", paper), ("published", published)):
        result = worth_showing("x", one, t=0.5, size_px=(480, 640), style=style)  # type: ignore[arg-type]
        assert len(result.masks) == kept
        assert result.outcome is (Outcome.OK if kept else Outcome.ABSTAINED)


def decoded(shown: Picture) -> NDArray[np.uint8]:
    assert shown.mime == "image/png"
    with Image.open(io.BytesIO(shown.content)) as opened:
        return np.asarray(opened)


def test_pictures_are_sent_without_loss_and_whole() -> None:
    image = np.random.default_rng(0).integers(0, 256, (700, 2000, 3), np.uint8)
    scene = Scene(image, style="published")
    assert np.array_equal(decoded(scene.picture), image)
    result = worth_showing("x", found(2, 96), t=0.5, size_px=(96, 96), style="published")
    small = Scene(picture(), style="published")
    assert decoded(small.overlay(result)).shape == (96, 96, 3)


def test_tints_and_margins() -> None:
    image = np.full((400, 600, 3), 100, np.uint8)
    mask = np.zeros((400, 600), bool)
    mask[100:200, 50:450] = True
    overlay = np.asarray(drawing.numbered(image, [mask]))
    tinted = (0.15 * np.array(drawing.COLOURS[0]) + 0.85 * 100).astype(np.uint8)
    assert (overlay[110, 60] == tinted).all() and (overlay[50, 50] == 100).all()
    assert (overlay[100, 200] == drawing.COLOURS[0]).all()
    close = np.asarray(drawing.close_up(image, mask))
    # box 400 x 100, margins 80 and 20, cut off at the left: 580 x 140 becomes 512 high
    left = 50
    assert close.shape == (512, int((400 + left + 80) * 512 / 140), 3)
    assert (close[256, 1000] == int(0.08 * 155 + 0.92 * 100)).all()
    tiny = np.zeros((400, 600), bool)
    tiny[200:204, 300:310] = True
    assert drawing.close_up(image, tiny).size == (int(42 * 512 / 36), 512)  # 16 on each side


def test_large_regions_stay_as_they_are() -> None:
    image = np.random.default_rng(1).integers(0, 256, (900, 1200, 3), np.uint8)
    mask = np.zeros((900, 1200), bool)
    mask[100:700, 100:1100] = True
    close = np.asarray(drawing.close_up(image, mask))
    assert close.shape == (820, 1200, 3) and (close[0, 0] == image[0, 0]).all()


def test_outlines_are_those_of_opencv_but_for_corners() -> None:
    cv2: Any = pytest.importorskip("cv2", reason="OpenCV is not installed")
    from scipy.ndimage import gaussian_filter

    rng = np.random.default_rng(2)
    for _ in range(5):
        field = gaussian_filter(rng.normal(size=(240, 320)), 9)
        mask = field > np.quantile(field, 0.8)
        mask[100:140, 100:140] = True
        mask[110:120, 110:120] = False  # a hole
        contours, _ = cv2.findContours(
            mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE
        )
        theirs, ours = (np.zeros((240, 320, 3), np.uint8) for _ in range(2))
        cv2.drawContours(theirs, contours, -1, (9, 200, 90), 2)
        drawing._draw_mask(ours, mask, (9, 200, 90), 0.0)
        differ = (theirs != ours).any(axis=2).sum()
        assert differ <= 0.01 * (theirs != 0).any(axis=2).sum() + 8


def test_masks_at_every_edge_and_of_one_pixel_are_drawn() -> None:
    image = picture()
    for rows, columns in ((0, 0), (95, 95), (0, slice(None)), (slice(None), slice(None))):
        mask = np.zeros((96, 96), bool)
        mask[rows, columns] = True
        assert drawing.numbered(image, [mask]).size == (96, 96)
        assert min(drawing.close_up(image, mask).size) >= 512
    ribbon = np.zeros((1, 3000), bool)
    ribbon[0, :2900] = True
    assert max(drawing.close_up(np.zeros((1, 3000, 3), np.uint8), ribbon).size) <= 1 << 15


# Settings.


def test_who_accepts_everything_is_the_segmenter_in_both_styles() -> None:
    for style in ("paper", "published"):
        with agent(accept, style=style) as one:
            answer = one.segment(picture(), ["posts 4"])[0]
        trace = trace_of(answer)
        assert trace is not None and trace.settings.style == style and len(answer.masks) == 4


def test_a_prompt_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_text("  Segment well.\n")
    spec = f"agent:nano-base+scripted:accept,style=published,prompt={file}"
    settings = parse(spec.removeprefix("agent:")).settings
    assert chosen_prompt(settings) == "Segment well."
    with agent(accept, style="published", prompt=str(file)) as one:
        trace = trace_of(one.segment(picture(), ["posts 1"])[0])
    assert trace is not None and trace.prompt == prompt_hash("Segment well.")
    file.unlink()
    assert differences(trace, replay(trace, picture()).trace()) == []  # needs no prompt
    file.write_text("Segment well.")
    before = model_identity(spec, ModelOptions())
    file.write_text("Segment better.")
    after = model_identity(spec, ModelOptions())
    assert {name for name in after if after[name] != before[name]} == {"agent prompt"}


@pytest.mark.parametrize(
    ("content", "problem"),
    [(None, "cannot be read"), (b"  \n", "has no words"), (b"\xff\xfe\x00", "not UTF-8"),
     (b"a" * (1 << 21), "over 1 MB")],
)  # fmt: skip
def test_a_prompt_that_is_none(tmp_path: Path, content: bytes | None, problem: str) -> None:
    file = tmp_path / "prompt.txt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UsageError, match=problem):
        load(f"nano-base+scripted:accept,prompt={file}", ModelOptions())


def test_recipes_may_leave_sampling_to_the_server(tmp_path: Path) -> None:
    recipe = tmp_path / "agent.toml"
    recipe.write_text(
        'segmenter = "nano-base"\nmodel = "scripted:accept"\n[settings]\ntemperature = "none"\n'
        'max_tokens = "none"\nturns = 4\n'
    )
    spec = parse(str(recipe))
    assert (spec.settings.temperature, spec.settings.max_tokens) == (None, None)
    assert spec.settings == Settings(turns=4)
    assert parse(f"{recipe},temperature=None,max_tokens=none").settings == spec.settings
    other = parse(f"{recipe},style=published,temperature=0.7,max_tokens=99")
    assert other.settings == Settings(turns=4, style="published", temperature=0.7, max_tokens=99)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [("style=publisht", "style=publisht"), ("temperature=warm", "temperature=warm.*or none"),
     ("temperature=-1", "temperature"), ("style=published,calls=native", "leave out calls=native")],
)  # fmt: skip
def test_settings_that_cannot_be(settings: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        load(f"nano-base+scripted:accept,{settings}", ModelOptions())
