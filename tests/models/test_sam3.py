"""SAM 3's own: presence, the published size, a frame gone wrong."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.models.conftest import edge_error_px, picture, square

from groundfault.interfaces import Encoder, ModelOptions
from groundfault.io.masks import decode
from groundfault.models import sam3
from groundfault.records import Outcome

pytestmark = pytest.mark.xdist_group("transformers")


@pytest.fixture
def model(checkpoint_folder: Any) -> sam3.Sam3:
    return sam3.load(str(checkpoint_folder("sam3")), ModelOptions(device="cpu"))


def test_scores_are_instance_times_presence(model: sam3.Sam3) -> None:
    import torch

    image = picture(96, 64)
    inputs = model.processor(images=image, text="a dog", return_tensors="pt")
    with torch.no_grad():
        raw = model.model(**inputs)
    expected = (raw.pred_logits.sigmoid() * raw.presence_logits.sigmoid())[0]
    (found,) = model.segment(image, ["a dog"])
    kept = sorted((s for s in expected.tolist() if s > model.floor), reverse=True)
    assert found.scores == pytest.approx(kept, abs=1e-5)
    assert len(found.boxes_xywh) == len(found.masks)
    assert found.presence == pytest.approx(float(raw.presence_logits.sigmoid()), abs=1e-5)


def official_masks(logits: Any, size: tuple[int, int]) -> Any:
    """As the authors' processor makes masks: logits are resized, then they are cut at one half."""
    import torch

    resized = torch.nn.functional.interpolate(
        logits[None], size, mode="bilinear", align_corners=False
    )
    return (resized[0].sigmoid() > 0.5).numpy()


def test_masks_are_resized_as_logits(model: sam3.Sam3) -> None:
    import torch

    image = picture(96, 64)
    inputs = model.processor(images=image, text="a dog", return_tensors="pt")
    with torch.no_grad():
        raw = model.model(**inputs)
    plain = raw.pred_masks[0]
    logits = 6 * (plain - plain.mean()) / plain.std() + 4  # sure of what is there, less of the rest
    outputs = SimpleNamespace(
        pred_logits=raw.pred_logits + 2,
        presence_logits=raw.presence_logits + 20,
        pred_boxes=raw.pred_boxes,
        pred_masks=logits[None],
    )
    expected = official_masks(logits, image.shape[:2])
    (theirs,) = model.processor.post_process_instance_segmentation(
        outputs, threshold=-1.0, target_sizes=[image.shape[:2]]
    )
    assert (theirs["masks"].numpy().astype(bool) != expected).any()  # transformers' own way differs
    found = list(model._instances(outputs, 0, image.shape[:2]))
    order = torch.argsort(raw.pred_logits[0], descending=True, stable=True)
    assert len(found) == len(order)
    for instance, row in zip(found, order.tolist(), strict=True):
        assert (decode(instance.mask) == expected[row]).all()
        assert instance.box_xyxy == pytest.approx(theirs["boxes"][row].tolist(), abs=1e-3)


def test_an_edge_between_a_sure_and_an_unsure_pixel_is_where_logits_cross() -> None:
    """By hand: logits −1 and 9, four pixels each: linear in between, they cross zero at a tenth."""
    import torch

    logits = torch.tensor([[[-1.0, 9.0]]])
    wide = sam3._upsampled(logits, (1, 40))[0, 0] > 0.5
    # centres of the two source pixels lie at 10 and 30; the crossing at 10 + 0.1 · 20 = 12
    assert int((~wide).sum()) == 12
    probabilities = torch.nn.functional.interpolate(
        logits.sigmoid()[:, None], (1, 40), mode="bilinear", align_corners=False
    )
    assert int((probabilities <= 0.5).sum()) > 12  # the other way makes the mask smaller


def test_a_picture_is_encoded_once_and_asked_about_often(
    model: sam3.Sam3, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(model, Encoder)
    images = [picture(96, 64), picture(50, 70)]
    turns = ([["a dog"], []], [["a cat", "a tree"], ["a dog"]])
    expected = [model.segment_batch(images, asked) for asked in turns]
    seen = model.encode(images)
    monkeypatch.setattr(model.model, "get_vision_features", None)  # nothing is looked at again
    assert [model.segment_encoded(seen, asked) for asked in turns] == expected
    with pytest.raises(ValueError, match="phrase 0 is empty"):
        model.segment_encoded(seen, [["a dog"], [" "]])


@pytest.mark.parametrize(("bias", "outcome"), [(-12.0, Outcome.ABSTAINED), (12.0, Outcome.OK)])
def test_absence_is_an_abstention(model: sam3.Sam3, bias: float, outcome: Outcome) -> None:
    import torch

    layers = model.model.detr_decoder.presence_head.modules()
    last = [layer for layer in layers if isinstance(layer, torch.nn.Linear)][-1]
    with torch.no_grad():
        last.weight.zero_()
        last.bias.fill_(bias)
    (found,) = model.segment(picture(96, 64), ["a dog"])
    assert found.outcome is outcome and bool(found.masks) is (outcome is Outcome.OK)


def test_frame_at_the_published_size(model: sam3.Sam3, transformers: Any) -> None:
    processor = transformers.Sam3Processor(
        transformers.Sam3ImageProcessor(), model.processor.tokenizer
    )
    full = sam3.Sam3(model.model, processor, model.placement)
    image, truth = square(4000, 3000, 1000, 500, 1700)
    assert edge_error_px(full.frame_probe(image), truth) <= 2


def test_wrong_frame_is_caught(model: sam3.Sam3, monkeypatch: pytest.MonkeyPatch) -> None:
    pixels = model._pixels
    monkeypatch.setattr(  # padded before it is resized, and cropped by nobody
        model,
        "_pixels",
        lambda images: pixels([np.pad(images[0], ((0, 32), (0, 0), (0, 0)))]),
    )
    image, truth = square(96, 64, 20, 10, 30)
    assert edge_error_px(model.frame_probe(image), truth) > 2


def test_loads_from_a_video_checkpoint(
    model: sam3.Sam3, checkpoint_folder: Any, tmp_path: Path
) -> None:
    """The published weights are those of the video model, with this one as its detector."""
    import torch
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(checkpoint_folder("sam3"), tmp_path / "video")
    detector = json.loads((folder / "config.json").read_text())
    config = {"model_type": "sam3_video", "detector_config": detector, "tracker_config": {}}
    (folder / "config.json").write_text(json.dumps(config))
    weights = load_file(folder / "model.safetensors")
    whole = {f"detector_model.{name}": value for name, value in weights.items()}
    whole["tracker_model.of_the_video_model"] = torch.zeros(2)
    save_file(whole, folder / "model.safetensors", metadata={"format": "pt"})
    image = picture(40, 30)
    loaded = sam3.load(str(folder), ModelOptions(device="cpu"))
    assert loaded.segment(image, ["a dog"]) == model.segment(image, ["a dog"])
