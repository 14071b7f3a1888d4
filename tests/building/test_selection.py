"""Which instances become candidates: settings, reasons, ids, seeds; words that are denied."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from PIL import Image
from tests.building.sources import HEIGHT, WIDTH, coco, picture, write

from groundfault.building.denied import Denied, denied_word
from groundfault.building.mining.cafe import CafeSettings, mine
from groundfault.building.mining.exclusions import Exclusions, ids_of
from groundfault.building.mining.selection import candidate_id, measure, seed_of
from groundfault.building.proposals.rules import propose
from groundfault.building.records import Candidate, Proposal
from groundfault.errors import DataError, UnknownName, UsageError
from groundfault.io.coco_photographs import read
from groundfault.io.masks import encode
from groundfault.io.photographs import Photograph, Thing

PEOPLE = ["man", "Women", "boy's", "skiers", "officer", "a-person", "hand", "faces", "pistol"]
THINGS = ["hair drier", "record player", "baby elephant", "manhole", "teddy bear", "handbag", "dog",
          "chicken breast", "owl face", "adult ostrich"]  # fmt: skip


def thing(number: int, category: str, box: tuple[int, int, int, int], **more: Any) -> Thing:
    pixels = np.zeros((HEIGHT, WIDTH), bool)
    x, y, width, height = box
    pixels[y : y + height, x : x + width] = True
    return Thing(id=str(number), category=category, mask=encode(pixels), **more)


def photo(*things: Thing, number: str = "1", **more: Any) -> Photograph:
    return Photograph(
        id=number, source="coco", file=f"{number}.jpg", height_px=HEIGHT, width_px=WIDTH,
        things=things, **more,
    )  # fmt: skip


def mined(*photographs: Photograph, **settings: Any) -> tuple[list[Candidate], Counter[str]]:
    dropped: Counter[str] = Counter()
    chosen = CafeSettings(**{"per_image": None, **settings})
    found = list(mine(photographs, chosen, lambda _, why: dropped.update([why.reason])))
    return found, dropped


FITTING = thing(1, "dog", (10, 10, 20, 20))


def test_every_kind_of_edit_is_tried_on_every_instance() -> None:
    found, dropped = mined(photo(FITTING, thing(2, "cup", (40, 10, 15, 15))))
    assert sorted(each.id for each in found) == sorted(
        f"coco-1-{k}-{task}" for k in (1, 2) for task in ("SM", "CC", "OC")
    )
    assert not dropped
    assert found[0].facts["same_category"] == "1" and found[0].facts["annotator"] == "1"


def test_one_kind_is_drawn_where_one_is_asked_for() -> None:
    photographs = [photo(FITTING, number=str(k)) for k in range(60)]
    found, _ = mined(*photographs, kinds="one")
    assert len(found) == 60
    assert min(Counter(each.task for each in found).values()) > 8


SMALL = thing(1, "dog", (10, 10, 9, 5))  # 45 of 4,800 pixels
WHOLE = thing(1, "dog", (4, 4, 70, 50))
EDGES = thing(1, "dog", (0, 20, 80, 15))
PARTS = np.zeros((HEIGHT, WIDTH), bool)
PARTS[10:30, 10:20] = PARTS[10:30, 30:40] = True
IN_PIECES = Thing(id="1", category="dog", mask=encode(PARTS))


@pytest.mark.parametrize(
    ("given", "reason", "setting"),
    [
        (photo(SMALL), "too small", {"min_area_share": 45 / 4800}),
        (photo(WHOLE), "too large", {"max_area_share": 1.0}),
        (photo(EDGES), "cut by the edge", {"max_edges": 2}),
        (photo(IN_PIECES), "in pieces", {"min_whole_share": 0.5}),
        (photo(msgspec.structs.replace(FITTING, crowd=True)), "crowd", {"crowd": True}),
        (photo(msgspec.structs.replace(FITTING, mask=None)), "no mask", None),
        (photo(msgspec.structs.replace(FITTING, category="man")), "denied",
         {"denied": Denied(groups=())}),
        (photo(FITTING, partial=("dog",)), "not exhaustively annotated", {"exhaustive": False}),
        (photo(FITTING, coco_id="7"), None, {"exclusions": Exclusions(ids=("8",))}),
    ],
)  # fmt: skip
def test_each_reason_has_its_setting(given: Photograph, reason: str | None, setting: Any) -> None:
    found, dropped = mined(given)
    assert dropped == ({reason: 3} if reason else {}) and bool(found) == (reason is None)
    if setting is not None:
        found, dropped = mined(given, **setting)
        assert len(found) == 3 and not dropped


def test_several_of_a_category_and_caps() -> None:
    two = photo(FITTING, thing(2, "dog", (40, 10, 20, 20)))
    assert mined(two)[1] == {"several of its category": 6}
    found, dropped = mined(two, context_beside_others=True)  # other dogs go with what is around
    assert dropped == {"several of its category": 4} and {each.task for each in found} == {"CC"}
    assert mined(two, tasks=("SM", "OC"))[1] == {"several of its category": 4}
    found, _ = mined(two, several=True)
    assert len(found) == 6 and found[0].facts["same_category"] == "2"
    assert mined(two, several=True, per_image=1)[1] == {"enough of its photograph": 3}
    found, dropped = mined(*[photo(FITTING, number=str(k)) for k in range(5)], per_class=2)
    assert [each.photograph.id for each in found[::3]] == ["0", "1"]
    assert dropped == {"enough of its category": 9}


def test_one_target_is_edited_twice_with_different_values() -> None:
    found, _ = mined(photo(FITTING), edits_per_target=2)
    assert len({each.id for each in found}) == 6
    for task in ("SM", "CC", "OC"):
        first, second = (propose(each) for each in found if each.task == task)
        assert isinstance(first, Proposal) and isinstance(second, Proposal)
        assert first.value != second.value
    alone, _ = mined(photo(FITTING))
    # The first is the same as without a second, but for what it may fall back on: they share that.
    single, shared = propose(alone[0]), propose(found[0])
    assert isinstance(single, Proposal) and isinstance(shared, Proposal)
    assert msgspec.structs.replace(shared, alternatives=single.alternatives) == single
    with pytest.raises(UsageError, match="edits_per_target"):
        mined(photo(FITTING), edits_per_target=0)


def test_a_share_is_drawn_by_ids_and_seed() -> None:
    photographs = [photo(FITTING, number=str(k)) for k in range(200)]
    found, dropped = mined(*photographs, share=0.3)
    assert len(found) + dropped["not drawn"] == 600 and 100 < len(found) < 260
    again, _ = mined(*reversed(photographs), share=0.3)
    assert {each.id for each in again} == {each.id for each in found}
    other, _ = mined(*photographs, share=0.3, seed=1)
    assert {each.id for each in other} != {each.id for each in found}


def test_ids_and_seeds_depend_on_the_candidate_alone() -> None:
    one, *_ = mined(photo(FITTING))[0]
    beside, *_ = mined(photo(thing(9, "cup", (40, 40, 12, 12)), number="0"), photo(FITTING))[0][3:]
    assert (one.id, one.seed) == (beside.id, beside.seed)
    assert seed_of(one.id, 0) != seed_of(one.id, 1)
    hostile = photo(FITTING, number="../../etc/passwd\n")
    name = candidate_id(hostile, "1", "SM")
    assert "/" not in name and "\n" not in name and not name.startswith(".")
    tricky = {
        candidate_id(photo(number="a-b"), "c", "SM"),
        candidate_id(photo(number="a"), "b-c", "SM"),
    }
    assert len(tricky) == 2


def test_masks_of_other_annotators() -> None:
    other = thing(2, "", (40, 40, 15, 15)).mask
    assert other
    given = photo(msgspec.structs.replace(FITTING, alternatives=(other,)))
    found, _ = mined(given, annotator=2)
    assert found[0].target.mask == other and found[0].facts["annotator"] == "2"
    assert mined(given, annotator=3)[1] == {"no mask": 3}


def test_boxes_are_measured_where_there_is_no_mask() -> None:
    boxed = Thing(id="1", category="dog", box_xywh=(0, 0, 40, 30))
    found = measure(photo(boxed), boxed)
    assert (found.area_share, found.edges) == (0.25, 2)


@pytest.mark.parametrize(
    "settings", [{"min_area_share": 0.6}, {"share": 0}, {"limit": 0}, {"seed": -1}, {"tasks": ()}]
)
def test_settings_that_cannot_be_meant(settings: Any) -> None:
    with pytest.raises(UsageError):
        mined(photo(FITTING), **settings)


@pytest.mark.parametrize("text", PEOPLE)
def test_people_and_sensitive_words_are_found(text: str) -> None:
    assert denied_word(f"the {text} on the left", Denied())


@pytest.mark.parametrize("text", THINGS)
def test_things_are_let_through(text: str) -> None:
    assert denied_word(f"the {text} on the left", Denied()) == ""


def test_words_can_be_added_and_allowed() -> None:
    assert denied_word("a hot dog stand", Denied(more=("hot dog",))) == "hot dog"
    assert denied_word("a person", Denied(allowed=("Person",))) == ""
    with pytest.raises(UnknownName, match="Did you mean 'people'"):
        denied_word("x", Denied(groups=("peopel",)))


def test_expressions_and_questions_are_searched_too() -> None:
    spoken = msgspec.structs.replace(FITTING, phrases=("the dog the man holds",))
    assert mined(photo(spoken))[1] == {"denied": 3}
    asked = msgspec.structs.replace(FITTING, questions=("what would a child ride?",))
    assert mined(photo(asked))[1] == {"denied": 3}
    beside = photo(FITTING, thing(2, "person", (40, 10, 15, 15)))
    assert mined(beside)[1] == {"denied": 3}
    assert mined(beside, without_people=True)[1] == {"people in the picture": 6}


def test_photographs_of_test_sets_are_excluded(tmp_path: Path) -> None:
    given = [photo(FITTING, number="a", coco_id="581857"), photo(FITTING, number="b", coco_id="9")]
    listed = write(tmp_path / "refs.json", [{"ref_id": 0, "image_id": 581857, "sentences": []}])
    found, dropped = mined(*given, exclusions=Exclusions(files={"RefCOCO test": str(listed)}))
    assert dropped == {"in RefCOCO test": 3} and {each.photograph.id for each in found} == {"b"}


def test_ids_from_every_kind_of_file(tmp_path: Path) -> None:
    lines = tmp_path / "ids.txt"
    lines.write_text("139\n\nCOCO_val2014_000000000042.jpg\n")
    assert ids_of(lines) == {"139", "42"}
    assert ids_of(write(tmp_path / "list.json", [139, "x"])) == {"139", "x"}
    assert ids_of(write(tmp_path / "coco.json", coco())) == {"1", "2", "3"}
    with pytest.raises(DataError, match="it holds no ids"):
        ids_of(write(tmp_path / "bad.json", [[1]]))


def test_look_alikes_are_found(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        picture(tmp_path / "images" / f"{number}.jpg", 120, 160, seed=number)
    with Image.open(tmp_path / "images" / "1.jpg") as first:
        first.resize((80, 60)).save(tmp_path / "images" / "4.jpg", quality=60)
    (tmp_path / "test").mkdir()
    with Image.open(tmp_path / "images" / "2.jpg") as second:
        second.save(tmp_path / "test" / "x.png")
    given = [photo(FITTING, number=str(k)) for k in (1, 2, 3, 4)]
    images = str(tmp_path / "images")
    look = Exclusions(images=images, pictures={"mine": str(tmp_path / "test")})
    found, dropped = mined(*given, exclusions=look)
    assert dropped == {"looks like one in mine": 3, "near-duplicate": 3}
    assert {each.photograph.id for each in found} == {"1", "3"}
    with pytest.raises(UsageError, match="need `images`"):
        mined(*given, exclusions=Exclusions(pictures={"mine": images}))


def test_one_photograph_of_coco_in_two_sets_is_used_once() -> None:
    given = photo(FITTING, coco_id="5"), photo(FITTING, number="other", coco_id="5")
    assert mined(*given)[1] == {"duplicate": 3}
    again, _ = mined(*given, exclusions=Exclusions(duplicates=False))
    assert len(again) == 6


def test_candidates_and_drops_are_all_that_was_looked_at(tmp_path: Path) -> None:
    found, dropped = mined(*read(write(tmp_path / "coco.json", coco())))
    assert len(found) + sum(dropped.values()) == 3 * len(coco()["annotations"])
