"""OWLv2 (Minderer et al. 2023, "Scaling Open-Vocabulary Object Detection") with SAM for masks.

OWLv2 compares every image patch with every phrase on its own, so all phrases are asked in one go
and do not change each other. Nothing is suppressed: overlapping boxes are kept, as transformers
gives them.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from groundfault.interfaces import ModelOptions
from groundfault.models import checkpoints, frames, prompting
from groundfault.models.box_to_mask import Detections, DetectThenSegment, best, load_segmenter
from groundfault.models.placement import Placement
from groundfault.models.prompting import FLOOR, MOST

if TYPE_CHECKING:
    from groundfault.interfaces import Image

__all__ = ["Owlv2", "load"]

REDUCED_FROM = 4
"""Pictures more than this many times larger than the network's input are reduced to it first: the
processor blurs with a kernel that grows with the ratio, 43 s and 10 GB for 8000x6000 pixels."""


def load(argument: str, options: ModelOptions) -> DetectThenSegment:
    """OWLv2 and SAM (2): "detector+segmenter", each from the hub or a folder."""
    checkpoints.require_transformers()
    from transformers import Owlv2ForObjectDetection, Owlv2Processor

    detector, segmenter = checkpoints.fetch(checkpoints.named("owlv2-sam", argument), options)
    placement = Placement.of(options)
    return DetectThenSegment(
        Owlv2(
            placement.load(Owlv2ForObjectDetection, detector.folder),
            Owlv2Processor.from_pretrained(detector.folder, local_files_only=True),
            placement,
        ),
        load_segmenter(segmenter.folder, placement),
        checkpoints=(detector.identity, segmenter.identity),
    )


class Owlv2:
    """Boxes by phrase, one per image patch."""

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
        """All pictures and all phrases together."""
        import torch

        words = list(dict.fromkeys(phrase for own in phrases for phrase in own))
        if not words:
            return [[] for _ in images]
        with self.placement.inference():
            pixels = torch.cat([self._pixels(image) for image in images])
            maps, _ = self.model.image_embedder(pixels.to(self.placement.device))
            patches = maps.flatten(1, 2)
            tokens = self._tokens(words)
            queries = self.model.owlv2.get_text_features(**tokens).pooler_output
            logits, _ = self.model.class_predictor(patches, queries.expand(len(images), -1, -1))
            boxes = self.model.box_predictor(patches, maps)
        return [
            [
                self._in_picture(logits[row, :, words.index(phrase)], boxes[row], image.shape)
                for phrase in own
            ]
            for row, (image, own) in enumerate(zip(images, phrases, strict=True))
        ]

    def probe(self, image: Image) -> Any:
        """The box of the picture's bright part, through this detector's frame."""
        import torch

        box = frames.found_box(frames.brightness(self._pixels(image)[0]))
        return self._in_picture(torch.tensor([20.0]), box[None], image.shape).boxes_xyxy[0]

    def _pixels(self, image: Image) -> Any:
        """The picture on a square, (1, 3, side, side)."""
        side = self.processor.image_processor.size["height"]
        reduced = _reduced(image, REDUCED_FROM * side)
        return prompting.processed(self.processor.image_processor, [reduced])["pixel_values"]

    def _tokens(self, phrases: Sequence[str]) -> Any:
        """Tokens of the phrases; the text encoder reads 16, the rest is cut."""
        length = self.model.config.text_config.max_position_embeddings
        tokens = prompting.tokens(self.processor.tokenizer, phrases, length)
        return tokens.to(self.placement.device)

    def _in_picture(self, logits: Any, boxes: Any, size: tuple[int, ...]) -> Detections:
        """The detections of one phrase from (n,) logits, in the picture's own pixels."""
        outputs = SimpleNamespace(
            logits=logits.float()[None, :, None], pred_boxes=boxes.float()[None]
        )
        (found,) = self.processor.image_processor.post_process_object_detection(
            outputs, threshold=self.floor, target_sizes=[tuple(size[:2])]
        )
        return best(found["boxes"], found["scores"], size, floor=self.floor, most=self.most)


def _reduced(image: Image, side_px: int) -> Image:
    """A picture, made smaller by averaging where its longer side is longer than that."""
    from PIL import Image as Pillow

    height, width = image.shape[:2]
    longer = max(height, width)
    if longer <= side_px:
        return image
    size = (max(1, round(width * side_px / longer)), max(1, round(height * side_px / longer)))
    return np.asarray(Pillow.fromarray(image).resize(size, Pillow.Resampling.BOX))
