"""SESAME: sees whether the thing is there, says so, segments it.

repository   https://github.com/see-say-segment/sesame (read at 91f1f2e), MIT; Python 3.9; its code
             wants a CUDA device
checkpoint   tsunghanwu/SESAME (without false premises in training: tsunghanwu/SESAME_minus); its
             licence we did not see
paper        Wu et al., See, Say, and Segment, CVPR 2024

Not run by us. The repository goes into $GROUNDFAULT_WORKER_REPO_SESAME, the Python of its
environment into $GROUNDFAULT_WORKER_PYTHON_SESAME.

Conversation template and questions are the repository's own, read from its code: the conversation
that its demonstration and evaluation open, and the first of the questions that they draw from, one
list for phrases and one for whole questions. They draw at random; here a phrase is always asked the
same way.

The repository's own evaluation takes every answer without [SEG] as a rejection. Here the words
decide: a denial is an abstention, any other answer without a mask is unparsed. Its `evaluate`
returns a blank mask where it said nothing of the kind; that is no mask. No scores.
"""

# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call"
from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundfault.workers.lisa import (
    MAX_NEW_TOKENS,
    SIDE_PX,
    conversation,
    device_and_dtype,
    need_repository,
    padded,
    spoken,
)
from groundfault.workers.runtime import Answer, Picture, versions_of

if TYPE_CHECKING:
    from collections.abc import Sequence

CHECKPOINT = "tsunghanwu/SESAME"


def asked(phrase: str, of_phrases: Sequence[str], of_questions: Sequence[str]) -> str:
    """A phrase, or a question, in the first of the forms that the model was taught.

    >>> forms = ["<image> Is {class_name} there?"], ["<image> {sent} Show it."]
    >>> asked("The Zebra.", *forms), asked("Which cup  is empty?", *forms)
    ('<image> Is the zebra there?', '<image> Which cup is empty? Show it.')
    """
    phrase = " ".join(phrase.split())
    if phrase.endswith("?"):
        return of_questions[0].format(sent=phrase)
    return of_phrases[0].format(class_name=phrase.rstrip(".").lower())


def spoken_masks(masks: Sequence[Any], said_so: bool) -> list[Any]:
    """Only masks that the model announced.

    >>> spoken_masks(["blank"], said_so=False)
    []
    """
    return list(masks) if said_so else []


def at_revision(checkpoint: str, revision: str) -> str:
    """A checkpoint as the repository's loader takes it, which knows no revisions: the folder of the
    one that is asked for."""
    if not revision or Path(checkpoint).is_dir():
        return checkpoint
    from huggingface_hub import snapshot_download

    return str(snapshot_download(checkpoint, revision=revision))


class Sesame:
    """The loaded model."""

    repository = "SESAME"
    checkpoint = CHECKPOINT

    def __init__(self, options: dict[str, Any]) -> None:
        need_repository(options, self.repository, "https://github.com/see-say-segment/sesame")
        from model.segment_anything.utils.transforms import ResizeLongestSide
        from model.SESAME import load_pretrained_model_SESAME

        self.model = options["checkpoint"] or self.checkpoint
        self.versions = versions_of("torch", "transformers")
        self.device, self.dtype = device_and_dtype(options)
        self.tokenizer, network, tower, _ = load_pretrained_model_SESAME(
            model_path=at_revision(self.model, options["revision"]),
            device_map={"": str(self.device)},
            device=str(self.device),
            torch_dtype=self.dtype,
        )
        self.network = network.to(self.dtype).eval()
        self.clip = tower.to(self.dtype).image_processor
        self.tokenizer.padding_side = "left"
        self.resize = ResizeLongestSide(SIDE_PX)

    def segment(self, picture: Picture, phrases: Sequence[str]) -> list[Answer]:
        """One answer per phrase."""
        pixels = picture.array()
        clip = self.clip.preprocess(pixels, return_tensors="pt")["pixel_values"]
        clip = clip.to(self.device, self.dtype)
        resized = self.resize.apply_image(pixels)
        images = padded(resized)[None].to(self.device, self.dtype)
        shape = [tuple(resized.shape[:2]), tuple(pixels.shape[:2])]
        return [self._answer(phrase, clip, images, shape) for phrase in phrases]

    def _answer(self, phrase: str, clip: Any, images: Any, shape: Any) -> Answer:
        from dataloaders.qa_template import LONG_QUESTION_TEMPLATE, SHORT_QUESTION_TEMPLATE
        from dataloaders.utils import replace_image_tokens, tokenize_and_pad
        from model.llava import conversation as conversations

        question = asked(phrase, SHORT_QUESTION_TEMPLATE, LONG_QUESTION_TEMPLATE)
        prompts = [conversation(conversations.default_conversation, question)]
        if getattr(self.network.config, "mm_use_im_start_end", False):
            prompts = replace_image_tokens(prompts)
        ids, _ = tokenize_and_pad(prompts, self.tokenizer, padding="left")
        ids = ids.to(self.device)
        said, masks, _ = self.network.evaluate(
            clip, images, ids, [shape], max_new_tokens=MAX_NEW_TOKENS
        )
        new = said[:, ids.shape[1] :]
        text = spoken(self.tokenizer.batch_decode(new, skip_special_tokens=True)[0])
        announced = bool((new == self.network.seg_token_idx).any())
        return Answer(spoken_masks(masks, announced), text=text)


load = Sesame
