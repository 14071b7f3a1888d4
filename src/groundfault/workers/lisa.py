"""LISA: reasoning segmentation by a language model that says [SEG].

repository   https://github.com/dvlab-research/LISA (read at 3cb2d43), Apache-2.0
checkpoint   xinlai/LISA-7B-v1 (13B: xinlai/LISA-13B-llama2-v1); no card, no licence stated; made
             from LLaMA
paper        Lai et al., LISA: Reasoning Segmentation via Large Language Model, CVPR 2024

Not run by us. The repository goes into $GROUNDFAULT_WORKER_REPO_LISA, the Python of its
environment into $GROUNDFAULT_WORKER_PYTHON_LISA.

The model gives no scores: each mask counts as certain. It answers phrase by phrase, and encodes
the picture each time: its `evaluate` offers no other way.
"""

# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call"
from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundfault.workers.runtime import Answer, Picture, versions_of

if TYPE_CHECKING:
    from collections.abc import Sequence

CHECKPOINT = "xinlai/LISA-7B-v1"
VISION_TOWER = "openai/clip-vit-large-patch14"
TEMPLATE = "llava_v1"
"""The conversation template that LISA, PixelLM and GLaMM are run with."""
SIDE_PX = 1024
MEAN_RGB = (123.675, 116.28, 103.53)
DEVIATION_RGB = (58.395, 57.12, 57.375)
MAX_NEW_TOKENS = 512
NUMBER_TYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}


def question(phrase: str) -> str:
    """A phrase as this family of models is asked; what is a question already stays one.

    >>> question("the red cup")
    'Please segment the red cup in this image.'
    >>> question("Which cup is empty?")
    'Which cup is empty? Please output the segmentation mask.'
    """
    phrase = " ".join(phrase.split())
    if phrase.endswith("?"):
        return f"{phrase} Please output the segmentation mask."
    return f"Please segment {phrase.rstrip('.')} in this image."


def spoken(decoded: str) -> str:
    """What the assistant said last, without the prompt and the end mark.

    >>> spoken("<s> A chat. USER: <image> the cup ASSISTANT: Sure, [SEG] .</s>")
    'Sure, [SEG] .'
    """
    said = decoded.rsplit("ASSISTANT:", 1)[-1].replace("</s>", " ").replace("<s>", " ")
    return " ".join(said.split())


def padded(resized: Any, side_px: int = SIDE_PX) -> Any:
    """SAM's input, (3, side, side): normalised, then zeros at the right and the bottom."""
    import torch

    pixels = torch.from_numpy(resized).permute(2, 0, 1).float()
    mean, deviation = torch.tensor(MEAN_RGB), torch.tensor(DEVIATION_RGB)
    normal = (pixels - mean[:, None, None]) / deviation[:, None, None]
    canvas = torch.zeros(3, side_px, side_px)
    canvas[:, : normal.shape[1], : normal.shape[2]] = normal
    return canvas


def number_type(asked: str, usual: str = "bfloat16") -> str:
    """Torch's name of a number type by either of its names; "auto" is the usual one.

    >>> number_type("auto"), number_type("fp16"), number_type("float32")
    ('bfloat16', 'float16', 'float32')
    """
    name = usual if asked == "auto" else NUMBER_TYPES.get(asked, asked)
    if name not in NUMBER_TYPES.values():
        known = ", ".join(["auto", *NUMBER_TYPES, *NUMBER_TYPES.values()])
        raise RuntimeError(f"unknown dtype '{asked}'. Known: {known}")
    return name


def device_and_dtype(options: dict[str, Any], usual: str = "bfloat16") -> tuple[Any, Any]:
    """Torch's own, "auto" being the first GPU and the usual number type."""
    import torch

    device = "cuda" if options["device"] == "auto" else options["device"]
    return torch.device(device), getattr(torch, number_type(options["dtype"], usual))


def need_repository(options: dict[str, Any], name: str, url: str) -> None:
    """These models live in repositories, not in packages."""
    if not options["repo"]:
        raise RuntimeError(
            f"{name} needs its repository: clone {url} and set GROUNDFAULT_WORKER_REPO_{name} to it"
        )


def need_weights(options: dict[str, Any], name: str, remedy: str) -> None:
    """Some weights are files that have to be downloaded by hand; they have no revision then."""
    given = options["checkpoint"]
    if not given:
        raise RuntimeError(f"{name} needs its weights: {remedy}")
    if not Path(given).exists():
        raise RuntimeError(f"{name}: {given} is neither a file nor a folder here; {remedy}")


def template(repository: str, file: str, name: str) -> str:
    """The text that a source file of a repository assigns to a name, or to an attribute of that
    name. The wording of a prompt belongs to a trained model, so it comes from there."""
    text = assigned(Path(repository, file).read_text(encoding="utf-8"), name)
    if text is None:
        raise LookupError(f"the repository's {file} assigns nothing to {name}: is it a newer one?")
    return text


def assigned(source: str, name: str) -> str | None:
    """The text that a Python source assigns to a name; what it puts in stands in braces.

    >>> assigned("def main():\\n    ASK = 'Find {Question}: ' \\\\\\n        '{Answer}'", "ASK")
    'Find {Question}: {Answer}'
    >>> assigned("self.begin = f'The {IMAGE} is here.'", "begin")
    'The {IMAGE} is here.'
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign):
            target = node.targets[0]
            if name in (getattr(target, "id", ""), getattr(target, "attr", "")):
                return _text(node.value)
    return None


def _text(value: ast.expr) -> str:
    if not isinstance(value, ast.JoinedStr):
        return str(ast.literal_eval(value))
    parts: list[Any] = value.values
    return "".join(
        str(part.value) if isinstance(part, ast.Constant) else "{" + part.value.id + "}"
        for part in parts
    )


def conversation(opening: Any, text: str) -> str:
    """The prompt of one question, by a template of the repository's own."""
    conv = opening.copy()
    conv.messages = []
    conv.append_message(conv.roles[0], text)
    conv.append_message(conv.roles[1], "")
    return str(conv.get_prompt())


class Lisa:
    """The loaded model."""

    def __init__(self, options: dict[str, Any]) -> None:
        need_repository(options, "LISA", "https://github.com/dvlab-research/LISA")
        from model.LISA import LISAForCausalLM
        from model.segment_anything.utils.transforms import ResizeLongestSide
        from transformers import AutoTokenizer, CLIPImageProcessor

        self.model = options["checkpoint"] or CHECKPOINT
        self.versions = versions_of("torch", "transformers")
        self.device, self.dtype = device_and_dtype(options)
        revision = options["revision"] or "main"
        self.tokenizer = AutoTokenizer.from_pretrained(
            self.model,
            revision=revision,
            model_max_length=MAX_NEW_TOKENS,
            padding_side="right",
            use_fast=False,
        )
        self.tokenizer.pad_token = self.tokenizer.unk_token
        segment_token = self.tokenizer("[SEG]", add_special_tokens=False).input_ids[0]
        network = LISAForCausalLM.from_pretrained(
            self.model,
            revision=revision,
            low_cpu_mem_usage=True,
            vision_tower=VISION_TOWER,
            seg_token_idx=segment_token,
            torch_dtype=self.dtype,
        )
        for token in ("eos_token_id", "bos_token_id", "pad_token_id"):
            setattr(network.config, token, getattr(self.tokenizer, token))
        network.get_model().initialize_vision_modules(network.get_model().config)
        self.network = network.to(self.device, self.dtype).eval()
        self.network.get_model().get_vision_tower().to(self.device, self.dtype)
        self.clip = CLIPImageProcessor.from_pretrained(network.config.vision_tower)
        self.resize = ResizeLongestSide(SIDE_PX)

    def segment(self, picture: Picture, phrases: Sequence[str]) -> list[Answer]:
        """One answer per phrase."""
        pixels = picture.array()
        clip = self.clip.preprocess(pixels, return_tensors="pt")["pixel_values"]
        resized = self.resize.apply_image(pixels)
        images = padded(resized)[None].to(self.device, self.dtype)
        clip = clip.to(self.device, self.dtype)
        return [
            self._answer(phrase, clip, images, resized.shape[:2], pixels.shape[:2])
            for phrase in phrases
        ]

    def _answer(self, phrase: str, clip: Any, images: Any, resized: Any, original: Any) -> Answer:
        from model.llava import conversation as conversations
        from model.llava.mm_utils import tokenizer_image_token
        from utils.utils import IMAGE_TOKEN_INDEX

        template = conversations.conv_templates[TEMPLATE]
        prompt = conversation(template, f"<im_start><image><im_end>\n{question(phrase)}")
        ids = tokenizer_image_token(prompt, self.tokenizer, return_tensors="pt")[None]
        ids = ids.to(self.device)
        said, masks = self.network.evaluate(
            clip,
            images,
            ids,
            [resized],
            [original],
            max_new_tokens=MAX_NEW_TOKENS,
            tokenizer=self.tokenizer,
        )
        said = said[0][said[0] != IMAGE_TOKEN_INDEX]
        text = spoken(str(self.tokenizer.decode(said, skip_special_tokens=False)))
        return Answer([mask for group in masks for mask in group], text=text)


load = Lisa
