"""PixelLM: several targets at once, by a codebook of segmentation tokens and its own decoder.

repository   https://github.com/MaverickRen/PixelLM (read at ebf0792), Apache-2.0
checkpoint   maverickrzw/PixelLM-7B, folder hf_model, Apache-2.0 (13B: maverickrzw/PixelLM-13B)
paper        Ren et al., PixelLM: Pixel Reasoning with Large Multimodal Model, CVPR 2024

Not run by us. The repository goes into $GROUNDFAULT_WORKER_REPO_PIXELLM, the Python of its
environment into $GROUNDFAULT_WORKER_PYTHON_PIXELLM. The weights lie in a subfolder of the hub
repository: download them and give the folder, `worker:pixellm:/path/to/hf_model`.

The settings below are those of the published inference command; with the defaults of its script,
the model runs and is wrong. A mask is six tokens, [SEG0] to [SEG5]. Its score is the model's own:
the mean probability of the pixels that it marks.
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
    need_weights,
    padded,
    question,
    spoken,
)
from groundfault.workers.runtime import Answer, Picture, versions_of

if TYPE_CHECKING:
    from collections.abc import Sequence

VISION_TOWER = "openai/clip-vit-large-patch14-336"
PREPROCESSOR = "configs/preprocessor_448.json"
CLIP_SIDE_PX = 448
TOKENS_PER_SCALE = 3
SCALES = 2


def segment_tokens() -> list[str]:
    """The codebook's names.

    >>> segment_tokens()
    ['[SEG0]', '[SEG1]', '[SEG2]', '[SEG3]', '[SEG4]', '[SEG5]']
    """
    return [f"[SEG{index}]" for index in range(TOKENS_PER_SCALE * SCALES)]


class PixelLM:
    """The loaded model."""

    def __init__(self, options: dict[str, Any]) -> None:
        need_repository(options, "PIXELLM", "https://github.com/MaverickRen/PixelLM")
        need_weights(
            options,
            "PixelLM",
            "download the folder hf_model of maverickrzw/PixelLM-7B and ask for "
            "worker:pixellm:/path/to/hf_model",
        )
        from model.PixelLM import PixelLMForCausalLM
        from model.segment_anything.utils.transforms import ResizeLongestSide
        from transformers import AutoTokenizer, CLIPImageProcessor

        self.model = options["checkpoint"]
        self.versions = versions_of("torch", "transformers")
        self.device, self.dtype = device_and_dtype(options)
        self.tokenizer = AutoTokenizer.from_pretrained(
            self.model, model_max_length=MAX_NEW_TOKENS, padding_side="right", use_fast=False
        )
        self.tokenizer.pad_token = self.tokenizer.unk_token
        self.tokenizer.add_tokens(segment_tokens())
        numbers = [
            self.tokenizer(token, add_special_tokens=False).input_ids[0]
            for token in segment_tokens()
        ]
        network = PixelLMForCausalLM.from_pretrained(
            self.model,
            low_cpu_mem_usage=True,
            vision_tower=VISION_TOWER,
            seg_token_idx=numbers,
            torch_dtype=self.dtype,
            seg_token_num=TOKENS_PER_SCALE,
            image_feature_scale_num=SCALES,
            pad_train_clip_images=True,
            resize_vision_tower=True,
            resize_vision_tower_size=CLIP_SIDE_PX,
            vision_tower_for_mask=True,
            separate_mm_projector=True,
        )
        for token in ("eos_token_id", "bos_token_id", "pad_token_id"):
            setattr(network.config, token, getattr(self.tokenizer, token))
        network.get_model().initialize_vision_modules(network.get_model().config)
        self.network = network.to(self.device, self.dtype).eval()
        self.network.get_model().get_vision_tower().to(self.device, self.dtype)
        clip = CLIPImageProcessor.from_pretrained(PREPROCESSOR)
        self.clip_side_px = clip.size["shortest_edge"]
        self.clip_resize = ResizeLongestSide(self.clip_side_px)
        self.resize = ResizeLongestSide(SIDE_PX)

    def segment(self, picture: Picture, phrases: Sequence[str]) -> list[Answer]:
        """One answer per phrase."""
        pixels = picture.array()
        small, large = self.clip_resize.apply_image(pixels), self.resize.apply_image(pixels)
        clip = padded(small, self.clip_side_px)[None].to(self.device, self.dtype)
        images = padded(large)[None].to(self.device, self.dtype)
        shapes = {"clip_resize_list": [small.shape[:2]], "original_size_list": [pixels.shape[:2]]}
        return [self._answer(phrase, clip, images, [large.shape[:2]], shapes) for phrase in phrases]

    def _answer(
        self, phrase: str, clip: Any, images: Any, resized: Any, shapes: dict[str, Any]
    ) -> Answer:
        from model.llava import conversation as conversations
        from model.llava.mm_utils import tokenizer_image_token
        from utils.utils import IMAGE_TOKEN_INDEX

        template = conversations.conv_templates[TEMPLATE]
        prompt = conversation(template, f"<im_start><image><im_end>\n{question(phrase)}")
        ids = tokenizer_image_token(prompt, self.tokenizer, return_tensors="pt")[None]
        said, masks, _, scores = self.network.evaluate(
            clip,
            images,
            ids.to(self.device),
            resized,
            max_new_tokens=MAX_NEW_TOKENS,
            tokenizer=self.tokenizer,
            **shapes,
        )
        said = said[0][said[0] != IMAGE_TOKEN_INDEX]
        text = spoken(str(self.tokenizer.decode(said, skip_special_tokens=False)))
        return Answer(
            [mask for group in masks for mask in group],
            # half-precision sums can end a little above 1
            [min(float(score), 1.0) for group in scores for score in group],
            text=text,
        )


load = PixelLM
