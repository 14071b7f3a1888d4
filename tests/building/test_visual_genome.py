"""Visual Genome and FSC147: files beside each other, names, merged objects, sizes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.building.sources import picture, write

from groundfault.building.sources import photographs
from groundfault.errors import DataError, UnknownName, UsageError
from groundfault.io import fsc147, visual_genome
from groundfault.io.photographs import Relation


def thing(number: int, name: str, **more: Any) -> dict[str, Any]:
    box = {"x": 10, "y": 20, "w": 30, "h": 40}
    return {"object_id": number, "names": [name], "synsets": [], **box, **more}


def subject(number: int, name: str, **more: Any) -> dict[str, Any]:
    found = thing(number, name, **more)
    del found["names"]
    return {**found, "name": name}


def genome(folder: Path, images: int = 3) -> Path:
    numbers = range(1, images + 1)
    size = {"width": 100, "height": 80}
    data = [
        {"image_id": k, "url": f"https://e.org/VG_100K/{k}.jpg", "coco_id": 500 + k, **size}
        for k in numbers
    ]
    trees = {"synsets": ["tree.n.01"], "merged_object_ids": [99]}
    objects = [
        {"image_id": k, "objects": [thing(10, "Trees.", **trees), thing(11, "sidewalk", w=500)]}
        for k in numbers
    ]
    attributes = [
        {"image_id": k, "attributes": [{**thing(10, "trees"), "attributes": ["Green ", "green"]}]}
        for k in numbers
    ]
    relation = {"predicate": "ON", "subject": subject(12, "shade"), "object": thing(99, "trees")}
    relationships = [{"image_id": k, "relationships": [relation, relation]} for k in numbers]
    write(folder / "image_data.json", data)
    write(folder / "objects.json", objects)
    write(folder / "attributes.json", attributes)
    write(folder / "relationships.json", relationships)
    return folder


def test_files_are_joined_by_image(tmp_path: Path) -> None:
    one, *_, last = visual_genome.read(genome(tmp_path))
    assert [(each.id, each.category) for each in one.things] == [
        ("10", "trees"),
        ("11", "sidewalk"),
        ("12", "shade"),
    ]
    assert one.things[0].attributes == ("green",)
    assert one.relations == (Relation("12", "on", "10"),)  # 99 was merged into 10
    assert one.things[1].box_xywh == (10, 20, 90, 40)  # within the picture
    assert (one.coco_id, one.file, last.id) == ("501", "1.jpg", "3")


def test_names_by_synset(tmp_path: Path) -> None:
    one, *_ = visual_genome.read(genome(tmp_path), names="synset")
    assert [each.category for each in one.things] == ["tree", "sidewalk", "shade"]
    again, *_ = photographs("visual-genome", annotations=tmp_path, names="synset")
    assert again.things == one.things and again.licence.startswith("CC BY 4.0")
    with pytest.raises(UnknownName, match="Did you mean 'synset'"):
        photographs("visual-genome", annotations=tmp_path, names="synsets")
    with pytest.raises(UsageError, match="has no option 'split_by'"):
        photographs("visual-genome", annotations=tmp_path, split_by="unc")


def test_files_of_another_order_or_with_gaps_say_the_same(tmp_path: Path) -> None:
    plain = {each.id: each for each in visual_genome.read(genome(tmp_path, 40))}
    for name in ("objects", "relationships"):
        path = tmp_path / f"{name}.json"
        records = json.loads(path.read_text())
        write(path, records[::-1] if name == "objects" else records)
    assert {each.id: each for each in visual_genome.read(tmp_path)} == plain
    path = tmp_path / "attributes.json"
    write(path, json.loads(path.read_text())[:5])
    again = {each.id: each for each in visual_genome.read(tmp_path)}
    assert again.keys() == plain.keys() and again["1"] == plain["1"]
    assert again["9"].things[0].attributes == ()
    path.unlink()
    with pytest.raises(UsageError, match=r"has no attributes\.json"):
        visual_genome.read(tmp_path)
    assert len(list(visual_genome.read(tmp_path, partial=True))) == 40


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("image_data.json", [], "does not have image 1"),
        ("image_data.json", [{"image_id": 1, "width": 0, "height": 9}], "no sound size"),
        ("relationships.json", [{"image_id": 1, "relationships": [{"predicate": 1}]}], "record 0"),
        ("objects.json", {"image_id": 1}, "a JSON object, not a list"),
        ("objects.json", '[{"image_id": 1, "objects": [', "ends in the middle of its JSON"),
    ],
)
def test_unsound_files_are_named(tmp_path: Path, name: str, content: Any, message: str) -> None:
    genome(tmp_path)
    text = content if isinstance(content, str) else json.dumps(content)
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=rf"{name}.*{message}"):
        list(visual_genome.read(tmp_path))


def test_folders_without_files(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has none of objects\.json"):
        visual_genome.read(tmp_path)
    with pytest.raises(UsageError, match="is no folder"):
        visual_genome.read(tmp_path / "nothing")


CORNERS = [[251, 102], [529, 102], [529, 554], [251, 554]]


def counted(folder: Path, **more: Any) -> Path:
    entry = {
        "H": 640, "W": 640, "ratio_h": 0.6, "ratio_w": 0.6, "points": [[127, 300], [106, 77]],
        "box_examples_coordinates": [[[x // 2, y // 2] for x, y in CORNERS]], **more,
    }  # fmt: skip
    write(folder / fsc147.ANNOTATIONS, {"63.jpg": entry, "2.jpg": entry})
    (folder / fsc147.CLASSES).write_text("2.jpg\tsea shells\n63.jpg\thot air balloons\n")
    write(folder / fsc147.SPLITS, {"train": ["63.jpg"], "test": ["2.jpg"]})
    return folder


def test_counted_things(tmp_path: Path) -> None:
    first, second = photographs("fsc147", annotations=counted(tmp_path))
    assert first.counts == {"hot air balloons": 2} and second.counts == {"sea shells": 2}
    assert (first.height_px, first.width_px, first.split) == (384, 384, "train")
    assert first.things[0].box_xywh == (125, 51, 139, 226)
    assert "FSC147" in first.licence
    assert [each.id for each in fsc147.read(tmp_path, split="test")] == ["2.jpg"]
    with pytest.raises(UsageError, match="Known: test, train"):
        fsc147.read(tmp_path, split="val")


def test_sizes_are_those_of_the_pictures_or_what_the_points_need(tmp_path: Path) -> None:
    picture(tmp_path / "images" / "63.jpg", 300, 310)
    first, second = fsc147.read(counted(tmp_path), tmp_path / "images")
    assert (first.height_px, first.width_px) == (300, 310)
    assert (second.height_px, second.width_px) == (384, 384)
    first, _ = fsc147.read(counted(tmp_path, box_examples_coordinates=[CORNERS]))
    assert (first.height_px, first.width_px) == (640, 640)


@pytest.mark.parametrize(
    ("change", "message"),
    [({"H": 0}, "no sound numbers"), ({"ratio_h": 0}, "no sound numbers"), ({"points": 3}, "Exp")],
)
def test_unsound_counts(tmp_path: Path, change: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        list(fsc147.read(counted(tmp_path, **change)))


def test_pictures_without_a_class(tmp_path: Path) -> None:
    counted(tmp_path)
    (tmp_path / fsc147.CLASSES).write_text("2.jpg\tsea shells\n")
    with pytest.raises(DataError, match=r"63\.jpg: ImageClasses_FSC147\.txt does not say"):
        list(fsc147.read(tmp_path))
    (tmp_path / fsc147.CLASSES).write_text("2.jpg\n")
    with pytest.raises(DataError, match="line 1: it names no class"):
        fsc147.read(tmp_path)
