"""Vision-language models through `transformers`: hf:Qwen/Qwen3-VL-4B-Instruct, or a folder.

The library's own classes, found by the checkpoint's configuration, with the processor and the chat
template that come with it: Qwen2.5-VL (and MiMo-VL, which is one), Qwen3-VL, Qwen3.5, InternVL3,
LLaVA 1.6, LLaVA-OneVision and whatever else answers to an image and a text.

Questions are asked in batches, padded on the left so that every answer begins at the same place.
With a temperature, the words are drawn from a seed made of the batch's questions: the same batch
gives the same answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundfault.errors import GroundfaultError, UsageError
from groundfault.llm.conversations import AnswererOptions, Asked, Reply, said
from groundfault.models import checkpoints
from groundfault.models.placement import Placement

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["VisionLanguageModel", "hf"]


def hf(argument: str, options: AnswererOptions) -> VisionLanguageModel:
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
        max_tokens=options.max_tokens,
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

    def answer(self, asked: Sequence[Asked]) -> list[Reply]:
        """One reply per question, all of them generated together."""
        return self.converse([_conversation(one) for one in asked], seed=_seed(asked))

    def converse(
        self, conversations: Sequence[Sequence[dict[str, Any]]], *, seed: int
    ) -> list[Reply]:
        """The same for whole conversations: messages of a role and parts, pictures in any turn."""
        import torch

        inputs = self._inputs(conversations)
        with torch.inference_mode(), torch.random.fork_rng(devices=_cuda(self.device)):
            torch.manual_seed(seed)
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

    def _inputs(self, conversations: Sequence[Sequence[dict[str, Any]]]) -> Any:
        inputs = self.processor.apply_chat_template(
            [list(messages) for messages in conversations],
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
        return said(
            self.processor.tokenizer.decode(words, skip_special_tokens=True).strip(),
            "stop" if ended else "length",
            tokens_in=n_given,
            tokens_out=len(words) + ended,
        )

    def _ends(self) -> frozenset[int]:
        """The tokens that end an answer; models have one or several."""
        known = self.model.generation_config.eos_token_id
        if known is None:
            known = self.processor.tokenizer.eos_token_id
        return frozenset(known if isinstance(known, (list, tuple)) else (known,))


def _conversation(asked: Asked) -> list[dict[str, Any]]:
    """What was said before, then the pictures and the question."""
    shown = [{"type": "image", "image": _image(path)} for path in asked.pictures]
    return [
        *(
            {"role": turn.role, "content": [{"type": "text", "text": turn.text}]}
            for turn in asked.before
        ),
        {"role": "user", "content": [*shown, {"type": "text", "text": asked.text}]},
    ]


def _image(path: Path) -> Image:
    from PIL import Image, ImageOps

    with Image.open(path) as image:
        turned = ImageOps.exif_transpose(image)
        return turned.convert("RGB")


def _seed(asked: Sequence[Asked]) -> int:
    names = "\n".join(f"{one.item_id} {one.mode}" for one in asked)
    return int.from_bytes(hashlib.sha256(names.encode()).digest()[:4], "big")


def _cuda(device: str) -> list[str]:
    return [device] if device.startswith("cuda") else []
