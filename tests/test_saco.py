"""SA-Co files: read, refused, written; and the published oracle over three annotators."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from groundfault.analysis.summary import summarise
from groundfault.benchmarks import saco
from groundfault.errors import DataError, UsageError
from groundfault.io.coco import read_coco_results
from groundfault.io.masks import decode, encode
from groundfault.matching.overlaps import compare_predictions
from groundfault.protocols import concepts
from groundfault.records import Role

GOLDEN = Path(__file__).parent / "golden" / "cafe_n60_s12"


def square(low: int, high: int, size: tuple[int, int] = (8, 10)) -> dict[str, Any]:
    pixels = np.zeros(size, bool)
    pixels[low:high, low:high] = True
    return {**encode(pixels)}


def annotations() -> dict[str, Any]:
    """Two phrases in one picture, one of them twice there, the other not at all."""
    image = {"file_name": "a.jpg", "height": 8, "width": 10}
    return {
        "images": [
            {"id": 1, "text_input": "dog", "is_instance_exhaustive": 1, **image},
            {"id": 2, "text_input": "cat", **image},
        ],
        "annotations": [
            {"id": 1, "image_id": 1, "segmentation": square(1, 3), "bbox": [0.1, 0.125, 0.2, 0.25]},
            {"id": 2, "image_id": 1, "segmentation": square(4, 8), "bbox": [0.4, 0.5, 0.4, 0.5]},
        ],
        "categories": [{"id": 1, "name": "visual"}],
    }


def write_file(path: Path, content: object) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_every_entry_is_a_case(tmp_path: Path) -> None:
    benchmark = saco.read([write_file(tmp_path / "a.json", annotations())])
    assert [case.id for case in benchmark.cases] == ["1", "2"]
    dog, cat = benchmark.items
    assert (dog.query, dog.role, dog.target, dog.present) == ("dog", Role.POSITIVE, None, True)
    assert (cat.query, cat.role, cat.present) == ("cat", Role.POSITIVE, False)
    assert [decode(region.mask).sum() for region in dog.regions if region.mask] == [4, 16]
    assert benchmark.categories == (1,)


def test_normalised_boxes_become_pixels_and_are_noted(tmp_path: Path) -> None:
    benchmark = saco.read([write_file(tmp_path / "a.json", annotations())])
    assert benchmark.items[0].regions[0].box_xywh == pytest.approx((1, 1, 2, 2))
    assert "normalised" in benchmark.notes[0]


def test_further_annotators_are_alternatives(tmp_path: Path) -> None:
    first = write_file(tmp_path / "a.json", annotations())
    other = annotations()
    other["images"] = other["images"][:1]
    other["images"][0]["is_instance_exhaustive"] = 0
    other["annotations"] = other["annotations"][:1]
    benchmark = saco.read([first, write_file(tmp_path / "b.json", other)])
    dog, cat = benchmark.items
    assert [len(regions or ()) for regions in dog.alternatives] == [1]
    assert cat.alternatives == (None,)
    assert (dog.exhaustive, cat.exhaustive) == (False, True)


def test_annotators_must_see_the_same_picture(tmp_path: Path) -> None:
    other = annotations()
    other["images"][1]["height"] = 9
    files = [write_file(tmp_path / f"{k}.json", c) for k, c in enumerate([annotations(), other])]
    with pytest.raises(DataError, match=r"1\.json, images\[1\] \(id 2\): it is 9x10 here and 8x10"):
        saco.read(files)


def test_ids_as_text_are_the_same_ids(tmp_path: Path) -> None:
    content = annotations()
    for annotation in content["annotations"]:
        annotation["image_id"] = str(annotation["image_id"])
    benchmark = saco.read([write_file(tmp_path / "a.json", content)])
    assert [len(item.regions) for item in benchmark.items] == [2, 0]


def test_size_comes_from_the_masks_where_it_is_not_given(tmp_path: Path) -> None:
    content = annotations()
    del content["images"][0]["height"], content["images"][0]["width"]
    content["images"].pop()
    item = saco.read([write_file(tmp_path / "a.json", content)]).items[0]
    assert (item.height_px, item.width_px) == (8, 10)


def changed(part: str, number: int, **fields: Any) -> dict[str, Any]:
    content = annotations()
    content[part][number] |= fields
    return content


BAD = {
    "truncated": (json.dumps(annotations())[:-40], "ends in the middle of its JSON"),
    "empty": ("", "the file is empty"),
    "a list": ("[]", "a JSON list, not an object"),
    "no images": ({"images": []}, "no images"),
    "image id twice": (changed("images", 1, id="1"), r"images\[1\]: image id 1 occurs twice"),
    "annotation id twice": (changed("annotations", 1, id=1), "annotation id 1 occurs twice"),
    "unknown image": (
        changed("annotations", 1, image_id=7),
        r"annotations\[1\] \(id 2, image_id 7\): its image_id is not among the images",
    ),
    "corrupt run lengths": (
        changed("annotations", 0, segmentation={"size": [8, 10], "counts": "1"}),
        r"annotations\[0\].*run lengths do not add up to 8x10",
    ),
    "mask of another size": (
        changed("annotations", 0, segmentation=square(1, 3, (8, 9))),
        r"annotations\[0\].*it is 8x9, its image 8x10",
    ),
    "two-point polygon": (
        changed("annotations", 0, segmentation=[[0, 0, 1, 1]]),
        r"annotations\[0\].*at least three finite x, y points",
    ),
    "no mask, no box": (
        changed("annotations", 0, segmentation=None, bbox=None),
        r"annotations\[0\].*neither segmentation nor bbox",
    ),
    "no size": (
        changed("images", 1, height=0),
        r"image 2: it has no height and width",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_unsound_files_are_refused_by_name_record_and_remedy(tmp_path: Path, name: str) -> None:
    content, message = BAD[name]
    file = write_file(tmp_path / "bad.json", content)
    with pytest.raises(DataError, match=message) as caught:
        saco.read([file])
    assert caught.value.file == str(file)
    assert caught.value.remedy


def test_no_file_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="at least one"):
        saco.read([])


def test_polygons_plain_run_lengths_and_crowds_are_read(tmp_path: Path) -> None:
    content = annotations()
    content["annotations"][0]["segmentation"] = [[1, 1, 3, 1, 3, 3, 1, 3]]
    plain = {"size": [8, 10], "counts": [4, 4, 72]}
    content["annotations"][1] |= {"segmentation": plain, "iscrowd": 1}
    regions = saco.read([write_file(tmp_path / "a.json", content)]).items[0].regions
    assert [decode(region.mask).sum() for region in regions if region.mask] == [4, 4]
    assert [region.crowd for region in regions] == [False, True]


def test_writing_and_reading_gives_the_same(tmp_path: Path) -> None:
    other = annotations()
    other["images"] = other["images"][:1]
    other["annotations"][1]["iscrowd"] = 1
    files = [write_file(tmp_path / f"{k}.json", c) for k, c in enumerate([annotations(), other])]
    benchmark = saco.read(files)
    written = saco.write(benchmark, tmp_path / "out" / "set.json")
    assert [path.name for path in written] == ["set.json", "set_b.json"]
    again = saco.read(written)
    assert again.cases == benchmark.cases
    for old, new in zip(benchmark.items, again.items, strict=True):
        assert (
            msgspec.structs.replace(new, regions=old.regions, alternatives=old.alternatives) == old
        )
        for before, after in zip(old.regions, new.regions, strict=True):
            assert after.mask == before.mask
            assert after.box_xywh == pytest.approx(before.box_xywh)


@pytest.mark.parametrize("annotators", ["abc", "cba", "ab"])
def test_the_published_oracle(tmp_path: Path, annotators: str) -> None:
    """The CAFE golden set read as SA-Co: the cgF1 family does not know pairs."""
    for packed in GOLDEN.glob("*.json.gz"):
        (tmp_path / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    names = {"a": "annotations.json", "b": "annotations_b.json", "c": "annotations_c.json"}
    benchmark = saco.read([tmp_path / names[letter] for letter in annotators], verify=False)
    file = tmp_path / "pred.json"
    overlaps = compare_predictions(
        benchmark, read_coco_results(file), iou="segm", need_target=False
    )
    scored = concepts.score(benchmark, overlaps, t=0.5, tau=None, iou="segm", variant="parity")
    ours = summarise(scored, bootstrap=0, seed=0).rows["Overall"].metrics
    published = json.loads((tmp_path / "expected.json").read_bytes())["oracle"]
    for name, value in published[f"{annotators},segm,t=0.5"]["metrics"].items():
        name = name + "0" if name.endswith("@0.5") else name
        assert ours[name].value == pytest.approx(value, abs=1e-9), name
