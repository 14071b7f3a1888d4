"""Two stages: a detector finds boxes by phrase, SAM or SAM 2 turns each box into a mask.

The score of a mask is its box's; the segmenter's own estimate of quality says nothing about the
phrase. Both stages encode a picture once, however many phrases are asked of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import msgspec

from groundfault.errors import UsageError
from groundfault.io.masks import decode, encode
from groundfault.models import frames, prompting
from groundfault.models.placement import Placement
from groundfault.models.prompting import PIXELS_AT_ONCE, Instance
from groundfault.records import Prediction, Rle

if TYPE_CHECKING:
    from groundfault.interfaces import BinaryMask, Image

__all__ = ["BoxToMask", "DetectThenSegment", "Detections", "Detector", "best", "load_segmenter"]

THINNEST = 50
"""Long side over short side; processors that keep it scale thinner pictures to no pixels at all."""

BOXES_AT_ONCE = 64
"""Boxes decoded together; the decoder is small, its upscaled features are not."""


class Detections(NamedTuple):
    """What a phrase found: (n, 4) boxes in the picture's pixels and (n,) scores, best first."""

    boxes_xyxy: Any
    scores: Any


class Detector(Protocol):
    """Finds boxes by phrase."""

    def detect(
        self, images: Sequence[Image], phrases: Sequence[Sequence[str]]
    ) -> list[list[Detections]]:
        """For each picture and each of its phrases, boxes with scores."""
        ...

    def probe(self, image: Image) -> Any:
        """The box (4,) of the picture's bright part, through the detector's own frame."""
        ...


def best(
    boxes_xyxy: Any, scores: Any, size: tuple[int, ...], *, floor: float, most: int
) -> Detections:
    """The detections worth keeping, inside the picture of (height, width)."""
    import torch

    kept = prompting.rows(scores, floor=floor, most=most)
    limits = torch.tensor([size[1], size[0]] * 2, dtype=torch.float32)
    boxes = boxes_xyxy[kept].float().cpu()
    return Detections(boxes.clamp(min=torch.zeros(4), max=limits), scores[kept].float().cpu())


def load_segmenter(folder: Path, placement: Placement) -> BoxToMask:
    """SAM or SAM 2 from a folder, whichever it holds."""
    import transformers

    kind = json.loads((folder / "config.json").read_text()).get("model_type")
    families = {"sam": "Sam", "sam2": "Sam2", "sam2_video": "Sam2"}
    if kind not in families:
        raise UsageError(f"{folder} holds a '{kind}' model; boxes need SAM or SAM 2")
    family = families[kind]
    model = placement.load(getattr(transformers, f"{family}Model"), folder)
    processor = getattr(transformers, f"{family}Processor")
    return BoxToMask(model, processor.from_pretrained(folder, local_files_only=True), placement)


class BoxToMask:
    """SAM or SAM 2, prompted with boxes."""

    def __init__(self, model: Any, processor: Any, placement: Placement) -> None:
        self.model, self.processor, self.placement = model, processor, placement

    def masks(self, images: Sequence[Image], boxes_xyxy: Sequence[Any]) -> list[list[Rle]]:
        """One mask per box of each picture; a picture without boxes is not encoded."""
        import torch

        found: list[list[Rle]] = [[] for _ in images]
        prompted = {
            number: self._inputs(images[number], boxes)
            for number, boxes in enumerate(boxes_xyxy)
            if len(boxes)
        }
        if not prompted:
            return found
        with self.placement.inference():
            pixels = torch.cat([inputs["pixel_values"] for inputs in prompted.values()])
            seen = self.model.get_image_embeddings(pixels.to(self.placement.device))
            for row, (number, inputs) in enumerate(prompted.items()):
                own = _row(seen, row)
                for boxes in inputs["input_boxes"].float().split(BOXES_AT_ONCE, dim=1):
                    outputs = self.model(
                        image_embeddings=own,
                        input_boxes=boxes.to(self.placement.device),
                        multimask_output=False,
                    )
                    found[number] += self._in_picture(outputs.pred_masks[0], inputs)
        return found

    def probe(self, image: Image, box_xyxy: Any) -> tuple[BinaryMask, BinaryMask]:
        """The picture's bright part and the box, each there and back through SAM's frame."""
        inputs = self._inputs(image, box_xyxy[None])
        field = frames.brightness(inputs["pixel_values"][0])
        box = frames.filled_box(inputs["input_boxes"][0, 0], *field.shape)
        by_pixels, by_box = (
            decode(self._in_picture(logits[None, None], inputs)[0]) for logits in (field, box)
        )
        return by_pixels, by_box

    def _inputs(self, image: Image, boxes_xyxy: Any) -> Any:
        """Pixels and boxes in SAM's frame."""
        return prompting.processed(self.processor, [image], input_boxes=[boxes_xyxy.tolist()])

    def _in_picture(self, logits: Any, inputs: Any) -> list[Rle]:
        """Masks of (n, 1, height, width) logits in the picture's own pixels."""
        sizes = [inputs["original_sizes"]]
        if "reshaped_input_sizes" in inputs:  # SAM pads to a square, SAM 2 stretches to one
            sizes.append(inputs["reshaped_input_sizes"])
        height, width = inputs["original_sizes"][0].tolist()
        pixels = max(height * width, inputs["pixel_values"][0, 0].numel())
        found: list[Rle] = []
        for some in logits.float().split(max(1, PIXELS_AT_ONCE // pixels)):
            (masks,) = self.processor.image_processor.post_process_masks([some], *sizes)
            found += prompting.coded(masks[:, 0])
        return found


class DetectThenSegment:
    """A detector and a segmenter as one."""

    # each stage brings every picture to a frame of its own, or looks at them one by one
    any_sizes = True

    def __init__(
        self, detector: Detector, segmenter: BoxToMask, *, checkpoints: tuple[str, ...] = ()
    ) -> None:
        self.detector, self.segmenter = detector, segmenter
        self.placement = segmenter.placement
        self.checkpoints = checkpoints

    def segment(self, image: Image, phrases: Sequence[str]) -> list[Prediction]:
        """One prediction per phrase."""
        return self.segment_batch([image], [phrases])[0]

    def segment_batch(
        self, images: Sequence[Image], phrases: Sequence[Sequence[str]]
    ) -> list[list[Prediction]]:
        """The same for several pictures."""
        import torch

        prompting.check_batch(images, phrases)
        thick = [_thickened(image) for image in images]
        if any(wide is not image for wide, image in zip(thick, images, strict=True)):
            return [
                [_thinned(one, image.shape, wide.shape) for one in of_image]
                for image, wide, of_image in zip(
                    images, thick, self.segment_batch(thick, phrases), strict=True
                )
            ]
        detected = self.detector.detect(images, phrases)
        boxes = [torch.cat([torch.empty(0, 4), *(one.boxes_xyxy for one in d)]) for d in detected]
        masks = map(iter, self.segmenter.masks(images, boxes))
        return [
            [prompting.answer(_instances(detections, own)) for detections in of_image]
            for of_image, own in zip(detected, masks, strict=True)
        ]

    def frame_probe(self, image: Image) -> BinaryMask:
        """The picture's bright part, there and back: found as a box by the detector's frame and
        drawn in the segmenter's, or seen in the segmenter's alone, whichever errs more."""
        prompting.check(image, [])
        ways = self.segmenter.probe(image, self.detector.probe(image))
        return frames.further_from(frames.bright_pixels(image), *ways)


def _thickened(image: Image) -> Image:
    """A picture, its short side stretched where it is too thin for the processors."""
    height, width = image.shape[:2]
    times = -(-max(height, width) // (min(height, width) * THINNEST))
    return image if times == 1 else image.repeat(times, axis=0 if height < width else 1)


def _thinned(prediction: Prediction, size: tuple[int, ...], thick: tuple[int, ...]) -> Prediction:
    """A prediction on a stretched picture, on the picture itself."""
    rows, columns = thick[0] // size[0], thick[1] // size[1]
    return msgspec.structs.replace(
        prediction,
        masks=tuple(encode(decode(mask)[::rows, ::columns]) for mask in prediction.masks),
        boxes_xywh=tuple(
            box and (box[0] / columns, box[1] / rows, box[2] / columns, box[3] / rows)
            for box in prediction.boxes_xywh
        ),
    )


def _instances(detections: Detections, masks: Any) -> list[Instance]:
    """Each box with the next mask."""
    return [
        Instance(next(masks), score, tuple(box))
        for box, score in zip(
            detections.boxes_xyxy.tolist(), detections.scores.tolist(), strict=True
        )
    ]


def _row(seen: Any, row: int) -> Any:
    """The embeddings of one picture: SAM has one level, SAM 2 several."""
    if isinstance(seen, (list, tuple)):
        return [level[row : row + 1] for level in seen]
    return seen[row : row + 1]
