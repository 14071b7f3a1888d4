"""The nano segmenters as they are shipped."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from groundfault import registry
from groundfault.errors import DataError, UsageError
from groundfault.interfaces import Encoder, ModelOptions
from groundfault.io.masks import decode
from groundfault.models.nano import SHIPPED, SIDE_PX, Nano, group
from groundfault.records import Outcome
from groundfault.runner.probe import PASSED, probe
from groundfault.world.render import render
from groundfault.world.sampling import crowd_scene, sample_scene

pytest.importorskip("onnxruntime", reason="running the nano models needs the nano extra")

NAMES = ("nano-base", "nano-cft")


def load(name: str) -> Nano:
    model = registry.load_model(name, ModelOptions())
    assert isinstance(model, Nano)
    return model


@pytest.fixture(scope="module", params=NAMES)
def model(request: pytest.FixtureRequest) -> Nano:
    return load(request.param)


@pytest.mark.parametrize("name", NAMES)
def test_the_files_are_small_and_say_where_they_come_from(name: str) -> None:
    files = list(SHIPPED.glob(f"{name}.*.onnx"))
    assert len(files) == 2 and sum(file.stat().st_size for file in files) <= 6_000_000
    card = json.loads(load(name)._match.get_modelmeta().custom_metadata_map["card"])
    assert card["stage"] == name
    assert [stage["name"] for stage in card["recipe"]["stages"]][:2] == list(NAMES)


def test_phrases_asked_together_get_what_each_gets_alone(model: Nano) -> None:
    image = render(sample_scene(3, 1)).image
    phrases = ["dog", "living dog", "the thing one drinks coffee from", "bronze sculpture", "tree"]
    together = model.segment(image, phrases)
    for phrase, prediction in zip(phrases, together, strict=True):
        (alone,) = model.segment(image, [phrase])
        assert alone.masks == prediction.masks
        np.testing.assert_allclose(alone.scores, prediction.scores, atol=1e-5)


def test_a_picture_is_seen_once_and_asked_about_often(model: Nano) -> None:
    assert isinstance(model, Encoder)
    images = [render(sample_scene(3, 2)).image, render(sample_scene(3, 3)).image[:200]]
    seen = model.encode(images)
    for phrases in ([["dog"], ["cat"]], [["tree", "bronze sculpture"], []]):
        expected = [model.segment(*each) for each in zip(images, phrases, strict=True)]
        assert model.segment_encoded(seen, phrases) == expected
    with pytest.raises(UsageError, match="a phrase is text"):
        model.segment_encoded(seen, [["dog"], [3]])  # type: ignore[list-item]


def test_a_crowd_comes_back_as_instances(model: Nano) -> None:
    scene = crowd_scene(4, 0, "penguin", 5)
    rendered = render(scene)
    (found,) = model.segment(rendered.image, ["penguin"])
    masks = [decode(m) for m, s in zip(found.masks, found.scores, strict=True) if s >= 0.5]
    assert len(masks) >= 4
    for mask in masks:
        overlaps = [(mask & own).sum() / (mask | own).sum() for own in rendered.masks]
        assert max(overlaps) > 0.5


@pytest.mark.parametrize("shape", [(1, 1), (3, 900), (900, 3), (1200, 1600)])
def test_pictures_of_any_size(model: Nano, shape: tuple[int, int]) -> None:
    image = np.random.default_rng(0).integers(0, 256, (*shape, 3), np.uint8)
    for prediction in model.segment(image, ["dog", "cat"]):
        assert all(tuple(mask["size"]) == shape for mask in prediction.masks)


@pytest.mark.parametrize("phrase", ["", "   ", "xylophone quartet", "狗"])
def test_words_it_does_not_know_are_an_abstention(model: Nano, phrase: str) -> None:
    (found,) = model.segment(render(sample_scene(3, 1)).image, [phrase])
    assert found.outcome is Outcome.ABSTAINED and not found.masks
    assert found.presence is None


def test_no_score_is_above_the_presence(model: Nano) -> None:
    for found in model.segment(render(sample_scene(3, 1)).image, ["dog", "tree", "cup"]):
        assert (
            found.presence is not None and 0 <= max(found.scores, default=0) <= found.presence <= 1
        )


def test_a_phrase_that_is_no_text_is_named(model: Nano) -> None:
    with pytest.raises(UsageError, match="7"):
        model.segment(np.zeros((8, 8, 3), np.uint8), ["dog", 7])  # type: ignore[list-item]


def test_no_phrases_no_answers(model: Nano) -> None:
    assert model.segment(np.zeros((8, 8, 3), np.uint8), []) == []


def test_it_travels_between_processes(model: Nano) -> None:
    image = render(sample_scene(3, 2)).image
    again = pickle.loads(pickle.dumps(model))
    assert again.segment(image, ["dog"]) == model.segment(image, ["dog"])


def test_masks_lie_where_the_things_are(model: Nano) -> None:
    assert probe(model) == PASSED


def test_two_things_that_touch_are_two() -> None:
    cells = SIDE_PX // 2
    ground = np.full((SIDE_PX, SIDE_PX), -9, np.float32)
    ground[40:80, 20:140] = 9
    where = np.zeros((3, cells, cells), np.float32)
    where[0] = -9
    for column in (25, 55):
        where[0, 30, column] = 9
    rows, columns = np.mgrid[:cells, :cells]
    where[1] = (30 - rows) / cells
    where[2] = (np.where(columns < 40, 25, 55) - columns) / cells
    labels = group(ground, where)[1]
    assert {*np.unique(labels[20:40, 10:40])} != {*np.unique(labels[20:40, 40:70])}
    assert (labels >= 0).sum() == 20 * 60 and labels.max() == 1


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x08\x07" * 100])
def test_a_broken_file_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.find.onnx").write_bytes(content)
    with pytest.raises(DataError, match=r"x\.find\.onnx"):
        Nano(tmp_path / "x").segment(np.zeros((8, 8, 3), np.uint8), ["dog"])


def test_a_missing_model_is_named(run: Any, tmp_path: Path) -> None:
    run("world", "build", "--preset", "cafe", "--n", 3, "--size", 96, "--out", tmp_path / "w")
    result = run("eval", tmp_path / "w", "--model", "nano:nowhere/x", "--out", tmp_path / "r")
    assert result.code == 2 and "nowhere/x" in result.err


def test_fine_tuning_cures_what_habit_has_spoilt(run: Any, tmp_path: Path) -> None:
    """The whole circle on a small held-out world; bench/nano.py is the study with intervals."""
    world, runs = tmp_path / "world", tmp_path / "runs"
    built = run("world", "build", "--preset", "cafe", "--n", 60, "--seed", 60_001, "--out", world)
    assert built.code == 0, built.err
    asked = run("eval", world, "--model", NAMES[0], "--model", NAMES[1], "--out", runs)
    assert asked.code == 0, asked.err
    rows = [json.loads((runs / name / "summary.json").read_text())["rows"] for name in NAMES]
    base, cft = ({k: v["value"] for k, v in row["Overall"]["metrics"].items()} for row in rows)
    assert base["IL_FPR"] > 0.1
    assert cft["IL_FPR"] < 0.6 * base["IL_FPR"]
    assert cft["recall@0.50"] > base["recall@0.50"]
