"""COCO and LVIS as questions by category."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pycocotools import mask as reference

from groundfault.benchmarks import coco_instances, lvis
from groundfault.errors import DataError, UsageError
from groundfault.io.coco import Result, file_records
from groundfault.io.coco_categories import address_to_categories
from groundfault.io.masks import decode, encode
from groundfault.matching.overlaps import compare_predictions
from groundfault.records import Benchmark, Role

NAMES = ["person", "dog", "traffic light", "apple", "kite"]


def blob(seed: int, size: tuple[int, int] = (20, 30)) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {**encode(rng.random(size) < 0.3)}


def instances() -> dict[str, Any]:
    size = {"height": 20, "width": 30}
    return {
        "images": [
            {"id": 7, "file_name": "7.jpg", **size},
            {"id": 8, "file_name": "8.jpg", **size},
            {"id": 9, "file_name": "9.jpg", **size},
        ],
        "annotations": [
            {"id": 1, "image_id": 7, "category_id": 2, "segmentation": blob(1), "iscrowd": 0},
            {"id": 2, "image_id": 8, "category_id": 1, "segmentation": blob(2), "iscrowd": 0},
            {"id": 3, "image_id": 7, "category_id": 1, "segmentation": blob(3), "iscrowd": 0},
            {"id": 4, "image_id": 7, "category_id": 2, "segmentation": blob(4), "iscrowd": 0},
            {"id": 5, "image_id": 8, "category_id": 1, "segmentation": blob(5), "iscrowd": 1},
        ],
        "categories": [{"id": k, "name": name} for k, name in enumerate(NAMES, start=1)],
    }


def federated() -> dict[str, Any]:
    content = instances()
    for annotation in content["annotations"]:
        del annotation["iscrowd"]
    for image in content["images"]:
        del image["file_name"]
        image |= {
            "coco_url": f"http://images.cocodataset.org/train2017/{image['id']:012d}.jpg",
            "neg_category_ids": [],
            "not_exhaustive_category_ids": [],
        }
    content["images"][0] |= {"neg_category_ids": [5, 4], "not_exhaustive_category_ids": [2]}
    content["categories"][2]["name"] = "traffic_light"
    return content


def write_file(path: Path, content: object) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def read_coco(tmp_path: Path, content: object, **options: Any) -> Benchmark:
    return coco_instances.read(write_file(tmp_path / "instances.json", content), **options)


def test_one_item_per_image_and_category(tmp_path: Path) -> None:
    benchmark = read_coco(tmp_path, instances())
    found = {item.id: (item.query, len(item.regions)) for item in benchmark.items}
    assert found == {"7:1": ("person", 1), "7:2": ("dog", 2), "8:1": ("person", 2)}
    assert [case.id for case in benchmark.cases] == ["7", "8"]
    assert "1 of 3 images have no query" in benchmark.notes[0]


def test_regions_are_those_of_their_category(tmp_path: Path) -> None:
    items = {item.id: item for item in read_coco(tmp_path, instances()).items}
    for item_id, seeds in {"7:1": [3], "7:2": [1, 4], "8:1": [2, 5]}.items():
        expected = [decode(blob(seed)) for seed in seeds]  # type: ignore[arg-type]
        found = [decode(region.mask) for region in items[item_id].regions if region.mask]
        assert all((a == b).all() for a, b in zip(expected, found, strict=True))


def test_crowds_keep_their_flag_and_are_not_exhaustive(tmp_path: Path) -> None:
    items = {item.id: item for item in read_coco(tmp_path, instances()).items}
    assert [region.crowd for region in items["8:1"].regions] == [False, True]
    assert [items[name].exhaustive for name in ("7:1", "7:2", "8:1")] == [True, True, False]


def test_absent_categories_are_seeded_and_depend_on_the_image_alone(tmp_path: Path) -> None:
    benchmark = read_coco(tmp_path, instances(), negatives_per_image=2, seed=3)
    absent = {item.id for item in benchmark.items if not item.present}
    assert len(absent) == 6
    assert all(item.role is Role.POSITIVE for item in benchmark.items)
    assert absent.isdisjoint({"7:1", "7:2", "8:1"})
    again = read_coco(tmp_path, instances(), negatives_per_image=2, seed=3)
    assert again.items == benchmark.items
    content = instances()
    content["images"] = content["images"][1:]
    content["annotations"] = [a for a in content["annotations"] if a["image_id"] != 7]
    fewer = read_coco(tmp_path, content, negatives_per_image=2, seed=3)
    assert {item.id for item in fewer.items if not item.present} <= absent
    other = read_coco(tmp_path, instances(), negatives_per_image=2, seed=4)
    assert {item.id for item in other.items if not item.present} != absent


def test_no_more_absent_categories_than_there_are(tmp_path: Path) -> None:
    benchmark = read_coco(tmp_path, instances(), negatives_per_image=99)
    assert len(benchmark.items) == 3 * len(NAMES)
    with pytest.raises(UsageError, match="0 or more"):
        read_coco(tmp_path, instances(), negatives_per_image=-1)


def test_items_of_one_case_stand_together_and_ids_are_unique(tmp_path: Path) -> None:
    benchmark = read_coco(tmp_path, instances(), negatives_per_image=2)
    cases = [item.case_id for item in benchmark.items]
    assert cases == sorted(cases)
    assert len({item.id for item in benchmark.items}) == len(benchmark.items)


def test_overlaps_agree_with_pycocotools(tmp_path: Path) -> None:
    benchmark = read_coco(tmp_path, instances())
    results = [
        Result(image_id=image, category_id=category, score=0.5, segmentation=blob(100 + k))
        for k, (image, category) in enumerate([(7, 2), (8, 1), (7, 2), (7, 1), (9, 1)])
    ]
    overlaps = compare_predictions(
        benchmark, address_to_categories(file_records([(0, results)], "results")), need_target=False
    )
    truth = overlaps.truths[0]
    row = 0
    for item in benchmark.items:
        image, category = map(int, item.id.split(":"))
        objects = [region.mask for region in item.regions if not region.crowd]
        for result in results:
            if (result.image_id, result.category_id) != (image, category):
                continue
            expected = reference.iou([result.segmentation], objects, [0] * len(objects))[0]
            start, stop = truth.row_start[row], truth.row_start[row + 1]
            assert truth.iou[start:stop] == pytest.approx(expected)
            row += 1
    assert row == 4
    assert "1 of 5 predictions" in overlaps.notes[0]


def changed(part: str, number: int, **fields: Any) -> dict[str, Any]:
    content = instances()
    content[part][number] |= fields
    return content


BAD = {
    "truncated": (json.dumps(instances())[:-40], "ends in the middle of its JSON"),
    "empty": ("", "the file is empty"),
    "a list": ("[]", "a JSON list, not an object"),
    "image id twice": (changed("images", 1, id="7"), r"images\[1\]: image id 7 occurs twice"),
    "unknown image": (
        changed("annotations", 1, image_id=70),
        r"annotations\[1\] \(id 2, image_id 70\): its image_id is not among the images",
    ),
    "unknown category": (
        changed("annotations", 1, category_id=70),
        r"annotations\[1\] \(id 2, image_id 8\): its category_id 70 is not among the categories",
    ),
    "category twice": (changed("categories", 1, id=1), r"categories\[1\]: its id 1 occurs twice"),
    "nameless category": (changed("categories", 1, name=""), r"categories\[1\]: it has no name"),
    "corrupt run lengths": (
        changed("annotations", 0, segmentation={"size": [20, 30], "counts": "1"}),
        r"annotations\[0\].*run lengths do not add up",
    ),
    "mask of another size": (
        changed("annotations", 0, segmentation=blob(1, (20, 31))),
        r"annotations\[0\].*it is 20x31, its image 20x30",
    ),
    "two-point polygon": (
        changed("annotations", 0, segmentation=[[0, 0, 1, 1]]),
        r"annotations\[0\].*at least three finite x, y points",
    ),
    "bad box": (changed("annotations", 0, bbox=[0, 0, -1, 2]), r"annotations\[0\].*its bbox"),
}


@pytest.mark.parametrize("name", BAD)
def test_unsound_files_are_refused_by_name_record_and_remedy(tmp_path: Path, name: str) -> None:
    content, message = BAD[name]
    file = write_file(tmp_path / "bad.json", content)
    for reader in (coco_instances.read, lvis.read):
        with pytest.raises(DataError, match=message) as caught:
            reader(file)
        assert caught.value.file == str(file)
        assert caught.value.remedy


def test_coco_written_and_read_is_the_same(tmp_path: Path) -> None:
    benchmark = read_coco(tmp_path, instances())
    (file,) = coco_instances.write(benchmark, tmp_path / "again.json")
    again = coco_instances.read(file)
    assert again.cases == benchmark.cases
    assert [item.id for item in again.items] == [item.id for item in benchmark.items]
    for old, new in zip(benchmark.items, again.items, strict=True):
        assert (old.query, old.image, old.exhaustive) == (new.query, new.image, new.exhaustive)
        assert [r.mask for r in old.regions] == [r.mask for r in new.regions]
        assert [r.crowd for r in old.regions] == [r.crowd for r in new.regions]


def test_lvis_negatives_are_the_verified_ones(tmp_path: Path) -> None:
    benchmark = lvis.read(write_file(tmp_path / "lvis.json", federated()))
    assert {item.id for item in benchmark.items if not item.present} == {"7:4", "7:5"}
    exhaustive = {item.id: item.exhaustive for item in benchmark.items}
    assert exhaustive == {"7:1": True, "7:2": False, "7:4": True, "7:5": True, "8:1": True}


def test_lvis_names_and_files(tmp_path: Path) -> None:
    content = federated()
    content["images"][0]["neg_category_ids"] = [3]
    benchmark = lvis.read(write_file(tmp_path / "lvis.json", content))
    assert benchmark.items[0].image == "train2017/000000000007.jpg"
    assert benchmark.items[2].query == "traffic light"
    content["images"][0]["file_name"] = "own.jpg"
    assert lvis.read(write_file(tmp_path / "lvis.json", content)).items[0].image == "own.jpg"


def test_lvis_contradictions(tmp_path: Path) -> None:
    content = federated()
    content["images"][0]["neg_category_ids"] = [1, 4]
    benchmark = lvis.read(write_file(tmp_path / "lvis.json", content))
    assert {item.id for item in benchmark.items if not item.present} == {"7:4"}
    assert "image 7, person: the annotation decides" in benchmark.notes[-1]
    content["images"][0]["neg_category_ids"] = [99]
    with pytest.raises(DataError, match="image 7: its neg_category_ids name 99"):
        lvis.read(write_file(tmp_path / "lvis.json", content))


def described() -> dict[str, Any]:
    """Instances with all that COCO's own files say besides."""
    content = instances()
    content["info"] = {"year": 2017, "contributor": "somebody"}
    content["licenses"] = [{"id": 4, "name": "CC BY 2.0", "url": "http://…"}]
    for number, image in enumerate(content["images"]):
        image |= {"license": 4, "date_captured": f"2013-11-1{number}"}
    for annotation in content["annotations"]:
        annotation |= {"id": annotation["id"] + 900_000, "area": annotation["id"] + 0.5}
    for category in content["categories"]:
        category["supercategory"] = f"kind of {category['name']}"
    return content


@pytest.mark.parametrize("through_folder", [False, True])
def test_a_coco_file_is_written_as_it_was(tmp_path: Path, run: Any, through_folder: bool) -> None:
    before = described()
    source = tmp_path / "before.json"
    source.write_text(json.dumps(before))
    if through_folder:
        assert run("convert", source, "--to", "folder", "--out", tmp_path / "folder").code == 0
        source = tmp_path / "folder"
    found = run("convert", source, "--to", "coco", "--out", tmp_path / "after.json")
    assert found.code == 0 and "Changed" not in found.out
    after = json.loads((tmp_path / "after.json").read_text())
    assert after["images"] == before["images"]  # also the one without any object
    assert after["categories"] == before["categories"]  # also those of which there is none
    assert after["licenses"] == before["licenses"]
    assert after["info"] == {**before["info"], "format": "coco"}

    def kept(content: dict[str, Any]) -> dict[int, tuple[object, ...]]:
        names = ("image_id", "category_id", "area", "iscrowd")
        return {a["id"]: tuple(a[n] for n in names) for a in content["annotations"]}

    assert kept(after) == kept(before)
    files = [tmp_path / "before.json", tmp_path / "after.json"]
    old, new = ([(i.id, [r.mask for r in i.regions]) for i in coco_instances.read(f).items]
                for f in files)  # fmt: skip
    assert old == new


def test_lvis_as_coco_keeps_ids_and_drops_what_coco_has_not(tmp_path: Path, run: Any) -> None:
    content = federated()
    content["images"][0]["license"] = 3
    content["categories"][2]["synset"] = "traffic_light.n.01"
    (tmp_path / "lvis.json").write_text(json.dumps(content))
    found = run("convert", tmp_path / "lvis.json", "--to", "coco", "--out", tmp_path / "coco.json")
    assert found.code == 0, found.err
    after = json.loads((tmp_path / "coco.json").read_text())
    assert after["images"][0]["license"] == 3 and "neg_category_ids" not in after["images"][0]
    names = {each["id"]: each["name"] for each in after["categories"]}
    assert names[3] == "traffic light" and len(names) == len(NAMES)
    assert sorted(a["id"] for a in after["annotations"]) == [1, 2, 3, 4, 5]
