"""Vision-language models through `transformers`: hf:Qwen/Qwen3-VL-4B-Instruct, or a folder.

The library's own classes, found by the checkpoint's configuration, with the processor and the chat
template that come with it: Qwen2.5-VL (and MiMo-VL, which is one), Qwen3-VL, Qwen3.5, InternVL3,
LLaVA 1.6, LLaVA-OneVision and whatever else answers to an image and a text.

Conversations are completed in batches, padded on the left so that every reply begins at the same
place. With a temperature, the words are drawn from a seed made of the batch's conversations: the
same batch gives the same replies.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

from groundfault.errors import GroundfaultError, UsageError
from groundfault.llm.server import ChatOptions, make_reply
from groundfault.models import checkpoints
from groundfault.models.placement import Placement
from groundfault.records import Conversation, Picture, Reply

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["VisionLanguageModel", "hf"]

MAX_TOKENS = 2048
"""Of a reply, where nobody says: a model here would go on until memory ends."""
KEPT_PICTURES = 64
"""Decoded; an agent's turn shows all pictures of the turns before it."""


def hf(argument: str, options: ChatOptions) -> VisionLanguageModel:
    """`hf:OWNER/NAME` or `hf:FOLDER`"""
    if not argument:
        raise UsageError("hf: name the checkpoint, as in hf:Qwen/Qwen3-VL-4B-Instruct")
    checkpoints.require_transformers()
    import torch
    import transformers

    classes: Any = transformers
    placement = Placement.of(options)
    (fetched,) = checkpoints.fetch((argument,), options)
    try:
        processor = classes.AutoProcessor.from_pretrained(fetched.folder, local_files_only=True)
        model = classes.AutoModelForImageTextToText.from_pretrained(
            fetched.folder, dtype=getattr(torch, placement.dtype), local_files_only=True
        )
    except (ValueError, KeyError, OSError) as problem:
        raise GroundfaultError(
            f"hf:{argument}: transformers cannot load it as a model of images and text ({problem})"
        ) from problem
    return VisionLanguageModel(
        model.to(placement.device).eval(),
        processor,
        device=placement.device,
        temperature=options.temperature,
        max_tokens=options.max_tokens or MAX_TOKENS,
        checkpoints=(fetched.identity,),
    )


class VisionLanguageModel:
    """A model that answers in words, with its processor."""

    def __init__(
        self,
        model: Any,
        processor: Any,
        *,
        device: str = "cpu",
        temperature: float | None = None,
        max_tokens: int = 1024,
        checkpoints: tuple[str, ...] = (),
    ) -> None:
        self.model, self.processor, self.device = model, processor, device
        self.temperature, self.max_tokens = temperature, max_tokens
        self.checkpoints = checkpoints
        processor.tokenizer.padding_side = "left"
        if processor.tokenizer.pad_token is None:
            processor.tokenizer.pad_token = processor.tokenizer.eos_token
        if not getattr(processor, "chat_template", None):
            raise GroundfaultError(
                "the checkpoint has no chat template, so nobody knows how it is asked. Remedy: add "
                "its chat_template.jinja to the folder"
            )

    def complete(self, conversations: Sequence[Conversation]) -> list[Reply]:
        """One reply per conversation, all of them generated together. Nobody pays for them."""
        import torch

        inputs = self._inputs(conversations)
        with torch.inference_mode(), torch.random.fork_rng(devices=_cuda(self.device)):
            torch.manual_seed(_seed(conversations))
            found = self.model.generate(
                **inputs,
                max_new_tokens=self.max_tokens,
                pad_token_id=self.processor.tokenizer.pad_token_id,
                **self._drawing(),
            )
        start = inputs["input_ids"].shape[1]
        given = inputs["attention_mask"].sum(dim=1).tolist()
        return [
            self._reply(row, n) for row, n in zip(found[:, start:].tolist(), given, strict=True)
        ]

    def _inputs(self, conversations: Sequence[Conversation]) -> Any:
        inputs = self.processor.apply_chat_template(
            [_messages(conversation) for conversation in conversations],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            processor_kwargs={"padding": True},
        )
        inputs = inputs.to(self.device)
        for name, value in inputs.items():
            if value.is_floating_point():
                inputs[name] = value.to(self.model.dtype)
        return inputs

    def _drawing(self) -> dict[str, Any]:
        if not self.temperature:
            return {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
        return {"do_sample": True, "temperature": self.temperature}

    def _reply(self, tokens: Sequence[int], n_given: int) -> Reply:
        ends = self._ends()
        length = next((k for k, token in enumerate(tokens) if token in ends), None)
        ended = length is not None
        words = list(tokens if length is None else tokens[:length])
        return make_reply(
            self.processor.tokenizer.decode(words, skip_special_tokens=True).strip(),
            "stop" if ended else "length",
            tokens_in=n_given,
            tokens_out=len(words) + ended,
            cost=0.0,
        )

    def _ends(self) -> frozenset[int]:
        """The tokens that end an answer; models have one or several."""
        known = self.model.generation_config.eos_token_id
        if known is None:
            known = self.processor.tokenizer.eos_token_id
        return frozenset(known if isinstance(known, (list, tuple)) else (known,))


def _messages(conversation: Conversation) -> list[dict[str, Any]]:
    """A conversation in the form that chat templates take."""
    return [
        {"role": message.role, "content": [_part(part) for part in message.parts]}
        for message in conversation
    ]


def _part(part: str | Picture) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    return {"type": "image", "image": _image(part)}


@lru_cache(KEPT_PICTURES)
def _image(picture: Picture) -> Image:
    from PIL import Image, ImageOps

    with Image.open(BytesIO(picture.content)) as image:
        turned = ImageOps.exif_transpose(image)
        return turned.convert("RGB")


def _seed(conversations: Sequence[Conversation]) -> int:
    """The same conversations draw the same words."""
    digest = hashlib.sha256()
    for conversation in conversations:
        for message in conversation:
            for part in message.parts:
                text = part if isinstance(part, str) else part.sha256
                digest.update(text.encode("utf-8", "backslashreplace") + b"\n")
        digest.update(b"\0")
    return int.from_bytes(digest.digest()[:4], "big")


def _cuda(device: str) -> list[str]:
    return [device] if device.startswith("cuda") else []
