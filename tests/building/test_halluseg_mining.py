"""Targets for replacements: words that single them out."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
from tests.building.test_selection import photo, thing

from groundfault.building.mining.halluseg import HallusegSettings, mine
from groundfault.building.records import Candidate
from groundfault.io.photographs import Photograph, Thing


def mined(*photographs: Photograph, **settings: Any) -> tuple[list[Candidate], Counter[str]]:
    dropped: Counter[str] = Counter()
    chosen = HallusegSettings(**{"per_image": None, **settings})
    found = list(mine(photographs, chosen, lambda _, why: dropped.update([why.reason])))
    return found, dropped


def dog(number: int, x: int, *phrases: str, **more: Any) -> Thing:
    return thing(number, "dog", (x, 10, 20, 20), phrases=phrases, **more)


def test_things_without_words_go_by_their_category_if_it_is_the_only_one() -> None:
    [found], _ = mined(photo(dog(1, 10)))
    assert (found.id, found.facts["expression"]) == ("coco-1-1-replacement", "dog")
    assert found.facts["kind"] == "referring"
    assert mined(photo(dog(1, 10), dog(2, 35)))[1] == {"several of its category": 2}
    assert mined(photo(dog(1, 10)), bare_categories=False)[1] == {"no expression": 1}


def test_one_of_two_is_told_by_its_half_of_the_picture() -> None:
    found, _ = mined(photo(dog(1, 10), dog(2, 40)))  # of 80 pixels
    assert {each.target.id: each.facts["expression"] for each in found} == {
        "1": "left dog",
        "2": "right dog",
    }
    several = {"several of its category": 3}
    assert mined(photo(dog(1, 0), dog(2, 40), dog(3, 60)))[1] == several  # one would be left over
    assert not mined(photo(dog(1, 10), dog(2, 40)), told_by_side=False)[0]
    assert not mined(photo(dog(1, 10), dog(2, 40, crowd=True)))[0]


def test_expressions_single_out_one_of_several() -> None:
    given = photo(dog(1, 10, "left dog", "the dog"), dog(2, 40, "the dog.", "dog on the right"))
    found, _ = mined(given)
    assert {each.facts["expression"] for each in found} == {"left dog", "dog on the right"}
    same = photo(dog(1, 10, "The dog"), dog(2, 40, "the dog"))
    assert mined(same)[1] == {"ambiguous expression": 2}


def test_which_of_several_expressions() -> None:
    given = photo(dog(1, 10, "yep", "brown dog", "the dog by the gate"))
    [longest] = mined(given)[0]
    assert longest.facts["expression"] == longest.target.phrases[0] == "the dog by the gate"
    assert mined(given, expression="first")[0][0].facts["expression"] == "brown dog"
    assert mined(given, expression="first", min_words=1)[0][0].facts["expression"] == "yep"
    drawn = {mined(given, expression="drawn", seed=k)[0][0].facts["expression"] for k in range(20)}
    assert drawn == {"brown dog", "the dog by the gate"}


def test_sentences_about_people_are_not_taken() -> None:
    [found], _ = mined(photo(dog(1, 10, "the dog that the man walks", "brown dog")))
    assert found.facts["expression"] == "brown dog" and found.target.phrases == ("brown dog",)
    assert mined(photo(dog(1, 10, "the dog that the man walks")))[1] == {"denied": 1}


def test_questions_make_reasoning_cases() -> None:
    asked = msgspec.structs.replace(dog(1, 10), category="", questions=("What guards a house?",))
    [found], _ = mined(photo(asked))
    assert (found.facts["kind"], found.facts["question"]) == ("reasoning", "What guards a house?")


def test_splits_are_kept_apart() -> None:
    given = [
        photo(dog(1, 10), number=split, split=split) for split in ("train", "val", "train+val", "")
    ]
    found, dropped = mined(*given, splits=("train",))
    assert [each.photograph.id for each in found] == ["train"] and dropped == {
        "of another split": 3
    }
    assert len(mined(*given)[0]) == 4
