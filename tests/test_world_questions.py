"""Questions about the world: their answers are checked against the scenes, not the templates.

The oracle here knows the scenes' records only: it reads a question's words, finds out what they
claim, and decides by itself whether that is so.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from groundfault.benchmarks import reactbench
from groundfault.benchmarks.reactbench import LAYOUT, Question
from groundfault.errors import UsageError
from groundfault.exams.wording import as_sentence

pytest.importorskip("skia", reason="skia-python draws the world")

from groundfault.world.cases import sample_intervention
from groundfault.world.exams import build_exam, make_sample
from groundfault.world.forms import COLOURS
from groundfault.world.interventions import Intervention, change_attribute, remove
from groundfault.world.objects import CATEGORIES
from groundfault.world.objects.exhibits import EXHIBITS
from groundfault.world.phrases import concept
from groundfault.world.priors import draw_erasure
from groundfault.world.questions import TASKS, facts_of, questions_about
from groundfault.world.questions.counting import count_of
from groundfault.world.render import render
from groundfault.world.sampling import WorldSettings, crowd_scene, sample_scene
from groundfault.world.scene import Scene, Thing

KINDS = tuple(TASKS)
MANY = WorldSettings(things=(5, 8))
LEAST_COUNT = 6
"""In the paper's layout, fewer things have too few numbers below them for every place."""
PART = r"the (?:upper|lower) (?:left|middle|right) part of the picture"


@cache
def asked(kind: str, n: int = 40) -> tuple[tuple[Intervention, tuple[Question, ...]], ...]:
    """n interventions of a kind with their questions."""
    found: list[tuple[Intervention, tuple[Question, ...]]] = []
    for index in range(20 * n):
        try:
            settings = MANY if TASKS[kind] == "tracing" and index % 2 else WorldSettings()
            case = sample_intervention(kind, 11, index, settings)
            found.append((case, questions_about(case, f"s{index}", seed=index)))
        except UsageError:
            continue
        if len(found) == n:
            return tuple(found)
    raise AssertionError(f"too few {kind} cases can be asked about")


def right(question: Question) -> str:
    return question.options["ABCDEFGH".index(question.answer)]


def wrong(question: Question) -> list[str]:
    return [option for option in question.options if option != right(question)]


def named(text: str) -> set[str]:
    """Categories that a text names, singular or plural; the longest names win."""
    found = set()
    for name in sorted(CATEGORIES, key=len, reverse=True):
        plural = CATEGORIES[name].plural or f"{name}s"
        text, count = re.subn(rf"\b(?:{name}|{plural})\b", "…", text)
        if count:
            found.add(name)
    return found


def categories(scene: Scene) -> set[str]:
    return {thing.category for thing in scene.things}


def painted(scene: Scene) -> set[str]:
    return {"tree"} if scene.place.context in ("meadow", "snow", "beach") else set()


@pytest.mark.parametrize("kind", KINDS)
def test_layout_and_form(kind: str) -> None:
    layout = LAYOUT[TASKS[kind]]
    for case, questions in asked(kind):
        assert [(q.type, q.dimension) for q in questions] == list(layout)
        assert [q.number for q in questions] == list(range(1, len(layout) + 1))
        assert all(name in facts_of(case) for name in reactbench.FACTS[TASKS[kind]])
        for question in questions:
            assert len(set(question.options)) == len(question.options)
            assert bool(question.options) == (question.type == "MC")
            assert bool(question.rubric) == (question.type == "SA")
            assert bool(question.polarity) == (question.type == "YN")
            for text in (question.text, question.rubric, question.answer, *question.options):
                assert not re.search(r"\b[Aa] [aeiou]|\b[Aa]n [^aeiou]|  |\{|\}|\bthe the\b", text)
            assert re.match(r'["A-Z].*[.?]$', question.text), question.text


def test_erasure_is_true_of_the_scene() -> None:
    for case, questions in asked("erasure"):
        gone, scene = case.factual.things[case.before], case.counterfactual
        pair = EXHIBITS[gone.category]
        before = {concept(thing) for thing in case.factual.things}
        after = {concept(thing) for thing in scene.things}
        assert before - after == {pair.part} and pair.whole in after
        assert [concept(thing) for thing in scene.things].count(pair.whole) == 1
        for question in questions:
            assert pair.place.format(f"the {pair.whole}") in question.text or (
                as_sentence(pair.place.format(f"the {pair.whole}")) in question.text
            )
            if question.dimension == "commonsense-guided" or question.type == "YN":
                assert re.search(rf"\b{pair.part}\b", question.text, re.IGNORECASE)
            if question.type == "YN":  # every affirmation is about the erased part: false
                says_no = re.search(r" no |wrong|false|contradict", question.text)
                assert (question.polarity == "negated") == bool(says_no)
                assert question.answer == ("yes" if says_no else "no")
            if question.type == "SA":
                assert re.search(r"\bno\b|nothing|neither", question.answer.lower())
                assert pair.part in question.rubric
            if question.type == "MC":
                assert re.match("No |There (?:is|are) no |none of these", right(question))
                for option in wrong(question):
                    assert not named(option) & after, option
                    if question.dimension == "absurd-contrast":
                        assert not named(option) & painted(scene), option
                    assert named(option) or pair.part in option or option in COLOURS, option


def test_erased_parts_are_expected() -> None:
    assert len(EXHIBITS) >= 25
    for pair in EXHIBITS.values():
        assert (pair.plural or pair.whole).split()[-1][:4].casefold() in pair.habit.casefold(), (
            pair.id
        )
        assert re.search(r"\b(?:usually|have|has)\b", pair.habit)
        assert "{}" in pair.place and not pair.habit.endswith(".")
    chosen = [make_sample(number, seed=9, size_px=128) for number in range(0, 4 * 36, 4)]
    facts = [(made.sample.facts["erased"], made.sample.facts["kept"]) for made in chosen]
    assert len({*facts}) == len(EXHIBITS)  # each in turn


@pytest.mark.parametrize("pair", EXHIBITS)
def test_an_erased_part_is_missed(pair: str) -> None:
    """Where the part was, the picture shows something else, in a place that can be seen."""
    case = draw_erasure(np.random.default_rng(5), WorldSettings(), pair)
    with_part, without = render(case.factual), render(case.counterfactual)
    own = with_part.masks[case.before]
    assert own.sum() >= 200, "of 384 x 384"
    away = np.abs(with_part.image.astype(int) - without.image.astype(int)).max(axis=2)
    assert (away[own] > 24).mean() > 0.6


def test_attribute_is_true_of_the_scene() -> None:
    for case, questions in asked("attribute"):
        scene = case.counterfactual
        thing = scene.things[case.after]
        assert thing.over is not None
        assert [t.category for t in scene.things].count(thing.category) == 1
        assert scene.place.context not in ("reef", "night city")  # where white is not white
        shown, usual = thing.over.colour, case.facts["usual"]
        assert shown not in CATEGORIES[thing.category].colours
        assert usual in CATEGORIES[thing.category].colours
        for question in questions:
            assert named(question.text) == {thing.category}
            assert not re.search(rf"\b{shown}\b", question.text)
            if question.type == "YN":
                assert re.search(rf"\b{usual}\b", question.text)
                says_no = re.search(r" no | not |other than|wrong|contradict", question.text)
                assert (question.polarity == "negated") == bool(says_no)
                assert question.answer == ("yes" if says_no else "no")
            if question.dimension in ("direct", "commonsense-guided") and question.type != "YN":
                answer = question.answer.lower()
                assert (right(question) if question.options else answer.strip(".")) == shown
                assert all(o in COLOURS and o != shown for o in wrong(question))
                for pair in (("white", "grey"), ("grey", "tan"), ("red", "orange")):
                    assert not {*pair} <= {*question.options, shown, usual}
                if thing.category == "penguin":
                    assert "white" not in wrong(question)  # its front
            if question.type == "MC":
                assert question.options.count(shown) <= 1
                if question.dimension == "premise-based":
                    assert right(question) == f"There is no such {thing.category}"
                if question.dimension == "absurd-contrast":
                    assert right(question) == "none of these" and shown not in question.options
            if question.type == "SA" and question.dimension != "premise-based":
                assert shown in question.rubric and usual in question.rubric


def difference(case: Intervention) -> tuple[list[Thing], list[Thing]]:
    """Things that only the first scene has, and those that only the second has."""

    def key(thing: Thing) -> tuple[object, ...]:
        return thing.category, thing.seed, thing.x, thing.y

    before = {key(thing): thing for thing in case.factual.things}
    after = {key(thing): thing for thing in case.counterfactual.things}
    return (
        [before[k] for k in before.keys() - after.keys()],
        [after[k] for k in after.keys() - before.keys()],
    )


def happened(case: Intervention) -> tuple[str, Thing, Thing | None]:
    """The kind of change, seen from the scenes; what changed; what it became."""
    gone, came = difference(case)
    assert len(gone) <= 1 and len(came) <= 1 and gone + came
    if not came:
        return "removed", gone[0], None
    if not gone:
        return "added", came[0], None
    same = gone[0].category == came[0].category
    return ("moved" if same else "replaced"), gone[0], came[0]


def holds(claim: str, case: Intervention) -> bool:
    """Whether a sentence about a change is true of two scenes."""
    claim = claim.removesuffix(".")
    verb, subject, result = happened(case)
    match = re.match(
        rf"(?:The|An?|Another) ([a-z ]+?)(?: there| in ({PART}))? "
        rf"(?:was (removed|added|moved|replaced)|turned)",
        claim,
    )
    assert match, claim
    place = re.search(PART, claim)
    if match[1] != subject.category or match[3] != verb:
        return False
    if place and place[0] != facts_of(case)["location"]:
        return False
    if verb == "moved":
        assert result is not None
        return claim.endswith("left" if result.x < subject.x else "right")
    if verb == "replaced":
        assert result is not None
        return named(claim.split(" by ")[1]) == {result.category}
    return True


def half_holds(claim: str, case: Intervention) -> bool:
    """Whether a claim tells one half of a replacement or of a move."""
    gone, came = ({thing.category for thing in things} for things in difference(case))
    return ("removed" in claim and bool(named(claim) & gone)) or (
        "added" in claim and bool(named(claim) & came)
    )


@pytest.mark.parametrize("kind", ["move", "remove", "add", "replace"])
def test_tracing_is_true_of_the_scenes(kind: str) -> None:
    verbs = {"move": "moved", "remove": "removed", "add": "added", "replace": "replaced"}
    for case, questions in asked(kind):
        verb, subject, _ = happened(case)
        assert verb == verbs[kind]
        location = facts_of(case)["location"]
        for question in questions:
            if question.dimension == "location-hint":
                assert location in question.text
            if question.dimension == "operation-hint":
                assert re.search(rf"\b{verb}\b", question.text)
            if question.type == "YN":
                says_no = re.search(r"nothing| no |the same", question.text)
                assert (question.polarity == "negated") == bool(says_no)
                assert question.answer == ("no" if says_no else "yes")
                continue
            if question.dimension == "operation-hint":
                the_one = f"the {subject.category} in {location}"
                answer = right(question) if question.options else question.answer.strip(".")
                assert answer.lower() == the_one
                assert all(named(o) != {subject.category} for o in wrong(question))
            elif question.options:
                assert [o for o in question.options if holds(o, case)] == [right(question)]
                assert not any(half_holds(o, case) for o in wrong(question))
            else:
                assert holds(question.answer, case)
                assert subject.category in question.rubric


def test_distractors_without_a_place_name_things_that_did_not_change() -> None:
    for kind in ("move", "remove", "add", "replace"):
        for case, questions in asked(kind):
            changed = {t.category for things in difference(case) for t in things}
            for option in wrong(questions[9]):
                assert not named(option.split(" was ")[0]) & changed, option


def test_counting_is_true_of_the_scene() -> None:
    for case, questions in asked("counting", 60):
        things = case.counterfactual.things
        count = len(things)
        assert len(categories(case.counterfactual)) == 1
        texts = [q.text for q in questions]
        numbers = [[int(n) for n in re.findall(r"\d+", text)] for text in texts]
        assert all(named(text) == {things[0].category} for text in texts)
        assert numbers[0] == [count] and questions[0].answer == "yes"
        assert len({*numbers[0], *numbers[1], *numbers[2]}) == 3
        assert questions[1].answer == questions[2].answer == "no"
        low, high = numbers[3]
        assert low <= count <= high and questions[3].answer == "yes"
        assert questions[4].answer == str(count)
        few = reactbench.span(questions[5].answer)
        assert few is not None and few[0] <= count <= few[1] < few[0] + 6
        assert right(questions[6]) == str(count) and len(questions[6].options) == 5
        spans = [reactbench.span(option) for option in questions[7].options]
        holding = [k for k, s in enumerate(spans) if s and s[0] <= count <= s[1]]
        assert holding == ["ABCD".index(questions[7].answer)]
        assert all(0 <= s[0] <= s[1] < s[0] + 6 for s in spans if s)
        assert all(int(option) > 0 for option in questions[6].options)


def test_no_constant_answer_wins() -> None:
    for task in LAYOUT:
        kinds = [kind for kind in KINDS if TASKS[kind] == task]
        sets = [
            questions
            for kind in kinds
            for case, questions in asked(kind, 120 // len(kinds))
            if task != "counting" or len(case.counterfactual.things) >= LEAST_COUNT
        ]
        yes_no = [q.answer for questions in sets for q in questions if q.type == "YN"]
        assert 0.4 <= yes_no.count("yes") / len(yes_no) <= 0.6
        letters = Counter(q.answer for questions in sets for q in questions if len(q.options) == 4)
        assert all(0.15 <= letters[k] / letters.total() <= 0.38 for k in "ABCD"), (task, letters)
        for slot in zip(*sets, strict=True):  # nor does one that goes by the number
            if slot[0].options or (task in ("erasure", "attribute") and slot[0].type == "YN"):
                most = Counter(question.answer for question in slot).most_common(1)[0][1]
                assert most <= 0.7 * len(slot), (task, slot[0].number)


@pytest.mark.parametrize("task", LAYOUT)
def test_every_letter_is_right_equally_often(task: str) -> None:
    cases = [
        case
        for kind in KINDS
        for case, _ in asked(kind)
        if TASKS[kind] == task and (task != "counting" or count_of(case) >= LEAST_COUNT)
    ]
    total: dict[int, Counter[str]] = {4: Counter(), 5: Counter()}
    several = [questions_about(c, "s", seed=t, series=5, turn=t) for t, c in enumerate(cases[:30])]
    for slot in zip(*several, strict=True):
        for n in {len(question.options) for question in slot} - {0}:
            letters = Counter(dict.fromkeys("ABCDE"[:n], 0))
            letters.update(question.answer for question in slot)
            assert max(letters.values()) - min(letters.values()) <= 1, (slot[0].number, letters)
            total[n] += letters
    for letters in filter(None, total.values()):
        assert max(letters.values()) <= 1.25 * min(letters.values()), letters


def test_no_letter_of_a_sample_tells_another() -> None:
    case = asked("erasure")[0][0]
    several = [questions_about(case, "s", seed=0, series=1, turn=turn) for turn in range(200)]
    letters = ["".join(q.answer for q in questions if q.options) for questions in several]
    for first in range(4):
        for other in range(first):
            pairs = Counter((each[other], each[first]) for each in letters)
            assert len(pairs) == 16 and max(pairs.values()) <= 28, (other, first, pairs)
    alike = Counter(len(set(each)) for each in letters)
    assert alike[4] < 40, "not each letter once"


@pytest.mark.parametrize("kind", KINDS)
def test_wording_varies_with_the_seed_only(kind: str) -> None:
    case, questions = max(asked(kind), key=lambda one: len(one[0].counterfactual.things))
    assert questions_about(case, questions[0].sample_id, seed=0) == questions_about(
        case, questions[0].sample_id, seed=0
    )
    by_seed = [questions_about(case, "s", seed=seed) for seed in range(30)]
    for slot in zip(*by_seed, strict=True):
        assert len({question.text for question in slot}) >= 2
    assert len({questions[-1].answer for questions in by_seed}) > 1


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(UsageError, match="does not ask about SM"):
        questions_about(sample_intervention("SM", 0, 0), "s", seed=0)
    scene = next(
        scene for index in range(200) if {"apple"} <= categories(scene := sample_scene(1, index))
    )
    apple = [thing.category for thing in scene.things].index("apple")
    with pytest.raises(UsageError, match="a colour in between"):
        questions_about(change_attribute(scene, apple, "blue", dose=0.5), "s", seed=0)
    crowd = crowd_scene(0, 0, "tree", 8, context="meadow")
    case = remove(crowd, 0)
    case = Intervention(
        kind="counting",
        factual=crowd,
        counterfactual=case.counterfactual,
        before=0,
        positive="tree",
        facts={"object": "tree"},
    )
    with pytest.raises(UsageError, match="painted in the distance"):
        questions_about(case, "s", seed=0)


def files(path: Path) -> dict[str, bytes]:
    return {str(f.relative_to(path)): f.read_bytes() for f in path.rglob("*") if f.is_file()}


def test_workers_do_not_change_a_byte(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    small: dict[str, Any] = {"seed": 3, "size_px": 96, "layout": "paper"}
    one = build_exam(8, tmp_path / "one", workers=1, progress=lambda *p: told.append(p), **small)
    build_exam(8, tmp_path / "two", workers=2, **small)
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert told == [(k, 8) for k in range(1, 9)]
    assert reactbench.read(tmp_path / "one") == one
    assert [case.intervention for case in one.cases] == [*LAYOUT, *LAYOUT]
    slots = [(q.number, q.answer, q.sample_id) for q in reactbench.rows_of(one)[1] if q.options]
    assert len(slots) == 26
    for number, letter, sample_id in slots[:13]:  # and in its second turn another letter is right
        assert (number, letter, f"{int(sample_id) + 4:06d}") not in slots
    other = build_exam(4, tmp_path / "other", seed=4, size_px=96, workers=1)
    assert other.card.content_hash != one.card.content_hash
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "other", "two"]


def test_changes_are_seen_where_the_hint_says() -> None:
    side_px = 160
    for number in range(2, 66, 4):
        made = make_sample(number, seed=9, size_px=side_px)
        before, after = (
            np.asarray(Image.open(BytesIO(made.pictures[name])), np.int16)
            for name in made.sample.images
        )
        _, row, column, *_ = made.sample.facts["location"].split()
        rows = slice(0, side_px // 2) if row == "upper" else slice(side_px // 2, side_px)
        start = ("left", "middle", "right").index(column) * side_px // 3
        part = (rows, slice(start, start + side_px // 3))
        assert int((np.abs(before - after).max(axis=2)[part] > 24).sum()) >= 12, number


def test_counts_are_dense_and_pictures_fit() -> None:
    for number in range(3, 40, 4):
        made = make_sample(number, seed=2, size_px=128)
        assert 2 <= int(made.sample.facts["count"]) <= 200
        picture = Image.open(BytesIO(made.pictures[made.sample.images[0]]))
        assert picture.size == (made.sample.width_px, made.sample.height_px) == (128, 128)


def test_bad_requests_are_refused(tmp_path: Path) -> None:
    for n, seed, size_px, problem in (
        (0, 0, 128, "at least one sample"),
        (1, -1, 128, "not negative"),
        (1, 0, 8, "64 to 4096"),
    ):
        with pytest.raises(UsageError, match=problem):
            build_exam(n, tmp_path / "exam", seed=seed, size_px=size_px)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(UsageError, match="not an empty folder"):
        build_exam(1, tmp_path / "full", seed=0, size_px=64)
