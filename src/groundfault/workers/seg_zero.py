"""Seg-Zero: Qwen2.5-VL thinks, then names a box and two points; SAM 2 makes the mask.

repository   https://github.com/dvlab-research/Seg-Zero (read at 42a3345), Apache-2.0, whose prompt
             is read from its source
checkpoint   Ricky06662/Seg-Zero-7B (card: licence "other") + facebook/sam2-hiera-large (Apache-2.0)
paper        Liu et al., Seg-Zero: Reasoning-Chain Guided Segmentation, arXiv 2503.06520

Not run by us. The repository goes into $GROUNDFAULT_WORKER_REPO_SEG_ZERO, the Python of an
environment with torch, transformers ≥ 4.49, qwen-vl-utils and sam2 into
$GROUNDFAULT_WORKER_PYTHON_SEG_ZERO. A revision is the reasoning model's.

The model gives no scores: a mask that is returned counts as certain. SAM 2's estimate of a mask's
quality says nothing about whether the thing is there; it is kept apart.

The prompt asks for one object and offers no way to deny it; an answer without a box is unparsed
unless it says in words that there is nothing. As in the repository, the first {…} of an answer is
read, wherever it stands and whether or not its tags are closed.
"""

# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call"
from __future__ import annotations

import ast
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from groundfault.workers.lisa import device_and_dtype, need_repository, template
from groundfault.workers.runtime import Answer, Picture, versions_of

if TYPE_CHECKING:
    from collections.abc import Sequence

SIDE_PX = 840
"""Both models were trained on square pictures of this side; coordinates refer to it."""
SAM2 = "facebook/sam2-hiera-large"


class Prompt(NamedTuple):
    """What SAM 2 is given for one object, in pixels of the square."""

    box_xyxy: list[float]
    points_xy: list[list[float]]

    def scaled(self, x: float, y: float) -> Prompt:
        """In pixels of a picture that many times the square.

        >>> Prompt([1, 2, 3, 4], [[5, 6]]).scaled(2, 10)
        Prompt(box_xyxy=[2, 20, 6, 40], points_xy=[[10, 60]])
        """
        left, top, right, bottom = self.box_xyxy
        points = [[point[0] * x, point[1] * y] for point in self.points_xy]
        return Prompt([left * x, top * y, right * x, bottom * y], points)


def value_of(text: str) -> Any:
    """What a text spells as JSON or as Python; None if neither.

    >>> value_of('{"bbox": [1, 2]}'), value_of("{'bbox': [1, 2]}"), value_of("a cup")
    ({'bbox': [1, 2]}, {'bbox': [1, 2]}, None)
    """
    for parse in (json.loads, ast.literal_eval):
        try:
            return parse(text.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
    return None


def coordinates(value: Any, count: int) -> list[float] | None:
    """So many finite numbers, or None.

    >>> coordinates([1, 2.5], 2), coordinates([1, "2"], 2), coordinates([1], 2)
    ([1.0, 2.5], None, None)
    """
    if not isinstance(value, (list, tuple)) or len(value) != count:
        return None
    if not all(isinstance(part, (int, float)) and abs(part) < 1e6 for part in value):
        return None
    return [float(part) for part in value]


def prompts_of(text: str) -> list[Prompt]:
    """The one object that an answer names: in the first {…} that names one.

    >>> prompts_of('<answer>{"bbox": [1,2,3,4], "points_1": [2,2], "points_2": [2,3]}</answer>')
    [Prompt(box_xyxy=[1.0, 2.0, 3.0, 4.0], points_xy=[[2.0, 2.0], [2.0, 3.0]])]
    >>> prompts_of("It is {'bbox': [1,2,3,4], 'points_1': [2,2], 'points_2': [2,3]}") != []
    True
    >>> prompts_of("<answer>a cup</answer>")
    []
    """
    found = (_prompt(value_of(written)) for written in re.findall(r"{[^{}]+}", text))
    return [prompt for prompt in found if prompt is not None][:1]


def _prompt(value: Any) -> Prompt | None:
    """An object with all its parts, or None."""
    if not isinstance(value, dict):
        return None
    box = next((coordinates(v, 4) for k, v in value.items() if "bbox" in str(k).lower()), None)
    points = [coordinates(v, 2) for k, v in value.items() if "points" in str(k).lower()][:2]
    if box is None or len(points) < 2 or None in points:
        return None
    return Prompt(box, [point for point in points if point is not None])


class Thinker:
    """Qwen2.5-VL with SAM 2 behind it."""

    name = "SEG_ZERO"
    url = "https://github.com/dvlab-research/Seg-Zero"
    checkpoint = "Ricky06662/Seg-Zero-7B"
    prompt_at = ("inference_scripts/infer.py", "QUESTION_TEMPLATE")
    example = "{'bbox': [10,100,200,210], 'points_1': [30,110], 'points_2': [35,180]}"
    stripped = "."
    """What is taken off both ends of a phrase."""
    max_new_tokens = 1024

    def __init__(self, options: dict[str, Any]) -> None:
        need_repository(options, self.name, self.url)
        from sam2.sam2_image_predictor import SAM2ImagePredictor
        from transformers import AutoProcessor, Qwen2_5_VLForConditionalGeneration

        self.model = options["checkpoint"] or self.checkpoint
        self.versions = versions_of("torch", "transformers", "sam2", "qwen-vl-utils")
        self.device, self.dtype = device_and_dtype(options)
        revision = options["revision"] or "main"
        self.processor = AutoProcessor.from_pretrained(
            self.model, revision=revision, padding_side="left"
        )
        network = Qwen2_5_VLForConditionalGeneration.from_pretrained(
            self.model, revision=revision, torch_dtype=self.dtype
        )
        self.network = network.to(self.device).eval()
        self.sam = SAM2ImagePredictor.from_pretrained(SAM2, device=str(self.device))
        self.template = template(options["repo"], *self.prompt_at)

    def question(self, phrase: str) -> str:
        """What the model is asked for a phrase."""
        asked = phrase.lower().strip(self.stripped)
        return self.template.format(Question=asked, Answer=self.example)

    def prompts(self, text: str) -> list[Prompt]:
        """What its answer names."""
        return prompts_of(text)

    def segment(self, picture: Picture, phrases: Sequence[str]) -> list[Answer]:
        """One answer per phrase; SAM 2 encodes the picture once."""
        import torch

        image = picture.pil()
        square = image.resize((SIDE_PX, SIDE_PX), 2)  # bilinear
        with torch.inference_mode():
            texts = [self._said(square, phrase) for phrase in phrases]
            with torch.autocast(self.device.type, dtype=self.dtype):
                self.sam.set_image(image)
                return [self._answer(picture, text) for text in texts]

    def _said(self, square: Any, phrase: str) -> str:
        from qwen_vl_utils import process_vision_info

        content = [
            {"type": "image", "image": square},
            {"type": "text", "text": self.question(phrase)},
        ]
        messages = [{"role": "user", "content": content}]
        prompt = self.processor.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True
        )
        images, _ = process_vision_info(messages)
        inputs = self.processor(text=[prompt], images=images, padding=True, return_tensors="pt")
        inputs = inputs.to(self.device)
        ids = self.network.generate(**inputs, max_new_tokens=self.max_new_tokens, do_sample=False)
        new = ids[:, inputs.input_ids.shape[1] :]
        return str(self.processor.batch_decode(new, skip_special_tokens=True)[0])

    def _answer(self, picture: Picture, text: str) -> Answer:
        masks, qualities = [], []
        for prompt in self.prompts(text):
            scaled = prompt.scaled(picture.width / SIDE_PX, picture.height / SIDE_PX)
            found, estimates, _ = self.sam.predict(
                point_coords=scaled.points_xy,
                point_labels=[1] * len(scaled.points_xy),
                box=scaled.box_xyxy,
            )
            best = int(estimates.argmax())
            masks.append(found[best])
            qualities.append(float(estimates[best]))
        return Answer(masks, text=text, qualities=qualities)


load = Thinker
