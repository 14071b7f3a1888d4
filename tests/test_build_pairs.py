"""Pairs from COCO and LVIS by absent categories: what is asked, what is drawn, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.conftest import Ran

import groundfault as gf
from groundfault.benchmarks import cafe, folder
from groundfault.io.masks import encode
from groundfault.records import Benchmark, Role

Run = Callable[..., Ran]
NAMES = ["person", "dog", "kite", "cup", "toaster"]
PRESENT = {
    1: {"person": 1, "dog": 1},
    2: {"person": 2, "kite": 1},
    3: {"dog": 1},
    4: {"person": 1, "kite": 1, "dog": 1},
    5: {},
}
"""Picture → category → number of objects. A toaster is nowhere, a cup only in a crowd of cups."""


def coco(pictures: dict[int, dict[str, int]] = PRESENT) -> dict[str, Any]:
    annotations: list[dict[str, Any]] = []
    for image_id, found in pictures.items():
        for name, count in found.items():
            for k in range(count):
                pixels = np.zeros((20, 30), bool)
                pixels[2 * k : 2 * k + 5, NAMES.index(name) * 5 :][:, :4] = True
                annotations.append(
                    {
                        "id": len(annotations) + 1,
                        "image_id": image_id,
                        "category_id": NAMES.index(name) + 1,
                        "segmentation": {**encode(pixels)},
                        "iscrowd": 0,
                    }
                )
    return {
        "images": [{"id": k, "file_name": f"{k}.jpg", "height": 20, "width": 30} for k in pictures],
        "annotations": annotations,
        "categories": [{"id": k, "name": name} for k, name in enumerate(NAMES, start=1)],
    }


def lvis() -> dict[str, Any]:
    content = coco()
    for image in content["images"]:
        image |= {"neg_category_ids": [], "not_exhaustive_category_ids": []}
    content["images"][0] |= {"neg_category_ids": [3, 5]}
    content["images"][2] |= {"neg_category_ids": [1], "not_exhaustive_category_ids": [2]}
    content["categories"][4]["name"] = "toaster_oven"
    return content


def made(tmp_path: Path, content: dict[str, Any], **settings: Any) -> Benchmark:
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps(content))
    return gf.build_pairs(path, **settings)


def asked(benchmark: Benchmark) -> list[tuple[str, str, str]]:
    """(picture, p⁺, p⁻) of every case."""
    pairs = zip(benchmark.items[::2], benchmark.items[1::2], strict=True)
    return [(p.image, p.query, n.query) for p, n in pairs]


def test_what_is_asked_of_coco(tmp_path: Path) -> None:
    found = made(tmp_path, coco(), per_image=9)
    for image, present, absent in asked(found):
        there = PRESENT[int(image.removesuffix(".jpg"))]
        assert there[present] == 1 and absent not in there
    assert {p for image, p, _ in asked(found) if image == "2.jpg"} == {"kite"}  # two persons
    for positive, negative in zip(found.items[::2], found.items[1::2], strict=True):
        assert (positive.role, negative.role) == (Role.POSITIVE, Role.NEGATIVE)
        assert positive.target == negative.target == positive.regions[0]
        assert negative.regions == () and negative.exhaustive
    seen = [(image, absent) for image, _, absent in asked(found)]
    assert len(set(seen)) == len(seen)  # nothing is asked for twice in a picture
    assert made(tmp_path, coco(), per_image=9, several=True).items != found.items


def test_only_what_was_verified_is_absent_in_lvis(tmp_path: Path) -> None:
    found = asked(made(tmp_path, lvis(), per_image=9))
    assert {(image, absent) for image, _, absent in found} == {
        ("1.jpg", "kite"), ("1.jpg", "toaster oven"),
    }  # fmt: skip
    # picture 3 has a verified absence, but its dogs are not all annotated


def test_popular_and_adversarial_ones(tmp_path: Path) -> None:
    popular = asked(made(tmp_path, coco(), negatives="popular"))
    drawn = {image: absent for image, _, absent in popular}
    assert drawn.pop("4.jpg") in ("cup", "toaster")  # both are nowhere
    assert drawn == {"1.jpg": "kite", "2.jpg": "dog", "3.jpg": "person"}
    content = coco({1: {"dog": 1, "cup": 1}, 2: {"dog": 1}, 3: {"kite": 1}, 4: {"kite": 1}})
    found = {(image, present): absent for image, present, absent in
             asked(made(tmp_path, content, negatives="adversarial"))}  # fmt: skip
    assert found["2.jpg", "dog"] == "cup"  # though kites are in more pictures
    found = {(i, p): a for i, p, a in asked(made(tmp_path, content, negatives="popular"))}
    assert found["2.jpg", "dog"] == "kite"


def test_the_seed_decides_and_nothing_else(tmp_path: Path) -> None:
    content = coco({k: {"dog": 1} for k in range(1, 31)})
    first = made(tmp_path, content)
    assert made(tmp_path, content).items == first.items
    other = made(tmp_path, content, seed=1)
    assert asked(other) != asked(first)
    few = made(tmp_path, content, n=7)
    assert len(few.cases) == 7 and set(asked(few)) < set(asked(first))
    content["images"].reverse()  # what a picture is asked does not depend on its neighbours
    assert sorted(asked(made(tmp_path, content))) == sorted(asked(first))
    more = made(tmp_path, content, n=99)
    assert len(more.cases) == 30 and "99 were asked for: there are no more." in more.notes


def test_it_can_be_asked_and_scored_as_folder_and_as_file(tmp_path: Path, run: Run) -> None:
    (tmp_path / "images").mkdir()
    for k in PRESENT:
        Image.fromarray(np.zeros((20, 30, 3), np.uint8)).save(tmp_path / "images" / f"{k}.jpg")
    (tmp_path / "coco.json").write_text(json.dumps(coco()))
    told = run(
        "build", "pairs", tmp_path / "coco.json", "--images", tmp_path / "images",
        "--out", tmp_path / "ours", "--out", tmp_path / "cafe.json", "--per-image", 2,
    )  # fmt: skip
    assert told.code == 0, told.err
    assert "groundfault eval cafe --annotations" in told.out
    ours, theirs = folder.read(tmp_path / "ours"), cafe.read([tmp_path / "cafe.json"])
    assert asked(ours) == asked(theirs) and len(ours.cases) == 6
    assert (tmp_path / "ours" / "images" / "1.jpg").is_file()
    for words in (
        (tmp_path / "ours",),
        ("cafe", "--annotations", tmp_path / "cafe.json", "--images", tmp_path / "images"),
    ):
        out = tmp_path / f"runs-{len(words)}"
        ended = run("eval", *words, "--model", "oracle", "--model", "nano-base", "--out", out)
        assert ended.code == 0, ended.err
        summary = json.loads((out / "oracle" / "summary.json").read_text())
        assert summary["rows"]["Overall"]["metrics"]["cgF1"]["value"] == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.update(annotations=[]), "not a format we know"),
        (lambda c: c.update(categories=c["categories"][:1]), "not among the categories"),
        (lambda c: c["categories"][2].update(name=""), "it has no name"),
        (lambda c: c["categories"][2].update(id=1), "its id 1 occurs twice"),
        (lambda c: [a.update(iscrowd=1) for a in c["annotations"]], "no picture has a category"),
        (lambda c: [a.update(segmentation=[], bbox=[0, 0, 3, 3]) for a in c["annotations"]],
         "no picture has a category"),
        (lambda c: c["annotations"][0].update(image_id=77), "not among the images"),
        (lambda c: c["annotations"][0]["segmentation"].update(size=[9, 9]), "annotations[0]"),
        (lambda c: [i.update(text_input="dog") for i in c["images"]], "read as saco"),
    ],
)  # fmt: skip
def test_hostile_files_are_refused_before_anything_is_written(
    tmp_path: Path, run: Run, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    content = coco()
    change(content)
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(content))
    ended = run("build", "pairs", path, "--out", tmp_path / "ours", "--out", tmp_path / "x.json")
    assert ended.code == 2 and ended.err.startswith("error: ")
    assert message in ended.err and "Remedy:" in ended.err
    assert sorted(each.name for each in tmp_path.iterdir()) == ["bad.json"]


def test_other_refusals(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "coco.json"
    path.write_text(json.dumps(coco()))
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "x").touch()
    (tmp_path / "folder.json").mkdir()
    for words, message in (
        (("--out", tmp_path / "taken"), "not an empty folder"),
        (("--out", tmp_path / "folder.json"), "is a folder; name a file"),
        (("--out", tmp_path / "a", "--images", tmp_path / "nowhere"), "no such folder"),
        (("--out", tmp_path / "b.json", "--out", tmp_path / "a", "--images", tmp_path / "taken"),
         "no such image"),
    ):  # fmt: skip
        ended = run("build", "pairs", path, *words)
        assert ended.code == 2 and message in ended.err, ended.err
    assert not (tmp_path / "a").exists() and not (tmp_path / "b.json").exists()
    with pytest.raises(gf.GroundfaultError, match="unknown choice of negatives 'popularr'"):
        gf.build_pairs(path, negatives="popularr")
    with pytest.raises(gf.GroundfaultError, match="unknown option 'per_images'"):
        gf.build_pairs(path, per_images=2)
    assert "No such command" in run("build", "pear", path).err


def test_asking_coco_names_the_way_to_absent_things(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "coco.json"
    path.write_text(json.dumps(coco()))
    words = ("--annotations", path, "--images", tmp_path, "--model", "oracle", "--out")
    ended = run("eval", "coco", *words, tmp_path / "runs", "--bootstrap", 0)
    assert ended.code == 0 and "`groundfault build pairs` makes a set" in ended.out
    refused = run("eval", "lvis", *words, tmp_path / "runs")
    assert refused.code == 2 and "groundfault build pairs" in refused.err
    two = run("eval", "coco", "--annotations", path, *words, tmp_path / "runs")
    assert two.code == 2 and "is read from one --annotations, not from 2" in two.err
