"""GLaMM: grounded conversation, masks tied to phrases of its answer.

repository   https://github.com/mbzuai-oryx/groundingLMM (read at e74865f), Apache-2.0
checkpoint   MBZUAI/GLaMM-FullScope (referring only: MBZUAI/GLaMM-RefSeg), Apache-2.0
paper        Rasheed et al., GLaMM: Pixel Grounding Large Multimodal Model, CVPR 2024

Not run by us. The repository goes into $GROUNDFAULT_WORKER_REPO_GLAMM, the Python of its
environment into $GROUNDFAULT_WORKER_PYTHON_GLAMM. The model gives no scores.
"""

# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call"
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from groundfault.workers.lisa import (
    MAX_NEW_TOKENS,
    SIDE_PX,
    TEMPLATE,
    conversation,
    device_and_dtype,
    need_repository,
    padded,
    question,
    spoken,
    template,
)
from groundfault.workers.runtime import Answer, Picture, versions_of

if TYPE_CHECKING:
    from collections.abc import Sequence

CHECKPOINT = "MBZUAI/GLaMM-FullScope"
CONTEXT_TOKENS = 1536
TOKENS = {
    "seg_token_idx": "[SEG]",
    "bbox_token_idx": "<bbox>",
    "bop_token_idx": "<p>",
    "eop_token_idx": "</p>",
}
PREFACE_AT = ("eval/gcg/infer.py", "begin_str")
"""Where the repository has the words that it was trained with, before any instruction."""


class Glamm:
    """The loaded model."""

    def __init__(self, options: dict[str, Any]) -> None:
        need_repository(options, "GLAMM", "https://github.com/mbzuai-oryx/groundingLMM")
        from model.GLaMM import GLaMMForCausalLM
        from model.SAM.utils.transforms import ResizeLongestSide
        from transformers import AutoTokenizer, CLIPImageProcessor

        self.model = options["checkpoint"] or CHECKPOINT
        self.versions = versions_of("torch", "transformers")
        self.device, self.dtype = device_and_dtype(options)
        revision = options["revision"] or "main"
        self.tokenizer = AutoTokenizer.from_pretrained(
            self.model,
            revision=revision,
            model_max_length=CONTEXT_TOKENS,
            padding_side="right",
            use_fast=False,
        )
        self.tokenizer.pad_token = self.tokenizer.unk_token
        numbers = {
            name: self.tokenizer(token, add_special_tokens=False).input_ids[0]
            for name, token in TOKENS.items()
        }
        network = GLaMMForCausalLM.from_pretrained(
            self.model,
            revision=revision,
            torch_dtype=self.dtype,
            low_cpu_mem_usage=True,
            **numbers,
        )
        for token in ("eos_token_id", "bos_token_id", "pad_token_id"):
            setattr(network.config, token, getattr(self.tokenizer, token))
        network.get_model().initialize_vision_modules(network.get_model().config)
        self.network = network.to(self.device, self.dtype).eval()
        self.network.get_model().get_vision_tower().to(self.device, self.dtype)
        self.clip = CLIPImageProcessor.from_pretrained(network.config.vision_tower)
        self.resize = ResizeLongestSide(SIDE_PX)
        preface = template(options["repo"], *PREFACE_AT)
        self.preface = preface.format(DEFAULT_IMAGE_TOKEN="<im_start><image><im_end>")

    def segment(self, picture: Picture, phrases: Sequence[str]) -> list[Answer]:
        """One answer per phrase."""
        pixels = picture.array()
        overview = self.clip.preprocess(pixels, return_tensors="pt")["pixel_values"]
        overview = overview.to(self.device, self.dtype)
        resized = self.resize.apply_image(pixels)
        images = padded(resized)[None].to(self.device, self.dtype)
        return [
            self._answer(phrase, overview, images, resized.shape[:2], pixels.shape[:2])
            for phrase in phrases
        ]

    def _answer(
        self, phrase: str, overview: Any, images: Any, resized: Any, original: Any
    ) -> Answer:
        from model.llava import conversation as conversations
        from model.llava.mm_utils import tokenizer_image_token
        from tools.utils import IMAGE_TOKEN_INDEX

        prompt = conversation(
            conversations.conv_templates[TEMPLATE], self.preface + question(phrase)
        )
        ids = tokenizer_image_token(prompt, self.tokenizer, return_tensors="pt")[None]
        said, masks = self.network.evaluate(
            overview,
            images,
            ids.to(self.device),
            [resized],
            [original],
            max_tokens_new=MAX_NEW_TOKENS,
            bboxes=None,
        )
        said = said[0][said[0] != IMAGE_TOKEN_INDEX]
        text = spoken(str(self.tokenizer.decode(said, skip_special_tokens=False)))
        return Answer([mask for group in masks for mask in group], text=text)


load = Glamm
