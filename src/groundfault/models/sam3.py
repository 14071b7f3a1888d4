"""SAM 3 (Carion et al. 2025, "SAM 3: Segment Anything with Concepts"): a phrase, all its instances.

The score of an instance is its own probability times the phrase's presence in the picture, as the
authors evaluate it. One picture, many phrases: the vision encoder runs once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from groundfault.interfaces import ModelOptions
from groundfault.io.masks import decode
from groundfault.models import checkpoints, frames, prompting
from groundfault.models.placement import Placement
from groundfault.models.prompting import FLOOR, MOST, PIXELS_AT_ONCE, Instance
from groundfault.records import Prediction

if TYPE_CHECKING:
    from groundfault.interfaces import BinaryMask, Image

__all__ = ["Sam3", "Seen", "load"]

PHRASES_AT_ONCE = 8
"""Phrases decoded together: the largest feature map of each is 85 MB (256x288x288, fp32)."""


def load(argument: str, options: ModelOptions) -> Sam3:
    """SAM 3 from the hub or a folder."""
    checkpoints.require_transformers()
    from transformers import Sam3Model, Sam3Processor

    (fetched,) = checkpoints.fetch(checkpoints.named("sam3", argument), options)
    placement = Placement.of(options)
    return Sam3(
        placement.load(Sam3Model, fetched.folder),
        Sam3Processor.from_pretrained(fetched.folder, local_files_only=True),
        placement,
        checkpoints=(fetched.identity,),
    )


class Seen(NamedTuple):
    """One picture, encoded."""

    features: Any
    size_px: tuple[int, ...]
    """Height, width."""


class Sam3:
    """Segments every instance of a phrase."""

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
        most: int = MOST,
    ) -> None:
        self.model, self.processor, self.placement = model, processor, placement
        self.checkpoints = checkpoints
        self.floor, self.most = floor, most

    def segment(self, image: Image, phrases: Sequence[str]) -> list[Prediction]:
        """One prediction per phrase."""
        return self.segment_batch([image], [phrases])[0]

    def segment_batch(
        self, images: Sequence[Image], phrases: Sequence[Sequence[str]]
    ) -> list[list[Prediction]]:
        """The same for several pictures, encoded together."""
        prompting.check_batch(images, phrases)
        if not any(phrases):
            return [[] for _ in images]
        return self.segment_encoded(self.encode(images), phrases)

    def encode(self, images: Sequence[Image]) -> list[Seen]:
        """What the vision encoder sees, before anything is asked about it."""
        for image in images:
            prompting.check(image, [])
        with self.placement.inference():
            pixels = self._pixels(images).to(self.placement.device)
            features = self.model.get_vision_features(pixels)
        return [
            Seen(_picture(features, number), image.shape[:2]) for number, image in enumerate(images)
        ]

    def segment_encoded(
        self, seen: Sequence[Seen], phrases: Sequence[Sequence[str]]
    ) -> list[list[Prediction]]:
        """What `segment_batch` says about the pictures."""
        for own in phrases:
            prompting.check_phrases(own)
        asked = [(number, phrase) for number, own in enumerate(phrases) for phrase in own]
        found: list[list[Prediction]] = [[] for _ in seen]
        with self.placement.inference():
            for start in range(0, len(asked), PHRASES_AT_ONCE):
                numbers, words = zip(*asked[start : start + PHRASES_AT_ONCE], strict=True)
                rows = _together([seen[number].features for number in numbers])
                outputs = self.model(vision_embeds=rows, **self._tokens(words))
                present = outputs.presence_logits.float().sigmoid().flatten().tolist()
                for row, number in enumerate(numbers):
                    instances = self._instances(outputs, row, seen[number].size_px)
                    found[number].append(prompting.answer(instances, presence=present[row]))
        return found

    def frame_probe(self, image: Image) -> BinaryMask:
        """The picture's bright part, there and back through this adapter's frames."""
        import torch

        prompting.check(image, [])
        field = frames.brightness(self._pixels([image])[0])
        outputs = SimpleNamespace(
            pred_logits=torch.full((1, 1), 20.0),
            presence_logits=torch.full((1, 1), 20.0),
            pred_boxes=torch.zeros(1, 1, 4),
            pred_masks=field[None, None],
        )
        (instance,) = self._instances(outputs, 0, image.shape[:2])
        return decode(instance.mask)

    def _pixels(self, images: Sequence[Image]) -> Any:
        return prompting.processed(self.processor.image_processor, images)["pixel_values"]

    def _tokens(self, phrases: Sequence[str]) -> Any:
        """Tokens of the phrases; longer ones than the text encoder reads are cut, as the authors
        do (transformers' own processor would fail on them)."""
        length = self.model.config.text_config.max_position_embeddings
        tokens = prompting.tokens(self.processor.tokenizer, phrases, length)
        return tokens.to(self.placement.device)

    def _instances(self, outputs: Any, row: int, size: tuple[int, ...]) -> Iterator[Instance]:
        """What one phrase found, each mask in the picture's own pixels."""
        import torch

        scores = outputs.pred_logits[row].float().sigmoid()
        scores = scores * outputs.presence_logits[row].float().sigmoid()
        kept = prompting.rows(scores, floor=self.floor, most=self.most)
        height, width = size
        boxes = outputs.pred_boxes[row].float() * torch.tensor(
            [width, height, width, height], device=scores.device
        )
        step = max(1, PIXELS_AT_ONCE // (height * width))
        for start in range(0, len(kept), step):
            some = kept[start : start + step]
            yield from map(
                Instance,
                prompting.coded(_upsampled(outputs.pred_masks[row, some].float(), size) > 0.5),
                scores[some].tolist(),
                map(tuple, boxes[some].tolist()),
            )


def _upsampled(logits: Any, size: tuple[int, ...]) -> Any:
    """Probabilities (n, height, width) of mask logits at the picture's size: resized first, as the
    authors do. transformers' own processor resizes probabilities, which moves the edges of masks
    towards the surer side."""
    import torch

    resized = torch.nn.functional.interpolate(
        logits[:, None], size=tuple(size), mode="bilinear", align_corners=False
    )
    return resized[:, 0].sigmoid()


def _picture(features: Any, number: int) -> Any:
    """Vision features of one of several pictures, without a copy."""
    return _mapped(lambda level: level[number : number + 1], features)


def _together(features: list[Any]) -> Any:
    """Vision features, a row for each; of a single picture without a copy."""
    import torch

    def rows(*levels: Any) -> Any:
        if all(level is levels[0] for level in levels):
            return levels[0].expand(len(levels), -1, -1, -1)
        return torch.cat(levels)

    return _mapped(rows, *features)


def _mapped(change: Callable[..., Any], *features: Any) -> Any:
    """Vision features of the same kind, changed level by level."""
    return type(features[0])(
        fpn_hidden_states=tuple(map(change, *(each.fpn_hidden_states for each in features))),
        fpn_position_encoding=tuple(
            map(change, *(each.fpn_position_encoding for each in features))
        ),
    )
