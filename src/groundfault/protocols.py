"""The seams: one method each. Whatever has the method is the thing; nothing is inherited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import msgspec

from groundfault.records import Item, Prediction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]  # (height, width, 3) RGB
    BinaryMask = NDArray[np.bool_]  # (height, width)

__all__ = [
    "Answerer",
    "Baseline",
    "BatchSegmenter",
    "Editor",
    "Judge",
    "ModelOptions",
    "Probeable",
    "Segmenter",
]


class ModelOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How to load a model. A name in the registry is a callable (argument, options) -> model,
    where the argument is what follows the colon in `sam3:facebook/sam3`, "" if nothing does."""

    device: str = "auto"
    dtype: str = "auto"
    revision: str = ""
    """Of a hub checkpoint; "" is the one pinned by the adapter."""
    offline: bool = False
    timeout_s: float = 600.0
    """For one request to a model outside this process."""


@runtime_checkable
class Segmenter(Protocol):
    """Finds what phrases name in an image. One image, many phrases: it is encoded once."""

    def segment(self, image: Image, phrases: Sequence[str]) -> Sequence[Prediction]:
        """One prediction per phrase, in order: masks with scores, or an abstention."""
        ...


@runtime_checkable
class BatchSegmenter(Segmenter, Protocol):
    """A segmenter that is faster with several images at once. They are of one size, unless it has
    an attribute `any_sizes` that is true."""

    def segment_batch(
        self, images: Sequence[Image], phrases: Sequence[Sequence[str]]
    ) -> Sequence[Sequence[Prediction]]:
        """What `segment` gives for each image and its phrases."""
        ...


@runtime_checkable
class Probeable(Protocol):
    """A segmenter whose coordinate frame can be checked without its network."""

    def frame_probe(self, image: Image) -> BinaryMask:
        """Where the bright parts of an image end up: its preprocessed pixels, taken for the
        network's output, sent back to the image by the adapter's own postprocessing."""
        ...


@runtime_checkable
class Baseline(Protocol):
    """Answers items without a model: from their annotations, their words, or chance."""

    def predict(self, items: Sequence[Item]) -> Sequence[Prediction]:
        """One prediction per item, in order."""
        ...


@runtime_checkable
class Answerer(Protocol):
    """Answers questions about images in words."""

    def answer(self, conversations: Sequence[Sequence[dict[str, Any]]]) -> Sequence[Prediction]:
        """One prediction per conversation, its answer in `text`."""
        ...


@runtime_checkable
class Editor(Protocol):
    """Changes an image inside a mask as instructed."""

    def edit(self, image: Image, mask: BinaryMask, instruction: str) -> Image:
        """The edited image, of the same size."""
        ...


@runtime_checkable
class Judge(Protocol):
    """Decides whether an answer is right by a rubric."""

    def judge(self, question: str, answer: str, rubric: str) -> bool | None:
        """True, False, or None if the judge itself could not decide."""
        ...
