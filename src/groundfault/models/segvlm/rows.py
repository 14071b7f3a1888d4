"""Questions with pictures as the tokens that a vision-language model reads, for training and asking
alike: one prompt, and behind it, in training, the answer with its labels.

Prompt and answer are coded apart and joined as tokens, so that a model meets at inference exactly
the boundary that it was trained with. Rows are padded on the left: all answers end together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from groundfault.errors import GroundfaultError
from groundfault.models.segvlm.prompts import SEG

if TYPE_CHECKING:
    from groundfault.interfaces import Image

__all__ = ["HIDDEN", "MAX_PIXELS", "Reader", "Rows"]

HIDDEN = -100
"""The label of what is not learnt."""
MAX_PIXELS = 1 << 20
"""Of a picture as the language model sees it; the mask decoder has a frame of its own. Qwen's own
limit is 16 times as many: one photograph would be 16,000 tokens."""


class Rows(NamedTuple):
    """Tokens and pictures of n questions with their answers."""

    inputs: dict[str, torch.Tensor]
    labels: torch.Tensor
    """(n, length): HIDDEN wherever nothing is learnt."""
    seg: torch.Tensor
    """(n,): the place of [SEG], −1 in rows without one."""
    n_answer: int
    """Tokens of the longest answer: logits are computed for no others."""

    def to(self, device: Any) -> Rows:
        """The same on a device."""
        inputs = {name: value.to(device) for name, value in self.inputs.items()}
        return self._replace(inputs=inputs, labels=self.labels.to(device), seg=self.seg.to(device))


class Reader:
    """A processor that knows [SEG]."""

    def __init__(
        self, processor: Any, *, max_tokens: int = 512, max_pixels: int = MAX_PIXELS
    ) -> None:
        self.processor, self.tokenizer = processor, processor.tokenizer
        self.max_tokens, self.max_pixels = max_tokens, max_pixels
        if not getattr(processor, "chat_template", None):
            raise GroundfaultError(
                "the checkpoint has no chat template, so nobody knows how it is asked. Remedy: add "
                "its chat_template.jinja to the folder"
            )
        self.tokenizer.padding_side = "left"
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        self.tokenizer.add_tokens([SEG], special_tokens=True)
        self.seg: int = self.tokenizer.convert_tokens_to_ids(SEG)

    def prompts(self, images: Sequence[Image], questions: Sequence[str]) -> dict[str, Any]:
        """What a model is given before it answers."""
        texts = [self._prompt(question) for question in questions]
        own = [[_bounded(image, self.max_pixels)] for image in images]
        found = self.processor(text=texts, images=own, padding=True, return_tensors="pt")
        return dict(found)

    def rows(
        self,
        images: Sequence[Image],
        questions: Sequence[str],
        answers: Sequence[str],
        learnt: Sequence[bool],
    ) -> Rows:
        """Questions with answers; those that are not `learnt` are read, but have no labels."""
        given = self.prompts(images, questions)
        shape = given["input_ids"].shape
        spoken = [self._answer(answer) for answer in answers]
        kept = given["attention_mask"].bool()
        length = max(int(row.sum()) + len(own) for row, own in zip(kept, spoken, strict=True))
        inputs = {
            name: value
            if value.shape[:2] != shape or value.ndim != 2
            else self._joined(name, value, kept, spoken, length)
            for name, value in given.items()
        }
        labels = torch.full((len(spoken), length), HIDDEN)
        seg = torch.full((len(spoken),), -1)
        for row, own in enumerate(spoken):
            if learnt[row]:
                labels[row, length - len(own) :] = own
            places = (own == self.seg).nonzero()
            if len(places):
                seg[row] = length - len(own) + places[0, 0]
        return Rows(inputs, labels, seg, max(map(len, spoken)))

    def said(self, tokens: Sequence[int]) -> str:
        """The words of an answer, without [SEG]."""
        text: str = self.tokenizer.decode(list(tokens), skip_special_tokens=True)
        return text.replace(SEG, "").strip()

    def _prompt(self, question: str) -> str:
        content = [{"type": "image"}, {"type": "text", "text": question}]
        text: str = self.processor.apply_chat_template(
            [{"role": "user", "content": content}], add_generation_prompt=True, tokenize=False
        )
        return text

    def _answer(self, answer: str) -> torch.Tensor:
        """Tokens of an answer and of its end; what is longer than a model may say is cut."""
        tokens = self.tokenizer(answer, add_special_tokens=False)["input_ids"]
        return torch.tensor([*tokens[: self.max_tokens - 1], self.tokenizer.eos_token_id])

    def _joined(
        self, name: str, value: torch.Tensor, kept: Any, spoken: Sequence[Any], length: int
    ) -> torch.Tensor:
        """A tensor of tokens, masks or types with the answers behind the prompts."""
        padding = self.tokenizer.pad_token_id if name == "input_ids" else 0
        joined = torch.full((len(spoken), length), padding, dtype=value.dtype)
        for row, own in enumerate(spoken):
            prompt = value[row][kept[row]]
            start = length - len(own) - len(prompt)
            joined[row, start : length - len(own)] = prompt
            joined[row, length - len(own) :] = (
                own if name == "input_ids" else int(name == "attention_mask")
            )
        return joined


def _bounded(image: Image, most: int) -> Image:
    """A picture of no more pixels, made smaller by averaging; contiguous and writable."""
    height, width = image.shape[:2]
    if height * width <= most:
        return np.require(image, requirements=["C", "W"])
    from PIL import Image as Pillow

    scale = (most / (height * width)) ** 0.5
    size = (max(1, int(width * scale)), max(1, int(height * scale)))
    return np.array(Pillow.fromarray(image).resize(size, Pillow.Resampling.BOX))
