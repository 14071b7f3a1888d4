"""A trained model that is asked: words, a mask and how surely the thing is there, per phrase."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from groundfault.io.masks import decode
from groundfault.models import frames, prompting
from groundfault.models.placement import Placement
from groundfault.models.prompting import Instance
from groundfault.models.segvlm.decoders import Features
from groundfault.models.segvlm.network import SegVLM, tapped
from groundfault.models.segvlm.prompts import ask
from groundfault.models.segvlm.rows import Reader
from groundfault.records import Outcome, Prediction

if TYPE_CHECKING:
    from groundfault.interfaces import BinaryMask, Image

__all__ = ["SegVLMSegmenter", "Spoken"]

ROWS_AT_ONCE = 8
"""Questions answered together."""
VETO = 0.5
"""A mask whose thing is less surely there is not shown, where presence was trained."""


class Spoken(NamedTuple):
    """An answer in words."""

    text: str
    ended: bool
    """Whether it came to an end by itself."""
    sureness: float | None
    """Of [SEG], where it was said; None where it was not."""
    state: torch.Tensor | None
    """That predicted [SEG]."""


class SegVLMSegmenter:
    """One question per phrase, answered greedily."""

    any_sizes = True
    synced = False
    """Whether several processes say every word together, until the last of them has ended."""

    def __init__(
        self,
        network: SegVLM,
        reader: Reader,
        placement: Placement,
        *,
        presence: bool = False,
        max_tokens: int = 128,
        held_out: bool = True,
        checkpoints: tuple[str, ...] = (),
    ) -> None:
        self.network, self.reader, self.placement = network, reader, placement
        self.presence = presence and network.decoder.has_presence
        self.max_tokens, self.held_out = max_tokens, held_out
        self.checkpoints = checkpoints

    def segment(self, image: Image, phrases: Sequence[str]) -> list[Prediction]:
        """One prediction per phrase: a mask, or the words of a denial."""
        return self.segment_batch([image], [phrases])[0]

    def segment_batch(
        self, images: Sequence[Image], phrases: Sequence[Sequence[str]]
    ) -> list[list[Prediction]]:
        """The same for several pictures."""
        prompting.check_batch(images, phrases)
        asked = [(number, phrase) for number, own in enumerate(phrases) for phrase in own]
        found: list[list[Prediction]] = [[] for _ in images]
        was_training = self.network.training
        self.network.eval()
        try:
            with self.placement.inference():
                for start in range(0, len(asked), ROWS_AT_ONCE):
                    numbers, words = zip(*asked[start : start + ROWS_AT_ONCE], strict=True)
                    own = [images[number] for number in numbers]
                    for number, answer in zip(numbers, self._answers(own, words), strict=True):
                        found[number].append(answer)
        finally:
            self.network.train(was_training)
        return found

    def speak(self, images: Sequence[Image], questions: Sequence[str]) -> list[Spoken]:
        """Answers to questions, one picture each, generated together."""
        given = self.reader.prompts(images, questions)
        inputs = {name: value.to(self.placement.device) for name, value in given.items()}
        tokenizer = self.reader.tokenizer
        with tapped(self.network.vlm) as states:
            made = self.network.vlm.generate(  # type: ignore[operator]
                **inputs,
                max_new_tokens=self.max_tokens,
                pad_token_id=tokenizer.pad_token_id,
                eos_token_id=self._ends(),
                do_sample=False,
                temperature=None,
                top_p=None,
                top_k=None,
                return_dict_in_generate=True,
                output_logits=True,
                synced_gpus=self.synced,
            )
        said = made.sequences[:, inputs["input_ids"].shape[1] :].tolist()
        return [self._spoken(row, tokens, made.logits, states) for row, tokens in enumerate(said)]

    def frame_probe(self, image: Image) -> BinaryMask:
        """The picture's bright part, there and back through the decoder's frame."""
        prompting.check(image, [])
        decoder = self.network.decoder
        pixels = prompting.processed(decoder.images, [image])["pixel_values"][0]
        side = decoder.side()
        field = torch.nn.functional.interpolate(
            frames.brightness(pixels)[None, None], (side, side), mode="area"
        )[0, 0]
        (mask,) = prompting.coded(decoder.in_picture(field, image.shape[:2])[None])
        return decode(mask)

    def _answers(self, images: Sequence[Image], phrases: Sequence[str]) -> list[Prediction]:
        spoken = self.speak(images, [ask(phrase, held_out=self.held_out) for phrase in phrases])
        marked = [row for row, one in enumerate(spoken) if one.state is not None]
        found = [_unmarked(one) for one in spoken]
        if not marked:
            return found
        features = self._features([images[row] for row in marked])
        states = torch.stack([spoken[row].state for row in marked])  # type: ignore[misc]
        drawn = self.network.draw(states, features)
        for place, row in enumerate(marked):
            presence = None
            if self.presence and drawn.presence is not None:
                presence = float(drawn.presence[place].float().sigmoid())
            found[row] = self._marked(spoken[row], drawn.masks[place], images[row], presence)
        return found

    def _features(self, images: Sequence[Image]) -> Features:
        """Features of pictures, each encoded once, a row for each."""
        unique = {id(image): image for image in images}
        encoded = dict(zip(unique, self.network.decoder.encode([*unique.values()]), strict=True))
        rows = [encoded[id(image)] for image in images]
        return tuple(torch.stack(level).float() for level in zip(*rows, strict=True))

    def _marked(
        self, spoken: Spoken, logits: Any, image: Image, presence: float | None
    ) -> Prediction:
        mask = self.network.decoder.in_picture(logits, image.shape[:2])
        absent = presence is not None and presence < VETO
        score = (spoken.sureness or 0.0) * (1.0 if presence is None else presence)
        shown = bool(mask.any()) and not absent
        instances = [Instance(prompting.coded(mask[None])[0], score)] if shown else []
        answer = prompting.answer(instances, presence=presence)
        return _with_words(answer, spoken)

    def _spoken(self, row: int, tokens: list[int], logits: Any, states: Any) -> Spoken:
        ends = self._ends()
        length = next((k for k, token in enumerate(tokens) if token in ends), len(tokens))
        words, seg = tokens[:length], self.reader.seg
        ended = length < len(tokens)
        if seg not in words:
            return Spoken(self.reader.said(words), ended, None, None)
        step = words.index(seg)
        sureness = float(logits[step][row].float().softmax(dim=-1)[seg])
        return Spoken(self.reader.said(words), ended, sureness, states[step][row, -1])

    def _ends(self) -> list[int]:
        """The tokens that end an answer; models have one or several."""
        known = self.network.vlm.generation_config.eos_token_id  # type: ignore[union-attr]
        own = known if isinstance(known, (list, tuple)) else [known]
        ends = {*own, self.reader.tokenizer.eos_token_id} - {None}
        return sorted(int(end) for end in ends)


def _unmarked(spoken: Spoken) -> Prediction:
    """An answer without [SEG]: a denial, or words that never came to an end."""
    if spoken.ended:
        answer = Prediction(item_id="", outcome=Outcome.ABSTAINED)
    else:
        reason = "neither [SEG] nor an end within the longest answer"
        answer = Prediction(item_id="", outcome=Outcome.UNPARSED, reason=reason)
    return _with_words(answer, spoken)


def _with_words(answer: Prediction, spoken: Spoken) -> Prediction:
    import msgspec

    return msgspec.structs.replace(
        answer, text=spoken.text, finish="stop" if spoken.ended else "length"
    )
