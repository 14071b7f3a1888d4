"""What reasoning segmenters say, read as outcomes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundfault.parsing.segmenter_replies import outcome_of_text
from groundfault.records import Outcome

ABSTAINED = [
    "No.",
    "No, I looked twice and the zebra is nowhere.",
    "None",
    "Nothing here fits that description.",
    "Sorry, but no zebra is in it.",
    "There is no zebra.",
    "There's no zebra here, but a horse with stripes.",
    "There are not any zebras on this meadow.",
    "There isn't a zebra.",
    "There aren’t any zebras.",
    "There does not seem to be a zebra.",
    "There appears to be no zebra among the animals.",
    "I can't see a zebra.",
    "I cannot clearly see the zebra you mean.",
    "I could not find it.",
    "I don't see any zebra; it's a painted horse.",
    "I did not detect a zebra.",
    "I am unable to locate the zebra.",
    "I'm not able to spot one.",
    "Not seeing it.",
    "The zebra is not in the picture.",
    "The zebra isn't visible.",
    "The zebra is not clearly visible in the picture.",
    "A zebra cannot be found.",
    "It's not there.",
    "They're not here.",
    "The picture does not contain a zebra.",
    "The image doesn't show one.",
    "Such an animal does not exist in this scene.",
    "It does not appear to be in this picture.",
    "This photo fails to show a zebra.",
    "The zebra is absent.",
    "I notice the absence of a zebra.",
    "The zebra is missing.",
    "Missing: the zebra. But a horse is there.",
    "A zebra seems to be missing from the scene.",
    "This image is missing a zebra.",
    "The picture lacks a zebra.",
    "This photograph of a meadow is devoid of zebras.",
    "My search shows no zebra.",
    "I looked everywhere and found nothing.",
    "The search came up empty.",
    "It is a horse, and no zebra is near it.",
    "After a long look, no zebra is there.",
    "<think>It might be a zebra. No, a horse.</think> There is no zebra.",
    "<think>…</think><answer>[]</answer>",
    "<answer>null</answer>",
    "<answer> None. </answer>",
    "<answer>There is no such object.</answer>",
    "  THERE   IS\nNO ZEBRA ",
]
UNPARSED = [
    "",
    "   ",
    "Sure!",
    "Yes.",
    "Sure, it is [SEG].",
    "There is no zebra. [SEG]",
    "[SEG0] [SEG1]",
    "<seg>",
    "The zebra stands on the left.",
    "The man without a hat is next to the car.",
    "It is a dog that is missing a leg.",
    "The dog lacks a collar and sits on the grass.",
    "No problem, here it comes.",
    "No doubt, this is it.",
    "There is no doubt that this is the zebra.",
    "There's no mistaking this zebra.",
    "Notice the northern part of the meadow.",
    "Nobel prizes are shown.",
    "It is not absent.",
    "<think>There is no zebra.</think>",
    "<think>There is no zebra",
    "<think>No zebra.</think> A horse on a meadow.",
    '<answer>[{"bbox_2d": [1, 2',
    "<answer>[{",
    "<answer></answer>",
    '<answer>{"bbox": [1, 2, 3]}</answer>',
    "I am a language model.",
]


@pytest.mark.parametrize("text", ABSTAINED)
def test_denials_are_abstentions(text: str) -> None:
    assert outcome_of_text(text, 0) is Outcome.ABSTAINED


@pytest.mark.parametrize("text", UNPARSED)
def test_anything_else_without_a_mask_is_unparsed(text: str) -> None:
    assert outcome_of_text(text, 0) is Outcome.UNPARSED


phrases = st.from_regex(r"[a-z]{3,8}( [a-z]{3,8}){0,3}", fullmatch=True)
texts = st.text(max_size=300) | st.sampled_from(ABSTAINED + UNPARSED)


@given(texts, st.integers(1, 50))
def test_a_mask_is_an_answer_whatever_is_said(text: str, n_masks: int) -> None:
    assert outcome_of_text(text, n_masks) is Outcome.OK


@given(texts, texts)
def test_an_announced_mask_that_did_not_come_is_never_a_rejection(before: str, after: str) -> None:
    assert outcome_of_text(f"{before}[SEG]{after}", 0) is Outcome.UNPARSED


@given(texts)
def test_without_a_mask_nothing_is_ok_and_nothing_fails(text: str) -> None:
    assert outcome_of_text(text, 0) in (Outcome.ABSTAINED, Outcome.UNPARSED)


@given(st.sampled_from([text for text in ABSTAINED if "zebra" in text]), phrases)
def test_the_thing_denied_does_not_matter(text: str, phrase: str) -> None:
    assert outcome_of_text(text.replace("zebra", phrase), 0) is Outcome.ABSTAINED


@given(st.sampled_from(ABSTAINED + UNPARSED))
def test_case_and_spaces_do_not_matter(text: str) -> None:
    expected = outcome_of_text(text, 0)
    assert outcome_of_text(text.upper(), 0) is expected
    assert outcome_of_text("\n " + text.replace(" ", "  \t"), 0) is expected


@given(st.sampled_from(ABSTAINED))
def test_a_thought_is_not_an_answer(text: str) -> None:
    thought = text.replace("<", "(").replace(">", ")")
    assert outcome_of_text(f"<think>{thought}</think>", 0) is Outcome.UNPARSED


@pytest.mark.parametrize(
    "text",
    ["no " * 50_000, "image " * 50_000, "<think>" * 30_000, "<answer>" * 30_000,
     "there is " * 50_000, "is not " * 50_000, "image " + "!a" * 100_000, "does not really " * 999],
)  # fmt: skip
def test_long_texts_are_read(text: str) -> None:
    assert outcome_of_text(text, 0) in (Outcome.ABSTAINED, Outcome.UNPARSED)
