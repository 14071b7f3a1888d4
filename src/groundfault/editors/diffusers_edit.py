"""Inpainting and editing pipelines of `diffusers`, in this process: diffusers:NAME or a folder.

A pipeline that takes a mask gets one, white where the picture may change (StableDiffusionInpaint,
FluxFill, FluxKontextInpaint, QwenImageEditInpaint …); one that takes a picture and words gets these
(FluxKontext, QwenImageEdit …); one that only draws from words is made an inpainting one where
diffusers knows how. Settings: `steps`, `guidance`, `strength` (1: the region is drawn anew), `seed`
and `most_px`, the largest picture that is drawn.

Code of a checkpoint's own is not run. What the pipeline's own checker blanks out is refused.
"""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundfault.editors.loading import take_settings
from groundfault.errors import RAISED, GroundfaultError, MissingExtra, UsageError
from groundfault.interfaces import Canvas, ModelOptions, NotEdited
from groundfault.models.checkpoints import require_transformers
from groundfault.models.placement import Placement, quiet
from groundfault.runs.identity import files_hash

if TYPE_CHECKING:
    from groundfault.editors.loading import EditorOptions
    from groundfault.interfaces import BinaryMask, Image

__all__ = ["DiffusersEditor", "load"]

VERSION = "1"
LARGEST_PX = 1024 * 1024
"""What most of these models were trained on."""
MULTIPLE_PX = 16
SETTINGS: dict[str, tuple[str, ...] | type] = {
    "steps": int,
    "guidance": float,
    "strength": float,
    "seed": int,
    "most_px": int,
}


class _Load:
    """Makes editors."""

    def __call__(self, argument: str, options: EditorOptions) -> DiffusersEditor:
        """The editor of a checkpoint: a folder, or a name on the hub."""
        if not argument:
            raise UsageError("diffusers: name the checkpoint, as in diffusers:Qwen/Qwen-Image-Edit")
        settings = take_settings(f"diffusers:{argument}", options, SETTINGS)
        placement = _placed(options)
        return DiffusersEditor(_pipeline(argument, options, placement), placement, **settings)

    def identity(self, argument: str, options: ModelOptions) -> Mapping[str, str]:
        """The checkpoint, by content if it is here, and how it is computed."""
        return {
            "adapter": f"diffusers {VERSION}",
            "files": files_hash(str(Path(argument).expanduser())),
            "revision": options.revision,
            "device": options.device,
            "dtype": options.dtype,
        }


load = _Load()


def _placed(options: ModelOptions) -> Placement:
    require_transformers()
    try:
        import_module("diffusers")
    except ModuleNotFoundError as problem:
        if problem.name != "diffusers":
            raise
        raise MissingExtra("diffusers", "diffusers") from None
    return Placement.of(options)


def _pipeline(name: str, options: ModelOptions, placement: Placement) -> Any:
    """A checkpoint's pipeline, one that takes pictures."""
    import torch

    library: Any = import_module("diffusers")
    folder = Path(name).expanduser()
    here = folder.is_dir()
    if here and not (folder / "model_index.json").is_file():
        raise UsageError(f"diffusers:{name}: the folder has no model_index.json")
    try:
        with quiet():
            found = library.DiffusionPipeline.from_pretrained(
                str(folder) if here else name,
                torch_dtype=getattr(torch, placement.dtype),
                revision=options.revision or None,
                local_files_only=here or options.offline,
            )
            if "image" not in _parameters(found):
                found = library.AutoPipelineForInpainting.from_pipe(found)
    except RAISED as problem:  # a checkpoint is foreign, and so is what loads it
        words = str(problem).splitlines()[0][:300] if str(problem) else type(problem).__name__
        raise GroundfaultError(
            f"diffusers:{name}: cannot be loaded ({words}). Remedy: name a folder of a pipeline, "
            "or a checkpoint of the hub"
        ) from None
    found.set_progress_bar_config(disable=True)
    return found.to(placement.device)


def _parameters(pipeline: Any) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(type(pipeline).__call__).parameters


class DiffusersEditor:
    """A pipeline as an editor. The same picture, region and words give the same bytes on the same
    machine."""

    def __init__(
        self,
        pipeline: Any,
        placement: Placement,
        *,
        steps: int | None = None,
        guidance: float | None = None,
        strength: float = 1.0,
        seed: int = 0,
        most_px: int = LARGEST_PX,
    ) -> None:
        self.pipeline, self.placement = pipeline, placement
        self.steps, self.guidance, self.strength, self.seed = steps, guidance, strength, seed
        self.canvas = Canvas(multiple_px=MULTIPLE_PX, most_px=most_px)

    def edit(self, image: Image, region: BinaryMask, instruction: str) -> Image | NotEdited:
        """What the pipeline draws, in the size in which it draws it."""
        import torch

        try:
            with torch.inference_mode():
                drawn = self.pipeline(**self._arguments(image, region, instruction))
        except torch.OutOfMemoryError as problem:
            words = str(problem).splitlines()[0]
            return NotEdited(outcome="failed", reason=f"out of memory: {words}")
        blanked = getattr(drawn, "nsfw_content_detected", None)
        if blanked and blanked[0]:
            return NotEdited(outcome="refused", reason="blanked out by the pipeline's checker")
        return np.array(drawn.images[0].convert("RGB"))

    def _arguments(self, image: Image, region: BinaryMask, instruction: str) -> dict[str, Any]:
        """What this pipeline takes of everything that there is to say."""
        import torch
        from PIL import Image as Pictures

        height_px, width_px = image.shape[:2]
        seed = zlib.crc32(f"{self.seed} {instruction}".encode())
        said = {
            "prompt": instruction,
            "image": Pictures.fromarray(np.ascontiguousarray(image)),
            "mask_image": Pictures.fromarray(np.where(region, 255, 0).astype(np.uint8)),
            "height": height_px,
            "width": width_px,
            "strength": self.strength,
            "num_inference_steps": self.steps,
            "guidance_scale": self.guidance,
            "max_area": height_px * width_px,
            "_auto_resize": False,
            "generator": torch.Generator().manual_seed(seed),
        }
        taken = _parameters(self.pipeline)
        return {name: value for name, value in said.items() if name in taken and value is not None}
