"""Grounded SAM 2: Grounding DINO (Liu et al. 2023) finds boxes, SAM 2 (Ravi et al. 2024) masks.

Grounding DINO mixes picture and words in every layer after its backbone, so phrases asked in one
sentence change each other's scores. Here each is asked alone; the backbone runs once per picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from groundfault.interfaces import ModelOptions
from groundfault.models import checkpoints, frames, prompting
from groundfault.models.box_to_mask import Detections, DetectThenSegment, best, load_segmenter
from groundfault.models.placement import Placement, encoded_before
from groundfault.models.prompting import FLOOR, MOST

if TYPE_CHECKING:
    from groundfault.interfaces import Image

__all__ = ["GroundingDino", "load"]

PHRASES_AT_ONCE = 4
"""Phrases fused together: the widest layer of each is 180 MB (22,000 places x 2048, fp32)."""


def load(argument: str, options: ModelOptions) -> DetectThenSegment:
    """Grounding DINO and SAM (2): "detector+segmenter", each from the hub or a folder."""
    checkpoints.require_transformers()
    from transformers import GroundingDinoForObjectDetection, GroundingDinoProcessor

    detector, segmenter = checkpoints.fetch(checkpoints.named("grounded-sam2", argument), options)
    placement = Placement.of(options)
    return DetectThenSegment(
        GroundingDino(
            placement.load(GroundingDinoForObjectDetection, detector.folder),
            GroundingDinoProcessor.from_pretrained(detector.folder, local_files_only=True),
            placement,
        ),
        load_segmenter(segmenter.folder, placement),
        checkpoints=(detector.identity, segmenter.identity),
    )


class GroundingDino:
    """Boxes by phrase; a box's score is that of its best-matching word, as published."""

    def __init__(
        self,
        model: Any,
        processor: Any,
        placement: Placement,
        *,
        floor: float = FLOOR,
        most: int = MOST,
    ) -> None:
        self.model, self.processor, self.placement = model, processor, placement
        self.floor, self.most = floor, most

    def detect(
        self, images: Sequence[Image], phrases: Sequence[Sequence[str]]
    ) -> list[list[Detections]]:
        """Picture by picture: padding them to one size would change what the network sees."""
        return [self._detect(image, own) for image, own in zip(images, phrases, strict=True)]

    def probe(self, image: Image) -> Any:
        """The box of the picture's bright part, through this detector's frame."""
        import torch

        box = frames.found_box(frames.brightness(self._pixels(image)["pixel_values"][0]))
        (found,) = self._in_picture(torch.full((1, 1, 1), 20.0), box[None, None], image.shape)
        return found.boxes_xyxy[0]

    def _detect(self, image: Image, phrases: Sequence[str]) -> list[Detections]:
        if not phrases:
            return []
        found: list[Detections] = []
        backbone = self.model.model.backbone
        with self.placement.inference():
            inputs = self._pixels(image).to(self.placement.device)
            maps, positions = backbone(inputs["pixel_values"], inputs["pixel_mask"])
            for start in range(0, len(phrases), PHRASES_AT_ONCE):
                some = phrases[start : start + PHRASES_AT_ONCE]
                n = len(some)
                # the network appends to the list of positions: each call has its own
                before = (
                    [(_repeat(features, n), _repeat(mask, n)) for features, mask in maps],
                    [_repeat(position, n) for position in positions],
                )
                with encoded_before(backbone, before):
                    outputs = self.model(
                        **{name: _repeat(value, n) for name, value in inputs.items()},
                        **self._tokens(some),
                    )
                found += self._in_picture(outputs.logits, outputs.pred_boxes, image.shape)
        return found

    def _pixels(self, image: Image) -> Any:
        return prompting.processed(self.processor.image_processor, [image])

    def _tokens(self, phrases: Sequence[str]) -> Any:
        """Tokens of the phrases, each a sentence in lower case as the network was trained."""
        sentences = [f"{phrase.lower().strip().rstrip('.')}." for phrase in phrases]
        tokens = self.processor.tokenizer(
            sentences,
            padding=True,
            truncation=True,
            max_length=self.model.config.max_text_len,
            return_tensors="pt",
        )
        return tokens.to(self.placement.device)

    def _in_picture(self, logits: Any, boxes: Any, size: tuple[int, ...]) -> list[Detections]:
        """Detections per row, in the picture's own pixels."""
        outputs = SimpleNamespace(logits=logits.float(), pred_boxes=boxes.float())
        found = self.processor.image_processor.post_process_object_detection(
            outputs, threshold=self.floor, target_sizes=[tuple(size[:2])] * len(logits)
        )
        return [
            best(one["boxes"], one["scores"], size, floor=self.floor, most=self.most)
            for one in found
        ]


def _repeat(value: Any, n: int) -> Any:
    """A tensor of one picture for n phrases, without a copy."""
    return value.expand(n, *value.shape[1:])
