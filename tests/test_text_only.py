"""`text-only`: it finds what words give away, and nothing where they give nothing away."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from tests.llm.exams import whole_exam

from groundfault import registry
from groundfault.benchmarks.reactbench import read
from groundfault.errors import UsageError
from groundfault.interfaces import ModelOptions
from groundfault.models.text_only import TextOnly
from groundfault.records import Answer, Item, Role
from groundfault.runs.recorder import read_predictions

THINGS = ("lamp", "book", "cat", "clock", "mug", "chair", "dog", "vase")


def item(case: str, number: int, query: str, **answer: Any) -> Item:
    return Item(
        id=f"{case}:Q{number}",
        case_id=case,
        role=Role.QUESTION,
        images=("1.png",),
        height_px=1,
        width_px=1,
        query=query,
        answer=Answer(number=number, dimension="direct", **answer),
    )


def telling(n: int = 60) -> list[Item]:
    """Negated questions are true, none is always right, what is asked for is never there."""
    rng, items = np.random.default_rng(3), []
    for k in range(n):
        thing, other = rng.permutation(THINGS)[:2]
        negated, place = bool(rng.integers(2)), int(rng.integers(4))
        options = ["a red one", f"a {other}", f"two {thing}s"]
        options.insert(place, "none of these")
        words = ("there is no" if negated else "there is a", "yes" if negated else "no")
        items += [
            item(f"c{k}", 1, f"Is it true that {words[0]} {thing}?", type="YN", reference=words[1]),
            item(
                f"c{k}",
                2,
                f"What is beside the {thing}?",
                type="MC",
                options=tuple(options),
                reference="ABCD"[place],
            ),
            item(
                f"c{k}",
                3,
                f"Which colour has the {thing}?",
                type="SA",
                reference=f"There is no {thing}.",
            ),
            item(f"c{k}", 4, f"How many {thing}s?", type="SA", reference=str(7 + (k % 3 == 0))),
            item(
                f"c{k}",
                5,
                f"How many {thing}s, about?",
                type="SA",
                reference=("5-9", "20-24")[k % 4 == 0],
            ),
        ]
    return items


def answers(items: list[Item]) -> dict[str, str]:
    model = TextOnly()
    model.fit(items)
    return {found.item_id: found.text for found in model.predict(items, "std")}


def test_it_finds_what_words_give_away() -> None:
    items = telling()
    said = answers(items)
    right = {1: 0, 2: 0, 3: 0, 4: 0, 5: 0}
    for each in items:
        assert each.answer is not None
        right[each.answer.number] += (
            said[each.id].rstrip(".").casefold() == each.answer.reference.rstrip(".").casefold()
        )
    assert right[1] == right[2] == right[3] == 60
    assert right[4] == 40 and right[5] == 45  # the commonest of two


def test_it_says_no_more_than_words_allow() -> None:
    """Of "Neither: it is blue.", only the beginning can be known."""
    rng, items = np.random.default_rng(4), []
    for k in range(40):
        thing, colour = rng.choice(THINGS), rng.choice(["red", "blue", "green", "white", "pink"])
        query = f"Is the {thing} yellow or angry?"
        items.append(item(f"c{k}", 8, query, type="SA", reference=f"Neither: it is {colour}."))
    assert set(answers(items).values()) == {"Neither."}


def test_it_is_told_no_more_than_a_model_is() -> None:
    """Numbers and dimensions of questions are not among the words."""
    items = [
        item(f"c{k}", 1 + k % 2, "Is it exactly so?", type="YN", reference=("yes", "no")[k % 2])
        for k in range(80)
    ]
    assert len(set(answers(items).values())) == 1


def test_it_finds_nothing_where_words_give_nothing_away() -> None:
    rng, items = np.random.default_rng(5), []
    for k in range(400):
        thing, *options = rng.permutation(THINGS)[:5]
        truth, place = ("yes", "no")[rng.integers(2)], int(rng.integers(4))
        items += [
            item(f"c{k}", 1, f"Is there a {thing}?", type="YN", reference=truth),
            item(
                f"c{k}",
                2,
                "What is it?",
                type="MC",
                options=tuple(options),
                reference="ABCD"[place],
            ),
        ]
    said = answers(items)
    for number, chance in ((1, 0.5), (2, 0.25)):
        of = [each for each in items if each.answer is not None and each.answer.number == number]
        hits = [said[i.id][:-1].upper() == i.answer.reference.upper() for i in of if i.answer]
        assert abs(np.mean(hits) - chance) < 0.09


def test_an_answer_is_not_learnt_from_its_own_case_or_its_control() -> None:
    items = telling()
    before = answers(items)

    def turned(each: Item) -> Item:
        assert each.answer is not None
        other = {"yes": "no", "no": "yes", "A": "B", "B": "C", "C": "D", "D": "A"}
        reference = other.get(each.answer.reference, "Something else.")
        return msgspec.structs.replace(
            each, answer=msgspec.structs.replace(each.answer, reference=reference)
        )

    own = [turned(each) if each.case_id == "c7" else each for each in items]
    assert {k: v for k, v in answers(own).items() if k.startswith("c7:")} == {
        k: v for k, v in before.items() if k.startswith("c7:")
    }
    control = [
        msgspec.structs.replace(turned(each), id=f"x{each.id}", case_id=f"{each.case_id}-control")
        for each in items
        if each.answer is not None and each.answer.type == "YN"
    ]
    asked = [each for each in items if each.answer is not None and each.answer.type == "YN"]
    said = answers([*asked, *control])
    hits = [
        said[each.id][:-1].casefold() == each.answer.reference
        for each in (*asked, *control)
        if each.answer is not None
    ]
    assert np.mean(hits) == 0.5, "whoever is asked both pictures the same cannot know by words"


def test_one_case_alone_teaches_nothing() -> None:
    said = answers(telling(1))
    assert set(said) == {f"c0:Q{k}" for k in range(1, 6)} and all(said.values())
    with pytest.raises(UsageError, match="no others"):
        TextOnly().predict(telling(1))
    with pytest.raises(UsageError, match="takes no argument"):
        registry.load_model("text-only:x", ModelOptions())


def test_it_is_a_model_like_others(run: Callable[..., Any], tmp_path: Path) -> None:
    whole_exam(tmp_path / "exam", per_task=3)
    asked = ("--model", "text-only", "--bootstrap", 0)
    ran = run("eval", tmp_path / "exam", *asked, "--out", tmp_path / "all")
    assert ran.code == 0, ran.err
    whole = {p.key: p.text for p in read_predictions(tmp_path / "all" / "text-only")}
    assert len(whole) == 2 * len(read(tmp_path / "exam").items)
    ran = run("eval", tmp_path / "exam", *asked, "--limit", 2, "--out", tmp_path / "part")
    part = {p.key: p.text for p in read_predictions(tmp_path / "part" / "text-only")}
    assert ran.code == 0 and part == {key: whole[key] for key in part} and len(part) < len(whole)
    ran = run("eval", tmp_path / "exam", "--model", "oracle", "--judge", "text-only", "--out", "x")
    assert ran.code == 2 and "judges nothing" in ran.err
