"""YOLO-World and YOLOE: the library's own networks from their descriptions, random weights.

What reads the phrases is a stand-in, as CLIP is a download.
"""

from __future__ import annotations

import zlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.models.conftest import (
    SQUARES,
    assert_same,
    assert_sound,
    counted_calls,
    edge_error_px,
    picture,
    square,
)

from groundfault.errors import GroundfaultError
from groundfault.interfaces import ModelOptions, Segmenter
from groundfault.models import ultralytics_open
from groundfault.runner.probe import PASSED, probe

pytestmark = pytest.mark.xdist_group("transformers")

PHRASES = ["a dog", "red car", "an umbrella"]


def embedded(phrases: list[str]) -> Any:
    """A unit vector per phrase."""
    import torch

    seeds = (torch.Generator().manual_seed(zlib.crc32(phrase.encode())) for phrase in phrases)
    vectors = torch.stack([torch.randn(512, generator=seed) for seed in seeds])
    return torch.nn.functional.normalize(vectors, dim=1)[None]


@pytest.fixture(scope="module")
def ultralytics(transformers: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("YOLO_CONFIG_DIR", str(tmp_path_factory.mktemp("ultralytics")))
        environment.setenv("YOLO_OFFLINE", "true")
        if find_spec("ultralytics") is None:
            pytest.skip("ultralytics is not installed: the extra 'ultralytics' brings it")
        yield ultralytics_open._imported()


def seeded(load: Any, *arguments: Any) -> Any:
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(0)
        return load(*arguments, ModelOptions(device="cpu", offline=True))


@pytest.fixture(scope="module")
def world(ultralytics: Any, checkpoint_folder: Any) -> Any:
    argument = f"yolov8n-worldv2.yaml+{checkpoint_folder('sam')}"
    model = seeded(ultralytics_open.load_yolo_world, argument)
    model.detector.reader = embedded
    model.detector.floor = 0.0  # random weights score next to nothing
    model.detector.most = 5
    model.detector.side_px = 64
    return model


@pytest.fixture(scope="module")
def yoloe(ultralytics: Any) -> Any:
    model = seeded(ultralytics_open.load_yoloe, "yoloe-11n-seg.yaml")
    for contrast in model.network.model[-1].cv4:  # untrained, it hears next to nothing
        contrast.logit_scale.data.fill_(12.0)
        contrast.bias.data.fill_(0.0)
    model.reader = embedded
    model.floor, model.most, model.side_px = 0.0, 20, 64
    return model


@pytest.fixture(params=["world", "yoloe"])
def model(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)


def network_of(model: Any) -> Any:
    return getattr(model, "detector", model).network


@pytest.mark.parametrize("size", [(96, 64), (50, 80), (1, 1), (1, 300), (90, 3)])
def test_masks_have_the_pictures_size(model: Any, size: tuple[int, int]) -> None:
    assert isinstance(model, Segmenter)
    width, height = size
    for prediction in model.segment(picture(width, height), PHRASES):
        assert len(prediction.masks) > 0
        assert_sound(prediction, height, width)


def test_one_encoding_for_many_phrases(model: Any) -> None:
    many = [f"thing {number}" for number in range(11)]
    with counted_calls(network_of(model).model[0].conv) as calls:
        assert len(model.segment(picture(96, 64), many)) == 11
    assert calls == [1]


def test_phrases_do_not_change_each_other(model: Any) -> None:
    image = picture(96, 64)
    together = model.segment(image, PHRASES)
    for phrase, found in zip(PHRASES, together, strict=True):
        assert_same(found, model.segment(image, [phrase])[0])
    assert together[0].scores != together[1].scores


def test_it_detects_what_the_library_detects(world: Any, ultralytics: Any) -> None:
    image = picture(96, 64)
    detector = world.detector
    (found,) = detector.detect([image], [["a dog"]])
    plain = ultralytics.YOLOWorld("yolov8n-worldv2.yaml")
    plain.model.load_state_dict(detector.network.state_dict())
    plain.model.txt_feats = embedded(["a dog"])
    plain.model.model[-1].nc = 1
    plain.model.names = {0: "a dog"}
    (result,) = plain.predict(
        image[..., ::-1].copy(), imgsz=64, conf=0.0, max_det=5, device="cpu", verbose=False
    )
    assert found[0].scores.tolist() == pytest.approx(result.boxes.conf.tolist(), abs=1e-5)
    np.testing.assert_allclose(found[0].boxes_xyxy, result.boxes.xyxy, atol=0.1)


def test_it_segments_what_the_library_segments(yoloe: Any, ultralytics: Any) -> None:
    from groundfault.io.masks import decode

    image = picture(96, 64)
    (found,) = yoloe.segment(image, ["a dog"])
    plain = ultralytics.YOLOE("yoloe-11n-seg.yaml")
    plain.model.load_state_dict(yoloe.network.state_dict())
    plain.set_classes(["a dog"], embedded(["a dog"]))
    (result,) = plain.predict(
        image[..., ::-1].copy(),
        imgsz=64,
        conf=0.0,
        max_det=20,
        retina_masks=True,
        device="cpu",
        verbose=False,
    )
    theirs = dict(zip(result.boxes.conf.tolist(), result.masks.data.numpy(), strict=True))
    assert theirs
    for score, mask in theirs.items():
        nearest = int(np.argmin([abs(score - mine) for mine in found.scores]))
        assert found.scores[nearest] == pytest.approx(score, abs=1e-5)
        assert (decode(found.masks[nearest]) != mask.astype(bool)).mean() < 0.02


def test_huge_picture(model: Any) -> None:
    stage = getattr(model, "detector", model)
    most, stage.most = stage.most, 1
    (found,) = model.segment(np.zeros((6000, 8000, 3), np.uint8), ["a dog"])
    stage.most = most
    assert {mask["size"] for mask in found.masks} <= {(6000, 8000)}


def test_wrong_phrases_are_named(model: Any) -> None:
    with pytest.raises(ValueError, match="phrase 1 is empty"):
        model.segment(picture(8, 8), ["a dog", " "])


@pytest.mark.parametrize("place", SQUARES)
def test_frame(
    model: Any, place: tuple[int, int, int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(getattr(model, "detector", model), "side_px", ultralytics_open.SIDE_PX)
    image, truth = square(*place)
    assert probe(model) == PASSED
    assert edge_error_px(model.frame_probe(image), truth) <= 2


def test_wrong_frame_is_caught(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    right = ultralytics_open._letterbox
    monkeypatch.setattr(  # the picture lies elsewhere in the frame than it is said to
        ultralytics_open, "_letterbox", lambda *given: right(*given).roll(8, dims=-1)
    )
    image, truth = square(96, 64, 20, 10, 30)
    assert edge_error_px(model.frame_probe(image), truth) > 2


def test_weights_from_a_file(yoloe: Any, ultralytics: Any, tmp_path: Path) -> None:
    plain = ultralytics.YOLOE("yoloe-11n-seg.yaml")
    plain.model.load_state_dict(yoloe.network.state_dict())
    plain.save(tmp_path / "own.pt")
    loaded = ultralytics_open.load_yoloe(str(tmp_path / "own.pt"), ModelOptions(device="cpu"))
    assert "own.pt@sha256:" in loaded.checkpoints[0]
    loaded.reader, loaded.floor, loaded.most, loaded.side_px = embedded, 0.0, 20, 64
    for mine, theirs in zip(
        loaded.segment(picture(96, 64), PHRASES),
        yoloe.segment(picture(96, 64), PHRASES),
        strict=True,
    ):
        assert mine.scores == pytest.approx(theirs.scores, abs=1e-3)  # weights are kept in fp16


def test_offline_says_what_is_missing(ultralytics: Any) -> None:
    with pytest.raises(GroundfaultError, match=r"yoloe-11l-seg.pt is no file, and offline"):
        ultralytics_open.load_yoloe("", ModelOptions(device="cpu", offline=True))


def test_missing_clip_is_named(ultralytics: Any) -> None:
    fresh = seeded(ultralytics_open.load_yoloe, "yoloe-11n-seg.yaml")
    with pytest.raises(GroundfaultError, match=r"pip install git\+https://github.com/ultralytics"):
        fresh.segment(picture(8, 8), ["a dog"])


def test_pictures_are_opened_as_before(ultralytics: Any) -> None:
    from PIL import Image

    assert Image.open.__module__ == "PIL.Image"
