"""ReactBench's counts by hand, their edges, and what becomes a candidate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq
import pytest
from tests.building.sources import write

from groundfault.building.mining import reactbench
from groundfault.building.mining.habits import ATTRIBUTES, PAIRS
from groundfault.building.mining.reactbench import OPERATIONS, ReactbenchSettings, mine
from groundfault.building.mining.reactbench_statistics import (
    Names,
    Statistics,
    StatisticsSettings,
    count,
    write_tables,
)
from groundfault.building.records import Candidate
from groundfault.errors import UsageError
from groundfault.io import visual_genome
from groundfault.io.photographs import Photograph, Relation, Thing

Triple = tuple[str, str, str]


def photo(number: int, *names: str, relations: Iterable[tuple[int, str, int]] = ()) -> Photograph:
    """Things by name ("dog:brown,small" with attributes), related by their places."""
    things = []
    for place, spec in enumerate(names):
        name, _, looks = spec.partition(":")
        box = (10.0 + 5 * place, 10.0, 30.0, 30.0)
        attributes = tuple(filter(None, looks.split(",")))
        things.append(Thing(id=str(place), category=name, box_xywh=box, attributes=attributes))
    return Photograph(
        id=str(number), source="visual-genome", file=f"{number}.jpg", height_px=100, width_px=100,
        things=tuple(things), exhaustive=False,
        relations=tuple(Relation(str(a), verb, str(b)) for a, verb, b in relations),
    )  # fmt: skip


def counted(photographs: Iterable[Photograph], **settings: Any) -> Statistics:
    return count(photographs, StatisticsSettings(**settings))


def mined(photographs: Any, **settings: Any) -> tuple[list[Candidate], Counter[str]]:
    dropped: Counter[str] = Counter()
    chosen = ReactbenchSettings(**{"per_image": None, **settings})
    found = list(mine(photographs, chosen, lambda _, why: dropped.update([why.reason])))
    return found, dropped


TOY = [
    # cup in 6 images, table in 8, plate in 3, dog in 4; related: cup–table in 4 images (both ways
    # in image 3, twice in image 1), plate–table in 3, dog–table in 1, cup–plate in 2
    photo(1, "cup:white", "table:wooden", "cup:white,small",
          relations=[(0, "on", 1), (2, "on", 1)]),
    photo(2, "cup:white", "table:wooden", relations=[(0, "on", 1)]),
    photo(3, "cup:red", "table:wooden,brown", relations=[(0, "on", 1), (1, "under", 0)]),
    photo(4, "cup", "table:brown", "plate:white",
          relations=[(0, "on", 1), (2, "on", 1), (0, "on", 2)]),
    photo(5, "cup:white", "plate:white", "table", relations=[(0, "near", 1), (1, "on", 2)]),
    photo(6, "plate:round", "table:wooden", relations=[(0, "on", 1)]),
    photo(7, "dog:brown", "table", relations=[(0, "under", 1)]),
    photo(8, "dog:brown", "dog:black", relations=[(0, "near", 1)]),
    photo(9, "dog", "table", "cup"),
    photo(10, "dog"),
]  # fmt: skip


def test_pairs_counted_by_hand() -> None:
    found = {(each.a, each.b): each for each in counted(TOY, min_count=2).pairs()}
    assert {pair: each.count for pair, each in found.items()} == {
        ("cup", "table"): 4,
        ("plate", "table"): 3,
        ("cup", "plate"): 2,
        ("dog", "table"): 1,
    }
    cups = found["cup", "table"]
    assert (cups.a_count, cups.b_count) == (6, 8)
    assert (cups.b_given_a, cups.a_given_b) == (4 / 6, 4 / 8)
    assert cups.verbs == {"on": 5, "under": 1} and cups.kept
    plates = found["plate", "table"]
    assert (plates.b_given_a, plates.a_given_b) == (3 / 3, 3 / 8)
    assert found["dog", "table"].why_not == "C < 2"
    assert [pair for pair, each in found.items() if each.kept] == [
        ("cup", "table"),
        ("plate", "table"),
        ("cup", "plate"),
    ]


def test_relations_can_be_counted_instead_of_images() -> None:
    found = {(each.a, each.b): each.count for each in counted(TOY, count="relations").pairs()}
    assert found["cup", "table"] == 6 and found["plate", "table"] == 3


def test_attributes_counted_by_hand() -> None:
    found = {(e.name, e.attribute): e for e in counted(TOY, min_count=2).attributes()}
    white = found["cup", "white"]  # of cups there are 7: 2 + 1 + 1 + 1 + 1 + 1
    assert (white.count, white.name_count, white.rank, white.kept) == (4, 7, 1, True)
    assert white.probability == 4 / 7
    assert found["cup", "red"].why_not == "C < 2"
    tables = found["table", "wooden"]
    assert (tables.count, tables.name_count) == (4, 8)
    assert (found["dog", "brown"].count, found["dog", "brown"].name_count) == (2, 5)


def near(count_: int, a_images: int, b_images: int) -> Iterator[Photograph]:
    """A and B related in some images, and alone in others."""
    for number in range(count_):
        yield photo(number, "a", "b", relations=[(0, "on", 1)])
    for number in range(a_images - count_):
        yield photo(10_000 + number, "a")
    for number in range(b_images - count_):
        yield photo(30_000 + number, "b")


@pytest.mark.parametrize(
    ("count_", "a_images", "b_images", "why_not"),
    [
        (50, 250, 260, ""),  # 50 of 250 is 0.2 exactly
        (49, 60, 60, "C < 50"),
        (50, 251, 260, "P < 0.2"),
        (1999, 10_000, 10_000, "P < 0.2"),
        (2000, 10_000, 10_000, ""),
        (50, 50, 10_000, ""),  # rare, and always with the common one: the larger P counts
    ],
)
def test_edges_of_pairs(count_: int, a_images: int, b_images: int, why_not: str) -> None:
    [pair] = counted(near(count_, a_images, b_images)).pairs()
    assert (pair.count, pair.a_count, pair.b_count) == (count_, a_images, b_images)
    assert (pair.kept, pair.why_not) == (not why_not, why_not)


@pytest.mark.parametrize(
    ("with_it", "in_all", "why_not"),
    [(50, 250, ""), (49, 60, "C < 50"), (50, 251, "P < 0.2"), (1999, 10_000, "P < 0.2")],
)
def test_edges_of_attributes(with_it: int, in_all: int, why_not: str) -> None:
    photographs = (photo(k, "o:red" if k < with_it else "o") for k in range(in_all))
    [found] = counted(photographs).attributes()
    assert (found.count, found.name_count, found.why_not) == (with_it, in_all, why_not)


def test_the_top_three_and_their_ties() -> None:
    looks = ["o:a,b", "o:a,b", "o:a,c", "o:d,c", "o:d,e"]  # a 3, then b, c, d with 2 each, e 1
    found = counted((photo(k, spec) for k, spec in enumerate(looks)), min_count=1)
    ranked = [(each.attribute, each.count, each.why_not) for each in found.attributes()]
    assert ranked == [
        ("a", 3, ""),
        ("b", 2, ""),
        ("c", 2, ""),
        ("d", 2, "not in the top 3"),
        ("e", 1, "not in the top 3"),
    ]


def test_names_are_made_alike_where_asked_for() -> None:
    photographs = [photo(1, "men", "trees", relations=[(0, "near", 1)]), photo(2, "man", "tree")]
    plain = counted(photographs, min_count=1)
    assert [(each.a, each.b) for each in plain.pairs()] == [("men", "trees")]
    alike = Names(singular=True, aliases={"man": "person"})
    [pair] = counted(photographs, min_count=1, names=alike).pairs()
    assert (pair.a, pair.b, pair.a_count, pair.why_not) == ("person", "tree", 2, "denied")


def test_boxes_of_one_thing_can_be_merged() -> None:
    twice = photo(1, "cup:red", "cup:red")
    same = twice.things[0].box_xywh
    other = Thing(id="9", category="cup", box_xywh=same, attributes=("red",))
    given = Photograph(
        id="1", source="vg", file="", height_px=9, width_px=9, things=(*twice.things[:1], other)
    )
    [apart] = counted([given], min_count=1).attributes()
    [merged] = counted([given], min_count=1, names=Names(merge_iou=0.9)).attributes()
    assert (apart.count, merged.count, merged.name_count) == (2, 1, 1)


def test_tables_hold_every_pair_and_attribute(tmp_path: Path) -> None:
    write_tables(counted(TOY, min_count=2), tmp_path / "pairs.parquet", tmp_path / "looks.parquet")
    pairs = pq.read_table(tmp_path / "pairs.parquet").to_pylist()
    assert pairs[0] == {
        "a": "cup", "b": "table", "count": 4, "a_count": 6, "b_count": 8, "p_b_given_a": 4 / 6,
        "p_a_given_b": 0.5, "kept": True, "why_not": "", "verbs": ["on: 5", "under: 1"],
        "images": ["1", "2", "3", "4"],
    }  # fmt: skip
    assert [row["why_not"] for row in pairs] == ["", "", "", "C < 2"]
    looks = pq.read_table(tmp_path / "looks.parquet").to_pylist()
    assert {"object": "cup", "attribute": "white", "rank": 1}.items() <= looks[0].items()


def test_mining_leaves_its_tables(tmp_path: Path) -> None:
    mined(iter(TOY), min_count=2, tables=str(tmp_path / "counted"))
    assert pq.read_table(tmp_path / "counted" / "pairs.parquet").num_rows == 4
    assert pq.read_table(tmp_path / "counted" / "attributes.parquet").num_rows == 9


def test_the_expected_thing_is_erased() -> None:
    found, dropped = mined(TOY, min_count=2, tasks=("erasure",))
    by_pair = Counter((each.facts["erased"], each.facts["kept"]) for each in found)
    # P(table|cup) = 4/6 > P(cup|table) = 4/8: a cup makes one expect a table; P(cup|plate) = 2/3
    assert by_pair == {("table", "cup"): 5, ("table", "plate"): 3, ("cup", "plate"): 2}
    first = found[0]
    assert (first.task, first.target.category) == ("erasure", "table")
    assert first.facts["relation"] == "cup-on-table"
    assert first.facts["C"] == "4" and first.facts["P(table|cup)"] == "0.6667"
    assert dropped == {"pair not kept": 2}  # a dog and a table, a dog and a dog


def test_photographs_are_read_twice_however_they_are_given() -> None:
    expected, _ = mined(TOY, min_count=2)
    again, _ = mined(lambda: iter(TOY), min_count=2)
    once, _ = mined(iter(TOY), min_count=2)
    assert expected == again == once and expected
    statistics = counted(TOY, min_count=2)
    given = mine(iter(TOY), ReactbenchSettings(min_count=2, per_image=None), lambda *_: None,
                 statistics=statistics)  # fmt: skip
    assert list(given) == expected


def test_tables_are_taken_where_nothing_can_be_counted() -> None:
    things = tuple(msgspec.structs.replace(each, attributes=()) for each in TOY[0].things)
    plain = msgspec.structs.replace(TOY[0], things=things, relations=())
    found, _ = mined(iter([plain]), tasks=("attribute",))
    assert found and all(each.facts["pairs"] == "table" for each in found)
    counted_, _ = mined(iter(TOY), tasks=("attribute",), min_count=2)
    assert counted_ and not any("pairs" in each.facts for each in counted_)


def test_things_with_their_usual_attribute() -> None:
    found, dropped = mined(TOY, min_count=2, tasks=("attribute",), variants=("A",))
    assert {(each.facts["object"], each.facts["attribute"]) for each in found} == {
        ("cup", "white"),
        ("table", "wooden"),
        ("table", "brown"),
        ("plate", "white"),
        ("dog", "brown"),
    }
    white = next(each for each in found if each.facts["object"] == "cup")
    assert white.facts["attribute_type"] == "color" and white.facts["P"] == "0.5714"
    assert len(found) == 13 and dropped == {"without its usual attribute": 10}  # of 23 things


def test_each_attribute_is_edited_in_two_directions() -> None:
    found, _ = mined(TOY, min_count=2, tasks=("attribute",), per_image=1)
    assert [each.facts["variant"] for each in found[:2]] == ["A", "B"]
    assert found[0].target == found[1].target and found[0].id.endswith(".A-attribute")


def test_attributes_have_limits_of_size() -> None:
    _, dropped = mined(
        TOY, min_count=2, tasks=("attribute",), variants=("A",), attribute_area_shares=(0.1, 0.8)
    )
    assert dropped == {"too small": 13, "without its usual attribute": 10}


def crowded(things: int, side: float = 10.0) -> Photograph:
    boxes = [
        Thing(id=str(k), category="cup" if k < 3 else f"thing {k}", box_xywh=(20, 20, side, side))
        for k in range(things)
    ]
    return Photograph(
        id="1", source="vg", file="", height_px=100, width_px=100, things=tuple(boxes)
    )


def test_tracing_wants_many_things_and_a_small_target() -> None:
    tracing = {"tasks": ("tracing",), "pairs": "table"}
    assert mined([crowded(15)], **tracing)[1] == {"too few things": 15}
    found, dropped = mined([crowded(16)], **tracing)
    assert len(found) == 16 and not dropped
    cup = next(each for each in found if each.facts["object"] == "cup")
    assert cup.facts["same_instance_count"] == "3" and cup.facts["objects"] == "16"
    operations = [cup.facts["operation"], *cup.facts["fallbacks"].split(", ")]
    assert sorted(operations) == sorted(OPERATIONS)
    assert mined([crowded(16, 44.8)], **tracing)[1] == {"too large": 16}  # 0.2007 of the area
    assert len(mined([crowded(16, 44.7)], **tracing)[0]) == 16  # 0.1998


def test_operations_are_balanced() -> None:
    given = [crowded(200)]
    drawn, _ = mined(given, tasks=("tracing",), pairs="table")
    share = Counter(each.facts["operation"] for each in drawn)
    assert set(share) == set(OPERATIONS) and min(share.values()) > 30
    turns, _ = mined(given, tasks=("tracing",), pairs="table", assignment="in turn")
    assert set(Counter(each.facts["operation"] for each in turns).values()) == {50}


def test_counting() -> None:
    def of(name: str, number: int) -> Photograph:
        counts = {name: number}
        return Photograph(id=name, source="fsc147", file="", height_px=9, width_px=9, counts=counts)

    given = [of("shells", 20), of("peas", 4), of("people", 30), of("beads", 900)]
    found, dropped = mined(given, tasks=("counting",), max_things=500)
    assert [(each.facts["counted"], each.facts["count"]) for each in found] == [("shells", "20")]
    assert dropped == {"too few to count": 1, "denied": 1, "too many to count": 1}


def test_pairs_from_the_table_have_to_be_near_each_other() -> None:
    def placed(x: float) -> Photograph:
        cup = Thing(id="1", category="cup", box_xywh=(x, 10, 20, 20))
        table = Thing(id="2", category="dining table", box_xywh=(10, 25, 50, 40))
        man = Thing(id="3", category="person", box_xywh=(10, 10, 60, 60))
        return Photograph(
            id="1", source="coco", file="", height_px=100, width_px=100, things=(cup, table, man)
        )

    [found], _ = mined([placed(20)], tasks=("erasure",), pairs="table")
    assert found.facts["relation"] == "cup-on-dining table" and found.target.id == "1"
    assert found.id == "coco-1-1.2-erasure"
    assert mined([placed(80)], tasks=("erasure",), pairs="table")[1] == {"not near each other": 1}


def test_the_tables_name_things_of_coco_and_nobody() -> None:
    named = {name for erased, _, kept in PAIRS for name in (erased, kept)} | set(ATTRIBUTES)
    assert "person" not in named and len(PAIRS) == len({*PAIRS})
    assert {"dining table", "wine glass", "zebra"} <= named
    assert all(looks and all(looks) for looks in ATTRIBUTES.values())


def test_caps_and_settings_that_cannot_be_meant() -> None:
    found, dropped = mined(TOY, min_count=2, tasks=("erasure",), per_pair=1)
    assert len(found) == 3 and dropped["enough of its pair"] == 7
    with pytest.raises(UsageError, match="at least one task"):
        mined(TOY, tasks=())


def test_from_files_of_visual_genome(tmp_path: Path) -> None:
    size = {"width": 100, "height": 100}
    write(tmp_path / "image_data.json", [{"image_id": int(each.id), **size} for each in TOY])
    relations = []
    for each in TOY:
        objects = {
            one.id: {"object_id": int(one.id), "names": [one.category], "w": 30, "h": 30}
            for one in each.things
        }
        relations.append({
            "image_id": int(each.id),
            "relationships": [
                {"predicate": one.predicate, "subject": objects[one.subject_id],
                 "object": objects[one.object_id]}
                for one in each.relations
            ],
        })  # fmt: skip
    write(tmp_path / "relationships.json", relations)
    found = counted(visual_genome.read(tmp_path, partial=True), min_count=2)
    assert {pair: each.count for pair, each in found.kept_pairs.items()} == {
        ("cup", "table"): 4,
        ("plate", "table"): 3,
        ("cup", "plate"): 2,
    }
    assert reactbench.statistics_settings(ReactbenchSettings(top=2)).top == 2
