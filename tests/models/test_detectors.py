"""Encoding once changes nothing: each adapter gives what the library's own calls give."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.models.conftest import edge_error_px, picture, square

from groundfault.errors import UsageError
from groundfault.interfaces import ModelOptions
from groundfault.io.masks import decode
from groundfault.models import clipseg, grounded_sam2, omdet_sam, owlv2_sam
from groundfault.models.box_to_mask import DetectThenSegment, load_segmenter

pytestmark = pytest.mark.xdist_group("transformers")

PHRASES = ["A dog", "a red car."]
IMAGE = picture(96, 64)
SIZES = [(64, 96)]


@pytest.fixture(scope="module")
def load(checkpoint_folder: Any) -> Any:
    def loaded(module: Any, *parts: str) -> Any:
        argument = "+".join(str(checkpoint_folder(part)) for part in parts)
        return module.load(argument, ModelOptions(device="cpu"))

    return loaded


def assert_detections(found: Any, expected: Any, floor: float) -> None:
    order = expected["scores"].argsort(descending=True)
    scores, boxes = expected["scores"][order], expected["boxes"][order]
    kept = scores > floor
    assert found.scores.tolist() == pytest.approx(scores[kept].tolist(), abs=1e-5)
    clipped = np.clip(boxes[kept].numpy(), 0, [96, 64, 96, 64])
    np.testing.assert_allclose(found.boxes_xyxy.numpy(), clipped, atol=2e-3)


def test_grounding_dino(load: Any) -> None:
    import torch

    detector = load(grounded_sam2, "grounding_dino", "sam2").detector
    (found,) = detector.detect([IMAGE], [PHRASES])
    for own, sentence in zip(found, ["a dog.", "a red car."], strict=True):
        inputs = detector.processor(images=IMAGE, text=sentence, return_tensors="pt")
        with torch.no_grad():
            raw = detector.model(**inputs)
        (expected,) = detector.processor.post_process_grounded_object_detection(
            raw, inputs.input_ids, threshold=0.0, text_threshold=0.3, target_sizes=SIZES
        )
        assert_detections(own, expected, detector.floor)


def test_owlv2(load: Any) -> None:
    import torch

    detector = load(owlv2_sam, "owlv2", "sam").detector
    (found,) = detector.detect([IMAGE], [PHRASES])
    for own, phrase in zip(found, PHRASES, strict=True):
        inputs = detector.processor(text=[[phrase]], images=IMAGE, return_tensors="pt")
        with torch.no_grad():
            raw = detector.model(**inputs)
        (expected,) = detector.processor.post_process_grounded_object_detection(
            raw, threshold=0.0, target_sizes=SIZES
        )
        assert_detections(own, expected, detector.floor)


def test_omdet(load: Any) -> None:
    import torch

    detector = load(omdet_sam, "omdet", "sam").detector
    (found,) = detector.detect([IMAGE], [PHRASES])
    for own, phrase in zip(found, PHRASES, strict=True):
        inputs = detector.processor(IMAGE, text=[phrase], return_tensors="pt")
        with torch.no_grad():
            raw = detector.model(**inputs)
        (expected,) = detector.processor.post_process_grounded_object_detection(
            raw, threshold=0.0, target_sizes=SIZES
        )
        assert_detections(own, expected, detector.floor)


def test_clipseg_is_half_the_peak(load: Any) -> None:
    import torch

    model = load(clipseg, "clipseg")
    inputs = model.processor(
        text=PHRASES, images=[IMAGE, IMAGE], padding="max_length", return_tensors="pt"
    )
    with torch.no_grad():
        maps = model.model(**inputs).logits.sigmoid()
    upscaled = torch.nn.functional.interpolate(maps[:, None], size=(64, 96), mode="bilinear")
    for own, peak, full in zip(
        model.segment(IMAGE, PHRASES), maps.amax(dim=(1, 2)), upscaled, strict=True
    ):
        assert own.scores == pytest.approx((float(peak),), abs=1e-5)
        assert (decode(own.masks[0]) != (full[0] >= peak / 2).numpy()).mean() < 0.002


@pytest.mark.parametrize("segmenter", ["sam", "sam2"])
def test_masks_of_boxes(load: Any, segmenter: str) -> None:
    import torch

    stage = load(grounded_sam2, "grounding_dino", segmenter).segmenter
    boxes = torch.tensor([[5.0, 5, 50, 40], [10, 10, 90, 60], [0, 0, 96, 64]])
    inputs = stage.processor(images=IMAGE, input_boxes=[boxes.tolist()], return_tensors="pt")
    inputs["input_boxes"] = inputs["input_boxes"].float()
    names = ("original_sizes", "reshaped_input_sizes")
    sizes = [inputs.pop(name) for name in names if name in inputs]
    with torch.no_grad():
        raw = stage.model(**inputs, multimask_output=False).pred_masks
    (expected,) = stage.processor.image_processor.post_process_masks([raw[0]], *sizes)
    (found,) = stage.masks([IMAGE], [boxes])
    for own, mask in zip(found, expected, strict=True):
        assert (decode(own) != mask[0].numpy()).mean() < 0.002


def test_boxes_lie_in_the_picture(load: Any) -> None:
    for found in load(owlv2_sam, "owlv2", "sam").segment(IMAGE, PHRASES):
        assert len(found.boxes_xywh) == len(found.masks)
        for box in found.boxes_xywh:
            assert box is not None
            x, y, width, height = box
            assert x >= 0 and y >= 0 and width >= 0 and height >= 0
            assert x + width <= 96.001 and y + height <= 64.001


@pytest.mark.parametrize("parts", [("grounding_dino", "sam"), ("grounding_dino", "sam2")])
def test_a_detector_in_the_wrong_frame_is_caught(
    load: Any, parts: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model: DetectThenSegment = load(grounded_sam2, *parts)
    detector: Any = model.detector
    right = grounded_sam2.GroundingDino._in_picture
    monkeypatch.setattr(  # height and width in the wrong order
        detector,
        "_in_picture",
        lambda logits, boxes, size: right(detector, logits, boxes, size[1::-1]),
    )
    image, truth = square(96, 64, 20, 10, 30)
    assert edge_error_px(model.frame_probe(image), truth) > 2


@pytest.mark.parametrize("parts", [("grounding_dino", "sam"), ("grounding_dino", "sam2")])
def test_a_segmenter_in_the_wrong_frame_is_caught(
    load: Any, parts: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model: DetectThenSegment = load(grounded_sam2, *parts)
    right = model.segmenter._inputs

    def shifted(image: Any, boxes: Any) -> Any:
        inputs = right(image, boxes)
        inputs["pixel_values"] = inputs["pixel_values"].roll(6, dims=-1)
        return inputs

    monkeypatch.setattr(model.segmenter, "_inputs", shifted)
    image, truth = square(96, 64, 20, 10, 30)
    assert edge_error_px(model.frame_probe(image), truth) > 2


def test_frames_at_the_published_sizes(load: Any, transformers: Any) -> None:
    model: Any = load(owlv2_sam, "owlv2", "sam")
    model.detector.processor.image_processor = transformers.Owlv2ImageProcessor()
    model.segmenter.processor = transformers.SamProcessor(transformers.SamImageProcessor())
    image, truth = square(1500, 1000, 700, 100, 650)
    assert edge_error_px(model.frame_probe(image), truth) <= 2


def test_the_segmenter_must_be_sam(load: Any) -> None:
    with pytest.raises(UsageError, match="holds a 'owlv2' model; boxes need SAM or SAM 2"):
        load(grounded_sam2, "grounding_dino", "owlv2")


def test_sam2_loads_from_a_video_checkpoint(
    load: Any, checkpoint_folder: Any, tmp_path: Path
) -> None:
    """The published weights are those of the video model."""
    import torch
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(checkpoint_folder("sam2"), tmp_path / "video")
    config = json.loads((folder / "config.json").read_text()) | {"model_type": "sam2_video"}
    (folder / "config.json").write_text(json.dumps(config))
    weights = load_file(folder / "model.safetensors")
    weights["memory_attention.of_the_video_model"] = torch.zeros(2)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    boxes = [torch.tensor([[5.0, 5, 50, 40]])]
    whole = load(grounded_sam2, "grounding_dino", "sam2").segmenter
    video = load_segmenter(folder, whole.placement)
    assert video.masks([IMAGE], boxes) == whole.masks([IMAGE], boxes)
