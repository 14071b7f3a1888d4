"""Sources by name: COCO, LVIS, SA-Co, a plain folder; pictures that are there, or not."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from tests.building.sources import HEIGHT, WIDTH, annotation, coco, picture, square, write

from groundfault.building.mining.cafe import CafeSettings, mine
from groundfault.building.sources import SOURCES, photographs, picture_path
from groundfault.errors import DataError, UnknownName, UsageError
from groundfault.io.coco_photographs import read
from groundfault.io.masks import decode
from groundfault.io.photographs import Photograph


def lvis() -> dict[str, Any]:
    content = coco()
    content["categories"][2]["name"] = "cup_(drinking)"
    for image in content["images"]:
        number = image.pop("id")
        image |= {
            "id": number,
            "coco_url": f"http://images.cocodataset.org/val2017/{number:012d}.jpg",
            "neg_category_ids": [],
            "not_exhaustive_category_ids": [],
        }
        del image["file_name"]
    content["images"][0] |= {"neg_category_ids": [1, 18], "not_exhaustive_category_ids": [47]}
    return content


def test_coco_photographs_have_their_things_in_file_order(tmp_path: Path) -> None:
    one, two, three = read(write(tmp_path / "coco.json", coco()))
    assert [thing.id for thing in one.things] == ["11", "12"]
    assert [(thing.category, thing.crowd) for thing in two.things] == [
        ("dog", False),
        ("dog", False),
        ("cup", True),
    ]
    mask = one.things[0].mask
    assert mask and decode(mask).sum() == 400 and decode(mask)[10:30, 10:30].all()
    assert (one.source, one.licence, one.exhaustive) == (
        "coco",
        "Attribution (http://example.org/by)",
        True,
    )
    assert three.things[0].box_xywh == (20, 20, 25, 25)


@pytest.mark.parametrize(
    ("said", "licence", "url"),
    [
        ({}, "Attribution (http://example.org/by)", "http://e.org/1"),
        ({"license": "4"}, "Attribution (http://example.org/by)", "http://e.org/1"),
        ({"license": " CC0 1.0 "}, "CC0 1.0", "http://e.org/1"),
        ({"license": "http://e.org/nc"}, "http://e.org/nc", "http://e.org/1"),
        ({"license": 9}, "", "http://e.org/1"),
        ({"license": "9"}, "", "http://e.org/1"),
        ({"license": None, "coco_url": "", "url": "http://e.org/u"}, "", "http://e.org/u"),
        ({"url": "http://e.org/u"}, "Attribution (http://example.org/by)", "http://e.org/1"),
        ({"coco_url": "", "url": None}, "Attribution (http://example.org/by)", ""),
        ({"coco_url": "", "url": ["x"]}, "Attribution (http://example.org/by)", ""),
        ({"coco_url": "", "flickr_url": "http://e.org/f", "url": "http://e.org/u"},
         "Attribution (http://example.org/by)", "http://e.org/f"),
    ],
)  # fmt: skip
def test_licence_and_address_are_read_however_tools_write_them(
    tmp_path: Path, said: dict[str, Any], licence: str, url: str
) -> None:
    content = coco()
    content["images"][0] |= said
    photograph = next(read(write(tmp_path / "coco.json", content)))
    assert (photograph.licence, photograph.url) == (licence, url)


def test_lvis_knows_what_is_absent_and_what_is_partial(tmp_path: Path) -> None:
    one, two, _ = photographs("lvis", annotations=write(tmp_path / "lvis.json", lvis()))
    assert one.absent == ("person",)  # the dog is annotated: the annotation decides
    assert one.partial == ("cup (drinking)",) and not one.exhaustive and two.exhaustive
    assert (one.file, one.coco_id) == ("val2017/000000000001.jpg", "1")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c["annotations"][1].update(image_id=9), r"annotations\[1\]: its image_id 9"),
        (lambda c: c["annotations"][2].update(id=11), r"annotations\[2\].*its id occurs twice"),
        (lambda c: c["annotations"][0].update(category_id=5), "category_id 5 is not among"),
        (lambda c: c["annotations"][4].update(image_id={}), r"annotations\[4\]: Expected"),
        (lambda c: c["annotations"][5].update(segmentation=[[1, 1, 2, 2]]), r"annotations\[5\]"),
        (lambda c: c["images"][1].update(id=1), r"images\[1\]: image id 1 occurs twice"),
        (lambda c: c["images"].clear(), "it has no images"),
        (lambda c: c["categories"][1].update(id=1), r"categories\[1\]: its id 1 occurs twice"),
    ],
)
def test_unsound_coco_is_refused_by_its_record(tmp_path: Path, change: Any, message: str) -> None:
    content = coco()
    change(content)
    with pytest.raises(DataError, match=message):
        list(read(write(tmp_path / "coco.json", content)))


def test_annotations_without_an_id_get_one(tmp_path: Path) -> None:
    content = coco()
    for each in content["annotations"][1:4:2]:
        del each["id"]
    _, two, _ = read(write(tmp_path / "coco.json", content))
    assert [thing.id for thing in two.things] == ["n1", "n3", "23"]


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    def peak(images: int) -> int:
        content = coco()
        size = {"height": HEIGHT, "width": WIDTH}
        content["images"] = [{"id": k, "file_name": f"{k}.jpg", **size} for k in range(images)]
        content["annotations"] = [
            annotation(4 * k + n, k, 18, square(5, 5, 20), padding="x" * 1200)
            for n in range(4)
            for k in range(images)
        ]
        path = write(tmp_path / f"{images}.json", content)
        tracemalloc.start()
        found = mine(read(path), CafeSettings(several=True), lambda *_: None)
        assert sum(1 for _ in found) == 9 * images
        assert path.stat().st_size > 5000 * images
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return highest

    small, large = peak(500), peak(1500)  # files of 2.5 and 7.6 MB
    assert large - small < 1_500_000  # each image's entry, and where its annotations stand


def gold(*masks: Any, texts: tuple[str, ...] = ("chili", "fish ball")) -> dict[str, Any]:
    images = [
        {
            "id": 100 + k,
            "file_name": "a/1.jpg",
            "text_input": text,
            "width": WIDTH,
            "height": HEIGHT,
        }
        for k, text in enumerate(texts)
    ]
    annotations = [
        annotation(k, 100, 1, square(*where)) | {"bbox": [0.1, 0.1, 0.2, 0.25]}
        for k, where in enumerate(masks)
    ]
    categories = [{"id": 1, "name": "object"}]
    return {"images": images, "annotations": annotations, "categories": categories}


def test_saco_has_masks_of_three_annotators(tmp_path: Path) -> None:
    files = [
        write(tmp_path / "a.json", gold((5, 5, 20), (40, 5, 20))),
        write(tmp_path / "b.json", gold((41, 5, 20), (5, 6, 20))),
        write(tmp_path / "c.json", gold((5, 5, 21))),
    ]
    [found] = photographs("saco", annotations=files)
    first, second = found.things
    assert (first.category, first.id, found.file) == ("chili", "100:0", "a/1.jpg")
    assert [decode(mask)[5:25, 5:25].mean() for mask in first.alternatives] == [0.95, 1.0]
    assert len(second.alternatives) == 1 and decode(second.alternatives[0])[6, 41]
    assert found.absent == ("fish ball",)
    assert first.box_xywh == pytest.approx((8, 6, 16, 15))  # shares in the file, pixels here


def test_a_phrase_that_one_annotator_saw_is_not_absent(tmp_path: Path) -> None:
    files = [write(tmp_path / "a.json", gold()), write(tmp_path / "b.json", gold((5, 5, 20)))]
    [found] = photographs("saco", annotations=files)
    assert found.things == () and found.absent == ("fish ball",)


def test_a_folder_of_photographs(tmp_path: Path) -> None:
    picture(tmp_path / "b.png", 20, 30)
    picture(tmp_path / "sub" / "a.JPG", 10, 12)
    picture(tmp_path / ".hidden" / "c.jpg")
    (tmp_path / "notes.txt").write_text("no picture")
    found = list(photographs("folder", annotations=tmp_path, licence="mine"))
    assert [(each.file, each.height_px, each.width_px) for each in found] == [
        ("b.png", 20, 30),
        ("sub/a.JPG", 10, 12),
    ]
    assert found[0].licence == "mine" and found[0].things == ()
    (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8 no")
    with pytest.raises(DataError, match=r"broken\.jpg.*no readable picture"):
        list(photographs("folder", images=tmp_path))


SEGMENTER = """
import numpy as np
from groundfault.io.masks import as_prediction

class Bright:
    closed = 0

    def segment(self, image, phrases):
        mask = image.mean(axis=2) > 128
        halves = [mask & (np.arange(mask.shape[1]) < 15), mask & (np.arange(mask.shape[1]) >= 15)]
        return [as_prediction(halves if name == "dog" else [], [0.9, 0.3] if name == "dog" else [])
                for name in phrases]

    def close(self):
        Bright.closed += 1

def load(argument, options):
    return Bright()
"""


def test_things_in_a_folder_are_found_by_a_segmenter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "packages" / "bright-1.0.dist-info"
    installed.mkdir(parents=True)
    points = "[groundfault.models]\nbright = bright_for_tests:load\n"
    (installed / "entry_points.txt").write_text(points)
    (tmp_path / "packages" / "bright_for_tests.py").write_text(SEGMENTER)
    monkeypatch.syspath_prepend(str(tmp_path / "packages"))
    picture(tmp_path / "images" / "a.png", 20, 30)
    chosen: dict[str, Any] = {"annotations": tmp_path / "images", "segmenter": "bright"}
    [found] = photographs("folder", **chosen, phrases=["cup", "dog"])
    [thing] = found.things
    assert (thing.category, thing.masked_by, found.exhaustive) == ("dog", "bright", False)
    assert thing.mask and not decode(thing.mask)[:, 15:].any()
    [both] = photographs("folder", **chosen, phrases=["dog"], min_score=0.2)
    assert len(both.things) == 2
    with pytest.raises(UsageError, match="a segmenter is for a plain folder"):
        photographs("coco", **chosen)
    with pytest.raises(UnknownName, match="Did you mean 'bright'"):
        list(photographs("folder", annotations=tmp_path / "images", segmenter="brigt"))


def test_unknown_sources_and_splits_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'refcoco'"):
        photographs("refcocco", annotations=tmp_path)
    with pytest.raises(UsageError, match="give its annotations: a JSON file per annotator"):
        photographs("saco")
    with pytest.raises(UsageError, match="saco has no splits"):
        photographs("saco", annotations=tmp_path, split="val")
    assert all(source.about and source.annotations for source in SOURCES.values())


def test_pictures_have_to_be_there_and_fit(tmp_path: Path) -> None:
    file = write(tmp_path / "coco.json", coco())
    images = tmp_path / "images"
    picture(images / "1.jpg")
    picture(images / "2.jpg", HEIGHT, WIDTH + 1)
    told: list[tuple[str, str]] = []
    found = photographs(
        "coco", annotations=file, images=images, on_missing=lambda p, why: told.append((p.id, why))
    )
    assert [each.id for each in found] == ["1"]
    assert told == [
        ("2", "it is 81x60 pixels, 80x60 by its annotations"),
        ("3", "there is no such picture"),
    ]
    with pytest.raises(DataError, match=r"2\.jpg, photograph 2 of coco: it is 81x60"):
        list(photographs("coco", annotations=file, images=images))


@pytest.mark.parametrize("name", ["../secret.jpg", "/etc/hostname", "a\0b.jpg"])
def test_names_do_not_lead_out_of_the_folder(tmp_path: Path, name: str) -> None:
    content = coco()
    content["images"][0]["file_name"] = name
    picture(tmp_path / "secret.jpg")
    (tmp_path / "images").mkdir()
    file = write(tmp_path / "coco.json", content)
    found = photographs("coco", annotations=file, images=tmp_path / "images")
    with pytest.raises(DataError, match=r"leads outside the folder|is no path"):
        list(found)


def test_where_a_picture_is(tmp_path: Path) -> None:
    found = Photograph(id="1", source="coco", file="a/1.jpg", height_px=1, width_px=1)
    assert picture_path(found, tmp_path) == (tmp_path / "a" / "1.jpg").resolve()
