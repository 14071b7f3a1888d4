"""Answers to false descriptions, read by rule: sentences of ours in many forms."""

from __future__ import annotations

import pytest

from groundfault.parsing.corrections import read_correction
from groundfault.parsing.segmenter_replies import outcome_of_text

CAT, DOG = "the left cat", "the left dog"
NAMED = [
    (CAT, DOG, "There's no cat. The animal on the left is a dog."),
    (CAT, DOG, "That is a dog, not a cat."),
    (CAT, DOG, "It's a dog and not the cat you asked for."),
    (CAT, DOG, "I can't find a cat so you may mean the dog."),
    (CAT, DOG, "No cat here yet a dog is lying there."),
    (CAT, DOG, "Would you like the dog instead?"),
    (CAT, DOG, "Cats? None. Dogs: one, at the left edge."),
    (CAT, DOG, "There is a dog rather than a cat."),
    (CAT, DOG, "There is a puppy there instead of a cat."),
    (CAT, DOG, "The picture lacks a cat but not a dog."),
    (CAT, DOG, "I see no cat — only a dog."),
    (CAT, DOG, "While no cat is visible, a dog certainly is."),
    (CAT, DOG, "There isn’t a cat; there’s a dog though."),
    (CAT, DOG, "No cat. Don't overlook the dog, however."),
    ("man in red", "man in blue", "Nobody wears red, but one guy wears blue."),
    ("two giraffes", "three giraffes", "Not two: there are 3 giraffes."),
    ("3 buses", "2 buses", "There are only two buses."),
    ("woman with umbrella", "woman", "No umbrella anywhere, but a lady is walking by."),
    ("woman with umbrella", "lady with a purse", "A woman with a purse is there, no umbrella."),
    ("boy on top", "boy at the bottom", "The boy is at the lower edge, not on top."),
    ("gray couch", "brown sofa", "There is a brown couch, no gray one."),
    ("bowl of pasta", "bowl of salad, with a fork", "No pasta, but salad with a fork."),
    ("kid with a kite", "child with no kite", "There is a child with no kite."),
]
NOT_NAMED = [
    (CAT, DOG, "There is no cat on the left."),
    (CAT, DOG, "Neither a cat nor a dog is there."),
    (CAT, DOG, "There is no cat. The dog is missing as well."),
    (CAT, DOG, "No."),
    (CAT, DOG, ""),
    (CAT, DOG, "There is a hotdog stand."),
    (CAT, DOG, "The cat is absent, and so is everything else."),
    ("man in red", "man in blue", "There is no man in red, but a man."),
    ("two giraffes", "three giraffes", "There are not two giraffes."),
    ("woman with umbrella", "woman", "There is no woman with umbrella."),
    ("woman with umbrella", "woman", "There is a woman with an umbrella."),
    ("the one", "that one", "There is one."),
]


@pytest.mark.parametrize(("false", "true", "text"), NAMED)
def test_what_is_there_is_named(false: str, true: str, text: str) -> None:
    assert read_correction(text, false, true).named


@pytest.mark.parametrize(("false", "true", "text"), NOT_NAMED)
def test_what_is_there_is_not_named(false: str, true: str, text: str) -> None:
    assert read_correction(text, false, true) == (False, False)


@pytest.mark.parametrize(
    ("true", "text", "exact"),
    [
        ("The left dog.", "no cat, but THE  LEFT DOG is there", True),
        ("the left dog", "There is a left dog, no cat.", True),
        ("the left dog", "There are no left dogs, but left dog.", True),
        ("the left dog", "There is a dog on the left.", False),
        ("the left dog", "The left dog is not there.", False),
        ("man, in blue", "No cat. I do see a man, in blue.", True),
        ("man with no hat", "There's no cat, but a man with no hat.", True),
        ("c++ book", "There is a c++ book.", True),
        ("dog", "There is a dogwood tree.", False),
    ],
)
def test_word_for_word(true: str, text: str, exact: bool) -> None:
    found = read_correction(text, CAT, true)
    assert found.exact is exact
    assert found.named or not found.exact


def test_a_long_answer_is_read_to_a_limit_and_in_time() -> None:
    """A hostile answer of a million words costs no more than its beginning."""
    assert read_correction("a dog " * 1_000_000, CAT, DOG).named
    assert not read_correction("no " * 1_000_000 + "dog", CAT, DOG).named


@pytest.mark.parametrize(
    "text", ["While no cat is drawn, look at the dog.", "We're sadly missing the cat."]
)
def test_denials_that_open_a_sentence_are_abstentions(text: str) -> None:
    assert outcome_of_text(text, 0).value == "abstained"


def test_a_dog_that_misses_a_leg_is_no_denial() -> None:
    assert outcome_of_text("The dog is missing a leg.", 0).value == "unparsed"
