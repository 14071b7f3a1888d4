"""What was trained, as a folder that `--model segvlm:FOLDER` loads; or merged into whole
checkpoints, for hubs and servers."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors.torch import save_file

from groundfault.interfaces import ModelOptions
from groundfault.io.foreign import sha256
from groundfault.io.store import atomic_file, new_folder, write_bytes, write_json
from groundfault.models.segvlm.folder import (
    ADAPTER,
    DECODER,
    HEADER,
    MERGED_DECODER,
    MERGED_VLM,
    PROJECTOR,
    Header,
    read_header,
)
from groundfault.models.segvlm.loading import load_trained

if TYPE_CHECKING:
    from groundfault.training.segvlm.pupil import SegVLMPupil

__all__ = ["merge", "write_model"]

CARD = "README.md"


def write_model(folder: Path, pupil: SegVLMPupil, step: int, recipe: Mapping[str, object]) -> None:
    """Each file appears whole, and segvlm.json with their hashes last."""
    network = pupil.network
    adapter = _write_adapter(folder / ADAPTER, network.vlm, pupil.names[0])
    _write_tensors(folder / PROJECTOR, dict(network.projector.state_dict()))
    _write_tensors(folder / DECODER, network.decoder.trained())
    names = [*(f"{ADAPTER}/{name}" for name in adapter), PROJECTOR, DECODER]
    header = Header(
        vlm=pupil.names[0],
        vlm_identity=pupil.identities[0],
        decoder=pupil.names[1],
        decoder_identity=pupil.identities[1],
        seg=pupil.reader.seg,
        presence=pupil.weights.presence > 0 and network.decoder.has_presence,
        max_tokens=pupil.max_tokens,
        max_pixels=pupil.reader.max_pixels,
        held_out=pupil.held_out,
        step=step,
        recipe=dict(recipe),
        files={name: sha256(folder / name) for name in names},
    )
    write_bytes(folder / CARD, _card(header).encode())
    write_json(folder / HEADER, header)


def merge(folder: Path, out: Path, options: ModelOptions) -> None:
    """LoRA and [SEG] become part of the weights: a folder that stands on nothing else."""
    network, reader, _ = load_trained(folder, options)
    header = read_header(folder)
    with new_folder(out) as temporary:
        network.vlm.merge_and_unload().save_pretrained(temporary / MERGED_VLM)  # type: ignore[operator]
        reader.processor.save_pretrained(temporary / MERGED_VLM)
        network.decoder.sam.save_pretrained(temporary / MERGED_DECODER)
        _processor(network.decoder).save_pretrained(temporary / MERGED_DECODER)
        _write_tensors(temporary / PROJECTOR, dict(network.projector.state_dict()))
        files = {PROJECTOR: sha256(temporary / PROJECTOR)}
        for part in (MERGED_VLM, MERGED_DECODER):
            for file in sorted((temporary / part).iterdir()):
                files[f"{part}/{file.name}"] = sha256(file)
        merged = _merged(header, files)
        write_bytes(temporary / CARD, _card(merged).encode())
        write_json(temporary / HEADER, merged)


def _merged(header: Header, files: dict[str, str]) -> Header:
    import msgspec

    return msgspec.structs.replace(
        header, merged=True, vlm=MERGED_VLM, decoder=MERGED_DECODER, files=files
    )


def _processor(decoder: Any) -> Any:
    """The processor class of a decoder's family, around its image processor."""
    import transformers

    family = type(decoder.sam).__name__.removesuffix("Model")
    return getattr(transformers, f"{family}Processor")(decoder.images)


def _write_adapter(folder: Path, vlm: Any, base: str) -> list[str]:
    """peft's own files; a folder of an earlier export is replaced."""
    vlm.peft_config["default"].base_model_name_or_path = base
    earlier = folder.with_name(f".{folder.name}.earlier")
    shutil.rmtree(earlier, ignore_errors=True)
    if folder.exists():
        folder.rename(earlier)
    with new_folder(folder) as temporary:
        vlm.save_pretrained(str(temporary), save_embedding_layers=False)
        (temporary / CARD).unlink(missing_ok=True)  # ours is beside
    shutil.rmtree(earlier, ignore_errors=True)
    return sorted(file.name for file in folder.iterdir())


def _write_tensors(path: Path, tensors: dict[str, Any]) -> None:
    with atomic_file(path) as temporary:
        kept = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
        save_file(kept, temporary)


def _card(header: Header) -> str:
    """The model's card: what it is, what it stands on, what is not known about it."""
    losses = header.recipe.get("losses", {})
    return f"""# A segmenter that says when nothing is there

Trained with groundfault {header.groundfault} for {header.step} steps of counterfactual fine-tuning
(RobustSeg's recipe; the form of its negative loss is a reconstruction).

- stands on: {header.vlm_identity} and {header.decoder_identity}
- learnt: LoRA on the language model, the rows of [SEG], the projector, the mask decoder
- losses: {losses}
- presence head trained on absent things: {"yes" if header.presence else "no"}

    groundfault eval BENCHMARK --model segvlm:FOLDER

Its licence is that of the checkpoints it stands on and of the data it was trained on. How good it
is, evaluation says: nothing is claimed here.
"""
