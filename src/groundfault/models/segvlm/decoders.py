"""Mask decoders of the SAM family, prompted by a vector instead of a click.

`Sam2Model` and `Sam3TrackerModel` have levels of features and a head that says whether the object
is there at all; `SamModel` has one level and no such head. All of them take prompts as embeddings,
so nothing of them is rewritten here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import nn

from groundfault.errors import UsageError
from groundfault.models import prompting
from groundfault.models.placement import Placement

if TYPE_CHECKING:
    from groundfault.interfaces import BinaryMask, Image

__all__ = ["Drawn", "Features", "MaskDecoder", "load_decoder"]

Features = tuple[torch.Tensor, ...]
"""Levels of one picture's features, (channels, height, width) each, the coarsest last."""
FAMILIES = {
    "sam": ("SamModel", "SamProcessor"),
    "sam2": ("Sam2Model", "Sam2Processor"),
    "sam2_video": ("Sam2Model", "Sam2Processor"),
    "sam3_tracker": ("Sam3TrackerModel", "Sam3TrackerProcessor"),
    "sam3_video": ("Sam3TrackerModel", "Sam3TrackerProcessor"),
}
FROZEN = ("conv_s0", "conv_s1", "iou_prediction_head")
"""Layers of the decoder that do not learn. The first two work on pictures before any prompt: their
output is kept with the features. No loss of ours reaches the third."""


class Drawn(NamedTuple):
    """What the decoder says to n prompts."""

    masks: torch.Tensor
    """(n, height, width) logits in the decoder's own frame."""
    presence: torch.Tensor | None
    """(n,) logits that the thing is in the picture; None of decoders without such a head."""


class MaskDecoder(nn.Module):
    """A SAM with its picture encoder (frozen) and its mask decoder (trained)."""

    def __init__(self, sam: Any, processor: Any) -> None:
        super().__init__()
        self.sam, self.images = sam, processor.image_processor
        self.width: int = sam.config.mask_decoder_config.hidden_size
        self.has_presence = hasattr(sam.mask_decoder, "pred_obj_score_head")
        # a mask of the other tokens, which no prompt of ours has trained, must never be taken
        sam.mask_decoder.dynamic_multimask_via_stability = False
        sam.requires_grad_(False)
        sam.mask_decoder.requires_grad_(True)
        for name in FROZEN:
            if hasattr(sam.mask_decoder, name):
                getattr(sam.mask_decoder, name).requires_grad_(False)

    @torch.no_grad()
    def encode(self, images: Sequence[Image]) -> list[Features]:
        """What the decoder needs of pictures, rounded to bf16 as it is stored: features that were
        kept are the same as fresh ones."""
        place = self.sam.mask_decoder.iou_token.weight.device
        pixels = prompting.processed(self.images, images)["pixel_values"].to(place)
        found = self.sam.get_image_embeddings(pixels)
        levels = found if isinstance(found, (list, tuple)) else [found]
        return [
            tuple(level[row].to(torch.bfloat16) for level in levels) for row in range(len(images))
        ]

    def forward(self, features: Features, prompts: torch.Tensor) -> Drawn:
        """Masks of (n, width) prompts on (n, …) features, one picture each."""
        like = prompts.dtype
        *high, coarse = (level.to(like) for level in features)
        dense = self.sam.prompt_encoder.no_mask_embed.weight.reshape(1, -1, 1, 1)
        places = self.sam.get_image_wide_positional_embeddings().to(like)
        given: dict[str, Any] = {"high_resolution_features": high} if high else {}
        masks, *_, last = self.sam.mask_decoder(
            image_embeddings=coarse,
            image_positional_embeddings=places.expand(len(prompts), -1, -1, -1),
            sparse_prompt_embeddings=prompts[:, None, None],
            dense_prompt_embeddings=dense.to(like),
            multimask_output=False,
            **given,
        )
        return Drawn(masks[:, 0, 0], last[:, 0, 0] if self.has_presence else None)

    def side(self) -> int:
        """Of the square in which masks are drawn."""
        return 4 * int(self.sam.get_image_wide_positional_embeddings().shape[-1])

    def inside(self, size_px: tuple[int, int]) -> tuple[int, int]:
        """Rows and columns of that square that a picture of (height, width) takes: SAM keeps the
        picture's shape and pads, SAM 2 and 3 stretch it."""
        side = self.side()
        if "longest_edge" not in (self.images.size or {}):
            return side, side
        longest = max(size_px)
        height, width = (max(1, round(side * edge / longest)) for edge in size_px)
        return height, width

    def target(self, mask: BinaryMask) -> tuple[torch.Tensor, torch.Tensor]:
        """A picture's mask in the decoder's square, and which part of the square is the picture."""
        side, (rows, columns) = self.side(), self.inside(mask.shape)
        whole = torch.as_tensor(mask, dtype=torch.float32)[None, None]
        small = nn.functional.interpolate(whole, (rows, columns), mode="area")[0, 0] >= 0.5
        if mask.any() and not small.any():  # a thing thinner than a pixel of the square
            small = nn.functional.adaptive_max_pool2d(whole, (rows, columns))[0, 0] > 0
        target, inside = torch.zeros(side, side), torch.zeros(side, side, dtype=torch.bool)
        target[:rows, :columns] = small
        inside[:rows, :columns] = True
        return target, inside

    def in_picture(self, logits: torch.Tensor, size_px: tuple[int, int]) -> torch.Tensor:
        """(height, width) booleans of a picture from (side, side) logits."""
        rows, columns = self.inside(size_px)
        field = logits[None, None, :rows, :columns].float()
        resized = nn.functional.interpolate(field, size_px, mode="bilinear", align_corners=False)
        return resized[0, 0] > 0

    def trained(self) -> dict[str, torch.Tensor]:
        """The weights of the mask decoder, to be stored."""
        return dict(self.sam.mask_decoder.state_dict())


def load_decoder(folder: Path, placement: Placement) -> MaskDecoder:
    """SAM, SAM 2 or SAM 3's tracker from a folder, whichever it holds."""
    import transformers

    kind = json.loads((folder / "config.json").read_text()).get("model_type")
    if kind not in FAMILIES:
        raise UsageError(f"{folder} holds a '{kind}' model; masks are drawn by SAM, SAM 2 or SAM 3")
    model, processor = (getattr(transformers, name) for name in FAMILIES[kind])
    return MaskDecoder(
        placement.load(model, folder), processor.from_pretrained(folder, local_files_only=True)
    )
