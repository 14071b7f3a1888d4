"""The seams: one method each. Whatever has the method is the thing; nothing is inherited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from groundfault.records import Item, Prediction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]  # (height, width, 3) RGB
    BinaryMask = NDArray[np.bool_]  # (height, width)

__all__ = ["Answerer", "Baseline", "Editor", "Judge", "Segmenter"]


@runtime_checkable
class Segmenter(Protocol):
    """Finds what phrases name in an image. One image, many phrases: it is encoded once."""

    def segment(self, image: Image, phrases: Sequence[str]) -> Sequence[Prediction]:
        """One prediction per phrase, in order: masks with scores, or an abstention."""
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
