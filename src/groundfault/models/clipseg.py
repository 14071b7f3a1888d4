"""CLIPSeg (Lüddecke and Ecker 2022, "Image Segmentation Using Text and Image Prompts").

CLIPSeg gives a map of probability per phrase and no instances: here one mask and one score. The
score is the map's peak; the mask is where the map reaches half of it, so that a weak answer has a
mask too and the threshold on scores decides what counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from groundfault.interfaces import ModelOptions
from groundfault.io.masks import decode
from groundfault.models import checkpoints, frames, prompting
from groundfault.models.placement import Placement
from groundfault.models.prompting import FLOOR, Instance
from groundfault.records import Prediction

if TYPE_CHECKING:
    from groundfault.interfaces import BinaryMask, Image

__all__ = ["ClipSeg", "load"]

PHRASES_AT_ONCE = 32
"""Phrases decoded together; the decoder is three small layers."""


def load(argument: str, options: ModelOptions) -> ClipSeg:
    """CLIPSeg from the hub or a folder."""
    checkpoints.require_transformers()
    from transformers import CLIPSegForImageSegmentation, CLIPSegProcessor

    (fetched,) = checkpoints.fetch(checkpoints.named("clipseg", argument), options)
    placement = Placement.of(options)
    return ClipSeg(
        placement.load(CLIPSegForImageSegmentation, fetched.folder),
        CLIPSegProcessor.from_pretrained(fetched.folder, local_files_only=True),
        placement,
        checkpoints=(fetched.identity,),
    )


class ClipSeg:
    """Segments what a phrase names as one region."""

    # the processor brings every picture to one square
    any_sizes = True

    def __init__(
        self,
        model: Any,
        processor: Any,
        placement: Placement,
        *,
        checkpoints: tuple[str, ...] = (),
        floor: float = FLOOR,
    ) -> None:
        self.model, self.processor, self.placement = model, processor, placement
        self.checkpoints = checkpoints
        self.floor = floor

    def segment(self, image: Image, phrases: Sequence[str]) -> list[Prediction]:
        """One prediction per phrase."""
        return self.segment_batch([image], [phrases])[0]

    def segment_batch(
        self, images: Sequence[Image], phrases: Sequence[Sequence[str]]
    ) -> list[list[Prediction]]:
        """The same for several pictures, encoded together."""
        prompting.check_batch(images, phrases)
        asked = [(number, phrase) for number, own in enumerate(phrases) for phrase in own]
        found: list[list[Prediction]] = [[] for _ in images]
        if not asked:
            return found
        with self.placement.inference():
            layers = self._encoded(self._pixels(images).to(self.placement.device))
            for start in range(0, len(asked), PHRASES_AT_ONCE):
                numbers, words = zip(*asked[start : start + PHRASES_AT_ONCE], strict=True)
                meant = self.model.get_conditional_embeddings(
                    batch_size=len(words), **self._tokens(words)
                )
                decoded = self.model.decoder([layer[list(numbers)] for layer in layers], meant)
                logits = decoded.logits.reshape(len(words), *decoded.logits.shape[-2:])
                for number, row in zip(numbers, logits, strict=True):
                    region = self._region(row.float().sigmoid(), images[number].shape[:2])
                    found[number].append(prompting.answer(region))
        return found

    def frame_probe(self, image: Image) -> BinaryMask:
        """The picture's bright part, there and back through this adapter's frames."""
        prompting.check(image, [])
        field = frames.brightness(self._pixels([image])[0])
        (region,) = self._region((field + 1) / 2, image.shape[:2])
        return decode(region.mask)

    def _pixels(self, images: Sequence[Image]) -> Any:
        return prompting.processed(self.processor.image_processor, images)["pixel_values"]

    def _encoded(self, pixels: Any) -> list[Any]:
        """The layers of CLIP's vision encoder that the decoder reads."""
        seen = self.model.clip.get_image_features(
            pixels, interpolate_pos_encoding=True, output_hidden_states=True
        )
        return [seen.hidden_states[layer + 1] for layer in self.model.extract_layers]

    def _tokens(self, phrases: Sequence[str]) -> Any:
        """Tokens of the phrases; the text encoder reads 77, the rest is cut."""
        length = self.model.config.text_config.max_position_embeddings
        tokens = prompting.tokens(self.processor.tokenizer, phrases, length)
        return tokens.to(self.placement.device)

    def _region(self, probability: Any, size: tuple[int, ...]) -> Iterator[Instance]:
        """Where a (height, width) map reaches half its peak, in the picture's own pixels."""
        import torch

        peak = float(probability.max())
        if peak <= self.floor:
            return
        full = torch.nn.functional.interpolate(
            probability[None, None], size=tuple(size), mode="bilinear", align_corners=False
        )
        (mask,) = prompting.coded(full[0] >= peak / 2)
        yield Instance(mask, peak)
