"""What goes into a promptable segmenter and what comes out, the same for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from groundfault.io.masks import encode
from groundfault.records import Outcome, Prediction, Rle

if TYPE_CHECKING:
    from groundfault.interfaces import BinaryMask, Image

__all__ = [
    "FLOOR",
    "MOST",
    "PIXELS_AT_ONCE",
    "Instance",
    "answer",
    "check",
    "check_batch",
    "check_phrases",
    "coded",
    "processed",
    "rows",
    "tokens",
]

FLOOR = 0.01
"""Lower scores are not kept: a fifth of the lowest threshold that is ever swept (0.05)."""

MOST = 100
"""Instances kept per phrase, best first: what COCO allows a detector per picture."""

PIXELS_AT_ONCE = 1 << 25
"""Mask pixels upsampled together: 128 MB in fp32, one mask of an 8000x6000 picture at a time."""


class Instance(NamedTuple):
    """One thing found."""

    mask: Rle
    score: float
    box_xyxy: tuple[float, float, float, float] | None = None


def check(image: Image, phrases: Sequence[str]) -> None:
    """Raise ValueError where a picture or a phrase is not what it must be."""
    if not isinstance(image, np.ndarray) or image.dtype != np.uint8:
        kind = f"{image.dtype} array" if isinstance(image, np.ndarray) else type(image).__name__
        raise ValueError(f"an image is a (height, width, 3) array of uint8, not {kind}")
    if image.ndim != 3 or image.shape[2] != 3 or 0 in image.shape:
        raise ValueError(f"an image is (height, width, 3) RGB, not of shape {image.shape}")
    check_phrases(phrases)


def check_phrases(phrases: Sequence[str]) -> None:
    """Raise ValueError where a phrase is not what it must be."""
    if isinstance(phrases, (str, bytes)):
        raise ValueError(f"phrases are a list of strings, not the one string {phrases!r}")
    for number, phrase in enumerate(phrases):
        if not isinstance(phrase, str):
            raise ValueError(
                f"phrase {number} is {phrase!r} ({type(phrase).__name__}), not a string"
            )
        if not phrase.strip():
            raise ValueError(f"phrase {number} is empty ({phrase!r}): there is nothing to look for")


def check_batch(images: Sequence[Image], phrases: Sequence[Sequence[str]]) -> None:
    """The same for several pictures, each with its phrases."""
    if len(images) != len(phrases):
        raise ValueError(f"{len(images)} images, but phrases for {len(phrases)}")
    for image, asked in zip(images, phrases, strict=True):
        check(image, asked)


def answer(found: Iterable[Instance], *, presence: float | None = None) -> Prediction:
    """A prediction of what was found, best first; nothing found is an abstention.

    The item's id is left to whoever knows the item.
    """
    ranked = sorted(found, key=lambda instance: -instance.score)
    return Prediction(
        item_id="",
        outcome=Outcome.OK if ranked else Outcome.ABSTAINED,
        masks=tuple(instance.mask for instance in ranked),
        scores=tuple(instance.score for instance in ranked),
        boxes_xywh=tuple(_xywh(instance.box_xyxy) for instance in ranked)
        if any(instance.box_xyxy for instance in ranked)
        else (),
        presence=presence,
    )


def rows(scores: Any, *, floor: float, most: int) -> Any:
    """Indices of the scores worth keeping, best first, of a (n,) tensor."""
    import torch

    order = torch.argsort(scores, descending=True, stable=True)[:most]
    return order[scores[order] > floor]


def processed(processor: Any, images: Sequence[Image], **prompts: Any) -> Any:
    """What a processor makes of pictures, which it can't misread: unless told, it takes 1 or 3
    rows for channels; and torch wants arrays that are contiguous and may be written."""
    own = [np.require(image, requirements=["C", "W"]) for image in images]
    return processor(images=own, input_data_format="channels_last", return_tensors="pt", **prompts)


def tokens(tokenizer: Any, phrases: Sequence[str], length: int) -> Any:
    """Tokens of the phrases, filled up to a length; what is longer is cut, as CLIP does."""
    return tokenizer(
        list(phrases), padding="max_length", truncation=True, max_length=length, return_tensors="pt"
    )


def coded(pixels: Any) -> list[Rle]:
    """Run lengths of (n, height, width) boolean or 0/1 tensor masks."""
    masks: list[BinaryMask] = pixels.cpu().numpy().astype(bool)
    return [encode(mask) for mask in masks]


def _xywh(
    box: tuple[float, float, float, float] | None,
) -> tuple[float, float, float, float] | None:
    if box is None:
        return None
    left, top, right, bottom = box
    return left, top, right - left, bottom - top
