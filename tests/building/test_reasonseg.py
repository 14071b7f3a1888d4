"""ReasonSeg's files: shapes, what is ignored, questions and false premises."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from tests.building.sources import HEIGHT, WIDTH, picture

from groundfault.errors import DataError, UsageError
from groundfault.io import reasonseg
from groundfault.io.masks import decode
from groundfault.io.photographs import FalsePremise

LARGE = [[5.9, 5.2], [60, 5], [60, 50], [5, 50]]
SMALL = [[20, 20], [40, 20], [40, 40], [20, 40]]


def shape(label: str, points: Any) -> dict[str, Any]:
    return {
        "label": label,
        "labels": [label],
        "shape_type": "polygon",
        "points": points,
        "flags": {},
    }


def annotated(folder: Path, name: str, content: Any, encoding: str = "utf-8") -> None:
    picture(folder / f"{name}.jpg")
    text = json.dumps(content, ensure_ascii=False)
    (folder / f"{name}.json").write_bytes(text.encode(encoding))


def sample(*shapes: Any, **more: Any) -> dict[str, Any]:
    return {"shapes": list(shapes), "text": ["what is it for?"], "is_sentence": True, **more}


def test_smaller_shapes_are_painted_over_larger_ones(tmp_path: Path) -> None:
    shapes = shape("Ignore this", SMALL), shape("target", LARGE), shape("Flag", [[0, 0]] * 3)
    annotated(tmp_path, "a", sample(*shapes))
    [found] = reasonseg.read(tmp_path)
    [thing] = found.things
    assert (found.height_px, found.width_px, found.file) == (HEIGHT, WIDTH, "a.jpg")
    expected = np.zeros((HEIGHT, WIDTH), np.uint8)
    for points, value in ((LARGE, 1), (SMALL, 2)):
        corners = [np.array(points, np.int32)]
        cv2.fillPoly(expected, corners, value)
        cv2.polylines(expected, corners, True, value, 1)
    assert thing.mask and thing.ignored
    assert (decode(thing.mask) == (expected == 1)).all()
    assert (decode(thing.ignored) == (expected == 2)).all()
    assert thing.questions == ("what is it for?",) and thing.phrases == ()


def test_pixels_of_slanted_polygons_are_those_of_the_published_reader(tmp_path: Path) -> None:
    turns = np.linspace(0, 6, 11)
    reach = np.random.default_rng(3).uniform(12, 28, 11)
    points = np.stack([40 + reach * np.cos(turns), 30 + reach * np.sin(turns)], 1)
    annotated(tmp_path, "a", sample(shape("target", points.tolist())))
    [found] = reasonseg.read(tmp_path)
    expected, outline = np.zeros((2, HEIGHT, WIDTH), np.uint8)
    cv2.fillPoly(expected, [points.astype(np.int32)], 1)
    cv2.polylines(outline, [points.astype(np.int32)], True, 1, 3)
    mask = found.things[0].mask
    assert mask
    differs = decode(mask) != (expected == 1)
    assert differs.sum() / expected.sum() < 0.02 and not differs[outline == 0].any()


def test_phrases_splits_and_false_premises(tmp_path: Path) -> None:
    asked = ["Where is the unicorn?", True, "There is none."]
    content = sample(shape("target", SMALL), is_sentence=False, false_premise_QA=[asked])
    annotated(tmp_path / "train", "b", content)
    annotated(tmp_path / "val", "a", sample(shape("target", SMALL), false_premise_QA=asked))
    train, val = reasonseg.read(tmp_path)
    assert (train.split, train.file, train.id) == ("train", "train/b.jpg", "train/b")
    assert train.things[0].phrases == ("what is it for?",)
    premise = FalsePremise("Where is the unicorn?", "There is none.", True)
    assert train.false_premises == val.false_premises == (premise,)
    assert [found.split for found in reasonseg.read(tmp_path, split="val")] == ["val"]
    assert [found.split for found in reasonseg.read(tmp_path / "val")] == ["val"]
    with pytest.raises(UsageError, match="no JSON files of the split test"):
        reasonseg.read(tmp_path, split="test")


def test_files_in_cp1252(tmp_path: Path) -> None:
    content = sample(shape("target", SMALL), text="the café’s sign")
    annotated(tmp_path, "a", content, encoding="cp1252")
    [found] = reasonseg.read(tmp_path)
    assert found.things[0].questions == ("the café’s sign",)


def test_without_a_shape_there_is_nothing_to_find(tmp_path: Path) -> None:
    annotated(tmp_path, "a", sample())
    [found] = reasonseg.read(tmp_path)
    assert found.things == ()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"shapes": [', "truncated"),
        ("{}", "missing required field"),
        (json.dumps(sample(shape("target", [[1, 1], [2, 2], [1e9, 3]]))), "far outside"),
        (json.dumps(sample(shape("target", [[1], [2, 2]]))), "shapes"),
    ],
)
def test_unsound_files_are_named(tmp_path: Path, content: str, message: str) -> None:
    picture(tmp_path / "a.jpg")
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(DataError, match=rf"a\.json.*{message}"):
        list(reasonseg.read(tmp_path))


def test_pictures_that_are_missing_unreadable_or_elsewhere(tmp_path: Path) -> None:
    annotated(tmp_path, "a", sample(shape("target", SMALL)))
    (tmp_path / "a.jpg").write_bytes(b"no picture")
    with pytest.raises(DataError, match="its picture cannot be read"):
        list(reasonseg.read(tmp_path))
    (tmp_path / "a.jpg").unlink()
    with pytest.raises(DataError, match=r"a\.jpg is not in"):
        list(reasonseg.read(tmp_path))
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a.jpg").symlink_to("/etc/hostname")
    with pytest.raises(DataError, match="leads outside the folder"):
        list(reasonseg.read(tmp_path, tmp_path / "images"))
