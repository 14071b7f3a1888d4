"""OmDet-Turbo (Zhao et al. 2024, "Real-time Transformer-based Open-Vocabulary Detection") with SAM.

OmDet picks its queries by the phrases it is asked and lets them meet in every decoder layer, so
each phrase is asked alone, as the task "Detect <phrase>."; backbone and encoder run once per
picture. Boxes that overlap a better one by more than 0.5 are dropped, the library's default.
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

__all__ = ["OmDet", "load"]

PHRASES_AT_ONCE = 8

TOKENS = 77
"""What its text encoder reads of a phrase; the rest is cut."""


def load(argument: str, options: ModelOptions) -> DetectThenSegment:
    """OmDet-Turbo and SAM (2): "detector+segmenter", each from the hub or a folder."""
    checkpoints.require_transformers()
    from transformers import OmDetTurboForObjectDetection, OmDetTurboProcessor

    detector, segmenter = checkpoints.fetch(checkpoints.named("omdet-sam", argument), options)
    placement = Placement.of(options)
    return DetectThenSegment(
        OmDet(
            placement.load(OmDetTurboForObjectDetection, detector.folder),
            OmDetTurboProcessor.from_pretrained(detector.folder, local_files_only=True),
            placement,
        ),
        load_segmenter(segmenter.folder, placement),
        checkpoints=(detector.identity, segmenter.identity),
    )


class OmDet:
    """Boxes by phrase."""

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
        """Pictures are encoded together, phrases decoded one by one."""
        asked = [(number, phrase) for number, own in enumerate(phrases) for phrase in own]
        found: list[list[Detections]] = [[] for _ in images]
        if not asked:
            return found
        model = self.model
        with self.placement.inference():
            pixels = self._pixels(images).to(self.placement.device)
            seen = model.encoder(model.vision_backbone(pixels), return_dict=True)
            for start in range(0, len(asked), PHRASES_AT_ONCE):
                numbers, words = zip(*asked[start : start + PHRASES_AT_ONCE], strict=True)
                own = type(seen)(
                    extracted_states=tuple(level[list(numbers)] for level in seen.extracted_states)
                )
                with (
                    encoded_before(model.vision_backbone, None),
                    encoded_before(model.encoder, own),
                ):
                    outputs = model(pixel_values=None, **self._tokens(words))
                for row, number in enumerate(numbers):
                    found[number].append(
                        self._in_picture(
                            outputs.decoder_class_logits[row],
                            outputs.decoder_coord_logits[row],
                            images[number].shape,
                        )
                    )
        return found

    def probe(self, image: Image) -> Any:
        """The box of the picture's bright part, through this detector's frame."""
        import torch

        box = frames.found_box(frames.brightness(self._pixels([image])[0]))
        return self._in_picture(torch.tensor([[20.0]]), box[None], image.shape).boxes_xyxy[0]

    def _pixels(self, images: Sequence[Image]) -> Any:
        return prompting.processed(self.processor.image_processor, images)["pixel_values"]

    def _tokens(self, phrases: Sequence[str]) -> dict[str, Any]:
        """Each phrase as the one class of its own task."""
        import torch

        device = self.placement.device
        tokens: dict[str, Any] = {"classes_structure": torch.ones(len(phrases), dtype=torch.long)}
        for kind, texts in (
            ("classes", list(phrases)),
            ("tasks", [f"Detect {phrase}." for phrase in phrases]),
        ):
            coded = prompting.tokens(self.processor.tokenizer, texts, TOKENS)
            tokens |= {f"{kind}_{name}": value for name, value in coded.items()}
        return {name: value.to(device) for name, value in tokens.items()}

    def _in_picture(self, logits: Any, boxes: Any, size: tuple[int, ...]) -> Detections:
        """The detections of one phrase from (n, 1) logits, in the picture's own pixels."""
        import torch

        outputs = SimpleNamespace(
            decoder_class_logits=logits.float()[None],
            decoder_coord_logits=boxes.float()[None],
            classes_structure=torch.ones(1, dtype=torch.long),
        )
        (found,) = self.processor.post_process_grounded_object_detection(
            outputs, threshold=self.floor, target_sizes=[tuple(size[:2])]
        )
        return best(found["boxes"], found["scores"], size, floor=self.floor, most=self.most)
